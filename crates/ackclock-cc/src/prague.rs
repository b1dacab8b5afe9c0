//! TCP Prague: draft-briscoe-iccrg-prague-congestion-control-04, in the form of L4STeam's udp_prague; obligations: RFC
//! 9331, section 4.3.
//!
//! As DCTCP it cuts by half of the share of marks, `W (1 - alpha/2)`, but it sends ECT(1) and so waits in the queue of low
//! latency, and it competes as if its round trip were at least 25 ms, `vRTT = max(srtt, 25 ms)`: per unmarked packet
//! `W += (srtt/vRTT)^2 / W`, so that the rate grows by one packet per vRTT in every vRTT, and alpha moves, and cuts are
//! made, at most once per vRTT and round trip. It paces at `W/srtt`, 3 % more in the first half of the vRTT after alpha
//! moved and 3 % less in the second.
//!
//! Not taken over: faster growth after long without marks, and steering by rate below 2 ms, which is the same law with
//! windows below 2 packets.

use ackclock_units::{PacketRate, Packets, Span, Time};

use crate::parts::Base;
use crate::{Ack, Controller, Decision, Ecn, Signal, Start, Wants};

crate::parameters! {
    /// Parameters of TCP Prague.
    pub struct PragueParams {
        /// round trip below which a flow competes as if it had this one, milliseconds
        virtual_rtt_ms: f64 = 25.0, Domain::Number { minimum: 0.0, maximum: 1e4 };
        /// gain of alpha
        g: f64 = 0.0625, Domain::Number { minimum: 1e-6, maximum: 1.0 };
    }
}

/// The fraction of the window kept at a loss event, and at the first mark of slow start.
const KEEP: f64 = 0.5;
/// Gain of the smoothed RTT.
const GAIN: f64 = 1.0 / 8.0;
/// The share that pacing adds in the first half of a vRTT and subtracts in the second.
const SWING: f64 = 0.03;
/// A burst is what is sent in this time, seconds, at least one packet.
const BURST_S: f64 = 250e-6;
/// Rates lie between these, packets of 1500 bytes per second: 100 kbit/s and 100 Gbit/s.
const RATES: (f64, f64) = (100e3 / 12e3, 100e9 / 12e3);

/// A round trip and a vRTT that have begun.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Wait {
    /// Packets delivered in total when the round trip is over.
    until: u64,
    since: Time,
}

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct Prague {
    params: PragueParams,
    base: Base,
    alpha: f64,
    /// Smoothed RTT, seconds.
    srtt: Option<f64>,
    /// Packets delivered in total, and in flight.
    total: u64,
    in_flight: u64,
    /// Packets delivered and marked since alpha moved.
    delivered: u64,
    marked: u64,
    share: f64,
    /// Since alpha moved; since the last cut; since the last loss.
    alpha_wait: Option<Wait>,
    cut_wait: Option<Wait>,
    loss_wait: Option<Wait>,
    /// When the last signal arrived.
    now: Time,
}

impl Prague {
    /// vRTT, seconds.
    fn virtual_rtt(&self) -> f64 {
        self.srtt.unwrap_or(0.0).max(self.params.virtual_rtt_ms / 1e3)
    }

    fn wait(&self) -> Option<Wait> {
        Some(Wait { until: self.total.saturating_add(self.in_flight.max(1)), since: self.now })
    }

    /// Whether both a round trip and a vRTT have passed.
    fn is_over(&self, wait: &Wait) -> bool {
        self.total > wait.until && self.now.since(wait.since).as_seconds() >= self.virtual_rtt()
    }

    fn measure(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt.map(|rtt| rtt.max(Span(1)).as_seconds()) {
            self.srtt = Some(self.srtt.map_or(rtt, |old| old + GAIN * (rtt - old)));
        }
        self.total = self.total.saturating_add(ack.delivered.0);
        self.in_flight = ack.in_flight.0;
        self.delivered = self.delivered.saturating_add(ack.delivered.0);
        self.marked = self.marked.saturating_add(ack.marked.0);
        if self.alpha_wait.is_none_or(|wait| self.is_over(&wait)) {
            self.share = (self.marked as f64 / self.delivered.max(1) as f64).min(1.0);
            self.alpha += self.params.g * (self.share - self.alpha);
            (self.delivered, self.marked) = (0, 0);
            self.alpha_wait = self.wait();
        }
        self.cut_wait = self.cut_wait.filter(|wait| !self.is_over(wait));
        self.loss_wait = self.loss_wait.filter(|wait| !self.is_over(wait));
    }

    fn grow(&mut self, ack: &Ack) {
        if ack.growth() == 0.0 || self.loss_wait.is_some() {
            return;
        }
        if self.base.in_slow_start() {
            self.base.slow_start(ack);
            return;
        }
        let clean = ack.delivered.0.saturating_sub(ack.marked.0) as f64;
        let vrtt = self.virtual_rtt();
        let slowness = self.srtt.map_or(1.0, |srtt| if vrtt > 0.0 { srtt / vrtt } else { 1.0 });
        self.base.add(clean / self.base.window() * slowness * slowness);
    }

    /// Cuts the window to the fraction `keep`, but not below 2 packets, and never raises it.
    fn cut(&mut self, keep: f64) {
        let window = self.base.window();
        self.cut_wait = self.wait();
        self.base.cut_to(window * keep);
        self.base.set(self.base.window().min(window));
    }

    /// The rate to pace at, packets per second.
    fn rate(&self) -> Option<f64> {
        let srtt = self.srtt?;
        let since = self.alpha_wait.map_or(Span::ZERO, |wait| self.now.since(wait.since)).as_seconds();
        let swing = if since < self.virtual_rtt() / 2.0 { 1.0 + SWING } else { 1.0 - SWING };
        Some((self.base.window() / srtt * swing).clamp(RATES.0, RATES.1))
    }
}

impl Controller for Prague {
    type Params = PragueParams;
    const WANTS: Wants = Wants { marks: true, ecn: Ecn::Ect1, ..Wants::NOTHING };

    fn new(params: PragueParams, start: Start) -> Self {
        Prague {
            params,
            base: Base::new(start),
            alpha: 0.0,
            srtt: None,
            total: 0,
            in_flight: 0,
            delivered: 0,
            marked: 0,
            share: 0.0,
            alpha_wait: None,
            cut_wait: None,
            loss_wait: None,
            now: Time::ZERO,
        }
    }

    fn on(&mut self, now: Time, signal: Signal) {
        self.now = now;
        match signal {
            Signal::Ack(ack) => {
                self.measure(&ack);
                if ack.marked.0 > 0 && self.base.in_slow_start() {
                    // alpha does not know of any marks yet.
                    self.cut(KEEP);
                } else {
                    self.grow(&ack);
                }
                if ack.marked.0 > 0 && self.cut_wait.is_none() && !ack.recovering {
                    self.cut(1.0 - self.alpha / 2.0);
                }
            }
            Signal::Loss { .. } => {
                let again = self.loss_wait.is_some();
                self.loss_wait = self.wait();
                self.base.react(signal, if again { 1.0 } else { KEEP });
            }
            Signal::Timeout { .. } => {
                self.alpha = 0.0;
                (self.cut_wait, self.loss_wait) = (None, None);
                self.base.react(signal, KEEP);
            }
            Signal::Undo => {
                self.loss_wait = None;
                self.base.react(signal, KEEP);
            }
            _ => self.base.react(signal, KEEP),
        }
    }

    fn decision(&self) -> Decision {
        let rate = self.rate();
        Decision {
            pacing_rate: rate.map(PacketRate),
            quantum: rate.map(|rate| Packets((rate * BURST_S).max(1.0) as u64)),
            ..self.base.decision()
        }
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("alpha", self.alpha);
        visit("marked_share", self.share);
        visit("virtual_rtt_ms", self.virtual_rtt() * 1e3);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_units::Window;

    fn at(window: f64) -> Prague {
        let start = Start { window: Window(window), ssthresh: Window(window), ..Start::default() };
        Prague::new(PragueParams::default(), start)
    }

    fn after(control: &mut Prague, milliseconds: u64, ack: Ack) -> f64 {
        control.on(Time::ZERO + Span::from_millis(milliseconds), Signal::Ack(ack));
        control.decision().window.0
    }

    /// 1/50 of a packet, times (10/25)^2 where the round trip is 10 ms: 0.0032; at 50 ms 0.02.
    #[test]
    fn growth_is_that_of_25_ms() {
        for (rtt, growth) in [(10, 0.0032), (50, 0.02)] {
            let mut control = at(50.0);
            let ack = Ack { rtt: Some(Span::from_millis(rtt)), ..Ack::of_one_packet() };
            assert!((after(&mut control, rtt, ack) - 50.0 - growth).abs() < 1e-9);
        }
    }

    /// 50 (1 - 0.2/2) = 45; a second mark waits for a round trip and 25 ms.
    #[test]
    fn a_mark_cuts_by_half_of_alpha() {
        let mut control = at(50.0);
        control.srtt = Some(0.01);
        control.alpha_wait = control.wait();
        control.alpha = 0.2;
        let mark = Ack { marked: Packets(1), in_flight: Packets(49), ..Ack::of_one_packet() };
        assert!((after(&mut control, 1, mark) - 45.0).abs() < 1e-9);
        let round = Ack { delivered: Packets(49), marked: Packets(49), ..mark };
        assert!((after(&mut control, 11, round) - 45.0).abs() < 1e-9);
        assert!((after(&mut control, 12, mark) - 45.0).abs() < 1e-9);
        control.alpha = 0.2;
        control.alpha_wait = control.wait();
        assert!((after(&mut control, 27, mark) - 40.5).abs() < 1e-9);
    }

    /// In slow start the first mark halves, as alpha is still 0.
    #[test]
    fn the_first_mark_halves() {
        let start = Start { window: Window(50.0), ..Start::default() };
        let mut control = Prague::new(PragueParams::default(), start);
        let mark = Ack { marked: Packets(1), in_flight: Packets(49), ..Ack::of_one_packet() };
        assert!((after(&mut control, 1, mark) - 25.0).abs() < 1e-9);
        assert!(!control.base.in_slow_start());
    }

    /// 50 packets per 50 ms, 3 % more for half of the round trip after alpha moved, and 3 % less from there on. In 250 us of
    /// 51500 packets per second 12 are sent at once, of few still one.
    #[test]
    fn pacing_swings_around_the_rate() {
        let mut control = at(50.0);
        let still =
            Ack { credit: 0.0, delivered: Packets(0), in_flight: Packets(50), ..Ack::of_one_packet() };
        assert_eq!(control.decision().pacing_rate, None);
        for (now, rtt, rate) in
            [(50, Some(Span::from_millis(50)), 1030.0), (74, None, 1030.0), (75, None, 970.0)]
        {
            after(&mut control, now, Ack { rtt, ..still });
            assert!((control.decision().pacing_rate.unwrap().0 - rate).abs() < 1e-9, "{now} ms");
            assert_eq!(control.decision().quantum, Some(Packets(1)));
        }
        let mut short = at(50.0);
        after(&mut short, 1, Ack { rtt: Some(Span::from_millis(1)), ..still });
        assert_eq!(short.decision().quantum, Some(Packets(12)));
    }

    fn internal(control: &Prague, wanted: &str) -> f64 {
        let mut internal = f64::NAN;
        control.internals(&mut |name, value| {
            if name == wanted {
                internal = value;
            }
        });
        internal
    }

    /// RTTs of 40 and 80 ms: 40 + 40/8 = 45. All of the first packets marked move alpha by g = 1/16.
    #[test]
    fn internals_are_told_by_name() {
        let mut control = at(50.0);
        for (now, rtt) in [(40, 40), (120, 80)] {
            let ack =
                Ack { rtt: Some(Span::from_millis(rtt)), in_flight: Packets(49), ..Ack::of_one_packet() };
            after(&mut control, now, Ack { marked: Packets(1), ..ack });
        }
        assert!((internal(&control, "virtual_rtt_ms") - 45.0).abs() < 1e-9);
        assert_eq!((internal(&control, "alpha"), internal(&control, "marked_share")), (0.0625, 1.0));
        control.on(Time::ZERO + Span::from_millis(121), Signal::Timeout { first: true });
        assert_eq!(internal(&control, "alpha"), 0.0);
    }

    /// A loss event halves once per round trip and 25 ms, in which the window does not grow, unless it was a false alarm.
    #[test]
    fn a_loss_halves_once() {
        let ack = Ack { in_flight: Packets(1), ..Ack::of_one_packet() };
        let loss = Signal::Loss { ecn: false };
        let mut control = at(50.0);
        after(&mut control, 0, Ack { credit: 0.0, ..ack });
        let before = control.base.window();
        control.on(Time::ZERO, loss);
        let half = control.base.window();
        assert!((half - before / 2.0).abs() < 1e-9);
        control.on(Time::ZERO, loss);
        assert_eq!(control.base.window(), half);
        assert_eq!(after(&mut control, 10, ack), half);
        assert_eq!(after(&mut control, 24, ack), half);
        assert!(after(&mut control, 25, ack) > half);
        control.on(Time::ZERO + Span::from_millis(25), loss);
        control.on(Time::ZERO + Span::from_millis(25), Signal::Undo);
        let undone = control.base.window();
        assert!(after(&mut control, 26, ack) > undone);
    }
}
