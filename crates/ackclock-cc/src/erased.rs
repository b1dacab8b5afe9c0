//! Controls of any kind behind one type, boxed once per connection.

use alloc::boxed::Box;

use ackclock_units::Time;

use crate::{Controller, Decision, Ecn, Signal};

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

    /// See [`Controller::WANTS_LOSSES`].
    fn wants_losses(&self) -> bool {
        false
    }

    /// See [`Controller::WANTS_MARKS`].
    fn wants_marks(&self) -> bool {
        false
    }

    /// See [`Controller::ECN`].
    fn ecn(&self) -> Ecn {
        Ecn::AsConfigured
    }

    /// See [`Controller::WINDOW_IS_A_CAP`].
    fn window_is_a_cap(&self) -> bool {
        false
    }

    /// A copy with the same state.
    fn duplicate(&self) -> Box<dyn ErasedController>;

    /// Why the control decides nothing any more: the panic of one in a library ([`mod@crate::library`]).
    fn failure(&self) -> Option<&str> {
        None
    }
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

    fn wants_losses(&self) -> bool {
        C::WANTS_LOSSES
    }

    fn wants_marks(&self) -> bool {
        C::WANTS_MARKS
    }

    fn ecn(&self) -> Ecn {
        C::ECN
    }

    fn window_is_a_cap(&self) -> bool {
        C::WINDOW_IS_A_CAP
    }

    fn duplicate(&self) -> Box<dyn ErasedController> {
        Box::new(self.clone())
    }
}
