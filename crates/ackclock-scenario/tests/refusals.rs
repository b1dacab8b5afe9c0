//! Everything that is refused, with its message: where, what is wrong, what is allowed, in one line.

use ackclock_cc::registry::{BuiltIn, Catalogue};
use ackclock_scenario::{Change, Event, Growth, Loss, Recovery, When, read_json, read_toml};
use ackclock_units::{Span, Window};

const VALID: &str = r#"[run]
duration = "10 s"

[dumbbell]
rate = "10 Mbit/s"
delay = "20 ms"
queue = { kind = "droptail", limit = "50 packets" }

[[flow]]
controller = "illinois"
rtt = "60 ms"

[[flow]]
controller = "reno"
"#;

/// The message for the valid scenario with a setting.
fn refusal(setting: &str) -> String {
    let refused = read_toml(VALID, "a.toml", &[setting.to_owned()], &BuiltIn);
    refused.err().unwrap_or_else(|| panic!("{setting} was accepted")).to_string()
}

const TIME: &str = "expected a time such as \"50 ms\" (ps, ns, us, ms, s, min, h)";
const RATE: &str = "expected a rate such as \"100 Mbit/s\" (bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s)";
const SIZE: &str = "expected a size such as \"1000 B\" (B, kB, MB, GB, TB, KiB, MiB, GiB)";
const QUEUE: &str = "expected packets or bytes such as \"100 packets\" or \"125 kB\"";
const TCP_KEYS: &str = "profile, packet, ack, initial_window, initial_ssthresh, receive_window, recovery, \
    min_rto, max_rto, initial_rto, clock, delayed_ack, delayed_ack_timer, limited_transmit, max_burst, overhead, \
    growth, pacing, pacing_gain, slow_start_gain, min_window, hystart, ecn";
const FILE_KEYS: &str = "run, tcp, dumbbell, parking_lot, node, link, flow, event";
const FLOW_KEYS: &str = "name, controller, source, rate, on, off, shape, think, objects, object, params, transport, count, rtt, \
                         access, direction, from, to, start, stop, bytes, rtt_noise";

/// The names of the controls, as messages list them.
fn controls() -> String {
    BuiltIn.entries().iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}

#[test]
fn the_scenario_without_a_change_is_valid() {
    assert!(read_toml(VALID, "a.toml", &[], &BuiltIn).is_ok());
}

/// Each refusal names the setting and the key; the rest is given here.
#[test]
fn values() {
    let cases: &[(&str, String)] = &[
        // Units.
        ("run.duration=10", format!("the unit is missing; {TIME}")),
        ("run.duration=\"10\"", format!("the unit is missing; {TIME}")),
        ("run.duration=10 parsecs", format!("unknown unit; {TIME}")),
        ("run.duration=soon", format!("no number; {TIME}")),
        ("dumbbell.delay=-5 ms", format!("must not be negative; {TIME}")),
        ("dumbbell.rate=10", format!("the unit is missing; {RATE}")),
        ("dumbbell.rate=true", "expected a text, found true or false".into()),
        ("dumbbell.queue.limit=50", format!("the unit is missing; {QUEUE}")),
        ("dumbbell.queue.limit=50 s", format!("unknown unit; {QUEUE}")),
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
        ("flow.0.rtt=30 ms", "must be at least the delays of its links there and back (40 ms), is 30 ms".into()),
        ("flow.0.rtt=48 h", "must be at most 24 h".into()),
        ("flow.0.access=0 Mbit/s", "must be above 0 bit/s".into()),
        ("flow.0.start=10 s", "must lie before the end of the run (10 s)".into()),
        ("flow.0.stop=0 s", "must come after the start (0 s)".into()),
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
        ("flow.0.delayed_ack=3", "expected a whole number from 1 to 2, found 3".into()),
        ("flow.0.min_rto=2 min", "must not exceed max_rto (64 s), is 120 s".into()),
        ("flow.0.min_rto=0 s", "must be longer than 0 s".into()),
        ("flow.0.pacing=1", "expected true or false, found 1".into()),
        ("flow.0.pacing_gain=0", "expected a number from 0.01 to 100, found 0".into()),
        ("flow.0.min_window=0", "expected a whole number from 1 to 1000000000, found 0".into()),
        ("flow.1.name=illinois-0", "two flows are named \"illinois-0\"; names must differ".into()),
        // Words.
        (
            "dumbbell.queue.kind=rod",
            "unknown value \"rod\", did you mean \"red\"?; allowed: \"droptail\", \"red\", \"ared\", \"codel\", \
             \"pie\", \"fq_codel\"".into(),
        ),
        (
            "flow.0.recovery=sak",
            "unknown value \"sak\", did you mean \"sack\"?; allowed: \"reno\", \"newreno\", \"sack\", \"rack\", \"linux-2.6\"".into(),
        ),
        ("flow.0.direction=up", "unknown value \"up\"; allowed: \"forward\", \"reverse\"".into()),
        (
            "flow.0.controller=ilinois",
            format!("unknown control \"ilinois\", did you mean \"illinois\"?; allowed: {}", controls()),
        ),
        // Keys.
        ("run.sed=1", "unknown key, did you mean \"seed\"?; allowed: duration, warmup, seed, sample".into()),
        ("flow.0.rtt_nose=5 ms", format!("unknown key, did you mean \"rtt_noise\"?; allowed: {FLOW_KEYS}, {TCP_KEYS}")),
    ];
    for (setting, problem) in cases {
        let key = setting.split('=').next().unwrap();
        assert_eq!(refusal(setting), format!("--set {setting}: {key}: {problem}"));
    }
    assert_eq!(refusal("walk.x=1"), format!("--set walk.x=1: walk: unknown key; allowed: {FILE_KEYS}"));
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
    assert_eq!(loss("{ rate = \"1 %\" }"), ".kind: is required");
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
        "flow.0.params.alpha_mx: illinois has no such parameter, did you mean \"alpha_max\"?; allowed: \
         alpha_max, alpha_min, beta_max, beta_min, w_thresh, eta1, eta2, eta3, theta, extremes"
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
        "--set flow.1.params.x=1: flow.1.params.x: reno has no such parameter; allowed: none"
    );
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
    assert_eq!(message("[run]\nwarmup = 2020-01-01\n"), "a.toml:2: a scenario has no dates");
    let deep = format!("x = {}", "[".repeat(10_000));
    assert!(!message(&deep).contains('\n'));
    let refused = read_toml("x = 1", "-", &[], &BuiltIn).unwrap_err().to_string();
    assert_eq!(refused, format!("standard input:1: x: unknown key; allowed: {FILE_KEYS}"));
    let null = read_json("{ \"run\": null }", "data", &[], &BuiltIn).unwrap_err().to_string();
    assert_eq!(null, "data: null is no value of a scenario: leave the key out");
}

#[test]
fn settings() {
    assert_eq!(refusal("flow"), "--set flow: expected KEY=VALUE, such as flow.0.rtt=80ms");
    assert_eq!(
        refusal("flow.7.rtt=80ms"),
        "--set flow.7.rtt=80ms: flow.7.rtt: there are 2 entries; \"7\" is none of them"
    );
    assert_eq!(
        refusal("run.seed.x=1"),
        "--set run.seed.x=1: run.seed: expected a whole number of at least 0, found a table"
    );
    assert_eq!(refusal("run.duration.x=1"), "--set run.duration.x=1: run.duration.x: \"x\" is inside a text");
    assert_eq!(refusal("run..x=1"), "--set run..x=1: \"run..x\" is no key: expected one such as flow.0.rtt");
}

/// Each queue, noise and source takes its own keys and no others.
#[test]
fn queues_noise_and_sources() {
    let queue = |rest: &str| format!("dumbbell.queue={{ limit = \"50 packets\", {rest} }}");
    let noise = |rest: &str| format!("dumbbell.delay_noise={{ {rest} }}");
    let cases = [
        (
            queue("kind = \"droptail\", ecn = true"),
            "queue.ecn: applies only with kind = \"red\" or \"ared\" or \"codel\" or \"pie\" or \"fq_codel\"",
        ),
        (queue("kind = \"codel\", max_p = 0.1"), "queue.max_p: applies only with kind = \"red\" or \"ared\""),
        (
            queue("kind = \"red\", target = \"5 ms\""),
            "queue.target: applies only with kind = \"codel\" or \"fq_codel\" or \"pie\"",
        ),
        (queue("kind = \"red\", least_max_p = 0.1"), "queue.least_max_p: applies only with kind = \"ared\""),
        (
            queue("kind = \"pie\", interval = \"5 ms\""),
            "queue.interval: applies only with kind = \"codel\" or \"fq_codel\"",
        ),
        (queue("kind = \"codel\", target = \"0 s\""), "queue.target: must be longer than 0 s"),
        (queue("kind = \"codel\", interval = \"0 s\""), "queue.interval: must be longer than 0 s"),
        (
            queue("kind = \"pie\", burst = 5"),
            "queue.burst: the unit is missing; expected a time such as \"50 ms\" (ps, ns, us, ms, s, min, h)",
        ),
        (queue("kind = \"pie\", ecn = 1"), "queue.ecn: expected true or false, found 1"),
        (
            queue("kind = \"fq_codel\", quantum = \"0 B\""),
            "queue.quantum: must lie between 1 B and 1073741824 B, is 0 B",
        ),
        (
            queue("kind = \"fq_codel\", queues = 0"),
            "queue.queues: expected a whole number from 1 to 65536, found 0",
        ),
        (
            queue("kind = \"red\", min_threshold = -1"),
            "queue.min_threshold: expected a number from 0 to 1000000000, found -1",
        ),
        (
            queue("kind = \"red\", max_threshold = 4"),
            "queue.max_threshold: must exceed min_threshold (5), is 4",
        ),
        (
            queue("kind = \"red\", weight = 0"),
            "queue.weight: expected a number from 0.000000001 to 1, found 0",
        ),
        (queue("kind = \"red\", max_p = 2"), "queue.max_p: expected a number from 0 to 1, found 2"),
        (queue("kind = \"red\", gentle = 1"), "queue.gentle: expected true or false, found 1"),
        (queue("kind = \"ared\", uniform = 1"), "queue.uniform: expected true or false, found 1"),
        (
            queue("kind = \"ared\", least_max_p = 2"),
            "queue.least_max_p: expected a number from 0 to 1, found 2",
        ),
        (noise("kind = \"gaussian\""), "delay_noise.sigma: is required"),
        (noise("kind = \"uniform\""), "delay_noise.range: is required"),
        (
            noise("kind = \"uniform\", sigma = \"1 ms\""),
            "delay_noise.sigma: applies only with kind = \"gaussian\"",
        ),
        (
            noise("kind = \"gauss\""),
            "delay_noise.kind: unknown value \"gauss\", did you mean \"gaussian\"?; allowed: \"uniform\", \"gaussian\"",
        ),
        (
            noise("kind = \"uniform\", range = \"1 ms\", reorder = 1"),
            "delay_noise.reorder: expected true or false, found 1",
        ),
        ("dumbbell.square={ rate = \"1 Mbit/s\" }".into(), "square.period: is required"),
        ("dumbbell.square={ period = \"1 s\" }".into(), "square.rate: is required"),
        (
            "dumbbell.square={ rate = \"1 Mbit/s\", period = \"0 s\" }".into(),
            "square.period: must be longer than 0 s",
        ),
        ("flow.0.source=cbr".into(), "flow.0.rate: is required"),
        (
            "flow.1.source=cbs".into(),
            "flow.1.source: unknown value \"cbs\", did you mean \"cbr\"?; allowed: \"cbr\", \"poisson\", \"onoff\", \"web\", \"emultcp\"",
        ),
        ("flow.0.source=emultcp".into(), "flow.0.controller: give either controller or source, not both"),
        (
            "flow.0={ source = \"web\", bytes = \"1 MB\" }".into(),
            "flow.0.bytes: does not apply to this source; use stop",
        ),
        (
            "flow.0.rate=1 Mbit/s".into(),
            "flow.0.rate: applies only with source = \"cbr\" or \"poisson\" or \"onoff\"",
        ),
        ("flow.0.on=1 s".into(), "flow.0.on: applies only with source = \"onoff\""),
        ("flow.0.off=1 s".into(), "flow.0.off: applies only with source = \"onoff\""),
        ("flow.0.shape=2".into(), "flow.0.shape: applies only with source = \"onoff\" or \"web\""),
        ("flow.0.think=1 s".into(), "flow.0.think: applies only with source = \"web\""),
        ("flow.0.objects=1".into(), "flow.0.objects: applies only with source = \"web\""),
        ("flow.0.object=1 kB".into(), "flow.0.object: applies only with source = \"web\""),
        (
            "flow.0.rtt_noise=5".into(),
            "flow.0.rtt_noise: the unit is missing; expected a time such as \"50 ms\" (ps, ns, us, ms, s, min, h)",
        ),
        ("flow.0.ecn=1".into(), "flow.0.ecn: expected true or false, found 1"),
        ("flow.0.from=a".into(), "flow.0.from: does not apply in a dumbbell; use direction"),
        ("dumbbell.rate_trace=a".into(), "dumbbell.rate_trace: give either rate or rate_trace, not both"),
        ("dumbbell.loss={ kind = \"trace\" }".into(), "loss.file: is required"),
        ("dumbbell.loss={ kind = \"gilbert_elliott\", to_bad = 0.1 }".into(), "loss.to_good: is required"),
        ("dumbbell.loss={ kind = \"gilbert_elliott\", to_good = 0.1 }".into(), "loss.to_bad: is required"),
        (
            "dumbbell.loss={ kind = \"bernoulli\", loss_bad = 0.1 }".into(),
            "loss.loss_bad: applies only with kind = \"gilbert_elliott\"",
        ),
        (
            "dumbbell.loss={ kind = \"none\", loss_good = 0.1 }".into(),
            "loss.loss_good: applies only with kind = \"gilbert_elliott\"",
        ),
    ];
    for (setting, problem) in cases {
        let message = refusal(&setting);
        assert!(message.ends_with(problem), "{setting}: {message}");
    }
}

/// A file that a scenario names is read from its folder, and refused with its own name.
#[test]
fn files() {
    let folder = std::env::temp_dir().join(format!("ackclock-files-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let scenario = folder.join("a.toml").display().to_string();
    let read = |setting: &str| {
        let text = VALID.replace("rate = \"10 Mbit/s\"\n", "rate_trace = \"rates\"\n");
        read_toml(&text, &scenario, &[setting.to_owned()], &BuiltIn)
    };
    let missing = read("run.seed=1").unwrap_err().to_string();
    assert!(missing.contains("rates: cannot be read: "), "{missing}");
    for (content, problem) in [
        ("5\n3\n", "rates:2: expected a time in whole ms, not before the one above"),
        ("x\n", "rates:1: expected a time in whole ms, not before the one above"),
        ("0\n", "rates: has no time above 0 ms"),
    ] {
        std::fs::write(folder.join("rates"), content).unwrap();
        let message = read("run.seed=1").unwrap_err().to_string();
        assert!(message.ends_with(problem), "{message}");
    }
    let device = VALID.replace("rate = \"10 Mbit/s\"\n", "rate_trace = \"/dev/zero\"\n");
    let message = read_toml(&device, "a.toml", &[], &BuiltIn).unwrap_err().to_string();
    assert!(message.ends_with("/dev/zero: is no file"), "{message}");
    // 3 opportunities of 12 000 bits in 10 ms are 3.6 Mbit/s.
    std::fs::write(folder.join("rates"), "# made by hand\n2\n5\n10\n").unwrap();
    let link = &read("run.seed=1").unwrap().scenario.links[0];
    assert_eq!(link.rate, ackclock_units::Rate(3_600_000));
    assert_eq!(link.trace.as_ref().unwrap().milliseconds, [2, 5, 10]);
    std::fs::write(folder.join("losses"), "0 1\n2").unwrap();
    let message = read("dumbbell.loss={ kind = \"trace\", file = \"losses\" }").unwrap_err().to_string();
    assert!(message.ends_with("losses: expected 0 and 1, one per packet"), "{message}");
    std::fs::write(folder.join("losses"), "00\n1").unwrap();
    let link = &read("dumbbell.loss={ kind = \"trace\", file = \"losses\" }").unwrap().scenario.links[0];
    assert_eq!(link.loss, Loss::Trace { lost: vec![false, false, true] });
    std::fs::remove_dir_all(folder).unwrap();
}

const GRAPH: &str = r#"[run]
duration = "10 s"
[[link]]
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "droptail", limit = "50 packets" }
[[link]]
from = "b"
to = "c"
rate = "5 Mbit/s"
delay = "20 ms"
queue = { kind = "droptail", limit = "50 packets" }
[[link]]
name = "direct"
from = "a"
to = "c"
rate = "1 Mbit/s"
delay = "50 ms"
queue = { kind = "droptail", limit = "50 packets" }
[[flow]]
controller = "reno"
from = "a"
to = "c"
"#;

#[test]
fn topologies() {
    let read = |settings: &[&str]| {
        let settings: Vec<_> = settings.iter().map(|setting| (*setting).to_owned()).collect();
        read_toml(GRAPH, "a.toml", &settings, &BuiltIn)
    };
    let refused = |setting: &str| read(&[setting]).unwrap_err().to_string();
    // By b it takes 30 ms, directly 50.
    let scenario = read(&[]).unwrap().scenario;
    assert_eq!((&scenario.flows[0].path[..], &scenario.flows[0].back[..]), (&[0, 2][..], &[3, 1][..]));
    assert_eq!(scenario.flows[0].rtt, Span::from_millis(60));
    let names: Vec<_> = scenario.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["a-b", "a-b-reverse", "b-c", "b-c-reverse", "direct", "direct-reverse"]);
    let shorter = read(&["link.2.delay=25 ms"]).unwrap().scenario;
    assert_eq!(shorter.flows[0].path, [4]);
    for (setting, problem) in [
        ("flow.0.from=d", "flow.0.from: unknown node \"d\", did you mean \"a\"?; allowed: a, b, c"),
        ("flow.0.to=a", "flow.0.to: must be another node than from"),
        ("flow.0.direction=reverse", "flow.0.direction: does not apply here; use from and to"),
        (
            "flow.0.rtt=50 ms",
            "flow.0.rtt: must be at least the delays of its links there and back (60 ms), is 50 ms",
        ),
        ("link.0.to=a", "link.0.to: must be another node than from"),
        ("link.2.name=a-b", "link.2.name: two links are named \"a-b-reverse\"; names must differ"),
        ("node=[{ name = \"a\" }]", "link.0.to: unknown node \"b\", did you mean \"a\"?; allowed: a"),
        (
            "node=[{ name = \"a\" }, { name = \"a\" }]",
            "node.1.name: two nodes are named \"a\"; names must differ",
        ),
        ("node=[{}]", "node.0.name: is required"),
        ("parking_lot.hops=2", "link: give only one of dumbbell, parking_lot and link; parking_lot is there"),
    ] {
        let message = refused(setting);
        assert!(message.ends_with(problem), "{setting}: {message}");
    }
    let islands = GRAPH
        .replace("from = \"b\"", "from = \"d\"")
        .replace("to = \"c\"\nrate = \"1", "to = \"b\"\nrate = \"1");
    let message = read_toml(&islands, "a.toml", &[], &BuiltIn).unwrap_err().to_string();
    assert!(message.ends_with("no route from \"a\" to \"c\""), "{message}");
    let lot = |hops: &str| {
        let text = VALID.replace("[dumbbell]", &format!("[parking_lot]\nhops = {hops}"));
        read_toml(&text, "a.toml", &["flow.1.from=n1", "flow.0.rtt=200 ms"].map(str::to_owned), &BuiltIn)
    };
    let scenario = lot("3").unwrap().scenario;
    assert_eq!((&scenario.flows[0].path[..], &scenario.flows[1].path[..]), (&[0, 2, 4][..], &[2, 4][..]));
    assert_eq!(scenario.flows[0].back, [5, 3, 1]);
    let message = lot("0").unwrap_err().to_string();
    assert!(
        message.ends_with("parking_lot.hops: expected a whole number from 1 to 1000, found 0"),
        "{message}"
    );
}

#[test]
fn events() {
    let read = |event: &str| {
        let text = format!("{VALID}\n[[event]]\n{event}\n");
        read_toml(&text, "a.toml", &[], &BuiltIn)
    };
    let one = |event: &str| read(event).unwrap().scenario.events;
    let at = When::At(Span::from_seconds(5));
    assert_eq!(
        one("at = \"5 s\"\nset = \"dumbbell.rate\"\nto = \"5 Mbit/s\""),
        [
            Event { when: at, link: 0, change: Change::Rate(ackclock_units::Rate(5_000_000)) },
            Event { when: at, link: 1, change: Change::Rate(ackclock_units::Rate(5_000_000)) }
        ],
        "the other direction has the same rate unless it has its own"
    );
    let loss = one(
        "at = { flow = \"reno-1\", rtt = 100 }\nset = \"dumbbell.loss\"\nto = { kind = \"bernoulli\", rate = 0.5 }",
    );
    let when = When::RoundTrip { flow: 1, count: 100 };
    assert_eq!(loss, [Event { when, link: 0, change: Change::Loss(Loss::Bernoulli { probability: 0.5 }) }]);
    assert_eq!(one("at = \"5 s\"\nset = \"dumbbell.reverse.delay\"\nto = \"30 ms\"").len(), 1);
    assert_eq!(
        one("at = \"5 s\"\nset = \"dumbbell.delay_noise\"\nto = { kind = \"uniform\", range = \"1 ms\" }")
            .len(),
        1
    );
    for (event, problem) in [
        ("at = \"5 s\"\nset = \"dumbbell.loss.rate\"\nto = \"1 %\"", "dumbbell.loss.kind: is required"),
        (
            "at = \"5 s\"\nset = \"flow.0.rtt\"\nto = \"1 s\"",
            "event.0.set: expected a key of a link, such as dumbbell.loss.rate or link.NAME.delay",
        ),
        (
            "at = \"5 s\"\nset = \"dumbbell.rates\"\nto = \"1 s\"",
            "unknown key, did you mean \"rate\"?; allowed: rate, rate_trace, square, delay, queue, loss, delay_noise, reverse",
        ),
        (
            "at = \"5 s\"\nset = \"dumbbell.rate\"\nto = 5",
            "dumbbell.rate: the unit is missing; expected a rate such as \"100 Mbit/s\" (bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s)",
        ),
        (
            "at = \"10 s\"\nset = \"dumbbell.rate\"\nto = \"5 Mbit/s\"",
            "event.0.at: must lie before the end of the run (10 s), is 10 s",
        ),
        (
            "at = { flow = \"reno\", rtt = 1 }\nset = \"dumbbell.rate\"\nto = \"5 Mbit/s\"",
            "event.0.at: unknown flow \"reno\", did you mean \"reno-1\"?",
        ),
        (
            "at = { flow = \"reno-1\", rtt = 0 }\nset = \"dumbbell.rate\"\nto = \"5 Mbit/s\"",
            "event.0.at: expected at least 1 round trip, found 0",
        ),
        (
            "at = { rtt = 1 }\nset = \"dumbbell.rate\"\nto = \"5 Mbit/s\"",
            "event.0.at: expected a time, or { flow = \"a\", rtt = 1000 }",
        ),
        ("set = \"dumbbell.rate\"\nto = \"5 Mbit/s\"", "event.0.at: is required"),
        ("at = \"5 s\"\nto = \"5 Mbit/s\"", "event.0.set: is required"),
        ("at = \"5 s\"\nset = \"dumbbell.rate\"", "event.0.to: is required"),
    ] {
        let message = read(event).unwrap_err().to_string();
        assert!(message.ends_with(problem), "{event}: {message}");
    }
    let mut square = VALID.replace(
        "delay = \"20 ms\"",
        "delay = \"20 ms\"\nsquare = { rate = \"5 Mbit/s\", period = \"4 s\" }",
    );
    let events = read_toml(&square, "a.toml", &[], &BuiltIn).unwrap().scenario.events;
    let seconds: Vec<_> = events.iter().map(|event| event.when).collect();
    assert_eq!(seconds, [2, 4, 6, 8].map(|second| When::At(Span::from_seconds(second))));
    square = square.replace("4 s\" }", "1 us\" }");
    assert!(read_toml(&square, "a.toml", &[], &BuiltIn).unwrap_err().to_string().contains("too short"));
}
