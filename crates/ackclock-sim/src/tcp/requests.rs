//! Requests over one connection: what a client asks for, and when.

use ackclock_scenario::{Pause, Requests, Spacing};
use ackclock_units::{Span, Time};

use crate::pace::Serialiser;
use crate::random::Stream;
use crate::request_log::RequestLog;

/// Makes requests.
#[derive(Debug)]
pub struct Client {
    plan: Requests,
    packet_bytes: u64,
    stream: Stream,
    log: RequestLog,
    begun: u64,
    /// When the next one comes; [`Time::NEVER`] while that is not known.
    pub next: Time,
}

impl Client {
    /// A client in packets of `packet_bytes` bytes, from `start` on.
    #[must_use]
    pub fn new(plan: Requests, packet_bytes: u64, stream: Stream, start: Time, log: RequestLog) -> Self {
        Client { plan, packet_bytes, stream, log, begun: 0, next: start }
    }

    fn is_through(&self) -> bool {
        self.plan.count.is_some_and(|count| self.begun >= count)
    }

    fn after(&mut self, now: Time, pause: Span) -> Time {
        if self.is_through() {
            return Time::NEVER;
        }
        match self.plan.spacing {
            Spacing::Fixed => now + pause,
            Spacing::Exponential => {
                now + Span::from_seconds_f64(pause.as_seconds() * self.stream.exponential())
            }
        }
    }

    /// Begins the request that is due at `now`, after `total` packets. Returns its packets.
    pub fn begin(&mut self, now: Time, total: u64) -> u64 {
        let bytes = self.plan.sizes.at(self.stream.unit());
        let packets = bytes.0.div_ceil(self.packet_bytes);
        self.begun += 1;
        self.log.begin(now, bytes, total + packets);
        self.next = match self.plan.pause {
            // From the time that was planned, so that an exponential time of zero loses nothing.
            Pause::Every(every) => self.after(self.next, every),
            Pause::Think(_) => Time::NEVER,
        };
        packets
    }

    /// All that was asked for has been acknowledged at `now`. Returns whether nothing more will be.
    pub fn on_all_acknowledged(&mut self, now: Time) -> bool {
        if let Pause::Think(think) = self.plan.pause {
            self.next = self.after(now, think);
        }
        self.is_through()
    }
}

/// Hands data over a packet at a time, at a rate.
#[derive(Debug)]
pub struct Trickle {
    spacing: Serialiser,
    packet_bytes: u16,
    /// Packets in all; `u64::MAX` for no end.
    pub most: u64,
    /// When the next packet comes.
    pub next: Time,
}

impl Trickle {
    /// `most` packets that come through `spacing`, from `start` on.
    #[must_use]
    pub const fn new(spacing: Serialiser, packet_bytes: u16, most: u64, start: Time) -> Self {
        Trickle { spacing, packet_bytes, most, next: start }
    }

    /// Packets that have come by `now`, when there were `total` before.
    pub fn advance(&mut self, now: Time, mut total: u64) -> u64 {
        while self.next <= now && total < self.most {
            total += 1;
            self.next += self.spacing.next(self.packet_bytes);
        }
        if total == self.most {
            self.next = Time::NEVER;
        }
        total
    }
}
