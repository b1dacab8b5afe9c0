//! A scenario with nothing left to a default: the values that rules set for links and flows, written into the tree.

use ackclock_cc::Value;
use ackclock_cc::registry::Catalogue;

use crate::fill;
use crate::keys::{DUMBBELL, FILE, Form, LINK, PARKING_LOT, Section};
use crate::model::{Flow, Link, Queue, Scenario};
use crate::topology::Topology;
use crate::tree::{Content, Node};

/// The index of the first flow of a `[[flow]]`.
pub enum First {
    /// An index among the flows.
    Flow(usize),
    /// An index among the arrivals.
    Arrivals(usize),
}

/// Writes the values that rules set into a filled tree. `firsts` has the index of the first flow of each `[[flow]]`,
/// and `events` has the tables of the events. Afterwards the keys are in the order of the documentation.
pub fn scenario(
    root: &mut Node,
    scenario: &Scenario,
    links: &Topology,
    firsts: &[First],
    events: Vec<Node>,
    catalogue: &dyn Catalogue,
) {
    topology(root, links);
    if let Some(Content::Array(tables)) = root.get_mut("flow").map(|node| &mut node.content) {
        for (table, first) in tables.iter_mut().zip(firsts) {
            let first = match first {
                First::Flow(index) => &scenario.flows[*index],
                First::Arrivals(index) => &scenario.arrivals[*index].flow,
            };
            flow(table, first, links, catalogue);
        }
    }
    if let Content::Table(entries) = &mut root.content {
        // The dumbbell says all that the name of a path does.
        entries.retain(|(name, _)| name != "event" && name != "path");
    }
    if !events.is_empty() {
        root.supply("event", || Content::Array(events));
    }
    order(root, &FILE);
}

/// Writes the values that rules set for links.
fn topology(root: &mut Node, topology: &Topology) {
    let mut pairs = topology.links.chunks_exact(2);
    for (name, section) in [("dumbbell", &DUMBBELL), ("parking_lot", &PARKING_LOT), ("link", &LINK)] {
        let Some(node) = root.get_mut(name) else { continue };
        let tables = match &mut node.content {
            Content::Array(tables) => &mut tables[..],
            _ => std::slice::from_mut(node),
        };
        for (table, pair) in tables.iter_mut().zip(&mut pairs) {
            link(table, pair, section);
        }
    }
}

/// Writes the values that rules set for the links of one table; `links` are its first link and the other direction.
pub fn link(table: &mut Node, links: &[Link], section: &'static Section) {
    if section.name == LINK.name {
        table.supply("name", || text(&links[0].name));
    }
    thresholds(table, &links[0].queue);
    series(table);
    let is_over_time = table.get("delay_series").is_some();
    table.supply("reverse", || Content::Table(Vec::new()));
    if let Some(reverse) = table.get_mut("reverse") {
        direction(reverse, &links[1], is_over_time);
        series(reverse);
    }
    order(table, section);
}

/// Writes the columns of series.
fn series(table: &mut Node) {
    for key in ["rate_series", "delay_series", "loss_series"] {
        let Some(series) = table.get_mut(key) else { continue };
        let has_times = series.get("every").is_none();
        if has_times {
            series.supply("time", || Content::Whole(1));
        }
        series.supply("column", || Content::Whole(if has_times { 2 } else { 1 }));
        if matches!(series.get("between").map(|node| &node.content), Some(Content::Text(word)) if word == "linear")
        {
            series.supply("step", || text(crate::series::STEP));
        }
    }
}

fn direction(reverse: &mut Node, link: &Link, is_over_time: bool) {
    if reverse.get("rate_trace").is_none() && reverse.get("rate_series").is_none() {
        reverse.supply("rate", || text(link.rate));
    }
    if !is_over_time && reverse.get("delay_series").is_none() {
        reverse.supply("delay", || text(link.delay));
    }
    reverse.supply("up", || Content::Flag(link.up));
    reverse.supply("outage", || text(link.outage.name()));
    let entries = [("kind", text("droptail")), ("limit", text(link.queue.limit()))]
        .map(|(key, content)| (key.to_owned(), Node { content, origin: reverse.origin.clone() }));
    reverse.supply("queue", || Content::Table(entries.into()));
    thresholds(reverse, &link.queue);
    fill::section(reverse, &crate::keys::REVERSE);
}

fn thresholds(table: &mut Node, queue: &Queue) {
    let Queue::Red { red, .. } = queue else { return };
    if let Some(node) = table.get_mut("queue") {
        node.supply("min_threshold", || Content::Real(red.min_threshold));
        node.supply("max_threshold", || Content::Real(red.max_threshold));
        if let Some(least) = red.adaptive {
            node.supply("least_max_p", || Content::Real(least));
        }
    }
}

fn flow(table: &mut Node, flow: &Flow, links: &Topology, catalogue: &dyn Catalogue) {
    // The flows of a table without a name are numbered through the scenario, which no name says.
    if matches!(table.get("count").map(|node| &node.content), Some(Content::Whole(1))) {
        table.supply("name", || text(&flow.name));
    }
    table.supply("rtt", || text(flow.rtt));
    if links.is_dumbbell() {
        table.supply("direction", || text(if *flow.path == [1] { "reverse" } else { "forward" }));
    }
    if let Some((first, last)) = links.row_ends() {
        table.supply("from", || text(first));
        table.supply("to", || text(last));
    }
    let Some(entry) = catalogue.find(&flow.control) else { return };
    table.supply("params", || Content::Table(Vec::new()));
    let Some(params) = table.get_mut("params") else { return };
    for parameter in entry.parameters {
        match parameter.default {
            // No file can say what a class in Python may have as a default.
            Value::Number(number) if !number.is_finite() => {}
            Value::Number(number) => params.supply(parameter.name, || Content::Real(number)),
            Value::Choice(word) => params.supply(parameter.name, || text(word)),
            Value::Flag(flag) => params.supply(parameter.name, || Content::Flag(flag)),
        }
    }
    let index_of = |name: &str| entry.parameters.iter().position(|parameter| parameter.name == name);
    if let Content::Table(entries) = &mut params.content {
        entries.sort_by_key(|(name, _)| index_of(name));
    }
}

fn text(value: impl ToString) -> Content {
    Content::Text(value.to_string())
}

/// Puts the keys of a table and of the tables in it into the order of the documentation.
fn order(node: &mut Node, section: &'static Section) {
    let Content::Table(entries) = &mut node.content else { return };
    entries.sort_by_key(|(name, _)| section.all_keys().position(|key| key.name == name));
    for (name, node) in entries {
        match (section.key(name).map(|key| key.form), &mut node.content) {
            (Some(Form::Table(section)), _) => order(node, section),
            (Some(Form::Tables(section)), Content::Array(tables)) => {
                tables.iter_mut().for_each(|table| order(table, section));
            }
            _ => {}
        }
    }
}
