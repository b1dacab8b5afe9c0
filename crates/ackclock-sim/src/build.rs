//! From a checked scenario to links, routes and endpoints.

use ackclock_cc::Start;
use ackclock_cc::erased::ErasedController;
use ackclock_cc::registry::Catalogue;
use ackclock_scenario::{self as scenario, Direction, Flow, Growth, Limit, Queue, Recovery, Scenario};
use ackclock_trace::Digest;
use ackclock_units::{Rate, Span, Time};

use crate::endpoint::Endpoint;
use crate::link::Link;
use crate::loss::LossModel;
use crate::network::{Hop, Network, Tally};
use crate::packet::Slab;
use crate::queue::{Discipline, Droptail};
use crate::random::{Purpose, Stream};
use crate::tcp::recovery::{DuplicateAcks, Rack, Sack};
use crate::tcp::{Receiver, ReceiverSettings, Sender, Settings, Timer};

/// What a simulation is made of.
pub struct Parts {
    /// Links and routes; link 0 is the bottleneck, link 1 its other direction.
    pub network: Network,
    /// Sender and receiver of each flow, in turn.
    pub endpoints: Vec<Box<dyn Endpoint>>,
    /// The time over which each flow is measured.
    pub measured: Vec<(Time, Time)>,
}

/// Names of the links that are reported; those behind them belong to single flows.
pub const LINK_NAMES: [&str; 2] = ["bottleneck", "bottleneck-reverse"];

/// Builds run `run` of `scenario`.
///
/// # Errors
/// When a flow names an unknown control or parameters that it refuses.
pub fn build(scenario: &Scenario, catalogue: &dyn Catalogue, run: u64) -> Result<Parts, String> {
    let flows = scenario.flows.len() as u32;
    let seed = scenario.run.seed;
    let dumbbell = &scenario.dumbbell;
    let links = [&dumbbell.forward, &dumbbell.reverse]
        .into_iter()
        .enumerate()
        .map(|(id, link)| {
            let loss = LossModel::new(link.loss, id as u32, flows, seed, run);
            Link::new(dumbbell.delay, loss, Some((link.rate, make_queue(link.queue))))
        })
        .collect();
    let mut topology = Topology { links, hops: Vec::new(), paths: Vec::new() };
    let mut endpoints: Vec<Box<dyn Endpoint>> = Vec::new();
    let mut measured = Vec::new();
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
        let (there, back) = topology.routes(flow, dumbbell.delay);
        let total = flow.bytes.map_or(u64::MAX, |bytes| bytes.0.div_ceil(flow.tcp.packet.0));
        let settings = Settings {
            flow: id,
            route: there,
            packet_bytes: flow.tcp.packet.0 as u16,
            total,
            receive_window: flow.tcp.receive_window.map_or(u64::MAX, |packets| packets.0),
            max_burst: flow.tcp.max_burst.map_or(u64::MAX, |packets| packets.0),
            overhead: flow.tcp.overhead,
            growth_per_packet: flow.tcp.growth == Growth::PerPacket,
            pacing: flow.tcp.pacing,
            start,
            stop,
            measure_from: window.0,
            measure_to: window.1,
        };
        let overhead = Stream::new(seed, run, Purpose::Overhead, 0, id);
        endpoints.push(make_sender(flow, settings, make_control(flow, catalogue)?, overhead)?);
        endpoints.push(Box::new(Receiver::new(ReceiverSettings {
            flow: id,
            route: back,
            ack_bytes: flow.tcp.ack.0 as u16,
            delayed_ack: flow.tcp.delayed_ack,
            delayed_ack_timer: flow.tcp.delayed_ack_timer,
            sack: matches!(flow.tcp.recovery, Recovery::Sack | Recovery::Rack),
            reports_duplicates: flow.tcp.recovery == Recovery::Rack,
            total,
        })));
    }
    let network = Network {
        links: topology.links,
        hops: topology.hops,
        sacks: Slab::default(),
        tallies: vec![Tally::default(); 2 * flows as usize],
        digest: Digest::default(),
    };
    Ok(Parts { network, endpoints, measured })
}

/// Links and routes as they are laid out. Paths without limits of their own are shared by all flows with
/// the same delay, so that a thousand flows of one RTT cost two events per packet and not a thousand queues.
struct Topology {
    links: Vec<Link>,
    hops: Vec<Hop>,
    /// Shared paths: their access delay, whether data goes over the reverse link, which half, first hop.
    paths: Vec<((Span, bool, bool), u32)>,
}

impl Topology {
    /// The routes of a flow's data and of its acknowledgements.
    fn routes(&mut self, flow: &Flow, delay: Span) -> (u32, u32) {
        let reverse = flow.direction == Direction::Reverse;
        let access = flow.rtt - delay.saturating_mul(2);
        let there = Span(access.0 / 2);
        let back = access - there;
        let bottleneck = u32::from(reverse);
        if let Some(rate) = flow.access {
            let to = self.link(there, Some(rate));
            let from = self.link(back, Some(rate));
            let data = self.route([to, Hop::Link(bottleneck), Hop::Deliver]);
            return (data, self.route([Hop::Link(1 - bottleneck), from, Hop::Deliver]));
        }
        let data = self.shared((there, reverse, false), |topology| {
            let access = (there > Span::ZERO).then(|| topology.link(there, None));
            topology.route(access.into_iter().chain([Hop::Link(bottleneck), Hop::Deliver]))
        });
        let acks = self.shared((back, reverse, true), |topology| {
            let access = (back > Span::ZERO).then(|| topology.link(back, None));
            topology.route([Hop::Link(1 - bottleneck)].into_iter().chain(access).chain([Hop::Deliver]))
        });
        (data, acks)
    }

    fn shared(&mut self, key: (Span, bool, bool), make: impl FnOnce(&mut Self) -> u32) -> u32 {
        if let Some((_, route)) = self.paths.iter().find(|(other, _)| *other == key) {
            return *route;
        }
        let route = make(self);
        self.paths.push((key, route));
        route
    }

    fn link(&mut self, delay: Span, rate: Option<Rate>) -> Hop {
        let endless = || Discipline::Droptail(Droptail::new(u64::MAX, u64::MAX));
        let limited = rate.map(|rate| (rate, endless()));
        self.links.push(Link::new(delay, LossModel::None, limited));
        Hop::Link(self.links.len() as u32 - 1)
    }

    fn route(&mut self, hops: impl IntoIterator<Item = Hop>) -> u32 {
        let first = self.hops.len() as u32;
        self.hops.extend(hops);
        first
    }
}

fn make_queue(queue: Queue) -> Discipline {
    let Queue::Droptail { limit } = queue;
    Discipline::Droptail(match limit {
        Limit::Packets(packets) => Droptail::new(packets.0, u64::MAX),
        Limit::Bytes(bytes) => Droptail::new(u64::MAX, bytes.0),
    })
}

fn make_control(flow: &Flow, catalogue: &dyn Catalogue) -> Result<Box<dyn ErasedController>, String> {
    let entry = catalogue
        .find(&flow.controller)
        .ok_or_else(|| format!("flow {}: unknown control \"{}\"", flow.name, flow.controller))?;
    let given: Vec<_> = flow.params.iter().map(|(name, value)| (name.as_str(), value.as_value())).collect();
    let start = Start {
        window: flow.tcp.initial_window,
        ssthresh: flow.tcp.initial_ssthresh,
        hystart: flow.tcp.hystart,
    };
    entry.build(&given, start).map_err(|(_, error)| format!("flow {}: {error}", flow.name))
}

fn make_sender(
    flow: &Flow,
    settings: Settings,
    control: Box<dyn ErasedController>,
    overhead: Stream,
) -> Result<Box<dyn Endpoint>, String> {
    let tcp = &flow.tcp;
    let timer = Timer::new(tcp.initial_rto, tcp.min_rto, tcp.max_rto, tcp.clock);
    Ok(match tcp.recovery {
        Recovery::Reno | Recovery::NewReno => {
            let newreno = tcp.recovery == Recovery::NewReno;
            let recovery = DuplicateAcks::new(newreno, tcp.limited_transmit);
            Box::new(Sender::new(settings, control, recovery, timer, overhead))
        }
        Recovery::Sack => {
            Box::new(Sender::new(settings, control, Sack::new(tcp.limited_transmit), timer, overhead))
        }
        Recovery::Rack => {
            let recovery = Rack::new(control.decision().pacing_rate.is_none());
            Box::new(Sender::new(settings, control, recovery, timer, overhead))
        }
    })
}
