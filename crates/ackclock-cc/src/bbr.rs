//! BBR, the model of version 1: draft-cardwell-iccrg-bbr-congestion-control-00 (2017).
//!
//! It models the path by two numbers: BtlBw, the largest delivery rate of ten round trips, and RTprop, the
//! smallest RTT of ten seconds. It paces at `pacing_gain * BtlBw` and keeps at most `cwnd_gain * BtlBw * RTprop`
//! (and three packets) in flight. Startup doubles the rate per round trip until BtlBw stops growing; Drain
//! empties the queue; ProbeBW cycles through gains of 5/4, 3/4 and six times 1; ProbeRTT cuts the window to 4
//! packets when RTprop has not been seen for ten seconds.
//!
//! `bbr-linux` has what Linux adds, see its submodule `linux`: it decides how much is in flight on short paths.
//!
//! Deviations: the cycle starts with its first gain of 1 instead of a random one, because a control draws no random
//! numbers; a loss episode leaves the window as it is, without the round trip of packet conservation at its
//! beginning; the send quantum is one packet.

use ackclock_units::{PacketRate, Span, Time, Window};

use crate::bbr3::{Draft, Linux, Version};
use crate::parts::Base;
use crate::{Ack, Controller, Decision, Signal, Start, Wants};

mod bandwidth;
mod linux;

use bandwidth::Bandwidth;
use linux::Details;

crate::parameters! {
    /// Parameters of BBR.
    pub struct BbrParams {
        /// gain of rate and window in Startup
        high_gain: f64 = 2.885_39, Domain::Number { minimum: 1.0, maximum: 10.0 };
        /// gain of the window in ProbeBW
        cwnd_gain: f64 = 2.0, Domain::Number { minimum: 1.0, maximum: 10.0 };
        /// seconds after which RTprop is measured anew
        rtprop_s: f64 = 10.0, Domain::Number { minimum: 0.1, maximum: 1e6 };
        /// length of ProbeRTT, milliseconds
        probe_rtt_ms: f64 = 200.0, Domain::Number { minimum: 1.0, maximum: 1e6 };
    }
}

/// Pacing gains of ProbeBW in turn.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// The index of the gain with which the cycle starts.
const FIRST: usize = 2;
/// Growth of BtlBw that shows that the pipe is not yet full, and the round trips without it that show it is.
const FULL: (f64, u32) = (1.25, 3);
/// Window in ProbeRTT and smallest window otherwise, packets.
const LEAST: f64 = 4.0;
/// Packets beyond the product of rate and delay, for delayed and aggregated acknowledgements.
const QUANTA: f64 = 3.0;
/// RTT that the first pacing rate assumes when none is measured, seconds.
const UNKNOWN_RTT: f64 = 1e-3;

/// The state of the control.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw { phase: usize, since: Time },
    ProbeRtt { until: Option<Time> },
}

impl Mode {
    const fn number(self) -> f64 {
        match self {
            Mode::Startup => 0.0,
            Mode::Drain => 1.0,
            Mode::ProbeBw { .. } => 2.0,
            Mode::ProbeRtt { .. } => 3.0,
        }
    }
}

/// The draft's control, and Linux'.
pub type Bbr = Model<Draft>;
/// See [`Bbr`].
pub type BbrLinux = Model<Linux>;

/// The control.
#[derive(Clone, Debug)]
pub struct Model<V> {
    params: BbrParams,
    base: Base,
    initial_window: f64,
    mode: Mode,
    bandwidth: Bandwidth,
    rtprop: Option<Span>,
    rtprop_at: Time,
    /// BtlBw when it last grew by a quarter, and round trips since.
    full: (f64, u32),
    filled: bool,
    /// Packets delivered in total, that total where this round trip ends, and round trips completed.
    delivered: u64,
    round_end: u64,
    round: u64,
    /// A round trip has passed in `ProbeRtt`.
    round_passed: bool,
    /// Packets sent while the count of delivered packets was between these were limited by `ProbeRtt`.
    probe_rtt_limited: (u64, u64),
    lost_in_phase: bool,
    /// Window before `ProbeRtt`, to return to.
    saved: f64,
    pacing: f64,
    in_flight: f64,
    details: Details,
    version: core::marker::PhantomData<V>,
}

impl<V: Version> Model<V> {
    fn gains(&self) -> (f64, f64) {
        let high = self.params.high_gain;
        match self.mode {
            Mode::Startup => (high, high),
            Mode::Drain => (1.0 / high, high),
            Mode::ProbeBw { phase, .. } => (CYCLE[phase], self.params.cwnd_gain),
            Mode::ProbeRtt { .. } => (1.0, 1.0),
        }
    }

    /// Share of the rate that is paced at.
    const PACED: f64 = if V::IS_LINUX { linux::PACED } else { 1.0 };

    /// Packets in flight at `gain` times the model's rate and delay; none while there is no model.
    fn inflight(&self, gain: f64) -> Option<f64> {
        let rtprop = self.rtprop?.as_seconds();
        let volume = gain * self.bandwidth.largest * rtprop;
        let volume = if V::IS_LINUX {
            let probes = matches!(self.mode, Mode::ProbeBw { phase: 0, .. });
            Details::quantized(volume, self.pacing, probes)
        } else {
            volume + QUANTA
        };
        (self.bandwidth.largest > 0.0).then_some(volume)
    }

    /// Counts round trips by delivered packets (section 4.1.1.3). Returns whether one has ended. The sender's own count
    /// waits for cumulative acknowledgements: after a timeout with many losses that takes as many round trips as a
    /// window of 4 needs to repair them all, and ProbeRTT would last as long. Without selective acknowledgements much
    /// is sent again that has arrived before: such a round trip says nothing about the path, and BtlBw does not grow
    /// older with it.
    fn count_rounds(&mut self, ack: &Ack) -> bool {
        let Some(sample) = ack.rate else { return false };
        self.delivered = self.delivered.max(sample.prior_delivered.0 + sample.delivered.0);
        let ended = sample.prior_delivered.0 >= self.round_end;
        if ended {
            self.round_end = self.delivered;
            self.round_passed = true;
        }
        let is_counted = ended && ack.delivered.0 > 0;
        self.round += u64::from(is_counted);
        is_counted
    }

    /// BtlBw and RTprop; whether RTprop had grown too old.
    fn update_model(&mut self, now: Time, ack: &Ack) -> bool {
        if let Some(sample) = ack.rate
            && sample.interval > Span::ZERO
            && ack.delivered.0 > 0
        {
            let rate = sample.delivered.0 as f64 / sample.interval.as_seconds();
            let (from, to) = self.probe_rtt_limited;
            let in_probe_rtt = (from..=to).contains(&sample.prior_delivered.0) && to > 0;
            if !(sample.application_limited || in_probe_rtt) || rate >= self.bandwidth.largest {
                self.bandwidth.note(self.round, rate);
            }
        }
        let expired = now.since(self.rtprop_at).as_seconds() > self.params.rtprop_s;
        if let Some(rtt) = ack.rtt
            && (expired || self.rtprop.is_none_or(|rtprop| rtt <= rtprop))
        {
            (self.rtprop, self.rtprop_at) = (Some(rtt), now);
        }
        expired
    }

    fn check_full_pipe(&mut self, new_round: bool, ack: &Ack) {
        if self.filled || !new_round || ack.rate.is_none_or(|rate| rate.application_limited) {
            return;
        }
        if self.bandwidth.largest >= self.full.0 * FULL.0 {
            self.full = (self.bandwidth.largest, 0);
        } else {
            self.full.1 += 1;
            self.filled = self.full.1 >= FULL.1;
        }
    }

    fn enter_probe_bw(&mut self, now: Time) {
        let phase = if V::IS_LINUX { self.details.first_phase() } else { FIRST };
        self.mode = Mode::ProbeBw { phase, since: now };
        self.lost_in_phase = false;
    }

    fn advance_mode(&mut self, now: Time, expired: bool, ack: &Ack) {
        if self.mode == Mode::Startup && self.filled {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && self.inflight(1.0).is_some_and(|target| self.in_flight <= target) {
            self.enter_probe_bw(now);
        }
        if let Mode::ProbeBw { phase, since } = self.mode
            && self.phase_is_over(now, phase, since, ack)
        {
            self.mode = Mode::ProbeBw { phase: (phase + 1) % CYCLE.len(), since: now };
            self.lost_in_phase = false;
        }
        self.probe_rtt(now, expired);
    }

    fn phase_is_over(&self, now: Time, phase: usize, since: Time, ack: &Ack) -> bool {
        let long_enough = self.rtprop.is_some_and(|rtprop| now.since(since) > rtprop);
        // The packets in flight before this acknowledgement.
        let prior = self.in_flight + ack.delivered.0 as f64;
        let gain = CYCLE[phase];
        let reached = |gain: f64| self.inflight(gain).is_none_or(|target| prior >= target);
        if gain > 1.0 {
            long_enough && (self.lost_in_phase || reached(gain))
        } else if gain < 1.0 {
            long_enough || !reached(1.0)
        } else {
            long_enough
        }
    }

    fn probe_rtt(&mut self, now: Time, expired: bool) {
        if matches!(self.mode, Mode::ProbeRtt { .. }) {
            self.probe_rtt_limited.1 = self.delivered.saturating_add(self.in_flight as u64);
        }
        match self.mode {
            Mode::ProbeRtt { until: None } if self.in_flight <= LEAST => {
                let end = now + Span::from_seconds_f64(self.params.probe_rtt_ms / 1e3);
                self.mode = Mode::ProbeRtt { until: Some(end) };
                (self.round_end, self.round_passed) = (self.delivered, false);
            }
            Mode::ProbeRtt { until: Some(end) } if now >= end && self.round_passed => {
                self.rtprop_at = now;
                self.base.set(self.base.window().max(self.saved));
                if self.filled {
                    self.enter_probe_bw(now);
                } else {
                    self.mode = Mode::Startup;
                }
            }
            Mode::ProbeRtt { .. } => {}
            _ if expired && !self.details.restarts => {
                self.saved = self.base.window();
                self.mode = Mode::ProbeRtt { until: None };
                self.probe_rtt_limited.0 = self.delivered;
            }
            _ => {}
        }
    }

    fn set_pacing(&mut self) {
        let rate = self.gains().0 * self.bandwidth.largest * Self::PACED;
        if rate > 0.0 && (self.filled || rate > self.pacing) {
            self.pacing = rate;
        }
    }

    fn set_window(&mut self, ack: &Ack) {
        // An unnecessary retransmission delivers no data, but it is acknowledged.
        let acked = ack.credit.max(ack.delivered.0 as f64);
        if V::IS_LINUX && acked == 0.0 && self.delivered == 0 {
            // The window of the start may be less than the smallest.
            return;
        }
        let changes = (acked, ack.lost.0 as f64);
        match self.details.conserved(self.base.window(), self.in_flight, changes) {
            Some(window) => self.base.set(window.max(2.0)),
            None => self.grow(acked),
        }
        if matches!(self.mode, Mode::ProbeRtt { .. }) {
            self.base.set(self.base.window().min(LEAST));
        }
    }

    /// Packets for which the window grows at the start, wherever its target is: ten in Linux, whatever the initial window.
    fn at_start(&self) -> f64 {
        if V::IS_LINUX { 10.0 } else { self.initial_window }
    }

    /// Moves the window towards its target for `delivered` packets.
    fn grow(&mut self, delivered: f64) {
        let w = self.base.window();
        let extra = if self.filled { self.details.extra } else { 0.0 };
        let target = self.inflight(self.gains().1).map_or(f64::INFINITY, |target| target + extra);
        let next = if self.filled {
            (w + delivered).min(target)
        } else if w < target || (self.delivered as f64) < self.at_start() {
            w + delivered
        } else {
            w
        };
        self.base.set(next.max(LEAST));
    }
}

impl<V: Version> Controller for Model<V> {
    type Params = BbrParams;
    const WANTS: Wants = Wants { rate: true, losses: V::IS_LINUX, window_is_a_cap: true, ..Wants::NOTHING };

    fn new(params: BbrParams, start: Start) -> Self {
        let base = Base::new(start);
        let initial_window = base.window();
        Model {
            params,
            base,
            initial_window,
            mode: Mode::Startup,
            bandwidth: Bandwidth::default(),
            rtprop: None,
            rtprop_at: Time::ZERO,
            full: (0.0, 0),
            filled: false,
            delivered: 0,
            round_end: 0,
            round: 0,
            round_passed: false,
            probe_rtt_limited: (0, 0),
            lost_in_phase: false,
            saved: 0.0,
            pacing: params.high_gain * initial_window / UNKNOWN_RTT * Self::PACED,
            in_flight: 0.0,
            details: Details::with_seed(start.seed),
            version: core::marker::PhantomData,
        }
    }

    fn on(&mut self, now: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) => {
                let new_round = self.count_rounds(&ack);
                self.in_flight = ack.in_flight.0 as f64;
                if self.rtprop.is_none() {
                    self.rtprop_at = now;
                    if let Some(rtt) = ack.rtt {
                        self.pacing = self.params.high_gain * self.initial_window
                            / rtt.max(Span(1)).as_seconds()
                            * Self::PACED;
                    }
                }
                let expired = self.update_model(now, &ack);
                if V::IS_LINUX {
                    let (acked, round) = (ack.delivered.0 as f64, (self.round, new_round));
                    self.details.note(now, acked, round, self.bandwidth.largest, self.base.window());
                }
                self.check_full_pipe(new_round, &ack);
                self.advance_mode(now, expired, &ack);
                self.set_pacing();
                self.set_window(&ack);
                self.details.restarts &= ack.delivered.0 == 0;
            }
            Signal::Loss { .. } => {
                self.lost_in_phase = true;
                let window = self.base.window();
                self.base.cut_to(if V::IS_LINUX {
                    self.details.begin_episode(window, self.in_flight).min(window)
                } else {
                    window
                });
            }
            Signal::Recovered if V::IS_LINUX => {
                let before = self.details.end_episode();
                self.base.set(self.base.window().max(before));
            }
            Signal::Restart => {
                self.details.restart(now);
                if matches!(self.mode, Mode::ProbeBw { .. }) && self.bandwidth.largest > 0.0 {
                    self.pacing = self.bandwidth.largest * Self::PACED;
                }
            }
            // Linux restarts no window of a control that sets its own rate.
            Signal::Idle { .. } if V::IS_LINUX => {}
            _ => self.base.react(signal, 1.0),
        }
    }

    fn decision(&self) -> Decision {
        // BBR has no threshold.
        Decision {
            window: self.base.decision().window,
            ssthresh: Window::UNLIMITED,
            pacing_rate: Some(PacketRate(self.pacing)),
            quantum: None,
        }
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("bandwidth_packets_per_s", self.bandwidth.largest);
        visit("rtprop_ms", self.rtprop.map_or(f64::NAN, Span::as_millis));
        visit("mode", self.mode.number());
        visit("pacing_gain", self.gains().0);
    }
}
