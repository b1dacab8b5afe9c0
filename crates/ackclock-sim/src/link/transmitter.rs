//! Transmission over a link: a queue, and a packet at a time onto the wire.

use ackclock_scenario::Outage;
use ackclock_trace::Histogram;
use ackclock_units::{Span, Time};

use super::LinkCounters;
use super::level::Level;
use crate::pace::Pace;
use crate::packet::Packet;
use crate::queue::{Discipline, InService, Queue, Queued};
use crate::wire::Wire;

/// Whether a link sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// It does.
    Running,
    /// It is down, and its packets wait.
    Held,
    /// It is down, and its packets are dropped.
    Off,
}

impl Service {
    /// The service of a link that is up or down.
    #[must_use]
    pub const fn of(up: bool, outage: Outage) -> Self {
        match (up, outage) {
            (true, _) => Service::Running,
            (false, Outage::Hold) => Service::Held,
            (false, Outage::Drop) => Service::Off,
        }
    }
}

/// A link that determines one packet at a time which packet its queue sends, and when.
///
/// A packet enters the wire when its transmission begins,
/// with the time at which it will arrive; the ends of transmissions are processed in order, each at its own time,
/// before any effect is visible: at the next arrival, delivery or observation.
#[derive(Debug)]
pub struct Transmitter {
    /// Its rate or trace.
    pub pace: Pace,
    /// Packets that wait.
    pub queue: Discipline,
    /// Packets in transmission or propagation.
    pub wire: Wire,
    /// The packet in transmission.
    pub in_service: InService,
    /// Whether it sends.
    pub service: Service,
    /// When the transmission under way ends; [`Time::NEVER`] when there is none.
    pub finish: Time,
    /// Bits of the packets whose transmission has ended.
    pub sent_bits: u64,
    /// The queue over time.
    pub level: Level,
    /// Queueing delays, once they are measured.
    pub delays: Histogram,
    /// Whether they are.
    pub measured: bool,
    /// The same delays of DualPI2's queue L and of its queue C, if the link has or had that queue.
    pub sides: Option<Box<[Histogram; 2]>>,
}

/// Packets that its queue drops, and counters.
pub struct Drops<'a> {
    /// The dropped packets.
    pub packets: &'a mut Vec<Packet>,
    /// Counters of the link.
    pub counters: &'a mut LinkCounters,
}

impl Drops<'_> {
    /// Packets that `act` drops were dropped by the queue.
    #[inline]
    fn count<T>(&mut self, act: impl FnOnce(&mut Vec<Packet>) -> T) -> T {
        let before = self.packets.len();
        let result = act(self.packets);
        self.counters.queue_drops += (self.packets.len() - before) as u64;
        result
    }
}

impl Transmitter {
    /// An idle one.
    #[must_use]
    pub fn new(pace: Pace, queue: Discipline, wire: Wire) -> Self {
        Transmitter {
            sides: matches!(queue, Discipline::DualPi2(_)).then(Box::default),
            pace,
            queue,
            wire,
            in_service: InService::default(),
            service: Service::Running,
            finish: Time::NEVER,
            sent_bits: 0,
            level: Level::default(),
            delays: Histogram::default(),
            measured: false,
        }
    }

    /// A packet arrives at `now`. The link has caught up with all earlier transmissions.
    #[inline]
    pub fn arrive(&mut self, now: Time, packet: &Packet, mut drops: Drops<'_>) {
        if self.service == Service::Off {
            drops.count(|dropped| dropped.push(*packet));
            return;
        }
        drops.count(|dropped| self.queue.enqueue(now, packet, self.in_service, dropped));
        if self.finish == Time::NEVER {
            self.start(now, &mut drops);
        } else {
            self.note_level(now);
        }
    }

    /// Works off all transmissions that end up to `now`.
    #[inline]
    pub fn catch_up(&mut self, now: Time, mut drops: Drops<'_>) {
        while self.finish <= now && self.finish < Time::NEVER {
            self.sent_bits += self.in_service.bytes * 8;
            self.start(self.finish, &mut drops);
        }
    }

    /// The next transmission begins at `now`, if a packet waits.
    #[inline]
    fn start(&mut self, now: Time, drops: &mut Drops<'_>) {
        if self.service == Service::Running
            && let Some(Queued { packet, since }) = drops.count(|dropped| self.queue.dequeue(now, dropped))
        {
            if self.measured {
                self.measure(now.since(since));
            }
            self.finish = self.pace.finish(now, packet.bytes());
            self.in_service = InService { packets: 1, bytes: u64::from(packet.bytes()) };
            self.wire.push(self.finish, packet);
        } else {
            self.finish = Time::NEVER;
            self.in_service = InService::default();
        }
        self.note_level(now);
    }

    /// The packet that the queue gave up has waited for `delay`.
    #[inline]
    fn measure(&mut self, delay: Span) {
        self.delays.record(delay);
        if let (Discipline::DualPi2(queue), Some(sides)) = (&self.queue, &mut self.sides) {
            sides[usize::from(!queue.was_low_latency())].record(delay);
        }
    }

    /// From `now` on it sends or not; the packet in transmission is not affected.
    pub fn switch(&mut self, now: Time, service: Service, mut drops: Drops<'_>) {
        self.pace.pause(now, service != Service::Running, self.finish);
        self.service = service;
        match service {
            Service::Running if self.finish == Time::NEVER => self.start(now, &mut drops),
            Service::Off => {
                drops.count(|dropped| {
                    while let Some(queued) = self.queue.dequeue(now, dropped) {
                        dropped.push(queued.packet);
                    }
                });
                self.note_level(now);
            }
            Service::Running | Service::Held => {}
        }
    }

    /// Another queue takes over the waiting packets at `now`. Returns how many packets the old one has marked.
    pub fn change_queue(&mut self, now: Time, queue: Discipline, mut drops: Drops<'_>) -> u64 {
        if matches!(queue, Discipline::DualPi2(_)) {
            self.sides.get_or_insert_default();
        }
        let mut old = std::mem::replace(&mut self.queue, queue);
        drops.count(|dropped| {
            while let Some(queued) = old.dequeue(now, dropped) {
                self.queue.enqueue(now, &queued.packet, self.in_service, dropped);
            }
        });
        self.note_level(now);
        old.marks()
    }

    /// Bits transmitted before `now`; the link has caught up with that time.
    #[must_use]
    pub fn bits(&self, now: Time) -> u64 {
        self.sent_bits + self.pace.sent_bits(now, self.finish, 8 * self.in_service.bytes)
    }

    /// The time of the next event. If packets may overtake each other, a waiting packet may arrive before the packets
    /// on the wire, so the end of the current transmission counts as an event, too.
    #[inline(always)]
    #[must_use]
    pub fn next(&self) -> Time {
        if self.wire.reorders() { self.next_of_any() } else { self.wire.next_in_order() }
    }

    #[inline(never)]
    fn next_of_any(&self) -> Time {
        let next = self.wire.next();
        if self.queue.is_empty() { next } else { next.min(self.finish) }
    }

    /// The queue may have changed at `now`.
    #[inline]
    fn note_level(&mut self, now: Time) {
        self.level.set(now, self.queue.len() + self.in_service.packets);
    }

    /// Visits every packet: waiting, in transmission, in propagation.
    pub fn visit(&self, each: &mut dyn FnMut(&Packet)) {
        self.queue.visit(each);
        self.wire.visit(each);
    }
}
