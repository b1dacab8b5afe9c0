//! A step: every packet is marked while the queue is longer than a threshold, as DCTCP asks (M. Alizadeh et al., SIGCOMM
//! 2010; RFC 8257, section 4.1). The threshold is in packets, seen by the packet that arrives, or a time, seen by the one
//! that leaves. Packets that cannot be marked pass; only the limit drops.

use ackclock_scenario as scenario;

use super::{InService, Management, Queue, Queued, Waiting};
use crate::packet::{EcnField, Packet};

/// Marks above a threshold.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    threshold: scenario::Threshold,
}

impl Step {
    /// Marks above `threshold`.
    #[must_use]
    pub const fn new(threshold: scenario::Threshold) -> Self {
        Step { threshold }
    }
}

impl Management for Step {
    fn enqueue(&mut self, packet: &Packet, in_service: InService, mut waiting: Waiting<'_>) {
        let above = match self.threshold {
            scenario::Threshold::Packets(most) => waiting.queue.len() + in_service.packets > most.0,
            scenario::Threshold::Time(_) => false,
        };
        // A packet that does not fit is dropped without a mark.
        if above && packet.ecn() != EcnField::NotCapable && waiting.queue.admits(packet, in_service) {
            let mut packet = *packet;
            waiting.mark_or_drop(&mut packet, true);
            waiting.add(&packet, in_service);
        } else {
            waiting.add(packet, in_service);
        }
    }

    fn dequeue(&mut self, mut waiting: Waiting<'_>) -> Option<Queued> {
        let mut queued = waiting.take()?;
        if let scenario::Threshold::Time(most) = self.threshold
            && waiting.now.since(queued.since) > most
            && queued.packet.ecn() != EcnField::NotCapable
        {
            waiting.mark_or_drop(&mut queued.packet, true);
        }
        Some(queued)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind;
    use crate::queue::{Droptail, Managed};
    use ackclock_units::{Packets, Span, Time};

    fn packet(sequence: u64, ecn: EcnField) -> Packet {
        let mut packet = Packet::new(Kind::Data, 0, 0, sequence, Time::ZERO, 1000);
        packet.set_ecn(ecn);
        packet
    }

    /// The packets that are kept of `arriving` at a queue of 10 packets under `threshold`, with those taken out after
    /// `wait`.
    fn pass(
        threshold: scenario::Threshold,
        arriving: &[EcnField],
        wait: Span,
    ) -> (Vec<EcnField>, usize, u64) {
        let mut queue = Managed::new(Step::new(threshold), Droptail::new(10, u64::MAX));
        let mut dropped = Vec::new();
        for (number, ecn) in arriving.iter().enumerate() {
            queue.enqueue(
                Time::ZERO,
                &packet(number as u64, *ecn),
                InService { packets: 1, bytes: 1000 },
                &mut dropped,
            );
        }
        let mut kept = Vec::new();
        while let Some(queued) = queue.dequeue(Time::ZERO + wait, &mut dropped) {
            kept.push(queued.packet.ecn());
        }
        (kept, dropped.len(), queue.marks())
    }

    /// One is in transmission. With K = 3 the packets that find 1, 2 and 3 pass; those that find 4 to 9 are marked; the two
    /// that find 10, the limit, are dropped. Nothing is dropped before, whatever it is capable of.
    #[test]
    fn packets_above_the_threshold_are_marked() {
        let threshold = scenario::Threshold::Packets(Packets(3));
        let capable = [EcnField::Capable, EcnField::Ect1, EcnField::NotCapable];
        let arriving: Vec<_> = (0..11).map(|number| capable[number % 3]).collect();
        let (kept, dropped, marks) = pass(threshold, &arriving, Span::ZERO);
        let marked = |number: usize| number >= 3 && arriving[number] != EcnField::NotCapable;
        let expected: Vec<_> =
            (0..9).map(|number| if marked(number) { EcnField::Marked } else { arriving[number] }).collect();
        assert_eq!((kept, dropped, marks), (expected, 2, 4));
    }

    /// Those that leave after 5 ms are not marked, those that leave later are.
    #[test]
    fn packets_that_waited_too_long_are_marked() {
        let threshold = scenario::Threshold::Time(Span::from_millis(5));
        for (wait, ecn) in [(5, EcnField::Ect1), (6, EcnField::Marked)] {
            let (kept, dropped, marks) = pass(threshold, &[EcnField::Ect1; 4], Span::from_millis(wait));
            let expected = if ecn == EcnField::Marked { 4 } else { 0 };
            assert_eq!((kept, dropped, marks), (vec![ecn; 4], 0, expected));
        }
    }
}
