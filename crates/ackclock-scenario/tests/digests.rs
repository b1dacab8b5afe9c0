//! Digests name scenarios in headers, folders and papers, so they never change.

use ackclock_cc::registry::BuiltIn;
use ackclock_scenario::read_toml;

fn kept(name: &str) -> ackclock_scenario::Checked {
    kept_with(name, &[])
}

fn kept_with(name: &str, settings: &[&str]) -> ackclock_scenario::Checked {
    let settings: Vec<_> = settings.iter().map(|setting| (*setting).to_owned()).collect();
    let file = format!("{}/tests/kept/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&file).unwrap();
    read_toml(&text, &file, &settings, &BuiltIn).unwrap_or_else(|refusal| panic!("{refusal}"))
}

/// Neither these scenarios nor their digests may be edited. If the test fails, a key has lost its name, its default or its
/// meaning: give them back, or raise the version of the rules, which changes every digest that was ever written down.
///
/// Profiles have a handshake now, so that the two files that set one mean something else and have another digest. Without the
/// handshake they have that of old.
#[test]
fn five_digests_never_change() {
    let digests = [
        ("dumbbell", "s1:b673cf24f2dd86bc9b4a2e8cb5a1eced"),
        ("queues", "s1:537915c8c05a397e57e1ffd2ce1fa615"),
        ("sources", "s1:805d0d9058dc0ffa133f4d9ed421f9fa"),
        ("events", "s1:64287c119d63f742fa8a8e48eeb6b849"),
        ("quic", "s1:e291d11b3b74752f8a2737c9397de7b7"),
    ];
    for (name, digest) in digests {
        let key = match name {
            "queues" => Some("flow.0.handshake=false"),
            "quic" => Some("tcp.handshake=false"),
            _ => None,
        };
        let old = kept_with(name, key.as_slice());
        assert_eq!(old.digest(), digest, "{name}:\n{}", old.canonical());
        assert_eq!(kept(name).digest() == digest, key.is_none(), "{name}");
    }
}

#[test]
fn the_canonical_text_says_what_is_not_a_default() {
    let text = kept("dumbbell").canonical();
    // 100 Mbit/s in bit/s, 20 ms in picoseconds, a start that is drawn.
    for line in [
        "link.0.rate = 100000000",
        "link.0.delay = 20000000000",
        "link.0.loss.Bernoulli.probability = 0.0001",
        "flow 4",
        "flow.0.start.Uniform = [0,2000000000000]",
        "flow.3.bytes = 20000000",
        "event 0",
    ] {
        assert!(text.lines().any(|other| other == line), "{line} is not in\n{text}");
    }
    for default in ["min_rto", "pacing", "sample", "traffic", "policer"] {
        assert!(!text.contains(default), "{default} is in\n{text}");
    }
}
