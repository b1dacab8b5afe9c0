//! Recovery from duplicate acknowledgements alone: Reno (RFC 5681) and NewReno (RFC 6582).
//!
//! Where an RFC inflates the window, this counts packets in flight instead: every duplicate acknowledgement
//! says that a packet has left the network. After a timeout both go back to the oldest packet and send
//! everything again.
//!
//! RFC 6582 asks for an acknowledgement beyond the last recovery point before another fast retransmit; we
//! ask for that after a timeout, where duplicates of our own retransmissions are to be expected (for Reno
//! too, as ns-2's `bugfix_`), and for one at the recovery point after a recovery.

use ackclock_units::Time;

use super::{DUPLICATE_THRESHOLD, Flight, NewlyLost, NextPacket, Outcome, Recovery};
use crate::payload::SackBlocks;

/// State of Reno or NewReno.
#[derive(Clone, Debug)]
pub struct DuplicateAcks {
    /// NewReno: stay in recovery until everything outstanding at its start is acknowledged.
    until_recovery_point: bool,
    limited_transmit: bool,
    duplicates: u64,
    /// Packets that left the network although they are outstanding; negative after partial acknowledgements.
    departed: i64,
    /// Duplicates that were counted as deliveries and will be acknowledged cumulatively later.
    counted: u64,
    recovering: bool,
    recovery_point: u64,
    /// No fast retransmit before this is acknowledged, after a timeout.
    timeout_point: Option<u64>,
    /// A retransmission that is sent whatever the window.
    urgent: Option<u64>,
    /// Limited transmit lets a packet out (RFC 3042).
    lets_out: bool,
    /// After a timeout: the next packet to send again.
    resend: u64,
    partial_acks: u64,
    newly_lost: NewlyLost,
}

impl DuplicateAcks {
    /// Reno, or NewReno when `newreno` is set.
    #[must_use]
    pub fn new(newreno: bool, limited_transmit: bool) -> Self {
        DuplicateAcks {
            until_recovery_point: newreno,
            limited_transmit,
            duplicates: 0,
            departed: 0,
            counted: 0,
            recovering: false,
            recovery_point: 0,
            timeout_point: None,
            urgent: None,
            lets_out: false,
            resend: u64::MAX,
            partial_acks: 0,
            newly_lost: NewlyLost::default(),
        }
    }

    fn on_new_ack(&mut self, cumulative: u64, flight: Flight) -> Outcome {
        let acknowledged = cumulative - flight.oldest;
        self.lets_out = false;
        let delivered = acknowledged.saturating_sub(self.counted);
        self.counted = self.counted.saturating_sub(acknowledged);
        self.duplicates = 0;
        if self.resend < cumulative {
            self.resend = cumulative;
        }
        if self.timeout_point.is_some_and(|point| cumulative > point) {
            self.timeout_point = None;
        }
        if self.recovering && self.until_recovery_point && cumulative < self.recovery_point {
            // Partial acknowledgement (RFC 6582, section 3.2, step 3): the next hole is sent at once; only
            // the first one restarts the timer.
            self.urgent = Some(cumulative);
            self.newly_lost.note(cumulative);
            self.departed += 1 - acknowledged as i64;
            self.partial_acks += 1;
            return Outcome { delivered, keep_timer: self.partial_acks > 1, ..Outcome::default() };
        }
        self.departed = 0;
        self.urgent = None;
        let recovered = std::mem::take(&mut self.recovering);
        Outcome { delivered, recovered, ..Outcome::default() }
    }

    fn on_duplicate(&mut self, flight: Flight) -> Outcome {
        self.duplicates += 1;
        // More duplicates than packets beyond the oldest are duplicates of retransmissions.
        let delivered = u64::from(self.counted + 1 < flight.outstanding());
        self.counted += delivered;
        let outcome = Outcome { delivered, ..Outcome::default() };
        if self.recovering {
            self.departed += 1;
        } else if self.timeout_point.is_some() {
            return outcome;
        } else if self.duplicates == DUPLICATE_THRESHOLD {
            self.recovering = true;
            self.recovery_point = flight.next;
            self.departed = DUPLICATE_THRESHOLD as i64;
            self.partial_acks = 0;
            self.urgent = Some(flight.oldest);
            self.newly_lost.note(flight.oldest);
            return Outcome { lost: true, ..outcome };
        } else if self.limited_transmit {
            self.departed = self.duplicates as i64;
            self.lets_out = self.duplicates < DUPLICATE_THRESHOLD;
        }
        outcome
    }
}

impl Recovery for DuplicateAcks {
    #[inline]
    fn on_ack(&mut self, _: Time, cumulative: u64, _: Option<SackBlocks>, flight: Flight) -> Outcome {
        if cumulative > flight.oldest {
            self.on_new_ack(cumulative, flight)
        } else if cumulative == flight.oldest && flight.outstanding() > 0 {
            self.on_duplicate(flight)
        } else {
            Outcome::default()
        }
    }

    fn on_timeout(&mut self, _: Time, flight: Flight) {
        self.recovering = false;
        self.duplicates = 0;
        self.departed = 0;
        (self.urgent, self.lets_out) = (None, false);
        self.timeout_point = Some(flight.next);
        self.resend = flight.oldest;
        // Everything goes again.
        (flight.oldest..flight.next).for_each(|sequence| self.newly_lost.note(sequence));
    }

    #[inline]
    fn next(&mut self, flight: Flight, window: u64, new_data: bool) -> NextPacket {
        if let Some(sequence) = self.urgent {
            NextPacket::Again(sequence)
        } else if self.in_flight(flight) >= window {
            NextPacket::WindowFull
        } else if self.resend < flight.next {
            NextPacket::Again(self.resend)
        } else if new_data {
            NextPacket::New
        } else {
            NextPacket::NoData
        }
    }

    #[inline]
    fn takes_no_delay(&mut self) -> bool {
        std::mem::take(&mut self.lets_out) || self.urgent.is_some()
    }

    #[inline]
    fn on_sent(&mut self, _: Time, sequence: u64, flight: Flight) {
        if self.urgent == Some(sequence) {
            self.urgent = None;
        } else if self.resend == sequence {
            self.resend += 1;
        }
        if self.resend >= flight.next {
            self.resend = u64::MAX;
        }
    }

    fn newly_lost(&mut self) -> &mut NewlyLost {
        &mut self.newly_lost
    }

    #[inline]
    fn in_flight(&self, flight: Flight) -> u64 {
        let sent = self.resend.min(flight.next) - flight.oldest;
        sent.saturating_add_signed(-self.departed)
    }

    #[inline]
    fn recovering(&self) -> bool {
        self.recovering
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::recovery::FLIGHT;

    fn after_three_duplicates(newreno: bool) -> DuplicateAcks {
        let mut recovery = DuplicateAcks::new(newreno, true);
        for n in 1..=3 {
            let outcome = recovery.on_ack(Time::ZERO, 10, None, FLIGHT);
            assert_eq!(outcome, Outcome { delivered: 1, lost: n == 3, ..Outcome::default() });
        }
        assert_eq!(recovery.next(FLIGHT, 0, true), NextPacket::Again(10), "whatever the window");
        recovery.on_sent(Time::ZERO, 10, FLIGHT);
        recovery
    }

    /// RFC 5681, section 3.2, step 3: cwnd = ssthresh + 3, so with ssthresh 5 and 10 outstanding, two more
    /// than the window; three further duplicates let one new packet out.
    #[test]
    fn duplicates_inflate() {
        let mut recovery = after_three_duplicates(false);
        assert_eq!(recovery.in_flight(FLIGHT), 7);
        for _ in 0..3 {
            assert_eq!(recovery.next(FLIGHT, 5, true), NextPacket::WindowFull);
            recovery.on_ack(Time::ZERO, 10, None, FLIGHT);
        }
        assert_eq!(recovery.next(FLIGHT, 5, true), NextPacket::New);
    }

    #[test]
    fn reno_ends_at_the_first_new_acknowledgement() {
        let mut recovery = after_three_duplicates(false);
        let outcome = recovery.on_ack(Time::ZERO, 14, None, FLIGHT);
        // 4 acknowledged, of which 3 were counted at their duplicates.
        assert_eq!(outcome, Outcome { delivered: 1, recovered: true, ..Outcome::default() });
        assert_eq!(recovery.in_flight(Flight { oldest: 14, next: 20 }), 6);
    }

    #[test]
    fn newreno_sends_the_next_hole_at_a_partial_acknowledgement() {
        let mut recovery = after_three_duplicates(true);
        let outcome = recovery.on_ack(Time::ZERO, 14, None, FLIGHT);
        assert_eq!(outcome, Outcome { delivered: 1, ..Outcome::default() });
        let flight = Flight { oldest: 14, next: 20 };
        assert_eq!(recovery.next(flight, 0, true), NextPacket::Again(14));
        recovery.on_sent(Time::ZERO, 14, flight);
        // Before: 10 outstanding, 3 departed. The RFC deflates by 4 and adds 1: 6 outstanding, 0 departed.
        assert_eq!(recovery.in_flight(flight), 6);
        let outcome = recovery.on_ack(Time::ZERO, 16, None, flight);
        assert!(outcome.keep_timer, "only the first partial acknowledgement restarts the timer");
        let outcome = recovery.on_ack(Time::ZERO, 20, None, Flight { oldest: 16, next: 20 });
        assert!(outcome.recovered);
    }

    #[test]
    fn after_a_timeout_everything_goes_again_and_duplicates_do_not_count() {
        let mut recovery = DuplicateAcks::new(true, true);
        recovery.on_timeout(Time::ZERO, FLIGHT);
        assert_eq!(recovery.in_flight(FLIGHT), 0);
        assert_eq!(recovery.next(FLIGHT, 1, true), NextPacket::Again(10));
        recovery.on_sent(Time::ZERO, 10, FLIGHT);
        assert_eq!(recovery.next(FLIGHT, 1, true), NextPacket::WindowFull);
        recovery.on_ack(Time::ZERO, 11, None, FLIGHT);
        let flight = Flight { oldest: 11, next: 20 };
        assert_eq!(recovery.next(flight, 2, true), NextPacket::Again(11));
        for _ in 0..5 {
            assert!(!recovery.on_ack(Time::ZERO, 11, None, flight).lost);
        }
        // An acknowledgement jumps over what had arrived.
        recovery.on_ack(Time::ZERO, 20, None, flight);
        assert_eq!(recovery.next(Flight { oldest: 20, next: 20 }, 2, true), NextPacket::New);
    }
}
