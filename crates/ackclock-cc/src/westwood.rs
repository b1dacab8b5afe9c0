//! TCP Westwood+: S. Mascolo, L. Grieco, CCR 34(2), 2004.
//!
//! It grows as Reno. Per loss event ssthresh becomes the estimated bandwidth times RTTmin, and the window no
//! more than that; at a timeout too (at least 2). The bandwidth is one sample per round trip of everything
//! delivered, recovery included, over its time, filtered with gain 0.1.
//!
//! `westwood-linux` behaves as tcp_westwood.c. Two filters of gain 1/8 are in series. A sample ends once more than the last
//! RTT and 50 ms have passed, in ticks of 4 ms, before the acknowledgement that ends it is counted. A loss event halves
//! the window, and only the end of the episode sets it, even to more than it was; without an estimate two packets are
//! left. After a timeout the next RTT is RTTmin. The window is whole and grows by one when it has been acknowledged.

use ackclock_units::{Span, Time};

use crate::parts::{Base, WholeGrowth};
use crate::{Ack, Controller, Decision, Signal, Start};

crate::parameters! {
    /// Westwood+ has no parameters.
    pub struct WestwoodParams {}
}

/// How the bandwidth is filtered.
pub trait Filter: Clone + core::fmt::Debug + Default + Send + Sync + 'static {
    /// Whether the code around the filter follows Linux, too.
    const IS_LINUX: bool = false;

    /// Takes in a sample, packets per second; returns the estimate.
    fn next(&mut self, sample: f64) -> f64;
}

/// One filter of gain 0.1, as in the paper. The first sample is taken as it is.
#[derive(Clone, Debug, Default)]
pub struct Paper(Option<f64>);

impl Filter for Paper {
    fn next(&mut self, sample: f64) -> f64 {
        let estimate = self.0.map_or(sample, |old| 0.9 * old + 0.1 * sample);
        self.0 = Some(estimate);
        estimate
    }
}

/// Two filters of gain 1/8 in series, as in Linux. Without a packet in it the first sample does not count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Linux(f64, f64);

impl Filter for Linux {
    const IS_LINUX: bool = true;

    fn next(&mut self, sample: f64) -> f64 {
        if *self == Linux::default() {
            *self = Linux(sample, sample);
        } else {
            self.0 = (7.0 * self.0 + sample) / 8.0;
            self.1 = (7.0 * self.1 + self.0) / 8.0;
        }
        self.1
    }
}

/// The kernel's clock, at 250 Hz as Debian builds it.
const TICK: Span = Span::from_millis(4);
/// A sample of Linux covers more than this, ticks.
const LEAST_TICKS: u64 = 12;

/// The control.
#[derive(Clone, Debug)]
pub struct Westwood<F: Filter> {
    base: Base,
    filter: F,
    /// The estimate, packets per second; 0 before the first sample.
    bandwidth: f64,
    rtt_min: Span,
    renews: bool,
    /// The last RTT, in Linux.
    rtt: Option<Span>,
    /// In Linux.
    counts: WholeGrowth,
    round: u64,
    /// Packets delivered since the sample began.
    delivered: u64,
    began: Option<Time>,
}

impl<F: Filter> Westwood<F> {
    fn measure(&mut self, now: Time, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt_min = if core::mem::take(&mut self.renews) { rtt } else { self.rtt_min.min(rtt) };
        }
        let Some(began) = self.began else {
            (self.began, self.round) = (Some(now), ack.round);
            return;
        };
        self.delivered = self.delivered.saturating_add(ack.delivered.0);
        let span = now.since(began);
        if ack.round > self.round && span > Span::ZERO {
            self.bandwidth = self.filter.next(self.delivered as f64 / span.as_seconds());
            (self.began, self.round, self.delivered) = (Some(now), ack.round, 0);
        }
    }

    /// As `measure`, in the kernel's order and ticks: an acknowledgement's RTT counts from the next one on.
    fn measure_in_ticks(&mut self, now: Time, ack: &Ack) {
        let established = Time(now.0.saturating_sub(ack.rtt.unwrap_or_default().0));
        let began = *self.began.get_or_insert(established);
        if let Some(rtt) = self.rtt {
            let ticks = now.0 / TICK.0 - began.0 / TICK.0;
            if ticks > rtt.0.div_ceil(TICK.0).max(LEAST_TICKS) {
                let seconds = ticks as f64 * TICK.as_seconds();
                self.bandwidth = self.filter.next(self.delivered as f64 / seconds);
                (self.began, self.delivered) = (Some(now), 0);
            }
            let rtt = Span(rtt.0.div_ceil(TICK.0) * TICK.0);
            self.rtt_min = if core::mem::take(&mut self.renews) { rtt } else { self.rtt_min.min(rtt) };
        }
        self.rtt = ack.rtt.or(self.rtt);
        self.delivered = self.delivered.saturating_add(ack.delivered.0);
    }

    /// Bandwidth times RTTmin, packets. Before the first estimate, half of the window; in Linux nothing, of which two packets
    /// are left.
    fn pipe(&self) -> f64 {
        let known = self.bandwidth > 0.0 && self.rtt_min < Span::MAX;
        match (known, F::IS_LINUX) {
            (true, false) => self.bandwidth * self.rtt_min.as_seconds(),
            (true, true) => libm::floor(self.bandwidth * self.rtt_min.as_seconds()),
            (false, false) => self.base.window() / 2.0,
            (false, true) => 0.0,
        }
    }
}

impl<F: Filter> Controller for Westwood<F> {
    type Params = WestwoodParams;

    fn new(_: WestwoodParams, start: Start) -> Self {
        Westwood {
            base: Base::new(start),
            filter: F::default(),
            bandwidth: 0.0,
            rtt_min: Span::MAX,
            renews: false,
            rtt: None,
            counts: WholeGrowth::default(),
            round: 0,
            delivered: 0,
            began: None,
        }
    }

    fn on(&mut self, now: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) if F::IS_LINUX => {
                self.measure_in_ticks(now, &ack);
                let growth = self.base.slow_start(&ack);
                self.base.add(self.counts.on(growth, self.base.window()));
            }
            Signal::Ack(ack) => {
                self.measure(now, &ack);
                let growth = self.base.slow_start(&ack);
                self.base.add(growth / self.base.window());
            }
            Signal::Loss { .. } if F::IS_LINUX => {
                self.base.cut_to(libm::floor(self.base.window() / 2.0));
                self.counts.clear();
            }
            Signal::Recovered if F::IS_LINUX => self.base.end_at(self.pipe()),
            Signal::Loss { .. } => self.base.cut_to(self.pipe().min(self.base.window())),
            Signal::Timeout { first } => {
                self.base.timeout(first, self.pipe());
                self.renews = F::IS_LINUX;
                self.counts.clear();
            }
            _ => self.base.react(signal, 0.5),
        }
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("bandwidth_packets_per_s", self.bandwidth);
    }
}
