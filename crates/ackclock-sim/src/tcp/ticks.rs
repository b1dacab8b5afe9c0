//! The retransmission timeout in ticks of a coarse clock and in whole numbers, as BSD had it (V. Jacobson, SIGCOMM 1988,
//! appendix A) and as ns-2 has it for senders without time stamps: `rtt_update`, `rtt_timeout` and `rtt_backoff` in
//! tcp.cc of ns-2.35, with `rfc2988_` off as before 2002.

use ackclock_units::{Span, Time};

/// From this backoff on the estimate is not believed any more.
const DISTRUSTED_BACKOFF: u64 = 16;
/// No timeout is shorter than this many ticks: the first of them may end as soon as it has begun.
const LEAST_TICKS: u64 = 2;

/// A clock that ticks, and the round-trip time by it.
#[derive(Clone, Copy, Debug)]
pub struct Ticks {
    /// Length of a tick, above zero.
    tick: Span,
    /// How far into a tick the clock was at time 0.
    phase: Span,
    /// None before the first sample, and after a large backoff.
    estimate: Option<TickEstimate>,
}

#[derive(Clone, Copy, Debug)]
struct TickEstimate {
    /// Eight times the smoothed round-trip time, ticks.
    mean_8: u64,
    /// Four times the smoothed deviation from it, ticks.
    deviation_4: u64,
}

impl Ticks {
    /// A clock with ticks of `tick`, above zero, that is `phase` into one of them at time 0.
    #[must_use]
    pub const fn new(tick: Span, phase: Span) -> Self {
        Ticks { tick, phase, estimate: None }
    }

    /// The shortest timeout.
    #[must_use]
    pub const fn least_timeout(&self) -> Span {
        self.tick.saturating_mul(LEAST_TICKS)
    }

    /// The clock's reading.
    fn reading(&self, now: Time) -> u64 {
        (now + self.phase).0 / self.tick.0
    }

    /// Takes in the round trip from `sent` to `now` and returns the timeout, mean and four deviations: the ticks that the
    /// clock made meanwhile, at least one, enter them with gains of 1/8 and 1/4. Quotients are rounded down.
    pub fn sample(&mut self, sent: Time, now: Time) -> Span {
        let ticks = (self.reading(now) - self.reading(sent)).max(1);
        let TickEstimate { mean_8, deviation_4 } =
            self.estimate.map_or(TickEstimate { mean_8: 8 * ticks, deviation_4: 2 * ticks }, |before| {
                let mean = before.mean_8 / 8;
                let deviation_4 = before.deviation_4 - before.deviation_4 / 4 + ticks.abs_diff(mean);
                TickEstimate { mean_8: before.mean_8 - mean + ticks, deviation_4: deviation_4.max(1) }
            });
        self.estimate = Some(TickEstimate { mean_8, deviation_4 });
        self.tick.saturating_mul(mean_8 / 8 + deviation_4).max(self.least_timeout())
    }

    /// The timeout is multiplied by `backoff`. When that is much, the next sample begins a new estimate.
    pub fn on_backoff(&mut self, backoff: u64) {
        if backoff >= DISTRUSTED_BACKOFF {
            self.estimate = None;
        }
    }

    /// The smoothed round-trip time.
    #[must_use]
    pub fn smoothed(&self) -> Option<Span> {
        self.estimate.map(|estimate| Span(self.tick.saturating_mul(estimate.mean_8).0 / 8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TICK: Span = Span::from_millis(100);

    fn at(milliseconds: u64) -> Time {
        Time::ZERO + Span::from_millis(milliseconds)
    }

    /// A clock that ticks at 40, 140, 240 ms: a round trip of 110 ms has one tick when it begins at 50 ms and two when
    /// it begins at 35 ms; one of 30 ms from 50 ms has none and counts as one.
    #[test]
    fn a_round_trip_lasts_as_many_ticks_as_the_clock_makes() {
        let first = |sent, now| Ticks::new(TICK, Span::from_millis(60)).sample(at(sent), at(now));
        // A first sample of m ticks makes the timeout m + 4 * m / 2.
        assert_eq!(first(50, 160), Span::from_millis(300));
        assert_eq!(first(35, 145), Span::from_millis(600));
        assert_eq!(first(50, 80), Span::from_millis(300));
    }

    /// Worked by hand. 4 ticks: 8 srtt = 32, 4 rttvar = 8, RTO 4 + 8 = 12. 7 ticks: the error is 3; 4 rttvar = 8 - 2 + 3
    /// = 9, 8 srtt = 32 - 4 + 7 = 35, RTO 4 + 9 = 13. 1 tick: error |1 - 4| = 3; 9 - 2 + 3 = 10, 35 - 4 + 1 = 32, RTO 14.
    /// Then ticks of 4 alone: 10 - 2 = 8, 6, 5, 4, 3, and 3 it stays: RTO 7, and the mean stays 4.
    #[test]
    fn mean_and_deviation_are_whole_numbers() {
        let mut clock = Ticks::new(TICK, Span::ZERO);
        let mut timeout = |ticks: u64| clock.sample(at(0), at(100 * ticks)).0 / TICK.0;
        assert_eq!([4, 7, 1].map(&mut timeout), [12, 13, 14]);
        assert_eq!([4; 6].map(&mut timeout), [12, 10, 9, 8, 7, 7]);
        assert_eq!(clock.smoothed(), Some(Span::from_millis(400)));
    }

    /// After three timeouts the next sample updates the estimate, after four it begins a new one: with 1 tick after
    /// 4 ticks, 4 rttvar = 8 - 2 + 3 = 9 and 8 srtt = 32 - 4 + 1 = 29, RTO 3 + 9 = 12; as a first sample 1 + 2 = 3.
    #[test]
    fn a_large_backoff_discards_the_estimate() {
        for (backoff, timeout) in [(8, 12), (16, 3)] {
            let mut clock = Ticks::new(TICK, Span::ZERO);
            clock.sample(at(0), at(400));
            clock.on_backoff(backoff);
            assert_eq!(clock.sample(at(0), at(100)), TICK.saturating_mul(timeout));
        }
    }

    proptest! {
        /// The estimate stays within what was measured: the mean among the samples, the timeout two ticks at least and
        /// at most the longest sample and three times the greatest difference between two of them, or the first sample's
        /// own factor of three. (The deviation's fixed point is where a quarter, rounded down, is the error, so four
        /// deviations are below 4 errors + 4.)
        #[test]
        fn the_estimate_stays_within_the_samples(samples in prop::collection::vec(0_u64..3_000, 1..60), phase in 0_u64..100) {
            let mut clock = Ticks::new(TICK, Span::from_millis(phase));
            let ticks = |milliseconds: u64| ((milliseconds + phase) / 100 - phase / 100).max(1);
            let longest = samples.iter().copied().map(ticks).max().unwrap();
            let shortest = samples.iter().copied().map(ticks).min().unwrap();
            for (number, sample) in samples.iter().enumerate() {
                let timeout = clock.sample(at(0), at(*sample));
                let errors = (4 * (longest - shortest) + 4).max(2 * longest);
                prop_assert!(timeout >= TICK.saturating_mul(2), "sample {number}");
                prop_assert!(timeout <= TICK.saturating_mul(longest + errors), "sample {number}: {timeout}");
                let mean = clock.smoothed().unwrap();
                prop_assert!(mean >= TICK.saturating_mul(shortest));
                prop_assert!(mean < TICK.saturating_mul(longest + 1));
            }
        }
    }
}
