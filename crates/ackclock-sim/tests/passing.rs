//! Packets that planned links pass on to wires that only delay.

use ackclock_scenario::{Scenario, read_toml};
use ackclock_sim::{BuiltIn, Simulation};

use crate::common;

/// Flows over a bottleneck of 10 Mbit/s in each direction, 10 ms long, with these RTTs and whatever else is given.
fn scenario(rtts_ms: &[u64], rest: &str) -> Scenario {
    let flow = |rtt: &u64| format!("[[flow]]\ncontroller = \"reno\"\nrtt = \"{rtt} ms\"\n");
    let flows: String = rtts_ms.iter().map(flow).collect();
    let queue = r#"queue = { kind = "droptail", limit = "40 packets" }"#;
    let link = format!("rate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n{queue}\nreverse = {{ {queue} }}\n");
    let text = format!("run = {{ duration = \"20 s\" }}\n[dumbbell]\n{link}{flows}{rest}");
    read_toml(&text, "test", &[], &BuiltIn).unwrap().scenario
}

/// A data packet of a flow with an access delay has an event when it leaves the access wire, one at the receiver, and its
/// acknowledgement one at the sender, but none between the reverse link and the wire behind it: three for each packet. Timers and
/// drops add few: a drop takes two of a packet's events away.
#[test]
fn acknowledgements_have_no_event_between_link_and_wire() {
    let mut simulation = Simulation::new(scenario(&[100], ""), &BuiltIn, 0, false).unwrap();
    let mut events = 0;
    while !simulation.advance(1) {
        events += 1;
    }
    let per_packet = f64::from(events) / simulation.packets() as f64;
    assert!((2.95..3.05).contains(&per_packet), "{per_packet}");
}

/// Changes of the reverse link take back what it has passed on: acknowledgements that wait, and those that propagate, of flows
/// on different wires and of one without. The run is that of links that plan nothing from the beginning.
#[test]
fn what_was_passed_on_is_taken_back() {
    let changes = [
        ("dumbbell.reverse.rate", "\"0.2 Mbit/s\""),
        ("dumbbell.reverse.delay", "\"25 ms\""),
        ("dumbbell.reverse.delay", "\"1 ms\""),
        ("dumbbell.reverse.up", "false"),
        ("dumbbell.reverse.queue", "{ kind = \"codel\", limit = \"40 packets\" }"),
    ];
    for (key, to) in changes {
        // At the end of a packet's transmission, and between two.
        for at in ["5 s", "5.00032 s", "7.123456789 s"] {
            let event = format!("[[event]]\nat = \"{at}\"\nset = \"{key}\"\nto = {to}\n");
            let scenario = scenario(&[20, 47, 100, 230], &event);
            let planned = common::run(&scenario);
            let mut simulation = Simulation::new(scenario, &BuiltIn, 0, false).unwrap();
            simulation.give_up_plans();
            while !simulation.advance(u64::MAX) {}
            assert_eq!(planned, simulation.finish(&BuiltIn).unwrap().0, "{key} at {at}");
        }
    }
}
