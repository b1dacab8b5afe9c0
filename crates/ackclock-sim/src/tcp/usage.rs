//! How much of its window a sender uses, as Linux keeps it (`tcp_cwnd_validate`): whether the window was full in the last
//! window of data, and if not, the most packets that were outstanding.

use ackclock_units::Window;

use super::recovery::Flight;

/// The part of its window that a sender used.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// The record holds until this packet is acknowledged, unless the window fills or more packets are outstanding.
    end: u64,
    /// Packets outstanding when it was recorded.
    most_packets: u32,
    was_full: bool,
}

impl Default for Usage {
    /// Nothing has been sent, and the window may grow.
    fn default() -> Self {
        Usage { end: 0, most_packets: 0, was_full: true }
    }
}

impl Usage {
    /// A burst ends with `flight` outstanding, because the window `is_full` or for another reason.
    #[inline]
    pub const fn note(&mut self, is_full: bool, flight: Flight) {
        // No sender has 2^32 packets in flight.
        let outstanding = flight.outstanding() as u32;
        if is_full || flight.oldest >= self.end || (!self.was_full && outstanding > self.most_packets) {
            *self = Usage { end: flight.next, most_packets: outstanding, was_full: is_full };
        }
    }

    /// Whether `window` may grow (`tcp_is_cwnd_limited`): if it was full, and in slow start up to twice the packets
    /// that were outstanding.
    #[inline]
    #[must_use]
    pub fn allows_growth(&self, window: Window, slow_start: bool) -> bool {
        self.was_full || slow_start && window.0 < 2.0 * f64::from(self.most_packets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flight(oldest: u64, next: u64) -> Flight {
        Flight { oldest, next }
    }

    /// A window of 10 is full; then the application sends 4 packets per round trip. What was full counts until packet 10 is
    /// acknowledged. Afterwards slow start goes to 2 x 4 packets, and congestion avoidance nowhere.
    #[test]
    fn a_full_window_counts_until_it_is_acknowledged() {
        let mut usage = Usage::default();
        usage.note(true, flight(0, 10));
        usage.note(false, flight(8, 12));
        assert!(usage.allows_growth(Window(10.0), false));
        usage.note(false, flight(10, 14));
        assert!(!usage.allows_growth(Window(10.0), false));
        assert!(!usage.allows_growth(Window(8.0), true));
        assert!(usage.allows_growth(Window(7.0), true));
        // More outstanding in the same window of data counts at once, less does not.
        usage.note(false, flight(11, 17));
        usage.note(false, flight(12, 15));
        assert!(usage.allows_growth(Window(11.0), true));
        assert!(!usage.allows_growth(Window(12.0), true));
    }
}
