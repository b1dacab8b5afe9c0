//! First in, first out; packets that do not fit are dropped.

use ackclock_units::Time;

use super::{InService, Queue, Queued};
use crate::packet::Packet;
use crate::ring::Ring;

/// A droptail queue with a limit in packets, in bytes, or both. The packet in transmission counts.
#[derive(Clone, Debug)]
pub struct Droptail {
    waiting: Ring<Queued>,
    waiting_bytes: u64,
    limit_packets: u64,
    limit_bytes: u64,
}

impl Droptail {
    /// A queue that holds at most `limit_packets` packets and `limit_bytes` bytes.
    #[must_use]
    pub fn new(limit_packets: u64, limit_bytes: u64) -> Self {
        Droptail { waiting: Ring::default(), waiting_bytes: 0, limit_packets, limit_bytes }
    }

    /// Whether `packet` fits while the link transmits `in_service`.
    #[inline]
    #[must_use]
    pub fn admits(&self, packet: &Packet, in_service: InService) -> bool {
        let packets = self.waiting.len() + in_service.packets + 1;
        let bytes = self.waiting_bytes + in_service.bytes + u64::from(packet.bytes());
        packets <= self.limit_packets && bytes <= self.limit_bytes
    }

    /// Packets and bytes that it holds at most.
    #[must_use]
    pub const fn limit(&self) -> (u64, u64) {
        (self.limit_packets, self.limit_bytes)
    }

    /// Adds a packet that was admitted before.
    #[inline]
    pub fn push(&mut self, queued: Queued) {
        self.waiting_bytes += u64::from(queued.packet.bytes());
        self.waiting.push(queued);
    }

    /// Bytes of the waiting packets.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.waiting_bytes
    }

    /// When the first waiting packet arrived.
    #[must_use]
    pub fn first_since(&self) -> Option<Time> {
        self.waiting.front().map(|queued| queued.since)
    }
}

impl Queue for Droptail {
    #[inline]
    fn enqueue(&mut self, now: Time, packet: &Packet, in_service: InService, dropped: &mut Vec<Packet>) {
        if self.admits(packet, in_service) {
            self.push(Queued { packet: *packet, since: now });
        } else {
            dropped.push(*packet);
        }
    }

    #[inline]
    fn dequeue(&mut self, _: Time, _: &mut Vec<Packet>) -> Option<Queued> {
        let queued = self.waiting.pop()?;
        self.waiting_bytes -= u64::from(queued.packet.bytes());
        Some(queued)
    }

    #[inline]
    fn len(&self) -> u64 {
        self.waiting.len()
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

    /// Whether the packet is kept.
    fn keeps(queue: &mut Droptail, packet: &Packet, in_service: InService) -> bool {
        let mut dropped = Vec::new();
        queue.enqueue(Time::ZERO, packet, in_service, &mut dropped);
        assert!(dropped.iter().all(|other| other == packet));
        dropped.is_empty()
    }

    #[test]
    fn the_packet_in_transmission_counts() {
        let mut queue = Droptail::new(2, u64::MAX);
        let busy = InService { packets: 1, bytes: 1000 };
        assert!(keeps(&mut queue, &packet(0, 1000), busy));
        // One in transmission and one waiting: two, the limit.
        assert!(!keeps(&mut queue, &packet(1, 1000), busy));
        assert!(keeps(&mut queue, &packet(1, 1000), InService::default()));
    }

    #[test]
    fn bytes_are_counted() {
        let mut queue = Droptail::new(u64::MAX, 2000);
        assert!(keeps(&mut queue, &packet(0, 1500), InService::default()));
        assert!(!keeps(&mut queue, &packet(1, 501), InService::default()));
        assert!(keeps(&mut queue, &packet(2, 500), InService::default()));
        let first = queue.dequeue(Time::ZERO, &mut Vec::new());
        assert_eq!(first.map(|queued| queued.packet.sequence), Some(0));
        assert!(keeps(&mut queue, &packet(3, 1500), InService::default()));
    }
}
