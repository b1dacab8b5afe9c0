//! The tables that define links, with the events applied one after the other. After a change only its own table is read
//! again, and after the most common changes not even that.

use std::rc::Rc;

use ackclock_units::{Rate, Span};

use super::kinds::differing;
use super::request::EventRequest;
use crate::keys::{DUMBBELL, FILE, Form, LINK, PARKING_LOT, Section};
use crate::link::{Changing, pair};
use crate::model::{Change, LONGEST, Link, Loss, Queue};
use crate::read::{Read, Refusal, Table};
use crate::topology::{Topology, own_name};
use crate::tree::{Content, Node};
use crate::value::{NO_RATE, Value};
use crate::{complete, fill};

/// The names of the tables that define links.
const TOPOLOGY: [&str; 4] = ["dumbbell", "parking_lot", "node", "link"];
const CANNOT: &str = "this key cannot change during a run";

/// The links of a table after an event, and the complete table that defines them.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The table.
    pub tree: Node,
    /// Its links; the other direction of each stands after it.
    pub links: Vec<Link>,
}

/// One table: a dumbbell, a parking lot, or one of several links.
struct Part {
    /// Its path as files write it, with the name of the link.
    word: String,
    /// The same with the number of the link.
    path: String,
    /// The first of its links.
    first: usize,
    changing: [Changing; 2],
    state: Rc<State>,
}

/// All tables of links.
pub struct Parts<'f> {
    /// The tables as they were written, with the changes so far.
    written: Node,
    root: &'static str,
    section: &'static Section,
    parts: Vec<Part>,
    file: &'f str,
}

/// A key whose value is taken over as it is, without reading its table again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PlainKey {
    Rate,
    Delay,
    Up,
    LossRate,
}

/// A plain key, and the directions that it sets: that of the link, the other one.
pub struct Plain {
    key: PlainKey,
    sets: [bool; 2],
}

impl<'f> Parts<'f> {
    /// The tables of `source`, which make `topology`.
    pub fn new(source: &Node, file: &'f str, topology: &Topology) -> Parts<'f> {
        let entries = source.entries().iter().filter(|(name, _)| TOPOLOGY.contains(&name.as_str()));
        let written = Node::table(entries.cloned().collect(), &source.origin);
        let sections = [("dumbbell", &DUMBBELL), ("parking_lot", &PARKING_LOT), ("link", &LINK)];
        let (root, section) = sections
            .into_iter()
            .find(|(name, _)| written.get(name).is_some())
            .unwrap_or(("dumbbell", &DUMBBELL));
        let mut parts = Parts { written, root, section, parts: Vec::new(), file };
        let count = parts.tables().len();
        // A parking lot has all links.
        let each = if root == "link" { 2 } else { topology.links.len() };
        for number in 0..count {
            let first = number * each;
            let links = topology.links[first..first + each].to_vec();
            let path = if root == "link" { format!("{root}.{number}") } else { root.to_owned() };
            let word = match &*links[0].name {
                // A path is cut at its dots.
                name if root == "link" && !name.contains('.') => format!("{root}.{name}"),
                _ => path.clone(),
            };
            let tree = completed(&parts.tables()[number], &links, section);
            let changing = [0, 1].map(|other| topology.changing[first + other].clone());
            parts.parts.push(Part { word, path, first, changing, state: Rc::new(State { tree, links }) });
        }
        parts
    }

    fn tables(&self) -> &[Node] {
        match self.written.get(self.root) {
            Some(Node { content: Content::Array(tables), .. }) => tables,
            Some(table) => std::slice::from_ref(table),
            None => &[],
        }
    }

    /// The number of the table that a path is within, and the rest of the path.
    pub fn find<'p>(&self, path: &'p str) -> Option<(usize, &'p str)> {
        let rest = match path.strip_prefix(self.root)? {
            "" if self.root != "link" => return Some((0, "")),
            rest => rest.strip_prefix('.')?,
        };
        if self.root != "link" {
            return Some((0, rest));
        }
        let (number, rest) = rest.split_once('.').unwrap_or((rest, ""));
        let number = number.parse().ok().filter(|number| *number < self.parts.len())?;
        Some((number, rest))
    }

    /// The table that an event changes.
    pub fn of(&self, event: &Table<'_>, request: &EventRequest<'_>) -> Read<usize> {
        if let Some(part) = request.part {
            return Ok(part);
        }
        // The error comes from reading the whole tree.
        let mut root = self.written.clone();
        request.set(event, &mut root, request.values[0])?;
        fill::section(&mut root, &FILE);
        reopened(&root, self.file).and_then(|table| Topology::read(&table))?;
        Err(event.refuse("set", CANNOT))
    }

    /// A table as it is now.
    pub fn state(&self, part: usize) -> Rc<State> {
        Rc::clone(&self.parts[part].state)
    }

    /// The path of a table as files write it.
    pub fn word(&self, part: usize) -> &str {
        &self.parts[part].word
    }

    /// The path of a table by its number.
    pub fn path(&self, part: usize) -> &str {
        &self.parts[part].path
    }

    /// The first link of a table.
    pub fn first_link(&self, part: usize) -> usize {
        self.parts[part].first
    }

    /// Runs `work` and reverts its changes of a table.
    pub fn tentatively<T>(&mut self, part: usize, work: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        let (written, state) = (self.tables()[part].clone(), self.state(part));
        let result = work(self)?;
        if let Some(table) = self.table_mut(part) {
            *table = written;
        }
        self.parts[part].state = state;
        Ok(result)
    }

    fn table_mut(&mut self, part: usize) -> Option<&mut Node> {
        match self.written.get_mut(self.root)? {
            Node { content: Content::Array(tables), .. } => tables.get_mut(part),
            table => Some(table),
        }
    }

    /// An event sets its key to `value`.
    pub fn advance(
        &mut self,
        part: usize,
        event: &Table<'_>,
        request: &EventRequest<'_>,
        value: &Node,
    ) -> Read<()> {
        let plain = self.plain(part, request.key());
        request.set(event, &mut self.written, value)?;
        let is_set = plain.is_some_and(|plain| plain.set(Rc::make_mut(&mut self.parts[part].state), value));
        if !is_set {
            self.parts[part].state = Rc::new(self.read(part, event)?);
        } else if cfg!(debug_assertions) {
            assert!(self.read(part, event).as_ref() == Ok(&*self.parts[part].state), "{}", request.key());
        }
        Ok(())
    }

    /// Reads a table again, for `event`.
    fn read(&self, part: usize, event: &Table<'_>) -> Read<State> {
        let Part { path, changing, state, .. } = &self.parts[part];
        let written = &self.tables()[part];
        let mut tree = written.clone();
        fill::section(&mut tree, self.section);
        let table = Table::open(&tree, path, self.file, self.section)?;
        let before = &state.tree;
        let is_other = |key: &str| tree.get(key) != before.get(key);
        let named = if self.root == "link" { own_name(&table)? } else { state.links[0].name.clone() };
        let [(link, wave), (other, other_wave)] = pair(&table, &named).map_err(hint_at_up)?;
        let same = ["from", "to", "hops"].iter().all(|key| !is_other(key))
            && [wave, other_wave] == *changing
            && [&link, &other].into_iter().zip(&state.links).all(|(a, b)| {
                let fixed = |link: &Link| (link.policer, link.aggregation, link.outage);
                a.name == b.name && a.trace == b.trace && fixed(a) == fixed(b)
            });
        if !same {
            return Err(event.refuse("set", CANNOT));
        }
        // Those of a parking lot are all alike.
        let links: Vec<Link> = state
            .links
            .iter()
            .zip([link, other].iter().cycle())
            .map(|(old, new)| Link { name: old.name.clone(), ..new.clone() })
            .collect();
        complete::link(&mut tree, &links, self.section);
        Ok(State { tree, links })
    }

    /// Whether a key of a table is plain.
    fn plain(&self, part: usize, key: &str) -> Option<Plain> {
        let written = &self.tables()[part];
        let reverse = written.get("reverse");
        let of_reverse = |names: &[&str]| {
            reverse.is_some_and(|reverse| names.iter().any(|name| reverse.get(name).is_some()))
        };
        let (key, both, of) = match key.strip_prefix("reverse.") {
            Some(key) => (key, false, reverse?),
            None => (key, true, written),
        };
        // Values from a file are not set.
        let has = |key: &str| of.get(key).is_some_and(|node| matches!(node.content, Content::Text(_)));
        let (key, follows) = match key {
            "rate" if has("rate") => (PlainKey::Rate, !of_reverse(&["rate", "rate_trace", "rate_series"])),
            "delay" if has("delay") => (PlainKey::Delay, !of_reverse(&["delay", "delay_series"])),
            "up" if (both || of.get("up").is_some()) && of.get("rate_series").is_none() => {
                (PlainKey::Up, !of_reverse(&["up"]))
            }
            "loss.rate" => {
                let loss = of.get("loss")?;
                let is_plain = loss.entries().iter().all(|(key, node)| match key.as_str() {
                    "kind" => matches!(&node.content, Content::Text(kind) if kind == "bernoulli"),
                    other => other == "rate",
                });
                (loss.get("rate").is_some() && is_plain).then_some((PlainKey::LossRate, false))?
            }
            _ => return None,
        };
        let plain = Plain { key, sets: [both, !both || follows] };
        // The thresholds of adaptive RED follow the rate.
        let adapts = |link: &Link| matches!(&link.queue, Queue::Red { red, .. } if red.adaptive.is_some());
        let links = &self.parts[part].state.links;
        let is_adaptive = plain.key == PlainKey::Rate && links.iter().take(2).any(adapts);
        (!is_adaptive).then_some(plain)
    }

    /// The differences between two states of a table, by link.
    pub fn changes<'s>(
        &'s self,
        part: usize,
        before: &'s State,
        after: &'s State,
    ) -> impl Iterator<Item = (usize, Change)> + use<'s> {
        let first = self.parts[part].first;
        before.links.iter().zip(&after.links).enumerate().flat_map(move |(link, (old, new))| {
            differing(new, old).map(move |kind| (first + link, kind.of(new)))
        })
    }

    /// The difference between two states of a table: a key as events set it, and its new value. A table of which more
    /// than one key differs is set as a whole, so that reading the events again gives the same changes.
    pub fn difference(&self, part: usize, before: &State, after: &State) -> Option<(String, Node)> {
        difference(self.parts[part].word.clone(), &before.tree, &after.tree)
    }
}

fn difference(path: String, old: &Node, new: &Node) -> Option<(String, Node)> {
    if old == new {
        return None;
    }
    let same_keys = old.entries().len() == new.entries().len()
        && old.entries().iter().zip(new.entries()).all(|((a, _), (b, _))| a == b);
    let mut changed = old
        .entries()
        .iter()
        .zip(new.entries())
        .filter(|((_, a), (_, b))| a != b)
        .map(|(_, (key, node))| (key, node));
    match (changed.next(), changed.next()) {
        (Some((key, node)), None) if same_keys => difference(format!("{path}.{key}"), old.get(key)?, node),
        _ => Some((path, new.clone())),
    }
}

fn completed(written: &Node, links: &[Link], section: &'static Section) -> Node {
    let mut tree = written.clone();
    fill::section(&mut tree, section);
    complete::link(&mut tree, links, section);
    tree
}

/// Adds a hint how to write an outage, because a rate of 0 was probably meant as one.
fn hint_at_up(mut refusal: Refusal) -> Refusal {
    if refusal.problem == NO_RATE {
        refusal.problem += "; to stop the link, set its key up to false";
    }
    refusal
}

impl Plain {
    /// Sets the key of a table, if `value` is one that it may have.
    fn set(&self, state: &mut State, value: &Node) -> bool {
        let Some(read) = self.read(&value.content) else { return false };
        for (index, link) in state.links.iter_mut().enumerate() {
            if self.sets[index % 2] {
                match read {
                    Change::Rate(rate) => link.rate = rate,
                    Change::Delay(delay) => link.delay = delay,
                    Change::Up(up) => link.up = up,
                    Change::Loss(ref loss) => link.loss = loss.clone(),
                    _ => return false,
                }
            }
        }
        let mut both =
            [(self.sets[0], false), (self.sets[1], true)].into_iter().filter(|(is_set, _)| *is_set);
        // The first is the one that is written.
        let is_first_reverse = both.next().is_some_and(|(_, reverse)| reverse);
        let mut put = |reverse: bool, content: Content| {
            let table = if reverse { state.tree.get_mut("reverse") } else { Some(&mut state.tree) };
            let node = match self.key {
                PlainKey::Rate => table.and_then(|table| table.get_mut("rate")),
                PlainKey::Delay => table.and_then(|table| table.get_mut("delay")),
                PlainKey::Up => table.and_then(|table| table.get_mut("up")),
                PlainKey::LossRate => {
                    table.and_then(|table| table.get_mut("loss")).and_then(|loss| loss.get_mut("rate"))
                }
            };
            node.map(|node| node.content = content).is_some()
        };
        let of_other = match read {
            Change::Rate(rate) => Content::Text(rate.to_string()),
            Change::Delay(delay) => Content::Text(delay.to_string()),
            _ => value.content.clone(),
        };
        put(is_first_reverse, value.content.clone()) && both.next().is_none_or(|_| put(true, of_other))
    }

    fn read(&self, content: &Content) -> Option<Change> {
        match self.key {
            PlainKey::Rate => Rate::read(content, Form::Rate).ok().map(Change::Rate),
            PlainKey::Delay => {
                let delay = Span::read(content, Form::Time).ok();
                delay.filter(|delay| *delay <= LONGEST).map(Change::Delay)
            }
            PlainKey::Up => bool::read(content, Form::Flag).ok().map(Change::Up),
            PlainKey::LossRate => {
                let probability = f64::read(content, Form::Fraction).ok()?;
                Some(Change::Loss(Loss::Bernoulli { probability }))
            }
        }
    }
}

/// Opens a whole tree, for errors that only a check of the whole tree finds.
pub fn reopened<'n>(root: &'n Node, file: &'n str) -> Read<Table<'n>> {
    Table::open(root, "", file, &FILE)
}
