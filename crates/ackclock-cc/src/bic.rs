//! BI-TCP, also called BIC: L. Xu, K. Harfoush, I. Rhee, INFOCOM 2004, section VI-A.
//!
//! Below the window of the last loss a binary search, capped at S_max per round trip; beyond it steps that
//! double up to S_max ("BI-TCP slow start"). Per loss event `W -= beta*W`. Below low_window it is Reno.
//!
//! The pseudo-code is followed with four repairs, each of which is a parameter; without all of them the control is
//! exactly as printed:
//! 1. `least_increase`: the increment never falls below S_min per round trip; as printed the window freezes below
//!    max_win.
//! 2. `kept_maximum`: the maximum for fast convergence is kept apart from the default that max_win takes beyond it; as
//!    printed fast convergence fires at every loss.
//! 3. `loss_ends_probing`: a loss event ends BI-TCP slow start and resets its counters.
//! 4. `new_target`: the target is recomputed when BI-TCP slow start ends; as printed the first acknowledgement after
//!    it shrinks the window.
//!
//! As printed the gap to the target shrinks by e^(-1/2) per round trip, because the target moves with every
//! acknowledgement; `search = "per_rtt"` halves it once per round trip, as the paper's analysis does.

use ackclock_units::Time;

use crate::parts::Base;
use crate::{Controller, Decision, Signal, Start};

crate::choice! {
    /// How often the target of the binary search moves.
    pub enum Search {
        /// With every acknowledgement, as in the pseudo-code.
        PerAck = "per_ack",
        /// Once per round trip, as in the analysis.
        PerRtt = "per_rtt",
    }
}

crate::parameters! {
    /// Parameters of BI-TCP.
    pub struct BicParams {
        /// largest increase, packets per round trip
        s_max: f64 = 32.0, Domain::Number { minimum: 0.001, maximum: 1e6 };
        /// smallest increase, packets per round trip
        s_min: f64 = 0.01, Domain::Number { minimum: 1e-6, maximum: 1e6 };
        /// fraction of the window cut at a loss event
        beta: f64 = 0.125, Domain::Number { minimum: 0.001, maximum: 0.999 };
        /// window below which it is Reno, packets
        low_window: f64 = 14.0, Domain::Number { minimum: 1.0, maximum: 1e9 };
        /// how often the target of the binary search moves
        search: Search = Search::PerAck, Domain::Choice(Search::WORDS);
        /// the window grows by s_min per round trip at least; as printed the search has no least step
        least_increase: bool = true, Domain::Flag;
        /// fast convergence compares with the last known maximum; as printed with max_win, which may be its default
        kept_maximum: bool = true, Domain::Flag;
        /// a loss event ends BI-TCP slow start; as printed it continues
        loss_ends_probing: bool = true, Domain::Flag;
        /// the target is computed anew after BI-TCP slow start; as printed it is the last one before it
        new_target: bool = true, Domain::Flag;
    }
    require |p| { p.s_min <= p.s_max => "s_min must not exceed s_max" }
}

/// max_win while none is known; the pseudo-code's default_max_win.
const NO_MAXIMUM: f64 = f64::INFINITY;

/// BI-TCP slow start: its step per round trip and the window at which the step doubles.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Probing {
    step: f64,
    target: f64,
}

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct Bic {
    params: BicParams,
    base: Base,
    /// The end of the binary search, packets.
    max_win: f64,
    /// max_win of the last loss event, for fast convergence.
    last_max: f64,
    /// The current target of the binary search, packets.
    target_win: f64,
    probing: Option<Probing>,
    /// Increase of this round trip, for `per_rtt`.
    step: f64,
    round: u64,
}

impl Bic {
    /// The increase towards the target, packets per round trip, of a window of `w` packets.
    fn increment(&self, w: f64) -> f64 {
        let distance = self.target_win - w;
        let step = if self.params.least_increase { distance.max(self.params.s_min) } else { distance };
        step.min(self.params.s_max)
    }

    fn aim(&mut self) {
        self.target_win = f64::midpoint(self.max_win, self.base.window());
    }

    fn search(&mut self, growth: f64, new_round: bool) {
        let w = self.base.window();
        let step = match self.params.search {
            Search::PerAck => self.increment(w),
            Search::PerRtt => {
                if new_round {
                    self.aim();
                    self.step = self.increment(w);
                }
                self.step
            }
        };
        self.base.add(growth * step / w);
        let w = self.base.window();
        if self.max_win > w {
            if self.params.search == Search::PerAck {
                self.aim();
            }
        } else {
            self.probing = Some(Probing { step: 1.0, target: w + 1.0 });
            self.max_win = NO_MAXIMUM;
        }
    }

    fn probe(&mut self, growth: f64, mut probing: Probing) {
        self.base.add(growth * probing.step / self.base.window());
        if self.base.window() >= probing.target {
            probing.step *= 2.0;
            probing.target = self.base.window() + probing.step;
        }
        self.probing = (probing.step < self.params.s_max).then_some(probing);
        if self.probing.is_none() && self.params.new_target {
            self.aim();
            self.step = self.increment(self.base.window());
        }
    }

    fn lose(&mut self) {
        let w = self.base.window();
        if w < self.params.low_window {
            self.base.cut_to(w * 0.5);
            return;
        }
        self.base.cut_to(w * (1.0 - self.params.beta));
        let min_win = self.base.window();
        let last_max = if self.params.kept_maximum { self.last_max } else { self.max_win };
        self.max_win = if last_max > w { f64::midpoint(w, min_win) } else { w };
        self.last_max = self.max_win;
        self.aim();
        self.step = self.increment(min_win);
        if self.params.loss_ends_probing {
            self.probing = None;
        }
    }
}

impl Controller for Bic {
    type Params = BicParams;

    fn new(params: BicParams, start: Start) -> Self {
        Bic {
            params,
            base: Base::new(start),
            max_win: NO_MAXIMUM,
            last_max: 0.0,
            target_win: NO_MAXIMUM,
            probing: None,
            step: params.s_max,
            round: 0,
        }
    }

    fn on(&mut self, _: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) => {
                let new_round = ack.round != self.round;
                self.round = ack.round;
                let growth = self.base.slow_start(&ack);
                if growth > 0.0 {
                    match self.probing {
                        _ if self.base.window() < self.params.low_window => {
                            self.base.add(growth / self.base.window());
                        }
                        None => self.search(growth, new_round),
                        Some(probing) => self.probe(growth, probing),
                    }
                }
            }
            Signal::Loss { .. } => self.lose(),
            _ => self.base.react(signal, 1.0 - self.params.beta),
        }
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("max_win", if self.max_win < NO_MAXIMUM { self.max_win } else { f64::NAN });
        visit("probing", f64::from(u8::from(self.probing.is_some())));
    }
}
