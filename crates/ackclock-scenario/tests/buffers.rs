//! Buffers as a time or as bandwidth-delay products.

use ackclock_cc::registry::BuiltIn;
use ackclock_scenario::{Change, Checked, Limit, Queue, read_toml};
use ackclock_units::Packets;

use crate::common::VALID;

fn read(settings: &[&str]) -> Checked {
    let settings: Vec<_> = settings.iter().map(|setting| (*setting).to_owned()).collect();
    read_toml(VALID, "a.toml", &settings, &BuiltIn).unwrap()
}

fn limit(queue: &Queue) -> u64 {
    match queue.limit() {
        Limit::Packets(Packets(packets)) => packets,
        Limit::Bytes(bytes) => panic!("{bytes}"),
    }
}

/// 10 Mbit/s in packets of 1250 B are 1000 packets/s: 50 in 50 ms, and 120 in two round trips of 60 ms.
#[test]
fn packets_are_those_of_the_first_flow_and_the_rate_of_the_link() {
    let path = ["dumbbell.rate=10 Mbit/s", "tcp.packet=1250 B"];
    let of = |flow: &str, buffer: &str| {
        let (flow, buffer) = (format!("flow={flow}"), format!("dumbbell.queue.limit={buffer}"));
        read(&[&path[..], &[&*flow, &*buffer]].concat())
    };
    let reno = "[{ source = 'cbr', rate = '1 Mbit/s', rtt = '1 s' }, { controller = 'reno', rtt = '60 ms' }]";
    for (buffer, packets) in [("50 ms", 50), ("2 bdp", 120), ("0.5BDP", 30), ("1 us", 1)] {
        let checked = of(reno, buffer);
        assert_eq!(limit(&checked.scenario.links[0].queue), packets, "{buffer}");
        // The packets are what is run: digest and complete text say the same.
        let same = of(reno, &format!("{packets} packets"));
        assert_eq!((checked.digest(), &checked.toml), (same.digest(), &same.toml));
    }
    // A flow with packets of its own, and the other direction, which has a tenth of the rate.
    let own = of("[{ controller = 'reno', rtt = '60 ms', packet = '625 B' }]", "50 ms");
    assert_eq!(limit(&own.scenario.links[0].queue), 100);
    let reverse = "dumbbell.reverse={ rate = '1 Mbit/s', queue = { kind = 'droptail', limit = '50 ms' } }";
    assert_eq!(limit(&read(&[&path[..], &[reverse]].concat()).scenario.links[1].queue), 5);
}

/// The rate of the start counts, so that a later rate leaves the buffer alone; events may set one of these buffers, too.
#[test]
fn events_change_buffers_and_rates() {
    let settings = [
        "dumbbell.rate=8 Mbit/s",
        "dumbbell.queue.limit=50 ms",
        "event=[{ at = '1 s', set = 'dumbbell.rate', to = '1 Mbit/s' }, { at = '2 s', set = 'dumbbell.queue.limit', to = '20 ms' }]",
    ];
    let scenario = read(&settings).scenario;
    let changes: Vec<_> = scenario.events.iter().map(|event| &event.change).collect();
    assert!(matches!(changes[..], [Change::Rate(_), Change::Rate(_), Change::Queue(_)]), "{changes:?}");
    let Change::Queue(queue) = changes[2] else { panic!("{changes:?}") };
    // In packets of 1000 B: 1000 in a second.
    assert_eq!((limit(&scenario.links[0].queue), limit(queue)), (50, 20));
    let listed =
        "event=[{ at = '1 s', set = 'dumbbell.queue.limit', to = ['5 ms', '1 bdp'], every = '1 s' }]";
    let scenario = read(&[settings[0], "flow.0.rtt=40 ms", listed]).scenario;
    let Change::InTurn(queues) = &scenario.events[0].change else { panic!("{:?}", scenario.events) };
    let limits = queues.iter().map(|change| match change {
        Change::Queue(queue) => limit(queue),
        other => panic!("{other:?}"),
    });
    assert_eq!(limits.collect::<Vec<_>>(), [5, 40]);
}

#[test]
fn what_is_refused() {
    for (buffer, problem) in [
        ("0 ms", "dumbbell.queue.limit: unknown unit; expected packets, bytes, a time"),
        ("0 bdp", "dumbbell.queue.limit: unknown unit; expected packets"),
        ("bdp", "dumbbell.queue.limit: not a number; expected packets"),
        ("1e9 bdp", "dumbbell.queue.limit: must be at most 1000000000 packets"),
    ] {
        let refusal = crate::common::refusal(&format!("dumbbell.queue.limit={buffer}"));
        assert!(refusal.contains(problem), "{buffer}: {refusal}");
    }
}
