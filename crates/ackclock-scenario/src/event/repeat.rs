//! Events that happen again and again, have several values, or random ones.
//!
//! The changes of such an event are not only the difference from the state before it: the values that it has in turn,
//! and those of other events of the same key, count as well.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::kinds::{Kind, differing};
use super::parts::{Parts, State};
use super::request::{EventRequest, ONE_KEY};
use crate::model::Change;
use crate::read::{Read, Table};
use crate::tree::{Content, Node};

/// A key of a complete table of links: of the other direction or not, its name, its value.
type Unit<'t> = (bool, &'t str, &'t Node);

/// The keys of a complete table of links, those of its other direction where that stands.
fn units(table: &Node) -> impl Iterator<Item = Unit<'_>> {
    table.entries().iter().flat_map(|(key, node)| {
        let inner = if key == "reverse" { node.entries() } else { &[] };
        let itself = (key != "reverse").then_some((false, key.as_str(), node));
        itself.into_iter().chain(inner.iter().map(|(key, node)| (true, key.as_str(), node)))
    })
}

fn unit_of<'t>(table: &'t Node, reverse: bool, key: &str) -> Option<&'t Node> {
    if reverse { table.get("reverse")?.get(key) } else { table.get(key) }
}

/// The keys in which two complete tables differ.
fn differing_units<'t>(before: &'t Node, after: &'t Node) -> impl Iterator<Item = (bool, &'t str)> {
    let changed = units(before).filter(|(reverse, key, node)| unit_of(after, *reverse, key) != Some(node));
    let added = units(after).filter(|(reverse, key, _)| unit_of(before, *reverse, key).is_none());
    changed.chain(added).map(|(reverse, key, _)| (reverse, key))
}

fn full_name(path: &str, reverse: bool, key: &str) -> String {
    if reverse { format!("{path}.reverse.{key}") } else { format!("{path}.{key}") }
}

/// The changes of an event, collected over its values: every setting that any of the values changes, with all of its
/// values.
pub struct Track {
    before: Rc<State>,
    /// By link.
    kinds: Vec<Vec<(Kind, Vec<Change>)>>,
    units: Vec<(bool, String, Vec<Node>)>,
    count: usize,
}

impl Track {
    /// Nothing so far, from the state `before`.
    pub fn new(before: &Rc<State>) -> Track {
        let kinds = before.links.iter().map(|_| Vec::new()).collect();
        Track { before: Rc::clone(before), kinds, units: Vec::new(), count: 0 }
    }

    /// Something counts from now on, and had the value of before until now.
    fn track(&mut self, link: usize, kind: Kind) {
        if !self.kinds[link].iter().any(|(other, _)| *other == kind) {
            let values = vec![kind.of(&self.before.links[link]); self.count];
            self.kinds[link].push((kind, values));
        }
    }

    fn track_unit(&mut self, reverse: bool, key: &str) {
        if !self.units.iter().any(|(other, name, _)| *other == reverse && name == key) {
            let before = unit_of(&self.before.tree, reverse, key);
            let values = before.map_or(Vec::new(), |node| vec![node.clone(); self.count]);
            self.units.push((reverse, key.to_owned(), values));
        }
    }

    /// The next value makes `state`.
    pub fn observe(&mut self, state: &State) {
        let before = Rc::clone(&self.before);
        for (link, (new, old)) in state.links.iter().zip(&before.links).enumerate() {
            differing(new, old).for_each(|kind| self.track(link, kind));
        }
        differing_units(&before.tree, &state.tree).for_each(|(reverse, key)| self.track_unit(reverse, key));
        for (kinds, link) in self.kinds.iter_mut().zip(&state.links) {
            kinds.iter_mut().for_each(|(kind, values)| values.push(kind.of(link)));
        }
        for (reverse, key, values) in &mut self.units {
            values.extend(unit_of(&state.tree, *reverse, key).cloned());
        }
        self.count += 1;
    }

    /// The changes of the event, by link within its table.
    pub fn into_changes(self, event: &Table<'_>, request: &EventRequest<'_>) -> Read<Vec<(usize, Change)>> {
        let mut changes = Vec::new();
        for (link, kinds) in self.kinds.into_iter().enumerate() {
            for (kind, mut values) in kinds {
                let change = match (request.random, &mut values[..]) {
                    (true, [low, high]) => {
                        if low.towards(high, 0.5).is_none() {
                            let problem = "only rates, delays, the rate of a bernoulli loss, the limit of a droptail \
                                           queue and the size of delay noise can be random";
                            return Err(event.refuse("to", problem));
                        }
                        Change::Between(Box::new([low.clone(), high.clone()]))
                    }
                    (false, [_]) => values.remove(0),
                    _ => Change::InTurn(values),
                };
                changes.push((link, kind, change));
            }
        }
        // As the tables of `written` give them again: one direction after the other, key by key, then the links.
        changes.sort_by_key(|(link, kind, _)| (link % 2, *kind as u8, *link));
        if request.random && changes.len() > 1 {
            let problem = "sets several things at once, which would be equally random: give the other direction, or the \
                           other links, values of their own";
            return Err(event.refuse("set", problem));
        }
        Ok(changes.into_iter().map(|(link, _, change)| (link, change)).collect())
    }

    /// The same event as tables that leave nothing to a default: one for each key that it changes, in the order of the
    /// keys of the table `word`.
    pub fn written(&mut self, event: &Table<'_>, request: &EventRequest<'_>, word: &str) -> Read<Vec<Node>> {
        let at = event.required("at", event.node("at"))?;
        let node = |content: Content| Node { content, origin: at.origin.clone() };
        let mut keys = std::mem::take(&mut self.units);
        let place = |reverse: bool, key: &str| {
            units(&self.before.tree).position(|(other, name, _)| other == reverse && name == key)
        };
        keys.sort_by_key(|(reverse, key, _)| place(*reverse, key).unwrap_or(usize::MAX));
        let tables = keys.into_iter().map(|(reverse, key, mut values)| {
            let to = match (request.random, values.len()) {
                (true, _) => node(Content::Table(vec![("uniform".to_owned(), node(Content::Array(values)))])),
                (false, 1) => values.remove(0),
                _ => node(Content::Array(values)),
            };
            let set = Node::text(full_name(word, reverse, &key));
            let mut entries = vec![("at", at.clone()), ("set", set), ("to", to)];
            if let Some((every, until)) = request.every {
                entries.push(("every", Node::text(every.to_string())));
                entries.push(("until", Node::text(until.to_string())));
            }
            let entries = entries.into_iter().map(|(key, node)| (key.to_owned(), node)).collect();
            Node::table(entries, &at.origin)
        });
        Ok(tables.collect())
    }
}

/// The effects of the values of the repeating and random events of one key.
struct Values {
    /// The state that the first of them makes.
    first: Rc<State>,
    /// By link, the settings that these events, or other events of the key, change, and whether a setting has more than
    /// one value.
    kinds: Vec<Vec<(Kind, bool)>>,
    units: Vec<(bool, String, bool)>,
}

impl Values {
    fn note(&mut self, state: &State, from: &State, several: bool) {
        for (link, (new, old)) in state.links.iter().zip(&from.links).enumerate() {
            for kind in differing(new, old) {
                match self.kinds[link].iter_mut().find(|(known, _)| *known == kind) {
                    Some(known) => known.1 |= several,
                    None => self.kinds[link].push((kind, several)),
                }
            }
        }
        for (reverse, key) in differing_units(&from.tree, &state.tree) {
            match self.units.iter_mut().find(|(other, known, _)| (*other, &**known) == (reverse, key)) {
                Some(known) => known.2 |= several,
                None => self.units.push((reverse, key.to_owned(), several)),
            }
        }
    }
}

/// The repeating and random events of a scenario.
#[derive(Default)]
pub struct Repeats {
    by_path: BTreeMap<String, Values>,
    /// The paths that change a key, in the order of the events.
    by_unit: BTreeMap<String, Vec<String>>,
}

impl Repeats {
    /// Collects the repeating and random events among `requests`, and the effects of all events of their keys on the
    /// links at the start.
    pub fn read(events: &[Table<'_>], requests: &[EventRequest<'_>], parts: &mut Parts<'_>) -> Read<Repeats> {
        let mut repeats = Repeats::default();
        for special in [true, false] {
            for (event, request) in events.iter().zip(requests) {
                if request.is_special() != special
                    || !(special || repeats.by_path.contains_key(&request.path))
                {
                    continue;
                }
                let part = parts.of(event, request)?;
                parts.tentatively(part, |parts| repeats.probe(event, request, parts, part))?;
            }
        }
        Ok(repeats)
    }

    fn probe(
        &mut self,
        event: &Table<'_>,
        request: &EventRequest<'_>,
        parts: &mut Parts<'_>,
        part: usize,
    ) -> Read<()> {
        let start = parts.state(part);
        for value in &request.values {
            parts.advance(part, event, request, value)?;
            let state = parts.state(part);
            let values = self.by_path.entry(request.path.clone()).or_insert_with(|| Values {
                first: Rc::clone(&state),
                kinds: vec![Vec::new(); start.links.len()],
                units: Vec::new(),
            });
            let before = values.units.len();
            values.note(&state, &start, false);
            if request.is_special() {
                let first = Rc::clone(&values.first);
                values.note(&state, &first, true);
                for (reverse, key, _) in &values.units[before..] {
                    let unit = full_name(parts.path(part), *reverse, key);
                    self.by_unit.entry(unit).or_default().push(request.path.clone());
                }
            }
        }
        Ok(())
    }

    /// Whether there is none of these events.
    pub fn is_empty(&self) -> bool {
        self.by_path.is_empty()
    }

    /// Marks in `track` the settings changed by `request` that other events of this kind also change.
    pub fn mark(&self, event: &Table<'_>, request: &EventRequest<'_>, track: &mut Track) -> Read<()> {
        // Every key then stands for itself, so that none that repeats is set together with others.
        let Some(unit) = request.unit() else { return Err(event.refuse("set", ONE_KEY)) };
        let others = self.by_unit.get(unit).map_or(&[][..], |paths| paths);
        if let Some(path) = others.iter().find(|path| **path != request.path) {
            let problem =
                format!("an event that repeats or is random changes this, too, by {path}: set the same key");
            return Err(event.refuse("set", problem));
        }
        let Some(values) = self.by_path.get(&request.path) else { return Ok(()) };
        let before = Rc::clone(&track.before);
        for (link, kinds) in values.kinds.iter().enumerate() {
            for (kind, several) in kinds {
                if *several || kind.differs(&values.first.links[link], &before.links[link]) {
                    track.track(link, *kind);
                }
            }
        }
        for (reverse, key, several) in &values.units {
            let of = |state: &State| unit_of(&state.tree, *reverse, key).cloned();
            if *several || of(&values.first) != of(&before) {
                track.track_unit(*reverse, key);
            }
        }
        Ok(())
    }
}
