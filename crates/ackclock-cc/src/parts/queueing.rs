//! Queueing delay as LEDBAT and LEDBAT++ measure it (RFC 6817, section 2.4.2).

use ackclock_units::{Span, Time};

/// One entry of the history.
const MINUTE: Span = Span::from_seconds(60);
/// The largest numbers of minutes and of samples that can count.
const MOST: (usize, usize) = (10, 8);

/// The smallest of the last samples minus the smallest of the last minutes; only the smallest of each minute is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueingDelay {
    /// The smallest delay of each of the last minutes, the newest first.
    minutes: [Span; MOST.0],
    /// Minutes that count.
    history: usize,
    minute_ends: Option<Time>,
    /// The smallest of them.
    base: Span,
    /// The last samples, in a ring.
    samples: [Span; MOST.1],
    /// Samples that count.
    filter: usize,
    next: usize,
}

/// The smallest of some delays.
fn least(delays: &[Span]) -> Span {
    delays.iter().copied().fold(Span::MAX, Span::min)
}

impl QueueingDelay {
    /// Nothing measured yet; `history` minutes (BASE_HISTORY, 1 to 10) and `filter` samples (CURRENT_FILTER, 1 to 8)
    /// count, rounded down to whole numbers.
    #[must_use]
    pub fn new(history: f64, filter: f64) -> Self {
        QueueingDelay {
            minutes: [Span::MAX; MOST.0],
            history: (history as usize).clamp(1, MOST.0),
            minute_ends: None,
            base: Span::MAX,
            samples: [Span::MAX; MOST.1],
            filter: (filter as usize).clamp(1, MOST.1),
            next: 0,
        }
    }

    /// Takes a sample.
    pub fn measure(&mut self, now: Time, rtt: Span) {
        let ends = *self.minute_ends.get_or_insert(now + MINUTE);
        if now >= ends {
            self.minutes.rotate_right(1);
            self.minutes[0] = rtt;
            self.minute_ends = Some(now + MINUTE);
            self.base = least(&self.minutes[..self.history]);
        }
        self.minutes[0] = self.minutes[0].min(rtt);
        self.base = self.base.min(rtt);
        self.samples[self.next] = rtt;
        self.next = (self.next + 1) % self.filter;
    }

    /// The smallest delay of the history; none before the first sample.
    #[must_use]
    pub fn base(&self) -> Option<Span> {
        (self.base != Span::MAX).then_some(self.base)
    }

    /// The smallest of the last samples; none before the first.
    #[must_use]
    pub fn current(&self) -> Option<Span> {
        let current = least(&self.samples[..self.filter]);
        (current != Span::MAX).then_some(current)
    }

    /// Queueing delay, milliseconds; 0 before the first sample.
    #[must_use]
    pub fn milliseconds(&self) -> f64 {
        self.current().map_or(0.0, |current| (current - self.base).as_millis())
    }
}
