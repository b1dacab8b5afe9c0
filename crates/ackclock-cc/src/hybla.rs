//! TCP Hybla: C. Caini, R. Firrincieli, Int. J. of Satellite Communications and Networking 22 (2004).
//!
//! The window of a long path grows as fast as that of a reference path: with `rho = max(RTT/RTT0, 1)` per
//! acknowledgement `W += 2^rho - 1` in slow start and `W += rho^2/W` after it. Losses as Reno. RTT is the
//! smallest of the connection.

use ackclock_units::{Span, Time};

use crate::parts::Base;
use crate::{Ack, Controller, Decision, Signal, Start};

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

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct Hybla {
    params: HyblaParams,
    base: Base,
    rtt_min: Span,
    rho: f64,
    /// `increases(rho)`.
    increases: (f64, f64),
}

impl Hybla {
    fn measure(&mut self, rtt: Span) {
        if rtt < self.rtt_min {
            self.rtt_min = rtt;
            self.rho = rho(rtt.as_seconds() * 1e3, self.params.rtt0_ms);
            self.increases = increases(self.rho);
        }
    }
}

impl Controller for Hybla {
    type Params = HyblaParams;

    fn new(params: HyblaParams, start: Start) -> Self {
        Hybla { params, base: Base::new(start), rtt_min: Span::MAX, rho: 1.0, increases: increases(1.0) }
    }

    fn on(&mut self, _: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) => {
                if let Some(rtt) = ack.rtt {
                    self.measure(rtt);
                }
                let (slow_start, after) = self.increases;
                if self.base.in_slow_start() {
                    self.base.slow_start(&Ack { credit: ack.credit * slow_start, ..ack });
                } else {
                    self.base.add(ack.growth() * after / self.base.window());
                }
            }
            _ => self.base.react(signal, 0.5),
        }
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("rho", self.rho);
    }
}
