//! The built-in controls, the kernel's code of them, and those that were added at run time.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ackclock_cc::registry::{Catalogue, Entry};
use ackclock_kernel::twin;
use ackclock_sim::BuiltIn;

static ADDED: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

fn added() -> MutexGuard<'static, Vec<Entry>> {
    ADDED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All controls as they are at one moment.
pub struct Everything(Vec<Entry>);

impl Everything {
    /// The controls as they are now.
    pub fn now() -> Self {
        let ours = BuiltIn.entries().iter().chain(twin::entries());
        Everything(ours.chain(added().iter()).copied().collect())
    }

    /// The controls as they are now, and one more.
    pub fn with(entry: Entry) -> Self {
        let mut all = Everything::now();
        all.0.push(entry);
        all
    }
}

impl Catalogue for Everything {
    fn entries(&self) -> &[Entry] {
        &self.0
    }
}

/// Whether a control is built in or the kernel's, not one that was added.
pub fn is_ours(name: &str) -> bool {
    BuiltIn.find(name).is_some() || twin::entries().iter().any(|entry| entry.name == name)
}

/// Adds a control, or replaces one that was added under its name; false if that name is built in.
pub fn add(entry: Entry) -> bool {
    if is_ours(entry.name) {
        return false;
    }
    let mut added = added();
    added.retain(|other| other.name != entry.name);
    added.push(entry);
    true
}
