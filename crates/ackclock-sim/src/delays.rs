//! One-way delays of packets in flows without round trips, and the share of late packets.

use ackclock_trace::Histogram;
use ackclock_units::{Span, Time};

/// The delays of packets that arrive within the measured time, which includes its first instant but not its last.
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
    /// No delays so far. A packet that takes longer than `deadline` is late.
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

    /// The delay of the packet that arrived last; `None` before the first arrival.
    #[must_use]
    pub const fn latest(&self) -> Option<Span> {
        self.latest
    }

    /// The percentile of the delays at `share`; `None` without any delay.
    #[must_use]
    pub fn percentile(&self, share: f64) -> Option<Span> {
        self.histogram.percentile(share)
    }

    /// The share of late packets; `None` without a deadline or without any packet.
    #[must_use]
    pub fn late(&self) -> Option<f64> {
        (self.deadline.is_some() && self.arrived > 0).then(|| self.late as f64 / self.arrived as f64)
    }
}
