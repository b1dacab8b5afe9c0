//! TCP-FIT: J. Wang, J. Wen, J. Zhang, Y. Han, INFOCOM 2011, section III.
//!
//! One window that stands for N Reno sessions: per round trip `W += N`, per loss event
//! `W -= 2/(3N+1) * W` (eq. 1). After each loss event N follows the packets that it keeps queued,
//! `Q = (rtt - rtt_min) * w_mean / rtt` (eq. 3), rtt and w_mean averaged since the loss event before: N + 1
//! if `Q < alpha*w_mean/N`, the same if equal, `max(1, N - 1)` if more (eq. 2).
//!
//! alpha is fixed, or the paper's estimate: the running mean, over loss events, of
//! `(rtt_max - rtt_min)/rtt_max` with the extremes of the session. w_mean is a mean over time.
//! Left open by the paper: N and alpha stay as they are at a timeout, which ends the updating period; RTT
//! samples of recovery count.

use ackclock_units::Time;

use crate::parts::Base;
use crate::{Controller, Decision, Signal, Start};

crate::parameters! {
    /// Parameters of TCP-FIT.
    pub struct FitParams {
        /// share of the window that may be queued; 0: the paper's estimate
        alpha: f64 = 0.0, Domain::Number { minimum: 0.0, maximum: 0.999 };
        /// sessions that it stands for; 0: found by the rule, beginning with 1
        n: f64 = 0.0, Domain::Number { minimum: 0.0, maximum: 1e4 };
    }
    require |p| { p.n == 0.0 || p.n >= 1.0 => "n must be 0 or at least 1" }
}

/// N after a loss event (eq. 2), from `n` and the means `rtt` and `rtt_min` in any unit, and `alpha`. The mean
/// window appears on both sides and cancels: `(rtt - rtt_min)/rtt` is compared with `alpha/n`.
#[must_use]
pub fn next_n(n: f64, rtt: f64, rtt_min: f64, alpha: f64) -> f64 {
    // Without division: rtt is positive, n at least 1.
    let (queued, allowed) = ((rtt - rtt_min) * n, alpha * rtt);
    if queued < allowed {
        n + 1.0
    } else if queued > allowed {
        (n - 1.0).max(1.0)
    } else {
        n
    }
}

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    params: FitParams,
    base: Base,
    n: f64,
    /// Extremes of the session, seconds.
    rtt_min: f64,
    rtt_max: f64,
    /// RTT samples since the last loss event: their sum in seconds and their number.
    rtt_sum: f64,
    rtt_count: f64,
    /// The ratios that alpha is the mean of: their sum and number.
    ratio_sum: f64,
    ratio_count: f64,
}

impl Fit {
    fn alpha(&self) -> f64 {
        match (self.params.alpha, self.ratio_count) {
            (fixed, _) if fixed > 0.0 => fixed,
            (_, 0.0) => 0.0,
            (_, count) => self.ratio_sum / count,
        }
    }

    /// Ends an updating period.
    fn update(&mut self) {
        if self.rtt_count == 0.0 {
            return;
        }
        self.ratio_sum += (self.rtt_max - self.rtt_min) / self.rtt_max;
        self.ratio_count += 1.0;
        if self.params.n == 0.0 {
            self.n = next_n(self.n, self.rtt_sum / self.rtt_count, self.rtt_min, self.alpha());
        }
        (self.rtt_sum, self.rtt_count) = (0.0, 0.0);
    }

    fn keep(&self) -> f64 {
        1.0 - 2.0 / (3.0 * self.n + 1.0)
    }
}

impl Controller for Fit {
    type Params = FitParams;

    fn new(params: FitParams, start: Start) -> Self {
        Fit {
            params,
            base: Base::new(start),
            n: params.n.max(1.0),
            rtt_min: f64::INFINITY,
            rtt_max: 0.0,
            rtt_sum: 0.0,
            rtt_count: 0.0,
            ratio_sum: 0.0,
            ratio_count: 0.0,
        }
    }

    fn on(&mut self, _: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) => {
                // Nothing real is shorter than a picosecond; zero would divide by zero.
                if let Some(rtt) = ack.rtt.map(|rtt| rtt.as_seconds().max(1e-12)) {
                    self.rtt_min = self.rtt_min.min(rtt);
                    self.rtt_max = self.rtt_max.max(rtt);
                    self.rtt_sum += rtt;
                    self.rtt_count += 1.0;
                }
                let growth = self.base.slow_start(&ack);
                self.base.add(growth * self.n / self.base.window());
            }
            Signal::Loss { .. } => {
                self.base.react(signal, self.keep());
                self.update();
            }
            Signal::Timeout { .. } => {
                self.base.react(signal, 1.0);
                (self.rtt_sum, self.rtt_count) = (0.0, 0.0);
            }
            _ => self.base.react(signal, 1.0),
        }
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("n", self.n);
        visit("alpha", self.alpha());
    }
}
