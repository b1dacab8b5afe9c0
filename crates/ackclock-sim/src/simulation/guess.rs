//! Guesses of the component that acts next.
//!
//! Where the data of an event is depends on its component, so that a processor has little to do while it compares the
//! times of the schedule. But events repeat themselves: after a packet has left a link, mostly the same component acts as
//! after the packet before it. A processor foresees the branch that compares the guess with the truth, and continues with
//! the guess while the comparisons are under way. It changes nothing but the time that things take.

/// Components with guesses; others share them.
const KEPT: usize = 8;

/// What acted after each component when it acted last.
#[derive(Debug, Default)]
pub struct Guesses {
    /// The number of that component, twice: the one to compare, and the one to continue with. If they were one, the compiler
    /// would see that the answer is always the truth, and leave the comparison out.
    next: [[u32; 2]; KEPT],
    /// The entry of the component that acted last.
    last: usize,
}

impl Guesses {
    /// The component with the number `truth` acts. Returns that number.
    #[inline(always)]
    pub fn take(&mut self, truth: u32) -> u32 {
        let [compared, guess] = self.next[self.last];
        let number = if compared == truth {
            guess
        } else {
            rarely();
            self.next[self.last] = [truth; 2];
            truth
        };
        self.last = number as usize % KEPT;
        number
    }
}

/// Makes the comparison before it a branch: a choice between two values would wait for it.
#[cold]
#[inline]
const fn rarely() {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn returns_the_truth(numbers in prop::collection::vec(0..20_u32, 0..200)) {
            let mut guesses = Guesses::default();
            for number in numbers {
                prop_assert_eq!(guesses.take(number), number);
            }
        }
    }
}
