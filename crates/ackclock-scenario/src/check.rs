//! From a tree to a checked scenario: the file and `[run]`.

use ackclock_cc::registry::Catalogue;
use ackclock_units::Span;

use crate::keys::{FILE, FLOW, MOST_FLOWS, RUN, TCP};
use crate::link::LONGEST;
use crate::model::{Run, Sample, Scenario};
use crate::read::{Read, Refusal, Table};
use crate::topology::Topology;
use crate::tree::Node;
use crate::{event, flow};

/// Most samples of a run: a mistyped unit must not fill the memory.
const MOST_SAMPLES: u64 = 10_000_000;
/// Checks a whole scenario.
pub fn scenario(node: &Node, file: &str, catalogue: &dyn Catalogue) -> Read<Scenario> {
    let table = Table::open(node, "", file, &FILE)?;
    let run = run(&table.required("run", table.table("run", &RUN)?)?)?;
    let tcp = table.table("tcp", &TCP)?;
    let topology = Topology::read(&table)?;
    let defaults = flow::Defaults { tcp: tcp.as_ref(), run: &run, topology: &topology, catalogue };
    let mut flows = Vec::new();
    for table in table.tables("flow", &FLOW)? {
        let count = flow::count(&table)?;
        if flows.len() as u64 + count > MOST_FLOWS {
            return Err(table.refuse("count", format!("there must be at most {MOST_FLOWS} flows in total")));
        }
        let flow = flow::flow(&table, &defaults)?;
        let name = table.text("name")?;
        for n in 0..count {
            let mut flow = flow.clone();
            flow.join_group(flows.len() - n as usize, n as u32, count as u32);
            flow.name = match name {
                Some(name) if count == 1 => name.to_owned(),
                Some(name) => format!("{name}-{n}"),
                None => format!("{}-{}", flow.controller, flows.len()),
            };
            flows.push(flow);
        }
        refuse_doubles(&table, &flows)?;
    }
    if flows.is_empty() {
        return Err(table.refuse("flow", "there must be at least one [[flow]]"));
    }
    let events = event::events(node, file, &run, &topology, &flows)?;
    Ok(Scenario { run, links: topology.links, flows, events })
}

/// Names must be unique, because events and results name flows.
fn refuse_doubles(table: &Table<'_>, flows: &[crate::Flow]) -> Result<(), Refusal> {
    let mut names: Vec<_> = flows.iter().map(|flow| flow.name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => {
            Err(table.refuse("name", format!("two flows are named \"{}\"; names must differ", pair[0])))
        }
        None => Ok(()),
    }
}

fn run(table: &Table<'_>) -> Read<Run> {
    let duration = table.required("duration", table.positive_time("duration")?)?;
    if duration > LONGEST {
        return Err(table.refuse("duration", "must be at most 180 days (4320 h)"));
    }
    let warmup = table.time("warmup")?.unwrap_or(Span::ZERO);
    if warmup >= duration {
        let problem = format!("must end before the run does ({duration}), is {warmup}");
        return Err(table.refuse("warmup", problem));
    }
    let sample = if matches!(table.text("sample"), Ok(Some("rtt"))) {
        Sample::RoundTrip
    } else {
        let every = table.positive_time("sample")?.unwrap_or(Span::from_millis(100));
        if duration.0 / every.0 > MOST_SAMPLES {
            let problem =
                format!("a run has at most {MOST_SAMPLES} samples; {duration} every {every} is more");
            return Err(table.refuse("sample", problem));
        }
        Sample::Every(every)
    };
    let seed = table.whole("seed", 0, u64::MAX)?.unwrap_or(1);
    Ok(Run { duration, warmup, seed, sample })
}
