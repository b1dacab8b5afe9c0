//! Descriptions of the values that keys allow, as refusals and the documentation show them.

use ackclock_units::Dimension;

use crate::keys::Form;

impl Form {
    /// A description of the values that it allows.
    pub(crate) fn allowed(self) -> String {
        match self {
            Form::Time | Form::PositiveTime => Dimension::Time.allowed().to_owned(),
            Form::Rate => Dimension::Rate.allowed().to_owned(),
            Form::RateOrUnlimited => format!("{}, or \"unlimited\"", Dimension::Rate.allowed()),
            Form::Size(_) => Dimension::Bytes.allowed().to_owned(),
            Form::Sizes => "a size, or a list of [size, share]".to_owned(),
            Form::Load => "a share such as \"60 %\" or a number from 0.0001 to 10".to_owned(),
            Form::Fraction => Dimension::Fraction.allowed().to_owned(),
            Form::Whole(least, u64::MAX) => format!("a whole number of at least {least}"),
            Form::Whole(least, most) => format!("a whole number from {least} to {most}"),
            Form::Number(least, most) => format!("a number from {least} to {most}"),
            Form::When => "a time, or { flow = NAME, rtt = COUNT }".to_owned(),
            Form::Any => "a value as the key has it".to_owned(),
            Form::WindowOrUnlimited(_) => "a number of packets, or \"unlimited\"".to_owned(),
            Form::Window(_) => "a number of packets".to_owned(),
            Form::PacketsOrUnlimited => "a whole number of packets, or \"unlimited\"".to_owned(),
            Form::Limit => {
                "packets, bytes, a time or bandwidth-delay products, such as \"100 packets\", \"125 kB\", \"50 ms\" or \"2 bdp\""
                    .to_owned()
            },
            Form::Word(words) => {
                words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ")
            }
            Form::WordOrFile(words) => format!("{}, or the name of a file", Form::Word(words).allowed()),
            Form::FlagOrWord(words) => {
                let word =
                    |word: &&str| if is_flag(word) { (*word).to_owned() } else { format!("\"{word}\"") };
                words.iter().map(word).collect::<Vec<_>>().join(", ")
            }
            Form::Text => "a text".to_owned(),
            Form::File => "the name of a file".to_owned(),
            Form::Schedule => "a list of [time, size]".to_owned(),
            Form::Column => "the number of a column, or its name".to_owned(),
            Form::Flag => "true or false".to_owned(),
            Form::Moment => "a time, or { uniform = [from, to] }".to_owned(),
            Form::Sample => "a time, or \"rtt\"".to_owned(),
            Form::Params => "a table of parameters".to_owned(),
            Form::Table(section) | Form::Tables(section) => section.name.to_owned(),
        }
    }
}

/// Whether a word is written without quotes.
pub(crate) fn is_flag(word: &str) -> bool {
    matches!(word, "true" | "false")
}
