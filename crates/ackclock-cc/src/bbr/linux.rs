//! What Linux has beyond the draft of BBR's version 1: room for quanta and aggregation, packet conservation at the beginning
//! of a loss episode, a margin of the pacing rate, and a random phase to begin with (net/ipv4/tcp_bbr.c, Linux 6.18).

use ackclock_units::Time;

use crate::bbr3::model::{Aggregation, fraction};

/// Share of the rate that is paced at.
pub const PACED: f64 = 0.99;
/// An aggregate counts at most the packets that arrive in this time, seconds.
const LONGEST_AGGREGATE_S: f64 = 0.1;
/// A quantum is what is sent in this time, seconds, between a packet at less than 1.2 Mbit/s in packets of 1500 bytes, two
/// above that, and 127.
const QUANTUM_S: f64 = 1.0 / 1024.0;
const SLOW: f64 = 100.0;
const LARGEST_QUANTUM: f64 = 127.0;
/// Quanta beyond the product of rate and delay, and packets added to that while the rate is probed.
const QUANTA: f64 = 3.0;
const PROBING: f64 = 2.0;
/// Phases that the cycle may begin with: all but the one that drains.
const FIRST: [usize; 7] = [2, 3, 4, 5, 6, 7, 0];

/// The additional state of Linux.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// The seed of random phases.
    seed: u64,
    /// Cycles of `ProbeBW` that have begun.
    cycles: u64,
    aggregation: Aggregation,
    /// Room for aggregates, packets.
    pub extra: f64,
    /// The window before the loss episode, and whether its first round trip is not over.
    before: f64,
    conserves: bool,
    /// The first delivery after a pause of the application is not a time for `ProbeRTT`.
    pub restarts: bool,
}

impl Details {
    /// Nothing yet, with random phases drawn from `seed`.
    pub fn with_seed(seed: u64) -> Self {
        Details { seed, ..Details::default() }
    }

    /// `volume` packets with room for the quanta of a sender that paces at `pacing` packets per second.
    pub fn quantized(volume: f64, pacing: f64, probes: bool) -> f64 {
        let least = if pacing < SLOW { 1.0 } else { 2.0 };
        let quantum = libm::floor(pacing * QUANTUM_S).clamp(least, LARGEST_QUANTUM);
        let even = 2.0 * libm::ceil((libm::ceil(volume) + QUANTA * quantum) / 2.0);
        even + if probes { PROBING } else { 0.0 }
    }

    /// `acked` packets were delivered in round trip `round`, to a sender with `window` whose model has `rate`.
    pub fn note(&mut self, now: Time, acked: f64, round: (u64, bool), rate: f64, window: f64) {
        self.aggregation.note(now, acked, round.0, rate, window);
        self.extra = self.aggregation.largest(true).min(rate * LONGEST_AGGREGATE_S);
        self.conserves &= !round.1;
    }

    /// The phase with which the next cycle begins.
    pub fn first_phase(&mut self) -> usize {
        self.cycles = self.cycles.wrapping_add(1);
        FIRST[(fraction(self.seed, self.cycles) * FIRST.len() as f64) as usize]
    }

    /// A loss episode begins. Returns the window: the packets in flight plus one.
    pub fn begin_episode(&mut self, window: f64, in_flight: f64) -> f64 {
        (self.before, self.conserves) = (window, true);
        in_flight + 1.0
    }

    /// The window before the episode, which has ended.
    pub fn end_episode(&mut self) -> f64 {
        self.conserves = false;
        self.before
    }

    /// In the first round trip of an episode: a packet out for each that arrives. None after it.
    pub fn conserved(&self, window: f64, in_flight: f64, (acked, lost): (f64, f64)) -> Option<f64> {
        self.conserves.then(|| (window - lost).max(in_flight + acked))
    }

    /// The application sends again after a pause.
    pub fn restart(&mut self, now: Time) {
        (self.restarts, self.aggregation.start) = (true, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Up to 100 packets per second a quantum is one packet: 5 + 3 = 8; from there on two: 5 + 6, made even, 12. Of 4096 per
    /// second it is 4: 5 + 12 = 17, made even, and 2 for a probe.
    #[test]
    fn quanta_grow_with_the_rate() {
        assert_eq!(Details::quantized(5.0, 50.0, false), 8.0);
        assert_eq!(Details::quantized(5.0, 100.0, false), 12.0);
        assert_eq!(Details::quantized(4.5, 4096.0, true), 20.0);
    }

    /// 3 of 151 are lost: 148, unless more than that is in flight or arrives.
    #[test]
    fn losses_leave_the_window_at_once() {
        let mut details = Details::default();
        assert_eq!(details.begin_episode(300.0, 150.0), 151.0);
        assert_eq!(details.conserved(151.0, 100.0, (1.0, 3.0)), Some(148.0));
        assert_eq!(details.conserved(151.0, 150.0, (1.0, 3.0)), Some(151.0));
        assert_eq!(details.end_episode(), 300.0);
        assert_eq!(details.conserved(151.0, 100.0, (1.0, 3.0)), None);
    }
}
