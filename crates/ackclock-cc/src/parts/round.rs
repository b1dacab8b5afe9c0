//! Statistics of the round-trip times of one round trip.

use ackclock_units::Span;

use crate::Ack;

/// Collects RTT samples and hands them over once per completed round trip.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoundTrips {
    round: u64,
    count: u32,
    sum: f64,
    least: Span,
}

/// The samples of one completed round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Completed {
    /// Their number, at least 1.
    pub count: u32,
    /// Their mean, seconds.
    pub mean: f64,
    /// The smallest.
    pub least: Span,
}

impl RoundTrips {
    /// Takes the acknowledgement. At the first one of a new round trip, returns the samples of the previous
    /// one, if there were any.
    pub fn on(&mut self, ack: &Ack) -> Option<Completed> {
        let completed = if ack.round == self.round { None } else { self.complete(ack.round) };
        if let Some(rtt) = ack.rtt {
            self.least = if self.count == 0 { rtt } else { self.least.min(rtt) };
            self.sum += rtt.as_seconds();
            self.count += 1;
        }
        completed
    }

    fn complete(&mut self, round: u64) -> Option<Completed> {
        let completed = (self.count > 0).then(|| Completed {
            count: self.count,
            mean: self.sum / f64::from(self.count),
            least: self.least,
        });
        *self = RoundTrips { round, ..RoundTrips::default() };
        completed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 and 200 ms; then a round trip in which nothing was measured.
    #[test]
    fn a_round_trip_has_a_mean_and_a_least() {
        let ack =
            |round, rtt: Option<u64>| Ack { round, rtt: rtt.map(Span::from_millis), ..Ack::of_one_packet() };
        let mut rounds = RoundTrips::default();
        assert_eq!(rounds.on(&ack(0, Some(200))), None);
        assert_eq!(rounds.on(&ack(0, Some(100))), None);
        let completed = rounds.on(&ack(1, None)).unwrap();
        assert_eq!((completed.count, completed.least), (2, Span::from_millis(100)));
        assert!((completed.mean - 0.15).abs() < 1e-12);
        assert_eq!(rounds.on(&ack(2, Some(100))), None);
    }
}
