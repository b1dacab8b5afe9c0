//! The meaning of the columns of a measurement, by their names, or by their number where they have none.

use crate::series::header;

/// A column with its unit, and the factor of its values.
pub struct Measured {
    /// Its number, from 0 on.
    pub index: usize,
    /// The unit of its values.
    pub unit: String,
    /// A round trip is twice a delay.
    pub scale: f64,
}

/// The columns of a table that describe a path.
pub struct Columns {
    /// That of the times, from 0 on.
    pub time: usize,
    /// The unit of the times.
    pub time_unit: String,
    /// The rate.
    pub rate: Measured,
    /// The delay, one way.
    pub delay: Option<Measured>,
    /// The share of packets that are lost.
    pub loss: Option<Measured>,
}

/// Words of names of columns, and their units, the first of which holds if the name has none.
const TIMES: &[&str] = &["time", "timestamp", "t", "seconds", "second", "sec", "secs", "elapsed", "interval"];
const TIME_UNITS: &[(&str, &[&str])] =
    &[("s", &["s", "sec", "secs", "second", "seconds"]), ("ms", &["ms", "msec"]), ("us", &["us", "usec"])];
const RATES: &[&str] = &[
    "rate",
    "throughput",
    "bandwidth",
    "goodput",
    "capacity",
    "bitrate",
    "speed",
    "mbps",
    "kbps",
    "bps",
    "gbps",
    "mbit",
    "kbit",
    "download",
    "downlink",
];
const RATE_UNITS: &[(&str, &[&str])] = &[
    ("Mbit/s", &["mbps", "mbit", "mbit/s", "mb/s", "mbits"]),
    ("kbit/s", &["kbps", "kbit", "kbit/s", "kb/s", "kbits"]),
    ("Gbit/s", &["gbps", "gbit", "gbit/s", "gb/s"]),
    ("bit/s", &["bps", "bit/s", "bits"]),
];
const ROUND_TRIPS: &[&str] = &["rtt", "ping"];
const DELAYS: &[&str] = &["delay", "latency", "owd"];
const DELAY_UNITS: &[(&str, &[&str])] =
    &[("ms", &["ms", "msec"]), ("us", &["us", "usec"]), ("s", &["s", "sec", "seconds"])];
const LOSSES: &[&str] = &["loss", "lost", "plr"];
const LOSS_UNITS: &[(&str, &[&str])] = &[("1", &[]), ("%", &["%", "percent", "pct"])];

/// The words of a name of a column, in small letters.
fn words(name: &str) -> Vec<String> {
    let separates = |c: char| !(c.is_alphanumeric() || matches!(c, '/' | '%'));
    name.to_lowercase().split(separates).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The unit in a name.
fn unit(words: &[String], units: &[(&str, &[&str])]) -> String {
    let has = |(_, names): &&(&str, &[&str])| words.iter().any(|word| names.contains(&word.as_str()));
    units.iter().find(has).unwrap_or(&units[0]).0.to_owned()
}

/// Finds the columns of a table. Without a header two are seconds and Mbit/s, and a third is the round trip in ms.
///
/// # Errors
/// The column that is missing.
pub fn columns(text: &str) -> Result<Columns, String> {
    let (names, count) = header(text)?;
    let of = |index, unit: &str, scale| Measured { index, unit: unit.to_owned(), scale };
    let Some(names) = names else {
        return match count {
            2 | 3 => Ok(Columns {
                time: 0,
                time_unit: "s".to_owned(),
                rate: of(1, "Mbit/s", 1.0),
                delay: (count == 3).then(|| of(2, "ms", 0.5)),
                loss: None,
            }),
            _ => Err(format!(
                "has {count} columns and no header: without one, two are seconds and Mbit/s, and a third is the RTT in ms; \
                 otherwise name them, or use rate_series"
            )),
        };
    };
    let named: Vec<_> = names.iter().map(|name| words(name)).collect();
    let has = |words: &[String], some: &[&str]| words.iter().any(|word| some.contains(&word.as_str()));
    // The rate of losses is none of bits.
    let kind = |words: &[String]| {
        [LOSSES, ROUND_TRIPS, DELAYS, RATES, TIMES].into_iter().find(|some| has(words, some))
    };
    let find = |some: &[&str]| named.iter().position(|words| kind(words) == Some(some));
    let list = names.join(", ");
    let missing = |what: &str, example: &str| {
        format!("has no column of {what} ({list}): name it, such as {example}, or use rate_series")
    };
    let rate = find(RATES).ok_or_else(|| missing("rates", "rate_mbps"))?;
    let time = find(TIMES).ok_or_else(|| missing("times", "time_s"))?;
    let measured = |index: usize, units, scale| of(index, &unit(&named[index], units), scale);
    let round_trip = find(ROUND_TRIPS).map(|index| measured(index, DELAY_UNITS, 0.5));
    Ok(Columns {
        time,
        time_unit: unit(&named[time], TIME_UNITS),
        rate: measured(rate, RATE_UNITS, 1.0),
        delay: round_trip.or_else(|| find(DELAYS).map(|index| measured(index, DELAY_UNITS, 1.0))),
        loss: find(LOSSES).map(|index| measured(index, LOSS_UNITS, 1.0)),
    })
}
