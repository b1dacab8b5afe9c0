//! Single quantities, for programs that take them elsewhere than in a scenario: read by the same rules and refused with
//! the same words.

use ackclock_units::{Bytes, Packets, Rate, Span, parse_fraction};

use crate::keys::Form;
use crate::model::Limit;
use crate::tree::Content;
use crate::value::Value;

/// The quantity that a text expresses, and the unit of the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A time, seconds.
    TimeS,
    /// A rate above zero, bit/s.
    RateBps,
    /// A size of at least one byte, bytes.
    SizeBytes,
    /// A count of packets.
    Packets,
    /// A share from 0 to 1.
    Fraction,
    /// A number of at least 0, which may be written in per cent.
    Number,
}

impl Kind {
    /// The kinds by name.
    pub const NAMES: &'static [(&'static str, Kind)] = &[
        ("time_s", Kind::TimeS),
        ("rate_bps", Kind::RateBps),
        ("size_bytes", Kind::SizeBytes),
        ("packets", Kind::Packets),
        ("fraction", Kind::Fraction),
        ("number", Kind::Number),
    ];
}

/// Reads a quantity.
///
/// ```
/// use ackclock_scenario::{Kind, quantity};
/// assert_eq!(quantity("80 ms", Kind::TimeS), Ok(0.08));
/// assert_eq!(quantity("1%", Kind::Fraction), Ok(0.01));
/// assert!(quantity("80", Kind::TimeS).unwrap_err().starts_with("the unit is missing; expected a time"));
/// ```
///
/// # Errors
/// The problem and the allowed values.
pub fn quantity(text: &str, kind: Kind) -> Result<f64, String> {
    let content = Content::Text(text.to_owned());
    Ok(match kind {
        Kind::TimeS => Span::read(&content, Form::Time)?.as_seconds(),
        Kind::RateBps => Rate::read(&content, Form::Rate)?.0 as f64,
        Kind::SizeBytes => Bytes::read(&content, Form::Size(u64::MAX))?.0 as f64,
        Kind::Packets => text.parse::<Packets>().map_err(|error| error.to_string())?.0 as f64,
        Kind::Fraction => f64::read(&content, Form::Fraction)?,
        Kind::Number => parse_fraction(text).map_err(|error| error.to_string())?,
    })
}

/// The unit of a queue's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
}

/// Reads the size of a queue: a number of packets or of bytes.
///
/// # Errors
/// The problem and the allowed values.
pub fn limit(text: &str) -> Result<(u64, Unit), String> {
    Ok(match Limit::read(&Content::Text(text.to_owned()), Form::Limit)? {
        Limit::Packets(packets) => (packets.0, Unit::Packets),
        Limit::Bytes(bytes) => (bytes.0, Unit::Bytes),
    })
}
