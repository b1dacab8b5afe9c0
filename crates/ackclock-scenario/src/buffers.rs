//! Buffers as a time or as bandwidth-delay products: packets, once the round trips are known.
//!
//! A buffer has the packets that the rate of its link, on average where a file says it, sends in the time, or in so many
//! round trips of the first flow with a control. Its packets are those of that flow.

use ackclock_units::{Bytes, Rate, Span};

use crate::model::{Flow, Link};
use crate::topology::Topology;
use crate::tree::{Content, Node};

/// A buffer that depends on its link.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Relative {
    Time(Span),
    Products(f64),
}

/// The flow by which buffers are measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    rtt: Span,
    packet: Bytes,
}

impl Measure {
    /// That of the first flow with a control, or else the first.
    pub fn of<'f>(flows: impl Iterator<Item = &'f Flow> + Clone) -> Option<Measure> {
        let controlled = flows.clone().find(|flow| !flow.control.is_empty());
        let flow = controlled.or(flows.clone().next())?;
        Some(Measure { rtt: flow.rtt, packet: flow.tcp.packet })
    }

    fn packets(self, relative: Relative, rate: Rate) -> u64 {
        let seconds = match relative {
            Relative::Time(time) => time.as_seconds(),
            Relative::Products(products) => products * self.rtt.as_seconds(),
        };
        let packets = (rate.0 as f64 * seconds / (8.0 * self.packet.0 as f64)).round();
        (packets as u64).max(1)
    }
}

fn read(content: &Content) -> Option<Relative> {
    let Content::Text(text) = content else { return None };
    let text = text.trim();
    if let Ok(time) = text.parse::<Span>() {
        return (time > Span::ZERO).then_some(Relative::Time(time));
    }
    let (number, unit) = text.split_at_checked(text.len().checked_sub(3)?)?;
    if !unit.eq_ignore_ascii_case("bdp") {
        return None;
    }
    let products: f64 = number.trim_end().parse().ok()?;
    (products > 0.0 && products.is_finite()).then_some(Relative::Products(products))
}

/// The sections that have links.
const SECTIONS: [&str; 3] = ["dumbbell", "parking_lot", "link"];

/// Calls `each` with the buffers in the tables of links: the index of the link, and its limit.
fn limits(root: &mut Node, each: &mut dyn FnMut(usize, &mut Node)) {
    for section in SECTIONS {
        let Some(node) = root.get_mut(section) else { continue };
        let tables = match &mut node.content {
            Content::Array(tables) => &mut tables[..],
            _ => std::slice::from_mut(node),
        };
        for (number, table) in tables.iter_mut().enumerate() {
            of_link(table, 2 * number, each);
        }
    }
}

fn of_link(table: &mut Node, link: usize, each: &mut dyn FnMut(usize, &mut Node)) {
    if let Some(limit) = table.get_mut("queue").and_then(|queue| queue.get_mut("limit")) {
        each(link, limit);
    }
    let reverse = table.get_mut("reverse").and_then(|reverse| reverse.get_mut("queue"));
    if let Some(limit) = reverse.and_then(|queue| queue.get_mut("limit")) {
        each(link + 1, limit);
    }
}

/// Puts something in place of all buffers that depend on their links, so that these can be read; none if there is none.
pub fn without(root: &Node) -> Option<Node> {
    let mut copy = root.clone();
    let mut count = 0;
    limits(&mut copy, &mut |_, limit| {
        if read(&limit.content).is_some() {
            limit.content = Content::Text("1 packets".to_owned());
            count += 1;
        }
    });
    (count > 0 || root.get("event").is_some()).then_some(copy)
}

/// Writes the packets of all buffers in tables of links, which make `topology`, and in the values of events.
pub fn resolve(root: &mut Node, topology: &Topology, measure: Measure) {
    let write = |link: Option<&Link>, limit: &mut Node| {
        if let (Some(relative), Some(link)) = (read(&limit.content), link) {
            limit.content = Content::Text(format!("{} packets", measure.packets(relative, link.rate)));
        }
    };
    limits(root, &mut |link, limit| write(topology.links.get(link), limit));
    let Some(Node { content: Content::Array(events), .. }) = root.get_mut("event") else { return };
    let numbers = topology.numbers();
    for event in events {
        let Some(Node { content: Content::Text(set), .. }) = event.get("set") else { continue };
        if !set.contains("queue") {
            continue;
        }
        let set = set.clone();
        let Some((link, rest)) = target(&set, &numbers) else { continue };
        let link = topology.links.get(link);
        let Some(to) = event.get_mut("to") else { continue };
        match (&rest[..], &mut to.content) {
            (["queue", "limit"], Content::Array(values)) => {
                values.iter_mut().for_each(|value| write(link, value))
            }
            (["queue", "limit"], Content::Table(entries)) => {
                for (_, ends) in entries {
                    if let Content::Array(ends) = &mut ends.content {
                        ends.iter_mut().for_each(|end| write(link, end));
                    }
                }
            }
            (["queue", "limit"], _) => write(link, to),
            (["queue"], Content::Array(values)) => {
                values
                    .iter_mut()
                    .filter_map(|value| value.get_mut("limit"))
                    .for_each(|limit| write(link, limit));
            }
            (["queue"], _) => {
                if let Some(limit) = to.get_mut("limit") {
                    write(link, limit);
                }
            }
            _ => {}
        }
    }
}

/// The link that a key of an event belongs to, and the rest of the key.
fn target<'p>(
    set: &'p str,
    numbers: &std::collections::BTreeMap<&str, usize>,
) -> Option<(usize, Vec<&'p str>)> {
    let mut parts = set.split('.').peekable();
    let mut link = match parts.next()? {
        "dumbbell" | "parking_lot" => 0,
        "link" => {
            let name = parts.next()?;
            numbers.get(name).copied().or_else(|| Some(2 * name.parse::<usize>().ok()?))?
        }
        _ => return None,
    };
    if parts.next_if_eq(&"reverse").is_some() {
        link |= 1;
    }
    Some((link, parts.collect()))
}
