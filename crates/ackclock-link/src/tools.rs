//! Where the programs of the system are.

use std::path::{Path, PathBuf};

use nix::unistd::geteuid;

/// Folders of the system's programs, the last on NixOS.
const FOLDERS: [&str; 5] = ["/usr/sbin", "/usr/bin", "/sbin", "/bin", "/run/current-system/sw/bin"];

/// Returns the program of this name: as root the system's own, wherever `PATH` leads; otherwise as `PATH` finds it.
#[must_use]
pub fn tool(name: &str) -> PathBuf {
    if geteuid().is_root() { of_system(name, &FOLDERS) } else { name.into() }
}

/// A program that is in none of the folders has the name that it would have in the first, where nothing is found.
fn of_system(name: &str, folders: &[&str]) -> PathBuf {
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

    /// Whatever comes first in `PATH`, a program of root is the system's.
    #[test]
    fn programs_of_root_have_absolute_names() {
        assert_eq!(of_system("sh", &FOLDERS).file_name().unwrap(), "sh");
        assert!(of_system("sh", &FOLDERS).is_absolute());
        assert_eq!(of_system("none", &["/a", "/b"]), Path::new("/a/none"));
        assert_eq!(of_system("sh", &["/nowhere", "/bin"]), Path::new("/bin/sh"));
        if geteuid().is_root() {
            assert!(tool("ip").is_absolute());
        }
    }
}
