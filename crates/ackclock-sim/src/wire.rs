//! Propagation: a delay, with noise and reordering where a link has them.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use ackclock_scenario::{Noise, NoiseKind};
use ackclock_units::{Span, Time};

use crate::packet::Packet;
use crate::random::{Purpose, Stream};

/// Delay noise with a stream per flow.
#[derive(Clone, Debug)]
pub struct NoiseModel {
    /// Its distribution.
    pub noise: Noise,
    /// One stream per flow: the n-th packet of a flow meets the same noise whatever the others do.
    pub streams: Vec<Stream>,
}

impl NoiseModel {
    /// The noise `noise` at link `link` for `flows` flows, in run `run` of `seed`.
    #[must_use]
    pub fn new(noise: Noise, link: u32, flows: u32, seed: u64, run: u64) -> Self {
        let streams = (0..flows).map(|flow| Stream::new(seed, run, Purpose::Noise, link, flow)).collect();
        NoiseModel { noise, streams }
    }

    /// The delay of the next packet of `flow` where it would be `delay`.
    fn apply(&mut self, flow: u32, delay: Span) -> Span {
        let stream = &mut self.streams[flow as usize];
        match self.noise.kind {
            NoiseKind::Uniform(range) => delay + stream.span(range),
            NoiseKind::Gaussian(sigma) => {
                let picoseconds = delay.0 as f64 + stream.gaussian() * sigma.0 as f64;
                Span(picoseconds.max(0.0) as u64)
            }
        }
    }
}

/// Packets in transmission or propagation, by arrival at the far end.
#[derive(Debug)]
pub struct Wire {
    /// Propagation delay.
    pub delay: Span,
    noise: Option<NoiseModel>,
    packets: VecDeque<(Time, Packet)>,
    /// The arrival of the packet that was pushed last: nothing arrives before it unless packets may overtake.
    latest: Time,
    /// Packets that may overtake each other, by arrival and then by number.
    unordered: BinaryHeap<Reverse<(Time, u64, Overtaking)>>,
    /// The heap is in use, or may come into use.
    reorders: bool,
    pushed: u64,
}

/// A packet in the heap; the order there is by time and number alone.
#[derive(Clone, Copy, Debug)]
struct Overtaking(Packet);

impl PartialEq for Overtaking {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl Eq for Overtaking {}
impl PartialOrd for Overtaking {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Overtaking {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

impl Wire {
    /// An empty wire.
    #[must_use]
    pub fn new(delay: Span, noise: Option<NoiseModel>) -> Self {
        let reorders = noise.as_ref().is_some_and(|noise| noise.noise.reorder);
        Wire {
            delay,
            noise,
            reorders,
            packets: VecDeque::new(),
            latest: Time::ZERO,
            unordered: BinaryHeap::new(),
            pushed: 0,
        }
    }

    /// Changes the noise from now on; `None` for none. Existing streams continue.
    pub fn set_noise(&mut self, noise: Option<NoiseModel>) {
        self.noise = match (noise, self.noise.take()) {
            (Some(new), Some(old)) => Some(NoiseModel { noise: new.noise, streams: old.streams }),
            (new, _) => new,
        };
        self.update_reorders();
    }

    /// A packet is completely sent at `sent`.
    #[inline]
    pub fn push(&mut self, sent: Time, packet: Packet) {
        if self.noise.is_some() {
            self.push_noisy(sent, packet);
        } else {
            self.push_in_order(sent + self.delay, packet);
        }
    }

    #[inline(never)]
    fn push_noisy(&mut self, sent: Time, packet: Packet) {
        if let Some(noise) = &mut self.noise {
            let arrival = sent + noise.apply(packet.flow(), self.delay);
            if noise.noise.reorder {
                self.pushed += 1;
                self.unordered.push(Reverse((arrival, self.pushed, Overtaking(packet))));
                return;
            }
            self.push_in_order(arrival, packet);
        }
    }

    #[inline]
    fn push_in_order(&mut self, arrival: Time, packet: Packet) {
        self.latest = self.latest.max(arrival);
        self.packets.push_back((self.latest, packet));
    }

    /// When the next packet arrives.
    #[inline]
    #[must_use]
    pub fn next(&self) -> Time {
        let in_order = self.packets.front().map_or(Time::NEVER, |(time, _)| *time);
        if self.reorders { in_order.min(self.next_unordered()) } else { in_order }
    }

    fn next_unordered(&self) -> Time {
        self.unordered.peek().map_or(Time::NEVER, |Reverse((time, ..))| *time)
    }

    /// Whether packets may overtake each other, or some that may are still under way.
    #[inline]
    #[must_use]
    pub const fn reorders(&self) -> bool {
        self.reorders
    }

    /// Takes the packet that arrives next.
    ///
    /// # Panics
    /// When there is none.
    #[inline]
    pub fn pop(&mut self) -> Packet {
        if self.reorders {
            return self.pop_any();
        }
        self.packets.pop_front().expect("a packet is on the wire").1
    }

    #[inline(never)]
    fn pop_any(&mut self) -> Packet {
        let in_order = self.packets.front().map_or(Time::NEVER, |(time, _)| *time);
        let packet = if self.next_unordered() < in_order {
            self.unordered.pop().map(|Reverse((.., packet))| packet.0)
        } else {
            self.packets.pop_front().map(|(_, packet)| packet)
        };
        self.update_reorders();
        packet.expect("a packet is on the wire")
    }

    fn update_reorders(&mut self) {
        self.reorders =
            !self.unordered.is_empty() || self.noise.as_ref().is_some_and(|noise| noise.noise.reorder);
    }

    /// Visits every packet.
    pub fn visit(&self, each: &mut dyn FnMut(&Packet)) {
        self.packets.iter().for_each(|(_, packet)| each(packet));
        self.unordered.iter().for_each(|Reverse((.., packet))| each(&packet.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind;

    /// Arrivals, in milliseconds, of packets sent 1 ms apart over a delay of 50 ms.
    fn arrivals(kind: NoiseKind, reorder: bool) -> Vec<(u64, f64)> {
        let noise = NoiseModel::new(Noise { kind, reorder }, 0, 1, 5, 0);
        let mut wire = Wire::new(Span::from_millis(50), Some(noise));
        for sequence in 0..100_000 {
            let packet = Packet::new(Kind::Data, 0, 0, sequence, Time::ZERO, 1000);
            wire.push(Time::ZERO + Span::from_millis(sequence), packet);
        }
        std::iter::from_fn(|| {
            let time = wire.next();
            (time < Time::NEVER).then(|| (wire.pop().sequence, time.as_seconds() * 1e3))
        })
        .collect()
    }

    /// Uniform noise of 10 ms has a mean of 5 ms and a deviation of 10/sqrt(12): 5 standard errors of 100 000 are
    /// 0.046 ms. Gaussian noise of 40 ms is cut below -50 ms, which is 1.25 deviations: the mean delay of max(0, X) is
    /// 50 Phi(1.25) + 40 phi(1.25) = 50 * 0.89435 + 40 * 0.18265 = 52.02 ms; 5 standard errors are below 0.63 ms.
    #[test]
    fn noise_is_distributed_as_said() {
        let mean = |kind| {
            let arrivals = arrivals(kind, true);
            let delays = arrivals.iter().map(|(sequence, at)| at - *sequence as f64);
            delays.sum::<f64>() / 1e5
        };
        let uniform = mean(NoiseKind::Uniform(Span::from_millis(10)));
        assert!((uniform - 55.0).abs() < 0.046, "{uniform}");
        let gaussian = mean(NoiseKind::Gaussian(Span::from_millis(40)));
        assert!((gaussian - 52.02).abs() < 0.63, "{gaussian}");
    }

    #[test]
    fn packets_overtake_only_where_they_may() {
        for reorder in [false, true] {
            let arrivals = arrivals(NoiseKind::Gaussian(Span::from_millis(10)), reorder);
            assert!(arrivals.windows(2).all(|pair| pair[0].1 <= pair[1].1), "time runs forward");
            let in_order = arrivals.windows(2).all(|pair| pair[0].0 < pair[1].0);
            assert_eq!(in_order, !reorder);
            assert_eq!(arrivals.len(), 100_000);
        }
    }
}
