//! Values that an event sets one after the other.

use crate::read::{Read, Table};
use crate::tree::{Content, Node};

/// The value of `key` in a table that has no other.
pub fn only<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    match &node.content {
        Content::Table(entries) if matches!(&entries[..], [(name, _)] if name == key) => Some(&entries[0].1),
        _ => None,
    }
}

/// The values of `{ in_turn = [...] }`, which is a list of values also where a list is a value itself, such as of sizes.
pub fn listed<'a>(event: &Table<'_>, to: &'a Node) -> Read<Option<Vec<&'a Node>>> {
    match only(to, "in_turn").map(|node| &node.content) {
        None => Ok(None),
        Some(Content::Array(values)) => in_turn(event, values).map(Some),
        Some(_) => Err(event.refuse("to", "expected a list, such as { in_turn = [\"10 kB\", \"1 MB\"] }")),
    }
}

/// Values that a key has in turn.
pub fn in_turn<'a>(event: &Table<'_>, values: &'a [Node]) -> Read<Vec<&'a Node>> {
    if !event.has("every") {
        let problem = format!("a list of {} values needs every: how often the next one comes", values.len());
        return Err(event.refuse("to", problem));
    }
    if values.is_empty() {
        return Err(event.refuse("to", "expected at least one value"));
    }
    Ok(values.iter().collect())
}
