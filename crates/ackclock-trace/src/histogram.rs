//! Percentiles of spans of time in little memory.

use ackclock_units::Span;

/// Parts of each doubling: the width of a bin is at most 1/128 of its value.
const PARTS_LOG2: u32 = 7;

/// Counts spans in bins of at most 0.8 % width, so that a percentile is off by at most 0.4 %. Memory is
/// what the range between the smallest and the largest span needs: about 1 KiB per doubling.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// Bin number of `counts[0]`.
    first: usize,
    counts: Vec<u64>,
    total: u64,
}

impl Histogram {
    /// Counts `span`.
    #[inline]
    pub fn record(&mut self, span: Span) {
        let bin = bin(span.0);
        match self.counts.get_mut(bin.wrapping_sub(self.first)) {
            Some(count) => *count += 1,
            None => *self.make_room(bin) += 1,
        }
        self.total += 1;
    }

    /// Makes room for a bin and returns it.
    #[cold]
    fn make_room(&mut self, bin: usize) -> &mut u64 {
        if self.counts.is_empty() {
            self.first = bin;
        }
        if bin < self.first {
            let missing = self.first - bin;
            self.counts.splice(0..0, core::iter::repeat_n(0, missing));
            self.first = bin;
        }
        let length = (bin - self.first + 1).max(self.counts.len());
        self.counts.resize(length, 0);
        &mut self.counts[bin - self.first]
    }

    /// The span below which the share `share` (0 to 1) of the counted ones lies: the middle of the bin that
    /// holds the one of rank ceil(share * total). `None` when nothing was counted.
    #[must_use]
    pub fn percentile(&self, share: f64) -> Option<Span> {
        let rank = ((share * self.total as f64).ceil() as u64).clamp(1, self.total.max(1));
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return Some(middle(self.first + index));
            }
        }
        None
    }
}

/// The bin of a number of picoseconds: exact below 128, then 128 bins per doubling.
fn bin(picoseconds: u64) -> usize {
    let doublings = (64 - PARTS_LOG2 - 1).saturating_sub(picoseconds.leading_zeros());
    (u64::from(doublings) << PARTS_LOG2) as usize + (picoseconds >> doublings) as usize
}

/// The middle of a bin.
fn middle(bin: usize) -> Span {
    let parts = 1_usize << PARTS_LOG2;
    let doublings = (bin >> PARTS_LOG2).saturating_sub(1);
    let low = ((bin - doublings * parts) as u64) << doublings;
    Span(low + (1_u64 << doublings) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_numbers_are_exact() {
        let mut histogram = Histogram::default();
        (1..=100).for_each(|n| histogram.record(Span(n)));
        assert_eq!(histogram.percentile(0.5), Some(Span(50)));
        assert_eq!(histogram.percentile(0.95), Some(Span(95)));
        assert_eq!(histogram.percentile(0.0), Some(Span(1)));
        assert_eq!(Histogram::default().percentile(0.5), None);
    }

    proptest! {
        #[test]
        fn the_middle_of_its_bin_is_near(value in any::<u64>()) {
            let middle = middle(bin(value)).0;
            prop_assert!(middle.abs_diff(value) <= value / 255, "{value} is in the bin of {middle}");
        }

        #[test]
        fn percentiles_are_those_of_the_sorted_list(
            mut spans in prop::collection::vec(0_u64..1 << 50, 1..200), share in 0.0..1.0_f64
        ) {
            let mut histogram = Histogram::default();
            spans.iter().for_each(|span| histogram.record(Span(*span)));
            spans.sort_unstable();
            let rank = ((share * spans.len() as f64).ceil() as usize).max(1);
            let exact = spans[rank - 1];
            let found = histogram.percentile(share).unwrap().0;
            prop_assert!(found.abs_diff(exact) <= exact / 255);
        }
    }
}
