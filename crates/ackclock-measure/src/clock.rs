//! The machine's clocks, in one place: measuring is the one thing here that needs them.
#![expect(clippy::disallowed_methods, reason = "real paths are measured in real time")]

use std::time::{Instant, SystemTime, UNIX_EPOCH};

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
