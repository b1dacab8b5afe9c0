//! The files that a scenario names: on disk next to it, or given with it where there is no disk. Whatever is on disk,
//! reading ends, and soon.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Contents of files by the names that scenarios use.
pub type Files = BTreeMap<String, String>;

thread_local! {
    /// The files supplied with the scenario that this thread is checking.
    static FILES: RefCell<Option<Arc<Files>>> = const { RefCell::new(None) };
    /// The files that the scenario named so far.
    static READ: RefCell<Files> = const { RefCell::new(Files::new()) };
}

/// Runs `work`, for which `files` stand in place of the disk; and the files that it read.
pub(crate) fn with<T>(files: Option<&Arc<Files>>, work: impl FnOnce() -> T) -> (T, Files) {
    let (before, outer) = (FILES.replace(files.cloned()), READ.take());
    let result = work();
    FILES.set(before);
    (result, READ.replace(outer))
}

/// Keeps the text of a file that was read.
pub(crate) fn remember(name: &str, text: &str) {
    READ.with_borrow_mut(|read| {
        read.entry(name.to_owned()).or_insert_with(|| text.to_owned());
    });
}

/// The text of the file `name`, if files were given; otherwise it is on disk.
pub(crate) fn supplied_text(name: &str) -> Option<Result<String, String>> {
    FILES.with_borrow(|files| {
        let files = files.as_ref()?;
        let names = || files.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        Some(files.get(name).cloned().ok_or_else(|| match names() {
            none if none.is_empty() => "there is no disk here, and no file was given".to_owned(),
            names => format!("was not given; there are: {names}"),
        }))
    })
}

/// Most bytes that are read.
pub const LARGEST_FILE: u64 = 100_000_000;

/// The text of a file.
///
/// # Errors
/// The problem, without the file's name: it cannot be read, is a device, a pipe or a folder, is too large, or is not
/// text in UTF-8.
pub fn read_text(path: &Path) -> Result<String, String> {
    let mut open = OpenOptions::new();
    open.read(true);
    // A pipe that nobody writes to would not even open; some files of the system, like /proc/kmsg, would wait.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut open, libc::O_NONBLOCK);
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    let file = open.open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    // A device or a pipe might never end.
    if !metadata.is_file() {
        return Err("is not a file".to_owned());
    }
    if metadata.len() > LARGEST_FILE {
        return Err(format!("must be at most {LARGEST_FILE} B, is {} B", metadata.len()));
    }
    let mut bytes = Vec::new();
    // What it says of its size may not be true.
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(format!("must be at most {LARGEST_FILE} B"));
    }
    String::from_utf8(bytes).map_err(|_| "cannot be read: not text in UTF-8".to_owned())
}
