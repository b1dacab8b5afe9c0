//! From a tree to checked events: changes of links during a run.

use ackclock_units::Span;

use crate::keys::{EVENT, FILE};
use crate::link::Square;
use crate::model::{Change, Event, Flow, Link, Run, When};
use crate::read::{Read, Table, did_you_mean};
use crate::topology::Topology;
use crate::tree::{Content, Node};

/// Most changes of a run, those of square waves included.
const MOST_EVENTS: u64 = 1_000_000;

/// Reads the events of the scenario in `root`, and those that square waves make.
///
/// An event is read by setting its key in a copy of the scenario and reading the links again: what differs is what
/// it changes, and what could not stand in the file is refused with the same words.
pub fn events(root: &Node, file: &str, run: &Run, topology: &Topology, flows: &[Flow]) -> Read<Vec<Event>> {
    let table = Table::open(root, "", file, &FILE)?;
    let mut events = waves(&table, run, topology)?;
    let mut before = topology.links.clone();
    let mut changed = root.clone();
    for event in table.tables("event", &EVENT)? {
        let when = when(&event, run, flows)?;
        let path = event.required("set", event.text("set")?)?;
        let value = event.node("to").ok_or_else(|| event.refuse("to", "is required"))?;
        let path = resolve(&event, path, topology)?;
        let place = changed.place(&path, &value.origin).map_err(|problem| event.refuse("set", problem))?;
        place.content = value.content.clone();
        place.mark(&value.origin);
        let links = Topology::read(&Table::open(&changed, "", file, &FILE)?)?.links;
        let same = links.len() == before.len()
            && links.iter().zip(&before).all(|(a, b)| a.name == b.name && a.trace == b.trace);
        if !same {
            return Err(event.refuse("set", "this key cannot change during a run"));
        }
        for (link, (new, old)) in links.iter().zip(&before).enumerate() {
            events.extend(changes(new, old).into_iter().map(|change| Event { when, link, change }));
        }
        before = links;
    }
    Ok(events)
}

fn when(event: &Table<'_>, run: &Run, flows: &[Flow]) -> Read<When> {
    let expected = "expected a time, or { flow = \"a\", rtt = 1000 }";
    let Some(node) = event.node("at") else { return Err(event.refuse("at", "is required")) };
    let Content::Table(entries) = &node.content else {
        let at = event.required("at", event.time("at")?)?;
        if at >= run.duration {
            let problem = format!("must lie before the end of the run ({}), is {at}", run.duration);
            return Err(event.refuse("at", problem));
        }
        return Ok(When::At(at));
    };
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

/// The path with the name of a link turned into its place in the file.
fn resolve(event: &Table<'_>, path: &str, topology: &Topology) -> Read<String> {
    let mut parts: Vec<String> = path.split('.').map(str::to_owned).collect();
    let first = parts.first().map(String::as_str);
    if !matches!(first, Some("dumbbell" | "parking_lot" | "link")) {
        let problem = "expected a key of a link, such as dumbbell.loss.rate or link.NAME.delay";
        return Err(event.refuse("set", problem));
    }
    if first == Some("link")
        && let Some(name) = parts.get_mut(1)
        && let Some(place) = topology.links.iter().position(|link| link.name == *name)
    {
        *name = (place / 2).to_string();
        if place % 2 == 1 {
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
