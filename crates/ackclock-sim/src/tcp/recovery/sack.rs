//! Recovery from selective acknowledgements: RFC 6675.
//!
//! A packet counts as lost when three above it were reported (section 4, IsLost, in whole packets). So
//! one number describes the losses: everything unreported below the third-highest report is lost, and the number only
//! rises. The pipe is kept as four counts, so the work per acknowledgement depends on what it newly reports,
//! not on how many losses are outstanding. A lost retransmission is not seen; the timer repairs it.
//!
//! After a timeout everything unreported counts as lost and is sent again in slow start (section 5.1); the receiver's
//! reports are kept.

use std::mem::offset_of;

use ackclock_units::Time;

use super::{DUPLICATE_THRESHOLD, Flight, NewlyLost, NextPacket, Outcome, Recovery};
use crate::payload::SackBlocks;
use crate::tcp::SequenceSet;

/// State of RFC 6675.
// The order is that of memory: fields that are needed only around losses come first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sack {
    newly_lost: NewlyLost,
    /// The three highest numbers ever reported, plus 1; 0 where there are fewer.
    highest: [u64; DUPLICATE_THRESHOLD as usize],
    /// The end of the episode; also, after a timeout, the point below which no new one begins.
    recovery_point: u64,
    /// Packets above the oldest that were reported.
    reported: SequenceSet,
    /// Unreported packets below this are lost.
    frontier: u64,
    /// Lost packets: unreported ones from the oldest to the frontier.
    lost: u64,
    /// All packets from the oldest up to, but not including, this one were sent again in this episode, except reported
    /// ones.
    resent_below: u64,
    /// Unreported packets below `resent_below`.
    resent: u64,
    /// Packets outstanding that have left the network, by being reported or lost.
    gone: u64,
    limited_transmit: bool,
    recovering: bool,
    /// The first retransmission of an episode goes out whatever the window (section 5, step 4.3).
    urgent: bool,
    /// Limited transmit lets a packet out (RFC 3042).
    lets_out: bool,
    /// The one retransmission of an episode that keeps acknowledgements coming (section 4, rule 4).
    rescued: bool,
}

impl Sack {
    /// The state at the start of a connection.
    #[must_use]
    pub fn new(limited_transmit: bool) -> Self {
        Sack {
            limited_transmit,
            reported: SequenceSet::default(),
            highest: [0; DUPLICATE_THRESHOLD as usize],
            frontier: 0,
            lost: 0,
            resent_below: 0,
            resent: 0,
            gone: 0,
            recovery_point: 0,
            recovering: false,
            urgent: false,
            lets_out: false,
            rescued: false,
            newly_lost: NewlyLost::default(),
        }
    }

    /// Forgets everything below `cumulative`. Returns how much of it had not been reported.
    #[inline]
    fn acknowledge(&mut self, cumulative: u64, oldest: u64) -> u64 {
        if self.reported.is_empty() && self.lost == 0 && self.resent == 0 {
            // So all that is outstanding is above both, and they need not be compared.
            debug_assert!(self.frontier <= cumulative && self.resent_below <= cumulative);
            self.reported.advance(cumulative);
            (self.frontier, self.resent_below) = (cumulative, cumulative);
            return cumulative - oldest;
        }
        let unreported = self.forget(cumulative, oldest);
        self.reported.advance(cumulative);
        self.frontier = self.frontier.max(cumulative);
        self.resent_below = self.resent_below.max(cumulative);
        unreported
    }

    fn forget(&mut self, cumulative: u64, oldest: u64) -> u64 {
        let mut unreported = 0;
        let mut sequence = self.reported.next_missing(oldest);
        while sequence < cumulative {
            unreported += 1;
            self.lost -= u64::from(sequence < self.frontier);
            self.resent -= u64::from(sequence < self.resent_below);
            sequence = self.reported.next_missing(sequence + 1);
        }
        unreported
    }

    /// Reports or losses have changed.
    fn count_gone(&mut self) {
        // Without limited transmit, reports before an episode allow nothing to be sent.
        let counts = self.limited_transmit || self.recovering || self.lost > 0;
        let reported = if counts { self.reported.len() } else { 0 };
        self.gone = reported + self.lost;
    }

    /// Records the packets that the blocks newly report. Returns their number.
    // A separate function: inlined, it would take registers from the code that every acknowledgement runs.
    #[cold]
    #[inline(never)]
    fn report_all(&mut self, blocks: &SackBlocks, flight: Flight) -> u64 {
        let newly = blocks.iter().map(|block| self.report(*block, flight)).sum();
        self.move_frontier(self.highest[2].saturating_sub(1));
        newly
    }

    /// Records the packets that a block newly reports. Returns their number.
    fn report(&mut self, block: (u64, u64), flight: Flight) -> u64 {
        let end = block.1.min(flight.next);
        let mut newly = 0;
        let mut from = block.0.max(flight.oldest);
        while let Some(sequence) = self.reported.insert_missing(&mut from, end) {
            newly += 1;
            self.lost -= u64::from(sequence < self.frontier);
            self.resent -= u64::from(sequence < self.resent_below);
            if sequence + 1 > self.highest[2] {
                self.highest[2] = sequence + 1;
                self.highest.sort_unstable_by(|a, b| b.cmp(a));
            }
        }
        newly
    }

    /// Moves the frontier up: unreported packets below it are lost.
    fn move_frontier(&mut self, frontier: u64) {
        let mut sequence = self.reported.next_missing(self.frontier);
        while sequence < frontier {
            self.lost += 1;
            self.newly_lost.note(sequence);
            sequence = self.reported.next_missing(sequence + 1);
        }
        self.frontier = self.frontier.max(frontier);
    }
}

impl Recovery for Sack {
    const NEEDED_FROM: usize = offset_of!(Sack, reported) + SequenceSet::NEEDED_FROM;

    #[inline]
    fn on_ack(&mut self, _: Time, cumulative: u64, blocks: Option<SackBlocks>, flight: Flight) -> Outcome {
        let mut outcome = Outcome::default();
        let mut now = flight;
        if cumulative > flight.oldest {
            outcome.delivered = self.acknowledge(cumulative, flight.oldest);
            now.oldest = cumulative;
            if self.recovering && cumulative >= self.recovery_point {
                self.recovering = false;
                outcome.recovered = true;
            }
        }
        if let Some(blocks) = &blocks {
            outcome.delivered += self.report_all(blocks, now);
            let is_duplicate = cumulative <= flight.oldest && flight.oldest >= self.recovery_point;
            self.lets_out = self.limited_transmit && is_duplicate;
        }
        if !self.recovering && self.lost > 0 && now.oldest >= self.recovery_point {
            self.recovering = true;
            self.recovery_point = now.next;
            self.urgent = true;
            self.rescued = false;
            self.resent_below = now.oldest;
            self.resent = 0;
            outcome.lost = true;
        }
        if self.gone > 0 || blocks.is_some() || outcome.lost || outcome.recovered {
            self.count_gone();
        }
        outcome
    }

    fn on_timeout(&mut self, _: Time, flight: Flight) {
        self.recovering = false;
        (self.urgent, self.lets_out) = (false, false);
        self.recovery_point = flight.next;
        self.move_frontier(flight.next);
        self.resent_below = flight.oldest;
        self.resent = 0;
        self.count_gone();
    }

    #[inline]
    fn next(&mut self, flight: Flight, window: u64, new_data: bool) -> NextPacket {
        if !self.urgent && self.in_flight(flight) >= window {
            return NextPacket::WindowFull;
        }
        // Rule 1: the oldest lost packet that was not sent again.
        if self.lost > self.resent {
            let sequence = self.reported.next_missing(self.resent_below);
            if sequence < self.frontier {
                return NextPacket::Again(sequence);
            }
        }
        if new_data {
            return NextPacket::New;
        }
        if self.recovering {
            // Rule 3: without new data, an unreported packet below the highest report.
            let sequence = self.reported.next_missing(self.resent_below);
            if sequence + 1 < self.highest[0] {
                return NextPacket::Again(sequence);
            }
            // Rule 4: once, the last unreported packet.
            if !self.rescued && flight.outstanding() > 0 && !self.reported.contains(flight.next - 1) {
                return NextPacket::Again(flight.next - 1);
            }
        }
        NextPacket::NoData
    }

    fn has_lost(&mut self, _: Flight) -> bool {
        self.lost > self.resent && self.reported.next_missing(self.resent_below) < self.frontier
    }

    #[inline]
    fn takes_no_delay(&mut self) -> bool {
        let lets_out = std::mem::take(&mut self.lets_out) && !self.recovering && !self.reported.is_empty();
        lets_out || self.urgent
    }

    #[inline]
    fn on_sent(&mut self, _: Time, sequence: u64, flight: Flight) {
        self.urgent = false;
        if sequence >= flight.next {
            return;
        }
        if sequence == self.reported.next_missing(self.resent_below) {
            self.resent_below = sequence + 1;
            self.resent += 1;
        } else {
            self.rescued = true;
        }
    }

    fn newly_lost(&mut self) -> &mut NewlyLost {
        &mut self.newly_lost
    }

    #[inline]
    fn in_flight(&self, flight: Flight) -> u64 {
        flight.outstanding() + self.resent - self.gone
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

    fn block(first: u64, end: u64) -> Option<SackBlocks> {
        Some([(first, end), (0, 0), (0, 0)])
    }

    /// Ten packets 10..20 are out; 10 and 12 are missing. The third report above 10 makes it lost; 12 is
    /// lost with the third report above it.
    fn two_losses() -> Sack {
        let mut sack = Sack::new(true);
        sack.on_ack(Time::ZERO, 10, None, Flight { oldest: 0, next: 20 });
        assert!(!sack.on_ack(Time::ZERO, 10, block(11, 12), FLIGHT).lost);
        assert!(!sack.on_ack(Time::ZERO, 10, block(13, 14), FLIGHT).lost);
        assert!(sack.on_ack(Time::ZERO, 10, block(13, 15), FLIGHT).lost, "11, 13, 14 are above 10");
        assert_eq!((sack.lost, sack.frontier), (1, 11));
        sack.on_ack(Time::ZERO, 10, block(13, 16), FLIGHT);
        assert_eq!(sack.lost, 2, "13, 14, 15 are above 12");
        sack
    }

    #[test]
    fn the_pipe_counts_what_is_neither_reported_nor_lost() {
        let mut sack = two_losses();
        // 10 out, 4 reported, 2 lost.
        assert_eq!(sack.in_flight(FLIGHT), 4);
        assert_eq!(sack.next(FLIGHT, 0, true), NextPacket::Again(10), "the first goes whatever the window");
        sack.on_sent(Time::ZERO, 10, FLIGHT);
        assert_eq!(sack.in_flight(FLIGHT), 5);
        assert_eq!(sack.next(FLIGHT, 5, true), NextPacket::WindowFull);
        assert_eq!(sack.next(FLIGHT, 6, true), NextPacket::Again(12));
        sack.on_sent(Time::ZERO, 12, FLIGHT);
        assert_eq!(sack.next(FLIGHT, 7, true), NextPacket::New);
    }

    #[test]
    fn the_episode_ends_at_the_recovery_point() {
        let mut sack = two_losses();
        sack.on_sent(Time::ZERO, 10, FLIGHT);
        // 10 was the only unreported one up to 12.
        let outcome = sack.on_ack(Time::ZERO, 12, block(13, 16), FLIGHT);
        assert_eq!(outcome, Outcome { delivered: 1, ..Outcome::default() });
        let flight = Flight { oldest: 12, next: 20 };
        sack.on_sent(Time::ZERO, 12, flight);
        let outcome = sack.on_ack(Time::ZERO, 20, None, flight);
        assert_eq!(outcome, Outcome { delivered: 5, recovered: true, ..Outcome::default() });
        assert_eq!(sack.in_flight(Flight { oldest: 20, next: 20 }), 0);
    }

    /// Without new data the last unreported packet is sent once more, once (rule 4).
    #[test]
    fn the_tail_is_rescued_once() {
        let mut sack = two_losses();
        sack.on_sent(Time::ZERO, 10, FLIGHT);
        sack.on_sent(Time::ZERO, 12, FLIGHT);
        assert_eq!(sack.next(FLIGHT, 100, false), NextPacket::Again(19));
        sack.on_sent(Time::ZERO, 19, FLIGHT);
        assert_eq!(sack.next(FLIGHT, 100, false), NextPacket::NoData);
    }

    #[test]
    fn after_a_timeout_only_what_is_unreported_goes_again() {
        let mut sack = two_losses();
        sack.on_timeout(Time::ZERO, FLIGHT);
        assert_eq!(sack.in_flight(FLIGHT), 0);
        let mut again = Vec::new();
        while let NextPacket::Again(sequence) = sack.next(FLIGHT, 100, false) {
            sack.on_sent(Time::ZERO, sequence, FLIGHT);
            again.push(sequence);
        }
        assert_eq!(again, [10, 12, 16, 17, 18, 19]);
        assert_eq!(sack.in_flight(FLIGHT), 6);
    }
}
