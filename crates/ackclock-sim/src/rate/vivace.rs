//! PCC Vivace: M. Dong et al., NSDI 2018. Details that the paper leaves open follow its authors' later code.
//!
//! Time is cut into monitor intervals of one smallest RTT. An interval's utility is
//! `u = x^0.9 - 900 x max(0, dRTT/dt) - 11.35 x L`, for the rate x in Mbit/s, the slope dRTT/dt of a line through its RTTs
//! over the times of sending, and the share L of its packets that were lost. The slope is 0 where its standard error is
//! not smaller than itself.
//!
//! Starting doubles the rate per interval until the utility falls. Probing tries `x (1 + 0.05)` and `x (1 - 0.05)` in
//! three pairs: the majority raises the rate, only all three lower it. Moving then changes it by the utility's gradient
//! times `((n + 1)/2)^1.2` after n steps the same way, at most `5 % x (1 + k)` after k steps that were so bounded, at
//! least 0.5 Mbit/s; it continues while the utility rises, otherwise takes the last step back and probes again.

mod utility;

use std::collections::VecDeque;

use ackclock_units::{Span, Time};

use self::utility::{LEAST, Regression};
use super::intake::{Intake, RateReceiver};
use super::sender::{Departure, Law};
use crate::context::Context;
use crate::endpoint::{Endpoint, ReceiverView, ReceivingEnd};
use crate::memory::Grow as _;
use crate::packet::Packet;
use crate::payload::Report;

pub use utility::{VivaceParams, step};

/// Pairs of intervals in which probing tries two rates, and how far they are from the rate between them.
const PAIRS: usize = 3;
const NEAR: f64 = 0.05;
/// Largest rate, Mbit/s.
const MOST: f64 = 1e5;
/// Length of an interval before the first RTT.
const UNKNOWN_RTT: Span = Span::from_millis(100);
/// After this time without a report, or four RTTs if that is longer, everything that was sent is lost.
const SILENCE: Span = Span::from_seconds(1);
const GAIN: f64 = 1.0 / 8.0;

/// A monitor interval.
#[derive(Clone, Copy, Debug)]
struct Interval {
    /// Mbit/s.
    rate: f64,
    /// The rate is on trial, and not merely kept meanwhile.
    judged: bool,
    ends: Time,
    sent: u64,
    acknowledged: u64,
    lost: u64,
    line: Regression,
}

/// The purpose of the rates on trial.
#[derive(Clone, Copy, Debug)]
enum SearchStage {
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
    stage: SearchStage,
    /// The rate between trials, Mbit/s.
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
    /// Asks for judgement of some rates.
    fn try_rates(&mut self, rates: &[f64]) {
        self.trials[..rates.len()].copy_from_slice(rates);
        (self.wanted, self.begun, self.judged) = (rates.len(), 0, 0);
    }

    /// Continues at `rate` Mbit/s while it is judged.
    fn move_to(&mut self, rate: f64) {
        self.rate = rate.clamp(LEAST, MOST);
        self.try_rates(&[self.rate]);
    }

    fn probe(&mut self, rate: f64) {
        self.rate = rate.clamp(LEAST, MOST);
        self.stage = SearchStage::Probing;
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
            SearchStage::Starting { before: Some((rate, utility)) } if u <= utility || x >= MOST => {
                self.probe(rate)
            }
            SearchStage::Starting { .. } => {
                self.stage = SearchStage::Starting { before: Some((x, u)) };
                self.move_to(2.0 * x);
            }
            SearchStage::Probing => self.decide_after_probing(),
            SearchStage::Moving { before, sign, same, bounded } => {
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
        self.stage = SearchStage::Moving { before: from, sign, same: same + 1, bounded };
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

    /// Records a packet's fate.
    fn settle(&mut self, rtt: Option<(Time, Span)>) {
        let open =
            self.intervals.iter_mut().find(|interval| interval.acknowledged + interval.lost < interval.sent);
        let Some(interval) = open else { return };
        if let Some((now, rtt)) = rtt {
            interval.acknowledged += 1;
            interval.line.add(now.as_seconds() - rtt.as_seconds(), rtt.as_seconds());
        } else {
            interval.lost += 1;
        }
    }

    /// Judges intervals that have ended and whose packets have all been acknowledged or lost.
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
    type Params = VivaceParams;
    type Receiver = VivaceReceiver;

    /// The law for packets of `packet_bytes` bytes.
    fn new(params: VivaceParams, packet_bytes: u16) -> Self {
        let mut trials = [0.0; 2 * PAIRS];
        trials[0] = params.initial_mbps;
        Vivace {
            params,
            packet_megabits: f64::from(packet_bytes) * 8.0 / 1e6,
            stage: SearchStage::Starting { before: None },
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

    const COUNTS_LOSS_EVENTS: bool = false;

    fn on_sent(&mut self, now: Time) {
        if self.intervals.back().is_none_or(|interval| now >= interval.ends) {
            let judged = self.begun < self.wanted;
            let rate = if judged { self.trials[self.begun] } else { self.rate };
            self.begun += usize::from(judged);
            let ends = now + self.least_rtt.unwrap_or(UNKNOWN_RTT);
            let line = Regression::default();
            self.intervals.add(Interval { rate, judged, ends, sent: 0, acknowledged: 0, lost: 0, line });
        }
        if let Some(interval) = self.intervals.back_mut() {
            interval.sent += 1;
        }
        self.next += 1;
        self.judge();
    }

    fn on_report(&mut self, now: Time, rtt: Option<Span>, report: Report) -> Departure {
        self.set_silence(now);
        let sequence = report.verdict as u64;
        // A packet that arrives out of order has already been counted as lost, and remains so.
        if let Some(rtt) = rtt.filter(|_| sequence >= self.expected) {
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
            let before = self.smoothed.unwrap_or(rtt).as_seconds();
            self.smoothed = Some(Span::from_seconds_f64(before + GAIN * (rtt.as_seconds() - before)));
            (self.expected..sequence).for_each(|_| self.settle(None));
            self.settle(Some((now, rtt)));
            self.expected = sequence + 1;
            self.judge();
        }
        Departure::AsDue
    }

    fn on_timer(&mut self, now: Time) -> Departure {
        (self.expected..self.next).for_each(|_| self.settle(None));
        self.expected = self.next;
        self.judge();
        self.set_silence(now);
        Departure::AsDue
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
            SearchStage::Starting { .. } => 0.0,
            SearchStage::Probing => 1.0,
            SearchStage::Moving { .. } => 2.0,
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

impl RateReceiver<VivaceParams> for VivaceReceiver {
    fn new(_: VivaceParams, intake: Intake) -> Self {
        VivaceReceiver { intake, highest: None, arrived: None }
    }
}

impl Endpoint for VivaceReceiver {
    fn on_packet(&mut self, packet: &Packet, context: &mut Context<'_>) {
        self.intake.take(packet, context);
        self.highest = self.highest.max(Some(packet.sequence));
        self.arrived = Some(packet.sequence);
    }

    fn next_packet(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        let verdict = self.arrived.take()? as f64;
        self.intake.report(context, self.highest, Report { verdict, ..Report::default() })
    }
}

impl ReceivingEnd for VivaceReceiver {
    fn view(&self) -> ReceiverView {
        self.intake.view()
    }
}
