//! HyStart as in the CUBIC of Linux (`tcp_cubic.c` of Linux 6.12, behaviour): S. Ha, I. Rhee, PFLDnet 2008.
//!
//! Slow start ends at the current window when the acknowledgements of a round trip form a train that is longer than
//! half of the smallest RTT (the whole of it when packets are paced), or when the smallest RTT of a round trip, after
//! eight samples, exceeds the smallest of the connection by an eighth of it, at least 4 ms and at most 16 ms.

use ackclock_units::{Span, Time};

use crate::Ack;

/// Nothing is decided below this window, packets (`hystart_low_window`).
const LOW_WINDOW: f64 = 16.0;
/// Samples of a round trip before its delay counts (`HYSTART_MIN_SAMPLES`).
const SAMPLES: u32 = 8;
/// Acknowledgements this far apart still belong to one train (`hystart_ack_delta_us`).
const IN_TRAIN: Span = Span::from_millis(2);
/// Allowance for segmentation offload: the kernel's bound, which holds below 2 Gbit/s.
const OFFLOAD: Span = Span::from_millis(1);
/// The rise of the delay that counts lies between these (`HYSTART_DELAY_MIN`, `HYSTART_DELAY_MAX`).
const RISES: (Span, Span) = (Span::from_millis(4), Span::from_millis(16));

/// The state of HyStart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HyStartLinux {
    /// The sender paces its packets.
    paced: bool,
    /// It has ended slow start, which it does only once until a timeout.
    has_ended: bool,
    round: u64,
    round_began: Time,
    /// The last acknowledgement of the train that began with the round trip.
    train: Time,
    samples: u32,
    current: Span,
    least: Span,
}

impl HyStartLinux {
    /// The state at the start of a connection.
    #[must_use]
    pub const fn new(paced: bool) -> Self {
        HyStartLinux {
            paced,
            has_ended: false,
            round: 0,
            round_began: Time::ZERO,
            train: Time::ZERO,
            samples: 0,
            current: Span::MAX,
            least: Span::MAX,
        }
    }

    /// The state after a timeout, with which Linux also begins.
    #[must_use]
    pub const fn afresh(self) -> Self {
        HyStartLinux::new(self.paced)
    }

    /// Takes the acknowledgement, which comes at `now` in slow start with a window of `window` packets; returns whether
    /// slow start ends. An acknowledgement without an RTT changes nothing.
    pub fn leaves_slow_start(&mut self, now: Time, window: f64, ack: &Ack) -> bool {
        let Some(rtt) = ack.rtt else { return false };
        self.least = self.least.min(rtt);
        if self.has_ended {
            return false;
        }
        if ack.round != self.round {
            (self.round, self.round_began, self.train) = (ack.round, now, now);
            (self.samples, self.current) = (0, Span::MAX);
        }
        if window < LOW_WINDOW {
            return false;
        }
        self.has_ended = self.train_is_long(now) || self.delay_has_risen(rtt);
        self.has_ended
    }

    fn train_is_long(&mut self, now: Time) -> bool {
        if now.since(self.train) > IN_TRAIN {
            return false;
        }
        self.train = now;
        let whole = self.least + OFFLOAD;
        now.since(self.round_began) > if self.paced { whole } else { Span(whole.0 / 2) }
    }

    fn delay_has_risen(&mut self, rtt: Span) -> bool {
        self.current = self.current.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        self.current > self.least + Span(self.least.0 / 8).clamp(RISES.0, RISES.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(rtt_ms: u64, round: u64) -> Ack {
        Ack { rtt: Some(Span::from_millis(rtt_ms)), round, ..Ack::of_one_packet() }
    }

    fn at(milliseconds: u64) -> Time {
        Time::ZERO + Span::from_millis(milliseconds)
    }

    /// How many acknowledgements of a round trip, `apart` ms from each other and with `rtt_ms` after a smallest RTT of
    /// 100 ms, it takes until slow start ends, of 200.
    fn ends_at(mut hystart: HyStartLinux, window: f64, apart: u64, rtt_ms: u64) -> Option<u64> {
        assert!(!hystart.leaves_slow_start(at(0), window, &ack(100, 1)));
        (0..200).find(|n| hystart.leaves_slow_start(at(200 + n * apart), window, &ack(rtt_ms, 2)))
    }

    /// 2 ms apart is a train, which is longer than (100 + 1)/2 ms after 26 acknowledgements, and than 101 ms, with pacing,
    /// after 51. 3 ms apart is none, and below 16 packets nothing counts.
    #[test]
    fn a_long_train_ends_slow_start() {
        let (plain, paced) = (HyStartLinux::new(false), HyStartLinux::new(true));
        assert_eq!(ends_at(plain, 16.0, 2, 100), Some(26));
        assert_eq!(ends_at(paced, 16.0, 2, 100), Some(51));
        assert_eq!(ends_at(plain, 16.0, 3, 100), None);
        assert_eq!(ends_at(plain, 15.0, 2, 100), None);
    }

    /// More than 12.5 ms above 100 ms, at the ninth sample.
    #[test]
    fn a_risen_delay_ends_slow_start() {
        let plain = HyStartLinux::new(false);
        assert_eq!(ends_at(plain, 16.0, 3, 113), Some(8));
        assert_eq!(ends_at(plain, 16.0, 3, 112), None);
    }
}
