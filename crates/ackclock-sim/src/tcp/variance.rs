//! The variance of round-trip times as Linux estimates it (`tcp_rtt_estimator` of Linux 6.12, behaviour).
//!
//! The mean deviation moves by a quarter of the difference, as in RFC 6298, but only by a thirty-second when the RTT falls
//! by more than that deviation. The timeout is `srtt + variance`, where the variance is the largest of four deviations in
//! a round trip: it rises at once, falls by a quarter of the difference per round trip, and is never below the minimum.

use ackclock_units::Span;

/// The estimate. All spans are four deviations, as the timeout adds them.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinuxVariance {
    minimum: Span,
    deviation: Span,
    /// The largest of this round trip, at least the minimum.
    largest: Span,
    variance: Span,
    measured: bool,
    /// The next packet that was never sent, and the first packet of this round trip.
    next: u64,
    round_begin: u64,
}

impl LinuxVariance {
    /// No estimate yet, and later none below `minimum`.
    #[must_use]
    pub fn new(minimum: Span) -> Self {
        LinuxVariance { minimum, ..LinuxVariance::default() }
    }

    /// Packet `sequence` is sent.
    #[inline]
    pub fn on_sent(&mut self, sequence: u64) {
        self.next = self.next.max(sequence + 1);
    }

    /// Takes in `rtt`, measured when everything below `cumulative` is acknowledged and `smoothed` was the mean; returns the
    /// variance.
    #[inline]
    pub fn sample(&mut self, rtt: Span, smoothed: Span, cumulative: u64) -> Span {
        if !self.measured {
            // Half of the first RTT, four times.
            self.deviation = rtt.saturating_mul(2);
            self.variance = self.deviation.max(self.minimum);
            (self.largest, self.round_begin, self.measured) = (self.variance, self.next, true);
            return self.variance;
        }
        let (old, error) = (self.deviation.0, rtt.0.abs_diff(smoothed.0));
        let is_gentle = rtt < smoothed && error > old / 4;
        self.deviation = Span(if is_gentle {
            old.saturating_add((error - old / 4) / 8)
        } else {
            (old - old / 4).saturating_add(error)
        });
        self.largest = self.largest.max(self.deviation);
        self.variance = self.variance.max(self.largest);
        if cumulative > self.round_begin {
            self.variance = Span(self.variance.0 - (self.variance.0 - self.largest.0) / 4);
            (self.round_begin, self.largest) = (self.next, self.minimum);
        }
        self.variance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RTTs in milliseconds, each of a packet that is sent when the one before is acknowledged; the variances, milliseconds.
    fn variances(minimum: u64, rtts: &[u64]) -> Vec<f64> {
        let mut variance = LinuxVariance::new(Span::from_millis(minimum));
        let mut smoothed = Span::from_millis(rtts[0]);
        let mut all = Vec::new();
        for (sequence, rtt) in (0..).zip(rtts) {
            let rtt = Span::from_millis(*rtt);
            variance.on_sent(sequence);
            all.push(variance.sample(rtt, smoothed, sequence + 1).as_millis());
            smoothed = Span(smoothed.0 - smoothed.0 / 8 + rtt.0 / 8);
        }
        all
    }

    /// A steady path of 100 ms: four deviations are 200 ms, then 3/4 of that each time, and never count for less than the
    /// minimum. With a minimum of 40 ms the variance follows by a quarter of the difference per round trip: the largest of
    /// the first two is 200 ms, of the third 112.5 (200 times 9/16), so 200 - 87.5/4 = 178.125 ms.
    #[test]
    fn it_falls_by_a_quarter_per_round_trip_to_its_minimum() {
        assert_eq!(variances(200, &[100; 8]), [200.0; 8]);
        assert_eq!(variances(40, &[100; 3]), [200.0, 200.0, 178.125]);
    }

    /// From 100 ms (four deviations are 200 ms) to 180 ms: 150 + 80 = 230 ms, at once. To 20 ms instead, 80 ms below the
    /// mean and more than the deviation of 50 ms: 200 + (80 - 50)/8 = 203.75 ms, where RFC 6298 has 230.
    #[test]
    fn it_rises_at_once_and_gently_where_the_rtt_falls() {
        assert_eq!(variances(200, &[100, 180]), [200.0, 230.0]);
        assert_eq!(variances(200, &[100, 20]), [200.0, 203.75]);
    }
}
