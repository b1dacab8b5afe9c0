//! CUBIC: RFC 9438; `cubic-8312` is its predecessor RFC 8312, `cubic-linux` what Linux does.
//!
//! After a loss event at window W_max the window follows
//! `W_cubic(t) = C (t - K)^3 + W_max`, `K = cbrt((W_max - cwnd_epoch)/C)`, t being the time since congestion
//! avoidance began: per acknowledgement `W += (target - W)/W`, where the target is `W_cubic(t + RTT)`, at least
//! W and at most 1.5 W. It is never slower than Reno would be with the same decrease (section 4.3). Per loss
//! event it keeps beta = 0.7, or after an ECN mark `ecn_keep` where that is more (ABE, RFC 8511, whose value is 0.85);
//! with fast convergence W_max is lowered when the window had not reached the one before.
//!
//! RTT is smoothed with gain 1/8. RFC 8312 has no upper limit of the target, takes K from `W_max (1 - beta)`,
//! and computes the Reno-friendly window from t/RTT; RFC 9438 counts acknowledgements for it, and lets it grow
//! as Reno once it has reached the window before the last loss event.
//!
//! Linux (`tcp_cubic.c` of Linux 6.12, behaviour) takes the smallest RTT for the target and adds at least one packet per 20
//! acknowledged as long as there was no loss event. It calculates in whole packets: the target is `W_max` less or more a
//! whole number, and the window grows by a packet per `floor(W/(target - W))` acknowledged, at least 2, at most 100 W. Its
//! Reno-friendly window adds a packet per 15/8 W acknowledged, also above the window before the last loss event. It leaves
//! slow start by HyStart where the sender asks for it as in Linux.

use ackclock_units::Time;

use crate::parts::{Base, HyStartLinux, WholeGrowth, whole};
use crate::{Ack, Controller, Decision, HyStart, Signal, Start};

crate::parameters! {
    /// Parameters of CUBIC.
    pub struct CubicParams {
        /// scale of the cubic, packets per second cubed
        c: f64 = 0.4, Domain::Number { minimum: 1e-6, maximum: 1e6 };
        /// fraction of the window kept at a loss event
        beta: f64 = 0.7, Domain::Number { minimum: 0.1, maximum: 0.99 };
        /// fraction of the window kept at an ECN mark in congestion avoidance, if it is more than beta (ABE)
        ecn_keep: f64 = 0.0, Domain::Number { minimum: 0.0, maximum: 0.99 };
        /// release bandwidth to new flows
        fast_convergence: bool = true, Domain::Flag;
    }
}

impl CubicParams {
    /// K: seconds from a window of `window` packets to `w_max` packets (RFC 9438, equation 2).
    #[must_use]
    pub fn k(&self, w_max: f64, window: f64) -> f64 {
        libm::cbrt((w_max - window) / self.c)
    }

    /// The increase of the Reno-friendly window, packets per round trip (RFC 9438, section 4.3).
    #[must_use]
    pub fn alpha(&self) -> f64 {
        3.0 * (1.0 - self.beta) / (1.0 + self.beta)
    }

    /// The same in Linux, which counts `beta_scale`/8 windows acknowledged per packet, a whole number of eighths: 15/8 with
    /// beta = 0.7.
    #[must_use]
    pub fn linux_alpha(&self) -> f64 {
        8.0 / libm::floor(8.0 * (1.0 + self.beta) / 3.0 / (1.0 - self.beta)).max(1.0)
    }

    /// `W_cubic(t)`, packets (RFC 9438, equation 1).
    #[must_use]
    pub fn w_cubic(&self, t: f64, k: f64, w_max: f64) -> f64 {
        self.c * (t - k) * (t - k) * (t - k) + w_max
    }
}

/// The source that a control follows.
pub trait Variant: Clone + core::fmt::Debug + Send + Sync + 'static {
    /// Whether it is RFC 8312.
    const IS_8312: bool = false;
    /// Whether it is Linux.
    const IS_LINUX: bool = false;
}

/// RFC 9438.
#[derive(Clone, Debug)]
pub struct Rfc9438;

impl Variant for Rfc9438 {}

/// RFC 8312.
#[derive(Clone, Debug)]
pub struct Rfc8312;

impl Variant for Rfc8312 {
    const IS_8312: bool = true;
}

/// Linux.
#[derive(Clone, Debug)]
pub struct Linux;

impl Variant for Linux {
    const IS_LINUX: bool = true;
}

/// The largest step of the target in one round trip, as a multiple of the window.
const LARGEST_TARGET: f64 = 1.5;
/// Linux adds a packet per this many acknowledged at most; before the first loss event, at least; and per this many windows
/// at least where the target is not above the window.
const FASTEST: f64 = 2.0;
const SLOWEST_PROBE: f64 = 20.0;
const SLOWEST: f64 = 100.0;
/// Gain of the smoothed RTT.
const GAIN: f64 = 1.0 / 8.0;

/// HyStart of Linux, if the sender asks for it.
fn of_linux(hystart: HyStart) -> Option<HyStartLinux> {
    match hystart {
        HyStart::Linux { paced } => Some(HyStartLinux::new(paced)),
        HyStart::Off | HyStart::PlusPlus => None,
    }
}

/// One stretch of congestion avoidance.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Epoch {
    began: Time,
    k: f64,
    /// W_max, packets.
    origin: f64,
    /// The Reno-friendly window, packets.
    friendly: f64,
}

/// The control.
#[derive(Clone, Debug)]
pub struct Cubic<V: Variant> {
    params: CubicParams,
    base: Base,
    /// Window at the last loss event, lowered by fast convergence; 0 before the first and after a timeout.
    w_max: f64,
    /// Window before the last decrease.
    prior: f64,
    /// Fraction of it that the last loss event kept.
    kept: f64,
    epoch: Option<Epoch>,
    /// RTT of the target, seconds: smoothed or, in Linux, the smallest.
    rtt: Option<f64>,
    hystart: Option<HyStartLinux>,
    /// In Linux.
    counts: WholeGrowth,
    variant: core::marker::PhantomData<V>,
}

impl<V: Variant> Cubic<V> {
    fn begin(&self, now: Time) -> Epoch {
        let w = self.base.window();
        if self.w_max <= w {
            // The first congestion avoidance, or after a timeout (section 4.8).
            return Epoch { began: now, k: 0.0, origin: w, friendly: w };
        }
        let from = if V::IS_8312 { self.w_max * self.kept } else { w };
        Epoch { began: now, k: self.params.k(self.w_max, from), origin: self.w_max, friendly: w }
    }

    fn grow(&mut self, now: Time, growth: f64) {
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin(now));
        let w = self.base.window();
        let (t, rtt) = (now.since(epoch.began).as_seconds(), self.rtt.unwrap_or(0.0));
        epoch.friendly = if V::IS_8312 {
            let rounds = if rtt > 0.0 { t / rtt } else { 0.0 };
            epoch.origin * self.kept + self.params.alpha() * rounds
        } else {
            let alpha = if V::IS_LINUX {
                self.params.linux_alpha()
            } else if epoch.friendly >= self.prior {
                1.0
            } else {
                self.params.alpha()
            };
            epoch.friendly + growth * alpha / w
        };
        self.epoch = Some(epoch);
        if V::IS_LINUX {
            self.grow_as_linux(t, epoch, growth);
            return;
        }
        if self.params.w_cubic(t, epoch.k, epoch.origin) < epoch.friendly {
            self.base.set(w.max(epoch.friendly));
            return;
        }
        let largest = if V::IS_8312 { f64::MAX } else { LARGEST_TARGET * w };
        let target = self.params.w_cubic(t + rtt, epoch.k, epoch.origin).max(w).min(largest);
        self.base.add(growth * (target - w) / w);
    }

    /// Grows in whole packets, `t` seconds into the epoch.
    fn grow_as_linux(&mut self, t: f64, epoch: Epoch, growth: f64) {
        let w = libm::floor(self.base.window());
        let distance = self.params.w_cubic(t + self.rtt.unwrap_or(0.0), epoch.k, 0.0);
        let target = libm::floor(epoch.origin) + libm::trunc(distance);
        let per_packet = |ahead: f64| libm::floor(w / ahead);
        let mut packets = if target > w { per_packet(target - w) } else { SLOWEST * w };
        if self.w_max == 0.0 {
            packets = packets.min(SLOWEST_PROBE);
        }
        let friendly = libm::floor(epoch.friendly);
        if friendly > w {
            packets = packets.min(per_packet(friendly - w));
        }
        self.base.add(self.counts.on(growth, packets.max(FASTEST)));
    }

    fn note_maximum(&mut self) {
        let w = self.base.window();
        let converges = self.params.fast_convergence && w < self.w_max;
        self.w_max = if converges { w * (1.0 + self.params.beta) / 2.0 } else { w };
        if V::IS_LINUX {
            self.w_max = whole(self.w_max);
        }
        self.prior = w;
        self.epoch = None;
    }

    fn measure(&mut self, ack: &Ack) {
        if let Some(sample) = ack.rtt.map(|rtt| rtt.as_seconds()) {
            let with = |old: f64| if V::IS_LINUX { old.min(sample) } else { old + GAIN * (sample - old) };
            self.rtt = Some(self.rtt.map_or(sample, with));
        }
    }

    /// HyStart of Linux, in slow start.
    fn leave_slow_start_early(&mut self, now: Time, ack: &Ack) {
        if let Some(hystart) = &mut self.hystart
            && self.base.in_slow_start()
            && hystart.leaves_slow_start(now, self.base.window(), ack)
        {
            self.base.leave_slow_start();
        }
    }
}

impl<V: Variant> Controller for Cubic<V> {
    type Params = CubicParams;

    fn new(params: CubicParams, start: Start) -> Self {
        Cubic {
            params,
            base: Base::new(start),
            w_max: 0.0,
            prior: 0.0,
            kept: params.beta,
            epoch: None,
            rtt: None,
            hystart: of_linux(start.hystart),
            counts: WholeGrowth::default(),
            variant: core::marker::PhantomData,
        }
    }

    fn on(&mut self, now: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) => {
                self.measure(&ack);
                self.leave_slow_start_early(now, &ack);
                let growth = self.base.slow_start(&ack);
                if growth > 0.0 {
                    self.grow(now, growth);
                }
            }
            Signal::Loss { .. } => {
                self.note_maximum();
                self.kept = self.base.kept(signal, self.params.beta, self.params.ecn_keep);
                if V::IS_LINUX {
                    self.base.cut_to(whole(self.base.window() * self.kept));
                    self.counts.clear();
                } else {
                    self.base.react(signal, self.kept);
                }
            }
            Signal::Timeout { first } => {
                self.prior = self.base.window();
                let kept = self.base.window() * self.params.beta;
                self.base.timeout(first, if V::IS_LINUX { whole(kept) } else { kept });
                self.counts.clear();
                (self.w_max, self.epoch) = (0.0, None);
                if V::IS_LINUX {
                    // Linux forgets its RTT measurements.
                    self.rtt = None;
                }
                if let Some(hystart) = &mut self.hystart {
                    *hystart = hystart.afresh();
                }
            }
            _ => self.base.react(signal, 1.0),
        }
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("w_max", self.w_max);
    }
}
