//! Reading tables of the format: every value is found, checked by its key, and refused with its location.

use std::fmt;

use crate::keys::{Form, Key, Section};
use crate::tree::{Content, Node, Origin};
use crate::value::{Value, instead, is_hidden};

/// Why a scenario was refused: one line that says where, what is wrong and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub(crate) file: String,
    pub(crate) origin: Origin,
    pub(crate) path: String,
    pub(crate) problem: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = if self.file == "-" { "standard input" } else { &self.file };
        let location = match &self.origin {
            Origin::Line(0) | Origin::Data => format!("{file}: "),
            Origin::Line(line) => format!("{file}:{line}: "),
            Origin::Setting(setting) => format!("--set {setting}: "),
        };
        let path = if self.path.is_empty() { String::new() } else { format!("{}: ", self.path) };
        // The message stays on one line, whatever characters the file or the problem contains.
        for c in [&location, &path, &self.problem].into_iter().flat_map(|part| part.chars()) {
            if is_hidden(c) { write!(f, "{}", c.escape_default())? } else { write!(f, "{c}")? }
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}

impl Refusal {
    /// The file, or a word for the text, that was refused; `None` for a change by `--set`.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        (!matches!(self.origin, Origin::Setting(_))).then_some(self.file.as_str())
    }

    /// The line, from 1 on, if it is known.
    #[must_use]
    pub const fn line(&self) -> Option<usize> {
        match self.origin {
            Origin::Line(line) if line > 0 => Some(line),
            _ => None,
        }
    }

    /// The key, as in `flow.0.rtt`; `None` if no key is at fault.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        Some(self.path.as_str()).filter(|path| !path.is_empty())
    }

    /// The remedy: the text after the first colon or semicolon of the problem, or a suggestion.
    #[must_use]
    pub fn remedy(&self) -> Option<&str> {
        let ends = [": ", "; ", ", did you mean"].map(|mark| self.problem.find(mark));
        ends.into_iter().flatten().min().map(|end| &self.problem[end + 2..])
    }
}

/// A table that is being read, with its path in the scenario.
#[derive(Clone, Debug)]
pub(crate) struct Table<'a> {
    entries: &'a [(String, Node)],
    origin: &'a Origin,
    path: String,
    file: &'a str,
    section: &'static Section,
}

pub(crate) type Read<T> = Result<T, Refusal>;

/// How a value that stands in place of a table is written as that table: under the first key that accepts it, with all
/// keys that are required then.
fn as_table(name: &str, value: &Content, section: &Section) -> String {
    if section.name.starts_with('[') {
        return format!("{} and its keys on lines below it", section.name);
    }
    let words = match section.selector.and_then(|selector| section.key(selector)) {
        Some(Key { form: Form::Word(words), .. }) => *words,
        _ => &[],
    };
    let is_word = matches!(value, Content::Text(text) if words.contains(&text.as_str()));
    let mut keys = section.all_keys().filter(|key| section.selector != Some(key.name));
    let accepting = if is_word { None } else { keys.find(|key| key.form.accepts(value)) };
    let word = match (value, accepting) {
        (Content::Text(text), _) if is_word => text.as_str(),
        (_, Some(Key { of: [first, ..], .. })) => first,
        _ => words.first().copied().unwrap_or_default(),
    };
    let entries = section.all_keys().filter_map(|key| match key.name {
        name if section.selector == Some(name) => Some(format!("{name} = \"{word}\"")),
        name if accepting.is_some_and(|accepting| accepting.name == name) => {
            Some(format!("{name} = {value}"))
        }
        name if key.is_required() && key.applies(word) => Some(format!("{name} = ...")),
        _ => None,
    });
    format!("{name} = {{ {} }}", entries.collect::<Vec<_>>().join(", "))
}

impl<'a> Table<'a> {
    /// Opens `node` as a table whose keys are those of `section`.
    pub fn open(node: &'a Node, path: &str, file: &'a str, section: &'static Section) -> Read<Self> {
        let Content::Table(entries) = &node.content else {
            let name = path.rsplit('.').next().unwrap_or(path);
            let written = as_table(name, &node.content, section);
            let problem = format!("expected a table, found {}; write {written}", node.content.kind());
            let origin = node.origin.clone();
            return Err(Refusal { file: file.to_owned(), origin, path: path.to_owned(), problem });
        };
        let table = Table { entries, origin: &node.origin, path: path.to_owned(), file, section };
        for (name, _) in entries {
            let Some(key) = section.key(name) else {
                return Err(table.refuse(name, unknown_key(name, section)));
            };
            if let (Some(selector), Some(word)) = (section.selector, section.word(entries))
                && !key.applies(word)
            {
                let words = key.of.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" or ");
                return Err(table.refuse(name, format!("applies only with {selector} = {words}")));
            }
        }
        // The applicable keys and their defaults depend on this word, so its error is reported first.
        if let Some(selector) = section.selector {
            table.get::<&str>(selector)?;
        }
        Ok(table)
    }

    fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// A refusal of the value of `name`, or of the table when it has none.
    pub fn refuse(&self, name: &str, problem: impl Into<String>) -> Refusal {
        Refusal {
            file: self.file.to_owned(),
            origin: self.node(name).map_or(self.origin, |node| &node.origin).clone(),
            path: self.path_of(name),
            problem: problem.into(),
        }
    }

    /// The value of `name` as it was written, if it has one.
    pub fn node(&self, name: &str) -> Option<&'a Node> {
        self.entries.iter().find(|(key, _)| key == name).map(|(_, node)| node)
    }

    /// Whether `name` has a value.
    pub fn has(&self, name: &str) -> bool {
        self.node(name).is_some()
    }

    /// All keys that have a value, as they were written.
    pub const fn entries(&self) -> &'a [(String, Node)] {
        self.entries
    }

    /// The place where it was written.
    pub const fn origin(&self) -> &'a Origin {
        self.origin
    }

    /// The names of the keys that have a value.
    pub fn present(&self) -> impl Iterator<Item = &'a str> {
        self.entries.iter().map(|(key, _)| key.as_str())
    }

    /// The name of the file that is being read.
    pub const fn file(&self) -> &'a str {
        self.file
    }

    /// The keys that the table may have.
    pub const fn section(&self) -> &'static Section {
        self.section
    }

    fn form(&self, name: &str) -> Form {
        self.section.key(name).map_or(Form::Any, |key| key.form)
    }

    /// The value of `name`, if it has one.
    pub fn get<T: Value>(&self, name: &str) -> Read<Option<T>> {
        let Some(node) = self.node(name) else { return Ok(None) };
        let value = T::read(&node.content, self.form(name));
        value.map(Some).map_err(|problem| self.refuse(name, problem))
    }

    /// The value of `name`, which must have one.
    pub fn need<T: Value>(&self, name: &str) -> Read<T> {
        let value = self.get(name)?;
        self.required(name, value)
    }

    /// A required value.
    pub fn required<T>(&self, name: &str, value: Option<T>) -> Read<T> {
        value.ok_or_else(|| self.refuse(name, "is required"))
    }

    /// The table under `name`.
    pub fn table(&self, name: &str) -> Read<Option<Table<'a>>> {
        let (Some(node), Form::Table(section)) = (self.node(name), self.form(name)) else { return Ok(None) };
        Table::open(node, &self.path_of(name), self.file, section).map(Some)
    }

    /// The tables under `name`.
    pub fn tables(&self, name: &str) -> Read<Vec<Table<'a>>> {
        let (Some(node), Form::Tables(section)) = (self.node(name), self.form(name)) else {
            return Ok(Vec::new());
        };
        let Content::Array(nodes) = &node.content else {
            let problem = format!("expected tables [[{name}]], found {}", node.content.kind());
            return Err(self.refuse(name, problem));
        };
        let open = |(index, node)| Table::open(node, &format!("{name}.{index}"), self.file, section);
        nodes.iter().enumerate().map(open).collect()
    }
}

fn unknown_key(name: &str, section: &Section) -> String {
    let names: Vec<_> = section.all_keys().map(|key| key.name).collect();
    let hint = instead(name, names.iter().copied(), || names.join(", "), "ackclock schema");
    format!("unknown key{hint}")
}
