//! Pacing of packets.

use ackclock_units::{Bytes, PICOSECONDS_PER_SECOND, Rate, Span, Time};

/// Spaces packets at a rate, to the picosecond in the long run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pacer {
    next: Time,
    remainder: u64,
    /// Packets that may still go with the last one.
    burst: u32,
    holds: bool,
}

impl Pacer {
    /// Whether a packet may go at `now`. If not, it waits; that is known before the rate is.
    #[inline]
    pub fn admits(&mut self, now: Time) -> bool {
        self.holds = now < self.next && self.burst == 0;
        !self.holds
    }

    /// An admitted packet of `size` goes at `now` under `rate`: the next one waits for as long as it takes, unless it belongs
    /// to the same burst of `quantum` packets.
    pub fn pass(&mut self, now: Time, size: Bytes, rate: Rate, quantum: u32) {
        self.burst = if now >= self.next { quantum } else { self.burst } - 1;
        let rate = rate.0.max(1);
        let narrow = size.0.checked_mul(8 * PICOSECONDS_PER_SECOND);
        let interval = if let Some(dividend) = narrow.and_then(|bits| bits.checked_add(self.remainder)) {
            self.remainder = dividend % rate;
            dividend / rate
        } else {
            self.wide_interval(size, rate)
        };
        self.next = self.next.max(now) + Span(interval);
    }

    /// The interval after a packet so large that its bits times the picoseconds of a second do not fit into 64 bits.
    #[cold]
    #[inline(never)]
    fn wide_interval(&mut self, size: Bytes, rate: u64) -> u64 {
        let bits = u128::from(size.0) * 8 * u128::from(PICOSECONDS_PER_SECOND);
        let dividend = bits + u128::from(self.remainder);
        self.remainder = (dividend % u128::from(rate)) as u64;
        u64::try_from(dividend / u128::from(rate)).unwrap_or(u64::MAX)
    }

    /// No packet is waiting any more.
    pub fn release(&mut self) {
        self.holds = false;
    }

    /// When the packet that waits may go.
    #[inline]
    #[must_use]
    pub fn wakeup(&self) -> Time {
        if self.holds { self.next } else { Time::NEVER }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Time {
        Time::ZERO + Span::from_millis(milliseconds)
    }

    /// Whether a packet of 1000 bytes may go; then it goes.
    fn goes(pacer: &mut Pacer, now: Time, rate: Rate, quantum: u32) -> bool {
        let goes = pacer.admits(now);
        if goes {
            pacer.pass(now, Bytes(1000), rate, quantum);
        }
        goes
    }

    /// 1000 bytes at 3 Mbit/s take 8/3 ms: three packets take 8 ms to the picosecond.
    #[test]
    fn a_rate_is_kept_exactly() {
        let mut pacer = Pacer::default();
        let rate = Rate(3_000_000);
        for _ in 0..3 {
            let next = pacer.next;
            assert!(goes(&mut pacer, next, rate, 1));
        }
        assert_eq!(pacer.next, at(8));
        assert!(!goes(&mut pacer, at(7), rate, 1));
        assert_eq!(pacer.wakeup(), at(8));
        pacer.release();
        assert_eq!(pacer.wakeup(), Time::NEVER);
    }

    /// The picoseconds of 10 MB, 8e7 bits times 1e12, are more than 2^64. At 3 Mbit/s each takes 80/3 s: three take 80 s.
    #[test]
    fn a_rate_is_kept_exactly_for_large_packets() {
        let mut pacer = Pacer::default();
        for _ in 0..3 {
            let next = pacer.next;
            assert!(pacer.admits(next));
            pacer.pass(next, Bytes(10_000_000), Rate(3_000_000), 1);
        }
        assert_eq!(pacer.next, at(80_000));
    }

    /// 1000 bytes at 1 Mbit/s take 8 ms. Bursts of three go every 24 ms.
    #[test]
    fn a_quantum_goes_at_once() {
        let (mut pacer, rate) = (Pacer::default(), Rate(1_000_000));
        for start in [0, 24, 48] {
            (0..3).for_each(|_| assert!(goes(&mut pacer, at(start), rate, 3)));
            assert!(!goes(&mut pacer, at(start), rate, 3));
            assert_eq!(pacer.wakeup(), at(start + 24));
        }
    }
}
