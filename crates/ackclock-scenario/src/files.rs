//! The files that a scenario names: on disk beside it, or given with it where there is no disk.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Contents of files by the names that scenarios use.
pub type Files = BTreeMap<String, String>;

thread_local! {
    /// What was given with the scenario that this thread checks at the moment.
    static GIVEN: RefCell<Option<Arc<Files>>> = const { RefCell::new(None) };
}

/// Runs `work`, for which `files` stand in place of the disk.
pub(crate) fn with<T>(files: Option<&Arc<Files>>, work: impl FnOnce() -> T) -> T {
    let before = GIVEN.replace(files.cloned());
    let result = work();
    GIVEN.set(before);
    result
}

/// The file `name`, if files were given; otherwise it is on disk.
pub(crate) fn given(name: &str) -> Option<Result<String, String>> {
    GIVEN.with_borrow(|files| {
        let files = files.as_ref()?;
        let names = || files.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        Some(files.get(name).cloned().ok_or_else(|| match names() {
            none if none.is_empty() => "there is no disk here, and no file was given".to_owned(),
            names => format!("was not given; there are: {names}"),
        }))
    })
}
