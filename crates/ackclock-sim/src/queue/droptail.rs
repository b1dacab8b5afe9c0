//! First in, first out; what does not fit is dropped.

use std::collections::VecDeque;

use ackclock_units::Time;

use super::{InService, Queue, Queued};
use crate::packet::Packet;

/// A droptail queue with a limit in packets, in bytes, or both. The packet in transmission counts.
#[derive(Clone, Debug)]
pub struct Droptail {
    waiting: VecDeque<Queued>,
    waiting_bytes: u64,
    limit_packets: u64,
    limit_bytes: u64,
}

impl Droptail {
    /// A queue that holds at most `limit_packets` packets and `limit_bytes` bytes.
    #[must_use]
    pub fn new(limit_packets: u64, limit_bytes: u64) -> Self {
        Droptail { waiting: VecDeque::new(), waiting_bytes: 0, limit_packets, limit_bytes }
    }
}

impl Queue for Droptail {
    #[inline]
    fn enqueue(&mut self, now: Time, packet: &Packet, in_service: InService) -> Option<Packet> {
        let packets = self.len() + in_service.packets + 1;
        let bytes = self.waiting_bytes + in_service.bytes + u64::from(packet.bytes());
        if packets > self.limit_packets || bytes > self.limit_bytes {
            return Some(*packet);
        }
        self.waiting_bytes += u64::from(packet.bytes());
        self.waiting.push_back(Queued { packet: *packet, since: now });
        None
    }

    #[inline]
    fn dequeue(&mut self, _: Time) -> Option<Queued> {
        let queued = self.waiting.pop_front()?;
        self.waiting_bytes -= u64::from(queued.packet.bytes());
        Some(queued)
    }

    #[inline]
    fn len(&self) -> u64 {
        self.waiting.len() as u64
    }

    fn visit(&self, each: &mut dyn FnMut(&Packet)) {
        self.waiting.iter().for_each(|queued| each(&queued.packet));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind;

    fn packet(sequence: u64, bytes: u16) -> Packet {
        Packet::new(Kind::Data, 0, 0, sequence, Time::ZERO, bytes)
    }

    #[test]
    fn the_packet_in_transmission_counts() {
        let mut queue = Droptail::new(2, u64::MAX);
        let busy = InService { packets: 1, bytes: 1000 };
        assert_eq!(queue.enqueue(Time::ZERO, &packet(0, 1000), busy), None);
        // One in transmission and one waiting: two, the limit.
        assert_eq!(queue.enqueue(Time::ZERO, &packet(1, 1000), busy), Some(packet(1, 1000)));
        assert_eq!(queue.enqueue(Time::ZERO, &packet(1, 1000), InService::default()), None);
    }

    #[test]
    fn bytes_are_counted() {
        let mut queue = Droptail::new(u64::MAX, 2000);
        assert_eq!(queue.enqueue(Time::ZERO, &packet(0, 1500), InService::default()), None);
        assert!(queue.enqueue(Time::ZERO, &packet(1, 501), InService::default()).is_some());
        assert_eq!(queue.enqueue(Time::ZERO, &packet(2, 500), InService::default()), None);
        assert_eq!(queue.dequeue(Time::ZERO).map(|queued| queued.packet.sequence), Some(0));
        assert_eq!(queue.enqueue(Time::ZERO, &packet(3, 1500), InService::default()), None);
    }
}
