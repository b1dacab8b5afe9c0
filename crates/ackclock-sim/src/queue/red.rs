//! Random early detection: S. Floyd, V. Jacobson, IEEE/ACM Trans. Networking 1(4), 1993; adaptive: S. Floyd, R.
//! Gummadi, S. Shenker, 2001.
//!
//! The average queue follows every arrival with gain `weight`; while the link is idle it decays as if small packets
//! had passed. Between the thresholds a packet is dropped with a probability that rises to max_p; with `gentle` it
//! rises on to 1 at twice the upper threshold. With `uniform`, as in the paper, the probability
//! grows with the packets since the last drop, `p/(1 - count p)`, which spaces drops evenly, 1/(2p)
//! packets on average: their share is 2p. Without it drops are independent and their share is p.
//!
//! The adaptive form moves max_p every half second so that the average stays in the middle of the thresholds.

use ackclock_scenario as scenario;
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

/// The average queue of RED and what follows from it.
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
    /// Time to transmit a packet, seconds: idle time counts as that many small arrivals.
    packet_s: f64,
    adapts_at: Time,
}

impl Red {
    /// For an empty queue at a link of `rate`; drops and marks are drawn from `stream`. Adaptive RED's default for the
    /// weight is `1 - exp(-1/C)`, C in packets of 1000 bytes per second.
    #[must_use]
    pub fn new(settings: scenario::Red, rate: Rate, stream: Stream) -> Self {
        Red {
            settings,
            weight: settings.weight.unwrap_or_else(|| 1.0 - libm::exp(-8000.0 / rate.0 as f64)),
            stream,
            average: 0.0,
            count: None,
            idle_since: Some(Time::ZERO),
            packet_s: 8000.0 / rate.0 as f64,
            adapts_at: Time::ZERO + ADAPTS_EVERY,
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
        while now >= self.adapts_at {
            self.adapts_at += ADAPTS_EVERY;
            let (low, high) = (self.settings.min_threshold, self.settings.max_threshold);
            let max_p = self.settings.max_p;
            if self.average > low + TARGET.1 * (high - low) && max_p <= LARGEST_MAX_P {
                self.settings.max_p = max_p + LARGEST_INCREMENT.min(max_p / 4.0);
            } else if self.average < low + TARGET.0 * (high - low) && max_p >= least {
                self.settings.max_p = max_p * DECREASE;
            }
        }
    }

    fn update_average(&mut self, now: Time, level: f64) {
        match self.idle_since.take() {
            Some(since) => {
                let passed = now.since(since).as_seconds() / self.packet_s;
                self.average *= libm::pow(1.0 - self.weight, passed);
            }
            None => self.average += self.weight * (level - self.average),
        }
    }

    /// Whether the packet that arrives is to be dropped or marked.
    fn decides(&mut self) -> bool {
        let p = self.probability(self.average);
        if p <= 0.0 {
            self.count = None;
            return false;
        }
        let count = self.count.map_or(0.0, |count| count + 1.0);
        self.count = Some(count);
        if p >= 1.0 {
            self.count = Some(0.0);
            return true;
        }
        let spaced = if !self.settings.uniform {
            p
        } else if count * p < 1.0 {
            p / (1.0 - count * p)
        } else {
            1.0
        };
        let drops = self.stream.unit() < spaced;
        if drops {
            self.count = Some(0.0);
        }
        drops
    }
}

impl Management for Red {
    fn enqueue(&mut self, packet: &Packet, in_service: InService, mut waiting: Waiting<'_>) {
        let level = waiting.queue.len() + in_service.packets;
        if level > 0 {
            self.idle_since = None;
        }
        self.update_average(waiting.now, level as f64);
        self.adapt(waiting.now);
        let mut packet = *packet;
        if self.decides() && !waiting.mark_or_drop(&mut packet, self.settings.ecn) {
            if level == 0 {
                self.idle_since = Some(waiting.now);
            }
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
    use super::*;
    use crate::packet::{Ecn, Kind};
    use crate::queue::{Droptail, Managed};
    use crate::random::Purpose;

    const SETTINGS: scenario::Red = scenario::Red {
        min_threshold: 5.0,
        max_threshold: 15.0,
        weight: Some(0.002),
        max_p: 0.1,
        gentle: true,
        uniform: true,
        ecn: false,
        adaptive: None,
    };

    /// 8 Mbit/s: a packet of 1000 bytes takes 1 ms.
    fn red(settings: scenario::Red) -> Red {
        Red::new(settings, Rate(8_000_000), Stream::new(1, 0, Purpose::Queue, 0, 0))
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

    /// With 10 packets waiting: 0.02, then 0.02 + 0.002 (10 - 0.02) = 0.03996. After 5 ms of idling five packets
    /// have passed: 0.998^5 of it.
    #[test]
    fn the_average_follows_the_queue() {
        let mut red = red(SETTINGS);
        red.idle_since = None;
        red.update_average(Time::ZERO, 10.0);
        red.update_average(Time::ZERO, 10.0);
        assert!((red.average - 0.039_96).abs() < 1e-12);
        red.idle_since = Some(Time::ZERO);
        red.update_average(Time::ZERO + Span::from_millis(5), 0.0);
        assert!((red.average - 0.039_96 * 0.998_f64.powi(5)).abs() < 1e-12);
    }

    /// A million packets at a fixed probability p = 0.05. Independent drops: 50 000 with a standard deviation of
    /// sqrt(1e6 p (1 - p)) = 218. Evenly spaced ones: the n-th packet after a drop is dropped with p/(1 - n p), so that
    /// gaps are uniform on 1 to 19, with mean 10 and variance (19^2 - 1)/12 = 30: 100 000 drops with a standard deviation
    /// of sqrt(1e6 * 30/10^3) = 173. Five standard deviations are allowed. Of 50 000 independent gaps the longest exceeds
    /// 19 but for a chance of (1 - 0.95^19)^50000.
    #[test]
    fn drops_have_their_share() {
        for (uniform, expected, deviation) in [(false, 50_000, 218), (true, 100_000, 173)] {
            let mut red = red(scenario::Red { uniform, ..SETTINGS });
            red.average = 10.0;
            let (mut drops, mut since, mut longest) = (0_u32, 0, 0);
            for _ in 0..1_000_000 {
                since += 1;
                if red.decides() {
                    (drops, longest, since) = (drops + 1, longest.max(since), 0);
                }
            }
            assert!(drops.abs_diff(expected) < 5 * deviation, "{drops}");
            assert_eq!(uniform, longest <= 19, "{longest}");
        }
    }

    /// Every half second: above 0.6 of the way max_p grows by a quarter of itself, at most 0.01; below 0.4 it falls by a
    /// tenth.
    #[test]
    fn the_adaptive_form_moves_its_probability() {
        let mut red = red(scenario::Red { adaptive: Some(0.01), max_p: 0.02, ..SETTINGS });
        let at = |n: u64| Time::ZERO + Span::from_millis(500 * n);
        red.average = 12.0;
        red.adapt(at(2));
        assert!((red.settings.max_p - (0.025 + 0.006_25)).abs() < 1e-12, "0.02 + 0.005 + 0.00625");
        red.average = 10.0;
        red.adapt(at(3));
        assert!((red.settings.max_p - 0.031_25).abs() < 1e-12, "in the middle it stays");
        red.average = 6.0;
        red.adapt(at(4));
        assert!((red.settings.max_p - 0.028_125).abs() < 1e-12);
    }

    #[test]
    fn what_can_be_marked_is_not_dropped() {
        let mut red = red(scenario::Red { ecn: true, max_p: 1.0, ..SETTINGS });
        red.idle_since = None;
        red.average = 40.0;
        let mut queue = Managed::new(red, Droptail::new(1000, u64::MAX));
        let mut capable = packet();
        capable.set_ecn(Ecn::Capable);
        let mut dropped = Vec::new();
        queue.enqueue(Time::ZERO, &capable, InService { packets: 1, bytes: 1000 }, &mut dropped);
        assert_eq!((dropped.len(), queue.marks()), (0, 1));
        queue.enqueue(Time::ZERO, &packet(), InService { packets: 1, bytes: 1000 }, &mut dropped);
        assert_eq!((dropped.len(), queue.marks()), (1, 1));
        assert_eq!(queue.dequeue(Time::ZERO, &mut dropped).unwrap().packet.ecn(), Ecn::Marked);
    }
}
