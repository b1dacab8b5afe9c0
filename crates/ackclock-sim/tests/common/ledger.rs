//! What must be true of every summary, whatever its scenario: counters add up, over time and over flows, and no number is
//! beyond what it can be.

use ackclock_scenario::{Change, Flow, Limit, Moment, NoiseKind, Outage, Queue, Scenario};
use ackclock_sim::{BuiltIn, Simulation};
use ackclock_trace::{Column, Counters, FlowSummary, Summary, Table};
use ackclock_units::Span;

/// A run, the packets of each flow's sender that were under way at its end, and its tables if it was recorded.
struct Ran {
    summary: Summary,
    under_way: Vec<u64>,
    tables: Vec<(&'static str, Table)>,
}

fn run(scenario: &Scenario, duration: Span, warmup: Span, record: bool) -> Ran {
    let mut scenario = scenario.clone();
    (scenario.run.duration, scenario.run.warmup) = (duration, warmup);
    let mut simulation = Simulation::new(scenario, &BuiltIn, 0, record).unwrap();
    while !simulation.advance(u64::MAX) {}
    let (mut over, tables) = simulation.end().unwrap();
    let mut flows = Vec::new();
    let summary = over.summarise(&BuiltIn, &mut |flow| flows.push(flow));
    let under_way = (0..over.flows()).map(|flow| over.under_way(flow)).collect();
    Ran { summary: Summary { flows, ..summary }, under_way, tables }
}

/// A number of the summary with a name.
type Named = (&'static str, i128);

fn counters(counters: &Counters) -> [Named; 7] {
    let Counters {
        sent_packets,
        retransmitted_packets,
        dropped_packets,
        loss_events,
        timeouts,
        duplicate_packets,
        dropped_acks,
    } = *counters;
    [
        ("sent_packets", sent_packets),
        ("retransmitted_packets", retransmitted_packets),
        ("dropped_packets", dropped_packets),
        ("loss_events", loss_events.unwrap_or(0)),
        ("timeouts", timeouts),
        ("duplicate_packets", duplicate_packets),
        ("dropped_acks", dropped_acks),
    ]
    .map(|(name, count)| (name, i128::from(count)))
}

/// The packets of `flow` that a rate over `seconds` seconds consists of.
fn packets(rate_mbps: Option<f64>, seconds: f64, flow: &Flow) -> i128 {
    (rate_mbps.unwrap_or(0.0) * 1e6 * seconds / (8.0 * flow.tcp.packet.0 as f64)).round() as i128
}

/// The most SYNs that a flow may send in so many seconds: one at once, and then after timeouts that double.
fn syns_within(flow: &Flow, seconds: f64) -> i128 {
    if !flow.tcp.handshake {
        return 0;
    }
    let (mut timeout, longest) = (flow.tcp.initial_rto.as_seconds(), flow.tcp.max_rto.as_seconds());
    let (mut count, mut next) = (0, 0.0);
    while next < seconds {
        count += 1;
        next += timeout;
        timeout = longest.min(2.0 * timeout);
    }
    count
}

/// The counters of a flow.
fn of_flow(summary: &FlowSummary, seconds: f64, flow: &Flow) -> Vec<Named> {
    let mut all = counters(&summary.counters).to_vec();
    all.push(("packets that arrived", packets(summary.goodput_mbps, seconds, flow)));
    all.push(("packets in order", packets(summary.in_order_mbps, seconds, flow)));
    all.push(("requests_completed", i128::from(summary.requests_completed.unwrap_or(0))));
    all
}

/// The counters of each link.
fn of_links(summary: &Summary) -> Vec<Named> {
    let each = summary.links.iter().flat_map(|link| {
        [("queue_drops", link.queue_drops), ("marks", link.marks), ("random_losses", link.random_losses)]
    });
    each.map(|(name, count)| (name, i128::from(count))).collect()
}

fn sums(first: &[Named], second: &[Named]) -> Vec<Named> {
    first.iter().zip(second).map(|((name, a), (_, b))| (*name, a + b)).collect()
}

/// The losses of all flows, and the losses of all links.
fn losses(summary: &Summary, of: impl Fn(&FlowSummary) -> Counters) -> (u64, u64) {
    let flow = |flow: &FlowSummary| of(flow).dropped_packets + of(flow).dropped_acks;
    (
        summary.flows.iter().map(flow).sum(),
        summary.links.iter().map(|link| link.queue_drops + link.random_losses).sum(),
    )
}

macro_rules! ensure {
    ($holds:expr, $($message:tt)*) => {
        let holds: bool = $holds;
        if !holds {
            return Err(format!($($message)*));
        }
    };
}

/// Runs `scenario` whole, and in two intervals that touch where its warm-up ends, and looks at all three summaries.
///
/// # Errors
/// The violated rule, with its numbers.
pub fn check(scenario: &Scenario) -> Result<(), String> {
    let (duration, cut) = (scenario.run.duration, scenario.run.warmup.max(Span::from_millis(1)));
    let whole = run(scenario, duration, Span::ZERO, true);
    let first = run(scenario, cut, Span::ZERO, false);
    let second = run(scenario, duration, cut, false);
    of_samples(scenario, &whole)?;
    for (ran, to, from) in
        [(&whole, duration, Span::ZERO), (&first, cut, Span::ZERO), (&second, duration, cut)]
    {
        of_bounds(scenario, &ran.summary, from, to)?;
    }
    ensure!(whole.summary.digest == second.summary.digest, "a warm-up has changed the run");
    let stops = scenario.flows.iter().any(|flow| flow.stop.is_some());
    for (name, summary) in [("whole", &whole.summary), ("second", &second.summary)] {
        let (of_flows, of_links) = losses(summary, |flow| flow.counters);
        // Packets that a flow loses after its stop count for the link alone.
        ensure!(
            of_flows == of_links || stops && of_flows < of_links,
            "{name}: flows have lost {of_flows} packets, links {of_links}"
        );
    }
    let (of_flows, of_links) = losses(&whole.summary, |flow| flow.whole_run);
    ensure!(of_flows == of_links, "over the whole run flows have lost {of_flows} packets, links {of_links}");
    ensure!(
        sums(&self::of_links(&first.summary), &self::of_links(&second.summary))
            == self::of_links(&whole.summary),
        "links: {:?} and {:?} are not {:?}",
        first.summary.links,
        second.summary.links,
        whole.summary.links
    );
    for (id, flow) in whole.summary.flows.iter().enumerate() {
        let settings = settings(scenario, id, flow);
        let name = &flow.name;
        if settings.stop.is_none() {
            ensure!(
                flow.counters == flow.whole_run,
                "{name}: {:?} is not {:?}",
                flow.counters,
                flow.whole_run
            );
        }
        let stop = stop(settings);
        let seconds = |from: Span, to: Span| {
            let start = flow.start_s.max(from.as_seconds());
            (stop.unwrap_or(to).min(to).as_seconds() - start).max(0.0)
        };
        let of = |ran: &Ran, from, to| of_flow(&ran.summary.flows[id], seconds(from, to), settings);
        let mut parts =
            [of(&first, Span::ZERO, cut), of(&second, cut, duration), of(&whole, Span::ZERO, duration)];
        if stop.is_none() {
            parts.iter_mut().for_each(|part| part.truncate(7));
        }
        let [first_counts, second_counts, counts] = &parts;
        ensure!(
            sums(first_counts, second_counts) == *counts,
            "{name}: {first_counts:?} and {second_counts:?} are not {counts:?}"
        );
        if settings.stop.is_none() {
            let arrived = packets(flow.goodput_mbps, seconds(Span::ZERO, duration), settings);
            let Counters { sent_packets, dropped_packets, duplicate_packets, .. } = flow.whole_run;
            let total = arrived + i128::from(dropped_packets + duplicate_packets + whole.under_way[id]);
            // SYNs are under way, too, and do not count as sent.
            let syns = total - i128::from(sent_packets);
            ensure!(
                (0..=syns_within(settings, seconds(Span::ZERO, duration))).contains(&syns),
                "{name}: sent {sent_packets}, but {arrived} arrived, {duplicate_packets} again, {dropped_packets} were \
                 dropped, {} are under way",
                whole.under_way[id]
            );
            held(
                flow,
                &first.summary.flows[id],
                &second.summary.flows[id],
                seconds(Span::ZERO, cut),
                seconds(cut, duration),
            )?;
        }
    }
    Ok(())
}

/// The samples of a whole run, the last of which is taken at its end, add up to its summary, and none is beyond what it can be.
fn of_samples(scenario: &Scenario, ran: &Ran) -> Result<(), String> {
    let columns = |table: &str| {
        let (_, table) = ran.tables.iter().find(|(name, _)| *name == table).expect("it was recorded");
        move |name: &str| &table.columns.iter().find(|(other, _)| *other == name).expect("every row has it").1
    };
    let sums = |ids: &Column, values: &Column, count: usize| {
        let (Column::Id(ids), Column::Whole(values)) = (ids, values) else { panic!("whole numbers of rows") };
        let mut sums = vec![0; count];
        ids.iter().zip(values).for_each(|(id, value)| sums[*id as usize] += *value);
        sums
    };
    let (windows, queues) = (columns("windows"), columns("queues"));
    let flows = &ran.summary.flows;
    let sent = sums(windows("flow"), windows("sent_bytes"), flows.len());
    for (id, (flow, bytes)) in flows.iter().zip(sent).enumerate() {
        let all = flow.whole_run.sent_packets * settings(scenario, id, flow).tcp.packet.0;
        ensure!(bytes == all, "{}: samples have {bytes} bytes sent, the run has {all}", flow.name);
    }
    let links = &ran.summary.links;
    let of_links = ["drops", "marks"]
        .map(|name| sums(queues("link"), queues(name), links.len()).into_iter().sum::<u64>());
    let all =
        [links.iter().map(|link| link.queue_drops).sum::<u64>(), links.iter().map(|link| link.marks).sum()];
    ensure!(of_links == all, "samples have {of_links:?} drops and marks, the links {all:?}");
    let (Column::Real(mean), Column::Whole(most)) = (queues("mean_packets"), queues("max_packets")) else {
        panic!("means are real, and levels whole numbers")
    };
    let is_possible = mean.iter().zip(most).all(|(mean, most)| *mean <= *most as f64 * (1.0 + 1e-12));
    ensure!(is_possible, "a sample has a queue of more packets on average than at most");
    let Column::Real(utilisation) = queues("utilisation") else { panic!("utilisation is real") };
    let beyond = utilisation.iter().find(|share| **share > 1.0);
    ensure!(beyond.is_none(), "a sample has a utilisation of {beyond:?}");
    Ok(())
}

/// Times in which something held a flow back add up, too. Both borders of each share are rounded to a ten-thousandth, so that
/// it may be off by one.
fn held(
    whole: &FlowSummary,
    first: &FlowSummary,
    second: &FlowSummary,
    a: f64,
    b: f64,
) -> Result<(), String> {
    if whole.completion_s.is_some() || whole.kind == ackclock_trace::FlowKind::Rate && whole.bytes.is_some() {
        return Ok(());
    }
    let shares = |flow: &FlowSummary| {
        flow.limited_by.as_ref().map_or([0.0; 4], |by| [by.window, by.receiver, by.application, by.pacing])
    };
    for holder in 0..4 {
        let [whole_s, first_s, second_s] =
            [(whole, a + b), (first, a), (second, b)].map(|(flow, seconds)| shares(flow)[holder] * seconds);
        // A transfer that is acknowledged but for its last bytes may be complete for its sender: none of its time counts then.
        let is_over = second.limited_by.is_none() && b > 0.0;
        ensure!(
            (first_s + second_s - whole_s).abs() <= 2.01e-4 * (a + b) || is_over,
            "{}: held {first_s} s and {second_s} s, but {whole_s} s in all: {:?}",
            whole.name,
            whole.limited_by
        );
    }
    Ok(())
}

fn settings<'a>(scenario: &'a Scenario, id: usize, summary: &FlowSummary) -> &'a Flow {
    scenario.flows.get(id).unwrap_or_else(|| {
        let of = |arrivals: &&ackclock_scenario::Arrivals| summary.name.starts_with(&arrivals.flow.name);
        &scenario.arrivals.iter().find(of).expect("it arrived").flow
    })
}

/// When a flow stops, the end of the longest run if it does not; `None` if that is drawn, so that its rates are not known as
/// counts.
fn stop(settings: &Flow) -> Option<Span> {
    match settings.stop {
        None => Some(Span(u64::MAX)),
        Some(Moment::At(stop)) => Some(stop),
        Some(Moment::Uniform(..)) => None,
    }
}

/// Looks at the numbers of one run that is measured from `from` to `to`.
///
/// # Errors
/// The number beyond its bounds.
pub fn of_bounds(scenario: &Scenario, summary: &Summary, from: Span, to: Span) -> Result<(), String> {
    ensure!(
        summary.jain.is_none_or(|jain| (0.0..=1.0 + 1e-12).contains(&jain)),
        "Jain's index {:?}",
        summary.jain
    );
    for (link, settings) in summary.links.iter().zip(&scenario.links) {
        let name = &link.id;
        ensure!(
            link.utilisation.is_none_or(|share| (0.0..=1.0).contains(&share)),
            "link {name}: utilisation {:?}",
            link.utilisation
        );
        let (mean, most) = (link.mean_queue_packets.unwrap_or(0.0), link.max_queue_packets as f64);
        ensure!(mean <= most * (1.0 + 1e-12), "link {name}: on average {mean} packets wait, at most {most}");
        in_order(name, &[link.queue_delay_p50_ms, link.queue_delay_p95_ms, link.queue_delay_p99_ms])?;
        let changes = scenario.events.iter().any(|event| scenario.links[event.link].name == *name);
        if let (Queue::Droptail { limit: Limit::Packets(limit) }, false) = (&settings.queue, changes) {
            ensure!(link.max_queue_packets <= limit.0, "link {name}: {most} packets where {limit:?} fit");
        }
    }
    for (id, flow) in summary.flows.iter().enumerate() {
        let settings = settings(scenario, id, flow);
        of_flow_bounds(scenario, settings, flow, from, to)
            .map_err(|error| format!("{}: {error}", flow.name))?;
    }
    Ok(())
}

fn of_flow_bounds(
    scenario: &Scenario,
    settings: &Flow,
    flow: &FlowSummary,
    from: Span,
    to: Span,
) -> Result<(), String> {
    let Counters { sent_packets, retransmitted_packets, .. } = flow.counters;
    ensure!(retransmitted_packets <= sent_packets, "{retransmitted_packets} of {sent_packets} sent before");
    if from == Span::ZERO {
        let Counters { dropped_packets, duplicate_packets, .. } = flow.counters;
        ensure!(
            dropped_packets + duplicate_packets <= sent_packets,
            "lost or sent more than it sent: {:?}",
            flow.counters
        );
    }
    if let (Some(mean), Some(most)) = (flow.mean_window, flow.max_window) {
        ensure!(mean <= most * (1.0 + 1e-9), "a window of {mean} on average and {most} at most");
    }
    ensure!(
        flow.mean_window.is_none_or(|_| flow.max_window.is_some() || sent_packets == 0),
        "no largest window"
    );
    if let Some(by) = &flow.limited_by {
        let shares = [by.window, by.receiver, by.application, by.pacing];
        ensure!(shares.iter().all(|share| (0.0..=1.0).contains(share)), "{by:?}");
        ensure!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{by:?}");
    }
    ensure!(flow.late.is_none_or(|share| (0.0..=1.0).contains(&share)), "late {:?}", flow.late);
    in_order("rtt", &[flow.rtt_p50_ms, flow.rtt_p95_ms, flow.rtt_p99_ms])?;
    in_order("delay", &[flow.delay_p50_ms, flow.delay_p95_ms, flow.delay_p99_ms])?;
    in_order("request", &[flow.request_p50_s, flow.request_p95_s, flow.request_p99_s])?;
    ensure!(flow.request_p50_s.is_none_or(|time| time > 0.0), "a request took no time");
    let propagation = propagation(scenario, settings).as_millis();
    let rtts = [flow.mean_rtt_ms, flow.rtt_p50_ms].into_iter().flatten();
    for rtt in rtts.filter(|_| !is_shortened(scenario, settings)) {
        // Histograms have steps of less than 1 %.
        ensure!(rtt >= 0.99 * propagation, "an RTT of {rtt} ms, but propagation takes {propagation} ms");
    }
    if let (Some(goodput), Some(rate)) = (flow.goodput_mbps, carries(scenario, settings)) {
        let start = flow.start_s.max(from.as_seconds());
        let packet = 8.0 * settings.tcp.packet.0 as f64;
        // A packet of which the last bit arrives within the time counts whole.
        let over = |stop: Span| rate + packet / (stop.min(to).as_seconds() - start);
        let most = stop(settings).map_or(f64::INFINITY, over);
        ensure!(goodput * 1e6 <= most * (1.0 + 1e-9), "{goodput} Mbit/s where a link has {rate} bit/s");
    }
    Ok(())
}

fn in_order(what: &str, values: &[Option<f64>]) -> Result<(), String> {
    let some: Vec<_> = values.iter().flatten().collect();
    ensure!(some.windows(2).all(|pair| pair[0] <= pair[1]), "{what}: {values:?}");
    Ok(())
}

/// Whether noise makes delays shorter than they are set: the kinds that do not are one-sided.
fn is_shortened(scenario: &Scenario, flow: &Flow) -> bool {
    let of_links = flow.path.iter().chain(flow.back.iter()).map(|link| scenario.links[*link].noise.as_ref());
    let of_events = scenario.events.iter().map(|event| match &event.change {
        Change::Noise(noise) => noise.as_ref(),
        _ => None,
    });
    let all = of_links.chain(of_events).chain([flow.delay_noise.as_ref(), flow.reverse_noise.as_ref()]);
    all.flatten().any(|noise| matches!(noise.kind, NoiseKind::Gaussian(_) | NoiseKind::Table(..)))
}

/// The shortest propagation of a flow, there and back.
fn propagation(scenario: &Scenario, flow: &Flow) -> Span {
    let shortest = |link: &usize| {
        let changed =
            scenario.events.iter().filter(|event| event.link == *link).map(|event| match &event.change {
                Change::Delay(delay) => *delay,
                _ => Span::from_seconds(1),
            });
        changed.min().unwrap_or(Span::from_seconds(1)).min(scenario.links[*link].delay)
    };
    let all = flow.path.iter().chain(flow.back.iter());
    let changed = all.clone().map(shortest).map(|span| span.0).sum::<u64>();
    let links = all.map(|link| scenario.links[*link].delay.0).sum::<u64>();
    // What the links do not take of the flow's RTT, its access does.
    Span(changed + flow.rtt.0.saturating_sub(links))
}

/// The smallest rate on a flow's path, bit/s, if that says when packets may arrive: nothing changes, makes them wait for each
/// other, or lets them catch up.
fn carries(scenario: &Scenario, flow: &Flow) -> Option<f64> {
    let steady = |link: &&usize| {
        let settings = &scenario.links[**link];
        settings.trace.is_none()
            && settings.noise.is_none()
            && settings.aggregation.is_none()
            && settings.outage == Outage::Hold
            && scenario.events.iter().all(|event| event.link != **link)
    };
    let is_steady = flow.delay_noise.is_none() && flow.path.iter().all(|link| steady(&link));
    is_steady.then(|| flow.path.iter().map(|link| scenario.links[*link].rate.0).min().unwrap_or(0) as f64)
}
