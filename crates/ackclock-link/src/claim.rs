//! The owner of namespaces. A path holds a lock on a file of its name for as long as it lives, in whatever container. A
//! file that another process can lock was left by a path that was killed. Namespaces without such a file belong to
//! other programs.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};

/// A name that only this path has, until this is dropped.
#[derive(Debug)]
pub struct Claim {
    /// The name.
    pub name: String,
    path: PathBuf,
    _lock: Flock<File>,
}

impl Drop for Claim {
    fn drop(&mut self) {
        // The file is removed while it is locked: afterwards, another path may have the name.
        let _ = fs::remove_file(&self.path);
    }
}

/// Locks `path` if nobody else does and it is still there by that name.
fn lock(path: &Path, file: File) -> Option<Flock<File>> {
    let lock = Flock::lock(file, FlockArg::LockExclusiveNonblock).ok()?;
    let (held, named) = (lock.metadata().ok()?, fs::metadata(path).ok()?);
    (held.dev() == named.dev() && held.ino() == named.ino()).then_some(lock)
}

impl Claim {
    /// The first of `names` that nobody has claimed, in `directory`, which is created.
    ///
    /// # Errors
    /// One line, when files cannot be created there.
    pub fn of(directory: &Path, names: impl Iterator<Item = String>) -> Result<Claim, String> {
        let explain = |error: std::io::Error| format!("{}: {error}", directory.display());
        fs::create_dir_all(directory).map_err(explain)?;
        for name in names {
            let path = directory.join(&name);
            match File::create_new(&path) {
                Ok(file) => {
                    // A process that tidies up may have taken it in this instant: then the next name is free.
                    if let Some(lock) = lock(&path, file) {
                        return Ok(Claim { name, path, _lock: lock });
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(explain(error)),
            }
        }
        Err(format!("{}: no name is free", directory.display()))
    }

    /// Leftovers of killed paths in `directory`.
    pub fn left(directory: &Path) -> impl Iterator<Item = Claim> {
        fs::read_dir(directory).into_iter().flatten().flatten().filter_map(|entry| {
            let (path, name) = (entry.path(), entry.file_name().into_string().ok()?);
            let file = entry.file_type().ok()?.is_file().then(|| File::open(&path).ok()).flatten()?;
            Some(Claim { name, _lock: lock(&path, file)?, path })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_nobody_elses_and_what_is_left_is() {
        let directory = std::env::temp_dir().join(format!("ackclock-claims-{}", std::process::id()));
        let names = || ["a", "b"].map(str::to_owned).into_iter();
        let (first, second) =
            (Claim::of(&directory, names()).unwrap(), Claim::of(&directory, names()).unwrap());
        assert_eq!((first.name.as_str(), second.name.as_str()), ("a", "b"));
        assert!(Claim::of(&directory, names()).unwrap_err().ends_with("no name is free"));
        assert_eq!(Claim::left(&directory).count(), 0, "both are alive");
        drop(second);
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
        // As a kill leaves it: the file is there, and its lock is gone.
        fs::write(directory.join("b"), "").unwrap();
        let left: Vec<_> = Claim::left(&directory).collect();
        assert_eq!(left.iter().map(|claim| claim.name.as_str()).collect::<Vec<_>>(), ["b"]);
        assert_eq!(Claim::left(&directory).count(), 0, "two at once do not remove the same");
        drop(left);
        assert!(!directory.join("b").exists());
        // A file that was replaced meanwhile is not the one that is locked.
        let path = directory.join("c");
        let replaced = File::create(&path).unwrap();
        fs::remove_file(&path).unwrap();
        fs::write(&path, "").unwrap();
        assert!(lock(&path, replaced).is_none());
        drop(first);
        fs::remove_dir_all(directory).unwrap();
    }
}
