//! The summary of a finished run.

use ackclock_cc::registry::{Catalogue, Kind};
use ackclock_scenario::{Flow, Scenario, Traffic};
use ackclock_trace::{
    Column, DualPi2Summary, FlowKind, FlowSummary, Histogram, LinkSummary, SideSummary, Summary, Table, jain,
};
use ackclock_units::{Bytes, Span, Time};

use crate::endpoint::Ends;
use crate::memory::{look_for, unwind_if_short};
use crate::network::Network;
use crate::observe::{Observer, mark};

/// About what the summary of a flow takes with its text, bytes.
const BYTES_PER_FLOW: usize = 12_000;

/// Summarises a run that has ended.
pub fn summarise(
    scenario: &Scenario,
    run: u64,
    network: &mut Network,
    ends: &[Ends],
    observer: &Observer,
    catalogue: &dyn Catalogue,
) -> Summary {
    let end = Time::ZERO + scenario.run.duration;
    look_for(scenario.flows.len() * BYTES_PER_FLOW);
    let mut flows: Vec<FlowSummary> = Vec::with_capacity(scenario.flows.len());
    for _ in 0..scenario.flows.len() {
        unwind_if_short();
        flows.push(summarise_flow(scenario, &flows, network, ends, observer, catalogue));
    }
    let warnings = warn_of_windows(scenario, &flows)
        .into_iter()
        .chain(warn_of_goodput(scenario, &flows, network, observer));
    let warnings = warnings.collect();
    let goodputs: Vec<_> = flows.iter().filter_map(|flow| flow.goodput_mbps).collect();
    let measured = scenario.run.duration - scenario.run.warmup;
    let links = scenario
        .links
        .iter()
        .enumerate()
        .map(|(id, link)| summarise_link(id, &link.name, end, measured, network, observer))
        .collect();
    Summary {
        version: env!("CARGO_PKG_VERSION"),
        digest: network.digest.hex(),
        seed: scenario.run.seed,
        run,
        duration_s: scenario.run.duration.as_seconds(),
        measured_from_s: scenario.run.warmup.as_seconds(),
        packets_simulated: flows.iter().map(|flow| flow.whole_run.sent_packets).sum(),
        flows,
        links,
        jain: jain(&goodputs),
        warnings,
    }
}

/// Bandwidth-delay products above which a window is none that a host would allow.
const MOST_PRODUCTS: f64 = 100.0;

/// Warns of the flow with the largest window, in products of the rate of its slowest link and its round trip, if that is
/// beyond all measure.
fn warn_of_windows(scenario: &Scenario, flows: &[FlowSummary]) -> Option<String> {
    let product = |flow: &FlowSummary| {
        let of = &scenario.flows[flow.id as usize];
        let slowest = of.path.iter().map(|link| scenario.links[*link].rate.0).min()?;
        Some((slowest as f64 * of.rtt.as_seconds() / (8.0 * of.tcp.packet.0 as f64)).max(1.0))
    };
    let windows = flows.iter().filter_map(|flow| Some((flow.max_window? / product(flow)?, flow)));
    let (times, flow) = windows.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (times > MOST_PRODUCTS).then(|| {
        let (name, window) = (&flow.name, flow.max_window.unwrap_or_default());
        format!(
            "the window of {name} reached {window:.0} packets, {times:.0} times the bandwidth-delay product; \
             only tcp.receive_window limits what it sends"
        )
    })
}

/// Warns of the flow whose goodput exceeds the rate of a link on its path by the most: data that had arrived before the
/// measured time, and waited for a lost packet, was delivered within it.
fn warn_of_goodput(
    scenario: &Scenario,
    flows: &[FlowSummary],
    network: &mut Network,
    observer: &Observer,
) -> Option<String> {
    let end = Time::ZERO + scenario.run.duration;
    let measured = scenario.run.duration - scenario.run.warmup;
    // Rates may change: what a link could carry is known of the measured time as a whole.
    let mut carried = |link: usize| {
        let before = observer.links.get(link).map_or(0, |before| before.capacity);
        let capacity = network.links[link].counters(end).capacity - before;
        (capacity > 0).then(|| capacity as f64 * 1e-6 / measured.as_seconds())
    };
    let excess = flows.iter().filter_map(|flow| {
        let of = &scenario.flows[flow.id as usize];
        let is_whole = observer.flows[flow.id as usize].0 == measured;
        let mut rate = |link: usize| {
            if is_whole { carried(link) } else { Some(scenario.links[link].rate.0 as f64 * 1e-6) }
        };
        let limit = of.path.iter().filter_map(|link| rate(*link)).reduce(f64::min)?;
        let (goodput, arrived) = (flow.goodput_mbps?, flow.arrived_mbps?);
        (goodput > limit && goodput > arrived).then_some((
            goodput / limit,
            flow.name.as_str(),
            goodput,
            arrived,
            limit,
        ))
    });
    let (_, name, goodput, arrived, limit) = excess.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(format!(
        "the goodput of {name}, {goodput:.4} Mbit/s in order, exceeds the link's {limit:.4} Mbit/s: data that had arrived \
         before the measured time waited for a lost packet until then; {arrived:.4} Mbit/s arrived within it"
    ))
}

/// The flow after those that are `done`.
fn summarise_flow(
    scenario: &Scenario,
    done: &[FlowSummary],
    network: &Network,
    ends: &[Ends],
    observer: &Observer,
    catalogue: &dyn Catalogue,
) -> FlowSummary {
    let id = done.len();
    let flow = &scenario.flows[id];
    // The flows of one `[[flow]]` follow each other, and have their settings once.
    let same = done.last().filter(|_| flow.has_settings_of(&scenario.flows[id - 1]));
    let settings = || match flow.arrival_of {
        Some(place) => scenario.arrivals[place as usize].flow.settings(catalogue),
        None => flow.settings(catalogue),
    };
    let whole_run = mark(Time::ZERO + scenario.run.duration, id as u32, network, ends).counters;
    let (span, from, to) = &observer.flows[id];
    let seconds = (*span > Span::ZERO).then(|| span.as_seconds());
    let Ends { sender, receiver, .. } = &ends[id];
    let meter = sender.view().meter;
    let mut waited: Vec<_> = receiver
        .requests()
        .iter()
        .filter(|request| request.start >= Time::ZERO + scenario.run.warmup)
        .filter_map(|request| request.completed.map(|completed| completed.since(request.start)))
        .collect();
    waited.sort_unstable();
    let kind = kind_of(flow, catalogue);
    let (delays, late) = receiver.delays().map_or((None, None), |(delays, late)| (Some(delays), late));
    let delay = |share| delays.and_then(|delays| delays.percentile(share)).map(Span::as_millis);
    let packet_megabits = flow.tcp.packet.0 as f64 * 8e-6;
    let mbps = |packets: u64| seconds.map(|seconds| packets as f64 * packet_megabits / seconds);
    FlowSummary {
        id: id as u32,
        name: flow.name.clone(),
        controller: flow.label.to_string(),
        kind,
        rtt_ms: flow.rtt.as_millis(),
        goodput_mbps: mbps(to.delivered - from.delivered),
        arrived_mbps: mbps(to.arrived - from.arrived),
        mean_window: seconds
            .map(|seconds| (to.window_integral - from.window_integral) / seconds)
            .filter(|window| !window.is_nan()),
        max_window: meter.largest_window().map(f64::floor),
        mean_rtt_ms: meter.mean_rtt_ms(),
        rtt_p50_ms: meter.rtt_percentile_ms(0.50),
        rtt_p95_ms: meter.rtt_percentile_ms(0.95),
        rtt_p99_ms: meter.rtt_percentile_ms(0.99),
        counters: to.counters.since(&from.counters),
        completion_s: receiver.view().completed.map(|completed| completed.since(meter.start()).as_seconds()),
        requests_completed: (kind == FlowKind::Web).then_some(waited.len() as u64),
        request_p50_s: quantile(&waited, 0.50).map(Span::as_seconds),
        request_p95_s: quantile(&waited, 0.95).map(Span::as_seconds),
        request_p99_s: quantile(&waited, 0.99).map(Span::as_seconds),
        delay_p50_ms: delay(0.50),
        delay_p95_ms: delay(0.95),
        delay_p99_ms: delay(0.99),
        late,
        start_s: meter.start().as_seconds(),
        bytes: flow.bytes.map(|bytes| bytes.0),
        whole_run,
        settings: same.map_or_else(|| settings().into(), |same| same.settings.clone()),
    }
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

/// The least of these ordered values that the share `share` of them does not exceed; `None` without any.
fn quantile<T: Copy>(ordered: &[T], share: f64) -> Option<T> {
    let rank = (share * ordered.len() as f64).ceil() as usize;
    ordered.get(rank.max(1) - 1).copied()
}

/// Median, 95th and 99th percentile of queueing delays.
const SHARES: [f64; 3] = [0.50, 0.95, 0.99];

fn summarise_link(
    id: usize,
    name: &str,
    end: Time,
    measured: Span,
    network: &mut Network,
    observer: &Observer,
) -> LinkSummary {
    let link = &mut network.links[id];
    let before = observer.links.get(id).copied().unwrap_or_default();
    let counters = link.counters(end);
    let (max_queue_packets, delays) = link.measured();
    let percentile = |share| delays.and_then(|delays| percentile_ms(delays, share));
    let [p50, p95, p99] = SHARES.map(percentile);
    let capacity = (counters.capacity - before.capacity) as f64;
    LinkSummary {
        id: name.to_owned(),
        utilisation: (capacity > 0.0).then(|| (counters.bits - before.bits) as f64 / capacity),
        queue_drops: counters.queue_drops - before.queue_drops,
        marks: counters.marks - before.marks,
        random_losses: counters.random_losses - before.random_losses,
        mean_queue_packets: (measured > Span::ZERO)
            .then(|| (counters.queue_integral - before.queue_integral) as f64 / measured.0 as f64),
        max_queue_packets,
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
pub fn requests(scenario: &Scenario, ends: &[Ends]) -> Table {
    let (mut flows, mut starts, mut sizes, mut completions) = (vec![], vec![], vec![], vec![]);
    let mut row = |flow: u32, start: Time, bytes: Bytes, completed: Option<Time>| {
        flows.push(flow);
        starts.push(start.as_seconds());
        sizes.push(bytes.0);
        completions.push(completed.map_or(f64::NAN, |completed| completed.since(start).as_seconds()));
    };
    for (id, (flow, Ends { sender, receiver, .. })) in (0..).zip(scenario.flows.iter().zip(ends)) {
        for request in receiver.requests() {
            row(id, request.start, request.bytes, request.completed);
        }
        let start = sender.view().meter.start();
        if let Some(bytes) = flow.bytes
            && start < Time::ZERO + scenario.run.duration
        {
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
