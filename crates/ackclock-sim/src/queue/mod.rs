//! Queues of links.

mod droptail;

use std::fmt::Debug;

use ackclock_units::Time;

use crate::packet::Packet;

pub use droptail::Droptail;

/// A packet in a queue and when it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    /// The packet.
    pub packet: Packet,
    /// When it arrived.
    pub since: Time,
}

/// What a link is transmitting: it counts against the limit of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InService {
    /// Packets: 0 or 1.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A queue discipline: decides at arrival whether a packet stays, and at departure which one goes.
pub trait Queue: Debug + Send {
    /// A packet arrives at `now` while the link transmits `in_service`. Returns the packet that is dropped
    /// for it, if one is.
    fn enqueue(&mut self, now: Time, packet: &Packet, in_service: InService) -> Option<Packet>;

    /// The link is free at `now`: the packet that goes next.
    fn dequeue(&mut self, now: Time) -> Option<Queued>;

    /// Waiting packets.
    fn len(&self) -> u64;

    /// Whether none is waiting.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Visits the waiting packets.
    fn visit(&self, each: &mut dyn FnMut(&Packet));
}

/// Any of the disciplines, without an indirect call per packet.
#[derive(Debug)]
pub enum Discipline {
    /// First in, first out.
    Droptail(Droptail),
}

impl Queue for Discipline {
    #[inline]
    fn enqueue(&mut self, now: Time, packet: &Packet, in_service: InService) -> Option<Packet> {
        match self {
            Discipline::Droptail(queue) => queue.enqueue(now, packet, in_service),
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time) -> Option<Queued> {
        match self {
            Discipline::Droptail(queue) => queue.dequeue(now),
        }
    }

    #[inline]
    fn len(&self) -> u64 {
        match self {
            Discipline::Droptail(queue) => queue.len(),
        }
    }

    fn visit(&self, each: &mut dyn FnMut(&Packet)) {
        match self {
            Discipline::Droptail(queue) => queue.visit(each),
        }
    }
}
