//! TFRC: RFC 5348.
//!
//! The receiver measures the loss event rate p: losses within a round-trip time of the first are one event, the
//! intervals between events are averaged over the last eight with weights 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2. The sender
//! obeys TCP's throughput equation, never more than twice what arrived, doubles per round trip until the first loss, and
//! halves when no report comes.
//!
//! The floor of history discounting is a parameter: ns-2 has 0.5, which yields the increase of 0.22 that the study of
//! transient behaviours reports. Oscillation damping (section 4.5) is off by default.

use std::collections::VecDeque;

use ackclock_units::{Span, Time};

use super::sender::{Departure, Law};
use crate::payload::Report;

mod intervals;
mod losses;
mod receiver;

pub use intervals::{Intervals, WEIGHTS};
pub use losses::{Arrivals, LossHistory, Rules};
pub use receiver::TfrcReceiver;

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

/// A packet goes at least every 64 s (section 4.3, `t_mbi`).
pub const SLOWEST: f64 = 1.0 / 64.0;
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

/// The loss event rate at which an equation of it gives `rate` packets per second (section 6.3.1).
#[must_use]
pub fn inverse(rate: f64, equation: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (1e-9_f64, 1.0_f64);
    for _ in 0..100 {
        let middle = libm::sqrt(low * high);
        if equation(middle) > rate { low = middle } else { high = middle }
    }
    libm::sqrt(low * high)
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
    type Params = TfrcParams;
    type Receiver = TfrcReceiver;

    /// A law for packets of `packet_bytes` bytes: one packet per second until the first report.
    fn new(params: TfrcParams, packet_bytes: u16) -> Self {
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

    fn on_report(&mut self, now: Time, rtt: Option<Span>, report: Report) -> Departure {
        let Some(sample) = rtt.map(|rtt| rtt.as_seconds().max(1e-9)) else { return Departure::Hastened };
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
        Departure::Hastened
    }

    /// No report came (section 4.4).
    fn on_timer(&mut self, now: Time) -> Departure {
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
        Departure::AsDue
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

#[cfg(test)]
mod tests;
