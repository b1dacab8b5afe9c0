//! A window that never changes: for tests of paths and for loads that do not react.
//!
//! It keeps `window` packets in flight whatever is lost. After a timeout it sends one packet, as every sender
//! must (RFC 6298, section 5), and returns to its window with the next acknowledgement.

use ackclock_units::{Time, Window};

use crate::parts::Base;
use crate::{Controller, Decision, Signal, Start};

crate::parameters! {
    /// Parameters of the constant window.
    pub struct ConstantParams {
        /// packets in flight
        window: f64 = 100.0, Domain::Number { minimum: 2.0, maximum: 1e9 };
    }
}

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    params: ConstantParams,
    base: Base,
}

impl Controller for Constant {
    type Params = ConstantParams;

    fn new(params: ConstantParams, start: Start) -> Self {
        Constant { params, base: Base::new(Start { window: Window(params.window), ..start }) }
    }

    fn on(&mut self, _: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) if ack.growth() > 0.0 => self.base.set(self.params.window),
            Signal::Loss { .. } => self.base.cut_to(self.base.window()),
            _ => self.base.react(signal, 1.0),
        }
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }
}
