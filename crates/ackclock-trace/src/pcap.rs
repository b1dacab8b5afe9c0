//! Packet captures that Wireshark reads: what a sender's host would see of its flows, with IPv4 and TCP
//! headers of real lengths and no payload bytes beyond the snapshot length.
//!
//! Each flow begins with a synthetic handshake that announces window scaling and selective
//! acknowledgements. Sequence numbers count bytes of payload: the packet less 40 bytes of headers.

use std::io::{self, Write};

use ackclock_units::Time;

/// Length of IPv4 and TCP headers without options.
const HEADERS: u32 = 40;
/// Most bytes that are kept of a packet: its headers with all options.
const SNAPSHOT: u32 = HEADERS + 40;
/// Marks a file of the format pcap 2.4 whose times are in nanoseconds, in the byte order of what follows: little-endian.
const MAGIC: u32 = 0xA1B2_3C4D;
const VERSION: [u16; 2] = [2, 4];
/// Packets that begin with their IPv4 header (`LINKTYPE_IPV4`).
const LINK_TYPE: u32 = 228;
/// Window scale announced in the handshake, and the scaled window in every packet.
const WINDOW_SCALE: u8 = 14;
const RECEIVE_WINDOW: u16 = u16::MAX;

const SYN: u8 = 0x02;
const ACK: u8 = 0x10;

/// A packet of a flow as a capture shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// When it passes.
    pub time: Time,
    /// Its flow.
    pub flow: u32,
    /// Number of the data packet; of an acknowledgement, the next number that is expected.
    pub sequence: u64,
    /// Whether it is an acknowledgement.
    pub acknowledges: bool,
    /// Size of the flow's data packets on the wire.
    pub packet_bytes: u16,
    /// Selective blocks in packet numbers; empty ones are unused.
    pub blocks: [(u64, u64); 3],
}

/// A capture that is being written.
pub struct Capture {
    output: Box<dyn Write + Send>,
    /// Flows whose handshake is written.
    known: Vec<bool>,
    error: Option<io::Error>,
}

impl Capture {
    /// Begins a capture.
    ///
    /// # Errors
    /// When the header cannot be written.
    pub fn new(mut output: Box<dyn Write + Send>) -> io::Result<Self> {
        let mut header = MAGIC.to_le_bytes().to_vec();
        header.extend(VERSION.map(u16::to_le_bytes).as_flattened());
        // No time zone, and no statement about the accuracy of times.
        header.extend([0, 0, SNAPSHOT, LINK_TYPE].map(u32::to_le_bytes).as_flattened());
        output.write_all(&header)?;
        Ok(Capture { output, known: Vec::new(), error: None })
    }

    /// Writes a packet. An error is kept for [`Capture::finish`].
    pub fn write(&mut self, segment: &Segment) {
        if self.error.is_some() {
            return;
        }
        if let Err(error) = self.try_write(segment) {
            self.error = Some(error);
        }
    }

    fn try_write(&mut self, segment: &Segment) -> io::Result<()> {
        let flow = segment.flow as usize;
        if self.known.len() <= flow {
            self.known.resize(flow + 1, false);
        }
        if !std::mem::replace(&mut self.known[flow], true) {
            self.handshake(segment)?;
        }
        let payload = u32::from(segment.packet_bytes).saturating_sub(HEADERS).max(1);
        // Byte 0 of the stream is the handshake; numbers wrap as on the wire.
        let byte = |packet: u64| (packet.wrapping_mul(u64::from(payload)) as u32).wrapping_add(1);
        if !segment.acknowledges {
            return self.packet(segment, true, ACK, byte(segment.sequence), 1, &[], payload);
        }
        let blocks: Vec<_> = segment.blocks.iter().filter(|block| block.1 > block.0).collect();
        let mut options = Vec::new();
        if !blocks.is_empty() {
            options.extend([1, 1, 5, 2 + 8 * blocks.len() as u8]);
            for block in blocks {
                options.extend(byte(block.0).to_be_bytes());
                options.extend(byte(block.1).to_be_bytes());
            }
        }
        self.packet(segment, false, ACK, 1, byte(segment.sequence), &options, 0)
    }

    fn handshake(&mut self, segment: &Segment) -> io::Result<()> {
        let size = segment.packet_bytes.saturating_sub(HEADERS as u16).to_be_bytes();
        // Maximum segment size, selective acknowledgements permitted, no-operation, window scale.
        let options = [2, 4, size[0], size[1], 4, 2, 1, 3, 3, WINDOW_SCALE, 1, 1];
        self.packet(segment, true, SYN, 0, 0, &options, 0)?;
        self.packet(segment, false, SYN | ACK, 0, 1, &options, 0)?;
        self.packet(segment, true, ACK, 1, 1, &[], 0)
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of a header")]
    fn packet(
        &mut self,
        segment: &Segment,
        from_sender: bool,
        flags: u8,
        sequence: u32,
        acknowledgement: u32,
        options: &[u8],
        payload: u32,
    ) -> io::Result<()> {
        let headers = HEADERS + options.len() as u32;
        let length = headers + payload;
        let nanoseconds = segment.time.0 / 1000;
        // A record has 32 bits for seconds; all times are below 2^64 ps, 1.8 * 10^7 s.
        let seconds = (nanoseconds / 1_000_000_000) as u32;
        let fraction = (nanoseconds % 1_000_000_000) as u32;
        // Nothing of the payload is kept: the headers, and the length that the packet had.
        let mut bytes = [seconds, fraction, headers, length].map(u32::to_le_bytes).concat();
        bytes.extend(ip_header(segment.flow, from_sender, length as u16));
        bytes.extend(tcp_header(from_sender, flags, sequence, acknowledgement, options));
        self.output.write_all(&bytes)
    }

    /// Ends the capture.
    ///
    /// # Errors
    /// The first error that occurred while writing.
    pub fn finish(mut self) -> io::Result<()> {
        match self.error {
            Some(error) => Err(error),
            None => self.output.flush(),
        }
    }
}

/// An IPv4 header: senders are 10.0.x.y, receivers 10.128.x.y, with x.y from the flow.
fn ip_header(flow: u32, from_sender: bool, length: u16) -> Vec<u8> {
    let host = |receiver: bool| {
        let [_, a, b, c] = flow.to_be_bytes();
        [10, if receiver { a | 128 } else { a & 127 }, b, c]
    };
    let [high, low] = length.to_be_bytes();
    // Version and header length, no service class, length, no identification, may not fragment, 64 hops, TCP.
    let mut header = vec![0x45, 0, high, low, 0, 0, 0x40, 0, 64, 6, 0, 0];
    header.extend(host(!from_sender));
    header.extend(host(from_sender));
    let checksum = checksum(&header);
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    header
}

/// The internet checksum (RFC 1071).
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    let mut sum: u32 = words.sum();
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    !(sum as u16)
}

/// A TCP header. Its checksum is left zero, as hosts do that leave it to their network card.
fn tcp_header(from_sender: bool, flags: u8, sequence: u32, acknowledgement: u32, options: &[u8]) -> Vec<u8> {
    let (sender, receiver) = (40_000_u16, 5001_u16);
    let (from, to) = if from_sender { (sender, receiver) } else { (receiver, sender) };
    let mut header = Vec::with_capacity(20 + options.len());
    header.extend(from.to_be_bytes());
    header.extend(to.to_be_bytes());
    header.extend(sequence.to_be_bytes());
    header.extend(acknowledgement.to_be_bytes());
    header.push((5 + options.len() as u8 / 4) << 4);
    header.push(flags);
    header.extend(RECEIVE_WINDOW.to_be_bytes());
    header.extend([0; 4]);
    header.extend(options);
    header
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// A buffer in place of a file, to be read after the capture has been closed.
    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn segment(time: Time) -> Segment {
        let blocks = [(0, 0); 3];
        Segment { time, flow: 0, sequence: 0, acknowledges: false, packet_bytes: 1000, blocks }
    }

    /// The layout of draft-ietf-opsawg-pcap, sections 4 and 5, written out by hand: the header of the file, the header of
    /// the SYN's record at 1.170594 s, and the beginning of its packet.
    #[test]
    fn files_are_laid_out_as_the_format_says() {
        let written = Written::default();
        let mut capture = Capture::new(Box::new(written.clone())).unwrap();
        capture.write(&segment(Time(1_170_594_000_000)));
        capture.finish().unwrap();
        let bytes = written.0.lock().unwrap();
        let expected = [
            0x4D, 0x3C, 0xB2, 0xA1, // nanoseconds, little-endian
            2, 0, 4, 0, // version 2.4
            0, 0, 0, 0, 0, 0, 0, 0, // two reserved fields
            80, 0, 0, 0, // snapshot: 40 bytes of headers and at most 40 of options
            228, 0, 0, 0, // LINKTYPE_IPV4
            1, 0, 0, 0, // seconds
            0xD0, 0x0E, 0x2B, 0x0A, // 170,594,000 = 0x0A2B0ED0 nanoseconds
            52, 0, 0, 0, // kept: 40 bytes of headers and 12 of options
            52, 0, 0, 0, // on the wire: the same, since a SYN has no payload
            0x45, 0, 0, 52, // IPv4 with a header of five words, in network order
        ];
        assert_eq!(bytes[..expected.len()], expected);
        // Three packets of the handshake, 52, 52 and 40 bytes, and the headers of the data packet, each with 16 bytes before.
        assert_eq!(bytes.len(), 24 + 4 * 16 + 52 + 52 + 40 + 40);
    }
}
