//! Active queue management: a droptail queue from which packets are dropped, or marked, before it is full.

use std::fmt::Debug;

use ackclock_units::Time;

use super::{Droptail, InService, Queue, Queued};
use crate::packet::Packet;

/// Decides which packets of `queue` are dropped or marked, when they arrive or when they leave. What it drops it appends
/// to `dropped`, what it marks it counts in `marks`.
pub trait Management: Debug + Send {
    /// A packet arrives at `now` while the link transmits `in_service`.
    #[inline]
    fn enqueue(
        &mut self,
        now: Time,
        packet: &Packet,
        in_service: InService,
        queue: &mut Droptail,
        marks: &mut u64,
        dropped: &mut Vec<Packet>,
    ) {
        let _ = marks;
        queue.enqueue(now, packet, in_service, dropped);
    }

    /// The link is free at `now`: the packet that goes next.
    #[inline]
    fn dequeue(
        &mut self,
        now: Time,
        queue: &mut Droptail,
        marks: &mut u64,
        dropped: &mut Vec<Packet>,
    ) -> Option<Queued> {
        let _ = marks;
        queue.dequeue(now, dropped)
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
    /// A queue that holds what `queue` holds.
    #[must_use]
    pub const fn new(management: M, queue: Droptail) -> Self {
        Managed { management, queue, marks: 0 }
    }
}

impl<M: Management> Queue for Managed<M> {
    #[inline]
    fn enqueue(&mut self, now: Time, packet: &Packet, in_service: InService, dropped: &mut Vec<Packet>) {
        self.management.enqueue(now, packet, in_service, &mut self.queue, &mut self.marks, dropped);
    }

    #[inline]
    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Queued> {
        self.management.dequeue(now, &mut self.queue, &mut self.marks, dropped)
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
