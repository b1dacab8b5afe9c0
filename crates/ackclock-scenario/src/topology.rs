//! From a tree to links and the routes over them: `[dumbbell]`, `[parking_lot]`, `[[node]]` and `[[link]]`.

use ackclock_units::Span;

use crate::link::{Pair, Square, pair};
use crate::model::Link;
use crate::read::{Read, Table};
use crate::value::did_you_mean;

/// Links, and the graph that they make.
#[derive(Debug)]
pub struct Topology {
    /// The links; the other direction of each stands after it.
    pub links: Vec<Link>,
    /// The waves of their rates.
    pub squares: Vec<Option<Square>>,
    graph: Graph,
}

#[derive(Debug)]
enum Graph {
    /// One link and its other direction.
    Dumbbell,
    /// Names of nodes; where each link goes from and to. Flows go from the first to the last node unless they say
    /// otherwise, if that is clear.
    Nodes { names: Vec<String>, ends: Vec<(usize, usize)>, in_a_row: bool },
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
        let (links, squares) = pairs.into_iter().flatten().unzip();
        Topology { links, squares, graph }
    }

    fn row(table: &Table<'_>) -> Read<Topology> {
        let hops = table.need::<u32>("hops")? as usize;
        let names = (0..=hops).map(|node| format!("n{node}")).collect();
        let ends = (0..hops).flat_map(|hop| [(hop, hop + 1), (hop + 1, hop)]).collect();
        let pairs = (0..hops).map(|hop| pair(table, &format!("hop-{hop}"))).collect::<Read<_>>()?;
        Ok(Topology::of(pairs, Graph::Nodes { names, ends, in_a_row: true }))
    }

    fn graph(table: &Table<'_>, links: &[Table<'_>]) -> Read<Topology> {
        let declared = table.tables("node")?;
        let mut names: Vec<String> = Vec::new();
        for node in &declared {
            let name: String = node.need("name")?;
            if names.contains(&name) {
                return Err(node.refuse("name", format!("two nodes are named \"{name}\"; names must differ")));
            }
            names.push(name);
        }
        let (mut pairs, mut ends, mut link_names) = (Vec::new(), Vec::new(), Vec::new());
        for link in links {
            let mut end = |key: &str| -> Read<usize> {
                let name: String = link.need(key)?;
                if let Some(index) = names.iter().position(|other| *other == name) {
                    return Ok(index);
                }
                if !declared.is_empty() {
                    return Err(unknown_node(link, key, &name, &names));
                }
                names.push(name);
                Ok(names.len() - 1)
            };
            let (from, to) = (end("from")?, end("to")?);
            if from == to {
                return Err(link.refuse("to", "must not be the same node as from"));
            }
            let name = link.get("name")?.unwrap_or_else(|| format!("{}-{}", names[from], names[to]));
            pairs.push(pair(link, &name)?);
            ends.extend([(from, to), (to, from)]);
            for name in [format!("{name}-reverse"), name] {
                if link_names.contains(&name) {
                    return Err(
                        link.refuse("name", format!("two links are named \"{name}\"; names must differ"))
                    );
                }
                link_names.push(name);
            }
        }
        Ok(Topology::of(pairs, Graph::Nodes { names, ends, in_a_row: false }))
    }

    /// The first and the last node, where flows go from one to the other unless they say otherwise.
    pub fn row_ends(&self) -> Option<(&str, &str)> {
        match &self.graph {
            Graph::Nodes { names, in_a_row: true, .. } => Some((names.first()?, names.last()?)),
            _ => None,
        }
    }

    /// Whether it is a dumbbell.
    pub const fn is_dumbbell(&self) -> bool {
        matches!(self.graph, Graph::Dumbbell)
    }

    /// The links of a flow's data and acknowledgements.
    pub fn route(&self, flow: &Table<'_>) -> Read<Route> {
        let Graph::Nodes { names, in_a_row, .. } = &self.graph else {
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
            Some(name) => names
                .iter()
                .position(|other| *other == name)
                .ok_or_else(|| unknown_node(flow, key, &name, names)),
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
        let Graph::Nodes { names, ends, .. } = &self.graph else { return None };
        let mut best: Vec<Option<(Span, usize, Vec<usize>)>> = vec![None; names.len()];
        let mut done = vec![false; names.len()];
        best[from] = Some((Span::ZERO, 0, Vec::new()));
        loop {
            let next = (0..names.len())
                .filter(|node| !done[*node] && best[*node].is_some())
                .min_by(|a, b| best[*a].cmp(&best[*b]))?;
            let (delay, hops, path) = best[next].clone()?;
            if next == to {
                return Some(path);
            }
            done[next] = true;
            for (link, (start, end)) in ends.iter().enumerate() {
                if *start != next || done[*end] {
                    continue;
                }
                let path = path.iter().copied().chain([link]).collect();
                let candidate = Some((delay + self.links[link].delay, hops + 1, path));
                if best[*end].is_none() || candidate < best[*end] {
                    best[*end] = candidate;
                }
            }
        }
    }
}

fn unknown_node(table: &Table<'_>, key: &str, name: &str, names: &[String]) -> crate::Refusal {
    let hint = did_you_mean(name, names.iter().map(String::as_str));
    let list = if hint.is_empty() { format!("; allowed: {}", names.join(", ")) } else { hint };
    table.refuse(key, format!("unknown node \"{name}\"{list}"))
}
