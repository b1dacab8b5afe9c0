//! Packets, and the store of their payloads.

use ackclock_units::Time;

use crate::memory::{Grow as _, or_unwind};

/// The meaning of a packet to the endpoints.
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
pub enum EcnField {
    /// The transport does not understand marks.
    NotCapable,
    /// The transport understands marks: ECT(0).
    Capable,
    /// A queue has marked it.
    Marked,
    /// As [`EcnField::Capable`], from a sender that asks for the queue of low latency (ECT(1), RFC 9331).
    Ect1,
}

/// A packet on the wire: 32 bytes. Links and queues read flow, size and marks; the rest belongs to the endpoints.
///
/// The small fields share two words, because packets are copied at every hop: four words fit into registers. A copy through
/// memory would wait for the writes before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Number of the packet in its flow; of an acknowledgement, the next number that is expected.
    pub sequence: u64,
    /// When the data packet was sent; an acknowledgement returns that of the packet that caused it.
    pub sent: Time,
    /// Bits 0-31: flow; 32-63: position in the table of routes.
    flow_and_hop: u64,
    /// Bits 0-31: handle; 32-47: size; 48: acknowledgement; 49: sent before; 50-51: congestion notification; 52: echo of a
    /// mark; 53-63: count of marks.
    load: u64,
}

/// No packet has this flow.
const PASSED: u64 = u64::MAX;
const SIZE_SHIFT: u32 = 32;
const ACK: u64 = 1 << 48;
const RETRANSMISSION: u64 = 1 << 49;
const ECN_SHIFT: u32 = 50;
const ECN: u64 = 3 << ECN_SHIFT;
const ECHO: u64 = 1 << 52;
const MARKS_SHIFT: u32 = 53;
/// Bits of the count of marks on the wire: more than the three of RFC 9768, so that it is never ambiguous.
pub const MARKS_BITS: u32 = 64 - MARKS_SHIFT;
/// Counts of marks on the wire are modulo this.
pub const MARKS_MODULUS: u64 = 1 << MARKS_BITS;

impl Packet {
    /// A packet of `bytes` bytes on the wire, about to enter the network at position `hop` of the routes.
    #[inline]
    #[must_use]
    pub const fn new(kind: Kind, flow: u32, hop: u32, sequence: u64, sent: Time, bytes: u16) -> Self {
        let flow_and_hop = flow as u64 | (hop as u64) << 32;
        let ack = if matches!(kind, Kind::Ack) { ACK } else { 0 };
        Packet {
            sequence,
            sent,
            flow_and_hop,
            load: Handle::NONE.0 as u64 | (bytes as u64) << SIZE_SHIFT | ack,
        }
    }

    /// A copy of the packet in memory, for a call that is not inlined and takes it by address. Without this copy the
    /// packet would be stored in memory, and read back, on all other code paths, too.
    #[inline]
    #[must_use]
    pub fn in_memory(self) -> Self {
        std::hint::black_box(self)
    }

    /// The stub that a link keeps of a packet of `bytes` bytes that it has passed on.
    #[inline]
    #[must_use]
    pub const fn passed(bytes: u16) -> Self {
        Packet { sequence: 0, sent: Time::ZERO, flow_and_hop: PASSED, load: (bytes as u64) << SIZE_SHIFT }
    }

    /// Whether it is that.
    #[inline]
    #[must_use]
    pub const fn is_passed(&self) -> bool {
        self.flow_and_hop == PASSED
    }

    /// Its flow.
    #[inline]
    #[must_use]
    pub const fn flow(&self) -> u32 {
        self.flow_and_hop as u32
    }

    /// Its position in the table of routes.
    #[inline]
    #[must_use]
    pub const fn hop(&self) -> u32 {
        self.heading().hop()
    }

    /// Moves it one position on.
    #[inline]
    pub const fn next_hop(&mut self) {
        self.flow_and_hop += 1 << 32;
    }

    /// Moves it one position back.
    #[inline]
    pub const fn hop_before(&mut self) {
        self.flow_and_hop -= 1 << 32;
    }

    /// The destination of the packet.
    #[inline]
    #[must_use]
    pub const fn heading(&self) -> Heading {
        Heading { flow_and_hop: self.flow_and_hop, load: self.load }
    }

    /// Its size on the wire, all headers included.
    #[inline]
    #[must_use]
    pub const fn bytes(&self) -> u16 {
        (self.load >> SIZE_SHIFT) as u16
    }

    /// Its meaning to the endpoints.
    #[inline]
    #[must_use]
    pub const fn kind(&self) -> Kind {
        if self.load & ACK == 0 { Kind::Data } else { Kind::Ack }
    }

    /// The end that sent it.
    #[inline]
    #[must_use]
    pub const fn sent_by(&self) -> EndId {
        EndId(2 * self.flow() + (self.load & ACK != 0) as u32)
    }

    /// The end that it is for.
    #[inline]
    #[must_use]
    pub const fn sent_to(&self) -> EndId {
        self.heading().end()
    }

    /// The handle of its payload.
    #[inline]
    #[must_use]
    pub const fn handle(&self) -> Handle {
        Handle(self.load as u32)
    }

    /// The same packet with `handle` riding on it.
    #[inline]
    #[must_use]
    pub const fn with_handle(mut self, handle: Handle) -> Self {
        self.load = self.load & !(u32::MAX as u64) | handle.0 as u64;
        self
    }

    /// The same packet, marked as data that was sent before or as caused by such data.
    #[inline]
    #[must_use]
    pub const fn with_retransmission(mut self, retransmission: bool) -> Self {
        self.load = self.load & !RETRANSMISSION | if retransmission { RETRANSMISSION } else { 0 };
        self
    }

    /// Whether the data was sent before, or the acknowledgement was caused by such data.
    #[inline]
    #[must_use]
    pub const fn is_retransmission(&self) -> bool {
        self.load & RETRANSMISSION != 0
    }

    /// The same packet; an acknowledgement that echoes a mark where `echo` is set.
    #[inline]
    #[must_use]
    pub const fn with_echo(mut self, echo: bool) -> Self {
        self.load = self.load & !ECHO | if echo { ECHO } else { 0 };
        self
    }

    /// Whether an acknowledgement echoes a mark.
    #[inline]
    #[must_use]
    pub const fn is_echo(&self) -> bool {
        self.load & ECHO != 0
    }

    /// The congestion notification bits.
    #[inline]
    #[must_use]
    pub const fn ecn(&self) -> EcnField {
        match (self.load & ECN) >> ECN_SHIFT {
            1 => EcnField::Capable,
            2 => EcnField::Marked,
            3 => EcnField::Ect1,
            _ => EcnField::NotCapable,
        }
    }

    /// The same packet; an acknowledgement that says that `marks` packets came marked so far, modulo [`MARKS_MODULUS`].
    #[inline]
    #[must_use]
    pub const fn with_marks(mut self, marks: u64) -> Self {
        self.load = self.load & !(u64::MAX << MARKS_SHIFT) | marks << MARKS_SHIFT;
        self
    }

    /// Packets that came marked so far, by an acknowledgement, modulo [`MARKS_MODULUS`].
    #[inline]
    #[must_use]
    pub const fn marks(&self) -> u64 {
        self.load >> MARKS_SHIFT
    }

    /// Sets the congestion notification bits.
    #[inline]
    pub const fn set_ecn(&mut self, ecn: EcnField) {
        self.load = self.load & !ECN | (ecn as u64) << ECN_SHIFT;
    }
}

/// The destination of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Heading {
    flow_and_hop: u64,
    load: u64,
}

impl Heading {
    /// Its position in the table of routes.
    #[inline]
    #[must_use]
    pub const fn hop(&self) -> u32 {
        (self.flow_and_hop >> 32) as u32
    }

    /// The end that it is for.
    #[inline]
    #[must_use]
    pub const fn end(&self) -> EndId {
        EndId(2 * self.flow_and_hop as u32 + (self.load & ACK == 0) as u32)
    }
}

/// A slot of a [`Slab`], or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(u32);

impl Handle {
    /// Nothing rides on the packet.
    pub const NONE: Handle = Handle(u32::MAX);
}

/// Things that ride on packets, in slots that are used again.
#[derive(Clone, Debug)]
pub struct Slab<T> {
    slots: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Stores `value`.
    pub fn insert(&mut self, value: T) -> Handle {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = value;
                Handle(slot)
            }
            None => self.add(value),
        }
    }

    #[cold]
    #[inline(never)]
    fn add(&mut self, value: T) -> Handle {
        self.slots.add(value);
        // Freeing a slot needs no memory then.
        or_unwind(self.free.try_reserve_exact(self.slots.capacity()));
        Handle(self.slots.len() as u32 - 1)
    }

    /// Frees `handle` and returns what is stored there, until the next insertion; `None` for [`Handle::NONE`].
    pub fn remove(&mut self, handle: Handle) -> Option<&T> {
        if handle == Handle::NONE {
            return None;
        }
        self.free.push(handle.0);
        Some(&self.slots[handle.0 as usize])
    }

    /// The payload stored at `handle`; `None` for [`Handle::NONE`].
    #[must_use]
    pub fn get(&self, handle: Handle) -> Option<&T> {
        self.slots.get(handle.0 as usize)
    }

    /// Number of things stored.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether nothing is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// An end of a flow, by its number among all ends: flow `n` has the sender `2n` and the receiver `2n + 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndId(u32);

impl EndId {
    /// The sender of `flow`.
    #[inline]
    #[must_use]
    pub const fn sender_of(flow: u32) -> Self {
        EndId(2 * flow)
    }

    /// The receiver of `flow`.
    #[inline]
    #[must_use]
    pub const fn receiver_of(flow: u32) -> Self {
        EndId(2 * flow + 1)
    }

    /// The end with this number.
    #[inline]
    #[must_use]
    pub const fn with_number(number: u32) -> Self {
        EndId(number)
    }

    /// Its number.
    #[inline]
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Its flow.
    #[inline]
    #[must_use]
    pub const fn flow(self) -> u32 {
        self.0 / 2
    }

    /// Whether it is the sender.
    #[inline]
    #[must_use]
    pub const fn is_sender(self) -> bool {
        self.0 & 1 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_32_bytes() {
        assert_eq!(size_of::<Packet>(), 32);
    }

    #[test]
    fn flags_do_not_disturb_each_other() {
        let mut packet = Packet::new(Kind::Data, 7, 3, 0, Time::ZERO, 1000).with_retransmission(true);
        packet.set_ecn(EcnField::Marked);
        assert!(packet.is_retransmission());
        assert_eq!(packet.ecn(), EcnField::Marked);
        packet.set_ecn(EcnField::Capable);
        assert_eq!(packet.with_retransmission(false).ecn(), EcnField::Capable);
        packet.set_ecn(EcnField::Ect1);
        assert_eq!(packet.ecn(), EcnField::Ect1);
        packet = packet.with_handle(Handle(5));
        packet.next_hop();
        assert_eq!((packet.flow(), packet.hop(), packet.bytes()), (7, 4, 1000));
        assert_eq!((packet.kind(), packet.handle()), (Kind::Data, Handle(5)));
        packet.set_ecn(EcnField::Ect1);
        assert_eq!(packet.with_marks(u64::MAX).ecn(), EcnField::Ect1);
        assert!(!packet.with_marks(u64::MAX).is_echo());
        assert_eq!((packet.with_marks(2050).marks(), packet.with_marks(5).with_marks(7).marks()), (2, 7));
    }

    #[test]
    fn senders_send_data_and_receivers_acknowledgements() {
        let data = Packet::new(Kind::Data, 7, 0, 0, Time::ZERO, 1000);
        let ack = Packet::new(Kind::Ack, 7, 0, 0, Time::ZERO, 40);
        assert_eq!((data.sent_by(), ack.sent_by()), (EndId(14), EndId(15)));
        assert_eq!((data.sent_to(), ack.sent_to()), (EndId(15), EndId(14)));
        assert_eq!((EndId::sender_of(7), EndId::receiver_of(7)), (EndId(14), EndId(15)));
        assert_eq!((EndId(14).flow(), EndId(15).flow()), (7, 7));
        assert!(EndId(14).is_sender() && !EndId(15).is_sender());
    }

    #[test]
    fn slots_are_used_again() {
        let mut slab = Slab::default();
        let first = slab.insert(1);
        assert_eq!(slab.remove(first), Some(&1));
        assert_eq!(slab.insert(2), first);
        assert_eq!(slab.len(), 1);
        assert_eq!(slab.remove(Handle::NONE), None);
    }
}
