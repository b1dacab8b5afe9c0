//! The summary of a finished run.

use std::collections::BTreeSet;
use std::sync::Arc;

use ackclock_cc::registry::{Catalogue, Kind};
use ackclock_scenario::{Flow, Scenario, Traffic};
use ackclock_trace::{
    Column, DualPi2Summary, FlowKind, FlowSummary, Histogram, LimitedBy, LinkSummary, RULES, SideSummary,
    Summary, Table, jain,
};
use ackclock_units::{Bytes, Span, Time};
use serde_json::Value;

use crate::arrivals::Arrivals;
use crate::endpoint::Ends;
use crate::flow_slots::FlowState;
use crate::memory::{look_for, unwind_if_short};
use crate::network::Network;
use crate::numbers::{Numbers, Record};
use crate::observe::Observer;
use crate::remarks::{Limits, Warnings};

/// An estimate of the memory that the summary of a flow takes with its text, bytes.
const BYTES_PER_FLOW: usize = 12_000;

/// A run that has ended.
pub struct FinishedRun {
    pub(crate) scenario: Scenario,
    pub(crate) run: u64,
    pub(crate) network: Network,
    /// The flows that arrived.
    pub(crate) arrivals: Arrivals,
    /// The ends of flows that have slots.
    pub(crate) ends: Vec<Ends>,
    /// Records of the flows that have ended and no longer have a slot.
    pub(crate) records: Vec<Record>,
    pub(crate) observer: Observer,
    /// The flow that was summarised last, and its settings: flows of one `[[flow]]` are summarised in sequence, and
    /// share one copy.
    pub(crate) last: Option<(u32, Arc<Value>)>,
}

impl FinishedRun {
    /// The number of flows.
    #[must_use]
    pub fn flows(&self) -> u32 {
        self.network.flow_slots.flows()
    }

    /// The summary of the run without its flows; the summary of each flow is passed to `visit`. `catalogue` has the
    /// controls.
    pub fn summarise(&mut self, catalogue: &dyn Catalogue, visit: &mut dyn FnMut(FlowSummary)) -> Summary {
        look_for(self.scenario.flows.len() * BYTES_PER_FLOW);
        let measured = self.scenario.run.duration - self.scenario.run.warmup;
        let (mut warnings, mut limits) = (Warnings::default(), Limits::default());
        let mut goodputs = Vec::new();
        let mut packets_simulated = 0;
        for id in 0..self.flows() {
            unwind_if_short();
            let summary = self.flow(id, catalogue);
            let flow = self.arrivals.like(&self.scenario, id);
            warnings.of_window(&self.scenario, flow, &summary);
            limits.note(flow, &summary);
            goodputs.extend(summary.goodput_mbps);
            packets_simulated += summary.whole_run.sent_packets;
            visit(summary);
        }
        let FinishedRun { scenario, network, observer, .. } = self;
        let links = scenario
            .links
            .iter()
            .enumerate()
            .map(|(id, link)| summarise_link(id, link, measured, network, observer))
            .collect();
        Summary {
            version: env!("CARGO_PKG_VERSION"),
            rules: RULES,
            digest: network.digest.hex(),
            seed: scenario.run.seed,
            run: self.run,
            duration_s: scenario.run.duration.as_seconds(),
            measured_from_s: scenario.run.warmup.as_seconds(),
            packets_simulated,
            flows: Vec::new(),
            links,
            jain: jain(&goodputs),
            warnings: warnings.sentences(),
            notes: limits.sentences(),
        }
    }

    /// The first flow of every `[[flow]]` that has any.
    #[must_use]
    pub fn firsts(&self) -> Vec<u32> {
        let mut known = BTreeSet::new();
        (0..self.flows())
            .filter(|id| known.insert(std::ptr::from_ref(self.arrivals.like(&self.scenario, *id))))
            .collect()
    }

    /// Packets that the sender of flow `id` had sent when the run ended, and that had neither arrived nor been dropped.
    ///
    /// # Panics
    /// When there is no such flow.
    #[must_use]
    pub fn under_way(&self, id: u32) -> u64 {
        match self.network.flow_slots.state(id) {
            FlowState::Active(slot) => {
                self.observer.under_way.get(slot as usize).map_or(0, |count| (*count).into())
            }
            FlowState::NotStarted | FlowState::Ended(_) => 0,
        }
    }

    /// The summary of flow `id`; `catalogue` has the controls.
    ///
    /// # Panics
    /// When there is no such flow.
    pub fn flow(&mut self, id: u32, catalogue: &dyn Catalogue) -> FlowSummary {
        let flow = self.arrivals.like(&self.scenario, id);
        let is_same = |other: &Flow| std::ptr::eq(flow, other) || flow.has_settings_of(other);
        let known = self.last.take().filter(|(other, _)| is_same(self.arrivals.like(&self.scenario, *other)));
        let settings = known.map_or_else(|| flow.settings(catalogue).into(), |(_, settings)| settings);
        self.last = Some((id, settings.clone()));
        let network = &self.network;
        let warmup = Time::ZERO + self.scenario.run.warmup;
        let end = Time::ZERO + self.scenario.run.duration;
        let arrival = self.arrivals.find(id);
        let drawn = arrival.map_or(Time::ZERO, |(_, _, start, _)| start);
        let (slot, numbers, span) = match network.flow_slots.state(id) {
            FlowState::Active(slot) => {
                let measured = &self.observer.flows[slot as usize];
                (Some(slot), Numbers::of(&self.ends[slot as usize], measured, Some(end)), measured.span)
            }
            FlowState::Ended(record) => {
                (None, self.records[record as usize].numbers(), end.since(drawn.max(warmup)))
            }
            FlowState::NotStarted => (None, Numbers::default(), end.since(drawn.max(warmup))),
        };
        let ends = slot.map(|slot| &self.ends[slot as usize]);
        let start = ends.map_or(drawn, |ends| ends.sender.view().meter.start());
        let receiver = ends.map(|ends| &ends.receiver);
        // Begin and end of the requests that were completed in the measured time.
        let completed: Vec<_> = receiver
            .map(|receiver| receiver.requests())
            .unwrap_or_default()
            .iter()
            .filter_map(|request| request.completed.map(|completed| (request.start, completed)))
            .filter(|(_, completed)| (warmup..end).contains(completed))
            .collect();
        let began_within = completed.iter().filter(|(start, _)| *start >= warmup);
        let mut waited: Vec<_> = began_within.map(|(start, completed)| completed.since(*start)).collect();
        waited.sort_unstable();
        let kind = kind_of(flow, catalogue);
        let (delays, late) = receiver.and_then(|receiver| receiver.delays()).unzip();
        let delay = |share| delays.and_then(|delays| delays.percentile(share)).map(Span::as_millis);
        let seconds = (span > Span::ZERO).then(|| span.as_seconds());
        let packet_megabits = flow.tcp.packet.0 as f64 * 8e-6;
        let mbps = |packets: u64| seconds.map(|seconds| packets as f64 * packet_megabits / seconds);
        let [mean_rtt_ms, rtt_p50_ms, rtt_p95_ms, rtt_p99_ms] = numbers.rtt;
        FlowSummary {
            id,
            name: arrival
                .map_or_else(|| flow.name.clone(), |(_, number, ..)| format!("{}-{number}", flow.name)),
            controller: flow.label.to_string(),
            kind,
            rtt_ms: flow.rtt.as_millis(),
            goodput_mbps: mbps(numbers.arrived),
            in_order_mbps: mbps(numbers.delivered),
            limited_by: numbers.held.map(limited_by),
            mean_window: numbers.mean_window,
            max_window: numbers.max_window,
            mean_rtt_ms,
            rtt_p50_ms,
            rtt_p95_ms,
            rtt_p99_ms,
            counters: numbers.counters,
            completion_s: numbers.completed.map(|completed| completed.since(start).as_seconds()),
            requests_completed: (kind == FlowKind::Web).then_some(completed.len() as u64),
            request_p50_s: quantile(&waited, 0.50).map(Span::as_seconds),
            request_p95_s: quantile(&waited, 0.95).map(Span::as_seconds),
            request_p99_s: quantile(&waited, 0.99).map(Span::as_seconds),
            delay_p50_ms: delay(0.50),
            delay_p95_ms: delay(0.95),
            delay_p99_ms: delay(0.99),
            late: late.flatten(),
            start_s: start.as_seconds(),
            bytes: arrival.map_or(flow.bytes, |(.., bytes)| Some(bytes)).map(|bytes| bytes.0),
            whole_run: numbers.whole_run,
            settings,
        }
    }
}

/// The shares of [`crate::meter::Held::shares`] by name.
fn limited_by(shares: [u16; 4]) -> LimitedBy {
    let [window, receiver, application, pacing] = shares.map(|share| f64::from(share) / 10_000.0);
    LimitedBy { window, receiver, application, pacing }
}

/// The kind of a flow: its content and its limit.
fn kind_of(flow: &Flow, catalogue: &dyn Catalogue) -> FlowKind {
    match flow.traffic {
        Traffic::Datagrams(_) => FlowKind::Datagrams,
        Traffic::Media(_) => FlowKind::Media,
        Traffic::Web(_) | Traffic::Requests(_) => FlowKind::Web,
        // `emultcp` is a group of connections with windows, and no entry of the catalogue.
        Traffic::Bulk | Traffic::Emultcp(_) => match catalogue.find(&flow.control).map(|entry| entry.kind) {
            Some(Kind::Rate) => FlowKind::Rate,
            Some(Kind::Window) | None => FlowKind::Window,
        },
    }
}

/// The `share` quantile of these ordered values; `None` without any.
fn quantile<T: Copy>(ordered: &[T], share: f64) -> Option<T> {
    let rank = (share * ordered.len() as f64).ceil() as usize;
    ordered.get(rank.max(1) - 1).copied()
}

/// Median, 95th and 99th percentile of queueing delays.
const SHARES: [f64; 3] = [0.50, 0.95, 0.99];

fn summarise_link(
    id: usize,
    described: &ackclock_scenario::Link,
    measured: Span,
    network: &mut Network,
    observer: &Observer,
) -> LinkSummary {
    let link = &mut network.links[id];
    let [before, after] = observer.links.each_ref().map(|marks| marks[id]);
    let (before, counters) = (before.counters, after.counters);
    let delays = link.measured().1;
    let percentile = |share| delays.and_then(|delays| percentile_ms(delays, share));
    let [p50, p95, p99] = SHARES.map(percentile);
    LinkSummary {
        id: described.name.clone(),
        queue_limit: described.queue.limit().to_string(),
        utilisation: counters.utilisation_since(&before),
        queue_drops: counters.queue_drops - before.queue_drops,
        marks: counters.marks - before.marks,
        random_losses: counters.random_losses - before.random_losses,
        mean_queue_packets: (measured > Span::ZERO)
            .then(|| (counters.queue_integral - before.queue_integral) as f64 / measured.0 as f64),
        max_queue_packets: after.max_queue_packets,
        queue_delay_p50_ms: p50,
        queue_delay_p95_ms: p95,
        queue_delay_p99_ms: p99,
        dualpi2: link.measured_sides().map(|[low_latency, classic]| DualPi2Summary {
            low_latency: summarise_side(low_latency),
            classic: summarise_side(classic),
        }),
    }
}

fn percentile_ms(delays: &Histogram, share: f64) -> Option<f64> {
    delays.percentile(share).map(Span::as_millis)
}

fn summarise_side(delays: &Histogram) -> SideSummary {
    let [p50, p95, p99] = SHARES.map(|share| percentile_ms(delays, share));
    SideSummary {
        packets: delays.total(),
        queue_delay_p50_ms: p50,
        queue_delay_p95_ms: p95,
        queue_delay_p99_ms: p99,
    }
}

/// Every request, page and finite transfer that began before the end of the run, by flow and then by time.
pub fn requests(scenario: &Scenario, arrivals: &Arrivals, ends: &[Ends]) -> Table {
    let end = Time::ZERO + scenario.run.duration;
    let (mut flows, mut starts, mut sizes, mut completions) = (vec![], vec![], vec![], vec![]);
    let mut row = |flow: u32, start: Time, bytes: Bytes, completed: Option<Time>| {
        if start >= end {
            return;
        }
        flows.push(flow);
        starts.push(start.as_seconds());
        sizes.push(bytes.0);
        let completed = completed.filter(|completed| *completed < end);
        completions.push(completed.map_or(f64::NAN, |completed| completed.since(start).as_seconds()));
    };
    for (id, Ends { sender, receiver }) in (0..).zip(ends) {
        for request in receiver.requests() {
            row(id, request.start, request.bytes, request.completed);
        }
        let start = sender.view().meter.start();
        let bytes = match arrivals.find(id) {
            Some((.., bytes)) => Some(bytes),
            None => scenario.flows[id as usize].bytes,
        };
        if let Some(bytes) = bytes {
            row(id, start, bytes, receiver.view().completed);
        }
    }
    Table {
        columns: vec![
            ("flow", Column::Id(flows)),
            ("start_s", Column::Real(starts)),
            ("bytes", Column::Whole(sizes)),
            ("completion_s", Column::Real(completions)),
        ],
    }
}
