//! Frames of audio or video that nothing slows down: their source and their sink.
//!
//! A frame is a burst of whole packets. How many packets the first frames have together is the rate times their time,
//! rounded down, so that the rate is exact in the long run; both ends know it.

use std::collections::BTreeMap;

use ackclock_scenario::Media;
use ackclock_units::{PICOSECONDS_PER_SECOND, Span, Time};

use crate::context::Context;
use crate::datagrams::codepoint;
use crate::delays::Delays;
use crate::endpoint::{Endpoint, ReceiverView, ReceivingEnd, SenderView, SendingEnd};
use crate::meter::Meter;
use crate::packet::{Kind, Packet};

/// The most incomplete frames that the receiver waits for: earlier frames have lost packets.
const MOST_FRAMES: usize = 1 << 16;

/// The frames of a flow: their times and their lengths.
#[derive(Clone, Copy, Debug)]
pub struct Frames {
    media: Media,
    packet_bytes: u16,
    start: Time,
    interval: Span,
}

impl Frames {
    /// Frames in packets of `packet_bytes` bytes, from `start` on.
    #[must_use]
    pub fn new(media: Media, packet_bytes: u16, start: Time) -> Self {
        let interval = Span((PICOSECONDS_PER_SECOND as f64 / media.frame_rate) as u64);
        Frames { media, packet_bytes, start, interval }
    }

    /// Packets of the first `frames` frames together.
    fn packets(&self, frames: u64) -> u64 {
        let keys = frames.div_ceil(self.media.key_every) as f64;
        let units = frames as f64 + keys * (self.media.key_ratio - 1.0);
        (units * self.media.frame_bytes() / f64::from(self.packet_bytes)) as u64
    }

    /// Packets of frame `number`, from 0.
    fn length(&self, number: u64) -> u64 {
        self.packets(number + 1) - self.packets(number)
    }

    fn time(&self, number: u64) -> Time {
        self.start + self.interval.saturating_mul(number)
    }

    fn number(&self, time: Time) -> u64 {
        time.since(self.start).0 / self.interval.0
    }

    /// Frames that come before `time`.
    fn before(&self, time: Time) -> u64 {
        time.since(self.start).0.div_ceil(self.interval.0)
    }
}

/// The route of frames, and their end.
#[derive(Clone, Copy, Debug)]
pub struct MediaSettings {
    /// The flow.
    pub flow: u32,
    /// The entry of its packets in the table of routes.
    pub route: u32,
    /// When it stops.
    pub stop: Time,
}

/// Sends frames.
#[derive(Debug)]
pub struct MediaSource {
    settings: MediaSettings,
    frames: Frames,
    /// The next frame, and packets of the last one that have not gone.
    next: u64,
    pending: u64,
    meter: Meter,
}

impl MediaSource {
    /// A source at the start of the run.
    #[must_use]
    pub const fn new(settings: MediaSettings, frames: Frames, meter: Meter) -> Self {
        MediaSource { settings, frames, next: 0, pending: 0, meter }
    }
}

impl Endpoint for MediaSource {
    fn on_timer(&mut self, context: &mut Context<'_>) {
        if context.now >= self.wakeup() {
            if self.next == 0 {
                context.write(self.settings.flow, "start", f64::NAN, f64::NAN);
            }
            self.pending += self.frames.length(self.next);
            self.next += 1;
            if self.wakeup() == Time::NEVER {
                context.write(self.settings.flow, "stop", f64::NAN, f64::NAN);
            }
        }
    }

    fn next_packet(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        self.pending = self.pending.checked_sub(1)?;
        let sequence = self.meter.counters.sent_packets;
        self.meter.counters.sent_packets += 1;
        let MediaSettings { flow, route, .. } = self.settings;
        let bytes = self.frames.packet_bytes;
        let mut packet = Packet::new(Kind::Data, flow, route, sequence, context.now, bytes);
        packet.set_ecn(codepoint(self.frames.media.codepoint));
        Some(packet)
    }

    fn wakeup(&self) -> Time {
        let time = self.frames.time(self.next);
        if time >= self.settings.stop { Time::NEVER } else { time }
    }
}

impl SendingEnd for MediaSource {
    fn view(&self) -> SenderView<'_> {
        SenderView::uncontrolled(&self.meter)
    }
}

/// Puts frames together.
#[derive(Debug)]
pub struct MediaSink {
    frames: Frames,
    delivered: u64,
    /// Packets that have come of frames that are not complete.
    incomplete: BTreeMap<u64, u64>,
    delays: Delays,
    deadline: Option<Span>,
    /// The frames whose deadlines are within the measured time: from the first up to, not including, the second.
    judged: (u64, u64),
    in_time: u64,
}

impl MediaSink {
    /// A sink that measures within `measured`, of a source that stops at `stop`.
    #[must_use]
    pub fn new(frames: Frames, measured: (Time, Time), stop: Time) -> Self {
        let deadline = frames.media.deadline;
        let (from, to) = measured;
        let last = Time(to.min(stop).0.min(to.0.saturating_sub(deadline.unwrap_or_default().0)));
        let judged = (frames.before(from), frames.before(last));
        let (delays, incomplete) = (Delays::new(measured, None), BTreeMap::new());
        MediaSink { frames, delivered: 0, incomplete, delays, deadline, judged, in_time: 0 }
    }
}

impl Endpoint for MediaSink {
    fn on_packet(&mut self, packet: &Packet, context: &mut Context<'_>) {
        self.delivered += 1;
        let number = self.frames.number(packet.sent);
        let come = self.incomplete.entry(number).or_insert(0);
        *come += 1;
        if *come < self.frames.length(number) {
            if self.incomplete.len() > MOST_FRAMES {
                self.incomplete.pop_first();
            }
            return;
        }
        self.incomplete.remove(&number);
        self.delays.record(context.now, packet.sent);
        let in_time = self.deadline.is_some_and(|deadline| context.now.since(packet.sent) <= deadline);
        if in_time && (self.judged.0..self.judged.1).contains(&number) {
            self.in_time += 1;
        }
    }
}

impl ReceivingEnd for MediaSink {
    fn view(&self) -> ReceiverView {
        ReceiverView::unordered(self.delivered, None)
    }

    fn delays(&self) -> Option<(&Delays, Option<f64>)> {
        let frames = self.judged.1.saturating_sub(self.judged.0);
        let late = (self.deadline.is_some() && frames > 0).then(|| 1.0 - self.in_time as f64 / frames as f64);
        Some((&self.delays, late))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_scenario::Codepoint;
    use ackclock_units::Rate;

    /// 1.2 Mbit/s at 25 frames per second are 6000 bytes per frame on average. With a key frame of four times the size in
    /// every 10, the others have 6000 * 10/13 = 4615.4 bytes: 4.6 packets of 1000 bytes, key frames 18.5; 10 frames have 60.
    #[test]
    fn frames_have_the_rate_and_their_ratio() {
        let media = Media {
            rate: Rate(1_200_000),
            frame_rate: 25.0,
            key_every: 10,
            key_ratio: 4.0,
            codepoint: Codepoint::NotEct,
            deadline: None,
        };
        let frames = Frames::new(media, 1000, Time::ZERO);
        let lengths: Vec<_> = (0..10).map(|number| frames.length(number)).collect();
        assert_eq!((lengths[0], lengths.iter().sum::<u64>()), (18, 60));
        assert!(lengths[1..].iter().all(|length| [4, 5].contains(length)), "{lengths:?}");
        assert_eq!(frames.packets(1000), 6000);
        assert_eq!(
            (frames.time(25), frames.number(frames.time(25))),
            (Time::ZERO + Span::from_seconds(1), 25)
        );
    }
}
