//! TCP Westwood+: S. Mascolo, L. Grieco, CCR 34(2), 2004.
//!
//! It grows as Reno. Per loss event ssthresh becomes the estimated bandwidth times RTTmin, and the window no
//! more than that; at a timeout too (at least 2). The bandwidth is one sample per round trip of everything
//! delivered, recovery included, over its time, filtered with gain 0.1. `westwood-linux` has two filters of
//! gain 1/8 in series and samples of at least 50 ms, and after a timeout the next RTT is RTTmin.

use ackclock_units::{Span, Time};

use crate::parts::Base;
use crate::{Ack, Controller, Decision, Signal, Start};

crate::parameters! {
    /// Westwood+ has no parameters.
    pub struct WestwoodParams {}
}

/// How the bandwidth is filtered.
pub trait Filter: Clone + core::fmt::Debug + Default + Send + Sync + 'static {
    /// Shortest time that a sample covers.
    const LEAST: Span;
    /// The first RTT after a timeout becomes RTTmin.
    const RENEWS_RTT_MIN: bool = false;

    /// Takes in a sample, packets per second; returns the estimate.
    fn next(&mut self, sample: f64) -> f64;
}

/// One filter of gain 0.1, as in the paper. The first sample is taken as it is.
#[derive(Clone, Debug, Default)]
pub struct Paper(Option<f64>);

impl Filter for Paper {
    const LEAST: Span = Span::ZERO;

    fn next(&mut self, sample: f64) -> f64 {
        let estimate = self.0.map_or(sample, |old| 0.9 * old + 0.1 * sample);
        self.0 = Some(estimate);
        estimate
    }
}

/// Two filters of gain 1/8 in series, as in Linux.
#[derive(Clone, Debug, Default)]
pub struct Linux(Option<(f64, f64)>);

impl Filter for Linux {
    const LEAST: Span = Span::from_millis(50);
    const RENEWS_RTT_MIN: bool = true;

    fn next(&mut self, sample: f64) -> f64 {
        let (first, second) = self.0.map_or((sample, sample), |(first, second)| {
            let first = (7.0 * first + sample) / 8.0;
            (first, (7.0 * second + first) / 8.0)
        });
        self.0 = Some((first, second));
        second
    }
}

/// The control.
#[derive(Clone, Debug)]
pub struct Westwood<F: Filter> {
    base: Base,
    filter: F,
    /// The estimate, packets per second; 0 before the first sample.
    bandwidth: f64,
    rtt_min: Span,
    renews: bool,
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
        if ack.round > self.round && span > Span::ZERO && span >= F::LEAST {
            self.bandwidth = self.filter.next(self.delivered as f64 / span.as_seconds());
            (self.began, self.round, self.delivered) = (Some(now), ack.round, 0);
        }
    }

    /// Bandwidth times RTTmin, packets; half of the window before the first estimate.
    fn pipe(&self) -> f64 {
        if self.bandwidth > 0.0 && self.rtt_min < Span::MAX {
            self.bandwidth * self.rtt_min.as_seconds()
        } else {
            self.base.window() / 2.0
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
            round: 0,
            delivered: 0,
            began: None,
        }
    }

    fn on(&mut self, now: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) => {
                self.measure(now, &ack);
                let growth = self.base.slow_start(&ack);
                self.base.add(growth / self.base.window());
            }
            Signal::Loss { .. } => self.base.cut_to(self.pipe().min(self.base.window())),
            Signal::Timeout { first } => {
                self.base.timeout(first, self.pipe());
                self.renews = F::RENEWS_RTT_MIN;
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
