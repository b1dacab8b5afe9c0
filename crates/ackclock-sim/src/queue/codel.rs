//! Controlled delay: RFC 8289.
//!
//! A packet's delay is taken when it leaves. When no packet of the last interval waited less than the target, packets
//! are dropped, each `interval/sqrt(count)` after the one before, until one has waited less.

use ackclock_scenario as scenario;
use ackclock_units::{Span, Time};

use super::{Management, Queued, Waiting};

/// A queue no longer than this, bytes, is left alone (section 5.6: one packet of the largest size).
const LARGEST_PACKET: u64 = 1500;
/// A count that is this recent continues where it was (section 5.5).
const MEMORY_INTERVALS: u64 = 16;

/// CoDel's control law.
#[derive(Clone, Copy, Debug)]
pub struct Codel {
    settings: scenario::Codel,
    /// When the delay will have been above the target for an interval; none while it is not.
    above_until: Option<Time>,
    next_drop: Time,
    count: u64,
    last_count: u64,
    dropping: bool,
}

impl Codel {
    /// A law that has not seen any packet.
    #[must_use]
    pub const fn new(settings: scenario::Codel) -> Self {
        Codel { settings, above_until: None, next_drop: Time::ZERO, count: 0, last_count: 0, dropping: false }
    }

    /// The time of the drop that follows one at `time` (section 5.4).
    fn after(&self, time: Time) -> Time {
        let root = libm::sqrt(self.count.max(1) as f64);
        time + Span((self.settings.interval.0 as f64 / root) as u64)
    }

    /// Whether the packet that leaves at `now` may be dropped, when `left` bytes stay behind it (section 5.6).
    fn may_drop(&mut self, now: Time, queued: &Queued, left: u64) -> bool {
        if now.since(queued.since) < self.settings.target || left <= LARGEST_PACKET {
            self.above_until = None;
            return false;
        }
        match self.above_until {
            None => {
                self.above_until = Some(now + self.settings.interval);
                false
            }
            Some(until) => now >= until,
        }
    }
}

impl Management for Codel {
    /// Section 5.5.
    fn dequeue(&mut self, mut waiting: Waiting<'_>) -> Option<Queued> {
        let now = waiting.now;
        let Some(mut queued) = waiting.take() else {
            (self.above_until, self.dropping) = (None, false);
            return None;
        };
        let mut may_drop = self.may_drop(now, &queued, waiting.queue.bytes());
        if self.dropping {
            self.dropping = may_drop;
            while self.dropping && now >= self.next_drop {
                self.count += 1;
                if waiting.mark_or_drop(&mut queued.packet, self.settings.ecn) {
                    self.next_drop = self.after(self.next_drop);
                    return Some(queued);
                }
                let Some(next) = waiting.take() else {
                    (self.above_until, self.dropping) = (None, false);
                    return None;
                };
                queued = next;
                may_drop = self.may_drop(now, &queued, waiting.queue.bytes());
                self.dropping = may_drop;
                if self.dropping {
                    self.next_drop = self.after(self.next_drop);
                }
            }
        } else if may_drop {
            self.dropping = true;
            let recent = now.since(self.next_drop) < self.settings.interval.saturating_mul(MEMORY_INTERVALS);
            let drops_of_last = self.count - self.last_count;
            self.count = if drops_of_last > 1 && recent { drops_of_last } else { 1 };
            self.last_count = self.count;
            self.next_drop = self.after(now);
            if !waiting.mark_or_drop(&mut queued.packet, self.settings.ecn) {
                let Some(next) = waiting.take() else {
                    (self.above_until, self.dropping) = (None, false);
                    return None;
                };
                queued = next;
                self.may_drop(now, &queued, waiting.queue.bytes());
            }
        }
        Some(queued)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Kind, Packet};
    use crate::queue::{Droptail, InService, Managed, Queue};

    fn queue() -> Managed<Codel> {
        let (target, interval) = (Span::from_millis(5), Span::from_millis(100));
        let codel = Codel::new(scenario::Codel { target, interval, ecn: false });
        Managed::new(codel, Droptail::new(1000, u64::MAX))
    }

    fn at(milliseconds: u64) -> Time {
        Time::ZERO + Span::from_millis(milliseconds)
    }

    /// One packet per millisecond comes and goes, each after 20 ms. The delay is above the target from the first
    /// departure at 20 ms on, so the first drop is an interval later, at 120 ms; the next follow after 100, 100/sqrt(2)
    /// = 70.7, 100/sqrt(3) = 57.7 ms: at 220, 290.7, 348.4, each at the first departure after it.
    #[test]
    fn drops_follow_the_control_law() {
        let mut codel = queue();
        let mut drops = Vec::new();
        for millisecond in 0..360 {
            let mut dropped = Vec::new();
            let packet = Packet::new(Kind::Data, 0, 0, millisecond, Time::ZERO, 1000);
            codel.enqueue(at(millisecond), &packet, InService::default(), &mut dropped);
            // A dropped packet is replaced, so that the delay stays.
            if codel.len() > 20 {
                codel.dequeue(at(millisecond), &mut dropped);
            }
            if !dropped.is_empty() {
                drops.push(millisecond);
                let refill = Packet::new(Kind::Data, 0, 0, 0, Time::ZERO, 1000);
                codel.enqueue(at(millisecond), &refill, InService::default(), &mut dropped);
            }
        }
        assert_eq!(drops, [120, 220, 291, 349]);
    }

    /// A queue of at most one packet of the largest size is left alone, however long it waits.
    #[test]
    fn the_last_packet_stays() {
        let mut codel = queue();
        let mut dropped = Vec::new();
        for second in 0..5 {
            let packet = Packet::new(Kind::Data, 0, 0, second, Time::ZERO, 1000);
            codel.enqueue(at(1000 * second), &packet, InService::default(), &mut dropped);
            assert!(codel.dequeue(at(1000 * second + 900), &mut dropped).is_some());
        }
        assert!(dropped.is_empty());
    }
}
