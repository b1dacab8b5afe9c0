//! Memory that grows with a run. When the system has none left, the run unwinds with [`OutOfMemory`] and fails alone,
//! whereas a failed allocation of the standard library ends the process and all other runs in it.

use std::collections::{BinaryHeap, TryReserveError, VecDeque};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The panic payload of a run that needs more memory than is available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

/// Whether the system has refused memory to a small allocation, which the program's allocator then served from a reserve.
static SHORT: AtomicBool = AtomicBool::new(false);

/// Sets whether memory is short. While it is, every run that asks for more unwinds with
/// [`OutOfMemory`]. An allocator with a reserve calls it: small allocations of the standard library cannot fail, so that
/// it has to serve them until a run reaches a place where it can.
pub fn set_short(short: bool) {
    SHORT.store(short, Relaxed);
}

/// Whether memory is short; see [`set_short`].
#[must_use]
pub fn is_short() -> bool {
    SHORT.load(Relaxed)
}

/// Unwinds with [`OutOfMemory`] if memory is short.
pub fn unwind_if_short() {
    or_unwind(Ok(()));
}

/// Unwinds with [`OutOfMemory`] if there was no memory to reserve, or memory is short.
pub fn or_unwind(reserved: Result<(), TryReserveError>) {
    if reserved.is_err() || is_short() {
        // The box of a type without size does not allocate.
        resume_unwind(Box::new(OutOfMemory));
    }
}

/// Unwinds with [`OutOfMemory`] unless there is room for about `bytes` bytes. Call it before data is allocated in many
/// small parts, or by a library that cannot fail.
pub fn look_for(bytes: usize) {
    or_unwind(Vec::<u8>::new().try_reserve_exact(bytes));
}

/// `length` default values.
pub fn slots<T: Clone + Default>(length: usize) -> Vec<T> {
    let mut slots = Vec::new();
    or_unwind(slots.try_reserve_exact(length));
    slots.resize(length, T::default());
    slots
}

/// The values of an iterator that knows how many it has.
pub fn collected<T>(values: impl ExactSizeIterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    or_unwind(all.try_reserve_exact(values.len()));
    all.extend(values);
    all
}

/// A collection that a run fills without a limit of its own. The rare part is never inlined, because it would keep its
/// callers from being inlined.
pub trait Grow<T> {
    /// Adds `value` at the end.
    fn add(&mut self, value: T);

    /// Makes room for another value.
    fn make_room(&mut self);
}

impl<T> Grow<T> for Vec<T> {
    #[inline]
    fn add(&mut self, value: T) {
        if self.len() == self.capacity() {
            self.make_room();
        }
        self.push(value);
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        or_unwind(self.try_reserve(1));
    }
}

impl<T> Grow<T> for VecDeque<T> {
    #[inline]
    fn add(&mut self, value: T) {
        if self.len() == self.capacity() {
            self.make_room();
        }
        self.push_back(value);
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        or_unwind(self.try_reserve(1));
    }
}

impl<T: Ord> Grow<T> for BinaryHeap<T> {
    #[inline]
    fn add(&mut self, value: T) {
        if self.len() == self.capacity() {
            self.make_room();
        }
        self.push(value);
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        or_unwind(self.try_reserve(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No system has half of the address space.
    #[test]
    fn an_allocation_that_fails_unwinds() {
        let payload = std::panic::catch_unwind(|| slots::<u64>(1 << 60)).unwrap_err();
        assert_eq!(payload.downcast_ref(), Some(&OutOfMemory));
    }
}
