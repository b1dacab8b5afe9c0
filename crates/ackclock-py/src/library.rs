//! Controls of other crates, from shared libraries (see `ackclock_cc::library`).

use std::ffi::{CStr, c_char};

use ackclock_cc::library::{BUILD, BUILD_SYMBOL, ENTRIES_SYMBOL};
use ackclock_cc::registry::Entry;
use libloading::Library;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::catalogue;

/// Adds the controls of a library, each named `PATH:NAME`, and returns their names; the library
/// stays loaded as long as the process.
#[pyfunction]
pub fn load_library(path: &str) -> PyResult<Vec<String>> {
    let entries = entries(path).map_err(PyValueError::new_err)?;
    let mut names = Vec::new();
    for entry in entries {
        let name = format!("{path}:{}", entry.name);
        names.push(name.clone());
        // With a colon in it no built-in control is called so.
        catalogue::add(entry.named(Box::leak(name.into_boxed_str())));
    }
    Ok(names)
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
    // SAFETY: the same compiler and the same ackclock-cc gave the static this type and this layout.
    let entries = unsafe { library.get::<&'static &'static [Entry]>(ENTRIES_SYMBOL) }.map_err(none)?;
    Ok(*entries)
}
