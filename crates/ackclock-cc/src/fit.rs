//! TCP-FIT: J. Wang, J. Wen, J. Zhang, Y. Han, INFOCOM 2011, section III.
//!
//! One window that stands for N Reno sessions: per round trip `W += N`, per loss event
//! `W -= 2/(3N+1) * W` (eq. 1). After each loss event N follows the packets that it keeps queued,
//! `Q = (rtt - rtt_min) * w_mean / rtt` (eq. 3), rtt and w_mean averaged since the loss event before: N + 1
//! if `Q < alpha*w_mean/N`, the same if equal, `max(1, N - 1)` if more (eq. 2).
//!
//! alpha is fixed, or the paper's estimate: the running mean, over loss events, of
//! `(rtt_max - rtt_min)/rtt_max` with the extremes of the session. w_mean is a mean over time.
//! Left open by the paper: N and alpha stay as they are at a timeout, which ends the updating period
//! (`timeout_resets_n`: N is 1 again); RTT samples of recovery count.
//!
//! Open, too, is which RTT it means. `rtt`: the samples; the kernel's smoothed RTT (gain 1/8, RFC 6298, section 2)
//! in every place; or that in eq. 2 and 3 and the samples in the estimate of alpha (`mixed`). `rtt_min = "period"`
//! takes the least mean of an updating period for the propagation delay, `extremes = "period"` the extremes of
//! each updating period for alpha. A period that a timeout ends gives neither.

use ackclock_units::Time;

use crate::parts::Base;
use crate::{Controller, Decision, Signal, Start};

/// Gain of the smoothed RTT.
const GAIN: f64 = 1.0 / 8.0;
/// Least and largest of no RTTs.
const NO_EXTREMES: (f64, f64) = (f64::INFINITY, 0.0);
/// The largest difference that rounding makes between equal shares of an RTT: a hundred sums and products of doubles,
/// with an error of 1e-16 each. It is far below a tick of any clock.
const ROUNDING: f64 = 1e-12;

crate::choice! {
    /// Which RTT the equations are about.
    pub enum Rtt {
        /// The samples.
        Raw = "raw",
        /// The smoothed RTT.
        Smoothed = "smoothed",
        /// The smoothed RTT in eq. 2 and 3, the samples in the estimate of alpha.
        Mixed = "mixed",
    }
}

crate::choice! {
    /// How far back a least or largest RTT reaches.
    pub enum Reach {
        /// Over the session.
        Session = "session",
        /// Over an updating period.
        Period = "period",
    }
}

crate::parameters! {
    /// Parameters of TCP-FIT.
    pub struct FitParams {
        /// share of the window that may be queued; 0: the paper's estimate
        alpha: f64 = 0.0, Domain::Number { minimum: 0.0, maximum: 0.999 };
        /// sessions that it stands for; 0: found by the rule, beginning with 1
        n: f64 = 0.0, Domain::Number { minimum: 0.0, maximum: 1e4 };
        /// RTTs: raw samples, smoothed with gain 1/8, or mixed: smoothed, but raw in the estimate of alpha
        rtt: Rtt = Rtt::Raw, Domain::Choice(Rtt::WORDS);
        /// rtt_min: least RTT of the session, or least mean RTT of an updating period
        rtt_min: Reach = Reach::Session, Domain::Choice(Reach::WORDS);
        /// extremes in the estimate of alpha: of the session so far, or of each updating period
        extremes: Reach = Reach::Session, Domain::Choice(Reach::WORDS);
        /// a timeout makes n 1 again, unless it is fixed
        timeout_resets_n: bool = false, Domain::Flag;
    }
    require |p| { p.n == 0.0 || p.n >= 1.0 => "n must be 0 or at least 1" }
}

/// N after a loss event (eq. 2), from `n` and the means `rtt` and `rtt_min` in any unit, and `alpha`. The mean
/// window appears on both sides and cancels: `(rtt - rtt_min)/rtt` is compared with `alpha/n`. Values whose difference
/// could come from rounding count as equal: a period of one RTT, the largest of the session, is exactly balanced while
/// alpha rests on it alone.
#[must_use]
pub fn next_n(n: f64, rtt: f64, rtt_min: f64, alpha: f64) -> f64 {
    // Without division: rtt is positive, n at least 1.
    let (queued, allowed) = ((rtt - rtt_min) * n, alpha * rtt);
    if (queued - allowed).abs() <= ROUNDING * rtt {
        n
    } else if queued < allowed {
        n + 1.0
    } else {
        (n - 1.0).max(1.0)
    }
}

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    params: FitParams,
    base: Base,
    n: f64,
    /// The smoothed RTT, seconds; none before the first sample.
    smoothed: Option<f64>,
    /// The propagation delay's estimate, seconds.
    rtt_min: f64,
    /// The least and the largest RTT for alpha's estimate, seconds.
    extremes: (f64, f64),
    /// RTTs since the last loss event: their sum in seconds and their number.
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

    /// Takes in an RTT sample, seconds.
    fn measure(&mut self, sample: f64) {
        let smoothed = self.smoothed.map_or(sample, |before| before + GAIN * (sample - before));
        self.smoothed = Some(smoothed);
        let (rtt, of_alpha) = match self.params.rtt {
            Rtt::Raw => (sample, sample),
            Rtt::Smoothed => (smoothed, smoothed),
            Rtt::Mixed => (smoothed, sample),
        };
        if self.params.rtt_min == Reach::Session {
            self.rtt_min = self.rtt_min.min(rtt);
        }
        self.extremes = (self.extremes.0.min(of_alpha), self.extremes.1.max(of_alpha));
        self.rtt_sum += rtt;
        self.rtt_count += 1.0;
    }

    /// Finds N and alpha after an updating period.
    fn update(&mut self) {
        if self.rtt_count == 0.0 {
            return;
        }
        let (least, largest) = self.extremes;
        self.ratio_sum += (largest - least) / largest;
        self.ratio_count += 1.0;
        let rtt = self.rtt_sum / self.rtt_count;
        if self.params.rtt_min == Reach::Period {
            self.rtt_min = self.rtt_min.min(rtt);
        }
        if self.params.n == 0.0 {
            self.n = next_n(self.n, rtt, self.rtt_min, self.alpha());
        }
    }

    /// Begins an updating period.
    fn begin_period(&mut self) {
        (self.rtt_sum, self.rtt_count) = (0.0, 0.0);
        if self.params.extremes == Reach::Period {
            self.extremes = NO_EXTREMES;
        }
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
            smoothed: None,
            rtt_min: f64::INFINITY,
            extremes: NO_EXTREMES,
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
                if let Some(sample) = ack.rtt.map(|rtt| rtt.as_seconds().max(1e-12)) {
                    self.measure(sample);
                }
                let growth = self.base.slow_start(&ack);
                self.base.add(growth * self.n / self.base.window());
            }
            Signal::Loss { .. } => {
                self.base.react(signal, self.keep());
                self.update();
                self.begin_period();
            }
            Signal::Timeout { .. } => {
                self.base.react(signal, 1.0);
                self.begin_period();
                if self.params.timeout_resets_n && self.params.n == 0.0 {
                    self.n = 1.0;
                }
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
