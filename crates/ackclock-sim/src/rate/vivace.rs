//! PCC Vivace: M. Dong et al., NSDI 2018, with what the paper leaves open as its authors' later code has it.
//!
//! Time is cut into monitor intervals of one smallest RTT. An interval's utility is
//! `u = x^0.9 - 900 x max(0, dRTT/dt) - 11.35 x L`, for the rate x in Mbit/s, the slope dRTT/dt of a line through its RTTs
//! over the times of sending, and the share L of its packets that were lost. The slope is 0 where its standard error is
//! not smaller than itself.
//!
//! Starting doubles the rate per interval until the utility falls. Probing tries `x (1 + 0.05)` and `x (1 - 0.05)` in
//! three pairs: the majority raises the rate, only all three lower it. Moving then changes it by the utility's gradient
//! times `((n + 1)/2)^1.2` after n steps the same way, at most `5 % x (1 + k)` after k steps that were so bounded, at
//! least 0.5 Mbit/s; it goes on while the utility rises, otherwise takes the last step back and probes again.

use std::collections::VecDeque;

use ackclock_units::{Span, Time};

use super::intake::Intake;
use super::sender::{Law, Next};
use crate::endpoint::{Context, Endpoint, ReceiverView, ReceivingEnd};
use crate::packet::Packet;
use crate::payload::Report;

ackclock_cc::parameters! {
    /// Parameters of Vivace.
    pub struct VivaceParams {
        /// weight of the slope of the RTT (b)
        latency_weight: f64 = 900.0, Domain::Number { minimum: 0.0, maximum: 1e6 };
        /// weight of losses (c)
        loss_weight: f64 = 11.35, Domain::Number { minimum: 0.0, maximum: 1e6 };
        /// initial rate, Mbit/s
        initial_mbps: f64 = 1.0, Domain::Number { minimum: 0.5, maximum: 1e4 };
    }
}

/// Exponent of the rate in the utility.
const EXPONENT: f64 = 0.9;
/// Pairs of intervals in which probing tries two rates, and how far they are from the rate between them.
const PAIRS: usize = 3;
const NEAR: f64 = 0.05;
/// Largest step as a share of the rate, and the exponent of its acceleration.
const BOUND: f64 = 0.05;
const ACCELERATION: f64 = 1.2;
/// Least rate and least step, largest rate, Mbit/s.
const LEAST: f64 = 0.5;
const MOST: f64 = 1e5;
/// Length of an interval before the first RTT.
const UNKNOWN_RTT: Span = Span::from_millis(100);
/// After this time without a report, or four RTTs if that is longer, everything that was sent is lost.
const SILENCE: Span = Span::from_seconds(1);
const GAIN: f64 = 1.0 / 8.0;

impl VivaceParams {
    /// The utility of a rate of `x` Mbit/s at a slope of the RTT in seconds per second and a share of losses.
    #[must_use]
    pub fn utility(&self, x: f64, slope: f64, loss: f64) -> f64 {
        libm::pow(x, EXPONENT) - self.latency_weight * x * slope.max(0.0) - self.loss_weight * x * loss
    }
}

/// The step from a rate of `x` Mbit/s, Mbit/s, and whether it is bounded: at a gradient, after `same` steps the same way,
/// of which the last `bounded` in turn were bounded.
#[must_use]
pub fn step(gradient: f64, x: f64, same: u32, bounded: u32) -> (f64, bool) {
    let wanted = gradient.abs() * libm::pow(f64::from(same + 1) / 2.0, ACCELERATION);
    let most = BOUND * x * f64::from(1 + bounded);
    (wanted.min(most).max(LEAST), wanted > most)
}

/// A line through points, by sums over them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Line {
    count: f64,
    mean: (f64, f64),
    /// Sums of squares and products of the distances from the means: tt, tr, rr.
    sums: (f64, f64, f64),
}

impl Line {
    /// Takes a point.
    pub fn add(&mut self, t: f64, r: f64) {
        self.count += 1.0;
        let (dt, dr) = (t - self.mean.0, r - self.mean.1);
        self.mean = (self.mean.0 + dt / self.count, self.mean.1 + dr / self.count);
        let (after_t, after_r) = (t - self.mean.0, r - self.mean.1);
        self.sums = (self.sums.0 + dt * after_t, self.sums.1 + dt * after_r, self.sums.2 + dr * after_r);
    }

    /// The slope by least squares; 0 where its standard error is not smaller, or unknown.
    #[must_use]
    pub fn slope(&self) -> f64 {
        let (tt, tr, rr) = self.sums;
        if self.count < 3.0 || tt <= 0.0 {
            return 0.0;
        }
        let slope = tr / tt;
        let error = libm::sqrt((rr - slope * tr).max(0.0) / (self.count - 2.0) / tt);
        if error < slope.abs() { slope } else { 0.0 }
    }
}

/// A monitor interval.
#[derive(Clone, Copy, Debug)]
struct Interval {
    /// Mbit/s.
    rate: f64,
    /// The rate is one to be judged, not one to go on with meanwhile.
    judged: bool,
    ends: Time,
    sent: u64,
    acknowledged: u64,
    lost: u64,
    line: Line,
}

/// What the rates that are being judged are for.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// The rate before, with its utility.
    Starting {
        before: Option<(f64, f64)>,
    },
    Probing,
    /// The rate before, with its utility; the sign of the step; steps with that sign, and bounded ones in turn.
    Moving {
        before: (f64, f64),
        sign: f64,
        same: u32,
        bounded: u32,
    },
}

/// The law of Vivace.
#[derive(Clone, Debug)]
pub struct Vivace {
    params: VivaceParams,
    packet_megabits: f64,
    stage: Stage,
    /// Where the rate is between trials, Mbit/s.
    rate: f64,
    /// Rates to judge, how many there are, have begun, and are judged, and their utilities.
    trials: [f64; 2 * PAIRS],
    wanted: usize,
    begun: usize,
    judged: usize,
    utilities: [f64; 2 * PAIRS],
    /// Intervals that are not judged yet, the oldest first.
    intervals: VecDeque<Interval>,
    /// The next packet to be reported, and the next to be sent.
    expected: u64,
    next: u64,
    least_rtt: Option<Span>,
    smoothed: Option<Span>,
    silence_ends: Time,
}

impl Vivace {
    /// The law for packets of `packet_bytes` bytes.
    #[must_use]
    pub fn new(params: VivaceParams, packet_bytes: u16) -> Self {
        let mut trials = [0.0; 2 * PAIRS];
        trials[0] = params.initial_mbps;
        Vivace {
            params,
            packet_megabits: f64::from(packet_bytes) * 8.0 / 1e6,
            stage: Stage::Starting { before: None },
            rate: params.initial_mbps,
            trials,
            wanted: 1,
            begun: 0,
            judged: 0,
            utilities: [0.0; 2 * PAIRS],
            intervals: VecDeque::new(),
            expected: 0,
            next: 0,
            least_rtt: None,
            smoothed: None,
            silence_ends: Time::NEVER,
        }
    }

    /// Asks for judgement of some rates.
    fn try_rates(&mut self, rates: &[f64]) {
        self.trials[..rates.len()].copy_from_slice(rates);
        (self.wanted, self.begun, self.judged) = (rates.len(), 0, 0);
    }

    /// Goes on at `rate` Mbit/s while it is judged.
    fn move_to(&mut self, rate: f64) {
        self.rate = rate.clamp(LEAST, MOST);
        self.try_rates(&[self.rate]);
    }

    fn probe(&mut self, rate: f64) {
        self.rate = rate.clamp(LEAST, MOST);
        self.stage = Stage::Probing;
        let mut rates = [0.0; 2 * PAIRS];
        for (index, rate) in rates.iter_mut().enumerate() {
            *rate = self.rate * (1.0 + if Self::is_high(index) { NEAR } else { -NEAR });
        }
        self.try_rates(&rates);
    }

    /// Whether probing's trial `index` is the higher one of its pair: first and second in turn.
    const fn is_high(index: usize) -> bool {
        matches!(index % 4, 0 | 3)
    }

    fn decide(&mut self) {
        let (x, u) = (self.trials[0], self.utilities[0]);
        match self.stage {
            Stage::Starting { before: Some((rate, utility)) } if u <= utility || x >= MOST => {
                self.probe(rate)
            }
            Stage::Starting { .. } => {
                self.stage = Stage::Starting { before: Some((x, u)) };
                self.move_to(2.0 * x);
            }
            Stage::Probing => self.decide_after_probing(),
            Stage::Moving { before, sign, same, bounded } => {
                let gradient = if x == before.0 { 0.0 } else { (u - before.1) / (x - before.0) };
                if gradient * sign > 0.0 {
                    self.go(gradient, (x, u), (sign, same, bounded));
                } else {
                    self.probe(before.0);
                }
            }
        }
    }

    /// One step from a rate and its utility.
    fn go(&mut self, gradient: f64, from: (f64, f64), (sign, same, bounded): (f64, u32, u32)) {
        let (step, is_bounded) = step(gradient, from.0, same, bounded);
        let bounded = if is_bounded { bounded + 1 } else { 0 };
        self.stage = Stage::Moving { before: from, sign, same: same + 1, bounded };
        self.move_to(from.0 + sign * step);
    }

    fn decide_after_probing(&mut self) {
        let (mut votes, mut difference, mut sum) = (0, 0.0, 0.0);
        for pair in self.utilities.chunks(2).enumerate() {
            let high = usize::from(!Self::is_high(2 * pair.0));
            let gain = pair.1[high] - pair.1[1 - high];
            votes += usize::from(gain > 0.0);
            difference += gain / PAIRS as f64;
            sum += (pair.1[0] + pair.1[1]) / (2 * PAIRS) as f64;
        }
        let sign = match votes {
            0 => -1.0,
            votes if 2 * votes > PAIRS => 1.0,
            _ => return self.probe(self.rate),
        };
        self.go(difference / (2.0 * NEAR * self.rate), (self.rate, sum), (sign, 0, 0));
    }

    /// Tells of a packet's fate.
    fn settle(&mut self, rtt: Option<(Time, Span)>) {
        let open = self.intervals.iter_mut().find(|one| one.acknowledged + one.lost < one.sent);
        let Some(interval) = open else { return };
        if let Some((now, rtt)) = rtt {
            interval.acknowledged += 1;
            interval.line.add(now.as_seconds() - rtt.as_seconds(), rtt.as_seconds());
        } else {
            interval.lost += 1;
        }
    }

    /// Judges intervals that are over and of which every packet's fate is known.
    fn judge(&mut self) {
        while self.intervals.len() > 1
            && let Some(interval) = self.intervals.front().copied()
            && interval.acknowledged + interval.lost >= interval.sent
        {
            self.intervals.pop_front();
            if !interval.judged {
                continue;
            }
            let loss = interval.lost as f64 / interval.sent as f64;
            self.utilities[self.judged] = self.params.utility(interval.rate, interval.line.slope(), loss);
            self.judged += 1;
            if self.judged == self.wanted {
                self.decide();
            }
        }
    }

    fn set_silence(&mut self, now: Time) {
        let silence = self.smoothed.map_or(SILENCE, |rtt| rtt.saturating_mul(4).max(SILENCE));
        // Slower than that nothing can be heard for as long.
        self.silence_ends = now + silence + Span::from_seconds_f64(2.0 / self.rate());
    }
}

impl Law for Vivace {
    fn on_sent(&mut self, now: Time) {
        if self.intervals.back().is_none_or(|interval| now >= interval.ends) {
            let judged = self.begun < self.wanted;
            let rate = if judged { self.trials[self.begun] } else { self.rate };
            self.begun += usize::from(judged);
            let ends = now + self.least_rtt.unwrap_or(UNKNOWN_RTT);
            let line = Line::default();
            self.intervals.push_back(Interval {
                rate,
                judged,
                ends,
                sent: 0,
                acknowledged: 0,
                lost: 0,
                line,
            });
        }
        if let Some(interval) = self.intervals.back_mut() {
            interval.sent += 1;
        }
        self.next += 1;
        self.judge();
    }

    fn on_report(&mut self, now: Time, rtt: Option<Span>, report: Report) -> Next {
        self.set_silence(now);
        let sequence = report.verdict as u64;
        // What comes after a later packet counted as lost, and stays so.
        if let Some(rtt) = rtt.filter(|_| sequence >= self.expected) {
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
            let before = self.smoothed.unwrap_or(rtt).as_seconds();
            self.smoothed = Some(Span::from_seconds_f64(before + GAIN * (rtt.as_seconds() - before)));
            (self.expected..sequence).for_each(|_| self.settle(None));
            self.settle(Some((now, rtt)));
            self.expected = sequence + 1;
            self.judge();
        }
        Next::AsDue
    }

    fn on_timer(&mut self, now: Time) -> Next {
        (self.expected..self.next).for_each(|_| self.settle(None));
        self.expected = self.next;
        self.judge();
        self.set_silence(now);
        Next::AsDue
    }

    fn wakeup(&self) -> Time {
        self.silence_ends
    }

    fn start(&mut self, now: Time) {
        self.set_silence(now);
    }

    fn rate(&self) -> f64 {
        self.intervals.back().map_or(self.rate, |interval| interval.rate) / self.packet_megabits
    }

    fn rtt(&self) -> Option<Span> {
        self.smoothed
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let stage = match self.stage {
            Stage::Starting { .. } => 0.0,
            Stage::Probing => 1.0,
            Stage::Moving { .. } => 2.0,
        };
        visit("stage", stage);
        visit("utility", self.utilities[self.judged.saturating_sub(1)]);
    }
}

/// Reports every packet at once.
#[derive(Debug)]
pub struct VivaceReceiver {
    intake: Intake,
    highest: Option<u64>,
    /// The packet to report.
    arrived: Option<u64>,
}

impl VivaceReceiver {
    /// The receiver of a flow of `total` packets, whose reports of `report_bytes` bytes enter the routes at `route`.
    #[must_use]
    pub fn new(flow: u32, route: u32, report_bytes: u16, total: u64) -> Self {
        VivaceReceiver { intake: Intake::new(flow, route, report_bytes, total), highest: None, arrived: None }
    }
}

impl Endpoint for VivaceReceiver {
    fn on_packet(&mut self, packet: &Packet, context: &mut Context<'_>) {
        self.intake.take(packet, context);
        self.highest = self.highest.max(Some(packet.sequence));
        self.arrived = Some(packet.sequence);
    }

    fn on_timer(&mut self, _: &mut Context<'_>) {}

    fn next_packet(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        let verdict = self.arrived.take()? as f64;
        self.intake.report(context, self.highest, Report { verdict, ..Report::default() })
    }

    fn wakeup(&self) -> Time {
        Time::NEVER
    }
}

impl ReceivingEnd for VivaceReceiver {
    fn view(&self) -> ReceiverView {
        self.intake.view()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} is not {b}");
    }

    /// 50^0.9 = 33.81; 1 % lost costs 11.35 * 50 * 0.01 = 5.675, and 10 ms more per second 900 * 50 * 0.01 = 450. A falling
    /// RTT is no gain.
    #[test]
    fn utilities() {
        let params = VivaceParams::default();
        near(params.utility(50.0, 0.0, 0.0), 33.81, 0.005);
        near(params.utility(50.0, 0.0, 0.01), 28.13, 0.005);
        near(params.utility(50.0, 0.01, 0.0), -416.2, 0.05);
        assert_eq!(params.utility(50.0, -0.01, 0.0), params.utility(50.0, 0.0, 0.0));
    }

    /// The utility rises with the rate while L < 0.9/(11.35 x^0.1): up to 5.36 % at 50 Mbit/s, 5.0 % at 100.
    #[test]
    fn loss_that_is_worth_it() {
        let rises = |x: f64, loss| {
            let params = VivaceParams::default();
            params.utility(x * 1.000_001, 0.0, loss) > params.utility(x, 0.0, loss)
        };
        assert!(rises(50.0, 0.0535) && !rises(50.0, 0.0537));
        assert!(rises(100.0, 0.0499) && !rises(100.0, 0.0501));
    }

    /// A gradient of 2 at 100 Mbit/s: 2 * (1/2)^1.2 = 0.871 at first, 2 after one step the same way, 2 * 2^1.2 = 4.595 after
    /// three. A gradient of 100 is bounded by 5 Mbit/s, after two bounded steps by 15. Never less than 0.5.
    #[test]
    fn steps() {
        near(step(2.0, 100.0, 0, 0).0, 0.871, 0.001);
        near(step(-2.0, 100.0, 1, 0).0, 2.0, 1e-12);
        near(step(2.0, 100.0, 3, 0).0, 4.595, 0.001);
        assert_eq!(step(100.0, 100.0, 0, 0), (5.0, true));
        assert_eq!(step(100.0, 100.0, 1, 2), (15.0, true));
        assert_eq!(step(0.01, 100.0, 0, 0), (0.5, false));
    }

    /// Points on a line give its slope. (0, 0), (1, 1), (2, 0): tt = 2, tr = 0. With (3, 1): slope 0.2 of tt 5, tr 1, rr 1,
    /// residuals 0.8, error sqrt(0.8/2/5) = 0.283, which is more: 0. Two points say nothing.
    #[test]
    fn slopes() {
        let line = |points: &[(f64, f64)]| {
            let mut line = Line::default();
            points.iter().for_each(|(t, r)| line.add(*t, *r));
            line.slope()
        };
        near(line(&[(1.0, 0.1), (2.0, 0.3), (4.0, 0.7)]), 0.2, 1e-12);
        assert_eq!(line(&[(0.0, 0.0), (1.0, 1.0), (2.0, 0.0)]), 0.0);
        assert_eq!(line(&[(0.0, 0.0), (1.0, 1.0), (2.0, 0.0), (3.0, 1.0)]), 0.0);
        assert_eq!(line(&[(0.0, 0.0), (1.0, 1.0)]), 0.0);
    }
}
