//! DualPI2, the coupled dual queue for low latency: RFC 9332, appendix A.
//!
//! Packets whose ECN field has its low bit set (ECT(1) and CE) wait in the queue L, all others in the queue C. One PI
//! controller moves a probability p' so that the longer delay of the two stays at the target. Packets of C are dropped, or
//! marked if they are ECT(0), with p_C = p'^2; packets of L are marked with p_CL = k p', or more when their own delay asks
//! for it (a ramp). So the flows of L, which answer to p, and those of C, which answer to its root, get about the
//! same rates. L goes first, but C has a share of its own.

use ackclock_scenario::{self as scenario, Overload, Scheduler};
use ackclock_units::{Span, Time};

use super::{Droptail, InService, Queue, Queued};
use crate::packet::{EcnField, Packet};
use crate::random::Stream;

/// No packet of L is marked for its own delay while no more than this many wait there, itself included (`Th_len`):
/// a packet that follows another at a slow link has waited, but there is no queue.
const SHORT_QUEUE: u64 = 1;
/// Size of a packet by which the credit of the scheduler begins, bytes.
const LARGEST_PACKET: i64 = 1500;
/// Weights of the scheduler are whole numbers of this sum: its credit is exact.
const WHOLE: i64 = 1_000_000;

/// One of the two queues.
#[derive(Clone, Debug)]
struct SubQueue {
    queue: Droptail,
    /// Sum of probabilities since it last was above 1.
    accumulated: f64,
}

impl SubQueue {
    fn new() -> Self {
        SubQueue { queue: Droptail::new(u64::MAX, u64::MAX), accumulated: 0.0 }
    }

    /// How long the first packet has waited at `now`; nothing when there is none.
    fn delay(&self, now: Time) -> Span {
        self.queue.first_since().map_or(Span::ZERO, |since| now.since(since))
    }

    /// Whether this packet is selected; packets are selected with `probability`, as evenly spaced as possible.
    fn recurs(&mut self, probability: f64) -> bool {
        self.accumulated += probability;
        let recurs = self.accumulated > 1.0;
        self.accumulated -= f64::from(u8::from(recurs));
        recurs
    }
}

/// Probabilities of a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Probabilities {
    /// The probability for a packet of C (`p_C`).
    classic: f64,
    /// The probability for a packet of L, by C's need (`p_CL`).
    coupled: f64,
    /// Marks are not enough: packets of L are dropped, too.
    overloaded: bool,
}

/// The two queues, their controller and their scheduler.
#[derive(Clone, Debug)]
pub struct DualPi2 {
    settings: scenario::DualPi2,
    /// Packets and bytes that both queues hold together.
    limit: (u64, u64),
    stream: Stream,
    low_latency: SubQueue,
    classic: SubQueue,
    /// p'.
    probability: f64,
    old_delay: Span,
    updates_at: Time,
    /// The debt of L to C (weighted round robin), bytes times [`WHOLE`].
    credit: i64,
    /// Whether the packet that went last came from L.
    was_low_latency: bool,
    marks: u64,
}

impl DualPi2 {
    /// Empty queues that hold at most `limit` packets and bytes together; random marks are drawn from `stream`.
    #[must_use]
    pub fn new(settings: scenario::DualPi2, limit: (u64, u64), stream: Stream) -> Self {
        let mut queue = DualPi2 {
            settings,
            limit,
            stream,
            low_latency: SubQueue::new(),
            classic: SubQueue::new(),
            probability: 0.0,
            old_delay: Span::ZERO,
            updates_at: Time::ZERO + settings.update,
            credit: 0,
            was_low_latency: false,
            marks: 0,
        };
        queue.restart_scheduler();
        queue
    }

    /// Whether the packet that went last came from L; its ECN field, once marked, does not tell.
    #[must_use]
    pub const fn was_low_latency(&self) -> bool {
        self.was_low_latency
    }

    /// The weights of C and of L.
    fn weights(&self) -> (i64, i64) {
        let classic = (self.settings.classic_share * WHOLE as f64 + 0.5) as i64;
        (classic, WHOLE - classic)
    }

    fn restart_scheduler(&mut self) {
        let (classic, low_latency) = self.weights();
        self.credit = LARGEST_PACKET * (classic - low_latency);
    }

    /// Carries out the updates that are due. Between events the queues do not change, so they are exact although late.
    fn catch_up(&mut self, now: Time) {
        while now >= self.updates_at {
            let before = (self.probability, self.old_delay);
            let delay = self.low_latency.delay(self.updates_at).max(self.classic.delay(self.updates_at));
            self.update(delay);
            self.updates_at += self.settings.update;
            if self.is_empty() && before == (self.probability, self.old_delay) {
                // The following updates do not change anything either, until a packet arrives.
                let every = self.settings.update.0;
                self.updates_at = Time((now.0 / every + 1).saturating_mul(every));
            }
        }
    }

    /// The controller at work: `delay` is the longer one of the two queues.
    fn update(&mut self, delay: Span) {
        let scenario::DualPi2 { target, alpha, beta, coupling, overload, .. } = self.settings;
        let seconds = delay.as_seconds();
        let step = alpha * (seconds - target.as_seconds()) + beta * (seconds - self.old_delay.as_seconds());
        let most = if overload == Overload::Drop { 1.0 } else { 1.0 / coupling };
        self.probability = (self.probability + step).clamp(0.0, most);
        self.old_delay = delay;
    }

    fn probabilities(&self) -> Probabilities {
        let scenario::DualPi2 { coupling, overload, .. } = self.settings;
        let coupled = (coupling * self.probability).min(1.0);
        Probabilities {
            classic: self.probability * self.probability,
            coupled,
            overloaded: overload == Overload::Drop && coupled >= 1.0,
        }
    }

    /// The probability that a packet of L which has waited for `delay` among `packets` asks for by itself.
    fn ramp(&self, delay: Span, packets: u64) -> f64 {
        let scenario::DualPi2 { ramp_from, ramp_to, .. } = self.settings;
        if packets <= SHORT_QUEUE || delay <= ramp_from {
            0.0
        } else if delay >= ramp_to {
            1.0
        } else {
            (delay.0 - ramp_from.0) as f64 / (ramp_to.0 - ramp_from.0) as f64
        }
    }

    /// Whether L goes next at `now`; none when both are empty.
    fn serves_low_latency(&self, now: Time) -> Option<bool> {
        Some(match (self.low_latency.queue.first_since(), self.classic.queue.first_since()) {
            (None, None) => return None,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some(low_latency), Some(classic)) => match self.settings.scheduler {
                Scheduler::WeightedRoundRobin => self.credit <= 0,
                Scheduler::TimeShiftedFifo => {
                    now.since(low_latency).0.saturating_add(self.settings.time_shift.0)
                        >= now.since(classic).0
                }
            },
        })
    }

    /// A packet of `bytes` bytes went while the other queue waited.
    fn charge(&mut self, bytes: u16, low_latency: bool) {
        let (of_classic, of_low_latency) = self.weights();
        self.credit += i64::from(bytes) * if low_latency { of_classic } else { -of_low_latency };
    }

    fn decides(&mut self, low_latency: bool, probability: f64) -> bool {
        let side = if low_latency { &mut self.low_latency } else { &mut self.classic };
        if self.settings.uniform { side.recurs(probability) } else { self.stream.unit() < probability }
    }

    /// The treatment of a packet of L that waited for `delay` among `packets`; `None`: it is dropped.
    fn marks_low_latency(&mut self, p: Probabilities, delay: Span, packets: u64) -> Option<bool> {
        if p.overloaded {
            return (!self.decides(true, p.classic)).then_some(true);
        }
        let probability = self.ramp(delay, packets).max(p.coupled);
        Some(self.decides(true, probability))
    }

    /// The same of a packet of C, which `can` be marked or not.
    fn marks_classic(&mut self, p: Probabilities, can: bool) -> Option<bool> {
        let decided = self.decides(false, p.classic);
        (!decided || can && !p.overloaded).then_some(decided)
    }
}

impl Queue for DualPi2 {
    fn enqueue(&mut self, now: Time, packet: &Packet, in_service: InService, dropped: &mut Vec<Packet>) {
        self.catch_up(now);
        let packets = self.len() + in_service.packets + 1;
        let bytes = self.low_latency.queue.bytes() + self.classic.queue.bytes() + in_service.bytes;
        if packets > self.limit.0 || bytes + u64::from(packet.bytes()) > self.limit.1 {
            dropped.push(*packet);
            return;
        }
        let asks = matches!(packet.ecn(), EcnField::Ect1 | EcnField::Marked);
        let side = if asks { &mut self.low_latency } else { &mut self.classic };
        side.queue.push(Queued { packet: *packet, since: now });
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Queued> {
        self.catch_up(now);
        let p = self.probabilities();
        while let Some(low_latency) = self.serves_low_latency(now) {
            let side = if low_latency { &mut self.low_latency } else { &mut self.classic };
            let packets = side.queue.len();
            let mut queued = side.queue.dequeue(now, dropped)?;
            let marks = if low_latency {
                self.marks_low_latency(p, now.since(queued.since), packets)
            } else {
                self.marks_classic(p, queued.packet.ecn() != EcnField::NotCapable)
            };
            let Some(marks) = marks else {
                dropped.push(queued.packet);
                continue;
            };
            if marks {
                queued.packet.set_ecn(EcnField::Marked);
                self.marks += 1;
            }
            let other = if low_latency { &self.classic } else { &self.low_latency };
            if !other.queue.is_empty() {
                self.charge(queued.packet.bytes(), low_latency);
            }
            self.was_low_latency = low_latency;
            return Some(queued);
        }
        self.restart_scheduler();
        None
    }

    fn len(&self) -> u64 {
        self.low_latency.queue.len() + self.classic.queue.len()
    }

    fn marks(&self) -> u64 {
        self.marks
    }

    fn visit(&self, each: &mut dyn FnMut(&Packet)) {
        self.low_latency.queue.visit(each);
        self.classic.queue.visit(each);
    }
}

#[cfg(test)]
mod tests;
