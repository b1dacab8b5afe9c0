//! Links and the routes over them.

use ackclock_scenario::{self as scenario, Flow};
use ackclock_units::{Rate, Span};

use crate::link::Link;
use crate::loss::LossModel;
use crate::network::Hop;
use crate::pace::Pace;
use crate::queue::{Discipline, Droptail};
use crate::wire::{NoiseModel, Wire};

/// Links and routes while they are being laid out. Paths without limits of their own are shared by all flows with
/// the same delay, so that a thousand flows of one RTT cost two events per packet and not a thousand queues.
pub struct Topology {
    /// The links; the first ones are those of the scenario.
    pub links: Vec<Link>,
    /// The table of routes.
    pub hops: Vec<Hop>,
    /// Shared paths: the access delay, whether it comes after the links, the links, first hop.
    paths: Vec<(Span, bool, Vec<usize>, u32)>,
}

impl Topology {
    /// A topology of the scenario's links, without routes.
    pub fn new(links: Vec<Link>) -> Self {
        Topology { links, hops: Vec::new(), paths: Vec::new() }
    }

    /// The routes of a flow's data and of its acknowledgements, as positions in the table, with the noise on either.
    pub fn routes(
        &mut self,
        flow: &Flow,
        links: &[scenario::Link],
        noise: [Option<NoiseModel>; 2],
    ) -> (u32, u32) {
        let delays = |path: &[usize]| path.iter().map(|link| links[*link].delay.0).sum::<u64>();
        let access = flow.rtt.0 - delays(&flow.path) - delays(&flow.back);
        let there = Span(access / 2);
        let back = Span(access - access / 2);
        let [data_noise, ack_noise] = noise;
        // A path with limits or noise of its own is not shared.
        let to = (flow.access.is_some() || data_noise.is_some())
            .then(|| self.link(there, flow.access, data_noise));
        let from =
            (flow.access.is_some() || ack_noise.is_some()).then(|| self.link(back, flow.access, ack_noise));
        let data = match to {
            Some(to) => self.route([to].into_iter().chain(hops(&flow.path))),
            None => self.shared(there, false, &flow.path),
        };
        let acks = match from {
            Some(from) => self.route(hops(&flow.back).chain([from])),
            None => self.shared(back, true, &flow.back),
        };
        (data, acks)
    }

    fn shared(&mut self, delay: Span, after: bool, links: &[usize]) -> u32 {
        let known = self.paths.iter().find(|path| path.0 == delay && path.1 == after && path.2 == links);
        if let Some((.., route)) = known {
            return *route;
        }
        let access = (delay > Span::ZERO).then(|| self.link(delay, None, None));
        let (before, behind) = if after { (None, access) } else { (access, None) };
        let route = self.route(before.into_iter().chain(hops(links)).chain(behind));
        self.paths.push((delay, after, links.to_vec(), route));
        route
    }

    fn link(&mut self, delay: Span, rate: Option<Rate>, noise: Option<NoiseModel>) -> Hop {
        let endless = || Discipline::Droptail(Droptail::new(u64::MAX, u64::MAX));
        let limited = rate.map(|rate| (Pace::of_rate(rate), endless()));
        self.links.push(Link::new(Wire::new(delay, noise), LossModel::NONE, limited));
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
