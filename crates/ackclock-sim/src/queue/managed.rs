//! Active queue management: a droptail queue from which packets are dropped, or marked, before it is full.

use std::fmt::Debug;

use ackclock_units::Time;

use super::{Droptail, InService, Queue, Queued};
use crate::packet::{EcnField, Packet};

/// The packets that wait at a moment, and the list of dropped packets.
#[derive(Debug)]
pub struct Waiting<'a> {
    /// The moment.
    pub now: Time,
    /// The packets.
    pub queue: &'a mut Droptail,
    /// Packets that were marked instead of dropped.
    pub marks: &'a mut u64,
    /// Packets that were dropped.
    pub dropped: &'a mut Vec<Packet>,
}

impl Waiting<'_> {
    /// Adds a packet that arrives while the link transmits `in_service`, if it fits.
    #[inline]
    pub fn add(&mut self, packet: &Packet, in_service: InService) {
        self.queue.enqueue(self.now, packet, in_service, self.dropped);
    }

    /// Takes the first packet out.
    #[inline]
    pub fn take(&mut self) -> Option<Queued> {
        self.queue.dequeue(self.now, self.dropped)
    }

    /// Marks `packet` if `ecn` and its transport allow that, otherwise drops it. Returns whether it was marked.
    pub fn mark_or_drop(&mut self, packet: &mut Packet, ecn: bool) -> bool {
        let can = ecn && packet.ecn() != EcnField::NotCapable;
        if can {
            packet.set_ecn(EcnField::Marked);
            *self.marks += 1;
        } else {
            self.dropped.push(*packet);
        }
        can
    }
}

/// Decides which packets are dropped or marked, when they arrive or when they leave.
pub trait Management: Debug + Send {
    /// A packet arrives while the link transmits `in_service`.
    #[inline]
    fn enqueue(&mut self, packet: &Packet, in_service: InService, mut waiting: Waiting<'_>) {
        waiting.add(packet, in_service);
    }

    /// The link is free: the packet that goes next.
    #[inline]
    fn dequeue(&mut self, mut waiting: Waiting<'_>) -> Option<Queued> {
        waiting.take()
    }
}

/// A droptail queue under active management.
#[derive(Clone, Debug)]
pub struct Managed<M> {
    management: M,
    queue: Droptail,
    marks: u64,
}

impl<M> Managed<M> {
    /// A managed queue with the packets and limits of `queue`.
    #[must_use]
    pub const fn new(management: M, queue: Droptail) -> Self {
        Managed { management, queue, marks: 0 }
    }
}

impl<M: Management> Queue for Managed<M> {
    #[inline]
    fn enqueue(&mut self, now: Time, packet: &Packet, in_service: InService, dropped: &mut Vec<Packet>) {
        let waiting = Waiting { now, queue: &mut self.queue, marks: &mut self.marks, dropped };
        self.management.enqueue(packet, in_service, waiting);
    }

    #[inline]
    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Queued> {
        self.management.dequeue(Waiting { now, queue: &mut self.queue, marks: &mut self.marks, dropped })
    }

    #[inline]
    fn len(&self) -> u64 {
        self.queue.len()
    }

    fn marks(&self) -> u64 {
        self.marks
    }

    fn visit(&self, each: &mut dyn FnMut(&Packet)) {
        self.queue.visit(each);
    }
}
