//! The built-in controls, and the one that is written in the page.

use std::cell::RefCell;

use ackclock_cc::registry::{Catalogue, Entry};
use ackclock_sim::BuiltIn;

thread_local! {
    static OWN: RefCell<Option<Entry>> = const { RefCell::new(None) };
}

/// All controls as they are at one moment.
pub struct Everything(Vec<Entry>);

impl Everything {
    /// The controls as they are now.
    pub fn now() -> Self {
        Everything(BuiltIn.entries().iter().copied().chain(OWN.with_borrow(|own| *own)).collect())
    }
}

impl Catalogue for Everything {
    fn entries(&self) -> &[Entry] {
        &self.0
    }
}

/// Adds the control that is written in the page, in place of one before.
pub fn add(entry: Entry) {
    OWN.set(Some(entry));
}
