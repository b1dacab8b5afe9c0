//! Propagation: a delay and, on some links, noise, reordering and aggregation.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ackclock_scenario::{Aggregation, Noise, NoiseKind};
use ackclock_units::{Span, Time};

use crate::memory::Grow as _;
use crate::packet::{Heading, Kind, Packet};
use crate::prefetch::prefetch;
use crate::random::{Purpose, Stream, Streams};
use crate::ring::Ring;

/// Delay noise, with a stream per flow or per interval.
#[derive(Clone, Debug)]
pub struct NoiseModel {
    /// Its distribution.
    pub noise: Noise,
    /// One stream per flow, so the noise of a flow's n-th packet does not depend on other flows.
    pub streams: Vec<Stream>,
    /// The flow of the first stream.
    first: u32,
    /// The last draw of each stream, if the next draw depends on it.
    last: Vec<f64>,
    /// The state of noise that holds each draw for an interval.
    held: Held,
}

/// The source of noise that holds each draw: every interval has its own stream, regardless of the flows that send in
/// it.
#[derive(Clone, Debug)]
struct Held {
    streams: Streams,
    stream_key: (Purpose, u32),
    /// The interval of the last packet and the untouched stream of it.
    current: (u64, Stream),
}

impl Held {
    fn new(streams: Streams, stream_key: (Purpose, u32)) -> Self {
        Held { streams, stream_key, current: (0, streams.numbered(stream_key.0, stream_key.1, 0)) }
    }

    /// The stream of `interval`, from its beginning, so every caller draws the same numbers.
    fn of(&mut self, interval: u64) -> Stream {
        if self.current.0 != interval {
            self.current = (interval, self.streams.numbered(self.stream_key.0, self.stream_key.1, interval));
        }
        self.current.1.clone()
    }
}

impl NoiseModel {
    /// The noise `noise` at link `link` for `flows` flows, with streams of `streams`.
    #[must_use]
    pub fn new(noise: Noise, link: u32, flows: u32, streams: Streams) -> Self {
        let held = Held::new(streams, (Purpose::HeldNoise, link));
        let streams = (0..flows).map(|flow| streams.of(Purpose::Noise, link, flow)).collect();
        NoiseModel { noise, streams, first: 0, last: Vec::new(), held }.begun()
    }

    /// Noise that meets one flow alone, on the way there or back, with streams of `streams`.
    #[must_use]
    pub fn of_flow(noise: Noise, flow: u32, back: bool, streams: Streams) -> Self {
        let stream = streams.of(Purpose::FlowNoise, u32::from(back), flow);
        let held = Held::new(streams, (Purpose::HeldFlowNoise, 2 * flow + u32::from(back)));
        NoiseModel { noise, streams: vec![stream], first: flow, last: Vec::new(), held }.begun()
    }

    /// The first draw of correlated noise has one before it, too.
    fn begun(mut self) -> Self {
        if self.noise.correlation > 0.0 {
            self.last = self.streams.iter_mut().map(Stream::unit).collect();
        }
        self
    }

    /// The delay with noise of the next packet of `flow`, sent at `sent`; without noise it would be `delay`.
    fn apply(&mut self, sent: Time, flow: u32, delay: Span) -> Span {
        let mut held;
        let stream = match self.noise.hold {
            None => &mut self.streams[(flow - self.first) as usize],
            Some(hold) => {
                held = self.held.of(sent.0 / hold.0);
                &mut held
            }
        };
        let correlation = self.noise.correlation;
        let last = if correlation > 0.0 { self.last.get_mut((flow - self.first) as usize) } else { None };
        // As netem's get_crandom.
        let correlated = |stream: &mut Stream| match last {
            Some(last) => {
                *last = stream.unit() * (1.0 - correlation) + *last * correlation;
                *last
            }
            None => stream.unit(),
        };
        match &self.noise.kind {
            NoiseKind::Uniform(range) if correlation > 0.0 => {
                delay + Span((correlated(stream) * range.0 as f64) as u64)
            }
            NoiseKind::Uniform(range) => delay + stream.span(*range),
            NoiseKind::Wifi(mean) => delay + wifi(stream, *mean),
            NoiseKind::Table(sigma, values) => {
                let place = (correlated(stream) * values.len() as f64) as usize;
                let value = f64::from(values[place.min(values.len() - 1)]) / TABLE_SCALE;
                let picoseconds = delay.0 as f64 + value * sigma.0 as f64;
                Span(picoseconds.max(0.0) as u64)
            }
            NoiseKind::Gaussian(sigma) => {
                let picoseconds = delay.0 as f64 + stream.gaussian() * sigma.0 as f64;
                Span(picoseconds.max(0.0) as u64)
            }
        }
    }
}

/// A sigma in the tables of netem (NETEM_DIST_SCALE).
const TABLE_SCALE: f64 = 8192.0;

/// A delay as over Wi-Fi: some slots of a millisecond, and now and then a dozen of 7.5 ms.
fn wifi(stream: &mut Stream, mean: Span) -> Span {
    const MILLISECOND: f64 = 1e-3;
    let slots = stream.poisson(1.0);
    let part = if slots > 0 { stream.unit() } else { 0.0 };
    let mut seconds = (slots as f64 - part) * MILLISECOND;
    if stream.unit() < (mean.as_seconds() - MILLISECOND) / (90.0 * MILLISECOND) {
        seconds += stream.poisson(12.0) as f64 * 7.5 * MILLISECOND;
    }
    Span::from_seconds_f64(seconds)
}

/// Packets in transmission or propagation, by arrival at the far end.
#[derive(Debug)]
pub struct Wire {
    /// Propagation delay.
    pub delay: Span,
    noise: Option<NoiseModel>,
    aggregation: Option<Aggregation>,
    packets: Ring<(Time, Packet)>,
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
            aggregation: None,
            reorders,
            packets: Ring::default(),
            latest: Time::ZERO,
            unordered: BinaryHeap::new(),
            pushed: 0,
        }
    }

    /// The same wire before the start, with aggregation if it is given.
    #[must_use]
    pub fn with_aggregation(mut self, aggregation: Option<Aggregation>) -> Self {
        self.aggregation = aggregation;
        self
    }

    /// Changes the noise from now on; `None` for none. Existing streams continue.
    pub fn set_noise(&mut self, noise: Option<NoiseModel>) {
        self.noise = match (noise, self.noise.take()) {
            (Some(new), Some(old)) => Some(NoiseModel { streams: old.streams, ..new }.begun()),
            (new, _) => new,
        };
        self.update_reorders();
    }

    /// Whether every packet has the same delay.
    #[inline]
    #[must_use]
    pub const fn is_plain(&self) -> bool {
        self.noise.is_none() && self.aggregation.is_none()
    }

    /// A packet is completely sent at `sent`.
    #[inline]
    pub fn push(&mut self, sent: Time, packet: Packet) {
        if self.is_plain() {
            self.push_in_order(sent + self.delay, packet);
        } else {
            self.push_changed(sent, packet);
        }
    }

    #[inline(never)]
    fn push_changed(&mut self, sent: Time, packet: Packet) {
        let mut delay = self.delay;
        let mut reorders = false;
        if let Some(noise) = &mut self.noise {
            delay = noise.apply(sent, packet.flow(), delay);
            reorders = noise.noise.reorder;
        }
        let mut arrival = sent + delay;
        if let Some(Aggregation { every, .. }) = self.aggregation {
            arrival = Time(arrival.0.div_ceil(every.0).saturating_mul(every.0));
        }
        if reorders {
            self.pushed += 1;
            self.unordered.add(Reverse((arrival, self.pushed, Overtaking(packet))));
        } else {
            self.push_in_order(arrival, packet);
        }
    }

    /// Whether `packet`, which arrives at `now`, is an acknowledgement that gives way to a later one of its flow.
    #[inline]
    #[must_use]
    pub fn thins_out(&self, now: Time, packet: &Packet) -> bool {
        self.aggregation.is_some_and(|aggregation| aggregation.thin_acks)
            && packet.kind() == Kind::Ack
            && self.has_another(now, packet)
    }

    fn has_another(&self, now: Time, packet: &Packet) -> bool {
        let alike = |other: &Packet| other.kind() == Kind::Ack && other.flow() == packet.flow();
        self.packets.iter().take_while(|(time, _)| *time == now).any(|(_, other)| alike(other))
            || self.unordered.iter().any(|Reverse((time, _, other))| *time == now && alike(&other.0))
    }

    #[inline]
    fn push_in_order(&mut self, arrival: Time, packet: Packet) {
        self.latest = self.latest.max(arrival);
        self.packets.push((self.latest, packet));
    }

    /// A packet is completely sent at `now`, on a wire that is plain and has always been.
    #[inline]
    pub fn push_delayed(&mut self, now: Time, packet: Packet) {
        self.packets.push((now + self.delay, packet));
    }

    /// The same wire, which may get noise or aggregation from now on.
    #[must_use]
    pub fn no_longer_plain(mut self) -> Self {
        self.latest = self.packets.back().map_or(self.latest, |(time, _)| *time);
        self
    }

    /// Whether nothing is under way.
    #[inline]
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        self.packets.is_empty()
    }

    /// Takes back the last packet on such a wire, if its transmission ends after `now`. Returns the end of its
    /// transmission and the packet.
    pub fn take_back(&mut self, now: Time) -> Option<(Time, Packet)> {
        let sent = Time(self.packets.back()?.0.0 - self.delay.0);
        if sent <= now {
            return None;
        }
        self.packets.pop_back().map(|(_, packet)| (sent, packet))
    }

    /// When the next packet arrives on such a wire.
    #[inline]
    #[must_use]
    pub fn next_in_order(&self) -> Time {
        self.packets.front().map_or(Time::NEVER, |(time, _)| *time)
    }

    /// Puts the packet that arrives next on such a wire into `packet`. Returns its heading, if there is one.
    #[inline]
    pub fn deliver(&mut self, packet: &mut Packet) -> Option<Heading> {
        let (_, first) = self.packets.front()?;
        let heading = first.heading();
        *packet = *first;
        self.packets.pop();
        Some(heading)
    }

    /// When the next packet arrives.
    #[inline]
    #[must_use]
    pub fn next(&self) -> Time {
        let in_order = self.packets.front().map_or(Time::NEVER, |(time, _)| *time);
        if self.reorders { in_order.min(self.next_unordered()) } else { in_order }
    }

    /// For each number in `others`, the packet that arrives after that many other packets, among packets that keep
    /// their order.
    #[inline]
    #[must_use]
    pub fn ahead<const N: usize>(&self, others: [u64; N]) -> [Option<&Packet>; N] {
        others.map(|others| self.packets.get(self.packets.first() + others).map(|(_, packet)| packet))
    }

    /// Prefetches the packet that arrives after `others` other packets.
    #[inline]
    pub fn expect(&self, others: u64) {
        if let Some(packet) = self.packets.get(self.packets.first() + others) {
            prefetch(packet);
        }
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
        self.packets.pop().expect("a packet is on the wire").1
    }

    #[inline(never)]
    fn pop_any(&mut self) -> Packet {
        let in_order = self.packets.front().map_or(Time::NEVER, |(time, _)| *time);
        let packet = if self.next_unordered() < in_order {
            self.unordered.pop().map(|Reverse((.., packet))| packet.0)
        } else {
            self.packets.pop().map(|(_, packet)| packet)
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

    /// Arrivals, in milliseconds, of packets sent 1 ms apart over a delay of 50 ms.
    fn arrivals(kind: NoiseKind, reorder: bool) -> Vec<(u64, f64)> {
        arrivals_of(Noise { kind, reorder, hold: None, correlation: 0.0 })
    }

    fn arrivals_of(noise: Noise) -> Vec<(u64, f64)> {
        let noise = NoiseModel::new(noise, 0, 1, Streams { seed: 5, run: 0 });
        arrivals_over(Wire::new(Span::from_millis(50), Some(noise)))
    }

    fn arrivals_over(mut wire: Wire) -> Vec<(u64, f64)> {
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
    /// Noise that is redrawn every 20 ms, over packets 1 ms apart: twenty have one delay. 5000 draws from a uniform
    /// distribution of 10 ms have a mean of 5 ms with a standard error of 10 / sqrt(12 * 5000) = 0.041 ms; five are 0.21 ms.
    #[test]
    fn held_noise_is_one_draw_per_interval() {
        let kind = NoiseKind::Uniform(Span::from_millis(10));
        let mut arrivals =
            arrivals_of(Noise { kind, reorder: true, hold: Some(Span::from_millis(20)), correlation: 0.0 });
        arrivals.sort_by_key(|(sequence, _)| *sequence);
        let extra: Vec<_> = arrivals.iter().map(|(sequence, at)| at - *sequence as f64 - 50.0).collect();
        let alike = |left: f64, right: f64| (left - right).abs() < 1e-6;
        assert!(extra.chunks(20).all(|interval| interval.iter().all(|delay| alike(*delay, interval[0]))));
        let draws: Vec<_> = extra.iter().step_by(20).collect();
        assert!(draws.windows(2).all(|pair| !alike(*pair[0], *pair[1])), "each interval draws anew");
        let mean = draws.iter().copied().sum::<f64>() / draws.len() as f64;
        assert!((mean - 5.0).abs() < 0.21, "{mean}");
    }

    /// Which flows send, and how much, changes nothing: a flow that sends in every seventh interval meets the noise
    /// that another meets there that sends all the time. In order, a packet may still have to wait for those before it.
    #[test]
    fn held_noise_is_that_of_the_interval_whoever_sends() {
        let noise = Noise {
            kind: NoiseKind::Gaussian(Span::from_millis(3)),
            reorder: false,
            hold: Some(Span::from_millis(20)),
            correlation: 0.0,
        };
        let model = || NoiseModel::new(noise.clone(), 0, 2, Streams { seed: 5, run: 0 });
        let (mut busy, mut idle) = (model(), model());
        let delay = Span::from_millis(50);
        for interval in 0..700_u64 {
            let at = |offset| Time::ZERO + Span::from_millis(20 * interval + offset);
            let first = busy.apply(at(0), 0, delay);
            assert_eq!((first, first), (busy.apply(at(9), 1, delay), busy.apply(at(19), 0, delay)));
            if interval % 7 == 0 {
                assert_eq!(idle.apply(at(5), 1, delay), first);
            }
        }
        let arrivals = arrivals_of(noise);
        assert!(arrivals.windows(2).all(|pair| pair[0].0 < pair[1].0), "they keep their order");
    }

    /// Packets 1 ms apart over 50 ms, delivered every 10 ms: packet n, which would be there at 50 + n ms, comes at the next
    /// multiple of 10 ms. With noise they still come at multiples only, and where they may overtake each other, too.
    #[test]
    fn aggregated_packets_arrive_at_multiples_only() {
        let aggregation = Some(Aggregation { every: Span::from_millis(10), thin_acks: false });
        let plain = arrivals_over(Wire::new(Span::from_millis(50), None).with_aggregation(aggregation));
        assert!(plain.iter().all(|(n, at)| (at - n.next_multiple_of(10) as f64 - 50.0).abs() < 1e-6));
        for reorder in [false, true] {
            let noise = Noise {
                kind: NoiseKind::Uniform(Span::from_millis(7)),
                reorder,
                hold: None,
                correlation: 0.0,
            };
            let wire = Wire::new(
                Span::from_millis(50),
                Some(NoiseModel::new(noise, 0, 1, Streams { seed: 5, run: 0 })),
            );
            let arrivals = arrivals_over(wire.with_aggregation(aggregation));
            assert_eq!(arrivals.len(), 100_000);
            assert!(arrivals.iter().all(|(_, at)| ((at / 10.0).round() * 10.0 - at).abs() < 1e-6));
        }
    }

    /// The delays in ms of `count` packets of one flow over 20 ms.
    fn delays(noise: Noise, count: usize) -> Vec<f64> {
        let mut model = NoiseModel::new(noise, 0, 1, Streams { seed: 3, run: 0 });
        (0..count).map(|_| model.apply(Time::ZERO, 0, Span::from_millis(20)).as_millis()).collect()
    }

    /// Of three values 0, a sigma and minus 10 sigma of 5 ms each comes in a third of the cases: 20 ms, 25 ms, and no delay. The
    /// standard deviation of a count of 30 000 is 82.
    #[test]
    fn a_table_of_netem_has_its_values() {
        let kind = NoiseKind::Table(Span::from_millis(5), vec![0, 8192, -81_920].into());
        let delays = delays(Noise { kind, reorder: true, hold: None, correlation: 0.0 }, 30_000);
        for value in [20.0, 25.0, 0.0] {
            let count = delays.iter().filter(|delay| **delay == value).count();
            assert!(count.abs_diff(10_000) < 330, "{value}: {count}");
        }
    }

    /// u' = (1 - r) v + r u with v uniform on [0, 1) has mean 1/2, variance (1 - r)/(1 + r)/12 and correlation r from one to
    /// the next. With r = 1/2 and a range of 12 ms: 26 ms, 12/6 = 2 ms. In 100 000 draws the mean is exact to 0.01 ms, the
    /// others to a hundredth.
    #[test]
    fn correlated_noise_is_as_netem_has_it() {
        let kind = NoiseKind::Uniform(Span::from_millis(12));
        let delays = delays(Noise { kind, reorder: true, hold: None, correlation: 0.5 }, 100_000);
        let count = delays.len() as f64;
        let mean = delays.iter().sum::<f64>() / count;
        let variance = delays.iter().map(|delay| (delay - mean).powi(2)).sum::<f64>() / count;
        let lagged = delays.windows(2).map(|two| (two[0] - mean) * (two[1] - mean)).sum::<f64>() / count;
        assert!((mean - 26.0).abs() < 0.05, "{mean}");
        assert!((variance.sqrt() / 2.0 - 1.0).abs() < 0.02, "{variance}");
        assert!((lagged / variance - 0.5).abs() < 0.02, "{lagged} of {variance}");
    }
}
