//! Random early detection: S. Floyd, V. Jacobson, IEEE/ACM Trans. Networking 1(4), 1993; adaptive: S. Floyd, R.
//! Gummadi, S. Shenker, 2001.
//!
//! The average follows the packets that wait at every arrival, with gain `weight`; while the link is idle it decays as if
//! packets of `mean_packet` bytes had arrived and found nothing. Between the thresholds a packet is dropped with a
//! probability p that rises to max_p; with `gentle` it rises further, to 1 at twice the upper threshold. Nothing is dropped
//! while at most one packet waits, as in ns-2 and ns-3.
//!
//! Drops are spaced in one of three ways, with `count` packets since the last drop:
//! - `wait`, as in ns-2 and ns-3: nothing is dropped while `count p < 1`, then with `p/(2 - count p)`. Gaps are uniform on
//!   1/p to 2/p packets, so that the share of drops is p/1.5.
//! - `paper`: `p/(1 - count p)`. Gaps are uniform on 1 to 1/p packets, and the share is 2p.
//! - `none`: drops are independent, and their share is p.
//!
//! The adaptive form moves max_p, once in half a second at most, so that the average stays in the middle of the thresholds.

use ackclock_scenario::{self as scenario, DropSpacing};
use ackclock_units::{Rate, Span, Time};

use super::{InService, Management, Queue, Queued, Waiting};
use crate::packet::Packet;
use crate::random::Stream;

/// How often the adaptive form moves `max_p`, and by how much.
const ADAPTS_EVERY: Span = Span::from_millis(500);
const LARGEST_INCREMENT: f64 = 0.01;
const DECREASE: f64 = 0.9;
const LARGEST_MAX_P: f64 = 0.5;
/// The part of the way between the thresholds within which the average should stay.
const TARGET: (f64, f64) = (0.4, 0.6);

/// Nothing is dropped while at most this many packets wait.
const LEAST_WAITING: u64 = 1;

/// The probability with which the packet that is the `count`-th since the last drop is dropped, with gaps of 1/p to 2/p.
fn wait(p: f64, count: f64) -> f64 {
    let waited = count * p;
    if waited < 1.0 {
        0.0
    } else if waited < 2.0 {
        (p / (2.0 - waited)).min(1.0)
    } else {
        1.0
    }
}

/// The same with gaps of 1 to 1/p.
fn even(p: f64, count: f64) -> f64 {
    let passed = count * p;
    if passed < 1.0 { (p / (1.0 - passed)).min(1.0) } else { 1.0 }
}

/// The average queue of RED, and the drops and marks that follow from it.
#[derive(Clone, Debug)]
pub struct Red {
    settings: scenario::Red,
    /// Gain of the average.
    weight: f64,
    stream: Stream,
    average: f64,
    /// Packets since the last drop; none below the lower threshold.
    count: Option<f64>,
    /// Since when nothing waits or is in transmission.
    idle_since: Option<Time>,
    /// Time to transmit a mean packet, seconds: idle time counts as that many arrivals.
    packet_s: f64,
    /// `max_p` moves after this time.
    adapts_after: Time,
}

impl Red {
    /// For an empty queue at a link of `rate`; drops and marks are drawn from `stream`. Adaptive RED's default for the
    /// weight is `1 - exp(-1/C)`, C in mean packets per second.
    #[must_use]
    pub fn new(settings: scenario::Red, rate: Rate, stream: Stream) -> Self {
        let packet_s = 8.0 * settings.mean_packet.0 as f64 / rate.0 as f64;
        Red {
            settings,
            weight: settings.weight.unwrap_or_else(|| 1.0 - libm::exp(-packet_s)),
            stream,
            average: 0.0,
            count: None,
            idle_since: Some(Time::ZERO),
            packet_s,
            adapts_after: Time::ZERO + ADAPTS_EVERY,
        }
    }

    /// The probability of a drop at an average of `average` packets, before drops are spaced.
    fn probability(&self, average: f64) -> f64 {
        let scenario::Red { min_threshold: low, max_threshold: high, max_p, .. } = self.settings;
        if average < low {
            0.0
        } else if average < high {
            max_p * (average - low) / (high - low)
        } else if self.settings.gentle && average < 2.0 * high {
            max_p + (1.0 - max_p) * (average - high) / high
        } else {
            1.0
        }
    }

    fn adapt(&mut self, now: Time) {
        let Some(least) = self.settings.adaptive else { return };
        if now <= self.adapts_after {
            return;
        }
        let (low, high) = (self.settings.min_threshold, self.settings.max_threshold);
        let max_p = self.settings.max_p;
        if self.average > low + TARGET.1 * (high - low) && max_p < LARGEST_MAX_P {
            self.settings.max_p = max_p + LARGEST_INCREMENT.min(max_p / 4.0);
        } else if self.average < low + TARGET.0 * (high - low) && max_p > least {
            self.settings.max_p = max_p * DECREASE;
        } else {
            return;
        }
        self.adapts_after = now + ADAPTS_EVERY;
    }

    /// A packet arrives and finds `waiting` others.
    fn update_average(&mut self, now: Time, waiting: f64) {
        if let Some(since) = self.idle_since.take() {
            let missed = (now.since(since).as_seconds() / self.packet_s).floor();
            self.average *= libm::pow(1.0 - self.weight, missed);
        }
        self.average += self.weight * (waiting - self.average);
    }

    /// Whether the packet that arrives, and finds `waiting` others, is to be dropped or marked.
    fn decides(&mut self, waiting: u64) -> bool {
        if self.average < self.settings.min_threshold || waiting <= LEAST_WAITING {
            self.count = None;
            return false;
        }
        let p = self.probability(self.average);
        let spaced = match (self.settings.spacing, self.count) {
            (DropSpacing::Wait, None) => {
                self.count = Some(1.0);
                return false;
            }
            (DropSpacing::Wait, Some(count)) => wait(p, count + 1.0),
            (DropSpacing::Paper, count) => even(p, count.map_or(0.0, |count| count + 1.0)),
            (DropSpacing::None, _) => p,
        };
        self.count = Some(self.count.map_or(0.0, |count| count + 1.0));
        let drops = self.stream.unit() < spaced;
        if drops {
            self.count = Some(0.0);
        }
        drops
    }
}

impl Management for Red {
    fn enqueue(&mut self, packet: &Packet, in_service: InService, mut waiting: Waiting<'_>) {
        let level = waiting.queue.len();
        if level + in_service.packets > 0 {
            self.idle_since = None;
        }
        self.update_average(waiting.now, level as f64);
        self.adapt(waiting.now);
        let mut packet = *packet;
        if self.decides(level) && !waiting.mark_or_drop(&mut packet, self.settings.ecn) {
            return;
        }
        waiting.add(&packet, in_service);
    }

    fn dequeue(&mut self, mut waiting: Waiting<'_>) -> Option<Queued> {
        let queued = waiting.take();
        if queued.is_none() {
            self.idle_since = Some(waiting.now);
        }
        queued
    }
}

#[cfg(test)]
mod tests {
    use ackclock_units::Bytes;

    use super::*;
    use crate::packet::{EcnField, Kind};
    use crate::queue::{Droptail, Managed};
    use crate::random::{Purpose, Streams};

    const SETTINGS: scenario::Red = scenario::Red {
        min_threshold: 5.0,
        max_threshold: 15.0,
        weight: Some(0.002),
        max_p: 0.1,
        gentle: true,
        spacing: DropSpacing::Paper,
        mean_packet: Bytes(1000),
        ecn: false,
        adaptive: None,
    };

    /// 8 Mbit/s: a packet of 1000 bytes takes 1 ms.
    fn red(settings: scenario::Red) -> Red {
        Red::new(settings, Rate(8_000_000), Streams { seed: 1, run: 0 }.of(Purpose::Queue, 0, 0))
    }

    fn packet() -> Packet {
        Packet::new(Kind::Data, 0, 0, 0, Time::ZERO, 1000)
    }

    /// Half way between the thresholds half of max_p; at the upper one max_p; half way from there to twice that
    /// (1 + 0.1)/2; without gentle 1.
    #[test]
    fn the_probability_rises_in_two_slopes() {
        let at = |average| red(SETTINGS).probability(average);
        assert_eq!((at(4.9), at(5.0), at(30.0)), (0.0, 0.0, 1.0));
        assert!((at(10.0) - 0.05).abs() < 1e-12);
        assert!((at(15.0) - 0.1).abs() < 1e-12);
        assert!((at(22.5) - 0.55).abs() < 1e-12);
        assert_eq!(red(scenario::Red { gentle: false, ..SETTINGS }).probability(15.0), 1.0);
    }

    /// With 10 packets waiting: 0.02, then 0.02 + 0.002 (10 - 0.02) = 0.03996. In 5.5 ms of idling five packets could have
    /// passed, and the one that comes finds nothing either: 0.998^6 of it.
    #[test]
    fn the_average_follows_the_queue() {
        let mut red = red(SETTINGS);
        red.idle_since = None;
        red.update_average(Time::ZERO, 10.0);
        red.update_average(Time::ZERO, 10.0);
        assert!((red.average - 0.039_96).abs() < 1e-12);
        red.idle_since = Some(Time::ZERO);
        red.update_average(Time::ZERO + Span::from_micros(5500), 0.0);
        assert!((red.average - 0.039_96 * 0.998_f64.powi(6)).abs() < 1e-12);
    }

    /// A million packets at a fixed probability p = 0.05. Independent drops: 50 000 with a standard deviation of
    /// sqrt(1e6 p (1 - p)) = 218; of 50 000 gaps the shortest is 1 and the longest exceeds 39 but for a chance of
    /// (1 - 0.95^39)^50000. As in the paper the n-th packet after a drop is dropped with p/(1 - n p), so that gaps are
    /// uniform on 1 to 19, with mean 10 and variance (19^2 - 1)/12 = 30: 100 000 drops with a standard deviation of
    /// sqrt(1e6 * 30/10^3) = 173. As in ns-2 gaps are uniform on 20 to 39, with mean 29.5 and variance (20^2 - 1)/12 = 33.25:
    /// 33 898 drops with a standard deviation of sqrt(1e6 * 33.25/29.5^3) = 36. Five standard deviations are allowed.
    #[test]
    fn drops_have_their_share_and_their_gaps() {
        for (spacing, expected, deviation, gaps) in [
            (DropSpacing::None, 50_000, 218, None),
            (DropSpacing::Paper, 100_000, 173, Some((1, 19))),
            (DropSpacing::Wait, 33_898, 36, Some((20, 39))),
        ] {
            let mut red = red(scenario::Red { spacing, ..SETTINGS });
            red.average = 10.0;
            let (mut drops, mut since, mut shortest, mut longest) = (0_u32, 0, u32::MAX, 0);
            for _ in 0..1_000_000 {
                since += 1;
                if red.decides(10) {
                    (drops, shortest, longest) = (drops + 1, shortest.min(since), longest.max(since));
                    since = 0;
                }
            }
            assert!(drops.abs_diff(expected) < 5 * deviation, "{drops}");
            match gaps {
                Some(gaps) => assert_eq!((shortest, longest), gaps),
                None => assert!(shortest == 1 && longest > 39, "{shortest} to {longest}"),
            }
        }
    }

    /// At p = 1 every packet is dropped that finds more than one waiting.
    #[test]
    fn one_packet_that_waits_is_not_dropped() {
        let mut red = red(SETTINGS);
        red.average = 30.0;
        assert_eq!([0, 1, 2, 2, 1].map(|waiting| red.decides(waiting)), [false, false, true, true, false]);
    }

    /// The packet in transmission does not wait. With a weight of 1 the average is what waits, and from 11 packets on
    /// everything is dropped: 11 are let in while another is being sent, and no more.
    #[test]
    fn the_packet_in_transmission_does_not_count() {
        let settings = scenario::Red {
            min_threshold: 10.5,
            max_threshold: 11.0,
            weight: Some(1.0),
            gentle: false,
            ..SETTINGS
        };
        let mut queue = Managed::new(red(settings), Droptail::new(1000, u64::MAX));
        let mut dropped = Vec::new();
        for _ in 0..20 {
            queue.enqueue(Time::ZERO, &packet(), InService { packets: 1, bytes: 1000 }, &mut dropped);
        }
        assert_eq!((queue.len(), dropped.len()), (11, 9));
    }

    /// Above 0.6 of the way max_p grows by a quarter of itself, at most 0.01; below 0.4 it falls by a tenth; at most once in
    /// half a second.
    #[test]
    fn the_adaptive_form_moves_its_probability() {
        let mut red = red(scenario::Red { adaptive: Some(0.01), max_p: 0.02, ..SETTINGS });
        let at = |milliseconds| Time::ZERO + Span::from_millis(milliseconds);
        red.average = 12.0;
        for (milliseconds, max_p) in [(500, 0.02), (501, 0.025), (1001, 0.025), (1002, 0.031_25)] {
            red.adapt(at(milliseconds));
            assert!((red.settings.max_p - max_p).abs() < 1e-12, "{milliseconds} ms: {}", red.settings.max_p);
        }
        red.average = 10.0;
        red.adapt(at(1600));
        assert!((red.settings.max_p - 0.031_25).abs() < 1e-12, "in the middle it stays");
        red.average = 6.0;
        red.adapt(at(1601));
        assert!((red.settings.max_p - 0.028_125).abs() < 1e-12);
    }

    #[test]
    fn what_can_be_marked_is_not_dropped() {
        let mut red = red(scenario::Red { ecn: true, max_p: 1.0, ..SETTINGS });
        red.idle_since = None;
        red.average = 40.0;
        let mut queue = Managed::new(red, Droptail::new(1000, u64::MAX));
        let mut dropped = Vec::new();
        // Two that wait, which the next two find.
        for _ in 0..2 {
            queue.enqueue(Time::ZERO, &packet(), InService { packets: 1, bytes: 1000 }, &mut dropped);
        }
        let mut capable = packet();
        capable.set_ecn(EcnField::Capable);
        queue.enqueue(Time::ZERO, &capable, InService { packets: 1, bytes: 1000 }, &mut dropped);
        assert_eq!((dropped.len(), queue.marks()), (0, 1));
        queue.enqueue(Time::ZERO, &packet(), InService { packets: 1, bytes: 1000 }, &mut dropped);
        assert_eq!((dropped.len(), queue.marks()), (1, 1));
        let codepoints: Vec<_> =
            (0..3).map(|_| queue.dequeue(Time::ZERO, &mut dropped).unwrap().packet.ecn()).collect();
        assert_eq!(codepoints, [EcnField::NotCapable, EcnField::NotCapable, EcnField::Marked]);
    }
}
