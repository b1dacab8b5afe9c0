//! LEDBAT: RFC 6817, a control for background transfers that yields to everything else.
//!
//! It keeps `target` of queueing delay: per acknowledgement `W += gain (1 - delay/target)/W`, at most one
//! packet above what is in flight, at least 2. The delay is the smallest of the last `filter` samples over the
//! smallest of the last `base_history` minutes, of which the smallest of each minute is kept. Losses halve.
//! There is no slow start.
//!
//! The RFC measures one-way delay. The contract of controls has round-trip times, so that queues on the way
//! back count too.

use ackclock_units::{Span, Time};

use crate::parts::Base;
use crate::{Ack, Controller, Decision, Signal, Start};

crate::parameters! {
    /// Parameters of LEDBAT.
    pub struct LedbatParams {
        /// queueing delay to keep, milliseconds (TARGET)
        target_ms: f64 = 100.0, Domain::Number { minimum: 0.1, maximum: 100.0 };
        /// largest growth, packets per round trip (GAIN)
        gain: f64 = 1.0, Domain::Number { minimum: 1e-3, maximum: 1.0 };
        /// minutes for which the smallest delay is remembered (BASE_HISTORY)
        base_history: f64 = 10.0, Domain::Number { minimum: 1.0, maximum: 10.0 };
        /// samples of which the smallest counts (CURRENT_FILTER)
        filter: f64 = 4.0, Domain::Number { minimum: 1.0, maximum: 8.0 };
    }
}

/// The smallest window, packets (MIN_CWND).
const LEAST: f64 = 2.0;
/// How far the window may exceed what is in flight, packets (ALLOWED_INCREASE).
const ALLOWED: f64 = 1.0;
/// One entry of the history.
const MINUTE: Span = Span::from_seconds(60);

/// Growth of one acknowledgement times W, packets, for delays in one unit (RFC 6817, section 2.4.2).
#[must_use]
pub fn step(gain: f64, delay: f64, target: f64) -> f64 {
    gain * (target - delay) / target
}

/// The smallest of the first `count` delays.
fn least(delays: &[Span], count: f64) -> Span {
    delays[..count as usize].iter().copied().fold(Span::MAX, Span::min)
}

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct Ledbat {
    params: LedbatParams,
    base: Base,
    /// The smallest delay of each of the last minutes, the newest first.
    minutes: [Span; 10],
    minute_ends: Option<Time>,
    /// The smallest of them.
    least: Span,
    /// The last samples, in a ring.
    samples: [Span; 8],
    next: usize,
}

impl Ledbat {
    fn measure(&mut self, now: Time, rtt: Span) {
        let ends = *self.minute_ends.get_or_insert(now + MINUTE);
        if now >= ends {
            self.minutes.rotate_right(1);
            self.minutes[0] = rtt;
            self.minute_ends = Some(now + MINUTE);
            self.least = least(&self.minutes, self.params.base_history);
        }
        self.minutes[0] = self.minutes[0].min(rtt);
        self.least = self.least.min(rtt);
        self.samples[self.next] = rtt;
        self.next = (self.next + 1) % self.params.filter as usize;
    }

    /// Queueing delay, milliseconds; none before the first sample.
    fn delay_ms(&self) -> f64 {
        let current = least(&self.samples, self.params.filter);
        if current == Span::MAX { 0.0 } else { Span(current.0.saturating_sub(self.least.0)).as_millis() }
    }

    fn adapt(&mut self, ack: &Ack) {
        let w = self.base.window();
        let step = step(self.params.gain, self.delay_ms(), self.params.target_ms);
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
        Ledbat {
            params,
            base: Base::new(start),
            minutes: [Span::MAX; 10],
            minute_ends: None,
            least: Span::MAX,
            samples: [Span::MAX; 8],
            next: 0,
        }
    }

    fn on(&mut self, now: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) => {
                if let Some(rtt) = ack.rtt {
                    self.measure(now, rtt);
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
        visit("delay_ms", self.delay_ms());
    }
}
