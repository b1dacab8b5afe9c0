//! Data of packets in addition to their numbers: selective acknowledgements, and the messages of rate-based controls.

use ackclock_units::Span;

/// The payload of one packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Payload {
    /// On an acknowledgement of TCP.
    Sack(SackBlocks),
    /// On an acknowledgement of TCP that acknowledges a part of a packet.
    Part,
    /// On the answer to a SYN.
    Syn,
    /// On data of a rate-based control.
    Header(Header),
    /// On an acknowledgement of a rate-based control.
    Report(Report),
}

/// Blocks of a selective acknowledgement (RFC 2018): at most three, each from its first packet up to the one
/// after its last; empty ones are unused.
pub type SackBlocks = [(u64, u64); 3];

/// Information from the sender of a rate-based control to its receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Header {
    /// The smoothed round-trip time; zero before the first sample.
    pub rtt: Span,
    /// The sender's rate, packets per second.
    pub rate: f64,
    /// TFRC of 2000: TCP's retransmission timeout, seconds.
    pub timeout: f64,
    /// TFRC of 2000: reports and their absences until now.
    pub round: u64,
    /// TFRC of 2000: this packet asks for a report at once.
    pub urgent: bool,
}

/// A report of the receiver of a rate-based control.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// How long the receiver kept the time stamp that it returns.
    pub delay: Span,
    /// Rate at which packets arrived, packets per second.
    pub received: f64,
    /// TFRC: the loss event rate. TEAR: the window to send, packets per round-trip time.
    pub verdict: f64,
    /// Loss events since the start, as TFRC and TEAR count them.
    pub loss_events: u64,
    /// A timer caused the report, and its time stamp is too old to measure by.
    pub stale: bool,
}
