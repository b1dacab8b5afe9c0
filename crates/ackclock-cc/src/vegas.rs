//! TCP Vegas: L. Brakmo, L. Peterson, JSAC 13(8), 1995.
//!
//! Once per round trip, with `diff = W (1 - baseRTT/RTT)` packets queued: `W += 1` if `diff < alpha`,
//! `W -= 1` if `diff > beta`. Slow start doubles the window every other round trip and ends when
//! `diff > gamma`; the window then falls to `floor(W baseRTT/RTT) + 1`, as in Linux, so that its overshoot leaves the
//! queue at once. W is the window at the start of the round trip, which produced these RTTs. Losses as Reno. The RTT of a round trip is the smallest of its samples or, as in the paper,
//! their mean; baseRTT the smallest of the connection.

use ackclock_units::{Span, Time};

use crate::parts::{Base, RoundTrips};
use crate::{Ack, Controller, Decision, Signal, Start};

crate::choice! {
    /// Which RTT stands for a round trip.
    pub enum Statistic {
        /// The smallest of its samples, as in Linux.
        Minimum = "minimum",
        /// The mean of its samples, as in the paper and in ns-2.
        Mean = "mean",
    }
}

crate::parameters! {
    /// Parameters of TCP Vegas.
    pub struct VegasParams {
        /// packets queued below which the window grows
        alpha: f64 = 1.0, Domain::Number { minimum: 0.0, maximum: 1e6 };
        /// packets queued above which the window shrinks
        beta: f64 = 3.0, Domain::Number { minimum: 0.0, maximum: 1e6 };
        /// packets queued above which slow start ends
        gamma: f64 = 1.0, Domain::Number { minimum: 0.0, maximum: 1e6 };
        /// which RTT stands for a round trip
        rtt: Statistic = Statistic::Minimum, Domain::Choice(Statistic::WORDS);
    }
    require |p| { p.alpha <= p.beta => "alpha must not exceed beta" }
}

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct Vegas {
    params: VegasParams,
    base: Base,
    rounds: RoundTrips,
    base_rtt: Span,
    /// The window at the beginning of this round trip, with which the RTTs came about that are measured in it.
    began_with: f64,
    /// Slow start lets the window grow in this round trip.
    grows: bool,
}

impl Vegas {
    fn round_trip(&mut self, rtt_s: f64, ack: &Ack) {
        let w = self.base.window().min(self.began_with);
        let without_queue = w * self.base_rtt.as_seconds() / rtt_s;
        let diff = w - without_queue;
        if ack.growth() == 0.0 {
            return;
        }
        if self.base.in_slow_start() {
            self.grows = !self.grows;
            if diff > self.params.gamma {
                // After a loss event the window is at least 2, and it stays so.
                self.base.fall_to((libm::floor(without_queue) + 1.0).min(w).max(2.0));
            }
        } else if diff < self.params.alpha {
            self.base.add(1.0);
        } else if diff > self.params.beta {
            self.base.fall_to((self.base.window() - 1.0).max(2.0));
        }
        self.began_with = self.base.window();
    }
}

impl Controller for Vegas {
    type Params = VegasParams;

    fn new(params: VegasParams, start: Start) -> Self {
        let base = Base::new(start);
        Vegas {
            params,
            began_with: base.window(),
            base,
            rounds: RoundTrips::default(),
            base_rtt: Span::MAX,
            grows: true,
        }
    }

    fn on(&mut self, _: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) => {
                if let Some(rtt) = ack.rtt {
                    // Nothing real is shorter than a picosecond; zero would divide by zero.
                    self.base_rtt = self.base_rtt.min(rtt).max(Span(1));
                }
                if let Some(completed) = self.rounds.on(&ack) {
                    let least = completed.least.max(Span(1)).as_seconds();
                    let rtt_s = match self.params.rtt {
                        Statistic::Minimum => least,
                        // A mean is not below its least value, whatever rounding does.
                        Statistic::Mean => completed.mean.max(least),
                    };
                    self.round_trip(rtt_s, &ack);
                }
                if self.grows && self.base.in_slow_start() {
                    self.base.slow_start(&ack);
                }
            }
            _ => {
                // Retransmissions measure no round trip, and the round trip that would allow growth may be far away.
                self.grows |= matches!(signal, Signal::Timeout { .. });
                self.base.react(signal, 0.5);
            }
        }
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }
}
