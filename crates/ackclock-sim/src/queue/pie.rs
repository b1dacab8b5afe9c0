//! PIE, the proportional integral controller enhanced: RFC 8033.
//!
//! Arriving packets are dropped with a probability that a controller moves every 15 ms by the distance of the delay
//! from its target and by its change. The delay is the time that the packet at the head has waited (section 5.2's
//! timestamps). All of the RFC's
//! safeguards except de-randomisation's byte mode are implemented: the burst allowance, the scaling of small probabilities, the
//! bounds on large ones, the decay when the queue is empty.

use ackclock_units::{Span, Time};

use super::{Droptail, InService, Management, Queued, Waiting};
use crate::packet::Packet;
use crate::random::Stream;

/// Settings of PIE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieSettings {
    /// Delay to keep.
    pub target: Span,
    /// A burst as long as this is not dropped.
    pub burst: Span,
    /// Packets that can be marked are marked.
    pub ecn: bool,
}

/// How often the probability moves (`T_UPDATE`).
const UPDATES_EVERY: Span = Span::from_millis(15);
/// Weights of the distance and of the change, per second (`alpha`, `beta`).
const GAINS: (f64, f64) = (0.125, 1.25);
/// Below these probabilities the steps are divided by these (section 5.1.2).
const SCALES: [(f64, f64); 6] =
    [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (0.1, 2.0)];
/// Above this probability no step is larger than the second (section 5.2).
const STEEP: (f64, f64) = (0.1, 0.02);
/// A delay beyond this adds the second to the probability (section 5.2).
const LONG: (Span, f64) = (Span::from_millis(250), 0.02);
/// Without a queue the probability falls by this factor per update.
const DECAY: f64 = 0.98;
/// Above this, even packets that can be marked are dropped (section 5.1: `mark_ecnth`).
const MARKS_BELOW: f64 = 0.1;
/// The sum of probabilities below which nothing is dropped, and the one from which a packet always is (section 5.4).
const SPACING: (f64, f64) = (0.85, 8.5);
/// Fewer bytes than this are left alone (section 5.1).
const FEW_BYTES: u64 = 2 * 1500;

/// The controller of PIE.
#[derive(Clone, Debug)]
pub struct Pie {
    settings: PieSettings,
    stream: Stream,
    probability: f64,
    old_delay: Span,
    burst_left: Span,
    accumulated: f64,
    updates_at: Time,
}

impl Pie {
    /// A controller that has not seen any packet; drops and marks are drawn from `stream`.
    #[must_use]
    pub const fn new(settings: PieSettings, stream: Stream) -> Self {
        Pie {
            settings,
            stream,
            probability: 0.0,
            old_delay: Span::ZERO,
            burst_left: settings.burst,
            accumulated: 0.0,
            updates_at: Time(UPDATES_EVERY.0),
        }
    }

    /// Carries out the updates that are due. Between events the queue does not change, so they are exact although late.
    fn catch_up(&mut self, now: Time, queue: &Droptail) {
        while now >= self.updates_at {
            self.update(queue.first_since().map_or(Span::ZERO, |since| self.updates_at.since(since)));
            self.updates_at += UPDATES_EVERY;
        }
    }

    /// Section 4.2.
    fn update(&mut self, delay: Span) {
        let seconds = delay.as_seconds();
        let mut step = GAINS.0 * (seconds - self.settings.target.as_seconds())
            + GAINS.1 * (seconds - self.old_delay.as_seconds());
        if let Some((_, divisor)) = SCALES.iter().find(|(below, _)| self.probability < *below) {
            step /= divisor;
        }
        if self.probability >= STEEP.0 {
            step = step.min(STEEP.1);
        }
        self.probability += step;
        if delay == Span::ZERO && self.old_delay == Span::ZERO {
            self.probability *= DECAY;
        }
        if delay > LONG.0 {
            self.probability += LONG.1;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.burst_left = Span(self.burst_left.0.saturating_sub(UPDATES_EVERY.0));
        let half = Span(self.settings.target.0 / 2);
        if self.probability == 0.0 && delay < half && self.old_delay < half {
            self.burst_left = self.settings.burst;
            self.accumulated = 0.0;
        }
        self.old_delay = delay;
    }

    /// Whether the packet that arrives while `waiting` bytes wait is to be dropped or marked (sections 4.1 and 5.4).
    fn decides(&mut self, waiting: u64) -> bool {
        let half = Span(self.settings.target.0 / 2);
        let calm = self.old_delay < half && self.probability < 0.2 || waiting <= FEW_BYTES;
        if self.burst_left > Span::ZERO || calm {
            return false;
        }
        self.accumulated += self.probability;
        if self.accumulated < SPACING.0 {
            return false;
        }
        let drops = self.accumulated >= SPACING.1 || self.stream.unit() < self.probability;
        if drops {
            self.accumulated = 0.0;
        }
        drops
    }
}

impl Management for Pie {
    fn enqueue(&mut self, packet: &Packet, in_service: InService, mut waiting: Waiting<'_>) {
        self.catch_up(waiting.now, waiting.queue);
        let mut packet = *packet;
        let ecn = self.settings.ecn && self.probability <= MARKS_BELOW;
        if self.decides(waiting.queue.bytes()) && !waiting.mark_or_drop(&mut packet, ecn) {
            return;
        }
        waiting.add(&packet, in_service);
    }

    fn dequeue(&mut self, mut waiting: Waiting<'_>) -> Option<Queued> {
        self.catch_up(waiting.now, waiting.queue);
        waiting.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Streams};

    fn pie() -> Pie {
        let settings =
            PieSettings { target: Span::from_millis(15), burst: Span::from_millis(150), ecn: false };
        Pie::new(settings, Streams { seed: 1, run: 0 }.of(Purpose::Queue, 0, 0))
    }

    /// A delay of 35 ms after none: 0.125 * 0.02 + 1.25 * 0.035 = 0.04625, over 2048 at probability 0: 2.258e-5. The same
    /// delay again: 0.0025 over 128: + 1.953e-5.
    #[test]
    fn the_probability_moves_by_distance_and_change() {
        let mut pie = pie();
        pie.update(Span::from_millis(35));
        assert!((pie.probability - 0.046_25 / 2048.0).abs() < 1e-15);
        pie.update(Span::from_millis(35));
        assert!((pie.probability - 0.046_25 / 2048.0 - 0.0025 / 128.0).abs() < 1e-15);
    }

    /// At 20 % a step is 2 % at most, and 2 % more beyond 250 ms; without a queue 2 % of it go per update: 0.2 falls by
    /// 0.125 * 0.015 first.
    #[test]
    fn large_probabilities_are_bounded() {
        let mut pie = pie();
        pie.probability = 0.2;
        pie.update(Span::from_millis(300));
        assert!((pie.probability - 0.24).abs() < 1e-12);
        let mut empty = self::pie();
        empty.probability = 0.2;
        empty.update(Span::ZERO);
        assert!((empty.probability - (0.2 - 0.001_875) * 0.98).abs() < 1e-12);
    }

    /// 150 ms of burst allowance are ten updates; nothing is dropped before.
    #[test]
    fn a_burst_is_let_through() {
        let mut pie = pie();
        for _ in 0..9 {
            pie.update(Span::from_millis(100));
        }
        assert!(pie.burst_left > Span::ZERO && !pie.decides(100_000));
        pie.update(Span::from_millis(100));
        assert_eq!(pie.burst_left, Span::ZERO);
    }
}
