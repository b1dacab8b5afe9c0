//! Transmission over a link: a queue, and a packet at a time onto the wire.

use ackclock_trace::Histogram;
use ackclock_units::Time;

use super::LinkCounters;
use crate::pace::Pace;
use crate::packet::Packet;
use crate::queue::{Discipline, InService, Queue, Queued};
use crate::wire::Wire;

/// What puts packets on a link's wire.
#[derive(Debug)]
pub struct Transmitter {
    /// How fast.
    pub pace: Pace,
    /// What waits.
    pub queue: Discipline,
    /// What is being transmitted.
    pub in_service: InService,
    /// When the transmission under way ends; [`Time::NEVER`] when there is none.
    pub finish: Time,
    /// Bits transmitted.
    pub bits: u64,
    /// The queue over time.
    pub level: Level,
    /// Queueing delays, once they are measured.
    pub delays: Histogram,
    measured: bool,
}

/// The queue over time, the packet in transmission included.
#[derive(Clone, Copy, Debug, Default)]
pub struct Level {
    packets: u64,
    since: Time,
    /// Integral over time up to the last change, packets times picoseconds.
    pub integral: u128,
    /// Extremes since they were last taken.
    least: u64,
    most: u64,
    /// The largest since measuring began.
    pub most_measured: u64,
}

impl Level {
    #[inline]
    fn change(&mut self, now: Time, packets: u64) {
        self.integral += u128::from(self.packets) * u128::from(now.0 - self.since.0);
        self.since = now;
        self.packets = packets;
        self.least = self.least.min(packets);
        self.most = self.most.max(packets);
        self.most_measured = self.most_measured.max(packets);
    }

    /// The queue now, and its least and most since this was last asked.
    pub fn take_extremes(&mut self) -> (u64, u64, u64) {
        let extremes = (self.packets, self.least, self.most);
        (self.least, self.most) = (self.packets, self.packets);
        extremes
    }
}

impl Transmitter {
    /// An idle one.
    pub fn new(pace: Pace, queue: Discipline) -> Self {
        Transmitter {
            pace,
            queue,
            in_service: InService::default(),
            finish: Time::NEVER,
            bits: 0,
            level: Level::default(),
            delays: Histogram::default(),
            measured: false,
        }
    }

    /// From now on the longest queue and the queueing delays are measured.
    pub fn start_measuring(&mut self) {
        self.measured = true;
        self.level.most_measured = self.level.packets;
    }

    /// Works off all transmissions that end up to `now`.
    #[inline]
    pub fn catch_up(
        &mut self,
        now: Time,
        wire: &mut Wire,
        dropped: &mut Vec<Packet>,
        counters: &mut LinkCounters,
    ) {
        while self.finish <= now {
            if self.finish == Time::NEVER {
                return;
            }
            self.bits += self.in_service.bytes * 8;
            self.start(self.finish, wire, dropped, counters);
        }
    }

    /// The next transmission begins at `now`, if a packet waits.
    #[inline]
    pub fn start(
        &mut self,
        now: Time,
        wire: &mut Wire,
        dropped: &mut Vec<Packet>,
        counters: &mut LinkCounters,
    ) {
        // Droptail drops nothing here, and is most links' queue.
        let next = match &mut self.queue {
            Discipline::Droptail(queue) => queue.dequeue(now, dropped),
            managed => dequeue_managed(managed, now, dropped, counters),
        };
        if let Some(Queued { packet, since }) = next {
            if self.measured {
                self.delays.record(now.since(since));
            }
            self.finish = self.pace.finish(now, packet.bytes());
            self.in_service = InService { packets: 1, bytes: u64::from(packet.bytes()) };
            wire.push(self.finish, packet);
        } else {
            self.finish = Time::NEVER;
            self.in_service = InService::default();
        }
        self.note_level(now);
    }

    /// The queue may have changed at `now`.
    #[inline]
    pub fn note_level(&mut self, now: Time) {
        self.level.change(now, self.queue.len() + self.in_service.packets);
    }
}

#[inline(never)]
fn dequeue_managed(
    queue: &mut Discipline,
    now: Time,
    dropped: &mut Vec<Packet>,
    counters: &mut LinkCounters,
) -> Option<Queued> {
    let before = dropped.len();
    let next = queue.dequeue(now, dropped);
    counters.queue_drops += (dropped.len() - before) as u64;
    next
}
