//! The request of an event: the key that it sets, its values, and how often.

use std::collections::BTreeMap;

use ackclock_units::Span;

use crate::model::Run;
use crate::read::{Read, Table};
use crate::tree::{Content, Node};
use crate::turns::{in_turn, listed, only};

/// The refusal of an event that sets more than one key when that would be ambiguous.
pub const ONE_KEY: &str =
    "with an event that repeats or is random, every event sets one key of a link, such as dumbbell.rate";

/// The request of an event.
pub struct EventRequest<'a> {
    /// The key that it sets, links by their numbers.
    pub path: String,
    /// The table of links that contains the key, and the start of the rest of its path; `None` if no table contains it.
    pub part: Option<usize>,
    rest: usize,
    /// Its values: one, those that come in turn, or the ends of random ones.
    pub values: Vec<&'a Node>,
    pub random: bool,
    /// How often, and until when.
    pub every: Option<(Span, Span)>,
}

impl<'a> EventRequest<'a> {
    /// Reads the event in `event`; `links` has the numbers of the links by their names, and `find` returns the table of
    /// links that a path is in, and where its rest begins.
    pub fn read(
        event: &Table<'a>,
        run: &Run,
        links: &BTreeMap<&str, usize>,
        find: impl Fn(&str) -> Option<(usize, usize)>,
    ) -> Read<EventRequest<'a>> {
        let path: String = event.need("set")?;
        let path = resolve(event, &path, links)?;
        let to = event.required("to", event.node("to"))?;
        let every = match (event.get("every")?, event.get::<Span>("until")?) {
            (None, None) => None,
            (None, Some(_)) => return Err(event.refuse("until", "applies only with every")),
            (Some(every), until) => Some((every, until.unwrap_or(run.duration).min(run.duration))),
        };
        let (values, random) = match (&to.content, only(to, "uniform")) {
            (_, Some(Node { content: Content::Array(ends), .. })) if ends.len() == 2 => {
                (ends.iter().collect(), true)
            }
            (_, Some(_)) => {
                let problem = "expected two values, such as { uniform = [\"40 ms\", \"80 ms\"] }";
                return Err(event.refuse("to", problem));
            }
            (Content::Array(values), None) => (in_turn(event, values)?, false),
            _ => (listed(event, to)?.unwrap_or_else(|| vec![to]), false),
        };
        let (part, rest) = match find(&path) {
            Some((part, rest)) => (Some(part), rest),
            None => (None, path.len()),
        };
        let request = EventRequest { path, part, rest, values, random, every };
        if request.is_special() && request.unit().is_none() {
            return Err(event.refuse("set", ONE_KEY));
        }
        Ok(request)
    }

    /// Whether it is more than one change at one time.
    pub const fn is_special(&self) -> bool {
        self.random || self.every.is_some()
    }

    /// The path of its key within the table of its link.
    pub fn key(&self) -> &str {
        &self.path[self.rest..]
    }

    /// Sets its key to `value` in `tree`.
    pub fn set(&self, event: &Table<'_>, tree: &mut Node, value: &Node) -> Read<()> {
        let node = tree.node_at(&self.path, &value.origin).map_err(|problem| event.refuse("set", problem))?;
        node.content = value.content.clone();
        node.mark(&value.origin);
        Ok(())
    }

    /// The key of a link that it sets or is within; none if it is a whole link.
    pub fn unit(&self) -> Option<&str> {
        let mut end = 0;
        for (index, part) in self.path.split('.').enumerate() {
            end += part.len() + usize::from(index > 0);
            let is_link = match index {
                0 => true,
                _ => part == "reverse" || index == 1 && self.path.starts_with("link."),
            };
            if !is_link {
                return self.path.get(..end);
            }
        }
        None
    }
}

/// The path with the name of a link turned into its index in the file.
fn resolve(event: &Table<'_>, path: &str, links: &BTreeMap<&str, usize>) -> Read<String> {
    let mut parts: Vec<&str> = path.split('.').collect();
    let first = parts.first().copied();
    if !matches!(first, Some("dumbbell" | "parking_lot" | "link")) {
        let problem = "expected a key of a link, such as dumbbell.loss.rate or link.NAME.delay";
        return Err(event.refuse("set", problem));
    }
    let number;
    if first == Some("link")
        && let Some(name) = parts.get_mut(1)
        && let Some(index) = links.get(name)
    {
        number = (index / 2).to_string();
        *name = &number;
        if index % 2 == 1 {
            parts.insert(2, "reverse");
        }
    }
    Ok(parts.join("."))
}
