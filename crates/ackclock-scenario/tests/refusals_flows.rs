//! What is refused of applications, receivers, the noise of single flows and events: each with its location and what is
//! allowed.

use ackclock_cc::registry::BuiltIn;
use ackclock_scenario::read_toml;

use crate::common::{VALID, refusal};

fn ends(setting: &str, problem: &str) {
    let message = refusal(setting);
    assert!(message.ends_with(problem), "{setting}: {message}");
}

#[test]
fn requests() {
    let requests = |keys: &str, problem: &str| {
        ends(&format!("flow.0={{ source = \"requests\", {keys} }}"), problem);
    };
    requests("every = \"1 s\"", "flow.0.size: is required");
    requests("size = \"1 kB\"", "flow.0.every: is required, or think instead");
    requests(
        "size = \"1 kB\", every = \"1 s\", think = \"1 s\"",
        "flow.0.think: give either every or think, not both",
    );
    requests("size = \"1 kB\", every = \"0 s\"", "flow.0.every: must be longer than 0 s");
    requests(
        "size = \"1 kB\", every = \"1 ns\"",
        "flow.0.every: a flow has at most 10000000 requests; 10 s every 1 ns is more",
    );
    requests(
        "every = \"1 s\", size = [[\"1 kB\", \"60 %\"], [\"2 kB\", \"30 %\"]]",
        "flow.0.size: shares must add up to 100 %, are 90 %",
    );
    let list =
        "flow.0.size: expected a size, or a list such as [[\"10 kB\", \"70 %\"], [\"1 MB\", \"30 %\"]]";
    requests("every = \"1 s\", size = [\"1 kB\"]", list);
    requests("every = \"1 s\", size = [[\"1 kB\"]]", list);
    requests(
        "every = \"1 s\", size = \"2 TB\"",
        "flow.0.size: must lie between 1 B and 1099511627776 B, is 2000000000000 B",
    );
    requests(
        "every = \"1 s\", size = \"1 kB\", spacing = \"even\"",
        "flow.0.spacing: unknown value \"even\"; allowed: \"fixed\", \"exponential\"",
    );
    requests(
        "every = \"1 s\", size = \"1 kB\", bytes = \"1 MB\"",
        "flow.0.bytes: does not apply to this source; use stop",
    );
    ends("flow.0.size=1 kB", "flow.0.size: applies only with source = \"requests\"");
}

#[test]
fn application_limits() {
    ends("flow.0.limit=0 Mbit/s", "flow.0.limit: must be above 0 bit/s");
    ends(
        "flow.0={ source = \"web\", limit = \"1 Mbit/s\" }",
        "flow.0.limit: applies only to bulk data: leave out limit or source",
    );
    let settings =
        ["flow.0.transport=quic", "flow.0.packet=1500 B", "flow.0.limit=1 Mbit/s"].map(str::to_owned);
    let refused = read_toml(VALID, "a.toml", &settings, &BuiltIn).unwrap_err().to_string();
    assert!(refused.ends_with("flow.0.limit: does not apply over quic: leave it out"), "{refused}");
}

/// Names that the program makes itself never collide, with each other or with those that are given before them.
#[test]
fn flows_that_arrive_have_names_of_their_own() {
    let flow = "{ controller = \"reno\", arrivals = { load = \"10 %\", sizes = \"10 kB\" } }";
    let named = flow.replace("{ controller", "{ name = \"reno-arrival2\", controller");
    let setting = format!("flow=[{named}, {flow}, {flow}, {flow}]");
    let scenario = read_toml(VALID, "a.toml", &[setting], &BuiltIn).unwrap().scenario;
    let names: Vec<_> = scenario.arrivals.iter().map(|arrivals| arrivals.flow.name.as_str()).collect();
    assert_eq!(names, ["reno-arrival2", "reno-arrival", "reno-arrival3", "reno-arrival4"]);
}

#[test]
fn arrivals() {
    let arrivals = |keys: &str, problem: &str| {
        ends(&format!("flow.0={{ controller = \"reno\", {keys} }}"), problem);
    };
    let some = "arrivals = { load = \"10 %\", sizes = \"10 kB\" }";
    arrivals("arrivals = { sizes = \"10 kB\" }", "flow.0.arrivals.load: is required");
    arrivals("arrivals = { load = \"10 %\" }", "flow.0.arrivals.sizes: is required");
    arrivals(
        "arrivals = { load = \"0 %\", sizes = \"10 kB\" }",
        "flow.0.arrivals.load: must lie between 0.01 % and 1000 %, is 0 %",
    );
    arrivals(&format!("{some}, count = 2"), "flow.0.count: does not apply with arrivals: leave it out");
    arrivals(
        &format!("{some}, bytes = \"1 MB\""),
        "flow.0.bytes: does not apply with arrivals: leave it out",
    );
    arrivals(
        &format!("{some}, start = {{ uniform = [\"0 s\", \"1 s\"] }}"),
        "flow.0.start: must be one time with arrivals, which are random themselves",
    );
    // 10 Mbit/s in packets of 100 B, which a byte needs as well, for 1000 s at 1000 %: 10^11 bits in flows of 800.
    let many = [
        "flow.0={ controller = \"reno\", arrivals = { load = 10, sizes = \"1 B\" }, packet = \"100 B\" }",
        "run.duration=1000 s",
    ]
    .map(str::to_owned);
    let refused = read_toml(VALID, "a.toml", &many, &BuiltIn).unwrap_err().to_string();
    let problem = "flow.0.arrivals: about 125000000 flows would arrive, and there must be at most 10000000 in total: lower \
                   the load, or raise the sizes";
    assert!(refused.ends_with(problem), "{refused}");
    ends(
        "flow=[{ controller = \"reno\", name = \"a-7\" }, { name = \"a\", controller = \"reno\", arrivals = { load = 0.1, \
         sizes = \"1 kB\" } }]",
        "flow: flows that arrive are named \"a-0\" and so on: rename \"a-7\"",
    );
}

#[test]
fn events() {
    let event = |keys: &str, problem: &str| ends(&format!("event=[{keys}]"), problem);
    let rate = "set = \"dumbbell.rate\"";
    event(
        &format!("{{ at = \"1 s\", {rate}, to = \"0 Mbit/s\" }}"),
        "must be above 0 bit/s; to stop the link, set its key up to false",
    );
    event(
        "{ at = \"1 s\", set = \"dumbbell.outage\", to = \"drop\" }",
        "event.0.set: this key cannot change during a run",
    );
    event(
        &format!("{{ at = \"1 s\", {rate}, to = [\"1 Mbit/s\", \"2 Mbit/s\"] }}"),
        "event.0.to: a list of 2 values needs every: how often the next one comes",
    );
    event(
        &format!("{{ at = \"1 s\", {rate}, to = [], every = \"1 s\" }}"),
        "event.0.to: expected at least one value",
    );
    event(
        &format!("{{ at = \"1 s\", {rate}, to = {{ uniform = [\"1 Mbit/s\"] }} }}"),
        "event.0.to: expected two values, such as { uniform = [\"40 ms\", \"80 ms\"] }",
    );
    event(
        &format!("{{ at = \"1 s\", {rate}, to = \"1 Mbit/s\", until = \"2 s\" }}"),
        "event.0.until: applies only with every",
    );
    event(
        &format!("{{ at = \"1 s\", {rate}, to = \"1 Mbit/s\", every = \"1 us\" }}"),
        "event.0.every: a run has at most 1000000 changes; with this event it has 18000000",
    );
    event(
        &format!("{{ at = {{ flow = \"reno-1\", rtt = 2 }}, {rate}, to = \"1 Mbit/s\", every = \"1 s\" }}"),
        "event.0.every: needs a time in at",
    );
    event(
        &format!("{{ at = \"1 s\", {rate}, to = {{ uniform = [\"1 Mbit/s\", \"2 Mbit/s\"] }} }}"),
        "event.0.set: sets several things at once, which would be equally random: give the other direction, or the other \
         links, values of their own",
    );
    event(
        "{ at = \"1 s\", set = \"dumbbell.reverse\", to = {}, every = \"1 s\" }",
        "event.0.set: with an event that repeats or is random, every event sets one key of a link, such as dumbbell.rate",
    );
    event(
        "{ at = \"1 s\", set = \"dumbbell.up\", to = { uniform = [true, false] } }",
        "event.0.to: only rates, delays, the rate of a bernoulli loss, the limit of a droptail queue and the size of delay \
         noise can be random",
    );
    event(
        &format!(
            "{{ at = \"1 s\", {rate}, to = \"1 Mbit/s\", every = \"1 s\" }}, {{ at = \"2 s\", set = \"dumbbell.reverse.rate\", \
             to = \"2 Mbit/s\" }}"
        ),
        "event.1.set: an event that repeats or is random changes this, too, by dumbbell.rate: set the same key",
    );
}

#[test]
fn datagrams_and_media() {
    let cbr = |keys: &str, problem: &str| {
        ends(&format!("flow.0={{ source = \"cbr\", rate = \"1 Mbit/s\", {keys} }}"), problem);
    };
    cbr("pulse = { on = \"1 s\" }", "flow.0.pulse.every: is required");
    cbr("pulse = { on = \"2 s\", every = \"1 s\" }", "flow.0.pulse.on: must be at most every (1 s), is 2 s");
    cbr("deadline = \"0 ms\"", "flow.0.deadline: must be longer than 0 s");
    cbr("frame_rate = 20", "flow.0.frame_rate: applies only with source = \"media\"");
    let media =
        |keys: &str, problem: &str| ends(&format!("flow.0={{ source = \"media\", {keys} }}"), problem);
    media("frame_rate = 30", "flow.0.rate: is required");
    // 150 kbit/s at 30 frames per second are 625 B; of 60 frames with one of four times the size each other has 60/63 of that.
    media(
        "rate = \"150 kbit/s\", packet = \"1000 B\"",
        "flow.0.rate: a frame between key frames has 595 B, less than a packet (1 kB): set packet to at most 595 B, or \
         raise the rate",
    );
    media(
        "rate = \"1.5 Mbit/s\", packet = \"1000 B\", bytes = \"1 MB\"",
        "flow.0.bytes: does not apply to this source; use stop",
    );
    ends(
        "flow.0.pulse={ on = \"1 s\", every = \"1 s\" }",
        "flow.0.pulse: applies only with source = \"cbr\"",
    );
}

#[test]
fn noise_and_receivers() {
    let wifi = |mean: &str| format!("flow.0.delay_noise={{ kind = \"wifi\", mean = \"{mean}\" }}");
    for (mean, is) in [("0.5 ms", "500 us"), ("92 ms", "92 ms")] {
        ends(&wifi(mean), &format!("flow.0.delay_noise.mean: must lie between 1 ms and 91 ms, is {is}"));
    }
    ends("flow.0.reverse_noise={ kind = \"uniform\" }", "flow.0.reverse_noise.range: is required");
    ends("flow.0.receiver.split=0", "flow.0.receiver.split: expected a whole number from 1 to 64, found 0");
    ends("flow.0.receiver.lies=true", "unknown key; allowed: split, advance, ignore_marks");
    let needs = "flow.0.receiver: needs a window-based control, whose sender it can lie to: leave it out";
    ends("flow.0={ source = \"cbr\", rate = \"1 Mbit/s\", receiver = { split = 2 } }", needs);
}

#[test]
fn changes_of_applications() {
    let event = |flow: &str, keys: &str, problem: &str| {
        let settings = [format!("flow=[{flow}]"), format!("event=[{{ {keys} }}]")];
        let refused = read_toml(VALID, "a.toml", &settings, &BuiltIn).unwrap_err().to_string();
        assert!(refused.contains(problem), "{keys}: {refused}");
    };
    let limited = "{ controller = 'reno', name = 'a', limit = '1 Mbit/s' }";
    let rate = "to = '2 Mbit/s'";
    event(limited, &format!("at = '1 s', set = 'flow.b.limit', {rate}"), "event.0.set: unknown flow \"b\"");
    event(
        limited,
        &format!("at = '1 s', set = 'flow.a', {rate}"),
        "event.0.set: expected a key of an application",
    );
    event(
        limited,
        "at = '1 s', set = 'flow.a.rtt', to = '1 s'",
        "event.0.set: of an application only limit, every",
    );
    event(limited, "at = '1 s', set = 'flow.a.limit', to = 5", "event.0.to: the unit is missing");
    event(limited, &format!("set = 'flow.a.limit', {rate}"), "event.0.at: is required");
    event(
        limited,
        &format!("at = '99 s', set = 'flow.a.limit', {rate}"),
        "event.0.at: must lie before the end",
    );
    let at_round = format!("at = {{ flow = 'a', rtt = 3 }}, set = 'flow.a.limit', {rate}");
    event(limited, &at_round, "event.0.at: an application changes at a time, not after round trips");
    event(
        "{ controller = 'reno', name = 'a' }",
        &format!("at = '1 s', set = 'flow.a.limit', {rate}"),
        "\"a\" has no limit",
    );
    event(
        limited,
        "at = '1 s', set = 'flow.a.size', to = '1 kB'",
        "event.0.set: \"a\" has no size that could change",
    );
    let sized = "{ source = 'requests', size = '1 kB', every = '1 s', name = 'a' }";
    for (to, problem) in [
        ("{ in_turn = ['1 kB'] }, every = '1 s'", None),
        ("{ in_turn = ['1 kB', '2 kB'] }", Some("event.0.to: a list of 2 values needs every")),
        ("{ in_turn = [] }, every = '1 s'", Some("event.0.to: expected at least one value")),
        ("{ in_turn = '1 kB' }, every = '1 s'", Some("event.0.to: expected a list, such as { in_turn = [")),
        (
            "{ in_turn = ['1 kB'], uniform = [] }, every = '1 s'",
            Some("event.0.to: expected a text, found a table"),
        ),
        // Without in_turn a list of sizes is a distribution.
        ("['1 kB', '2 kB'], every = '1 s'", Some("event.0.to: expected a size, or a list such as [[")),
    ] {
        let settings =
            [format!("flow=[{sized}]"), format!("event=[{{ at = '1 s', set = 'flow.a.size', to = {to} }}]")];
        let read = read_toml(VALID, "a.toml", &settings, &BuiltIn);
        let refused = read.err().map(|refused| refused.to_string());
        match (&refused, problem) {
            (None, None) => {}
            (Some(refused), Some(problem)) if refused.contains(problem) => {}
            _ => panic!("{to}: {refused:?}"),
        }
    }
    let requests =
        |keys: &str, problem: &str| ends(&format!("flow=[{{ source = 'requests', {keys} }}]"), problem);
    requests("schedule = []", "flow.0.schedule: must have 1 to 10000000 requests, has 0");
    requests(
        "schedule = [['1 s', '1 kB'], ['0 s', '1 kB']]",
        "the time of a request must not be before that of the one above",
    );
    requests(
        "schedule = [['1 s', '1 kB']], size = '1 kB'",
        "flow.0.size: does not apply with schedule: leave it out",
    );
    requests("every = '1 s'", "flow.0.size: is required");
}
