//! A link: random loss, then a queue, serialisation at a rate, and propagation.

use ackclock_scenario::Loss;
use ackclock_trace::Histogram;
use ackclock_units::{Rate, Span, Time};

use crate::loss::LossModel;
use crate::pace::Pace;
use crate::packet::Packet;
use crate::queue::{Discipline, Queue};
use crate::wire::{NoiseModel, Wire};

mod transmitter;

use transmitter::Transmitter;

/// A change of a link during the run.
#[derive(Debug)]
pub enum LinkChange {
    /// Another rate. The packet in transmission keeps its finish time.
    Rate(Rate),
    /// Another propagation delay.
    Delay(Span),
    /// Another queue.
    Queue(Discipline),
    /// Another loss model.
    Loss(Loss),
    /// Other delay noise, or none.
    Noise(Option<NoiseModel>),
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
    /// Packets marked by the queue.
    pub marks: u64,
    /// Bits that could have been transmitted; 0 for a link without a limit.
    pub capacity: u128,
    /// Integral of the queue over time, packets times picoseconds.
    pub queue_integral: u128,
}

/// One direction of a link.
///
/// Its only events are arrivals at the far end. A packet goes on the wire when its transmission begins,
/// with the time at which it will arrive; ends of transmissions are worked off in order, each at its own
/// time, before anything can see a difference: at the next arrival, delivery or observation.
///
/// What the queue drops while they are worked off is kept until [`Link::take_dropped`].
#[derive(Debug)]
pub struct Link {
    loss: LossModel,
    /// `None`: unlimited, so nothing ever waits.
    transmitter: Option<Transmitter>,
    wire: Wire,
    counters: LinkCounters,
    dropped: Vec<Packet>,
}

impl Link {
    /// A link with the given wire; `limited` is `None` for one without a rate and a queue.
    #[must_use]
    pub fn new(wire: Wire, loss: LossModel, limited: Option<(Pace, Discipline)>) -> Self {
        let transmitter = limited.map(|(pace, queue)| Transmitter::new(pace, queue));
        Link { loss, transmitter, wire, counters: LinkCounters::default(), dropped: Vec::new() }
    }

    /// A packet arrives at the near end.
    #[inline]
    pub fn arrive(&mut self, now: Time, packet: &Packet) {
        // First of all: drops until now are recorded at this event, whether or not an observer has caught up before.
        self.catch_up(now);
        self.counters.arrived += 1;
        if self.loss.loses(packet.flow()) {
            self.counters.random_losses += 1;
            self.dropped.push(*packet);
            return;
        }
        let Some(transmitter) = &mut self.transmitter else {
            self.wire.push(now, *packet);
            return;
        };
        let before = self.dropped.len();
        transmitter.queue.enqueue(now, packet, transmitter.in_service, &mut self.dropped);
        self.counters.queue_drops += (self.dropped.len() - before) as u64;
        if transmitter.finish == Time::NEVER {
            transmitter.start(now, &mut self.wire, &mut self.dropped, &mut self.counters);
        } else {
            transmitter.note_level(now);
        }
    }

    /// The time of [`Link::next_event`] has come: whether a packet reaches the far end.
    #[inline]
    pub fn is_due(&mut self, now: Time) -> bool {
        self.catch_up(now);
        self.wire.next() <= now
    }

    /// The packet that reaches the far end, after [`Link::is_due`].
    ///
    /// # Panics
    /// When there is none.
    #[inline]
    pub fn deliver(&mut self) -> Packet {
        self.counters.delivered += 1;
        self.wire.pop()
    }

    #[inline]
    fn catch_up(&mut self, now: Time) {
        if let Some(transmitter) = &mut self.transmitter {
            transmitter.catch_up(now, &mut self.wire, &mut self.dropped, &mut self.counters);
        }
    }

    /// Whether anything was lost at random or dropped since [`Link::take_dropped`] was last asked.
    #[inline]
    #[must_use]
    pub const fn has_dropped(&self) -> bool {
        !self.dropped.is_empty()
    }

    /// One of the packets that were lost at random or dropped since this was last asked.
    #[inline]
    pub fn take_dropped(&mut self) -> Option<Packet> {
        self.dropped.pop()
    }

    /// Something about the link changes at `now`. A new queue takes over the waiting packets.
    pub fn change(&mut self, now: Time, change: LinkChange) {
        self.catch_up(now);
        match (change, &mut self.transmitter) {
            (LinkChange::Rate(rate), Some(transmitter)) => transmitter.pace.change(now, rate),
            (LinkChange::Queue(queue), Some(transmitter)) => {
                let mut old = std::mem::replace(&mut transmitter.queue, queue);
                let before = self.dropped.len();
                while let Some(queued) = old.dequeue(now, &mut self.dropped) {
                    transmitter.queue.enqueue(now, &queued.packet, transmitter.in_service, &mut self.dropped);
                }
                self.counters.queue_drops += (self.dropped.len() - before) as u64;
                self.counters.marks += old.marks();
                transmitter.note_level(now);
            }
            (LinkChange::Delay(delay), _) => self.wire.delay = delay,
            (LinkChange::Loss(loss), _) => self.loss.change(loss),
            (LinkChange::Noise(noise), _) => self.wire.set_noise(noise),
            (LinkChange::Rate(_) | LinkChange::Queue(_), None) => {}
        }
    }

    /// When the next packet reaches the far end. Where packets may overtake each other one that waits may arrive before
    /// those on the wire, so the end of the transmission under way counts, too.
    #[inline]
    #[must_use]
    pub fn next_event(&self) -> Time {
        match &self.transmitter {
            Some(transmitter) if self.wire.reorders() && !transmitter.queue.is_empty() => {
                self.wire.next().min(transmitter.finish)
            }
            _ => self.wire.next(),
        }
    }

    /// Counters at `now`, which is not before the last event.
    #[must_use]
    pub fn counters(&mut self, now: Time) -> LinkCounters {
        self.catch_up(now);
        let mut counters = self.counters;
        if let Some(transmitter) = &mut self.transmitter {
            transmitter.note_level(now);
            counters.queue_integral = transmitter.level.integral;
            counters.bits = transmitter.bits;
            counters.marks += transmitter.queue.marks();
            counters.capacity = transmitter.pace.capacity(now);
        }
        counters
    }

    /// Whether it has a rate and a queue.
    #[must_use]
    pub const fn is_limited(&self) -> bool {
        self.transmitter.is_some()
    }

    /// From now on the longest queue and the queueing delays are measured.
    pub fn start_measuring(&mut self) {
        if let Some(transmitter) = &mut self.transmitter {
            transmitter.start_measuring();
        }
    }

    /// Longest queue since measuring began, and the queueing delays.
    #[must_use]
    pub fn measured(&self) -> (u64, Option<&Histogram>) {
        self.transmitter.as_ref().map_or((0, None), |t| (t.level.most_measured, Some(&t.delays)))
    }

    /// Queue now, and its extremes since this was last asked; after [`Link::counters`] of the same time.
    pub fn take_extremes(&mut self) -> (u64, u64, u64) {
        self.transmitter.as_mut().map_or((0, 0, 0), |transmitter| transmitter.level.take_extremes())
    }

    /// Visits every packet in the link: waiting, in transmission, in propagation.
    pub fn visit(&self, each: &mut dyn FnMut(&Packet)) {
        if let Some(transmitter) = &self.transmitter {
            transmitter.queue.visit(each);
        }
        self.wire.visit(each);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind;
    use crate::queue::Droptail;

    fn packet(sequence: u64) -> Packet {
        Packet::new(Kind::Data, 0, 0, sequence, Time::ZERO, 1000)
    }

    fn microseconds(us: u64) -> Time {
        Time(us * 1_000_000)
    }

    fn link(limit: u64) -> Link {
        let queue = Discipline::Droptail(Droptail::new(limit, u64::MAX));
        let wire = Wire::new(Span::from_millis(50), None);
        Link::new(wire, LossModel::NONE, Some((Pace::of_rate(Rate(100_000_000)), queue)))
    }

    /// 1000 bytes at 100 Mbit/s take 80 us; the delay is 50 ms. Two packets at once leave 80 us apart.
    #[test]
    fn a_packet_waits_is_sent_and_travels() {
        let mut link = link(2);
        (0..3).for_each(|sequence| link.arrive(Time::ZERO, &packet(sequence)));
        assert_eq!((link.take_dropped(), link.take_dropped()), (Some(packet(2)), None));
        assert_eq!(link.next_event(), microseconds(50_080));
        assert_eq!(link.counters(microseconds(80)).bits, 8000, "one is sent");
        assert_eq!(link.counters(microseconds(159)).bits, 8000);
        assert!(link.is_due(microseconds(50_080)));
        assert_eq!(link.deliver(), packet(0));
        assert_eq!(link.next_event(), microseconds(50_160));
        assert!(link.is_due(microseconds(50_160)));
        assert_eq!(link.deliver(), packet(1));
        // Two packets for 80 us, then one for 80 us.
        let counters = link.counters(microseconds(50_160));
        assert_eq!(counters.queue_integral, 3 * 80_000_000);
        // 100 Mbit/s for 50.16 ms.
        assert_eq!(counters.capacity, 5_016_000);
    }

    /// At 40 us the rate halves: the packet in transmission still ends at 80 us, the next takes 160 us. At 100 us the
    /// delay falls to 10 ms: the second packet, sent at 240 us, would arrive at 10.24 ms but not before the first.
    #[test]
    fn changes_apply_to_what_begins_after_them() {
        let mut link = link(10);
        link.arrive(Time::ZERO, &packet(0));
        link.arrive(Time::ZERO, &packet(1));
        link.arrive(Time::ZERO, &packet(2));
        link.change(microseconds(40), LinkChange::Rate(Rate(50_000_000)));
        link.change(microseconds(100), LinkChange::Delay(Span::from_millis(10)));
        assert_eq!(link.next_event(), microseconds(50_080));
        assert!(link.is_due(microseconds(50_080)));
        link.deliver();
        // The second was under way when the delay changed.
        assert_eq!(link.next_event(), microseconds(50_240));
        assert!(link.is_due(microseconds(50_240)));
        link.deliver();
        assert_eq!(link.next_event(), microseconds(50_240), "the third may not overtake");
        // 4000 bit in 40 us, then 50 Mbit/s for 60 us.
        assert_eq!(link.counters(microseconds(50_240)).bits, 24_000);
    }

    /// Four packets wait, one is in transmission; the new queue holds three with it.
    #[test]
    fn a_new_queue_takes_over() {
        let mut link = link(10);
        (0..5).for_each(|sequence| link.arrive(Time::ZERO, &packet(sequence)));
        let small = Discipline::Droptail(Droptail::new(3, u64::MAX));
        link.change(microseconds(10), LinkChange::Queue(small));
        assert_eq!(link.counters(microseconds(10)).queue_drops, 2);
        assert_eq!((link.take_dropped(), link.take_dropped()), (Some(packet(4)), Some(packet(3))));
    }
}
