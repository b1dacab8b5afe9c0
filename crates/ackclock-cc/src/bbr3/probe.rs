//! The cycle of probing: DOWN, CRUISE, REFILL, UP (draft, section 5.3.3).

use ackclock_units::{Span, Time};

use super::model::{Sample, fraction};
use super::{Bbr3, State, Version};
use crate::Ack;

/// Seconds between probes, and the range of the random part added.
const WAIT_S: (f64, f64) = (2.0, 1.0);
/// Round trips between probes at most, so that Reno has time to come back on paths up to 25 Mbit/s and 30 ms.
const MOST_ROUNDS: f64 = 63.0;
/// lt grows by 2^n packets per round trip in the n-th round trip of UP, up to this n.
const MOST_DOUBLINGS: u32 = 30;

/// The part of the last probe that is being acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Feedback {
    #[default]
    Init,
    Refilling,
    Starting,
    Arriving,
    Stopping,
}

/// State of the cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycle {
    feedback: Feedback,
    /// Current losses belong to packets that a probe sent.
    pub takes_samples: bool,
    /// The last probe sent too much.
    pub was_too_high: bool,
    /// The last probe ended early, at the volume that once was too much.
    was_precautionary: bool,
    up_rounds: u32,
    up_acked: f64,
    /// Acknowledged packets per packet that lt grows by.
    pub per_increase: f64,
    /// When the wait for the next probe began, how long it is, and round trips since.
    began: Time,
    wait: Span,
    pub rounds: u64,
    /// Cycles so far.
    number: u64,
}

impl Default for Cycle {
    fn default() -> Self {
        Cycle {
            feedback: Feedback::Init,
            takes_samples: false,
            was_too_high: false,
            was_precautionary: false,
            up_rounds: 0,
            up_acked: 0.0,
            per_increase: f64::INFINITY,
            began: Time::ZERO,
            wait: Span::ZERO,
            rounds: 0,
            number: 0,
        }
    }
}

impl Cycle {
    /// Packets that arrive from now on no longer belong to a probe.
    pub fn stop_feedback(&mut self) {
        self.feedback = Feedback::Stopping;
    }

    /// lt grows twice as fast in each round trip of UP.
    pub fn double_slope(&mut self, window: f64) {
        self.per_increase = (window / f64::from(1_u32 << self.up_rounds)).max(1.0);
        self.up_rounds = (self.up_rounds + 1).min(MOST_DOUBLINGS);
    }
}

impl<V: Version> Bbr3<V> {
    pub(super) fn enter_down(&mut self, now: Time) {
        self.loss_in_round = false;
        (self.bw_latest, self.latest) = (0.0, 0.0);
        let number = self.cycle.number.wrapping_add(1);
        let (rounds, wait) = (fraction(self.seed, 2 * number), fraction(self.seed, 2 * number + 1));
        let wait = Span::from_seconds_f64(WAIT_S.0 + WAIT_S.1 * wait);
        // Half of the cycles begin with a round trip, none where the seed asks for the middle.
        let rounds = u64::from(rounds > 0.5);
        self.cycle = Cycle {
            per_increase: f64::INFINITY,
            began: now,
            wait,
            rounds,
            number,
            feedback: Feedback::Stopping,
            ..self.cycle
        };
        self.state = State::Down;
        self.start_round();
    }

    pub(super) fn enter_cruise(&mut self) {
        self.state = State::Cruise;
        if V::IS_LINUX && self.st.is_finite() {
            self.st = self.st.min(self.lt);
        }
    }

    pub(super) fn enter_refill(&mut self) {
        (self.bst, self.st) = (f64::INFINITY, f64::INFINITY);
        self.cycle = Cycle {
            up_rounds: 0,
            up_acked: 0.0,
            was_precautionary: false,
            feedback: Feedback::Refilling,
            ..self.cycle
        };
        self.state = State::Refill;
        self.start_round();
    }

    fn enter_up(&mut self, now: Time, sample: &Sample) {
        self.cycle.feedback = Feedback::Starting;
        if V::IS_LINUX {
            self.cycle.began = now;
        }
        self.state = State::Up;
        self.start_round();
        self.full.restart(sample.rate);
        self.cycle.double_slope(self.window);
    }

    fn is_time_to_probe(&self, now: Time) -> bool {
        let rounds = self.target_in_flight().min(MOST_ROUNDS);
        now > self.cycle.began + self.cycle.wait || self.cycle.rounds as f64 >= rounds
    }

    /// Step 9: the long-term model, then the states.
    pub(super) fn advance_cycle(&mut self, now: Time, ack: &Ack, sample: &Sample) {
        if !self.full.reached || self.adapt_long_term(now, ack, sample) {
            return;
        }
        match self.state {
            State::Down if self.is_time_to_probe(now) => self.enter_refill(),
            State::Down => {
                let fits = self.in_flight <= self.quantized(self.bdp(self.largest_rate.get()));
                if fits && self.in_flight <= self.with_headroom() {
                    self.enter_cruise();
                }
            }
            State::Cruise if self.is_time_to_probe(now) => self.enter_refill(),
            State::Refill if self.round_start => {
                self.cycle.takes_samples = true;
                self.enter_up(now, sample);
            }
            State::Up => self.probe_up(now, ack, sample),
            _ => {}
        }
    }

    /// Judges the last probe. Returns whether a new one begins at once.
    fn adapt_long_term(&mut self, now: Time, ack: &Ack, sample: &Sample) -> bool {
        if self.round_start && self.cycle.feedback == Feedback::Starting {
            self.cycle.feedback = Feedback::Arriving;
        }
        if self.round_start && self.cycle.feedback == Feedback::Stopping {
            self.cycle.takes_samples = false;
            self.cycle.feedback = Feedback::Init;
            if self.state.is_probe_bw() {
                if !sample.limited {
                    self.largest_rate.advance(V::IS_LINUX);
                }
                if self.cycle.was_precautionary && !self.cycle.was_too_high {
                    self.enter_refill();
                    return true;
                }
            }
        }
        if sample.is_too_high() {
            if V::IS_LINUX && self.cycle.takes_samples {
                self.too_high(now, sample.tx_in_flight, sample.limited);
            }
        } else if self.lt.is_finite() {
            self.lt = self.lt.max(sample.tx_in_flight);
            if self.state == State::Up {
                self.raise_long_term(ack);
            }
        }
        false
    }

    /// UP: lt grows while it limits sending.
    fn raise_long_term(&mut self, ack: &Ack) {
        if !ack.round_limited || self.window < self.lt {
            return;
        }
        self.cycle.up_acked += ack.delivered.0 as f64;
        if self.cycle.up_acked >= self.cycle.per_increase {
            let steps = libm::floor(self.cycle.up_acked / self.cycle.per_increase);
            self.cycle.up_acked -= steps * self.cycle.per_increase;
            self.lt = (self.lt + steps).min(super::LARGEST);
        }
        if self.round_start {
            self.cycle.double_slope(self.window);
        }
    }

    fn probe_up(&mut self, now: Time, ack: &Ack, sample: &Sample) {
        if self.cycle.was_too_high && self.in_flight >= self.lt {
            self.cycle.was_precautionary = true;
        } else if ack.round_limited && self.window >= self.lt {
            self.full.restart(sample.rate);
            return;
        } else if !self.full.now {
            return;
        }
        self.cycle.was_too_high = false;
        self.enter_down(now);
    }
}
