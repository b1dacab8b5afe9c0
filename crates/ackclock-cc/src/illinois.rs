//! TCP-Illinois: S. Liu, T. Basar, R. Srikant, Performance Evaluation 65 (2008), section 3.
//!
//! Loss decides the direction of change, queueing delay its pace. Per acknowledgement in congestion
//! avoidance `W += alpha/W`, per loss event `W -= beta*W`; alpha and beta follow once per round trip from
//! the mean queueing delay da of the last one and the largest seen, dm:
//!
//! ```text
//! alpha(da) = alpha_max if da <= d1, else k1/(k2 + da)           d_i = eta_i * dm
//! beta(da)  = beta_min if da <= d2, k3 + k4*da between, beta_max if da >= d3
//! ```
//!
//! Section 3 calls every control with alpha = f1(da) falling and beta = f2(da) rising C-AIMD; these two curves make it
//! TCP-Illinois. With `f1 = "power"` and powers other than 1 they are other members of that class, between the same ends:
//!
//! ```text
//! f1(da) = alpha_min + (alpha_max - alpha_min) ((dm - da)/(dm - d1))^f1_power
//! f2(da) = beta_min + (beta_max - beta_min) ((da - d2)/(d3 - d2))^f2_power
//! ```
//!
//! A large power makes a curve fall (rise) at once (late), a small one late (at once); 1 is a straight line.
//!
//! Left open by the paper: while alpha waits theta round trips it keeps its last value, as in Linux; the wait
//! is over when the flow itself backs off, because the low delay that follows is not a coincidence, and the
//! paper's own cycles have no such wait. `illinois-linux` waits then too, takes the extremes of single RTT
//! samples, alpha_min 0.3 and W_thresh 15, and at a timeout ssthresh by its own decrease.

use ackclock_units::Time;

use crate::parts::{Base, RoundTrips};
use crate::{Controller, Decision, Parameters, Signal, Start};

crate::choice! {
    /// From which RTTs the largest and the smallest are taken.
    pub enum Extremes {
        /// Means of completed round trips, the paper's default.
        Mean = "mean",
        /// Single samples.
        Sample = "sample",
    }
}

crate::choice! {
    /// How alpha falls with the queueing delay.
    pub enum F1 {
        /// As k1/(k2 + da), which is TCP-Illinois.
        Hyperbola = "hyperbola",
        /// As a power of the distance to the largest delay.
        Power = "power",
    }
}

crate::parameters! {
    /// Parameters of TCP-Illinois; the defaults are the paper's standard setting.
    pub struct IllinoisParams {
        /// largest increase, packets per round trip
        alpha_max: f64 = 10.0, Domain::Number { minimum: 1.0, maximum: 1e6 };
        /// smallest increase, packets per round trip
        alpha_min: f64 = 0.1, Domain::Number { minimum: 1e-6, maximum: 1.0 };
        /// largest fraction of the window cut at a loss event
        beta_max: f64 = 0.5, Domain::Number { minimum: 1e-6, maximum: 0.5 };
        /// smallest fraction of the window cut at a loss event
        beta_min: f64 = 0.125, Domain::Number { minimum: 1e-6, maximum: 0.5 };
        /// window below which alpha = 1 and beta = 1/2, packets
        w_thresh: f64 = 10.0, Domain::Number { minimum: 1e-6, maximum: 1e9 };
        /// share of the largest queueing delay up to which alpha = alpha_max
        eta1: f64 = 0.01, Domain::Number { minimum: 0.0, maximum: 0.999 };
        /// share of the largest queueing delay up to which beta = beta_min
        eta2: f64 = 0.1, Domain::Number { minimum: 0.0, maximum: 1.0 };
        /// share of the largest queueing delay from which beta = beta_max
        eta3: f64 = 0.8, Domain::Number { minimum: 0.0, maximum: 1.0 };
        /// round trips of low delay before alpha returns to alpha_max
        theta: f64 = 5.0, Domain::Number { minimum: 0.0, maximum: 1e6 };
        /// largest and smallest RTT of round-trip means or of single samples
        extremes: Extremes = Extremes::Mean, Domain::Choice(Extremes::WORDS);
        /// a backoff of the flow itself ends the wait of theta round trips; Linux continues to wait
        backoff_ends_wait: bool = true, Domain::Flag;
        /// how alpha falls with the queueing delay
        f1: F1 = F1::Hyperbola, Domain::Choice(F1::WORDS);
        /// power of the distance to the largest queueing delay with which alpha falls, where f1 = "power"
        f1_power: f64 = 1.0, Domain::Number { minimum: 0.01, maximum: 100.0 };
        /// power of the queueing delay with which beta rises from beta_min to beta_max
        f2_power: f64 = 1.0, Domain::Number { minimum: 0.01, maximum: 100.0 };
    }
    require |p| {
        p.beta_min <= p.beta_max => "beta_min must not exceed beta_max",
        p.eta2 <= p.eta3 => "eta2 must not exceed eta3",
    }
}

crate::parameters! {
    /// Parameters of TCP-Illinois as Linux has it.
    pub struct IllinoisLinuxParams {
        /// largest increase, packets per round trip
        alpha_max: f64 = 10.0, Domain::Number { minimum: 1.0, maximum: 1e6 };
        /// smallest increase, packets per round trip
        alpha_min: f64 = 0.3, Domain::Number { minimum: 1e-6, maximum: 1.0 };
        /// largest fraction of the window cut at a loss event
        beta_max: f64 = 0.5, Domain::Number { minimum: 1e-6, maximum: 0.5 };
        /// smallest fraction of the window cut at a loss event
        beta_min: f64 = 0.125, Domain::Number { minimum: 1e-6, maximum: 0.5 };
        /// window below which alpha = 1 and beta = 1/2, packets
        w_thresh: f64 = 15.0, Domain::Number { minimum: 1e-6, maximum: 1e9 };
        /// round trips of low delay before alpha returns to alpha_max
        theta: f64 = 5.0, Domain::Number { minimum: 0.0, maximum: 1e6 };
    }
    require |p| { p.beta_min <= p.beta_max => "beta_min must not exceed beta_max" }
}

impl IllinoisParams {
    /// alpha(da), packets per round trip, for queueing delays `da` and `dm` in seconds (paper, eq. 2, or another f1).
    #[must_use]
    pub fn alpha(&self, da: f64, dm: f64) -> f64 {
        let d1 = self.eta1 * dm;
        if da <= d1 || self.alpha_max <= self.alpha_min {
            return self.alpha_max;
        }
        if self.f1 == F1::Power {
            let left = ((dm - da) / (dm - d1)).max(0.0);
            return self.alpha_min + (self.alpha_max - self.alpha_min) * libm::pow(left, self.f1_power);
        }
        let scale = (dm - d1) * self.alpha_min / (self.alpha_max - self.alpha_min);
        let k1 = scale * self.alpha_max;
        let k2 = scale - d1;
        k1 / (k2 + da)
    }

    /// beta(da), for queueing delays `da` and `dm` in seconds (paper, eq. 3, or another f2).
    #[must_use]
    pub fn beta(&self, da: f64, dm: f64) -> f64 {
        let (d2, d3) = (self.eta2 * dm, self.eta3 * dm);
        if da <= d2 {
            return self.beta_min;
        }
        if da >= d3 {
            return self.beta_max;
        }
        if self.f2_power != 1.0 {
            let part = (da - d2) / (d3 - d2);
            return self.beta_min + (self.beta_max - self.beta_min) * libm::pow(part, self.f2_power);
        }
        let k3 = (self.beta_min * d3 - self.beta_max * d2) / (d3 - d2);
        let k4 = (self.beta_max - self.beta_min) / (d3 - d2);
        k3 + k4 * da
    }
}

/// alpha and beta below `w_thresh` and after a timeout.
const RENO: (f64, f64) = (1.0, 0.5);

/// The source that a control follows.
pub trait Source: Clone + core::fmt::Debug + Send + Sync + 'static {
    /// Its parameters.
    type Params: Parameters;
    /// Converts them to the paper's parameters.
    fn params(params: Self::Params) -> IllinoisParams;
    /// The fraction cut from the window for ssthresh at a timeout; by default half, as in RFC 5681.
    fn timeout_cut(beta: f64) -> f64 {
        let _ = beta;
        0.5
    }
}

/// As in the paper.
#[derive(Clone, Debug)]
pub struct Paper;

impl Source for Paper {
    type Params = IllinoisParams;
    fn params(params: IllinoisParams) -> IllinoisParams {
        params
    }
}

/// As in Linux.
#[derive(Clone, Debug)]
pub struct Linux;

impl Source for Linux {
    type Params = IllinoisLinuxParams;
    fn params(p: IllinoisLinuxParams) -> IllinoisParams {
        IllinoisParams {
            alpha_max: p.alpha_max,
            alpha_min: p.alpha_min,
            beta_max: p.beta_max,
            beta_min: p.beta_min,
            w_thresh: p.w_thresh,
            theta: p.theta,
            extremes: Extremes::Sample,
            backoff_ends_wait: false,
            ..IllinoisParams::default()
        }
    }
    fn timeout_cut(beta: f64) -> f64 {
        beta
    }
}

/// After a timeout alpha and beta stay Reno's until the round trip in which slow start ends is over.
#[derive(Clone, Copy, Debug, PartialEq)]
enum AfterTimeout {
    No,
    SlowStart,
    /// Slow start has ended in this round trip.
    Ended(u64),
}

/// The control.
#[derive(Clone, Debug)]
pub struct Illinois<S: Source> {
    params: IllinoisParams,
    base: Base,
    rounds: RoundTrips,
    /// Smallest and largest RTT, seconds.
    t_min: f64,
    t_max: f64,
    /// Queueing delay of the last round trip, seconds.
    da: f64,
    alpha: f64,
    beta: f64,
    /// The delay was above d1 since alpha last was alpha_max.
    above: bool,
    /// Round trips of low delay since.
    low_rounds: f64,
    /// Until this round trip high delay only reflects the flow's own backoff: its packets were sent before it.
    echo_until: u64,
    round: u64,
    after_timeout: AfterTimeout,
    source: core::marker::PhantomData<S>,
}

impl<S: Source> Illinois<S> {
    /// The largest queueing delay seen, seconds.
    fn dm(&self) -> f64 {
        if self.t_max > self.t_min { self.t_max - self.t_min } else { 0.0 }
    }

    fn note_extreme(&mut self, rtt: f64) {
        self.t_min = self.t_min.min(rtt);
        self.t_max = self.t_max.max(rtt);
    }

    /// alpha and beta after round trip `round` of mean RTT `ta` seconds.
    fn update(&mut self, round: u64, ta: f64) {
        if self.params.extremes == Extremes::Mean {
            self.note_extreme(ta);
        }
        let dm = self.dm();
        self.da = (ta - self.t_min).max(0.0);
        self.beta = self.params.beta(self.da, dm);
        if self.da > self.params.eta1 * dm {
            self.above = round > self.echo_until;
            self.low_rounds = 0.0;
            self.alpha = self.params.alpha(self.da, dm);
            return;
        }
        self.low_rounds += 1.0;
        if !self.above || self.low_rounds >= self.params.theta {
            self.above = false;
            self.alpha = self.params.alpha_max;
        }
    }

    /// alpha and beta in force.
    fn in_force(&self) -> (f64, f64) {
        if self.base.window() < self.params.w_thresh || self.after_timeout != AfterTimeout::No {
            RENO
        } else {
            (self.alpha, self.beta)
        }
    }
}

impl<S: Source> Controller for Illinois<S> {
    type Params = S::Params;

    fn new(params: S::Params, start: Start) -> Self {
        let params = S::params(params);
        Illinois {
            params,
            base: Base::new(start),
            rounds: RoundTrips::default(),
            t_min: f64::INFINITY,
            t_max: 0.0,
            da: 0.0,
            alpha: params.alpha_max,
            beta: params.beta_min,
            above: false,
            low_rounds: 0.0,
            echo_until: 0,
            round: 0,
            after_timeout: AfterTimeout::No,
            source: core::marker::PhantomData,
        }
    }

    fn on(&mut self, _: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) => {
                if self.params.extremes == Extremes::Sample
                    && let Some(rtt) = ack.rtt
                {
                    self.note_extreme(rtt.as_seconds());
                }
                if let Some(completed) = self.rounds.on(&ack) {
                    self.update(self.round, completed.mean);
                }
                self.round = ack.round;
                match self.after_timeout {
                    AfterTimeout::SlowStart if !self.base.in_slow_start() => {
                        self.after_timeout = AfterTimeout::Ended(ack.round);
                    }
                    AfterTimeout::Ended(round) if ack.round > round => self.after_timeout = AfterTimeout::No,
                    _ => {}
                }
                let growth = self.base.slow_start(&ack);
                self.base.add(growth * self.in_force().0 / self.base.window());
            }
            Signal::Timeout { first } => {
                let keep = 1.0 - S::timeout_cut(self.in_force().1);
                self.base.timeout(first, self.base.window() * keep);
                self.after_timeout = AfterTimeout::SlowStart;
                self.above = false;
                self.low_rounds = 0.0;
            }
            Signal::Loss { .. } => {
                self.base.react(signal, 1.0 - self.in_force().1);
                if self.params.backoff_ends_wait {
                    self.above = false;
                    self.echo_until = self.round + 1;
                }
            }
            _ => self.base.react(signal, 1.0),
        }
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let (alpha, beta) = self.in_force();
        visit("alpha", alpha);
        visit("beta", beta);
        visit("da_s", self.da);
        visit("dm_s", self.dm());
    }
}
