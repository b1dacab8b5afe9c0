//! From a tree to what a flow sends: bulk data, web sessions, datagrams.

use crate::model::{Cycle, Datagrams, Emultcp, Flow, Traffic, Web};
use crate::read::{Read, Table};

/// Reads what the flow in `table` sends.
pub fn traffic(table: &Table<'_>, source: Option<&'static str>) -> Read<Traffic> {
    Ok(match source {
        None => Traffic::Bulk,
        Some("web") => Traffic::Web(Web {
            think: table.need("think")?,
            objects: table.need("objects")?,
            object: table.need("object")?,
            shape: table.need("shape")?,
        }),
        Some("emultcp") => Traffic::Emultcp(Emultcp { group: 0, place: 0, size: 1 }),
        Some("onoff") => {
            let cycle = Cycle { on: table.need("on")?, off: table.need("off")?, shape: table.get("shape")? };
            datagrams(table, false, Some(cycle))?
        }
        Some(source) => datagrams(table, source == "poisson", None)?,
    })
}

fn datagrams(table: &Table<'_>, poisson: bool, cycle: Option<Cycle>) -> Read<Traffic> {
    let (rate, codepoint) = (table.need("rate")?, table.need("codepoint")?);
    Ok(Traffic::Datagrams(Datagrams { rate, poisson, cycle, codepoint }))
}

impl Flow {
    /// Makes it number `place` of the `size` flows of its `[[flow]]`, of which `first` is the first.
    pub(crate) fn join_group(&mut self, first: usize, place: u32, size: u32) {
        if let Traffic::Emultcp(group) = &mut self.traffic {
            *group = Emultcp { group: first, place, size };
        }
    }
}
