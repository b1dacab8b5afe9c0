//! Guesses of the component that acts next.
//!
//! The address of an event's data depends on its component, so a processor has little to do while it compares the times
//! of the schedule. But events repeat themselves: after a packet has left a link, the component that acts is mostly the
//! same as after the previous packet. A processor foresees the branch that compares the guess with the truth, and
//! continues with the guess while the comparisons are under way. Only the speed of the run changes.

/// The number of guesses; components whose numbers are equal modulo this share one.
const KEPT: usize = 8;

/// For each component, the component that acted after it the last time.
#[derive(Debug, Default)]
pub struct Guesses {
    /// The number of that component, twice: the one to compare, and the one to continue with. With a single copy, the
    /// compiler would see that the answer is always the truth, and would remove the comparison.
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
