//! A fingerprint of everything that happened, to compare two runs by one number.

/// Odd constants without structure: the fractional parts of the square roots of 2 and 3.
const FACTORS: (u64, u64) = (0x6A09_E667_F3BC_C909, 0xBB67_AE85_84CA_A73B);

/// A running fingerprint over (time, component, kind, flow, sequence, window bits).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Digest(FACTORS.0)
    }
}

impl Digest {
    /// Adds one occurrence: its time in picoseconds, its `kind`, its `component`, the flow and sequence number, and the
    /// bits of the flow's window.
    #[inline]
    pub fn note(&mut self, time: u64, component: u32, kind: u8, flow: u32, sequence: u64, window: u64) {
        let occurrence = u64::from(component) << 40 | u64::from(kind) << 32 | u64::from(flow);
        let first = fold(self.0 ^ time, FACTORS.0 ^ occurrence);
        self.0 = fold(first ^ sequence, FACTORS.1 ^ window).wrapping_add(first);
    }

    /// The fingerprint as 16 hexadecimal digits.
    #[must_use]
    pub fn hex(self) -> String {
        format!("{:016x}", self.0)
    }
}

/// Both halves of the 128-bit product, combined.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::Digest;

    #[test]
    fn every_part_counts() {
        let of = |t, c, k, f, s, w| {
            let mut digest = Digest::default();
            digest.note(t, c, k, f, s, w);
            digest
        };
        let base = of(1, 2, 3, 4, 5, 6);
        for other in [of(0, 2, 3, 4, 5, 6), of(1, 0, 3, 4, 5, 6), of(1, 2, 0, 4, 5, 6)] {
            assert_ne!(base, other);
        }
        for other in [of(1, 2, 3, 0, 5, 6), of(1, 2, 3, 4, 0, 6), of(1, 2, 3, 4, 5, 0)] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn order_counts() {
        let (mut ab, mut ba) = (Digest::default(), Digest::default());
        ab.note(1, 0, 0, 0, 0, 0);
        ab.note(2, 0, 0, 0, 0, 0);
        ba.note(2, 0, 0, 0, 0, 0);
        ba.note(1, 0, 0, 0, 0, 0);
        assert_ne!(ab, ba);
    }
}
