//! Answers to wrong values: the probable intention, and the characters that may be shown.

use ackclock_units::{Dimension, UnitError};

/// The replacement for a number whose unit is missing or cut short, as `20M` of tc and iperf3; empty if it is
/// ambiguous.
pub fn meant(text: &str, error: UnitError) -> String {
    let text = text.trim();
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '_'));
    let number = text[..text.len() - unit.len()].trim_end();
    let (unit, dimension) = (unit.trim(), error.dimension());
    let prefix = match unit {
        "k" | "K" => "k",
        "M" | "m" => "M",
        "G" | "g" => "G",
        _ => "",
    };
    match (dimension, prefix, unit) {
        _ if number.is_empty() => String::new(),
        (Dimension::Time, "", "") => format!("; write \"{number} ms\" if milliseconds are meant"),
        (Dimension::Rate, "", "") => format!("; write \"{number} Mbit/s\" if that is meant"),
        (Dimension::Rate, "", "B/s" | "kB/s" | "MB/s" | "GB/s") => {
            "; of bytes, 1 MB/s is 8 Mbit/s".to_owned()
        }
        (Dimension::Rate, "", _) | (_, "", _) => String::new(),
        (Dimension::Rate, ..) => format!("; write \"{number} {prefix}bit/s\""),
        (Dimension::Bytes, ..) => format!("; write \"{number} {prefix}B\""),
        _ => String::new(),
    }
}

/// The suggestion of similar names as it continues a refusal, if any is similar.
pub(crate) fn did_you_mean<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> String {
    match ackclock_units::did_you_mean(wrong, names) {
        suggestion if suggestion.is_empty() => suggestion,
        suggestion => format!(", {suggestion}"),
    }
}

/// The most names that a refusal lists if no name is similar.
const MOST_LISTED: usize = 12;

/// The end of the refusal of a wrong name: up to three similar names, which a list would hide; otherwise all names if
/// they are few, or the command that lists them.
pub(crate) fn instead<'n>(
    wrong: &str,
    names: impl ExactSizeIterator<Item = &'n str>,
    list: impl FnOnce() -> String,
    command: &str,
) -> String {
    let known = names.len();
    match did_you_mean(wrong, names) {
        hint if !hint.is_empty() => hint,
        _ if known == 0 => "; allowed: none".to_owned(),
        _ if known <= MOST_LISTED => format!("; allowed: {}", list()),
        _ => format!("; `{command}` lists all {known}"),
    }
}

/// Whether a character is not seen by itself: control characters, and those that join, mark or turn text (Unicode's
/// categories Cc and, of Cf, Zl and Zp, what is in use).
pub(crate) fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}
