//! Where the programs of the system are.

use std::path::PathBuf;

use ackclock_units::tools::of_system;
use nix::unistd::geteuid;

/// Returns the program of this name: as root the system's own, wherever `PATH` leads; otherwise as `PATH` finds it.
#[must_use]
pub fn tool(name: &str) -> PathBuf {
    if geteuid().is_root() { of_system(name) } else { name.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_root_have_absolute_names() {
        assert_eq!(tool("ip").is_absolute(), geteuid().is_root());
    }
}
