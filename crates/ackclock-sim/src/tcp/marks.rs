//! A sender's decoding of the count of marks on acknowledgements (RFC 9768).

use crate::packet::{MARKS_MODULUS, Packet};

/// The marks that a receiver has reported.
#[derive(Clone, Copy, Debug)]
pub struct ReportedMarks {
    /// The sender's estimate of all marks so far.
    total: u64,
    /// Acknowledgements count modulo this.
    modulus: u64,
}

impl ReportedMarks {
    /// None so far, with counts of `bits` bits.
    #[must_use]
    pub const fn with_bits(bits: u64) -> Self {
        ReportedMarks { total: 0, modulus: 1 << bits }
    }

    /// Packets newly reported as marked by an acknowledgement that newly reports `delivered` packets as delivered.
    ///
    /// The simulator's own count is so long that it is never ambiguous: a count from the lower half of the circle is
    /// older than the known one. A shorter one is read as RFC 9768 proposes for a sender that gets no option (appendix
    /// A.2.1): an acknowledgement that delivers nothing may be old and is passed over, and if the count may have
    /// wrapped, it is taken to have wrapped as often as possible.
    pub fn read(&mut self, ack: &Packet, delivered: u64) -> u64 {
        // The modulus is a power of two.
        let least = ack.marks().wrapping_sub(self.total) & (self.modulus - 1);
        let newly = if self.modulus == MARKS_MODULUS {
            if least < MARKS_MODULUS / 2 { least } else { 0 }
        } else if delivered == 0 {
            0
        } else if delivered < self.modulus {
            least
        } else {
            delivered - (delivered - least) % self.modulus
        };
        self.total += newly;
        newly
    }
}

#[cfg(test)]
mod tests {
    use ackclock_units::Time;

    use super::*;
    use crate::packet::Kind;

    /// The count that a sender that knows of `before` marks decodes when the receiver has seen `now`.
    fn newly(bits: u64, before: u64, now: u64, delivered: u64) -> u64 {
        let ack = Packet::new(Kind::Ack, 0, 0, 0, Time::ZERO, 40).with_marks(now);
        ReportedMarks { total: before, ..ReportedMarks::with_bits(bits) }.read(&ack, delivered)
    }

    /// Counts wrap at 2048. From 2040 to 2050 are ten marks; an acknowledgement that was overtaken says 2035, five fewer.
    #[test]
    fn long_counts_are_exact() {
        assert_eq!((newly(11, 2040, 2050, 1), newly(11, 2040, 2035, 1)), (10, 0));
        assert_eq!((newly(11, 3, 3, 0), newly(11, 3, 1026, 0), newly(11, 3, 1027, 0)), (0, 1023, 0));
    }

    /// The examples of RFC 9768, appendix A.2.1: at least 2 marks among 9 packets are 2, because 10 are too many; among 10
    /// packets they may be 10. From 5 to 1 are at least 4, among 20 packets 4, 12 or 20.
    #[test]
    fn the_examples_of_the_rfc() {
        assert_eq!((newly(3, 6, 8, 9), newly(3, 6, 8, 10), newly(3, 5, 9, 20)), (2, 10, 20));
    }

    /// Whatever number of packets up to 40 an acknowledgement delivers, and however many of them are marked: read is the
    /// largest number, among all up to the packets delivered, that gives the same three bits. So it is never less than
    /// the truth, and the truth below 8 packets.
    #[test]
    fn three_bits_are_read_as_the_worst_that_fits() {
        for (before, delivered) in (0..9).flat_map(|before| (1..41).map(move |delivered| (before, delivered)))
        {
            for marked in 0..=delivered {
                let read = newly(3, before, before + marked, delivered);
                let fits = (0..=delivered).filter(|count| (before + count) % 8 == (before + marked) % 8);
                assert_eq!(Some(read), fits.max(), "{marked} of {delivered} after {before}");
                assert!(read >= marked && (read == marked || delivered >= 8));
            }
        }
        assert_eq!(newly(3, 7, 5, 0), 0, "an old acknowledgement");
    }
}
