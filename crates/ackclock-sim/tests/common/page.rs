//! Parts of the documentation that tests make: `UPDATE_DOCS=1` writes them anew.

use std::fs;
use std::path::Path;

/// Requires that the part `name` of a page, between its two comments, is `lines`.
pub fn holds(page: &str, name: &str, lines: &str) {
    let file = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs")).join(page);
    let text = fs::read_to_string(&file).unwrap();
    let (opening, end) = (format!("<!-- {name}: made by "), format!("<!-- end of {name} -->"));
    let begin = text.find(&opening).unwrap_or_else(|| panic!("{page} has no {name}"));
    let begin = begin + text[begin..].find('\n').unwrap() + 1;
    let end = begin + text[begin..].find(&end).unwrap_or_else(|| panic!("{name} has no end in {page}"));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&file, format!("{}{lines}{}", &text[..begin], &text[end..])).unwrap();
    } else {
        assert!(&text[begin..end] == lines, "{page}: {name} has changed; UPDATE_DOCS=1 writes it anew");
    }
}
