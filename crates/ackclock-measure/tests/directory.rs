//! A campaign's directory as tests make it, and what is in it.

use std::fs;
use std::path::PathBuf;

use ackclock_measure::campaign::Plan;
use ackclock_measure::record::seal;
use ackclock_measure::transport::Transport;
use serde_json::{Value, json};

/// A directory that goes away with its test.
pub struct Directory(pub PathBuf);

impl Directory {
    pub fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("ackclock-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    pub fn log(&self) -> PathBuf {
        self.0.join("log.jsonl")
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Records as a client writes them: `slots` slots, complete at the first try.
pub fn records(slots: u64) -> Vec<Value> {
    let of_slot = |slot: u64| {
        let unix_s = 1000.0 + 60.0 * slot as f64;
        [
            json!({ "slot": slot, "try": 1, "event": "begin", "unix_s": unix_s }),
            json!({ "slot": slot, "try": 1, "event": "sample", "control": "reno", "side": "client", "second": 1.0,
                    "flow": 0, "received_bytes": 123_456 }),
            json!({ "slot": slot, "try": 1, "event": "end", "control": "reno", "seconds": 2.0,
                    "received_bytes": [123_456], "complete": true }),
        ]
    };
    (0..slots).flat_map(of_slot).collect()
}

/// The same with their checksums, a line each.
pub fn sealed(records: &[Value]) -> Vec<u8> {
    records.iter().flat_map(|record| seal(record).into_bytes()).collect()
}

/// The same in the old format, without checksums.
pub fn old(records: &[Value]) -> Vec<u8> {
    records.iter().flat_map(|record| format!("{record}\n").into_bytes()).collect()
}

/// Six slots of 2 s.
pub fn plan() -> Plan {
    Plan {
        server: "s".to_owned(),
        transport: Transport::Tcp,
        identity: None,
        controls: vec!["reno".to_owned()],
        period_s: 2,
        slots: 6,
        references: 0,
    }
}
