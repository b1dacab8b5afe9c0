//! Everything that is refused, with its message: where, what is wrong, what is allowed, in one line.

use ackclock_cc::registry::{BuiltIn, Catalogue};
use ackclock_scenario::{EXAMPLE, Growth, Recovery, read_json, read_toml};
use ackclock_units::{Span, Window};

use crate::common::{VALID, refusal};

const TIME: &str = "expected a time such as \"50 ms\" (ps, ns, us, ms, s, min, h)";
const RATE: &str = "expected a rate such as \"100 Mbit/s\" (bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s)";
const SIZE: &str = "expected a size such as \"1000 B\" (B, kB, MB, GB, TB, KiB, MiB, GiB)";
const QUEUE: &str = "expected packets, bytes, a time or bandwidth-delay products, such as \"100 packets\", \"125 kB\", \"50 ms\" \
                     or \"2 bdp\"";
const FILE_KEYS: &str = "run, tcp, path, dumbbell, parking_lot, node, link, flow, event";

#[test]
fn the_scenario_without_a_change_is_valid() {
    assert!(read_toml(VALID, "a.toml", &[], &BuiltIn).is_ok());
}

/// Each refusal names the setting and the key; the rest is given here.
#[test]
fn values() {
    let cases: &[(&str, String)] = &[
        // Units.
        (
            "run.duration=10",
            format!("the unit is missing; {TIME}; write \"10 ms\" if milliseconds are meant"),
        ),
        (
            "run.duration=\"10\"",
            format!("the unit is missing; {TIME}; write \"10 ms\" if milliseconds are meant"),
        ),
        ("run.duration=10 parsecs", format!("unknown unit; {TIME}")),
        ("run.duration=soon", format!("not a number; {TIME}")),
        ("dumbbell.delay=-5 ms", format!("must not be negative; {TIME}")),
        ("dumbbell.delay=12.1 h", "must be at most 12 h".into()),
        ("dumbbell.rate=10", format!("the unit is missing; {RATE}; write \"10 Mbit/s\" if that is meant")),
        ("dumbbell.rate=true", "expected a text, found true or false".into()),
        ("dumbbell.queue.limit=50", format!("the unit is missing; {QUEUE}")),
        ("dumbbell.queue.limit=50 spans", format!("unknown unit; {QUEUE}")),
        ("dumbbell.rate=20M", format!("unknown unit; {RATE}; write \"20 Mbit/s\"")),
        ("dumbbell.rate=2.5 MB/s", format!("unknown unit; {RATE}; of bytes, 1 MB/s is 8 Mbit/s")),
        ("flow.0.bytes=5G", format!("unknown unit; {SIZE}; write \"5 GB\"")),
        ("flow.0.packet=1000", format!("the unit is missing; {SIZE}")),
        ("flow.0.bytes=10 Mbit/s", format!("unknown unit; {SIZE}")),
        // Impossible values.
        ("run.duration=0 s", "must be longer than 0 s".into()),
        ("run.duration=5000 h", "must be at most 180 days (4320 h)".into()),
        ("run.warmup=10 s", "must end before the run does (10 s), is 10 s".into()),
        ("run.sample=0 ms", "must be longer than 0 s".into()),
        ("run.sample=1 ns", "a run has at most 10000000 samples; 10 s every 1 ns is more".into()),
        ("run.seed=-1", "expected a whole number of at least 0, found -1".into()),
        ("run.seed=1.5", "expected a whole number of at least 0, found 1.5".into()),
        ("dumbbell.rate=0 Mbit/s", "must be above 0 bit/s".into()),
        ("dumbbell.queue.limit=0 packets", "must be at least 1 packet or 1 B".into()),
        ("dumbbell.queue.limit=2000000000 packets", "must be at most 1000000000 packets".into()),
        (
            "flow.0.rtt=30 ms",
            "must be at least the delays of its links there and back (40 ms), is 30 ms".into(),
        ),
        ("flow.0.rtt=48 h", "must be at most 24 h".into()),
        ("flow.0.access=0 Mbit/s", "must be above 0 bit/s".into()),
        ("flow.0.start=10 s", "must lie before the end of the run (10 s)".into()),
        ("flow.0.stop=0 s", "must come after the start (0 s)".into()),
        (
            "flow.0.stop={ uniform = [\"0 s\", \"0 s\"] }",
            "must end after the latest start (0 s), ends at 0 s".into(),
        ),
        ("flow.0.stop={ uniform = [\"3 s\", \"2 s\"] }", "must not end (2 s) before it begins (3 s)".into()),
        (
            "flow.0.stop={ uniform = [\"3 s\"] }",
            "expected a time, or { uniform = [\"0 s\", \"20 s\"] }".into(),
        ),
        ("flow.0.start={ uniform = [\"3 s\", \"2 s\"] }", "must not end (2 s) before it begins (3 s)".into()),
        (
            "flow.0.start={ uniform = [\"3 s\", \"20 s\"] }",
            "must lie before the end of the run (10 s)".into(),
        ),
        (
            "flow.0.start={ normal = [\"3 s\", \"2 s\"] }",
            "expected a time, or { uniform = [\"0 s\", \"20 s\"] }".into(),
        ),
        ("flow.0.count=0", "expected a whole number from 1 to 100000, found 0".into()),
        ("flow.0.packet=0 B", "must lie between 1 B and 65535 B, is 0 B".into()),
        ("flow.0.packet=70 kB", "must lie between 1 B and 65535 B, is 70000 B".into()),
        ("flow.0.packet=40 B", "must have room for 40 B of headers and 1 B of data".into()),
        ("flow.0.initial_window=0", "expected a number of packets from 1 to 1000000000, found 0".into()),
        (
            "flow.0.initial_ssthresh=endless",
            "expected a number of packets from 2 to 1000000000 or \"unlimited\", found \"endless\"".into(),
        ),
        ("flow.0.delayed_ack=65", "expected a whole number from 1 to 64, found 65".into()),
        ("flow.0.min_rto=2 min", "must not exceed max_rto (64 s), is 120 s".into()),
        ("flow.0.min_rto=0 s", "must be longer than 0 s".into()),
        (
            "flow.0.rtt_sampling=each",
            "unknown value \"each\"; allowed: \"every_ack\", \"one_per_window\"".into(),
        ),
        ("flow.0.pacing=1", "expected true or false, found 1".into()),
        ("flow.0.pacing_gain=0", "expected a number from 0.01 to 100, found 0".into()),
        ("flow.0.min_window=0", "expected a whole number from 1 to 1000000000, found 0".into()),
        ("flow.0.ace_bits=2", "expected a whole number from 3 to 11, found 2".into()),
        ("flow.0.ace_bits=12", "expected a whole number from 3 to 11, found 12".into()),
        ("flow.0.ace_bits=3.5", "expected a whole number from 3 to 11, found 3.5".into()),
        ("flow.1.name=illinois-0", "two flows are named \"illinois-0\"; names must differ".into()),
        // Words.
        ("dumbbell.queue.kind=rod", "unknown value \"rod\", did you mean \"red\" or \"ared\"?".into()),
        ("flow.0.recovery=sak", "unknown value \"sak\", did you mean \"sack\" or \"rack\"?".into()),
        ("flow.0.direction=up", "unknown value \"up\"; allowed: \"forward\", \"reverse\"".into()),
        ("flow.0.controller=ilinois", "unknown control \"ilinois\", did you mean \"illinois\"?".into()),
        // Keys.
        ("run.sed=1", "unknown key, did you mean \"seed\"?".into()),
        ("flow.0.rtt_nose=5 ms", "unknown key, did you mean \"rtt_noise\" or \"rtt\"?".into()),
    ];
    for (setting, problem) in cases {
        let key = setting.split('=').next().unwrap();
        assert_eq!(refusal(setting), format!("--set {setting}: {key}: {problem}"));
    }
    assert_eq!(refusal("walk.x=1"), format!("--set walk.x=1: walk: unknown key; allowed: {FILE_KEYS}"));
}

/// Where no name is similar, a list that nobody would read gives way to the command that prints it.
#[test]
fn long_lists_are_named_and_not_printed() {
    let controls = BuiltIn.entries().len();
    assert!(controls > 12);
    assert_eq!(
        refusal("flow.0.controller=quantum"),
        format!(
            "--set flow.0.controller=quantum: flow.0.controller: unknown control \"quantum\"; `ackclock controllers` lists \
             all {controls}"
        )
    );
    let key = refusal("flow.0.wxyz=1");
    assert!(key.contains("flow.0.wxyz: unknown key; `ackclock schema` lists all "), "{key}");
    let parameter = refusal("flow.0.params={ wxyz = 1 }");
    assert!(
        parameter.ends_with("illinois has no such parameter; `ackclock explain illinois` lists all 14"),
        "{parameter}"
    );
}

/// The flow that is one too many is the second.
#[test]
fn too_many_flows() {
    assert_eq!(
        refusal("flow.0.count=100000"),
        "a.toml:13: flow.1.count: there must be at most 100000 flows in total"
    );
}

#[test]
fn losses() {
    let loss = |text: &str| {
        let message = refusal(&format!("dumbbell.loss={text}"));
        message.split("dumbbell.loss").last().unwrap().to_owned()
    };
    let bernoulli = |rate: &str| loss(&format!("{{ kind = \"bernoulli\", rate = {rate} }}"));
    assert_eq!(bernoulli("\"101 %\""), ".rate: must lie between 0 % and 100 %, is 101 %");
    assert_eq!(bernoulli("1.5"), ".rate: must lie between 0 % and 100 %, is 150 %");
    let share = "expected a share such as \"1.5 %\" or a number from 0 to 1";
    assert_eq!(bernoulli("\"-1 %\""), format!(".rate: must not be negative; {share}"));
    assert_eq!(loss("{ kind = \"bernoulli\" }"), ".rate: is required");
    assert_eq!(loss("{ every = 9 }"), ".kind: is required");
    // A rate alone is one of independent losses, and refused like one.
    assert_eq!(loss("{ rate = \"101 %\" }"), bernoulli("\"101 %\""));
    assert_eq!(
        loss("{ kind = \"none\", rate = \"1 %\" }"),
        ".rate: applies only with kind = \"bernoulli\" or \"periodic\""
    );
    assert_eq!(loss("{ kind = \"periodic\" }"), ".every: is required, or rate instead");
    assert_eq!(
        loss("{ kind = \"periodic\", every = 9, rate = 0.1 }"),
        ".rate: give either rate or every, not both"
    );
    assert_eq!(loss("{ kind = \"periodic\", rate = 0 }"), ".rate: must be above 0 %");
    assert_eq!(
        loss("{ kind = \"periodic\", every = 0 }"),
        ".every: expected a whole number of at least 1, found 0"
    );
}

#[test]
fn parameters() {
    let params = |text: &str| {
        let message = refusal(&format!("flow.0.params={{ {text} }}"));
        message.split("}: ").last().unwrap().to_owned()
    };
    assert_eq!(
        params("alpha_mx = 5"),
        "flow.0.params.alpha_mx: illinois has no such parameter, did you mean \"alpha_max\" or \"alpha_min\"?"
    );
    assert_eq!(
        params("alpha_min = 2"),
        "flow.0.params.alpha_min: expected a number from 0.000001 to 1, found 2"
    );
    assert_eq!(
        params("alpha_max = \"much\""),
        "flow.0.params.alpha_max: expected a number from 1 to 1000000, found \"much\""
    );
    assert_eq!(
        params("extremes = \"median\""),
        "flow.0.params.extremes: expected one of \"mean\" \"sample\", found \"median\""
    );
    let together = params("beta_max = 0.2, beta_min = 0.3");
    assert_eq!(together, "flow.0.params.beta_min: beta_min must not exceed beta_max, found 0.3");
    assert_eq!(
        params("alpha_max = nan"),
        "flow.0.params.alpha_max: expected a number from 1 to 1000000, found NaN"
    );
    assert_eq!(
        refusal("flow.1.params.x=1"),
        "--set flow.1.params.x=1: flow.1.params.x: reno has no such parameter; allowed: ecn_keep"
    );
    let settings = ["flow.1.controller=westwood", "flow.1.params.x=1"].map(str::to_owned);
    let none = read_toml(VALID, "a.toml", &settings, &BuiltIn).unwrap_err().to_string();
    assert!(none.ends_with("westwood has no such parameter; allowed: none"), "{none}");
}

/// The linux profile of the format: initial window 10, 2 packets per ACK held for 40 ms, growth per packet, rack.
#[test]
fn profiles() {
    let settings = ["tcp.profile=linux".to_owned()];
    let tcp = &read_toml(VALID, "a.toml", &settings, &BuiltIn).unwrap().scenario.flows[0].tcp;
    assert_eq!((tcp.initial_window, tcp.delayed_ack), (Window(10.0), 2));
    assert_eq!(tcp.delayed_ack_timer, Span::from_millis(40));
    assert_eq!((tcp.growth, tcp.recovery), (Growth::PerPacket, Recovery::Rack));
    let settings = ["tcp.profile=linux", "tcp.recovery=sack"].map(str::to_owned);
    let tcp = &read_toml(VALID, "a.toml", &settings, &BuiltIn).unwrap().scenario.flows[0].tcp;
    assert_eq!(tcp.recovery, Recovery::Sack);
}

/// The recoveries with time stamps measure every acknowledgement.
#[test]
fn one_packet_timed_is_for_senders_without_time_stamps() {
    for recovery in ["rack", "linux-2.6"] {
        let settings = [format!("tcp.recovery={recovery}"), "flow.0.rtt_sampling=one_per_window".into()];
        assert_eq!(
            read_toml(VALID, "a.toml", &settings, &BuiltIn).unwrap_err().to_string(),
            format!(
                "--set flow.0.rtt_sampling=one_per_window: flow.0.rtt_sampling: must be \"every_ack\" with recovery = \
                 \"{recovery}\", which has time stamps; or choose another recovery"
            )
        );
    }
}

/// Its timer counts in ticks and waits for two of them at least.
#[test]
fn one_packet_timed_needs_a_clock_that_ticks() {
    for clock in ["0 s", "33 s"] {
        let settings = ["tcp.rtt_sampling=one_per_window".to_owned(), format!("flow.0.clock={clock}")];
        assert_eq!(
            read_toml(VALID, "a.toml", &settings, &BuiltIn).unwrap_err().to_string(),
            format!(
                "--set flow.0.clock={clock}: flow.0.clock: with rtt_sampling = \"one_per_window\" the timeout is two ticks \
                 at least: must be above 0 s and at most half of max_rto (64 s), is {clock}"
            )
        );
    }
    let settings = ["tcp.rtt_sampling=one_per_window", "tcp.clock=32 s"].map(str::to_owned);
    assert!(read_toml(VALID, "a.toml", &settings, &BuiltIn).is_ok());
}

/// The valid scenario without some of its lines.
fn without(lines: &[&str]) -> String {
    VALID.lines().filter(|line| !lines.contains(line)).map(|line| format!("{line}\n")).collect()
}

fn message(text: &str) -> String {
    read_toml(text, "a.toml", &[], &BuiltIn).unwrap_err().to_string()
}

#[test]
fn missing_parts_and_lines() {
    assert_eq!(message(""), "a.toml:1: run: is required");
    assert_eq!(
        message("[run]\nduration = \"1 s\"\n"),
        "a.toml:1: dumbbell: is required, or parking_lot, or link"
    );
    assert_eq!(message(&without(&["duration = \"10 s\""])), "a.toml:1: run.duration: is required");
    assert_eq!(message(&without(&["rate = \"10 Mbit/s\""])), "a.toml:4: dumbbell.rate: is required");
    assert_eq!(message(&without(&["delay = \"20 ms\""])), "a.toml:4: dumbbell.delay: is required");
    assert_eq!(message(&without(&["controller = \"reno\""])), "a.toml:13: flow.1.controller: is required");
    // A dumbbell names its nodes itself; a table that nothing reads would be written out again with whatever keys it has.
    assert_eq!(
        message(&format!("{VALID}\n[[node]]\nname = \"a\"\n")),
        format!(
            "a.toml:{}: node: only links have nodes to name: leave it out, or give [[link]] tables",
            VALID.lines().count() + 2
        )
    );
    assert!(
        message(&format!("{VALID}\n[node]\n\"a b\" = 1\n"))
            .ends_with("node: expected tables [[node]], found a table")
    );
    let no_flow = VALID.split("[[flow]]").next().unwrap();
    assert_eq!(message(no_flow), "a.toml:1: flow: there must be at least one [[flow]]");
    let queue = VALID.replace("kind = \"droptail\", ", "");
    assert_eq!(message(&queue), "a.toml:7: dumbbell.queue.kind: is required");
    let stop = VALID.replace("rtt = \"60 ms\"", "stop = \"5 s\"\nbytes = \"1 MB\"");
    assert_eq!(message(&stop), "a.toml:12: flow.0.bytes: give either bytes or stop, not both");
    let single = VALID.replace("[[flow]]\ncontroller = \"reno\"\n", "");
    let table = single.replace("[[flow]]", "[flow]");
    assert_eq!(message(&table), "a.toml:9: flow: expected tables [[flow]], found a table");
}

#[test]
fn texts_that_are_no_scenario() {
    let syntax = message("[run]\nduration = \n");
    assert!(syntax.starts_with("a.toml:2: ") && !syntax.contains('\n'), "{syntax}");
    assert_eq!(message("[run]\nwarmup = 2020-01-01\n"), "a.toml:2: dates are not allowed in a scenario");
    let deep = format!("x = {}", "[".repeat(10_000));
    assert!(!message(&deep).contains('\n'));
    let refused = read_toml("x = 1", "-", &[], &BuiltIn).unwrap_err().to_string();
    assert_eq!(refused, format!("standard input:1: x: unknown key; allowed: {FILE_KEYS}"));
    let null = read_json("{ \"run\": null }", "data", &[], &BuiltIn).unwrap_err().to_string();
    assert_eq!(null, "data: null is not allowed in a scenario; leave the key out");
}

#[test]
fn settings() {
    assert_eq!(refusal("flow"), "--set flow: expected KEY=VALUE, such as flow.0.rtt=80ms");
    assert_eq!(
        refusal("flow.7.rtt=80ms"),
        "--set flow.7.rtt=80ms: flow.7.rtt: no entry \"7\"; there are 2, numbered from 0"
    );
    assert_eq!(
        refusal("run.seed.x=1"),
        "--set run.seed.x=1: run.seed: expected a whole number of at least 0, found a table"
    );
    assert_eq!(
        refusal("run.duration.x=1"),
        "--set run.duration.x=1: run.duration.x: cannot set \"x\" inside a text"
    );
    assert_eq!(refusal("run..x=1"), "--set run..x=1: not a key: \"run..x\"; expected one such as flow.0.rtt");
}

/// The refusals that the documentation quotes, each tried on the example of which it speaks: the value that it names
/// is written on the line that it names.
#[test]
fn the_documentation_quotes_what_is_said() {
    let page = include_str!("../../../docs/scenario.md");
    let quoted: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("    path.toml:")).collect();
    assert!(!quoted.is_empty());
    for quoted in quoted {
        let line: usize = quoted.split(':').next().unwrap().parse().unwrap();
        let (_, value) = quoted.rsplit_once("is ").unwrap();
        let mut lines: Vec<_> = EXAMPLE.lines().map(str::to_owned).collect();
        let (key, _) = lines[line - 1].split_once(" = ").unwrap();
        lines[line - 1] = format!("{key} = \"{value}\"");
        let refused = read_toml(&lines.join("\n"), "path.toml", &[], &BuiltIn).unwrap_err().to_string();
        assert_eq!(refused, format!("path.toml:{quoted}"));
    }
}
