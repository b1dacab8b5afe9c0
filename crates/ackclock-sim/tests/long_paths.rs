//! No control ends in a state that it does not leave: over long lossy paths, with every recovery, none stays at its least
//! window for 100 round trips while the link is idle.

use ackclock_cc::registry::{Catalogue, Kind};
use ackclock_scenario::{Growth, Limit, Loss, Queue, Recovery, Sample, Scenario};
use ackclock_sim::BuiltIn;
use ackclock_trace::Column;
use ackclock_units::{Packets, Rate, Span};

use crate::common;

/// A long path, its numbers drawn by `random` between 0 and 1.
struct Path {
    rate_mbps: u64,
    rtt_ms: u64,
    loss: f64,
    /// In products of rate and round trip.
    buffer: f64,
    growth: Growth,
}

impl Path {
    fn drawn(mut random: impl FnMut() -> f64) -> Path {
        let mut between = |low: f64, high: f64| low * (high / low).powf(random());
        Path {
            rate_mbps: between(2.0, 10.0) as u64,
            rtt_ms: between(100.0, 800.0) as u64,
            loss: between(1e-3, 1e-2),
            buffer: between(0.3, 3.0),
            growth: if random() < 0.5 { Growth::PerAck } else { Growth::PerPacket },
        }
    }

    fn scenario(&self, control: &str, recovery: Recovery, seed: u64) -> Scenario {
        let mut scenario = common::scenario(control);
        let rtt = Span::from_millis(self.rtt_ms);
        scenario.run.seed = seed;
        scenario.run.warmup = Span::ZERO;
        scenario.run.duration = rtt.saturating_mul(400);
        scenario.run.sample = Sample::Every(rtt);
        let product = self.rate_mbps as f64 * self.rtt_ms as f64 / 8.0;
        for link in &mut scenario.links {
            link.rate = Rate(self.rate_mbps * 1_000_000);
            link.delay = Span(rtt.0 / 2);
        }
        scenario.links[0].queue =
            Queue::Droptail { limit: Limit::Packets(Packets((self.buffer * product) as u64 + 2)) };
        scenario.links[0].loss = Loss::Bernoulli { probability: self.loss };
        let flow = &mut scenario.flows[0];
        flow.rtt = rtt;
        flow.tcp.recovery = recovery;
        flow.tcp.growth = self.growth;
        // A host's: four times what path and buffer hold. Hybla's slow start knows no other end.
        flow.tcp.receive_window = Some(Packets((4.0 * (1.0 + self.buffer) * product) as u64));
        scenario
    }
}

/// Round trips in a row with a window of at most `LEAST` packets and less than `IDLE` of the link in use.
fn longest_idle_stay(scenario: &Scenario) -> usize {
    // Every control's least window is at most 4 packets, of which the link could carry 31 per round trip at least.
    const LEAST: f64 = 4.5;
    const IDLE: f64 = 0.2;
    let (_, tables) = common::run_with(scenario, 0, true, u64::MAX);
    let windows = &tables.iter().find(|(name, _)| *name == "windows").unwrap().1;
    let column = |wanted: &str| &windows.columns.iter().find(|(name, _)| *name == wanted).unwrap().1;
    let (Column::Real(window), Column::Whole(sent)) = (column("window"), column("sent_bytes")) else {
        panic!("the columns of windows")
    };
    let Sample::Every(rtt) = scenario.run.sample else { panic!("samples have a spacing") };
    let capacity = scenario.links[0].rate.0 as f64 / 8.0 * rtt.as_seconds();
    let mut longest = 0;
    let mut stay = 0;
    for (window, sent) in window.iter().zip(sent) {
        stay = if *window <= LEAST && (*sent as f64) < IDLE * capacity { stay + 1 } else { 0 };
        longest = longest.max(stay);
    }
    longest
}

/// Every control that searches for its window, under every recovery.
fn all(mut check: impl FnMut(&str, Recovery)) {
    for entry in
        BuiltIn.entries().iter().filter(|entry| entry.kind == Kind::Window && entry.name != "constant")
    {
        for recovery in [Recovery::Reno, Recovery::NewReno, Recovery::Sack, Recovery::Rack, Recovery::Linux26]
        {
            check(entry.name, recovery);
        }
    }
}

fn uniform(state: &mut u64) -> f64 {
    // Numerical Recipes' linear congruential generator; the high bits are random enough for a choice of paths.
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1_u64 << 53) as f64
}

/// One path each; with `ACKCLOCK_LONG_PATHS=n`, `n` of them.
#[test]
fn no_control_stays_at_its_least_window_while_the_link_is_idle() {
    let paths = std::env::var("ACKCLOCK_LONG_PATHS").map_or(1, |paths| paths.parse::<u64>().unwrap());
    let mut state = 1;
    let mut stuck = Vec::new();
    all(|control, recovery| {
        for seed in 1..=paths {
            let path = Path::drawn(|| uniform(&mut state));
            let stay = longest_idle_stay(&path.scenario(control, recovery, seed));
            if stay >= 100 {
                let Path { rate_mbps, rtt_ms, loss, buffer, growth } = path;
                stuck.push(format!(
                    "{control} under {recovery:?}: {stay} round trips on {rate_mbps} Mbit/s, {rtt_ms} ms, \
                     loss {loss:.4}, {buffer:.2} BDP, {growth:?}, seed {seed}"
                ));
            }
        }
    });
    assert!(stuck.is_empty(), "{}", stuck.join("\n"));
}

/// BBR lost a retransmission in its first overshoot, timed out with thousands of packets lost, and counted no round trip
/// until all were repaired: at 4 packets per 0.6 s, ProbeRTT lasted for the rest of the run.
#[test]
fn bbr_leaves_probe_rtt_on_a_satellite_path() {
    let path = Path { rate_mbps: 20, rtt_ms: 600, loss: 0.005, buffer: 2.0, growth: Growth::PerAck };
    let mut scenario = path.scenario("bbr", Recovery::Sack, 1);
    scenario.flows[0].tcp.receive_window = None;
    assert!(longest_idle_stay(&scenario) < 20, "ProbeRTT: 200 ms, and a round trip to get there and back");
}

/// Hybla at 600 ms adds 2^24 packets per acknowledgement in slow start; 20 Mbit/s and 600 ms hold 1500.
#[test]
fn a_window_beyond_all_measure_is_told() {
    let path = Path { rate_mbps: 20, rtt_ms: 600, loss: 0.005, buffer: 2.0, growth: Growth::PerAck };
    let mut scenario = path.scenario("hybla", Recovery::Rack, 1);
    scenario.run.duration = Span::from_seconds(5);
    let warned = common::run(&scenario);
    assert!(warned.flows[0].max_window.unwrap() > 150_000.0);
    let [warning] = &warned.warnings[..] else { panic!("one warning") };
    assert!(warning.contains("times the bandwidth-delay product"), "{warning}");
    scenario.flows[0] = common::flow("reno", Span::from_millis(600));
    let usual = common::run(&scenario);
    assert_eq!((usual.flows[0].max_window.is_some(), usual.warnings.len()), (true, 0));
}
