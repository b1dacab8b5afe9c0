//! A scenario as written: values with their origins, so that every refusal can name its location.

use std::fmt;

use serde::{Serialize, Serializer};
use toml::de::{DeTable, DeValue};

/// The origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This line of the file.
    Line(usize),
    /// A setting such as `--set flow.0.rtt=80ms`, as it was given.
    Setting(String),
    /// Data that has no lines.
    Data,
}

/// A value and where it came from. Two are equal if their values are.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value.
    pub content: Content,
    /// Its origin.
    pub origin: Origin,
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.content == other.content
    }
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
    /// The kind of the value, for messages.
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

/// Why a text could not be read as a tree: the line, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The line, from 1; 0 when there is none.
    pub line: usize,
    /// The problem.
    pub message: String,
}

impl Node {
    /// Reads TOML.
    ///
    /// # Errors
    /// When it is not TOML, or has dates, which no scenario has.
    pub fn from_toml(text: &str) -> Result<Node, SyntaxError> {
        let ends: Vec<_> = text.match_indices('\n').map(|(end, _)| end).collect();
        let line_at = |offset: usize| ends.partition_point(|end| *end < offset) + 1;
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
                let message = "null is not allowed in a scenario; leave the key out".to_owned();
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
    /// The problem with it, in one line.
    pub fn set(&mut self, setting: &str) -> Result<(), String> {
        let (path, value) = setting
            .split_once('=')
            .ok_or_else(|| "expected KEY=VALUE, such as flow.0.rtt=80ms".to_owned())?;
        let origin = Origin::Setting(setting.to_owned());
        let node = self.node_at(path.trim(), &origin)?;
        node.content = read_value(value.trim());
        node.mark(&origin);
        Ok(())
    }

    /// The node at `path`, such as `flow.0.rtt`. Tables on the way are made, with this origin.
    ///
    /// # Errors
    /// The problem with the path, in one line.
    pub fn node_at(&mut self, path: &str, origin: &Origin) -> Result<&mut Node, String> {
        let mut node = self;
        for key in path.split('.') {
            if key.is_empty() {
                return Err(format!("not a key: \"{path}\"; expected one such as flow.0.rtt"));
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
                        format!("{path}: no entry \"{key}\"; there are {count}, numbered from 0")
                    })?
                }
                other => return Err(format!("{path}: cannot set \"{key}\" inside {}", other.kind())),
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

    /// The tree as TOML: a heading for each table of the file, everything below it in one line per key.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let (mut text, mut tables) = (String::new(), Vec::new());
        for (name, node) in self.entries() {
            match &node.content {
                Content::Table(entries) => tables.push((format!("[{name}]"), &entries[..])),
                Content::Array(items)
                    if !items.is_empty()
                        && items.iter().all(|item| matches!(item.content, Content::Table(_))) =>
                {
                    tables.extend(items.iter().map(|item| (format!("[[{name}]]"), item.entries())));
                }
                // A heading would make it a key of its table, so it stands above all of them.
                _ => text += &line(name, node),
            }
        }
        for (heading, entries) in tables {
            let gap = if text.is_empty() { "" } else { "\n" };
            text += &format!("{gap}{heading}\n");
            text.extend(entries.iter().map(|(key, node)| line(key, node)));
        }
        text
    }

    /// The tree as JSON.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(&self.content).unwrap_or_default()
    }

    /// A table of these entries.
    pub fn table(entries: Vec<(String, Node)>, origin: &Origin) -> Node {
        Node { content: Content::Table(entries), origin: origin.clone() }
    }

    /// A text that no file has.
    pub fn text(text: String) -> Node {
        Node { content: Content::Text(text), origin: Origin::Data }
    }

    /// The entries, if it is a table.
    pub fn entries(&self) -> &[(String, Node)] {
        if let Content::Table(entries) = &self.content { entries } else { &[] }
    }

    /// The value of a key, if it is a table that has it.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.entries().iter().find(|(key, _)| key == name).map(|(_, node)| node)
    }

    /// The value of a key, if it is a table that has it.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Node> {
        let Content::Table(entries) = &mut self.content else { return None };
        entries.iter_mut().find(|(key, _)| key == name).map(|(_, node)| node)
    }

    /// Adds a key that a table does not have, with its value.
    pub fn supply(&mut self, name: &str, content: impl FnOnce() -> Content) {
        let origin = self.origin.clone();
        if let Content::Table(entries) = &mut self.content
            && !entries.iter().any(|(key, _)| key == name)
        {
            entries.push((name.to_owned(), Node { content: content(), origin }));
        }
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Content::Table(entries) => {
                serializer.collect_map(entries.iter().map(|(key, node)| (key, &node.content)))
            }
            Content::Array(values) => serializer.collect_seq(values.iter().map(|node| &node.content)),
            Content::Text(text) => text.serialize(serializer),
            Content::Whole(whole) => match (i64::try_from(*whole), u64::try_from(*whole)) {
                (Ok(whole), _) => whole.serialize(serializer),
                (_, Ok(whole)) => whole.serialize(serializer),
                _ => (*whole as f64).serialize(serializer),
            },
            Content::Real(real) => real.serialize(serializer),
            Content::Flag(flag) => flag.serialize(serializer),
        }
    }
}

/// A key and its value in one line of TOML.
fn line(key: &str, value: &Node) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail, and every Content is a value of TOML.
    let _ = value.content.serialize(toml::ser::ValueSerializer::new(&mut text));
    format!("{key} = {text}\n")
}

/// A value as a setting has it: TOML if it is TOML, otherwise a text.
pub fn read_value(text: &str) -> Content {
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
            .map_err(|_| wrong(format!("number out of range: {}", number.as_str())))?,
        DeValue::Float(number) => number
            .as_str()
            .parse()
            .map(Content::Real)
            .map_err(|_| wrong(format!("not a number: {}", number.as_str())))?,
        DeValue::Boolean(flag) => Content::Flag(*flag),
        DeValue::Datetime(_) => return Err(wrong("dates are not allowed in a scenario".to_owned())),
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn node(content: Content) -> Node {
        Node { content, origin: Origin::Data }
    }

    fn table(value: impl Strategy<Value = Node>) -> impl Strategy<Value = Node> {
        let entries = prop::collection::btree_map("[a-z][a-z_0-9]{0,8}", value, 0..4);
        entries.prop_map(|entries| node(Content::Table(entries.into_iter().collect())))
    }

    fn scalar() -> impl Strategy<Value = Node> {
        prop_oneof![
            any::<String>().prop_map(Content::Text),
            any::<i64>().prop_map(|whole| Content::Whole(whole.into())),
            (-1e300..1e300).prop_map(Content::Real),
            any::<bool>().prop_map(Content::Flag),
        ]
        .prop_map(node)
    }

    fn value() -> impl Strategy<Value = Node> {
        scalar().prop_recursive(3, 16, 4, |inner| {
            let list =
                prop::collection::vec(inner.clone(), 0..4).prop_map(|items| node(Content::Array(items)));
            prop_oneof![list, table(inner)]
        })
    }

    proptest! {
        /// Whatever stands at the root (texts, numbers, lists, tables, lists of tables), the text is read again as it was.
        #[test]
        fn what_is_written_is_read_again(root in table(prop_oneof![
            value(),
            table(value()),
            prop::collection::vec(table(value()), 1..3).prop_map(|tables| node(Content::Array(tables))),
        ])) {
            let again = Node::from_toml(&root.to_toml());
            prop_assert_eq!(again.map(|node| node.to_json()), Ok(root.to_json()), "{}", root.to_toml());
        }
    }
}
