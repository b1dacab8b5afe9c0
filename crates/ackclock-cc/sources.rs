// Which sources a library of controls shares with what loads it, as one number.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// Folders whose types cross the border; all are in `crates`.
pub const SHARED: [&str; 2] = ["ackclock-cc/src", "ackclock-units/src"];

/// A hash of names and contents of the sources in `crates`: a guard against mistakes, not against forgers. Whether it is
/// the same with another compiler does not matter: its name is compared, too.
///
/// # Panics
/// When a source cannot be read: without it the number would say that two builds agree which do not.
pub fn hash(crates: &Path) -> u64 {
    let mut files = Vec::new();
    for directory in SHARED {
        collect(&crates.join(directory), &mut files);
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        let name = file.strip_prefix(crates).expect("it was found there");
        let parts: Vec<_> = name.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        parts.hash(&mut hasher);
        fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())).hash(&mut hasher);
    }
    hasher.finish()
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    for entry in entries {
        let path = entry.unwrap_or_else(|error| panic!("{}: {error}", directory.display())).path();
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}
