//! Requests over one connection: their sizes and times.

use ackclock_scenario::{ApplicationChange, ApplicationSetting, Pause, Requests, Shared, Spacing};
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
    start: Time,
    /// When the next one comes; [`Time::NEVER`] while that is not known.
    next: Time,
    /// Changes of the plan, and how many have happened.
    changes: Shared<Vec<ApplicationChange>>,
    changed: usize,
}

impl Client {
    /// A client in packets of `packet_bytes` bytes, from `start` on.
    #[must_use]
    pub fn new(plan: Requests, packet_bytes: u64, stream: Stream, start: Time, log: RequestLog) -> Self {
        let first = match &plan.pause {
            Pause::Listed(list) => list.first().map_or(Span::ZERO, |(time, _)| *time),
            Pause::Every(_) | Pause::Think(_) => Span::ZERO,
        };
        let changes = Vec::new().into();
        Client { plan, packet_bytes, stream, log, begun: 0, start, next: start + first, changes, changed: 0 }
    }

    /// The same client before its start, with changes of its plan.
    #[must_use]
    pub fn with_changes(self, changes: Shared<Vec<ApplicationChange>>) -> Self {
        Client { changes, ..self }
    }

    fn next_change(&self) -> Time {
        // What changes before the start is as it is then.
        self.changes.get(self.changed).map_or(Time::NEVER, |change| (Time::ZERO + change.at).max(self.start))
    }

    /// When something happens.
    #[must_use]
    pub fn wakeup(&self) -> Time {
        self.next.min(self.next_change())
    }

    /// There will be nothing more.
    pub fn stop(&mut self) {
        (self.next, self.changed) = (Time::NEVER, self.changes.len());
    }

    /// The next change of the plan happens. A request that comes is not later than it would be by the new plan.
    fn change(&mut self) {
        let now = self.next_change();
        let changes = self.changes.clone();
        match &changes[self.changed].to {
            ApplicationSetting::Pause(pause) => {
                if let (true, Pause::Every(time) | Pause::Think(time)) = (self.next < Time::NEVER, pause) {
                    self.next = self.next.min(self.after(now, *time));
                }
                self.plan.pause = pause.clone();
            }
            ApplicationSetting::Size(sizes) => self.plan.sizes = sizes.clone(),
            ApplicationSetting::Limit(_) => {}
        }
        self.changed += 1;
    }

    /// Does all that happens by `now`, after `total` packets. Returns the packets of all.
    pub fn advance(&mut self, now: Time, mut total: u64) -> u64 {
        while self.wakeup() <= now {
            if self.next_change() <= self.next {
                self.change();
            } else {
                total += self.begin(now, total);
            }
        }
        total
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
    fn begin(&mut self, now: Time, total: u64) -> u64 {
        let bytes = match &self.plan.pause {
            Pause::Listed(list) => list[self.begun as usize].1,
            Pause::Every(_) | Pause::Think(_) => self.plan.sizes.at(self.stream.unit()),
        };
        let packets = bytes.0.div_ceil(self.packet_bytes);
        self.begun += 1;
        self.log.begin(now, bytes, total + packets);
        self.next = match &self.plan.pause {
            // The interval starts at the planned time, so that no request is lost after an exponential time of zero.
            Pause::Every(every) => {
                let every = *every;
                self.after(self.next, every)
            }
            Pause::Think(_) => Time::NEVER,
            Pause::Listed(list) => {
                list.get(self.begun as usize).map_or(Time::NEVER, |(time, _)| self.start + *time)
            }
        };
        packets
    }

    /// The data of all requests has been acknowledged at `now`. Returns whether there will be no further request.
    pub fn on_all_acknowledged(&mut self, now: Time) -> bool {
        if let Pause::Think(think) = &self.plan.pause {
            let think = *think;
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
    start: Time,
    /// When the next packet comes.
    next: Time,
    /// Changes of the rate, and how many have happened.
    changes: Shared<Vec<ApplicationChange>>,
    changed: usize,
}

impl Trickle {
    /// `most` packets that come through `spacing`, from `start` on.
    #[must_use]
    pub fn new(spacing: Serialiser, packet_bytes: u16, most: u64, start: Time) -> Self {
        Trickle { spacing, packet_bytes, most, start, next: start, changes: Vec::new().into(), changed: 0 }
    }

    /// Sets changes of its rate from the start on; earlier changes have been applied.
    pub fn set_changes(&mut self, changes: &Shared<Vec<ApplicationChange>>) {
        self.changes = changes.clone();
    }

    fn next_change(&self) -> Time {
        // What changes before the start is as it is then.
        self.changes.get(self.changed).map_or(Time::NEVER, |change| (Time::ZERO + change.at).max(self.start))
    }

    /// When something happens.
    #[must_use]
    pub fn wakeup(&self) -> Time {
        self.next.min(self.next_change())
    }

    /// There will be nothing more.
    pub fn stop(&mut self) {
        (self.next, self.changed) = (Time::NEVER, self.changes.len());
    }

    /// Packets that have come by `now`, when there were `total` before.
    pub fn advance(&mut self, now: Time, mut total: u64) -> u64 {
        while self.wakeup() <= now && total < self.most {
            let change = self.next_change();
            if self.next < change {
                total += 1;
                self.next += self.spacing.next(self.packet_bytes);
                continue;
            }
            if let ApplicationSetting::Limit(limit) = &self.changes[self.changed].to {
                match *limit {
                    // The next packet takes the time that it takes at the new rate.
                    Some(rate) => {
                        self.spacing = Serialiser::new(rate);
                        self.next = change + self.spacing.next(self.packet_bytes);
                    }
                    None => total = self.most,
                }
            }
            self.changed += 1;
        }
        if total == self.most {
            self.stop();
        }
        total
    }
}
