//! The smallest sample of a sliding window of time, in constant space.

use ackclock_units::{Span, Time};

/// Samples that are remembered, and so the number of parts into which the window is divided.
const SLOTS: usize = 16;

/// The smallest of the samples of a sliding window of time.
///
/// It remembers samples that no smaller one follows, at least a sixteenth of the window apart. So the
/// result is a sample of the window, and not larger than any of its newest fifteen sixteenths. The largest sample is
/// the smallest [`Reverse`](core::cmp::Reverse).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Windowed<T> {
    /// A ring: times and samples rise from `first` on.
    kept: [(Time, T); SLOTS],
    first: usize,
    count: usize,
}

impl<T: Copy + Ord> Windowed<T> {
    fn at(&self, index: usize) -> (Time, T) {
        self.kept[(self.first + index) % SLOTS]
    }

    fn forget_oldest(&mut self) {
        self.first = (self.first + 1) % SLOTS;
        self.count -= 1;
    }

    /// Takes `sample` at `now`; returns the smallest sample since `window` before now.
    pub fn note(&mut self, now: Time, sample: T, window: Span) -> T {
        while self.count > 0 && now.since(self.at(0).0) > window {
            self.forget_oldest();
        }
        while self.count > 0 && self.at(self.count - 1).1 >= sample {
            self.count -= 1;
        }
        if self.count == 0 || now.since(self.at(self.count - 1).0) >= Span(window.0 / SLOTS as u64) {
            // There are more only after the window has grown: samples forgotten before that are not missed either.
            if self.count == SLOTS {
                self.forget_oldest();
            }
            self.kept[(self.first + self.count) % SLOTS] = (now, sample);
            self.count += 1;
        }
        self.at(0).1
    }
}
