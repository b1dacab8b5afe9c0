//! The sending side of a rate-based control.

use ackclock_cc::Parameters;
use ackclock_units::{Span, Time};

use super::intake::RateReceiver;
use crate::context::Context;
use crate::endpoint::{Endpoint, Internals, SenderView, SendingEnd};
use crate::meter::{Holder, Meter};
use crate::packet::{Kind, Packet};
use crate::payload::{Header, Payload, Report};
use crate::random::Stream;

/// When the next packet goes after a law has changed its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// When it was due.
    AsDue,
    /// When it was due, but no later than a spacing from now: a higher rate takes effect at once.
    Hastened,
    /// Now.
    Now,
}

/// The law of a rate-based control: it decides the rate.
pub trait Law: Send + Sync + Sized {
    /// The parameters of the control, of sender and receiver.
    type Params: Parameters;

    /// The receiver that reports to it.
    type Receiver: RateReceiver<Self::Params>;

    /// Whether its receiver reports loss events.
    const COUNTS_LOSS_EVENTS: bool = true;

    /// The law for packets of `packet_bytes` bytes, at the start of its flow.
    fn new(params: Self::Params, packet_bytes: u16) -> Self;

    /// Random delays of packets when a packet may be delayed by up to `overhead`.
    fn jitter(overhead: Span) -> Jitter {
        Jitter::Delay(overhead)
    }

    /// A report arrived at `now`, with the round-trip time that it measures. Returns when the next packet goes.
    fn on_report(&mut self, now: Time, rtt: Option<Span>, report: Report) -> Departure;

    /// The time of [`Law::wakeup`] has come. Returns when the next packet goes.
    fn on_timer(&mut self, now: Time) -> Departure {
        let _ = now;
        Departure::AsDue
    }

    /// When it wants to be woken; [`Time::NEVER`] for not at all.
    fn wakeup(&self) -> Time {
        Time::NEVER
    }

    /// A packet is sent at `now`; the time to the next is asked for afterwards.
    fn on_sent(&mut self, now: Time) {
        let _ = now;
    }

    /// The first packet is sent at `now`.
    fn start(&mut self, now: Time) {
        let _ = now;
    }

    /// Packets per second.
    fn rate(&self) -> f64;

    /// The spacing of packets now, seconds; it may differ from 1/rate for a while.
    fn spacing(&self) -> f64 {
        1.0 / self.rate()
    }

    /// The smoothed round-trip time.
    fn rtt(&self) -> Option<Span>;

    /// The information that a packet carries to the receiver now.
    fn header(&self) -> Header {
        Header { rtt: self.rtt().unwrap_or(Span::ZERO), rate: self.rate(), ..Header::default() }
    }

    /// Calls `visit` with the name and value of each internal.
    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let _ = visit;
    }
}

/// The random delays of the times at which packets are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// Each packet waits up to this time more.
    Delay(Span),
    /// Each spacing is multiplied by a number between 0.5 and 1.5.
    Factor,
}

/// Settings of a sender.
#[derive(Clone, Copy, Debug)]
pub struct RateSettings {
    /// The flow.
    pub flow: u32,
    /// The entry of its packets in the table of routes.
    pub route: u32,
    /// Size of a data packet on the wire.
    pub packet_bytes: u16,
    /// Packets to send in total; `u64::MAX` for no end.
    pub total: u64,
    /// The longest random delay of a packet.
    pub overhead: Span,
    /// When the flow starts.
    pub start: Time,
    /// When it stops sending.
    pub stop: Time,
}

/// Sends packets as its law says.
pub struct RateSender<L> {
    settings: RateSettings,
    jitter: Jitter,
    law: L,
    chance: Stream,
    /// When the next packet departs, before the random delay is added and after it.
    nominal_departure: Time,
    next: Time,
    sends: bool,
    started: bool,
    meter: Meter,
    round: u64,
    /// A report of all that was sent before this packet ends the round trip. Reports come once per round trip, so that one
    /// of the next packet itself would often be a round trip later.
    round_end: u64,
}

/// No packet waits longer than this for its turn, seconds: TFRC's `t_mbi` (RFC 5348, section 4.3).
const LONGEST_SPACING: f64 = 64.0;

impl<L: Law> RateSender<L> {
    /// A sender at the start of the run.
    #[must_use]
    pub fn new(settings: RateSettings, params: L::Params, chance: Stream, mut meter: Meter) -> Self {
        if !L::COUNTS_LOSS_EVENTS {
            meter.counters.loss_events = None;
        }
        meter.hold(settings.start, Holder::Pacing);
        RateSender {
            jitter: L::jitter(settings.overhead),
            law: L::new(params, settings.packet_bytes),
            chance,
            nominal_departure: settings.start,
            next: settings.start,
            sends: false,
            started: false,
            meter,
            round: 0,
            round_end: 0,
            settings,
        }
    }

    /// Rate times round-trip time: the equivalent of a window, packets.
    fn window(&self) -> f64 {
        self.law.rtt().map_or(1.0, |rtt| self.law.rate() * rtt.as_seconds())
    }

    fn schedule_next(&mut self, now: Time) {
        let spacing = self.law.spacing().min(LONGEST_SPACING);
        let (factor, delay) = match self.jitter {
            Jitter::Delay(most) => (1.0, self.chance.span(most)),
            Jitter::Factor => (0.5 + self.chance.unit(), Span::ZERO),
        };
        self.nominal_departure = self.nominal_departure.max(now) + Span::from_seconds_f64(spacing * factor);
        self.next = self.nominal_departure + delay;
    }

    /// Applies the law's decision about the next packet.
    fn reschedule(&mut self, now: Time, next: Departure) {
        if self.next == Time::NEVER {
            return;
        }
        match next {
            Departure::Hastened if self.next > now => {
                let latest = now + Span::from_seconds_f64(self.law.spacing().min(LONGEST_SPACING));
                self.next = self.next.min(latest);
                self.nominal_departure = self.nominal_departure.min(latest);
            }
            Departure::Now => (self.sends, self.nominal_departure) = (true, now),
            Departure::AsDue | Departure::Hastened => {}
        }
    }
}

impl<L: Law> Endpoint for RateSender<L> {
    fn on_packet(&mut self, packet: &Packet, context: &mut Context<'_>) {
        let Some(&Payload::Report(report)) = context.payloads.remove(packet.handle()) else { return };
        let now = context.now;
        let rtt = Span(now.since(packet.sent).0.saturating_sub(report.delay.0));
        let before = self.window();
        self.meter.hold_window(now, before);
        let sample = (!report.stale).then_some(rtt);
        if let Some(rtt) = sample {
            self.meter.record_rtt(now, rtt);
        }
        if packet.sequence >= self.round_end {
            self.round += 1;
            self.round_end = self.meter.counters.sent_packets;
        }
        let next = self.law.on_report(now, sample, report);
        if self.meter.counters.loss_events.is_some_and(|counted| report.loss_events > counted) {
            self.meter.counters.loss_events = Some(report.loss_events);
            context.write(self.settings.flow, "loss", before, self.window());
        }
        self.reschedule(now, next);
    }

    fn on_timer(&mut self, context: &mut Context<'_>) {
        let now = context.now;
        if now >= self.settings.stop {
            if self.next < Time::NEVER {
                context.write(self.settings.flow, "stop", self.window(), self.window());
            }
            self.next = Time::NEVER;
        }
        if now >= self.next {
            if !self.started {
                self.started = true;
                self.law.start(now);
                context.write(self.settings.flow, "start", self.window(), self.window());
            }
            self.sends = true;
        }
        if self.started && now >= self.law.wakeup() {
            let before = self.window();
            self.meter.hold_window(now, before);
            let next = self.law.on_timer(now);
            self.reschedule(now, next);
            self.meter.counters.timeouts += 1;
            context.write(self.settings.flow, "timeout", before, self.window());
        }
    }

    fn next_packet(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        if !std::mem::take(&mut self.sends) {
            return None;
        }
        let now = context.now;
        let RateSettings { flow, route, packet_bytes, total, .. } = self.settings;
        let sequence = self.meter.counters.sent_packets;
        self.meter.counters.sent_packets += 1;
        let before = self.window();
        self.law.on_sent(now);
        if self.window() != before {
            self.meter.hold_window(now, before);
        }
        self.schedule_next(now);
        if self.meter.counters.sent_packets >= total {
            self.next = Time::NEVER;
            self.meter.hold(now, Holder::Nothing);
            context.write(flow, "complete", self.window(), self.window());
        }
        let packet = Packet::new(Kind::Data, flow, route, sequence, now, packet_bytes);
        Some(packet.with_handle(context.payloads.insert(Payload::Header(self.law.header()))))
    }

    fn wakeup(&self) -> Time {
        if self.next == Time::NEVER {
            return Time::NEVER;
        }
        let timer = if self.started { self.law.wakeup() } else { Time::NEVER };
        self.next.min(timer).min(self.settings.stop)
    }

    fn window_bits(&self) -> u64 {
        self.law.rate().to_bits()
    }
}

impl<L: Law> SendingEnd for RateSender<L> {
    fn view(&self) -> SenderView<'_> {
        SenderView {
            meter: &self.meter,
            window: self.window(),
            ssthresh: f64::INFINITY,
            in_flight: self.window() as u64,
            round: self.round,
            control: Some(self),
        }
    }
}

impl<L: Law> Internals for RateSender<L> {
    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("rate_packets_per_s", self.law.rate());
        self.law.internals(visit);
    }
}
