//! The random delay before sending, which stands for what hosts do between an acknowledgement and the next packet.

use ackclock_units::{Span, Time};

use crate::random::Stream;

/// A random delay of at most this only decides which of two packets is first that would be sent at one instant.
pub const TIE_BREAK: Span = Span(1000);

/// One delay at a time; everything that the window allows goes out after it.
#[derive(Debug)]
pub struct Gate {
    state: GateState,
    /// Upper end of the delay; zero for none.
    longest: Span,
    stream: Stream,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GateState {
    Shut,
    OpensAt(Time),
    Open,
}

impl Gate {
    /// A gate with delays of at most `longest`, drawn from `stream`.
    #[must_use]
    pub fn new(longest: Span, stream: Stream) -> Self {
        Gate { state: GateState::Shut, longest, stream }
    }

    /// Whether it delays anything at all.
    #[inline]
    #[must_use]
    pub fn delays(&self) -> bool {
        self.longest != Span::ZERO
    }

    /// Whether packets may go at `now`; starts a delay if none has run since the gate was shut.
    #[inline]
    pub fn passes(&mut self, now: Time) -> bool {
        if self.longest == Span::ZERO || self.state == GateState::Open {
            return true;
        }
        if self.state == GateState::Shut {
            self.state = GateState::OpensAt(now + self.stream.span(self.longest));
        }
        false
    }

    /// The delay may be over at `now`.
    #[inline]
    pub fn on_timer(&mut self, now: Time) {
        if matches!(self.state, GateState::OpensAt(time) if now >= time) {
            self.state = GateState::Open;
        }
    }

    /// Everything that was allowed has gone: what is allowed next waits for another delay.
    #[inline]
    pub fn shut(&mut self) {
        if self.state == GateState::Open {
            self.state = GateState::Shut;
        }
    }

    /// Whether a delay is running.
    #[inline]
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        matches!(self.state, GateState::OpensAt(_))
    }

    /// Whether what goes now has waited for longer than a tie-break.
    #[inline]
    #[must_use]
    pub fn has_delayed(&self) -> bool {
        self.state == GateState::Open && self.longest > TIE_BREAK
    }

    /// When the delay ends; [`Time::NEVER`] when none is running.
    #[inline]
    #[must_use]
    pub fn wakeup(&self) -> Time {
        if let GateState::OpensAt(time) = self.state { time } else { Time::NEVER }
    }
}
