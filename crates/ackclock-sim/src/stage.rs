//! The surroundings in which endpoints act: the destinations of their packets, and their observers.

use std::io;

use ackclock_trace::{Capture, Segment};
use ackclock_units::Time;

use crate::context::{Context, JournalEntry};
use crate::link::LinkChange;
use crate::network::{Network, Occurrence};
use crate::packet::{EndId, Kind, Packet};
use crate::payload::Payload;
use crate::schedule::Schedule;
use crate::tcp::SYN;

/// The parts of the network that an endpoint reaches while it acts.
pub struct Stage {
    /// The simulated time.
    pub now: Time,
    /// Links and routes.
    pub network: Network,
    /// The schedule of components.
    pub schedule: Schedule,
    /// The table of events of flows, when they are recorded.
    pub journal: Option<Vec<JournalEntry>>,
    /// Data packets put on the wire so far.
    pub packets: u64,
    /// The packet capture, if there is one.
    pub capture: Option<Box<PacketCapture>>,
}

impl Stage {
    /// The services that an endpoint may call.
    #[inline]
    pub fn context(&mut self) -> Context<'_> {
        Context { now: self.now, payloads: &mut self.network.payloads, journal: &mut self.journal }
    }

    /// Records in the digest what happened to `end`, with packet `sequence`, if any, and the bits of its window.
    #[inline]
    pub fn note(&mut self, end: EndId, what: Occurrence, sequence: u64, window: u64) {
        let component = self.network.number_of(end);
        self.network.digest.note(self.now.0, component, what as u8, end.flow(), sequence, window);
    }

    /// Sends a packet of `end`, which acts. Senders send data, and receivers acknowledgements.
    // Inlined: 20 of 1600 instructions per packet.
    #[inline(always)]
    pub fn send<const ANSWERS: bool>(&mut self, end: EndId, packet: Packet) {
        if end.is_sender() {
            self.packets += 1;
            self.show(packet);
        }
        self.network.send::<ANSWERS>(self.now, end, packet, &mut self.schedule);
    }

    /// Changes a link.
    pub fn change(&mut self, link: u32, change: LinkChange) {
        self.network.change(self.now, link, change, &mut self.schedule);
    }

    /// Writes a packet that its sender's host sends or receives now, if packets are captured.
    #[inline]
    pub fn show(&mut self, packet: Packet) {
        if let Some(capture) = &mut self.capture {
            capture.write(self.now, packet.in_memory(), &self.network);
        }
    }
}

/// A packet capture, and how it shows each flow.
pub struct PacketCapture {
    output: Capture,
    /// Bytes of a data packet; 0 for flows that do not speak TCP, which it cannot show.
    packet_bytes: Vec<u16>,
    end: Time,
}

impl PacketCapture {
    /// A capture in `output`, up to `end`, of flows whose data packets have `packet_bytes` bytes; 0 excludes a flow.
    ///
    /// # Errors
    /// When its header cannot be written.
    pub fn new(output: Box<dyn io::Write + Send>, packet_bytes: Vec<u16>, end: Time) -> io::Result<Self> {
        Ok(PacketCapture { output: Capture::new(output)?, packet_bytes, end })
    }

    /// Writes `packet`, which its sender's host sends or receives at `time`.
    #[cold]
    #[inline(never)]
    fn write(&mut self, time: Time, packet: Packet, network: &Network) {
        let flow = packet.flow();
        let packet_bytes = self.packet_bytes[flow as usize];
        let is_syn =
            packet.sequence == SYN || matches!(network.payloads.get(packet.handle()), Some(Payload::Syn));
        if packet_bytes == 0 || time >= self.end || is_syn {
            return;
        }
        let blocks = match network.payloads.get(packet.handle()) {
            Some(Payload::Sack(blocks)) => *blocks,
            _ => Default::default(),
        };
        let acknowledges = packet.kind() == Kind::Ack;
        self.output.write(&Segment {
            time,
            flow,
            sequence: packet.sequence,
            acknowledges,
            packet_bytes,
            blocks,
        });
    }

    /// Ends the capture.
    ///
    /// # Errors
    /// When anything of it could not be written.
    pub fn finish(self) -> io::Result<()> {
        self.output.finish()
    }
}
