//! Controls of another crate as a shared library, loaded when a scenario names them.
//!
//! The library is a crate of type `cdylib` that lists its controls with
//! [`library!`](crate::library!). It exports Rust values. Their layout is the same only with the same compiler and the
//! same sources of `ackclock-cc` and `ackclock-units`; [`BUILD`] names both, and a loader compares it first. A panic
//! must not leave the library, because the loader's Rust runtime cannot catch the panic of another: [`Guarded`] keeps
//! it as a failure, which the loader reads.

use alloc::boxed::Box;
use alloc::string::String;
use core::marker::PhantomData;

use ackclock_units::{Time, Window};

use crate::erased::ErasedController;
use crate::{Controller, Decision, Signal, Wants};

/// The version of this crate, a hash of the sources that the two sides must share, and the compiler that built it.
pub const BUILD: &str = concat!(
    "ackclock-cc ",
    env!("CARGO_PKG_VERSION"),
    ", sources ",
    env!("ACKCLOCK_SOURCES"),
    ", ",
    env!("ACKCLOCK_COMPILER"),
    "\0"
);

/// Symbol of a function that gives the address of [`BUILD`]; C's calling convention, so that it can be
/// called whatever built it.
pub const BUILD_SYMBOL: &[u8] = b"ackclock_build\0";

/// Symbol of a static slice of entries.
pub const ENTRIES_SYMBOL: &[u8] = b"ACKCLOCK_ENTRIES\0";

/// How a library catches its own panics: this crate has no standard library to do it with.
pub trait Catch: 'static {
    /// Does `work`.
    ///
    /// # Errors
    /// The location and the message of the panic, in one line.
    fn catch(work: &mut dyn FnMut()) -> Result<(), String>;
}

/// A control of a library. After a panic it decides nothing more, and [`ErasedController::failure`] says why.
#[derive(Debug)]
pub struct Guarded<C, K: Catch> {
    /// None when its construction panicked.
    control: Option<C>,
    decision: Decision,
    failure: Option<String>,
    catch: PhantomData<fn() -> K>,
}

impl<C: Controller, K: Catch> Guarded<C, K> {
    /// The control that `new` makes.
    pub fn of(new: impl FnOnce() -> C) -> Self {
        let decision =
            Decision { window: Window(1.0), ssthresh: Window::UNLIMITED, pacing_rate: None, quantum: None };
        let mut guarded = Guarded { control: None, decision, failure: None, catch: PhantomData };
        let mut new = Some(new);
        let outcome = guarded_call::<K, _>(|| {
            let control = new.take().map(|new| new());
            let decision = control.as_ref().map(Controller::decision);
            (control, decision)
        });
        match outcome {
            Ok((control, decision)) => {
                guarded.control = control;
                guarded.decision = decision.unwrap_or(guarded.decision);
            }
            Err(why) => guarded.failure = Some(why),
        }
        guarded
    }
}

/// The result of `work`, or the message of its panic.
fn guarded_call<K: Catch, T>(mut work: impl FnMut() -> T) -> Result<T, String> {
    let mut done = None;
    K::catch(&mut || done = Some(work()))?;
    Ok(done.expect("what did not panic returned"))
}

/// Calls `work` in a library. A panic is reported as the rule that the parameters break.
///
/// # Errors
/// As `work`.
pub fn guarded_check<K: Catch, T, E>(
    work: impl FnMut() -> Result<T, E>,
    explain: impl FnOnce(&'static str) -> E,
) -> Result<T, E> {
    // The text of a refusal is static, so the message is leaked. This is rare, because such a control is not used any
    // more.
    guarded_call::<K, _>(work).unwrap_or_else(|why| Err(explain(Box::leak(why.into_boxed_str()))))
}

impl<C: Controller, K: Catch> ErasedController for Guarded<C, K> {
    fn on(&mut self, now: Time, signal: Signal) -> Decision {
        if let (Some(control), None) = (&mut self.control, &self.failure) {
            let decided = guarded_call::<K, _>(|| {
                Controller::on(control, now, signal);
                Controller::decision(control)
            });
            match decided {
                Ok(decision) => self.decision = decision,
                Err(why) => self.failure = Some(why),
            }
        }
        self.decision
    }

    fn decision(&self) -> Decision {
        self.decision
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        // Internals are only for display, so a panic here is not a failure: the control shows fewer of them.
        if let (Some(control), None) = (&self.control, &self.failure) {
            let _ = K::catch(&mut || Controller::internals(control, visit));
        }
    }

    fn wants(&self) -> Wants {
        C::WANTS
    }

    fn duplicate(&self) -> Box<dyn ErasedController> {
        let (control, failure) = match guarded_call::<K, _>(|| self.control.clone()) {
            Ok(control) => (control, self.failure.clone()),
            Err(why) => (None, Some(why)),
        };
        Box::new(Guarded { control, decision: self.decision, failure, catch: self.catch })
    }

    fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}

impl<C, K: Catch> Drop for Guarded<C, K> {
    fn drop(&mut self) {
        let _ = K::catch(&mut || drop(self.control.take()));
    }
}

/// Lists the controls of a library: a name, a source, and the type for each. The panic of a control becomes the failure
/// of its run.
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
        #[cfg(not(panic = "unwind"))]
        ::core::compile_error!("a library of controls needs panic = \"unwind\": its panics are caught");

        /// Catches the panics of this library.
        enum AckclockCatch {}

        impl $crate::library::Catch for AckclockCatch {
            fn catch(work: &mut dyn FnMut()) -> ::core::result::Result<(), ::std::string::String> {
                static HOOK: ::std::sync::Once = ::std::sync::Once::new();
                ::std::thread_local! {
                    static MESSAGE: ::std::cell::RefCell<::std::string::String> = const {
                        ::std::cell::RefCell::new(::std::string::String::new())
                    };
                }
                // It becomes part of the failure, and is not also printed.
                HOOK.call_once(|| {
                    ::std::panic::set_hook(::std::boxed::Box::new(|panic| MESSAGE.set(panic.to_string())));
                });
                ::std::panic::catch_unwind(::std::panic::AssertUnwindSafe(work)).map_err(|payload| {
                    // The payload may itself panic when it is dropped.
                    ::core::mem::forget(payload);
                    let message = MESSAGE.take();
                    message.split_whitespace().collect::<::std::vec::Vec<_>>().join(" ")
                })
            }
        }

        #[doc = "Version of ackclock-cc and of the compiler, ended by a zero."]
        #[unsafe(no_mangle)]
        pub extern "C" fn ackclock_build() -> *const ::core::ffi::c_char {
            $crate::library::BUILD.as_ptr().cast()
        }

        #[doc = "The controls of this library."]
        #[unsafe(no_mangle)]
        pub static ACKCLOCK_ENTRIES: &[$crate::registry::Entry] =
            &[$($crate::registry::Entry::of_library::<$control, AckclockCatch>($name, $source),)+];
    };
}
