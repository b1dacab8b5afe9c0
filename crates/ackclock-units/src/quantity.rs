//! Bytes, packets, windows and rates.

use core::fmt;
use core::str::FromStr;

use crate::decimal::{Dimension, UnitError, parse, write};
use crate::time::{PICOSECONDS_PER_SECOND, Span};

/// A number of bytes on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(transparent))]
pub struct Bytes(pub u64);

/// A number of whole packets: what is counted. A window, which papers write with fractions, is a [`Window`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(transparent))]
pub struct Packets(pub u64);

/// A congestion window or a threshold for it, in packets, with its fraction.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(transparent))]
pub struct Window(pub f64);

/// A rate in whole bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(transparent))]
pub struct Rate(pub u64);

/// A rate in packets per second, with its fraction: what a congestion control knows, for it knows no sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(transparent))]
pub struct PacketRate(pub f64);

impl PacketRate {
    /// The rate on a wire for packets of size `packet`, rounded down to whole bits per second.
    #[must_use]
    pub const fn on_wire(self, packet: Bytes) -> Rate {
        // A processor converts signed numbers in one instruction, and unsigned ones in seven.
        let bits = self.0 * packet.0 as i64 as f64 * 8.0;
        if bits > 0.0 && bits < i64::MAX as f64 { Rate(bits as i64 as u64) } else { unsigned(bits) }
    }
}

/// The rate of `bits` bits per second. Apart, since otherwise each packet would pay for both conversions.
#[cold]
#[inline(never)]
const fn unsigned(bits: f64) -> Rate {
    Rate(bits as u64)
}

impl Window {
    /// A threshold that is never reached.
    pub const UNLIMITED: Window = Window(f64::INFINITY);

    /// Whole packets that the window admits.
    #[must_use]
    pub const fn whole(self) -> Packets {
        Packets(self.0 as u64)
    }
}

impl Rate {
    /// Time to put `size` on a wire of this rate, rounded down to a picosecond; [`Span::MAX`] at rate 0.
    #[must_use]
    pub const fn serialisation(self, size: Bytes) -> Span {
        if self.0 == 0 {
            return Span::MAX;
        }
        let picoseconds = size.0 as u128 * 8 * PICOSECONDS_PER_SECOND as u128 / self.0 as u128;
        if picoseconds > u64::MAX as u128 { Span::MAX } else { Span(picoseconds as u64) }
    }

    /// The rate in Mbit/s, as the nearest floating-point number.
    #[must_use]
    pub const fn as_megabits(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl FromStr for Bytes {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse(text, Dimension::Bytes).map(Bytes)
    }
}

impl FromStr for Packets {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse(text, Dimension::Packets).map(Packets)
    }
}

impl FromStr for Rate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse(text, Dimension::Rate).map(Rate)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, self.0, &[("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)])
    }
}

impl fmt::Display for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} packets", self.0)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, self.0, &[("bit/s", 1), ("kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000)])
    }
}
