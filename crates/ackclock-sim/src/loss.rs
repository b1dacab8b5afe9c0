//! Random losses at a link, before its queue.

use ackclock_scenario::Loss;

use crate::random::{Purpose, Stream};

/// A loss model with its state for each flow.
#[derive(Clone, Debug)]
pub enum LossModel {
    /// Nothing is lost.
    None,
    /// Every n-th packet of a flow is lost.
    Periodic {
        /// n.
        every: u64,
        /// Packets of each flow since its last loss.
        arrived: Vec<u64>,
    },
    /// Each packet is lost with the same probability.
    Bernoulli {
        /// The probability.
        probability: f64,
        /// One stream per flow: the n-th packet of a flow meets the same fate whatever the others do.
        streams: Vec<Stream>,
    },
}

impl LossModel {
    /// The model of `loss` at link `link` for `flows` flows, in run `run` of `seed`.
    #[must_use]
    pub fn new(loss: Loss, link: u32, flows: u32, seed: u64, run: u64) -> Self {
        match loss {
            Loss::None => LossModel::None,
            Loss::Periodic { every } => LossModel::Periodic { every, arrived: vec![0; flows as usize] },
            Loss::Bernoulli { probability } => LossModel::Bernoulli {
                probability,
                streams: (0..flows).map(|flow| Stream::new(seed, run, Purpose::Loss, link, flow)).collect(),
            },
        }
    }

    /// Whether the next packet of `flow` is lost.
    #[inline]
    pub fn loses(&mut self, flow: u32) -> bool {
        match self {
            LossModel::None => false,
            LossModel::Periodic { every, arrived } => {
                let arrived = &mut arrived[flow as usize];
                *arrived += 1;
                let lost = *arrived >= *every;
                if lost {
                    *arrived = 0;
                }
                lost
            }
            LossModel::Bernoulli { probability, streams } => streams[flow as usize].unit() < *probability,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periodic_loses_every_nth_of_each_flow() {
        let mut model = LossModel::new(Loss::Periodic { every: 3 }, 0, 2, 1, 0);
        let fates: Vec<_> = (0..6).map(|_| model.loses(0)).collect();
        assert_eq!(fates, [false, false, true, false, false, true]);
        assert!(!model.loses(1), "another flow has its own count");
    }

    /// 10^6 draws at 1 %: the standard deviation of the count is sqrt(1e6 * 0.01 * 0.99) = 99.5.
    #[test]
    fn bernoulli_loses_its_share() {
        let mut model = LossModel::new(Loss::Bernoulli { probability: 0.01 }, 0, 1, 7, 0);
        let lost = (0..1_000_000).filter(|_| model.loses(0)).count();
        assert!(lost.abs_diff(10_000) < 5 * 100, "{lost}");
    }
}
