//! What travels: packets, and what rides on them.

use ackclock_units::Time;

/// What a packet is to the endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Data, from the sender to the receiver.
    Data,
    /// An acknowledgement, from the receiver to the sender.
    Ack,
}

/// Bits of the IP header for congestion notification (RFC 3168).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not understand marks.
    NotCapable,
    /// The transport understands marks.
    Capable,
    /// A queue has marked it.
    Marked,
}

/// A packet on the wire: 32 bytes. Links and queues read flow, size and marks; the rest is the endpoints'.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Number of the packet in its flow; of an acknowledgement, the next number that is expected.
    pub sequence: u64,
    /// When the data packet was sent; an acknowledgement returns that of the packet that caused it.
    pub sent: Time,
    /// Its flow.
    pub flow: u32,
    /// What rides on it, in the slab of its kind.
    pub handle: Handle,
    /// Position in the table of routes.
    pub hop: u32,
    /// Size on the wire, all headers included.
    pub bytes: u16,
    /// What it is.
    pub kind: Kind,
    /// Bits 0-1: congestion notification; bit 7: the data was sent before.
    flags: u8,
}

const ECN_BITS: u8 = 3;
const RETRANSMISSION: u8 = 1 << 7;

impl Packet {
    /// A packet about to enter the network.
    #[must_use]
    pub const fn new(kind: Kind, flow: u32, sequence: u64, sent: Time, bytes: u16) -> Self {
        Packet { sequence, sent, flow, handle: Handle::NONE, hop: 0, bytes, kind, flags: 0 }
    }

    /// The same packet, marked as data that was sent before or as caused by such data.
    #[must_use]
    pub const fn with_retransmission(mut self, retransmission: bool) -> Self {
        self.flags = self.flags & !RETRANSMISSION | if retransmission { RETRANSMISSION } else { 0 };
        self
    }

    /// Whether the data was sent before, or the acknowledgement was caused by such data.
    #[must_use]
    pub const fn is_retransmission(&self) -> bool {
        self.flags & RETRANSMISSION != 0
    }

    /// The congestion notification bits.
    #[must_use]
    pub const fn ecn(&self) -> Ecn {
        match self.flags & ECN_BITS {
            1 => Ecn::Capable,
            2 => Ecn::Marked,
            _ => Ecn::NotCapable,
        }
    }

    /// Sets the congestion notification bits.
    pub const fn set_ecn(&mut self, ecn: Ecn) {
        self.flags = self.flags & !ECN_BITS | ecn as u8;
    }
}

/// A place in a [`Slab`], or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(u32);

impl Handle {
    /// Nothing rides on the packet.
    pub const NONE: Handle = Handle(u32::MAX);
}

/// Things that ride on packets, in places that are used again.
#[derive(Clone, Debug)]
pub struct Slab<T> {
    places: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { places: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy> Slab<T> {
    /// Stores `value`.
    pub fn insert(&mut self, value: T) -> Handle {
        match self.free.pop() {
            Some(place) => {
                self.places[place as usize] = value;
                Handle(place)
            }
            None => {
                self.places.push(value);
                Handle(self.places.len() as u32 - 1)
            }
        }
    }

    /// Takes out what `handle` stands for; `None` for [`Handle::NONE`].
    pub fn remove(&mut self, handle: Handle) -> Option<T> {
        if handle == Handle::NONE {
            return None;
        }
        self.free.push(handle.0);
        Some(self.places[handle.0 as usize])
    }

    /// Number of things stored.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Whether nothing is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Blocks of a selective acknowledgement (RFC 2018): at most three, each from its first packet up to the one
/// after its last; empty ones are unused.
pub type SackBlocks = [(u64, u64); 3];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_32_bytes() {
        assert_eq!(size_of::<Packet>(), 32);
    }

    #[test]
    fn flags_do_not_disturb_each_other() {
        let mut packet = Packet::new(Kind::Data, 0, 0, Time::ZERO, 1000).with_retransmission(true);
        packet.set_ecn(Ecn::Marked);
        assert!(packet.is_retransmission());
        assert_eq!(packet.ecn(), Ecn::Marked);
        packet.set_ecn(Ecn::Capable);
        assert_eq!(packet.with_retransmission(false).ecn(), Ecn::Capable);
    }

    #[test]
    fn places_are_used_again() {
        let mut slab = Slab::default();
        let first = slab.insert(1);
        assert_eq!(slab.remove(first), Some(1));
        assert_eq!(slab.insert(2), first);
        assert_eq!(slab.len(), 1);
        assert_eq!(slab.remove(Handle::NONE), None);
    }
}
