//! What a campaign has on disk is whole, or reported as damaged: changed bits, torn lines, failing disks, two clients.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;

use ackclock_measure::campaign::Campaign;
use ackclock_measure::disk::{Disk, Real};
use ackclock_measure::log::{Damaged, Log};
use ackclock_measure::record::seal;
use serde_json::{Value, json};

use crate::directory::{Directory, old, plan, records, sealed};

/// Writes without waiting for the disk, which would take most of a test's time.
#[derive(Debug)]
struct Quick;

impl Disk for Quick {
    fn sync(&mut self, _: &File) -> io::Result<()> {
        Ok(())
    }
}

/// Fails once, at a step that is counted down to; a write that fails has written half.
#[derive(Debug)]
struct Failing(Rc<Cell<i64>>);

impl Failing {
    fn step(&self) -> io::Result<()> {
        self.0.set(self.0.get() - 1);
        if self.0.get() == 0 { Err(io::Error::other("the disk failed")) } else { Ok(()) }
    }
}

impl Disk for Failing {
    fn write(&mut self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        if let Err(error) = self.step() {
            file.write_all(&bytes[..bytes.len() / 2])?;
            return Err(error);
        }
        file.write_all(bytes)
    }

    fn sync(&mut self, _: &File) -> io::Result<()> {
        self.step()
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        fs::rename(from, to)
    }

    fn truncate(&mut self, file: &File, length: u64) -> io::Result<()> {
        self.step()?;
        file.set_len(length)
    }
}

/// The records of a log without their checksums, and the message.
fn read(path: &Path, damaged: Damaged) -> Result<(Vec<Value>, Vec<String>), String> {
    let mut records = Vec::new();
    let take = |record: &Value| {
        let mut record = record.clone();
        record.as_object_mut().unwrap().remove("checksum");
        records.push(record);
    };
    let (_, notes) = Log::open(path, Box::new(Quick), damaged, false, take)?;
    Ok((records, notes))
}

/// Numbers that look random and are the same every time (Knuth's MMIX generator).
fn random(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize
}

#[test]
fn every_changed_bit_is_detected_and_can_be_set_aside() {
    let directory = Directory::new("bits");
    let all = records(6);
    let whole = sealed(&all);
    let mut state = 1;
    // Random bits, and all of the last two bytes: what ends a log must not pass for a torn line.
    let last = (8 * (whole.len() - 2)..8 * whole.len()).collect::<Vec<_>>();
    let flips = (0..1000).map(|_| random(&mut state) % (8 * whole.len())).chain(last);
    for flip in flips {
        let mut content = whole.clone();
        content[flip / 8] ^= 1 << (flip % 8);
        fs::write(directory.log(), &content).unwrap();
        // The line is the one in which the bit was; one that loses its line feed takes the next one with it.
        let before = whole[..flip / 8].iter().filter(|byte| **byte == b'\n').count();
        let start = whole[..flip / 8].iter().rposition(|byte| *byte == b'\n').map_or(0, |index| index + 1);
        let problem = read(&directory.log(), Damaged::Refuse).unwrap_err();
        assert!(problem.contains(&format!("line {} (byte {start})", before + 1)), "bit {flip}: {problem}");
        assert_eq!(fs::read(directory.log()).unwrap(), content, "nothing was changed");

        let lost = if whole[flip / 8] == b'\n' { 2 } else { 1 };
        let expected = [&all[..before], &all[(before + lost).min(all.len())..]].concat();
        let (kept, notes) = read(&directory.log(), Damaged::SetAside).unwrap();
        assert_eq!(kept, expected, "bit {flip}");
        assert!(notes.len() == 1 && notes[0].contains("moved to"), "{notes:?}");
        let aside = directory.0.join("log.jsonl.bad");
        assert_eq!(
            [fs::read(directory.log()).unwrap(), fs::read(&aside).unwrap()].concat().len(),
            content.len()
        );
        assert_eq!(read(&directory.log(), Damaged::Refuse).unwrap(), (expected, vec![]));
        fs::remove_file(aside).unwrap();
    }
}

#[test]
fn only_a_torn_tail_is_cut() {
    let directory = Directory::new("torn");
    let all = records(2);
    let whole = sealed(&all);
    for length in 0..=whole.len() {
        fs::write(directory.log(), &whole[..length]).unwrap();
        let (kept, notes) = read(&directory.log(), Damaged::Refuse).unwrap();
        let lines = whole[..length].iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(kept, all[..lines], "{length}");
        let end = whole[..length].iter().rposition(|byte| *byte == b'\n').map_or(0, |index| index + 1);
        assert_eq!(fs::read(directory.log()).unwrap(), whole[..end]);
        if length > end {
            let note = format!("cut off {} bytes of a line that was not finished", length - end);
            assert!(notes.len() == 1 && notes[0].ends_with(&note), "{notes:?}");
        } else {
            assert!(notes.is_empty(), "{notes:?}");
        }
    }
}

#[test]
fn what_is_not_a_record_is_refused() {
    let directory = Directory::new("foreign");
    let deep = "{\"a\":".repeat(100_000);
    for line in ["", "null", "[1]", "\0\0\0\0", "{\"slot\":0}", &deep, &seal(&json!({ "slot": 0 }))[1..]] {
        fs::write(directory.log(), [line.trim_end().as_bytes(), b"\n", &sealed(&records(1))].concat())
            .unwrap();
        let problem = read(&directory.log(), Damaged::Refuse).unwrap_err();
        assert!(problem.contains("line 1 (byte 0)") && problem.lines().count() == 1, "{problem}");
    }
}

/// Lets each step of `work` fail in turn, on a disk made by `prepare`, and passes on what was reported to `work` as
/// written.
fn torture(
    directory: &Directory,
    prepare: impl Fn(),
    mut work: impl FnMut(Failing, &mut Vec<Value>) -> Result<(), String>,
    check: impl Fn(&[Value], &str),
) -> i64 {
    for step in 1.. {
        for file in fs::read_dir(&directory.0).unwrap() {
            fs::remove_file(file.unwrap().path()).unwrap();
        }
        prepare();
        let left = Rc::new(Cell::new(step));
        let mut written = Vec::new();
        let outcome = work(Failing(Rc::clone(&left)), &mut written);
        check(&written, &format!("step {step}: {outcome:?}"));
        if left.get() > 0 {
            assert_eq!(outcome, Ok(()));
            return step - 1;
        }
        assert!(outcome.is_err(), "step {step} failed and nothing was reported");
    }
    unreachable!()
}

#[test]
fn a_log_on_a_failing_disk_holds_what_was_told_to_be_written() {
    let directory = Directory::new("failing");
    let all = records(3);
    let begin = 4;
    let steps = torture(
        &directory,
        // One line that was torn by an earlier end.
        || fs::write(directory.log(), [&sealed(&all[..begin])[..], b"{\"slot\":1,\"tr"].concat()).unwrap(),
        |disk, written| {
            let (mut log, _) = Log::open(&directory.log(), Box::new(disk), Damaged::Refuse, false, |_| ())?;
            let mut outcome = Ok(());
            // A program that continues after an error must not make it worse.
            for record in &all[begin..] {
                let done = log.append(record).and_then(|()| log.sync());
                if done.is_ok() {
                    written.push(record.clone());
                }
                outcome = outcome.and(done);
            }
            outcome
        },
        |written, context| {
            let (kept, _) =
                read(&directory.log(), Damaged::Refuse).unwrap_or_else(|why| panic!("{context}: {why}"));
            let written = begin + written.len();
            // What came last may be there although its sync failed.
            assert!(kept.len() >= written && kept.len() <= written + 1, "{context}");
            assert_eq!(kept, all[..kept.len()], "{context}");
        },
    );
    // Cutting the torn line and two syncs, then a write and a sync of five records.
    assert_eq!(steps, 3 + 2 * 5);
}

#[test]
fn taking_over_and_setting_aside_lose_nothing_on_a_failing_disk() {
    let directory = Directory::new("rewriting");
    let all = records(3);
    let open = |disk: Box<dyn Disk>, is_old| {
        let mut kept = Vec::new();
        let done = Log::open(&directory.log(), disk, Damaged::SetAside, is_old, |record| {
            let mut record = record.clone();
            record.as_object_mut().unwrap().remove("checksum");
            kept.push(record);
        });
        done.map(|_| kept)
    };
    torture(
        &directory,
        || fs::write(directory.log(), old(&all)).unwrap(),
        |disk, _| open(Box::new(disk), true).map(drop),
        |_, context| assert_eq!(open(Box::new(Quick), true).unwrap(), all, "{context}"),
    );
    let mut damaged = sealed(&all);
    damaged[20] ^= 1;
    let steps = torture(
        &directory,
        || fs::write(directory.log(), &damaged).unwrap(),
        |disk, _| open(Box::new(disk), false).map(drop),
        |_, context| {
            assert_eq!(open(Box::new(Quick), false).unwrap(), all[1..], "{context}");
            let aside = fs::read(directory.0.join("log.jsonl.bad")).unwrap();
            let line = damaged.split_inclusive(|byte| *byte == b'\n').next().unwrap();
            assert!(aside.ends_with(line), "{context}");
        },
    );
    // The bad line, its sync and its directory's; the new log, its sync, rename and directory; the log's own two.
    assert_eq!(steps, 3 + 4 + 2);
}

fn open(directory: &Directory, damaged: Damaged) -> Result<(Campaign, Vec<String>), String> {
    Campaign::open(&directory.0, plan(), damaged, Box::new(Real))
}

#[test]
fn a_campaign_on_a_failing_disk_begins_or_says_why() {
    let directory = Directory::new("beginning");
    let old = || {
        fs::write(directory.0.join("campaign.json"), serde_json::to_string_pretty(&plan()).unwrap() + "\n")
            .unwrap();
        fs::write(directory.log(), old(&records(4))).unwrap();
    };
    let start = |disk: Failing, _: &mut Vec<Value>| {
        Campaign::open(&directory.0, plan(), Damaged::Refuse, Box::new(disk)).map(drop)
    };
    let done = |slots: u64| {
        let directory = &directory;
        move |_: &[Value], context: &str| {
            let again = open(directory, Damaged::Refuse).unwrap_or_else(|why| panic!("{context}: {why}"));
            assert_eq!(again.0.done(), slots, "{context}");
        }
    };
    // The plan: written, synced, named, its directory synced. The log and its directory: synced.
    assert_eq!(torture(&directory, || (), start, done(0)), 4 + 2);
    // The same for the plan and for the log, which gets its checksums first.
    assert_eq!(torture(&directory, old, start, done(4)), 4 + 4 + 2);
}

#[test]
fn a_changed_byte_in_the_middle_deletes_nothing() {
    let directory = Directory::new("middle");
    drop(open(&directory, Damaged::Refuse).unwrap());
    let mut content = sealed(&records(6));
    // The second slot's beginning; what was measured after it used to be cut off without a word.
    let byte = content.len() / 6 + 30;
    content[byte] = 0;
    fs::write(directory.log(), &content).unwrap();
    let problem = open(&directory, Damaged::Refuse).unwrap_err();
    assert!(problem.contains("line 4 (byte ") && problem.contains("--set-aside"), "{problem}");
    assert_eq!(fs::read(directory.log()).unwrap(), content);
    // Without its beginning that slot has no time, and is measured again.
    assert_eq!(open(&directory, Damaged::SetAside).unwrap().0.done(), 5);
    assert_eq!(open(&directory, Damaged::Refuse).unwrap().0.done(), 5);
}

#[test]
fn a_client_killed_before_it_had_a_plan_does_not_stand_in_the_way() {
    let directory = Directory::new("draft");
    fs::write(directory.0.join(".campaign.json"), "{\"server\":").unwrap();
    assert_eq!(open(&directory, Damaged::Refuse).unwrap().0.done(), 0);
    assert!(!directory.0.join(".campaign.json").exists());
    let other = Directory::new("other");
    fs::write(other.0.join("diary"), "").unwrap();
    assert!(open(&other, Damaged::Refuse).unwrap_err().contains("contains no campaign"));
    assert_eq!(fs::read_dir(&other.0).unwrap().count(), 1, "nothing was left there");
}

#[test]
fn a_damaged_plan_is_one_line_and_can_be_written_again() {
    let directory = Directory::new("plan");
    drop(open(&directory, Damaged::Refuse).unwrap());
    fs::write(directory.log(), sealed(&records(3))).unwrap();
    let file = directory.0.join("campaign.json");
    let whole = fs::read(&file).unwrap();
    let flips = (0..8 * whole.len()).map(|flip| {
        let mut content = whole.clone();
        content[flip / 8] ^= 1 << (flip % 8);
        content
    });
    for content in flips.chain([Vec::new(), whole[..20].to_vec()]) {
        fs::write(&file, &content).unwrap();
        let problem = open(&directory, Damaged::Refuse).unwrap_err();
        assert!(problem.contains("campaign.json: was changed or damaged"), "{problem}");
    }
    let (campaign, notes) = open(&directory, Damaged::SetAside).unwrap();
    assert_eq!((campaign.done(), notes.len()), (3, 1));
    drop(campaign);
    assert_eq!(fs::read(&file).unwrap(), whole);
}

#[test]
fn a_campaign_without_checksums_is_taken_over() {
    let directory = Directory::new("old");
    let file = directory.0.join("campaign.json");
    fs::write(&file, serde_json::to_string_pretty(&plan()).unwrap() + "\n").unwrap();
    fs::write(directory.log(), old(&records(4))).unwrap();
    let (campaign, notes) = open(&directory, Damaged::Refuse).unwrap();
    assert_eq!(campaign.done(), 4);
    assert!(notes.len() == 1 && notes[0].contains("had no checksums"), "{notes:?}");
    drop(campaign);
    assert_eq!(fs::read(directory.log()).unwrap(), sealed(&records(4)));
    let (campaign, notes) = open(&directory, Damaged::Refuse).unwrap();
    assert_eq!((campaign.done(), notes.len()), (4, 0));
    drop(campaign);
    // From then on a line without a checksum is one that was changed.
    fs::write(directory.log(), old(&records(4))).unwrap();
    assert!(open(&directory, Damaged::Refuse).unwrap_err().contains("line 1 (byte 0)"));
}

/// A take-over that was cut short leaves lines with checksums under an old plan: these are checked all the same.
#[test]
fn a_changed_line_does_not_pass_as_one_from_before_checksums() {
    let directory = Directory::new("half");
    fs::write(directory.0.join("campaign.json"), serde_json::to_string_pretty(&plan()).unwrap() + "\n")
        .unwrap();
    let mut log = sealed(&records(1));
    let first = log.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    // A digit of the record's first number, so that it is still a record.
    let digit = log.iter().position(u8::is_ascii_digit).unwrap();
    log[digit] ^= 1;
    log.extend(old(&records(4)));
    fs::write(directory.log(), &log).unwrap();
    assert!(open(&directory, Damaged::Refuse).unwrap_err().contains("line 1 (byte 0)"));
    let (campaign, _) = open(&directory, Damaged::SetAside).unwrap();
    drop(campaign);
    assert_eq!(fs::read(directory.0.join("log.jsonl.bad")).unwrap(), log[..first]);
}

#[test]
fn a_directory_has_one_client() {
    let directory = Directory::new("two");
    let first = open(&directory, Damaged::Refuse).unwrap();
    assert!(open(&directory, Damaged::Refuse).unwrap_err().contains("another client is working there"));
    drop(first);
    open(&directory, Damaged::Refuse).unwrap();
}
