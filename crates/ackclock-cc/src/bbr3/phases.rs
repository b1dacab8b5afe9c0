//! The states of BBR version 3 outside of the cycle of probing: Startup, Drain, ProbeRTT.

use ackclock_units::{Span, Time};

use super::model::Sample;
use super::{Bbr3, LEAST, State, Version};
use crate::Ack;

/// Acknowledgements with losses in one round trip that end Startup.
const STARTUP_LOSSES: u32 = 6;
/// Round trips after which Drain ends in any case.
const DRAIN_ROUNDS: u64 = 3;

impl<V: Version> Bbr3<V> {
    /// Step 7: Startup ends when the pipe is full, or too much is lost.
    pub(super) fn check_startup(&mut self, sample: &Sample, ack: &Ack) {
        self.lossy_acks += u32::from(ack.lost.0 > 0 || ack.marked.0 > 0);
        if self.state == State::Startup && self.loss_round_start {
            if ack.recovering && self.lossy_acks >= STARTUP_LOSSES && sample.is_too_high() {
                self.undo.state = Some(State::Startup);
                self.full.reached = true;
                self.lt = self.bdp(self.largest_rate.get()).max(self.latest);
            }
            self.lossy_acks = 0;
        }
        if self.state == State::Startup && self.full.reached {
            (self.state, self.drain_round) = (State::Drain, self.round);
        }
    }

    /// Step 8.
    pub(super) fn check_drain(&mut self, now: Time) {
        if self.state == State::Drain {
            let is_long = !V::IS_LINUX && self.round > self.drain_round + DRAIN_ROUNDS;
            if is_long || self.in_flight <= self.quantized(self.bdp(self.largest_rate.get())) {
                self.enter_down(now);
            }
        }
    }

    /// Step 11.
    pub(super) fn probe_rtt(&mut self, now: Time, expired: bool) {
        if self.state != State::ProbeRtt && expired && !self.idle_restart {
            self.save_window();
            self.state = State::ProbeRtt;
            self.probe_rtt_ends = None;
            self.probe_rtt_limited.0 = self.delivered;
            self.cycle.stop_feedback();
            self.start_round();
        }
        if self.state != State::ProbeRtt {
            return;
        }
        self.probe_rtt_limited.1 = self.delivered.saturating_add(self.in_flight as u64);
        if self.probe_rtt_ends.is_none() {
            if self.in_flight <= self.probe_rtt_window() {
                self.probe_rtt_ends = Some(now + Span::from_seconds_f64(self.params.probe_rtt_ms / 1e3));
                self.probe_rtt_round = false;
                self.start_round();
            }
        } else {
            self.probe_rtt_round |= self.round_start;
            if self.probe_rtt_round {
                self.end_probe_rtt(now);
            }
        }
    }

    pub(super) fn probe_rtt_window(&self) -> f64 {
        (0.5 * self.bdp(self.bw)).max(LEAST)
    }

    pub(super) fn end_probe_rtt(&mut self, now: Time) {
        if self.probe_rtt_ends.is_none_or(|end| now <= end) {
            return;
        }
        self.least_rtt.probe_at = now;
        self.window = self.window.max(self.saved);
        (self.bst, self.st) = (f64::INFINITY, f64::INFINITY);
        if self.full.reached {
            self.enter_down(now);
            self.enter_cruise();
        } else {
            self.state = State::Startup;
        }
    }
}
