//! TCP-Illinois as in Linux (behaviour of tcp_illinois.c).
//!
//! alpha and beta follow the mean RTT of a round trip and the extremes of single samples, once per round trip, with
//! `alpha = dm' alpha_max/(dm' + (da - d1) (alpha_max - alpha_min)/alpha_min)`, `dm' = dm - d1`, and beta of `illinois`. A window
//! below w_thresh at that moment makes them Reno's. Its inputs and its arithmetic:
//!
//! - A packet is added when the packets acknowledged since the last one, times alpha, are a window; what is more is lost. By the
//!   rules of Linux packets that were reported selectively count when they are acknowledged cumulatively.
//! - beta begins as Reno's: a loss event in the first round trip halves the window.
//! - alpha waits until theta round trips of low delay have come, in sum and not in a row.
//! - A timeout makes them Reno's until the next new packet is acknowledged.
//! - alpha counts in 128ths, beta in 64ths, delays in microseconds; all are rounded down.

use ackclock_units::Time;

use crate::parts::{Base, whole};
use crate::{Ack, Controller, Decision, Rules, Signal, Start};

crate::parameters! {
    /// Parameters of TCP-Illinois as Linux has it.
    pub struct IllinoisLinuxParams {
        /// largest increase, packets per round trip
        alpha_max: f64 = 10.0, Domain::Number { minimum: 1.0, maximum: 1e6 };
        /// smallest increase, packets per round trip
        alpha_min: f64 = 0.3, Domain::Number { minimum: 1e-6, maximum: 1.0 };
        /// largest fraction of the window cut at a loss event
        beta_max: f64 = 0.5, Domain::Number { minimum: 1e-6, maximum: 0.5 };
        /// smallest fraction of the window cut at a loss event
        beta_min: f64 = 0.125, Domain::Number { minimum: 1e-6, maximum: 0.5 };
        /// window below which alpha = 1 and beta = 1/2, packets
        w_thresh: f64 = 15.0, Domain::Number { minimum: 1e-6, maximum: 1e9 };
        /// round trips of low delay before alpha returns to alpha_max
        theta: f64 = 5.0, Domain::Number { minimum: 0.0, maximum: 1e6 };
    }
    require |p| { p.beta_min <= p.beta_max => "beta_min must not exceed beta_max" }
}

/// The kernel's parts of a packet for alpha, and of the window for beta.
const ALPHA_PARTS: f64 = 128.0;
const BETA_PARTS: f64 = 64.0;
/// alpha and beta below `w_thresh` and after a timeout.
const RENO: (f64, f64) = (1.0, 0.5);

impl IllinoisLinuxParams {
    /// alpha(da), packets per round trip, for delays `da` and `dm` in whole microseconds of which da is above d1 = dm/100.
    #[must_use]
    pub fn alpha(&self, da: f64, dm: f64) -> f64 {
        let d1 = libm::floor(dm / 100.0);
        let (largest, least) =
            (libm::floor(self.alpha_max * ALPHA_PARTS), libm::floor(self.alpha_min * ALPHA_PARTS).max(1.0));
        let (da, dm) = (da - d1, dm - d1);
        libm::floor(dm * largest / (dm + libm::floor(da * (largest - least) / least))) / ALPHA_PARTS
    }

    /// beta(da), for the same delays.
    #[must_use]
    pub fn beta(&self, da: f64, dm: f64) -> f64 {
        let (d2, d3) = (libm::floor(dm / 10.0), libm::floor(8.0 * dm / 10.0));
        let (least, largest) =
            (libm::floor(self.beta_min * BETA_PARTS), libm::floor(self.beta_max * BETA_PARTS));
        let parts = if da <= d2 {
            least
        } else if da >= d3 || d3 <= d2 {
            largest
        } else {
            libm::floor((least * d3 - largest * d2 + (largest - least) * da) / (d3 - d2))
        };
        parts / BETA_PARTS
    }
}

/// The control.
#[derive(Clone, Debug)]
pub struct IllinoisLinux {
    params: IllinoisLinuxParams,
    base: Base,
    /// Smallest and largest sample of the RTT, and the sum and number of those of this round trip; microseconds.
    t_min: u64,
    t_max: u64,
    rtt_sum: u64,
    rtt_count: u64,
    /// Queueing delay of the last round trip, microseconds.
    da: u64,
    alpha: f64,
    beta: f64,
    /// The delay was above d1 since alpha last was alpha_max.
    above: bool,
    /// Round trips of low delay since.
    low_rounds: f64,
    /// Packets acknowledged since the window last grew.
    count: f64,
    /// Packets reported by acknowledgements of nothing else, by the rules of Linux.
    reported: u64,
    rules: Rules,
    /// The round trip in which alpha and beta were computed, and the present one.
    computed_in: u64,
    round: u64,
}

impl IllinoisLinux {
    /// The largest queueing delay seen, microseconds.
    const fn dm(&self) -> u64 {
        self.t_max.saturating_sub(self.t_min)
    }

    fn measure(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            // A picosecond is a millionth of a microsecond.
            let rtt = rtt.0 / 1_000_000;
            self.t_min = self.t_min.min(rtt);
            self.t_max = self.t_max.max(rtt);
            self.rtt_sum = self.rtt_sum.saturating_add(rtt);
            self.rtt_count += 1;
        }
    }

    /// Begins to measure another round trip.
    fn reset(&mut self) {
        (self.computed_in, self.rtt_sum, self.rtt_count) = (self.round, 0, 0);
    }

    /// alpha and beta after a round trip.
    fn update(&mut self) {
        if self.base.window() < self.params.w_thresh {
            (self.alpha, self.beta) = RENO;
        } else if let Some(mean) = self.rtt_sum.checked_div(self.rtt_count) {
            self.da = mean.saturating_sub(self.t_min);
            let (da, dm) = (self.da as f64, self.dm() as f64);
            self.beta = self.params.beta(da, dm);
            if da > libm::floor(dm / 100.0) {
                self.above = true;
                self.alpha = self.params.alpha(da, dm);
            } else {
                self.low_rounds += if self.above { 1.0 } else { 0.0 };
                if !self.above || self.low_rounds >= self.params.theta {
                    (self.above, self.low_rounds) = (false, 0.0);
                    self.alpha = self.params.alpha_max;
                }
            }
        }
        self.reset();
    }

    /// Congestion avoidance.
    fn grow(&mut self, growth: f64) {
        let w = self.base.window();
        self.count += growth;
        let packets = libm::floor(libm::floor(self.count * self.alpha) / w);
        if packets >= 1.0 {
            self.base.add(packets);
            self.count = 0.0;
        }
    }

    /// What a loss event and a timeout leave, packets.
    fn kept(&self) -> f64 {
        let w = whole(self.base.window());
        w - libm::floor(w * self.beta)
    }
}

impl Controller for IllinoisLinux {
    type Params = IllinoisLinuxParams;

    fn new(params: IllinoisLinuxParams, start: Start) -> Self {
        IllinoisLinux {
            params,
            base: Base::new(start),
            t_min: u64::MAX,
            t_max: 0,
            rtt_sum: 0,
            rtt_count: 0,
            da: 0,
            alpha: params.alpha_max,
            beta: RENO.1,
            above: false,
            low_rounds: 0.0,
            count: 0.0,
            reported: 0,
            rules: start.rules,
            computed_in: 0,
            round: 0,
        }
    }

    fn on(&mut self, _: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) => {
                self.measure(&ack);
                self.round = ack.round;
                let mut acknowledged = ack.growth();
                if self.rules == Rules::Linux {
                    if ack.credit == 0.0 {
                        self.reported = self.reported.saturating_add(ack.delivered.0);
                    } else {
                        let reported = core::mem::take(&mut self.reported);
                        acknowledged += if acknowledged > 0.0 { reported as f64 } else { 0.0 };
                    }
                }
                if ack.recovering {
                    return;
                }
                if self.round > self.computed_in {
                    self.update();
                }
                // What slow start leaves of an acknowledgement is lost.
                if self.base.in_slow_start() {
                    self.base.slow_start(&ack);
                } else if acknowledged > 0.0 {
                    self.grow(acknowledged);
                }
            }
            Signal::Timeout { first } => {
                self.base.timeout(first, self.kept());
                (self.alpha, self.beta) = RENO;
                (self.above, self.low_rounds, self.count) = (false, 0.0, 0.0);
                self.reset();
            }
            Signal::Loss { .. } => {
                self.base.cut_to(self.kept());
                self.count = 0.0;
            }
            _ => self.base.react(signal, 1.0),
        }
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("alpha", self.alpha);
        visit("beta", self.beta);
        visit("da_s", self.da as f64 / 1e6);
        visit("dm_s", self.dm() as f64 / 1e6);
    }
}
