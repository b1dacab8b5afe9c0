//! Information about a connection at one end.

use serde::{Deserialize, Serialize};

/// A connection at a moment, as the kernel (TCP_INFO) or quinn tells it. A packet of QUIC is a datagram, and one that was
/// taken for lost counts as a retransmission: QUIC sends what was in it again, in others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Info {
    /// Bytes that the other end has acknowledged; over QUIC with their headers.
    pub acked_bytes: u64,
    /// Bytes that have come in order.
    pub received_bytes: u64,
    /// Packets with data that were sent, retransmissions included; over QUIC all packets, acknowledgements too.
    pub sent_packets: u64,
    /// Retransmissions.
    pub retransmitted_packets: u64,
    /// Smoothed RTT, milliseconds.
    pub rtt_ms: f64,
    /// The smallest RTT, milliseconds.
    pub least_rtt_ms: f64,
    /// The congestion window, packets.
    pub window: u32,
    /// The slow-start threshold, packets; none before the first loss.
    pub ssthresh: Option<u32>,
    /// The delivery rate, Mbit/s.
    pub delivery_rate_mbps: f64,
}
