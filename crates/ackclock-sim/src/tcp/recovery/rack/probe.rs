//! The tail loss probe (RFC 8985, section 7).

use ackclock_units::{Span, Time};

use super::blocks::reports_duplicate;
use crate::payload::SackBlocks;
use crate::tcp::deadline::Deadline;

/// The receiver may hold an acknowledgement back for as long as this (section 7.2).
const LONGEST_ACK_DELAY: Span = Span::from_millis(200);

/// When a probe goes out, and until when it is under way.
#[derive(Clone, Debug, Default)]
pub struct Probe {
    /// When it goes out.
    deadline: Deadline,
    /// One goes out now, whatever the window.
    is_due: bool,
    /// While one is under way: the acknowledgement up to which it counts, and whether it repeats a packet.
    under_way: Option<(u64, bool)>,
}

impl Probe {
    /// Sets its time two smoothed RTTs after `now`, later when a `single` packet is outstanding (section 7.2). Without
    /// `smoothed_rtt` there is none.
    pub fn arm(&mut self, now: Time, smoothed_rtt: Option<Span>, single: bool) {
        self.is_due = false;
        let Some(smoothed) = smoothed_rtt else {
            self.deadline.clear();
            return;
        };
        let delay = if single { LONGEST_ACK_DELAY } else { Span::ZERO };
        self.deadline.set(now + smoothed.saturating_mul(2) + delay);
    }

    /// None goes out until it is armed again, and one that is under way repairs nothing: a loss is known by other means.
    pub fn stop(&mut self) {
        self.deadline.clear();
        self.under_way = None;
    }

    /// Whether the time has come at `now` to send one: none is under way, and packets are `outstanding`.
    pub fn on_timer(&mut self, now: Time, outstanding: bool) -> bool {
        if !self.deadline.expires(now) {
            return false;
        }
        self.is_due = self.under_way.is_none() && outstanding;
        self.is_due
    }

    /// The retransmission timer expires first: one goes out now in its place, if it is armed and none is under way. Returns
    /// whether it does.
    pub fn hasten(&mut self) -> bool {
        let hastens = self.deadline.is_set() && self.under_way.is_none();
        if hastens {
            self.deadline.clear();
            self.is_due = true;
        }
        hastens
    }

    /// An acknowledgement up to `cumulative` arrives, which has `blocks` or `advances`. Returns whether the probe has
    /// repaired a loss that nothing else has shown (section 7.4.2): it repeated a packet, later packets are
    /// acknowledged, and the receiver has not reported that packet as a duplicate.
    pub fn on_ack(&mut self, cumulative: u64, blocks: Option<SackBlocks>, advances: bool) -> bool {
        let Some((end, again)) = self.under_way else { return false };
        if cumulative < end {
            return false;
        }
        let came_twice =
            reports_duplicate(blocks, cumulative) && blocks.is_some_and(|[first, ..]| first.1 == end);
        let is_bare_duplicate = !advances && blocks.is_none();
        let repaired = again && !came_twice && cumulative > end;
        if !again || came_twice || repaired || is_bare_duplicate {
            self.under_way = None;
        }
        repaired
    }

    /// A packet is sent, for the first time or `again`, after which `next` is the next new one: the probe, if one was due.
    pub fn on_sent(&mut self, next: u64, again: bool) {
        if std::mem::take(&mut self.is_due) {
            self.under_way = Some((next, again));
        }
    }

    /// Whether a probe is sent now.
    pub const fn is_due(&self) -> bool {
        self.is_due
    }

    /// There is nothing to probe with.
    pub fn cancel(&mut self) {
        self.is_due = false;
    }

    /// Whether a probe was sent whose effect is not known yet.
    pub const fn is_under_way(&self) -> bool {
        self.under_way.is_some()
    }

    /// When it must be checked.
    pub const fn alarm(&self) -> Time {
        self.deadline.alarm()
    }
}
