//! Reno: RFC 5681.
//!
//! Per acknowledgement in congestion avoidance `W += 1/W`; per loss event `W /= 2`, or after an ECN mark
//! `W *= ecn_keep` where that is more (ABE, RFC 8511, whose value is 0.8). How losses are found and
//! repaired (Reno, NewReno, SACK, RACK) is the sender's setting, for this control as for every other.

use ackclock_units::Time;

use crate::parts::Base;
use crate::{Controller, Decision, Signal, Start};

crate::parameters! {
    /// Parameters of Reno.
    pub struct RenoParams {
        /// fraction of the window kept at an ECN mark in congestion avoidance, if it is more than a loss keeps (ABE)
        ecn_keep: f64 = 0.0, Domain::Number { minimum: 0.0, maximum: 0.99 };
    }
}

/// The fraction of the window kept at a loss event (RFC 5681, equation 4).
const KEEP: f64 = 0.5;

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct Reno {
    params: RenoParams,
    base: Base,
}

impl Controller for Reno {
    type Params = RenoParams;

    fn new(params: RenoParams, start: Start) -> Self {
        Reno { params, base: Base::new(start) }
    }

    #[inline]
    fn on(&mut self, _: Time, signal: Signal) {
        if let Signal::Ack(ack) = signal {
            let growth = self.base.slow_start(&ack);
            self.base.add(growth / self.base.window());
        } else {
            let keep = self.base.kept(signal, KEEP, self.params.ecn_keep);
            self.base.react(signal, keep);
        }
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }
}
