//! Records that tell when they were changed: a JSON object on a line, whose last member is a checksum of everything
//! before it, `{"slot":3,"checksum":"0123456789abcdef"}`. Readers that do not check it can read it like any other JSON.

use serde_json::Value;
use sha2::{Digest, Sha256};

const MEMBER: &str = ",\"checksum\":\"";
/// Digits of SHA-256 that are kept: a changed record passes once in 2^64.
const DIGITS: usize = 16;
const END: &str = "\"}";
/// The number of bytes that a checksum adds to a record.
const SEAL: usize = MEMBER.len() + DIGITS + END.len() - 1;

fn checksum(content: &[u8]) -> String {
    let mut digits = hex::encode(Sha256::digest(content));
    digits.truncate(DIGITS);
    digits
}

/// A line with the record and its checksum, ended by a line feed.
///
/// # Panics
/// When `record` is not an object with members.
#[must_use]
pub fn seal(record: &Value) -> String {
    assert!(record.as_object().is_some_and(|members| !members.is_empty()), "records are objects: {record}");
    let mut text = record.to_string();
    text.pop();
    let sum = checksum(text.as_bytes());
    text + MEMBER + &sum + END + "\n"
}

/// The record of a line, its checksum included, or nothing if it is not as [`seal`] wrote it.
///
/// `line` is the line without its line feed.
#[must_use]
pub fn unseal(line: &[u8]) -> Option<Value> {
    let content = line.len().checked_sub(SEAL + 1).map(|end| &line[..end])?;
    let expected = format!("{MEMBER}{}{END}", checksum(content));
    let is_whole = line[content.len()..] == *expected.as_bytes();
    is_whole.then(|| serde_json::from_slice::<Value>(line).ok()).flatten().filter(Value::is_object)
}

/// Whether a line has room for a checksum, right or wrong.
#[must_use]
pub fn is_sealed(line: &[u8]) -> bool {
    line.windows(MEMBER.len()).any(|part| part == MEMBER.as_bytes())
}

/// Whether `line`, which no line feed ends, is the beginning of a record that was being written. More than a record is
/// none: its line feed was changed.
#[must_use]
pub fn is_torn(line: &[u8]) -> bool {
    let start = line.windows(MEMBER.len()).position(|part| part == MEMBER.as_bytes());
    start.is_none_or(|start| line.len() <= start + SEAL + 1)
}
