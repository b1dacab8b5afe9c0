//! Whether a timeout was a false alarm: F-RTO with SACK (RFC 5682, section 3), as in Linux.
//!
//! The timeout was spurious if an acknowledgement reports a packet that was sent only once, before the timeout. To find out, the first acknowledgement after a timeout
//! lets new packets out instead of those that are lost; a report of these new ones alone means that the loss was real.

use crate::tcp::recovery::Flight;

/// The state of the last timeout.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spurious {
    /// It may still turn out to have been a false alarm.
    possible: bool,
    /// The acknowledgement that is worked on reports a packet that was sent once, before the timeout.
    original: bool,
    /// New packets go out before lost ones until the next acknowledgement.
    tries_new: bool,
    /// The packet whose retransmission timer expired last.
    timed_out: Option<u64>,
}

impl Spurious {
    /// The timer of packet `oldest` has expired, `in_trouble` already, that is in an episode or after another timeout.
    pub fn on_timeout(&mut self, oldest: u64, in_trouble: bool) {
        self.possible = !in_trouble || self.timed_out == Some(oldest);
        self.timed_out = Some(oldest);
        self.tries_new = false;
    }

    /// An acknowledgement arrives.
    #[inline]
    pub fn begin(&mut self) {
        (self.original, self.tries_new) = (false, false);
    }

    /// It reports a packet that was sent once; `before` says whether before the timeout.
    #[inline]
    pub fn note(&mut self, before: bool) {
        self.original |= before;
    }

    /// Whether it shows that the timeout was a false alarm. `advances` and `reports` say whether it acknowledges and
    /// whether it selectively reports anything new; below `recovery_point` everything was sent before the timeout.
    #[inline]
    pub fn is_shown(&mut self, advances: bool, reports: bool, after: Flight, recovery_point: u64) -> bool {
        if !self.possible {
            return false;
        }
        if self.original {
            return true;
        }
        if after.oldest >= recovery_point || after.next > recovery_point && reports {
            self.possible = false;
        } else if advances && after.next == recovery_point {
            self.tries_new = true;
        }
        false
    }

    /// Whether a new packet goes out before lost ones. Without `new_data` there is nothing to find out by.
    pub fn lets_out(&mut self, new_data: bool) -> bool {
        if self.tries_new && !new_data {
            self.forget();
        }
        self.tries_new
    }

    /// The question is answered.
    pub fn forget(&mut self) {
        (self.possible, self.tries_new) = (false, false);
    }
}
