//! YeAH-TCP: A. Baiocchi, A. Castellani, F. Vacirca, PFLDnet 2007.
//!
//! Once per round trip, with RTT the smallest of its samples: `Q = W (1 - RTTbase/RTT)` packets are queued and
//! `L = RTT/RTTbase - 1` measures congestion. With `Q < Q_max` and `L < 1/phi` it grows as Scalable TCP (fast
//! mode), otherwise as Reno (slow mode). In slow mode with `Q > Q_max` it decongests by itself:
//! `W -= min(Q/gamma, W/2^epsilon)`, not below the window that Reno would have. Per loss event it cuts Q, at
//! least W/2^delta and at most W/2, or half after rho round trips in slow mode, which mean that Reno competes.

use ackclock_units::{Span, Time};

use crate::parts::{Base, RoundTrips};
use crate::{Ack, Controller, Decision, Signal, Start};

crate::parameters! {
    /// Parameters of YeAH-TCP.
    pub struct YeahParams {
        /// Q_max: packets queued from which it grows as Reno and decongests
        q_max: f64 = 80.0, Domain::Number { minimum: 0.0, maximum: 1e9 };
        /// phi: it is fast while the queueing delay is below RTTbase/phi
        phi: f64 = 8.0, Domain::Number { minimum: 1e-3, maximum: 1e6 };
        /// gamma: the part 1/gamma of the queue is given up at once
        gamma: f64 = 1.0, Domain::Number { minimum: 1.0, maximum: 1e6 };
        /// epsilon: at most W/2^epsilon is given up at once
        epsilon: f64 = 1.0, Domain::Number { minimum: 0.0, maximum: 16.0 };
        /// delta: at least W/2^delta is cut at a loss event
        delta: f64 = 3.0, Domain::Number { minimum: 1.0, maximum: 16.0 };
        /// rho: round trips in slow mode that mean competition
        rho: f64 = 16.0, Domain::Number { minimum: 0.0, maximum: 1e9 };
        /// zeta: round trips in fast mode after which Reno's window is forgotten
        zeta: f64 = 50.0, Domain::Number { minimum: 0.0, maximum: 1e9 };
        /// increase per acknowledgement in fast mode, packets
        increase: f64 = 0.01, Domain::Number { minimum: 1e-6, maximum: 1.0 };
    }
}

/// Reno's window before it is known, packets.
const RENO_START: f64 = 2.0;

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct Yeah {
    params: YeahParams,
    base: Base,
    rounds: RoundTrips,
    rtt_base: Span,
    /// Q of the last round trip, packets.
    queued: f64,
    fast: bool,
    /// Round trips in slow mode without a break longer than zeta.
    slow_rounds: f64,
    /// Round trips in fast mode since the last slow one.
    fast_rounds: f64,
    /// Window that Reno would have, packets.
    reno: f64,
}

impl Yeah {
    fn round_trip(&mut self, rtt: Span) {
        let w = self.base.window();
        let ratio = rtt.as_seconds() / self.rtt_base.as_seconds();
        self.queued = w * (1.0 - 1.0 / ratio);
        self.fast = self.queued < self.params.q_max && ratio - 1.0 < 1.0 / self.params.phi;
        if self.fast {
            self.fast_rounds += 1.0;
            if self.fast_rounds > self.params.zeta {
                (self.reno, self.fast_rounds, self.slow_rounds) = (RENO_START, 0.0, 0.0);
            }
            return;
        }
        if self.queued > self.params.q_max && w > self.reno {
            let most = w / libm::exp2(self.params.epsilon);
            self.base.set((w - (self.queued / self.params.gamma).min(most)).max(self.reno));
            self.base.leave_slow_start();
        }
        self.reno = if self.reno <= RENO_START { self.base.window() / 2.0 } else { self.reno + 1.0 };
        self.reno = self.reno.max(RENO_START);
        self.slow_rounds += 1.0;
    }

    fn measure(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            // Nothing real is shorter than a picosecond; zero would divide by zero.
            self.rtt_base = self.rtt_base.min(rtt).max(Span(1));
        }
        if let Some(completed) = self.rounds.on(ack)
            && !ack.recovering
        {
            self.round_trip(completed.least.max(Span(1)));
        }
    }

    /// The window after a loss event.
    fn kept(&self) -> f64 {
        let w = self.base.window();
        if self.slow_rounds >= self.params.rho {
            return w / 2.0;
        }
        w - self.queued.min(w / 2.0).max(w / libm::exp2(self.params.delta))
    }
}

impl Controller for Yeah {
    type Params = YeahParams;

    fn new(params: YeahParams, start: Start) -> Self {
        Yeah {
            params,
            base: Base::new(start),
            rounds: RoundTrips::default(),
            rtt_base: Span::MAX,
            queued: 0.0,
            fast: true,
            slow_rounds: 0.0,
            fast_rounds: 0.0,
            reno: RENO_START,
        }
    }

    fn on(&mut self, _: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) => {
                self.measure(&ack);
                let growth = self.base.slow_start(&ack);
                // Scalable TCP grows more slowly than Reno below 100 packets; Linux takes the faster of the two there.
                let reno = 1.0 / self.base.window();
                let increase = if self.fast { self.params.increase.max(reno) } else { reno };
                self.base.add(growth * increase);
            }
            Signal::Loss { .. } => {
                self.base.cut_to(self.kept());
                self.fast_rounds = 0.0;
                self.reno = (self.reno / 2.0).max(RENO_START);
            }
            _ => self.base.react(signal, 0.5),
        }
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("queued", self.queued);
        visit("fast", f64::from(u8::from(self.fast)));
    }
}
