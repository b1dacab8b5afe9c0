//! A campaign: slots, one after the other, and a directory with their results.
//!
//! `campaign.json` says what is measured, `log.jsonl` has a line for everything that happened: the beginning and end
//! of slots, and what client and server knew about every flow every second. Lines are only appended, so that a client
//! that is killed loses at most one line; with the same directory it resumes at the first slot that is not complete.
//! Every line has a checksum ([`crate::record`]), and one client at a time works in a directory.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::client::{self, Outcome, Slot};
use crate::clock;
use crate::disk::{self, Disk};
use crate::log::{Damaged, Log};
use crate::record::{is_sealed, seal, unseal};
use crate::session::LOOK;
use crate::token::Token;
use crate::transport::{Dialer, Transport};
use crate::wire::{Answer, Request};

const PLAN: &str = "campaign.json";
const LOG: &str = "log.jsonl";
/// Held by the client that works in the directory.
const LOCK: &str = ".lock";
/// Pauses between attempts at a slot: each is twice the last, up to the longest.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// The plan of a campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Server, as the user wrote it.
    pub server: String,
    /// Transport of its flows.
    #[serde(default)]
    pub transport: Transport,
    /// Fingerprint of the server's certificate; only over QUIC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    /// Controls in the order in which they take turns, by the server's names.
    pub controls: Vec<String>,
    /// Length of a slot, seconds.
    pub period_s: u64,
    /// Number of slots.
    pub slots: u64,
    /// Number of Reno flows alongside each slot's own flow.
    pub references: u32,
}

/// A campaign and its directory.
#[derive(Debug)]
pub struct Campaign {
    plan: Plan,
    log: Log,
    progress: Progress,
    /// The value of [`clock::boot_s`] at the beginning of the campaign.
    origin_s: f64,
    _lock: Flock<File>,
}

/// The contents of the log.
#[derive(Debug)]
struct Progress {
    complete: BTreeSet<u64>,
    /// Attempts at each slot so far, complete or not.
    tries: Vec<u64>,
    /// Slot and attempt of the latest beginning.
    begun: Option<(u64, u64)>,
    /// The wall clock at the first record that has one.
    first_unix_s: Option<f64>,
    /// Seconds since the campaign began and the wall clock, at the latest record that has them.
    latest: Option<(f64, f64)>,
}

impl Progress {
    fn take(&mut self, record: &Value) {
        let Some(slot) = record["slot"].as_u64().filter(|slot| (*slot as usize) < self.tries.len()) else {
            return;
        };
        let number = record["try"].as_u64().unwrap_or(0);
        let tries = &mut self.tries[slot as usize];
        *tries = number.max(*tries);
        if let Some(unix_s) = record["unix_s"].as_f64() {
            let since_first_s = unix_s - *self.first_unix_s.get_or_insert(unix_s);
            self.latest = Some((record["elapsed_s"].as_f64().unwrap_or(since_first_s), unix_s));
        }
        if record["event"] == "begin" {
            self.begun = Some((slot, number));
        } else if record["event"] == "end"
            && record["complete"] == true
            // A slot whose beginning is lost has no time.
            && self.begun == Some((slot, number))
        {
            self.complete.insert(slot);
        }
    }
}

/// Asks the server for its controls, in the order in which they take turns, and over QUIC for the fingerprint of its
/// certificate.
///
/// # Errors
/// One line, when it cannot be reached, or does not allow slots of `period_s` seconds with `references` flows.
pub fn offer(
    dialer: &dyn Dialer,
    token: &Token,
    period_s: u64,
    references: u32,
) -> Result<(Vec<String>, Option<String>), String> {
    let server = dialer.server();
    let (connection, answer) = client::ask(dialer, token, &Request::Offer)?;
    let Answer::Offer { controls, longest_slot_s, most_references } = answer else {
        return Err(format!("{server}: did not answer with an offer"));
    };
    if period_s > longest_slot_s {
        return Err(format!("{server}: allows slots of at most {longest_slot_s} s; shorten --period"));
    }
    if references > most_references {
        return Err(format!("{server}: allows at most {most_references} reference flows"));
    }
    Ok((controls, connection.identity()))
}

impl Campaign {
    /// Starts the campaign `plan` in `directory`, or resumes it there. Returns it and notes about its files, a line
    /// each.
    ///
    /// # Errors
    /// One line, when another client works in the directory, or it contains something else, cannot be written, or holds
    /// records that were changed or damaged.
    pub fn open(
        directory: &Path,
        plan: Plan,
        damaged: Damaged,
        mut disk: Box<dyn Disk>,
    ) -> Result<(Campaign, Vec<String>), String> {
        let explain = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        fs::create_dir_all(directory).map_err(|error| explain(directory, &error))?;
        let (file, log) = (directory.join(PLAN), directory.join(LOG));
        if !file.exists() && !holds_nothing_else(directory).map_err(|error| explain(directory, &error))? {
            let hint = "is not empty and contains no campaign; choose another directory";
            return Err(explain(directory, &hint));
        }
        let lock = lock(directory)?;
        let mut notes = Vec::new();
        let mut is_old = false;
        let kept = file.exists().then(|| fs::read(&file)).transpose();
        let kept = kept.map_err(|error| explain(&file, &error))?;
        match kept.as_deref().map(Kept::of) {
            Some(Kept::Plan(before)) => {
                compatible(&before, &plan).map_err(|hint| explain(directory, &hint))?
            }
            Some(Kept::Old(before)) => {
                compatible(&before, &plan).map_err(|hint| explain(directory, &hint))?;
                is_old = true;
            }
            Some(Kept::Damaged) if damaged == Damaged::SetAside => {
                let aside = directory.join(format!("{PLAN}.bad"));
                fs::copy(&file, &aside).map_err(|error| explain(&aside, &error))?;
                notes.push(explain(
                    &file,
                    &"was changed or damaged; copied to campaign.json.bad and written again",
                ));
                is_old = fs::read(&log).is_ok_and(|text| !is_sealed(&text));
            }
            Some(Kept::Damaged) => {
                let hint = "was changed or damaged; restore it from a copy, or write it again from this command \
                            with --set-aside";
                return Err(explain(&file, &hint));
            }
            None => {}
        }
        let mut progress = Progress {
            complete: BTreeSet::new(),
            tries: vec![0; plan.slots as usize],
            begun: None,
            first_unix_s: None,
            latest: None,
        };
        // Before the log has its checksums, the plan must not say so.
        let whole = matches!(kept.as_deref().map(Kept::of), Some(Kept::Plan(_)));
        let write_plan = |disk: &mut dyn Disk| {
            let text = seal(&serde_json::to_value(&plan).unwrap_or_default());
            disk::replace(disk, &file, |disk, draft| disk.write(draft, text.as_bytes()))
                .map_err(|error| explain(&file, &error))
        };
        if !whole && !is_old {
            write_plan(disk.as_mut())?;
        }
        let (mut log, repairs) = Log::open(&log, disk, damaged, is_old, |record| progress.take(record))?;
        notes.extend(repairs);
        if is_old {
            write_plan(log.disk())?;
        }
        let elapsed_s = progress.latest.map_or(0.0, |(elapsed_s, unix_s)| {
            // While no client ran, only the wall clock advanced.
            elapsed_s + (clock::unix_s() - unix_s).max(0.0)
        });
        let origin_s = clock::boot_s() - elapsed_s;
        Ok((Campaign { plan, log, progress, origin_s, _lock: lock }, notes))
    }

    /// Number of slots that are complete.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.progress.complete.len() as u64
    }

    /// Fetches the missing slots and passes each slot's number and outcome to `tell`. A slot that fails is tried again
    /// until no slot has been completed for as long as `patience`.
    ///
    /// # Errors
    /// One line, when patience runs out or the log cannot be written.
    pub fn run(
        &mut self,
        dialer: &dyn Dialer,
        token: &Token,
        patience: Duration,
        stop: &AtomicBool,
        mut tell: impl FnMut(u64, Result<&Outcome, &str>),
    ) -> Result<(), String> {
        let mut last_good = clock::now();
        let mut wait = FIRST_WAIT;
        while let Some(number) = (0..self.plan.slots).find(|slot| !self.progress.complete.contains(slot)) {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let outcome = self.fetch(dialer, token, number, stop)?;
            tell(number, outcome.as_ref().map_err(String::as_str));
            match outcome {
                Ok(Outcome { complete: true, .. }) => {
                    self.progress.complete.insert(number);
                    (last_good, wait) = (clock::now(), FIRST_WAIT);
                    continue;
                }
                Err(problem) if last_good.elapsed() >= patience => {
                    return Err(format!("{problem}; run the same command again to resume"));
                }
                Ok(_) | Err(_) => {}
            }
            let until = clock::now() + wait;
            while clock::now() < until && !stop.load(Ordering::Relaxed) {
                sleep(LOOK);
            }
            wait = (2 * wait).min(LONGEST_WAIT);
        }
        Ok(())
    }

    fn fetch(
        &mut self,
        dialer: &dyn Dialer,
        token: &Token,
        number: u64,
        stop: &AtomicBool,
    ) -> Result<Result<Outcome, String>, String> {
        let tries = &mut self.progress.tries[number as usize];
        *tries += 1;
        let mark = json!({ "slot": number, "try": *tries });
        let origin_s = self.origin_s;
        let times = || json!({ "unix_s": clock::unix_s(), "elapsed_s": clock::boot_s() - origin_s });
        let begin = joined(mark.clone(), json!({ "event": "begin" }));
        self.log.append(&joined(begin, times()))?;
        let slot = Slot { number, seconds: self.plan.period_s, references: self.plan.references };
        let mut problem = None;
        let log = &mut self.log;
        let outcome = client::fetch(dialer, token, &slot, stop, |control, sample| {
            let line = joined(mark.clone(), json!({ "event": "sample", "control": control }));
            let sample = serde_json::to_value(sample).unwrap_or_default();
            if let Err(error) = log.append(&joined(line, sample)) {
                problem.get_or_insert(error);
            }
        });
        if let Some(problem) = problem {
            return Err(problem);
        }
        let end = match &outcome {
            Ok(Outcome { control, seconds, received_bytes, complete }) => json!({
                "event": "end", "control": control, "seconds": seconds, "received_bytes": received_bytes,
                "complete": complete,
            }),
            Err(why) => json!({ "event": "end", "complete": false, "problem": why }),
        };
        self.log.append(&joined(joined(mark, end), times()))?;
        self.log.sync()?;
        Ok(outcome)
    }
}

/// The contents of `campaign.json`.
enum Kept {
    Plan(Plan),
    /// A plan from before records had checksums.
    Old(Plan),
    Damaged,
}

impl Kept {
    fn of(text: &[u8]) -> Kept {
        let sealed = text.strip_suffix(b"\n").and_then(unseal);
        if let Some(plan) = sealed.and_then(|value| serde_json::from_value(value).ok()) {
            return Kept::Plan(plan);
        }
        let old = serde_json::from_slice::<Plan>(text).ok();
        let is_as_written = |plan: &Plan| {
            let again = serde_json::to_string_pretty(plan);
            again.is_ok_and(|again| (again + "\n").as_bytes() == text)
        };
        old.filter(is_as_written).map_or(Kept::Damaged, Kept::Old)
    }
}

fn compatible(before: &Plan, plan: &Plan) -> Result<(), &'static str> {
    if before == plan {
        Ok(())
    } else if (Plan { identity: plan.identity.clone(), ..before.clone() }) == *plan {
        Err("began with another server certificate; find out why it changed, or choose another directory")
    } else {
        Err("contains a campaign with other options; use those, or choose another directory")
    }
}

/// Whether a directory contains nothing but the leftovers of a client that was killed at once.
fn holds_nothing_else(directory: &Path) -> std::io::Result<bool> {
    let draft = disk::draft_of(Path::new(PLAN));
    for entry in fs::read_dir(directory)? {
        let name = PathBuf::from(entry?.file_name());
        if name != draft && name != Path::new(LOCK) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Claims a directory for as long as the lock is held.
fn lock(directory: &Path) -> Result<Flock<File>, String> {
    let path = directory.join(LOCK);
    let file = File::options().write(true).create(true).truncate(false).open(&path);
    let file = file.map_err(|error| format!("{}: {error}", path.display()))?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| match error {
        nix::errno::Errno::EWOULDBLOCK => {
            format!("{}: another client is working there; wait for it", directory.display())
        }
        error => format!("{}: {error}", path.display()),
    })
}

fn joined(mut object: Value, other: Value) -> Value {
    if let (Some(object), Value::Object(other)) = (object.as_object_mut(), other) {
        object.extend(other);
    }
    object
}
