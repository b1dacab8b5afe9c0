//! Instants and spans in whole picoseconds.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};
use core::str::FromStr;

use crate::decimal::{Dimension, UnitError, parse, write};

/// Picoseconds in one second.
pub const PICOSECONDS_PER_SECOND: u64 = 1_000_000_000_000;

const UNITS: &[(&str, u64)] =
    &[("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", PICOSECONDS_PER_SECOND)];

/// An instant: picoseconds since the start of the run. Half a year fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(transparent))]
pub struct Time(pub u64);

/// A span of time in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(transparent))]
pub struct Span(pub u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than everything that happens: "never".
    pub const NEVER: Time = Time(u64::MAX);

    /// The span since `earlier`; zero when `earlier` lies in the future.
    #[must_use]
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// Seconds since the start of the run, as the nearest floating-point number.
    #[must_use]
    pub const fn as_seconds(self) -> f64 {
        Span(self.0).as_seconds()
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);
    /// The longest span.
    pub const MAX: Span = Span(u64::MAX);

    /// A span of whole seconds.
    #[must_use]
    pub const fn from_seconds(seconds: u64) -> Span {
        Span(seconds * PICOSECONDS_PER_SECOND)
    }

    /// A span of whole milliseconds.
    #[must_use]
    pub const fn from_millis(milliseconds: u64) -> Span {
        Span(milliseconds * 1_000_000_000)
    }

    /// A span of whole microseconds.
    #[must_use]
    pub const fn from_micros(microseconds: u64) -> Span {
        Span(microseconds * 1_000_000)
    }

    /// The span of `seconds`, rounded to the nearest picosecond; zero for negative numbers and NaN, the
    /// longest span for numbers that do not fit.
    #[must_use]
    pub const fn from_seconds_f64(seconds: f64) -> Span {
        Span((seconds * 1e12 + 0.5) as u64)
    }

    /// The span in seconds, as the nearest floating-point number.
    #[must_use]
    pub const fn as_seconds(self) -> f64 {
        self.0 as f64 / 1e12
    }

    /// The span in milliseconds, as the nearest floating-point number.
    #[must_use]
    pub const fn as_millis(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The span `factor` times as long; [`Span::MAX`] when it does not fit.
    #[must_use]
    pub const fn saturating_mul(self, factor: u64) -> Span {
        Span(self.0.saturating_mul(factor))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    /// The instant a span later; [`Time::NEVER`] when it does not fit.
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl Sub for Span {
    type Output = Span;
    /// The difference; zero when `other` is longer.
    fn sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

impl FromStr for Span {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse(text, Dimension::Time).map(Span)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 { f.write_str("0 s") } else { write(f, self.0, UNITS) }
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Span(self.0).fmt(f)
    }
}
