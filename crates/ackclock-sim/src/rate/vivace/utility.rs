//! Vivace's utility of a monitor interval, and the steps that follow from it.

ackclock_cc::parameters! {
    /// Parameters of Vivace.
    pub struct VivaceParams {
        /// weight of the slope of the RTT (b)
        latency_weight: f64 = 900.0, Domain::Number { minimum: 0.0, maximum: 1e6 };
        /// weight of losses (c)
        loss_weight: f64 = 11.35, Domain::Number { minimum: 0.0, maximum: 1e6 };
        /// initial rate, Mbit/s
        initial_mbps: f64 = 1.0, Domain::Number { minimum: 0.5, maximum: 1e4 };
    }
}

/// Exponent of the rate in the utility.
const EXPONENT: f64 = 0.9;
/// Largest step as a share of the rate, and the exponent of its acceleration.
const BOUND: f64 = 0.05;
const ACCELERATION: f64 = 1.2;
/// Least rate and least step, Mbit/s.
pub const LEAST: f64 = 0.5;

impl VivaceParams {
    /// The utility of a rate of `x` Mbit/s at a slope of the RTT in seconds per second and a share of losses.
    #[must_use]
    pub fn utility(&self, x: f64, slope: f64, loss: f64) -> f64 {
        libm::pow(x, EXPONENT) - self.latency_weight * x * slope.max(0.0) - self.loss_weight * x * loss
    }
}

/// The step from a rate of `x` Mbit/s, Mbit/s, and whether it is bounded: at a gradient, after `same` steps the same way,
/// of which the last `bounded` in turn were bounded.
#[must_use]
pub fn step(gradient: f64, x: f64, same: u32, bounded: u32) -> (f64, bool) {
    let wanted = gradient.abs() * libm::pow(f64::from(same + 1) / 2.0, ACCELERATION);
    let most = BOUND * x * f64::from(1 + bounded);
    (wanted.min(most).max(LEAST), wanted > most)
}

/// A line through points, by sums over them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Regression {
    count: f64,
    mean: (f64, f64),
    /// Sums of squares and products of the distances from the means: tt, tr, rr.
    sums: (f64, f64, f64),
}

impl Regression {
    /// Takes a point.
    pub fn add(&mut self, t: f64, r: f64) {
        self.count += 1.0;
        let (dt, dr) = (t - self.mean.0, r - self.mean.1);
        self.mean = (self.mean.0 + dt / self.count, self.mean.1 + dr / self.count);
        let (after_t, after_r) = (t - self.mean.0, r - self.mean.1);
        self.sums = (self.sums.0 + dt * after_t, self.sums.1 + dt * after_r, self.sums.2 + dr * after_r);
    }

    /// The slope by least squares; 0 where its standard error is not smaller, or unknown.
    #[must_use]
    pub fn slope(&self) -> f64 {
        let (tt, tr, rr) = self.sums;
        if self.count < 3.0 || tt <= 0.0 {
            return 0.0;
        }
        let slope = tr / tt;
        let error = libm::sqrt((rr - slope * tr).max(0.0) / (self.count - 2.0) / tt);
        if error < slope.abs() { slope } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} is not {b}");
    }

    /// 50^0.9 = 33.812; 1 % lost costs 11.35 * 50 * 0.01 = 5.675, and 10 ms more per second 900 * 50 * 0.01 = 450. A falling
    /// RTT is not a gain.
    #[test]
    fn utilities() {
        let params = VivaceParams::default();
        near(params.utility(50.0, 0.0, 0.0), 33.81, 0.005);
        near(params.utility(50.0, 0.0, 0.01), 28.137, 0.005);
        near(params.utility(50.0, 0.01, 0.0), -416.2, 0.05);
        assert_eq!(params.utility(50.0, -0.01, 0.0), params.utility(50.0, 0.0, 0.0));
    }

    /// The utility rises with the rate while L < 0.9/(11.35 x^0.1): up to 5.36 % at 50 Mbit/s, 5.0 % at 100.
    #[test]
    fn loss_that_is_worth_it() {
        let rises = |x: f64, loss| {
            let params = VivaceParams::default();
            params.utility(x * 1.000_001, 0.0, loss) > params.utility(x, 0.0, loss)
        };
        assert!(rises(50.0, 0.0535) && !rises(50.0, 0.0537));
        assert!(rises(100.0, 0.0499) && !rises(100.0, 0.0501));
    }

    /// A gradient of 2 at 100 Mbit/s: 2 * (1/2)^1.2 = 0.871 at first, 2 after one step the same way, 2 * 2^1.2 = 4.595 after
    /// three. A gradient of 100 is bounded by 5 Mbit/s, after two bounded steps by 15. Never less than 0.5.
    #[test]
    fn steps() {
        near(step(2.0, 100.0, 0, 0).0, 0.871, 0.001);
        near(step(-2.0, 100.0, 1, 0).0, 2.0, 1e-12);
        near(step(2.0, 100.0, 3, 0).0, 4.595, 0.001);
        assert_eq!(step(100.0, 100.0, 0, 0), (5.0, true));
        assert_eq!(step(100.0, 100.0, 1, 2), (15.0, true));
        assert_eq!(step(0.01, 100.0, 0, 0), (0.5, false));
    }

    /// Points on a line give its slope. (0, 0), (1, 1), (2, 0): tt = 2, tr = 0. With (3, 1): slope 0.2 of tt 5, tr 1, rr 1,
    /// residuals 0.8, error sqrt(0.8/2/5) = 0.283, which is more: 0. Two points say nothing.
    #[test]
    fn slopes() {
        let line = |points: &[(f64, f64)]| {
            let mut line = Regression::default();
            points.iter().for_each(|(t, r)| line.add(*t, *r));
            line.slope()
        };
        near(line(&[(1.0, 0.1), (2.0, 0.3), (4.0, 0.7)]), 0.2, 1e-12);
        assert_eq!(line(&[(0.0, 0.0), (1.0, 1.0), (2.0, 0.0)]), 0.0);
        assert_eq!(line(&[(0.0, 0.0), (1.0, 1.0), (2.0, 0.0), (3.0, 1.0)]), 0.0);
        assert_eq!(line(&[(0.0, 0.0), (1.0, 1.0)]), 0.0);
    }
}
