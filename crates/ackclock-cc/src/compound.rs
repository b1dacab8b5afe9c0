//! Compound TCP: K. Tan, J. Song, Q. Zhang, M. Sridharan, INFOCOM 2006; draft-sridharan-tcpm-ctcp.
//!
//! The window is the sum of a loss-based part `cwnd`, which is Reno's, and a delay-based part `dwnd`. Once
//! per round trip, with `diff = W (1 - baseRTT/RTT)`: `dwnd += max(0, alpha*W^k - 1)` while `diff < gamma`,
//! else `dwnd = max(0, dwnd - zeta*diff)`. Per loss event `cwnd /= 2` and
//! `dwnd = max(0, W(1-beta) - cwnd/2)`. dwnd is 0 in slow start and below low_window.
//!
//! The RTT of a round trip is the smallest of its samples; the step is taken at the first acknowledgement after it
//! that may grow. For what the port to Linux does, see `compound-linux`.

use ackclock_units::{Span, Time};

use crate::parts::{Base, RoundTrips};
use crate::{Ack, Controller, Decision, Signal, Start};

crate::parameters! {
    /// Parameters of Compound TCP.
    pub struct CompoundParams {
        /// factor of the increase of dwnd
        alpha: f64 = 0.125, Domain::Number { minimum: 0.0, maximum: 1e3 };
        /// fraction of the window cut at a loss event
        beta: f64 = 0.5, Domain::Number { minimum: 0.001, maximum: 0.999 };
        /// exponent of the increase of dwnd
        k: f64 = 0.75, Domain::Number { minimum: 0.0, maximum: 1.0 };
        /// packets queued in the network at which dwnd starts to shrink
        gamma: f64 = 30.0, Domain::Number { minimum: 0.0, maximum: 1e9 };
        /// factor of the decrease of dwnd
        zeta: f64 = 1.0, Domain::Number { minimum: 0.0, maximum: 1e3 };
        /// window below which dwnd is 0, packets
        low_window: f64 = 41.0, Domain::Number { minimum: 0.0, maximum: 1e9 };
    }
}

impl CompoundParams {
    /// dwnd after a round trip, packets, from `dwnd` and the window `w` before it and the packets `diff`
    /// queued in the network.
    #[must_use]
    pub fn dwnd(&self, dwnd: f64, w: f64, diff: f64) -> f64 {
        if diff < self.gamma {
            dwnd + (self.alpha * libm::pow(w, self.k) - 1.0).max(0.0)
        } else {
            (dwnd - self.zeta * diff).max(0.0)
        }
    }
}

/// The control.
#[derive(Clone, Debug)]
pub struct Compound {
    params: CompoundParams,
    /// The whole window, cwnd + dwnd.
    base: Base,
    dwnd: f64,
    rounds: RoundTrips,
    base_rtt: Span,
    /// The smallest RTT of a completed round trip whose step is yet to be taken.
    pending_rtt: Option<Span>,
}

impl Compound {
    /// Changes the delay-based part, and the window with it.
    fn set_dwnd(&mut self, dwnd: f64) {
        self.base.add(dwnd - self.dwnd);
        self.dwnd = dwnd;
    }

    fn round_trip(&mut self, rtt: Span, ack: &Ack) {
        let w = self.base.window();
        self.pending_rtt = None;
        if self.base.in_slow_start() || w < self.params.low_window {
            self.set_dwnd(0.0);
        } else if ack.growth() > 0.0 {
            let diff = w * (1.0 - self.base_rtt.as_seconds() / rtt.as_seconds());
            self.set_dwnd(self.params.dwnd(self.dwnd, w, diff));
        } else if !ack.recovering {
            self.pending_rtt = Some(rtt);
        }
    }
}

impl Controller for Compound {
    type Params = CompoundParams;

    fn new(params: CompoundParams, start: Start) -> Self {
        Compound {
            params,
            base: Base::new(start),
            dwnd: 0.0,
            rounds: RoundTrips::default(),
            base_rtt: Span::MAX,
            pending_rtt: None,
        }
    }

    fn on(&mut self, _: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) => {
                if let Some(rtt) = ack.rtt {
                    // A zero RTT would divide by zero below; nothing real is shorter than a picosecond.
                    self.base_rtt = self.base_rtt.min(rtt).max(Span(1));
                }
                let completed = self.rounds.on(&ack).map(|completed| completed.least.max(Span(1)));
                if let Some(rtt) = completed.or(self.pending_rtt) {
                    self.round_trip(rtt, &ack);
                }
                let growth = self.base.slow_start(&ack);
                self.base.add(growth / self.base.window());
            }
            Signal::Loss { .. } => {
                let w = self.base.window();
                let cwnd = (w - self.dwnd) / 2.0;
                self.dwnd = (w * (1.0 - self.params.beta) - cwnd).max(0.0);
                self.base.cut_to(cwnd + self.dwnd);
            }
            Signal::Timeout { .. } => {
                self.base.react(signal, 0.5);
                self.dwnd = 0.0;
            }
            Signal::Undo => {
                self.base.react(signal, 0.5);
                self.dwnd = self.dwnd.min(self.base.window());
            }
            _ => self.base.react(signal, 0.5),
        }
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("dwnd", self.dwnd);
    }
}
