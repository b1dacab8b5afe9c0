//! LEDBAT: RFC 6817, a control for background transfers that yields to everything else.
//!
//! It keeps `target` of queueing delay: per acknowledgement `W += gain (1 - delay/target)/W`, at most one
//! packet above what is in flight, at least 2. The delay is the smallest of the last `filter` samples over the
//! smallest of the last `base_history` minutes, of which the smallest of each minute is kept. Losses halve.
//! There is no slow start.
//!
//! The RFC measures one-way delay. The contract of controls has round-trip times, so that queues on the way
//! back count too.

use ackclock_units::Time;

use crate::parts::{Base, QueueingDelay};
use crate::{Ack, Controller, Decision, Signal, Start};

crate::parameters! {
    /// Parameters of LEDBAT.
    pub struct LedbatParams {
        /// queueing delay to keep, milliseconds (TARGET)
        target_ms: f64 = 100.0, Domain::Number { minimum: 0.1, maximum: 100.0 };
        /// largest growth, packets per round trip (GAIN; the RFC allows at most 1)
        gain: f64 = 1.0, Domain::Number { minimum: 1e-3, maximum: 100.0 };
        /// minutes for which the smallest delay is remembered (BASE_HISTORY)
        base_history: f64 = 10.0, Domain::Number { minimum: 1.0, maximum: 10.0 };
        /// samples of which the smallest counts (CURRENT_FILTER)
        filter: f64 = 4.0, Domain::Number { minimum: 1.0, maximum: 8.0 };
    }
}

/// The smallest window, packets (MIN_CWND).
const LEAST: f64 = 2.0;
/// How far the window may exceed the packets in flight, packets (ALLOWED_INCREASE).
const ALLOWED: f64 = 1.0;

/// Growth of one acknowledgement times W, packets, for delays in one unit (RFC 6817, section 2.4.2).
#[must_use]
pub fn step(gain: f64, delay: f64, target: f64) -> f64 {
    gain * (target - delay) / target
}

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct Ledbat {
    params: LedbatParams,
    base: Base,
    delay: QueueingDelay,
}

impl Ledbat {
    fn adapt(&mut self, ack: &Ack) {
        let w = self.base.window();
        let step = step(self.params.gain, self.delay.milliseconds(), self.params.target_ms);
        // Room above the packets that were in flight when this acknowledgement came.
        let most = (ack.in_flight.0.saturating_add(ack.delivered.0)) as f64 + ALLOWED;
        if step < 0.0 {
            self.base.set((w + ack.credit * step / w).max(LEAST.min(w)));
        } else {
            self.base.set((w + ack.growth() * step / w).min(most.max(w)));
        }
    }
}

impl Controller for Ledbat {
    type Params = LedbatParams;

    fn new(params: LedbatParams, start: Start) -> Self {
        let delay = QueueingDelay::new(params.base_history, params.filter);
        Ledbat { params, base: Base::new(start), delay }
    }

    fn on(&mut self, now: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) => {
                if let Some(rtt) = ack.rtt {
                    self.delay.measure(now, rtt);
                }
                self.adapt(&ack);
            }
            _ => self.base.react(signal, 0.5),
        }
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("delay_ms", self.delay.milliseconds());
    }
}
