//! From a tree to links and the routes over them: `[dumbbell]`, `[parking_lot]`, `[[node]]` and `[[link]]`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use ackclock_units::Span;

use crate::link::{Changing, Pair, pair};
use crate::model::Link;
use crate::read::{Read, Table};
use crate::value::did_you_mean;

/// Links, and the graph that they make.
#[derive(Debug)]
pub struct Topology {
    /// The links; the other direction of each stands after it.
    pub links: Vec<Link>,
    /// How they change by themselves.
    pub changing: Vec<Changing>,
    graph: Graph,
}

#[derive(Debug)]
enum Graph {
    /// One link and its other direction.
    Dumbbell,
    /// Names of nodes, and both ends of each link. By default, flows go from the first to the last node, if these are
    /// unambiguous.
    Nodes(Nodes),
}

#[derive(Debug)]
struct Nodes {
    names: Vec<String>,
    by_name: BTreeMap<String, usize>,
    /// The links from each node, in the order of the file, and the nodes that they lead to.
    from: Vec<Vec<(usize, usize)>>,
    in_a_row: bool,
}

impl Nodes {
    fn new(names: Vec<String>, ends: &[(usize, usize)], in_a_row: bool) -> Nodes {
        let mut from = vec![Vec::new(); names.len()];
        for (link, (near, far)) in ends.iter().enumerate() {
            from[*near].push((link, *far));
        }
        let by_name = names.iter().cloned().zip(0..).collect();
        Nodes { names, by_name, from, in_a_row }
    }
}

/// Links that data goes over, and links that acknowledgements go over.
pub type Route = (Vec<usize>, Vec<usize>);

impl Topology {
    /// Reads the topology of the scenario in `table`.
    pub fn read(table: &Table<'_>) -> Read<Topology> {
        let dumbbell = table.table("dumbbell")?;
        let parking_lot = table.table("parking_lot")?;
        let links = table.tables("link")?;
        let sections = [
            ("dumbbell", dumbbell.is_some()),
            ("parking_lot", parking_lot.is_some()),
            ("link", !links.is_empty()),
        ];
        let mut names = sections.into_iter().filter(|(_, is)| *is).map(|(name, _)| name);
        match (names.next(), names.next()) {
            (None, _) => return Err(table.refuse("dumbbell", "is required, or parking_lot, or link")),
            (Some(first), Some(second)) => {
                return Err(table.refuse(
                    second,
                    format!("give only one of dumbbell, parking_lot and link; {first} is already given"),
                ));
            }
            _ => {}
        }
        if links.is_empty() && !table.tables("node")?.is_empty() {
            return Err(
                table.refuse("node", "only links have nodes to name: leave it out, or give [[link]] tables")
            );
        }
        if let Some(dumbbell) = dumbbell {
            return Ok(Topology::of(vec![pair(&dumbbell, "bottleneck")?], Graph::Dumbbell));
        }
        match parking_lot {
            Some(parking_lot) => Topology::row(&parking_lot),
            None => Topology::graph(table, &links),
        }
    }

    fn of(pairs: Vec<Pair>, graph: Graph) -> Topology {
        let (links, changing) = pairs.into_iter().flatten().unzip();
        Topology { links, changing, graph }
    }

    fn row(table: &Table<'_>) -> Read<Topology> {
        let hops = table.need::<u32>("hops")? as usize;
        let names = (0..=hops).map(|node| format!("n{node}")).collect();
        let ends: Vec<_> = (0..hops).flat_map(|hop| [(hop, hop + 1), (hop + 1, hop)]).collect();
        let first = pair(table, "hop-0")?;
        let named = |hop: usize| {
            let mut pair = first.clone();
            pair[0].0.name = format!("hop-{hop}");
            pair[1].0.name = format!("hop-{hop}-reverse");
            pair
        };
        Ok(Topology::of((0..hops).map(named).collect(), Graph::Nodes(Nodes::new(names, &ends, true))))
    }

    fn graph(table: &Table<'_>, links: &[Table<'_>]) -> Read<Topology> {
        let declared = table.tables("node")?;
        let mut names: Vec<String> = Vec::new();
        let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
        for node in &declared {
            let name: String = node.need("name")?;
            if by_name.insert(name.clone(), names.len()).is_some() {
                return Err(node.refuse("name", format!("two nodes are named \"{name}\"; names must differ")));
            }
            names.push(name);
        }
        let (mut pairs, mut ends, mut link_names) = (Vec::new(), Vec::new(), BTreeSet::new());
        for link in links {
            let mut end = |key: &str| -> Read<usize> {
                let name: String = link.need(key)?;
                if let Some(index) = by_name.get(&name) {
                    return Ok(*index);
                }
                if !declared.is_empty() {
                    return Err(unknown_node(link, key, &name, &names));
                }
                by_name.insert(name.clone(), names.len());
                names.push(name);
                Ok(names.len() - 1)
            };
            let (from, to) = (end("from")?, end("to")?);
            if from == to {
                return Err(link.refuse("to", "must not be the same node as from"));
            }
            let name = own_name(link)?;
            pairs.push(pair(link, &name)?);
            ends.extend([(from, to), (to, from)]);
            for name in [format!("{name}-reverse"), name] {
                if link_names.contains(&name) {
                    return Err(
                        link.refuse("name", format!("two links are named \"{name}\"; names must differ"))
                    );
                }
                link_names.insert(name);
            }
        }
        Ok(Topology::of(pairs, Graph::Nodes(Nodes::new(names, &ends, false))))
    }

    /// The first and the last node, if flows go from one to the other by default.
    pub fn row_ends(&self) -> Option<(&str, &str)> {
        match &self.graph {
            Graph::Nodes(Nodes { names, in_a_row: true, .. }) => Some((names.first()?, names.last()?)),
            _ => None,
        }
    }

    /// The numbers of the links by their names.
    pub fn numbers(&self) -> BTreeMap<&str, usize> {
        self.links.iter().map(|link| &*link.name).zip(0..).collect()
    }

    /// Whether it is a dumbbell.
    pub const fn is_dumbbell(&self) -> bool {
        matches!(self.graph, Graph::Dumbbell)
    }

    /// The links of a flow's data and acknowledgements.
    pub fn route(&self, flow: &Table<'_>) -> Read<Route> {
        let Graph::Nodes(Nodes { names, by_name, in_a_row, .. }) = &self.graph else {
            for key in ["from", "to"] {
                if flow.has(key) {
                    return Err(flow.refuse(key, "does not apply in a dumbbell; use direction"));
                }
            }
            let reverse = usize::from(flow.get("direction")? == Some("reverse"));
            return Ok((vec![reverse], vec![1 - reverse]));
        };
        if flow.has("direction") {
            return Err(flow.refuse("direction", "does not apply here; use from and to"));
        }
        let end = |key: &str, default: usize| match flow.get::<String>(key)? {
            None if *in_a_row => Ok(default),
            None => Err(flow.refuse(key, "is required")),
            Some(name) => by_name.get(&name).copied().ok_or_else(|| unknown_node(flow, key, &name, names)),
        };
        let (from, to) = (end("from", 0)?, end("to", names.len() - 1)?);
        if from == to {
            return Err(flow.refuse("to", "must not be the same node as from"));
        }
        let path = |from, to| {
            self.shortest(from, to).ok_or_else(|| {
                flow.refuse("to", format!("no route from \"{}\" to \"{}\"", names[from], names[to]))
            })
        };
        Ok((path(from, to)?, path(to, from)?))
    }

    /// The path of least delay, then of fewest links, then of the links that come first in the file.
    fn shortest(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let Graph::Nodes(nodes) = &self.graph else { return None };
        // The distance of each node from the far end, over the links that lead there: the first link on the way that
        // keeps to it is then the right one.
        let mut distances: Vec<Option<(Span, usize)>> = vec![None; nodes.names.len()];
        let mut next = BinaryHeap::from([Reverse(((Span::ZERO, 0), to))]);
        while let Some(Reverse((distance, node))) = next.pop() {
            if distances[node].is_some() {
                continue;
            }
            distances[node] = Some(distance);
            // The other direction of each link stands next to it.
            for (link, near) in nodes.from[node].iter().map(|(link, near)| (link ^ 1, *near)) {
                let candidate = (distance.0 + self.links[link].delay, distance.1 + 1);
                next.push(Reverse((candidate, near)));
            }
        }
        let mut path = Vec::new();
        let mut node = from;
        let mut left = distances[from]?;
        while node != to {
            let (link, far) = nodes.from[node].iter().copied().find(|(link, far)| {
                distances[*far]
                    .is_some_and(|(delay, hops)| (delay + self.links[*link].delay, hops + 1) == left)
            })?;
            path.push(link);
            (node, left) = (far, distances[far]?);
        }
        Some(path)
    }
}

/// The name of the link in a `[[link]]`: its own, or that of its ends.
pub fn own_name(link: &Table<'_>) -> Read<String> {
    let ends = || Ok(format!("{}-{}", link.need::<String>("from")?, link.need::<String>("to")?));
    link.get("name")?.map_or_else(ends, Ok)
}

fn unknown_node(table: &Table<'_>, key: &str, name: &str, names: &[String]) -> crate::Refusal {
    let hint = did_you_mean(name, names.iter().map(String::as_str));
    let list = if hint.is_empty() { format!("; allowed: {}", names.join(", ")) } else { hint };
    table.refuse(key, format!("unknown node \"{name}\"{list}"))
}
