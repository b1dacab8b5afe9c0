//! The complete text of a scenario: reading it gives the same scenario and the same text, and nothing in it is left to
//! a default.

use ackclock_cc::Controller;
use ackclock_cc::illinois::{Illinois, Paper};
use ackclock_cc::registry::{BuiltIn, Catalogue, Entry};
use ackclock_scenario::{Checked, EXAMPLE, Profile, Recovery, json_schema, read_json, read_toml};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The built-in controls, and rate-based ones, which belong to the drivers.
struct All(Vec<Entry>);

impl Catalogue for All {
    fn entries(&self) -> &[Entry] {
        &self.0
    }
}

fn all() -> All {
    let rates = ["tfrc", "tear"]
        .map(|name| Entry::of_rate::<<Illinois<Paper> as Controller>::Params>(name, "a test"));
    All(BuiltIn.entries().iter().copied().chain(rates).collect())
}

fn read(text: &str) -> Checked {
    read_toml(text, "a.toml", &[], &all()).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"))
}

fn digest(text: &str, settings: &[&str]) -> String {
    let settings: Vec<_> = settings.iter().map(|setting| (*setting).to_owned()).collect();
    read_toml(text, "a.toml", &settings, &all()).unwrap().digest()
}

/// Asserts that the complete forms of a scenario are that scenario.
fn stays(checked: &Checked, file: &str) {
    let again = read_toml(&checked.toml, file, &[], &all()).unwrap_or_else(|refusal| {
        panic!("the complete text is refused: {refusal}\n{}", checked.toml);
    });
    assert_eq!(again.scenario, checked.scenario, "{}", checked.toml);
    assert_eq!(again.toml, checked.toml);
    assert_eq!(again.digest(), checked.digest());
    let json = read_json(&checked.json().to_string(), file, &[], &all()).unwrap();
    assert_eq!((json.scenario, json.toml), (again.scenario, again.toml));
}

#[test]
fn every_scenario_of_the_repository_stays_itself() {
    let mut count = 0;
    for entry in std::fs::read_dir(format!("{ROOT}/scenarios")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let file = path.display().to_string();
            let text = std::fs::read_to_string(&path).unwrap();
            stays(&read_toml(&text, &file, &[], &all()).unwrap(), &file);
            count += 1;
        }
    }
    assert!(count >= 6, "only {count} scenarios were read");
}

/// The keys of the schema that are not in the complete text are those whose absence means that there is none.
#[test]
fn every_key_is_written() {
    let complete = read(EXAMPLE).json();
    let schema = json_schema();
    let missing = |section: &str, table: &serde_json::Value| -> Vec<String> {
        let keys = &schema["properties"][section];
        let keys = keys["properties"].as_object().or(keys["items"]["properties"].as_object()).unwrap();
        keys.keys().filter(|key| table.get(key).is_none()).cloned().collect()
    };
    assert_eq!(missing("run", &complete["run"]), [""; 0]);
    assert_eq!(missing("tcp", &complete["tcp"]), [""; 0]);
    let mut link = missing("dumbbell", &complete["dumbbell"]);
    link.sort();
    let series = ["rate_series", "delay_series", "loss_series"];
    link.retain(|key| !series.contains(&key.as_str()));
    assert_eq!(link, ["aggregation", "delay_noise", "policer", "rate_trace", "square"]);
    // What a flow does not set for itself is in [tcp].
    let tcp = complete["tcp"].as_object().unwrap();
    let mut flow = missing("flow", &complete["flow"][0]);
    flow.retain(|key| !tcp.contains_key(key));
    flow.sort();
    let none = [
        "arrivals",
        "deadline",
        "delay_noise",
        "frame_rate",
        "key_every",
        "key_ratio",
        "pulse",
        "receiver",
        "reverse_noise",
        "bytes",
        "codepoint",
        "every",
        "file",
        "from",
        "limit",
        "object",
        "objects",
        "off",
        "on",
        "rate",
        "requests",
        "schedule",
        "shape",
        "size",
        "source",
        "spacing",
        "stop",
        "think",
        "to",
    ];
    let mut none = none.to_vec();
    none.sort_unstable();
    assert_eq!(flow, none);
    assert_eq!(complete["flow"][1]["params"]["alpha_min"], 0.1, "the default of the control");
    let profile = read_toml(EXAMPLE, "a.toml", &["flow.0.profile=linux".to_owned()], &all()).unwrap();
    let flow = &profile.json()["flow"][0];
    assert_eq!((flow["delayed_ack"].as_u64(), flow["recovery"].as_str()), (Some(2), Some("rack")));
}

/// A saved text keeps its meaning: what it has from a profile stays when the profile is another one.
#[test]
fn a_complete_text_does_not_depend_on_profiles() {
    let settings = ["tcp.profile=linux".to_owned()];
    let linux = read_toml(EXAMPLE, "a.toml", &settings, &all()).unwrap();
    let other = read(&linux.toml.replace("profile = \"linux\"", "profile = \"ns2\""));
    assert_eq!(other.scenario.flows[0].tcp.profile, Profile::Ns2);
    assert_eq!(other.scenario.flows[0].tcp.recovery, Recovery::Rack);
}

#[test]
fn whole_numbers_keep_all_their_digits() {
    let settings = ["run.seed=18446744073709551615".to_owned()];
    let checked = read_toml(EXAMPLE, "a.toml", &settings, &all()).unwrap();
    assert!(checked.toml.contains("seed = 18446744073709551615\n"));
    stays(&checked, "a.toml");
}

#[test]
fn the_digest_is_of_the_meaning() {
    let same = digest(EXAMPLE, &[]);
    assert_eq!((same.len(), &same[..3]), (35, "s1:"));
    for setting in [
        "run.duration=1min",
        "run.seed=1",
        "tcp.profile=linux",
        "tcp.initial_window=10",
        "dumbbell.rate=0.1 Gbit/s",
        "dumbbell.loss={ kind = \"none\" }",
        "flow.0.count=1",
        "flow.0.overhead=0.1 ms",
        "flow.1.params={ beta_min = 0.125, alpha_max = 10 }",
        "event=[]",
    ] {
        assert_eq!(digest(EXAMPLE, &[setting]), same, "{setting}");
    }
    for setting in [
        "run.seed=2",
        "run.warmup=21 s",
        "tcp.profile=ns2",
        "tcp.initial_window=3",
        "dumbbell.reverse.rate=1 Mbit/s",
        "flow.0.name=nearer",
        "flow.1.params.alpha_max=9.999999999999998",
    ] {
        assert_ne!(digest(EXAMPLE, &[setting]), same, "{setting}");
    }
    let (first, second) =
        ("name = \"near\"\ncontroller = \"reno\"", "controller = \"reno\"\nname = \"near\"");
    let text = read(EXAMPLE).toml;
    assert!(text.contains(first));
    assert_eq!(digest(&text.replace(first, second), &[]), same, "the order of keys says nothing");
}

/// A file that a scenario names counts by its content.
#[test]
fn the_digest_knows_the_files() {
    let folder = std::env::temp_dir().join(format!("ackclock-digest-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("a.toml").display().to_string();
    let mut digests = Vec::new();
    for content in ["0 1", "0 0 1", "01"] {
        std::fs::write(folder.join("losses"), content).unwrap();
        let settings = ["dumbbell.loss={ kind = \"trace\", file = \"losses\" }".to_owned()];
        digests.push(read_toml(EXAMPLE, &file, &settings, &all()).unwrap().digest());
    }
    std::fs::remove_dir_all(folder).unwrap();
    assert_eq!(digests[0], digests[2]);
    assert_ne!(digests[0], digests[1]);
}

/// What a change follows from is written too: a rate that the other direction shares, a threshold that is 2.5 ms of it.
#[test]
fn events_say_all_that_they_change() {
    let text = read(EXAMPLE).draft().toml().replace("droptail", "ared")
        + "\n[[event]]\nat = \"5 s\"\nset = \"dumbbell.rate\"\nto = \"50 Mbit/s\"\n";
    let checked = read(&text);
    let to = &checked.json()["event"][0]["to"];
    assert_eq!((to["rate"].as_str(), to["reverse"]["rate"].as_str()), (Some("50 Mbit/s"), Some("50 Mbit/s")));
    // 2.5 ms of 50 Mbit/s are 125 kbit, 15.625 packets of 1000 B; a packet in 100 ms is 1/625 of what the link carries then.
    assert_eq!(to["queue"]["min_threshold"], 15.625);
    assert_eq!(to["queue"]["max_threshold"], 46.875);
    assert_eq!(to["queue"]["least_max_p"], 0.0016);
    stays(&checked, "a.toml");
    // With a rate of its own the other direction stays as it is, and one key says it.
    let own = text.replace("set = \"dumbbell.rate\"", "set = \"dumbbell.reverse.rate\"");
    let checked = read(&own);
    let event = &checked.json()["event"][0];
    assert_eq!(
        (event["set"].as_str(), event["to"].as_str()),
        (Some("dumbbell.reverse.rate"), Some("50 Mbit/s"))
    );
    stays(&checked, "a.toml");
}

fn some_of(all: &'static [&'static str], between: &'static str) -> impl Strategy<Value = String> {
    subsequence(all, 0..=all.len()).prop_map(move |some| some.join(between))
}

fn queue() -> impl Strategy<Value = String> {
    let red = &["ecn = true", "min_threshold = 7", "max_p = 0.2", "gentle = false", "weight = 0.01"];
    let kinds: [(&str, &'static [&'static str]); 7] = [
        ("droptail", &[]),
        ("red", red),
        ("ared", red),
        ("codel", &["ecn = true", "target = \"7 ms\"", "interval = \"90 ms\""]),
        ("pie", &["ecn = true", "target = \"20 ms\"", "burst = \"1 s\""]),
        ("fq_codel", &["target = \"7 ms\"", "quantum = \"300 B\"", "queues = 16"]),
        ("dualpi2", &["scheduler = \"ts-fifo\"", "ramp_to = \"3 ms\"", "uniform = false", "coupling = 1.5"]),
    ];
    // A step needs its one key.
    let step = select(vec!["threshold = 20", "sojourn = \"1 ms\""])
        .prop_map(|key| format!("{{ kind = \"step\", limit = \"50 packets\", {key} }}"));
    let limit = select(vec!["50 packets", "2000 packets", "125 kB"]);
    let others = (select(kinds.to_vec()), limit).prop_flat_map(|((kind, keys), limit)| {
        some_of(keys, ", ").prop_map(move |keys| {
            let comma = if keys.is_empty() { "" } else { ", " };
            format!("{{ kind = \"{kind}\", limit = \"{limit}\"{comma}{keys} }}")
        })
    });
    prop_oneof![6 => others, 1 => step]
}

const EXTRAS: &[&str] = &[
    "loss = { kind = \"gilbert_elliott\", to_bad = \"1 %\", to_good = 0.3 }",
    "delay_noise = { kind = \"uniform\", range = \"1 ms\" }",
    "square = { rate = \"3 Mbit/s\", period = \"4 s\" }",
    "policer = { rate = \"4 Mbit/s\", burst = \"20 kB\" }",
    "aggregation = { every = \"2 ms\" }",
    "up = false",
    "outage = \"drop\"",
];
const REVERSE: &[&str] = &[
    "rate = \"2.000001 Mbit/s\"",
    "delay = \"0.5 ms\"",
    "queue = { kind = \"ared\", limit = \"99 packets\" }",
    "loss = { kind = \"periodic\", rate = \"0.3 %\" }",
    "policer = { rate = \"1 Mbit/s\", burst = \"9 kB\" }",
    "aggregation = { every = \"10 ms\", thin_acks = true }",
    "delay_noise = { kind = \"gaussian\", sigma = \"1 ms\", reorder = true, hold = \"2 s\" }",
    "up = true",
];

/// The keys of a link.
fn link() -> impl Strategy<Value = String> {
    let reverse = prop::option::of(some_of(REVERSE, ", "));
    (queue(), some_of(EXTRAS, "\n"), reverse).prop_map(|(queue, extras, reverse)| {
        let reverse = reverse.map(|keys| format!("reverse = {{ {keys} }}\n")).unwrap_or_default();
        format!("rate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nqueue = {queue}\n{extras}\n{reverse}")
    })
}

/// The tables of the links, the ends that each flow needs, and a link as events name it.
fn links() -> impl Strategy<Value = (String, &'static str, &'static str)> {
    let two = (link(), link(), select(vec!["", "name = \"last.one\"\n"])).prop_map(|(a, b, name)| {
        let text =
            format!("[[link]]\nfrom = \"a\"\nto = \"b\"\n{a}[[link]]\n{name}from = \"b\"\nto = \"c\"\n{b}");
        (text, "from = \"a\"\nto = \"c\"\n", "link.a-b")
    });
    prop_oneof![
        link().prop_map(|link| (format!("[dumbbell]\n{link}"), "", "dumbbell")),
        link().prop_map(|link| (format!("[parking_lot]\nhops = 2\n{link}"), "", "parking_lot")),
        two,
    ]
}

const FLOWS: &[&str] = &[
    "controller = \"reno\"\ncount = 2",
    "controller = \"illinois\"\nparams = { theta = 4, alpha_max = 7 }",
    "name = \"some\"\ncontroller = \"cubic\"\ncount = 3\nmax_burst = 4",
    "controller = \"bic\"\nprofile = \"linux\"\npacket = \"1500 B\"",
    "controller = \"reno\"\ntransport = \"quic\"\nprofile = \"linux\"\npacket = \"1500 B\"",
    "controller = \"tfrc\"\nstart = { uniform = [\"0 s\", \"1.5 s\"] }\nbytes = \"3 MB\"",
    "controller = \"reno\"\nrecovery = \"reno\"\nrtt_sampling = \"one_per_window\"\nmin_rto_bounds = \"timeout\"\nclock = \"100 ms\"",
    "source = \"web\"\nthink = \"1 s\"",
    "source = \"emultcp\"",
    "source = \"requests\"\nsize = [[\"10 kB\", \"70 %\"], [\"1 MB\", 0.3]]\nthink = \"2 s\"\nrequests = 5",
    "source = \"requests\"\ncontroller = \"cubic\"\nsize = \"3 kB\"\nevery = \"0.3 s\"\nspacing = \"exponential\"",
    "source = \"media\"\nrate = \"2 Mbit/s\"\nkey_ratio = 7\ndeadline = \"150 ms\"",
    "source = \"cbr\"\nrate = \"1 Mbit/s\"\ndeadline = \"99 ms\"\npulse = { on = \"0.1 s\", every = \"1 s\" }",
    "controller = \"reno\"\nreceiver = { split = 9, advance = true }\ndelay_noise = { kind = \"wifi\", mean = \"7 ms\" }",
    "controller = \"reno\"\nreceiver = { ignore_marks = true }\nreverse_noise = { kind = \"uniform\", range = \"7 ms\" }",
    "controller = \"cubic\"\nlimit = \"2 Mbit/s\"",
    "controller = \"cubic\"\narrivals = { load = \"110 %\", sizes = [[\"10 kB\", 0.7], [\"1 MB\", \"30 %\"]] }\nstop = \"9 s\"",
    "controller = \"reno\"\nstart = { uniform = [\"0 s\", \"2 s\"] }\nstop = { uniform = [\"1 s\", \"7.5 s\"] }",
    "source = \"onoff\"\nrate = \"1 Mbit/s\"\nstop = \"7 s\"",
    "source = \"cbr\"\nrate = \"123456 bit/s\"\ncodepoint = \"ect1\"\naccess = \"3 Mbit/s\"\nrtt = \"61.5 ms\"",
];
const TCP: &[&str] = &[
    "profile = \"linux\"",
    "receive_window = 12",
    "initial_ssthresh = 20",
    "pacing = true",
    "min_rto = \"1 s\"",
];
const EVENTS: &[&str] = &[
    "set = \"LINK.rate\"\nto = \"7 Mbit/s\"",
    "set = \"LINK.delay\"\nto = \"5 ms\"",
    "set = \"LINK.queue\"\nto = { kind = \"ared\", limit = \"30 packets\" }",
    "set = \"LINK.queue.limit\"\nto = \"40 packets\"",
    "set = \"LINK.loss\"\nto = { kind = \"bernoulli\", rate = \"1 %\" }",
    "set = \"LINK.reverse\"\nto = {}",
    "set = \"LINK.reverse.delay\"\nto = \"6 ms\"",
    "set = \"LINK.delay_noise.range\"\nto = \"2 ms\"",
    "set = \"LINK.delay_noise.hold\"\nto = \"0.5 s\"",
    "set = \"LINK.up\"\nto = false",
    "set = \"LINK.rate\"\nto = [\"9 Mbit/s\", \"10 Mbit/s\"]\nevery = \"1 s\"\nuntil = \"8 s\"",
    "set = \"LINK.reverse.delay\"\nto = { uniform = [\"9 ms\", \"2 ms\"] }\nevery = \"0.3 s\"",
    "set = \"LINK.up\"\nto = [true, false]\nevery = \"0.7 s\"",
    "set = \"LINK.loss.rate\"\nto = { uniform = [\"1 %\", \"2 %\"] }",
    "set = \"LINK.queue\"\nto = [{ kind = \"codel\", limit = \"9 packets\" }, { kind = \"droptail\", limit = \"9 kB\" }]\nevery = \"1 s\"",
];

fn scenario() -> impl Strategy<Value = String> {
    let flows = subsequence(FLOWS, 1..=FLOWS.len());
    let events = subsequence(EVENTS, 0..=EVENTS.len());
    let sample = select(vec!["", "sample = \"rtt\"", "warmup = \"3 s\"\nseed = 9"]);
    (links(), some_of(TCP, "\n"), flows, events, sample).prop_map(
        |((links, ends, link), tcp, flows, events, run)| {
            let mut text = format!("[run]\nduration = \"10 s\"\n{run}\n[tcp]\n{tcp}\n{links}");
            for flow in flows {
                text += &format!("[[flow]]\n{flow}\n{ends}");
            }
            for event in events {
                text += &format!("[[event]]\nat = \"5 s\"\n{}\n", event.replace("LINK", link));
            }
            text
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    /// Scenarios that are refused are left out; were they many, the test would fail.
    #[test]
    fn any_scenario_stays_itself(text in scenario()) {
        let checked = read_toml(&text, "a.toml", &[], &all());
        prop_assume!(checked.is_ok());
        stays(&checked.unwrap(), "a.toml");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, failure_persistence: None, ..ProptestConfig::default() })]
    /// Another number, word or flag in one leaf gives another digest exactly if it gives another scenario.
    #[test]
    fn digests_differ_when_scenarios_do(text in scenario(), picks in prop::collection::vec((0_usize..400, 0_usize..3), 40)) {
        let checked = read_toml(&text, "a.toml", &[], &all());
        prop_assume!(checked.is_ok());
        let checked = checked.unwrap();
        for (pick, change) in picks {
            let mut changed = checked.json();
            let mut leaves = Vec::new();
            leaves_of(&mut changed, &mut leaves);
            let index = pick % leaves.len();
            alter(leaves.swap_remove(index), change);
            let Ok(other) = read_json(&changed.to_string(), "a.toml", &[], &all()) else { continue };
            prop_assert_eq!(other.digest() == checked.digest(), other.scenario == checked.scenario);
        }
    }
}

/// The values of JSON data that are neither lists nor tables.
fn leaves_of<'a>(value: &'a mut serde_json::Value, leaves: &mut Vec<&'a mut serde_json::Value>) {
    match value {
        serde_json::Value::Array(items) => items.iter_mut().for_each(|item| leaves_of(item, leaves)),
        serde_json::Value::Object(fields) => fields.values_mut().for_each(|field| leaves_of(field, leaves)),
        leaf => leaves.push(leaf),
    }
}

/// Changes a value into another of its type, or writes the same in another way.
fn alter(leaf: &mut serde_json::Value, change: usize) {
    *leaf = match leaf.clone() {
        serde_json::Value::Bool(flag) => (flag != (change == 0)).into(),
        serde_json::Value::Number(number) => match number.as_u64() {
            Some(whole) => (whole + change as u64).into(),
            None => (number.as_f64().unwrap() * (1.0 + change as f64)).into(),
        },
        serde_json::Value::String(text) => match (change, text.split_once(' ')) {
            (0, Some((number, unit))) => format!("{number}0 {unit}"),
            (1, Some((number, unit))) if !number.contains('.') => format!("{number}.0 {unit}"),
            _ => {
                let words = [
                    "sack", "newreno", "linux", "ns2", "per_ack", "timeout", "fixed", "drop", "ect0", "none",
                    "paper",
                ];
                words[(text.len() + change) % words.len()].to_owned()
            }
        }
        .into(),
        other => other,
    };
}
