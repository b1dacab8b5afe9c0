//! The reaction of BBR version 3 to losses, marks, timeouts and false alarms.

use ackclock_units::Time;

use super::model::{LOSS_THRESHOLD, Sample, in_flight_at_loss};
use super::{Bbr3, State, Version};
use crate::{Ack, Lost};

/// The state that a false alarm restores.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Undo {
    pub window: f64,
    pub bst: f64,
    pub st: f64,
    pub lt: f64,
    /// Startup or UP, where losses ended it.
    pub(super) state: Option<State>,
}

impl<V: Version> Bbr3<V> {
    pub(super) fn save_window(&mut self) {
        let keeps = self.recovering || self.state == State::ProbeRtt;
        self.saved = if keeps { self.saved.max(self.window) } else { self.window };
    }

    /// A packet was lost, or marked.
    pub(super) fn note_loss(&mut self) {
        if !self.loss_in_round {
            self.loss_round_end = self.delivered;
            self.undo = Undo { window: self.window, bst: self.bst, st: self.st, lt: self.lt, state: None };
        }
        self.loss_in_round = true;
    }

    pub(super) fn on_lost(&mut self, now: Time, lost: Lost) {
        self.note_loss();
        let (tx, count) = (lost.tx_in_flight.0 as f64, lost.lost_since_sent.0 as f64);
        if self.cycle.takes_samples && count > LOSS_THRESHOLD * tx {
            self.too_high(now, in_flight_at_loss(tx, count), lost.application_limited);
        }
    }

    /// A flight was too large; `volume` would not have been.
    pub(super) fn too_high(&mut self, now: Time, volume: f64, limited: bool) {
        self.cycle.was_too_high = true;
        self.cycle.takes_samples = false;
        if !limited {
            self.lt = volume.max(self.params.beta * self.target_in_flight());
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.enter_down(now);
        }
    }

    /// Step 4: losses between probes lower the short-term model.
    pub(super) fn lower_model(&mut self) {
        if !self.loss_round_start {
            return;
        }
        if self.loss_in_round && !self.state.is_probing() {
            let bst = if self.bst.is_finite() { self.bst } else { self.largest_rate.get() };
            let st = if self.st.is_finite() { self.st } else { self.window };
            self.bst = self.bw_latest.max(self.params.beta * bst);
            self.st = self.latest.max(self.params.beta * st);
        }
        self.loss_in_round = false;
    }

    /// A mark counts as a lost packet of the flight that the acknowledgement measures.
    pub(super) fn on_marks(&mut self, now: Time, ack: &Ack, sample: Option<Sample>) {
        if ack.marked.0 == 0 {
            return;
        }
        self.note_loss();
        self.marks += ack.marked.0 as f64;
        if let Some(mut sample) = sample {
            sample.lost += self.marks;
            if self.cycle.takes_samples && sample.is_too_high() {
                let volume = in_flight_at_loss(sample.tx_in_flight, sample.lost);
                self.too_high(now, volume, sample.limited);
            }
        }
    }

    pub(super) fn on_undo(&mut self) {
        // A window of 2 or less was set by the loss event or the timeout.
        self.window = if self.window <= 2.0 { self.before } else { self.window.max(self.before) };
        self.recovering = false;
        self.loss_in_round = false;
        self.full.restart(0.0);
        let Undo { bst, st, lt, .. } = self.undo;
        (self.bst, self.st, self.lt) = (self.bst.max(bst), self.st.max(st), self.lt.max(lt));
        match self.undo.state.take() {
            Some(_) if V::IS_LINUX || self.state == State::ProbeRtt => {}
            Some(State::Startup) => {
                self.full.reached = false;
                self.state = State::Startup;
            }
            Some(_) => self.enter_refill(),
            None => {}
        }
    }

    pub(super) fn on_timeout(&mut self) {
        self.save_window();
        self.before = self.window;
        if V::IS_LINUX {
            self.full.restart(0.0);
            if !self.state.is_probing() && !self.st.is_finite() {
                self.st = self.window.max(self.saved);
            }
        }
        self.window = 1.0;
        self.recovering = false;
    }
}
