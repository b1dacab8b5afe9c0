//! Scalable TCP: T. Kelly, CCR 33(2), 2003.
//!
//! Per acknowledgement in congestion avoidance `W += 0.01`; per loss event `W -= 0.125*W`. Below 16 packets
//! it is Reno. Linux 2.6.22 in ns-2 has an increase of 1/50.

use ackclock_units::Time;

use crate::parts::Base;
use crate::{Controller, Decision, Signal, Start};

crate::parameters! {
    /// Parameters of Scalable TCP.
    pub struct ScalableParams {
        /// increase, packets per acknowledgement
        increase: f64 = 0.01, Domain::Number { minimum: 1e-6, maximum: 1.0 };
        /// fraction of the window cut at a loss event
        decrease: f64 = 0.125, Domain::Number { minimum: 0.001, maximum: 0.999 };
        /// window below which it is Reno, packets
        low_window: f64 = 16.0, Domain::Number { minimum: 1.0, maximum: 1e9 };
    }
}

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalable {
    params: ScalableParams,
    base: Base,
}

impl Controller for Scalable {
    type Params = ScalableParams;

    fn new(params: ScalableParams, start: Start) -> Self {
        Scalable { params, base: Base::new(start) }
    }

    fn on(&mut self, _: Time, signal: Signal) {
        let w = self.base.window();
        let reno = w < self.params.low_window;
        if let Signal::Ack(ack) = signal {
            let growth = self.base.slow_start(&ack);
            let w = self.base.window();
            let step = if w < self.params.low_window { 1.0 / w } else { self.params.increase };
            self.base.add(growth * step);
        }
        self.base.react(signal, if reno { 0.5 } else { 1.0 - self.params.decrease });
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }
}
