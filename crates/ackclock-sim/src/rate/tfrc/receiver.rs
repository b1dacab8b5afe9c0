//! TFRC's receiver: it measures the loss event rate and reports it.

use ackclock_units::Time;

use super::{Arrivals, LossHistory, Rules, SLOWEST, TfrcParams, inverse, throughput};
use crate::context::Context;
use crate::endpoint::{Endpoint, ReceiverView, ReceivingEnd};
use crate::packet::Packet;
use crate::payload::Report;
use crate::rate::intake::{Intake, RateReceiver};

/// The RFC's detection of losses (section 5.1) and loss events (5.2, 6.3.1).
const fn rules(params: TfrcParams) -> Rules {
    let discount_floor = if params.discounting { params.discount_floor } else { 1.0 };
    Rules { reordering: 3, one_per_round: false, first_goes_on: false, discount_floor }
}

/// The receiver: loss events and reports.
#[derive(Debug)]
pub struct TfrcReceiver {
    params: TfrcParams,
    intake: Intake,
    losses: LossHistory,
    arrivals: Arrivals,
    report_at: Time,
    reports: bool,
    unreported: bool,
    last_p: f64,
}

impl RateReceiver<TfrcParams> for TfrcReceiver {
    fn new(params: TfrcParams, intake: Intake) -> Self {
        TfrcReceiver {
            params,
            intake,
            losses: LossHistory::new(rules(params)),
            arrivals: Arrivals::default(),
            report_at: Time::NEVER,
            reports: false,
            unreported: false,
            last_p: 0.0,
        }
    }
}

impl Endpoint for TfrcReceiver {
    fn on_packet(&mut self, packet: &Packet, context: &mut Context<'_>) {
        let now = context.now;
        self.intake.take(packet, context);
        self.arrivals.push(now);
        let first = self.losses.highest().is_none();
        let (b, header, span) = (self.params.b, self.intake.header, self.intake.report_interval());
        self.losses.arrive(now, packet.sequence, header, || {
            // The first interval is what the equation asks for at the rate that arrived (section 6.3.1).
            let rtt = header.rtt.as_seconds().max(1e-6);
            let rate = self.arrivals.rate(now, span).max(SLOWEST);
            1.0 / inverse(rate, |p| throughput(p, rtt, b))
        });
        self.unreported = true;
        if first || self.losses.p() > self.last_p {
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
        let (now, interval) = (context.now, self.intake.report_interval());
        self.unreported = false;
        self.report_at = now + interval;
        self.last_p = self.losses.p();
        let received = self.arrivals.rate(now, interval);
        let report =
            Report { received, verdict: self.last_p, loss_events: self.losses.events(), ..Report::default() };
        self.intake.report(context, self.losses.highest(), report)
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
    use ackclock_units::Span;

    use super::*;
    use crate::packet::{Kind, Slab};
    use crate::payload::{Header, Payload};

    /// A receiver with an RTT of 100 ms to which packets come every 10 ms, but for the lost ones.
    fn receive(lost: &[u64], count: u64) -> TfrcReceiver {
        let mut receiver = TfrcReceiver::new(TfrcParams::default(), Intake::new(0, 0, 40, u64::MAX));
        let mut payloads = Slab::default();
        for sequence in (0..count).filter(|sequence| !lost.contains(sequence)) {
            let now = Time::ZERO + Span::from_millis(10 * sequence);
            let header = Header { rtt: Span::from_millis(100), rate: 100.0, ..Header::default() };
            let handle = payloads.insert(Payload::Header(header));
            let packet = Packet::new(Kind::Data, 0, 0, sequence, now, 1000).with_handle(handle);
            let mut context = Context { now, payloads: &mut payloads, journal: &mut None };
            receiver.on_packet(&packet, &mut context);
        }
        receiver
    }

    /// Losses at 100, 105 and 200: 105 is within an RTT of 100, so there are two events. The first interval is what the
    /// equation asks for at the rate that arrived, 10 to 11 packets per 100 ms, the second has 100 packets.
    #[test]
    fn losses_within_a_round_trip_are_one_event() {
        let receiver = receive(&[100, 105, 200], 210);
        assert_eq!(receiver.losses.intervals.complete.len(), 2);
        assert_eq!(receiver.losses.intervals.complete[0].0, 100.0);
        let first = 1.0 / receiver.losses.intervals.complete[1].0;
        assert!((100.0..=120.0).contains(&throughput(first, 0.1, 1.0)), "{first}");
        assert_eq!(receiver.losses.event.unwrap().begin, 200.0);
        // 111 is 110 ms after 100: another event.
        assert_eq!(receive(&[100, 111], 130).losses.intervals.complete.len(), 2);
    }
}
