//! A connection's congestion control, and its last decision.

use ackclock_cc::erased::ErasedController;
use ackclock_cc::{Decision, Signal};
use ackclock_units::{Time, Window};

use crate::endpoint::Internals;
use crate::meter::Meter;
use crate::prefetch::prefetch;

/// The control of one connection.
pub struct Control {
    control: Box<dyn ErasedController>,
    decision: Decision,
    /// The decision's window in whole packets, at least the smallest that a sender keeps.
    whole_window: u64,
    least: u64,
}

/// A window in whole packets, but at least `least`.
fn whole(window: Window, least: u64) -> u64 {
    window.whole().0.max(least)
}

impl Control {
    /// A control at the start of its connection, whose sender keeps a window of at least `least` packets.
    #[must_use]
    pub fn new(control: Box<dyn ErasedController>, least: u64) -> Self {
        let decision = control.decision();
        Control { control, decision, whole_window: whole(decision.window, least), least }
    }

    /// Its last decision.
    #[inline]
    #[must_use]
    pub const fn decision(&self) -> &Decision {
        &self.decision
    }

    /// The window, packets.
    #[inline]
    #[must_use]
    pub const fn window(&self) -> f64 {
        self.decision.window.0
    }

    /// The window in whole packets.
    #[inline]
    #[must_use]
    pub const fn whole_window(&self) -> u64 {
        self.whole_window
    }

    /// The control's internals by name.
    #[must_use]
    pub fn internals(&self) -> &dyn Internals {
        &self.control
    }

    /// Asks for the control's memory.
    pub fn expect(&self) {
        prefetch(&*self.control);
    }

    /// Signals an event to the control and adopts its decision.
    #[inline]
    pub fn tell(&mut self, now: Time, signal: Signal, meter: &mut Meter) {
        meter.hold_window(now, self.decision.window.0);
        self.control.decide(now, signal, &mut self.decision);
        self.adopt();
    }

    /// A new connection begins, with the control as it was at the start: `fresh`.
    pub fn begin_again(&mut self, now: Time, fresh: &dyn ErasedController, meter: &mut Meter) {
        meter.hold_window(now, self.decision.window.0);
        self.control = fresh.duplicate();
        self.decision = self.control.decision();
        self.adopt();
    }

    /// Takes in the window of a new decision.
    #[inline]
    fn adopt(&mut self) {
        let window = self.decision.window.0;
        assert!((1.0..f64::INFINITY).contains(&window), "a control broke its contract: window {window}");
        // Mostly the whole window stays as it is, and rounding takes 15 instructions.
        let beyond = window - self.whole_window as i64 as f64;
        if !(0.0..1.0).contains(&beyond) {
            self.whole_window = whole(self.decision.window, self.least);
        }
    }
}
