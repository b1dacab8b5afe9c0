//! Rate-based controls: a sender that spaces packets by its law, and receivers that report.
//!
//! Data packets carry what the sender measured, reports what the receiver computed: six words of the same kind that
//! carry selective acknowledgements for TCP ([`Header`], [`Report`]).

mod catalogue;
mod sender;
pub mod tear;
pub mod tfrc;

pub use catalogue::BuiltIn;
pub use sender::{Law, RateSender, RateSettings};

use ackclock_units::Span;

use crate::packet::SackBlocks;

/// What a data packet carries: the sender's round-trip time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Header {
    /// The smoothed round-trip time; zero before the first sample.
    pub rtt: Span,
    /// The sender's rate, packets per second.
    pub rate: f64,
}

impl Header {
    const fn to_words(self) -> SackBlocks {
        [(self.rtt.0, self.rate.to_bits()), (0, 0), (0, 0)]
    }

    const fn from_words(words: SackBlocks) -> Self {
        Header { rtt: Span(words[0].0), rate: f64::from_bits(words[0].1) }
    }
}

/// What a receiver reports.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// How long the receiver kept the time stamp that it returns.
    pub delay: Span,
    /// Rate at which packets arrived, packets per second.
    pub received: f64,
    /// TFRC: the loss event rate. TEAR: the rate to send at, packets per second.
    pub verdict: f64,
    /// The report comes of a timer, and its time stamp is too old to measure by.
    pub stale: bool,
}

impl Report {
    const fn to_words(self) -> SackBlocks {
        [(self.delay.0, self.received.to_bits()), (self.verdict.to_bits(), self.stale as u64), (0, 0)]
    }

    const fn from_words(words: SackBlocks) -> Self {
        Report {
            delay: Span(words[0].0),
            received: f64::from_bits(words[0].1),
            verdict: f64::from_bits(words[1].0),
            stale: words[1].1 != 0,
        }
    }
}
