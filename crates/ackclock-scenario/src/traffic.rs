//! From a tree to what a flow sends: bulk data, web sessions, datagrams.

use ackclock_units::{Bytes, Span};

use crate::model::{Cycle, Datagrams, Emultcp, Flow, Traffic, Web};
use crate::read::{Read, Table};

/// Keys that only sources have, and the sources that have them.
const OF_SOURCES: &[(&str, &[&str])] = &[
    ("rate", &["cbr", "poisson", "onoff"]),
    ("on", &["onoff"]),
    ("off", &["onoff"]),
    ("shape", &["onoff", "web"]),
    ("think", &["web"]),
    ("objects", &["web"]),
    ("object", &["web"]),
];

/// Reads what the flow in `table` sends.
pub fn traffic(table: &Table<'_>, source: Option<&'static str>) -> Read<Traffic> {
    for (key, sources) in OF_SOURCES {
        if table.node(key).is_some() && !source.is_some_and(|source| sources.contains(&source)) {
            let problem = format!("has a meaning only with source = \"{}\"", sources.join("\" or \""));
            return Err(table.refuse(key, problem));
        }
    }
    match source {
        None => Ok(Traffic::Bulk),
        Some("web") => web(table),
        Some("emultcp") => Ok(Traffic::Emultcp(Emultcp { group: 0, place: 0, size: 1 })),
        Some(source) => datagrams(table, source),
    }
}

/// Sizes of objects as S. Feldmann et al. measured them (SIGCOMM 1999): Pareto with shape 1.2 and a mean of 12 kB.
fn web(table: &Table<'_>) -> Read<Traffic> {
    Ok(Traffic::Web(Web {
        think: table.time("think")?.unwrap_or(Span::from_seconds(10)),
        objects: table.number("objects", 1.0, 1e6)?.unwrap_or(4.0),
        object: table.size("object", 1 << 40)?.unwrap_or(Bytes(12_000)),
        shape: table.number("shape", 1.000_001, 100.0)?.unwrap_or(1.2),
    }))
}

fn datagrams(table: &Table<'_>, source: &str) -> Read<Traffic> {
    let rate = table.required("rate", table.rate("rate")?)?;
    let cycle = if source == "onoff" {
        Some(Cycle {
            on: table.positive_time("on")?.unwrap_or(Span::from_seconds(1)),
            off: table.positive_time("off")?.unwrap_or(Span::from_seconds(2)),
            shape: table.number("shape", 1.000_001, 100.0)?,
        })
    } else {
        None
    };
    Ok(Traffic::Datagrams(Datagrams { rate, poisson: source == "poisson", cycle }))
}

impl Flow {
    /// Makes it number `place` of the `size` flows of its `[[flow]]`, of which `first` is the first.
    pub(crate) fn join_group(&mut self, first: usize, place: u32, size: u32) {
        if let Traffic::Emultcp(group) = &mut self.traffic {
            *group = Emultcp { group: first, place, size };
        }
    }
}
