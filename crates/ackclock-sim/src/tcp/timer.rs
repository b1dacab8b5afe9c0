//! The retransmission timer (RFC 6298), that of Linux, or that of a sender without time stamps.

use ackclock_units::{Span, Time};

use super::deadline::Deadline;
use super::ticks::Ticks;
use super::timed_packet::TimedPacket;
use super::variance::LinuxVariance;

/// The backoff multiplies the timeout by this at most (RFC 6298, section 5.5, as ns-2 bounds it).
const LARGEST_BACKOFF: u64 = 64;

/// No smoothed round-trip time.
const NO_SAMPLE: Span = Span(u64::MAX);

/// Another estimate of the timeout than that of RFC 6298.
#[derive(Clone, Debug)]
enum Estimator {
    /// The variance as Linux has it.
    Linux(LinuxVariance),
    /// One packet timed at a time, and the clock that it is timed by.
    OnePacket(TimedPacket, Ticks),
}

/// Estimates the retransmission timeout and says when it expires.
#[derive(Clone, Debug)]
pub struct Timer {
    minimum: Span,
    maximum: Span,
    clock: Span,
    /// An estimator other than the mean and variation of all samples (RFC 6298). Boxed, because few senders have one.
    estimate: Option<Box<Estimator>>,
    /// [`NO_SAMPLE`] before the first sample.
    smoothed: Span,
    variation: Span,
    /// Without backoff.
    plain_timeout: Span,
    backoff: u64,
    deadline: Deadline,
}

impl Timer {
    /// A timer that starts with the timeout `initial`, keeps it between `minimum` and `maximum`, and ticks
    /// every `clock`.
    #[must_use]
    pub fn new(initial: Span, minimum: Span, maximum: Span, clock: Span) -> Self {
        let timeout = initial.clamp(minimum, maximum);
        Timer {
            minimum,
            maximum,
            clock,
            estimate: None,
            smoothed: NO_SAMPLE,
            variation: Span::ZERO,
            plain_timeout: timeout,
            backoff: 1,
            deadline: Deadline::default(),
        }
    }

    /// The same timer, which measures the round trips of one packet at a time, by a clock that is `phase` into one of its
    /// ticks at time 0. As a retransmitted packet is never timed, a backoff lasts until a packet that was sent once is
    /// acknowledged (P. Karn and C. Partridge, SIGCOMM 1987).
    #[must_use]
    pub fn one_per_window(self, phase: Span) -> Self {
        let ticks = Ticks::new(self.clock, phase);
        let minimum = self.minimum.max(ticks.least_timeout());
        let plain_timeout = self.plain_timeout.max(minimum).min(self.maximum);
        let estimate = Some(Box::new(Estimator::OnePacket(TimedPacket::default(), ticks)));
        Timer { estimate, minimum, plain_timeout, ..self }
    }

    /// The same timer with the estimate of Linux: the minimum bounds four deviations, not the timeout, and a backoff has no
    /// bound but the largest timeout.
    #[must_use]
    pub fn of_linux(self) -> Self {
        Timer { estimate: Some(Box::new(Estimator::Linux(LinuxVariance::new(self.minimum)))), ..self }
    }

    /// Packet `sequence` is sent at `now`, for the first time or `again`.
    #[inline]
    pub fn on_sent(&mut self, now: Time, sequence: u64, again: bool) {
        if self.estimate.is_some() {
            self.note_sent(now, sequence, again);
        }
    }

    /// A separate function for the reason that [`Timer::other_timeout`] is one.
    #[inline(never)]
    fn note_sent(&mut self, now: Time, sequence: u64, again: bool) {
        match self.estimate.as_deref_mut() {
            None => {}
            Some(Estimator::Linux(variance)) => variance.on_sent(sequence),
            Some(Estimator::OnePacket(timed, _)) if again => timed.abandon(),
            Some(Estimator::OnePacket(timed, _)) => timed.on_new(now, sequence),
        }
    }

    /// Everything below `cumulative` is acknowledged at `now`, and the acknowledgement itself measures `rtt`, if it
    /// measures anything.
    #[inline]
    pub fn on_ack(&mut self, now: Time, cumulative: u64, rtt: Option<Span>) {
        let timeout = if self.estimate.is_none() {
            rtt.map(|rtt| self.sample(rtt))
        } else {
            self.other_timeout(now, cumulative, rtt)
        };
        if let Some(timeout) = timeout {
            self.plain_timeout = timeout.max(self.minimum).min(self.maximum);
            self.backoff = 1;
        }
    }

    /// The timeout after an acknowledgement where the estimate is not the standard one. This is a separate function because
    /// few senders need it, and it would make the others slower.
    #[inline(never)]
    fn other_timeout(&mut self, now: Time, cumulative: u64, rtt: Option<Span>) -> Option<Span> {
        match self.estimate.as_deref_mut()? {
            Estimator::Linux(variance) => rtt.map(|rtt| {
                let before = if self.smoothed == NO_SAMPLE { rtt } else { self.smoothed };
                let smoothed = Span(before.0 - before.0 / 8 + rtt.0 / 8);
                self.smoothed = smoothed;
                smoothed + variance.sample(rtt, before, cumulative)
            }),
            Estimator::OnePacket(timed, ticks) => {
                timed.on_ack(cumulative).map(|sent| ticks.sample(sent, now))
            }
        }
    }

    /// Takes in an RTT sample (RFC 6298, section 2) and returns the timeout.
    #[inline]
    fn sample(&mut self, rtt: Span) -> Span {
        let before = self.smoothed;
        (self.smoothed, self.variation) = if before == NO_SAMPLE {
            (rtt, Span(rtt.0 / 2))
        } else {
            let error = before.0.abs_diff(rtt.0);
            let variation = Span(self.variation.0 - self.variation.0 / 4 + error / 4);
            (Span(before.0 - before.0 / 8 + rtt.0 / 8), variation)
        };
        self.smoothed + self.clock.max(self.variation.saturating_mul(4))
    }

    /// The timeout until the next sample is `timeout`, within the bounds.
    pub fn fall_back(&mut self, timeout: Span) {
        self.plain_timeout = timeout.clamp(self.minimum, self.maximum);
    }

    /// The smoothed round-trip time.
    #[must_use]
    pub fn smoothed(&self) -> Option<Span> {
        match self.estimate.as_deref() {
            Some(Estimator::OnePacket(_, ticks)) => ticks.smoothed(),
            _ => (self.smoothed != NO_SAMPLE).then_some(self.smoothed),
        }
    }

    /// The timeout with its backoff.
    #[inline]
    #[must_use]
    pub fn timeout(&self) -> Span {
        if self.backoff == 1 {
            return self.plain_timeout;
        }
        self.plain_timeout.saturating_mul(self.backoff).min(self.maximum)
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

    /// Doubles the timeout (RFC 6298, section 5.5), because the packet that timed out will be retransmitted.
    pub fn back_off(&mut self) {
        let is_linux = matches!(self.estimate.as_deref(), Some(Estimator::Linux(_)));
        let largest = if is_linux { u64::from(u32::MAX) } else { LARGEST_BACKOFF };
        self.backoff = (self.backoff * 2).min(largest);
        if let Some(Estimator::OnePacket(timed, ticks)) = self.estimate.as_deref_mut() {
            timed.abandon();
            ticks.on_backoff(self.backoff);
        }
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
        timer.on_ack(Time::ZERO, 0, Some(Span::from_millis(100)));
        assert_eq!(timer.timeout(), Span::from_millis(300));
        timer.on_ack(Time::ZERO, 0, Some(Span::from_millis(200)));
        assert_eq!(timer.timeout(), Span::from_micros(362_500));
    }

    #[test]
    fn stays_within_its_limits_and_backs_off_64_times() {
        let mut timer = timer();
        timer.on_ack(Time::ZERO, 0, Some(Span::from_millis(10)));
        assert_eq!(timer.timeout(), Span::from_millis(200));
        for _ in 0..10 {
            timer.back_off();
        }
        assert_eq!(timer.timeout(), Span::from_millis(12_800));
        timer.on_ack(Time::ZERO, 0, Some(Span::from_millis(10)));
        assert_eq!(timer.timeout(), Span::from_millis(200), "a sample ends the backoff");
    }

    /// A steady path of 150 ms: 150 + 300 ms at first, then the variance falls to the minimum of 200 ms, and not the sum:
    /// 350 ms. Ten backoffs are a factor of 1024, 358 s, bounded by the 64 s of the timer.
    #[test]
    fn of_linux_the_minimum_bounds_the_variance() {
        let mut timer = timer().of_linux();
        let mut timeouts = Vec::new();
        for sequence in 0..100 {
            timer.on_sent(Time::ZERO, sequence, false);
            timer.on_ack(Time::ZERO, sequence + 1, Some(Span::from_millis(150)));
            timeouts.push(timer.timeout());
        }
        assert_eq!(timeouts[0], Span::from_millis(450));
        assert!((timeouts[99].as_millis() - 350.0).abs() < 1e-6, "{}", timeouts[99]);
        (0..10).for_each(|_| timer.back_off());
        assert_eq!(timer.timeout(), Span::from_millis(64_000));
    }

    /// With ticks of 100 ms the first sample, one tick, makes the timeout 1 + 4 * 1/2 = 3 ticks, and two timeouts make it
    /// 12. So it stays when what was sent again is acknowledged. Packet 5 is new and measures two ticks: four deviations
    /// are 2 - 0 + 1 = 3 ticks, 8 srtt = 8 - 1 + 2 = 9, and the timeout is 9/8, rounded down, + 3 = 4 ticks.
    #[test]
    fn with_one_packet_timed_a_backoff_lasts_until_a_new_packet_is_acknowledged() {
        let ms = Span::from_millis;
        let mut timer = Timer::new(ms(3000), ms(1), ms(64_000), ms(100)).one_per_window(Span::ZERO);
        let at = |milliseconds| Time::ZERO + ms(milliseconds);
        assert_eq!((timer.timeout(), timer.smoothed()), (ms(3000), None));
        timer.on_sent(at(0), 0, false);
        timer.on_sent(at(50), 1, false);
        timer.on_ack(at(110), 1, Some(ms(110)));
        assert_eq!(timer.timeout(), ms(300));
        timer.on_ack(at(900), 2, Some(ms(850)));
        assert_eq!(timer.timeout(), ms(300), "packet 1 is not timed");
        timer.on_sent(at(1000), 2, false);
        timer.back_off();
        timer.back_off();
        timer.on_sent(at(2000), 2, true);
        timer.on_ack(at(2100), 3, Some(ms(100)));
        assert_eq!(timer.timeout(), ms(1200));
        timer.on_sent(at(3000), 5, false);
        timer.on_ack(at(3200), 6, None);
        assert_eq!((timer.timeout(), timer.smoothed()), (ms(400), Some(Span::from_micros(112_500))));
    }

    /// However small the minimum, two ticks are the least, and the initial timeout is not an exception.
    #[test]
    fn with_one_packet_timed_no_timeout_is_below_two_ticks() {
        let timer = |minimum| {
            let ms = Span::from_millis;
            let mut timer = Timer::new(ms(1), ms(minimum), ms(64_000), ms(100)).one_per_window(Span::ZERO);
            let initial = timer.timeout();
            timer.on_sent(Time::ZERO, 0, false);
            timer.on_ack(Time::ZERO + ms(100), 1, None);
            (initial, timer.timeout())
        };
        assert_eq!(timer(1), (Span::from_millis(200), Span::from_millis(300)));
        assert_eq!(timer(1000), (Span::from_millis(1000), Span::from_millis(1000)));
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
