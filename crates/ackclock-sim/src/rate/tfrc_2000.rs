//! TFRC as ns-2 had it in spring and summer 2000, before RFC 3448: of the versions in public repositories the one
//! that comes nearest to the study of transient behaviours.
//!
//! Loss intervals and their weights are those of [`tfrc`](super::tfrc). At little loss the two agree; at much loss
//! this one collapses to a fifth of a packet per round trip, for three reasons that RFC 3448 removed:
//!
//! * The no-feedback timer is 2R at any rate, so that it expires whenever a packet or two are lost at less than a
//!   packet per round trip. Then X is halved, and a packet goes that asks for a report at once.
//! * The receiver reports again 1.5R after a report although nothing came, and the sender takes the age of the time
//!   stamp as a sample of the RTT, without subtracting the time that the receiver held it: 2.5R, and more when R
//!   has grown.
//! * Such a report says that one packet per second arrives, and X is at most twice that.
//!
//! In addition, X rises by about a packet per round trip at most, `t_RTO` is TCP's with a coarse clock, and the
//! smoothed RTT gains 0.05 of each sample. X and R are the letters of RFC 5348.
//!
//! ns-2 can also space packets by the square root of the last RTT over its mean (`ca_`, on by default in ns-2.35; RFC
//! 5348, section 4.5), which damps the oscillation of a queue. Whether the code of 2000 did is not known: `damping` is off.

use ackclock_units::{Span, Time};

use super::sender::{Departure, Jitter, Law};
use super::tfrc::SLOWEST;
use crate::payload::{Header, Report};

mod clock;
mod receiver;

pub use clock::RetransmissionClock;
pub use receiver::Tfrc2000Receiver;

ackclock_cc::parameters! {
    /// Parameters of TFRC of 2000.
    pub struct Tfrc2000Params {
        /// discount old loss intervals while the current one is long
        discounting: bool = true, Domain::Flag;
        /// smallest weight that discounting gives old intervals
        discount_floor: f64 = 0.5, Domain::Number { minimum: 0.0, maximum: 1.0 };
        /// damp oscillations by the square root of the round-trip time (ns-2's ca_)
        damping: bool = false, Domain::Flag;
        /// packets that a TCP acknowledges at once (b of the equation)
        b: f64 = 1.0, Domain::Number { minimum: 1.0, maximum: 2.0 };
    }
}

/// The rate before the first report, bytes per second.
const INITIAL_BYTES_PER_S: f64 = 300.0;
/// The weight of a sample in the round-trip time.
const GAIN: f64 = 0.05;
/// The no-feedback timer, round-trip times.
const PATIENCE: f64 = 2.0;
/// Most packets per round trip that one report adds, however long ago the last increase was.
const LARGEST_INCREASE: f64 = 2.0;

/// The throughput equation of Padhye, Firoiu, Towsley, Kurose (SIGCOMM 1998), packets per second. `rtt` and `timeout`
/// are in seconds.
#[must_use]
pub fn throughput(p: f64, rtt: f64, timeout: f64, b: f64) -> f64 {
    let timeouts = (3.0 * libm::sqrt(3.0 * b * p / 8.0)).min(1.0);
    1.0 / (rtt * libm::sqrt(2.0 * b * p / 3.0) + timeout * timeouts * p * (1.0 + 32.0 * p * p))
}

/// The sender's law.
#[derive(Clone, Debug)]
pub struct Tfrc2000 {
    params: Tfrc2000Params,
    rate: f64,
    rtt: Option<f64>,
    /// Root of the last sample, and the mean of roots, for damping.
    roots: (f64, f64),
    clock: RetransmissionClock,
    p: f64,
    slow_start: bool,
    /// When slow start last changed the rate, or when it last rose.
    changed_at: Time,
    timer: Time,
    /// Reports and their absences until now.
    round: u64,
    urgent: bool,
}

impl Tfrc2000 {
    /// The rate that the equation allows, packets per second; without limit before the first loss.
    fn equation(&self, rtt: f64) -> f64 {
        throughput(self.p, rtt, self.clock.timeout(), self.params.b)
    }

    /// A packet per round trip, then doubled once per round trip, up to `limit` packets per second.
    fn start_slowly(&mut self, now: Time, rtt: f64, limit: f64) {
        if self.rate < 1.0 / rtt {
            (self.rate, self.changed_at) = (1.0 / rtt, now);
        } else if self.rate > limit || now.since(self.changed_at).as_seconds() > rtt {
            (self.rate, self.changed_at) = ((2.0 * self.rate).min(limit), now);
        }
    }

    /// Raises the rate halfway to the rate that the equation allows, if that rate is near or the rate is below a packet
    /// per round trip; otherwise by a packet per round trip.
    fn increase(&mut self, now: Time, rtt: f64, limit: f64) {
        let (step, allowed) = (1.0 / rtt, self.equation(rtt));
        let rate = if self.rate < step || self.rate + step >= allowed {
            f64::midpoint(self.rate, allowed)
        } else {
            let rounds = now.since(self.changed_at).as_seconds() / rtt;
            self.rate + step * rounds.min(LARGEST_INCREASE)
        };
        (self.rate, self.changed_at) = (rate.min(limit).max(SLOWEST), now);
    }

    fn restart_timer(&mut self, now: Time) {
        self.timer = self.rtt.map_or(Time::NEVER, |rtt| now + Span::from_seconds_f64(PATIENCE * rtt));
    }
}

impl Law for Tfrc2000 {
    type Params = Tfrc2000Params;
    type Receiver = Tfrc2000Receiver;

    /// A law for packets of `packet_bytes` bytes: 300 bytes per second until the first report.
    fn new(params: Tfrc2000Params, packet_bytes: u16) -> Self {
        Tfrc2000 {
            params,
            rate: INITIAL_BYTES_PER_S / f64::from(packet_bytes),
            rtt: None,
            roots: (0.0, 0.0),
            clock: RetransmissionClock::default(),
            p: 0.0,
            slow_start: true,
            changed_at: Time::ZERO,
            timer: Time::NEVER,
            round: 0,
            urgent: true,
        }
    }

    /// Any overhead makes the spacing random, however small it is.
    fn jitter(overhead: Span) -> Jitter {
        if overhead > Span::ZERO { Jitter::Factor } else { Jitter::Delay(Span::ZERO) }
    }

    fn on_report(&mut self, now: Time, rtt: Option<Span>, report: Report) -> Departure {
        let Some(measured) = rtt else { return Departure::AsDue };
        // The age of the time stamp: nobody subtracts how long the receiver held it.
        let sample = (measured + report.delay).as_seconds().max(1e-9);
        let rtt = self.rtt.map_or(sample, |old| old + GAIN * (sample - old));
        let root = libm::sqrt(sample);
        let mean = if self.rtt.is_none() { root } else { self.roots.1 + GAIN * (root - self.roots.1) };
        (self.rtt, self.roots) = (Some(rtt), (root, mean));
        self.clock.measure(sample);
        self.p = report.verdict;
        self.round += 1;
        self.urgent = false;
        self.restart_timer(now);
        let limit = 2.0 * report.received;
        if self.slow_start && self.p == 0.0 {
            self.start_slowly(now, rtt, limit);
            return Departure::Now;
        }
        let allowed = self.equation(rtt);
        if !self.slow_start && allowed > self.rate {
            self.increase(now, rtt, limit);
        } else {
            self.rate = allowed.max(SLOWEST);
        }
        if std::mem::take(&mut self.slow_start) { Departure::Now } else { Departure::AsDue }
    }

    /// No report came.
    fn on_timer(&mut self, now: Time) -> Departure {
        self.rate = (self.rate / 2.0).max(SLOWEST);
        self.round += 1;
        self.urgent = true;
        self.slow_start = false;
        self.restart_timer(now);
        Departure::Now
    }

    fn wakeup(&self) -> Time {
        self.timer
    }

    fn rate(&self) -> f64 {
        self.rate
    }

    fn spacing(&self) -> f64 {
        let (last, mean) = self.roots;
        if self.params.damping && last > 0.0 { last / mean / self.rate } else { 1.0 / self.rate }
    }

    fn rtt(&self) -> Option<Span> {
        self.rtt.map(Span::from_seconds_f64)
    }

    fn header(&self) -> Header {
        let rtt = self.rtt().unwrap_or(Span::ZERO);
        let timeout = self.clock.timeout();
        Header { rtt, rate: self.rate, timeout, round: self.round, urgent: self.urgent }
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("p", self.p);
        visit("timeout_s", self.clock.timeout());
    }
}

#[cfg(test)]
mod tests;
