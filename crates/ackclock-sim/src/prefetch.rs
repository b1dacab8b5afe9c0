//! Asks the processor for memory that is needed soon.

/// Asks for all of `value`. It changes nothing but the time that things take.
#[inline]
pub fn prefetch<T: ?Sized>(value: &T) {
    prefetch_part(value, (0, size_of_val(value)));
}

/// Asks for the bytes of `value` from the first to the second of `part`.
#[inline]
#[allow(unsafe_code, reason = "a prefetch takes a pointer")]
pub fn prefetch_part<T: ?Sized>(value: &T, part: (usize, usize)) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        /// Bytes of a cache line.
        const LINE: usize = 64;
        let start = std::ptr::from_ref(value).cast::<i8>();
        for offset in (part.0 / LINE * LINE..part.1.min(size_of_val(value))).step_by(LINE) {
            // SAFETY: the address is within `value`, and a prefetch neither reads nor writes.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.add(offset)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (value, part);
}
