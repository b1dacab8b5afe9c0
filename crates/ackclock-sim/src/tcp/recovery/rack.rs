//! Recovery by time: RACK-TLP (RFC 8985) with proportional rate reduction (RFC 6937), as Linux does.
//!
//! A packet is lost when one that was sent later has been delivered and a round-trip time and a reordering window have
//! passed since it was sent (section 6.2). That finds lost retransmissions, too. Packets in flight are in a list in the
//! order of their last transmission, so a look at its head finds every loss.
//!
//! The reordering window is zero in recovery or with three reports, as long as no reordering was seen, else a
//! quarter of the smallest RTT, times one more than the duplicates that the receiver reported (section 6.2,
//! step 4). A tail loss probe goes out two smoothed RTTs after the last transmission (section 7), and takes the place
//! of a timeout that would come before it. A loss that it repairs still reduces the window (section 7.4.2).
//!
//! An episode or timeout is undone when the receiver reports all of its retransmissions as duplicates (RFC 2883), or when
//! new data is acknowledged whose time stamp is older than the first retransmission: the packet was late, not lost
//! (Eifel, RFC 3522). In an episode that waits until no retransmission is under way, as in Linux. A timeout is undone, too,
//! when F-RTO shows it to be a false alarm (`spurious.rs`).
//!
//! Linux adapts the number of reports that mean a loss when it sees reordering; here that would change nothing, because
//! once reordering is seen, the window of time opens regardless of that number.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ackclock_units::{Span, Time};

use super::{DUPLICATE_THRESHOLD, Flight, NewlyLost, NextPacket, Outcome, Recovery};
use crate::memory::Grow as _;
use crate::payload::SackBlocks;
use crate::tcp::SequenceSet;
use crate::tcp::sent_list::{SentList, SentState};

mod blocks;
mod probe;
mod reduction;
mod spurious;

use blocks::reports_duplicate;
use probe::Probe;
use reduction::Reduction;
use spurious::Spurious;

/// Recoveries for which a larger reordering window is kept (RFC 8985, section 6.2, step 4).
const REORDERING_PERSISTS: u32 = 16;

/// State of RFC 8985 and RFC 6937.
#[derive(Clone, Debug, Default)]
pub struct Rack {
    /// Proportional rate reduction applies.
    reduces: bool,
    sent: SentList,
    /// Packets above the oldest that were reported.
    reported: SequenceSet,
    /// The blocks of the last report.
    blocks: SackBlocks,
    /// Lost packets to be retransmitted, the oldest first; packets that have arrived since are skipped.
    lost: BinaryHeap<Reverse<u64>>,
    /// The send time and number of the delivered packet that was sent last; at first, a value before all packets.
    newest: (Time, u64),
    /// The RTT of that packet.
    rtt: Span,
    least_rtt: Option<Span>,
    smoothed_rtt: Option<Span>,
    /// The highest packet delivered, plus 1.
    highest: u64,
    reordering_seen: bool,
    /// The reordering window in quarters of the smallest RTT, and the recoveries for which it stays so.
    window_quarters: u64,
    window_persists: u32,
    /// When the next packet becomes lost unless something arrives.
    reordering_ends: Time,
    recovering: bool,
    /// The end of the episode; also, after a timeout, the point below which no new one begins.
    recovery_point: u64,
    reduction: Reduction,
    probe: Probe,
    /// Retransmissions since the last episode or timeout began that are not reported as duplicates; none when there
    /// is nothing to undo.
    doubtful: Option<u64>,
    /// The time at which the first of these retransmissions was sent.
    first_resent: Option<Time>,
    /// The send time of the packet that caused the last acknowledgement.
    echo: Time,
    /// The window that was last allowed.
    window: u64,
    newly_lost: NewlyLost,
    spurious: Spurious,
}

impl Rack {
    /// The state at the start of a connection. Without `reduces`, an episode sends as many packets as the window
    /// allows, as Linux does for controls that set a rate.
    #[must_use]
    pub fn new(reduces: bool) -> Self {
        Rack { reduces, window_quarters: 1, reordering_ends: Time::NEVER, ..Rack::default() }
    }

    /// A packet has been delivered that was sent at `at`, for the first time or `again`.
    #[inline]
    fn deliver(&mut self, now: Time, sequence: u64, (at, again): (Time, bool)) {
        let rtt = now.since(at);
        if again && self.echo < at {
            // The time stamp shows that the acknowledgement is for the first transmission (section 6.2, step 2).
            return;
        }
        if !again {
            self.spurious.note(sequence < self.recovery_point);
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
            self.reordering_seen |= sequence < self.highest;
        }
        self.highest = self.highest.max(sequence + 1);
        if (at, sequence) >= self.newest {
            (self.newest, self.rtt) = ((at, sequence), rtt);
        }
    }

    /// Takes in the cumulative part of an acknowledgement. Returns how many packets it newly reports.
    fn acknowledge(&mut self, now: Time, cumulative: u64, oldest: u64) -> u64 {
        let mut newly = 0;
        for sequence in oldest..cumulative {
            if let Some(last) = self.sent.report(sequence) {
                newly += 1;
                self.deliver(now, sequence, last);
            }
        }
        self.reported.advance(cumulative);
        newly
    }

    fn reordering_window(&self) -> Span {
        let certain = self.recovering || self.reported.len() >= DUPLICATE_THRESHOLD;
        if !self.reordering_seen && certain {
            return Span::ZERO;
        }
        let quarters = self.least_rtt.unwrap_or(Span::ZERO).saturating_mul(self.window_quarters);
        Span(quarters.0 / 4).min(self.smoothed_rtt.unwrap_or(Span::MAX))
    }

    /// Marks the packets that must be lost by `now` (section 6.2, step 5). Returns whether there were any.
    #[inline]
    fn detect(&mut self, now: Time) -> bool {
        self.reordering_ends = Time::NEVER;
        // Packets are sent in the order of time: mostly the oldest in flight was sent after the newest delivered one.
        self.sent.first().is_some_and(|first| first < self.newest) && self.detect_older(now)
    }

    fn detect_older(&mut self, now: Time) -> bool {
        let patience = self.rtt + self.reordering_window();
        let mut has_lost = false;
        while let Some((at, sequence)) = self.sent.first() {
            if (at, sequence) >= self.newest {
                break;
            }
            if at + patience > now {
                self.reordering_ends = at + patience;
                break;
            }
            self.lose(sequence);
            has_lost = true;
        }
        has_lost
    }

    fn lose(&mut self, sequence: u64) {
        self.sent.set(sequence, SentState::Lost);
        self.newly_lost.note(sequence);
        self.lost.add(Reverse(sequence));
    }

    /// Begins an episode after losses, unless one is in progress or a timeout's is not over. True when it begins.
    fn enter(&mut self, flight: Flight) -> bool {
        if self.recovering || flight.oldest < self.recovery_point {
            return false;
        }
        (self.recovering, self.recovery_point) = (true, flight.next);
        self.reduction = Reduction::new(self.window);
        (self.doubtful, self.first_resent) = (Some(0), None);
        self.probe.stop();
        self.window_persists = self.window_persists.saturating_sub(1);
        if self.window_persists == 0 {
            self.window_quarters = 1;
        }
        true
    }

    /// The receiver has got a packet twice. Returns whether the episode turns out to have been a false alarm.
    fn note_duplicate(&mut self) -> bool {
        self.window_quarters += 1;
        (self.window_persists, self.reordering_seen) = (REORDERING_PERSISTS, true);
        match &mut self.doubtful {
            Some(count) if *count > 0 => {
                *count -= 1;
                *count == 0
            }
            _ => false,
        }
    }

    /// Whether an acknowledgement of new data shows that the last episode or timeout was a false alarm, by its time stamp.
    fn was_late(&self, after: Flight) -> bool {
        let older = self.first_resent.is_some_and(|first| self.echo < first);
        let waits = self.recovering && after.oldest < self.recovery_point && self.sent.again_in_flight() > 0;
        self.doubtful.is_some() && older && !waits
    }

    /// The episode was a false alarm: packets considered lost are still under way.
    fn undo(&mut self) {
        (self.recovering, self.doubtful, self.first_resent) = (false, None, None);
        self.spurious.forget();
        let mut late: Vec<_> = self.lost.drain().map(|Reverse(sequence)| sequence).collect();
        late.retain(|sequence| self.sent.state(*sequence) == SentState::Lost);
        late.sort_unstable_by_key(|sequence| Reverse((self.sent.last(*sequence).0, *sequence)));
        late.dedup();
        late.into_iter().for_each(|sequence| self.sent.restore(sequence));
    }

    /// Sets the probe's time (section 7.2).
    fn arm_probe(&mut self, now: Time, flight: Flight) {
        let idle = flight.outstanding() == 0 || self.sent.in_flight() == 0;
        // Only where nothing is reported, lost or timed out (section 7.2).
        let open = self.reported.is_empty() && self.lost.is_empty() && flight.oldest >= self.recovery_point;
        let smoothed = self.smoothed_rtt.filter(|_| open && !self.recovering && !idle);
        self.probe.arm(now, smoothed, flight.outstanding() == 1);
    }
}

impl Recovery for Rack {
    const GROWS_BY_FLIGHT: bool = true;
    const ENDS_FIRST: bool = true;
    const TIMESTAMPS: bool = true;
    // As in Linux (tcp_init_transfer), whose initial timeout is a second.
    const MOST_SYNS: u32 = 2;

    fn on_echo(&mut self, sent: Time, smoothed_rtt: Option<Span>) {
        (self.echo, self.smoothed_rtt) = (sent, smoothed_rtt);
    }

    #[inline]
    fn on_ack(&mut self, now: Time, cumulative: u64, blocks: Option<SackBlocks>, flight: Flight) -> Outcome {
        let (mut outcome, mut after) = (Outcome::default(), flight);
        let advances = cumulative > flight.oldest;
        let after_timeout = !self.recovering && flight.oldest < self.recovery_point;
        self.spurious.begin();
        if advances {
            outcome.delivered = self.acknowledge(now, cumulative, flight.oldest);
            after.oldest = cumulative;
            if self.recovering && cumulative >= self.recovery_point {
                self.recovering = false;
                outcome.recovered = true;
            }
            outcome.caught_up = after_timeout && cumulative >= self.recovery_point;
        }
        let acknowledged = outcome.delivered;
        if let Some(blocks) = blocks {
            outcome.delivered += self.report_all(now, blocks, after);
        }
        let twice = reports_duplicate(blocks, after.oldest) && self.note_duplicate();
        let reports = outcome.delivered > acknowledged;
        let spurious = self.spurious.is_shown(advances, reports, after, self.recovery_point);
        if twice || spurious || advances && self.was_late(after) {
            (outcome.undone, outcome.recovered, outcome.caught_up) = (true, false, false);
            if !self.recovering {
                // After a timeout that was none a new episode may begin at once.
                self.recovery_point = after.oldest;
            }
            self.undo();
        }
        let newly_lost = self.detect(now);
        if newly_lost {
            outcome.lost = self.enter(after);
        }
        if self.recovering {
            self.reduction.on_ack(outcome.delivered, advances && !newly_lost);
        }
        if self.probe.on_ack(cumulative, blocks, advances) {
            (outcome.repaired, self.doubtful) = (true, None);
        }
        if advances || outcome.delivered > 0 {
            self.arm_probe(now, after);
        }
        outcome
    }

    fn on_duplicate(&mut self, cumulative: u64, blocks: Option<SackBlocks>) {
        self.probe.on_ack(cumulative, blocks, false);
    }

    fn on_timeout(&mut self, now: Time, flight: Flight) {
        let in_trouble = self.recovering || flight.oldest < self.recovery_point;
        self.spurious.on_timeout(flight.oldest, in_trouble);
        // Section 6.3: the oldest packet and all packets sent long enough ago are lost.
        let patience = self.rtt + self.reordering_window();
        if flight.outstanding() > 0 && self.sent.state(flight.oldest) == SentState::InFlight {
            self.lose(flight.oldest);
        }
        while let Some((at, sequence)) = self.sent.first() {
            if at + patience > now {
                break;
            }
            self.lose(sequence);
        }
        self.recovering = false;
        self.recovery_point = flight.next;
        self.reordering_ends = Time::NEVER;
        self.probe.stop();
        (self.doubtful, self.first_resent) = (Some(0), None);
    }

    fn on_timer(&mut self, now: Time, flight: Flight) -> Outcome {
        let mut outcome = Outcome::default();
        if now >= self.reordering_ends && self.detect(now) {
            outcome.lost = self.enter(flight);
            self.probe.stop();
            if self.recovering {
                self.reduction.on_timer();
            }
            outcome.restarts_timer = true;
        }
        outcome.restarts_timer |= self.probe.on_timer(now, flight.outstanding() > 0);
        outcome
    }

    fn probes_instead(&mut self, flight: Flight) -> bool {
        flight.outstanding() > 0 && self.probe.hasten()
    }

    fn wakeup(&self) -> Time {
        self.reordering_ends.min(self.probe.alarm())
    }

    #[inline]
    fn next(&mut self, flight: Flight, window: u64, new_data: bool) -> NextPacket {
        self.window = window;
        if self.probe.is_due() {
            if new_data {
                return NextPacket::New;
            }
            if flight.outstanding() > 0 && self.sent.state(flight.next - 1) == SentState::InFlight {
                return NextPacket::Again(flight.next - 1);
            }
            self.probe.cancel();
        }
        let in_flight = self.sent.in_flight();
        let reduced = self.recovering && self.reduces;
        let limit = if reduced { self.reduction.limit(window, in_flight) } else { window };
        if in_flight >= limit {
            return NextPacket::WindowFull;
        }
        if self.spurious.lets_out(new_data) {
            return NextPacket::New;
        }
        while let Some(Reverse(sequence)) = self.lost.peek().copied() {
            if sequence >= flight.oldest && self.sent.state(sequence) == SentState::Lost {
                return NextPacket::Again(sequence);
            }
            self.lost.pop();
        }
        if new_data { NextPacket::New } else { NextPacket::NoData }
    }

    fn has_lost(&mut self, flight: Flight) -> bool {
        // The heap cannot tell, because it may contain packets that were delivered since.
        flight.outstanding() > self.sent.in_flight() + self.reported.len()
    }

    #[inline]
    fn on_sent(&mut self, now: Time, sequence: u64, flight: Flight) {
        let again = sequence < flight.next;
        if again {
            if self.lost.peek() == Some(&Reverse(sequence)) {
                self.lost.pop();
            }
            if let Some(count) = &mut self.doubtful {
                *count += 1;
                self.first_resent.get_or_insert(now);
            }
        }
        self.sent.send(now, sequence, again, flight.oldest);
        let next = flight.next.max(sequence + 1);
        self.probe.on_sent(next, again);
        if self.recovering {
            self.reduction.on_sent();
        } else if !self.probe.is_under_way() {
            self.arm_probe(now, Flight { next, ..flight });
        }
    }

    fn newly_lost(&mut self) -> &mut NewlyLost {
        &mut self.newly_lost
    }

    fn in_flight(&self, _: Flight) -> u64 {
        self.sent.in_flight()
    }

    fn recovering(&self) -> bool {
        self.recovering
    }
}

#[cfg(test)]
mod tests;
