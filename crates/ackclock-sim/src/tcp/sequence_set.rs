//! The set of packets above a base that have arrived (at a receiver) or were reported as arrived (at a sender).
//!
//! One slot per packet in a ring. A slot of a packet that is in the set points past packets that are in it
//! too; following the pointers, and shortening them on the way (path halving, as in a union-find), finds the
//! next missing packet in amortised time that does not depend on how many packets are in the set or
//! missing. Nothing is scanned, and memory is allocated only to double the ring. As there are two rings per flow, slots
//! are half as wide while they can be.

use crate::memory::slots;

/// A set of sequence numbers at or above a base that moves up.
#[derive(Clone, Debug, Default)]
pub struct SequenceSet {
    base: u64,
    len: u64,
    slots: Slots,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// Distance to a later number such that all between are in the set; 0 when this one is not.
    forward: u32,
    /// In the last slot of a block: distance to the block's first number.
    back: u32,
}

/// Slots of the ring; no distance in them exceeds their number.
#[derive(Clone, Debug)]
enum Slots {
    Narrow(Vec<(u16, u16)>),
    Wide(Vec<(u32, u32)>),
}

/// Slots of the first ring: a window of few packets, as each of many flows has, needs no more.
const LEAST_SLOTS: usize = 16;
/// Most slots that can be narrow.
const MOST_NARROW: usize = 1 << 15;

impl Default for Slots {
    fn default() -> Self {
        Slots::Narrow(Vec::new())
    }
}

impl Slots {
    /// This many slots of numbers that are not in the set.
    fn new(count: usize) -> Self {
        if count <= MOST_NARROW { Slots::Narrow(slots(count)) } else { Slots::Wide(slots(count)) }
    }

    #[inline]
    fn len(&self) -> usize {
        match self {
            Slots::Narrow(slots) => slots.len(),
            Slots::Wide(slots) => slots.len(),
        }
    }

    #[inline]
    fn get(&self, index: usize) -> Slot {
        let (forward, back) = match self {
            Slots::Narrow(slots) => (slots[index].0.into(), slots[index].1.into()),
            Slots::Wide(slots) => slots[index],
        };
        Slot { forward, back }
    }

    #[inline]
    fn set(&mut self, index: usize, Slot { forward, back }: Slot) {
        match self {
            Slots::Narrow(slots) => slots[index] = (forward as u16, back as u16),
            Slots::Wide(slots) => slots[index] = (forward, back),
        }
    }

    fn clear(&mut self) {
        match self {
            Slots::Narrow(slots) => slots.fill((0, 0)),
            Slots::Wide(slots) => slots.fill((0, 0)),
        }
    }
}

impl SequenceSet {
    /// Numbers in the set.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    fn slot(&self, sequence: u64) -> Slot {
        if sequence < self.base || sequence - self.base >= self.slots.len() as u64 {
            return Slot::default();
        }
        self.slots.get(self.index(sequence))
    }

    #[inline]
    fn index(&self, sequence: u64) -> usize {
        sequence as usize & (self.slots.len() - 1)
    }

    /// Whether `sequence` is in the set.
    #[inline]
    #[must_use]
    pub fn contains(&self, sequence: u64) -> bool {
        self.slot(sequence).forward > 0
    }

    /// Adds `sequence`, which is at or above the base. Returns false when it was there already.
    pub fn insert(&mut self, sequence: u64) -> bool {
        debug_assert!(sequence >= self.base, "{sequence} lies below {}", self.base);
        if self.contains(sequence) {
            return false;
        }
        while sequence - self.base >= self.slots.len() as u64 {
            self.grow();
        }
        self.len += 1;
        self.set_forward(sequence, 1);
        let before = if sequence > self.base { self.slot(sequence - 1) } else { Slot::default() };
        let first = if before.forward > 0 { sequence - 1 - u64::from(before.back) } else { sequence };
        let end = self.next_missing(sequence + 1);
        self.set_forward(sequence, end - sequence);
        let last = self.index(end - 1);
        self.slots.set(last, Slot { back: (end - 1 - first) as u32, ..self.slots.get(last) });
        true
    }

    #[inline]
    fn set_forward(&mut self, sequence: u64, distance: u64) {
        let index = self.index(sequence);
        self.slots.set(index, Slot { forward: distance as u32, ..self.slots.get(index) });
    }

    /// The first number at or above `from` (and the base) that is not in the set.
    #[inline]
    pub fn next_missing(&mut self, from: u64) -> u64 {
        let mut sequence = from.max(self.base);
        loop {
            let step = u64::from(self.slot(sequence).forward);
            if step == 0 {
                return sequence;
            }
            let beyond = u64::from(self.slot(sequence + step).forward);
            if beyond > 0 {
                self.set_forward(sequence, step + beyond);
            }
            sequence += step + beyond;
        }
    }

    /// The block of consecutive numbers around `sequence`, which is in the set: its first number and the one
    /// after its last. Exact as long as the base never moved into a block.
    pub fn block(&mut self, sequence: u64) -> (u64, u64) {
        let end = self.next_missing(sequence);
        (end - 1 - u64::from(self.slot(end - 1).back), end)
    }

    /// Forgets every number; the base stays.
    pub fn clear(&mut self) {
        if self.len > 0 {
            self.slots.clear();
            self.len = 0;
        }
    }

    /// Moves the base up to `base`, forgetting all below.
    #[inline]
    pub fn advance(&mut self, base: u64) {
        debug_assert!(base >= self.base, "{base} lies below {}", self.base);
        if self.len > 0 {
            self.forget(base);
        }
        self.base = base;
    }

    fn forget(&mut self, base: u64) {
        let end = base.min(self.base + self.slots.len() as u64);
        for sequence in self.base..end {
            let index = self.index(sequence);
            self.len -= u64::from(self.slots.get(index).forward > 0);
            self.slots.set(index, Slot::default());
        }
    }

    #[cold]
    fn grow(&mut self) {
        let capacity = (self.slots.len() * 2).max(LEAST_SLOTS);
        let mut slots = Slots::new(capacity);
        for sequence in self.base..self.base + self.slots.len() as u64 {
            slots.set(sequence as usize & (capacity - 1), self.slots.get(self.index(sequence)));
        }
        self.slots = slots;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Against an ordered set of the standard library. A number that is far above the others makes the slots wide, at
        /// whichever step it comes.
        #[test]
        fn agrees_with_an_ordered_set(
            start in 0_u64..200,
            steps in prop::collection::vec((0_u64..300, prop::bool::weighted(0.05)), 1..400),
            far in prop::option::of(0_usize..400),
        ) {
            let mut set = SequenceSet::default();
            let mut model = BTreeSet::new();
            let mut base = start;
            set.advance(base);
            for (step, (offset, advance)) in steps.into_iter().enumerate() {
                if far == Some(step) {
                    let far = base + MOST_NARROW as u64;
                    prop_assert_eq!(set.insert(far), model.insert(far));
                    prop_assert!(matches!(set.slots, Slots::Wide(_)));
                }
                if advance {
                    // As receivers and senders do: never into the middle of a block.
                    base = set.next_missing(base + offset / 4);
                    set.advance(base);
                    model.retain(|sequence| *sequence >= base);
                } else {
                    prop_assert_eq!(set.insert(base + offset), model.insert(base + offset));
                }
                prop_assert_eq!(set.len(), model.len() as u64);
                for from in [base, base + offset, base + offset / 2] {
                    let missing = (from..).find(|sequence| !model.contains(sequence)).unwrap();
                    prop_assert_eq!(set.next_missing(from), missing);
                    prop_assert_eq!(set.contains(from), model.contains(&from));
                    if model.contains(&from) {
                        let first = (base..=from).rev().take_while(|s| model.contains(s)).last().unwrap();
                        prop_assert_eq!(set.block(from), (first, missing));
                    }
                }
            }
        }
    }
}
