//! Window, threshold and slow start: the state that every window-based control has.

use ackclock_units::Window;

use super::HyStartPlusPlus;
use crate::{Ack, Decision, HyStart, Rules, Signal, Start};

/// The smallest window after a loss event, packets (RFC 5681, equation 4).
const AFTER_LOSS: f64 = 2.0;
/// The smallest window after a timeout, packets (RFC 5681, section 3.1).
const AFTER_TIMEOUT: f64 = 1.0;
/// No window grows beyond this, packets: far above any path, and finite for any input.
const LARGEST: f64 = 1e12;

/// `window` within its limits. NaN, which `clamp` would pass on, becomes the least.
#[allow(clippy::manual_clamp)]
const fn limited(window: f64, least: f64) -> f64 {
    window.max(least).min(LARGEST)
}

/// Window and slow-start threshold with the reactions that all window-based controls share.
#[derive(Clone, Debug, PartialEq)]
pub struct Base {
    window: f64,
    ssthresh: f64,
    restart: f64,
    rules: Rules,
    /// Window and threshold before the last loss event or first timeout, for `Undo`.
    before: (f64, f64),
    /// HyStart++, in the first slow start.
    hystart: Option<HyStartPlusPlus>,
}

impl Base {
    /// The state at the start of a connection.
    #[must_use]
    pub fn new(start: Start) -> Self {
        let window = start.window.0.clamp(AFTER_TIMEOUT, LARGEST);
        let ssthresh = start.ssthresh.0.max(AFTER_LOSS);
        Base {
            window,
            ssthresh,
            restart: window,
            rules: start.rules,
            before: (window, ssthresh),
            hystart: (start.hystart == HyStart::PlusPlus).then(HyStartPlusPlus::default),
        }
    }

    /// The window, packets.
    #[must_use]
    pub const fn window(&self) -> f64 {
        self.window
    }

    /// Whether the window lies below ssthresh.
    #[must_use]
    pub fn in_slow_start(&self) -> bool {
        self.window < self.ssthresh
    }

    /// Window and threshold as a decision without a pacing rate.
    #[must_use]
    pub const fn decision(&self) -> Decision {
        Decision {
            window: Window(self.window),
            ssthresh: Window(self.ssthresh),
            pacing_rate: None,
            quantum: None,
        }
    }

    /// Slow start (RFC 5681, section 3.1): adds the acknowledgement's growth to the window up to ssthresh.
    /// Returns the growth that is left for congestion avoidance, 0 in slow start.
    #[inline]
    pub fn slow_start(&mut self, ack: &Ack) -> f64 {
        let growth = ack.growth();
        if !self.in_slow_start() {
            return growth;
        }
        let step = match &mut self.hystart {
            None => growth,
            Some(hystart) => {
                if hystart.leaves_slow_start(ack) {
                    self.leave_slow_start();
                    return growth;
                }
                hystart.step(growth)
            }
        };
        let room = self.ssthresh - self.window;
        self.set(if step < room { self.window + step } else { self.ssthresh });
        if step > room { step - room } else { 0.0 }
    }

    /// Ends slow start at the current window.
    pub fn leave_slow_start(&mut self) {
        self.hystart = None;
        self.ssthresh = limited(self.window, AFTER_LOSS);
    }

    /// Adds `increase` packets to the window.
    pub fn add(&mut self, increase: f64) {
        self.set(self.window + increase);
    }

    /// Makes the window `window` packets, within its limits.
    pub fn set(&mut self, window: f64) {
        self.window = limited(window, AFTER_TIMEOUT);
    }

    /// Lets the window fall to `window` packets without a loss event. ssthresh falls with it, lest slow start bring the
    /// window back.
    pub fn fall_to(&mut self, window: f64) {
        self.set(window);
        self.ssthresh = self.ssthresh.min(limited(self.window, AFTER_LOSS));
    }

    /// A loss event: window and ssthresh become `window` packets, at least 2.
    pub fn cut_to(&mut self, window: f64) {
        self.before = (self.window, self.ssthresh);
        self.set(window.max(AFTER_LOSS));
        self.ssthresh = self.window;
        self.hystart = None;
    }

    /// The end of a loss episode at which window and ssthresh become `window` packets, at least 2; `Undo` still
    /// restores the state before the loss event.
    pub fn end_at(&mut self, window: f64) {
        self.set(window.max(AFTER_LOSS));
        self.ssthresh = self.window;
    }

    /// A timeout: the window becomes 1; ssthresh becomes `ssthresh` packets, at least 2, on the first timeout
    /// of its packet.
    pub fn timeout(&mut self, first: bool, ssthresh: f64) {
        if first {
            self.before = (self.window, self.ssthresh);
            self.ssthresh = limited(ssthresh, AFTER_LOSS);
        }
        self.window = AFTER_TIMEOUT;
        // HyStart++ is for the first slow start (RFC 9406, section 4.3).
        self.hystart = None;
    }

    /// An idle time of `timeouts` retransmission timeouts is over.
    fn idle(&mut self, timeouts: u32) {
        let least = self.window.min(self.restart);
        if self.rules == Rules::Standard {
            self.window = least;
            return;
        }
        let quarters = libm::floor(self.window / 2.0) + libm::floor(self.window / 4.0);
        self.ssthresh = self.ssthresh.max(quarters);
        // The largest window is one packet after forty.
        for _ in 0..timeouts.min(64) {
            if self.window <= least {
                break;
            }
            self.window = libm::floor(self.window / 2.0);
        }
        self.window = self.window.max(least);
    }

    /// The fraction of the window to keep at `signal`: `loss`, or `ecn` if that is larger and the signal is an ECN mark
    /// in congestion avoidance (ABE, RFC 8511, section 3).
    #[must_use]
    pub fn kept(&self, signal: Signal, loss: f64, ecn: f64) -> f64 {
        if signal == (Signal::Loss { ecn: true }) && !self.in_slow_start() { loss.max(ecn) } else { loss }
    }

    /// A loss event that changes nothing: `Undo` returns to here.
    pub fn ignore_loss(&mut self) {
        self.before = (self.window, self.ssthresh);
        self.set(self.window.max(AFTER_LOSS));
    }

    /// The reaction to all signals other than `Ack` of a control that keeps the fraction `keep` of its
    /// window on a loss event and halves ssthresh on a timeout.
    pub fn react(&mut self, signal: Signal, keep: f64) {
        match signal {
            Signal::Loss { .. } => self.cut_to(self.window * keep),
            Signal::Timeout { first } => self.timeout(first, self.window * 0.5),
            Signal::Undo => {
                (self.window, self.ssthresh) = self.before;
            }
            Signal::Idle { timeouts } => self.idle(timeouts),
            Signal::Moderated { window } => self.set(self.window.min(window.0 as f64)),
            Signal::Ack(_) | Signal::Recovered | Signal::CaughtUp | Signal::Lost(_) | Signal::Restart => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From 8 packets to an ssthresh of 10 with an acknowledgement that stands for 5: 3 are left for congestion avoidance.
    #[test]
    fn what_slow_start_does_not_need_is_left() {
        let mut base = Base::new(Start { window: Window(8.0), ssthresh: Window(10.0), ..Start::default() });
        let left = base.slow_start(&Ack { credit: 5.0, ..Ack::of_one_packet() });
        assert_eq!((base.window(), left), (10.0, 3.0));
    }

    /// tcp_cwnd_restart of Linux: 73 packets become 36, 18 and then the ten of the start; ssthresh is 36 + 18. RFC 5681 goes to
    /// the ten at once and keeps ssthresh, as Linux does where it is more.
    #[test]
    fn an_idle_time_costs_what_the_rules_say() {
        let after = |rules, timeouts, ssthresh| {
            let mut base = Base::new(Start {
                window: Window(10.0),
                ssthresh: Window(ssthresh),
                rules,
                ..Start::default()
            });
            base.set(73.0);
            base.react(Signal::Idle { timeouts }, 1.0);
            (base.window(), base.decision().ssthresh.0)
        };
        assert_eq!(
            [1, 2, 3, 9].map(|n| after(Rules::Linux, n, 50.0)),
            [36.0, 18.0, 10.0, 10.0].map(|w| (w, 54.0))
        );
        assert_eq!(after(Rules::Linux, 1, 60.0), (36.0, 60.0));
        assert_eq!(after(Rules::Standard, 1, 50.0), (10.0, 50.0));
    }

    /// A loss event that is ignored still leaves at least 2 packets, and is what an undo returns to.
    #[test]
    fn an_ignored_loss_can_be_undone() {
        let mut base = Base::new(Start { window: Window(8.0), ..Start::default() });
        base.set(1.0);
        base.ignore_loss();
        assert_eq!(base.window(), 2.0);
        base.add(5.0);
        base.react(Signal::Undo, 1.0);
        assert_eq!(base.window(), 1.0);
    }
}
