//! Random streams: one per purpose, so that the draws of one component never shift those of another.

use ackclock_units::Span;
use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

/// The purpose of a stream.
#[derive(Clone, Copy, Debug)]
pub enum Purpose {
    /// Losses at a link (first index) of the packets of a flow (second index).
    Loss,
    /// The delay before each send of a flow.
    Overhead,
    /// The start of a flow.
    Start,
    /// Drops of a queue.
    Queue,
    /// Delay noise of a link (first index) for a flow (second index).
    Noise,
    /// Noise of the RTT measurement of a flow.
    Measurement,
    /// The behaviour of the application of a flow.
    Application,
    /// The phase of the clock of a flow's sender within a tick at the start.
    Clock,
    /// Delay noise of a link (first index) that is held for an interval (a number).
    HeldNoise,
    /// The end of a flow.
    Stop,
    /// The seed that the control of a flow hashes.
    Control,
    /// The arrivals of flows, by their table.
    Arrivals,
    /// The value of an event that is random (first index), each time that it happens (a number).
    Event,
    /// Delay noise that meets a flow alone (second index), there or back (first index).
    FlowNoise,
    /// The same, held for an interval (a number), by flow and direction (first index).
    HeldFlowNoise,
    /// The state of a lossy link (first index), from a time in picoseconds on (a number).
    LossState,
}

/// The streams of a run: its number, and the seed of the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Streams {
    /// The seed.
    pub seed: u64,
    /// The number of the run among those of the seed.
    pub run: u64,
}

impl Streams {
    /// The stream for `purpose` at the given component.
    #[must_use]
    pub fn of(self, purpose: Purpose, component: u32, flow: u32) -> Stream {
        let component_and_flow = u64::from(component) << 32 | u64::from(flow);
        Stream::mixed(self.seed, &[self.run, purpose as u64, component_and_flow])
    }

    /// The `number`-th of many streams for `purpose` at the given component.
    #[must_use]
    pub fn numbered(self, purpose: Purpose, component: u32, number: u64) -> Stream {
        Stream::mixed(self.seed, &[self.run, purpose as u64, u64::from(component), number])
    }
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream(Pcg32);

impl Stream {
    fn mixed(seed: u64, parts: &[u64]) -> Self {
        let state = parts.iter().fold(mix(seed), |state, part| mix(state ^ mix(*part)));
        Stream(Pcg32::new(state, mix(state)))
    }

    /// A number from 0 up to, not including, 1, on a grid of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A whole number above 0 of 64 bits.
    pub fn number(&mut self) -> u64 {
        self.0.next_u64().max(1)
    }

    /// A number that is exponential with mean 1: the inverse transform.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.unit())
    }

    /// A number that is Pareto with this shape, above 1, and mean 1: the inverse transform.
    pub fn pareto(&mut self, shape: f64) -> f64 {
        (shape - 1.0) / shape * libm::pow(1.0 - self.unit(), -1.0 / shape)
    }

    /// A whole number from 1 that is geometric with this mean, at least 1: the inverse transform.
    pub fn geometric(&mut self, mean: f64) -> u64 {
        if mean <= 1.0 {
            return 1;
        }
        1 + (libm::log(1.0 - self.unit()) / libm::log(1.0 - 1.0 / mean)) as u64
    }

    /// A number of events that come at exponential times, in `mean` of their mean times: Poisson.
    pub fn poisson(&mut self, mean: f64) -> u64 {
        let mut left = mean - self.exponential();
        let mut count = 0;
        while left > 0.0 {
            left -= self.exponential();
            count += 1;
        }
        count
    }

    /// A Gaussian number with mean 0 and standard deviation 1: the inverse transform, by P. Acklam's rational
    /// approximation (relative error below 1.2e-9).
    pub fn gaussian(&mut self) -> f64 {
        // The middle of the grid's cell: never 0 or 1.
        inverse_normal(self.unit() + 0.5 / (1_u64 << 53) as f64)
    }

    /// A span from zero up to, not including, `end` (zero when that is zero).
    #[inline]
    pub fn span(&mut self, end: Span) -> Span {
        Span(((u128::from(self.0.next_u64()) * u128::from(end.0)) >> 64) as u64)
    }
}

/// Coefficients of the approximation: the central region, then the tails.
const CENTRAL: ([f64; 6], [f64; 6]) = (
    [
        -3.969_683_028_665_376e1,
        2.209_460_984_245_205e2,
        -2.759_285_104_469_687e2,
        1.383_577_518_672_69e2,
        -3.066_479_806_614_716e1,
        2.506_628_277_459_239,
    ],
    [
        -5.447_609_879_822_406e1,
        1.615_858_368_580_409e2,
        -1.556_989_798_598_866e2,
        6.680_131_188_771_972e1,
        -1.328_068_155_288_572e1,
        1.0,
    ],
);
const TAILS: ([f64; 6], [f64; 5]) = (
    [
        -7.784_894_002_430_293e-3,
        -3.223_964_580_411_365e-1,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ],
    [7.784_695_709_041_462e-3, 3.224_671_290_700_398e-1, 2.445_134_137_142_996, 3.754_408_661_907_416, 1.0],
);
/// The beginning of the tails.
const TAIL: f64 = 0.024_25;

fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

/// The number below which a Gaussian number lies with probability `p`.
fn inverse_normal(p: f64) -> f64 {
    let tail = |p: f64| {
        let q = libm::sqrt(-2.0 * libm::log(p));
        polynomial(&TAILS.0, q) / polynomial(&TAILS.1, q)
    };
    if p < TAIL {
        return tail(p);
    }
    if p > 1.0 - TAIL {
        return -tail(1.0 - p);
    }
    let q = p - 0.5;
    polynomial(&CENTRAL.0, q * q) * q / polynomial(&CENTRAL.1, q * q)
}

/// Spreads every bit of `x` over the whole word (the finaliser of SplitMix64: Steele, Lea, Flood 2014).
pub const fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first output of SplitMix64 from state 0, published with the generator.
    #[test]
    fn mix_is_splitmix64() {
        assert_eq!(mix(0), 0xE220_A839_7B1D_CDAF);
    }

    #[test]
    fn streams_differ_in_every_part_of_their_name() {
        let first = |seed, run, purpose, component, flow| {
            Streams { seed, run }.of(purpose, component, flow).0.next_u64()
        };
        let base = first(1, 0, Purpose::Loss, 0, 0);
        assert_ne!(base, first(2, 0, Purpose::Loss, 0, 0));
        assert_ne!(base, first(1, 1, Purpose::Loss, 0, 0));
        assert_ne!(base, first(1, 0, Purpose::Overhead, 0, 0));
        assert_ne!(base, first(1, 0, Purpose::Loss, 1, 0));
        assert_ne!(base, first(1, 0, Purpose::Loss, 0, 1));
    }

    /// Quantiles of the normal distribution from tables: 0.5, 0.841344746 (one deviation), 0.975, 0.001.
    #[test]
    fn gaussian_quantiles() {
        let table = [
            (0.5, 0.0),
            (0.841_344_746, 1.0),
            (0.975, 1.959_963_985),
            (0.001, -3.090_232_306),
            (0.9999, 3.719_016_485),
        ];
        for (p, x) in table {
            assert!((inverse_normal(p) - x).abs() < 1e-8, "{p}: {}", inverse_normal(p));
        }
    }

    /// A million draws each: means within five standard errors, and the share beyond some points as the distribution
    /// has it. Exponential: e^-2 beyond 2. Pareto, shape 2.5: mean 1, lower end 0.6, (0.6/x)^2.5 beyond x, variance
    /// 0.8 (infinite fourth moment: a tenth is allowed for the mean's error). Geometric with mean 4: 3/4 beyond 1.
    #[test]
    fn draws_have_their_means_and_tails() {
        let mut stream = Streams { seed: 3, run: 0 }.of(Purpose::Application, 0, 0);
        let n = 1_000_000;
        let mut draw = |next: &mut dyn FnMut(&mut Stream) -> f64, point: f64| {
            let (mut sum, mut beyond) = (0.0, 0.0);
            for _ in 0..n {
                let x = next(&mut stream);
                sum += x;
                beyond += f64::from(u8::from(x > point));
            }
            (sum / f64::from(n), beyond / f64::from(n))
        };
        let near = |(mean, share): (f64, f64), mean_is: f64, share_is: f64| {
            assert!((mean - mean_is).abs() < 0.01, "mean {mean}");
            let error = (share_is * (1.0 - share_is) / f64::from(n)).sqrt();
            assert!((share - share_is).abs() < 5.0 * error, "share {share}, not {share_is}");
        };
        near(draw(&mut |s| s.exponential(), 2.0), 1.0, (-2.0_f64).exp());
        near(draw(&mut |s| s.pareto(2.5), 3.0), 1.0, 0.2_f64.powf(2.5));
        near(draw(&mut |s| s.geometric(4.0) as f64, 1.0), 4.0, 0.75);
        near(draw(&mut |s| s.gaussian(), 1.0), 0.0, 1.0 - 0.841_344_746);
    }

    /// 10^5 draws: the standard error of the mean is sqrt(1/12/1e5) = 0.0009; five of them are allowed.
    #[test]
    fn units_are_uniform_in_the_mean() {
        let mut stream = Streams { seed: 1, run: 0 }.of(Purpose::Start, 0, 0);
        let mean = (0..100_000).map(|_| stream.unit()).sum::<f64>() / 1e5;
        assert!((mean - 0.5).abs() < 0.0046, "{mean}");
    }
}
