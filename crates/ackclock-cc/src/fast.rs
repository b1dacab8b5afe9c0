//! FAST TCP: C. Jin, D. Wei, S. Low, INFOCOM 2004.
//!
//! Once per round trip `W = min(2W, (1 - g) W + g (W*baseRTT/RTT + alpha))`, where RTT is smoothed with gain
//! 1/8. Slow start ends when alpha packets are queued, `W (1 - baseRTT/RTT) >= alpha`. Per loss event half of
//! the window is cut (`loss = "halve"`), or the window stays (`loss = "ignore"`): TCP-FIT's authors compare with a
//! FAST that does not react to packet loss (Wang et al., INFOCOM 2011, section VI). A loss event ends slow start either
//! way: where less than alpha packets fit into the queue nothing else would. A timeout is not ignored.
//! alpha is 200 on paths of a Gbit/s and 20 on paths of 100 Mbit/s.

use ackclock_units::Time;

use crate::parts::{Base, RoundTrips};
use crate::{Controller, Decision, Signal, Start};

crate::choice! {
    /// What a loss event does to the window.
    pub enum AtLoss {
        /// Half of it is cut.
        Halve = "halve",
        /// It stays as it is.
        Ignore = "ignore",
    }
}

impl AtLoss {
    /// The fraction of the window that is kept.
    const fn keep(self) -> f64 {
        match self {
            AtLoss::Halve => 0.5,
            AtLoss::Ignore => 1.0,
        }
    }
}

crate::parameters! {
    /// Parameters of FAST TCP.
    pub struct FastParams {
        /// packets that it keeps queued
        alpha: f64 = 20.0, Domain::Number { minimum: 0.1, maximum: 1e6 };
        /// share of the way to the target that one round trip goes
        g: f64 = 0.5, Domain::Number { minimum: 0.001, maximum: 1.0 };
        /// what a loss event does to the window
        loss: AtLoss = AtLoss::Halve, Domain::Choice(AtLoss::WORDS);
    }
}

/// Gain of the smoothed RTT.
const GAIN: f64 = 1.0 / 8.0;

impl FastParams {
    /// The window after a round trip, packets, from the window `w` before it and RTTs in any unit.
    #[must_use]
    pub fn window(&self, w: f64, base_rtt: f64, rtt: f64) -> f64 {
        let target = w * base_rtt / rtt + self.alpha;
        ((1.0 - self.g) * w + self.g * target).min(2.0 * w)
    }
}

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct Fast {
    params: FastParams,
    base: Base,
    rounds: RoundTrips,
    /// baseRTT and the smoothed RTT, seconds; none before the first sample.
    rtt: Option<(f64, f64)>,
}

impl Controller for Fast {
    type Params = FastParams;

    fn new(params: FastParams, start: Start) -> Self {
        Fast { params, base: Base::new(start), rounds: RoundTrips::default(), rtt: None }
    }

    fn on(&mut self, _: Time, signal: Signal) {
        let Signal::Ack(ack) = signal else {
            self.base.react(signal, self.params.loss.keep());
            return;
        };
        // Nothing real is shorter than a picosecond; zero would divide by zero.
        if let Some(sample) = ack.rtt.map(|rtt| rtt.as_seconds().max(1e-12)) {
            let (base_rtt, smoothed) = self.rtt.unwrap_or((sample, sample));
            self.rtt = Some((base_rtt.min(sample), smoothed + GAIN * (sample - smoothed)));
        }
        let new_round = self.rounds.on(&ack).is_some();
        if self.base.in_slow_start() {
            self.base.slow_start(&ack);
        }
        let Some((base_rtt, rtt)) = self.rtt else { return };
        let w = self.base.window();
        if self.base.in_slow_start() {
            if ack.growth() > 0.0 && w * (1.0 - base_rtt / rtt) >= self.params.alpha {
                self.base.leave_slow_start();
            }
        } else if new_round && ack.growth() > 0.0 {
            self.base.set(self.params.window(w, base_rtt, rtt).max(2.0));
        }
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }
}
