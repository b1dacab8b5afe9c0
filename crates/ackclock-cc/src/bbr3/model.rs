//! The model of the path of BBR version 3: largest rates, the full pipe, the smallest RTT, aggregation, losses.

use ackclock_units::{Span, Time};

use super::Version;
use crate::Ack;

/// Losses of a flight above this share say that it was too large.
pub const LOSS_THRESHOLD: f64 = 0.02;
/// Growth of the rate that shows that the pipe is not full, and the round trips without it that show that it is.
const FULL: (f64, u32) = (1.25, 3);
/// Seconds for which the smallest RTT counts, and after which it is probed.
const MIN_RTT_S: u64 = 10;
const PROBE_RTT_INTERVAL_S: u64 = 5;
/// Round trips over which the largest aggregate counts.
const AGGREGATE_ROUNDS: usize = 10;

/// The evidence about the path in an acknowledgement: the rate sample, where it is usable.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Packets per second; 0 if the interval was too short to tell.
    pub rate: f64,
    /// Packets delivered over the sample.
    pub delivered: f64,
    /// Packets delivered in total when its newest packet was sent.
    pub prior_delivered: u64,
    /// Something other than the network limited the rate.
    pub limited: bool,
    /// Packets in flight when its newest packet was sent, and of these lost.
    pub tx_in_flight: f64,
    pub lost: f64,
}

impl Sample {
    /// The sample of `ack`, if it has one. An interval below `least_rtt` shows no rate.
    pub fn of(ack: &Ack, least_rtt: Span) -> Option<Sample> {
        let rate = ack.rate.filter(|_| ack.delivered.0 > 0)?;
        let shows = rate.interval > Span::ZERO && rate.interval >= least_rtt;
        Some(Sample {
            rate: if shows { rate.delivered.0 as f64 / rate.interval.as_seconds() } else { 0.0 },
            delivered: rate.delivered.0 as f64,
            prior_delivered: rate.prior_delivered.0,
            limited: rate.application_limited,
            tx_in_flight: rate.tx_in_flight.0 as f64,
            lost: rate.lost.0 as f64,
        })
    }

    /// Whether enough of its flight was lost to say that the flight was too large.
    pub fn is_too_high(&self) -> bool {
        self.lost > LOSS_THRESHOLD * self.tx_in_flight
    }
}

/// How many packets of a flight of `tx`, of which `lost` were lost, could have been sent without exceeding the loss
/// threshold (draft, section 5.5.10.2): where in the flight the share was crossed, but no more than before the last loss.
pub fn in_flight_at_loss(tx: f64, lost: f64) -> f64 {
    let (before, lost_before) = (tx - 1.0, lost - 1.0);
    before + ((LOSS_THRESHOLD * before - lost_before) / (1.0 - LOSS_THRESHOLD)).max(0.0)
}

/// The largest rate of this and the last cycle of probing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LargestRate {
    now: f64,
    before: f64,
}

impl LargestRate {
    pub fn get(&self) -> f64 {
        self.now.max(self.before)
    }

    pub fn note(&mut self, sample: &Sample) {
        if !sample.limited || sample.rate >= self.get() {
            self.now = self.now.max(sample.rate);
        }
    }

    /// The next cycle begins; with `keep_last` only if this one had a sample.
    pub fn advance(&mut self, keep_last: bool) {
        if self.now > 0.0 || !keep_last {
            (self.before, self.now) = (self.now, 0.0);
        }
    }
}

/// Whether the rate has stopped growing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FullPipe {
    /// The rate when it last grew by a quarter, and round trips since.
    pub rate: f64,
    pub count: u32,
    /// It has stopped since the last restart.
    pub now: bool,
    /// It has stopped once.
    pub reached: bool,
}

impl FullPipe {
    /// Looks for growth above `rate` from now on.
    pub fn restart(&mut self, rate: f64) {
        *self = FullPipe { rate, count: 0, now: false, reached: self.reached };
    }

    pub fn note<V: Version>(&mut self, sample: &Sample, round_start: bool) {
        if self.now || sample.limited || sample.rate == 0.0 || !(round_start || V::IS_LINUX) {
            return;
        }
        if sample.rate >= FULL.0 * self.rate {
            (self.rate, self.count) = (sample.rate, 0);
        } else if round_start {
            self.count += 1;
            self.now = self.count >= FULL.1;
            self.reached |= self.now;
        }
    }
}

/// The smallest RTT, in two windows: one for the model, and a shorter one that says when to probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeastRtt {
    pub rtt: Option<Span>,
    at: Time,
    probe: Span,
    pub probe_at: Time,
    /// The smallest of the connection.
    pub ever: Span,
}

impl LeastRtt {
    pub const fn new() -> Self {
        LeastRtt { rtt: None, at: Time::ZERO, probe: Span::MAX, probe_at: Time::ZERO, ever: Span::ZERO }
    }

    /// Takes in the RTT of an acknowledgement. Returns whether it is time to probe.
    pub fn note(&mut self, now: Time, rtt: Option<Span>) -> bool {
        if self.rtt.is_none() {
            (self.at, self.probe_at) = (now, now);
        }
        let expired = now > self.probe_at + Span::from_seconds(PROBE_RTT_INTERVAL_S);
        if let Some(rtt) = rtt {
            self.ever = if self.ever == Span::ZERO { rtt } else { self.ever.min(rtt) };
            if rtt < self.probe || expired {
                (self.probe, self.probe_at) = (rtt, now);
            }
            let old = now > self.at + Span::from_seconds(MIN_RTT_S);
            if old || self.rtt.is_none_or(|least| self.probe < least) {
                (self.rtt, self.at) = (Some(self.probe), self.probe_at);
            }
        }
        expired
    }
}

/// Packets beyond the rate that come at once, by aggregation on the way: the largest of some round trips.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Aggregation {
    pub start: Time,
    delivered: f64,
    rounds: [f64; AGGREGATE_ROUNDS],
    /// The index of the present round trip among them.
    index: usize,
    round: u64,
    largest: f64,
}

impl Aggregation {
    /// `acked` packets arrive at `now`, in round trip `round`; the path's rate is `bandwidth`. No more than `most` count.
    pub fn note(&mut self, now: Time, acked: f64, round: u64, bandwidth: f64, most: f64) {
        let mut expected = bandwidth * now.since(self.start).as_seconds();
        if self.delivered <= expected {
            (self.delivered, self.start, expected) = (0.0, now, 0.0);
        }
        self.delivered += acked;
        let extra = (self.delivered - expected).min(most);
        if round > self.round {
            self.begin_round(round);
        }
        // Mostly less comes at once than before.
        if extra > self.rounds[self.index] {
            self.rounds[self.index] = extra;
            self.largest = self.largest.max(extra);
        }
    }

    /// Forgets entries that are ten round trips old.
    #[cold]
    fn begin_round(&mut self, round: u64) {
        for _ in 0..(round - self.round).min(AGGREGATE_ROUNDS as u64) {
            self.index = (self.index + 1) % AGGREGATE_ROUNDS;
            self.rounds[self.index] = 0.0;
        }
        self.round = round;
        self.largest = self.rounds.iter().copied().fold(0.0, f64::max);
    }

    /// The largest of the last ten round trips; before the pipe is full, of this one.
    pub fn largest(&self, is_full: bool) -> f64 {
        if is_full { self.largest } else { self.rounds[self.index] }
    }
}

/// A number from 0 up to, not including, 1 that `seed` and `number` determine; one half for the seed 0 (splitmix64).
pub fn fraction(seed: u64, number: u64) -> f64 {
    if seed == 0 {
        return 0.5;
    }
    let mut mixed = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}
