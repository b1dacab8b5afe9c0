//! Samples of flows and links over time, as tables.

use ackclock_scenario::{Sample, Scenario};
use ackclock_trace::{Column, Table};
use ackclock_units::{Span, Time};

use crate::arrivals::Arrivals;
use crate::endpoint::{Ends, ReceiverView};
use crate::link::LinkCounters;
use crate::memory::{Grow as _, collected, slots};
use crate::network::Network;

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
    /// Samples of all flows. Every flow has its slot before the run, in the order of flow numbers.
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

    /// When the next one is due; [`Time::NEVER`] after the last.
    pub fn next(&self) -> Time {
        self.next
    }

    /// Whether flows are sampled when they have completed a round trip.
    pub fn by_round_trip(&self) -> bool {
        self.by_round_trip
    }

    /// The tables by name, with the samples taken since the last call.
    pub fn take_tables(&mut self) -> [(&'static str, Table); 2] {
        [
            ("windows", std::mem::take(&mut self.windows).into_table()),
            ("queues", std::mem::take(&mut self.queues).into_table()),
        ]
    }

    /// Takes the sample that is due at `now`, before the events of that instant.
    pub fn take(&mut self, now: Time, network: &mut Network, ends: &[Ends]) {
        if !self.by_round_trip {
            for flow in 0..self.last.len() as u32 {
                self.take_flow(now, flow, ends);
            }
        }
        for (id, link) in network.links.iter_mut().take(self.last_links.len()).enumerate() {
            let counters = link.counters(now);
            let last = std::mem::replace(&mut self.last_links[id], counters);
            let span = now.since(self.last_time);
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
            q.utilisation.add(counters.utilisation_since(&last).unwrap_or(f64::NAN));
        }
        self.last_time = now;
        self.next = if now + self.every > self.end { Time::NEVER } else { now + self.every };
    }

    /// The sender of `flow` has acted: samples the flow if that has completed a round trip.
    pub fn after_sender(&mut self, now: Time, flow: u32, ends: &[Ends]) {
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
    /// One column per name; NaN for a flow without a value of that name.
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
