//! Values of keys: the texts that each type accepts, in the words of a refusal.

mod answers;

use ackclock_units::{Bytes, Packets, Rate, Span, UnitError, Window, parse_fraction};

use answers::meant;
pub(crate) use answers::{did_you_mean, instead, is_hidden};

use crate::keys::{Form, LARGEST_REQUEST, MOST_PACKETS};
use crate::model::{Limit, Moment, Sample, Sizes};
use crate::tree::Content;

/// A type that a key can hold.
pub(crate) trait Value: Sized {
    /// Reads it as `form` allows.
    ///
    /// # Errors
    /// The problem and the allowed values, without the location.
    fn read(content: &Content, form: Form) -> Result<Self, String>;
}

/// A type that summaries show under the name of its key.
pub(crate) trait Shown: Value {
    /// The value as a scenario writes it under a key of this form.
    fn shown(&self, form: Form) -> serde_json::Value;
}

/// Reads a text with `parse`. A bare number is parsed too: the message then says that the unit is missing.
fn parsed<T>(content: &Content, parse: impl FnOnce(&str) -> Result<T, UnitError>) -> Result<T, String> {
    let text = text_of(content)?;
    parse(&text).map_err(|error| format!("{error}{}", meant(&text, error)))
}

fn text_of(content: &Content) -> Result<String, String> {
    match content {
        Content::Text(text) => Ok(text.clone()),
        number @ (Content::Whole(_) | Content::Real(_)) => Ok(number.to_string()),
        other => Err(format!("expected a text, found {}", other.kind())),
    }
}

/// The number, or NaN, which no range contains.
fn number_or_nan(content: &Content) -> f64 {
    match content {
        Content::Whole(whole) => *whole as f64,
        Content::Real(real) => *real,
        _ => f64::NAN,
    }
}

fn is_unlimited(content: &Content) -> bool {
    matches!(content, Content::Text(text) if text == "unlimited")
}

impl Value for Span {
    fn read(content: &Content, form: Form) -> Result<Self, String> {
        match parsed(content, str::parse)? {
            Span::ZERO if form == Form::PositiveTime => Err("must be longer than 0 s".to_owned()),
            span => Ok(span),
        }
    }
}

/// The refusal of a rate of zero.
pub(crate) const NO_RATE: &str = "must be above 0 bit/s";

impl Value for Rate {
    fn read(content: &Content, _: Form) -> Result<Self, String> {
        match parsed(content, str::parse)? {
            Rate(0) => Err(NO_RATE.to_owned()),
            rate => Ok(rate),
        }
    }
}

/// A rate, or none: unlimited.
impl Value for Option<Rate> {
    fn read(content: &Content, form: Form) -> Result<Self, String> {
        if is_unlimited(content) { Ok(None) } else { Rate::read(content, form).map(Some) }
    }
}

impl Value for Bytes {
    fn read(content: &Content, form: Form) -> Result<Self, String> {
        let size: Bytes = parsed(content, str::parse)?;
        let most = if let Form::Size(most) = form { most } else { u64::MAX };
        if size.0 == 0 || size.0 > most {
            return Err(format!("must lie between 1 B and {most} B, is {} B", size.0));
        }
        Ok(size)
    }
}

/// Bounds of a load.
const LEAST_LOAD: f64 = 1e-4;
const MOST_LOAD: f64 = 10.0;

/// A share from 0 to 1, or a number between two others.
impl Value for f64 {
    fn read(content: &Content, form: Form) -> Result<Self, String> {
        if let Form::Number(least, most) = form {
            let number = number_or_nan(content);
            if (least..=most).contains(&number) {
                return Ok(number);
            }
            return Err(format!("expected a number from {least} to {most}, found {content}"));
        }
        match parsed(content, parse_fraction)? {
            load if form == Form::Load && !(LEAST_LOAD..=MOST_LOAD).contains(&load) => {
                Err(format!("must lie between 0.01 % and 1000 %, is {} %", load * 100.0))
            }
            load if form == Form::Load => Ok(load),
            share if share > 1.0 => Err(format!("must lie between 0 % and 100 %, is {} %", share * 100.0)),
            share => Ok(share),
        }
    }
}

impl Value for u64 {
    fn read(content: &Content, form: Form) -> Result<Self, String> {
        let (least, most) = match form {
            Form::Whole(least, most) => (least, most),
            _ => (1, MOST_PACKETS),
        };
        let number = match content {
            Content::Whole(whole) => u64::try_from(*whole).ok(),
            _ => None,
        };
        match number {
            Some(number) if (least..=most).contains(&number) => Ok(number),
            _ if most == u64::MAX => {
                Err(format!("expected a whole number of at least {least}, found {content}"))
            }
            _ => Err(format!("expected a whole number from {least} to {most}, found {content}")),
        }
    }
}

impl Value for u32 {
    fn read(content: &Content, form: Form) -> Result<Self, String> {
        let number = u64::read(content, form)?;
        u32::try_from(number).map_err(|_| format!("must be at most {}, is {number}", u32::MAX))
    }
}

impl Value for Packets {
    fn read(content: &Content, form: Form) -> Result<Self, String> {
        u64::read(content, form).map(Packets)
    }
}

/// A number of packets, or none: unlimited, which some keys write as 0.
impl Value for Option<Packets> {
    fn read(content: &Content, form: Form) -> Result<Self, String> {
        if form == Form::PacketsOrUnlimited && is_unlimited(content) {
            return Ok(None);
        }
        Packets::read(content, form).map(|packets| Some(packets).filter(|packets| packets.0 > 0))
    }
}

impl Value for Window {
    fn read(content: &Content, form: Form) -> Result<Self, String> {
        let (least, or) = match form {
            Form::WindowOrUnlimited(_) if is_unlimited(content) => return Ok(Window::UNLIMITED),
            Form::WindowOrUnlimited(least) => (least, " or \"unlimited\""),
            Form::Window(least) => (least, ""),
            _ => (0.0, ""),
        };
        let (packets, most) = (number_or_nan(content), MOST_PACKETS as f64);
        if (least..=most).contains(&packets) {
            return Ok(Window(packets));
        }
        Err(format!("expected a number of packets from {least} to {most}{or}, found {content}"))
    }
}

impl Value for bool {
    fn read(content: &Content, _: Form) -> Result<Self, String> {
        match content {
            Content::Flag(flag) => Ok(*flag),
            other => Err(format!("expected true or false, found {other}")),
        }
    }
}

impl Value for String {
    fn read(content: &Content, _: Form) -> Result<Self, String> {
        match content {
            // Names and paths are written to terminals, where these would give orders or turn what follows around.
            Content::Text(text) if text.contains(is_hidden) => {
                Err("must not contain control characters".to_owned())
            }
            Content::Text(text) => Ok(text.clone()),
            other => Err(format!("expected a text, found {}", other.kind())),
        }
    }
}

/// One of the words of the key.
impl Value for &'static str {
    fn read(content: &Content, form: Form) -> Result<Self, String> {
        let (text, words) = match (content, form) {
            (Content::Flag(flag), Form::FlagOrWord(words)) => (flag.to_string(), words),
            (_, Form::Word(words) | Form::FlagOrWord(words) | Form::WordOrFile(words)) => {
                (String::read(content, form)?, words)
            }
            _ => return Err("expected a word".to_owned()),
        };
        words.iter().find(|word| **word == text).copied().ok_or_else(|| {
            let hint = instead(&text, words.iter().copied(), || form.allowed(), "ackclock schema");
            format!("unknown value \"{text}\"{hint}")
        })
    }
}

impl Value for Limit {
    fn read(content: &Content, _: Form) -> Result<Self, String> {
        let text = text_of(content)?;
        let limit = match text.parse::<Packets>() {
            Ok(packets) => Limit::Packets(packets),
            Err(_) => text.parse::<Bytes>().map(Limit::Bytes).map_err(|error| {
                let problem = error.to_string();
                let problem = problem.split(';').next().unwrap_or_default().to_owned();
                format!("{problem}; expected {}", Form::Limit.allowed())
            })?,
        };
        match limit {
            Limit::Packets(Packets(0)) | Limit::Bytes(Bytes(0)) => {
                Err("must be at least 1 packet or 1 B".to_owned())
            }
            Limit::Packets(Packets(packets)) if packets > MOST_PACKETS => {
                Err(format!("must be at most {MOST_PACKETS} packets"))
            }
            limit => Ok(limit),
        }
    }
}

/// How far from 1 the sum of shares may be: they are written with a few digits.
const SHARES_TOLERANCE: f64 = 1e-6;

impl Value for Sizes {
    fn read(content: &Content, _: Form) -> Result<Self, String> {
        let size = |content: &Content| Bytes::read(content, Form::Size(LARGEST_REQUEST));
        let Content::Array(entries) = content else { return Ok(Sizes(vec![(size(content)?, 1.0)])) };
        let mut sizes = Vec::new();
        for entry in entries {
            let Content::Array(pair) = &entry.content else { return Err(SIZES.to_owned()) };
            let [bytes, share] = &pair[..] else { return Err(SIZES.to_owned()) };
            sizes.push((size(&bytes.content)?, f64::read(&share.content, Form::Fraction)?));
        }
        let sum: f64 = sizes.iter().map(|(_, share)| share).sum();
        if (sum - 1.0).abs() > SHARES_TOLERANCE {
            return Err(format!("shares must add up to 100 %, are {} %", (sum * 1e6).round() / 1e4));
        }
        Ok(Sizes(sizes))
    }
}

const SIZES: &str = "expected a size, or a list such as [[\"10 kB\", \"70 %\"], [\"1 MB\", \"30 %\"]]";

impl Value for Sample {
    fn read(content: &Content, _: Form) -> Result<Self, String> {
        if matches!(content, Content::Text(text) if text == "rtt") {
            return Ok(Sample::RoundTrip);
        }
        Span::read(content, Form::PositiveTime).map(Sample::Every)
    }
}

impl Value for Moment {
    fn read(content: &Content, form: Form) -> Result<Self, String> {
        let Content::Table(entries) = content else { return Span::read(content, form).map(Moment::At) };
        let ends = match &entries[..] {
            [(key, node)] if key == "uniform" => &node.content,
            _ => content,
        };
        let ends = match ends {
            Content::Array(ends) => &ends[..],
            _ => &[],
        };
        let [from, to] = ends else {
            return Err("expected a time, or { uniform = [\"0 s\", \"20 s\"] }".to_owned());
        };
        let (from, to) = (Span::read(&from.content, form)?, Span::read(&to.content, form)?);
        if to < from {
            return Err(format!("must not end ({to}) before it begins ({from})"));
        }
        Ok(Moment::Uniform(from, to))
    }
}

impl Shown for Span {
    fn shown(&self, _: Form) -> serde_json::Value {
        self.to_string().into()
    }
}

impl Shown for Bytes {
    fn shown(&self, _: Form) -> serde_json::Value {
        self.to_string().into()
    }
}

impl Shown for Packets {
    fn shown(&self, _: Form) -> serde_json::Value {
        self.0.into()
    }
}

impl Shown for Option<Packets> {
    fn shown(&self, form: Form) -> serde_json::Value {
        match self {
            Some(packets) => packets.0.into(),
            None if form == Form::PacketsOrUnlimited => "unlimited".into(),
            None => 0.into(),
        }
    }
}

impl Shown for Window {
    fn shown(&self, _: Form) -> serde_json::Value {
        if self.0.is_finite() { self.0.into() } else { "unlimited".into() }
    }
}

impl Shown for f64 {
    fn shown(&self, _: Form) -> serde_json::Value {
        (*self).into()
    }
}

impl Shown for u64 {
    fn shown(&self, _: Form) -> serde_json::Value {
        (*self).into()
    }
}

impl Shown for bool {
    fn shown(&self, _: Form) -> serde_json::Value {
        (*self).into()
    }
}

impl Form {
    /// Whether a value with a unit is of this form.
    pub(crate) fn accepts(self, content: &Content) -> bool {
        match self {
            Form::Time | Form::PositiveTime => Span::read(content, self).is_ok(),
            Form::Rate => Rate::read(content, self).is_ok(),
            Form::Size(_) => Bytes::read(content, self).is_ok(),
            Form::Fraction => f64::read(content, self).is_ok(),
            Form::Limit => Limit::read(content, self).is_ok(),
            _ => false,
        }
    }
}
