//! A control from outside the crate: it gets delivery rates, its own pacing rate is obeyed exactly, and an acknowledgement
//! is one call.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use ackclock_cc::registry::{Catalogue, Entry};
use ackclock_cc::{Controller, Decision, Signal, Start, Wants};
use ackclock_sim::Simulation;
use ackclock_units::{PacketRate, Span, Time, Window};

use crate::common;

ackclock_cc::parameters! {
    /// None.
    pub struct NoParams {}
}

/// Sends at 20 Mbit/s under a large window and notes the highest delivery rate, packets per second.
#[derive(Clone, Debug)]
struct FixedRate {
    highest: f64,
}

impl Controller for FixedRate {
    type Params = NoParams;
    const WANTS: Wants = Wants { rate: true, ..Wants::NOTHING };

    fn new(_: NoParams, _: Start) -> Self {
        FixedRate { highest: 0.0 }
    }

    fn on(&mut self, _: Time, signal: Signal) {
        if let Signal::Ack(ack) = signal
            && let Some(rate) = ack.rate
        {
            self.highest = self.highest.max(rate.delivered.0 as f64 / rate.interval.as_seconds());
        }
    }

    fn decision(&self) -> Decision {
        // 20 Mbit/s of 1000-byte packets.
        let rate = PacketRate(2500.0);
        Decision { window: Window(1e4), ssthresh: Window(1e4), pacing_rate: Some(rate), quantum: None }
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("highest", self.highest);
    }
}

struct Own([Entry; 1]);

impl Catalogue for Own {
    fn entries(&self) -> &[Entry] {
        &self.0
    }
}

#[test]
fn its_rate_is_obeyed_and_measured() {
    let mut scenario = common::scenario("fixed-rate");
    scenario.run.duration = Span::from_seconds(20);
    scenario.run.warmup = Span::from_seconds(10);
    let own = Own([Entry::of::<FixedRate>("fixed-rate", "this test")]);
    let mut simulation = Simulation::new(scenario, &own, 0, true).unwrap();
    while !simulation.advance(u64::MAX) {}
    let (summary, tables) = simulation.finish(&own).unwrap();
    // 20 Mbit/s are 2500 packets of 1000 bytes per second, 25 000 in 10 s; one may fall on an edge.
    let goodput = summary.flows[0].goodput_mbps.unwrap();
    assert!((goodput - 20.0).abs() <= 20.0 / 25_000.0, "{goodput}");
    let windows = &tables.iter().find(|(name, _)| *name == "windows").unwrap().1;
    let highest = windows.columns.iter().find(|(name, _)| *name == "highest").unwrap();
    let ackclock_trace::Column::Real(values) = &highest.1 else { panic!("a number") };
    let last = values[values.len() - 1];
    assert!((last / 2500.0 - 1.0).abs() < 0.001, "{last} packets per second");
}

static CALLS: AtomicU64 = AtomicU64::new(0);
static ACKS: AtomicU64 = AtomicU64::new(0);
static DECISIONS: AtomicU64 = AtomicU64::new(0);

/// A window of 20 packets, and what crosses the boundary to it.
#[derive(Clone, Debug)]
struct Counted;

impl Controller for Counted {
    type Params = NoParams;

    fn new(_: NoParams, _: Start) -> Self {
        Counted
    }

    fn on(&mut self, _: Time, signal: Signal) {
        CALLS.fetch_add(1, Relaxed);
        ACKS.fetch_add(u64::from(matches!(signal, Signal::Ack(_))), Relaxed);
    }

    fn decision(&self) -> Decision {
        DECISIONS.fetch_add(1, Relaxed);
        Decision { window: Window(20.0), ssthresh: Window(20.0), pacing_rate: None, quantum: None }
    }
}

/// 20 packets are less than any path here holds, so that nothing is lost: each packet that arrives is acknowledged, and
/// each acknowledgement is one signal and one decision. A few more of these are before the first packet.
#[test]
fn an_acknowledgement_is_one_call() {
    let mut scenario = common::scenario("counted");
    scenario.run.duration = Span::from_seconds(20);
    scenario.run.warmup = Span::from_seconds(10);
    let own = Own([Entry::of::<Counted>("counted", "this test")]);
    let mut simulation = Simulation::new(scenario, &own, 0, false).unwrap();
    while !simulation.advance(u64::MAX) {}
    let (summary, _) = simulation.finish(&own).unwrap();
    let (calls, acks, decisions) = (CALLS.load(Relaxed), ACKS.load(Relaxed), DECISIONS.load(Relaxed));
    let sent = summary.flows[0].whole_run.sent_packets;
    assert!(acks > 1000 && acks <= sent && sent - acks <= 20, "{acks} acknowledgements of {sent} packets");
    assert_eq!(calls, acks);
    assert!((acks..acks + 10).contains(&decisions), "{decisions} decisions on {acks} acknowledgements");
}
