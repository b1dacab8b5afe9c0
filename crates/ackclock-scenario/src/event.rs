//! From a tree to checked events: changes of links during a run.

mod repeat;

use ackclock_units::Span;

use crate::keys::FILE;
use crate::link::Square;
use crate::model::{Change, Event, Flow, Link, Run, When};
use crate::read::{Read, Refusal, Table};
use crate::topology::Topology;
use crate::tree::{Content, Node};
use crate::value::{NO_RATE, did_you_mean};
use crate::{complete, fill};
use repeat::{EventRequest, Repeats};

/// Most changes of a run, those of square waves included.
const MOST_EVENTS: u64 = 1_000_000;
/// The tables that say what the links are.
const TOPOLOGY: [&str; 4] = ["dumbbell", "parking_lot", "node", "link"];

/// Reads the events of a scenario, and those that square waves make; and how the events are written when nothing is
/// left to a default, not even to one that another key gives.
///
/// `source` is the scenario as it was written, `table` the same with the defaults. An event is read by setting its key
/// in a copy of what was written and reading the links again: what differs is what it changes, and what could not
/// stand in the file is refused with the same words.
pub fn events(
    source: &Node,
    table: &Table<'_>,
    run: &Run,
    topology: &Topology,
    flows: &[Flow],
) -> Read<(Vec<Event>, Vec<Node>)> {
    let mut events = waves(table, run, topology)?;
    let mut written = Vec::new();
    let parts = source.entries().iter().filter(|(name, _)| TOPOLOGY.contains(&name.as_str()));
    let mut changed = Node::table(parts.cloned().collect(), &source.origin);
    let mut tree = filled(&changed);
    complete::topology(&mut tree, topology);
    let mut links = topology.links.clone();
    let tables = table.tables("event")?;
    let request =
        tables.iter().map(|event| EventRequest::read(event, run, topology)).collect::<Read<Vec<_>>>()?;
    let mut repeats = Repeats::default();
    for (event, request) in tables.iter().zip(&request).filter(|(_, request)| request.is_special()) {
        let mut probes = Vec::new();
        for value in &request.values {
            let mut other = changed.clone();
            request.set(event, &mut other, value)?;
            probes.push(state(&other, event, table.file(), topology)?);
        }
        repeats.add(request, &State { tree: tree.clone(), links: links.clone() }, &probes);
    }
    for (event, request) in tables.iter().zip(&request) {
        let when = when(event, run, flows, request.every)?;
        let before = State { tree, links };
        let mut after = Vec::new();
        for value in &request.values {
            request.set(event, &mut changed, value)?;
            after.push(state(&changed, event, table.file(), topology)?);
        }
        let at = event.required("at", event.node("at"))?;
        let others = repeats.related(event, request)?;
        if let ([after], true) = (&after[..], repeats.is_empty()) {
            for (link, (new, old)) in after.links.iter().zip(&before.links).enumerate() {
                events.extend(changes(new, old).into_iter().map(|change| Event { when, link, change }));
            }
            written.extend(differences(&before.tree, &after.tree, &before.links).into_iter().map(
                |(set, to)| {
                    let entries = [("at", at.clone()), ("set", Node::text(set)), ("to", to)];
                    Node::table(entries.map(|(key, node)| (key.to_owned(), node)).into(), &at.origin)
                },
            ));
        } else {
            let mut probes = vec![&before];
            probes.extend(&after);
            let mut others_after = Vec::new();
            for value in others {
                let mut other = changed.clone();
                request.set(event, &mut other, value)?;
                others_after.push(state(&other, event, table.file(), topology)?);
            }
            probes.extend(&others_after);
            for (link, change) in repeat::changes(event, request, &probes, &after)? {
                events.push(Event { when, link, change });
            }
            written.extend(repeat::written(event, request, &probes, &after)?);
        }
        let count: u64 = events.iter().map(|event| event.when.count()).sum();
        if count > MOST_EVENTS {
            let problem = format!("a run has at most {MOST_EVENTS} changes; with this event it has {count}");
            return Err(event.refuse("every", problem));
        }
        State { tree, links } = after.pop().unwrap_or(before);
    }
    Ok((events, written))
}

/// Adds how to write an outage, which a rate of 0 was probably meant to be.
fn hint_at_up(mut refusal: Refusal) -> Refusal {
    if refusal.problem == NO_RATE {
        refusal.problem += "; to stop the link, set its key up to false";
    }
    refusal
}

/// Links as an event leaves them, and the complete tree that says so.
struct State {
    tree: Node,
    links: Vec<Link>,
}

/// Reads the links of a changed scenario again, for `event`.
fn state(changed: &Node, event: &Table<'_>, file: &str, topology: &Topology) -> Read<State> {
    let mut tree = filled(changed);
    let after = Table::open(&tree, "", file, &FILE).and_then(|table| Topology::read(&table));
    let after = after.map_err(hint_at_up)?;
    complete::topology(&mut tree, &after);
    let same = after.links.len() == topology.links.len()
        && after.squares == topology.squares
        && after.links.iter().zip(&topology.links).all(|(a, b)| {
            let fixed = |link: &Link| (link.policer, link.aggregation, link.outage);
            a.name == b.name && a.trace == b.trace && fixed(a) == fixed(b)
        });
    if !same {
        return Err(event.refuse("set", "this key cannot change during a run"));
    }
    Ok(State { tree, links: after.links })
}

fn filled(source: &Node) -> Node {
    let mut tree = source.clone();
    fill::section(&mut tree, &FILE);
    tree
}

/// The differences between two complete trees of links: keys as events set them, and their new values. A link of which
/// more than one key differs is set as a whole, so that reading the events again gives the same changes.
fn differences(before: &Node, after: &Node, links: &[Link]) -> Vec<(String, Node)> {
    let mut changes = Vec::new();
    for (name, new) in after.entries() {
        let Some(old) = before.get(name) else { continue };
        let (Content::Array(old), Content::Array(new)) = (&old.content, &new.content) else {
            changes.extend(difference(name.clone(), old, new));
            continue;
        };
        for (index, (old, new)) in old.iter().zip(new).enumerate() {
            let link = links.get(2 * index).map_or("", |link| &link.name);
            // A path is cut at its dots.
            let word = if link.contains('.') { index.to_string() } else { link.to_owned() };
            changes.extend(difference(format!("{name}.{word}"), old, new));
        }
    }
    changes
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

fn when(event: &Table<'_>, run: &Run, flows: &[Flow], every: Option<(Span, Span)>) -> Read<When> {
    let expected = "expected a time, or { flow = \"a\", rtt = 1000 }";
    let Some(node) = event.node("at") else { return Err(event.refuse("at", "is required")) };
    let Content::Table(entries) = &node.content else {
        let at: Span = event.need("at")?;
        if at >= run.duration {
            let problem = format!("must lie before the end of the run ({}), is {at}", run.duration);
            return Err(event.refuse("at", problem));
        }
        return Ok(match every {
            Some((every, until)) => When::Every { first: at, every, until },
            None => When::At(at),
        });
    };
    if every.is_some() {
        return Err(event.refuse("every", "needs a time in at"));
    }
    let find = |name: &str| entries.iter().find(|(key, _)| key == name).map(|(_, node)| &node.content);
    let (Some(Content::Text(name)), Some(Content::Whole(count)), 2) =
        (find("flow"), find("rtt"), entries.len())
    else {
        return Err(event.refuse("at", expected));
    };
    let Some(flow) = flows.iter().position(|flow| flow.name == *name) else {
        let hint = did_you_mean(name, flows.iter().map(|flow| flow.name.as_str()));
        return Err(event.refuse("at", format!("unknown flow \"{name}\"{hint}")));
    };
    match u64::try_from(*count) {
        Ok(count) if count > 0 => Ok(When::RoundTrip { flow, count }),
        _ => Err(event.refuse("at", format!("expected at least 1 round trip, found {count}"))),
    }
}

/// The path with the name of a link turned into its index in the file.
fn resolve(event: &Table<'_>, path: &str, topology: &Topology) -> Read<String> {
    let mut parts: Vec<String> = path.split('.').map(str::to_owned).collect();
    let first = parts.first().map(String::as_str);
    if !matches!(first, Some("dumbbell" | "parking_lot" | "link")) {
        let problem = "expected a key of a link, such as dumbbell.loss.rate or link.NAME.delay";
        return Err(event.refuse("set", problem));
    }
    if first == Some("link")
        && let Some(name) = parts.get_mut(1)
        && let Some(index) = topology.links.iter().position(|link| link.name == *name)
    {
        *name = (index / 2).to_string();
        if index % 2 == 1 {
            parts.insert(2, "reverse".to_owned());
        }
    }
    Ok(parts.join("."))
}

fn changes(new: &Link, old: &Link) -> Vec<Change> {
    let mut changes = Vec::new();
    if new.rate != old.rate {
        changes.push(Change::Rate(new.rate));
    }
    if new.delay != old.delay {
        changes.push(Change::Delay(new.delay));
    }
    if new.queue != old.queue {
        changes.push(Change::Queue(new.queue));
    }
    if new.loss != old.loss {
        changes.push(Change::Loss(new.loss.clone()));
    }
    if new.up != old.up {
        changes.push(Change::Up(new.up));
    }
    if new.noise != old.noise {
        changes.push(Change::Noise(new.noise));
    }
    changes
}

fn waves(table: &Table<'_>, run: &Run, topology: &Topology) -> Read<Vec<Event>> {
    let mut events = Vec::new();
    for (link, (spec, square)) in topology.links.iter().zip(&topology.squares).enumerate() {
        let Some(Square { rate, period }) = *square else { continue };
        let half = Span(period.0 / 2).max(Span(1));
        if run.duration.0 / half.0 + events.len() as u64 > MOST_EVENTS {
            let problem = format!("square: a run has at most {MOST_EVENTS} changes; {period} is too short");
            return Err(table.refuse("link", problem));
        }
        let rates = [rate, spec.rate].into_iter().cycle();
        for (count, rate) in (1..).zip(rates) {
            let at = half.saturating_mul(count);
            if at >= run.duration {
                break;
            }
            events.push(Event { when: When::At(at), link, change: Change::Rate(rate) });
        }
    }
    Ok(events)
}
