//! The average of loss intervals (RFC 5348, sections 5.4 and 5.5).

use std::collections::VecDeque;

/// Weights of loss intervals, the newest first (section 5.4).
pub const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];
/// The mean of loss intervals: the current one counts only if that makes the mean larger (section 5.4), and while it
/// is more than twice the mean the others are discounted (section 5.5).
#[derive(Clone, Debug, Default)]
pub struct Intervals {
    /// Complete intervals, packets, with their discounts; the newest first.
    pub(super) complete: VecDeque<(f64, f64)>,
}

impl Intervals {
    /// None yet.
    #[must_use]
    pub const fn new() -> Self {
        Intervals { complete: VecDeque::new() }
    }

    /// The current interval of `length` packets is complete; `discount` was in force.
    pub fn push(&mut self, length: f64, discount: f64) {
        self.complete.iter_mut().for_each(|(_, factor)| *factor *= discount);
        self.complete.push_front((length, 1.0));
        self.complete.truncate(WEIGHTS.len());
    }

    fn mean_of<'a>(intervals: impl Iterator<Item = &'a (f64, f64)>) -> f64 {
        let (mut total, mut weights) = (0.0, 0.0);
        for ((length, factor), weight) in intervals.zip(WEIGHTS) {
            total += length * weight * factor;
            weights += weight * factor;
        }
        if weights > 0.0 { total / weights } else { 0.0 }
    }

    /// The discount that a current interval of `length` packets puts on the others.
    #[must_use]
    pub fn discount(&self, length: f64, floor: f64) -> f64 {
        let mean = Self::mean_of(self.complete.iter());
        if length > 2.0 * mean && mean > 0.0 { (2.0 * mean / length).max(floor) } else { 1.0 }
    }

    /// The mean with a current interval of `length` packets; 0 when there is none.
    #[must_use]
    pub fn mean(&self, length: f64, discount: f64) -> f64 {
        let current = [(length, 1.0)];
        let discounted: Vec<_> =
            self.complete.iter().map(|(length, factor)| (*length, factor * discount)).collect();
        let with = Self::mean_of(current.iter().chain(&discounted));
        with.max(Self::mean_of(self.complete.iter()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Intervals of 100 packets, eight of them: 100 whatever the weights. A current one of 200 packets: (200 + 100 (1
    /// + 1 + 1 + 0.8 + 0.6 + 0.4 + 0.2))/6 = 116.7. A current one of 50 would lower the mean and does not count.
    #[test]
    fn the_mean_of_intervals() {
        let mut intervals = Intervals::default();
        (0..8).for_each(|_| intervals.push(100.0, 1.0));
        assert_eq!(intervals.mean(50.0, 1.0), 100.0);
        assert!((intervals.mean(200.0, 1.0) - 700.0 / 6.0).abs() < 1e-9);
        // A new interval of 10: weight 1, the rest 100 with 5/6 of the weights: 85.
        intervals.push(10.0, 1.0);
        assert!((intervals.mean(0.0, 1.0) - 85.0).abs() < 1e-9);
    }

    /// A current interval of 400 packets is four times the mean of 100: the others count half, so that it has 1 of 1
    /// + 5/2: (400 + 250)/3.5 = 185.7. At 1000 packets the floor of 0.5 holds.
    #[test]
    fn old_intervals_are_discounted() {
        let mut intervals = Intervals::default();
        (0..8).for_each(|_| intervals.push(100.0, 1.0));
        assert_eq!(intervals.discount(150.0, 0.5), 1.0);
        assert_eq!(intervals.discount(400.0, 0.0), 0.5);
        assert_eq!(intervals.discount(1000.0, 0.5), 0.5);
        assert!((intervals.mean(400.0, 0.5) - 650.0 / 3.5).abs() < 1e-9);
        // A loss now keeps the discount: 400 with weight 1, then 100 seven times with half of 1, 1, 1, 0.8, 0.6, 0.4,
        // 0.2.
        intervals.push(400.0, 0.5);
        assert!((intervals.mean(0.0, 1.0) - (400.0 + 250.0) / 3.5).abs() < 1e-9);
    }
    /// ns-2 of 2000 has nine weights, 1, 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2, and a current interval begins at the second
    /// of them, as does the newest complete one when the current one is left out. Complete intervals of 10, 20, ...,
    /// 80: without the current one (10 + 20 + 30 + 40 + 0.8 50 + 0.6 60 + 0.4 70 + 0.2 80)/6 = 220/6. One of 100:
    /// (100 + 10 + 20 + 30 + 0.8 40 + 0.6 50 + 0.4 60 + 0.2 70)/6 = 260/6.
    #[test]
    fn nine_weights_shifted_by_one_are_eight() {
        let mut intervals = Intervals::default();
        (1..=8).rev().for_each(|tens| intervals.push(10.0 * f64::from(tens), 1.0));
        assert!((intervals.mean(10.0, 1.0) - 220.0 / 6.0).abs() < 1e-9);
        assert!((intervals.mean(100.0, 1.0) - 260.0 / 6.0).abs() < 1e-9);
    }
}
