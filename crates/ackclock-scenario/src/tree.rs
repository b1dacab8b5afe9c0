//! A scenario as written: values with the place they came from, so that every refusal can name it.

use std::fmt;

use toml::de::{DeTable, DeValue};

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This line of the file.
    Line(usize),
    /// A setting such as `--set flow.0.rtt=80ms`, as it was given.
    Setting(String),
    /// Data that has no lines.
    Data,
}

/// A value and where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value.
    pub content: Content,
    /// Where it came from.
    pub origin: Origin,
}

/// A value of a scenario file.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Keys and values, in order.
    Table(Vec<(String, Node)>),
    /// Values, in order.
    Array(Vec<Node>),
    /// A text.
    Text(String),
    /// A whole number.
    Whole(i128),
    /// A number with a fraction or an exponent.
    Real(f64),
    /// True or false.
    Flag(bool),
}

impl Content {
    /// What kind of value it is, for messages.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Content::Table(_) => "a table",
            Content::Array(_) => "a list",
            Content::Text(_) => "a text",
            Content::Whole(_) | Content::Real(_) => "a number",
            Content::Flag(_) => "true or false",
        }
    }
}

/// Why a text is no tree: the line, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The line, from 1; 0 when there is none.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl Node {
    /// Reads TOML.
    ///
    /// # Errors
    /// When it is not TOML, or has dates, which no scenario has.
    pub fn from_toml(text: &str) -> Result<Node, SyntaxError> {
        let line_at = |offset: usize| text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1;
        let table = DeTable::parse(text).map_err(|error| SyntaxError {
            line: error.span().map_or(0, |span| line_at(span.start)),
            message: error.message().replace('\n', ", "),
        })?;
        from_table(table.get_ref(), Origin::Line(1), &line_at)
    }

    /// Takes over JSON data.
    ///
    /// # Errors
    /// When it has null, which no scenario has.
    pub fn from_json(value: &serde_json::Value) -> Result<Node, SyntaxError> {
        use serde_json::Value;
        let content = match value {
            Value::Null => {
                let message = "null is no value of a scenario: leave the key out".to_owned();
                return Err(SyntaxError { line: 0, message });
            }
            Value::Bool(flag) => Content::Flag(*flag),
            Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(whole), _) => Content::Whole(whole.into()),
                (_, Some(whole)) => Content::Whole(whole.into()),
                _ => Content::Real(number.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(text) => Content::Text(text.clone()),
            Value::Array(values) => {
                Content::Array(values.iter().map(Node::from_json).collect::<Result<_, _>>()?)
            }
            Value::Object(entries) => Content::Table(
                entries
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), Node::from_json(value)?)))
                    .collect::<Result<_, _>>()?,
            ),
        };
        Ok(Node { content, origin: Origin::Data })
    }

    /// Applies a setting `path=value`, such as `flow.0.rtt=80ms`. The value is read as TOML if it is TOML,
    /// and is a text otherwise. Tables on the way are made.
    ///
    /// # Errors
    /// What is wrong with it, in one line.
    pub fn set(&mut self, setting: &str) -> Result<(), String> {
        let (path, value) = setting
            .split_once('=')
            .ok_or_else(|| "expected KEY=VALUE, such as flow.0.rtt=80ms".to_owned())?;
        let origin = Origin::Setting(setting.to_owned());
        let node = self.place(path.trim(), &origin)?;
        node.content = read_value(value.trim());
        node.mark(&origin);
        Ok(())
    }

    /// The node at `path`, such as `flow.0.rtt`. Tables on the way are made, with this origin.
    ///
    /// # Errors
    /// What is wrong with the path, in one line.
    pub fn place(&mut self, path: &str, origin: &Origin) -> Result<&mut Node, String> {
        let mut node = self;
        for key in path.split('.') {
            if key.is_empty() {
                return Err(format!("\"{path}\" is no key: expected one such as flow.0.rtt"));
            }
            node = match &mut node.content {
                Content::Table(entries) => {
                    let position = entries.iter().position(|(name, _)| name == key).unwrap_or_else(|| {
                        let content = Content::Table(Vec::new());
                        entries.push((key.to_owned(), Node { content, origin: origin.clone() }));
                        entries.len() - 1
                    });
                    &mut entries[position].1
                }
                Content::Array(values) => {
                    let count = values.len();
                    let index: Option<usize> = key.parse().ok();
                    index.and_then(|index| values.get_mut(index)).ok_or_else(|| {
                        format!("{path}: there are {count} entries; \"{key}\" is none of them")
                    })?
                }
                other => return Err(format!("{path}: \"{key}\" is inside {}", other.kind())),
            };
        }
        Ok(node)
    }

    /// Makes everything in it come from `origin`.
    pub fn mark(&mut self, origin: &Origin) {
        self.origin = origin.clone();
        match &mut self.content {
            Content::Table(entries) => entries.iter_mut().for_each(|(_, node)| node.mark(origin)),
            Content::Array(values) => values.iter_mut().for_each(|node| node.mark(origin)),
            _ => {}
        }
    }

    /// The tree as TOML.
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml::to_string(&self.to_value()).unwrap_or_default()
    }

    fn to_value(&self) -> toml::Value {
        match &self.content {
            Content::Table(entries) => {
                toml::Value::Table(entries.iter().map(|(key, node)| (key.clone(), node.to_value())).collect())
            }
            Content::Array(values) => toml::Value::Array(values.iter().map(Node::to_value).collect()),
            Content::Text(text) => toml::Value::String(text.clone()),
            Content::Whole(whole) => i64::try_from(*whole)
                .map_or_else(|_| toml::Value::String(whole.to_string()), toml::Value::Integer),
            Content::Real(real) => toml::Value::Float(*real),
            Content::Flag(flag) => toml::Value::Boolean(*flag),
        }
    }
}

fn read_value(text: &str) -> Content {
    let document = format!("value = {text}");
    match Node::from_toml(&document).map(|node| node.content) {
        Ok(Content::Table(mut entries)) if entries.len() == 1 && !text.contains('\n') => {
            entries.remove(0).1.content
        }
        _ => Content::Text(text.to_owned()),
    }
}

fn from_table(
    table: &DeTable<'_>,
    origin: Origin,
    line_at: &impl Fn(usize) -> usize,
) -> Result<Node, SyntaxError> {
    let entries = table
        .iter()
        .map(|(key, value)| {
            let line = line_at(key.span().start);
            Ok((key.get_ref().to_string(), from_value(value.get_ref(), line, line_at)?))
        })
        .collect::<Result<_, _>>()?;
    Ok(Node { content: Content::Table(entries), origin })
}

fn from_value(
    value: &DeValue<'_>,
    line: usize,
    line_at: &impl Fn(usize) -> usize,
) -> Result<Node, SyntaxError> {
    let wrong = |message: String| SyntaxError { line, message };
    let content = match value {
        DeValue::String(text) => Content::Text(text.to_string()),
        DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix())
            .map(Content::Whole)
            .map_err(|_| wrong(format!("{} is no number that fits", number.as_str())))?,
        DeValue::Float(number) => number
            .as_str()
            .parse()
            .map(Content::Real)
            .map_err(|_| wrong(format!("{} is no number", number.as_str())))?,
        DeValue::Boolean(flag) => Content::Flag(*flag),
        DeValue::Datetime(_) => return Err(wrong("a scenario has no dates".to_owned())),
        DeValue::Array(values) => Content::Array(
            values
                .iter()
                .map(|value| from_value(value.get_ref(), line_at(value.span().start), line_at))
                .collect::<Result<_, _>>()?,
        ),
        DeValue::Table(table) => return from_table(table, Origin::Line(line), line_at),
    };
    Ok(Node { content, origin: Origin::Line(line) })
}

/// The value as it was written, for messages.
impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::Text(text) => write!(f, "\"{text}\""),
            Content::Whole(whole) => whole.fmt(f),
            Content::Real(real) => real.fmt(f),
            Content::Flag(flag) => flag.fmt(f),
            Content::Table(_) | Content::Array(_) => f.write_str(self.kind()),
        }
    }
}
