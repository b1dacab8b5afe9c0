//! A file that is appended to for years: when it is full it becomes the old one, and a new one begins.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A log and the one before it, `FILE.1`. Both together stay below twice the limit.
#[derive(Debug)]
pub struct Rotating {
    path: PathBuf,
    file: File,
    /// Pipes and devices are not renamed.
    is_file: bool,
    length: u64,
    most_bytes: u64,
    reopen: Arc<AtomicBool>,
}

fn open(path: &Path) -> io::Result<File> {
    File::options().append(true).create(true).open(path)
}

impl Rotating {
    /// Appends to `path`, which is renamed before it exceeds `most_bytes`. Once `reopen` is set, the file is opened
    /// again by its name, because another program may have renamed it.
    ///
    /// # Errors
    /// The error of the system.
    pub fn open(path: PathBuf, most_bytes: u64, reopen: Arc<AtomicBool>) -> io::Result<Rotating> {
        let file = open(&path)?;
        let mut rotating = Rotating { path, file, is_file: true, length: 0, most_bytes, reopen };
        rotating.look()?;
        Ok(rotating)
    }

    fn look(&mut self) -> io::Result<()> {
        let metadata = self.file.metadata()?;
        (self.is_file, self.length) = (metadata.is_file(), metadata.len());
        Ok(())
    }

    fn reopen(&mut self) -> io::Result<()> {
        self.file = open(&self.path)?;
        self.look()
    }

    fn rotate(&mut self) -> io::Result<()> {
        let mut old = OsString::from(self.path.as_os_str());
        old.push(".1");
        fs::rename(&self.path, old)?;
        self.reopen()
    }
}

impl Write for Rotating {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let length = self.file.write(data)?;
        self.length += length as u64;
        Ok(length)
    }

    /// Writes a line, all of it into one file.
    fn write_all(&mut self, line: &[u8]) -> io::Result<()> {
        if self.reopen.swap(false, Ordering::Relaxed) {
            self.reopen()?;
        }
        if self.is_file && self.length > 0 && self.length + line.len() as u64 > self.most_bytes {
            self.rotate()?;
        }
        let before = self.length;
        let written = self.file.write_all(line);
        self.length = before + line.len() as u64;
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_never_exceeds_its_limit_and_loses_no_line_before_the_old_one() {
        let directory = std::env::temp_dir().join(format!("ackclock-rotating-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let (path, old) = (directory.join("log"), directory.join("log.1"));
        let reopen = Arc::new(AtomicBool::new(false));
        let mut log = Rotating::open(path.clone(), 100, Arc::clone(&reopen)).unwrap();
        // Ten lines of 10 bytes fill a file: lines 20 to 24 are in the third, 10 to 19 in the one before.
        (0..25).for_each(|number| log.write_all(format!("line {number:04}\n").as_bytes()).unwrap());
        let texts = [&old, &path].map(|file| fs::read_to_string(file).unwrap());
        assert_eq!(texts.each_ref().map(String::len), [100, 50]);
        assert!(texts[0].starts_with("line 0010\n") && texts[1].ends_with("line 0024\n"));
        // Renamed from outside, and opened again when told to.
        fs::rename(&path, directory.join("elsewhere")).unwrap();
        log.write_all(b"elsewhere\n").unwrap();
        assert!(!path.exists());
        reopen.store(true, Ordering::Relaxed);
        log.write_all(b"line 0026\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "line 0026\n");
        // Earlier contents count, too.
        let mut again = Rotating::open(path.clone(), 19, reopen).unwrap();
        again.write_all(b"line 0027\n").unwrap();
        assert_eq!(fs::read_to_string(&old).unwrap(), "line 0026\n");
        fs::remove_dir_all(directory).unwrap();
    }
}
