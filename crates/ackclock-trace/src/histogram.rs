//! Percentiles of spans of time in little memory.

use ackclock_units::Span;

/// Parts of each doubling: the width of a bin is at most 1/128 of its value.
const PARTS_LOG2: u32 = 7;

/// Bins that are made at a time.
const ROOM: u32 = 32;

/// Counts spans in bins of at most 0.8 % width, so that a percentile is off by at most 0.4 %. Memory is
/// what the range between the smallest and the largest span needs: about 256 B per doubling, as there may be one of these
/// per flow, and three times that once a bin counts more than 16 bits do.
///
/// Often a span falls into the bin of the two spans before it. Such a run is only counted, and comes into its bin when it
/// ends.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// Smallest span of the bin of the run, and the bin's width; no width without a run.
    low: u64,
    width: u64,
    /// Spans of the run.
    run: u64,
    /// Bin number of the last span.
    bin: u32,
    /// Bin number of `counts[0]`.
    first: u32,
    /// The lowest 16 bits of each count.
    counts: Box<[u16]>,
    /// The higher bits; empty while all are zero.
    carries: Box<[u32]>,
}

impl Histogram {
    /// Counts `span`.
    #[inline]
    pub fn record(&mut self, span: Span) {
        if span.0.wrapping_sub(self.low) < self.width {
            self.run += 1;
        } else {
            self.record_other(span.0);
        }
    }

    /// The count that the next span is probably added to.
    #[must_use]
    pub fn next_count(&self) -> Option<&u16> {
        self.counts.get(self.index(self.bin))
    }

    /// Counts a span that is outside the run, and ends the run.
    // Without a run it needs no registers of its caller, because rare work is left to functions that are called last.
    #[inline(never)]
    fn record_other(&mut self, picoseconds: u64) {
        let bin = bin(picoseconds);
        if self.width > 0 {
            return self.end_run(bin);
        }
        if bin == self.bin {
            (self.low, self.width) = bounds(bin);
        }
        self.bin = bin;
        let index = self.index(bin);
        if let Some(count) = self.counts.get_mut(index)
            && *count < u16::MAX
        {
            *count += 1;
        } else {
            self.add(bin, 1);
        }
    }

    /// The run ends with a span of `bin`.
    #[inline(never)]
    fn end_run(&mut self, bin: u32) {
        self.add(self.bin, self.run);
        (self.width, self.run) = (0, 0);
        self.bin = bin;
        self.add(bin, 1);
    }

    #[inline(never)]
    fn add(&mut self, bin: u32, spans: u64) {
        let index = self.index(bin);
        let count = match self.counts.get_mut(index) {
            Some(count) => count,
            None => self.make_room(bin),
        };
        let sum = u64::from(*count) + spans;
        *count = sum as u16;
        if sum > u64::from(u16::MAX) {
            self.carry(bin, sum >> 16);
        }
    }

    #[cold]
    fn carry(&mut self, bin: u32, carry: u64) {
        if self.carries.is_empty() {
            self.carries = moved(&[], 0, self.counts.len());
        }
        let index = self.index(bin);
        self.carries[index] += carry as u32;
    }

    /// Makes room for a bin and returns it.
    #[cold]
    fn make_room(&mut self, bin: u32) -> &mut u16 {
        let (first, end) = (bin / ROOM * ROOM, (bin / ROOM + 1) * ROOM);
        let (first, end) = if self.counts.is_empty() {
            (first, end)
        } else {
            (first.min(self.first), end.max(self.first + self.counts.len() as u32))
        };
        let (before, length) = (self.first.saturating_sub(first) as usize, (end - first) as usize);
        self.counts = moved(&self.counts, before, length);
        if !self.carries.is_empty() {
            self.carries = moved(&self.carries, before, length);
        }
        self.first = first;
        let index = self.index(bin);
        &mut self.counts[index]
    }

    /// The index of a bin among the counts; beyond them where it has none.
    #[inline]
    fn index(&self, bin: u32) -> usize {
        bin.wrapping_sub(self.first) as usize
    }

    /// How many spans were counted.
    #[must_use]
    pub fn total(&self) -> u64 {
        let low: u64 = self.counts.iter().map(|count| u64::from(*count)).sum();
        let high: u64 = self.carries.iter().map(|carry| u64::from(*carry)).sum();
        low + (high << 16) + self.run
    }

    /// The span below which the share `share` (0 to 1) of the counted ones lies: the middle of the bin that
    /// holds the one of rank ceil(share * total). `None` when nothing was counted.
    #[must_use]
    pub fn percentile(&self, share: f64) -> Option<Span> {
        self.percentiles([share]).map(|[span]| span)
    }

    /// [`Histogram::percentile`] of each of `shares`, which do not fall.
    #[must_use]
    pub fn percentiles<const N: usize>(&self, shares: [f64; N]) -> Option<[Span; N]> {
        let total = self.total();
        if total == 0 {
            return None;
        }
        let carries = self.carries.iter().copied().chain(std::iter::repeat(0));
        let mut bins = (self.first..).zip(self.counts.iter().zip(carries));
        let (mut cumulative, mut last) = (0, self.first);
        Some(shares.map(|share| {
            let rank = ((share * total as f64).ceil() as u64).clamp(1, total);
            while cumulative < rank
                && let Some((bin, (count, carry))) = bins.next()
            {
                let run = if bin == self.bin { self.run } else { 0 };
                cumulative += u64::from(*count) + (u64::from(carry) << 16) + run;
                last = bin;
            }
            middle(last)
        }))
    }
}

/// `counts` behind `before` new ones, `length` counts in all.
fn moved<T: Copy + Default>(counts: &[T], before: usize, length: usize) -> Box<[T]> {
    let mut moved = vec![T::default(); length].into_boxed_slice();
    moved[before..before + counts.len()].copy_from_slice(counts);
    moved
}

/// The bin of a number of picoseconds: exact below 128, then 128 bins per doubling.
fn bin(picoseconds: u64) -> u32 {
    // The bit that is set changes nothing above it, and stands for all that is below.
    let doublings = (64 - PARTS_LOG2 - 1) - (picoseconds | 1 << PARTS_LOG2).leading_zeros();
    (doublings << PARTS_LOG2) + (picoseconds >> doublings) as u32
}

/// The smallest number in a bin, and how many there are.
fn bounds(bin: u32) -> (u64, u64) {
    let doublings = (bin >> PARTS_LOG2).saturating_sub(1);
    (u64::from(bin - (doublings << PARTS_LOG2)) << doublings, 1 << doublings)
}

/// The middle of a bin.
fn middle(bin: u32) -> Span {
    let (low, width) = bounds(bin);
    Span(low + width / 2)
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
        assert_eq!(histogram.percentiles([0.01, 0.01, 0.5, 1.0]), Some([1, 1, 50, 100].map(Span)));
        assert_eq!(Histogram::default().percentile(0.5), None);
    }

    /// In order: 5 once, 100 60 000 times, 1010 70 000 times, a million once, recorded so that room is made on both sides
    /// of a count that has passed 2^16 already.
    #[test]
    fn counts_do_not_end_at_16_bits() {
        let mut histogram = Histogram::default();
        let mut record = |n, times| (0..times).for_each(|_| histogram.record(Span(n)));
        record(1010, 70_000);
        record(100, 60_000);
        record(5, 1);
        record(1_000_000, 1);
        assert_eq!(histogram.total(), 130_002);
        // Half a rank below each, so that rounding does not lead to the next.
        let rank = |rank: u32| histogram.percentile((f64::from(rank) - 0.5) / 130_002.0).unwrap().0;
        assert_eq!((rank(1), rank(2), rank(60_001)), (5, 100, 100));
        assert!(rank(60_002).abs_diff(1010) <= 4 && rank(130_001).abs_diff(1010) <= 4);
        assert!(rank(130_002).abs_diff(1_000_000) <= 4000);
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
            let measured = histogram.percentile(share).unwrap().0;
            prop_assert!(measured.abs_diff(exact) <= exact / 255);
        }
    }
}
