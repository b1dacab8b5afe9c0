//! Controls of other crates, from shared libraries (see `ackclock_cc::library`).

use std::ffi::{CStr, c_char};

use ackclock_cc::erased::ErasedController;
use ackclock_cc::library::{BUILD, BUILD_SYMBOL, ENTRIES_SYMBOL};
use ackclock_cc::registry::{Build, Check, Entry, NamedValues};
use ackclock_cc::{Decision, Signal, Wants};
use ackclock_units::Time;
use libloading::Library;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::catalogue;
use crate::errors::SimulationError;
use crate::own::raise;

/// Adds the controls of a library, each named `PATH:NAME` after a prefix, and returns their names; the library
/// stays loaded as long as the process.
#[pyfunction]
pub fn load_library(path: &str, prefix: &str) -> PyResult<Vec<String>> {
    // With a slash in it the linker looks nowhere else.
    let location = if path.contains('/') { path.to_owned() } else { format!("./{path}") };
    let entries = entries(&location).map_err(PyValueError::new_err)?;
    let mut names = Vec::new();
    for entry in entries {
        let name: &'static str = Box::leak(format!("{prefix}{path}:{}", entry.name).into_boxed_str());
        names.push(name.to_owned());
        let build: &'static Build = Box::leak(Box::new(move |values: NamedValues<'_>, start| {
            let control = Foreign { name, control: entry.build(values, start)? };
            control.examine(control.control.decision());
            Ok(Box::new(control) as Box<dyn ErasedController>)
        }));
        let check: &'static Check = Box::leak(Box::new(move |values: NamedValues<'_>| entry.check(values)));
        // With a colon in it no built-in control is called so.
        catalogue::add(Entry::of_dynamic(name, entry.source, entry.parameters, build, check));
    }
    Ok(names)
}

/// A control of a library, whose failures end the run as those of a control in Python do.
struct Foreign {
    name: &'static str,
    control: Box<dyn ErasedController>,
}

impl Foreign {
    /// Ends the run if the control has failed, or decides what the contract forbids.
    fn examine(&self, decision: Decision) -> Decision {
        let window = decision.window.0;
        let problem = if let Some(why) = self.control.failure() {
            if why.is_empty() { "panicked".to_owned() } else { why.to_owned() }
        } else if !(window.is_finite() && window >= 1.0) {
            format!("has a window of {window}; a window is a finite number of packets, at least 1")
        } else if decision.ssthresh.0.is_nan() {
            "has an ssthresh that is not a number".to_owned()
        } else if decision.pacing_rate.is_some_and(|rate| !(rate.0.is_finite() && rate.0 > 0.0)) {
            "has a pacing rate that is not a finite number above 0".to_owned()
        } else {
            return decision;
        };
        raise(SimulationError::new_err(format!("{} {problem}", self.name)))
    }
}

impl ErasedController for Foreign {
    fn on(&mut self, now: Time, signal: Signal) -> Decision {
        let decision = self.control.on(now, signal);
        self.examine(decision)
    }

    fn decision(&self) -> Decision {
        self.control.decision()
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.control.internals(visit);
    }

    fn wants(&self) -> Wants {
        self.control.wants()
    }

    fn duplicate(&self) -> Box<dyn ErasedController> {
        let copy = Foreign { name: self.name, control: self.control.duplicate() };
        copy.examine(copy.control.decision());
        Box::new(copy)
    }
}

#[expect(unsafe_code, reason = "a shared library can only be trusted, as any code that one runs")]
fn entries(path: &str) -> Result<&'static [Entry], String> {
    // SAFETY: its initialisers run; whoever names a library means to run it.
    let library = unsafe { Library::new(path) }.map_err(|error| format!("cannot be loaded: {error}"))?;
    let library: &'static Library = Box::leak(Box::new(library));
    let none = |_| "is not a library of controls; list its controls with ackclock_cc::library!".to_owned();
    // SAFETY: the symbol is a function of this type in every version of ackclock-cc.
    let build = unsafe { library.get::<extern "C" fn() -> *const c_char>(BUILD_SYMBOL) }.map_err(none)?;
    // SAFETY: it points to a text that ends with a zero and lives as long as the library.
    let theirs = unsafe { CStr::from_ptr(build()) }.to_string_lossy();
    let ours = BUILD.trim_end_matches('\0');
    if theirs != ours {
        return Err(format!("was built by {theirs}; build it with {ours}"));
    }
    // SAFETY: the build names the compiler and every source that has a part in this type and its layout.
    let entries = unsafe { library.get::<&'static &'static [Entry]>(ENTRIES_SYMBOL) }.map_err(none)?;
    Ok(*entries)
}
