//! Reno: RFC 5681.
//!
//! Per acknowledgement in congestion avoidance `W += 1/W`; per loss event `W /= 2`, or after an ECN mark
//! `W *= ecn_keep` where that is more (ABE, RFC 8511, whose value is 0.8). How losses are found and
//! repaired (Reno, NewReno, SACK, RACK) is the sender's setting, for this control as for every other. By the rules of Linux
//! the window is whole and grows by a packet when it has been acknowledged.

use ackclock_units::Time;

use crate::parts::{Base, WholeGrowth, whole};
use crate::{Controller, Decision, Rules, Signal, Start};

crate::parameters! {
    /// Parameters of Reno.
    pub struct RenoParams {
        /// fraction of the window kept at an ECN mark in congestion avoidance, if it is more than a loss keeps (ABE)
        ecn_keep: f64 = 0.0, Domain::Number { minimum: 0.0, maximum: 0.99 };
    }
}

/// The fraction of the window kept at a loss event (RFC 5681, equation 4).
const KEEP: f64 = 0.5;

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct Reno {
    params: RenoParams,
    base: Base,
    /// By the rules of Linux.
    counts: Option<WholeGrowth>,
}

impl Controller for Reno {
    type Params = RenoParams;

    fn new(params: RenoParams, start: Start) -> Self {
        let counts = (start.rules == Rules::Linux).then(WholeGrowth::default);
        Reno { params, base: Base::new(start), counts }
    }

    #[inline]
    fn on(&mut self, _: Time, signal: Signal) {
        if let Signal::Ack(ack) = signal {
            let growth = self.base.slow_start(&ack);
            let w = self.base.window();
            self.base.add(match &mut self.counts {
                None => growth / w,
                Some(counts) => counts.on(growth, w),
            });
            return;
        }
        let keep = self.base.kept(signal, KEEP, self.params.ecn_keep);
        if let Some(counts) = &mut self.counts {
            match signal {
                Signal::Loss { .. } => self.base.cut_to(whole(self.base.window() * keep)),
                Signal::Timeout { first } => self.base.timeout(first, whole(self.base.window() * KEEP)),
                _ => return self.base.react(signal, keep),
            }
            counts.clear();
        } else {
            self.base.react(signal, keep);
        }
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }
}
