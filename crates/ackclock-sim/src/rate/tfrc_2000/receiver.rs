//! The receiver of TFRC of 2000: packets cause reports, and so does a silence after a report.

use ackclock_units::{Span, Time};

use super::{Tfrc2000Params, throughput};
use crate::context::Context;
use crate::endpoint::{Endpoint, ReceiverView, ReceivingEnd};
use crate::packet::Packet;
use crate::payload::Report;
use crate::rate::intake::{Intake, RateReceiver};
use crate::rate::tfrc::{Arrivals, LossHistory, Rules, SLOWEST, inverse};

/// The reported rate when nothing arrived since the last report, packets per second.
const NOTHING: f64 = 1.0;

/// A packet is lost when the next one comes.
const fn rules(params: Tfrc2000Params) -> Rules {
    let discount_floor = if params.discounting { params.discount_floor } else { 1.0 };
    Rules { reordering: 1, one_per_round: true, first_goes_on: true, discount_floor }
}

/// The receiver: loss events and reports.
#[derive(Debug)]
pub struct Tfrc2000Receiver {
    params: Tfrc2000Params,
    intake: Intake,
    losses: LossHistory,
    arrivals: Arrivals,
    /// When the last packet arrived and the last report went, and packets since then.
    arrived: Time,
    reported: Time,
    unreported: u64,
    /// When it reports although no packet asks for it.
    timer: Time,
    reports: bool,
    last_p: f64,
}

impl RateReceiver<Tfrc2000Params> for Tfrc2000Receiver {
    fn new(params: Tfrc2000Params, intake: Intake) -> Self {
        Tfrc2000Receiver {
            params,
            intake,
            losses: LossHistory::new(rules(params)),
            arrivals: Arrivals::default(),
            arrived: Time::ZERO,
            reported: Time::ZERO,
            unreported: 0,
            timer: Time::NEVER,
            reports: false,
            last_p: 0.0,
        }
    }
}

impl Tfrc2000Receiver {
    /// The reported rate of arrivals, packets per second: since the last report if that is a round trip
    /// ago, otherwise in the last round trip.
    fn received(&mut self, now: Time) -> f64 {
        let (rtt, silence) = (self.intake.header.rtt, now.since(self.reported));
        if rtt == Span::ZERO || (silence >= rtt && self.unreported == 0) {
            NOTHING
        } else if silence >= rtt {
            self.unreported as f64 / silence.as_seconds()
        } else {
            self.arrivals.rate(now, rtt)
        }
    }
}

impl Endpoint for Tfrc2000Receiver {
    fn on_packet(&mut self, packet: &Packet, context: &mut Context<'_>) {
        let now = context.now;
        self.intake.take(packet, context);
        self.arrivals.push(now);
        (self.arrived, self.unreported) = (now, self.unreported + 1);
        let (b, header) = (self.params.b, self.intake.header);
        let received = self.received(now).max(SLOWEST);
        self.losses.arrive(now, packet.sequence, header, || {
            // The first interval is what the equation asks for at the rate that arrived.
            let rtt = header.rtt.as_seconds().max(1e-6);
            1.0 / inverse(received, |p| throughput(p, rtt, header.timeout, b))
        });
        let is_due = header.rtt > Span::ZERO && now.since(self.reported) >= header.rtt;
        self.reports |= is_due || header.urgent || self.losses.p() > self.last_p;
    }

    fn on_timer(&mut self, context: &mut Context<'_>) {
        if context.now >= self.timer {
            // After a report that nothing preceded the next one waits for a packet.
            self.reports |= self.arrived >= self.reported;
            self.timer = Time::NEVER;
        }
    }

    fn next_packet(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        if !std::mem::take(&mut self.reports) {
            return None;
        }
        let (now, rtt) = (context.now, self.intake.header.rtt);
        let received = self.received(now);
        (self.reported, self.unreported) = (now, 0);
        self.timer = if rtt > Span::ZERO { now + Span(rtt.0 + rtt.0 / 2) } else { Time::NEVER };
        self.last_p = self.losses.p();
        let report =
            Report { received, verdict: self.last_p, loss_events: self.losses.events(), ..Report::default() };
        self.intake.report(context, self.losses.highest(), report)
    }

    fn wakeup(&self) -> Time {
        self.timer
    }
}

impl ReceivingEnd for Tfrc2000Receiver {
    fn view(&self) -> ReceiverView {
        self.intake.view()
    }
}
