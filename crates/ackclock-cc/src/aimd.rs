//! AIMD: additive increase, multiplicative decrease with any two constants.
//!
//! Per acknowledgement in congestion avoidance `W += alpha/W`; per loss event `W -= beta*W`. The defaults
//! are the AIMD(32, 0.125) that BI-TCP is compared with (Xu, Harfoush, Rhee, INFOCOM 2004, section II).

use ackclock_units::Time;

use crate::parts::Base;
use crate::{Controller, Decision, Signal, Start};

crate::parameters! {
    /// Parameters of AIMD.
    pub struct AimdParams {
        /// increase, packets per round trip
        alpha: f64 = 32.0, Domain::Number { minimum: 0.001, maximum: 1e6 };
        /// fraction of the window cut at a loss event
        beta: f64 = 0.125, Domain::Number { minimum: 0.001, maximum: 0.999 };
    }
}

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct Aimd {
    params: AimdParams,
    base: Base,
}

impl Controller for Aimd {
    type Params = AimdParams;

    fn new(params: AimdParams, start: Start) -> Self {
        Aimd { params, base: Base::new(start) }
    }

    fn on(&mut self, _: Time, signal: Signal) {
        if let Signal::Ack(ack) = signal {
            let growth = self.base.slow_start(&ack);
            self.base.add(growth * self.params.alpha / self.base.window());
        }
        self.base.react(signal, 1.0 - self.params.beta);
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }
}
