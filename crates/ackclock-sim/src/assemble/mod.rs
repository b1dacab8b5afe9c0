//! From a checked scenario to links, routes and endpoints.

use std::collections::BTreeMap;

use ackclock_scenario::{self as scenario, Moment, Scenario};
use ackclock_trace::Digest;
use ackclock_units::{Span, Time};

use crate::endpoint::Ends;
use crate::link::Link;
use crate::loss::LossModel;
use crate::memory::{Grow as _, slots, unwind_if_short};
use crate::network::Network;
use crate::pace::Pace;
use crate::packet::{EndId, Slab};
use crate::queue::Discipline;
use crate::random::{Purpose, Stream};
use crate::wire::{NoiseModel, Wire};

mod ends;
mod topology;

use self::ends::make_ends;
pub use self::ends::{Makers, Placement, Transport};
use self::topology::Topology;

/// The parts of a simulation.
pub struct Parts {
    /// Links and routes; the first links are those of the scenario.
    pub network: Network,
    /// The ends of each flow.
    pub ends: Vec<Ends>,
    /// The time over which each flow is measured.
    pub measured: Vec<(Time, Time)>,
}

/// Assembles run `run` of `scenario`.
///
/// # Errors
/// When a flow names an unknown control or parameters that it refuses.
pub fn assemble(scenario: &Scenario, makers: Makers<'_>, run: u64) -> Result<Parts, String> {
    let flows = scenario.flows.len() as u32;
    let seed = scenario.run.seed;
    let links = scenario
        .links
        .iter()
        .enumerate()
        .map(|(id, link)| make_link(link, id as u32, flows, seed, run))
        .collect();
    let mut topology = Topology::new(links);
    let mut ends = Vec::new();
    let mut measured = Vec::new();
    let mut groups = BTreeMap::new();
    for (id, flow) in scenario.flows.iter().enumerate() {
        unwind_if_short();
        let id = id as u32;
        let draw = |moment, earliest: Span, purpose| match moment {
            Moment::At(time) => time,
            Moment::Uniform(from, to) => {
                let from = from.max(earliest);
                from + Stream::new(seed, run, purpose, 0, id).span(to - from)
            }
        };
        let start = draw(flow.start, Span::ZERO, Purpose::Start);
        let stop = flow.stop.map_or(Time::NEVER, |stop| Time::ZERO + draw(stop, start, Purpose::Stop));
        let start = Time::ZERO + start;
        let end = Time::ZERO + scenario.run.duration;
        let window = (start.max(Time::ZERO + scenario.run.warmup), stop.min(end));
        measured.add(window);
        let (data_route, ack_route) = topology.routes(
            flow,
            &scenario.links,
            [
                flow.delay_noise.map(|noise| NoiseModel::of_flow(noise, id, false, seed, run)),
                flow.reverse_noise.map(|noise| NoiseModel::of_flow(noise, id, true, seed, run)),
            ],
        );
        let placement = Placement { id, seed, run, data_route, ack_route, start, stop, measured: window };
        ends.add(make_ends(flow, &placement, makers, &mut groups)?);
    }
    let network = Network {
        links: topology.links,
        hops: topology.hops,
        payloads: Slab::default(),
        tallies: slots(EndId::count(scenario.flows.len())),
        digest: Digest::default(),
        changes: 0,
    };
    Ok(Parts { network, ends, measured })
}

/// The link `link` of a scenario, its `id`-th, for `flows` flows in run `run` of `seed`.
#[must_use]
pub fn make_link(link: &scenario::Link, id: u32, flows: u32, seed: u64, run: u64) -> Link {
    let loss = LossModel::new(link.loss.clone(), id, flows, seed, run);
    let noise = link.noise.map(|noise| NoiseModel::new(noise, id, flows, seed, run));
    let pace = link.trace.as_ref().map_or_else(|| Pace::of_rate(link.rate), Pace::of_trace);
    let queue = Discipline::new(link.queue, link.rate, Stream::new(seed, run, Purpose::Queue, id, 0));
    let wire = Wire::new(link.delay, noise).with_aggregation(link.aggregation);
    Link::new(wire, loss, Some((pace, queue))).with_policer(link.policer).with_outage(link.up, link.outage)
}
