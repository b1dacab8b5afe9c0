//! Controls of any kind behind one type, boxed once per connection.

use alloc::boxed::Box;

use ackclock_units::Time;

use crate::{Controller, Decision, Signal, Wants};

/// A control whose type a driver does not know: a built-in one, one of another crate, one written in Python.
pub trait ErasedController: Send + Sync {
    /// Processes a signal and returns the new decision: [`Controller::on`], then [`Controller::decision`].
    fn on(&mut self, now: Time, signal: Signal) -> Decision;

    /// As [`ErasedController::on`], but writes the new decision into `decision`, for a driver that keeps it: a copy of
    /// data that was just written word by word would wait for these writes.
    fn decide(&mut self, now: Time, signal: Signal, decision: &mut Decision) {
        *decision = self.on(now, signal);
    }

    /// See [`Controller::decision`].
    fn decision(&self) -> Decision;

    /// See [`Controller::internals`].
    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64));

    /// See [`Controller::WANTS`].
    fn wants(&self) -> Wants {
        Wants::NOTHING
    }

    /// A copy with the same state.
    fn duplicate(&self) -> Box<dyn ErasedController>;

    /// The reason why the control has stopped deciding: the panic of a control in a library ([`mod@crate::library`]).
    fn failure(&self) -> Option<&str> {
        None
    }
}

impl<C: Controller> ErasedController for C {
    fn on(&mut self, now: Time, signal: Signal) -> Decision {
        Controller::on(self, now, signal);
        Controller::decision(self)
    }

    fn decide(&mut self, now: Time, signal: Signal, decision: &mut Decision) {
        Controller::on(self, now, signal);
        *decision = Controller::decision(self);
    }

    fn decision(&self) -> Decision {
        Controller::decision(self)
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        Controller::internals(self, visit);
    }

    fn wants(&self) -> Wants {
        C::WANTS
    }

    fn duplicate(&self) -> Box<dyn ErasedController> {
        Box::new(self.clone())
    }
}
