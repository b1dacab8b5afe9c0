//! The end that receives.

use std::collections::BTreeMap;

use ackclock_sim::Placement;
use ackclock_sim::context::Context;
use ackclock_sim::endpoint::{Endpoint, ReceiverView, ReceivingEnd};
use ackclock_sim::packet::{Kind, Packet};
use ackclock_units::Time;
use quinn_proto::{Dir, StreamId};

use super::peer::{Peer, check};

/// Accepts a connection, and reads all bytes at once when they arrive. Otherwise quinn would keep bytes beyond a gap,
/// and it gives a connection up when there are too many gaps, as after the end of slow start on a long path.
pub struct QuicReceiver {
    peer: Peer,
    flow: u32,
    route: u32,
    stream: Option<StreamId>,
    /// Bytes that have come without a gap, and stretches that have come beyond one, from start to end.
    bytes: u64,
    early: BTreeMap<u64, u64>,
    /// All bytes that have come, each once, and the packets that brought them.
    all_bytes: u64,
    packets: u64,
    /// Packets' worth of the bytes without a gap. It does not fall when a packet beyond one brings more than others do.
    delivered: u64,
    completed: Option<Time>,
    /// When quinn wants to be woken.
    peer_wakeup: Time,
}

impl QuicReceiver {
    /// The receiver of `flow`.
    #[must_use]
    pub fn new(peer: Peer, placement: &Placement) -> QuicReceiver {
        let peer_wakeup = Time::NEVER;
        QuicReceiver {
            peer,
            flow: placement.id,
            route: placement.ack_route,
            stream: None,
            bytes: 0,
            early: BTreeMap::new(),
            all_bytes: 0,
            packets: 0,
            delivered: 0,
            completed: None,
            peer_wakeup,
        }
    }

    /// The application's part.
    fn read(&mut self, now: Time) {
        while let Some(event) = self.peer.poll() {
            check(self.flow, &event);
        }
        let Some(connection) = self.peer.connection() else { return };
        if self.stream.is_none() {
            self.stream = connection.streams().accept(Dir::Uni);
        }
        let (Some(id), None) = (self.stream, self.completed) else { return };
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(false) else { return };
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => {
                    let end = chunk.offset + chunk.bytes.len() as u64;
                    take_in(&mut self.bytes, &mut self.early, chunk.offset, end);
                    self.all_bytes += chunk.bytes.len() as u64;
                }
                Ok(None) => {
                    self.completed = Some(now);
                    break;
                }
                Err(_) => break,
            }
        }
        let _ = chunks.finalize();
    }
}

/// Adds the bytes from `start` to `end`, which have not arrived before.
fn take_in(whole: &mut u64, early: &mut BTreeMap<u64, u64>, start: u64, end: u64) {
    if start > *whole {
        // Stretches that touch are one.
        let before =
            early.range(..=start).next_back().filter(|(_, end)| **end == start).map(|(start, _)| *start);
        let end = early.remove(&end).unwrap_or(end);
        early.insert(before.unwrap_or(start), end);
        return;
    }
    *whole = end;
    while let Some(first) = early.first_entry()
        && *first.key() <= *whole
    {
        *whole = first.remove().max(*whole);
    }
}

impl Endpoint for QuicReceiver {
    fn on_packet(&mut self, packet: &Packet, context: &mut Context<'_>) {
        let before = self.all_bytes;
        self.peer.receive(context.now, packet);
        self.read(context.now);
        self.packets += u64::from(self.all_bytes > before);
        // A packet has as much of the stream as there is room behind its headers, which vary.
        let in_order = u128::from(self.packets) * u128::from(self.bytes) / u128::from(self.all_bytes.max(1));
        self.delivered = self.delivered.max(in_order as u64);
    }

    fn on_timer(&mut self, context: &mut Context<'_>) {
        self.peer.wake(context.now);
    }

    fn next_packet(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        let Some((number, bytes, ecn)) = self.peer.transmit(context.now) else {
            self.peer_wakeup = self.peer.wakeup(context.now);
            return None;
        };
        let mut packet = Packet::new(Kind::Ack, self.flow, self.route, number, context.now, bytes);
        packet.set_ecn(ecn);
        Some(packet)
    }

    fn wakeup(&self) -> Time {
        self.peer_wakeup
    }
}

impl ReceivingEnd for QuicReceiver {
    fn view(&self) -> ReceiverView {
        ReceiverView {
            delivered: self.delivered,
            arrived: self.packets,
            // Data that is sent again is another packet.
            duplicates: 0,
            completed: self.completed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes 0-9, then 20-29, 30-39 and 50-59, 40-49 between them: 20-59 are one stretch; with 10-19 all 60 are there.
    #[test]
    fn stretches_become_one() {
        let (mut whole, mut early) = (0, BTreeMap::new());
        for (start, expected) in [(0, 10), (20, 10), (30, 10), (50, 10), (40, 10), (10, 60)] {
            take_in(&mut whole, &mut early, start, start + 10);
            assert_eq!(whole, expected);
            assert!(early.len() <= 2);
        }
        assert!(early.is_empty());
    }
}
