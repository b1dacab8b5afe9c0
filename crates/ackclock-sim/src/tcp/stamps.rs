//! The state of each packet when it was sent last, for controls that learn of every loss.

use ackclock_cc::Lost;
use ackclock_units::Packets;

use crate::memory::slots;

/// The state of the connection when a packet was sent, in 8 bytes. There is one stamp for each packet under way, and
/// its cache line is used again only after the events of a thousand other flows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamp {
    /// Packets in flight, this one included, and in the highest bit whether the application was the limit. A window has at
    /// most 2^24 packets.
    tx_in_flight: u32,
    /// The number of losses so far, modulo 2^32.
    lost: u32,
}

const APPLICATION_LIMITED: u32 = 1 << 31;

impl Stamp {
    /// With the packet `tx_in_flight` packets are in flight, and `lost` were considered lost so far.
    #[inline]
    #[must_use]
    pub const fn new(tx_in_flight: u64, lost: u64, application_limited: bool) -> Self {
        debug_assert!(tx_in_flight < APPLICATION_LIMITED as u64, "a window is smaller");
        let limited = if application_limited { APPLICATION_LIMITED } else { 0 };
        Stamp { tx_in_flight: tx_in_flight as u32 | limited, lost: lost as u32 }
    }

    /// Packets in flight then, this one included.
    #[inline]
    #[must_use]
    pub const fn tx_in_flight(self) -> Packets {
        Packets((self.tx_in_flight & !APPLICATION_LIMITED) as u64)
    }

    /// Packets considered lost since, when by now `lost` are.
    #[inline]
    #[must_use]
    pub const fn lost_since(self, lost: u64) -> Packets {
        Packets((lost as u32).wrapping_sub(self.lost) as u64)
    }

    /// Whether the application was the limit.
    #[inline]
    #[must_use]
    pub const fn application_limited(self) -> bool {
        self.tx_in_flight & APPLICATION_LIMITED != 0
    }
}

/// The stamps of the packets between the oldest unacknowledged one and the next new one, in a ring, and the number of
/// losses. Memory is allocated only to double the ring.
#[derive(Clone, Debug)]
pub struct Stamps {
    ring: Vec<Stamp>,
    lost: u64,
    uncounted: u64,
}

impl Default for Stamps {
    fn default() -> Self {
        Stamps { ring: vec![Stamp::default(); 64], lost: 0, uncounted: 0 }
    }
}

impl Stamps {
    /// `sequence` is sent, with this stamp; `oldest` is the oldest unacknowledged packet.
    pub fn on_sent(&mut self, sequence: u64, oldest: u64, stamp: Stamp) {
        while sequence - oldest >= self.ring.len() as u64 {
            self.grow(oldest);
        }
        let mask = self.ring.len() - 1;
        self.ring[sequence as usize & mask] = stamp;
    }

    /// `sequence` is considered lost. Returns the report for the control.
    pub fn lose(&mut self, sequence: u64) -> Lost {
        self.lost += 1;
        self.uncounted += 1;
        let stamp = self.ring[sequence as usize & (self.ring.len() - 1)];
        Lost {
            tx_in_flight: stamp.tx_in_flight(),
            lost_since_sent: stamp.lost_since(self.lost),
            application_limited: stamp.application_limited(),
        }
    }

    /// Packets that were ever considered lost.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Packets considered lost since the last call.
    pub fn take_uncounted(&mut self) -> u64 {
        std::mem::take(&mut self.uncounted)
    }

    #[cold]
    fn grow(&mut self, oldest: u64) {
        let (old, capacity) = (self.ring.len(), self.ring.len() * 2);
        let mut ring = slots::<Stamp>(capacity);
        for sequence in oldest..oldest + old as u64 {
            ring[sequence as usize & (capacity - 1)] = self.ring[sequence as usize & (old - 1)];
        }
        self.ring = ring;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets 30 to 229, so that the ring of 64 doubles twice; each is sent with as many in flight as its distance from
    /// 30. Of 100, 101 and, sent again after both, 100: one, two, and one loss since they were sent.
    #[test]
    fn a_lost_packet_knows_what_was_when_it_was_sent() {
        let mut stamps = Stamps::default();
        let first = |sequence| Stamp::new(sequence - 29, 0, sequence % 2 == 0);
        (30..230).for_each(|sequence| stamps.on_sent(sequence, 30, first(sequence)));
        let expect = |tx_in_flight, lost, application_limited| Lost {
            tx_in_flight: Packets(tx_in_flight),
            lost_since_sent: Packets(lost),
            application_limited,
        };
        assert_eq!(stamps.lose(100), expect(71, 1, true));
        assert_eq!(stamps.lose(101), expect(72, 2, false));
        assert_eq!((stamps.lost(), stamps.take_uncounted(), stamps.take_uncounted()), (2, 2, 0));
        stamps.on_sent(100, 30, Stamp::new(5, stamps.lost(), false));
        assert_eq!(stamps.lose(100), expect(5, 1, false));
    }
}
