//! Random losses at a link, before its queue.

use ackclock_scenario::Loss;
use ackclock_units::{Span, Time};

use crate::random::{Purpose, Stream, Streams};

/// A loss model with its state for each flow.
#[derive(Clone, Debug)]
pub struct LossModel {
    loss: Loss,
    /// One stream per flow, so the fate of a flow's n-th packet does not depend on other flows. The streams continue
    /// when the model changes. Empty while nothing is random.
    streams: Vec<Stream>,
    /// Per flow: packets since the last loss, position in the trace, or whether the state is bad.
    counts: Vec<u64>,
    /// The state of the link, if it changes in time.
    state: Option<Box<State>>,
    origin: Origin,
}

/// A state that changes in time, whoever sends.
#[derive(Clone, Debug)]
struct State {
    stream: Stream,
    is_bad: bool,
    /// When it changes; of bursts, the index of the next one.
    until: Time,
    burst: usize,
}

/// The link and run that a model belongs to, for the names of its streams.
#[derive(Clone, Copy, Debug)]
struct Origin {
    link: u32,
    flows: u32,
    streams: Streams,
}

impl LossModel {
    /// Nothing is lost.
    pub const NONE: LossModel = LossModel {
        loss: Loss::None,
        streams: Vec::new(),
        counts: Vec::new(),
        state: None,
        origin: Origin { link: 0, flows: 0, streams: Streams { seed: 0, run: 0 } },
    };

    /// The model of `loss` at link `link` for `flows` flows, with streams of `streams`.
    #[must_use]
    pub fn new(loss: Loss, link: u32, flows: u32, streams: Streams) -> Self {
        let mut model = LossModel { origin: Origin { link, flows, streams }, ..LossModel::NONE };
        model.change(Time::ZERO, loss);
        model
    }

    /// From `now` on packets are lost as `loss` says.
    pub fn change(&mut self, now: Time, loss: Loss) {
        let Origin { link, flows, streams } = self.origin;
        let random = matches!(
            loss,
            Loss::Bernoulli { .. } | Loss::GilbertElliott { .. } | Loss::GilbertElliottInTime { .. }
        );
        if random && self.streams.is_empty() {
            self.streams = (0..flows).map(|flow| streams.of(Purpose::Loss, link, flow)).collect();
        }
        let same = std::mem::discriminant(&loss) == std::mem::discriminant(&self.loss);
        if !same && loss != Loss::None || matches!(loss, Loss::Trace { .. }) {
            self.counts = vec![0; flows as usize];
        }
        self.state = match loss {
            Loss::GilbertElliottInTime { good, bad, .. } => {
                let mut stream = streams.numbered(Purpose::LossState, link, now.0);
                // The initial state is drawn from the stationary distribution.
                let is_bad = stream.unit() < bad.as_seconds() / (good.as_seconds() + bad.as_seconds());
                let until = now + time_in(&mut stream, if is_bad { bad } else { good });
                Some(Box::new(State { stream, is_bad, until, burst: 0 }))
            }
            Loss::Bursts { .. } => {
                let stream = streams.numbered(Purpose::LossState, link, now.0);
                Some(Box::new(State { stream, is_bad: false, until: Time::ZERO, burst: 0 }))
            }
            _ => None,
        };
        self.loss = loss;
    }

    /// Whether nothing is lost.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        matches!(self.loss, Loss::None)
    }

    /// Whether the next packet of `flow`, which arrives at `now`, is lost.
    #[inline]
    pub fn loses(&mut self, now: Time, flow: u32) -> bool {
        !matches!(self.loss, Loss::None) && self.decides(now, flow)
    }

    fn decides(&mut self, now: Time, flow: u32) -> bool {
        let flow = flow as usize;
        match &self.loss {
            Loss::None => false,
            Loss::Periodic { every } => {
                self.counts[flow] += 1;
                let lost = self.counts[flow] >= *every;
                if lost {
                    self.counts[flow] = 0;
                }
                lost
            }
            Loss::Bernoulli { probability } => self.streams[flow].unit() < *probability,
            Loss::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => {
                let bad = self.counts[flow] == 1;
                let (leaves, loses) = if bad { (*to_good, *loss_bad) } else { (*to_bad, *loss_good) };
                let stream = &mut self.streams[flow];
                let lost = stream.unit() < loses;
                if stream.unit() < leaves {
                    self.counts[flow] = u64::from(!bad);
                }
                lost
            }
            Loss::GilbertElliottInTime { good, bad, loss_good, loss_bad } => {
                let state = self.state.as_mut().expect("a state that changes in time");
                while state.until <= now {
                    state.is_bad = !state.is_bad;
                    let mean = if state.is_bad { *bad } else { *good };
                    state.until += time_in(&mut state.stream, mean);
                }
                self.streams[flow].unit() < if state.is_bad { *loss_bad } else { *loss_good }
            }
            Loss::Bursts { intervals } => {
                let state = self.state.as_mut().expect("a state that changes in time");
                let is_over = |(_, until): &(Span, Span)| Time::ZERO + *until <= now;
                while intervals.get(state.burst).is_some_and(is_over) {
                    state.burst += 1;
                }
                intervals.get(state.burst).is_some_and(|(from, _)| Time::ZERO + *from <= now)
            }
            Loss::Trace { lost } => {
                let position = self.counts[flow];
                self.counts[flow] = (position + 1) % lost.len() as u64;
                lost[position as usize]
            }
        }
    }
}

/// An exponential time with this mean, and at least the shortest there is, so that time passes.
fn time_in(stream: &mut Stream, mean: Span) -> Span {
    Span((stream.exponential() * mean.0 as f64) as u64).max(Span(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periodic_loses_every_nth_of_each_flow() {
        let mut model = LossModel::new(Loss::Periodic { every: 3 }, 0, 2, Streams { seed: 1, run: 0 });
        let fates: Vec<_> = (0..6).map(|_| model.loses(Time::ZERO, 0)).collect();
        assert_eq!(fates, [false, false, true, false, false, true]);
        assert!(!model.loses(Time::ZERO, 1), "another flow has its own count");
    }

    /// 10^6 draws at 1 %: the standard deviation of the count is sqrt(1e6 * 0.01 * 0.99) = 99.5.
    #[test]
    fn bernoulli_loses_its_share() {
        let mut model =
            LossModel::new(Loss::Bernoulli { probability: 0.01 }, 0, 1, Streams { seed: 7, run: 0 });
        let lost = (0..1_000_000).filter(|_| model.loses(Time::ZERO, 0)).count();
        assert!(lost.abs_diff(10_000) < 5 * 100, "{lost}");
    }

    /// Over and over: 0 1 1 is lost, kept, kept... for each flow by itself; a change of model begins the new one.
    #[test]
    fn a_trace_is_followed_by_each_flow() {
        let lost = vec![true, false, false].into();
        let mut model = LossModel::new(Loss::Trace { lost }, 0, 2, Streams { seed: 1, run: 0 });
        let fates: Vec<_> = (0..5).map(|_| model.loses(Time::ZERO, 1)).collect();
        assert_eq!(fates, [true, false, false, true, false]);
        assert!(model.loses(Time::ZERO, 0));
        model.change(Time::ZERO, Loss::None);
        assert!(!model.loses(Time::ZERO, 1));
    }

    /// From good to bad 1 in 100 and back 1 in 4, losing everything in the bad state: bad for 0.01/(0.01 + 0.25) =
    /// 3.85 % of packets, in runs of 4 packets on average. Of a million packets 38 462 are lost, in about 9615 runs: 3 %
    /// are at least three standard deviations of either.
    #[test]
    fn gilbert_elliott_loses_in_runs() {
        let loss = Loss::GilbertElliott { to_bad: 0.01, to_good: 0.25, loss_good: 0.0, loss_bad: 1.0 };
        let mut model = LossModel::new(loss, 0, 1, Streams { seed: 7, run: 0 });
        let (mut lost, mut runs, mut last) = (0, 0, false);
        for _ in 0..1_000_000 {
            let now = model.loses(Time::ZERO, 0);
            lost += u32::from(now);
            runs += u32::from(now && !last);
            last = now;
        }
        assert!((f64::from(lost) / 38_462.0 - 1.0).abs() < 0.05, "{lost}");
        assert!((f64::from(lost) / f64::from(runs) / 4.0 - 1.0).abs() < 0.03, "{lost} in {runs} runs");
    }

    /// Good for 635.4 ms and bad for 16.7 ms on average, losing everything while bad: bad for 16.7/652.1 = 2.56 % of the time.
    /// A packet every millisecond of 2000 s: about 3067 bursts, whose number and mean length (of exponential times) both have a
    /// standard deviation of 1.8 %, and the share of about 2.6 %: 8 % are three of them. That an idle flow meets the state of
    /// the link, too, is seen at its only packet.
    #[test]
    fn gilbert_elliott_in_time_does_not_count_packets() {
        let (good, bad) = (Span::from_micros(635_400), Span::from_micros(16_700));
        let loss = Loss::GilbertElliottInTime { good, bad, loss_good: 0.0, loss_bad: 1.0 };
        let new = || LossModel::new(loss.clone(), 0, 2, Streams { seed: 7, run: 0 });
        let mut model = new();
        let at = |ms: u64| Time::ZERO + Span::from_millis(ms);
        let fates: Vec<bool> = (0..2_000_000).map(|ms| model.loses(at(ms), 0)).collect();
        let lost = fates.iter().filter(|lost| **lost).count() as f64;
        let bursts = fates.windows(2).filter(|two| two[1] && !two[0]).count() as f64;
        assert!((lost / 2e6 / 0.0256 - 1.0).abs() < 0.08, "{lost}");
        // Bursts between two packets are not seen: exp(-1/16.7) of them are as long as a millisecond, and of those that are
        // shorter some meet a packet. Seen are (1 - exp(-1/16.7)) * 16.7 = 97 % of all.
        assert!((bursts / 3067.0 / 0.97 - 1.0).abs() < 0.08, "{bursts}");
        for ms in (0..2_000_000).step_by(100_003) {
            assert_eq!(new().loses(at(ms), 1), fates[ms as usize], "{ms}");
        }
    }

    #[test]
    fn bursts_lose_all_that_arrives_in_them() {
        let at = |ms: u64| Time::ZERO + Span::from_millis(ms);
        let span = Span::from_millis;
        let intervals = vec![(span(2), span(4)), (span(4), span(5)), (span(8), span(9))].into();
        let mut model = LossModel::new(Loss::Bursts { intervals }, 0, 1, Streams { seed: 7, run: 0 });
        let fates: Vec<_> = (0..11).filter(|ms| model.loses(at(*ms), 0)).collect();
        assert_eq!(fates, [2, 3, 4, 8]);
    }
}
