//! The receiving side of TCP: cumulative, selective and delayed acknowledgements.

use std::mem::{offset_of, take};

use ackclock_scenario::Lies;
use ackclock_units::{Span, Time};

use super::SequenceSet;
use super::handshake::SYN;
use crate::context::Context;
use crate::endpoint::{Endpoint, ReceiverView, ReceivingEnd};
use crate::packet::{EcnField, Handle, Kind, Packet, Slab};
use crate::payload::{Payload, SackBlocks};
use crate::request_log::{Request, RequestLog};

/// With a short count, an acknowledgement is sent when this many marks are unreported: 2 while data is unacknowledged,
/// which is always the case here (RFC 9768, section 3.2.2.5.1).
const MOST_UNREPORTED_MARKS: u64 = 2;

/// Receives one flow.
///
/// As with the sender, its fields are in the order of memory: here the fields that few packets need come first.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct TcpReceiver {
    /// Blocks of the last acknowledgements, the newest first (RFC 2018, section 4).
    recent: SackBlocks,
    /// When the last packet of the transfer was delivered.
    completed: Option<Time>,
    /// The log of connections that carry requests.
    requests: Option<RequestLog>,
    /// Packets that a liar has acknowledged although they have not arrived.
    missed: u64,
    /// The last acknowledgement and, if acknowledgements are split, the number of parts already sent of the next one.
    last_ack: u64,
    parts: u64,
    /// The packet that arrived twice, if `has_duplicate`, and the number of all packets that did.
    duplicate: u64,
    duplicates: u64,
    /// Packets that arrived out of order.
    early: SequenceSet,
    /// The next packet that is expected.
    next: u64,
    /// Deliveries from this one on are looked at more closely.
    boundary: u64,
    /// Packets that arrived in order since the last acknowledgement.
    held_back: u64,
    /// When a held-back acknowledgement goes out at the latest.
    deadline: Time,
    /// The time at which the newest packet was sent; the next acknowledgement returns it.
    newest_sent: Time,
    /// Packets that came marked, and how many of them were reported (RFC 9768, section 3.2.2).
    marks: u64,
    reported_marks: u64,
    /// An acknowledgement is to be sent now.
    answers: bool,
    /// A packet came twice and is to be reported.
    has_duplicate: bool,
    /// The newest packet is a retransmission; the next acknowledgement returns this bit, too.
    newest_again: bool,
    /// The newest packet was marked.
    newest_marked: bool,
    /// When the SYN was sent that is to be answered.
    syn: Option<Time>,
    settings: ReceiverSettings,
}

/// Settings of a receiver.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ReceiverSettings {
    /// Size of an acknowledgement on the wire.
    pub ack_bytes: u16,
    /// Send selective acknowledgements.
    pub sack: bool,
    /// Report packets that came twice (RFC 2883).
    pub reports_duplicates: bool,
    /// The flow.
    pub flow: u32,
    /// The entry of its acknowledgements in the table of routes.
    pub route: u32,
    /// Packets per acknowledgement.
    pub delayed_ack: u64,
    /// How it lies.
    pub lies: Lies,
    /// An acknowledgement goes out at once when a marked packet follows an unmarked one.
    pub tells_marks_at_once: bool,
    /// The sender reads so few bits of the count of marks that it may not miss many.
    pub has_short_count: bool,
    /// How long an acknowledgement is held back.
    pub delayed_ack_timer: Span,
    /// Packets of the whole transfer; `u64::MAX` for no end.
    pub total: u64,
}

impl TcpReceiver {
    /// A receiver at the start of the run.
    #[must_use]
    pub fn new(settings: ReceiverSettings) -> Self {
        TcpReceiver {
            recent: [(0, 0); 3],
            completed: None,
            requests: None,
            missed: 0,
            last_ack: 0,
            parts: 0,
            duplicate: 0,
            duplicates: 0,
            early: SequenceSet::default(),
            next: 0,
            boundary: settings.total,
            held_back: 0,
            deadline: Time::NEVER,
            newest_sent: Time::ZERO,
            marks: 0,
            reported_marks: 0,
            answers: false,
            has_duplicate: false,
            newest_again: false,
            newest_marked: false,
            syn: None,
            settings,
        }
    }

    /// The same receiver before the start, of a connection that carries requests.
    #[must_use]
    pub fn with_requests(mut self, requests: Option<RequestLog>) -> Self {
        if requests.is_some() {
            (self.boundary, self.requests) = (0, requests);
        }
        self
    }

    /// Something may be complete at `now`.
    #[cold]
    fn complete(&mut self, now: Time) {
        let is_through = match &self.requests {
            Some(requests) => requests.deliver(now, self.next),
            None => true,
        };
        if is_through {
            (self.completed, self.boundary) = (Some(now), u64::MAX);
        }
    }

    /// Puts `block` first. Removes blocks that it contains and blocks below the next expected packet.
    fn note_block(&mut self, block: (u64, u64)) {
        let mut recent = [block, (0, 0), (0, 0)];
        let mut count = 1;
        for other in &self.recent {
            let is_apart = other.1 <= block.0 || other.0 >= block.1;
            if is_apart && other.1 > self.next && count < recent.len() {
                recent[count] = *other;
                count += 1;
            }
        }
        self.recent = recent;
    }

    /// Takes in a data packet; true when it must be acknowledged at once (RFC 5681, section 4.2).
    #[inline]
    fn take_in(&mut self, sequence: u64, again: bool) -> bool {
        if sequence < self.next {
            self.note_duplicate(sequence);
            if self.settings.lies.advance && !again && self.missed > 0 {
                // A liar acknowledged it before it came.
                (self.missed, self.duplicates) = (self.missed - 1, self.duplicates - 1);
            }
            return true;
        }
        if sequence > self.next {
            if self.settings.lies.advance {
                self.missed += sequence - self.next;
                self.next = sequence + 1;
                return false;
            }
            match self.early.insert(sequence) {
                Some(block) => self.note_block(block),
                None => self.note_duplicate(sequence),
            }
            return true;
        }
        self.next += 1;
        let fills_gap = !self.early.is_empty();
        if fills_gap {
            self.next = self.early.next_missing(self.next);
        }
        self.early.advance(self.next);
        fills_gap
    }

    #[cold]
    fn note_duplicate(&mut self, sequence: u64) {
        (self.duplicate, self.has_duplicate) = (sequence, true);
        self.duplicates += 1;
    }

    /// The newest packet or the one before it was marked, the newest if `marked`. Returns whether to acknowledge at once:
    /// with counts of marks at the first mark after an unmarked packet (RFC 9768, section 3.2.2.5.1), and with a short
    /// count when too many marks are unreported.
    fn note_mark(&mut self, marked: bool) -> bool {
        let first = marked && !self.newest_marked && self.settings.tells_marks_at_once;
        (self.marks, self.newest_marked) = (self.marks + u64::from(marked), marked);
        first || self.settings.has_short_count && self.marks >= self.reported_marks + MOST_UNREPORTED_MARKS
    }

    /// The payload of the next part of a split acknowledgement, if it is not the last part.
    // It does not return the packet itself, because then every acknowledgement would be written to memory and copied.
    #[cold]
    fn part(&mut self, payloads: &mut Slab<Payload>) -> Option<Handle> {
        if self.next == self.last_ack || self.parts + 1 >= self.settings.lies.split {
            (self.last_ack, self.parts) = (self.next, 0);
            return None;
        }
        self.parts += 1;
        Some(payloads.insert(Payload::Part))
    }

    /// The block of a packet that arrived twice, if there is one, then the blocks of packets that arrived early.
    fn blocks(&self, duplicate: Option<u64>) -> SackBlocks {
        let mut blocks = [(0, 0); 3];
        let mut count = 0;
        if let Some(sequence) = duplicate {
            blocks[0] = (sequence, sequence + 1);
            count = 1;
        }
        for block in &self.recent {
            if block.0 > self.next && count < blocks.len() {
                blocks[count] = *block;
                count += 1;
            }
        }
        blocks
    }
}

impl Endpoint for TcpReceiver {
    const ANSWERS: bool = true;
    const NEEDED: (usize, usize) = (
        offset_of!(TcpReceiver, early) + SequenceSet::NEEDED_FROM,
        offset_of!(TcpReceiver, settings) + offset_of!(ReceiverSettings, lies) + size_of::<Lies>(),
    );

    #[inline]
    fn on_packet(&mut self, packet: &Packet, context: &mut Context<'_>) {
        if packet.sequence == SYN {
            (self.syn, self.answers) = (Some(packet.sent), true);
            return;
        }
        let at_once = self.take_in(packet.sequence, packet.is_retransmission());
        if self.next >= self.boundary {
            self.complete(context.now);
        }
        (self.newest_sent, self.newest_again) = (packet.sent, packet.is_retransmission());
        let marked = packet.ecn() == EcnField::Marked && !self.settings.lies.ignore_marks;
        let tells = (marked || self.newest_marked) && self.note_mark(marked);
        self.held_back += 1;
        if at_once || tells || self.held_back >= self.settings.delayed_ack {
            self.answers = true;
        } else if self.deadline == Time::NEVER {
            self.deadline = context.now + self.settings.delayed_ack_timer;
        }
    }

    fn on_timer(&mut self, context: &mut Context<'_>) {
        if context.now >= self.deadline {
            self.answers = true;
        }
    }

    #[inline]
    fn next_packet(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        if !self.answers {
            return None;
        }
        let ReceiverSettings { flow, route, ack_bytes, sack, .. } = self.settings;
        if let Some(sent) = self.syn.take() {
            self.answers = self.held_back > 0;
            let answer = Packet::new(Kind::Ack, flow, route, 0, sent, ack_bytes);
            return Some(answer.with_handle(context.payloads.insert(Payload::Syn)));
        }
        if self.settings.lies.split > 1
            && let Some(handle) = self.part(context.payloads)
        {
            let part = Packet::new(Kind::Ack, flow, route, self.last_ack, self.newest_sent, ack_bytes);
            return Some(part.with_handle(handle));
        }
        self.answers = false;
        self.held_back = 0;
        self.deadline = Time::NEVER;
        let ack = Packet::new(Kind::Ack, flow, route, self.next, self.newest_sent, ack_bytes)
            .with_retransmission(self.newest_again)
            .with_echo(self.marks > self.reported_marks)
            .with_marks(self.marks);
        self.reported_marks = self.marks;
        let came_twice = take(&mut self.has_duplicate) && self.settings.reports_duplicates;
        let duplicate = came_twice.then_some(self.duplicate);
        if !sack || self.early.is_empty() && duplicate.is_none() {
            return Some(ack);
        }
        Some(ack.with_handle(context.payloads.insert(Payload::Sack(self.blocks(duplicate)))))
    }

    fn wakeup(&self) -> Time {
        self.deadline
    }
}

impl ReceivingEnd for TcpReceiver {
    fn view(&self) -> ReceiverView {
        let delivered = self.next - self.missed;
        ReceiverView {
            delivered,
            arrived: delivered + self.early.len(),
            duplicates: self.duplicates,
            completed: self.completed,
        }
    }

    fn is_over(&self) -> bool {
        self.completed.is_some() && !self.answers && self.deadline == Time::NEVER
    }

    fn requests(&self) -> Vec<Request> {
        self.requests.as_ref().map_or_else(Vec::new, RequestLog::requests)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds packets at time 0 and returns the acknowledgements with their blocks.
    fn answers(receiver: &mut TcpReceiver, sequences: &[u64]) -> Vec<(u64, Vec<(u64, u64)>)> {
        let mut payloads = Slab::default();
        let mut context = Context { now: Time::ZERO, payloads: &mut payloads, journal: &mut None };
        let mut acks = Vec::new();
        for sequence in sequences {
            let packet = Packet::new(Kind::Data, 0, 0, *sequence, Time::ZERO, 1000);
            receiver.on_packet(&packet, &mut context);
            while let Some(ack) = receiver.next_packet(&mut context) {
                let blocks = match context.payloads.remove(ack.handle()) {
                    Some(&Payload::Sack(blocks)) => blocks,
                    other => other.map_or_else(SackBlocks::default, |payload| panic!("{payload:?}")),
                };
                acks.push((ack.sequence, blocks.into_iter().filter(|block| block.1 > 0).collect()));
            }
        }
        acks
    }

    fn receiver(delayed_ack: u64) -> TcpReceiver {
        let timer = Span::from_millis(100);
        TcpReceiver::new(ReceiverSettings {
            flow: 0,
            route: 0,
            ack_bytes: 40,
            delayed_ack,
            delayed_ack_timer: timer,
            sack: true,
            reports_duplicates: false,
            tells_marks_at_once: false,
            has_short_count: false,
            total: u64::MAX,
            lies: Lies::NONE,
        })
    }

    /// RFC 2018, section 4: the first block holds the newest packet, the others repeat the newest blocks.
    #[test]
    fn blocks_come_newest_first_and_merge() {
        assert_eq!(
            answers(&mut receiver(1), &[0, 2, 4, 6, 8, 3, 1]),
            [
                (1, vec![]),
                (1, vec![(2, 3)]),
                (1, vec![(4, 5), (2, 3)]),
                (1, vec![(6, 7), (4, 5), (2, 3)]),
                (1, vec![(8, 9), (6, 7), (4, 5)]),
                (1, vec![(2, 5), (8, 9), (6, 7)]),
                (5, vec![(8, 9), (6, 7)]),
            ]
        );
    }

    #[test]
    fn duplicates_are_acknowledged_and_counted_once() {
        let mut receiver = receiver(1);
        assert_eq!(answers(&mut receiver, &[0, 0, 2, 2]).len(), 4);
        assert_eq!(receiver.next, 1);
    }

    #[test]
    fn every_second_packet_is_acknowledged_unless_something_is_missing() {
        let mut receiver = receiver(2);
        let acks: Vec<_> = answers(&mut receiver, &[0, 1, 2, 4, 3]).into_iter().map(|(ack, _)| ack).collect();
        // 1 completes a pair; 4 is early; 3 fills the gap.
        assert_eq!(acks, [2, 3, 5]);
    }

    #[test]
    fn a_held_back_acknowledgement_goes_out_in_time() {
        let mut receiver = receiver(2);
        assert!(answers(&mut receiver, &[0]).is_empty());
        assert_eq!(receiver.wakeup(), Time::ZERO + Span::from_millis(100));
        let mut payloads = Slab::default();
        let mut context = Context { now: receiver.wakeup(), payloads: &mut payloads, journal: &mut None };
        receiver.on_timer(&mut context);
        assert_eq!(receiver.next_packet(&mut context).map(|ack| ack.sequence), Some(1));
        assert_eq!(receiver.wakeup(), Time::NEVER);
    }
}
