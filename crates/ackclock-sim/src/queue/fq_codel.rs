//! FQ-CoDel: RFC 8290.
//!
//! Each flow has a queue with CoDel's law, by a hash of its number. Queues take turns of a quantum of bytes
//! (deficit round robin); those that become active go first, once. When all are full together, the longest loses up to half of
//! its packets.

use std::collections::VecDeque;

use ackclock_scenario as scenario;
use ackclock_units::{Bytes, Time};

use super::{Codel, Droptail, InService, Management, Queue, Queued, Waiting};
use crate::packet::Packet;
use crate::random::mix;

/// Settings of FQ-CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCodelSettings {
    /// The law of each queue.
    pub codel: scenario::Codel,
    /// Bytes per turn.
    pub quantum: Bytes,
    /// Number of queues over which flows are spread.
    pub queues: u32,
    /// Packets and bytes that all queues hold together.
    pub limit: (u64, u64),
}

/// Packets that the longest queue loses at once at most (section 4.1.1).
const DROP_BATCH: u64 = 64;

#[derive(Clone, Debug)]
struct Turn {
    queue: Droptail,
    law: Codel,
    /// Bytes that it may still send in this turn.
    deficit: i64,
    listed: bool,
}

/// An FQ-CoDel queue.
#[derive(Clone, Debug)]
pub struct FqCodel {
    settings: FqCodelSettings,
    turns: Vec<Turn>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    packets: u64,
    bytes: u64,
    marks: u64,
}

impl FqCodel {
    /// An empty queue.
    #[must_use]
    pub fn new(settings: FqCodelSettings) -> Self {
        let queue = Droptail::new(u64::MAX, u64::MAX);
        let turn = Turn { queue, law: Codel::new(settings.codel), deficit: 0, listed: false };
        FqCodel {
            settings,
            turns: vec![turn; settings.queues as usize],
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
            marks: 0,
        }
    }

    /// The index of the queue of a flow's data or acknowledgements.
    fn queue_index(&self, packet: &Packet) -> u32 {
        let key = u64::from(packet.flow()) << 1 | u64::from(packet.kind() == crate::packet::Kind::Ack);
        (mix(key) % u64::from(self.settings.queues)) as u32
    }

    /// The longest queue in bytes loses half of its packets, at most 64, from its head.
    fn relieve(&mut self, now: Time, dropped: &mut Vec<Packet>) {
        let Some(longest) = self.turns.iter_mut().max_by_key(|turn| turn.queue.bytes()) else { return };
        let count = longest.queue.len().div_ceil(2).min(DROP_BATCH);
        for _ in 0..count {
            let Some(queued) = longest.queue.dequeue(now, dropped) else { return };
            self.packets -= 1;
            self.bytes -= u64::from(queued.packet.bytes());
            dropped.push(queued.packet);
        }
    }
}

impl Queue for FqCodel {
    fn enqueue(&mut self, now: Time, packet: &Packet, in_service: InService, dropped: &mut Vec<Packet>) {
        let index = self.queue_index(packet);
        let turn = &mut self.turns[index as usize];
        turn.queue.enqueue(now, packet, InService::default(), dropped);
        self.packets += 1;
        self.bytes += u64::from(packet.bytes());
        if !turn.listed {
            turn.listed = true;
            turn.deficit = self.settings.quantum.0 as i64;
            self.new.push_back(index);
        }
        let (packets, bytes) = self.settings.limit;
        if self.packets + in_service.packets > packets || self.bytes + in_service.bytes > bytes {
            self.relieve(now, dropped);
        }
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Queued> {
        loop {
            let of_new = !self.new.is_empty();
            let list = if of_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let turn = &mut self.turns[index as usize];
            if turn.deficit <= 0 {
                turn.deficit += self.settings.quantum.0 as i64;
                list.pop_front();
                self.old.push_back(index);
                continue;
            }
            let (packets, bytes) = (turn.queue.len(), turn.queue.bytes());
            let waiting = Waiting { now, queue: &mut turn.queue, marks: &mut self.marks, dropped };
            let queued = turn.law.dequeue(waiting);
            self.packets -= packets - turn.queue.len();
            self.bytes -= bytes - turn.queue.bytes();
            if let Some(queued) = queued {
                turn.deficit -= i64::from(queued.packet.bytes());
                return Some(queued);
            }
            // An empty new queue becomes an old one before it is removed, so that no flow can stay new for ever.
            list.pop_front();
            if of_new && !self.old.is_empty() {
                self.old.push_back(index);
            } else {
                turn.listed = false;
            }
        }
    }

    #[inline]
    fn len(&self) -> u64 {
        self.packets
    }

    fn marks(&self) -> u64 {
        self.marks
    }

    fn visit(&self, each: &mut dyn FnMut(&Packet)) {
        self.turns.iter().for_each(|turn| turn.queue.visit(each));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind;
    use ackclock_units::Span;

    fn queue(limit: u64) -> FqCodel {
        let codel =
            scenario::Codel { target: Span::from_millis(5), interval: Span::from_millis(100), ecn: false };
        FqCodel::new(FqCodelSettings { codel, quantum: Bytes(1500), queues: 1024, limit: (limit, u64::MAX) })
    }

    fn put(queue: &mut FqCodel, flow: u32, bytes: u16, count: u64) -> Vec<u32> {
        let mut dropped = Vec::new();
        for sequence in 0..count {
            let packet = Packet::new(Kind::Data, flow, 0, sequence, Time::ZERO, bytes);
            queue.enqueue(Time::ZERO, &packet, InService::default(), &mut dropped);
        }
        dropped.iter().map(Packet::flow).collect()
    }

    /// Flows 1 and 2 have packets of 1500 and 500 bytes: per turn of 1500 bytes one packet and three.
    #[test]
    fn turns_are_of_bytes() {
        let mut queue = queue(1000);
        put(&mut queue, 1, 1500, 4);
        put(&mut queue, 2, 500, 9);
        let mut order = Vec::new();
        while let Some(queued) = queue.dequeue(Time::ZERO, &mut Vec::new()) {
            order.push(queued.packet.flow());
        }
        assert_eq!(order, [1, 2, 2, 2, 1, 2, 2, 2, 1, 2, 2, 2, 1]);
        assert_eq!((queue.len(), queue.bytes), (0, 0));
    }

    /// A flow that becomes active goes before those that wait.
    #[test]
    fn new_flows_go_first() {
        let mut queue = queue(1000);
        put(&mut queue, 1, 1500, 3);
        queue.dequeue(Time::ZERO, &mut Vec::new());
        queue.dequeue(Time::ZERO, &mut Vec::new());
        put(&mut queue, 2, 100, 1);
        assert_eq!(queue.dequeue(Time::ZERO, &mut Vec::new()).unwrap().packet.flow(), 2);
    }

    /// Ten packets fit: with the eleventh the longest queue, of eight, loses half.
    #[test]
    fn the_longest_queue_pays() {
        let mut queue = queue(10);
        assert!(put(&mut queue, 1, 1000, 8).is_empty());
        assert!(put(&mut queue, 2, 1000, 2).is_empty());
        assert_eq!(put(&mut queue, 3, 1000, 1), [1; 4]);
        assert_eq!(queue.len(), 7);
    }
}
