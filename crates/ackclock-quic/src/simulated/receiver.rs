//! The end that receives.

use ackclock_scenario::Flow;
use ackclock_sim::Placement;
use ackclock_sim::endpoint::{Context, Endpoint, ReceiverView, ReceivingEnd};
use ackclock_sim::packet::{Kind, Packet};
use ackclock_units::Time;
use quinn_proto::{Dir, StreamId};

use super::peer::{HEADERS, Peer};

/// What a full packet carries besides data of the stream, bytes: flags, connection id (8), packet number (2), the stream's
/// frame (type, id, offset of 4 to 8, length of 2), authentication tag (16).
const OVERHEAD: u16 = 1 + 8 + 2 + (1 + 1 + 6 + 2) + 16;

/// Accepts, and reads all that comes, in order.
pub struct Receiver {
    peer: Peer,
    flow: u32,
    route: u32,
    stream: Option<StreamId>,
    bytes: u64,
    /// Data of the stream in a full packet, bytes.
    segment: u64,
    completed: Option<Time>,
    /// When quinn wants to be woken.
    due: Time,
}

impl Receiver {
    /// The receiver of `flow`.
    #[must_use]
    pub fn new(peer: Peer, flow: &Flow, placement: &Placement) -> Receiver {
        let segment = flow.tcp.packet.0 - u64::from(HEADERS + OVERHEAD);
        let due = Time::NEVER;
        Receiver {
            peer,
            flow: placement.id,
            route: placement.ack_route,
            stream: None,
            bytes: 0,
            segment,
            completed: None,
            due,
        }
    }

    /// The application's part.
    fn read(&mut self, now: Time) {
        while self.peer.poll().is_some() {}
        let Some(connection) = self.peer.connection() else { return };
        if self.stream.is_none() {
            self.stream = connection.streams().accept(Dir::Uni);
        }
        let (Some(id), None) = (self.stream, self.completed) else { return };
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return };
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => self.bytes += chunk.bytes.len() as u64,
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

impl Endpoint for Receiver {
    fn on_packet(&mut self, packet: &Packet, context: &mut Context<'_>) {
        self.peer.receive(context.now, packet);
        self.read(context.now);
    }

    fn on_timer(&mut self, context: &mut Context<'_>) {
        self.peer.wake(context.now);
    }

    fn next_packet(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        let Some((number, bytes, ecn)) = self.peer.transmit(context.now) else {
            self.due = self.peer.wakeup();
            return None;
        };
        let mut packet = Packet::new(Kind::Ack, self.flow, self.route, number, context.now, bytes);
        packet.set_ecn(ecn);
        Some(packet)
    }

    fn wakeup(&self) -> Time {
        self.due
    }
}

impl ReceivingEnd for Receiver {
    fn view(&self) -> ReceiverView {
        ReceiverView { delivered: self.bytes / self.segment, completed: self.completed }
    }
}
