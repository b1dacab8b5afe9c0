//! One packet at a time whose round trip is measured, as a sender without time stamps does (V. Jacobson, SIGCOMM 1988;
//! P. Karn and C. Partridge, SIGCOMM 1987). As in ns-2 (`rtt_active_` of tcp.cc) it is the first new packet that is sent
//! while no other is timed.

use ackclock_units::Time;

/// The packet that is timed, if there is one.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimedPacket(Option<(u64, Time)>);

impl TimedPacket {
    /// The new packet `sequence` is sent at `now`: it is timed unless another one is.
    #[inline]
    pub fn on_new(&mut self, now: Time, sequence: u64) {
        self.0.get_or_insert((sequence, now));
    }

    /// Something is sent again, or a timeout says that it will be: an acknowledgement would not tell which copy it
    /// answers, or whether it had to wait for the repair, so nothing is timed until the next new packet.
    #[inline]
    pub fn abandon(&mut self) {
        self.0 = None;
    }

    /// Everything below `cumulative` is acknowledged. Returns when the timed packet was sent, if it is among that.
    #[inline]
    pub fn on_ack(&mut self, cumulative: u64) -> Option<Time> {
        let (_, sent) = self.0.take_if(|(sequence, _)| cumulative > *sequence)?;
        Some(sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_units::Span;
    use proptest::prelude::*;

    fn at(milliseconds: u64) -> Time {
        Time::ZERO + Span::from_millis(milliseconds)
    }

    /// 3 is timed from 10 ms on, so 4 is not; the acknowledgement of 2 does not end it, that of 3 does; then 7 is next.
    #[test]
    fn one_packet_at_a_time() {
        let mut timed = TimedPacket::default();
        timed.on_new(at(10), 3);
        timed.on_new(at(11), 4);
        assert_eq!(timed.on_ack(3), None);
        assert_eq!(timed.on_ack(4), Some(at(10)));
        assert_eq!(timed.on_ack(5), None);
        timed.on_new(at(20), 7);
        assert_eq!(timed.on_ack(10), Some(at(20)), "a later acknowledgement tells, too");
    }

    proptest! {
        /// Karn's rule, whatever happens: between the sending of a packet that gives a sample and its acknowledgement
        /// nothing is sent again, and no two samples overlap.
        #[test]
        fn no_sample_spans_a_retransmission(steps in prop::collection::vec((0_u8..3, 0_u64..20), 1..300)) {
            let mut timed = TimedPacket::default();
            let (mut next, mut oldest, mut since) = (0, 0, Time::ZERO);
            for (now, (step, count)) in (1..).map(at).zip(steps) {
                match step {
                    0 => {
                        timed.on_new(now, next);
                        next += 1;
                    }
                    1 => {
                        timed.abandon();
                        since = now;
                    }
                    _ => {
                        oldest = next.min(oldest + count);
                        if let Some(sent) = timed.on_ack(oldest) {
                            prop_assert!(sent > since);
                            since = now;
                        }
                    }
                }
            }
        }
    }
}
