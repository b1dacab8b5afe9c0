//! TCP Hybla: C. Caini, R. Firrincieli, Int. J. of Satellite Communications and Networking 22 (2004).
//!
//! The window of a long path grows as fast as that of a reference path: with `rho = max(RTT/RTT0, 1)` per
//! acknowledgement `W += 2^rho - 1` in slow start and `W += rho^2/W` after it. Losses as Reno. RTT is the
//! smallest of the connection. `hybla-linux` has the fixed point of the kernel: rho in eighths of the smallest
//! smoothed RTT, at most 2^17 packets per acknowledgement, however many packets that
//! acknowledges, growth in parts of 1/128 packet, and a largest window. By the rules of Linux it is Reno from a timeout on until
//! what was outstanding then is acknowledged.

use ackclock_units::{Span, Time};

use crate::parts::Base;
use crate::{Ack, Controller, Decision, Rules, Signal, Start};

crate::parameters! {
    /// Parameters of TCP Hybla.
    pub struct HyblaParams {
        /// RTT0: RTT of the reference path, milliseconds
        rtt0_ms: f64 = 25.0, Domain::Number { minimum: 0.001, maximum: 1e6 };
    }
}

/// 2^64 packets are more than any window; beyond 2^1023, zero growth times that would not be a number.
const LARGEST_EXPONENT: f64 = 64.0;

/// rho, for RTTs in one unit.
#[must_use]
pub fn rho(rtt: f64, rtt0: f64) -> f64 {
    (rtt / rtt0).max(1.0)
}

/// The growth per acknowledgement: packets in slow start, packets times W after it.
#[must_use]
pub fn increases(rho: f64) -> (f64, f64) {
    (libm::exp2(rho.min(LARGEST_EXPONENT)) - 1.0, rho * rho)
}

/// Where implementations differ.
pub trait Version: Clone + core::fmt::Debug + Default + Send + Sync + 'static {
    /// The largest window to which it grows, packets.
    const LARGEST_WINDOW: f64;
    /// It grows once per acknowledgement, however many packets that acknowledges.
    const PER_ACK: bool = false;

    /// Takes in a sample of the RTT; returns the RTT of which the smallest counts.
    fn smoothed(&mut self, sample: Span) -> Span;

    /// rho, from the smallest RTT and RTT0 in milliseconds.
    fn rho(rtt_ms: f64, rtt0_ms: f64) -> f64;

    /// Packets per acknowledgement in slow start.
    fn slow_start(rho: f64) -> f64;

    /// Packets per acknowledgement after it, at a window of `window` packets.
    fn increase(rho: f64, window: f64) -> f64;
}

/// As in the paper.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paper;

impl Version for Paper {
    const LARGEST_WINDOW: f64 = f64::INFINITY;

    fn smoothed(&mut self, sample: Span) -> Span {
        sample
    }

    fn rho(rtt_ms: f64, rtt0_ms: f64) -> f64 {
        rho(rtt_ms, rtt0_ms)
    }

    fn slow_start(rho: f64) -> f64 {
        increases(rho).0
    }

    fn increase(rho: f64, window: f64) -> f64 {
        increases(rho).1 / window
    }
}

/// As in Linux.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Linux {
    smoothed: Option<Span>,
}

/// rho of slow start has at most this whole part.
const LARGEST_RHO: f64 = 16.0;
/// The kernel counts growth in this part of a packet.
const PARTS: f64 = 128.0;

impl Version for Linux {
    const LARGEST_WINDOW: f64 = 65_535.0;
    const PER_ACK: bool = true;

    fn smoothed(&mut self, sample: Span) -> Span {
        // The estimator of RFC 6298, with gain 1/8.
        let smoothed = self.smoothed.map_or(sample, |old| Span(old.0 - old.0 / 8 + sample.0 / 8));
        self.smoothed = Some(smoothed);
        smoothed
    }

    fn rho(rtt_ms: f64, rtt0_ms: f64) -> f64 {
        (libm::floor(8.0 * rtt_ms / rtt0_ms) / 8.0).max(1.0)
    }

    fn slow_start(rho: f64) -> f64 {
        let whole = libm::floor(rho);
        // 2^(k/8) in whole parts of 1/128, as the kernel's table has it: 128, 139, 152, 165, 181, 197, 215, 234.
        let fraction = libm::floor(PARTS * libm::exp2(rho - whole)) / PARTS;
        libm::exp2(whole.min(LARGEST_RHO)) * fraction - 1.0
    }

    fn increase(rho: f64, window: f64) -> f64 {
        let parts = libm::floor(PARTS * rho * rho / libm::floor(window));
        // Where that is nothing, a packet per window of acknowledgements.
        if parts > 0.0 { parts / PARTS } else { 1.0 / window }
    }
}

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct Hybla<V: Version> {
    params: HyblaParams,
    base: Base,
    version: V,
    rtt_min: Span,
    rho: f64,
    /// Packets per acknowledgement in slow start.
    slow_start: f64,
    /// Whose rules hold, and whether what a timeout began is being repaired.
    rules: Rules,
    repairing: bool,
}

impl<V: Version> Hybla<V> {
    fn measure(&mut self, sample: Span) {
        let rtt = self.version.smoothed(sample);
        if rtt < self.rtt_min {
            self.rtt_min = rtt;
            self.rho = V::rho(rtt.as_seconds() * 1e3, self.params.rtt0_ms);
            self.slow_start = V::slow_start(self.rho);
        }
    }
}

impl<V: Version> Controller for Hybla<V> {
    type Params = HyblaParams;

    fn new(params: HyblaParams, start: Start) -> Self {
        let (base, version) = (Base::new(start), V::default());
        Hybla {
            params,
            base,
            version,
            rtt_min: Span::MAX,
            rho: 1.0,
            slow_start: V::slow_start(1.0),
            rules: start.rules,
            repairing: false,
        }
    }

    fn on(&mut self, _: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) => {
                if let Some(rtt) = ack.rtt {
                    self.measure(rtt);
                }
                if self.repairing {
                    let growth = self.base.slow_start(&ack);
                    self.base.add(growth / self.base.window());
                    return;
                }
                let ack = if V::PER_ACK { Ack { credit: ack.credit.min(1.0), ..ack } } else { ack };
                let window = self.base.window();
                let room = (V::LARGEST_WINDOW - window).max(0.0);
                if self.base.in_slow_start() {
                    self.base.slow_start(&Ack { credit: (ack.credit * self.slow_start).min(room), ..ack });
                } else {
                    self.base.add((ack.growth() * V::increase(self.rho, window)).min(room));
                }
            }
            _ => {
                self.repairing = match signal {
                    Signal::Timeout { .. } => V::PER_ACK && self.rules == Rules::Linux,
                    Signal::CaughtUp | Signal::Undo => false,
                    _ => self.repairing,
                };
                self.base.react(signal, 0.5);
            }
        }
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("rho", self.rho);
    }
}
