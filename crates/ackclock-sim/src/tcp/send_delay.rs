//! The random delay before sending, which stands for the processing of a host between an acknowledgement and the next
//! packet.

use ackclock_units::{Span, Time};

use crate::random::Stream;

/// A random delay up to this only decides the order of packets that would otherwise be sent at the same instant.
pub const TIE_BREAK: Span = Span(1000);

/// One delay at a time; everything that the window allows goes out after it.
///
/// A processor cannot predict whether it is open, so its functions calculate rather than branch.
#[derive(Debug)]
pub struct SendDelay {
    /// When the delay that is running ends; [`Time::NEVER`] when none is.
    opens: Time,
    /// Upper end of the delay; zero for none.
    longest: Span,
    stream: Stream,
    is_open: bool,
}

impl SendDelay {
    /// Delays of at most `longest`, drawn from `stream`.
    #[must_use]
    pub fn new(longest: Span, stream: Stream) -> Self {
        SendDelay { opens: Time::NEVER, longest, stream, is_open: false }
    }

    /// Whether it delays anything at all.
    #[inline]
    #[must_use]
    pub fn delays(&self) -> bool {
        self.longest != Span::ZERO
    }

    /// Whether packets may go at `now`; starts a delay if none has run since it was shut.
    #[inline]
    pub fn passes(&mut self, now: Time) -> bool {
        if self.longest == Span::ZERO || self.is_open {
            return true;
        }
        if !self.is_waiting() {
            self.opens = now + self.stream.span(self.longest);
        }
        false
    }

    /// The delay may be over at `now`.
    #[inline]
    pub fn on_timer(&mut self, now: Time) {
        let is_over = now >= self.opens;
        self.is_open |= is_over;
        self.opens = if is_over { Time::NEVER } else { self.opens };
    }

    /// All packets that were allowed have been sent. The next packets wait for another delay.
    #[inline]
    pub fn shut(&mut self) {
        self.is_open = false;
    }

    /// Whether a delay is running.
    #[inline]
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.opens != Time::NEVER
    }

    /// Whether the packets sent now have waited longer than a tie-break.
    #[inline]
    #[must_use]
    pub fn has_delayed(&self) -> bool {
        self.is_open && self.longest > TIE_BREAK
    }

    /// When the delay ends; [`Time::NEVER`] when none is running.
    #[inline]
    #[must_use]
    pub fn wakeup(&self) -> Time {
        self.opens
    }
}
