//! Gentle, an example of a congestion control in a crate of its own.
//!
//! It grows by a packet per round trip as Reno does, but waits while more than a few packets are queued,
//! and reduces its window by a fifth at a loss event.

use ackclock_cc::parts::Base;
use ackclock_cc::units::Time;
use ackclock_cc::{Ack, Controller, Decision, Signal, Start};

ackclock_cc::parameters! {
    /// Parameters of Gentle.
    pub struct GentleParams {
        /// packets in the queue above which the window does not grow
        queue: f64 = 20.0, Domain::Number { minimum: 0.0, maximum: 1e6 };
        /// the fraction of the window kept at a loss event
        keep: f64 = 0.8, Domain::Number { minimum: 0.1, maximum: 0.99 };
    }
}

/// The control.
#[derive(Clone, Debug)]
pub struct Gentle {
    params: GentleParams,
    base: Base,
    /// The smallest round-trip time, seconds.
    least_rtt: f64,
    /// Packets in the queue, estimated from the last round-trip time.
    queued: f64,
}

impl Gentle {
    fn measure(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.as_seconds();
            self.least_rtt = self.least_rtt.min(rtt);
            self.queued = self.base.window() * (rtt - self.least_rtt) / rtt;
        }
    }
}

impl Controller for Gentle {
    type Params = GentleParams;

    fn new(params: GentleParams, start: Start) -> Self {
        Gentle { params, base: Base::new(start), least_rtt: f64::INFINITY, queued: 0.0 }
    }

    fn on(&mut self, _now: Time, signal: Signal) {
        if let Signal::Ack(ack) = signal {
            self.measure(&ack);
            let growth = self.base.slow_start(&ack);
            if self.queued < self.params.queue {
                self.base.add(growth / self.base.window());
            }
        }
        self.base.react(signal, self.params.keep);
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("queued", self.queued);
    }
}

ackclock_cc::library! {
    "gentle", "examples/rust-control" => Gentle;
}

#[cfg(test)]
mod tests {
    use ackclock_cc::units::{Span, Window};

    use super::*;

    fn ack(rtt_ms: u64) -> Signal {
        Signal::Ack(Ack { rtt: Some(Span::from_millis(rtt_ms)), ..Ack::of_one_packet() })
    }

    #[test]
    fn it_waits_while_packets_are_queued_and_keeps_four_fifths() {
        let start = Start { window: Window(100.0), ssthresh: Window(2.0), ..Start::default() };
        let mut gentle = Gentle::new(GentleParams::default(), start);
        gentle.on(Time::ZERO, ack(100));
        assert_eq!(gentle.decision().window, Window(100.01)); // 100 + 1/100
        // 100.01 * (150 - 100) / 150 = 33 packets are queued, more than 20.
        gentle.on(Time::ZERO, ack(150));
        assert_eq!(gentle.decision().window, Window(100.01));
        gentle.on(Time::ZERO, Signal::Loss { ecn: false });
        assert!((gentle.decision().window.0 - 80.008).abs() < 1e-9);
    }
}
