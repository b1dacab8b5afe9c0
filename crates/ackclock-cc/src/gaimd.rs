//! GAIMD: general additive increase, multiplicative decrease (Yang, Lam, ICNP 2000), as in the study of
//! transient behaviours of TCP-friendly protocols.
//!
//! Per acknowledgement in congestion avoidance `W += alpha/W`; per loss event `W` becomes `beta*W`. Friendly
//! to TCP where `alpha = 4 (1 - beta^2)/3`; the study uses 0.31 and 7/8.
//!
//! The study says (on its figure 20) that in practice the window is rounded down when a packet is lost. With
//! `whole_windows` a loss event leaves `floor(beta*floor(W))` packets, and ssthresh after a timeout is
//! `floor(W/2)`: so did ns-2 until 2006, when `precisionReduce_` became its default (`slowdown` in `tcp/tcp.cc`,
//! behaviour).

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
        /// whether a loss event or timeout rounds down to whole packets
        whole_windows: bool = false, Domain::Flag;
    }
}

impl GaimdParams {
    /// The window of `w` packets after a loss event, before the least window is applied.
    #[must_use]
    pub fn after_loss(&self, w: f64) -> f64 {
        if self.whole_windows { libm::floor(self.beta * libm::floor(w)) } else { self.beta * w }
    }

    /// ssthresh after a timeout at a window of `w` packets, before the least threshold is applied.
    #[must_use]
    pub fn after_timeout(&self, w: f64) -> f64 {
        if self.whole_windows { libm::floor(w / 2.0) } else { w / 2.0 }
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
        let w = self.base.window();
        match signal {
            Signal::Ack(ack) => {
                let growth = self.base.slow_start(&ack);
                self.base.add(growth * self.params.alpha / self.base.window());
            }
            Signal::Loss { .. } => self.base.cut_to(self.params.after_loss(w)),
            Signal::Timeout { first } => self.base.timeout(first, self.params.after_timeout(w)),
            _ => self.base.react(signal, 1.0),
        }
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }
}
