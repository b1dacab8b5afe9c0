//! BIC as in Linux (behaviour of tcp_bic.c), which is not the paper's BI-TCP.
//!
//! Per round trip, towards the window of the last loss, a quarter of the distance, at most max_increment;
//! within two quarters of it, and up to a quarter's count beyond it, 4/smooth_part of a packet; then growth
//! by a third of the distance, and from 3*max_increment on by max_increment. Per loss event 819/1024 of the
//! window is kept. The kernel counts acknowledgements per packet of growth in whole numbers, and so does
//! this: with floating point the slow stretch around the last maximum would be half as long.
//!
//! The kernel makes up for delayed acknowledgements by their estimated number of packets, in 16ths, above 14 packets. The
//! estimate starts at 32/16 and, being truncated, never falls below 31/16: with one acknowledgement per
//! packet its BIC grows 31/16 times as fast as it is meant to, and where the count is small, faster, because the quotient
//! is a whole number, too: 3 * 16/31 is 1. So does this.
//!
//! A timeout makes the kernel forget the last maximum and the estimate.

use ackclock_units::Time;

use crate::parts::{Base, whole};
use crate::{Controller, Decision, Signal, Start};

crate::parameters! {
    /// Parameters of Linux's BIC.
    pub struct BicLinuxParams {
        /// window up to which it is Reno, packets
        low_window: f64 = 14.0, Domain::Number { minimum: 1.0, maximum: 1e9 };
        /// largest increase, packets per round trip
        max_increment: f64 = 16.0, Domain::Number { minimum: 1.0, maximum: 1e6 };
        /// steps from the last maximum less its neighbourhood to itself; larger is slower
        smooth_part: f64 = 20.0, Domain::Number { minimum: 1.0, maximum: 1e6 };
        /// fraction of the window kept at a loss event
        beta: f64 = 819.0 / 1024.0, Domain::Number { minimum: 0.001, maximum: 0.999 };
        /// release bandwidth to new flows
        fast_convergence: bool = true, Domain::Flag;
        /// acknowledgements per packet of growth are whole, as since Linux 4.0; before it took one more, half of one on average
        whole_counts: bool = true, Domain::Flag;
    }
}

/// The part of the distance to the last maximum that one round trip covers is 1/B.
const B: f64 = 4.0;
/// Before the first loss the window grows by at least 1/20 per round trip.
const LARGEST_COUNT_BEFORE_LOSS: f64 = 20.0;

impl BicLinuxParams {
    /// Acknowledgements per packet of growth, for a window of `w` whole packets and a last maximum of
    /// `last_max` packets, 0 before the first loss.
    #[must_use]
    pub fn count(&self, w: f64, last_max: f64) -> f64 {
        if w <= self.low_window {
            return w;
        }
        let slow = libm::floor(w * self.smooth_part / B);
        let linear = libm::floor(w / self.max_increment);
        let count = if w < last_max {
            let distance = libm::floor((last_max - w) / B);
            if distance > self.max_increment {
                linear
            } else if distance <= 1.0 {
                slow
            } else {
                libm::floor(w / distance)
            }
        } else if w < last_max + B {
            slow
        } else if w < last_max + self.max_increment * (B - 1.0) {
            libm::floor(w * (B - 1.0) / (w - last_max))
        } else {
            linear
        };
        let count = if last_max == 0.0 { count.min(LARGEST_COUNT_BEFORE_LOSS) } else { count };
        count.max(1.0)
    }

    /// [`count`](BicLinuxParams::count) as it applies where an acknowledgement stands for `ratio` packets: mostly a
    /// whole number, and the same up to `low_window`.
    #[must_use]
    pub fn corrected(&self, w: f64, count: f64, ratio: AckRatio) -> f64 {
        let each = count / ratio.value();
        match (w <= self.low_window, self.whole_counts) {
            (true, _) => count,
            (false, true) => libm::floor(each).max(1.0),
            (false, false) => each.max(1.0),
        }
    }
}

/// Packets per acknowledgement as the kernel estimates them, in 16ths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckRatio(u64);

impl Default for AckRatio {
    fn default() -> Self {
        AckRatio(2 * 16)
    }
}

impl AckRatio {
    /// Takes in an acknowledgement of `delivered` packets.
    pub fn note(&mut self, delivered: u64) {
        // At most 2^32 packets, so that no input overflows the sum.
        self.0 = self.0 - self.0 / 16 + delivered.min(1 << 32);
    }

    /// The estimate, packets per acknowledgement.
    #[must_use]
    pub fn value(self) -> f64 {
        self.0 as f64 / 16.0
    }
}

/// The control.
#[derive(Clone, Debug, PartialEq)]
pub struct BicLinux {
    params: BicLinuxParams,
    base: Base,
    /// Window of the last loss, whole packets; 0 before the first, and after a timeout.
    last_max: f64,
    /// Whole part of the window for which `count` was computed.
    counted_at: f64,
    count: f64,
    ack_ratio: AckRatio,
}

impl BicLinux {
    fn kept(&self) -> f64 {
        let w = self.base.window();
        w * if whole(w) <= self.params.low_window { 0.5 } else { self.params.beta }
    }

    fn note_maximum(&mut self) {
        let w = whole(self.base.window());
        let converging = self.params.fast_convergence && w < self.last_max;
        self.last_max = if converging { libm::floor(w * (1.0 + self.params.beta) / 2.0) } else { w };
        self.counted_at = f64::INFINITY;
    }
}

impl Controller for BicLinux {
    type Params = BicLinuxParams;

    fn new(params: BicLinuxParams, start: Start) -> Self {
        BicLinux {
            params,
            base: Base::new(start),
            last_max: 0.0,
            counted_at: f64::INFINITY,
            count: 1.0,
            ack_ratio: AckRatio::default(),
        }
    }

    fn on(&mut self, _: Time, signal: Signal) {
        match signal {
            Signal::Ack(ack) => {
                if ack.credit > 0.0 && !ack.recovering {
                    self.ack_ratio.note(ack.delivered.0);
                }
                let growth = self.base.slow_start(&ack);
                if growth > 0.0 {
                    let w = whole(self.base.window());
                    if w != self.counted_at {
                        self.counted_at = w;
                        self.count = self.params.count(self.counted_at, self.last_max);
                    }
                    self.base
                        .add(growth / self.params.corrected(self.counted_at, self.count, self.ack_ratio));
                    // A sender sends whole packets: rounded down, this window would be one packet smaller.
                    let next = whole(self.base.window());
                    if self.base.window() < next {
                        self.base.set(next);
                    }
                }
            }
            Signal::Loss { .. } => {
                let kept = self.kept();
                self.note_maximum();
                self.base.cut_to(kept);
            }
            Signal::Timeout { first } => {
                let kept = self.kept();
                self.base.timeout(first, kept);
                (self.last_max, self.counted_at) = (0.0, f64::INFINITY);
                self.ack_ratio = AckRatio::default();
            }
            _ => self.base.react(signal, self.params.beta),
        }
    }

    fn decision(&self) -> Decision {
        self.base.decision()
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("last_max", self.last_max);
        visit("alpha", self.base.window() / self.count);
    }
}
