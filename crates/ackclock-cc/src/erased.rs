//! Controls of any kind behind one type, boxed once per connection.

use alloc::boxed::Box;

use ackclock_units::Time;

use crate::{Controller, Decision, Signal};

/// A control whose type a driver does not know: a built-in one, one of another crate, one written in Python.
pub trait ErasedController: Send + Sync {
    /// Takes in what happened and returns what to do now: [`Controller::on`], then
    /// [`Controller::decision`].
    fn on(&mut self, now: Time, signal: Signal) -> Decision;

    /// See [`Controller::decision`].
    fn decision(&self) -> Decision;

    /// See [`Controller::internals`].
    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64));

    /// See [`Controller::WANTS_RATE`].
    fn wants_rate(&self) -> bool;

    /// A copy with the same state.
    fn duplicate(&self) -> Box<dyn ErasedController>;
}

impl<C: Controller> ErasedController for C {
    fn on(&mut self, now: Time, signal: Signal) -> Decision {
        Controller::on(self, now, signal);
        Controller::decision(self)
    }

    fn decision(&self) -> Decision {
        Controller::decision(self)
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        Controller::internals(self, visit);
    }

    fn wants_rate(&self) -> bool {
        C::WANTS_RATE
    }

    fn duplicate(&self) -> Box<dyn ErasedController> {
        Box::new(self.clone())
    }
}
