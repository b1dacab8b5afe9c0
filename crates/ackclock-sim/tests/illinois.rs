//! TCP-Illinois against the fluid cycle of its paper: the length of a cycle in round trips.
//!
//! The fluid cycle has neither packets nor bursts. Where these matter the comparison says so.

use ackclock_scenario::{Limit, ParamValue, Queue, Recovery, Sample, Scenario};
use ackclock_trace::{Column, Table};
use ackclock_units::{Packets, Rate, Span};

use crate::common;

fn illinois(beta: Option<f64>) -> Scenario {
    let mut scenario = common::scenario("illinois");
    scenario.run.duration = Span::from_seconds(500);
    scenario.run.sample = Sample::RoundTrip;
    let flow = &mut scenario.flows[0];
    flow.tcp.recovery = Recovery::NewReno;
    if let Some(beta) = beta {
        *flow.params =
            ["beta_min", "beta_max"].map(|name| (name.to_owned(), ParamValue::Number(beta))).to_vec();
    }
    scenario
}

fn column<'a>(tables: &'a [(&str, Table)], table: &str, name: &str) -> &'a [f64] {
    let (_, table) = tables.iter().find(|(other, _)| *other == table).unwrap();
    match table.columns.iter().find(|(other, _)| *other == name) {
        Some((_, Column::Real(values))) => values,
        _ => panic!("no column {name}"),
    }
}

/// Round trips between loss events, without the first cycle, which begins with slow start. Losses within
/// 20 round trips of each other are one congestion event: every cycle here is longer.
fn cycle(scenario: &Scenario) -> f64 {
    let tables = common::run_with(scenario, 0, true, u64::MAX).1;
    let (times, before) = (column(&tables, "events", "time_s"), column(&tables, "events", "window_before"));
    let after = column(&tables, "events", "window_after");
    let cuts: Vec<f64> = (0..times.len()).filter(|i| after[*i] < before[*i]).map(|i| times[i]).collect();
    let rounds = column(&tables, "windows", "time_s");
    let round_of = |time: f64| rounds.partition_point(|round| *round < time) as f64;
    let mut events: Vec<f64> = Vec::new();
    for round in cuts.into_iter().map(round_of) {
        if events.last().is_none_or(|last| round - last > 20.0) {
            events.push(round);
        }
    }
    let (first, last) = (events[1], events[events.len() - 1]);
    (last - first) / (events.len() - 2) as f64
}

fn assert_near(measured: f64, fluid: f64) {
    assert!((measured / fluid - 1.0).abs() < 0.03, "{measured} round trips against {fluid}");
}

#[test]
fn with_a_small_decrease() {
    assert_near(cycle(&illinois(Some(0.125))), 503.0);
}

/// After a halving the packets fill only half of the round trip, and what the window grows by in one round
/// trip queues behind them: a mean of alpha/2 packets, which is a queueing delay to which alpha answers.
/// Pacing takes the bursts away, and with them the difference of 11 % from the fluid cycle.
#[test]
fn with_a_large_decrease_and_pacing() {
    let mut scenario = illinois(Some(0.5));
    assert!(cycle(&scenario) > 556.0 * 1.03, "without pacing bursts matter");
    scenario.flows[0].tcp.pacing = true;
    assert_near(cycle(&scenario), 556.0);
}

/// Figure 10: 10 Mbit/s, RTT 60 ms. One packet takes 0.8 ms here, three to ten times the threshold d1, so a
/// single doublet ends the linear part of the curve. With buffers of 20 to 50 packets the cycle is the fluid one all the
/// same (`models.fluid.cycle`); with 10, where one packet is a tenth of the largest queueing delay, it is twice as long (54
/// round trips against 25.7): see docs/validation.md.
#[test]
fn with_small_buffers() {
    for (buffer, fluid) in [(20, 100.35), (30, 142.93), (40, 199.73), (50, 245.42)] {
        let mut scenario = illinois(None);
        for link in &mut scenario.links {
            link.delay = Span::from_millis(30);
        }
        scenario.flows[0].rtt = Span::from_millis(60);
        for link in &mut scenario.links {
            link.rate = Rate(10_000_000);
        }
        scenario.links[0].queue = Queue::Droptail { limit: Limit::Packets(Packets(buffer)) };
        assert_near(cycle(&scenario), fluid);
    }
}
