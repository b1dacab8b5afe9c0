//! The files that a scenario names: on disk next to it, or given together with it, as in a web page. Reading always
//! ends, whatever kind of file is on disk.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Read;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// Contents of files by the names that scenarios use.
pub type Files = BTreeMap<String, String>;

/// The parsed contents of files, by the way in which they were read.
type Meanings = BTreeMap<String, Rc<dyn Any>>;

thread_local! {
    /// The parsed contents of files, so that a file is read only once for many links or events.
    static MEANINGS: RefCell<Meanings> = const { RefCell::new(Meanings::new()) };
    /// The files supplied with the scenario that this thread is checking.
    static FILES: RefCell<Option<Arc<Files>>> = const { RefCell::new(None) };
    /// The files that the scenario named so far.
    static READ: RefCell<Files> = const { RefCell::new(Files::new()) };
}

/// Runs `work` with `files` in place of the disk. Returns its result and the files that it read.
pub(crate) fn with<T>(files: Option<&Arc<Files>>, work: impl FnOnce() -> T) -> (T, Files) {
    let (before, outer, meanings) = (FILES.replace(files.cloned()), READ.take(), MEANINGS.take());
    let result = work();
    FILES.set(before);
    MEANINGS.set(meanings);
    (result, READ.replace(outer))
}

/// The parsed contents of a file, cached under the key `how`; calls `read` unless they are cached.
pub(crate) fn meaning<T: Any, E>(how: String, read: impl FnOnce() -> Result<T, E>) -> Result<Rc<T>, E> {
    let known = MEANINGS.with_borrow(|meanings| meanings.get(&how).cloned());
    if let Some(known) = known.and_then(|known| known.downcast::<T>().ok()) {
        return Ok(known);
    }
    let meaning = Rc::new(read()?);
    MEANINGS.with_borrow_mut(|meanings| meanings.insert(how, meaning.clone()));
    Ok(meaning)
}

/// Keeps the text of a file that was read.
fn remember(name: &str, text: &str) {
    READ.with_borrow_mut(|read| {
        read.entry(name.to_owned()).or_insert_with(|| text.to_owned());
    });
}

/// The text of the file `name`, if files were given; otherwise it is on disk.
fn supplied_text(name: &str) -> Option<Result<String, String>> {
    FILES.with_borrow(|files| {
        let files = files.as_ref()?;
        let names = || files.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        Some(files.get(name).cloned().ok_or_else(|| match names() {
            none if none.is_empty() => "there is no disk here, and no file was given".to_owned(),
            names => format!("was not given; there are: {names}"),
        }))
    })
}

/// The text of a file that a scenario names, relative to the scenario's own, `scenario`; without a byte-order mark.
pub(crate) fn named(scenario: &str, file: &str) -> Result<String, String> {
    let text = match supplied_text(file) {
        Some(text) => text.map_err(|problem| format!("{file}: {problem}"))?,
        None => {
            let folder = Path::new(scenario).parent().filter(|_| scenario != "-").unwrap_or(Path::new(""));
            let path = folder.join(file);
            read_text(&path).map_err(|problem| format!("{}: {problem}", path.display()))?
        }
    };
    remember(file, &text);
    Ok(text.strip_prefix('\u{feff}').map_or(text.clone(), str::to_owned))
}

/// The lines of a file with their numbers, except comments, which begin with `#`, and blank lines.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines().map(str::trim)).filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
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
    // The size that the file reports may be wrong.
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(format!("must be at most {LARGEST_FILE} B"));
    }
    String::from_utf8(bytes).map_err(|_| "cannot be read: not text in UTF-8".to_owned())
}
