//! TFRC's receiver: it measures the loss event rate and reports it.

use std::collections::VecDeque;

use ackclock_units::{Span, Time};

use super::{Intervals, SLOWEST, TfrcParams, inverse};
use crate::endpoint::{Context, Endpoint, ReceiverView, ReceivingEnd};
use crate::packet::Packet;
use crate::payload::Report;
use crate::rate::intake::Intake;

/// Packets after a missing one that make it lost (section 5.1).
const REORDERING: u64 = 3;

/// The receiver: loss intervals and reports.
#[derive(Debug)]
pub struct TfrcReceiver {
    params: TfrcParams,
    intake: Intake,
    /// Packets above this are missing until they are `REORDERING` packets old; the highest packet and its arrival.
    highest: Option<(u64, Time)>,
    /// Missing packets, with the packet and time before them and what has arrived since.
    missing: VecDeque<Gap>,
    intervals: Intervals,
    /// Where the current interval began, and when its first loss happened.
    event: Option<(u64, Time)>,
    /// Arrivals within the last round-trip time.
    arrivals: VecDeque<Time>,
    report_at: Time,
    reports: bool,
    unreported: bool,
    last_p: f64,
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

impl TfrcReceiver {
    /// A receiver of `total` packets, whose reports enter the table of routes at `route`.
    #[must_use]
    pub fn new(params: TfrcParams, flow: u32, route: u32, report_bytes: u16, total: u64) -> Self {
        TfrcReceiver {
            params,
            intake: Intake::new(flow, route, report_bytes, total),
            highest: None,
            missing: VecDeque::new(),
            intervals: Intervals::default(),
            event: None,
            arrivals: VecDeque::new(),
            report_at: Time::NEVER,
            reports: false,
            unreported: false,
            last_p: 0.0,
        }
    }

    fn discount(&self) -> f64 {
        if self.params.discounting {
            self.intervals.discount(self.current(), self.params.discount_floor)
        } else {
            1.0
        }
    }

    /// Length of the current interval, packets.
    fn current(&self) -> f64 {
        match (self.event, self.highest) {
            (Some((begin, _)), Some((highest, _))) => highest.saturating_sub(begin) as f64,
            _ => 0.0,
        }
    }

    /// The loss event rate.
    fn p(&self) -> f64 {
        if self.intervals.is_empty() {
            return 0.0;
        }
        1.0 / self.intervals.mean(self.current(), self.discount()).max(1.0)
    }

    /// Rate of arrivals in the last round-trip time, packets per second (section 6.2).
    fn received(&mut self, now: Time) -> f64 {
        let span = self.intake.report_interval();
        while self.arrivals.front().is_some_and(|time| now.since(*time) > span) {
            self.arrivals.pop_front();
        }
        self.arrivals.len() as f64 / span.as_seconds()
    }

    /// A packet is lost that would have arrived at `time` (section 5.2).
    fn lose(&mut self, now: Time, sequence: u64, time: Time) {
        match self.event {
            Some((_, began)) if time <= began + self.intake.header.rtt => {}
            Some((begin, _)) => {
                let discount = self.discount();
                self.intervals.push((sequence - begin) as f64, discount);
                self.event = Some((sequence, time));
            }
            None => {
                // The first interval is what the equation asks for at the rate that arrived (section 6.3.1).
                let rtt = self.intake.header.rtt.as_seconds().max(1e-6);
                let rate = self.received(now);
                self.intervals.push(1.0 / inverse(rate.max(SLOWEST), rtt, self.params.b), 1.0);
                self.event = Some((sequence, time));
            }
        }
    }

    /// Notes that a packet has arrived after the gaps; those that are old enough are losses.
    fn age_gaps(&mut self, now: Time) {
        self.missing.iter_mut().for_each(|gap| gap.later += 1);
        while let Some(gap) = self.missing.front().copied()
            && gap.later >= REORDERING
        {
            self.missing.pop_front();
            let (before, after) = gap.between;
            let step = after.since(before).0 / (gap.end - gap.first + 1);
            for (count, sequence) in (1..).zip(gap.first..gap.end) {
                self.lose(now, sequence, before + Span(step * count));
            }
        }
    }

    /// A packet from a gap arrives late: it was not lost.
    fn fill(&mut self, sequence: u64) {
        let Some(place) = self.missing.iter().position(|gap| (gap.first..gap.end).contains(&sequence)) else {
            return;
        };
        let gap = self.missing[place];
        self.missing.remove(place);
        let parts = [Gap { first: sequence + 1, ..gap }, Gap { end: sequence, ..gap }];
        parts
            .into_iter()
            .filter(|part| part.first < part.end)
            .for_each(|part| self.missing.insert(place, part));
    }
}

impl Endpoint for TfrcReceiver {
    fn on_packet(&mut self, packet: &Packet, context: &mut Context<'_>) {
        let now = context.now;
        self.intake.take(packet, context);
        self.arrivals.push_back(now);
        let first = self.highest.is_none();
        let (highest, at) = self.highest.unwrap_or((packet.sequence, now));
        if packet.sequence > highest {
            self.age_gaps(now);
            if packet.sequence > highest + 1 {
                let between = (at, now);
                self.missing.push_back(Gap { first: highest + 1, end: packet.sequence, between, later: 1 });
            }
            self.highest = Some((packet.sequence, now));
        } else {
            self.fill(packet.sequence);
            self.highest = Some((highest, at));
        }
        self.unreported = true;
        if first || self.p() > self.last_p {
            self.reports = true;
        }
        if self.report_at == Time::NEVER {
            self.report_at = now + self.intake.report_interval();
        }
    }

    fn on_timer(&mut self, context: &mut Context<'_>) {
        if context.now >= self.report_at {
            self.reports = self.unreported;
            self.report_at = Time::NEVER;
        }
    }

    fn next_packet(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        if !std::mem::take(&mut self.reports) {
            return None;
        }
        let now = context.now;
        self.unreported = false;
        self.report_at = now + self.intake.report_interval();
        self.last_p = self.p();
        let received = self.received(now);
        let highest = self.highest.map(|(highest, _)| highest);
        let report = Report { received, verdict: self.last_p, ..Report::default() };
        self.intake.report(context, highest, report)
    }

    fn wakeup(&self) -> Time {
        self.report_at
    }
}

impl ReceivingEnd for TfrcReceiver {
    fn view(&self) -> ReceiverView {
        self.intake.view()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Kind, Slab};
    use crate::payload::{Header, Payload};
    use crate::rate::tfrc::throughput;

    /// A receiver with an RTT of 100 ms to which packets come every 10 ms, but for the lost ones.
    fn receive(lost: &[u64], count: u64) -> TfrcReceiver {
        let mut receiver = TfrcReceiver::new(TfrcParams::default(), 0, 0, 40, u64::MAX);
        let mut payloads = Slab::default();
        for sequence in (0..count).filter(|sequence| !lost.contains(sequence)) {
            let now = Time::ZERO + Span::from_millis(10 * sequence);
            let header = Header { rtt: Span::from_millis(100), rate: 100.0 };
            let handle = payloads.insert(Payload::Header(header));
            let packet = Packet::new(Kind::Data, 0, 0, sequence, now, 1000).with_handle(handle);
            let mut context = Context { now, payloads: &mut payloads, journal: None };
            receiver.on_packet(&packet, &mut context);
        }
        receiver
    }

    /// Losses at 100, 105 and 200: 105 is within an RTT of 100, so there are two events. The first interval is what the
    /// equation asks for at the rate that arrived, 10 to 11 packets per 100 ms, the second has 100 packets.
    #[test]
    fn losses_within_a_round_trip_are_one_event() {
        let receiver = receive(&[100, 105, 200], 210);
        assert_eq!(receiver.intervals.complete.len(), 2);
        assert_eq!(receiver.intervals.complete[0].0, 100.0);
        let first = 1.0 / receiver.intervals.complete[1].0;
        assert!((100.0..=120.0).contains(&throughput(first, 0.1, 1.0)), "{first}");
        assert_eq!(receiver.event.unwrap().0, 200);
        // 111 is 110 ms after 100: another event.
        assert_eq!(receive(&[100, 111], 130).intervals.complete.len(), 2);
    }

    /// Three later packets make a loss; two do not, and a late packet fills its gap.
    #[test]
    fn reordering_is_tolerated() {
        assert!(receive(&[100], 103).intervals.is_empty());
        assert!(!receive(&[100], 104).intervals.is_empty());
        let mut receiver = receive(&[100, 101], 103);
        receiver.fill(101);
        assert_eq!(receiver.missing.len(), 1);
        receiver.fill(100);
        assert!(receiver.missing.is_empty());
    }
}
