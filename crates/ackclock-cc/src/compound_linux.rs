//! Compound TCP as it was ported to Linux and runs in ns-2 (behaviour of tcp_compound.c).
//!
//! The window is `cwnd + dwnd`, both whole packets. Once per round trip, at the first acknowledgement that may grow,
//! with the packets w that the round trip delivered and its smallest RTT, `diff = w (1 - baseRTT/RTT)`:
//! `dwnd += max(0, floor(w^(3/4))/8 - 1)` in whole packets while `diff < 30`, else `dwnd = max(0, dwnd - diff)`.
//! Further differences from the paper: dwnd begins at 0 after a loss event, and the first round trip after an episode
//! counts everything delivered since the last step, so that it begins with a large one; dwnd grows in slow start, too;
//! there is no low_window.

use ackclock_units::{Span, Time};

use crate::parts::Base;
use crate::{Ack, Controller, Decision, Signal, Start};

crate::parameters! {
    /// Parameters of Compound TCP as its Linux port has it.
    pub struct CompoundLinuxParams {
        /// packets queued in the network at which dwnd starts to shrink
        gamma: f64 = 30.0, Domain::Number { minimum: 0.0, maximum: 1e9 };
    }
}

/// Fewer RTT samples than this in a round trip are ignored: they may come from delayed acknowledgements.
const LEAST_SAMPLES: u32 = 3;

impl CompoundLinuxParams {
    /// dwnd after a round trip, whole packets, from `dwnd` before it, the packets `w` that it delivered, the smallest
    /// RTT of the connection and its own, seconds.
    #[must_use]
    pub fn dwnd(&self, dwnd: f64, w: f64, base_rtt: f64, rtt: f64) -> f64 {
        // Half packets, as the port counts them.
        let diff = w - libm::floor(2.0 * w * base_rtt / rtt) / 2.0;
        if diff < self.gamma {
            let step = libm::floor(libm::floor(libm::pow(w, 0.75)) / 8.0);
            dwnd + (step - 1.0).max(0.0)
        } else {
            libm::floor((dwnd - diff).max(0.0))
        }
    }
}

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct CompoundLinux {
    params: CompoundLinuxParams,
    /// The whole window.
    base: Base,
    cwnd: f64,
    dwnd: f64,
    /// Acknowledgements since cwnd last grew.
    count: f64,
    /// The round trip whose end is the next step, the smallest RTT in it and the number of samples.
    round: u64,
    least: Span,
    samples: u32,
    /// Packets delivered since the last step.
    delivered: u64,
    base_rtt: Span,
}

impl CompoundLinux {
    /// After the window has been cut dwnd restarts. The port keeps it where neither part is larger than the window
    /// has become, which after a halving is the case only when both were half of it.
    fn follow_window(&mut self) {
        let w = self.base.window();
        if self.cwnd + self.dwnd > w {
            (self.cwnd, self.dwnd) = (w, 0.0);
        }
    }

    fn begin_round_trip(&mut self) {
        (self.least, self.samples) = (Span::MAX, 0);
    }

    fn step(&mut self) {
        if self.samples >= LEAST_SAMPLES {
            let (base_rtt, rtt) = (self.base_rtt.as_seconds(), self.least.as_seconds());
            self.dwnd = self.params.dwnd(self.dwnd, self.delivered as f64, base_rtt, rtt);
        }
        self.delivered = 0;
        self.begin_round_trip();
    }

    fn grow(&mut self, ack: &Ack) {
        let before = self.base.window();
        let left = self.base.slow_start(ack);
        self.cwnd += self.base.window() - before;
        self.count += left;
        if self.count >= self.base.window() {
            self.cwnd += 1.0;
            self.count = 0.0;
        }
        if ack.round > self.round {
            self.round = ack.round;
            self.step();
        }
        self.base.set(self.cwnd + self.dwnd);
    }
}

impl Controller for CompoundLinux {
    type Params = CompoundLinuxParams;

    fn new(params: CompoundLinuxParams, start: Start) -> Self {
        let base = Base::new(start);
        CompoundLinux {
            params,
            cwnd: base.window(),
            base,
            dwnd: 0.0,
            count: 0.0,
            round: 0,
            least: Span::MAX,
            samples: 0,
            delivered: 0,
            base_rtt: Span::MAX,
        }
    }

    fn on(&mut self, _: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) => {
                if let Some(rtt) = ack.rtt.map(|rtt| rtt.max(Span(1))) {
                    self.base_rtt = self.base_rtt.min(rtt);
                    self.least = self.least.min(rtt);
                    self.samples = self.samples.saturating_add(1);
                }
                self.delivered = self.delivered.saturating_add(ack.delivered.0);
                if ack.recovering {
                    self.round = ack.round;
                } else if ack.growth() > 0.0 {
                    self.follow_window();
                    self.grow(&ack);
                }
            }
            Signal::Recovered => self.begin_round_trip(),
            Signal::Idle { .. } => {
                self.base.react(signal, 0.5);
                (self.cwnd, self.dwnd, self.base_rtt) = (self.base.window(), 0.0, Span::MAX);
                self.begin_round_trip();
            }
            Signal::Undo => {
                self.base.react(signal, 0.5);
                self.dwnd = self.dwnd.min(self.base.window());
                self.cwnd = self.base.window() - self.dwnd;
            }
            Signal::Loss { .. } => {
                self.base.cut_to(libm::floor(self.base.window() / 2.0));
                self.count = 0.0;
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
