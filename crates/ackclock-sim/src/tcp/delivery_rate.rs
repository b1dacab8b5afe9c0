//! Measurement of the delivery rate.

use ackclock_cc::RateSample;
use ackclock_units::{Packets, Time};

use super::stamps::Stamp;
use crate::ring::Ring;

/// The state remembered for the first packet that was sent in some instant.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    at: Time,
    delivered: u64,
    delivered_at: Time,
    first_at: Time,
    stamp: Stamp,
}

/// Measures the delivery rate as draft-cheng-iccrg-delivery-rate-estimation does. An acknowledgement returns
/// the time at which the packet that caused it was sent, and packets are sent in order of time, so a queue of send
/// times is enough. The time cannot distinguish packets that were sent in one instant, such as those of a quantum, so
/// only the first of them is stored.
#[derive(Clone, Debug)]
pub struct DeliveryRate {
    sent: Ring<Sent>,
    delivered: u64,
    delivered_at: Time,
    first_at: Time,
    /// Samples are application-limited until more packets than this are delivered. `None` if limits are not remembered:
    /// then only the moment of sending counts.
    limited_until: Option<u64>,
}

impl DeliveryRate {
    /// The state before the first packet. With `remembers_limits`, a time without data counts until the packets in
    /// flight at that time are delivered.
    #[must_use]
    pub fn new(remembers_limits: bool) -> Self {
        DeliveryRate {
            sent: Ring::default(),
            delivered: 0,
            delivered_at: Time::ZERO,
            first_at: Time::ZERO,
            limited_until: remembers_limits.then_some(0),
        }
    }

    /// The application has no data while `in_flight` packets are in flight and the window has room. Packets sent before
    /// these are delivered do not show the rate of the path.
    pub fn limit(&mut self, in_flight: u64) {
        if let Some(limited_until) = &mut self.limited_until {
            *limited_until = (self.delivered + in_flight).max(1);
        }
    }

    /// Whether a packet sent now is application-limited; `None` if limits are not remembered.
    #[inline]
    #[must_use]
    pub fn is_limited(&self) -> Option<bool> {
        self.limited_until.map(|until| until > 0 && self.delivered <= until)
    }

    /// A packet is sent at `now`, with this stamp; `idle` when nothing else was in flight.
    #[inline]
    pub fn on_sent(&mut self, now: Time, idle: bool, stamp: Stamp) {
        if idle {
            (self.first_at, self.delivered_at) = (now, now);
        }
        if self.sent.back().is_some_and(|last| last.at == now) {
            return;
        }
        self.sent.push(Sent {
            at: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_at: self.first_at,
            stamp,
        });
    }

    /// An acknowledgement at `now`, caused by a packet sent at `sent_at`, reports `delivered` packets;
    /// `lost` were considered lost so far.
    #[inline]
    pub fn on_ack(&mut self, now: Time, sent_at: Time, delivered: u64, lost: u64) -> Option<RateSample> {
        if delivered > 0 {
            self.delivered += delivered;
            self.delivered_at = now;
        }
        while self.sent.front().is_some_and(|sent| sent.at < sent_at) {
            self.sent.pop();
        }
        let sent = *self.sent.front().filter(|sent| sent.at == sent_at)?;
        self.first_at = sent.at;
        let interval = sent.at.since(sent.first_at).max(now.since(sent.delivered_at));
        Some(RateSample {
            delivered: Packets(self.delivered - sent.delivered),
            interval,
            application_limited: sent.stamp.application_limited(),
            prior_delivered: Packets(sent.delivered),
            tx_in_flight: sent.stamp.tx_in_flight(),
            lost: sent.stamp.lost_since(lost),
        })
    }
}

#[cfg(test)]
mod tests {
    use ackclock_units::Span;

    use super::*;

    fn at(milliseconds: u64) -> Time {
        Time::ZERO + Span::from_millis(milliseconds)
    }

    /// Five packets are in flight when the application has no more: it was the limit until the sixth delivery.
    #[test]
    fn the_application_is_the_limit_until_what_was_in_flight_is_delivered() {
        let mut rate = DeliveryRate::new(true);
        (0..5).for_each(|number| rate.on_sent(at(number), number == 0, Stamp::new(number + 1, 0, false)));
        assert_eq!(rate.is_limited(), Some(false));
        rate.limit(5);
        rate.on_ack(at(100), at(4), 5, 0);
        assert_eq!(rate.is_limited(), Some(true));
        rate.on_sent(at(101), true, Stamp::new(1, 0, true));
        let sample = rate.on_ack(at(201), at(101), 1, 2).unwrap();
        assert!(sample.application_limited);
        assert_eq!(rate.is_limited(), Some(false));
        assert_eq!((sample.tx_in_flight, sample.lost), (Packets(1), Packets(2)));
    }

    /// Without that memory the same rate has no opinion, whatever the application did.
    #[test]
    fn a_limit_that_is_not_remembered_is_that_of_the_moment() {
        let mut rate = DeliveryRate::new(false);
        rate.limit(5);
        assert_eq!(rate.is_limited(), None);
    }

    /// Three packets are sent at 0 and two at 5 ms. Whichever of an instant is acknowledged, the sample is that of the first:
    /// the third packet of 0 shows 3 packets in 100 ms, the second one of 5 ms, with 4 in flight, 5 in 105 ms.
    #[test]
    fn packets_of_one_instant_share_a_record() {
        let mut rate = DeliveryRate::new(false);
        (1..=3).for_each(|number| rate.on_sent(at(0), number == 1, Stamp::new(number, 0, false)));
        (4..=5).for_each(|number| rate.on_sent(at(5), false, Stamp::new(number, 0, false)));
        assert_eq!(rate.sent.len(), 2);
        let sample = rate.on_ack(at(100), at(0), 3, 0).unwrap();
        assert_eq!((sample.delivered, sample.tx_in_flight), (Packets(3), Packets(1)));
        let sample = rate.on_ack(at(105), at(5), 2, 0).unwrap();
        assert_eq!((sample.delivered, sample.tx_in_flight), (Packets(5), Packets(4)));
        assert_eq!(sample.interval, Span::from_millis(105));
    }

    /// Packets sent every 10 ms from 0 and acknowledged every 10 ms from 100 ms on: 1 packet per 10 ms. The
    /// one sent at 100 ms, when 1 was delivered, is acknowledged at 200 ms as the 11th: 10 packets in 100 ms.
    #[test]
    fn a_steady_stream_shows_its_rate() {
        let mut rate = DeliveryRate::new(false);
        let mut sample = None;
        for step in 0..=20 {
            if step >= 10 {
                sample = rate.on_ack(at(10 * step), at(10 * (step - 10)), 1, 0);
            }
            rate.on_sent(at(10 * step), step == 0, Stamp::new(1, 0, false));
        }
        let sample = sample.unwrap();
        assert_eq!((sample.delivered, sample.interval), (Packets(10), Span::from_millis(100)));
        assert_eq!(sample.prior_delivered, Packets(1));
    }
}
