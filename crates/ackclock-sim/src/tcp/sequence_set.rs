//! The set of packets above a base that have arrived (at a receiver) or were reported as arrived (at a sender).
//!
//! One slot per packet in a ring. A slot of a packet that is in the set points past packets that are in it
//! too; following the pointers, and shortening them on the way (path halving, as in a union-find), finds the
//! next missing packet in amortised time that does not depend on how many packets are in the set or
//! missing. Nothing is scanned, and memory is allocated only to double the ring. As there are two rings per flow, slots
//! are half as wide while they can be.

use std::mem::offset_of;

use crate::memory::slots;

/// A set of sequence numbers at or above a base that moves up.
// The order is that of memory: the slots are needed only while the set is not empty.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct SequenceSet {
    slots: Slots,
    base: u64,
    len: u64,
}

/// The slot of a number: the distance to a later number such that all between are in the set, 0 when this one is not; and,
/// in the last slot of a block, the distance to the block's first number.
type Slot<D> = (D, D);

/// A distance in a slot. None exceeds the number of slots.
trait Distance: Copy + Default + Into<u64> {
    fn of(distance: u64) -> Self;
}

impl Distance for u16 {
    #[inline]
    fn of(distance: u64) -> Self {
        distance as u16
    }
}

impl Distance for u32 {
    #[inline]
    fn of(distance: u64) -> Self {
        distance as u32
    }
}

/// Slots of the ring.
#[derive(Clone, Debug)]
enum Slots {
    Narrow(Vec<Slot<u16>>),
    Wide(Vec<Slot<u32>>),
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

/// Applies one expression to slots of either width.
macro_rules! with {
    ($slots:expr, $ring:ident => $does:expr) => {
        match $slots {
            Slots::Narrow($ring) => $does,
            Slots::Wide($ring) => $does,
        }
    };
}

#[inline]
fn index_of<D>(ring: &[Slot<D>], sequence: u64) -> usize {
    sequence as usize & ring.len().wrapping_sub(1)
}

/// The slot of `sequence`, which is not below the base of the ring.
#[inline]
fn slot<D: Distance>(ring: &[Slot<D>], base: u64, sequence: u64) -> Slot<D> {
    if sequence - base >= ring.len() as u64 { Slot::default() } else { ring[index_of(ring, sequence)] }
}

#[inline]
fn next_missing<D: Distance>(ring: &mut [Slot<D>], base: u64, mut sequence: u64) -> u64 {
    loop {
        let step: u64 = slot(ring, base, sequence).0.into();
        if step == 0 {
            return sequence;
        }
        let next = sequence + step;
        let beyond: u64 = slot(ring, base, next).0.into();
        if beyond == 0 {
            return next;
        }
        let index = index_of(ring, sequence);
        ring[index].0 = D::of(step + beyond);
        sequence = next + beyond;
    }
}

/// Adds `sequence`, for which the ring has a slot. Returns its block, or `None` when it was there already.
#[inline]
fn insert<D: Distance>(ring: &mut [Slot<D>], base: u64, sequence: u64) -> Option<(u64, u64)> {
    let index = index_of(ring, sequence);
    if ring[index].0.into() > 0 {
        return None;
    }
    let (forward, back) = if sequence > base { ring[index_of(ring, sequence - 1)] } else { Slot::default() };
    let first = if forward.into() > 0 { sequence - 1 - back.into() } else { sequence };
    let end = next_missing(ring, base, sequence + 1);
    ring[index].0 = D::of(end - sequence);
    let last = index_of(ring, end - 1);
    ring[last].1 = D::of(end - 1 - first);
    Some((first, end))
}

/// The same numbers in a ring of `count` slots.
fn moved<D: Distance, E: Distance>(ring: &[Slot<D>], base: u64, count: usize) -> Vec<Slot<E>> {
    let mut new = slots(count);
    for sequence in base..base + ring.len() as u64 {
        let (forward, back) = ring[index_of(ring, sequence)];
        let index = index_of(&new, sequence);
        new[index] = (E::of(forward.into()), E::of(back.into()));
    }
    new
}

impl SequenceSet {
    /// The offset of the bytes that are needed even while the set is empty.
    pub const NEEDED_FROM: usize = offset_of!(SequenceSet, base);

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

    /// Whether `sequence` is in the set.
    #[inline]
    #[must_use]
    pub fn contains(&self, sequence: u64) -> bool {
        sequence >= self.base && with!(&self.slots, ring => slot(ring, self.base, sequence).0 > 0)
    }

    /// Adds `sequence`, which is at or above the base. Returns the block of consecutive numbers that it is now in, its first
    /// number and the one after its last, or `None` when it was there already. Exact as long as the base never moved into
    /// a block.
    pub fn insert(&mut self, sequence: u64) -> Option<(u64, u64)> {
        debug_assert!(sequence >= self.base, "{sequence} lies below {}", self.base);
        while sequence - self.base >= with!(&self.slots, ring => ring.len()) as u64 {
            self.grow();
        }
        let block = with!(&mut self.slots, ring => insert(ring, self.base, sequence));
        self.len += u64::from(block.is_some());
        block
    }

    /// The first number at or above `from` (and the base) that is not in the set.
    #[inline]
    pub fn next_missing(&mut self, from: u64) -> u64 {
        let from = from.max(self.base);
        with!(&mut self.slots, ring => next_missing(ring, self.base, from))
    }

    /// Adds the first number from `from` up to `end` that is not in the set, and moves `from` behind it. `None` when all are.
    #[inline]
    pub fn insert_missing(&mut self, from: &mut u64, end: u64) -> Option<u64> {
        if *from >= end {
            return None;
        }
        let sequence = self.next_missing(*from);
        *from = sequence + 1;
        (sequence < end).then(|| {
            self.insert(sequence);
            sequence
        })
    }

    /// Forgets every number; the base stays.
    pub fn clear(&mut self) {
        if self.len > 0 {
            with!(&mut self.slots, ring => ring.fill((0, 0)));
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
        self.len -= with!(&mut self.slots, ring => {
            let mut gone = 0;
            for sequence in self.base..base.min(self.base + ring.len() as u64) {
                let index = index_of(ring, sequence);
                gone += u64::from(std::mem::take(&mut ring[index]).0 > 0);
            }
            gone
        });
    }

    #[cold]
    fn grow(&mut self) {
        let base = self.base;
        self.slots = with!(&self.slots, ring => {
            let count = (ring.len() * 2).max(LEAST_SLOTS);
            if count <= MOST_NARROW {
                Slots::Narrow(moved(ring, base, count))
            } else {
                Slots::Wide(moved(ring, base, count))
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn what_is_missing_is_added_once() {
        let mut set = SequenceSet::default();
        for sequence in [2, 3, 6, 9] {
            set.insert(sequence);
        }
        let mut from = 1;
        let added: Vec<_> = std::iter::from_fn(|| set.insert_missing(&mut from, 8)).collect();
        assert_eq!(added, [1, 4, 5, 7]);
        assert_eq!((set.len(), set.next_missing(1), set.contains(0)), (8, 8, false));
        assert_eq!(set.insert_missing(&mut 1, 8), None);
    }

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
                    prop_assert_eq!(set.insert(far).is_some(), model.insert(far));
                    prop_assert!(matches!(set.slots, Slots::Wide(_)));
                }
                if advance {
                    // As receivers and senders do: never into the middle of a block.
                    base = set.next_missing(base + offset / 4);
                    set.advance(base);
                    model.retain(|sequence| *sequence >= base);
                } else {
                    let sequence = base + offset;
                    let block = set.insert(sequence);
                    prop_assert_eq!(block.is_some(), model.insert(sequence));
                    if let Some(block) = block {
                        let first = (base..=sequence).rev().take_while(|s| model.contains(s)).last().unwrap();
                        let end = (sequence..).find(|s| !model.contains(s)).unwrap();
                        prop_assert_eq!(block, (first, end));
                    }
                }
                prop_assert_eq!(set.len(), model.len() as u64);
                for from in [base, base + offset, base + offset / 2] {
                    let missing = (from..).find(|sequence| !model.contains(sequence)).unwrap();
                    prop_assert_eq!(set.next_missing(from), missing);
                    prop_assert_eq!(set.contains(from), model.contains(&from));
                }
            }
        }
    }
}
