//! What many flows take: counted by the allocator itself.

use std::alloc::System;

use ackclock_scenario::{Scenario, read_toml};
use ackclock_sim::{BuiltIn, Simulation};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, Stats, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// This many flows of one `[[flow]]` on 1 Gbit/s and 100 ms with a buffer of one bandwidth-delay product. The links and what
/// is under way on them are the same for any number of flows.
fn group(count: u32) -> Scenario {
    let text = format!(
        r#"
        [run]
        duration = "4 s"
        [dumbbell]
        rate = "1 Gbit/s"
        delay = "50 ms"
        queue = {{ kind = "droptail", limit = "12500 packets" }}
        [[flow]]
        controller = "illinois"
        params = {{ alpha_max = 9 }}
        count = {count}
        start = {{ uniform = ["0 s", "1 s"] }}
        "#
    );
    read_toml(&text, "group.toml", &[], &BuiltIn).unwrap().scenario
}

/// Bytes that `stats` says were allocated and not freed.
fn kept(stats: Stats) -> i64 {
    stats.bytes_allocated as i64 - stats.bytes_deallocated as i64
}

/// What a run of these flows takes: bytes of the scenario and the simulation at its end, bytes of its summary, and how
/// often finishing it allocates.
fn memory_use(count: u32) -> [i64; 3] {
    let region = Region::new(ALLOCATOR);
    let mut simulation = Simulation::new(group(count), &BuiltIn, 0, false).unwrap();
    while !simulation.advance(u64::MAX) {}
    let run = kept(region.change());
    assert!(simulation.packets() > 300_000, "the link is used: {} packets", simulation.packets());
    let finishing = Region::new(ALLOCATOR);
    let (summary, _) = simulation.finish(&BuiltIn).unwrap();
    let change = finishing.change();
    assert_eq!(summary.flows.len(), count as usize);
    let summarised = kept(region.change());
    [run, summarised, (change.allocations + change.reallocations) as i64]
}

/// How many short flows arrive in this many seconds, 750 in each: 60 % of 100 Mbit/s in 10 kB. And the most that a run of
/// them takes, looked at every thousand events and while each flow is summarised.
fn arrived(seconds: u32) -> [i64; 2] {
    let region = Region::new(ALLOCATOR);
    let text = format!(
        r#"
        [run]
        duration = "{seconds} s"
        [dumbbell]
        rate = "100 Mbit/s"
        delay = "10 ms"
        queue = {{ kind = "droptail", limit = "250 packets" }}
        [[flow]]
        controller = "reno"
        arrivals = {{ load = "60 %", sizes = "10 kB" }}
        "#
    );
    let scenario = read_toml(&text, "arrivals.toml", &[], &BuiltIn).unwrap().scenario;
    let mut simulation = Simulation::new(scenario, &BuiltIn, 0, false).unwrap();
    let mut most = kept(region.change());
    while !simulation.advance(1000) {
        most = most.max(kept(region.change()));
    }
    let mut flows = 0;
    let count = &mut |_| {
        flows += 1;
        most = most.max(kept(region.change()));
    };
    let (mut over, _) = simulation.end().unwrap();
    over.summarise(&BuiltIn, count);
    [flows, most]
}

/// One test, because the count is of the whole process.
#[test]
fn a_flow_more_takes_four_kilobytes_at_most_and_one_that_arrives_a_hundred_bytes() {
    // What is kept once for all (of catalogues, for instance) belongs to no run.
    memory_use(10);
    let counts = [1000, 2000, 4000];
    let uses = counts.map(memory_use);
    for (counts, uses) in counts.windows(2).zip(uses.windows(2)) {
        let more = i64::from(counts[1] - counts[0]);
        let [run, summary, allocations] = [0, 1, 2].map(|which| (uses[1][which] - uses[0][which]) / more);
        assert!(run + summary <= 4000, "{run} B and {summary} B of the summary per flow, {counts:?} flows");
        // A name and the name of a control, for the summary and while flows are compared: a map of settings has fifty.
        assert!(allocations <= 6, "{allocations} allocations per flow to finish {counts:?} flows");
    }

    // Start and size, 16 bytes; where it is, 4; its numbers when it has ended, 80; its goodput for Jain's index, 8, which may
    // have twice the room. Those that live at a time are as many in any time, but for chance: 40 of 2 kB, over 15 000 flows.
    let [few, many] = [20, 40].map(arrived);
    let each = (many[1] - few[1]) as f64 / (many[0] - few[0]) as f64;
    assert!(many[0] - few[0] > 14_000, "{few:?} {many:?}");
    assert!(each <= 122.0, "{each} B per flow, {few:?} {many:?}");
}
