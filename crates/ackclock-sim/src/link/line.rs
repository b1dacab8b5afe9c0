//! A droptail queue at a fixed rate, with the propagation behind it.
//!
//! All of a packet's future is known when it arrives: its transmission begins when that of the previous packet ends,
//! and the delay is always the same. So the packet is stored once, with the time at which its transmission ends, and
//! read once when it reaches the far end. One list holds the packets that wait, that are in transmission and that
//! propagate. The position of the first unsent packet is updated along the way.
//!
//! Any change of the future turns the line into a [`Transmitter`], which handles packets one by one.

use ackclock_trace::Histogram;
use ackclock_units::{Span, Time};

use super::level::Level;
use super::transmitter::{Service, Transmitter};
use crate::pace::Pace;
use crate::packet::{Heading, Packet};
use crate::prefetch::prefetch;
use crate::queue::{Discipline, Droptail, InService, Queued};
use crate::ring::Ring;
use crate::wire::Wire;

/// A packet on its way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Planned {
    /// The packet.
    pub packet: Packet,
    /// When it arrived.
    pub since: Time,
    /// When its transmission ends.
    pub sent: Time,
}

/// A link whose future is planned.
#[derive(Debug)]
pub struct Line {
    /// Its rate.
    pub pace: Pace,
    /// The propagation delay behind the queue.
    pub delay: Span,
    /// Packets and bytes that fit, the packet in transmission included.
    limit: (u64, u64),
    /// The packets that are still needed.
    pub packets: Ring<Planned>,
    /// The position of the first packet that has not been sent.
    pub sent: u64,
    /// When the first packet reaches the far end; [`Time::NEVER`] when there is none.
    pub next: Time,
    /// When the transmission under way ends, [`Time::NEVER`] when there is none, and the bytes of its packet.
    finish: Time,
    sends_bytes: u64,
    /// When the last packet's transmission ends.
    last_finish: Time,
    /// Bytes that came in, and bytes sent.
    taken_bytes: u64,
    sent_bytes: u64,
    /// The queue over time.
    pub level: Level,
    /// Queueing delays, once they are measured.
    pub delays: Histogram,
    /// Whether they are.
    pub measured: bool,
}

impl Line {
    /// An empty one behind which packets travel for `delay`; `pace` is a rate.
    #[must_use]
    pub fn new(pace: Pace, queue: &Droptail, delay: Span) -> Self {
        Line {
            pace,
            delay,
            limit: queue.limit(),
            packets: Ring::default(),
            sent: 0,
            next: Time::NEVER,
            finish: Time::NEVER,
            sends_bytes: 0,
            last_finish: Time::ZERO,
            taken_bytes: 0,
            sent_bytes: 0,
            level: Level::default(),
            delays: Histogram::default(),
            measured: false,
        }
    }

    /// A packet arrives at `now`. Returns whether it fits.
    #[inline(always)]
    pub fn arrive(&mut self, now: Time, packet: Packet) -> bool {
        let Some(sent) = self.plan(now, packet.bytes()) else { return false };
        if self.packets.is_empty() {
            self.next = sent + self.delay;
        }
        self.packets.push(Planned { packet, since: now, sent });
        self.level.enter(now);
        true
    }

    /// Plans the transmission of a packet of `bytes` bytes that arrives at `now`. Returns when it ends, if the packet fits.
    #[inline(always)]
    pub fn plan(&mut self, now: Time, bytes: u16) -> Option<Time> {
        self.catch_up(now);
        let taken_bytes = self.taken_bytes + u64::from(bytes);
        if self.level.packets() >= self.limit.0 || taken_bytes - self.sent_bytes > self.limit.1 {
            return None;
        }
        self.taken_bytes = taken_bytes;
        if self.finish == Time::NEVER {
            self.last_finish = self.pace.finish(now, bytes);
            self.begin(now, now, self.last_finish, bytes);
        } else {
            self.last_finish = self.pace.finish(self.last_finish, bytes);
        }
        Some(self.last_finish)
    }

    /// The transmission of a packet of `bytes` bytes that arrived at `since` begins at `now` and ends at `finish`.
    #[inline]
    fn begin(&mut self, now: Time, since: Time, finish: Time, bytes: u16) {
        if self.measured {
            self.delays.record(now.since(since));
        }
        (self.finish, self.sends_bytes) = (finish, u64::from(bytes));
    }

    /// Bits transmitted before `now`; the line has been settled up to then.
    #[must_use]
    pub fn bits(&self, now: Time) -> u64 {
        let of_last = if self.finish == Time::NEVER { 0 } else { 8 * self.sends_bytes };
        8 * self.sent_bytes + self.pace.sent_bits(now, self.finish, of_last)
    }

    /// As [`Line::catch_up`], for calls without an arriving packet.
    #[inline(never)]
    pub fn settle(&mut self, now: Time) {
        self.catch_up(now);
    }

    /// Works off all transmissions that end up to `now`.
    #[inline(always)]
    fn catch_up(&mut self, now: Time) {
        while self.finish <= now && self.finish != Time::NEVER {
            self.sent_bytes += self.sends_bytes;
            self.level.leave(self.finish);
            self.sent += 1;
            match self.packets.get(self.sent) {
                Some(Planned { packet, since, sent }) => {
                    let (since, sent, bytes) = (*since, *sent, packet.bytes());
                    self.begin(self.finish, since, sent, bytes);
                }
                None => self.finish = Time::NEVER,
            }
        }
    }

    /// Puts the packet that reaches the far end at `now`, which [`Line::next`] has named, into `packet`. Returns its
    /// heading, if there is one.
    #[inline]
    pub fn deliver(&mut self, now: Time, packet: &mut Packet) -> Option<Heading> {
        debug_assert!(self.next <= now);
        if self.sent == self.packets.first() {
            self.settle(now);
        }
        let first = self.packets.front()?;
        // The heading is read here, because after the copy it would have to be read back from memory.
        let heading = first.packet.heading();
        *packet = first.packet;
        self.packets.pop();
        self.next = self.packets.front().map_or(Time::NEVER, |planned| planned.sent + self.delay);
        Some(heading)
    }

    /// For each number in `others`, the packet that reaches the far end after that many other packets.
    #[inline]
    #[must_use]
    pub fn ahead<const N: usize>(&self, others: [u64; N]) -> [Option<&Packet>; N] {
        others.map(|others| self.packets.get(self.packets.first() + others).map(|planned| &planned.packet))
    }

    /// Prefetches the packet that is delivered, and the packet that starts transmission, after `others` other packets.
    #[inline]
    pub fn expect(&self, others: u64) {
        for position in [self.packets.first(), self.sent] {
            if let Some(planned) = self.packets.get(position + others) {
                prefetch(planned);
            }
        }
    }

    /// When the next packet reaches the far end.
    #[inline]
    #[must_use]
    pub const fn next(&self) -> Time {
        self.next
    }

    /// Visits every packet.
    pub fn visit(&self, each: &mut dyn FnMut(&Packet)) {
        self.packets.iter().for_each(|planned| each(&planned.packet));
    }

    /// The same link without a plan, at `now`.
    #[must_use]
    pub fn into_transmitter(mut self, now: Time) -> Transmitter {
        self.settle(now);
        let mut wire = Wire::new(self.delay, None);
        let mut queue = Droptail::new(self.limit.0, self.limit.1);
        let mut in_service = InService::default();
        for (position, Planned { packet, since, sent }) in
            (self.packets.first()..).zip(self.packets.iter().copied())
        {
            if position <= self.sent {
                wire.push(sent, packet);
            } else {
                self.pace.take_back(packet.bytes());
                queue.push(Queued { packet, since });
            }
            if position == self.sent {
                in_service = InService { packets: 1, bytes: u64::from(packet.bytes()) };
            }
        }
        Transmitter {
            pace: self.pace,
            queue: Discipline::Droptail(queue),
            wire,
            in_service,
            service: Service::Running,
            finish: self.finish,
            sent_bits: 8 * self.sent_bytes,
            level: self.level,
            delays: self.delays,
            measured: self.measured,
            sides: None,
        }
    }
}
