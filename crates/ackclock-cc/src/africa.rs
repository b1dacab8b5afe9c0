//! TCP-Africa: R. King, R. Baraniuk, R. Riedi, INFOCOM 2005, section III.
//!
//! Two modes. While fewer than alpha packets are queued, `W (aRTT - minRTT) < alpha*aRTT`, it grows as
//! HighSpeed TCP does (`fast = "hstcp"`, a(W)/W per acknowledgement) or as Scalable TCP (`fast =
//! "scalable"`, 0.01, and at least as Reno); otherwise as Reno. Per loss event it takes HighSpeed TCP's decrease b(W).
//! The paper leaves open whether it does so in slow mode too (section V-B suggests it; `slow_decrease`), and the gain of
//! the smoothed aRTT (1/8 here; `gain`).
//! a and b are re-evaluated when the whole part of W changes.

use ackclock_units::Time;

use crate::hstcp::{ClosedForm, Evaluated, HstcpParams, Rule};
use crate::parts::Base;
use crate::{Ack, Controller, Decision, Signal, Start};

crate::choice! {
    /// How the window grows in fast mode.
    pub enum Fast {
        /// By HighSpeed TCP's a(W).
        Hstcp = "hstcp",
        /// By a hundredth per acknowledgement.
        Scalable = "scalable",
    }
}

crate::choice! {
    /// How far the window falls at a loss event in slow mode.
    pub enum SlowDecrease {
        /// By HighSpeed TCP's b(W), as in fast mode.
        Hstcp = "hstcp",
        /// To a half, as Reno's.
        Reno = "reno",
    }
}

crate::parameters! {
    /// Parameters of TCP-Africa.
    pub struct AfricaParams {
        /// packets queued at which fast mode ends
        alpha: f64 = 1.65, Domain::Number { minimum: 0.0, maximum: 1e6 };
        /// how the window grows in fast mode
        fast: Fast = Fast::Hstcp, Domain::Choice(Fast::WORDS);
        /// weight of a sample in the smoothed RTT
        gain: f64 = 0.125, Domain::Number { minimum: 1e-6, maximum: 1.0 };
        /// how far the window falls at a loss event in slow mode
        slow_decrease: SlowDecrease = SlowDecrease::Hstcp, Domain::Choice(SlowDecrease::WORDS);
    }
}

/// Fraction of the window that Reno keeps at a loss event.
const RENO_KEEPS: f64 = 0.5;
/// Increase per acknowledgement of Scalable TCP, packets.
const SCALABLE: f64 = 0.01;

/// Whether a window of `w` packets is in fast mode, for RTTs in any unit (paper, section III).
#[must_use]
pub fn is_fast(w: f64, smoothed_rtt: f64, least_rtt: f64, alpha: f64) -> bool {
    w * (smoothed_rtt - least_rtt) < alpha * smoothed_rtt
}

/// The control.
#[derive(Clone, Debug)]
pub struct Africa {
    params: AfricaParams,
    hstcp: Evaluated<ClosedForm>,
    base: Base,
    /// aRTT and minRTT, seconds; none before the first sample.
    rtt: Option<(f64, f64)>,
    fast: bool,
}

impl Africa {
    fn measure(&mut self, ack: &Ack) {
        if let Some(sample) = ack.rtt.map(|rtt| rtt.as_seconds()) {
            let (smoothed, least) = self.rtt.unwrap_or((sample, sample));
            self.rtt = Some((smoothed + self.params.gain * (sample - smoothed), least.min(sample)));
        }
        let w = self.base.window();
        self.fast = self.rtt.is_none_or(|(smoothed, least)| is_fast(w, smoothed, least, self.params.alpha));
    }
}

impl Controller for Africa {
    type Params = AfricaParams;

    fn new(params: AfricaParams, start: Start) -> Self {
        Africa {
            params,
            hstcp: Evaluated::new(ClosedForm::new(HstcpParams::default())),
            base: Base::new(start),
            rtt: None,
            fast: true,
        }
    }

    fn on(&mut self, _: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) => {
                self.measure(&ack);
                let growth = self.base.slow_start(&ack);
                if growth > 0.0 {
                    let w = self.base.window();
                    self.hstcp.follow(w);
                    let step = match (self.fast, self.params.fast) {
                        (false, _) => 1.0 / w,
                        (true, Fast::Hstcp) => self.hstcp.a / w,
                        (true, Fast::Scalable) => SCALABLE.max(1.0 / w),
                    };
                    self.base.add(growth * step);
                }
            }
            _ => {
                self.hstcp.follow(self.base.window());
                let keep = match (self.fast, self.params.slow_decrease) {
                    (false, SlowDecrease::Reno) => RENO_KEEPS,
                    _ => 1.0 - self.hstcp.b,
                };
                self.base.react(signal, keep);
            }
        }
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("fast", f64::from(u8::from(self.fast)));
    }
}
