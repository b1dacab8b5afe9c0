//! GAIMD: general additive increase, multiplicative decrease (Yang, Lam, ICNP 2000), as in the study of
//! transient behaviours of TCP-friendly protocols.
//!
//! Per acknowledgement in congestion avoidance `W += alpha/W`; per loss event `W` becomes `beta*W`. Friendly
//! to TCP where `alpha = 4 (1 - beta^2)/3`; the study uses 0.31 and 7/8.

use ackclock_units::Time;

use crate::parts::Base;
use crate::{Controller, Decision, Signal, Start};

crate::parameters! {
    /// Parameters of GAIMD.
    pub struct GaimdParams {
        /// increase, packets per round trip
        alpha: f64 = 0.31, Domain::Number { minimum: 0.001, maximum: 1e6 };
        /// fraction of the window kept at a loss event
        beta: f64 = 0.875, Domain::Number { minimum: 0.001, maximum: 0.999 };
    }
}

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct Gaimd {
    params: GaimdParams,
    base: Base,
}

impl Controller for Gaimd {
    type Params = GaimdParams;

    fn new(params: GaimdParams, start: Start) -> Self {
        Gaimd { params, base: Base::new(start) }
    }

    fn on(&mut self, _: Time, signal: Signal) {
        if let Signal::Ack(ack) = signal {
            let growth = self.base.slow_start(&ack);
            self.base.add(growth * self.params.alpha / self.base.window());
        }
        self.base.react(signal, self.params.beta);
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }
}
