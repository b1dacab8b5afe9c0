//! From a tree to checked events: changes of links during a run.

mod kinds;
mod parts;
mod repeat;
mod request;

use std::collections::BTreeMap;

use ackclock_units::Span;

use crate::applications;
use crate::link::Square;
use crate::model::{Event, Flow, Run, When};
use crate::read::{Read, Table};
use crate::topology::Topology;
use crate::tree::{Content, Node};
use crate::value::did_you_mean;
use parts::Parts;
use repeat::{Repeats, Track};
use request::EventRequest;

/// Most changes of a run, those of square waves included.
const MOST_EVENTS: u64 = 1_000_000;

/// Reads the events of a scenario, including the events that square waves and files generate. Also returns the tables
/// of the events with every default written out, even defaults that other keys set.
///
/// `source` is the scenario as it was written, `table` the same with the defaults. An event is read by setting its key
/// in the written table of its link and reading that link again. The differences are its changes, and values that the
/// file could not contain are refused with the same words.
pub fn events(
    source: &Node,
    table: &Table<'_>,
    run: &Run,
    topology: &Topology,
    flows: &[Flow],
) -> Read<(Vec<Event>, Vec<Node>)> {
    let mut events = waves(table, run, topology)?;
    let mut written = Vec::new();
    let mut parts = Parts::new(source, table.file(), topology);
    // Events of applications are read elsewhere.
    let tables: Vec<_> =
        table.tables("event")?.into_iter().filter(|event| !applications::is_of_flow(event)).collect();
    let names = topology.numbers();
    let request = tables
        .iter()
        .map(|event| {
            EventRequest::read(event, run, &names, |path| {
                parts.find(path).map(|(part, rest)| (part, path.len() - rest.len()))
            })
        })
        .collect::<Read<Vec<_>>>()?;
    let repeats = Repeats::read(&tables, &request, &mut parts)?;
    let flow_names: BTreeMap<&str, usize> =
        (0..).zip(flows).map(|(index, flow)| (&*flow.name, index)).collect();
    let mut count: u64 = events.iter().map(|event| event.when.count()).sum();
    for (event, request) in tables.iter().zip(&request) {
        let when = when(event, run, &flow_names, request.every)?;
        let at = event.required("at", event.node("at"))?;
        let part = parts.of(event, request)?;
        let before = parts.state(part);
        let begun = events.len();
        if repeats.is_empty() {
            parts.advance(part, event, request, request.values[0])?;
            let after = parts.state(part);
            events.extend(parts.changes(part, &before, &after).map(|(link, change)| Event {
                when,
                link,
                change,
            }));
            written.extend(parts.difference(part, &before, &after).map(|(set, to)| {
                let entries = [("at", at.clone()), ("set", Node::text(set)), ("to", to)];
                Node::table(entries.map(|(key, node)| (key.to_owned(), node)).into(), &at.origin)
            }));
        } else {
            let mut track = Track::new(&before);
            repeats.mark(event, request, &mut track)?;
            for value in &request.values {
                parts.advance(part, event, request, value)?;
                track.observe(&parts.state(part));
            }
            written.extend(track.written(event, request, parts.word(part))?);
            let changes = track.into_changes(event, request)?;
            let first = parts.first_link(part);
            events.extend(changes.into_iter().map(|(link, change)| Event {
                when,
                link: first + link,
                change,
            }));
        }
        count += events[begun..].iter().map(|event| event.when.count()).sum::<u64>();
        if count > MOST_EVENTS {
            let problem = format!("a run has at most {MOST_EVENTS} changes; with this event it has {count}");
            return Err(event.refuse("every", problem));
        }
    }
    Ok((events, written))
}

fn when(
    event: &Table<'_>,
    run: &Run,
    flows: &BTreeMap<&str, usize>,
    every: Option<(Span, Span)>,
) -> Read<When> {
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
    let Some(&flow) = flows.get(name.as_str()) else {
        let hint = did_you_mean(name, flows.keys().copied());
        return Err(event.refuse("at", format!("unknown flow \"{name}\"{hint}")));
    };
    match u64::try_from(*count) {
        Ok(count) if count > 0 => Ok(When::RoundTrip { flow, count }),
        _ => Err(event.refuse("at", format!("expected at least 1 round trip, found {count}"))),
    }
}

fn waves(table: &Table<'_>, run: &Run, topology: &Topology) -> Read<Vec<Event>> {
    let mut events: Vec<Event> = Vec::new();
    let mut count = 0;
    for (link, (spec, changing)) in topology.links.iter().zip(&topology.changing).enumerate() {
        let series = changing.events(link, run.duration);
        count += series.iter().map(|event| event.when.count()).sum::<u64>();
        events.extend(series);
        if count > MOST_EVENTS {
            let problem = format!(
                "a run has at most {MOST_EVENTS} changes; with the files of {} it has {count}",
                spec.name
            );
            return Err(table.refuse("link", problem));
        }
        let Some(Square { rate, period }) = changing.square else { continue };
        let half = Span(period.0 / 2).max(Span(1));
        count += run.duration.0 / half.0;
        if count > MOST_EVENTS {
            let problem = format!("square: a run has at most {MOST_EVENTS} changes; {period} is too short");
            return Err(table.refuse("link", problem));
        }
        let rates = [rate, spec.rate].into_iter().cycle();
        for (count, rate) in (1..).zip(rates) {
            let at = half.saturating_mul(count);
            if at >= run.duration {
                break;
            }
            events.push(Event { when: When::At(at), link, change: crate::Change::Rate(rate) });
        }
    }
    Ok(events)
}

impl When {
    /// How often it happens, at most.
    const fn count(&self) -> u64 {
        match self {
            When::At(_) | When::RoundTrip { .. } => 1,
            When::Every { first, every, until } => {
                let last = until.0.saturating_sub(1);
                if first.0 > last { 0 } else { (last - first.0) / every.0 + 1 }
            }
        }
    }
}
