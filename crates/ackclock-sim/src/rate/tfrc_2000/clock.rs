//! TCP's retransmission timeout in whole ticks (Jacobson, SIGCOMM 1988, appendix A), as TFRC of 2000 puts it into the
//! equation.

/// A tick, seconds.
const TICK: f64 = 0.1;
/// The timeout before the first sample, seconds.
const INITIAL: f64 = 6.0;

/// The smoothed round-trip time in eighths of a tick, and its mean deviation in quarters.
#[derive(Clone, Copy, Debug, Default)]
pub struct RetransmissionClock {
    smoothed: i64,
    deviation: i64,
}

impl RetransmissionClock {
    /// A round-trip time of `seconds` is measured: it is rounded to ticks, at least one.
    pub fn measure(&mut self, seconds: f64) {
        let ticks = ((seconds / TICK + 0.5) as i64).max(1);
        if self.smoothed == 0 {
            (self.smoothed, self.deviation) = (8 * ticks, 2 * ticks);
            return;
        }
        let error = ticks - (self.smoothed >> 3);
        self.smoothed = (self.smoothed + error).max(1);
        self.deviation = (self.deviation + error.abs() - (self.deviation >> 2)).max(1);
    }

    /// The smoothed round-trip time and four deviations, seconds.
    #[must_use]
    pub fn timeout(&self) -> f64 {
        if self.smoothed == 0 {
            return INITIAL;
        }
        (((self.deviation << 3) + self.smoothed) >> 3) as f64 * TICK
    }
}
