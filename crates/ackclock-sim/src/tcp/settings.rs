//! Settings of TCP senders.

use ackclock_units::{Span, Time};

use super::handshake::Handshake;
use crate::packet::EcnField;

/// Settings of a sender that do not change during a run.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The settings that every packet needs.
    pub packets: PacketSettings,
    /// Upper end of the random delay before each send.
    pub overhead: Span,
    /// Bits of an acknowledgement's count of marks.
    pub ace_bits: u64,
    /// Packets that may be in flight however small the window is.
    pub min_window: u64,
    /// The handshake before its data, if there is one.
    pub handshake: Option<Handshake>,
    /// When the flow starts.
    pub start: Time,
    /// When it stops sending.
    pub stop: Time,
}

/// Settings that a sender needs for every packet.
#[derive(Clone, Copy, Debug)]
pub struct PacketSettings {
    /// The flow.
    pub flow: u32,
    /// The entry of its packets in the table of routes.
    pub route: u32,
    /// Size of a data packet on the wire.
    pub packet_bytes: u16,
    /// Packets in flight that the receiver allows.
    pub receive_window: u32,
    /// Packets sent at once at most.
    pub max_burst: u32,
    /// Growth per packet delivered instead of per acknowledgement.
    pub growth_per_packet: bool,
    /// The window falls to the initial one after an idle time longer than the timeout.
    pub restarts: bool,
    /// Congestion avoidance counts bytes: the window grows even if the recovery style requires a full window.
    pub counts_bytes: bool,
    /// The codepoint of data that is sent for the first time.
    pub ecn: EcnField,
    /// Standard deviation of the noise on RTT measurements: uniform on [0, 2 sigma].
    pub rtt_noise: Span,
    /// Spread packets over the round trip when the control gives no rate, with these gains in slow start and after it.
    pub pacing_gains: Option<(f64, f64)>,
}
