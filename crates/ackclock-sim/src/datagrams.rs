//! Datagrams at a rate that does not react to the network: their source and their sink.

use ackclock_scenario::{Codepoint, Cycle, Datagrams, Pulse};
use ackclock_units::{Span, Time};

use crate::context::Context;
use crate::delays::Delays;
use crate::endpoint::{Endpoint, ReceiverView, ReceivingEnd, SenderView, SendingEnd};
use crate::meter::Meter;
use crate::pace::Serialiser;
use crate::packet::{EcnField, Kind, Packet};
use crate::random::Stream;

/// Settings of a source.
#[derive(Clone, Copy, Debug)]
pub struct SourceSettings {
    /// The flow.
    pub flow: u32,
    /// The entry of its packets in the table of routes.
    pub route: u32,
    /// Size of a packet on the wire.
    pub packet_bytes: u16,
    /// Packets to send in total; `u64::MAX` for no end.
    pub total: u64,
    /// The sizes and times of its datagrams.
    pub datagrams: Datagrams,
    /// When it starts.
    pub start: Time,
    /// When it stops.
    pub stop: Time,
}

/// Sends packets of one size: at a constant rate, as a Poisson process, or on and off.
#[derive(Debug)]
pub struct Source {
    settings: SourceSettings,
    spacing: Serialiser,
    stream: Stream,
    /// When the next packet goes.
    next: Time,
    /// When the time on ends.
    on_until: Time,
    is_due: bool,
    meter: Meter,
}

impl Source {
    /// A source at the start of the run.
    #[must_use]
    pub fn new(settings: SourceSettings, stream: Stream, meter: Meter) -> Self {
        let mut source = Source {
            spacing: Serialiser::new(settings.datagrams.rate),
            settings,
            stream,
            next: settings.start,
            on_until: Time::NEVER,
            is_due: false,
            meter,
        };
        if let Some(cycle) = settings.datagrams.cycle {
            source.on_until = settings.start + source.duration(cycle.on, cycle);
        }
        source
    }

    fn duration(&mut self, mean: Span, cycle: Cycle) -> Span {
        let factor = match cycle.shape {
            Some(shape) => self.stream.pareto(shape),
            None => self.stream.exponential(),
        };
        Span::from_seconds_f64(mean.as_seconds() * factor)
    }

    /// When the packet after the one at `now` goes.
    fn advance(&mut self, now: Time) {
        let interval = self.spacing.next(self.settings.packet_bytes);
        self.next = now
            + if self.settings.datagrams.poisson {
                Span::from_seconds_f64(interval.as_seconds() * self.stream.exponential())
            } else {
                interval
            };
        if let Some(cycle) = self.settings.datagrams.cycle {
            while self.next >= self.on_until {
                let begin = self.on_until + self.duration(cycle.off, cycle);
                self.next = begin;
                self.on_until = begin + self.duration(cycle.on, cycle);
            }
        }
        if let Some(Pulse { on, every }) = self.settings.datagrams.pulse {
            let since = self.next.since(self.settings.start).0;
            if since % every.0 >= on.0 {
                self.next = self.settings.start + every.saturating_mul(since / every.0 + 1);
            }
        }
        if self.next >= self.settings.stop || self.meter.counters.sent_packets >= self.settings.total {
            self.next = Time::NEVER;
        }
    }
}

impl Endpoint for Source {
    fn on_timer(&mut self, context: &mut Context<'_>) {
        self.is_due = context.now >= self.next;
        if self.is_due && self.meter.counters.sent_packets == 0 {
            context.write(self.settings.flow, "start", f64::NAN, f64::NAN);
        }
    }

    fn next_packet(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        if !std::mem::take(&mut self.is_due) {
            return None;
        }
        let SourceSettings { flow, route, packet_bytes, .. } = self.settings;
        let sequence = self.meter.counters.sent_packets;
        self.meter.counters.sent_packets += 1;
        self.advance(context.now);
        if self.next == Time::NEVER {
            context.write(flow, "stop", f64::NAN, f64::NAN);
        }
        let mut packet = Packet::new(Kind::Data, flow, route, sequence, context.now, packet_bytes);
        packet.set_ecn(codepoint(self.settings.datagrams.codepoint));
        Some(packet)
    }

    fn wakeup(&self) -> Time {
        self.next
    }
}

impl SendingEnd for Source {
    fn view(&self) -> SenderView<'_> {
        SenderView::uncontrolled(&self.meter)
    }
}

/// The ECN field of a packet that is sent with `codepoint`.
#[must_use]
pub const fn codepoint(codepoint: Codepoint) -> EcnField {
    match codepoint {
        Codepoint::NotEct => EcnField::NotCapable,
        Codepoint::Ect0 => EcnField::Capable,
        Codepoint::Ect1 => EcnField::Ect1,
    }
}

/// Counts arriving packets, and measures their delays.
#[derive(Debug)]
pub struct Sink {
    total: u64,
    delivered: u64,
    completed: Option<Time>,
    delays: Delays,
}

impl Sink {
    /// A sink that expects `total` packets, `u64::MAX` for no end, and measures their delays.
    #[must_use]
    pub const fn new(total: u64, delays: Delays) -> Self {
        Sink { total, delivered: 0, completed: None, delays }
    }
}

impl Endpoint for Sink {
    fn on_packet(&mut self, packet: &Packet, context: &mut Context<'_>) {
        self.delays.record(context.now, packet.sent);
        self.delivered += 1;
        if self.delivered == self.total {
            self.completed = Some(context.now);
        }
    }
}

impl ReceivingEnd for Sink {
    fn view(&self) -> ReceiverView {
        ReceiverView::unordered(self.delivered, self.completed)
    }

    fn delays(&self) -> Option<(&Delays, Option<f64>)> {
        Some((&self.delays, self.delays.late()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Slab;
    use crate::random::{Purpose, Streams};
    use ackclock_units::Rate;

    /// Times at which packets go in the first `seconds`, at 8 Mbit/s: 1000 packets of 1000 bytes per second.
    fn times(poisson: bool, cycle: Option<Cycle>, seconds: u64) -> Vec<f64> {
        times_with(poisson, cycle, None, seconds)
    }

    fn times_with(poisson: bool, cycle: Option<Cycle>, pulse: Option<Pulse>, seconds: u64) -> Vec<f64> {
        let datagrams = Datagrams {
            rate: Rate(8_000_000),
            poisson,
            cycle,
            codepoint: Codepoint::NotEct,
            pulse,
            deadline: None,
        };
        let settings = SourceSettings {
            flow: 0,
            route: 0,
            packet_bytes: 1000,
            total: u64::MAX,
            datagrams,
            start: Time::ZERO,
            stop: Time::ZERO + Span::from_seconds(seconds),
        };
        let meter = Meter::new(settings.start, (settings.start, settings.stop));
        let mut source =
            Source::new(settings, Streams { seed: 2, run: 0 }.of(Purpose::Application, 0, 0), meter);
        let mut payloads = Slab::default();
        let mut times = Vec::new();
        while source.wakeup() < Time::NEVER {
            let mut context = Context { now: source.wakeup(), payloads: &mut payloads, journal: &mut None };
            source.on_timer(&mut context);
            assert!(source.next_packet(&mut context).is_some() && source.next_packet(&mut context).is_none());
            times.push(context.now.as_seconds());
        }
        times
    }

    #[test]
    fn a_constant_rate_is_exact() {
        let times = times(false, None, 10);
        assert_eq!((times.len(), times[1], times[9999]), (10_000, 0.001, 9.999));
    }

    /// Pulses of 100 ms every second: 100 packets each, the first of them as the second begins.
    #[test]
    fn pulses_begin_on_time() {
        let pulse = Pulse { on: Span::from_millis(100), every: Span::from_seconds(1) };
        let times = times_with(false, None, Some(pulse), 10);
        assert_eq!(times.len(), 1000);
        assert_eq!((times[99], times[100], times[101], times[900]), (0.099, 1.0, 1.001, 9.0));
    }

    /// 1000 per second: in 100 s 100 000, with a standard deviation of 316; a gap exceeds 2 ms with probability e^-2.
    #[test]
    fn a_poisson_process_has_exponential_gaps() {
        let times = times(true, None, 100);
        assert!((times.len() as f64 - 1e5).abs() < 5.0 * 316.0, "{}", times.len());
        let long = times.windows(2).filter(|pair| pair[1] - pair[0] > 0.002).count() as f64 / 1e5;
        assert!((long - (-2.0_f64).exp()).abs() < 0.006, "{long}");
    }

    /// On for 1 s and off for 2 s on average: a third of 1000 per second. Off times (gaps beyond 10 ms): exponential
    /// ones exceed 4 s with probability e^-2; Pareto ones of shape 1.5 are at least 2/3 s and exceed 4 s with
    /// (1/6)^1.5 = 0.068. About 3300 of them: standard errors of 0.006 and 0.0044. (The mean of shape 1.5 converges
    /// slowly: a quarter is allowed.)
    #[test]
    fn on_and_off_times_are_distributed_as_said() {
        for (shape, beyond, tolerance) in [(None, (-2.0_f64).exp(), 0.05), (Some(1.5), 0.068, 0.25)] {
            let cycle = Cycle { on: Span::from_seconds(1), off: Span::from_seconds(2), shape };
            let times = times(false, Some(cycle), 10_000);
            let share = times.len() as f64 / 1e7;
            assert!((share * 3.0 - 1.0).abs() < tolerance, "{share}");
            let gaps: Vec<_> =
                times.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 0.01).collect();
            let long = gaps.iter().filter(|gap| **gap > 4.0).count() as f64 / gaps.len() as f64;
            assert!((long - beyond).abs() < 5.0 * 0.006, "{long}");
            if shape.is_some() {
                assert!(gaps.iter().all(|gap| *gap >= 0.666));
            }
        }
    }
}
