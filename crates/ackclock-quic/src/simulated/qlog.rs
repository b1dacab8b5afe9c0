//! The qlog file of a sender, in the units of the format.
//!
//! quinn-proto 0.11 writes RTTs in seconds, where draft-ietf-quic-qlog-quic-events has milliseconds, and it leaves the
//! vantage point unknown.

use std::io::{self, Write};

use serde_json::Value;

/// Metrics that are times.
const TIMES: [&str; 4] = ["min_rtt", "smoothed_rtt", "latest_rtt", "rtt_variance"];
/// The kind of event that holds them, and the header, as they are written: parsing every record would cost more than the
/// run.
const KINDS: [&[u8]; 2] = [b"\"recovery:metrics_updated\"", b"\"vantage_point\""];
/// The byte before each record of JSON text sequences (RFC 7464).
const RECORD: u8 = 0x1e;

/// Corrects the records that pass through it, one line each.
pub struct Corrected<W: Write> {
    output: W,
    line: Vec<u8>,
}

impl<W: Write> Corrected<W> {
    /// Writes corrected records to `output`.
    pub fn new(output: W) -> Self {
        Corrected { output, line: Vec::new() }
    }

    fn write_line(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        match corrected(line.strip_prefix(&[RECORD]).unwrap_or(&line)) {
            Some(record) => {
                self.output.write_all(&[RECORD])?;
                serde_json::to_writer(&mut self.output, &record)?;
                self.output.write_all(b"\n")?;
            }
            None => self.output.write_all(&line)?,
        }
        // The next line needs as much space.
        self.line = line;
        self.line.clear();
        Ok(())
    }
}

/// The record with its mistakes corrected; `None` when there are none.
fn corrected(text: &[u8]) -> Option<Value> {
    KINDS.iter().find(|kind| text.windows(kind.len()).any(|part| part == **kind))?;
    let mut record: Value = serde_json::from_slice(text).ok()?;
    if let Some(kind) = record.pointer_mut("/trace/vantage_point/type") {
        *kind = "client".into();
        return Some(record);
    }
    let data = record.get_mut("data")?;
    for name in TIMES {
        if let Some(time) = data.get_mut(name)
            && let Some(seconds) = time.as_f64()
        {
            // To the microsecond: anything finer is noise of the single precision that quinn writes.
            *time = ((seconds * 1e6).round() / 1e3).into();
        }
    }
    Some(record)
}

impl<W: Write> Write for Corrected<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        for part in buffer.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.write_line()?;
            }
        }
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

impl<W: Write> Drop for Corrected<W> {
    fn drop(&mut self) {
        // A last record that was not ended is kept as it is; nobody is there to hear of an error.
        let _ = self.output.write_all(&self.line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(parts: &[&str]) -> String {
        let mut output = Vec::new();
        let mut corrected = Corrected::new(&mut output);
        for part in parts {
            assert_eq!(corrected.write(part.as_bytes()).unwrap(), part.len());
        }
        drop(corrected);
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn seconds_become_milliseconds_wherever_the_writer_splits_its_records() {
        let parts = [
            "\u{1e}{\"time\":1.5,\"name\":\"recovery:metrics",
            "_updated\",\"data\":{\"min_rtt\":0.0405,\"congestion_window\":12000}}\n\u{1e}{\"na",
            "me\":\"transport:packet_sent\",\"data\":{\"min_rtt\":0.0405}}\n",
        ];
        let text = written(&parts);
        let (first, second) = text.split_once('\n').unwrap();
        // Keys have an order only with a feature of serde_json that another crate may ask for.
        let record: Value = serde_json::from_str(first.strip_prefix('\u{1e}').unwrap()).unwrap();
        let data = serde_json::json!({"min_rtt": 40.5, "congestion_window": 12000});
        assert_eq!(
            record,
            serde_json::json!({"time": 1.5, "name": "recovery:metrics_updated", "data": data})
        );
        assert_eq!(second, "\u{1e}{\"name\":\"transport:packet_sent\",\"data\":{\"min_rtt\":0.0405}}\n");
    }

    #[test]
    fn what_is_not_a_record_passes_unchanged() {
        for text in ["", "\n", "\u{1e}", "\"recovery:metrics_updated\" {\n", "{\"vantage_point\":3}"] {
            assert_eq!(written(&[text]), text);
        }
    }
}
