//! The handshake before the data (RFC 9293, section 3.5): a SYN, sent again until it is answered.
//!
//! Its round trip is the first RTT sample. A SYN that is lost costs the initial timeout, then twice that, and so on; the
//! connection then begins with a window of one packet (RFC 5681, section 3.1), and without time stamps, which measure the
//! SYN that was sent again, with a timeout of three seconds (RFC 6298, section 5.7). SYNs carry no data and count neither as
//! packets of the flow nor as its timeouts.

use ackclock_units::{Span, Time};

use crate::packet::{Kind, Packet};

/// The sequence number of a SYN; no data packet has it.
pub const SYN: u64 = u64::MAX;

/// The timeout with which data begins after a SYN was lost (RFC 6298, section 5.7).
pub const TIMEOUT_AFTER_LOSS: Span = Span::from_seconds(3);

/// The sender's part of a handshake.
#[derive(Clone, Copy, Debug)]
pub struct Handshake {
    bytes: u16,
    /// How long an answer is waited for, and at most.
    timeout: Span,
    longest: Span,
    /// When the next SYN goes out.
    next: Time,
    sent: u32,
}

impl Handshake {
    /// A handshake whose SYNs have `bytes` bytes on the wire, the second `initial` after the first.
    #[must_use]
    pub const fn new(bytes: u16, initial: Span, longest: Span) -> Self {
        Handshake { bytes, timeout: initial, longest, next: Time::NEVER, sent: 0 }
    }

    /// The connection begins at `now`.
    pub const fn begin(&mut self, now: Time) {
        self.next = now;
    }

    /// The SYN that goes out at `now`, if one does.
    pub fn next_packet(&mut self, now: Time, flow: u32, route: u32) -> Option<Packet> {
        if now < self.next {
            return None;
        }
        self.sent += 1;
        self.next = now + self.timeout;
        self.timeout = self.timeout.saturating_mul(2).min(self.longest);
        Some(Packet::new(Kind::Data, flow, route, SYN, now, self.bytes))
    }

    /// When it wants to be woken.
    #[must_use]
    pub const fn wakeup(&self) -> Time {
        self.next
    }

    /// SYNs that were sent.
    #[must_use]
    pub const fn sent(&self) -> u32 {
        self.sent
    }
}
