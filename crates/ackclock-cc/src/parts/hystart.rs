//! HyStart++ (RFC 9406): leave slow start when the round-trip time rises.

use ackclock_units::Span;

use crate::Ack;

/// RTT samples that a round needs before it counts (RFC 9406, `N_RTT_SAMPLE`).
const SAMPLES: u32 = 8;
/// Growth in conservative slow start is divided by this (`CSS_GROWTH_DIVISOR`).
const DIVISOR: f64 = 4.0;
/// Rounds of conservative slow start before slow start ends (`CSS_ROUNDS`).
const ROUNDS: u32 = 5;
/// The rise that counts lies between these (`MIN_RTT_THRESH`, `MAX_RTT_THRESH`).
const THRESHOLDS: (Span, Span) = (Span::from_millis(4), Span::from_millis(16));

/// The state of HyStart++.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HyStartPlusPlus {
    round: u64,
    samples: u32,
    current: Option<Span>,
    last: Option<Span>,
    /// In conservative slow start: the smallest RTT of the round before it, and the rounds spent in it.
    conservative: Option<(Span, u32)>,
}

impl HyStartPlusPlus {
    /// Takes the acknowledgement's RTT; returns whether slow start ends.
    pub fn leaves_slow_start(&mut self, ack: &Ack) -> bool {
        if ack.round != self.round {
            self.round = ack.round;
            self.last = self.current.take();
            self.samples = 0;
            if let Some((_, rounds)) = &mut self.conservative {
                *rounds += 1;
            }
        }
        if let Some(rtt) = ack.rtt {
            self.current = Some(self.current.map_or(rtt, |least| least.min(rtt)));
            self.samples += 1;
        }
        if self.samples >= SAMPLES
            && let (Some(current), Some(last)) = (self.current, self.last)
        {
            let threshold = Span(last.0 / 8).clamp(THRESHOLDS.0, THRESHOLDS.1);
            match self.conservative {
                None if current >= last + threshold => self.conservative = Some((current, 0)),
                Some((baseline, _)) if current < baseline => self.conservative = None,
                _ => {}
            }
        }
        matches!(self.conservative, Some((_, rounds)) if rounds >= ROUNDS)
    }

    /// The part of `growth` that counts at present.
    #[must_use]
    pub fn step(&self, growth: f64) -> f64 {
        if self.conservative.is_some() { growth / DIVISOR } else { growth }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight samples of each RTT, a round trip each, milliseconds; what a packet counts for then.
    fn after(rtts: &[u64]) -> f64 {
        let mut hystart = HyStartPlusPlus::default();
        for (round, rtt) in rtts.iter().enumerate() {
            let rtt = Some(Span::from_millis(*rtt));
            for _ in 0..SAMPLES {
                hystart.leaves_slow_start(&Ack { rtt, round: round as u64, ..Ack::of_one_packet() });
            }
        }
        hystart.step(1.0)
    }

    /// An eighth of the RTT before, 12.5 of 100 ms, between 4 and 16 ms.
    #[test]
    fn a_rise_is_measured_by_the_rtt() {
        for (before, rises, does_not) in [(100, 113, 112), (16, 20, 19), (200, 216, 215)] {
            assert_eq!((after(&[before, rises]), after(&[before, does_not])), (0.25, 1.0));
        }
    }

    /// A round trip shorter than the one that began conservative slow start ends it (RFC 9406, section 4.2), an equal
    /// one does not.
    #[test]
    fn a_false_rise_is_forgotten() {
        assert_eq!((after(&[100, 113, 112]), after(&[100, 113, 113])), (1.0, 0.25));
    }
}
