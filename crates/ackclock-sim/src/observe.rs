//! Observers: they act between events and are never events themselves, so they cannot change a run.

use ackclock_scenario::Scenario;
use ackclock_trace::{Column, Counters, Table};
use ackclock_units::{Span, Time};

use crate::context::JournalEntry;
use crate::endpoint::{Ends, ReceiverView};
use crate::link::{Link, LinkCounters};
use crate::memory::{Grow as _, collected};
use crate::meter::Held;
use crate::network::Network;
use crate::samples::Samples;

/// A flow just before an instant.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowMark {
    /// Counters, drops included.
    pub counters: Counters,
    /// Distinct packets that arrived, and packets that were delivered in order.
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
    /// `None` if the measured time ends with the run.
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
/// Every interval is half-open, [a, b): what happens at an instant belongs to the interval that begins with it. So
/// observations at an instant precede the events of that instant.
#[derive(Debug)]
pub struct Observer {
    next: Time,
    /// The measured times of flows that are there before the run and stop before its end: their ends, in order, with the
    /// flow's slot.
    stops: Vec<(Time, u32)>,
    stops_done: usize,
    /// The measurements of flows, by the flow's slot. A flow that is measured from its start has an empty mark there.
    pub flows: Vec<Measured>,
    /// The number of flows that exist before the run.
    early: u32,
    /// The end of the warm-up, and the same time until it has been reached; then the end of the run, likewise.
    measured_from: Time,
    warmup: Option<Time>,
    end: Time,
    pending_end: Option<Time>,
    /// Links at the end of the warm-up and at the end of the run.
    pub links: [Vec<LinkMark>; 2],
    /// By the slot of the flow, packets of its sender under way at the end of the run.
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
            .map(|(slot, (_, to))| (*to, slot))
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

    /// A flow begins at `start`, which is now, in `slot`, and is measured until the end of the run.
    pub fn begin(&mut self, slot: u32, start: Time) {
        if slot as usize == self.flows.len() {
            self.flows.add(<_>::default());
        }
        let span = self.end.since(start.max(self.measured_from));
        self.flows[slot as usize] = Measured { span, ..Measured::default() };
    }

    /// The measurements of the flow in `slot`, which began during the run and is over at `now`.
    pub fn measure(&self, slot: u32, now: Time, network: &Network, ends: &[Ends]) -> Measured {
        let mut measured = self.flows[slot as usize];
        if self.warmup.is_some() {
            measured.from = mark(now.max(self.measured_from), slot, network, ends);
        }
        measured.end(self.end, slot, network, ends);
        measured
    }

    /// Slots of flows that are there before the run.
    pub const fn early(&self) -> u32 {
        self.early
    }

    fn set_next(&mut self) {
        let stop = self.stops.get(self.stops_done).map_or(Time::NEVER, |stop| stop.0);
        let sample = self.samples.as_ref().map_or(Time::NEVER, Samples::next);
        let ends = self.warmup.unwrap_or(Time::NEVER).min(self.pending_end.unwrap_or(Time::NEVER));
        self.next = stop.min(sample).min(ends);
    }

    /// Makes all observations due at `until` or earlier. No event of these instants has happened yet.
    pub fn observe(&mut self, until: Time, network: &mut Network, ends: &[Ends]) {
        while self.next <= until {
            let now = self.next;
            if self.warmup == Some(now) {
                self.warmup = None;
                self.links[0] = mark_links(now, network);
                network.links.iter_mut().for_each(Link::start_measuring);
                network.count_drops(now);
                for slot in network.flow_slots.live() {
                    self.flows[slot as usize].from = mark(now, slot, network, ends);
                }
            }
            if self.stops.get(self.stops_done).is_some_and(|stop| stop.0 == now) {
                network.count_drops(now);
            }
            while let Some((time, slot)) = self.stops.get(self.stops_done).copied()
                && time == now
            {
                self.flows[slot as usize].to = Some(mark(now, slot, network, ends));
                self.stops_done += 1;
            }
            if let Some(samples) = &mut self.samples
                && samples.next() == now
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
        network.links.iter_mut().for_each(Link::stop_measuring);
        network.count_drops(now);
        self.under_way = network.data_under_way();
        for slot in network.flow_slots.live() {
            self.flows[slot as usize].end(now, slot, network, ends);
        }
    }

    /// Whether samples wait for round trips.
    pub fn waits_for_round_trips(&self) -> bool {
        self.samples.as_ref().is_some_and(Samples::by_round_trip)
    }

    /// The sender of `flow` has acted: samples the flow when that is done by round trips.
    pub fn after_sender(&mut self, now: Time, flow: u32, ends: &[Ends]) {
        if let Some(samples) = &mut self.samples
            && samples.by_round_trip()
            && self.pending_end.is_some()
        {
            samples.after_sender(now, flow, ends);
        }
    }

    /// The tables by name, with the rows recorded since the last call.
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
            tables.extend(samples.take_tables());
        }
        tables
    }
}

impl Measured {
    /// The run of the flow in `slot` ends at `end`.
    fn end(&mut self, end: Time, slot: u32, network: &Network, ends: &[Ends]) {
        self.whole_run = mark(end, slot, network, ends);
        let sender = ends[slot as usize].sender.view();
        self.largest_window = sender.meter.largest_window(end, sender.window);
    }
}

fn mark_links(now: Time, network: &mut Network) -> Vec<LinkMark> {
    let mark = |link: &mut Link| {
        let counters = link.counters(now);
        LinkMark { counters, max_queue_packets: link.measured().0 }
    };
    network.links.iter_mut().map(mark).collect()
}

/// The flow in `slot` as it is at `now`; after [`Network::count_drops`] of the same time.
fn mark(now: Time, slot: u32, network: &Network, ends: &[Ends]) -> FlowMark {
    let Ends { sender, receiver } = &ends[slot as usize];
    let sender = sender.view();
    let ReceiverView { arrived, delivered, duplicates, .. } = receiver.view();
    let [dropped_packets, dropped_acks] = network.dropped[slot as usize];
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
