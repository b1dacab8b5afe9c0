//! Reno: RFC 5681.
//!
//! Per acknowledgement in congestion avoidance `W += 1/W`; per loss event `W /= 2`. How losses are found and
//! repaired (Reno, NewReno, SACK, RACK) is the sender's setting, for this control as for every other.

use ackclock_units::Time;

use crate::parts::Base;
use crate::{Controller, Decision, Signal, Start};

crate::parameters! {
    /// Reno has no parameters.
    pub struct RenoParams {}
}

/// The fraction of the window kept at a loss event (RFC 5681, equation 4).
const KEEP: f64 = 0.5;

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct Reno {
    base: Base,
}

impl Controller for Reno {
    type Params = RenoParams;

    fn new(_: RenoParams, start: Start) -> Self {
        Reno { base: Base::new(start) }
    }

    #[inline]
    fn on(&mut self, _: Time, signal: Signal) {
        if let Signal::Ack(ack) = signal {
            let growth = self.base.slow_start(&ack);
            self.base.add(growth / self.base.window());
        }
        self.base.react(signal, KEEP);
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }
}
