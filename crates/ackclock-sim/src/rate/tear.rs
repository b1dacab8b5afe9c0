//! TEAR, TCP emulation at the receiver: I. Rhee, V. Ozdemir, Y. Yi, 2000.
//!
//! The receiver keeps the window that a TCP sender would have: a packet that arrives adds to it as an acknowledgement
//! would, a loss halves it, once per window; with `timeout` a long silence makes it 1. Between two decreases lies an
//! epoch, and the mean windows of the last eight epochs, the current one included, are averaged with weights 1/6,
//! 1/6, 1/6, 1/6, 2/15, 1/10, 1/15, 1/30, the newest first. The receiver reports that mean,
//! and the sender sends it per round-trip time.
//!
//! Left open by the source, and parameters here: the silence that is a timeout is max(`silence_rtts` RTT,
//! `least_silence_s`) beyond two spacings of the packets, doubled with each one up to 64 times; reports go once in
//! `feedback_rtts` round trips and at each decrease; `running_epoch` is the part that the epoch that has not ended takes
//! in the mean.

use std::collections::VecDeque;

use ackclock_units::{Span, Time};

use super::intake::{Intake, RateReceiver};
use super::sender::{Departure, Law};
use crate::context::Context;
use crate::endpoint::{Endpoint, ReceiverView, ReceivingEnd};
use crate::memory::Grow as _;
use crate::packet::Packet;
use crate::payload::Report;

ackclock_cc::choice! {
    /// How the epoch that has not ended counts in the mean window.
    pub enum RunningEpoch {
        /// As the newest, once it has lasted a round trip.
        Newest = "newest",
        /// As the newest, but only where the mean becomes larger by it, as TFRC's current loss interval.
        IfLarger = "if_larger",
        /// Not at all.
        LeftOut = "left_out",
    }
}

ackclock_cc::parameters! {
    /// Parameters of TEAR.
    pub struct TearParams {
        /// emulate TCP's retransmission timeout
        timeout: bool = true, Domain::Flag;
        /// silence that is a timeout, round trips
        silence_rtts: f64 = 4.0, Domain::Number { minimum: 0.0, maximum: 1000.0 };
        /// shortest silence that is a timeout, seconds
        least_silence_s: f64 = 0.2, Domain::Number { minimum: 0.0, maximum: 1000.0 };
        /// round trips between two reports without a decrease
        feedback_rtts: f64 = 1.0, Domain::Number { minimum: 0.01, maximum: 1000.0 };
        /// how the epoch that has not ended counts in the mean window
        running_epoch: RunningEpoch = RunningEpoch::Newest, Domain::Choice(RunningEpoch::WORDS);
    }
}

/// Weights of the mean windows of epochs, the newest first; they add up to 1.
pub const WEIGHTS: [f64; 8] =
    [1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0, 2.0 / 15.0, 0.1, 1.0 / 15.0, 1.0 / 30.0];
/// Packets after a missing one that make it lost.
const REORDERING: u64 = 3;
/// How often a timeout doubles.
const DOUBLINGS: u32 = 6;
/// Initial window, packets.
const INITIAL: f64 = 2.0;

/// The window that a TCP sender would have, and the means of its epochs.
#[derive(Clone, Debug)]
pub struct Emulation {
    window: f64,
    ssthresh: f64,
    /// Sum of the window over packets' shares of round trips in this epoch, and the round trips.
    area: f64,
    rounds: f64,
    /// Mean windows of complete epochs, the newest first.
    epochs: VecDeque<f64>,
}

impl Default for Emulation {
    fn default() -> Self {
        Emulation {
            window: INITIAL,
            ssthresh: f64::INFINITY,
            area: 0.0,
            rounds: 0.0,
            epochs: VecDeque::new(),
        }
    }
}

impl Emulation {
    /// A packet arrives: one of the window's worth, which is the share 1/W of a round trip.
    pub fn arrive(&mut self) {
        let share = 1.0 / self.window;
        self.area += self.window * share;
        self.rounds += share;
        self.window += if self.window < self.ssthresh { 1.0 } else { share };
    }

    /// An epoch ends; the window becomes `window` packets.
    fn decrease(&mut self, window: f64) {
        let mean = if self.rounds > 0.0 { self.area / self.rounds } else { self.window };
        self.epochs.push_front(mean);
        self.epochs.truncate(WEIGHTS.len());
        self.ssthresh = (self.window / 2.0).max(2.0);
        self.window = window.max(1.0);
        (self.area, self.rounds) = (0.0, 0.0);
    }

    /// A loss: half of the window.
    pub fn lose(&mut self) {
        self.decrease((self.window / 2.0).max(2.0));
    }

    /// A timeout: one packet.
    pub fn time_out(&mut self) {
        self.decrease(1.0);
    }

    /// The weighted mean window, packets. While fewer than eight epochs are complete, their weights are scaled to add up to 1. The
    /// current epoch counts as `running` says, once it has lasted a round trip.
    #[must_use]
    pub fn mean(&self, running: RunningEpoch) -> f64 {
        if self.epochs.is_empty() {
            return self.window;
        }
        let current = (self.rounds >= 1.0).then(|| self.area / self.rounds);
        match running {
            RunningEpoch::Newest => self.mean_with(current),
            RunningEpoch::IfLarger => self.mean_with(current).max(self.mean_with(None)),
            RunningEpoch::LeftOut => self.mean_with(None),
        }
    }

    fn mean_with(&self, current: Option<f64>) -> f64 {
        let (mut total, mut weights) = (0.0, 0.0);
        for (mean, weight) in current.iter().chain(&self.epochs).zip(WEIGHTS) {
            total += mean * weight;
            weights += weight;
        }
        total / weights
    }
}

/// The sender's law: it sends at the rate that the receiver reports.
#[derive(Clone, Debug, Default)]
pub struct Tear {
    rate: Option<f64>,
    rtt: Option<f64>,
}

/// Packets per second before the first report.
const FIRST_RATE: f64 = 1.0;
/// The lowest rate, packets per second: a packet every 64 s.
const SLOWEST: f64 = 1.0 / 64.0;

impl Law for Tear {
    type Params = TearParams;
    type Receiver = TearReceiver;

    fn new(_: TearParams, _: u16) -> Self {
        Tear::default()
    }

    fn on_report(&mut self, _: Time, rtt: Option<Span>, report: Report) -> Departure {
        if let Some(sample) = rtt.map(|rtt| rtt.as_seconds().max(1e-9)) {
            self.rtt = Some(self.rtt.map_or(sample, |old| old + 0.125 * (sample - old)));
        }
        if let Some(rtt) = self.rtt {
            self.rate = Some((report.verdict / rtt).max(SLOWEST));
        }
        Departure::Hastened
    }

    fn rate(&self) -> f64 {
        self.rate.unwrap_or(FIRST_RATE)
    }

    fn rtt(&self) -> Option<Span> {
        self.rtt.map(Span::from_seconds_f64)
    }
}

/// The receiver: emulation and reports.
#[derive(Debug)]
pub struct TearReceiver {
    params: TearParams,
    intake: Intake,
    emulation: Emulation,
    /// The highest packet that arrived.
    highest: Option<u64>,
    /// Gaps: first and end of missing packets, and packets that arrived after them.
    missing: VecDeque<(u64, u64, u64)>,
    /// A loss below this belongs to the last decrease.
    recovery_point: u64,
    loss_events: u64,
    report_at: Time,
    silence_ends: Time,
    doublings: u32,
    /// A report goes now; whether the time stamp is too old to measure by.
    reports: Option<bool>,
}

impl RateReceiver<TearParams> for TearReceiver {
    fn new(params: TearParams, intake: Intake) -> Self {
        TearReceiver {
            params,
            intake,
            emulation: Emulation::default(),
            highest: None,
            missing: VecDeque::new(),
            recovery_point: 0,
            loss_events: 0,
            report_at: Time::NEVER,
            silence_ends: Time::NEVER,
            doublings: 0,
            reports: None,
        }
    }
}

impl TearReceiver {
    fn set_silence(&mut self, now: Time) {
        let header = self.intake.header;
        if self.params.timeout && header.rtt > Span::ZERO {
            let rtts = Span::from_seconds_f64(self.params.silence_rtts * header.rtt.as_seconds());
            let timeout = rtts.max(Span::from_seconds_f64(self.params.least_silence_s));
            let spacings = Span::from_seconds_f64(2.0 / header.rate.max(SLOWEST));
            self.silence_ends = now + (timeout + spacings).saturating_mul(1 << self.doublings);
        }
    }

    /// A packet above all others arrived: gaps below it grow old; returns whether one of them is a loss.
    fn finds_loss(&mut self, sequence: u64) -> bool {
        let highest = self.highest.replace(sequence);
        self.missing.iter_mut().for_each(|gap| gap.2 += 1);
        if let Some(highest) = highest
            && sequence > highest + 1
        {
            self.missing.add((highest + 1, sequence, 1));
        }
        let mut begins = false;
        while let Some((_, end, later)) = self.missing.front().copied()
            && later >= REORDERING
        {
            self.missing.pop_front();
            begins |= end > self.recovery_point;
        }
        begins
    }
}

impl Endpoint for TearReceiver {
    fn on_packet(&mut self, packet: &Packet, context: &mut Context<'_>) {
        let now = context.now;
        self.intake.take(packet, context);
        self.doublings = 0;
        self.set_silence(now);
        if self.report_at == Time::NEVER {
            self.reports = self.reports.or(if self.highest.is_none() { Some(false) } else { None });
            let interval = self.params.feedback_rtts * self.intake.report_interval().as_seconds();
            self.report_at = now + Span::from_seconds_f64(interval);
        }
        if self.highest.is_some_and(|highest| packet.sequence <= highest) {
            self.missing.retain(|(first, end, _)| !(*first..*end).contains(&packet.sequence));
            return;
        }
        if self.finds_loss(packet.sequence) {
            self.emulation.lose();
            self.loss_events += 1;
            // Packets in flight now were sent under the old window.
            let header = self.intake.header;
            self.recovery_point = packet.sequence + (header.rate * header.rtt.as_seconds()) as u64;
            self.reports = Some(false);
        } else {
            self.emulation.arrive();
        }
    }

    fn on_timer(&mut self, context: &mut Context<'_>) {
        let now = context.now;
        if now >= self.silence_ends {
            self.emulation.time_out();
            self.doublings = (self.doublings + 1).min(DOUBLINGS);
            self.set_silence(now);
            self.reports = Some(true);
        }
        if now >= self.report_at {
            self.report_at = Time::NEVER;
            self.reports = self.reports.or(Some(false));
        }
    }

    fn next_packet(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        let stale = self.reports.take()?;
        let (verdict, loss_events) = (self.emulation.mean(self.params.running_epoch), self.loss_events);
        let report = Report { verdict, loss_events, stale, ..Report::default() };
        self.intake.report(context, self.highest, report)
    }

    fn wakeup(&self) -> Time {
        self.report_at.min(self.silence_ends)
    }
}

impl ReceivingEnd for TearReceiver {
    fn view(&self) -> ReceiverView {
        self.intake.view()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Kind, Slab};
    use crate::payload::{Header, Payload};

    /// From 100 packets with ssthresh there: 100 arrivals are a little less than a round trip of growth 1, mean 100. A loss
    /// ends the epoch at 101/2.
    #[test]
    fn a_window_is_emulated() {
        let mut emulation = Emulation { window: 100.0, ssthresh: 100.0, ..Emulation::default() };
        (0..100).for_each(|_| emulation.arrive());
        assert!((emulation.window - 101.0).abs() < 0.01, "{}", emulation.window);
        emulation.lose();
        assert!((emulation.window - 50.5).abs() < 0.01);
        assert!((emulation.epochs[0] - 100.5).abs() < 0.01);
        emulation.time_out();
        assert_eq!((emulation.window, emulation.ssthresh), (1.0, emulation.epochs[0] / 2.0));
    }

    /// Eight epochs of 60 packets, then a current one of 120: 60 + 60/6 = 70. In its first round trip it does not count.
    #[test]
    fn epochs_are_weighted() {
        assert!((WEIGHTS.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let epochs = VecDeque::from(vec![60.0; 8]);
        let mut emulation =
            Emulation { window: 120.0, epochs, rounds: 0.5, area: 60.0, ..Emulation::default() };
        assert!((emulation.mean(RunningEpoch::Newest) - 60.0).abs() < 1e-9);
        (emulation.rounds, emulation.area) = (2.0, 240.0);
        assert!((emulation.mean(RunningEpoch::Newest) - 70.0).abs() < 1e-9);
    }

    /// The same eight epochs: with a current one of 120 packets 70 if it counts where it is larger, 60 if it is left out;
    /// with one of 30 packets 60 - 30/6 = 55 if it counts, and 60 otherwise.
    #[test]
    fn the_running_epoch_counts_as_it_is_read() {
        let epochs = VecDeque::from(vec![60.0; 8]);
        let emulation =
            |area| Emulation { epochs: epochs.clone(), rounds: 2.0, area, ..Emulation::default() };
        for (running, higher, lower) in [
            (RunningEpoch::Newest, 70.0, 55.0),
            (RunningEpoch::IfLarger, 70.0, 60.0),
            (RunningEpoch::LeftOut, 60.0, 60.0),
        ] {
            assert!((emulation(240.0).mean(running) - higher).abs() < 1e-9);
            assert!((emulation(60.0).mean(running) - lower).abs() < 1e-9);
        }
    }

    /// A packet at 1 s of a sender with an RTT of 100 ms and 100 packets per second. The next report is due a round trip
    /// later, or two; silence is max(4 RTT, 200 ms) = 400 ms and two spacings of 10 ms, or max(1 RTT, 150 ms) and these.
    #[test]
    fn silence_and_feedback_can_be_chosen() {
        let other = TearParams {
            silence_rtts: 1.0,
            least_silence_s: 0.15,
            feedback_rtts: 2.0,
            ..TearParams::default()
        };
        for (params, report, silence) in [(TearParams::default(), 1100, 1420), (other, 1200, 1170)] {
            let mut receiver = TearReceiver::new(params, Intake::new(0, 0, 40, u64::MAX));
            let mut payloads = Slab::default();
            let header = Header { rtt: Span::from_millis(100), rate: 100.0, ..Header::default() };
            let handle = payloads.insert(Payload::Header(header));
            let packet = Packet::new(Kind::Data, 0, 0, 0, Time::ZERO, 1000).with_handle(handle);
            let now = Time::ZERO + Span::from_seconds(1);
            receiver.on_packet(&packet, &mut Context { now, payloads: &mut payloads, journal: &mut None });
            let at = |milliseconds| Time::ZERO + Span::from_millis(milliseconds);
            assert_eq!((receiver.report_at, receiver.silence_ends), (at(report), at(silence)));
        }
    }
}
