//! The paths of the system's programs, regardless of `PATH`: for programs that run as root.

extern crate std;

use std::path::{Path, PathBuf};

/// Folders of the system's programs, the last on NixOS.
const FOLDERS: [&str; 5] = ["/usr/sbin", "/usr/bin", "/sbin", "/bin", "/run/current-system/sw/bin"];

/// Returns the system's own program of this name, wherever `PATH` leads.
#[must_use]
pub fn of_system(name: &str) -> PathBuf {
    within(name, &FOLDERS)
}

/// A program that is in none of the folders gets its path in the first folder, where no file is found.
fn within(name: &str, folders: &[&str]) -> PathBuf {
    let places = folders.iter().map(|folder| Path::new(folder).join(name));
    places
        .clone()
        .find(|place| place.exists())
        .or_else(|| places.clone().next())
        .unwrap_or_else(|| name.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever comes first in `PATH`, a program is the system's.
    #[test]
    fn programs_have_absolute_names() {
        for name in ["sh", "mount", "ss", "ip"] {
            assert!(of_system(name).is_absolute() && of_system(name).ends_with(name));
        }
        assert_eq!(within("none", &["/a", "/b"]), Path::new("/a/none"));
        assert_eq!(within("sh", &["/nowhere", "/bin"]), Path::new("/bin/sh"));
    }
}
