//! The machine's clocks, in one place: measuring is the one thing here that needs them.
#![expect(clippy::disallowed_methods, reason = "real paths are measured in real time")]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::time::{ClockId, clock_gettime};

/// Now, for spans.
#[must_use]
pub fn now() -> Instant {
    Instant::now()
}

/// Seconds since 1970, for logs.
#[must_use]
pub fn unix_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// Seconds since the machine was started, its sleep included: nobody sets this clock.
#[must_use]
pub fn boot_s() -> f64 {
    clock_gettime(ClockId::CLOCK_BOOTTIME).map_or(0.0, |time| Duration::from(time).as_secs_f64())
}
