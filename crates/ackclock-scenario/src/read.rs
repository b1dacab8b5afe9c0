//! Reading values from a tree of the format: every getter knows what is allowed and says so.

use std::fmt;

use ackclock_units::{Bytes, Packets, Rate, Span, Window, parse_fraction};

use crate::keys::{Form, Key, MOST_PACKETS, Section};
use crate::model::Limit;
use crate::tree::{Content, Node, Origin};

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
        match &self.origin {
            Origin::Line(0) | Origin::Data => write!(f, "{file}: ")?,
            Origin::Line(line) => write!(f, "{file}:{line}: ")?,
            Origin::Setting(setting) => write!(f, "--set {setting}: ")?,
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        // One line whatever a file contains.
        for c in self.problem.chars() {
            if c.is_control() { write!(f, "{}", c.escape_default())? } else { write!(f, "{c}")? }
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}

/// A table that is being read, with the place it has in the scenario.
#[derive(Clone, Debug)]
pub(crate) struct Table<'a> {
    entries: &'a [(String, Node)],
    origin: &'a Origin,
    path: String,
    file: &'a str,
}

pub(crate) type Read<T> = Result<T, Refusal>;

impl<'a> Table<'a> {
    /// Opens `node` as a table whose keys are those of `section`.
    pub fn open(node: &'a Node, path: &str, file: &'a str, section: &Section) -> Read<Self> {
        let refuse = |origin: &Origin, path: String, problem: String| Refusal {
            file: file.to_owned(),
            origin: origin.clone(),
            path,
            problem,
        };
        let Content::Table(entries) = &node.content else {
            let problem = format!("expected a table, found {}", node.content.kind());
            return Err(refuse(&node.origin, path.to_owned(), problem));
        };
        let table = Table { entries, origin: &node.origin, path: path.to_owned(), file };
        for (name, node) in entries {
            if !section.all_keys().any(|key| key.name == name) {
                return Err(refuse(&node.origin, table.path_of(name), unknown_key(name, section)));
            }
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

    /// The value of `name`, if it has one.
    pub fn node(&self, name: &str) -> Option<&'a Node> {
        self.entries.iter().find(|(key, _)| key == name).map(|(_, node)| node)
    }

    /// The table under `name`.
    pub fn table(&self, name: &str, section: &Section) -> Read<Option<Table<'a>>> {
        self.node(name).map(|node| Table::open(node, &self.path_of(name), self.file, section)).transpose()
    }

    /// The tables under `name`.
    pub fn tables(&self, name: &str, section: &Section) -> Read<Vec<Table<'a>>> {
        let Some(node) = self.node(name) else { return Ok(Vec::new()) };
        let Content::Array(nodes) = &node.content else {
            return Err(
                self.refuse(name, format!("expected tables [[{name}]], found {}", node.content.kind()))
            );
        };
        let open = |(index, node)| Table::open(node, &format!("{name}.{index}"), self.file, section);
        nodes.iter().enumerate().map(open).collect()
    }

    /// What must be there.
    pub fn required<T>(&self, name: &str, value: Option<T>) -> Read<T> {
        value.ok_or_else(|| self.refuse(name, "is required"))
    }

    /// Reads the text of `name` with `parse`.
    fn parsed<T, E: fmt::Display>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Read<Option<T>> {
        let Some(node) = self.node(name) else { return Ok(None) };
        let text = match &node.content {
            Content::Text(text) => text.clone(),
            // A bare number is parsed too: the message then says that the unit is missing.
            number @ (Content::Whole(_) | Content::Real(_)) => number.to_string(),
            other => return Err(self.refuse(name, format!("expected a text, found {}", other.kind()))),
        };
        parse(&text).map(Some).map_err(|error| self.refuse(name, error.to_string()))
    }

    /// A span of time.
    pub fn time(&self, name: &str) -> Read<Option<Span>> {
        self.parsed(name, str::parse)
    }

    /// A span of time that is not zero.
    pub fn positive_time(&self, name: &str) -> Read<Option<Span>> {
        let time = self.time(name)?;
        if time == Some(Span::ZERO) { Err(self.refuse(name, "must be longer than 0 s")) } else { Ok(time) }
    }

    /// A rate that is not zero.
    pub fn rate(&self, name: &str) -> Read<Option<Rate>> {
        let rate: Option<Rate> = self.parsed(name, str::parse)?;
        if rate == Some(Rate(0)) { Err(self.refuse(name, "must be above 0 bit/s")) } else { Ok(rate) }
    }

    /// A size from 1 B to `most` bytes.
    pub fn size(&self, name: &str, most: u64) -> Read<Option<Bytes>> {
        let size: Option<Bytes> = self.parsed(name, str::parse)?;
        match size {
            Some(size) if size.0 == 0 || size.0 > most => {
                Err(self.refuse(name, format!("must lie between 1 B and {most} B, is {} B", size.0)))
            }
            size => Ok(size),
        }
    }

    /// A share from 0 to 1.
    pub fn fraction(&self, name: &str) -> Read<Option<f64>> {
        let share = self.parsed(name, parse_fraction)?;
        match share {
            Some(share) if share > 1.0 => {
                Err(self.refuse(name, format!("must lie between 0 % and 100 %, is {} %", share * 100.0)))
            }
            share => Ok(share),
        }
    }

    /// A whole number between `least` and `most`.
    pub fn whole(&self, name: &str, least: u64, most: u64) -> Read<Option<u64>> {
        let Some(node) = self.node(name) else { return Ok(None) };
        let allowed = if most == u64::MAX {
            format!("expected a whole number of at least {least}")
        } else {
            format!("expected a whole number from {least} to {most}")
        };
        let number = match node.content {
            Content::Whole(whole) => u64::try_from(whole).ok(),
            _ => None,
        };
        match number {
            Some(number) if (least..=most).contains(&number) => Ok(Some(number)),
            _ => Err(self.refuse(name, format!("{allowed}, found {}", node.content))),
        }
    }

    /// A number between `least` and `most`.
    pub fn number(&self, name: &str, least: f64, most: f64) -> Read<Option<f64>> {
        let Some(node) = self.node(name) else { return Ok(None) };
        let number = match node.content {
            Content::Whole(whole) => whole as f64,
            Content::Real(real) => real,
            _ => f64::NAN,
        };
        if (least..=most).contains(&number) {
            return Ok(Some(number));
        }
        let problem = format!("expected a number from {least} to {most}, found {}", node.content);
        Err(self.refuse(name, problem))
    }

    /// The keys that are present.
    pub fn present(&self) -> impl Iterator<Item = &'a str> {
        self.entries.iter().map(|(key, _)| key.as_str())
    }

    /// The name of the file that is being read.
    pub const fn file(&self) -> &'a str {
        self.file
    }

    /// True or false.
    pub fn flag(&self, name: &str) -> Read<Option<bool>> {
        match self.node(name).map(|node| &node.content) {
            None => Ok(None),
            Some(Content::Flag(flag)) => Ok(Some(*flag)),
            Some(other) => Err(self.refuse(name, format!("expected true or false, found {other}"))),
        }
    }

    /// A text.
    pub fn text(&self, name: &str) -> Read<Option<&'a str>> {
        match self.node(name).map(|node| &node.content) {
            None => Ok(None),
            Some(Content::Text(text)) => Ok(Some(text)),
            Some(other) => Err(self.refuse(name, format!("expected a text, found {}", other.kind()))),
        }
    }

    /// One of `words`.
    pub fn word(&self, name: &str, words: &[&'static str]) -> Read<Option<&'static str>> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        match words.iter().find(|word| **word == text) {
            Some(word) => Ok(Some(word)),
            None => {
                let list = words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
                let hint = did_you_mean(text, words.iter().copied());
                Err(self.refuse(name, format!("unknown value \"{text}\"{hint}; allowed: {list}")))
            }
        }
    }

    /// A window of at least `least` packets; "unlimited" is infinite where `may_be_unlimited`.
    pub fn window(&self, name: &str, least: f64, may_be_unlimited: bool) -> Read<Option<Window>> {
        let Some(node) = self.node(name) else { return Ok(None) };
        let most = MOST_PACKETS as f64;
        let packets = match &node.content {
            Content::Whole(whole) => *whole as f64,
            Content::Real(real) => *real,
            Content::Text(text) if may_be_unlimited && text == "unlimited" => {
                return Ok(Some(Window::UNLIMITED));
            }
            _ => f64::NAN,
        };
        if (least..=most).contains(&packets) {
            return Ok(Some(Window(packets)));
        }
        let or = if may_be_unlimited { " or \"unlimited\"" } else { "" };
        let problem =
            format!("expected a number of packets from {least} to {most}{or}, found {}", node.content);
        Err(self.refuse(name, problem))
    }

    /// Whether the value is the text "unlimited".
    pub fn is_unlimited(&self, name: &str) -> bool {
        matches!(self.node(name).map(|node| &node.content), Some(Content::Text(text)) if text == "unlimited")
    }

    /// The size of a queue.
    pub fn limit(&self, name: &str) -> Read<Option<Limit>> {
        let limit = self.parsed(name, |text| {
            let expected = "expected packets or bytes such as \"100 packets\" or \"125 kB\"";
            if let Ok(packets) = text.parse::<Packets>() {
                return Ok(Limit::Packets(packets));
            }
            text.parse::<Bytes>().map(Limit::Bytes).map_err(|error| {
                let problem = error.to_string();
                let problem = problem.split(';').next().unwrap_or_default().to_owned();
                format!("{problem}; {expected}")
            })
        })?;
        match limit {
            Some(Limit::Packets(Packets(0)) | Limit::Bytes(Bytes(0))) => {
                Err(self.refuse(name, "must be at least 1 packet or 1 B"))
            }
            Some(Limit::Packets(Packets(packets))) if packets > MOST_PACKETS => {
                Err(self.refuse(name, format!("must be at most {MOST_PACKETS} packets")))
            }
            limit => Ok(limit),
        }
    }
}

fn unknown_key(name: &str, section: &Section) -> String {
    let names: Vec<_> = section.all_keys().map(|key: &Key| key.name).collect();
    let hint = did_you_mean(name, names.iter().copied());
    format!("unknown key{hint}; allowed: {}", names.join(", "))
}

/// A hint at the most similar of `names`, if one is similar.
pub(crate) fn did_you_mean<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> String {
    names
        .map(|name| (strsim::damerau_levenshtein(wrong, name), name))
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| format!(", did you mean \"{name}\"?"))
        .unwrap_or_default()
}

/// What a form allows, in words.
pub(crate) fn allowed(form: Form) -> String {
    use ackclock_units::Dimension;
    match form {
        Form::Time => Dimension::Time.allowed().to_owned(),
        Form::Rate => Dimension::Rate.allowed().to_owned(),
        Form::RateOrUnlimited => format!("{}, or \"unlimited\"", Dimension::Rate.allowed()),
        Form::Size => Dimension::Bytes.allowed().to_owned(),
        Form::Fraction => Dimension::Fraction.allowed().to_owned(),
        Form::Whole(least, u64::MAX) => format!("a whole number of at least {least}"),
        Form::Whole(least, most) => format!("a whole number from {least} to {most}"),
        Form::Number(least, most) => format!("a number from {least} to {most}"),
        Form::When => "a time, or { flow = NAME, rtt = COUNT }".to_owned(),
        Form::Any => "a value as the key has it".to_owned(),
        Form::WindowOrUnlimited => "a number of packets, or \"unlimited\"".to_owned(),
        Form::Window => "a number of packets".to_owned(),
        Form::PacketsOrUnlimited => "a whole number of packets, or \"unlimited\"".to_owned(),
        Form::Limit => "packets or bytes such as \"100 packets\" or \"125 kB\"".to_owned(),
        Form::Word(words) => words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", "),
        Form::Text => "a text".to_owned(),
        Form::Flag => "true or false".to_owned(),
        Form::Start => "a time, or { uniform = [from, to] }".to_owned(),
        Form::Sample => "a time, or \"rtt\"".to_owned(),
        Form::Params => "a table of parameters".to_owned(),
        Form::Table(section) | Form::Tables(section) => section.name.to_owned(),
    }
}
