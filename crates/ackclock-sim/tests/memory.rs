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
fn taken(count: u32) -> [i64; 3] {
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

/// One test, because the count is of the whole process.
#[test]
fn a_flow_more_of_a_group_takes_four_kilobytes_at_most() {
    // What is kept once for all (of catalogues, for instance) belongs to no run.
    taken(10);
    let counts = [1000, 2000, 4000];
    let taken = counts.map(taken);
    for (counts, taken) in counts.windows(2).zip(taken.windows(2)) {
        let more = i64::from(counts[1] - counts[0]);
        let [run, summary, allocations] = [0, 1, 2].map(|which| (taken[1][which] - taken[0][which]) / more);
        assert!(run + summary <= 4000, "{run} B and {summary} B of the summary per flow, {counts:?} flows");
        // A name and the name of a control, for the summary and while flows are compared: a map of settings has fifty.
        assert!(allocations <= 6, "{allocations} allocations per flow to finish {counts:?} flows");
    }
}
