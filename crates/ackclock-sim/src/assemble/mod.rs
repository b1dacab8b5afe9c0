//! From a checked scenario to links, routes and endpoints.

use std::collections::BTreeMap;

use ackclock_scenario::{self as scenario, Flow, Limit, Queue, Scenario};
use ackclock_trace::Digest;
use ackclock_units::{Rate, Span, Time};

use crate::director::noise_model;
use crate::endpoint::Endpoint;
use crate::ends::{Makers, Place, make_ends};
use crate::link::Link;
use crate::loss::LossModel;
use crate::network::{Hop, Network, Tally};
use crate::pace::Pace;
use crate::packet::Slab;
use crate::queue::{
    Codel, CodelSettings, Discipline, Droptail, FqCodel, FqCodelSettings, Pie, PieSettings, Red, RedSettings,
};
use crate::random::{Purpose, Stream};
use crate::wire::Wire;

/// What a simulation is made of.
pub struct Parts {
    /// Links and routes; the first links are those of the scenario.
    pub network: Network,
    /// Sender and receiver of each flow, in turn.
    pub endpoints: Vec<Box<dyn Endpoint>>,
    /// The time over which each flow is measured.
    pub measured: Vec<(Time, Time)>,
}

/// Builds run `run` of `scenario`.
///
/// # Errors
/// When a flow names an unknown control or parameters that it refuses.
pub fn build(scenario: &Scenario, makers: Makers<'_>, run: u64) -> Result<Parts, String> {
    let flows = scenario.flows.len() as u32;
    let seed = scenario.run.seed;
    let links = scenario
        .links
        .iter()
        .enumerate()
        .map(|(id, link)| make_link(link, id as u32, flows, seed, run))
        .collect();
    let mut topology = Topology { links, hops: Vec::new(), paths: Vec::new() };
    let mut endpoints: Vec<Box<dyn Endpoint>> = Vec::new();
    let mut measured = Vec::new();
    let mut groups = BTreeMap::new();
    for (id, flow) in scenario.flows.iter().enumerate() {
        let id = id as u32;
        let start = Time::ZERO
            + match flow.start {
                scenario::Start::At(start) => start,
                scenario::Start::Uniform(from, to) => {
                    from + Stream::new(seed, run, Purpose::Start, 0, id).span(to - from)
                }
            };
        let end = Time::ZERO + scenario.run.duration;
        let stop = flow.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop);
        let window = (start.max(Time::ZERO + scenario.run.warmup), stop.min(end));
        measured.push(window);
        let (there, back) = topology.routes(flow, &scenario.links);
        let place = Place { id, seed, run, there, back, start, stop, measured: window };
        endpoints.extend(make_ends(flow, &place, makers, &mut groups)?);
    }
    let network = Network {
        links: topology.links,
        hops: topology.hops,
        sacks: Slab::default(),
        tallies: vec![Tally::default(); 2 * flows as usize],
        digest: Digest::default(),
        changes: 0,
    };
    Ok(Parts { network, endpoints, measured })
}

/// The link `link` of a scenario, its `id`-th, for `flows` flows in run `run` of `seed`.
#[must_use]
pub fn make_link(link: &scenario::Link, id: u32, flows: u32, seed: u64, run: u64) -> Link {
    let loss = LossModel::new(link.loss.clone(), id, flows, seed, run);
    let noise = link.noise.map(|noise| noise_model(noise, id, flows, seed, run));
    let pace = link.trace.as_ref().map_or_else(|| Pace::of_rate(link.rate), Pace::of_trace);
    let queue = make_queue(link.queue, link.rate, Stream::new(seed, run, Purpose::Queue, id, 0));
    Link::new(Wire::new(link.delay, noise), loss, Some((pace, queue)))
}

/// Links and routes as they are laid out. Paths without limits of their own are shared by all flows with
/// the same delay, so that a thousand flows of one RTT cost two events per packet and not a thousand queues.
struct Topology {
    links: Vec<Link>,
    hops: Vec<Hop>,
    /// Shared paths: the access delay, whether it comes after the links, the links, first hop.
    paths: Vec<(Span, bool, Vec<usize>, u32)>,
}

impl Topology {
    /// The routes of a flow's data and of its acknowledgements.
    fn routes(&mut self, flow: &Flow, links: &[scenario::Link]) -> (u32, u32) {
        let delays = |path: &[usize]| path.iter().map(|link| links[*link].delay.0).sum::<u64>();
        let access = flow.rtt.0 - delays(&flow.path) - delays(&flow.back);
        let there = Span(access / 2);
        let back = Span(access - access / 2);
        let Some(rate) = flow.access else {
            return (self.shared(there, false, &flow.path), self.shared(back, true, &flow.back));
        };
        let to = self.link(there, Some(rate));
        let from = self.link(back, Some(rate));
        let data = self.route([to].into_iter().chain(hops(&flow.path)));
        (data, self.route(hops(&flow.back).chain([from])))
    }

    fn shared(&mut self, delay: Span, after: bool, links: &[usize]) -> u32 {
        let known = self.paths.iter().find(|path| path.0 == delay && path.1 == after && path.2 == links);
        if let Some((.., route)) = known {
            return *route;
        }
        let access = (delay > Span::ZERO).then(|| self.link(delay, None));
        let (before, behind) = if after { (None, access) } else { (access, None) };
        let route = self.route(before.into_iter().chain(hops(links)).chain(behind));
        self.paths.push((delay, after, links.to_vec(), route));
        route
    }

    fn link(&mut self, delay: Span, rate: Option<Rate>) -> Hop {
        let endless = || Discipline::Droptail(Droptail::new(u64::MAX, u64::MAX));
        let limited = rate.map(|rate| (Pace::of_rate(rate), endless()));
        self.links.push(Link::new(Wire::new(delay, None), LossModel::NONE, limited));
        Hop::Link(self.links.len() as u32 - 1)
    }

    fn route(&mut self, hops: impl IntoIterator<Item = Hop>) -> u32 {
        let first = self.hops.len() as u32;
        self.hops.extend(hops);
        self.hops.push(Hop::Deliver);
        first
    }
}

fn hops(links: &[usize]) -> impl Iterator<Item = Hop> {
    links.iter().map(|link| Hop::Link(*link as u32))
}

/// A queue as the scenario says, at a link of `rate`; `stream` is for its drops.
pub fn make_queue(queue: Queue, rate: Rate, stream: Stream) -> Discipline {
    let limit = match queue.limit() {
        Limit::Packets(packets) => (packets.0, u64::MAX),
        Limit::Bytes(bytes) => (u64::MAX, bytes.0),
    };
    let droptail = Droptail::new(limit.0, limit.1);
    let law = |codel: scenario::Codel| CodelSettings {
        target: codel.target,
        interval: codel.interval,
        ecn: codel.ecn,
    };
    match queue {
        Queue::Droptail { .. } => Discipline::Droptail(droptail),
        Queue::Red {
            min_threshold, max_threshold, weight, max_p, gentle, uniform, ecn, adaptive, ..
        } => {
            let weight = weight.unwrap_or_else(|| RedSettings::automatic_weight(rate));
            let settings =
                RedSettings { min_threshold, max_threshold, weight, max_p, gentle, uniform, ecn, adaptive };
            Discipline::Red(Box::new(Red::new(settings, droptail, rate, stream)))
        }
        Queue::Codel { codel, .. } => Discipline::Codel(Box::new(Codel::new(law(codel), droptail))),
        Queue::Pie { target, burst, ecn, .. } => {
            Discipline::Pie(Box::new(Pie::new(PieSettings { target, burst, ecn }, droptail, stream)))
        }
        Queue::FqCodel { codel, quantum, queues, .. } => {
            let settings = FqCodelSettings { codel: law(codel), quantum, queues, limit };
            Discipline::FqCodel(Box::new(FqCodel::new(settings)))
        }
    }
}
