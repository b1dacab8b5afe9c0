//! The queue of a link over time.

use ackclock_units::Time;

/// Packets in a queue over time, the packet in transmission included.
///
/// Its integral is kept as a sum that is updated only at changes. A packet that arrives at `a` and leaves at `d` adds
/// `d - a`, so departure times count positively and arrival times negatively. The packets still in the queue count as
/// if they left now.
#[derive(Clone, Copy, Debug, Default)]
pub struct Level {
    packets: u64,
    /// The smallest and largest queue since the extremes were last taken or measuring began; `least` is updated by
    /// [`Level::settle`].
    least: u64,
    most: u64,
    /// The largest queue between the last call of [`Level::take_extremes`] and the start of measuring.
    most_before: u64,
    /// The largest queue between the start of measuring and the last call of [`Level::take_extremes`].
    most_measured: u64,
    /// The sum of departure times minus the sum of arrival times, picoseconds; it wraps.
    balance: u128,
}

impl Level {
    /// Packets now.
    #[inline]
    #[must_use]
    pub const fn packets(&self) -> u64 {
        self.packets
    }

    /// A packet arrives at `now`.
    #[inline]
    pub fn enter(&mut self, now: Time) {
        self.settle();
        self.packets += 1;
        self.balance = self.balance.wrapping_sub(u128::from(now.0));
        // This is rare: a branch costs less than a maximum, which writes every time.
        if self.packets > self.most {
            self.most = self.packets;
        }
    }

    /// A packet leaves at `now`.
    #[inline]
    pub fn leave(&mut self, now: Time) {
        self.packets -= 1;
        self.balance = self.balance.wrapping_add(u128::from(now.0));
    }

    /// Records the minimum before the next packet arrives. The queue only shrinks until then, so its length need not be
    /// checked at each departure.
    #[inline]
    pub fn settle(&mut self) {
        if self.packets < self.least {
            self.least = self.packets;
        }
    }

    /// From `now` on there are `packets` packets.
    #[inline]
    pub fn set(&mut self, now: Time, packets: u64) {
        if packets == self.packets {
            return;
        }
        if packets == self.packets + 1 {
            self.enter(now);
        } else if packets + 1 == self.packets {
            self.leave(now);
            self.settle();
        } else {
            self.set_far(now, packets);
        }
    }

    /// As [`Level::set`], for a change by more than one packet.
    #[cold]
    fn set_far(&mut self, now: Time, packets: u64) {
        let gone = i128::from(self.packets) - i128::from(packets);
        self.settle();
        self.balance = self.balance.wrapping_add_signed(gone * i128::from(now.0));
        self.packets = packets;
        self.settle();
        self.most = self.most.max(packets);
    }

    /// The integral up to `now`, packets times picoseconds.
    #[must_use]
    pub fn integral(&self, now: Time) -> u128 {
        self.balance.wrapping_add(u128::from(self.packets) * u128::from(now.0))
    }

    /// From now on the longest queue is measured.
    pub fn start_measuring(&mut self) {
        self.most_before = self.most_before.max(self.most);
        (self.most, self.most_measured) = (self.packets, self.packets);
    }

    /// The longest queue since measuring began.
    #[must_use]
    pub fn most_measured(&self) -> u64 {
        self.most_measured.max(self.most)
    }

    /// The queue now, and its least and most since this was last asked.
    pub fn take_extremes(&mut self) -> (u64, u64, u64) {
        self.settle();
        let extremes = (self.packets, self.least, self.most.max(self.most_before));
        self.most_measured = self.most_measured();
        (self.least, self.most, self.most_before) = (self.packets, self.packets, 0);
        extremes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against the integral by its definition, and extremes by looking at every level: one packet at a time, and by
        /// larger steps.
        #[test]
        fn is_what_it_was_told(
            steps in prop::collection::vec((0_u64..1 << 40, 0_u64..9, any::<bool>()), 1..50),
            measured_from in 0_usize..50,
        ) {
            let (mut level, mut now, mut packets, mut integral) = (Level::default(), Time::ZERO, 0_u64, 0_u128);
            let (mut least, mut most, mut most_measured) = (0, 0, 0);
            for (number, (picoseconds, target, take)) in steps.into_iter().enumerate() {
                if number == measured_from {
                    level.start_measuring();
                    most_measured = packets;
                }
                integral += u128::from(packets) * u128::from(picoseconds);
                now.0 += picoseconds;
                match (target.cmp(&packets), target.abs_diff(packets)) {
                    (std::cmp::Ordering::Greater, 1) => level.enter(now),
                    (std::cmp::Ordering::Less, 1) => level.leave(now),
                    _ => level.set(now, target),
                }
                packets = target;
                (least, most, most_measured) = (least.min(packets), most.max(packets), most_measured.max(packets));
                prop_assert_eq!(level.integral(now), integral);
                prop_assert_eq!(level.most_measured(), most_measured);
                if take {
                    prop_assert_eq!(level.take_extremes(), (packets, least, most));
                    (least, most) = (packets, packets);
                }
            }
        }
    }
}
