//! MulTCP: one connection that behaves like N (Crowcroft, Oechslin, CCR 1998).
//!
//! Per acknowledgement in congestion avoidance `W += N/W`; per loss event `W -= W/(2N)`.

use ackclock_units::Time;

use crate::parts::Base;
use crate::{Controller, Decision, Signal, Start};

crate::parameters! {
    /// Parameters of MulTCP.
    pub struct MultcpParams {
        /// connections that it stands for
        n: f64 = 2.0, Domain::Number { minimum: 1.0, maximum: 1e4 };
    }
}

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct Multcp {
    params: MultcpParams,
    base: Base,
}

impl Controller for Multcp {
    type Params = MultcpParams;

    fn new(params: MultcpParams, start: Start) -> Self {
        Multcp { params, base: Base::new(start) }
    }

    fn on(&mut self, _: Time, signal: Signal) {
        if let Signal::Ack(ack) = signal {
            let growth = self.base.slow_start(&ack);
            self.base.add(growth * self.params.n / self.base.window());
        }
        self.base.react(signal, 1.0 - 0.5 / self.params.n);
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }
}
