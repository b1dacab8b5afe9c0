//! The pace of a link: a rate, or the opportunities of a trace.

use ackclock_scenario::RateTrace;
use ackclock_units::{PICOSECONDS_PER_SECOND, Rate, Span, Time};

/// Time to send packets at a rate, to the picosecond in the long run: the part below one picosecond is
/// carried over to the next packet.
#[derive(Clone, Debug)]
pub struct Serialiser {
    rate: u64,
    remainder: u64,
    /// Size of the last packet with the quotient and remainder of its division, which are nearly always
    /// those of the next one.
    last: (u16, u64, u64),
}

impl Serialiser {
    /// A serialiser at `rate`, which is not zero.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        Serialiser { rate: rate.0.max(1), remainder: 0, last: (0, 0, 0) }
    }

    /// Time that a packet of `bytes` bytes takes.
    #[inline]
    pub fn next(&mut self, bytes: u16) -> Span {
        if self.last.0 != bytes {
            // At most 65535 * 8 * 10^12 = 5.2e17, which fits.
            let dividend = u64::from(bytes) * 8 * PICOSECONDS_PER_SECOND;
            self.last = (bytes, dividend / self.rate, dividend % self.rate);
        }
        self.remainder += self.last.2;
        let carry = u64::from(self.remainder >= self.rate);
        self.remainder -= carry * self.rate;
        Span(self.last.1 + carry)
    }

    /// Takes back the last packet, of `bytes` bytes, as if it had not come.
    pub fn take_back(&mut self, bytes: u16) {
        let fraction = u64::from(bytes) * 8 * PICOSECONDS_PER_SECOND % self.rate;
        let carry = u64::from(self.remainder < fraction);
        self.remainder = self.remainder + carry * self.rate - fraction;
    }
}

/// Bytes sent per opportunity of a trace.
const OPPORTUNITY: u64 = 1500;
const MILLISECOND: u64 = PICOSECONDS_PER_SECOND / 1000;

/// A rate or a trace, and what it could have sent so far.
#[derive(Clone, Debug)]
pub struct Pace {
    kind: PaceKind,
    /// Bits times picoseconds per second that could be sent before `since`.
    capacity: u128,
    since: Time,
    /// Nothing could be sent since then.
    paused: bool,
}

#[derive(Clone, Debug)]
enum PaceKind {
    Rate(Rate, Serialiser),
    Trace(Opportunities),
}

impl Pace {
    /// At a rate.
    #[must_use]
    pub fn of_rate(rate: Rate) -> Self {
        Pace {
            kind: PaceKind::Rate(rate, Serialiser::new(rate)),
            capacity: 0,
            since: Time::ZERO,
            paused: false,
        }
    }

    /// At the opportunities of a trace.
    #[must_use]
    pub fn of_trace(trace: &RateTrace) -> Self {
        let opportunities =
            Opportunities { times: trace.milliseconds.clone(), cycle: 0, next: 0, left: None };
        Pace { kind: PaceKind::Trace(opportunities), capacity: 0, since: Time::ZERO, paused: false }
    }

    /// When a packet of `bytes` bytes whose transmission begins at `now` is sent.
    #[inline]
    pub fn finish(&mut self, now: Time, bytes: u16) -> Time {
        match &mut self.kind {
            PaceKind::Rate(_, serialiser) => now + serialiser.next(bytes),
            PaceKind::Trace(opportunities) => opportunities.finish(now, u64::from(bytes)),
        }
    }

    /// Takes back the last packet, of `bytes` bytes, as if it had not been sent; at a rate only.
    ///
    /// # Panics
    /// When it follows a trace.
    pub fn take_back(&mut self, bytes: u16) {
        match &mut self.kind {
            PaceKind::Rate(_, serialiser) => serialiser.take_back(bytes),
            PaceKind::Trace(_) => panic!("opportunities are not taken back"),
        }
    }

    /// Whether it is a rate, and no trace.
    #[must_use]
    pub const fn is_rate(&self) -> bool {
        matches!(self.kind, PaceKind::Rate(..))
    }

    /// The rate changes to `rate` at `now`.
    pub fn change(&mut self, now: Time, rate: Rate) {
        self.settle(now);
        self.kind = PaceKind::Rate(rate, Serialiser::new(rate));
    }

    /// From `now` on nothing can be sent, or something can again; a packet that is being sent keeps its finish time.
    pub fn pause(&mut self, now: Time, paused: bool) {
        self.settle(now);
        self.paused = paused;
    }

    fn settle(&mut self, now: Time) {
        self.capacity += self.of_rate_since(now);
        self.since = now;
    }

    fn of_rate_since(&self, now: Time) -> u128 {
        if self.paused {
            return 0;
        }
        match &self.kind {
            PaceKind::Rate(rate, _) => u128::from(rate.0) * u128::from(now.0 - self.since.0),
            PaceKind::Trace(opportunities) => {
                let before = match self.since {
                    Time::ZERO => 0,
                    since => opportunities.before(since),
                };
                let bits = u128::from(opportunities.before(now) - before) * u128::from(OPPORTUNITY * 8);
                bits * u128::from(PICOSECONDS_PER_SECOND)
            }
        }
    }

    /// Bits that could be sent up to `now`.
    #[must_use]
    pub fn capacity(&self, now: Time) -> u128 {
        (self.capacity + self.of_rate_since(now)) / u128::from(PICOSECONDS_PER_SECOND)
    }
}

/// Opportunities to send, over and over. A packet goes out with the opportunity that completes it; what an
/// opportunity has left serves the next packet only if that waits already.
#[derive(Clone, Debug)]
struct Opportunities {
    /// Milliseconds, in order; the last is the length of the trace.
    times: Vec<u64>,
    cycle: u64,
    next: usize,
    /// The last opportunity and its bytes that are left.
    left: Option<(Time, u64)>,
}

impl Opportunities {
    fn period(&self) -> u64 {
        *self.times.last().expect("a trace has an entry")
    }

    fn time(&self) -> Time {
        Time((self.cycle * self.period() + self.times[self.next]) * MILLISECOND)
    }

    fn step(&mut self) {
        self.next += 1;
        if self.next == self.times.len() {
            (self.cycle, self.next) = (self.cycle + 1, 0);
        }
    }

    /// Advances to the first opportunity at or after `now`.
    fn seek(&mut self, now: Time) {
        let period = self.period() * MILLISECOND;
        // The first entry of a cycle may be at 0 ms, which is the end of the cycle before.
        self.cycle = (now.0 / period).max(1) - 1;
        loop {
            let within = (now.0 - self.cycle * period).div_ceil(MILLISECOND);
            self.next = self.times.partition_point(|time| *time < within);
            if self.next < self.times.len() {
                return;
            }
            self.cycle += 1;
        }
    }

    fn finish(&mut self, now: Time, bytes: u64) -> Time {
        let mut need = bytes;
        if let Some((time, left)) = self.left
            && time == now
        {
            let used = left.min(need);
            (need, self.left) = (need - used, Some((time, left - used)));
            if need == 0 {
                return now;
            }
        }
        if self.time() < now {
            // The link was idle: opportunities went by unused.
            self.seek(now);
        }
        loop {
            let time = self.time();
            self.step();
            if need <= OPPORTUNITY {
                self.left = Some((time, OPPORTUNITY - need));
                return time;
            }
            need -= OPPORTUNITY;
        }
    }

    /// Opportunities up to and including `now`.
    fn before(&self, now: Time) -> u64 {
        let period = self.period() * MILLISECOND;
        let whole = now.0 / period;
        let rest = (now.0 % period) / MILLISECOND;
        let partly = self.times.partition_point(|time| *time <= rest) as u64;
        // The first entry of a cycle may be at 0 ms, which is the end of the cycle before.
        whole * self.times.len() as u64 + partly
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// n packets at r bit/s take floor(n * bits * 1e12 / r) picoseconds together: no drift.
        #[test]
        fn the_remainder_is_carried(rate in 1_000_u64..40_000_000_000, bytes in 1_u16.., n in 1_u64..2000) {
            let mut serialiser = Serialiser::new(Rate(rate));
            let total: u128 = (0..n).map(|_| u128::from(serialiser.next(bytes).0)).sum();
            let exact = u128::from(n) * u128::from(bytes) * 8 * u128::from(PICOSECONDS_PER_SECOND);
            prop_assert_eq!(total, exact / u128::from(rate));
        }

        /// What is taken back has not happened: the same packets take the same times again.
        #[test]
        fn packets_can_be_taken_back(
            rate in 1_000_u64..40_000_000_000,
            before in prop::collection::vec(1_u16.., 0..20),
            after in prop::collection::vec(1_u16.., 1..20),
        ) {
            let mut serialiser = Serialiser::new(Rate(rate));
            before.iter().for_each(|bytes| { serialiser.next(*bytes); });
            let first: Vec<_> = after.iter().map(|bytes| serialiser.next(*bytes)).collect();
            after.iter().rev().for_each(|bytes| serialiser.take_back(*bytes));
            let second: Vec<_> = after.iter().map(|bytes| serialiser.next(*bytes)).collect();
            prop_assert_eq!(first, second);
        }
    }

    proptest! {
        /// Against looking at one opportunity after the other.
        #[test]
        fn the_next_opportunity_is_found(
            mut times in prop::collection::vec(0_u64..30, 0..20),
            period in 30_u64..40,
            now in 0_u64..200_000,
        ) {
            times.sort_unstable();
            times.push(period);
            let now = Time(now * (MILLISECOND / 1000));
            let all = (0..).flat_map(|cycle| times.iter().map(move |time| Time((cycle * period + time) * MILLISECOND)));
            let expected = all.into_iter().find(|time| *time >= now).unwrap();
            let mut opportunities = Opportunities { times: times.clone(), cycle: 0, next: 0, left: None };
            opportunities.seek(now);
            prop_assert_eq!(opportunities.time(), expected);
        }
    }

    fn at(milliseconds: u64) -> Time {
        Time(milliseconds * MILLISECOND)
    }

    /// Opportunities at 2, 5, 5 and 10 ms, over and over. Packets of 1000 bytes that wait from 0 ms on: the first
    /// goes at 2 ms, which has 500 bytes left; the second takes those and 500 of 5 ms; the third the other 1000 of
    /// that; the fourth and half of the fifth the other one at 5 ms; the fifth ends at 10 ms.
    #[test]
    fn packets_go_with_opportunities() {
        let trace = RateTrace { milliseconds: vec![2, 5, 5, 10] };
        let mut pace = Pace::of_trace(&trace);
        let mut now = Time::ZERO;
        let mut finished = Vec::new();
        for _ in 0..6 {
            now = pace.finish(now, 1000);
            finished.push(now.0 / MILLISECOND);
        }
        assert_eq!(finished, [2, 5, 5, 5, 10, 10]);
        assert_eq!(pace.finish(at(10), 1000), at(12), "nothing is left at 10 ms");
        // Idle until 13 ms: the next is at 15 ms, in the second cycle.
        assert_eq!(pace.finish(at(13), 1000), at(15));
        assert_eq!(pace.finish(at(21), 1500), at(22), "what was left at 15 ms is gone");
        // 4 opportunities per 10 ms: 1 by 3 ms, 4 by 10, 5 by 12.
        let bits = |opportunities: u128| opportunities * 12_000;
        assert_eq!(
            (pace.capacity(at(3)), pace.capacity(at(10)), pace.capacity(at(12))),
            (bits(1), bits(4), bits(5))
        );
    }
}
