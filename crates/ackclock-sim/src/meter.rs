//! Measurements that every sender takes of itself, by the same rules for all.

use std::mem::offset_of;

use ackclock_trace::{Counters, Histogram};
use ackclock_units::{Span, Time};

use crate::prefetch::prefetch;

const PICOSECONDS_PER_SECOND: f64 = 1e12;
const PICOSECONDS_PER_MILLISECOND: f64 = 1e9;

/// Counters, round-trip times, and the window over time.
///
/// An RTT counts when its acknowledgement arrives within the measured time, both ends included: what happens at the last
/// instant belongs to the counters at that instant, too.
// In the order of memory: what few packets need is last.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Meter {
    /// Sum of the measured RTTs, picoseconds.
    rtt_sum: u128,
    measured: (Time, Time),
    last_rtt: Option<Span>,
    /// Integral of the window over time up to `window_since`, packets times picoseconds.
    window_integral: f64,
    window_since: Time,
    rtts: Histogram,
    /// Counters from time 0, without `dropped_packets`, which only the network knows.
    pub counters: Counters,
    largest_window: f64,
    start: Time,
}

impl Meter {
    /// Up to this byte it is needed for every packet.
    pub const NEEDED_UNTIL: usize =
        offset_of!(Meter, counters) + offset_of!(Counters, sent_packets) + size_of::<u64>();

    /// The meter of a sender that starts at `start` and whose RTTs are measured from the first to the second of
    /// `measured`.
    #[must_use]
    pub fn new(start: Time, measured: (Time, Time)) -> Self {
        Meter {
            start,
            measured,
            counters: Counters { loss_events: Some(0), ..Counters::default() },
            last_rtt: None,
            rtt_sum: 0,
            rtts: Histogram::default(),
            window_integral: 0.0,
            window_since: start,
            largest_window: f64::NAN,
        }
    }

    /// Asks for the memory that the next RTT sample needs.
    pub fn expect(&self) {
        if let Some(count) = self.rtts.next_count() {
            prefetch(count);
        }
    }

    /// A loss event begins.
    pub fn note_loss_event(&mut self) {
        self.counters.loss_events = self.counters.loss_events.map(|count| count + 1);
    }

    /// Takes in an RTT sample at `now`.
    #[inline]
    pub fn record_rtt(&mut self, now: Time, rtt: Span) {
        self.last_rtt = Some(rtt);
        if now >= self.measured.0 && now <= self.measured.1 {
            self.rtt_sum += u128::from(rtt.0);
            self.rtts.record(rtt);
        }
    }

    /// The window may change at `now`: until then it was `window` packets. To be called before every change.
    #[inline]
    pub fn hold_window(&mut self, now: Time, window: f64) {
        // Signed numbers become floating-point ones in one instruction, unsigned ones in seven; no span needs the sign.
        self.window_integral += window * now.since(self.window_since).0 as i64 as f64;
        self.window_since = now;
    }

    /// The window is now `window` packets. To be called at least whenever another whole number of packets fits.
    #[inline]
    pub fn note_window(&mut self, window: f64) {
        self.largest_window = self.largest_window.max(window);
    }

    /// The largest window of the whole run, packets; `None` where there is none.
    #[must_use]
    pub fn largest_window(&self) -> Option<f64> {
        Some(self.largest_window).filter(|window| !window.is_nan())
    }

    /// The integral of the window from the start to `now`, packets times seconds, when it is `window` packets now.
    #[must_use]
    pub fn window_integral(&self, now: Time, window: f64) -> f64 {
        (self.window_integral + window * now.since(self.window_since).0 as f64) / PICOSECONDS_PER_SECOND
    }

    /// When the sender starts.
    #[must_use]
    pub fn start(&self) -> Time {
        self.start
    }

    /// The last RTT sample, measured or not.
    #[must_use]
    pub fn last_rtt(&self) -> Option<Span> {
        self.last_rtt
    }

    /// Mean of the measured RTTs, milliseconds; `None` without any.
    #[must_use]
    pub fn mean_rtt_ms(&self) -> Option<f64> {
        let count = self.rtts.total();
        (count > 0).then(|| self.rtt_sum as f64 / count as f64 / PICOSECONDS_PER_MILLISECOND)
    }

    /// The RTTs, milliseconds, that `shares` of the measured ones, which do not fall, do not exceed; `None` without any.
    #[must_use]
    pub fn rtt_percentiles_ms<const N: usize>(&self, shares: [f64; N]) -> [Option<f64>; N] {
        self.rtts.percentiles(shares).map_or([None; N], |rtts| rtts.map(|rtt| Some(rtt.as_millis())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(seconds: u64) -> Time {
        Time::ZERO + Span::from_seconds(seconds)
    }

    /// Samples of 1 to 5 ms at 1 to 5 s, measured from 2 s to 4 s: 2, 3 and 4 ms, whose mean is 3 ms.
    #[test]
    fn both_ends_of_the_measured_time_count() {
        let mut meter = Meter::new(Time::ZERO, (second(2), second(4)));
        assert_eq!((meter.mean_rtt_ms(), meter.rtt_percentiles_ms([0.5])), (None, [None]));
        (1..=5).for_each(|number| meter.record_rtt(second(number), Span::from_millis(number)));
        assert_eq!(meter.mean_rtt_ms(), Some(3.0));
        assert_eq!(meter.last_rtt(), Some(Span::from_millis(5)));
    }

    /// From 1 s on: 10 packets for 2 s, 4 packets for 1 s, 6 packets for half a second: 20 + 4 + 3.
    #[test]
    fn the_window_is_integrated_from_the_start() {
        let mut meter = Meter::new(second(1), (Time::ZERO, Time::NEVER));
        meter.hold_window(second(3), 10.0);
        meter.hold_window(second(4), 4.0);
        assert_eq!(meter.window_integral(second(4) + Span::from_millis(500), 6.0), 27.0);
    }
}
