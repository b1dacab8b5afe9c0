//! A deadline that moves often.

use ackclock_units::Time;

/// A deadline and the time of the event that looks at it: not after the deadline, and often before, so that moving the
/// deadline with every acknowledgement costs no event.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    time: Time,
    alarm: Time,
}

impl Default for Deadline {
    fn default() -> Self {
        Deadline { time: Time::NEVER, alarm: Time::NEVER }
    }
}

impl Deadline {
    /// Moves it to `time`.
    #[inline]
    pub fn set(&mut self, time: Time) {
        self.time = time;
        self.alarm = self.alarm.min(time);
    }

    /// There is none until it is set again.
    #[inline]
    pub fn clear(&mut self) {
        self.time = Time::NEVER;
    }

    /// Whether there is one.
    #[inline]
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.time != Time::NEVER
    }

    /// When it must be checked.
    #[inline]
    #[must_use]
    pub const fn alarm(&self) -> Time {
        self.alarm
    }

    /// Whether it has come at `now`; then it is cleared. If not, the alarm is set again.
    pub fn expires(&mut self, now: Time) -> bool {
        if now < self.alarm {
            return false;
        }
        self.alarm = self.time;
        if now < self.time {
            return false;
        }
        *self = Deadline::default();
        true
    }
}
