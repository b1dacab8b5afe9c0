//! A reserve for the moment in which memory ends.
//!
//! What grows with a run asks for memory in a way that can fail (`memory.rs` of `ackclock-sim`). Everything else is small,
//! and the standard library ends the process when such an allocation fails. So the first small allocation that the system
//! refuses gets the reserve back to the system and succeeds, and the runs under way fail as soon as they ask for more.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::AcqRel, Ordering::Relaxed};

use ackclock_sim::memory::{is_short, set_short};

/// The reserve. It is address space only: nothing is written to it.
const RESERVE: Layout = match Layout::from_size_align(32 << 20, 16) {
    Ok(layout) => layout,
    Err(_) => unreachable!(),
};
/// Length up to which an allocation is small, bytes. What is larger belongs to something that grows, which asks first.
const SMALL: usize = 64 << 10;

static KEPT: AtomicPtr<u8> = AtomicPtr::new(null_mut());

#[global_allocator]
static ALLOCATOR: WithReserve = WithReserve;

/// The system's allocator with a reserve.
struct WithReserve;

/// Sees to it that memory is kept back when a run begins, and again when everything that it used is free. Declare it before
/// everything else, so that it is dropped last.
pub struct Kept(());

impl Kept {
    pub fn new() -> Self {
        keep();
        Kept(())
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        keep();
    }
}

/// Keeps memory back, unless it is kept already or the system has none.
#[expect(unsafe_code, reason = "memory is kept back from the system's allocator itself")]
fn keep() {
    if !KEPT.load(Relaxed).is_null() {
        return;
    }
    // SAFETY: the layout is not empty.
    let kept = unsafe { System.alloc(RESERVE) };
    if kept.is_null() {
        return;
    }
    set_short(false);
    if KEPT.compare_exchange(null_mut(), kept, AcqRel, Relaxed).is_err() {
        // SAFETY: allocated above with this layout; another thread was faster, and nobody else knows of it.
        unsafe { System.dealloc(kept, RESERVE) };
    }
}

/// Returns the reserve to the system. Returns whether an allocation of `bytes` bytes that was refused is worth another try.
#[cold]
#[expect(unsafe_code, reason = "memory was kept back from the system's allocator itself")]
fn release(bytes: usize) -> bool {
    if bytes > SMALL {
        return false;
    }
    let kept = KEPT.swap(null_mut(), AcqRel);
    if !kept.is_null() {
        set_short(true);
        // SAFETY: allocated with this layout in `keep`, and taken by this thread alone.
        unsafe { System.dealloc(kept, RESERVE) };
    }
    // Another thread may just have released it.
    is_short()
}

#[expect(unsafe_code, reason = "the trait is unsafe; everything is passed on to the system's allocator")]
// SAFETY: every call is passed on to the system's allocator, which keeps the contract; a second call after a refusal is one
// that the caller could have made.
unsafe impl GlobalAlloc for WithReserve {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is that of the system's allocator.
        let allocated = unsafe { System.alloc(layout) };
        if allocated.is_null() && release(layout.size()) {
            // SAFETY: as above.
            return unsafe { System.alloc(layout) };
        }
        allocated
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is that of the system's allocator.
        let allocated = unsafe { System.alloc_zeroed(layout) };
        if allocated.is_null() && release(layout.size()) {
            // SAFETY: as above.
            return unsafe { System.alloc_zeroed(layout) };
        }
        allocated
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise is that of the system's allocator.
        let allocated = unsafe { System.realloc(pointer, layout, size) };
        if allocated.is_null() && release(size) {
            // SAFETY: as above; a refusal leaves the old memory as it was.
            return unsafe { System.realloc(pointer, layout, size) };
        }
        allocated
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is that of the system's allocator.
        unsafe { System.dealloc(pointer, layout) };
    }
}
