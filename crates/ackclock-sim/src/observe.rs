//! Observers: they act between events and are never events themselves, so they cannot change a run.

use ackclock_scenario::{Sample, Scenario};
use ackclock_trace::{Column, Counters, Table};
use ackclock_units::{Span, Time};

use crate::arrivals::Arrivals;
use crate::context::JournalEntry;
use crate::endpoint::{Ends, ReceiverView};
use crate::link::LinkCounters;
use crate::memory::{Grow as _, collected, slots};
use crate::meter::Held;
use crate::network::Network;

/// A flow just before an instant.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowMark {
    /// Counters, drops included.
    pub counters: Counters,
    /// Packets that arrived, each once, and those of them that were delivered in order.
    pub arrived: u64,
    pub delivered: u64,
    /// Integral of the window over time, packets times seconds.
    pub window_integral: f64,
    /// Times in which each [`crate::meter::Holder`] held the sender back.
    pub held: Held,
}

/// A flow's measured time: its length, its marks at both ends, and its mark at the end of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    pub span: Span,
    pub from: FlowMark,
    /// `None` where the end is that of the run.
    pub to: Option<FlowMark>,
    pub whole_run: FlowMark,
    /// The largest window of the whole run, packets; `None` where there is none.
    pub largest_window: Option<f64>,
}

/// A link just before an instant: its counters, and its longest queue since the end of the warm-up.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkMark {
    pub counters: LinkCounters,
    pub max_queue_packets: u64,
}

/// Takes marks at the ends of each flow's measured time, and samples.
///
/// Every interval is half-open, [a, b): what happens at an instant belongs to the interval that begins with it. So all that
/// is observed at an instant is observed before the events of that instant.
#[derive(Debug)]
pub struct Observer {
    next: Time,
    /// The measured times of flows that are there before the run and stop before its end: their ends, in order, with the
    /// flow's place.
    stops: Vec<(Time, u32)>,
    stops_done: usize,
    /// By the place of the flow. What begins to be measured when it starts has an empty mark there.
    pub flows: Vec<Measured>,
    /// How many are there before the run.
    early: u32,
    /// The end of the warm-up, and the same until it is there; the end of the run likewise.
    measured_from: Time,
    warmup: Option<Time>,
    end: Time,
    pending_end: Option<Time>,
    /// Links at the end of the warm-up and at the end of the run.
    pub links: [Vec<LinkMark>; 2],
    /// By the place of the flow, packets of its sender under way at the end of the run.
    pub under_way: Vec<u32>,
    samples: Option<Samples>,
}

impl Observer {
    /// An observer of flows that are measured over the times `measured`, which may take samples too.
    pub fn new(scenario: &Scenario, measured: Vec<(Time, Time)>, samples: Option<Samples>) -> Self {
        let end = Time::ZERO + scenario.run.duration;
        let mut stops: Vec<_> = (0_u32..)
            .zip(&measured)
            .filter(|(_, (from, to))| from < to && *to < end)
            .map(|(place, (_, to))| (*to, place))
            .collect();
        stops.sort_unstable();
        let measured_from = Time::ZERO + scenario.run.warmup;
        let mut observer = Observer {
            next: Time::ZERO,
            stops,
            stops_done: 0,
            early: measured.len() as u32,
            flows: measured
                .iter()
                .map(|(from, to)| Measured { span: to.since(*from), ..Measured::default() })
                .collect(),
            measured_from,
            warmup: Some(measured_from),
            end,
            pending_end: Some(end),
            links: [Vec::new(), Vec::new()],
            under_way: Vec::new(),
            samples,
        };
        observer.set_next();
        observer
    }

    /// [`Observer::observe`] must be called before any event at this time.
    #[inline]
    pub fn next(&self) -> Time {
        self.next
    }

    /// Whether the end of the run has been observed.
    pub const fn has_ended(&self) -> bool {
        self.pending_end.is_none()
    }

    /// A flow begins at `start`, which is now, at `place`, and is measured until the end of the run.
    pub fn begin(&mut self, place: u32, start: Time) {
        if place as usize == self.flows.len() {
            self.flows.add(<_>::default());
        }
        let span = self.end.since(start.max(self.measured_from));
        self.flows[place as usize] = Measured { span, ..Measured::default() };
    }

    /// What was measured of the flow at `place`, which began during the run and is over at `now`.
    pub fn measure(&self, place: u32, now: Time, network: &Network, ends: &[Ends]) -> Measured {
        let mut measured = self.flows[place as usize];
        if self.warmup.is_some() {
            measured.from = mark(now.max(self.measured_from), place, network, ends);
        }
        measured.end(self.end, place, network, ends);
        measured
    }

    /// Places of flows that are there before the run.
    pub const fn early(&self) -> u32 {
        self.early
    }

    fn set_next(&mut self) {
        let stop = self.stops.get(self.stops_done).map_or(Time::NEVER, |stop| stop.0);
        let sample = self.samples.as_ref().map_or(Time::NEVER, |samples| samples.next);
        let ends = self.warmup.unwrap_or(Time::NEVER).min(self.pending_end.unwrap_or(Time::NEVER));
        self.next = stop.min(sample).min(ends);
    }

    /// Makes all observations that are due at `now` or before, of which no event has happened yet.
    pub fn observe(&mut self, until: Time, network: &mut Network, ends: &[Ends]) {
        while self.next <= until {
            let now = self.next;
            if self.warmup == Some(now) {
                self.warmup = None;
                self.links[0] = mark_links(now, network);
                network.links.iter_mut().for_each(crate::link::Link::start_measuring);
                network.count_drops(now);
                for place in network.places.live() {
                    self.flows[place as usize].from = mark(now, place, network, ends);
                }
            }
            if self.stops.get(self.stops_done).is_some_and(|stop| stop.0 == now) {
                network.count_drops(now);
            }
            while let Some((time, place)) = self.stops.get(self.stops_done).copied()
                && time == now
            {
                self.flows[place as usize].to = Some(mark(now, place, network, ends));
                self.stops_done += 1;
            }
            if let Some(samples) = &mut self.samples
                && samples.next == now
            {
                samples.take(now, network, ends);
            }
            if self.pending_end == Some(now) {
                self.pending_end = None;
                self.mark_end(now, network, ends);
            }
            self.set_next();
        }
    }

    /// The run ends now: what still happens at this instant belongs to no interval of it.
    fn mark_end(&mut self, now: Time, network: &mut Network, ends: &[Ends]) {
        self.links[1] = mark_links(now, network);
        network.links.iter_mut().for_each(crate::link::Link::stop_measuring);
        network.count_drops(now);
        self.under_way = network.data_under_way();
        for place in network.places.live() {
            self.flows[place as usize].end(now, place, network, ends);
        }
    }

    /// Whether samples wait for round trips.
    pub fn waits_for_round_trips(&self) -> bool {
        self.samples.as_ref().is_some_and(|samples| samples.by_round_trip)
    }

    /// The sender of `flow` has acted: samples the flow when that is done by round trips.
    pub fn after_sender(&mut self, now: Time, flow: u32, ends: &[Ends]) {
        if let Some(samples) = &mut self.samples
            && samples.by_round_trip
            && self.pending_end.is_some()
        {
            samples.after_sender(now, flow, ends);
        }
    }

    /// The tables by name, with what was recorded since the last call.
    pub fn take_tables(&mut self, mut journal: Vec<JournalEntry>) -> Vec<(&'static str, Table)> {
        journal.retain(|entry| entry.time < self.end);
        let events = Table {
            columns: vec![
                ("time_s", Column::Real(collected(journal.iter().map(|entry| entry.time.as_seconds())))),
                ("flow", Column::Id(collected(journal.iter().map(|entry| entry.flow)))),
                ("kind", Column::Word(collected(journal.iter().map(|entry| entry.kind)))),
                ("window_before", Column::Real(collected(journal.iter().map(|entry| entry.window_before)))),
                ("window_after", Column::Real(collected(journal.iter().map(|entry| entry.window_after)))),
            ],
        };
        let mut tables = vec![("events", events)];
        if let Some(samples) = &mut self.samples {
            tables.push(("windows", std::mem::take(&mut samples.windows).into_table()));
            tables.push(("queues", std::mem::take(&mut samples.queues).into_table()));
        }
        tables
    }
}

impl Measured {
    /// The run of the flow at `place` ends at `end`.
    fn end(&mut self, end: Time, place: u32, network: &Network, ends: &[Ends]) {
        self.whole_run = mark(end, place, network, ends);
        let sender = ends[place as usize].sender.view();
        self.largest_window = sender.meter.largest_window(end, sender.window);
    }
}

fn mark_links(now: Time, network: &mut Network) -> Vec<LinkMark> {
    let mark = |link: &mut crate::link::Link| {
        let counters = link.counters(now);
        LinkMark { counters, max_queue_packets: link.measured().0 }
    };
    network.links.iter_mut().map(mark).collect()
}

/// The flow at `place` as it is at `now`; after [`Network::count_drops`] of the same time.
fn mark(now: Time, place: u32, network: &Network, ends: &[Ends]) -> FlowMark {
    let Ends { sender, receiver } = &ends[place as usize];
    let sender = sender.view();
    let ReceiverView { arrived, delivered, duplicates, .. } = receiver.view();
    let [dropped_packets, dropped_acks] = network.dropped[place as usize];
    FlowMark {
        counters: Counters {
            dropped_packets,
            duplicate_packets: duplicates,
            dropped_acks,
            ..sender.meter.counters
        },
        arrived,
        delivered,
        window_integral: sender.meter.window_integral(now, sender.window),
        held: sender.meter.held(now),
    }
}

/// The sampled tables.
#[derive(Debug)]
pub struct Samples {
    next: Time,
    every: Span,
    by_round_trip: bool,
    end: Time,
    packet_bytes: Vec<u64>,
    /// Per flow: its counts of packets at its last sample, and its round trip.
    last: Vec<Last>,
    last_links: Vec<LinkCounters>,
    last_time: Time,
    windows: Windows,
    queues: Queues,
}

/// A flow at its last sample: packets sent, arrived and delivered, and round trips.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    sent: u64,
    arrived: u64,
    delivered: u64,
    round: u64,
}

/// How often queues are sampled when flows are sampled by their round trips.
const QUEUES_BESIDE_ROUND_TRIPS: Span = Span::from_millis(100);

impl Samples {
    /// Samples of all flows, which all have their places before the run, in the order of their numbers.
    pub fn new(scenario: &Scenario, arrivals: &Arrivals) -> Self {
        let count = scenario.flows.len() + arrivals.len();
        let (every, by_round_trip) = match scenario.run.sample {
            Sample::Every(every) => (every, false),
            Sample::RoundTrip => (QUEUES_BESIDE_ROUND_TRIPS, true),
        };
        Samples {
            next: Time::ZERO + every,
            every,
            by_round_trip,
            end: Time::ZERO + scenario.run.duration,
            packet_bytes: collected((0..count).map(|flow| arrivals.like(scenario, flow as u32).tcp.packet.0)),
            last: slots(count),
            last_links: vec![LinkCounters::default(); scenario.links.len()],
            last_time: Time::ZERO,
            windows: Windows::default(),
            queues: Queues::default(),
        }
    }

    fn take(&mut self, now: Time, network: &mut Network, ends: &[Ends]) {
        if !self.by_round_trip {
            for flow in 0..self.last.len() as u32 {
                self.take_flow(now, flow, ends);
            }
        }
        for (id, link) in network.links.iter_mut().take(self.last_links.len()).enumerate() {
            let counters = link.counters(now);
            let last = std::mem::replace(&mut self.last_links[id], counters);
            let span = now.since(self.last_time);
            let capacity = (counters.capacity - last.capacity) as f64;
            let q = &mut self.queues;
            let (level, least, most) = link.take_extremes();
            q.time.add(now.as_seconds());
            q.link.add(id as u32);
            q.level.add(level);
            q.least.add(least);
            q.most.add(most);
            q.mean.add((counters.queue_integral - last.queue_integral) as f64 / span.0 as f64);
            q.drops.add(counters.queue_drops - last.queue_drops);
            q.marks.add(counters.marks - last.marks);
            q.utilisation.add(if capacity > 0.0 {
                (counters.bits - last.bits) as f64 / capacity
            } else {
                f64::NAN
            });
        }
        self.last_time = now;
        self.next = if now + self.every > self.end { Time::NEVER } else { now + self.every };
    }

    fn after_sender(&mut self, now: Time, flow: u32, ends: &[Ends]) {
        if ends[flow as usize].sender.view().round > self.last[flow as usize].round {
            self.take_flow(now, flow, ends);
        }
    }

    fn take_flow(&mut self, now: Time, flow: u32, ends: &[Ends]) {
        let Ends { sender, receiver } = &ends[flow as usize];
        let view = sender.view();
        let ReceiverView { delivered, arrived, .. } = receiver.view();
        let now_at = Last { sent: view.meter.counters.sent_packets, arrived, delivered, round: view.round };
        let last = std::mem::replace(&mut self.last[flow as usize], now_at);
        let bytes = self.packet_bytes[flow as usize];
        let w = &mut self.windows;
        w.time.add(now.as_seconds());
        w.flow.add(flow);
        w.window.add(view.window);
        w.ssthresh.add(if view.ssthresh.is_finite() { view.ssthresh } else { f64::NAN });
        w.rtt.add(view.meter.last_rtt().map_or(f64::NAN, Span::as_millis));
        w.in_flight.add(view.in_flight);
        w.sent.add((now_at.sent - last.sent) * bytes);
        w.arrived.add((arrived - last.arrived) * bytes);
        w.delivered.add((delivered - last.delivered) * bytes);
        let delay = receiver.delays().and_then(|(delays, _)| delays.latest());
        w.delay.add(delay.map_or(f64::NAN, Span::as_millis));
        let rows = w.time.len();
        if let Some(control) = view.control {
            control.internals(&mut |name, value| w.internal(name, value, rows));
        }
    }
}

#[derive(Debug, Default)]
struct Windows {
    time: Vec<f64>,
    flow: Vec<u32>,
    window: Vec<f64>,
    ssthresh: Vec<f64>,
    rtt: Vec<f64>,
    in_flight: Vec<u64>,
    sent: Vec<u64>,
    arrived: Vec<u64>,
    delivered: Vec<u64>,
    delay: Vec<f64>,
    /// One column per name; NaN where a flow has none of that name.
    internals: Vec<(&'static str, Vec<f64>)>,
}

impl Windows {
    fn internal(&mut self, name: &'static str, value: f64, rows: usize) {
        let position = self.internals.iter().position(|(other, _)| *other == name);
        let position = position.unwrap_or_else(|| {
            self.internals.push((name, Vec::new()));
            self.internals.len() - 1
        });
        let column = &mut self.internals[position].1;
        column.resize(rows - 1, f64::NAN);
        column.add(value);
    }

    fn into_table(self) -> Table {
        let rows = self.time.len();
        let mut columns = vec![
            ("time_s", Column::Real(self.time)),
            ("flow", Column::Id(self.flow)),
            ("window", Column::Real(self.window)),
            ("ssthresh", Column::Real(self.ssthresh)),
            ("rtt_ms", Column::Real(self.rtt)),
            ("in_flight_packets", Column::Whole(self.in_flight)),
            ("sent_bytes", Column::Whole(self.sent)),
            ("arrived_bytes", Column::Whole(self.arrived)),
            ("delivered_bytes", Column::Whole(self.delivered)),
            ("one_way_delay_ms", Column::Real(self.delay)),
        ];
        columns.extend(self.internals.into_iter().map(|(name, mut column)| {
            column.resize(rows, f64::NAN);
            (name, Column::Real(column))
        }));
        Table { columns }
    }
}

#[derive(Debug, Default)]
struct Queues {
    time: Vec<f64>,
    link: Vec<u32>,
    level: Vec<u64>,
    least: Vec<u64>,
    most: Vec<u64>,
    mean: Vec<f64>,
    drops: Vec<u64>,
    marks: Vec<u64>,
    utilisation: Vec<f64>,
}

impl Queues {
    fn into_table(self) -> Table {
        Table {
            columns: vec![
                ("time_s", Column::Real(self.time)),
                ("link", Column::Id(self.link)),
                ("queue_packets", Column::Whole(self.level)),
                ("min_packets", Column::Whole(self.least)),
                ("max_packets", Column::Whole(self.most)),
                ("mean_packets", Column::Real(self.mean)),
                ("drops", Column::Whole(self.drops)),
                ("marks", Column::Whole(self.marks)),
                ("utilisation", Column::Real(self.utilisation)),
            ],
        }
    }
}
