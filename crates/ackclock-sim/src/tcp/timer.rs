//! The retransmission timer (RFC 6298).

use ackclock_units::{Span, Time};

use super::deadline::Deadline;

/// The backoff multiplies the timeout by this at most (RFC 6298, section 5.5, as ns-2 bounds it).
const LARGEST_BACKOFF: u64 = 64;

/// Estimates the retransmission timeout and says when it expires.
#[derive(Clone, Debug)]
pub struct Timer {
    minimum: Span,
    maximum: Span,
    clock: Span,
    smoothed: Option<Span>,
    variation: Span,
    /// Without backoff.
    timeout: Span,
    backoff: u64,
    deadline: Deadline,
}

impl Timer {
    /// A timer that starts with the timeout `initial`, keeps it between `minimum` and `maximum`, and ticks
    /// every `clock`.
    #[must_use]
    pub fn new(initial: Span, minimum: Span, maximum: Span, clock: Span) -> Self {
        Timer {
            minimum,
            maximum,
            clock,
            smoothed: None,
            variation: Span::ZERO,
            timeout: initial.clamp(minimum, maximum),
            backoff: 1,
            deadline: Deadline::default(),
        }
    }

    /// Takes in an RTT sample (RFC 6298, section 2) and ends the backoff.
    #[inline]
    pub fn sample(&mut self, rtt: Span) {
        let smoothed = match self.smoothed {
            None => {
                self.variation = Span(rtt.0 / 2);
                rtt
            }
            Some(smoothed) => {
                let error = smoothed.0.abs_diff(rtt.0);
                self.variation = Span(self.variation.0 - self.variation.0 / 4 + error / 4);
                Span(smoothed.0 - smoothed.0 / 8 + rtt.0 / 8)
            }
        };
        self.smoothed = Some(smoothed);
        let timeout = smoothed + self.clock.max(self.variation.saturating_mul(4));
        self.timeout = timeout.clamp(self.minimum, self.maximum);
        self.backoff = 1;
    }

    /// The smoothed round-trip time.
    #[must_use]
    pub fn smoothed(&self) -> Option<Span> {
        self.smoothed
    }

    /// The timeout with its backoff.
    #[must_use]
    pub fn timeout(&self) -> Span {
        self.timeout.saturating_mul(self.backoff).min(self.maximum)
    }

    /// Restarts the timer at `now`.
    #[inline]
    pub fn restart(&mut self, now: Time) {
        self.deadline.set(now + self.timeout());
    }

    /// Starts the timer unless it runs.
    #[inline]
    pub fn ensure_running(&mut self, now: Time) {
        if !self.deadline.is_set() {
            self.restart(now);
        }
    }

    /// Stops the timer.
    pub fn stop(&mut self) {
        self.deadline.clear();
    }

    /// Doubles the timeout (RFC 6298, section 5.5).
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff * 2).min(LARGEST_BACKOFF);
    }

    /// When it wants to be woken.
    #[inline]
    #[must_use]
    pub const fn alarm(&self) -> Time {
        self.deadline.alarm()
    }

    /// Whether the timer has expired at `now`. If not, the alarm is set again.
    pub fn expires(&mut self, now: Time) -> bool {
        self.deadline.expires(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timer() -> Timer {
        let ms = Span::from_millis;
        Timer::new(ms(1000), ms(200), ms(64_000), ms(1))
    }

    /// RFC 6298: after the first sample R, SRTT = R, RTTVAR = R/2, RTO = R + 4*R/2 = 3R; then for
    /// R' = 200 ms after R = 100 ms: RTTVAR = 3/4*50 + 1/4*100 = 62.5, SRTT = 7/8*100 + 1/8*200 = 112.5,
    /// RTO = 112.5 + 250 = 362.5 ms.
    #[test]
    fn follows_rfc_6298() {
        let mut timer = timer();
        assert_eq!(timer.timeout(), Span::from_millis(1000));
        timer.sample(Span::from_millis(100));
        assert_eq!(timer.timeout(), Span::from_millis(300));
        timer.sample(Span::from_millis(200));
        assert_eq!(timer.timeout(), Span::from_micros(362_500));
    }

    #[test]
    fn stays_within_its_limits_and_backs_off_64_times() {
        let mut timer = timer();
        timer.sample(Span::from_millis(10));
        assert_eq!(timer.timeout(), Span::from_millis(200));
        for _ in 0..10 {
            timer.back_off();
        }
        assert_eq!(timer.timeout(), Span::from_millis(12_800));
        timer.sample(Span::from_millis(10));
        assert_eq!(timer.timeout(), Span::from_millis(200), "a sample ends the backoff");
    }

    #[test]
    fn a_moved_deadline_is_kept() {
        let mut timer = timer();
        timer.restart(Time::ZERO);
        let second = |s| Time::ZERO + Span::from_seconds(s);
        assert_eq!(timer.alarm(), second(1));
        timer.restart(second(1));
        assert_eq!(timer.alarm(), second(1), "the old alarm stands");
        assert!(!timer.expires(second(1)));
        assert_eq!(timer.alarm(), second(2));
        assert!(timer.expires(second(2)));
        assert_eq!(timer.alarm(), Time::NEVER);
    }
}
