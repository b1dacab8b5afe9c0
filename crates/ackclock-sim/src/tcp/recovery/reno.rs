//! Recovery from duplicate acknowledgements alone: Reno (RFC 5681) and NewReno (RFC 6582).
//!
//! Where an RFC inflates the window, this counts packets in flight instead: every duplicate acknowledgement
//! says that a packet has left the network. After a timeout both go back to the oldest packet and send
//! everything again.
//!
//! RFC 6582 asks for an acknowledgement beyond the last recovery point before another fast retransmit; we
//! ask for that after a timeout, where duplicates of our own retransmissions are to be expected (for Reno
//! too), and for one at the recovery point after a recovery of NewReno. Reno as ns-2 has it asks for it after a
//! fast retransmit as well (`bugFix_`, by default since 1997 at the latest; `dupack_action` in tcp-reno.cc,
//! behaviour): another loss in the same window waits for the timeout. Its window also grows on the
//! acknowledgement that ends a recovery (`recv_newack_helper` in tcp.cc).

use ackclock_units::Time;

use super::{DUPLICATE_THRESHOLD, Flight, NewlyLost, NextPacket, Outcome, Recovery};
use crate::payload::SackBlocks;

/// State of Reno or NewReno.
#[derive(Clone, Debug)]
pub struct DuplicateAcks {
    /// NewReno: stay in recovery until everything outstanding at its start is acknowledged.
    until_recovery_point: bool,
    /// Reno as ns-2 has it.
    of_ns2: bool,
    limited_transmit: bool,
    duplicates: u64,
    /// Packets that left the network although they are outstanding; negative after partial acknowledgements.
    departed: i64,
    /// Duplicates that were counted as deliveries and will be acknowledged cumulatively later.
    counted: u64,
    recovering: bool,
    recovery_point: u64,
    /// No fast retransmit before this packet is acknowledged, and no limited transmit.
    held_until: Option<u64>,
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
            of_ns2: false,
            limited_transmit,
            duplicates: 0,
            departed: 0,
            counted: 0,
            recovering: false,
            recovery_point: 0,
            held_until: None,
            urgent: None,
            lets_out: false,
            resend: u64::MAX,
            partial_acks: 0,
            newly_lost: NewlyLost::default(),
        }
    }

    /// As ns-2 has it: one fast retransmit in a window of data, and growth on the acknowledgement that ends it.
    #[must_use]
    pub fn of_ns2(self) -> Self {
        DuplicateAcks { of_ns2: true, ..self }
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
        if self.held_until.is_some_and(|point| cumulative > point) {
            self.held_until = None;
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
        } else if self.held_until.is_some() {
            // Limited transmit of ns-2 ignores this state: after a timeout, each of the first two duplicates lets out a
            // retransmission (`send_one` in tcp.cc, behaviour).
            if self.of_ns2 && self.limited_transmit {
                self.lets_out = self.duplicates < DUPLICATE_THRESHOLD;
                self.departed = if self.lets_out { self.duplicates as i64 } else { 0 };
            }
            return outcome;
        } else if self.duplicates == DUPLICATE_THRESHOLD {
            self.recovering = true;
            self.recovery_point = flight.next;
            if self.of_ns2 {
                self.held_until = Some(flight.next);
            }
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
        self.held_until = Some(flight.next);
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

    fn has_lost(&mut self, flight: Flight) -> bool {
        self.resend < flight.next
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

    #[inline]
    fn grows_at_end(&self) -> bool {
        self.of_ns2
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

    /// Whether `count` duplicate acknowledgements at the oldest packet report a loss.
    fn duplicates(recovery: &mut DuplicateAcks, count: u64, flight: Flight) -> bool {
        (0..count).any(|_| recovery.on_ack(Time::ZERO, flight.oldest, None, flight).lost)
    }

    /// Packets 10 and 13 are lost. 11, 12 and 14 to 19 arrive: 8 duplicates. The third sends 10 again and halves the
    /// window to 5; 10 - 8 = 2 are then in flight, so that 20, 21 and 22 follow. The acknowledgement of 10 asks for
    /// 13, and those three packets give three duplicates of it. Reno sends 13 again. As ns-2 has it, it does not: its
    /// highest acknowledged packet, 12, is not beyond 19, the last that was sent before the fast retransmit. 13 to
    /// 22 fill the window, and the timeout decides.
    #[test]
    fn the_second_loss_of_a_window_waits_for_the_timeout_in_ns2() {
        for of_ns2 in [false, true] {
            let recovery = DuplicateAcks::new(false, false);
            let mut recovery = if of_ns2 { recovery.of_ns2() } else { recovery };
            assert!(duplicates(&mut recovery, 8, FLIGHT), "the first loss");
            assert_eq!(recovery.next(FLIGHT, 5, true), NextPacket::Again(10));
            recovery.on_sent(Time::ZERO, 10, FLIGHT);
            let sent = |next| Flight { oldest: 10, next };
            // `any` stops at the third of the eight.
            (4..=8).for_each(|_| assert!(!duplicates(&mut recovery, 1, FLIGHT)));
            for next in 20..23 {
                assert_eq!(recovery.next(sent(next), 5, true), NextPacket::New);
            }
            assert_eq!(recovery.next(sent(23), 5, true), NextPacket::WindowFull);
            assert!(recovery.on_ack(Time::ZERO, 13, None, sent(23)).recovered);
            let flight = Flight { oldest: 13, next: 23 };
            assert_eq!(duplicates(&mut recovery, 3, flight), !of_ns2, "the second loss");
            let then = if of_ns2 { NextPacket::WindowFull } else { NextPacket::Again(13) };
            assert_eq!(recovery.next(flight, 5, true), then);
            recovery.on_timeout(Time::ZERO, flight);
            assert_eq!(recovery.next(flight, 1, true), NextPacket::Again(13));
        }
    }

    /// 10 alone is lost, and 20 to 22 are sent before its retransmission arrives. Packets up to 19 were sent before
    /// the fast retransmit: with 20 packets acknowledged, 19 is the highest and not beyond; with 21, 20 is.
    #[test]
    fn the_next_window_may_have_a_fast_retransmit() {
        for (acknowledged, again) in [(20, false), (21, true)] {
            let mut recovery = DuplicateAcks::new(false, false).of_ns2();
            assert!(duplicates(&mut recovery, 3, FLIGHT));
            recovery.on_sent(Time::ZERO, 10, FLIGHT);
            recovery.on_ack(Time::ZERO, acknowledged, None, Flight { oldest: 10, next: 23 });
            let flight = Flight { oldest: acknowledged, next: 26 };
            assert_eq!(duplicates(&mut recovery, 3, flight), again, "{acknowledged} acknowledged");
        }
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
