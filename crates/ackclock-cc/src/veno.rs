//! TCP Veno: C. P. Fu, S. C. Liew, JSAC 21(2), 2003.
//!
//! `N = W (1 - BaseRTT/RTT)` packets are queued, RTT being the last sample. With N < beta per acknowledgement
//! `W += 1/W`, otherwise every second time. Per loss event: with N < beta the loss is considered random and a
//! fifth of the window is cut, otherwise half. BaseRTT is reset at each loss event, as in the paper
//! (`base_rtt = "epoch"`), or kept for the connection, as in Linux.

use ackclock_units::Time;

use crate::parts::Base;
use crate::{Controller, Decision, Signal, Start};

crate::choice! {
    /// How long BaseRTT is kept.
    pub enum BaseRtt {
        /// Until the next loss event.
        Epoch = "epoch",
        /// For the connection.
        Connection = "connection",
    }
}

crate::parameters! {
    /// Parameters of TCP Veno.
    pub struct VenoParams {
        /// packets queued from which losses are taken for congestion
        beta: f64 = 3.0, Domain::Number { minimum: 0.0, maximum: 1e6 };
        /// how long BaseRTT is kept
        base_rtt: BaseRtt = BaseRtt::Epoch, Domain::Choice(BaseRtt::WORDS);
    }
}

/// The fractions kept at a random and at a congestion loss.
const KEEP: (f64, f64) = (0.8, 0.5);

/// N: packets queued, for a window of `w` packets and RTTs in any unit.
#[must_use]
pub fn queued(w: f64, base_rtt: f64, rtt: f64) -> f64 {
    if rtt > base_rtt { w * (1.0 - base_rtt / rtt) } else { 0.0 }
}

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct Veno {
    params: VenoParams,
    base: Base,
    /// BaseRTT, seconds.
    base_rtt: f64,
    /// The last RTT sample, seconds.
    rtt: f64,
    /// The last acknowledgement in congestion did not let the window grow.
    skipped: bool,
}

impl Veno {
    fn congested(&self) -> bool {
        queued(self.base.window(), self.base_rtt, self.rtt) >= self.params.beta
    }
}

impl Controller for Veno {
    type Params = VenoParams;

    fn new(params: VenoParams, start: Start) -> Self {
        Veno { params, base: Base::new(start), base_rtt: f64::INFINITY, rtt: 0.0, skipped: false }
    }

    fn on(&mut self, _: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) => {
                if let Some(rtt) = ack.rtt {
                    self.rtt = rtt.as_seconds();
                    self.base_rtt = self.base_rtt.min(self.rtt);
                }
                let growth = self.base.slow_start(&ack);
                if growth > 0.0 {
                    self.skipped = self.congested() && !self.skipped;
                    if !self.skipped {
                        self.base.add(growth / self.base.window());
                    }
                }
            }
            Signal::Loss { .. } => {
                let keep = if self.congested() { KEEP.1 } else { KEEP.0 };
                self.base.react(signal, keep);
                if self.params.base_rtt == BaseRtt::Epoch {
                    self.base_rtt = f64::INFINITY;
                }
            }
            _ => self.base.react(signal, 1.0),
        }
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("queued", queued(self.base.window(), self.base_rtt, self.rtt));
    }
}
