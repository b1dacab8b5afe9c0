//! A campaign's directory: its manifest and its log are read whole, or refused in one line and left as they are. What can
//! be set aside is, without losing a whole record.
#![no_main]

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use ackclock_measure::campaign::{Campaign, Plan};
use ackclock_measure::disk::Disk;
use ackclock_measure::log::{Damaged, Log};
use ackclock_measure::record::{is_sealed, is_torn, seal, unseal};
use ackclock_measure::transport::Transport;
use libfuzzer_sys::fuzz_target;
use serde_json::json;

/// In memory where there is such a place.
static PLACE: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let root = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let place = root.join(format!("ackclock-fuzz-{}", std::process::id()));
    fs::create_dir_all(&place).expect("a folder for files");
    place
});

#[derive(Debug)]
struct Quick;

impl Disk for Quick {
    fn sync(&mut self, _: &File) -> io::Result<()> {
        Ok(())
    }
}

fn clear(place: &Path) {
    for entry in fs::read_dir(place).expect("a folder").flatten() {
        fs::remove_file(entry.path()).expect("a file");
    }
}

/// Whole records with `bytes` between them.
fn log(bytes: &[u8]) {
    let _ = (unseal(bytes), is_sealed(bytes), is_torn(bytes));
    let (first, second) = (seal(&json!({ "n": 1 })), seal(&json!({ "n": 2 })));
    let text = [first.as_bytes(), bytes, b"\n", second.as_bytes()].concat();
    let file = PLACE.join("log.jsonl");
    fs::write(&file, &text).expect("a file");
    let mut read = Vec::new();
    let mut open = |damaged| {
        read.clear();
        Log::open(&file, Box::new(Quick), damaged, false, |record| read.push(record["n"].clone()))
            .map(|_| read.clone())
    };
    let found = open(Damaged::Refuse).unwrap_or_else(|why| {
        assert_eq!(why.lines().count(), 1, "{why}");
        assert_eq!(fs::read(&file).expect("a file"), text, "what is refused is not changed");
        open(Damaged::SetAside).expect("what is set aside is not an error")
    });
    assert!(found.contains(&1.into()) && found.contains(&2.into()), "{found:?}");
    assert_eq!(open(Damaged::Refuse).expect("what was set aside is away"), found);
}

fn plan() -> Plan {
    Plan {
        server: "example".to_owned(),
        transport: Transport::Tcp,
        identity: None,
        controls: vec!["reno".to_owned(), "fit".to_owned()],
        period_s: 60,
        slots: 3,
        references: 0,
    }
}

/// Any manifest next to any log.
fn campaign(manifest: &[u8], log: &[u8]) {
    let files = [("campaign.json", manifest), ("log.jsonl", log)];
    let contents = || files.map(|(name, _)| fs::read(PLACE.join(name)).expect("a file"));
    for (name, content) in files {
        fs::write(PLACE.join(name), content).expect("a file");
    }
    let open = |damaged| {
        Campaign::open(&PLACE, plan(), damaged, Box::new(Quick)).map(|(campaign, _)| campaign.done())
    };
    let done = open(Damaged::Refuse).or_else(|why| {
        assert_eq!(why.lines().count(), 1, "{why}");
        assert_eq!(contents(), [manifest, log], "what is refused is not changed: {why}");
        open(Damaged::SetAside)
    });
    match done {
        Ok(done) => assert_eq!(open(Damaged::Refuse), Ok(done)),
        // Another campaign stays what it is.
        Err(why) => assert!(why.contains("other options") || why.contains("another server"), "{why}"),
    }
}

fuzz_target!(|data: &[u8]| {
    clear(&PLACE);
    log(data);
    clear(&PLACE);
    // A plan and a log are apart by a byte that is in no JSON.
    let mut parts = data.splitn(2, |byte| *byte == 0);
    campaign(parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    clear(&PLACE);
    let whole = seal(&serde_json::to_value(plan()).expect("a plan is JSON"));
    campaign(whole.as_bytes(), data);
});
