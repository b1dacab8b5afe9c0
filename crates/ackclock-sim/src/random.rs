//! Random streams: one per purpose, so that what one component draws never shifts what another draws.

use ackclock_units::Span;
use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

/// What a stream is drawn for.
#[derive(Clone, Copy, Debug)]
pub enum Purpose {
    /// Losses at a link (first index) of the packets of a flow (second index).
    Loss,
    /// The delay before each send of a flow.
    Overhead,
    /// The start of a flow.
    Start,
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream(Pcg32);

impl Stream {
    /// The stream for `purpose` at the given component, in run `run` of `seed`.
    #[must_use]
    pub fn new(seed: u64, run: u64, purpose: Purpose, component: u32, flow: u32) -> Self {
        let place = u64::from(component) << 32 | u64::from(flow);
        let state =
            [run, purpose as u64, place].iter().fold(mix(seed), |state, part| mix(state ^ mix(*part)));
        Stream(Pcg32::new(state, mix(state)))
    }

    /// A number from 0 up to, not including, 1, on a grid of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A span from zero up to, not including, `end` (zero when that is zero).
    #[inline]
    pub fn span(&mut self, end: Span) -> Span {
        Span(((u128::from(self.0.next_u64()) * u128::from(end.0)) >> 64) as u64)
    }
}

/// Spreads every bit of `x` over the whole word (the finaliser of SplitMix64: Steele, Lea, Flood 2014).
const fn mix(x: u64) -> u64 {
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
            Stream::new(seed, run, purpose, component, flow).0.next_u64()
        };
        let base = first(1, 0, Purpose::Loss, 0, 0);
        assert_ne!(base, first(2, 0, Purpose::Loss, 0, 0));
        assert_ne!(base, first(1, 1, Purpose::Loss, 0, 0));
        assert_ne!(base, first(1, 0, Purpose::Overhead, 0, 0));
        assert_ne!(base, first(1, 0, Purpose::Loss, 1, 0));
        assert_ne!(base, first(1, 0, Purpose::Loss, 0, 1));
    }

    /// 10^5 draws: the standard error of the mean is sqrt(1/12/1e5) = 0.0009; five of them are allowed.
    #[test]
    fn units_are_uniform_in_the_mean() {
        let mut stream = Stream::new(1, 0, Purpose::Start, 0, 0);
        let mean = (0..100_000).map(|_| stream.unit()).sum::<f64>() / 1e5;
        assert!((mean - 0.5).abs() < 0.0046, "{mean}");
    }
}
