//! Pacing of packets, and measurement of the delivery rate.

use std::collections::VecDeque;

use ackclock_cc::RateSample;
use ackclock_units::{Bytes, PICOSECONDS_PER_SECOND, Packets, Rate, Span, Time};

use crate::memory::Grow as _;

/// Spaces packets at a rate, to the picosecond in the long run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pacer {
    next: Time,
    remainder: u64,
    holds: bool,
    /// Packets that may still go with the last one.
    burst: u64,
}

impl Pacer {
    /// Whether a packet of `size` may go at `now` under `rate`; if so, the next one waits for as long as it takes, unless
    /// it belongs to the same burst of `quantum` packets.
    pub fn admits(&mut self, now: Time, size: Bytes, rate: Rate, quantum: u64) -> bool {
        let may_start = now >= self.next;
        self.holds = !may_start && self.burst == 0;
        if !self.holds {
            self.burst = if may_start { quantum } else { self.burst } - 1;
            let rate = u128::from(rate.0.max(1));
            let dividend =
                u128::from(size.0) * 8 * u128::from(PICOSECONDS_PER_SECOND) + u128::from(self.remainder);
            let interval = u64::try_from(dividend / rate).unwrap_or(u64::MAX);
            self.remainder = (dividend % rate) as u64;
            self.next = self.next.max(now) + Span(interval);
        }
        !self.holds
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

/// What is remembered of a packet that was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Time,
    delivered: u64,
    delivered_at: Time,
    first_at: Time,
    application_limited: bool,
    tx_in_flight: u64,
    lost: u64,
}

/// Measures the delivery rate as draft-cheng-iccrg-delivery-rate-estimation does. An acknowledgement returns
/// the time at which the packet that caused it was sent, and packets are sent in order of time, so what is
/// remembered is a queue.
#[derive(Clone, Debug, Default)]
pub struct DeliveryRate {
    sent: VecDeque<Sent>,
    delivered: u64,
    delivered_at: Time,
    first_at: Time,
    /// The application was the limit until more than this was delivered.
    limited_until: u64,
}

impl DeliveryRate {
    /// The application has no data while `in_flight` packets are in flight and the window has room: what is sent before
    /// they have gone shows no rate of the path.
    pub fn limit(&mut self, in_flight: u64) {
        self.limited_until = (self.delivered + in_flight).max(1);
    }

    /// Whether the application was the limit for what is sent now.
    #[must_use]
    pub const fn is_limited(&self) -> bool {
        self.limited_until > 0 && self.delivered <= self.limited_until
    }

    /// A packet is sent at `now`; `idle` when nothing else was in flight. With it `tx_in_flight` packets are in flight,
    /// and `lost` were considered lost so far.
    pub fn on_sent(
        &mut self,
        now: Time,
        idle: bool,
        application_limited: bool,
        (tx_in_flight, lost): (u64, u64),
    ) {
        if idle {
            (self.first_at, self.delivered_at) = (now, now);
        }
        self.sent.add(Sent {
            at: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_at: self.first_at,
            application_limited,
            tx_in_flight,
            lost,
        });
    }

    /// An acknowledgement at `now`, caused by a packet sent at `sent_at`, reports `delivered` packets;
    /// `lost` were considered lost so far.
    pub fn on_ack(&mut self, now: Time, sent_at: Time, delivered: u64, lost: u64) -> Option<RateSample> {
        if delivered > 0 {
            self.delivered += delivered;
            self.delivered_at = now;
        }
        while self.sent.front().is_some_and(|sent| sent.at < sent_at) {
            self.sent.pop_front();
        }
        let sent = *self.sent.front().filter(|sent| sent.at == sent_at)?;
        self.first_at = sent.at;
        let interval = sent.at.since(sent.first_at).max(now.since(sent.delivered_at));
        Some(RateSample {
            delivered: Packets(self.delivered - sent.delivered),
            interval,
            application_limited: sent.application_limited,
            prior_delivered: Packets(sent.delivered),
            tx_in_flight: Packets(sent.tx_in_flight),
            lost: Packets(lost - sent.lost),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Time {
        Time::ZERO + Span::from_millis(milliseconds)
    }

    /// 1000 bytes at 3 Mbit/s take 8/3 ms: three packets take 8 ms to the picosecond.
    #[test]
    fn a_rate_is_kept_exactly() {
        let mut pacer = Pacer::default();
        let rate = Rate(3_000_000);
        for _ in 0..3 {
            assert!(pacer.admits(pacer.next, Bytes(1000), rate, 1));
        }
        assert_eq!(pacer.next, at(8));
        assert!(!pacer.admits(at(7), Bytes(1000), rate, 1));
        assert_eq!(pacer.wakeup(), at(8));
        pacer.release();
        assert_eq!(pacer.wakeup(), Time::NEVER);
    }

    /// 1000 bytes at 1 Mbit/s take 8 ms. Bursts of three go every 24 ms.
    #[test]
    fn a_quantum_goes_at_once() {
        let (mut pacer, rate) = (Pacer::default(), Rate(1_000_000));
        for start in [0, 24, 48] {
            (0..3).for_each(|_| assert!(pacer.admits(at(start), Bytes(1000), rate, 3)));
            assert!(!pacer.admits(at(start), Bytes(1000), rate, 3));
            assert_eq!(pacer.wakeup(), at(start + 24));
        }
    }

    /// Five packets are in flight when the application has no more: it was the limit until the sixth delivery.
    #[test]
    fn the_application_is_the_limit_until_what_was_in_flight_is_delivered() {
        let mut rate = DeliveryRate::default();
        (0..5).for_each(|number| rate.on_sent(at(number), number == 0, false, (number + 1, 0)));
        assert!(!rate.is_limited());
        rate.limit(5);
        rate.on_ack(at(100), at(4), 5, 0);
        assert!(rate.is_limited());
        rate.on_sent(at(101), true, rate.is_limited(), (1, 0));
        let sample = rate.on_ack(at(201), at(101), 1, 2).unwrap();
        assert!(sample.application_limited && !rate.is_limited());
        assert_eq!((sample.tx_in_flight, sample.lost), (Packets(1), Packets(2)));
    }

    /// Packets sent every 10 ms from 0 and acknowledged every 10 ms from 100 ms on: 1 packet per 10 ms. The
    /// one sent at 100 ms, when 1 was delivered, is acknowledged at 200 ms as the 11th: 10 packets in 100 ms.
    #[test]
    fn a_steady_stream_shows_its_rate() {
        let mut rate = DeliveryRate::default();
        let mut sample = None;
        for step in 0..=20 {
            if step >= 10 {
                sample = rate.on_ack(at(10 * step), at(10 * (step - 10)), 1, 0);
            }
            rate.on_sent(at(10 * step), step == 0, false, (1, 0));
        }
        let sample = sample.unwrap();
        assert_eq!((sample.delivered, sample.interval), (Packets(10), Span::from_millis(100)));
        assert_eq!(sample.prior_delivered, Packets(1));
    }
}
