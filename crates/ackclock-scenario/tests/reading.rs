//! What an accepted scenario is: defaults, overrides, expansion, and that nothing is lost in writing.

use ackclock_cc::registry::BuiltIn;
use ackclock_scenario::*;
use ackclock_units::{Bytes, Packets, Span, Window};
use proptest::prelude::*;

use crate::common::VALID;

fn read(text: &str, settings: &[&str]) -> Scenario {
    let settings: Vec<_> = settings.iter().map(|setting| (*setting).to_owned()).collect();
    read_toml(text, "a.toml", &settings, &BuiltIn).unwrap().scenario
}

/// One flow of Reno that says no more than it must, with settings.
fn small(settings: &[&str]) -> Scenario {
    read(VALID, &[&["flow=[{ controller = 'reno' }]"], settings].concat())
}

/// The values of the format's page.
#[test]
fn defaults() {
    let scenario = small(&[]);
    assert_eq!((scenario.run.seed, scenario.run.warmup), (1, Span::ZERO));
    assert_eq!(scenario.run.sample, Sample::Every(Span::from_millis(100)));
    let tcp = &scenario.flows[0].tcp;
    assert_eq!((tcp.packet, tcp.ack, tcp.initial_window), (Bytes(1000), Bytes(40), Window(2.0)));
    assert_eq!((tcp.recovery, tcp.growth, tcp.delayed_ack), (Recovery::Sack, Growth::PerAck, 1));
    assert_eq!((tcp.min_rto, tcp.max_rto), (Span::from_millis(200), Span::from_seconds(64)));
    assert_eq!((tcp.initial_rto, tcp.clock), (Span::from_seconds(1), Span::from_millis(1)));
    assert_eq!((tcp.pacing_gain, tcp.slow_start_gain, tcp.min_window), (1.2, 2.0, Packets(1)));
    assert_eq!(tcp.ace_bits, 11);
    assert!(tcp.limited_transmit && !tcp.pacing && tcp.hystart == HyStart::Off && tcp.max_burst.is_none());
    assert_eq!(scenario.flows[0].rtt, Span::from_millis(40), "twice the bottleneck's delay");
    assert_eq!(scenario.flows[0].name, "reno-0");
    let limit = Limit::Packets(Packets(1000));
    assert_eq!(scenario.links[1].queue, Queue::Droptail { limit }, "no ACK is lost by default");
}

#[test]
fn a_flow_overrides_tcp_and_a_profile_begins_afresh() {
    let tcp = |settings: &[&str]| small(settings).flows.remove(0).tcp;
    let both = tcp(&["tcp.packet=1500 B", "tcp.min_rto=1 s", "flow.0.min_rto=300ms"]);
    assert_eq!((both.packet, both.min_rto), (Bytes(1500), Span::from_millis(300)));
    let afresh = tcp(&["tcp.packet=1500 B", "flow.0.profile=ns2"]);
    assert_eq!(afresh.packet, Bytes(1000));
    let linux = tcp(&["tcp.profile=linux", "tcp.recovery=sack"]);
    assert_eq!((linux.initial_window, linux.delayed_ack), (Window(10.0), 2));
    assert_eq!((linux.delayed_ack_timer, linux.growth), (Span::from_millis(40), Growth::PerPacket));
}

/// ns-2 (`syn_`) and every TCP have a handshake. A scenario without a profile has none, as before there was the key; QUIC has its
/// own.
#[test]
fn a_profile_has_a_handshake() {
    let has = |settings: &[&str]| small(settings).flows[0].tcp.handshake;
    assert!(!has(&[]));
    for profile in ["ns2", "linux"] {
        for table in ["tcp", "flow.0"] {
            let profile = format!("{table}.profile={profile}");
            assert!(has(&[&profile]), "{profile}");
            assert!(!has(&[&profile, &format!("{table}.handshake=false")]), "{profile}");
            assert!(!has(&[&profile, "flow.0.transport=quic", "flow.0.packet=1500 B"]), "{profile}");
        }
    }
    assert!(has(&["flow.0.handshake=true"]));
}

/// Numbers of 17 digits, which a fast reader of decimals rounds to a neighbour.
#[test]
fn a_number_is_the_same_in_json_as_in_toml() {
    for number in ["9.087456597222159e-6", "9.528266059027695e-6", "1.0002983940972119e-5"] {
        let json = Draft::from_json(&format!("{{\"loss\": {number}}}"), "a").unwrap();
        let toml = Draft::from_toml(&format!("loss = {number}"), "a").unwrap();
        assert_eq!(json.json(), toml.json());
    }
}

#[test]
fn settings_are_read_as_toml_or_text() {
    let scenario = small(&[
        "run.seed=18446744073709551615",
        "flow.0.start={ uniform = [\"1 s\", \"2 s\"] }",
        "flow.0.stop={ uniform = [\"0 s\", \"5 s\"] }",
        "run.sample=rtt",
        "flow.0.controller=illinois",
        "flow.0.params.alpha_max=7",
    ]);
    assert_eq!(scenario.run.seed, u64::MAX, "exact above 2^53");
    assert_eq!(scenario.run.sample, Sample::RoundTrip);
    let flow = &scenario.flows[0];
    assert_eq!(flow.start, Moment::Uniform(Span::from_seconds(1), Span::from_seconds(2)));
    assert_eq!(flow.stop, Some(Moment::Uniform(Span::ZERO, Span::from_seconds(5))));
    assert_eq!(flow.settings(&BuiltIn)["stop"]["uniform"][1], "5 s");
    assert_eq!(*flow.params, [("alpha_max".to_owned(), ParamValue::Number(7.0))]);
    assert_eq!(flow.settings(&BuiltIn)["params"]["alpha_min"], 0.1, "defaults are filled in");
}

#[test]
fn flows_are_counted_and_named() {
    let names = |settings: &[&str]| -> Vec<String> {
        small(settings).flows.iter().map(|flow| flow.name.clone()).collect()
    };
    assert_eq!(names(&["flow.0.name=a", "flow.0.count=2"]), ["a-0", "a-1"]);
    assert_eq!(names(&["flow.0.name=a"]), ["a"]);
    assert_eq!(names(&["flow.0.count=2"]), ["reno-0", "reno-1"]);
}

/// 1/0.1 % = 1000.
#[test]
fn a_periodic_rate_is_a_period() {
    let scenario = small(&["dumbbell.loss={ kind = \"periodic\", rate = \"0.1 %\" }"]);
    assert_eq!(scenario.links[0].loss, Loss::Periodic { every: 1000 });
}

/// Values in turn may be written as a table wherever a list has that meaning.
#[test]
fn a_list_and_in_turn_are_the_same() {
    let changed = |values: &str| {
        let event = format!("event=[{{ at = '1 s', every = '1 s', set = 'dumbbell.rate', to = {values} }}]");
        read_toml(VALID, "a.toml", &[event], &BuiltIn).unwrap().digest()
    };
    let list = "['5 Mbit/s', '6 Mbit/s']";
    assert_eq!(changed(list), changed(&format!("{{ in_turn = {list} }}")));
    assert_ne!(changed(list), changed("['6 Mbit/s', '5 Mbit/s']"));
}

/// docs/scenario.md holds the reference as the program knows it; UPDATE_DOCS=1 writes it anew.
#[test]
fn the_documentation_has_every_key() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenario.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (begin, end) = ("<!-- reference -->\n", "<!-- /reference -->");
    let (before, rest) = text.split_once(begin).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    let wanted = format!("{before}{begin}{}{end}{after}", reference());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &wanted).unwrap();
    }
    assert!(
        std::fs::read_to_string(path).unwrap() == wanted,
        "docs/scenario.md is out of date: run make docs"
    );
}

#[test]
fn the_schema_closes_every_table() {
    fn check(schema: &serde_json::Value) {
        if let Some(properties) = schema["properties"].as_object() {
            assert_eq!(schema["additionalProperties"], false);
            properties.values().for_each(check);
        }
        check_items(schema);
    }
    fn check_items(schema: &serde_json::Value) {
        if schema["items"].is_object() {
            check(&schema["items"]);
        }
    }
    let schema = json_schema();
    check(&schema);
    let flow = &schema["properties"]["flow"]["items"]["properties"];
    assert!(flow["rtt"].is_object() && flow["recovery"].is_object());
}

proptest! {
    /// Any damage to a scenario is refused in one line or gives a scenario that can be written and read.
    #[test]
    fn damaged_scenarios_do_no_harm(
        position in 0..EXAMPLE.len(), remove in 0_usize..30, insert in "[ -~\n]{0,12}"
    ) {
        let end = (position + remove).min(EXAMPLE.len());
        if !EXAMPLE.is_char_boundary(position) || !EXAMPLE.is_char_boundary(end) {
            return Ok(());
        }
        let text = format!("{}{insert}{}", &EXAMPLE[..position], &EXAMPLE[end..]);
        match read_toml(&text, "a.toml", &[], &BuiltIn) {
            Ok(checked) => prop_assert_eq!(read(&checked.toml, &[]), checked.scenario),
            Err(refusal) => prop_assert!(!refusal.to_string().contains('\n')),
        }
    }

    #[test]
    fn any_setting_is_accepted_or_refused(
        key in "(run|tcp|dumbbell|flow|event|link|parking_lot)(\\.[a-z0-9_]{0,8}){0,3}", value in "\\PC{0,20}"
    ) {
        match read_toml(EXAMPLE, "a.toml", &[format!("{key}={value}")], &BuiltIn) {
            Ok(checked) => prop_assert_eq!(read(&checked.toml, &[]), checked.scenario),
            Err(refusal) => prop_assert!(!refusal.to_string().contains('\n')),
        }
    }

    #[test]
    fn any_text_is_refused_in_one_line(text in "\\PC{0,60}") {
        if let Err(refusal) = read_toml(&text, "a.toml", &[], &BuiltIn) {
            prop_assert!(!refusal.to_string().contains('\n'));
        }
        let _ = read_json(&text, "a.json", &[], &BuiltIn);
    }
}
