//! One-way delays of what has no round trips, and what of it is late.

use ackclock_trace::Histogram;
use ackclock_units::{Span, Time};

/// The delays of what arrives within the measured time, from its first instant on and before its last.
#[derive(Clone, Debug)]
pub struct Delays {
    measured: (Time, Time),
    deadline: Option<Span>,
    histogram: Histogram,
    arrived: u64,
    late: u64,
    /// The delay of the last packet that arrived, measured or not.
    latest: Option<Span>,
}

impl Delays {
    /// None so far. What takes longer than `deadline` is late.
    #[must_use]
    pub fn new(measured: (Time, Time), deadline: Option<Span>) -> Self {
        Delays { measured, deadline, histogram: Histogram::default(), arrived: 0, late: 0, latest: None }
    }

    /// A packet that was sent at `sent` arrives at `now`.
    pub fn record(&mut self, now: Time, sent: Time) {
        let delay = now.since(sent);
        self.latest = Some(delay);
        if now >= self.measured.0 && now < self.measured.1 {
            self.histogram.record(delay);
            self.arrived += 1;
            self.late += u64::from(self.deadline.is_some_and(|deadline| delay > deadline));
        }
    }

    /// The delay of what arrived last; `None` before anything arrives.
    #[must_use]
    pub const fn latest(&self) -> Option<Span> {
        self.latest
    }

    /// The delay that the share `share` of them does not exceed; `None` without any.
    #[must_use]
    pub fn percentile(&self, share: f64) -> Option<Span> {
        self.histogram.percentile(share)
    }

    /// The share that was late; `None` without a deadline or without any.
    #[must_use]
    pub fn late(&self) -> Option<f64> {
        (self.deadline.is_some() && self.arrived > 0).then(|| self.late as f64 / self.arrived as f64)
    }
}
