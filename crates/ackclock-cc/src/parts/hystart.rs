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
pub struct HyStart {
    round: u64,
    samples: u32,
    current: Option<Span>,
    last: Option<Span>,
    /// In conservative slow start: the smallest RTT of the round before it, and the rounds spent in it.
    conservative: Option<(Span, u32)>,
}

impl HyStart {
    /// Takes the acknowledgement's RTT; true when slow start is to end.
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

    /// What `growth` counts for at present.
    #[must_use]
    pub fn step(&self, growth: f64) -> f64 {
        if self.conservative.is_some() { growth / DIVISOR } else { growth }
    }
}
