//! Copa: V. Arun, H. Balakrishnan, NSDI 2018.
//!
//! With RTTmin the smallest RTT of 10 s, RTTst ("standing") that of the last half of a smoothed RTT, and
//! `dq = RTTst - RTTmin`, the rate `W/RTTst` is steered towards `1/(delta dq)` packets per second: per acknowledged
//! packet `W += v/(delta W)` while it is not above that, `W -= v/(delta W)` otherwise, at least 2. Packets are paced at
//! `2W/RTTst`. Slow start ends where the rate first exceeds its target. N flows keep about N/delta packets queued
//! between them, and losses change nothing.
//!
//! The velocity v is 1. In the paper the window is compared, once per round trip, with that of the round trip before; the
//! third time that it has moved in the same direction v doubles, and again with each further one. Another direction, and a
//! step against the direction, make v 1 again. In the authors' code v doubles with every round trip whose steps went mostly
//! in the same direction as those of the one before, from the first on, and is halved where it exceeds delta W; another
//! direction makes it 1. A step is never more than a packet per packet acknowledged.
//!
//! Flows that fill buffers show themselves in that the queue is never nearly empty, `dq < 0.1 (RTTmax - RTTmin)` with
//! RTTmax of 4 RTTs: after 5 round trips without that, Copa is competitive until it is seen again. `1/delta` then grows
//! by 1 per round trip and halves at a loss event, at least the default; 1/delta is at most 100, which the paper leaves
//! open and which keeps it finite where nothing is lost.

use core::cmp::Reverse;

use ackclock_units::{PacketRate, Span, Time};

use crate::parts::{Base, Windowed};
use crate::{Ack, Controller, Decision, Signal, Start};

crate::choice! {
    /// How the velocity follows the direction.
    pub enum Velocity {
        /// As the paper says: it doubles from the third round trip in one direction on.
        Paper = "paper",
        /// As the authors' code does (genericCC, `markoviancc.cc`): from the first on.
        Authors = "authors",
    }
}

crate::parameters! {
    /// Parameters of Copa.
    pub struct CopaParams {
        /// weight of delay in the default mode: a flow keeps about 1/delta packets queued
        delta: f64 = 0.5, Domain::Number { minimum: 0.01, maximum: 10.0 };
        /// become competitive next to flows that fill buffers
        mode_switching: bool = true, Domain::Flag;
        /// how the velocity follows the direction
        velocity: Velocity = Velocity::Authors, Domain::Choice(Velocity::WORDS);
        /// time of which the smallest RTT counts as that of the empty path, seconds
        window_s: f64 = 10.0, Domain::Number { minimum: 0.1, maximum: 1e6 };
        /// time of which the smallest RTT counts as the present one, as a fraction of the smoothed RTT
        standing_fraction: f64 = 0.5, Domain::Number { minimum: 0.01, maximum: 4.0 };
    }
}

/// The smallest window, packets.
const LEAST: f64 = 2.0;
/// Gain of the smoothed RTT.
const GAIN: f64 = 1.0 / 8.0;
/// Equal directions in turn from which v doubles.
const SAME: u32 = 3;
/// Smoothed RTTs of which the largest RTT counts.
const LARGEST_OF: f64 = 4.0;
/// Share of the range of RTTs that is a nearly empty queue, and round trips without one that make competitive.
const NEARLY_EMPTY: (f64, u64) = (0.1, 5);
/// The largest 1/delta of the competitive mode.
const MOST: f64 = 100.0;
/// Windows per RTT at which packets are paced.
const PACING: f64 = 2.0;

/// The change of a window of `w` packets per acknowledged packet, packets, at velocity `v`, for RTTs in one unit.
#[must_use]
pub fn step(delta: f64, v: f64, w: f64, rtt_min: f64, rtt_standing: f64) -> f64 {
    let size = (v / (delta * w)).min(1.0);
    // w/RTTst <= 1/(delta dq), without dividing by a delay of zero.
    if w * delta * (rtt_standing - rtt_min) <= rtt_standing { size } else { -size }
}

/// The current estimates from RTTs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Delays {
    /// When an RTT was measured last.
    at: Time,
    /// Smoothed RTT, picoseconds, like all calculations with RTTs: a conversion would cost a division each time.
    smoothed: f64,
    least: Span,
    standing: Span,
    largest: Span,
}

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct Copa {
    params: CopaParams,
    base: Base,
    /// The window that it would have if it might grow during loss episodes, too.
    wanted: f64,
    /// Time of which the smallest RTT counts as that of the empty path.
    window: Span,
    least: Windowed<Span>,
    standing: Windowed<Span>,
    largest: Windowed<Reverse<Span>>,
    delays: Option<Delays>,
    velocity: f64,
    /// The window rose in the last round trip, and how often in turn it had done as it did.
    rises: bool,
    same: u32,
    /// Steps up less steps down in this round trip.
    direction: i64,
    round: u64,
    /// Window at the beginning of the round trip.
    before: f64,
    /// Last round trips in which the queue was nearly empty, and in which there was a loss event.
    empty: u64,
    lost: Option<u64>,
    inverse_delta: f64,
    /// `inverse_delta` before the last loss event or timeout, for `Undo`.
    undo: f64,
}

impl Delays {
    /// The estimates at `now`. If no RTT was measured during the time for which RTTmax counts, only retransmissions are
    /// acknowledged, and the former queue must not hold the window down until they are through: no packet counts as
    /// queued.
    fn at(self, now: Time) -> Delays {
        let is_stale = now.since(self.at).0 as f64 > LARGEST_OF * self.smoothed;
        Delays { standing: if is_stale { self.least } else { self.standing }, ..self }
    }
}

impl Copa {
    fn measure(&mut self, now: Time, rtt: Span) {
        // Nothing real is shorter than a picosecond; zero would divide by zero.
        let rtt = rtt.max(Span(1));
        let sample = rtt.0 as f64;
        let before = self.delays.map_or(sample, |delays| delays.smoothed);
        let smoothed = before + GAIN * (sample - before);
        let times = |factor: f64| Span((factor * smoothed) as u64);
        let least = self.least.note(now, rtt, self.window);
        let standing = self.standing.note(now, rtt, times(self.params.standing_fraction)).max(least);
        let Reverse(largest) = self.largest.note(now, Reverse(rtt), times(LARGEST_OF));
        self.delays = Some(Delays { at: now, smoothed, least, standing, largest });
    }

    fn is_competitive(&self) -> bool {
        self.params.mode_switching && self.round > self.empty + NEARLY_EMPTY.1
    }

    /// `is_limit`: the window limits what is sent. If it does not, the rate does not swing, so equal RTTs are no
    /// evidence of competing flows.
    fn choose_mode(&mut self, new_round: bool, is_limit: bool, delays: &Delays) {
        let queued = (delays.standing - delays.least).0 as f64;
        // Equality is a path on which no RTT differs from another: its queue is empty.
        if !is_limit || queued <= NEARLY_EMPTY.0 * (delays.largest - delays.least).0 as f64 {
            self.empty = self.round;
        }
        let default = 1.0 / self.params.delta;
        if !self.is_competitive() {
            self.inverse_delta = default;
        } else if new_round && self.lost.is_none_or(|lost| lost + 1 < self.round) {
            self.inverse_delta = (self.inverse_delta + 1.0).min(MOST.max(default));
        }
    }

    /// Compares the steps of the round trip that is over with those of the one before, as the authors' code does.
    fn choose_velocity_as_authors(&mut self) {
        let direction = core::mem::take(&mut self.direction);
        if direction != 0 && (direction > 0) == self.rises {
            self.velocity *= 2.0;
        } else {
            (self.velocity, self.rises) = (1.0, !self.rises);
        }
    }

    /// Compares the window with that of a round trip ago.
    fn choose_velocity(&mut self) {
        let rises = self.wanted > self.before;
        if self.wanted == self.before {
            (self.same, self.velocity) = (0, 1.0);
        } else if rises == self.rises {
            self.same += 1;
        } else {
            (self.rises, self.same, self.velocity) = (rises, 0, 1.0);
        }
        if self.same >= SAME {
            self.velocity = (2.0 * self.velocity).min(self.wanted / self.inverse_delta).max(1.0);
        }
        self.before = self.wanted;
    }

    fn adapt(&mut self, ack: &Ack, delays: &Delays) {
        let delta = 1.0 / self.inverse_delta;
        let (least, standing) = (delays.least.0 as f64, delays.standing.0 as f64);
        if self.params.velocity == Velocity::Authors && self.velocity > self.wanted * delta {
            self.velocity = (self.velocity / 2.0).max(1.0);
        }
        let step = step(delta, self.velocity, self.wanted, least, standing);
        if self.base.in_slow_start() {
            if step > 0.0 {
                return;
            }
            self.base.leave_slow_start();
            (self.wanted, self.before) = (self.base.window(), self.base.window());
        }
        match self.params.velocity {
            Velocity::Authors => self.direction += if step > 0.0 { 1 } else { -1 },
            Velocity::Paper if (step > 0.0) != self.rises && self.velocity > 1.0 => {
                (self.velocity, self.same) = (1.0, 0);
            }
            Velocity::Paper => {}
        }
        if step < 0.0 || ack.window_limited {
            self.wanted += step * ack.delivered.0 as f64;
        }
    }

    /// Sets the window to the wanted one, as far as the window may grow.
    fn follow(&mut self, ack: &Ack) {
        if self.base.in_slow_start() && ack.window_limited {
            self.wanted = (self.wanted + ack.delivered.0 as f64).min(self.base.decision().ssthresh.0);
        }
        let w = self.base.window();
        // An episode is not to end with a larger burst than slow start would send.
        self.wanted = self.wanted.max(LEAST).min(2.0 * w.max(LEAST));
        if self.wanted < w && !self.base.in_slow_start() {
            self.base.fall_to(self.wanted);
        } else if ack.growth() > 0.0 {
            self.base.set(self.wanted);
        }
    }
}

impl Controller for Copa {
    type Params = CopaParams;

    fn new(params: CopaParams, start: Start) -> Self {
        let base = Base::new(start);
        Copa {
            params,
            window: Span::from_seconds_f64(params.window_s),
            wanted: base.window(),
            before: base.window(),
            least: Windowed::default(),
            standing: Windowed::default(),
            largest: Windowed::default(),
            delays: None,
            velocity: 1.0,
            rises: true,
            same: 0,
            direction: 1,
            round: 0,
            empty: 0,
            lost: None,
            inverse_delta: 1.0 / params.delta,
            undo: 1.0 / params.delta,
            base,
        }
    }

    fn on(&mut self, now: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) => {
                if let Some(rtt) = ack.rtt {
                    self.measure(now, rtt);
                }
                let new_round = ack.round > self.round;
                self.round = ack.round;
                if let Some(delays) = self.delays.map(|delays| delays.at(now)) {
                    self.choose_mode(new_round, ack.window_limited, &delays);
                    if new_round && !self.base.in_slow_start() {
                        match self.params.velocity {
                            Velocity::Paper => self.choose_velocity(),
                            Velocity::Authors => self.choose_velocity_as_authors(),
                        }
                    }
                    self.adapt(&ack, &delays);
                }
                self.follow(&ack);
            }
            Signal::Loss { .. } => {
                self.base.ignore_loss();
                self.undo = self.inverse_delta;
                if self.lost.is_none_or(|lost| lost < self.round) {
                    self.inverse_delta = (self.inverse_delta / 2.0).max(1.0 / self.params.delta);
                }
                self.lost = Some(self.round);
            }
            Signal::Recovered => self.base.set(self.wanted.max(self.base.window())),
            _ => {
                self.base.react(signal, 1.0);
                match signal {
                    Signal::Undo => self.inverse_delta = self.undo,
                    Signal::Timeout { .. } => self.undo = self.inverse_delta,
                    _ => {}
                }
                (self.wanted, self.before) = (self.base.window(), self.base.window());
                (self.velocity, self.same) = (1.0, 0);
                if self.params.velocity == Velocity::Authors {
                    (self.rises, self.direction) = (true, 1);
                }
            }
        }
    }

    fn decision(&self) -> Decision {
        let rate = self.delays.map(|delays| PACING * self.base.window() / delays.standing.as_seconds());
        Decision { pacing_rate: rate.map(PacketRate), ..self.base.decision() }
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let queued = self.delays.map_or(f64::NAN, |delays| (delays.standing - delays.least).as_millis());
        visit("queueing_delay_ms", queued);
        visit("velocity", self.velocity);
        visit("inverse_delta", self.inverse_delta);
        visit("competitive", f64::from(u8::from(self.is_competitive())));
    }
}
