//! What a campaign asks of the disk, in one place, so that tests can let each step fail.

use std::fmt::Debug;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// The steps. Each may fail, and a write may have written some of its bytes by then.
pub trait Disk: Debug {
    /// Writes all of `bytes` at the file's position.
    ///
    /// # Errors
    /// The error of the system.
    fn write(&mut self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    /// Returns when everything written to a file, or the entries of a directory, survive a power cut.
    ///
    /// # Errors
    /// The error of the system.
    fn sync(&mut self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    /// Renames a file; it replaces whatever has the new name.
    ///
    /// # Errors
    /// The error of the system.
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    /// Cuts a file off.
    ///
    /// # Errors
    /// The error of the system.
    fn truncate(&mut self, file: &File, length: u64) -> io::Result<()> {
        file.set_len(length)
    }
}

/// The disk itself.
#[derive(Debug)]
pub struct Real;

impl Disk for Real {}

/// Replaces the file `path` with the output of `fill`, whole or not at all, even when the power fails. Leftovers of an
/// earlier attempt are overwritten.
///
/// # Errors
/// The error of the system, or `fill`; `path` is as it was before.
pub fn replace(
    disk: &mut dyn Disk,
    path: &Path,
    fill: impl FnOnce(&mut dyn Disk, &mut File) -> io::Result<()>,
) -> io::Result<()> {
    let draft = draft_of(path);
    let mut file = File::create(&draft)?;
    fill(disk, &mut file)?;
    disk.sync(&file)?;
    disk.rename(&draft, path)?;
    sync_directory_of(disk, path)
}

/// The name that [`replace`] writes under first.
#[must_use]
pub fn draft_of(path: &Path) -> std::path::PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    path.with_file_name(format!(".{name}"))
}

/// Makes the names of a file's directory survive a power cut.
///
/// # Errors
/// The error of the system.
pub fn sync_directory_of(disk: &mut dyn Disk, path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    disk.sync(&File::open(parent.unwrap_or(Path::new(".")))?)
}
