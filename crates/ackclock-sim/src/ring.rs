//! A first-in, first-out queue of small values in a ring.

use crate::memory::slots;

/// Values in order of arrival, each at a position; positions only rise. The ring's length is a power of two, so that a
/// slot is found without a division or a comparison; memory is allocated only to double it. Every packet passes several
/// of these per hop: the standard library's queue, whose length is any number, costs 50 of 1600 instructions per packet
/// more.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    slots: Vec<T>,
    first: u64,
    end: u64,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Ring { slots: Vec::new(), first: 0, end: 0 }
    }
}

impl<T: Copy + Default> Ring<T> {
    /// The position of the first value, if there is one.
    #[inline]
    #[must_use]
    pub const fn first(&self) -> u64 {
        self.first
    }

    /// Number of values.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.end - self.first
    }

    /// Whether there is none.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.first == self.end
    }

    /// The value at `position`, which is not before the first; `None` after the last.
    #[inline]
    #[must_use]
    pub fn get(&self, position: u64) -> Option<&T> {
        debug_assert!(position >= self.first);
        if position < self.end { Some(&self.slots[self.index(position)]) } else { None }
    }

    /// The first value.
    #[inline]
    #[must_use]
    pub fn front(&self) -> Option<&T> {
        self.get(self.first)
    }

    /// The last value.
    #[inline]
    #[must_use]
    pub fn back(&self) -> Option<&T> {
        if self.is_empty() { None } else { Some(&self.slots[self.index(self.end - 1)]) }
    }

    /// Adds a value.
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.is_full() {
            self.grow();
        }
        self.push_within(value);
    }

    /// The position of the next value that is added.
    #[inline]
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// Whether the next value makes the ring grow.
    #[inline]
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.end - self.first == self.slots.len() as u64
    }

    /// Makes room for another value: takes out all before `position`, which is not after the end, and grows if there are none.
    #[cold]
    #[inline(never)]
    pub fn make_room(&mut self, position: u64) {
        debug_assert!(self.first <= position && position <= self.end);
        self.first = position;
        if self.is_full() {
            self.grow();
        }
    }

    /// Adds a value where there is room.
    #[inline]
    pub fn push_within(&mut self, value: T) {
        debug_assert!(!self.is_full());
        let index = self.index(self.end);
        self.slots[index] = value;
        self.end += 1;
    }

    /// Takes the last value out.
    pub fn pop_back(&mut self) -> Option<T> {
        let value = *self.back()?;
        self.end -= 1;
        Some(value)
    }

    /// Takes the first value out.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let value = *self.front()?;
        self.first += 1;
        Some(value)
    }

    /// All values in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (self.first..self.end).map(|position| &self.slots[self.index(position)])
    }

    #[inline]
    fn index(&self, position: u64) -> usize {
        position as usize & (self.slots.len() - 1)
    }

    /// Doubles the ring. It does not see the value that needs the room, so that this need not be in memory for it.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let length = (2 * self.slots.len()).max(4);
        let mut slots = slots(length);
        for (position, value) in (self.first..).zip(self.iter()) {
            slots[position as usize & (length - 1)] = *value;
        }
        self.slots = slots;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// Against the queue of the standard library.
        #[test]
        fn agrees_with_a_queue(steps in prop::collection::vec(prop::option::weighted(0.6, any::<u8>()), 0..300)) {
            let (mut ring, mut queue, mut popped) = (Ring::default(), VecDeque::new(), 0);
            for step in steps {
                match step {
                    Some(value) => {
                        ring.push(value);
                        queue.push_back(value);
                    }
                    None => {
                        let value = ring.pop();
                        popped += u64::from(value.is_some());
                        prop_assert_eq!(value, queue.pop_front());
                    }
                }
                prop_assert_eq!((ring.len(), ring.first()), (queue.len() as u64, popped));
                prop_assert!(ring.iter().eq(queue.iter()));
                prop_assert_eq!(ring.back(), queue.back());
                prop_assert_eq!(ring.get(popped + 2), queue.get(2));
                prop_assert_eq!(ring.get(popped + ring.len()), None);
            }
        }
    }
}
