//! The size of a buffer as a command line writes it.

use ackclock_units::{Rate, Span};

/// The limit of a queue, as a scenario writes it, for `250` (packets), `2bdp`, `100ms` or a size such as `3MB`. Products
/// and times are those of a link with this rate and round trip, in bytes.
///
/// # Errors
/// One line, when it is none of these.
pub fn limit(text: &str, rate: Rate, round_trip: Span) -> Result<String, String> {
    let text = text.trim();
    let bytes_in = |seconds: f64| format!("{:.0} B", rate.0 as f64 / 8.0 * seconds);
    let refuse = || format!("--buffer: not a size: {text:?}; write e.g. 250, 2bdp, 100ms or 3MB");
    if let Some(products) = text.to_lowercase().strip_suffix("bdp") {
        let products: f64 = products.trim().parse().map_err(|_| refuse())?;
        return Ok(bytes_in(products * round_trip.as_seconds()));
    }
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(format!("{text} packets"));
    }
    if let Ok(time) = text.parse::<Span>() {
        return Ok(bytes_in(time.as_seconds()));
    }
    ackclock_scenario::limit(text).map(|_| text.to_owned()).map_err(|_| refuse())
}

#[cfg(test)]
mod tests {
    use super::limit;

    #[test]
    fn a_buffer_is_written_in_four_ways() {
        let of = |text| limit(text, "10 Mbit/s".parse().unwrap(), "40 ms".parse().unwrap());
        assert_eq!(of("250").unwrap(), "250 packets");
        // 10e6 bit/s x 0.04 s / 8 = 50 kB, twice.
        assert_eq!(of("2bdp").unwrap(), "100000 B");
        // 10e6 bit/s x 0.1 s / 8.
        assert_eq!(of("100ms").unwrap(), "125000 B");
        assert_eq!(of("64 kB").unwrap(), "64 kB");
        for wrong in ["", "many", "bdp", "-1bdp x"] {
            assert!(of(wrong).unwrap_err().ends_with("write e.g. 250, 2bdp, 100ms or 3MB"), "{wrong}");
        }
    }
}
