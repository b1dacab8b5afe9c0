//! The sending side of a rate-based control.

use ackclock_units::{Span, Time};

use crate::endpoint::{Context, Endpoint, Internals, SenderView, SendingEnd};
use crate::meter::Meter;
use crate::packet::{Kind, Packet};
use crate::payload::{Header, Payload, Report};
use crate::random::Stream;

/// The law of a rate-based control: it decides the rate.
pub trait Law: Send + Sync {
    /// A report arrived at `now`, with the round-trip time that it measures.
    fn on_report(&mut self, now: Time, rtt: Option<Span>, report: Report);

    /// The time of [`Law::wakeup`] has come.
    fn on_timer(&mut self, now: Time);

    /// When it wants to be woken.
    fn wakeup(&self) -> Time;

    /// The first packet is sent at `now`.
    fn start(&mut self, now: Time);

    /// Packets per second.
    fn rate(&self) -> f64;

    /// The spacing of packets now, seconds; it may differ from 1/rate for a while.
    fn spacing(&self) -> f64 {
        1.0 / self.rate()
    }

    /// The smoothed round-trip time.
    fn rtt(&self) -> Option<Span>;

    /// Calls `visit` with the name and value of each internal.
    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64));
}

/// Settings of a sender.
#[derive(Clone, Copy, Debug)]
pub struct RateSettings {
    /// The flow.
    pub flow: u32,
    /// Where its packets enter the table of routes.
    pub route: u32,
    /// Size of a data packet on the wire.
    pub packet_bytes: u16,
    /// Packets to send in total; `u64::MAX` for no end.
    pub total: u64,
    /// Upper end of the random delay before each send.
    pub overhead: Span,
    /// When the flow starts.
    pub start: Time,
    /// When it stops sending.
    pub stop: Time,
}

/// Sends packets as its law says.
pub struct RateSender<L> {
    settings: RateSettings,
    law: L,
    overhead: Stream,
    /// When the next packet is due, before the random delay and after it.
    due: Time,
    next: Time,
    sends: bool,
    started: bool,
    meter: Meter,
    round: u64,
    round_end: u64,
}

/// No packet waits longer than this for its turn, seconds: TFRC's `t_mbi` (RFC 5348, section 4.3).
const LONGEST_SPACING: f64 = 64.0;

impl<L: Law> RateSender<L> {
    /// A sender at the start of the run.
    #[must_use]
    pub fn new(settings: RateSettings, law: L, overhead: Stream, meter: Meter) -> Self {
        RateSender {
            law,
            overhead,
            due: settings.start,
            next: settings.start,
            sends: false,
            started: false,
            meter,
            round: 0,
            round_end: 0,
            settings,
        }
    }

    /// Rate times round-trip time: what a window would be, packets.
    fn window(&self) -> f64 {
        self.law.rtt().map_or(1.0, |rtt| self.law.rate() * rtt.as_seconds())
    }

    fn schedule_next(&mut self, now: Time) {
        let spacing = self.law.spacing().min(LONGEST_SPACING);
        self.due = self.due.max(now) + Span::from_seconds_f64(spacing);
        self.next = self.due + self.overhead.span(self.settings.overhead);
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
        let old = self.law.rate();
        self.law.on_report(now, sample, report);
        if self.law.rate() < old {
            self.meter.counters.loss_events += 1;
            context.write(self.settings.flow, "loss", before, self.window());
        }
        if self.next > now && self.next < Time::NEVER {
            // A higher rate takes effect at once: no packet is due later than a spacing from now.
            let latest = now + Span::from_seconds_f64(self.law.spacing().min(LONGEST_SPACING));
            self.next = self.next.min(latest);
            self.due = self.due.min(latest);
        }
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
            self.law.on_timer(now);
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
        self.schedule_next(now);
        if self.meter.counters.sent_packets >= total {
            self.next = Time::NEVER;
            context.write(flow, "complete", self.window(), self.window());
        }
        let header = Header { rtt: self.law.rtt().unwrap_or(Span::ZERO), rate: self.law.rate() };
        let packet = Packet::new(Kind::Data, flow, route, sequence, now, packet_bytes);
        Some(packet.with_handle(context.payloads.insert(Payload::Header(header))))
    }

    fn wakeup(&self) -> Time {
        if self.next == Time::NEVER {
            return Time::NEVER;
        }
        let timer = if self.started { self.law.wakeup() } else { Time::NEVER };
        self.next.min(timer).min(self.settings.stop)
    }
}

impl<L: Law> SendingEnd for RateSender<L> {
    fn window_bits(&self) -> u64 {
        self.law.rate().to_bits()
    }

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
