//! What is refused of applications, receivers and the noise of single flows: each with its place and what is allowed.

mod common;

use ackclock_cc::registry::BuiltIn;
use ackclock_scenario::read_toml;
use common::{VALID, refusal};

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
    // 10 Mbit/s in packets of 1000 B, which a byte needs as well, for 10 s: 12 500 flows at 100 %, 125 000 at 1000 %.
    arrivals(
        "arrivals = { load = 10, sizes = \"1 B\" }, packet = \"1000 B\"",
        "flow.0.arrivals: about 125000 flows would arrive, and there must be at most 100000 in total: lower the load, or \
         raise the sizes",
    );
    ends(
        "flow=[{ controller = \"reno\", name = \"a-7\" }, { name = \"a\", controller = \"reno\", arrivals = { load = 0.1, \
         sizes = \"1 kB\" } }]",
        "flow: flows that arrive are named \"a-0\" and so on: rename \"a-7\"",
    );
}
