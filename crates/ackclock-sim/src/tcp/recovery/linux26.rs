//! Recovery as in TCP-Linux of ns-2, which the papers of 2006 to 2011 used: forward acknowledgements, rate halving
//! and moderation of the window, after Linux 2.6. Source: the behaviour of ns-2.35, `tcp/tcp-linux.cc` and
//! `tcp/scoreboard1.cc`; Mathis and Mahdavi, SIGCOMM 1996, for forward acknowledgements.
//!
//! - A packet is lost when one was reported that lies four above it; so a hole is seen at once however few reports
//!   there are. A retransmission is lost when a packet was reported that was first sent after it, or when one was
//!   delivered that was sent again more than four retransmissions later.
//! - In an episode one packet goes out for two that leave the network, until the packets in flight have come down to the
//!   floor: ssthresh, or half of it for controls that ask for that. At the end, a window below ssthresh becomes the
//!   number of packets in flight plus three, and slow start leads back to ssthresh.
//! - At the end of an episode all reports are forgotten; losses that later reports show begin a new episode.
//! - Every acknowledgement restarts the retransmission timer, even a duplicate.
//! - After a timeout everything unreported is lost; a loss seen then begins an episode.
//!
//! The window grows only when it was full before the acknowledgement. With a random delay before each send
//! (`overhead_`) that stops most growth, which is a property of this sender, not of any network; docs/validation.md
//! has the proof. The part of the halved rate that such a delay restores is modelled here, too.
//!
//! Not taken over: RTT samples that duplicate acknowledgements give to the timer. A packet is sent up to a nanosecond
//! late, at random: so when packets of two flows would arrive at the same instant, chance decides which is first, not
//! the numbers of the flows. In ns-2 the rounding of its clock decides (docs/validation.md).

use ackclock_units::Time;

use super::{DUPLICATE_THRESHOLD, Flight, NewlyLost, NextPacket, Outcome, Recovery};
use crate::payload::SackBlocks;
use crate::tcp::SequenceSet;
use crate::tcp::retransmissions::{Fate, Retransmissions};

/// How far below the highest report a packet is lost, and how many before the latest delivered retransmission
/// another retransmission is.
const LOST_DISTANCE: u64 = DUPLICATE_THRESHOLD + 1;
/// Packets that may go at once after an episode, whatever is in flight.
const MODERATE_BURST: u64 = 3;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CongestionState {
    #[default]
    Open,
    Recovery,
    /// After a timeout.
    Loss,
}

/// State of TCP-Linux.
#[derive(Clone, Debug, Default)]
pub struct Linux26 {
    limited_transmit: bool,
    /// The floor of an episode is half of ssthresh.
    half_floor: bool,
    /// Packets above the oldest that were reported.
    reported: SequenceSet,
    /// The highest number reported, plus 1; 0 for none.
    highest: u64,
    /// Unreported packets below this are lost or were sent again.
    frontier: u64,
    /// Packets below this that are unreported were sent again.
    resent_below: u64,
    again: Retransmissions,
    /// Ordinal number of the latest retransmission that was delivered, plus 1.
    delivered_ordinals: u64,
    /// Lost packets that are to be sent again.
    lost: u64,
    state: CongestionState,
    /// The end of the episode.
    recovery_point: u64,
    halving: Halving,
    newly_lost: NewlyLost,
}

/// Rate halving: packets in flight that an episode allows above its floor.
#[derive(Clone, Copy, Debug, Default)]
struct Halving {
    limit: u64,
    /// The limit for the current burst.
    of_burst: u64,
    /// The burst follows a random delay, so its reduction of the limit is temporary.
    delayed: bool,
    floor: u64,
}

impl Halving {
    fn begin_burst(&mut self, in_flight: u64, delayed: bool) {
        self.delayed = delayed;
        self.lower(in_flight + 1);
    }

    fn on_sent(&mut self, in_flight: u64) {
        self.lower(in_flight.saturating_sub(1).max(1));
    }

    fn lower(&mut self, limit: u64) {
        self.of_burst = self.limit.min(limit);
        if !self.delayed || self.of_burst <= self.floor {
            self.limit = self.of_burst;
        }
    }
}

impl Linux26 {
    /// The state at the start of a connection, for a control whose floor in an episode is ssthresh or half of it.
    #[must_use]
    pub fn new(limited_transmit: bool, half_floor: bool) -> Self {
        Linux26 { limited_transmit, half_floor, ..Linux26::default() }
    }

    /// A packet that was not reported has arrived.
    fn deliver(&mut self, sequence: u64) {
        let fate = self.again.deliver(sequence);
        let never_resent = sequence < self.frontier && sequence >= self.resent_below;
        self.lost -= u64::from(fate == Fate::Lost || never_resent);
        if let Fate::UnderWay(ordinal) = fate {
            self.delivered_ordinals = self.delivered_ordinals.max(ordinal + 1);
        }
    }

    /// Takes in the cumulative part. Returns how many packets it newly reports.
    fn acknowledge(&mut self, cumulative: u64, oldest: u64) -> u64 {
        let mut newly = cumulative - oldest;
        if !self.reported.is_empty() || self.lost > 0 || !self.again.is_empty() {
            newly = 0;
            let mut sequence = self.reported.next_missing(oldest);
            while sequence < cumulative {
                newly += 1;
                self.deliver(sequence);
                sequence = self.reported.next_missing(sequence + 1);
            }
        }
        self.reported.advance(cumulative);
        self.frontier = self.frontier.max(cumulative);
        self.resent_below = self.resent_below.max(cumulative);
        newly
    }

    /// Takes in a block. Returns how many packets it newly reports.
    fn report(&mut self, block: (u64, u64), flight: Flight) -> u64 {
        let end = block.1.min(flight.next);
        let mut newly = 0;
        let mut from = block.0.max(flight.oldest);
        while let Some(sequence) = self.reported.insert_missing(&mut from, end) {
            self.deliver(sequence);
            newly += 1;
            self.highest = self.highest.max(sequence + 1);
        }
        newly
    }

    /// Marks the packets that the reports show to be lost. Returns whether there are any.
    fn detect(&mut self) -> bool {
        let before = self.lost;
        self.move_frontier(self.highest.saturating_sub(LOST_DISTANCE));
        while let Some(first) = self.again.first() {
            if first.next >= self.highest && first.ordinal + LOST_DISTANCE + 1 >= self.delivered_ordinals {
                break;
            }
            self.again.lose_first();
            self.newly_lost.note(first.sequence);
            self.lost += 1;
        }
        self.lost > before
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

    /// The end of an episode: every report is forgotten.
    fn forget(&mut self, oldest: u64) {
        self.reported.clear();
        self.again.clear();
        (self.highest, self.delivered_ordinals, self.lost) = (0, 0, 0);
        (self.frontier, self.resent_below) = (oldest, oldest);
    }
}

impl Recovery for Linux26 {
    const GROWS_WHEN_FULL: bool = true;
    const TIMESTAMPS: bool = true;

    fn on_ack(&mut self, _: Time, cumulative: u64, blocks: Option<SackBlocks>, flight: Flight) -> Outcome {
        let mut outcome = Outcome { restarts_timer: true, ..Outcome::default() };
        let mut now = flight;
        if cumulative > flight.oldest {
            outcome.delivered = self.acknowledge(cumulative, flight.oldest);
            now.oldest = cumulative;
        }
        for block in blocks.into_iter().flatten() {
            outcome.delivered += self.report(block, now);
        }
        let newly_lost = self.detect();
        if self.state != CongestionState::Open && now.oldest >= self.recovery_point {
            self.forget(now.oldest);
            if self.state == CongestionState::Recovery {
                outcome.recovered = true;
                outcome.moderated = self.half_floor.then_some(now.outstanding() + MODERATE_BURST);
            }
            self.state = CongestionState::Open;
        } else if newly_lost && self.state != CongestionState::Recovery {
            self.state = CongestionState::Recovery;
            self.recovery_point = now.next;
            self.halving.limit = u64::MAX;
            outcome.lost = true;
        }
        outcome
    }

    fn on_timeout(&mut self, _: Time, flight: Flight) {
        self.state = CongestionState::Loss;
        self.recovery_point = flight.next;
        self.again.clear();
        self.delivered_ordinals = 0;
        self.resent_below = flight.oldest;
        self.lost = 0;
        self.frontier = flight.oldest;
        self.move_frontier(flight.next);
    }

    fn begin_burst(&mut self, flight: Flight, delayed: bool) {
        if self.state == CongestionState::Recovery {
            self.halving.begin_burst(self.in_flight(flight), delayed);
        }
    }

    fn next(&mut self, flight: Flight, window: u64, new_data: bool) -> NextPacket {
        let mut limit = window;
        if self.state == CongestionState::Recovery {
            self.halving.floor = if self.half_floor { (window / 2).max(1) } else { window };
            limit = self.halving.floor.max(self.halving.of_burst);
        }
        if self.in_flight(flight) >= limit {
            return NextPacket::WindowFull;
        }
        if self.lost > 0 {
            let first = self.reported.next_missing(self.resent_below);
            let first = (first < self.frontier).then_some(first);
            // The lowest goes first, whether it was sent again before or not.
            if let Some(sequence) = first.into_iter().chain(self.again.lowest_lost()).min() {
                return NextPacket::Again(sequence);
            }
        }
        if new_data { NextPacket::New } else { NextPacket::NoData }
    }

    fn has_lost(&mut self, _: Flight) -> bool {
        self.lost > 0
    }

    fn on_sent(&mut self, _: Time, sequence: u64, flight: Flight) {
        let is_new = sequence >= flight.next;
        if !is_new {
            if self.again.fate(sequence) != Fate::Lost {
                self.resent_below = sequence + 1;
            }
            self.again.send(sequence, flight.next, flight.oldest);
            self.lost -= 1;
        }
        if self.state == CongestionState::Recovery {
            self.halving.on_sent(self.in_flight(flight) + u64::from(is_new));
        }
    }

    fn newly_lost(&mut self) -> &mut NewlyLost {
        &mut self.newly_lost
    }

    fn in_flight(&self, flight: Flight) -> u64 {
        let counts = self.limited_transmit || self.state != CongestionState::Open;
        let reported = if counts { self.reported.len() } else { 0 };
        flight.outstanding() - reported - self.lost
    }

    fn recovering(&self) -> bool {
        self.state == CongestionState::Recovery
    }
}

#[cfg(test)]
mod tests;
