//! The pace of a link: a rate, or the opportunities of a trace.

use ackclock_scenario::{RateTrace, Shared};
use ackclock_units::{PICOSECONDS_PER_SECOND, Rate, Span, Time};

/// Time to send packets at a rate, to the picosecond in the long run: the part below one picosecond is
/// carried over to the next packet.
#[derive(Clone, Debug)]
pub struct Serialiser {
    rate: u64,
    remainder: u64,
    /// The size of the last packet, and the quotient and remainder of its division. The next packet nearly always has
    /// the same size.
    last: (u16, u64, u64),
}

impl Serialiser {
    /// A serialiser at `rate`, which is not zero.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        Serialiser { rate: rate.0.max(1), remainder: 0, last: (0, 0, 0) }
    }

    /// Time that a packet of `bytes` bytes takes.
    #[inline(always)]
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

/// A rate or a trace, and the bits that it could have sent so far.
#[derive(Clone, Debug)]
pub struct Pace {
    kind: PaceKind,
    /// Bits times picoseconds per second that could be sent before `since`.
    capacity: u128,
    since: Time,
    /// A transmission that was under way at a change continues as it began, until this time.
    before: Option<(Box<PaceKind>, Time)>,
    /// Nothing can be sent from this time on.
    paused: Option<Time>,
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
            before: None,
            paused: None,
        }
    }

    /// At the opportunities of a trace.
    #[must_use]
    pub fn of_trace(trace: &RateTrace) -> Self {
        let opportunities =
            Opportunities { times: trace.milliseconds.clone(), cycle: 0, next: 0, left: None };
        Pace {
            kind: PaceKind::Trace(opportunities),
            capacity: 0,
            since: Time::ZERO,
            before: None,
            paused: None,
        }
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

    /// Whether every byte takes a picosecond at least, so that no two packets are sent at the same time.
    #[must_use]
    pub const fn takes_time(&self) -> bool {
        matches!(self.kind, PaceKind::Rate(rate, _) if rate.0 <= 8 * PICOSECONDS_PER_SECOND)
    }

    /// Whether it is a rate, and no trace.
    #[must_use]
    pub const fn is_rate(&self) -> bool {
        matches!(self.kind, PaceKind::Rate(..))
    }

    /// The rate changes to `rate` at `now`; the transmission that ends at `finish` continues as it began.
    pub fn change(&mut self, now: Time, rate: Rate, finish: Time) {
        self.settle(now);
        let old = std::mem::replace(&mut self.kind, PaceKind::Rate(rate, Serialiser::new(rate)));
        if self.before.is_none()
            && let Some(until) = old.busy_until(finish)
        {
            self.before = Some((Box::new(old), until));
        }
    }

    /// Pauses sending at `now`, or resumes it; the transmission that ends at `finish` continues.
    pub fn pause(&mut self, now: Time, paused: bool, finish: Time) {
        self.settle(now);
        self.paused = paused.then(|| self.kind.busy_until(finish).map_or(now, |until| until.max(now)));
    }

    fn settle(&mut self, now: Time) {
        self.capacity += self.accrued(now);
        self.since = now;
        self.before.take_if(|(_, until)| *until <= now);
    }

    /// The capacity from `since` on and before `now`, bits times picoseconds per second.
    fn accrued(&self, now: Time) -> u128 {
        let (mut sum, mut since) = (0, self.since);
        if let Some((kind, until)) = &self.before {
            let to = now.min(*until);
            sum += kind.capacity(since, to);
            since = since.max(to);
        }
        sum + self.kind.capacity(since, self.paused.map_or(now, |paused| paused.min(now)))
    }

    /// Bits that could be sent before `now`.
    #[must_use]
    pub fn capacity(&self, now: Time) -> u128 {
        (self.capacity + self.accrued(now)) / u128::from(PICOSECONDS_PER_SECOND)
    }

    /// The bits sent before `now` of a packet of `bits` bits whose transmission is under way and ends at `finish`.
    #[must_use]
    pub fn sent_bits(&self, now: Time, finish: Time, bits: u64) -> u64 {
        let before = self.before.as_ref().filter(|(_, until)| finish <= *until);
        let kind = before.map_or(&self.kind, |(kind, _)| kind);
        let left = kind.busy_until(finish).map_or(0, |until| kind.capacity(now, until));
        bits - left.div_ceil(u128::from(PICOSECONDS_PER_SECOND)).min(u128::from(bits)) as u64
    }
}

impl PaceKind {
    /// The time until which a transmission that ends at `finish` uses capacity; `None` without a transmission.
    fn busy_until(&self, finish: Time) -> Option<Time> {
        let last = match self {
            PaceKind::Rate(..) => Span::ZERO,
            // The opportunity at that time is used.
            PaceKind::Trace(_) => Span(1),
        };
        (finish < Time::NEVER).then(|| finish + last)
    }

    /// The capacity from `from` on and before `to`, bits times picoseconds per second.
    fn capacity(&self, from: Time, to: Time) -> u128 {
        if from >= to {
            return 0;
        }
        match self {
            PaceKind::Rate(rate, _) => u128::from(rate.0) * u128::from(to.0 - from.0),
            PaceKind::Trace(opportunities) => {
                let count = opportunities.before(to) - opportunities.before(from);
                u128::from(count) * u128::from(OPPORTUNITY * 8) * u128::from(PICOSECONDS_PER_SECOND)
            }
        }
    }
}

/// Opportunities to send, over and over. A packet leaves at the opportunity that completes it. The rest of an
/// opportunity serves the next packet only if that packet is already waiting.
#[derive(Clone, Debug)]
struct Opportunities {
    /// Milliseconds, in order; the last is the length of the trace.
    times: Shared<Vec<u64>>,
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

    /// Opportunities before `now`.
    fn before(&self, now: Time) -> u64 {
        let Some(last) = now.0.checked_sub(1) else { return 0 };
        let period = self.period() * MILLISECOND;
        let whole = last / period;
        let rest = (last % period) / MILLISECOND;
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
            let mut opportunities = Opportunities { times: times.clone().into(), cycle: 0, next: 0, left: None };
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
        let trace = RateTrace { milliseconds: vec![2, 5, 5, 10].into() };
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
        // 4 opportunities per 10 ms: 1 before 3 ms, 3 before 10, and 4 before 12.
        let bits = |opportunities: u128| opportunities * 12_000;
        assert_eq!(
            (pace.capacity(at(3)), pace.capacity(at(10)), pace.capacity(at(12)), pace.capacity(at(0))),
            (bits(1), bits(3), bits(4), 0)
        );
        // 9000 bytes from 5 ms on use the one at 10 ms and those at 12, 15, 15, 20 and 22 ms: by 15 ms two are used.
        let finish = pace.finish(at(26), 9000);
        assert_eq!(finish, at(42));
        assert_eq!(pace.sent_bits(at(32), finish, 72_000), 12_000);
        assert_eq!(pace.sent_bits(finish, finish, 72_000), 60_000);
    }

    /// 8 Mbit/s; a packet of 1000 bytes from 0 to 1 ms. At 0.25 ms the rate falls to 1 Mbit/s, and at 0.5 ms the link goes down
    /// until 3 ms: 8000 bits of capacity until 1 ms, none until 3 ms, then 1000 bits per ms. Of the packet 6000 bits are sent
    /// by 0.75 ms.
    #[test]
    fn a_transmission_keeps_its_capacity_through_changes() {
        let mut pace = Pace::of_rate(Rate(8_000_000));
        let finish = pace.finish(at(0), 1000);
        assert_eq!(finish, at(1));
        let quarters = |count: u64| Time(count * MILLISECOND / 4);
        pace.change(quarters(1), Rate(1_000_000), finish);
        pace.pause(quarters(2), true, finish);
        assert_eq!((pace.capacity(quarters(3)), pace.sent_bits(quarters(3), finish, 8000)), (6000, 6000));
        // The next packet goes at 1 Mbit/s.
        assert_eq!(pace.sent_bits(at(4), at(5), 8000), 7000);
        pace.pause(at(3), false, Time::NEVER);
        assert_eq!((pace.capacity(at(3)), pace.capacity(at(5))), (8000, 10_000));
        // Down and up again while a packet is sent: nothing is missing.
        let finish = pace.finish(at(5), 1000);
        pace.pause(at(6), true, finish);
        pace.pause(at(7), false, finish);
        assert_eq!((finish, pace.capacity(finish)), (at(13), 18_000));
    }
}
