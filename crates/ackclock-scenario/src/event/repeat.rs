//! Events that happen again and again, have several values, or random ones.
//!
//! The changes of such an event are not only the difference from the state before it: the values that it has in turn,
//! and those of other events of the same key, count as well.

use std::mem::discriminant;

use ackclock_units::Span;

use super::{State, changes as differ, resolve};
use crate::model::{Change, Link, Run, When};
use crate::read::{Read, Table};
use crate::topology::Topology;
use crate::tree::{Content, Node};

const ONE_KEY: &str =
    "with an event that repeats or is random, every event sets one key of a link, such as dumbbell.rate";

/// The request of an event.
pub struct EventRequest<'a> {
    /// The key that it sets, links by their numbers.
    path: String,
    /// Its values: one, those that come in turn, or the ends of random ones.
    pub values: Vec<&'a Node>,
    random: bool,
    /// How often, and until when.
    pub every: Option<(Span, Span)>,
}

impl<'a> EventRequest<'a> {
    /// Reads the event in `event`.
    pub fn read(event: &Table<'a>, run: &Run, topology: &Topology) -> Read<EventRequest<'a>> {
        let path: String = event.need("set")?;
        let path = resolve(event, &path, topology)?;
        let to = event.required("to", event.node("to"))?;
        let every = match (event.get("every")?, event.get::<Span>("until")?) {
            (None, None) => None,
            (None, Some(_)) => return Err(event.refuse("until", "applies only with every")),
            (Some(every), until) => Some((every, until.unwrap_or(run.duration).min(run.duration))),
        };
        let (values, random) = match &to.content {
            Content::Array(values) if every.is_none() => {
                let problem =
                    format!("a list of {} values needs every: how often the next one comes", values.len());
                return Err(event.refuse("to", problem));
            }
            Content::Array(values) if values.is_empty() => {
                return Err(event.refuse("to", "expected at least one value"));
            }
            Content::Array(values) => (values.iter().collect(), false),
            Content::Table(entries) if matches!(&entries[..], [(key, _)] if key == "uniform") => {
                match &entries[0].1.content {
                    Content::Array(ends) if ends.len() == 2 => (ends.iter().collect(), true),
                    _ => {
                        let problem = "expected two values, such as { uniform = [\"40 ms\", \"80 ms\"] }";
                        return Err(event.refuse("to", problem));
                    }
                }
            }
            _ => (vec![to], false),
        };
        let request = EventRequest { path, values, random, every };
        if request.is_special() && request.unit().is_none() {
            return Err(event.refuse("set", ONE_KEY));
        }
        Ok(request)
    }

    /// Whether it is more than one change at one time.
    pub const fn is_special(&self) -> bool {
        self.random || self.every.is_some()
    }

    /// Sets its key to `value` in `tree`.
    pub fn set(&self, event: &Table<'_>, tree: &mut Node, value: &Node) -> Read<()> {
        let node = tree.node_at(&self.path, &value.origin).map_err(|problem| event.refuse("set", problem))?;
        node.content = value.content.clone();
        node.mark(&value.origin);
        Ok(())
    }

    /// The key of a link that it sets or is within; none if it is a whole link.
    fn unit(&self) -> Option<&str> {
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

/// The keys of links in a complete tree, with paths as files write them and by number.
fn units<'t>(tree: &'t Node, links: &[Link]) -> Vec<(String, String, &'t Node)> {
    let mut keys = Vec::new();
    let mut add = |word: &str, number: &str, link: &'t Node| {
        for (key, node) in link.entries() {
            if key == "reverse" {
                let inner = node.entries().iter();
                keys.extend(inner.map(|(key, node)| {
                    (format!("{word}.reverse.{key}"), format!("{number}.reverse.{key}"), node)
                }));
            } else {
                keys.push((format!("{word}.{key}"), format!("{number}.{key}"), node));
            }
        }
    };
    for (name, node) in tree.entries() {
        match &node.content {
            Content::Array(tables) if name == "link" => {
                for (index, table) in tables.iter().enumerate() {
                    let link = links.get(2 * index).map_or("", |link| &link.name);
                    let word = if link.contains('.') { index.to_string() } else { link.to_owned() };
                    add(&format!("{name}.{word}"), &format!("{name}.{index}"), table);
                }
            }
            Content::Table(_) => add(name, name, node),
            _ => {}
        }
    }
    keys
}

/// The keys in which some of `probes` differ from the first of them.
fn differing(probes: &[&State]) -> Vec<(String, String)> {
    let Some(first) = probes.first() else { return Vec::new() };
    let all: Vec<_> = probes.iter().map(|probe| units(&probe.tree, &first.links)).collect();
    let mut names: Vec<(String, String)> = Vec::new();
    for (word, number, node) in all.iter().flatten() {
        let value = |units: &Vec<(String, String, &Node)>| {
            units.iter().find(|(_, other, _)| other == number).map(|(.., node)| (*node).clone())
        };
        let differs = all.iter().any(|units| value(units).as_ref() != Some(node));
        if differs && !names.iter().any(|(_, other)| other == number) {
            names.push((word.clone(), number.clone()));
        }
    }
    names
}

/// The changes that repeating and random events make.
#[derive(Default)]
pub struct Repeats<'a>(Vec<(String, Vec<&'a Node>, Vec<String>)>);

impl<'a> Repeats<'a> {
    /// Adds what is asked for, which makes `probes` of the links at the start.
    pub fn add(&mut self, request: &EventRequest<'a>, start: &State, probes: &[State]) {
        let all: Vec<_> = [start].into_iter().chain(probes).collect();
        let keys = differing(&all).into_iter().map(|(_, number)| number).collect();
        self.0.push((request.path.clone(), request.values.clone(), keys));
    }

    /// Whether there is none of these events.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The values that others of these events give to the key of `asked`.
    pub fn related(&self, event: &Table<'_>, request: &EventRequest<'_>) -> Read<Vec<&'a Node>> {
        // Every key then stands for itself, so that none that repeats is set together with others.
        if !self.is_empty() && request.unit().is_none() {
            return Err(event.refuse("set", ONE_KEY));
        }
        let mut values = Vec::new();
        for (path, others, keys) in &self.0 {
            if *path == request.path {
                values.extend(others);
                continue;
            }
            if keys.iter().any(|key| request.unit() == Some(key)) {
                let problem = format!(
                    "an event that repeats or is random changes this, too, by {path}: set the same key"
                );
                return Err(event.refuse("set", problem));
            }
        }
        Ok(values)
    }
}

/// The changes of an event, by link, when it makes `after` of the links; `probes` are all states that count.
pub fn changes(
    event: &Table<'_>,
    request: &EventRequest<'_>,
    probes: &[&State],
    after: &[State],
) -> Read<Vec<(usize, Change)>> {
    let Some(before) = probes.first() else { return Ok(Vec::new()) };
    let mut changes = Vec::new();
    for (link, old) in before.links.iter().enumerate() {
        let mut kinds = Vec::new();
        for probe in probes {
            for change in differ(&probe.links[link], old) {
                if !kinds.contains(&discriminant(&change)) {
                    kinds.push(discriminant(&change));
                }
            }
        }
        for kind in kinds {
            let of = |state: &State| {
                everything(&state.links[link]).into_iter().find(|change| discriminant(change) == kind)
            };
            let mut values: Vec<_> = after.iter().filter_map(of).collect();
            let change = match (request.random, &mut values[..]) {
                (true, [low, high]) => {
                    if low.towards(high, 0.5).is_none() {
                        let problem = "only rates, delays, the rate of a bernoulli loss, the limit of a droptail queue \
                                       and the size of delay noise can be random";
                        return Err(event.refuse("to", problem));
                    }
                    Change::Between(Box::new([low.clone(), high.clone()]))
                }
                (false, [_]) => values.remove(0),
                _ => Change::InTurn(values),
            };
            changes.push((link, change));
        }
    }
    // As the tables of `written` give them again: one direction after the other, key by key, then the links.
    changes.sort_by_key(|(link, change)| (link % 2, order(change), *link));
    if request.random && changes.len() > 1 {
        let problem = "sets several things at once, which would be equally random: give the other direction, or the other \
                       links, values of their own";
        return Err(event.refuse("set", problem));
    }
    Ok(changes)
}

/// The rank of what is changed among the keys of a link.
fn order(change: &Change) -> u8 {
    match change {
        Change::Rate(_) => 0,
        Change::Delay(_) => 1,
        Change::Queue(_) => 2,
        Change::Loss(_) => 3,
        Change::Noise(_) => 4,
        Change::Up(_) => 5,
        Change::InTurn(values) => values.first().map_or(6, order),
        Change::Between(ends) => order(&ends[0]),
    }
}

/// All that can be changed of a link, as it is.
fn everything(link: &Link) -> Vec<Change> {
    vec![
        Change::Rate(link.rate),
        Change::Delay(link.delay),
        Change::Queue(link.queue),
        Change::Loss(link.loss.clone()),
        Change::Noise(link.noise),
        Change::Up(link.up),
    ]
}

/// The same event as tables that leave nothing to a default: one for each key that it changes.
pub fn written(
    event: &Table<'_>,
    request: &EventRequest<'_>,
    probes: &[&State],
    after: &[State],
) -> Read<Vec<Node>> {
    let at = event.required("at", event.node("at"))?;
    let node = |content: Content| Node { content, origin: at.origin.clone() };
    let mut tables = Vec::new();
    for (word, number) in differing(probes) {
        let value = |state: &State| {
            let links = &state.links;
            units(&state.tree, links)
                .into_iter()
                .find(|(_, other, _)| *other == number)
                .map(|(.., node)| node.clone())
        };
        let mut values: Vec<_> = after.iter().filter_map(value).collect();
        let to = match (request.random, values.len()) {
            (true, _) => node(Content::Table(vec![("uniform".to_owned(), node(Content::Array(values)))])),
            (false, 1) => values.remove(0),
            _ => node(Content::Array(values)),
        };
        let mut entries = vec![("at", at.clone()), ("set", Node::text(word)), ("to", to)];
        if let Some((every, until)) = request.every {
            entries.push(("every", Node::text(every.to_string())));
            entries.push(("until", Node::text(until.to_string())));
        }
        let entries = entries.into_iter().map(|(key, node)| (key.to_owned(), node)).collect();
        tables.push(Node::table(entries, &at.origin));
    }
    Ok(tables)
}

impl When {
    /// How often it happens, at most.
    pub(super) const fn count(&self) -> u64 {
        match self {
            When::At(_) | When::RoundTrip { .. } => 1,
            When::Every { first, every, until } => {
                let last = until.0.saturating_sub(1);
                if first.0 > last { 0 } else { (last - first.0) / every.0 + 1 }
            }
        }
    }
}
