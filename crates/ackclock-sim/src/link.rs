//! A link: random loss, then a queue, serialisation at a rate, and propagation.

use std::collections::VecDeque;

use ackclock_trace::Histogram;
use ackclock_units::{PICOSECONDS_PER_SECOND, Rate, Span, Time};

use crate::loss::LossModel;
use crate::packet::Packet;
use crate::queue::{Discipline, InService, Queue, Queued};

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
}

/// What happened to a packet that arrived at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It, or one that waited, was lost at random or dropped.
    Lost(Packet),
    /// It waits, or is on its way.
    Kept,
}

/// Counters of a link since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkCounters {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets that left at the far end.
    pub delivered: u64,
    /// Packets lost at random.
    pub random_losses: u64,
    /// Packets dropped by the queue.
    pub queue_drops: u64,
    /// Bits transmitted.
    pub bits: u64,
    /// Integral of the queue over time, packets times picoseconds.
    pub queue_integral: u128,
}

/// One direction of a link.
///
/// Its only events are arrivals at the far end. A packet goes on the wire when its transmission begins,
/// with the time at which it will arrive; ends of transmissions are worked off in order, each at its own
/// time, before anything can see a difference: at the next arrival, delivery or observation.
#[derive(Debug)]
pub struct Link {
    loss: LossModel,
    /// `None`: unlimited, so nothing ever waits.
    transmitter: Option<Transmitter>,
    wire: Wire,
    counters: LinkCounters,
}

/// Packets in transmission or propagation, by arrival at the far end.
#[derive(Debug)]
struct Wire {
    delay: Span,
    packets: VecDeque<(Time, Packet)>,
}

#[derive(Debug)]
struct Transmitter {
    rate: Rate,
    serialiser: Serialiser,
    queue: Discipline,
    in_service: InService,
    /// When the transmission under way ends.
    finish: Time,
    bits: u64,
    level: Level,
    /// Queueing delays, once they are measured.
    delays: Histogram,
    measured: bool,
}

/// The queue over time, the packet in transmission included.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    packets: u64,
    since: Time,
    integral: u128,
    /// Extremes since they were last taken, and since measuring began.
    least: u64,
    most: u64,
    most_measured: u64,
}

impl Level {
    #[inline]
    fn change(&mut self, now: Time, packets: u64) {
        self.integral += u128::from(self.packets) * u128::from(now.0 - self.since.0);
        self.since = now;
        self.packets = packets;
        self.least = self.least.min(packets);
        self.most = self.most.max(packets);
        self.most_measured = self.most_measured.max(packets);
    }
}

impl Link {
    /// A link with propagation delay `delay`; `limited` is `None` for one without a rate and a queue.
    #[must_use]
    pub fn new(delay: Span, loss: LossModel, limited: Option<(Rate, Discipline)>) -> Self {
        let transmitter = limited.map(|(rate, queue)| Transmitter {
            rate,
            serialiser: Serialiser::new(rate),
            queue,
            in_service: InService::default(),
            finish: Time::NEVER,
            bits: 0,
            level: Level::default(),
            delays: Histogram::default(),
            measured: false,
        });
        let wire = Wire { delay, packets: VecDeque::new() };
        Link { loss, transmitter, wire, counters: LinkCounters::default() }
    }

    /// A packet arrives at the near end.
    #[inline]
    pub fn arrive(&mut self, now: Time, packet: &Packet) -> Fate {
        self.counters.arrived += 1;
        if self.loss.loses(packet.flow()) {
            self.counters.random_losses += 1;
            return Fate::Lost(*packet);
        }
        let Some(transmitter) = &mut self.transmitter else {
            self.wire.push(now, *packet);
            return Fate::Kept;
        };
        transmitter.catch_up(now, &mut self.wire);
        if let Some(dropped) = transmitter.queue.enqueue(now, packet, transmitter.in_service) {
            self.counters.queue_drops += 1;
            return Fate::Lost(dropped);
        }
        if transmitter.finish == Time::NEVER {
            transmitter.start(now, &mut self.wire);
        } else {
            transmitter.note_level(now);
        }
        Fate::Kept
    }

    /// The first packet on the wire reaches the far end.
    ///
    /// # Panics
    /// When the wire is empty: the schedule and the link disagree.
    #[inline]
    pub fn deliver(&mut self, now: Time) -> Packet {
        if let Some(transmitter) = &mut self.transmitter {
            transmitter.catch_up(now, &mut self.wire);
        }
        self.counters.delivered += 1;
        self.wire.packets.pop_front().expect("a packet arrives after it was sent").1
    }

    /// When the next packet reaches the far end.
    #[inline]
    #[must_use]
    pub fn next_delivery(&self) -> Time {
        self.wire.packets.front().map_or(Time::NEVER, |(time, _)| *time)
    }

    /// Counters at `now`, which is not before the last event.
    #[must_use]
    pub fn counters(&mut self, now: Time) -> LinkCounters {
        if let Some(transmitter) = &mut self.transmitter {
            transmitter.catch_up(now, &mut self.wire);
            transmitter.note_level(now);
            self.counters.queue_integral = transmitter.level.integral;
            self.counters.bits = transmitter.bits;
        }
        self.counters
    }

    /// The rate; `None` for a link without a limit.
    #[must_use]
    pub fn rate(&self) -> Option<Rate> {
        self.transmitter.as_ref().map(|transmitter| transmitter.rate)
    }

    /// From now on the longest queue and the queueing delays are measured.
    pub fn start_measuring(&mut self) {
        if let Some(transmitter) = &mut self.transmitter {
            transmitter.measured = true;
            transmitter.level.most_measured = transmitter.level.packets;
        }
    }

    /// Longest queue since measuring began, and the queueing delays.
    #[must_use]
    pub fn measured(&self) -> (u64, Option<&Histogram>) {
        self.transmitter.as_ref().map_or((0, None), |t| (t.level.most_measured, Some(&t.delays)))
    }

    /// Queue now, and its extremes since this was last asked; after [`Link::counters`] of the same time.
    pub fn take_extremes(&mut self) -> (u64, u64, u64) {
        let Some(transmitter) = &mut self.transmitter else { return (0, 0, 0) };
        let level = &mut transmitter.level;
        let extremes = (level.packets, level.least, level.most);
        (level.least, level.most) = (level.packets, level.packets);
        extremes
    }

    /// Visits every packet in the link: waiting, in transmission, in propagation.
    pub fn visit(&self, each: &mut dyn FnMut(&Packet)) {
        if let Some(transmitter) = &self.transmitter {
            transmitter.queue.visit(each);
        }
        self.wire.packets.iter().for_each(|(_, packet)| each(packet));
    }
}

impl Wire {
    /// A packet is completely sent at `sent`.
    #[inline]
    fn push(&mut self, sent: Time, packet: Packet) {
        self.packets.push_back((sent + self.delay, packet));
    }
}

impl Transmitter {
    /// Works off all transmissions that end up to `now`.
    #[inline]
    fn catch_up(&mut self, now: Time, wire: &mut Wire) {
        while self.finish <= now {
            if self.finish == Time::NEVER {
                return;
            }
            self.bits += self.in_service.bytes * 8;
            self.start(self.finish, wire);
        }
    }

    /// The next transmission begins at `now`, if a packet waits.
    #[inline]
    fn start(&mut self, now: Time, wire: &mut Wire) {
        if let Some(Queued { packet, since }) = self.queue.dequeue(now) {
            if self.measured {
                self.delays.record(now.since(since));
            }
            self.finish = now + self.serialiser.next(packet.bytes());
            self.in_service = InService { packets: 1, bytes: u64::from(packet.bytes()) };
            wire.push(self.finish, packet);
        } else {
            self.finish = Time::NEVER;
            self.in_service = InService::default();
        }
        self.note_level(now);
    }

    #[inline]
    fn note_level(&mut self, now: Time) {
        self.level.change(now, self.queue.len() + self.in_service.packets);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind;
    use crate::queue::Droptail;
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
    }

    /// 1000 bytes at 100 Mbit/s take 80 us; the delay is 50 ms. Two packets at once leave 80 us apart.
    #[test]
    fn a_packet_waits_is_sent_and_travels() {
        let queue = Discipline::Droptail(Droptail::new(2, u64::MAX));
        let mut link = Link::new(Span::from_millis(50), LossModel::None, Some((Rate(100_000_000), queue)));
        let packet = |sequence| Packet::new(Kind::Data, 0, 0, sequence, Time::ZERO, 1000);
        let microseconds = |us: u64| Time(us * 1_000_000);
        assert_eq!(link.arrive(Time::ZERO, &packet(0)), Fate::Kept);
        assert_eq!(link.arrive(Time::ZERO, &packet(1)), Fate::Kept);
        assert_eq!(link.arrive(Time::ZERO, &packet(2)), Fate::Lost(packet(2)));
        assert_eq!(link.next_delivery(), microseconds(50_080));
        assert_eq!(link.counters(microseconds(80)).bits, 8000, "one is sent");
        assert_eq!(link.counters(microseconds(159)).bits, 8000);
        assert_eq!(link.deliver(microseconds(50_080)), packet(0));
        assert_eq!(link.next_delivery(), microseconds(50_160));
        assert_eq!(link.deliver(microseconds(50_160)), packet(1));
        // Two packets for 80 us, then one for 80 us.
        assert_eq!(link.counters(microseconds(50_160)).queue_integral, 3 * 80_000_000);
    }
}
