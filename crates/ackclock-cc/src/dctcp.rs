//! Data Center TCP: RFC 8257.
//!
//! All data is ECT(0), and the receiver reports how many packets came marked (RFC 9768). Per window of data, of which the
//! share M was marked, `alpha += g (M - alpha)`. The first mark of a window of data cuts it to `W (1 - alpha/2)`; so a
//! few marks cost little, and where all is marked it is Reno. Growth, slow start, losses and timeouts are Reno's. A loss
//! in a window of data that a mark has cut replaces that cut.
//!
//! The RFC lets the window grow on while a cut is answered; Linux does not (`grows_in_cut = false`).

use ackclock_units::Time;

use crate::parts::Base;
use crate::{Ack, Controller, Decision, Ecn, Signal, Start, Wants};

crate::parameters! {
    /// Parameters of DCTCP.
    pub struct DctcpParams {
        /// gain of alpha
        g: f64 = 0.0625, Domain::Number { minimum: 1e-6, maximum: 1.0 };
        /// alpha at the start
        initial_alpha: f64 = 1.0, Domain::Number { minimum: 0.0, maximum: 1.0 };
        /// the window grows in the round trip that follows a cut
        grows_in_cut: bool = true, Domain::Flag;
    }
}

/// The fraction of the window kept at a loss event (RFC 8257, section 3.5).
const KEEP: f64 = 0.5;

/// A cut whose window of data is not acknowledged yet.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cut {
    /// The total of delivered packets at which the window is acknowledged. Only packets delivered after that belong to
    /// another window of data.
    until: u64,
    /// The window before it, packets.
    from: f64,
}

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct Dctcp {
    params: DctcpParams,
    base: Base,
    alpha: f64,
    round: u64,
    /// Packets delivered and marked in this round trip.
    delivered: u64,
    marked: u64,
    /// Share of marks in the last round trip.
    share: f64,
    /// Packets delivered in total, and in flight.
    total: u64,
    in_flight: u64,
    cut: Option<Cut>,
}

impl Dctcp {
    /// Counts marks, and at the end of a round trip moves alpha (RFC 8257, section 3.3).
    fn count(&mut self, ack: &Ack) {
        self.total = self.total.saturating_add(ack.delivered.0);
        self.in_flight = ack.in_flight.0;
        self.delivered = self.delivered.saturating_add(ack.delivered.0);
        self.marked = self.marked.saturating_add(ack.marked.0);
        if ack.round != self.round {
            self.round = ack.round;
            if self.delivered > 0 {
                self.share = (self.marked as f64 / self.delivered as f64).min(1.0);
                self.alpha += self.params.g * (self.share - self.alpha);
            }
            (self.delivered, self.marked) = (0, 0);
        }
        self.cut = self.cut.filter(|cut| self.total <= cut.until);
    }

    /// From now on no mark counts until the packets in flight are acknowledged.
    fn begin_cut(&mut self) {
        let from = self.base.window();
        self.cut = Some(Cut { until: self.total.saturating_add(self.in_flight.max(1)), from });
    }
}

impl Controller for Dctcp {
    type Params = DctcpParams;
    const WANTS: Wants = Wants { marks: true, ecn: Ecn::Ect0, ..Wants::NOTHING };

    fn new(params: DctcpParams, start: Start) -> Self {
        Dctcp {
            params,
            base: Base::new(start),
            alpha: params.initial_alpha,
            round: 0,
            delivered: 0,
            marked: 0,
            share: 0.0,
            total: 0,
            in_flight: 0,
            cut: None,
        }
    }

    fn on(&mut self, _: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) => {
                self.count(&ack);
                if self.cut.is_none() || self.params.grows_in_cut {
                    let growth = self.base.slow_start(&ack);
                    self.base.add(growth / self.base.window());
                }
                if ack.marked.0 > 0 && self.cut.is_none() && !ack.recovering {
                    self.begin_cut();
                    let window = self.base.window();
                    // The least window after a cut is 2 packets, but a mark never raises it.
                    self.base.cut_to(window * (1.0 - self.alpha / 2.0));
                    self.base.set(self.base.window().min(window));
                }
            }
            Signal::Loss { .. } => {
                let window = self.base.window();
                let from = self.cut.map_or(window, |cut| cut.from);
                self.begin_cut();
                self.base.cut_to((from * KEEP).min(window));
            }
            Signal::Timeout { .. } => {
                self.cut = None;
                self.base.react(signal, KEEP);
            }
            _ => self.base.react(signal, KEEP),
        }
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("alpha", self.alpha);
        visit("marked_share", self.share);
    }
}
