//! LEDBAT++: draft-irtf-iccrg-ledbat-plus-plus, the successor of LEDBAT in Windows and macOS.
//!
//! It keeps 60 ms of queueing delay, measured by round trips as [`QueueingDelay`] does. With
//! `GAIN = 1/min(16, ceil(2 target/base))` the window changes per round trip by `GAIN` packets while the delay is at
//! most the target, and by `max(GAIN - W (delay/target - 1), -W/2)` above it, at least 2 packets are kept, and losses
//! halve. Slow start adds GAIN per packet; the first one also ends when the delay exceeds 3/4 of the target.
//!
//! Slowdowns let every flow see the empty path: two round trips after the first slow start the window falls to 2
//! packets, stays there for two round trips, and returns by slow start to where it was. If that took T, the next
//! slowdown begins `slowdown_interval` T later, 9 T by the draft.
//!
//! The rules are those of two implementations of revision 01 (Apple's `tcp_ledbat.c` and a uTP in Go), which agree but
//! for the way back from a slowdown: with GAIN (`slowdown_gain = "path"`) or with a packet per packet (`"one"`).

use ackclock_units::{Span, Time};

use crate::parts::{Base, QueueingDelay};
use crate::{Ack, Controller, Decision, Signal, Start};

crate::choice! {
    /// How the window returns after a slowdown.
    pub enum SlowdownGain {
        /// By GAIN per acknowledged packet, as in the first slow start.
        Path = "path",
        /// By one packet per acknowledged packet.
        One = "one",
    }
}

crate::parameters! {
    /// Parameters of LEDBAT++.
    pub struct LedbatPlusPlusParams {
        /// queueing delay to keep, milliseconds (TARGET)
        target_ms: f64 = 60.0, Domain::Number { minimum: 0.1, maximum: 100.0 };
        /// minutes for which the smallest delay is remembered (BASE_HISTORY)
        base_history: f64 = 10.0, Domain::Number { minimum: 1.0, maximum: 10.0 };
        /// samples of which the smallest counts (CURRENT_FILTER)
        filter: f64 = 4.0, Domain::Number { minimum: 1.0, maximum: 8.0 };
        /// growth per packet on the way back from a slowdown: GAIN of the path, or one packet
        slowdown_gain: SlowdownGain = SlowdownGain::Path, Domain::Choice(SlowdownGain::WORDS);
        /// time between two slowdowns, as a multiple of the time that the first of them took
        slowdown_interval: f64 = 9.0, Domain::Number { minimum: 1.0, maximum: 1e6 };
    }
}

/// The smallest window, and the window of a slowdown, packets.
const LEAST: f64 = 2.0;
/// Round trips before the first slowdown, and round trips that a slowdown holds the window.
const ROUNDS: u64 = 2;
/// Share of the target at which the first slow start ends.
const EXIT: f64 = 0.75;
/// The largest divisor of GAIN.
const DIVISOR: f64 = 16.0;

impl LedbatPlusPlusParams {
    /// GAIN, packets per round trip, on a path with a base delay of `base_ms` milliseconds.
    #[must_use]
    pub fn gain(&self, base_ms: f64) -> f64 {
        1.0 / libm::ceil(2.0 * self.target_ms / base_ms).clamp(1.0, DIVISOR)
    }

    /// Change of a window of `w` packets per round trip, packets, at a queueing delay of `delay_ms` milliseconds.
    #[must_use]
    pub fn change(&self, gain: f64, w: f64, delay_ms: f64) -> f64 {
        let excess = (delay_ms / self.target_ms - 1.0).max(0.0);
        (gain - w * excess).max(-w / 2.0)
    }
}

/// The phase of a connection between two slowdowns.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// The first slow start.
    First,
    /// The next slowdown begins at that time.
    Between { next_slowdown: Time },
    /// A slowdown holds the window until that round trip.
    Held { since: Time, until: u64 },
    /// The way back from a slowdown that began at that time.
    Returning { since: Time },
}

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct LedbatPlusPlus {
    params: LedbatPlusPlusParams,
    base: Base,
    delay: QueueingDelay,
    phase: Phase,
    round: u64,
}

impl LedbatPlusPlus {
    fn gain(&self) -> f64 {
        self.delay.base().map_or(1.0 / DIVISOR, |base| self.params.gain(base.as_millis()))
    }

    /// Begins and ends slowdowns. A slowdown begins where a round trip does: the first that it lasts empties the
    /// network of the window before it, and the second sees the path with 2 packets.
    fn advance(&mut self, now: Time, new_round: bool) {
        let interval = |since: Time| now.since(since).as_seconds() * self.params.slowdown_interval;
        match self.phase {
            Phase::First | Phase::Returning { .. } if self.base.in_slow_start() => {}
            Phase::First => {
                let rtt = self.delay.current().unwrap_or(Span::ZERO);
                self.phase = Phase::Between { next_slowdown: now + rtt.saturating_mul(ROUNDS) };
            }
            Phase::Returning { since } => {
                self.phase = Phase::Between { next_slowdown: now + Span::from_seconds_f64(interval(since)) };
            }
            Phase::Between { next_slowdown }
                if new_round && now >= next_slowdown && !self.base.in_slow_start() =>
            {
                self.base.cut_to(self.base.window());
                self.phase = Phase::Held { since: now, until: self.round + ROUNDS };
            }
            Phase::Held { since, until } if self.round >= until => self.phase = Phase::Returning { since },
            Phase::Between { .. } | Phase::Held { .. } => {}
        }
    }

    fn adapt(&mut self, ack: &Ack) {
        let w = self.base.window();
        if let Phase::Held { .. } = self.phase {
            self.base.set(w.min(LEAST));
            return;
        }
        if self.base.in_slow_start() {
            let gain = match (self.phase, self.params.slowdown_gain) {
                (Phase::Returning { .. }, SlowdownGain::One) => 1.0,
                _ => self.gain(),
            };
            self.base.slow_start(&Ack { credit: gain * ack.credit, ..*ack });
            // A false alarm may lead back to where there was no threshold yet.
            let is_first = self.phase == Phase::First || !self.base.decision().ssthresh.0.is_finite();
            if is_first && self.delay.milliseconds() > EXIT * self.params.target_ms {
                self.base.leave_slow_start();
            }
            return;
        }
        let change = self.params.change(self.gain(), w, self.delay.milliseconds());
        if change < 0.0 {
            self.base.fall_to((w + ack.credit * change / w).max(LEAST.min(w)));
        } else {
            self.base.add(ack.growth() * change / w);
        }
    }

    /// Handles a loss event or a timeout while a slowdown holds the window: the window to return to is halved instead.
    fn react_while_held(&mut self, since: Time, signal: Signal) {
        let half = self.base.decision().ssthresh.0 / 2.0;
        match signal {
            Signal::Loss { .. } => {
                self.base.cut_to(half);
                self.base.set(LEAST);
            }
            Signal::Timeout { first } => {
                self.base.timeout(first, half);
                self.phase = Phase::Returning { since };
            }
            _ => self.base.react(signal, 0.5),
        }
    }
}

impl Controller for LedbatPlusPlus {
    type Params = LedbatPlusPlusParams;

    fn new(params: LedbatPlusPlusParams, start: Start) -> Self {
        let delay = QueueingDelay::new(params.base_history, params.filter);
        LedbatPlusPlus { params, base: Base::new(start), delay, phase: Phase::First, round: 0 }
    }

    fn on(&mut self, now: Time, signal: Signal) {
        match (signal, self.phase) {
            (Signal::Ack(ack), _) => {
                if let Some(rtt) = ack.rtt {
                    self.delay.measure(now, rtt);
                }
                let new_round = ack.round > self.round;
                self.round = ack.round;
                self.advance(now, new_round);
                self.adapt(&ack);
            }
            (_, Phase::Held { since, .. }) => self.react_while_held(since, signal),
            _ => self.base.react(signal, 0.5),
        }
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("delay_ms", self.delay.milliseconds());
        visit("gain", self.gain());
        let slowdown = matches!(self.phase, Phase::Held { .. } | Phase::Returning { .. });
        visit("slowdown", f64::from(u8::from(slowdown)));
    }
}
