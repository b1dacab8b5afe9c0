//! The history of losses and arrivals of TFRC's receivers: from packets that are missing to the loss event rate.

use std::collections::VecDeque;

use ackclock_units::{Span, Time};

use super::Intervals;
use crate::memory::Grow as _;
use crate::payload::Header;

/// The differences between editions of TFRC in detecting losses and loss events.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Packets after a missing one that make it lost.
    pub reordering: u64,
    /// A loss begins an event only if it was seen in a later round ([`Header::round`]) than the last event.
    pub one_per_round: bool,
    /// The interval before the first loss continues after it; otherwise it is complete.
    pub first_goes_on: bool,
    /// The smallest weight that discounting gives old intervals; 1 for no discounting.
    pub discount_floor: f64,
}

/// The losses of a flow.
#[derive(Debug)]
pub struct LossHistory {
    rules: Rules,
    /// The highest packet, and its arrival.
    highest: Option<(u64, Time)>,
    /// Missing packets that are not lost yet.
    missing: VecDeque<Gap>,
    pub(super) intervals: Intervals,
    pub(super) event: Option<LossEvent>,
    events: u64,
}

/// The last loss event.
#[derive(Clone, Copy, Debug)]
pub(super) struct LossEvent {
    /// The packet after which the current interval counts: its first loss, or before it when that interval continues.
    pub(super) begin: f64,
    /// When its first loss happened, and in which round it was seen.
    time: Time,
    round: u64,
}

/// A run of packets that did not arrive.
#[derive(Clone, Copy, Debug)]
struct Gap {
    first: u64,
    end: u64,
    /// When the packets before and after it arrived.
    between: (Time, Time),
    later: u64,
}

impl LossHistory {
    /// The history of a flow that has not begun.
    #[must_use]
    pub const fn new(rules: Rules) -> Self {
        LossHistory {
            rules,
            highest: None,
            missing: VecDeque::new(),
            intervals: Intervals::new(),
            event: None,
            events: 0,
        }
    }

    /// The highest packet that has arrived.
    #[must_use]
    pub fn highest(&self) -> Option<u64> {
        self.highest.map(|(highest, _)| highest)
    }

    /// Loss events so far.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.events
    }

    /// Packet `sequence` arrives at `now` with `header`. At the first loss `first_interval` says how many packets the
    /// interval before it has.
    pub fn arrive(&mut self, now: Time, sequence: u64, header: Header, first_interval: impl FnMut() -> f64) {
        let (highest, at) = self.highest.unwrap_or((sequence, now));
        if sequence > highest {
            if sequence > highest + 1 {
                let between = (at, now);
                self.missing.add(Gap { first: highest + 1, end: sequence, between, later: 0 });
            }
            self.age_gaps(header, first_interval);
            self.highest = Some((sequence, now));
        } else {
            self.fill(sequence);
            self.highest = Some((highest, at));
        }
    }

    fn discount(&self) -> f64 {
        self.intervals.discount(self.current(), self.rules.discount_floor)
    }

    /// Length of the current interval, packets.
    fn current(&self) -> f64 {
        match (self.event, self.highest) {
            (Some(event), Some((highest, _))) => (highest as f64 - event.begin).max(0.0),
            _ => 0.0,
        }
    }

    /// The loss event rate; 0 before the first loss.
    #[must_use]
    pub fn p(&self) -> f64 {
        if self.event.is_none() {
            return 0.0;
        }
        1.0 / self.intervals.mean(self.current(), self.discount()).max(1.0)
    }

    /// Packet `sequence` is lost that would have arrived at `time` (RFC 5348, section 5.2).
    fn lose(&mut self, sequence: u64, time: Time, header: Header, first_interval: &mut impl FnMut() -> f64) {
        let mut begin = sequence as f64;
        match self.event {
            Some(event) if time <= event.time + header.rtt => return,
            Some(event) if self.rules.one_per_round && header.round <= event.round => return,
            Some(event) => {
                let discount = self.discount();
                self.intervals.push(begin - event.begin, discount);
            }
            None if self.rules.first_goes_on => begin -= first_interval(),
            None => self.intervals.push(first_interval(), 1.0),
        }
        self.event = Some(LossEvent { begin, time, round: header.round });
        self.events += 1;
    }

    /// Notes that a packet has arrived after the gaps. The packets of gaps that are old enough are losses.
    fn age_gaps(&mut self, header: Header, mut first_interval: impl FnMut() -> f64) {
        self.missing.iter_mut().for_each(|gap| gap.later += 1);
        while let Some(gap) = self.missing.front().copied()
            && gap.later >= self.rules.reordering
        {
            self.missing.pop_front();
            let (before, after) = gap.between;
            let step = after.since(before).0 / (gap.end - gap.first + 1);
            for (count, sequence) in (1..).zip(gap.first..gap.end) {
                self.lose(sequence, before + Span(step * count), header, &mut first_interval);
            }
        }
    }

    /// A packet from a gap arrives late: it was not lost.
    fn fill(&mut self, sequence: u64) {
        let Some(index) = self.missing.iter().position(|gap| (gap.first..gap.end).contains(&sequence)) else {
            return;
        };
        let gap = self.missing[index];
        self.missing.remove(index);
        let parts = [Gap { first: sequence + 1, ..gap }, Gap { end: sequence, ..gap }];
        parts
            .into_iter()
            .filter(|part| part.first < part.end)
            .for_each(|part| self.missing.insert(index, part));
    }
}

/// Arrivals within the last round-trip time.
#[derive(Debug, Default)]
pub struct Arrivals(VecDeque<Time>);

impl Arrivals {
    /// A packet arrives at `now`.
    pub fn push(&mut self, now: Time) {
        self.0.add(now);
    }

    /// Rate of arrivals within `span` until `now`, packets per second (RFC 5348, section 6.2). Older arrivals are
    /// forgotten.
    pub fn rate(&mut self, now: Time, span: Span) -> f64 {
        while self.0.front().is_some_and(|time| now.since(*time) > span) {
            self.0.pop_front();
        }
        self.0.len() as f64 / span.as_seconds()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets come every 10 ms of an RTT of 100 ms, but for the lost ones; each is of a round of its own. The
    /// interval before the first loss has 50 packets.
    fn receive(rules: Rules, lost: &[u64], count: u64) -> LossHistory {
        let mut losses = LossHistory::new(rules);
        for sequence in (0..count).filter(|sequence| !lost.contains(sequence)) {
            let header = Header { rtt: Span::from_millis(100), round: sequence, ..Header::default() };
            losses.arrive(Time::ZERO + Span::from_millis(10 * sequence), sequence, header, || 50.0);
        }
        losses
    }

    const RFC: Rules =
        Rules { reordering: 3, one_per_round: false, first_goes_on: false, discount_floor: 1.0 };

    /// Three later packets make a loss; two do not, and a late packet fills its gap. Where one makes it, the next
    /// packet does.
    #[test]
    fn reordering_is_tolerated() {
        assert!(receive(RFC, &[100], 103).event.is_none());
        assert!(receive(RFC, &[100], 104).event.is_some());
        let mut losses = receive(RFC, &[100, 101], 103);
        losses.fill(101);
        assert_eq!(losses.missing.len(), 1);
        losses.fill(100);
        assert!(losses.missing.is_empty());
        let strict = Rules { reordering: 1, ..RFC };
        assert!(receive(strict, &[100], 101).event.is_none());
        assert!(receive(strict, &[100], 102).event.is_some());
    }

    /// Packet 100 is lost, packet 120 is the highest: a current interval of 20 packets. After a complete first
    /// interval of 50 it does not raise the mean, which is 50; where the first continues, it has 70 packets. The loss
    /// of 150 ends it at 100; then the mean without the current interval of 5, 100, is the larger.
    #[test]
    fn the_first_interval_may_go_on() {
        assert_eq!(receive(RFC, &[100], 121).p(), 1.0 / 50.0);
        let rules = Rules { first_goes_on: true, ..RFC };
        assert_eq!(receive(rules, &[100], 121).p(), 1.0 / 70.0);
        assert_eq!(receive(rules, &[100, 150], 156).p(), 1.0 / 100.0);
    }

    /// Packets 100 and 150 are lost, 500 ms apart at an RTT of 100 ms: two events. Where the sender is in the same
    /// round all the while it is one.
    #[test]
    fn a_round_has_one_event() {
        let rules = Rules { one_per_round: true, ..RFC };
        assert_eq!(receive(rules, &[100, 150], 160).intervals.complete.len(), 2);
        let mut losses = LossHistory::new(rules);
        for sequence in (0..160).filter(|sequence| ![100, 150].contains(sequence)) {
            let header = Header { rtt: Span::from_millis(100), ..Header::default() };
            losses.arrive(Time::ZERO + Span::from_millis(10 * sequence), sequence, header, || 50.0);
        }
        assert_eq!(losses.intervals.complete.len(), 1);
    }
}
