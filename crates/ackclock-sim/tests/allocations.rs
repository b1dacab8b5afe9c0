//! No allocation per packet: counted by the allocator itself.
#[allow(dead_code, reason = "shared with the other tests")]
mod common;

use std::alloc::System;

use ackclock_scenario::{Limit, Loss, Queue, Scenario};
use ackclock_sim::{BuiltIn, Simulation};
use ackclock_units::{Packets, Rate, Span};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Allocations and reallocations of a run after its first `skipped` events.
fn allocations(scenario: Scenario, skipped: u64) -> (usize, u64) {
    let mut simulation = Simulation::new(scenario, &BuiltIn, 0, false).unwrap();
    simulation.advance(skipped);
    let packets = simulation.packets();
    let region = Region::new(ALLOCATOR);
    while !simulation.advance(u64::MAX) {}
    let change = region.change();
    (change.allocations + change.reallocations, simulation.packets() - packets)
}

/// One test, because the count is of the whole process.
#[test]
fn nothing_is_allocated_per_packet() {
    // Steady state, with losses and their repair: half a million packets, a few growths at most of what has its size.
    let mut scenario = common::scenario("bic-linux");
    scenario.run.duration = Span::from_seconds(200);
    scenario.links[0].loss = Loss::Bernoulli { probability: 1e-4 };
    let (count, packets) = allocations(scenario, 500_000);
    assert!(packets > 400_000, "{packets}");
    assert!(count <= 32, "{count} allocations for {packets} packets");

    // From the first packet on, through a slow start that loses 60 000 packets at once: rings double, so
    // the count is logarithmic. 40 rings and tables may double 18 times.
    let mut scenario = common::scenario("reno");
    scenario.run.duration = Span::from_seconds(10);
    scenario.links[0].rate = Rate(2_500_000_000);
    scenario.links[1].rate = Rate(2_500_000_000);
    scenario.links[0].queue = Queue::Droptail { limit: Limit::Packets(Packets(31_250)) };
    scenario.links[1].queue = Queue::Droptail { limit: Limit::Packets(Packets(125_000)) };
    let (count, packets) = allocations(scenario, 0);
    assert!(packets > 2_000_000, "{packets}");
    assert!(count <= 40 * 18, "{count} allocations for {packets} packets");
}
