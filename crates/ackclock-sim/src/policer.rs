//! A policer: a token bucket without a queue, before the queue of a link.
//!
//! The bucket holds `burst` bytes at the start and fills at `rate` up to that. A packet passes at once if the bucket
//! holds at least its bytes, which are then removed; otherwise it is dropped.

use ackclock_scenario as scenario;
use ackclock_units::{PICOSECONDS_PER_SECOND, Time};

/// A policer with the contents of its bucket.
#[derive(Clone, Debug)]
pub struct Policer {
    /// Bits per second.
    rate: u128,
    /// The capacity of the bucket, bits times picoseconds per second: so nothing is rounded.
    most: u128,
    held: u128,
    since: Time,
}

/// A number of bytes in the units of the bucket.
fn tokens(bytes: u64) -> u128 {
    u128::from(bytes) * 8 * u128::from(PICOSECONDS_PER_SECOND)
}

impl Policer {
    /// A policer whose bucket is full.
    #[must_use]
    pub fn new(scenario::Policer { rate, burst }: scenario::Policer) -> Self {
        let most = tokens(burst.0);
        Policer { rate: u128::from(rate.0), most, held: most, since: Time::ZERO }
    }

    /// Whether a packet of `bytes` bytes passes at `now`, which is not before the last one.
    pub fn passes(&mut self, now: Time, bytes: u16) -> bool {
        let filled = self.rate * u128::from(now.since(self.since).0);
        self.held = (self.held + filled).min(self.most);
        self.since = now;
        let needed = tokens(u64::from(bytes));
        let passes = self.held >= needed;
        if passes {
            self.held -= needed;
        }
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_units::{Bytes, Rate, Span};
    use proptest::prelude::*;

    fn policer(rate: u64, burst: u64) -> Policer {
        Policer::new(scenario::Policer { rate: Rate(rate), burst: Bytes(burst) })
    }

    /// 20 Mbit/s of packets of 1000 bytes, one per 0.4 ms, against 10 Mbit/s and 50 kB: packet n comes when 0.5 n kB have
    /// been added, and 50 + 0.5 n kB cover it and the n before it up to n = 98; packet 99, at 39.6 ms, is the first that is
    /// dropped (fluid: 50 kB over 10 Mbit/s, 40 ms). From then on every other one passes.
    #[test]
    fn the_burst_passes_and_then_the_rate() {
        let mut policer = policer(10_000_000, 50_000);
        let passed: Vec<_> =
            (0..1000).map(|n| policer.passes(Time::ZERO + Span::from_micros(400 * n), 1000)).collect();
        assert_eq!(passed.iter().position(|passed| !passed), Some(99));
        assert!(passed[98..].windows(2).all(|pair| pair[0] != pair[1]), "{:?}", &passed[98..110]);
    }

    #[test]
    fn a_bucket_does_not_overflow() {
        let mut policer = policer(8_000, 1_500);
        let later = Time::ZERO + Span::from_seconds(1000);
        assert!(policer.passes(later, 1500) && !policer.passes(later, 1));
        // 1000 bytes per second.
        assert!(!policer.passes(later + Span::from_micros(999), 1));
        assert!(policer.passes(later + Span::from_millis(1), 1));
        assert!(!policer.passes(Time::NEVER, 1501), "it never holds that much");
    }

    proptest! {
        /// Over any interval, from any packet that passes to any other, no more passes than the burst and the rate times its
        /// length; and a packet is dropped only if it would exceed that over some interval that ends with it.
        #[test]
        fn it_passes_all_that_conforms_and_nothing_else(
            rate in 1_u64..1_000_000_000,
            burst in 1_u64..100_000,
            packets in prop::collection::vec((0_u64..10_000_000_000, 1_u16..3000), 1..60),
        ) {
            let mut policer = policer(rate, burst);
            let mut now = Time::ZERO;
            let mut passed: Vec<(Time, u16)> = Vec::new();
            for (gap, bytes) in packets {
                now += Span(gap);
                // Whether this packet conforms over each interval that begins with one that has passed, and over its own.
                let mut sum = u128::from(bytes);
                let mut conforms = sum <= u128::from(burst);
                for (at, other) in passed.iter().rev() {
                    sum += u128::from(*other);
                    let more = u128::from(rate) * u128::from(now.since(*at).0);
                    conforms &= sum * 8 * u128::from(PICOSECONDS_PER_SECOND) <= tokens(burst) + more;
                }
                let passes = policer.passes(now, bytes);
                prop_assert_eq!(passes, conforms);
                if passes {
                    passed.push((now, bytes));
                }
            }
        }
    }
}
