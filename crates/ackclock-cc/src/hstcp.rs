//! HighSpeed TCP: RFC 3649.
//!
//! Per acknowledgement in congestion avoidance `W += a(W)/W`; per loss event `W -= b(W)*W`, with
//! `b(W) = (High_Decrease - 0.5) (ln W - ln Low_Window)/(ln High_Window - ln Low_Window) + 0.5`,
//! `p(W) = 0.078125/W^1.2` and `a(W) = W^2 p(W) 2 b(W)/(2 - b(W))`. Up to Low_Window it is Reno.
//!
//! `hstcp` evaluates these formulas; `hstcp-table` takes the first row of the RFC's appendix B whose window
//! is at least W, as Linux does. a and b are re-evaluated when the whole part of W changes. Over one
//! packet a changes by less than 3.5 % of its value at window 38 and by less than 0.1 % above 1000.

use ackclock_units::Time;

use crate::parts::Base;
use crate::{Controller, Decision, Signal, Start};

crate::parameters! {
    /// Parameters of HighSpeed TCP in closed form (RFC 3649, section 5).
    pub struct HstcpParams {
        /// window up to which it is Reno, packets
        low_window: f64 = 38.0, Domain::Number { minimum: 1.0, maximum: 1e6 };
        /// window at which high_p and high_decrease hold, packets
        high_window: f64 = 83_000.0, Domain::Number { minimum: 2.0, maximum: 1e9 };
        /// loss event rate at low_window
        low_p: f64 = 1e-3, Domain::Number { minimum: 1e-12, maximum: 0.5 };
        /// loss event rate at high_window
        high_p: f64 = 1e-7, Domain::Number { minimum: 1e-15, maximum: 0.5 };
        /// fraction of the window cut at high_window
        high_decrease: f64 = 0.1, Domain::Number { minimum: 0.01, maximum: 0.5 };
    }
    require |p| {
        p.low_window < p.high_window => "low_window must lie below high_window",
        p.high_p < p.low_p => "high_p must lie below low_p",
    }
}

crate::parameters! {
    /// The table has no parameters.
    pub struct HstcpTableParams {}
}

/// The smallest b: beyond 83000 packets the closed form is continued, and it would end below zero.
const LEAST_DECREASE: f64 = 0.01;

impl HstcpParams {
    /// b(W): the fraction cut, for a window of `w` packets.
    #[must_use]
    pub fn b(&self, w: f64) -> f64 {
        if w <= self.low_window {
            return 0.5;
        }
        let position = libm::log(w / self.low_window) / libm::log(self.high_window / self.low_window);
        ((self.high_decrease - 0.5) * position + 0.5).max(LEAST_DECREASE)
    }

    /// p(W): the loss event rate at which the mean window is `w` packets. At the RFC's defaults the RFC's own
    /// rounded function, from which its table is made.
    #[must_use]
    pub fn p(&self, w: f64) -> f64 {
        let rfc = HstcpParams::default();
        if (HstcpParams { high_decrease: rfc.high_decrease, ..*self }) == rfc {
            return 0.078_125 / libm::pow(w, 1.2);
        }
        let exponent = libm::log(self.high_p / self.low_p) / libm::log(self.high_window / self.low_window);
        self.low_p * libm::pow(w / self.low_window, exponent)
    }

    /// a(W): the increase in packets per round trip, for a window of `w` packets.
    #[must_use]
    pub fn a(&self, w: f64) -> f64 {
        if w <= self.low_window {
            return 1.0;
        }
        let b = self.b(w);
        (w * w * self.p(w) * 2.0 * b / (2.0 - b)).max(1.0)
    }
}

/// The source of a(W) and b(W).
pub trait Rule: Clone + core::fmt::Debug + Send + Sync + 'static {
    /// Its parameters.
    type Params: crate::Parameters;

    /// The rule with these parameters.
    fn new(params: Self::Params) -> Self;

    /// a(W) in packets per round trip and b(W), for a window of `w` packets.
    fn a_b(&self, w: f64) -> (f64, f64);

    /// The fraction cut from the window for ssthresh at a timeout; by default as in RFC 5681, to which RFC 3649 leaves
    /// timeouts.
    fn timeout_cut(b: f64) -> f64 {
        let _ = b;
        0.5
    }
}

/// a(W) and b(W) of a rule, evaluated once per packet of the window.
#[derive(Clone, Debug)]
pub struct Evaluated<R> {
    rule: R,
    /// Whole part of the window for which `a` and `b` were evaluated.
    at: f64,
    /// The increase, packets per round trip.
    pub a: f64,
    /// The fraction cut at a loss event.
    pub b: f64,
}

impl<R: Rule> Evaluated<R> {
    /// Reno's values, until the first evaluation.
    #[must_use]
    pub const fn new(rule: R) -> Self {
        Evaluated { rule, at: f64::INFINITY, a: 1.0, b: 0.5 }
    }

    /// Evaluates them for a window of `window` packets, if its whole part has changed.
    pub fn follow(&mut self, window: f64) {
        if window < self.at || window >= self.at + 1.0 {
            self.at = libm::floor(window);
            (self.a, self.b) = self.rule.a_b(self.at);
        }
    }
}

/// The formulas of RFC 3649, section 5.
#[derive(Clone, Debug)]
pub struct ClosedForm(HstcpParams);

impl Rule for ClosedForm {
    type Params = HstcpParams;

    fn new(params: HstcpParams) -> Self {
        ClosedForm(params)
    }

    fn a_b(&self, w: f64) -> (f64, f64) {
        (self.0.a(w), self.0.b(w))
    }
}

/// The table of RFC 3649, appendix B, with b in 256ths as in Linux.
#[derive(Clone, Debug)]
pub struct Table;

impl Rule for Table {
    type Params = HstcpTableParams;

    fn new(_: HstcpTableParams) -> Self {
        Table
    }

    fn a_b(&self, w: f64) -> (f64, f64) {
        let row = ROWS.partition_point(|(row, _)| f64::from(*row) < w).min(ROWS.len() - 1);
        let a = (row + 1) as f64;
        (a, f64::from(ROWS[row].1) / 256.0)
    }

    /// Linux uses the same ssthresh at a timeout.
    fn timeout_cut(b: f64) -> f64 {
        b
    }
}

/// The control.
#[derive(Clone, Debug)]
pub struct Hstcp<R: Rule> {
    law: Evaluated<R>,
    base: Base,
}

impl<R: Rule> Controller for Hstcp<R> {
    type Params = R::Params;

    fn new(params: R::Params, start: Start) -> Self {
        Hstcp { law: Evaluated::new(R::new(params)), base: Base::new(start) }
    }

    fn on(&mut self, _: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) => {
                let growth = self.base.slow_start(&ack);
                if growth > 0.0 {
                    self.law.follow(self.base.window());
                    self.base.add(growth * self.law.a / self.base.window());
                }
            }
            Signal::Timeout { first } => {
                self.law.follow(self.base.window());
                self.base.timeout(first, self.base.window() * (1.0 - R::timeout_cut(self.law.b)));
            }
            _ => {
                self.law.follow(self.base.window());
                self.base.react(signal, 1.0 - self.law.b);
            }
        }
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("alpha", self.law.a);
        visit("beta", self.law.b);
    }
}

/// RFC 3649, appendix B: the largest window of each row, and its b in 256ths, rounded down. The row's
/// number is its a.
#[rustfmt::skip]
const ROWS: [(u32, u8); 73] = [
    (38, 128), (118, 112), (221, 104), (347, 98), (495, 93), (663, 89),
    (851, 86), (1058, 83), (1284, 81), (1529, 78), (1793, 76), (2076, 74),
    (2378, 72), (2699, 71), (3039, 69), (3399, 68), (3778, 66), (4177, 65),
    (4596, 64), (5036, 62), (5497, 61), (5979, 60), (6483, 59), (7009, 58),
    (7558, 57), (8130, 56), (8726, 55), (9346, 54), (9991, 53), (10661, 52),
    (11358, 52), (12082, 51), (12834, 50), (13614, 49), (14424, 48), (15265, 48),
    (16137, 47), (17042, 46), (17981, 45), (18955, 45), (19965, 44), (21013, 43),
    (22101, 43), (23230, 42), (24402, 41), (25618, 41), (26881, 40), (28193, 39),
    (29557, 39), (30975, 38), (32450, 38), (33986, 37), (35586, 36), (37253, 36),
    (38992, 35), (40808, 35), (42707, 34), (44694, 33), (46776, 33), (48961, 32),
    (51258, 32), (53677, 31), (56230, 30), (58932, 30), (61799, 29), (64851, 28),
    (68113, 28), (71617, 27), (75401, 26), (79517, 26), (84035, 25), (89053, 24),
    (94717, 23),
];
