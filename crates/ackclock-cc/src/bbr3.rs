//! BBR, version 3: draft-ietf-ccwg-bbr-06; `bbr3-linux` is what Google's Linux does (google/bbr, branch v3).
//!
//! It models the path by `max_bw`, the largest delivery rate of two cycles of probing, and `min_rtt`, the smallest RTT of
//! ten seconds, and paces at `0.99 gain bw`. Losses bound the model: `lt`, the volume that probing found safe, and for
//! the time between probes `bst` and `st`, which fall by 0.7 per round trip with losses. `bw = min(max_bw, bst)`; the
//! window is `cwnd_gain bw min_rtt + extra_acked`, at most `lt` and `st`. A flight of which more than 2 % are lost was too
//! large.
//!
//! Startup doubles the rate until it stops growing; Drain empties the queue; then a cycle of probing: DOWN leaves room,
//! CRUISE keeps the rate, REFILL fills the pipe for one round trip, UP probes for more. ProbeRTT halves what is in flight
//! every five seconds in which the RTT was not seen at its smallest.
//!
//! Differences of Linux are at the uses of [`Version`]. An ECN mark counts as a lost packet. The page in
//! docs/controllers says what the draft leaves open.

use ackclock_units::{PacketRate, Packets, Span, Time, Window};

use crate::{Ack, Controller, Decision, Ecn, Signal, Start, Wants};

mod losses;
pub(crate) mod model;
mod phases;
mod probe;
mod window;

use losses::Undo;
use model::{Aggregation, FullPipe, LargestRate, LeastRtt, Sample};
use probe::Cycle;

crate::parameters! {
    /// Parameters of BBR version 3.
    pub struct Bbr3Params {
        /// share of the model kept at a lossy round trip
        beta: f64 = 0.7, Domain::Number { minimum: 0.01, maximum: 1.0 };
        /// share of lt left free for others in CRUISE
        headroom: f64 = 0.15, Domain::Number { minimum: 0.0, maximum: 0.9 };
        /// share of the rate left free when pacing
        pacing_margin: f64 = 0.01, Domain::Number { minimum: 0.0, maximum: 0.5 };
        /// length of ProbeRTT, milliseconds
        probe_rtt_ms: f64 = 200.0, Domain::Number { minimum: 1.0, maximum: 1e6 };
    }
}

/// The source of version 3 that it follows.
pub trait Version: Clone + core::fmt::Debug + Send + Sync + 'static {
    /// Google's Linux instead of the draft.
    const IS_LINUX: bool;
}

/// The draft's.
#[derive(Clone, Debug)]
pub struct Draft;

impl Version for Draft {
    const IS_LINUX: bool = false;
}

/// That of Google's Linux.
#[derive(Clone, Debug)]
pub struct Linux;

impl Version for Linux {
    const IS_LINUX: bool = true;
}

/// Smallest window, packets.
const LEAST: f64 = 4.0;
/// No window or volume grows beyond this, packets.
const LARGEST: f64 = 1e12;
/// Gain of the rate in Startup: 4 ln 2.
const STARTUP_GAIN: f64 = 2.77;
/// RTT that the first pacing rate assumes when none is measured, seconds.
const UNKNOWN_RTT_S: f64 = 1e-3;
/// A quantum is what is sent in this time, seconds, between these many packets: 64 KiB of 1500-byte packets.
const QUANTUM_S: f64 = 1e-3;
const QUANTA: (f64, f64) = (2.0, 64.0 * 1024.0 / 1500.0);
/// In Linux an aggregate counts at most the packets that arrive in this time, seconds.
const LONGEST_AGGREGATE_S: f64 = 0.1;

/// The state of the control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    /// Gains of pacing and window.
    fn gains<V: Version>(self) -> (f64, f64) {
        match self {
            State::Startup => (STARTUP_GAIN, 2.0),
            State::Drain => (if V::IS_LINUX { 1000.0 / 2885.0 } else { 0.5 }, 2.0),
            State::Down => (if V::IS_LINUX { 0.91 } else { 0.9 }, 2.0),
            State::Cruise | State::Refill => (1.0, 2.0),
            State::Up => (1.25, 2.25),
            State::ProbeRtt => (1.0, if V::IS_LINUX { 1.0 } else { 0.5 }),
        }
    }

    const fn is_probe_bw(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// Whether losses are expected and do not lower the short-term model.
    const fn is_probing(self) -> bool {
        matches!(self, State::Startup | State::Refill | State::Up)
    }
}

/// The control.
#[derive(Clone, Debug)]
pub struct Bbr3<V> {
    params: Bbr3Params,
    seed: u64,
    initial_window: f64,
    window: f64,
    /// The window to return to after recovery or `ProbeRTT`.
    saved: f64,
    /// The window before the last loss event or timeout.
    before: f64,
    pacing: f64,
    quantum: f64,
    state: State,
    in_flight: f64,
    recovering: bool,
    /// Packets delivered in total, and that total where this round trip ends.
    delivered: u64,
    round_end: u64,
    round: u64,
    round_start: bool,
    /// The same for round trips that begin with a loss.
    loss_round_end: u64,
    loss_round_start: bool,
    loss_in_round: bool,
    /// Acknowledgements with losses, and marks, in this round trip.
    lossy_acks: u32,
    marks: f64,
    largest_rate: LargestRate,
    /// The rate of the model, packets per second.
    bw: f64,
    /// Bounds of rate and volume between probes, and of the volume in the long run; infinite when there are none.
    bst: f64,
    st: f64,
    lt: f64,
    /// Largest rate and volume of this loss round trip.
    bw_latest: f64,
    latest: f64,
    aggregation: Aggregation,
    full: FullPipe,
    least_rtt: LeastRtt,
    drain_round: u64,
    cycle: Cycle,
    /// When `ProbeRTT` may end, once it is long enough, and whether a round trip has passed.
    probe_rtt_ends: Option<Time>,
    probe_rtt_round: bool,
    /// Packets sent while the count of delivered packets was between these were limited by `ProbeRTT`.
    probe_rtt_limited: (u64, u64),
    idle_restart: bool,
    undo: Undo,
    version: core::marker::PhantomData<V>,
}

impl<V: Version> Bbr3<V> {
    /// Packets in flight that fill the path at rate `bw`; the initial window while no RTT is known.
    fn bdp(&self, bw: f64) -> f64 {
        self.least_rtt.rtt.map_or(self.initial_window, |rtt| bw * rtt.as_seconds())
    }

    fn target_in_flight(&self) -> f64 {
        self.bdp(self.bw).min(self.window)
    }

    /// `lt` with room for others.
    fn with_headroom(&self) -> f64 {
        let free = (self.params.headroom * self.lt).max(1.0);
        if self.lt.is_finite() { (self.lt - free).max(LEAST) } else { self.lt }
    }

    fn start_round(&mut self) {
        self.round_end = self.delivered;
    }

    /// Steps 1 and 2: the latest signals, and round trips.
    fn count_rounds(&mut self, sample: &Sample) {
        self.loss_round_start = sample.prior_delivered >= self.loss_round_end;
        self.bw_latest = self.bw_latest.max(sample.rate);
        self.latest = self.latest.max(sample.delivered);
        if self.loss_round_start {
            self.loss_round_end = self.delivered;
        }
        self.round_start = sample.prior_delivered >= self.round_end;
        if self.round_start {
            self.start_round();
            self.round += 1;
            self.cycle.rounds += 1;
            self.marks = 0.0;
        }
    }

    /// Step 13.
    fn pace(&mut self) {
        let rate = self.state.gains::<V>().0 * self.bw * (1.0 - self.params.pacing_margin);
        if rate > 0.0 && (self.full.reached || rate > self.pacing) {
            self.pacing = rate;
        }
        self.quantum = (self.pacing * QUANTUM_S).clamp(QUANTA.0, QUANTA.1);
    }

    fn on_ack(&mut self, now: Time, ack: &Ack) {
        self.in_flight = ack.in_flight.0 as f64;
        let acked = ack.delivered.0 as f64;
        if let (None, Some(rtt)) = (self.least_rtt.rtt, ack.rtt) {
            self.pacing = STARTUP_GAIN * self.initial_window / rtt.max(Span(1)).as_seconds();
        }
        self.delivered = match ack.rate.filter(|_| ack.delivered.0 > 0) {
            Some(rate) => rate.prior_delivered.0.saturating_add(rate.delivered.0),
            None => self.delivered.saturating_add(ack.delivered.0),
        };
        (self.round_start, self.loss_round_start) = (false, false);
        let sample = Sample::of(ack, self.least_rtt.ever).map(|sample| {
            let (from, to) = self.probe_rtt_limited;
            let in_probe_rtt = (from..=to).contains(&sample.prior_delivered) && to > 0;
            Sample { limited: sample.limited || in_probe_rtt, ..sample }
        });
        if let Some(sample) = &sample {
            self.count_rounds(sample);
            self.largest_rate.note(sample);
        }
        self.on_marks(now, ack, sample);
        self.lower_model();
        let most = if V::IS_LINUX { self.bw * LONGEST_AGGREGATE_S } else { self.window };
        self.aggregation.note(now, acked, self.round, self.bw, most.min(self.window));
        let sample = sample.unwrap_or(Sample { limited: true, ..Sample::default() });
        self.full.note::<V>(&sample, self.round_start);
        self.check_startup(&sample, ack);
        self.check_drain(now);
        self.advance_cycle(now, ack, &sample);
        let expired = self.least_rtt.note(now, ack.rtt);
        self.probe_rtt(now, expired);
        self.idle_restart &= acked == 0.0;
        if self.loss_round_start {
            (self.bw_latest, self.latest) = (sample.rate, sample.delivered);
        }
        self.bw = self.largest_rate.get().min(self.bst);
        self.pace();
        // An unnecessary retransmission delivers no data, but it is acknowledged.
        self.set_window(acked.max(ack.credit));
    }
}

impl<V: Version> Controller for Bbr3<V> {
    type Params = Bbr3Params;
    const WANTS: Wants =
        Wants { rate: true, losses: true, marks: true, window_is_a_cap: true, ecn: Ecn::AsConfigured };

    fn new(params: Bbr3Params, start: Start) -> Self {
        let initial_window = start.window.0.clamp(1.0, LARGEST);
        let pacing = STARTUP_GAIN * initial_window / UNKNOWN_RTT_S;
        Bbr3 {
            params,
            seed: start.seed,
            initial_window,
            window: initial_window,
            saved: initial_window,
            before: initial_window,
            pacing,
            quantum: (pacing * QUANTUM_S).clamp(QUANTA.0, QUANTA.1),
            state: State::Startup,
            in_flight: 0.0,
            recovering: false,
            delivered: 0,
            round_end: 0,
            round: 0,
            round_start: false,
            loss_round_end: 0,
            loss_round_start: false,
            loss_in_round: false,
            lossy_acks: 0,
            marks: 0.0,
            largest_rate: LargestRate::default(),
            bw: 0.0,
            bst: f64::INFINITY,
            st: f64::INFINITY,
            lt: f64::INFINITY,
            bw_latest: 0.0,
            latest: 0.0,
            aggregation: Aggregation::default(),
            full: FullPipe::default(),
            least_rtt: LeastRtt::new(),
            drain_round: 0,
            cycle: Cycle::default(),
            probe_rtt_ends: None,
            probe_rtt_round: false,
            probe_rtt_limited: (0, 0),
            idle_restart: false,
            undo: Undo::default(),
            version: core::marker::PhantomData,
        }
    }

    fn on(&mut self, now: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) => self.on_ack(now, &ack),
            Signal::Lost(lost) => self.on_lost(now, lost),
            Signal::Loss { .. } => {
                self.save_window();
                self.before = self.window;
                self.recovering = true;
                self.window = self.window.max(2.0);
            }
            Signal::Recovered => {
                self.recovering = false;
                self.window = self.window.max(self.saved);
                if self.full.reached {
                    self.window = self.window.min(self.max_in_flight());
                }
                self.bound_window();
            }
            Signal::Timeout { .. } => self.on_timeout(),
            Signal::Undo => self.on_undo(),
            Signal::Restart => {
                (self.idle_restart, self.aggregation.start) = (true, now);
                if self.state.is_probe_bw() && self.bw > 0.0 {
                    self.pacing = self.bw * (1.0 - self.params.pacing_margin);
                } else if self.state == State::ProbeRtt {
                    self.end_probe_rtt(now);
                }
            }
            // The model outlives an idle time.
            Signal::Idle { .. } | Signal::CaughtUp => {}
            Signal::Moderated { window } => self.window = self.window.min((window.0 as f64).max(1.0)),
        }
    }

    fn decision(&self) -> Decision {
        // BBR has no threshold.
        Decision {
            window: Window(self.window),
            ssthresh: Window::UNLIMITED,
            pacing_rate: Some(PacketRate(self.pacing)),
            quantum: Some(Packets(self.quantum as u64)),
        }
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("state", f64::from(self.state as u8));
        visit("max_bw_packets_per_s", self.largest_rate.get());
        visit("bw_packets_per_s", self.bw);
        visit("bst_packets_per_s", self.bst);
        visit("st", self.st);
        visit("lt", self.lt);
        visit("min_rtt_ms", self.least_rtt.rtt.map_or(f64::NAN, Span::as_millis));
        visit("extra_acked", self.aggregation.largest(self.full.reached));
        visit("full_bw", self.full.rate);
        visit("full_bw_count", f64::from(self.full.count));
        visit("quantum", self.quantum);
        visit("per_inc", self.cycle.per_increase);
    }
}

#[cfg(test)]
mod tests;
