//! H-TCP: D. Leith, R. Shorten, PFLDnet 2004; draft-leith-tcp-htcp.
//!
//! Per acknowledgement `W += alpha/W` with `alpha = 2 (1 - beta) alpha(D)`, at least 1, where D is the time
//! since the last loss event, `alpha(D) = 1 + 10 (D - D_L) + ((D - D_L)/2)^2` beyond `D_L = 1 s`, else 1. Per
//! loss event the window keeps `beta = RTTmin/RTTmax`, between 0.5 and 0.8, or 0.5 when the throughput before it
//! differs by more than 20 % from that before the last one. RTTmin is taken over the connection, RTTmax over the last
//! epoch, and the throughput is that of the best round trip of the epoch. RTT scaling is off. For what Linux does, see
//! `htcp-linux`.

use ackclock_units::Time;

use crate::parts::Base;
use crate::{Ack, Controller, Decision, Signal, Start};

crate::parameters! {
    /// Parameters of H-TCP.
    pub struct HtcpParams {
        /// time since the last loss event from which alpha rises, seconds
        delta_l: f64 = 1.0, Domain::Number { minimum: 0.0, maximum: 1e4 };
        /// smallest fraction of the window kept
        beta_min: f64 = 0.5, Domain::Number { minimum: 0.1, maximum: 0.99 };
        /// largest fraction of the window kept
        beta_max: f64 = 0.8, Domain::Number { minimum: 0.1, maximum: 0.99 };
        /// change of throughput, as a fraction, at which only beta_min is kept
        delta_b: f64 = 0.2, Domain::Number { minimum: 0.0, maximum: 1.0 };
    }
    require |p| { p.beta_min <= p.beta_max => "beta_min must not exceed beta_max" }
}

impl HtcpParams {
    /// alpha(D) for a time `d` since the last loss event, seconds; packets per round trip.
    #[must_use]
    pub fn alpha(&self, d: f64) -> f64 {
        let beyond = d - self.delta_l;
        if beyond <= 0.0 { 1.0 } else { 1.0 + 10.0 * beyond + (beyond / 2.0) * (beyond / 2.0) }
    }
}

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct Htcp {
    params: HtcpParams,
    base: Base,
    /// Fraction kept at the last loss event.
    beta: f64,
    last_loss: Option<Time>,
    /// Seconds: RTTmin of the connection, RTTmax of the epoch.
    rtt_min: f64,
    rtt_max: f64,
    /// Packets delivered in this round trip, and when it began; none in recovery.
    delivered: u64,
    trip_began: Option<Time>,
    round: u64,
    /// The highest throughput of a round trip of this epoch, and that of the last one, packets per second.
    throughput: Option<f64>,
    last_throughput: Option<f64>,
}

impl Htcp {
    fn measure(&mut self, now: Time, ack: &Ack) {
        if let Some(rtt) = ack.rtt.map(|rtt| rtt.as_seconds()) {
            self.rtt_min = self.rtt_min.min(rtt);
            self.rtt_max = self.rtt_max.max(rtt);
        }
        match self.trip_began {
            Some(began) if ack.round > self.round => {
                let seconds = now.since(began).as_seconds();
                if seconds > 0.0 {
                    let measured = self.delivered as f64 / seconds;
                    self.throughput = Some(self.throughput.map_or(measured, |best| best.max(measured)));
                }
                (self.trip_began, self.delivered) = (Some(now), 0);
            }
            None if ack.growth() > 0.0 => (self.trip_began, self.delivered) = (Some(now), 0),
            _ => {}
        }
        self.round = ack.round;
        self.delivered = self.delivered.saturating_add(ack.delivered.0);
    }

    /// A new epoch begins at a loss.
    fn begin(&mut self, now: Time) {
        self.last_loss = Some(now);
        (self.trip_began, self.throughput, self.rtt_max) = (None, None, 0.0);
    }

    /// The increase now, packets per round trip.
    fn increase(&self, now: Time) -> f64 {
        let since = self.last_loss.map_or(0.0, |loss| now.since(loss).as_seconds());
        (2.0 * (1.0 - self.beta) * self.params.alpha(since)).max(1.0)
    }

    /// beta at a loss event now; a new epoch begins.
    fn adapt(&mut self, now: Time) {
        let steady = match (self.throughput, self.last_throughput) {
            (Some(new), Some(old)) => {
                let change = if new > old { new - old } else { old - new };
                change <= self.params.delta_b * old
            }
            _ => false,
        };
        let ratio = if self.rtt_max > 0.0 { self.rtt_min / self.rtt_max } else { 0.0 };
        self.beta = if steady {
            ratio.max(self.params.beta_min).min(self.params.beta_max)
        } else {
            self.params.beta_min
        };
        self.last_throughput = self.throughput.or(self.last_throughput);
        self.begin(now);
    }
}

impl Controller for Htcp {
    type Params = HtcpParams;

    fn new(params: HtcpParams, start: Start) -> Self {
        Htcp {
            params,
            base: Base::new(start),
            beta: params.beta_min,
            last_loss: None,
            rtt_min: f64::INFINITY,
            rtt_max: 0.0,
            delivered: 0,
            trip_began: None,
            round: 0,
            throughput: None,
            last_throughput: None,
        }
    }

    fn on(&mut self, now: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) => {
                self.measure(now, &ack);
                let growth = self.base.slow_start(&ack);
                if growth > 0.0 {
                    self.base.add(growth * self.increase(now) / self.base.window());
                }
            }
            Signal::Loss { .. } => {
                self.adapt(now);
                self.base.react(signal, self.beta);
            }
            Signal::Timeout { .. } => {
                self.base.react(signal, 1.0);
                self.begin(now);
                self.last_throughput = None;
            }
            _ => self.base.react(signal, 1.0),
        }
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("beta", self.beta);
    }
}
