//! H-TCP as in Linux (behaviour of tcp_htcp.c).
//!
//! The increase per round trip is `2 (1 - beta) f` packets, where f follows the whole part of the polynomial of
//! `htcp` and is scaled by the smallest RTT over 100 ms, between 1/10 and 2 times. Its inputs:
//!
//! - Time counts from the end of the last recovery. By the rules of Linux it counts from the end of the repair after a timeout,
//!   too, and after a false alarm as before. The increase is recomputed only when the window has grown by
//!   a packet; acknowledgements in between are counted.
//! - RTTmin and RTTmax are extremes of the smoothed RTT in congestion avoidance. RTTmax follows only once four
//!   RTTmin have passed since a recovery, by at most 20 ms at a time, and a loss event takes 5 % of its distance to RTTmin away.
//! - The throughput is measured outside of recovery, over a window and an RTTmin at least, and smoothed; the first
//!   values after a recovery replace what was known. Its maximum decides: where it differs from the maximum at the loss
//!   event before by more than a fifth, the window is halved, and again at the next loss event.

use ackclock_units::Time;

use crate::htcp::HtcpParams;
use crate::parts::Base;
use crate::{Ack, Controller, Decision, Rules, Signal, Start};

crate::parameters! {
    /// Parameters of H-TCP as Linux has it.
    pub struct HtcpLinuxParams {
        /// scale the increase by the smallest RTT
        rtt_scaling: bool = true, Domain::Flag;
        /// halve the window when the throughput has changed
        bandwidth_switch: bool = true, Domain::Flag;
    }
}

const BETA_MIN: f64 = 0.5;
/// 102/128, the kernel's 0.8.
const BETA_MAX: f64 = 102.0 / 128.0;
/// RTTmax rises by at most this at once, seconds.
const RTT_MAX_STEP: f64 = 0.02;
/// Below this RTTmin the window is halved, seconds.
const LEAST_RTT_MIN: f64 = 0.01;
/// The fraction of RTTmax - RTTmin that a loss event leaves.
const FADING: f64 = 0.95;
/// For this many RTTmin after a recovery RTTmax stays, and the throughput is taken as it is.
const SETTLING_TRIPS: f64 = 4.0;

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct HtcpLinux {
    params: HtcpLinuxParams,
    base: Base,
    /// Packets per round trip.
    alpha: f64,
    /// Fraction kept at the last loss event.
    beta: f64,
    /// Packets acknowledged since the window last grew.
    count: f64,
    /// The last loss event came with a steady throughput.
    adaptive: bool,
    /// The end of the last recovery, and before that when the connection's first packet went out.
    since: Option<Time>,
    /// The value of `since` before the last loss event or timeout, for an undo.
    since_before: Option<Time>,
    recovering: bool,
    /// The end of what a timeout began is signalled; what is to be repaired.
    rules: Rules,
    repairing: bool,
    /// Seconds; 0 for unknown.
    smoothed_rtt: f64,
    rtt_min: f64,
    rtt_max: f64,
    /// Packets of the current measurement, and when it began.
    delivered: u64,
    began: Time,
    /// Packets per second: smoothed, its maximum, and that maximum at the last loss event.
    throughput: f64,
    most: f64,
    most_before: f64,
}

impl HtcpLinux {
    /// Whether enough time has passed since the last recovery for measurements to reflect the new window.
    fn has_settled(&self, now: Time) -> bool {
        self.seconds(now) >= SETTLING_TRIPS * self.rtt_min
    }

    /// How long ago the last recovery ended, or the connection began.
    fn seconds(&self, now: Time) -> f64 {
        self.since.map_or(0.0, |since| now.since(since).as_seconds())
    }

    fn measure_rtt(&mut self, now: Time) {
        let rtt = self.smoothed_rtt;
        if self.rtt_min == 0.0 || rtt < self.rtt_min {
            self.rtt_min = rtt;
        }
        if self.base.decision().ssthresh.0 < f64::INFINITY && self.has_settled(now) {
            self.rtt_max = self.rtt_max.max(self.rtt_min);
            if rtt <= self.rtt_max + RTT_MAX_STEP {
                self.rtt_max = self.rtt_max.max(rtt);
            }
        }
    }

    fn measure_throughput(&mut self, now: Time, ack: &Ack) {
        if ack.recovering {
            (self.delivered, self.began) = (0, now);
            return;
        }
        self.delivered = self.delivered.saturating_add(ack.delivered.0);
        let seconds = now.since(self.began).as_seconds();
        let enough = self.base.window() - libm::floor(self.alpha).max(1.0);
        if self.rtt_min == 0.0 || seconds < self.rtt_min || (self.delivered as f64) < enough {
            return;
        }
        let measured = self.delivered as f64 / seconds;
        if self.has_settled(now) {
            self.throughput = (3.0 * self.throughput + measured) / 4.0;
            self.most = self.most.max(self.throughput);
        } else {
            (self.throughput, self.most) = (measured, measured);
        }
        (self.delivered, self.began) = (0, now);
    }

    /// The increase now, packets per round trip.
    fn increase(&self, now: Time) -> f64 {
        let mut factor = libm::floor(HtcpParams::default().alpha(self.seconds(now)));
        if self.params.rtt_scaling && self.rtt_min > 0.0 {
            // In eighths, as the kernel counts them.
            let scale = libm::floor(0.8 / self.rtt_min).clamp(4.0, 80.0);
            factor = libm::floor(8.0 * factor / scale).max(1.0);
        }
        2.0 * factor * (1.0 - self.beta)
    }

    /// beta at a loss event.
    fn adapt(&mut self, now: Time) {
        let before = core::mem::replace(&mut self.most_before, self.most);
        let steady = 5.0 * self.most >= 4.0 * before && 5.0 * self.most <= 6.0 * before;
        if self.params.bandwidth_switch && !steady {
            (self.beta, self.adaptive) = (BETA_MIN, false);
        } else if self.adaptive && self.rtt_min > LEAST_RTT_MIN && self.rtt_max > 0.0 {
            self.beta = (self.rtt_min / self.rtt_max).clamp(BETA_MIN, BETA_MAX);
        } else {
            (self.beta, self.adaptive) = (BETA_MIN, true);
        }
        self.alpha = self.increase(now);
        if self.rtt_max > self.rtt_min {
            self.rtt_max = self.rtt_min + FADING * (self.rtt_max - self.rtt_min);
        }
        self.begin(now);
        self.count = 0.0;
    }

    /// A recovery or the repair after a timeout begins.
    fn begin(&mut self, now: Time) {
        self.since_before = self.since;
        (self.since, self.recovering) = (Some(now), true);
    }

    /// It is over.
    fn end(&mut self, since: Option<Time>) {
        (self.since, self.recovering, self.repairing) = (since, false, false);
    }

    fn grow(&mut self, now: Time, growth: f64) {
        self.measure_rtt(now);
        let w = libm::floor(self.base.window());
        if self.count * self.alpha >= w {
            self.base.add(1.0);
            self.count = 0.0;
            self.alpha = self.increase(now);
        } else {
            self.count += growth;
        }
    }
}

impl Controller for HtcpLinux {
    type Params = HtcpLinuxParams;

    fn new(params: HtcpLinuxParams, start: Start) -> Self {
        HtcpLinux {
            params,
            base: Base::new(start),
            alpha: 1.0,
            beta: BETA_MIN,
            count: 0.0,
            adaptive: false,
            since: None,
            since_before: None,
            recovering: false,
            rules: start.rules,
            repairing: false,
            smoothed_rtt: 0.0,
            rtt_min: 0.0,
            rtt_max: 0.0,
            delivered: 0,
            began: Time::ZERO,
            throughput: 0.0,
            most: 0.0,
            most_before: 0.0,
        }
    }

    fn on(&mut self, now: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) => {
                if let Some(rtt) = ack.rtt.map(|rtt| rtt.as_seconds()) {
                    let smoothed = self.smoothed_rtt;
                    self.smoothed_rtt = if smoothed > 0.0 { smoothed + (rtt - smoothed) / 8.0 } else { rtt };
                }
                if self.since.is_none() {
                    self.began = Time(now.0.saturating_sub(ack.rtt.unwrap_or_default().0));
                    self.since = Some(self.began);
                }
                if self.recovering && !self.repairing && ack.growth() > 0.0 {
                    self.end(Some(now));
                }
                self.measure_throughput(now, &ack);
                let growth = self.base.slow_start(&ack);
                if growth > 0.0 {
                    self.grow(now, growth);
                }
            }
            Signal::Loss { .. } => {
                self.adapt(now);
                self.base.cut_to(libm::floor(self.base.window() * self.beta));
            }
            Signal::Timeout { first } => {
                if first {
                    self.adapt(now);
                } else if self.rules == Rules::Linux {
                    self.begin(now);
                }
                self.repairing = self.rules == Rules::Linux;
                self.base.timeout(first, libm::floor(self.base.window() * self.beta));
            }
            Signal::CaughtUp => self.end(Some(now)),
            Signal::Undo if self.rules == Rules::Linux => {
                self.base.react(signal, 1.0);
                self.end(self.since_before);
            }
            _ => self.base.react(signal, 1.0),
        }
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("alpha", self.alpha);
        visit("beta", self.beta);
    }
}
