//! The window of BBR version 3: what its model allows in flight.

use super::{Bbr3, LARGEST, LEAST, State, Version};

impl<V: Version> Bbr3<V> {
    /// `volume` with room for the quanta of sender and receiver.
    pub(super) fn quantized(&self, volume: f64) -> f64 {
        let probing = if self.state == State::Up { 2.0 } else { 0.0 };
        volume.max(3.0 * self.quantum).max(LEAST) + probing
    }

    pub(super) fn max_in_flight(&self) -> f64 {
        let volume = match self.least_rtt.rtt {
            Some(_) => self.state.gains::<V>().1 * self.bdp(self.bw),
            None => self.initial_window,
        };
        self.quantized(volume + self.aggregation.largest(self.full.reached))
    }

    /// Step 14: the window grows by `acked` packets, within the model.
    pub(super) fn set_window(&mut self, acked: f64) {
        let most = self.max_in_flight();
        let first = if V::IS_LINUX { 2.0 } else { 1.0 } * self.initial_window;
        if V::IS_LINUX && (self.delivered as f64) < first {
            self.window += acked;
        } else if self.full.reached {
            self.window = (self.window + acked).min(most);
        } else if self.window < most || (self.delivered as f64) < first {
            self.window += acked;
        }
        self.bound_window();
    }

    pub(super) fn bound_window(&mut self) {
        let long_term = match self.state {
            State::Startup | State::Drain => f64::INFINITY,
            State::Cruise | State::ProbeRtt => self.with_headroom(),
            State::Down | State::Refill | State::Up => self.lt,
        };
        self.window = self.window.max(LEAST).min(long_term.min(self.st).max(LEAST)).min(LARGEST);
        if self.state == State::ProbeRtt {
            self.window = self.window.min(self.probe_rtt_window());
        }
    }
}
