//! From a checked scenario to links, routes and endpoints.

use std::collections::BTreeMap;

use ackclock_scenario::{self as scenario, Flow, Moment, Scenario};
use ackclock_trace::Digest;
use ackclock_units::{Span, Time};

use crate::arrivals::{Arrivals, flow_of, may_begin_later};
use crate::endpoint::Ends;
use crate::flow_slots::FlowSlots;
use crate::link::Link;
use crate::loss::LossModel;
use crate::memory::{Grow as _, slots, unwind_if_short};
use crate::network::Network;
use crate::pace::Pace;
use crate::packet::Slab;
use crate::queue::Discipline;
use crate::random::{Purpose, Streams};
use crate::wire::{NoiseModel, Wire};

pub mod ends;
mod topology;

use self::ends::Groups;
pub use self::ends::{Makers, Placement, Transport, make_ends};
use self::topology::Topology;

/// The parts of a simulation.
pub struct Parts {
    /// Links and routes; the first links are those of the scenario.
    pub network: Network,
    /// The ends of each flow that exists before the run, by its slot.
    pub ends: Vec<Ends>,
    /// The measured time of each of these flows.
    pub measured: Vec<(Time, Time)>,
}

/// Assembles the run of `scenario` with these streams and `arrivals`. With `all`, the ends of arriving flows are made
/// now, like those of the other flows.
///
/// # Errors
/// When a flow names an unknown control or parameters that it refuses.
pub fn assemble(
    scenario: &Scenario,
    arrivals: &mut Arrivals,
    makers: Makers<'_>,
    streams: Streams,
    all: bool,
) -> Result<Parts, String> {
    let fixed = scenario.flows.len() as u32;
    let flows = fixed + arrivals.len() as u32;
    let links = scenario
        .links
        .iter()
        .enumerate()
        .map(|(id, link)| make_link(link, id as u32, flows, streams))
        .collect();
    let mut crew = Crew {
        scenario,
        makers,
        streams,
        topology: Topology::new(links),
        groups: BTreeMap::new(),
        ends: Vec::new(),
        measured: Vec::new(),
    };
    for (id, flow) in (0..).zip(scenario.flows.iter()) {
        crew.add(id, flow)?;
    }
    let mut flow_slots = FlowSlots::new(fixed, arrivals.len() as u32);
    for (index, of) in scenario.arrivals.iter().enumerate() {
        let members = arrivals.members(index);
        let is_early = all || !may_begin_later(&of.flow, makers.catalogue);
        for id in members {
            let Some((_, number, start, bytes)) = arrivals.find(id) else { break };
            let flow = flow_of(of, number, start, bytes);
            if is_early {
                flow_slots.take(id);
                crew.add(id, &flow)?;
            } else {
                let placement = crew.placement(id, &flow);
                let warmup = Time::ZERO + scenario.run.warmup;
                arrivals.begin_later(index, flow, placement, warmup, makers.catalogue)?;
                break;
            }
        }
    }
    let Crew { topology, ends, measured, .. } = crew;
    let mut network = Network {
        links: topology.links,
        hops: topology.hops,
        payloads: Slab::default(),
        flow_slots,
        under_way: slots(ends.len()),
        dropped: slots(ends.len()),
        all_dropped: 0,
        acting: 0,
        digest: Digest::default(),
        changes: 0,
    };
    network.find_passes();
    Ok(Parts { network, ends, measured })
}

/// Flows while their ends are made.
struct Crew<'a> {
    scenario: &'a Scenario,
    makers: Makers<'a>,
    streams: Streams,
    topology: Topology,
    groups: Groups,
    ends: Vec<Ends>,
    measured: Vec<(Time, Time)>,
}

impl Crew<'_> {
    /// The times of flow `id`, and its routes.
    fn placement(&mut self, id: u32, flow: &Flow) -> Placement {
        let (scenario, streams) = (self.scenario, self.streams);
        let draw = |moment, earliest: Span, purpose| match moment {
            Moment::At(time) => time,
            Moment::Uniform(from, to) => {
                let from = from.max(earliest);
                from + streams.of(purpose, 0, id).span(to - from)
            }
        };
        let start = draw(flow.start, Span::ZERO, Purpose::Start);
        let stop = flow.stop.map_or(Time::NEVER, |stop| Time::ZERO + draw(stop, start, Purpose::Stop));
        let start = Time::ZERO + start;
        let end = Time::ZERO + scenario.run.duration;
        let measured = (start.max(Time::ZERO + scenario.run.warmup), stop.min(end));
        let (data_route, ack_route) = self.topology.routes(
            flow,
            &scenario.links,
            [
                flow.delay_noise.clone().map(|noise| NoiseModel::of_flow(noise, id, false, streams)),
                flow.reverse_noise.clone().map(|noise| NoiseModel::of_flow(noise, id, true, streams)),
            ],
        );
        Placement { id, streams, data_route, ack_route, start, stop, measured }
    }

    /// Makes the ends of flow `id`.
    fn add(&mut self, id: u32, flow: &Flow) -> Result<(), String> {
        unwind_if_short();
        let placement = self.placement(id, flow);
        self.measured.add(placement.measured);
        self.ends.add(make_ends(flow, &placement, self.makers, &mut self.groups)?);
        Ok(())
    }
}

/// The pace of a link at the start of a run.
#[must_use]
pub fn pace_of(link: &scenario::Link) -> Pace {
    link.trace.as_ref().map_or_else(|| Pace::of_rate(link.rate), Pace::of_trace)
}

/// The link `link` of a scenario, its `id`-th, for `flows` flows, with streams of `streams`.
#[must_use]
pub fn make_link(link: &scenario::Link, id: u32, flows: u32, streams: Streams) -> Link {
    let loss = LossModel::new(link.loss.clone(), id, flows, streams);
    let noise = link.noise.clone().map(|noise| NoiseModel::new(noise, id, flows, streams));
    let pace = pace_of(link);
    let queue = Discipline::new(link.queue, link.rate, streams.of(Purpose::Queue, id, 0));
    let wire = Wire::new(link.delay, noise).with_aggregation(link.aggregation);
    Link::new(wire, loss, Some((pace, queue))).with_policer(link.policer).with_outage(link.up, link.outage)
}
