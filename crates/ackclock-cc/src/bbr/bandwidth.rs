//! BBR's model of the bandwidth.

/// Round trips over which the largest delivery rate counts.
const BANDWIDTH_ROUNDS: usize = 10;

/// The largest delivery rate of the last round trips.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bandwidth {
    rounds: [f64; BANDWIDTH_ROUNDS],
    round: u64,
    /// It, packets per second.
    pub largest: f64,
}

impl Bandwidth {
    /// A sample of `rate`, packets per second, in round trip `round`.
    pub fn note(&mut self, round: u64, rate: f64) {
        if round > self.round {
            let passed = (round - self.round).min(BANDWIDTH_ROUNDS as u64);
            for later in 1..=passed {
                self.rounds[((self.round + later) % BANDWIDTH_ROUNDS as u64) as usize] = 0.0;
            }
            self.round = round;
        }
        let slot = &mut self.rounds[(self.round % BANDWIDTH_ROUNDS as u64) as usize];
        *slot = slot.max(rate);
        self.largest = self.rounds.iter().copied().fold(0.0, f64::max);
    }
}
