//! What is refused about links, sources, topologies and events, and what is accepted next to it.

use ackclock_cc::registry::BuiltIn;
use ackclock_scenario::{Change, Event, Loss, When, read_toml};
use ackclock_units::Span;

use crate::common::{VALID, refusal};

/// Who writes a value in place of a table sees the table that has it.
#[test]
fn a_value_in_place_of_a_table() {
    for (setting, written) in [
        (
            "dumbbell.queue=100 packets",
            "a text; write queue = { kind = \"droptail\", limit = \"100 packets\" }",
        ),
        ("dumbbell.queue=codel", "a text; write queue = { kind = \"codel\", limit = ... }"),
        ("dumbbell.queue=100", "a number; write queue = { kind = \"droptail\", limit = ... }"),
        ("dumbbell.loss=1%", "a text; write loss = { kind = \"bernoulli\", rate = \"1%\" }"),
        ("dumbbell.delay_noise=5ms", "a text; write delay_noise = { kind = \"gaussian\", sigma = \"5ms\" }"),
        ("dumbbell.square=2 Mbit/s", "a text; write square = { rate = \"2 Mbit/s\", period = ... }"),
        ("dumbbell=4g", "a text; write [dumbbell] and its keys on lines below it"),
    ] {
        let message = refusal(setting);
        assert!(message.ends_with(&format!("expected a table, found {written}")), "{message}");
    }
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
            "queue.target: applies only with kind = \"codel\" or \"fq_codel\" or \"pie\" or \"dualpi2\"",
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
            "queue.burst: the unit is missing; expected a time such as \"50 ms\" (ps, ns, us, ms, s, min, h); \
             write \"5 ms\" if milliseconds are meant",
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
        (queue("kind = \"step\""), "queue.threshold: is required, or sojourn instead"),
        (
            queue("kind = \"step\", threshold = 5, sojourn = \"1 ms\""),
            "queue.threshold: give either threshold or sojourn, not both",
        ),
        (queue("kind = \"pie\", threshold = 5"), "queue.threshold: applies only with kind = \"step\""),
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
        (
            queue("kind = \"dualpi2\", ecn = true"),
            "queue.ecn: applies only with kind = \"red\" or \"ared\" or \"codel\" or \"pie\" or \"fq_codel\"",
        ),
        (queue("kind = \"pie\", coupling = 2"), "queue.coupling: applies only with kind = \"dualpi2\""),
        (queue("kind = \"dualpi2\", update = \"99 us\""), "queue.update: must be at least 0.1 ms, is 99 us"),
        (
            queue("kind = \"dualpi2\", alpha = -1"),
            "queue.alpha: expected a number from 0 to 1000000, found -1",
        ),
        (
            queue("kind = \"dualpi2\", beta = \"x\""),
            "queue.beta: expected a number from 0 to 1000000, found \"x\"",
        ),
        (
            queue("kind = \"dualpi2\", coupling = 0.5"),
            "queue.coupling: expected a number from 1 to 1000, found 0.5",
        ),
        (
            queue("kind = \"dualpi2\", ramp_from = \"2 ms\""),
            "queue.ramp_to: must be at least ramp_from (2 ms), is 1.2 ms",
        ),
        (
            queue("kind = \"dualpi2\", scheduler = \"wr\""),
            "queue.scheduler: unknown value \"wr\", did you mean \"wrr\"?",
        ),
        (
            queue("kind = \"dualpi2\", classic_share = 1.5"),
            "queue.classic_share: must lie between 0 % and 100 %, is 150 %",
        ),
        (
            queue("kind = \"dualpi2\", time_shift = 5"),
            "queue.time_shift: the unit is missing; expected a time such as \"50 ms\" (ps, ns, us, ms, s, min, h); \
             write \"5 ms\" if milliseconds are meant",
        ),
        (
            queue("kind = \"dualpi2\", overload = \"mark\""),
            "queue.overload: unknown value \"mark\"; allowed: \"drop\", \"overflow\"",
        ),
        ("dumbbell.policer={ rate = \"1 Mbit/s\" }".into(), "policer.burst: is required"),
        ("dumbbell.policer={ burst = \"9 kB\" }".into(), "policer.rate: is required"),
        (
            "dumbbell.policer={ rate = \"1 Mbit/s\", burst = \"0 B\" }".into(),
            "policer.burst: must lie between 1 B and 1099511627776 B, is 0 B",
        ),
        ("dumbbell.aggregation={}".into(), "aggregation.every: is required"),
        (
            "dumbbell.reverse.aggregation={ every = \"0 s\" }".into(),
            "aggregation.every: must be longer than 0 s",
        ),
        (
            "dumbbell.aggregation={ every = \"1 ms\", thin_acks = 1 }".into(),
            "aggregation.thin_acks: expected true or false, found 1",
        ),
        (
            "flow.0.codepoint=ect1".into(),
            "flow.0.codepoint: applies only with source = \"cbr\" or \"poisson\" or \"onoff\" or \"media\"",
        ),
        (
            "flow.0={ source = \"cbr\", rate = \"1 Mbit/s\", codepoint = \"ect2\" }".into(),
            "flow.0.codepoint: unknown value \"ect2\", did you mean \"ect0\" or \"ect1\"?",
        ),
        (noise("kind = \"gaussian\""), "delay_noise.sigma: is required"),
        (noise("kind = \"uniform\""), "delay_noise.range: is required"),
        (
            noise("kind = \"uniform\", sigma = \"1 ms\""),
            "delay_noise.sigma: applies only with kind = \"gaussian\" or \"table\"",
        ),
        (noise("kind = \"gauss\""), "delay_noise.kind: unknown value \"gauss\", did you mean \"gaussian\"?"),
        (
            noise("kind = \"uniform\", range = \"1 ms\", reorder = 1"),
            "delay_noise.reorder: expected true or false, found 1",
        ),
        (
            noise("kind = \"uniform\", range = \"1 ms\", hold = \"0 s\""),
            "delay_noise.hold: must be longer than 0 s",
        ),
        (
            noise("kind = \"gaussian\", sigma = \"1 ms\", hold = 2"),
            "delay_noise.hold: the unit is missing; expected a time such as \"50 ms\" (ps, ns, us, ms, s, min, h); \
             write \"2 ms\" if milliseconds are meant",
        ),
        ("dumbbell.square={ rate = \"1 Mbit/s\" }".into(), "square.period: is required"),
        ("dumbbell.square={ period = \"1 s\" }".into(), "square.rate: is required"),
        (
            "dumbbell.square={ rate = \"1 Mbit/s\", period = \"0 s\" }".into(),
            "square.period: must be longer than 0 s",
        ),
        ("flow.0.source=cbr".into(), "flow.0.rate: is required"),
        ("flow.1.source=cbs".into(), "flow.1.source: unknown value \"cbs\", did you mean \"cbr\"?"),
        ("flow.0.source=emultcp".into(), "flow.0.controller: give either controller or source, not both"),
        (
            "flow.0={ source = \"web\", bytes = \"1 MB\" }".into(),
            "flow.0.bytes: does not apply to this source; use stop",
        ),
        (
            "flow.0.rate=1 Mbit/s".into(),
            "flow.0.rate: applies only with source = \"cbr\" or \"poisson\" or \"onoff\" or \"media\"",
        ),
        ("flow.0.on=1 s".into(), "flow.0.on: applies only with source = \"onoff\""),
        ("flow.0.off=1 s".into(), "flow.0.off: applies only with source = \"onoff\""),
        ("flow.0.shape=2".into(), "flow.0.shape: applies only with source = \"onoff\" or \"web\""),
        ("flow.0.think=1 s".into(), "flow.0.think: applies only with source = \"web\" or \"requests\""),
        ("flow.0.objects=1".into(), "flow.0.objects: applies only with source = \"web\""),
        ("flow.0.object=1 kB".into(), "flow.0.object: applies only with source = \"web\""),
        (
            "flow.0.rtt_noise=5".into(),
            "flow.0.rtt_noise: the unit is missing; expected a time such as \"50 ms\" (ps, ns, us, ms, s, min, h); \
             write \"5 ms\" if milliseconds are meant",
        ),
        ("flow.0.ecn=1".into(), "flow.0.ecn: expected true or false, found 1"),
        ("flow.0.from=a".into(), "flow.0.from: does not apply in a dumbbell; use direction"),
        ("dumbbell.rate_trace=a".into(), "dumbbell.rate_trace: give either rate or rate_trace, not both"),
        ("dumbbell.loss={ kind = \"trace\" }".into(), "loss.file: is required"),
        ("dumbbell.loss={ kind = \"gilbert_elliott\", to_bad = 0.1 }".into(), "loss.to_good: is required"),
        (
            "dumbbell.loss={ kind = \"gilbert_elliott\", to_good = 0.1 }".into(),
            "loss.to_bad: is required, or good_time and bad_time instead",
        ),
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
    assert!(message.ends_with("/dev/zero: is not a file"), "{message}");
    // 3 opportunities of 12 000 bits in 10 ms are 3.6 Mbit/s.
    std::fs::write(folder.join("rates"), "# made by hand\n2\n5\n10\n").unwrap();
    let link = &read("run.seed=1").unwrap().scenario.links[0];
    assert_eq!(link.rate, ackclock_units::Rate(3_600_000));
    assert_eq!(*link.trace.as_ref().unwrap().milliseconds, [2, 5, 10]);
    std::fs::write(folder.join("losses"), "0 1\n2").unwrap();
    let message = read("dumbbell.loss={ kind = \"trace\", file = \"losses\" }").unwrap_err().to_string();
    assert!(message.ends_with("losses:2: expected 0 and 1, one per packet"), "{message}");
    std::fs::write(folder.join("losses"), "00\n1").unwrap();
    let link = &read("dumbbell.loss={ kind = \"trace\", file = \"losses\" }").unwrap().scenario.links[0];
    assert_eq!(link.loss, Loss::Trace { lost: vec![false, false, true].into() });
    std::fs::remove_dir_all(folder).unwrap();
}

const GRAPH: &str = r#"
run = { duration = "10 s" }
link = [
  { from = "a", to = "b", rate = "10 Mbit/s", delay = "10 ms", queue = { kind = "droptail", limit = "50 packets" } },
  { from = "b", to = "c", rate = "5 Mbit/s", delay = "20 ms", queue = { kind = "droptail", limit = "50 packets" } },
  { name = "direct", from = "a", to = "c", rate = "1 Mbit/s", delay = "50 ms", queue = { kind = "droptail", limit = "50 packets" } },
]
flow = [{ controller = "reno", from = "a", to = "c" }]
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
    assert_eq!(*shorter.flows[0].path, [4]);
    for (setting, problem) in [
        ("flow.0.from=d", "flow.0.from: unknown node \"d\"; allowed: a, b, c"),
        ("flow.0.to=a", "flow.0.to: must not be the same node as from"),
        ("flow.0.direction=reverse", "flow.0.direction: does not apply here; use from and to"),
        (
            "flow.0.rtt=50 ms",
            "flow.0.rtt: must be at least the delays of its links there and back (60 ms), is 50 ms",
        ),
        ("link.0.to=a", "link.0.to: must not be the same node as from"),
        ("link.2.name=a-b", "link.2.name: two links are named \"a-b-reverse\"; names must differ"),
        ("node=[{ name = \"a\" }]", "link.0.to: unknown node \"b\"; allowed: a"),
        (
            "node=[{ name = \"a\" }, { name = \"a\" }]",
            "node.1.name: two nodes are named \"a\"; names must differ",
        ),
        ("node=[{}]", "node.0.name: is required"),
        (
            "parking_lot.hops=2",
            "link: give only one of dumbbell, parking_lot and link; parking_lot is already given",
        ),
    ] {
        let message = refused(setting);
        assert!(message.ends_with(problem), "{setting}: {message}");
    }
    let islands = GRAPH
        .replace("from = \"b\"", "from = \"d\"")
        .replace("to = \"c\", rate = \"1", "to = \"b\", rate = \"1");
    let message = read_toml(&islands, "a.toml", &[], &BuiltIn).unwrap_err().to_string();
    assert!(message.ends_with("no route from \"a\" to \"c\""), "{message}");
    let lot = |hops: &str| {
        let text = VALID.replace("[dumbbell]", &format!("[parking_lot]\nhops = {hops}"));
        read_toml(&text, "a.toml", &["flow.1.from=n1", "flow.0.rtt=200 ms"].map(str::to_owned), &BuiltIn)
    };
    let scenario = lot("3").unwrap().scenario;
    assert_eq!((&scenario.flows[0].path[..], &scenario.flows[1].path[..]), (&[0, 2, 4][..], &[2, 4][..]));
    assert_eq!(*scenario.flows[0].back, [5, 3, 1]);
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
    let events = |event: &str| read(event).unwrap().scenario.events;
    let at = When::At(Span::from_seconds(5));
    assert_eq!(
        events("at = \"5 s\"\nset = \"dumbbell.rate\"\nto = \"5 Mbit/s\""),
        [
            Event { when: at, link: 0, change: Change::Rate(ackclock_units::Rate(5_000_000)) },
            Event { when: at, link: 1, change: Change::Rate(ackclock_units::Rate(5_000_000)) }
        ],
        "the other direction has the same rate unless it has its own"
    );
    let loss = events(
        "at = { flow = \"reno-1\", rtt = 100 }\nset = \"dumbbell.loss\"\nto = { kind = \"bernoulli\", rate = 0.5 }",
    );
    let when = When::RoundTrip { flow: 1, count: 100 };
    assert_eq!(loss, [Event { when, link: 0, change: Change::Loss(Loss::Bernoulli { probability: 0.5 }) }]);
    assert_eq!(events("at = \"5 s\"\nset = \"dumbbell.reverse.delay\"\nto = \"30 ms\"").len(), 1);
    assert_eq!(
        events("at = \"5 s\"\nset = \"dumbbell.delay_noise\"\nto = { kind = \"uniform\", range = \"1 ms\" }")
            .len(),
        1
    );
    for (event, problem) in [
        ("at = \"5 s\"\nset = \"dumbbell.loss.every\"\nto = 9", "dumbbell.loss.kind: is required"),
        (
            "at = \"5 s\"\nset = \"flow.0.rtt\"\nto = \"1 s\"",
            "event.0.set: of an application only limit, every, think and size can change",
        ),
        ("at = \"5 s\"\nset = \"dumbbell.rates\"\nto = \"1 s\"", "unknown key, did you mean \"rate\"?"),
        (
            "at = \"5 s\"\nset = \"dumbbell.rate\"\nto = 5",
            "dumbbell.rate: the unit is missing; expected a rate such as \"100 Mbit/s\" (bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s); \
             write \"5 Mbit/s\" if that is meant",
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
            "at = \"5 s\"\nset = \"dumbbell.policer\"\nto = { rate = \"5 Mbit/s\", burst = \"9 kB\" }",
            "event.0.set: this key cannot change during a run",
        ),
        (
            "at = \"5 s\"\nset = \"dumbbell.reverse.aggregation\"\nto = { every = \"9 ms\" }",
            "event.0.set: this key cannot change during a run",
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
