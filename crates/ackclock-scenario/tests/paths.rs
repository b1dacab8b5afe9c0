//! Named paths: each is a dumbbell that can be read, and what the file says comes first.

use ackclock_cc::registry::BuiltIn;
use ackclock_scenario::{Checked, Limit, Loss, NamedPath, Profile, Queue, Refusal, read_toml};
use ackclock_units::{Packets, Rate, Span};

fn read(text: &str) -> Result<Checked, Refusal> {
    let text = format!("run = {{ duration = \"10 s\" }}\nflow = [{{ controller = \"reno\" }}]\n{text}");
    read_toml(&text, "test.toml", &[], &BuiltIn)
}

/// The round trip of a flow is twice the delay, 600 ms; 20 Mbit/s for 600 ms are 1500 packets of 1000 bytes.
#[test]
fn a_name_stands_for_a_dumbbell() {
    for name in NamedPath::WORDS {
        let checked = read(&format!("path = \"{name}\"")).unwrap();
        assert_eq!(checked.scenario.flows[0].rtt.0, 2 * checked.scenario.links[0].delay.0, "{name}");
        // The complete text needs no name, and means the same.
        let again = read_toml(&checked.toml, "again.toml", &[], &BuiltIn).unwrap();
        assert_eq!((again.scenario, &again.toml), (checked.scenario, &checked.toml), "{name}");
        assert!(!checked.toml.contains("path ="), "{name}");
    }
    let geo = read("path = \"geo\"").unwrap().scenario;
    assert_eq!((geo.links[0].rate, geo.flows[0].rtt), (Rate(20_000_000), Span::from_millis(600)));
    assert_eq!(geo.links[0].queue, Queue::Droptail { limit: Limit::Packets(Packets(1500)) });
    assert_eq!(geo.links[0].loss, Loss::Bernoulli { probability: 0.001 });
}

#[test]
fn what_the_file_says_comes_first() {
    let scenario = read("path = \"geo\"\ndumbbell = { rate = \"5 Mbit/s\" }").unwrap().scenario;
    assert_eq!((scenario.links[0].rate, scenario.flows[0].rtt), (Rate(5_000_000), Span::from_millis(600)));
}

/// People begin with these paths, so they have senders of today; a file that describes its own path keeps the default.
#[test]
fn senders_are_those_of_today_unless_the_file_says_otherwise() {
    let profile = |text: &str| read(text).unwrap().scenario.flows[0].tcp.profile;
    assert_eq!(profile("path = \"4g\""), Profile::Linux);
    assert_eq!(profile("path = \"4g\"\ntcp = { overhead = \"1 us\" }"), Profile::Linux);
    assert_eq!(profile("path = \"4g\"\ntcp = { profile = \"ns2\" }"), Profile::Ns2);
    let own = "dumbbell = { rate = \"5 Mbit/s\", delay = \"9 ms\", queue = { kind = \"droptail\", limit = \"9 packets\" } }";
    assert_eq!(profile(own), Profile::Ns2);
}

#[test]
fn the_case_of_a_name_does_not_matter() {
    let toml = |name: &str| read(&format!("path = \"{name}\"")).unwrap().toml;
    assert_eq!(toml("4G"), toml("4g"));
    assert_eq!(toml("DSL"), toml("dsl"));
}

#[test]
fn what_is_wrong_is_refused() {
    let refusal = |text: &str| read(text).unwrap_err().to_string();
    assert_eq!(refusal("path = \"gee\""), "test.toml:3: path: unknown value \"gee\", did you mean \"geo\"?");
    assert!(refusal("path = \"geo\"\ndumbbell = { speed = 3 }").contains("speed"));
    let two = refusal(
        "path = \"geo\"\nlink = [{ name = \"a\", from = \"a\", to = \"b\", rate = \"1 Mbit/s\", delay = \"1 ms\", queue = { kind = \"droptail\", limit = \"9 packets\" } }]",
    );
    assert!(two.contains("give only one of dumbbell, parking_lot and link"), "{two}");
}
