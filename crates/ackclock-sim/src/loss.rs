//! Random losses at a link, before its queue.

use ackclock_scenario::Loss;

use crate::random::{Purpose, Stream, Streams};

/// A loss model with its state for each flow.
#[derive(Clone, Debug)]
pub struct LossModel {
    loss: Loss,
    /// One stream per flow: the n-th packet of a flow meets the same fate whatever the others do. They continue when
    /// the model changes. Empty while nothing is random.
    streams: Vec<Stream>,
    /// Per flow: packets since the last loss, position in the trace, or whether the state is bad.
    counts: Vec<u64>,
    origin: Origin,
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
        origin: Origin { link: 0, flows: 0, streams: Streams { seed: 0, run: 0 } },
    };

    /// The model of `loss` at link `link` for `flows` flows, with streams of `streams`.
    #[must_use]
    pub fn new(loss: Loss, link: u32, flows: u32, streams: Streams) -> Self {
        let mut model = LossModel { origin: Origin { link, flows, streams }, ..LossModel::NONE };
        model.change(loss);
        model
    }

    /// From now on packets are lost as `loss` says.
    pub fn change(&mut self, loss: Loss) {
        let Origin { link, flows, streams } = self.origin;
        let random = matches!(loss, Loss::Bernoulli { .. } | Loss::GilbertElliott { .. });
        if random && self.streams.is_empty() {
            self.streams = (0..flows).map(|flow| streams.of(Purpose::Loss, link, flow)).collect();
        }
        let same = std::mem::discriminant(&loss) == std::mem::discriminant(&self.loss);
        if !same && loss != Loss::None || matches!(loss, Loss::Trace { .. }) {
            self.counts = vec![0; flows as usize];
        }
        self.loss = loss;
    }

    /// Whether the next packet of `flow` is lost.
    #[inline]
    pub fn loses(&mut self, flow: u32) -> bool {
        !matches!(self.loss, Loss::None) && self.decides(flow)
    }

    fn decides(&mut self, flow: u32) -> bool {
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
            Loss::Trace { lost } => {
                let position = self.counts[flow];
                self.counts[flow] = (position + 1) % lost.len() as u64;
                lost[position as usize]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periodic_loses_every_nth_of_each_flow() {
        let mut model = LossModel::new(Loss::Periodic { every: 3 }, 0, 2, Streams { seed: 1, run: 0 });
        let fates: Vec<_> = (0..6).map(|_| model.loses(0)).collect();
        assert_eq!(fates, [false, false, true, false, false, true]);
        assert!(!model.loses(1), "another flow has its own count");
    }

    /// 10^6 draws at 1 %: the standard deviation of the count is sqrt(1e6 * 0.01 * 0.99) = 99.5.
    #[test]
    fn bernoulli_loses_its_share() {
        let mut model =
            LossModel::new(Loss::Bernoulli { probability: 0.01 }, 0, 1, Streams { seed: 7, run: 0 });
        let lost = (0..1_000_000).filter(|_| model.loses(0)).count();
        assert!(lost.abs_diff(10_000) < 5 * 100, "{lost}");
    }

    /// Over and over: 0 1 1 is lost, kept, kept... for each flow by itself; a change of model begins the new one.
    #[test]
    fn a_trace_is_followed_by_each_flow() {
        let lost = vec![true, false, false].into();
        let mut model = LossModel::new(Loss::Trace { lost }, 0, 2, Streams { seed: 1, run: 0 });
        let fates: Vec<_> = (0..5).map(|_| model.loses(1)).collect();
        assert_eq!(fates, [true, false, false, true, false]);
        assert!(model.loses(0));
        model.change(Loss::None);
        assert!(!model.loses(1));
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
            let now = model.loses(0);
            lost += u32::from(now);
            runs += u32::from(now && !last);
            last = now;
        }
        assert!((f64::from(lost) / 38_462.0 - 1.0).abs() < 0.05, "{lost}");
        assert!((f64::from(lost) / f64::from(runs) / 4.0 - 1.0).abs() < 0.03, "{lost} in {runs} runs");
    }
}
