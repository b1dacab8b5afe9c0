//! From a tree to a checked scenario: the file and `[run]`.

use std::collections::{BTreeMap, BTreeSet};

use ackclock_cc::registry::Catalogue;
use ackclock_units::{Rate, Span};

use crate::complete::First;
use crate::keys::{FILE, MOST_FLOWS};
use crate::model::LONGEST;
use crate::model::{Arrivals, Flow, Run, Sample, Scenario};
use crate::read::{Read, Table};
use crate::tcp::Tcp;
use crate::topology::Topology;
use crate::tree::Node;
use crate::{applications, buffers, complete, event, fill, flow, paths, traffic};

/// Most samples of a run: a mistyped unit must not fill the memory.
const MOST_SAMPLES: u64 = 10_000_000;

/// Most flows that arrive in a run, for the same reason.
const MOST_ARRIVALS: f64 = 1e7;

/// Checks a whole scenario, and returns it with its tree in which nothing is left to a default.
pub fn scenario(source: &Node, file: &str, catalogue: &dyn Catalogue) -> Read<(Scenario, Node)> {
    let mut source = source.clone();
    paths::supply(&mut source, file)?;
    let mut tree = source.clone();
    fill::scenario(&mut tree);
    // Buffers may depend on flows, whose routes depend on links.
    let first = buffers::without(&tree);
    let table = Table::open(first.as_ref().unwrap_or(&tree), "", file, &FILE)?;
    let _: Option<paths::NamedPath> = table.get("path")?;
    let run = run(&table.required("run", table.table("run")?)?)?;
    let tcp = table.required("tcp", table.table("tcp")?)?;
    let topology = Topology::read(&table)?;
    let tcp = Tcp::read(&tcp, None)?;
    let defaults = flow::FlowDefaults { tcp: &tcp, run: &run, topology: &topology, catalogue };
    let (mut flows, mut firsts): (Vec<Flow>, Vec<First>) = (Vec::new(), Vec::new());
    let mut arrivals: Vec<Arrivals> = Vec::new();
    let mut expected = 0.0;
    let mut names = BTreeSet::new();
    let mut numbers = BTreeMap::new();
    let tables = table.tables("flow")?;
    for table in &tables {
        let count: u32 = table.need("count")?;
        if flows.len() as u64 + u64::from(count) > MOST_FLOWS {
            return Err(table.refuse("count", format!("there must be at most {MOST_FLOWS} flows in total")));
        }
        let first = flows.len();
        let flow = flow::flow(table, &defaults)?;
        let name: Option<String> = table.get("name")?;
        let slowest = flow.path.iter().map(|link| topology.links[*link].rate).min_by_key(|rate| rate.0);
        let slowest = slowest.unwrap_or(Rate(u64::MAX));
        if let Some(mut some) = traffic::arrivals(table, &flow, run.duration, slowest)? {
            expected += some.expected();
            // Six standard deviations: a run never has more.
            if expected + 6.0 * expected.sqrt() > MOST_ARRIVALS {
                let problem = format!(
                    "about {expected:.0} flows would arrive, and there must be at most {MOST_ARRIVALS} in total: lower the \
                     load, or raise the sizes"
                );
                return Err(table.refuse("arrivals", problem));
            }
            some.flow.name = name.unwrap_or_else(|| {
                let number = numbers.entry(flow.label.to_string()).or_insert(1);
                arrival_name(&flow.label, &names, number)
            });
            if !names.insert(some.flow.name.clone()) {
                let problem = format!("two flows are named \"{}\"; names must differ", some.flow.name);
                return Err(table.refuse("name", problem));
            }
            firsts.push(First::Arrivals(arrivals.len()));
            arrivals.push(some);
            continue;
        }
        for n in 0..count {
            let mut flow = flow.clone();
            flow.join_group(first, n, count);
            flow.name = match &name {
                Some(name) if count == 1 => name.clone(),
                Some(name) => format!("{name}-{n}"),
                None => format!("{}-{}", *flow.label, flows.len()),
            };
            // Names must be unique, because events and results name flows.
            if !names.insert(flow.name.clone()) {
                let problem = format!("two flows are named \"{}\"; names must differ", flow.name);
                return Err(table.refuse("name", problem));
            }
            flows.push(flow);
        }
        firsts.push(First::Flow(first));
    }
    // Arriving flows are numbered, too.
    let arriving: BTreeSet<&str> = arrivals.iter().map(|arrivals| &*arrivals.flow.name).collect();
    let taken = names.iter().find_map(|name| {
        let (arriving_name, number) = name.rsplit_once('-')?;
        let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        (is_number && arriving.contains(arriving_name)).then_some((name, arriving_name))
    });
    if let Some((name, arriving_name)) = taken {
        let problem =
            format!("flows that arrive are named \"{arriving_name}-0\" and so on: rename \"{name}\"");
        return Err(table.refuse("flow", problem));
    }
    if flows.is_empty() && arrivals.is_empty() {
        return Err(table.refuse("flow", "there must be at least one [[flow]]"));
    }
    let mut topology = topology;
    let arriving = arrivals.iter().map(|arrivals| &arrivals.flow);
    if let (true, Some(measure)) = (first.is_some(), buffers::Measure::of(flows.iter().chain(arriving))) {
        for root in [&mut source, &mut tree] {
            buffers::resolve(root, &topology, measure);
        }
        topology = Topology::read(&Table::open(&tree, "", file, &FILE)?)?;
    }
    let table = Table::open(&tree, "", file, &FILE)?;
    let of_applications = applications::changes(&table.tables("event")?, &run, &mut flows, &firsts)?;
    let (events, mut written) = event::events(&source, &table, &run, &topology, &flows)?;
    written.extend(of_applications);
    flows.shrink_to_fit();
    let scenario = Scenario { run, links: topology.links.clone(), flows: flows.into(), arrivals, events };
    complete::scenario(&mut tree, &scenario, &topology, &firsts, written, catalogue);
    Ok((scenario, tree))
}

/// A name for flows that arrive with a control `label`, other than `names`: those of several `[[flow]]`s are numbered from the
/// second one on. `number` is the first that may be free.
fn arrival_name(label: &str, names: &BTreeSet<String>, number: &mut u32) -> String {
    loop {
        let name = match number {
            1 => format!("{label}-arrival"),
            _ => format!("{label}-arrival{number}"),
        };
        *number += 1;
        if !names.contains(&name) {
            return name;
        }
    }
}

fn run(table: &Table<'_>) -> Read<Run> {
    let duration: Span = table.need("duration")?;
    if duration > LONGEST {
        return Err(table.refuse("duration", "must be at most 180 days (4320 h)"));
    }
    let warmup = table.need("warmup")?;
    if warmup >= duration {
        let problem = format!("must end before the run does ({duration}), is {warmup}");
        return Err(table.refuse("warmup", problem));
    }
    let sample = table.need("sample")?;
    if let Sample::Every(every) = sample
        && duration.0 / every.0 > MOST_SAMPLES
    {
        let problem = format!("a run has at most {MOST_SAMPLES} samples; {duration} every {every} is more");
        return Err(table.refuse("sample", problem));
    }
    Ok(Run { duration, warmup, seed: table.need("seed")?, sample })
}
