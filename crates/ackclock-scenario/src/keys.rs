//! The keys of the format: reading, defaults, refusals, the JSON schema and the reference in the documentation are
//! made from these tables.

mod conditions;
mod flows;
mod sections;

pub use conditions::*;
pub use flows::*;
pub use sections::*;

use crate::tree::{Content, Node, read_value};

/// Largest number of flows.
pub const MOST_FLOWS: u64 = 100_000;
/// Largest packet, bytes (IPv4).
pub const LARGEST_PACKET: u64 = 65_535;
/// Largest number of packets in a window or queue: memory stays bounded.
pub const MOST_PACKETS: u64 = 1_000_000_000;

/// The values that a key may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// A time with its unit.
    Time,
    /// A time with its unit, above zero.
    PositiveTime,
    /// A rate with its unit.
    Rate,
    /// A rate with its unit, or "unlimited".
    RateOrUnlimited,
    /// A size with its unit, at most this many bytes.
    Size(u64),
    /// A size with its unit, or a list of sizes with their shares.
    Sizes,
    /// A share of a link, in per cent or as a number above 0; it may be more than all of it.
    Load,
    /// A share, in per cent or from 0 to 1.
    Fraction,
    /// A whole number between the two.
    Whole(u64, u64),
    /// A number between the two.
    Number(f64, f64),
    /// A time, or `{ flow = "a", rtt = 1000 }`.
    When,
    /// A value of any kind.
    Any,
    /// A window of at least this many packets, or "unlimited".
    WindowOrUnlimited(f64),
    /// A window of at least this many packets.
    Window(f64),
    /// A number of packets, or "unlimited".
    PacketsOrUnlimited,
    /// The size of a queue: packets or bytes.
    Limit,
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of these words, or the name of a file, with a dot or a slash in it.
    WordOrFile(&'static [&'static str]),
    /// One of these words, of which true and false are written without quotes.
    FlagOrWord(&'static [&'static str]),
    /// Any text.
    Text,
    /// The name of a file, relative to the scenario's own.
    File,
    /// Requests: a list of times and sizes.
    Schedule,
    /// A column of a file: its number, from 1 on, or its name.
    Column,
    /// True or false.
    Flag,
    /// A time, or `{ uniform = [from, to] }`.
    Moment,
    /// A span of time, or "rtt".
    Sample,
    /// Parameters of the control.
    Params,
    /// A table of its own.
    Table(&'static Section),
    /// Tables, one after the other.
    Tables(&'static Section),
}

/// One key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// The values that it may have.
    pub form: Form,
    /// Its default: a value as `--set` takes it, or words in brackets.
    default: &'static str,
    /// The same for single words of the table's selector.
    by: &'static [(&'static str, &'static str)],
    /// Words of the table's selector with which it has a meaning; none: all.
    pub of: &'static [&'static str],
    /// Flows over QUIC may have it.
    pub over_quic: bool,
    /// Its meaning.
    meaning: &'static str,
}

/// The text that stands for the default of a required key.
pub const REQUIRED: &str = "(required)";
/// The text that stands for the default of a key that may be missing.
pub const NONE: &str = "(none)";

/// A key, with what holds without it and its meaning.
pub const fn key(name: &'static str, form: Form, default: &'static str, meaning: &'static str) -> Key {
    Key { name, form, default, by: &[], of: &[], over_quic: true, meaning }
}

/// How many keys are in several lists.
const fn count(lists: &[&[Key]]) -> usize {
    let (mut keys, mut list) = (0, 0);
    while list < lists.len() {
        keys += lists[list].len();
        list += 1;
    }
    keys
}

/// The keys of several lists, one list after the other.
const fn joined<const COUNT: usize>(lists: &[&[Key]]) -> [Key; COUNT] {
    let mut keys = [key("", Form::Any, NONE, ""); COUNT];
    let (mut next, mut list) = (0, 0);
    while list < lists.len() {
        let mut index = 0;
        while index < lists[list].len() {
            keys[next] = lists[list][index];
            (next, index) = (next + 1, index + 1);
        }
        list += 1;
    }
    keys
}

impl Key {
    /// The same key with other defaults for single words of the table's selector.
    pub const fn by(self, by: &'static [(&'static str, &'static str)]) -> Key {
        Key { by, ..self }
    }

    /// The same key with a meaning only for these words of the table's selector.
    pub const fn of(self, of: &'static [&'static str]) -> Key {
        Key { of, ..self }
    }

    /// The same key, which flows over QUIC do not have.
    pub const fn tcp_only(self) -> Key {
        Key { over_quic: false, ..self }
    }

    /// The value that holds without it where the table's selector is `word`, unless a rule says it.
    pub fn default(&self, word: &str) -> Option<Content> {
        let by = self.by.iter().find(|(other, _)| *other == word);
        let text = by.map_or(self.default, |(_, text)| text);
        // A text such as 1, the unit of shares, is not a number.
        let is_text = matches!(self.form, Form::Text);
        (!text.starts_with('('))
            .then(|| if is_text { Content::Text(text.to_owned()) } else { read_value(text) })
    }

    /// Whether it must be there.
    pub fn is_required(&self) -> bool {
        self.default == REQUIRED
    }

    /// Whether it has a meaning where the table's selector is `word`.
    pub fn applies(&self, word: &str) -> bool {
        self.of.is_empty() || self.of.contains(&word)
    }

    /// A description of its default.
    pub fn default_in_words(&self) -> String {
        let plain = |text: &'static str| text.trim_start_matches('(').trim_end_matches(')');
        if self.by.is_empty() {
            return self.default.to_owned();
        }
        let by: Vec<_> = self.by.iter().map(|(word, text)| format!("{word}: {}", plain(text))).collect();
        match self.default.strip_suffix(')') {
            Some(default) => format!("{default}; {})", by.join("; ")),
            None => format!("{} ({})", self.default, by.join("; ")),
        }
    }

    /// Its meaning, and the words of the table's selector with which it applies.
    pub fn meaning(&self) -> String {
        if self.of.is_empty() {
            self.meaning.to_owned()
        } else {
            format!("{}: {}", self.of.join(", "), self.meaning)
        }
    }
}

/// A table of keys.
#[derive(Debug, PartialEq)]
pub struct Section {
    /// How it is written in a file.
    pub name: &'static str,
    /// The key whose word says which others have a meaning and what their defaults are.
    pub selector: Option<&'static str>,
    /// Its keys.
    pub keys: &'static [Key],
    /// Another table whose keys may stand here too.
    pub also: Option<&'static Section>,
}

impl Section {
    /// All keys that may stand in it.
    pub fn all_keys(&self) -> impl Iterator<Item = &'static Key> {
        self.keys.iter().chain(self.also.map_or(&[][..], |section| section.keys))
    }

    /// The word of the selector in a table with these entries: empty where none was given; none where what was given
    /// is not one of the words, or where the selector is required and missing.
    pub fn word<'a>(&self, entries: &'a [(String, Node)]) -> Option<&'a str> {
        let key = self.selector.and_then(|name| self.key(name));
        let Some(key) = key else { return Some("") };
        let Form::Word(words) = key.form else { return None };
        match entries.iter().find(|(name, _)| name == key.name).map(|(_, node)| &node.content) {
            Some(Content::Text(text)) => words.contains(&text.as_str()).then_some(text.as_str()),
            Some(_) => None,
            None => (!key.is_required()).then_some(""),
        }
    }

    /// The key of this name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.all_keys().find(|key| key.name == name)
    }
}
