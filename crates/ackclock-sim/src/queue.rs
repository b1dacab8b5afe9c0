//! Queues of links.

mod codel;
mod droptail;
mod dualpi2;
mod fq_codel;
mod managed;
mod pie;
mod red;
mod step;

use std::fmt::Debug;

use ackclock_scenario as scenario;
use ackclock_units::{Rate, Time};

use crate::packet::Packet;
use crate::random::Stream;

pub use codel::Codel;
pub use droptail::Droptail;
pub use dualpi2::DualPi2;
pub use fq_codel::{FqCodel, FqCodelSettings};
pub use managed::{Managed, Management, Waiting};
pub use pie::{Pie, PieSettings};
pub use red::Red;
pub use step::Step;

/// A packet in a queue and when it came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queued {
    /// The packet.
    pub packet: Packet,
    /// When it arrived.
    pub since: Time,
}

/// The packet that a link is transmitting: it counts against the limit of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InService {
    /// Packets: 0 or 1.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A queue discipline: decides at arrival and at departure which packets stay and which one goes next. It appends
/// dropped packets to `dropped`.
pub trait Queue: Debug + Send {
    /// A packet arrives at `now` while the link transmits `in_service`.
    fn enqueue(&mut self, now: Time, packet: &Packet, in_service: InService, dropped: &mut Vec<Packet>);

    /// The link is free at `now`: the packet that goes next.
    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Queued>;

    /// Waiting packets.
    fn len(&self) -> u64;

    /// Whether none is waiting.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Packets marked instead of dropped.
    fn marks(&self) -> u64 {
        0
    }

    /// Visits the waiting packets.
    fn visit(&self, each: &mut dyn FnMut(&Packet));
}

/// Any of the disciplines, without an indirect call per packet.
#[derive(Debug)]
pub enum Discipline {
    /// First in, first out.
    Droptail(Droptail),
    /// Random early detection, adaptive or not.
    Red(Box<Managed<Red>>),
    /// Controlled delay.
    Codel(Box<Managed<Codel>>),
    /// Proportional integral controller, enhanced.
    Pie(Box<Managed<Pie>>),
    /// Marks above a threshold.
    Step(Box<Managed<Step>>),
    /// A CoDel queue per flow.
    FqCodel(Box<FqCodel>),
    /// Coupled queues of low latency and of classic flows.
    DualPi2(Box<DualPi2>),
}

macro_rules! managed {
    ($self:ident, $queue:ident => $call:expr) => {
        match $self {
            Discipline::Droptail($queue) => $call,
            Discipline::Red($queue) => $call,
            Discipline::Codel($queue) => $call,
            Discipline::Pie($queue) => $call,
            Discipline::Step($queue) => $call,
            Discipline::FqCodel($queue) => $call,
            Discipline::DualPi2($queue) => $call,
        }
    };
}

impl Discipline {
    /// A queue as the scenario describes it, at a link of `rate`; random drops and marks are drawn from `stream`.
    #[must_use]
    pub fn new(queue: scenario::Queue, rate: Rate, stream: Stream) -> Self {
        let limit = match queue.limit() {
            scenario::Limit::Packets(packets) => (packets.0, u64::MAX),
            scenario::Limit::Bytes(bytes) => (u64::MAX, bytes.0),
        };
        let droptail = Droptail::new(limit.0, limit.1);
        match queue {
            scenario::Queue::Droptail { .. } => Discipline::Droptail(droptail),
            scenario::Queue::Red { red, .. } => {
                Discipline::Red(Box::new(Managed::new(Red::new(red, rate, stream), droptail)))
            }
            scenario::Queue::Codel { codel, .. } => {
                Discipline::Codel(Box::new(Managed::new(Codel::new(codel), droptail)))
            }
            scenario::Queue::Pie { target, burst, ecn, .. } => {
                let pie = Pie::new(PieSettings { target, burst, ecn }, stream);
                Discipline::Pie(Box::new(Managed::new(pie, droptail)))
            }
            scenario::Queue::Step { threshold, .. } => {
                Discipline::Step(Box::new(Managed::new(Step::new(threshold), droptail)))
            }
            scenario::Queue::FqCodel { codel, quantum, queues, .. } => {
                let settings = FqCodelSettings { codel, quantum, queues, limit };
                Discipline::FqCodel(Box::new(FqCodel::new(settings)))
            }
            scenario::Queue::DualPi2 { dualpi2, .. } => {
                Discipline::DualPi2(Box::new(DualPi2::new(dualpi2, limit, stream)))
            }
        }
    }
}

/// Droptail is inlined into links; the other disciplines are called, so that they do not slow it down.
impl Discipline {
    #[inline(never)]
    fn enqueue_managed(
        &mut self,
        now: Time,
        packet: &Packet,
        in_service: InService,
        dropped: &mut Vec<Packet>,
    ) {
        managed!(self, queue => queue.enqueue(now, packet, in_service, dropped));
    }

    #[inline(never)]
    fn dequeue_managed(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Queued> {
        managed!(self, queue => queue.dequeue(now, dropped))
    }

    #[inline(never)]
    fn len_managed(&self) -> u64 {
        managed!(self, queue => queue.len())
    }
}

impl Queue for Discipline {
    #[inline(always)]
    fn enqueue(&mut self, now: Time, packet: &Packet, in_service: InService, dropped: &mut Vec<Packet>) {
        match self {
            Discipline::Droptail(queue) => queue.enqueue(now, packet, in_service, dropped),
            other => other.enqueue_managed(now, packet, in_service, dropped),
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Queued> {
        match self {
            Discipline::Droptail(queue) => queue.dequeue(now, dropped),
            other => other.dequeue_managed(now, dropped),
        }
    }

    #[inline(always)]
    fn len(&self) -> u64 {
        match self {
            Discipline::Droptail(queue) => queue.len(),
            other => other.len_managed(),
        }
    }

    fn marks(&self) -> u64 {
        managed!(self, queue => queue.marks())
    }

    fn visit(&self, visitor: &mut dyn FnMut(&Packet)) {
        managed!(self, queue => queue.visit(visitor));
    }
}
