//! Controls of another crate as a shared library, loaded when a scenario names them.
//!
//! The library is a crate of type `cdylib` that lists its controls with
//! [`library!`](crate::library!). It hands over Rust values, on whose layout only the same compiler
//! and the same `ackclock-cc` agree; [`BUILD`] names both, and a loader compares it first.

/// The version of this crate and of the compiler that built it.
pub const BUILD: &str =
    concat!("ackclock-cc ", env!("CARGO_PKG_VERSION"), ", ", env!("ACKCLOCK_COMPILER"), "\0");

/// Symbol of a function that gives the address of [`BUILD`]; C's calling convention, so that it can be
/// called whatever built it.
pub const BUILD_SYMBOL: &[u8] = b"ackclock_build\0";

/// Symbol of a static slice of entries.
pub const ENTRIES_SYMBOL: &[u8] = b"ACKCLOCK_ENTRIES\0";

/// Lists the controls of a library: a name, a source, and the type for each.
///
/// ```
/// # use ackclock_cc::reno::Reno;
/// ackclock_cc::library! {
///     "my-reno", "RFC 5681, written again" => Reno;
/// }
/// ```
#[macro_export]
macro_rules! library {
    ($($name:literal, $source:literal => $control:ty;)+) => {
        #[doc = "Version of ackclock-cc and of the compiler, ended by a zero."]
        #[unsafe(no_mangle)]
        pub extern "C" fn ackclock_build() -> *const ::core::ffi::c_char {
            $crate::library::BUILD.as_ptr().cast()
        }

        #[doc = "The controls of this library."]
        #[unsafe(no_mangle)]
        pub static ACKCLOCK_ENTRIES: &[$crate::registry::Entry] =
            &[$($crate::registry::Entry::of::<$control>($name, $source),)+];
    };
}
