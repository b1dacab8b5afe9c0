//! Measurements that every sender takes of itself, by the same rules for all.

use std::mem::offset_of;

use ackclock_trace::{Counters, Histogram};
use ackclock_units::{Span, Time};

use crate::prefetch::prefetch;

const PICOSECONDS_PER_SECOND: f64 = 1e12;
const PICOSECONDS_PER_MILLISECOND: f64 = 1e9;

/// Counters, round-trip times, and the window over time.
///
/// An RTT counts when its acknowledgement arrives within the measured time, which does not include its last instant.
// The order is that of memory: fields that few packets need are last.
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
    largest_window: f64,
    /// The holder that holds the sender back now, and the time for which each holder did so, picoseconds: the sum of
    /// end times minus the sum of start times. The sums wrap, and the current holder counts as if it ended now.
    holder: Holder,
    held: [u64; 5],
    /// Counters from time 0, without those of drops and duplicates, which only the network and the receiver know.
    pub counters: Counters,
    start: Time,
}

/// What keeps a sender from sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Holder {
    /// Its congestion window.
    Window,
    /// The receive window.
    Receiver,
    /// The application has nothing to send.
    Application,
    /// Pacing, or the rate of a control without a window.
    Pacing,
    /// The transfer is complete, so that nothing is held back.
    Nothing,
}

/// Times in which each holder held a sender back, in the order of [`Holder`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held([Span; 4]);

impl Held {
    /// The times since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Held) -> Held {
        Held(std::array::from_fn(|holder| self.0[holder] - earlier.0[holder]))
    }

    /// The shares of their sum, ten-thousandths that add up to 10 000; `None` where the sum is zero.
    #[must_use]
    pub fn shares(&self) -> Option<[u16; 4]> {
        let sum: u128 = self.0.iter().map(|time| u128::from(time.0)).sum();
        let (mut so_far, mut before) = (0, 0);
        (sum > 0).then(|| {
            // Each border between two shares is rounded, so that the shares add up.
            self.0.map(|time| {
                so_far += u128::from(time.0);
                let border = ((so_far * 10_000 + sum / 2) / sum) as u16;
                border - std::mem::replace(&mut before, border)
            })
        })
    }
}

impl Meter {
    /// Up to this byte it is needed for every packet.
    pub const NEEDED_UNTIL: usize =
        offset_of!(Meter, counters) + offset_of!(Counters, sent_packets) + size_of::<u64>();

    /// The meter of a sender that starts at `start`, until then held back by its application, and whose RTTs are measured
    /// from the first of `measured` on and before the second.
    #[must_use]
    pub fn new(start: Time, measured: (Time, Time)) -> Self {
        let mut held = [0; 5];
        held[Holder::Application as usize] = start.0.wrapping_neg();
        Meter {
            start,
            measured,
            counters: Counters { loss_events: Some(0), ..Counters::default() },
            last_rtt: None,
            rtt_sum: 0,
            rtts: Histogram::default(),
            window_integral: 0.0,
            window_since: start,
            largest_window: 0.0,
            holder: Holder::Application,
            held,
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
        if now >= self.measured.0 && now < self.measured.1 {
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
        // This is rare: a branch costs less than a maximum, which writes every time.
        if window > self.largest_window {
            self.largest_window = window;
        }
    }

    /// The largest window from the start to `now`, packets; the current window is `window` packets. `None` before the
    /// start and without a window.
    #[must_use]
    pub fn largest_window(&self, now: Time, window: f64) -> Option<f64> {
        (now > self.start && !window.is_nan()).then(|| self.largest_window.max(window))
    }

    /// From `now` on the sender is held back by `holder`.
    #[inline]
    pub fn hold(&mut self, now: Time, holder: Holder) {
        if holder != self.holder {
            let [before, after] = [self.holder, holder].map(|holder| holder as usize);
            self.held[before] = self.held[before].wrapping_add(now.0);
            self.held[after] = self.held[after].wrapping_sub(now.0);
            self.holder = holder;
        }
    }

    /// The times in which each holder held the sender back, from the start to `now`.
    #[must_use]
    pub fn held(&self, now: Time) -> Held {
        let mut held = self.held;
        held[self.holder as usize] = held[self.holder as usize].wrapping_add(now.max(self.start).0);
        let [window, receiver, application, pacing, _] = held;
        Held([window, receiver, application, pacing].map(Span))
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

    /// The percentiles of the measured RTTs at `shares`, milliseconds; the shares must not decrease. `None` without any
    /// RTT.
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

    /// Samples of 1 to 5 ms at 1 to 5 s, measured from 2 s on and before 5 s: 2, 3 and 4 ms, whose mean is 3 ms.
    #[test]
    fn the_measured_time_has_its_first_instant_and_not_its_last() {
        let mut meter = Meter::new(Time::ZERO, (second(2), second(5)));
        assert_eq!((meter.mean_rtt_ms(), meter.rtt_percentiles_ms([0.5])), (None, [None]));
        (1..=5).for_each(|number| meter.record_rtt(second(number), Span::from_millis(number)));
        assert_eq!(meter.mean_rtt_ms(), Some(3.0));
        assert_eq!(meter.last_rtt(), Some(Span::from_millis(5)));
    }

    /// From 1 s on held by its application for 1 s, by the window for 2 s, and by pacing for 3 s. Then the transfer is
    /// complete. 2, 0, 1 and 3 of 6 s have their borders at 3333.3, 3333.3 and 5000 ten-thousandths.
    #[test]
    fn what_holds_a_sender_back_is_timed() {
        let mut meter = Meter::new(second(1), (Time::ZERO, Time::NEVER));
        assert_eq!(meter.held(second(1)).shares(), None);
        let early = meter.held(second(2));
        assert_eq!(early.shares(), Some([0, 0, 10_000, 0]));
        meter.hold(second(2), Holder::Window);
        meter.hold(second(3), Holder::Window);
        meter.hold(second(4), Holder::Pacing);
        assert_eq!(meter.held(second(5)).shares(), Some([5000, 0, 2500, 2500]));
        meter.hold(second(7), Holder::Nothing);
        assert_eq!(meter.held(second(99)).shares(), Some([3333, 0, 1667, 5000]));
        // From 2 s on: 2 s and 3 s.
        assert_eq!(meter.held(second(99)).since(&early).shares(), Some([4000, 0, 0, 6000]));
    }

    /// From 1 s on: 10 packets for 2 s, 4 packets for 1 s, 6 packets for half a second: 20 + 4 + 3.
    #[test]
    fn the_window_is_integrated_from_the_start() {
        let mut meter = Meter::new(second(1), (Time::ZERO, Time::NEVER));
        meter.hold_window(second(3), 10.0);
        meter.hold_window(second(4), 4.0);
        assert_eq!(meter.window_integral(second(4) + Span::from_millis(500), 6.0), 27.0);
        assert_eq!(meter.largest_window(second(4), 6.0), Some(10.0));
        assert_eq!(
            (meter.largest_window(second(4), 11.5), meter.largest_window(second(1), 11.5)),
            (Some(11.5), None)
        );
    }
}
