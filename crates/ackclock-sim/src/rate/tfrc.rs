//! TFRC: RFC 5348.
//!
//! The receiver measures the loss event rate p: losses within a round-trip time of the first are one event, the
//! intervals between events are averaged over the last eight with weights 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2. The sender
//! obeys TCP's throughput equation, never more than twice what arrived, doubles per round trip until the first loss, and
//! halves when no report comes.
//!
//! The floor of history discounting is a parameter: ns-2 has 0.5, which gives the increase of 0.22 that the study of
//! transient behaviours reports. Oscillation damping (section 4.5) is off by default.

use std::collections::VecDeque;

use ackclock_units::{Span, Time};

use super::sender::Law;
use crate::endpoint::{Context, Endpoint, ReceiverView, ReceivingEnd};
use crate::packet::{Kind, Packet};
use crate::payload::{Header, Payload, Report};

ackclock_cc::parameters! {
    /// Parameters of TFRC.
    pub struct TfrcParams {
        /// discount old loss intervals while the current one is long (section 5.5)
        discounting: bool = true, Domain::Flag;
        /// smallest weight that discounting gives old intervals
        discount_floor: f64 = 0.5, Domain::Number { minimum: 0.0, maximum: 1.0 };
        /// damp oscillations by the round-trip time (section 4.5)
        damping: bool = false, Domain::Flag;
        /// packets that a TCP acknowledges at once (b of the equation)
        b: f64 = 1.0, Domain::Number { minimum: 1.0, maximum: 2.0 };
    }
}

/// Weights of loss intervals, the newest first (section 5.4).
pub const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];
/// Packets after a missing one that make it lost (section 5.1).
const REORDERING: u64 = 3;
/// A packet goes at least every 64 s (section 4.3, `t_mbi`).
const SLOWEST: f64 = 1.0 / 64.0;
/// The initial window, bytes, and packets at most (section 4.2).
const INITIAL: (f64, f64) = (4380.0, 4.0);
/// Smoothing of the round-trip time (section 4.3).
const KEEP: f64 = 0.9;

/// The throughput equation, packets per second, with t_RTO = 4R (section 3.1). `rtt` is in seconds.
#[must_use]
pub fn throughput(p: f64, rtt: f64, b: f64) -> f64 {
    let root = libm::sqrt(2.0 * b * p / 3.0);
    let timeouts = 12.0 * libm::sqrt(3.0 * b * p / 8.0) * p * (1.0 + 32.0 * p * p);
    1.0 / (rtt * (root + timeouts))
}

/// The loss event rate at which the equation gives `rate` packets per second (section 6.3.1).
#[must_use]
pub fn inverse(rate: f64, rtt: f64, b: f64) -> f64 {
    let (mut low, mut high) = (1e-9_f64, 1.0_f64);
    for _ in 0..100 {
        let middle = libm::sqrt(low * high);
        if throughput(middle, rtt, b) > rate { low = middle } else { high = middle }
    }
    libm::sqrt(low * high)
}

/// The mean of loss intervals: the current one counts only if that makes the mean larger (section 5.4), and while it
/// is more than twice the mean the others are discounted (section 5.5).
#[derive(Clone, Debug, Default)]
pub struct Intervals {
    /// Complete intervals, packets, with their discounts; the newest first.
    complete: VecDeque<(f64, f64)>,
}

impl Intervals {
    /// The current interval of `length` packets is complete; `discount` was in force.
    pub fn push(&mut self, length: f64, discount: f64) {
        self.complete.iter_mut().for_each(|(_, factor)| *factor *= discount);
        self.complete.push_front((length, 1.0));
        self.complete.truncate(WEIGHTS.len());
    }

    fn mean_of<'a>(intervals: impl Iterator<Item = &'a (f64, f64)>) -> f64 {
        let (mut total, mut weights) = (0.0, 0.0);
        for ((length, factor), weight) in intervals.zip(WEIGHTS) {
            total += length * weight * factor;
            weights += weight * factor;
        }
        if weights > 0.0 { total / weights } else { 0.0 }
    }

    /// The discount that a current interval of `length` packets puts on the others.
    #[must_use]
    pub fn discount(&self, length: f64, floor: f64) -> f64 {
        let mean = Self::mean_of(self.complete.iter());
        if length > 2.0 * mean && mean > 0.0 { (2.0 * mean / length).max(floor) } else { 1.0 }
    }

    /// The mean with a current interval of `length` packets; 0 when there is none.
    #[must_use]
    pub fn mean(&self, length: f64, discount: f64) -> f64 {
        let current = [(length, 1.0)];
        let discounted: Vec<_> =
            self.complete.iter().map(|(length, factor)| (*length, factor * discount)).collect();
        let with = Self::mean_of(current.iter().chain(&discounted));
        with.max(Self::mean_of(self.complete.iter()))
    }

    /// Whether nothing was ever lost.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.complete.is_empty()
    }
}

/// The sender's law.
#[derive(Clone, Debug)]
pub struct Tfrc {
    params: TfrcParams,
    packet_bytes: f64,
    rate: f64,
    rtt: Option<f64>,
    /// Root of the last sample, and the mean of roots, for damping.
    roots: (f64, f64),
    p: f64,
    /// Rates that arrived lately, with their times (section 4.3).
    received: VecDeque<(Time, f64)>,
    doubled_at: Time,
    timer: Time,
}

impl Tfrc {
    /// A law for packets of `packet_bytes` bytes: one packet per second until the first report.
    #[must_use]
    pub fn new(params: TfrcParams, packet_bytes: u16) -> Self {
        Tfrc {
            params,
            packet_bytes: f64::from(packet_bytes),
            rate: 1.0,
            rtt: None,
            roots: (0.0, 0.0),
            p: 0.0,
            received: VecDeque::new(),
            doubled_at: Time::ZERO,
            timer: Time::NEVER,
        }
    }

    /// The rate after the first report (section 4.2).
    fn initial_rate(&self, rtt: f64) -> f64 {
        (INITIAL.0 / self.packet_bytes).clamp(2.0, INITIAL.1) / rtt
    }

    fn largest_received(&self) -> f64 {
        self.received.iter().map(|(_, rate)| *rate).fold(0.0, f64::max)
    }

    /// Section 4.3, step 4.
    fn update_rate(&mut self, now: Time) {
        let Some(rtt) = self.rtt else { return };
        let limit = 2.0 * self.largest_received();
        if self.p > 0.0 {
            self.rate = throughput(self.p, rtt, self.params.b).min(limit).max(SLOWEST);
        } else if now.since(self.doubled_at).as_seconds() >= rtt {
            self.rate = (2.0 * self.rate).min(limit).max(self.initial_rate(rtt));
            self.doubled_at = now;
        }
    }

    fn restart_timer(&mut self, now: Time) {
        let wait = self.rtt.map_or(2.0, |rtt| (4.0 * rtt).max(2.0 / self.rate));
        self.timer = now + Span::from_seconds_f64(wait);
    }
}

impl Law for Tfrc {
    fn on_report(&mut self, now: Time, rtt: Option<Span>, report: Report) {
        let Some(sample) = rtt.map(|rtt| rtt.as_seconds().max(1e-9)) else { return };
        let first = self.rtt.is_none();
        let rtt = self.rtt.map_or(sample, |old| KEEP * old + (1.0 - KEEP) * sample);
        self.rtt = Some(rtt);
        let root = libm::sqrt(sample);
        self.roots = (root, if first { root } else { KEEP * self.roots.1 + (1.0 - KEEP) * root });
        self.p = report.verdict;
        while let Some((time, _)) = self.received.front()
            && now.since(*time).as_seconds() > 2.0 * rtt
        {
            self.received.pop_front();
        }
        self.received.push_back((now, report.received));
        if first && self.p == 0.0 {
            (self.rate, self.doubled_at) = (self.initial_rate(rtt), now);
        } else {
            self.update_rate(now);
        }
        self.restart_timer(now);
    }

    /// No report came (section 4.4).
    fn on_timer(&mut self, now: Time) {
        let received = self.largest_received();
        match self.rtt {
            Some(rtt) if self.p > 0.0 => {
                let equation = throughput(self.p, rtt, self.params.b);
                let limit = if equation > 2.0 * received { received } else { equation / 2.0 };
                self.received.clear();
                self.received.push_back((now, limit.max(SLOWEST) / 2.0));
                self.update_rate(now);
            }
            _ => self.rate = (self.rate / 2.0).max(SLOWEST),
        }
        self.restart_timer(now);
    }

    fn wakeup(&self) -> Time {
        self.timer
    }

    fn start(&mut self, now: Time) {
        self.restart_timer(now);
    }

    fn rate(&self) -> f64 {
        self.rate
    }

    fn spacing(&self) -> f64 {
        let (last, mean) = self.roots;
        if self.params.damping && last > 0.0 { last / mean / self.rate } else { 1.0 / self.rate }
    }

    fn rtt(&self) -> Option<Span> {
        self.rtt.map(Span::from_seconds_f64)
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("p", self.p);
    }
}

/// The receiver: loss intervals and reports.
#[derive(Debug)]
pub struct TfrcReceiver {
    params: TfrcParams,
    flow: u32,
    route: u32,
    report_bytes: u16,
    total: u64,
    delivered: u64,
    completed: Option<Time>,
    /// Packets above this are missing until they are `REORDERING` packets old; the highest packet and its arrival.
    highest: Option<(u64, Time)>,
    /// Missing packets, with the packet and time before them and what has arrived since.
    missing: VecDeque<Gap>,
    intervals: Intervals,
    /// Where the current interval began, and when its first loss happened.
    event: Option<(u64, Time)>,
    /// Arrivals within the last round-trip time.
    arrivals: VecDeque<Time>,
    newest: Option<(Time, Time)>,
    header: Header,
    report_at: Time,
    reports: bool,
    unreported: bool,
    last_p: f64,
}

/// A run of packets that did not arrive.
#[derive(Clone, Copy, Debug)]
struct Gap {
    first: u64,
    end: u64,
    /// When the packets before and after it arrived.
    between: (Time, Time),
    later: u64,
}

impl TfrcReceiver {
    /// A receiver of `total` packets, whose reports enter the table of routes at `route`.
    #[must_use]
    pub fn new(params: TfrcParams, flow: u32, route: u32, report_bytes: u16, total: u64) -> Self {
        TfrcReceiver {
            params,
            flow,
            route,
            report_bytes,
            total,
            delivered: 0,
            completed: None,
            highest: None,
            missing: VecDeque::new(),
            intervals: Intervals::default(),
            event: None,
            arrivals: VecDeque::new(),
            newest: None,
            header: Header::default(),
            report_at: Time::NEVER,
            reports: false,
            unreported: false,
            last_p: 0.0,
        }
    }

    fn discount(&self) -> f64 {
        if self.params.discounting {
            self.intervals.discount(self.current(), self.params.discount_floor)
        } else {
            1.0
        }
    }

    /// Length of the current interval, packets.
    fn current(&self) -> f64 {
        match (self.event, self.highest) {
            (Some((begin, _)), Some((highest, _))) => highest.saturating_sub(begin) as f64,
            _ => 0.0,
        }
    }

    /// The loss event rate.
    fn p(&self) -> f64 {
        if self.intervals.is_empty() {
            return 0.0;
        }
        1.0 / self.intervals.mean(self.current(), self.discount()).max(1.0)
    }

    /// Rate of arrivals in the last round-trip time, packets per second (section 6.2).
    fn received(&mut self, now: Time) -> f64 {
        let span = self.header.rtt.max(Span::from_millis(1));
        while self.arrivals.front().is_some_and(|time| now.since(*time) > span) {
            self.arrivals.pop_front();
        }
        self.arrivals.len() as f64 / span.as_seconds()
    }

    /// A packet is lost that would have arrived at `time` (section 5.2).
    fn lose(&mut self, now: Time, sequence: u64, time: Time) {
        match self.event {
            Some((_, began)) if time <= began + self.header.rtt => {}
            Some((begin, _)) => {
                let discount = self.discount();
                self.intervals.push((sequence - begin) as f64, discount);
                self.event = Some((sequence, time));
            }
            None => {
                // The first interval is what the equation asks for at the rate that arrived (section 6.3.1).
                let rtt = self.header.rtt.as_seconds().max(1e-6);
                let rate = self.received(now);
                self.intervals.push(1.0 / inverse(rate.max(SLOWEST), rtt, self.params.b), 1.0);
                self.event = Some((sequence, time));
            }
        }
    }

    /// Notes that a packet has arrived after the gaps; those that are old enough are losses.
    fn age_gaps(&mut self, now: Time) {
        self.missing.iter_mut().for_each(|gap| gap.later += 1);
        while let Some(gap) = self.missing.front().copied()
            && gap.later >= REORDERING
        {
            self.missing.pop_front();
            let (before, after) = gap.between;
            let step = after.since(before).0 / (gap.end - gap.first + 1);
            for (count, sequence) in (1..).zip(gap.first..gap.end) {
                self.lose(now, sequence, before + Span(step * count));
            }
        }
    }

    /// A packet from a gap arrives late: it was not lost.
    fn fill(&mut self, sequence: u64) {
        let Some(place) = self.missing.iter().position(|gap| (gap.first..gap.end).contains(&sequence)) else {
            return;
        };
        let gap = self.missing[place];
        self.missing.remove(place);
        let parts = [Gap { first: sequence + 1, ..gap }, Gap { end: sequence, ..gap }];
        parts
            .into_iter()
            .filter(|part| part.first < part.end)
            .for_each(|part| self.missing.insert(place, part));
    }
}

impl Endpoint for TfrcReceiver {
    fn on_packet(&mut self, packet: &Packet, context: &mut Context<'_>) {
        let now = context.now;
        if let Some(Payload::Header(header)) = context.payloads.remove(packet.handle()) {
            self.header = header;
        }
        self.delivered += 1;
        if self.delivered == self.total {
            self.completed = Some(now);
        }
        self.arrivals.push_back(now);
        self.newest = Some((packet.sent, now));
        let first = self.highest.is_none();
        let (highest, at) = self.highest.unwrap_or((packet.sequence, now));
        if packet.sequence > highest {
            self.age_gaps(now);
            if packet.sequence > highest + 1 {
                let between = (at, now);
                self.missing.push_back(Gap { first: highest + 1, end: packet.sequence, between, later: 1 });
            }
            self.highest = Some((packet.sequence, now));
        } else {
            self.fill(packet.sequence);
            self.highest = Some((highest, at));
        }
        self.unreported = true;
        if first || self.p() > self.last_p {
            self.reports = true;
        }
        if self.report_at == Time::NEVER {
            self.report_at = now + self.header.rtt.max(Span::from_millis(1));
        }
    }

    fn on_timer(&mut self, context: &mut Context<'_>) {
        if context.now >= self.report_at {
            self.reports = self.unreported;
            self.report_at = Time::NEVER;
        }
    }

    fn next_packet(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        if !std::mem::take(&mut self.reports) {
            return None;
        }
        let now = context.now;
        let (sent, arrived) = self.newest?;
        self.unreported = false;
        self.report_at = now + self.header.rtt.max(Span::from_millis(1));
        self.last_p = self.p();
        let received = self.received(now);
        let report = Report { delay: now.since(arrived), received, verdict: self.last_p, stale: false };
        let sequence = self.highest.map_or(0, |(highest, _)| highest + 1);
        let packet = Packet::new(Kind::Ack, self.flow, self.route, sequence, sent, self.report_bytes);
        Some(packet.with_handle(context.payloads.insert(Payload::Report(report))))
    }

    fn wakeup(&self) -> Time {
        self.report_at
    }
}

impl ReceivingEnd for TfrcReceiver {
    fn view(&self) -> ReceiverView {
        ReceiverView { delivered: self.delivered, completed: self.completed }
    }
}

#[cfg(test)]
mod tests;
