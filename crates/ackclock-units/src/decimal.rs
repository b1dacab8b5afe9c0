//! Reading and writing decimal numbers with units, exactly: no detour through floating point.

use core::fmt;

/// The quantity that a text was expected to express; messages say what is allowed from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// A span of time.
    Time,
    /// A rate in bits per second.
    Rate,
    /// A number of bytes.
    Bytes,
    /// A number of packets.
    Packets,
    /// A share between 0 and 1.
    Fraction,
}

impl Dimension {
    /// Names of the units with the factor that turns one into the smallest unit.
    const fn units(self) -> &'static [(&'static str, u64)] {
        match self {
            Dimension::Time => &[
                ("ps", 1),
                ("ns", 1_000),
                ("us", 1_000_000),
                // The micro sign, and the Greek letter, which is the unit's own.
                ("\u{b5}s", 1_000_000),
                ("\u{3bc}s", 1_000_000),
                ("usec", 1_000_000),
                ("ms", 1_000_000_000),
                ("msec", 1_000_000_000),
                ("s", 1_000_000_000_000),
                ("sec", 1_000_000_000_000),
                ("min", 60_000_000_000_000),
                ("h", 3_600_000_000_000_000),
            ],
            Dimension::Rate => &[
                ("bit/s", 1),
                ("kbit/s", 1_000),
                ("Mbit/s", 1_000_000),
                ("Gbit/s", 1_000_000_000),
                ("Tbit/s", 1_000_000_000_000),
                ("bit", 1),
                ("kbit", 1_000),
                ("Mbit", 1_000_000),
                ("Gbit", 1_000_000_000),
                ("Tbit", 1_000_000_000_000),
                ("bps", 1),
                ("kbps", 1_000),
                ("Mbps", 1_000_000),
                ("Gbps", 1_000_000_000),
                ("kb/s", 1_000),
                ("Mb/s", 1_000_000),
                ("Gb/s", 1_000_000_000),
            ],
            Dimension::Bytes => &[
                ("B", 1),
                ("kB", 1_000),
                ("MB", 1_000_000),
                ("GB", 1_000_000_000),
                ("TB", 1_000_000_000_000),
                ("KiB", 1 << 10),
                ("MiB", 1 << 20),
                ("GiB", 1 << 30),
                ("byte", 1),
                ("bytes", 1),
            ],
            Dimension::Packets => &[("packets", 1), ("packet", 1)],
            // Parts per million of a million: enough digits for loss probabilities.
            Dimension::Fraction => &[("%", 10_000_000_000_000)],
        }
    }

    /// An example and the units that are understood, for messages.
    #[must_use]
    pub const fn allowed(self) -> &'static str {
        match self {
            Dimension::Time => "a time such as \"50 ms\" (ps, ns, us, ms, s, min, h)",
            Dimension::Rate => "a rate such as \"100 Mbit/s\" (bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s)",
            Dimension::Bytes => "a size such as \"1000 B\" (B, kB, MB, GB, TB, KiB, MiB, GiB)",
            Dimension::Packets => "a number of packets such as \"100 packets\"",
            Dimension::Fraction => "a share such as \"1.5 %\" or a number from 0 to 1",
        }
    }
}

/// Why a text could not be read as a quantity of the expected dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitError {
    /// There is no number at the start.
    NoNumber(Dimension),
    /// There is a number but no unit behind it.
    MissingUnit(Dimension),
    /// The unit is none of this dimension.
    UnknownUnit(Dimension),
    /// The number is below zero.
    Negative(Dimension),
    /// The number does not fit the type.
    TooLarge(Dimension),
}

impl UnitError {
    /// The quantity that was expected.
    #[must_use]
    pub const fn dimension(self) -> Dimension {
        match self {
            UnitError::NoNumber(dimension)
            | UnitError::MissingUnit(dimension)
            | UnitError::UnknownUnit(dimension)
            | UnitError::Negative(dimension)
            | UnitError::TooLarge(dimension) => dimension,
        }
    }
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (problem, dimension) = match *self {
            UnitError::NoNumber(d) => ("not a number", d),
            UnitError::MissingUnit(d) => ("the unit is missing", d),
            UnitError::UnknownUnit(d) => ("unknown unit", d),
            UnitError::Negative(d) => ("must not be negative", d),
            UnitError::TooLarge(d) => ("too large", d),
        };
        write!(f, "{problem}; expected {}", dimension.allowed())
    }
}

impl core::error::Error for UnitError {}

/// Reads `text` as a number of the smallest unit of `dimension`, rounded to the nearest whole one.
///
/// # Errors
/// A [`UnitError`] that says what is wrong and what is allowed.
pub(crate) fn parse(text: &str, dimension: Dimension) -> Result<u64, UnitError> {
    let number = Number::read(text.trim(), dimension)?;
    if number.negative && number.digits != 0 {
        return Err(UnitError::Negative(dimension));
    }
    if number.unit.is_empty() {
        return Err(UnitError::MissingUnit(dimension));
    }
    // People write "100mbit" for a rate; elsewhere, and in "Mb/s", the case of a unit carries meaning (B, b).
    let same = |name: &str| {
        let any_case = dimension == Dimension::Rate && !name.ends_with("b/s");
        name == number.unit || any_case && name.eq_ignore_ascii_case(number.unit)
    };
    let (_, factor) =
        dimension.units().iter().find(|(name, _)| same(name)).ok_or(UnitError::UnknownUnit(dimension))?;
    number.times(*factor).ok_or(UnitError::TooLarge(dimension))
}

/// Reads a share: `"1.5 %"`, or a bare number from 0 to 1. Returns the share as a number from 0 upwards;
/// the caller checks its upper end.
///
/// # Errors
/// A [`UnitError`] when the text is neither, or is negative.
pub fn parse_fraction(text: &str) -> Result<f64, UnitError> {
    let trimmed = text.trim();
    if let Ok(value) = trimmed.parse::<f64>() {
        return match value {
            v if v.is_nan() => Err(UnitError::NoNumber(Dimension::Fraction)),
            v if v < 0.0 => Err(UnitError::Negative(Dimension::Fraction)),
            v if v.is_infinite() => Err(UnitError::TooLarge(Dimension::Fraction)),
            v => Ok(v),
        };
    }
    parse(trimmed, Dimension::Fraction).map(|value| value as f64 / 1e15)
}

/// A decimal number as written: `digits * 10^exponent`, and the text behind it.
struct Number<'a> {
    negative: bool,
    digits: u128,
    exponent: i32,
    unit: &'a str,
}

impl<'a> Number<'a> {
    fn read(text: &'a str, dimension: Dimension) -> Result<Self, UnitError> {
        let (negative, mut rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mut digits, mut exponent, mut has_digits, mut fraction) = (0_u128, 0_i32, false, false);
        while let Some(c) = rest.chars().next() {
            if let Some(digit) = c.to_digit(10) {
                digits = digits
                    .checked_mul(10)
                    .and_then(|d| d.checked_add(u128::from(digit)))
                    .ok_or(UnitError::TooLarge(dimension))?;
                exponent -= i32::from(fraction);
                has_digits = true;
            } else if c == '.' && !fraction {
                fraction = true;
            } else if c != '_' {
                break;
            }
            rest = &rest[c.len_utf8()..];
        }
        if !has_digits {
            return Err(UnitError::NoNumber(dimension));
        }
        if let Some((power, behind)) = power_of_ten(rest) {
            exponent = exponent.saturating_add(power);
            rest = behind;
        }
        Ok(Number { negative, digits, exponent, unit: rest.trim_start() })
    }

    /// The number times `factor`, rounded half up to a whole number; `None` when it does not fit.
    fn times(&self, factor: u64) -> Option<u64> {
        let product = self.digits.checked_mul(u128::from(factor))?;
        let power = 10_u128.checked_pow(self.exponent.unsigned_abs());
        let value = match (self.exponent >= 0, power) {
            (true, Some(power)) => product.checked_mul(power)?,
            (true, None) if product == 0 => 0,
            (true, None) => return None,
            (false, Some(power)) => product / power + u128::from(product % power >= power.div_ceil(2)),
            (false, None) => 0,
        };
        u64::try_from(value).ok()
    }
}

/// Reads `e-3` at the start of `text`: the power and what follows.
fn power_of_ten(text: &str) -> Option<(i32, &str)> {
    let rest = text.strip_prefix(['e', 'E'])?;
    let signed = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    let length = rest.len() - signed.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let power = rest[..length].parse().ok()?;
    Some((power, &rest[length..]))
}

/// Writes `value` (in the smallest unit) in the largest of `units` that leaves a number of at least 1,
/// without losing a digit.
pub(crate) fn write(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, u64)]) -> fmt::Result {
    let (name, factor) = units
        .iter()
        .rev()
        .find(|(_, factor)| value >= *factor)
        .or_else(|| units.last())
        .copied()
        .unwrap_or(("", 1));
    let (whole, mut rest) = (value / factor, value % factor);
    write!(f, "{whole}")?;
    if rest > 0 {
        f.write_str(".")?;
        let mut step = factor;
        while rest > 0 && step > 1 {
            step /= 10;
            write!(f, "{}", rest / step)?;
            rest %= step;
        }
    }
    write!(f, " {name}")
}
