//! A campaign: slots, one after the other, and a directory with their results.
//!
//! `campaign.json` says what is measured, `log.jsonl` has a line for everything that happened: the beginning and end
//! of slots, and what client and server knew about every flow every second. Lines are only appended, so that a client
//! that is killed loses at most one line; with the same directory it resumes at the first slot that is not complete.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::client::{self, Outcome, Slot};
use crate::clock;
use crate::session::LOOK;
use crate::token::Token;
use crate::transport::{Dialer, Transport};
use crate::wire::{Answer, Request};

const PLAN: &str = "campaign.json";
const LOG: &str = "log.jsonl";
/// Pauses between attempts at a slot: each is twice the last, up to the longest.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// What is measured.
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
    log: File,
    complete: BTreeSet<u64>,
    /// Attempts at each slot so far, complete or not.
    tries: Vec<u64>,
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
    /// Starts the campaign `plan` in `directory`, or resumes it there.
    ///
    /// # Errors
    /// One line, when the directory contains something else or cannot be written.
    pub fn open(directory: &Path, plan: Plan) -> Result<Campaign, String> {
        let explain = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let file: PathBuf = directory.join(PLAN);
        match fs::read(&file) {
            Ok(text) => {
                let before: Plan = serde_json::from_slice(&text).map_err(|error| explain(&file, &error))?;
                if (Plan { identity: plan.identity.clone(), ..before.clone() }) == plan && before != plan {
                    let hint = "began with another server certificate; find out why it changed, or choose another directory";
                    return Err(explain(directory, &hint));
                }
                if before != plan {
                    let hint =
                        "contains a campaign with other settings; use those, or choose another directory";
                    return Err(explain(directory, &hint));
                }
            }
            Err(_) => {
                fs::create_dir_all(directory).map_err(|error| explain(directory, &error))?;
                let mut entries = fs::read_dir(directory).map_err(|error| explain(directory, &error))?;
                if entries.next().is_some() {
                    return Err(explain(
                        directory,
                        &"is not empty and contains no campaign; choose another directory",
                    ));
                }
                let text = serde_json::to_string_pretty(&plan).map_err(|error| error.to_string())? + "\n";
                // Whole or not at all: a campaign is its plan.
                let draft = directory.join(format!(".{PLAN}"));
                fs::write(&draft, text).map_err(|error| explain(&draft, &error))?;
                fs::rename(&draft, &file).map_err(|error| explain(&file, &error))?;
            }
        }
        let path = directory.join(LOG);
        let mut open = OpenOptions::new();
        let mut log =
            open.read(true).append(true).create(true).open(&path).map_err(|error| explain(&path, &error))?;
        let (complete, tries) = read_log(&mut log, plan.slots).map_err(|error| explain(&path, &error))?;
        Ok(Campaign { plan, log, complete, tries })
    }

    /// Number of slots that are complete.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.complete.len() as u64
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
        while let Some(number) = (0..self.plan.slots).find(|slot| !self.complete.contains(slot)) {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let outcome = self.fetch(dialer, token, number, stop)?;
            tell(number, outcome.as_ref().map_err(String::as_str));
            match outcome {
                Ok(Outcome { complete: true, .. }) => {
                    self.complete.insert(number);
                    (last_good, wait) = (clock::now(), FIRST_WAIT);
                    continue;
                }
                Ok(_) if stop.load(Ordering::Relaxed) => return Ok(()),
                Ok(_) => {}
                Err(problem) if last_good.elapsed() >= patience => {
                    return Err(format!("{problem}; run the same command again to resume"));
                }
                Err(_) => {}
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
        let tries = &mut self.tries[number as usize];
        *tries += 1;
        let mark = json!({ "slot": number, "try": *tries });
        write(&mut self.log, &mark, json!({ "event": "begin", "unix_s": clock::unix_s() }))?;
        let slot = Slot { number, seconds: self.plan.period_s, references: self.plan.references };
        let mut problem = None;
        let log = &mut self.log;
        let outcome = client::fetch(dialer, token, &slot, stop, |control, sample| {
            let line = json!({ "event": "sample", "control": control });
            let sample = serde_json::to_value(sample).unwrap_or_default();
            if let Err(error) = write(log, &mark, joined(line, sample)) {
                problem = Some(error);
            }
        });
        let end = match &outcome {
            Ok(Outcome { control, seconds, received_bytes, complete }) => json!({
                "event": "end", "control": control, "seconds": seconds, "received_bytes": received_bytes,
                "complete": complete,
            }),
            Err(why) => json!({ "event": "end", "complete": false, "problem": why }),
        };
        write(&mut self.log, &mark, end)?;
        self.log.sync_data().map_err(|error| format!("cannot write the log: {error}"))?;
        problem.map_or(Ok(outcome), Err)
    }
}

fn joined(mut one: Value, other: Value) -> Value {
    if let (Some(one), Value::Object(other)) = (one.as_object_mut(), other) {
        one.extend(other);
    }
    one
}

fn write(log: &mut File, mark: &Value, line: Value) -> Result<(), String> {
    let text = joined(mark.clone(), line).to_string() + "\n";
    log.write_all(text.as_bytes()).map_err(|error| format!("cannot write the log: {error}"))
}

/// The slots that are complete, and the number of attempts at each. An unfinished last line is cut off.
fn read_log(log: &mut File, slots: u64) -> std::io::Result<(BTreeSet<u64>, Vec<u64>)> {
    let mut complete = BTreeSet::new();
    let mut tries = vec![0; slots as usize];
    let mut whole = 0;
    log.seek(SeekFrom::Start(0))?;
    let mut lines = BufReader::new(&*log);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        let Ok(entry) = serde_json::from_slice::<Value>(&line) else { break };
        if line.last() != Some(&b'\n') {
            break;
        }
        whole += line.len() as u64;
        if let Some(slot) = entry["slot"].as_u64().filter(|slot| *slot < slots) {
            tries[slot as usize] = tries[slot as usize].max(entry["try"].as_u64().unwrap_or(0));
            if entry["event"] == "end" && entry["complete"] == true {
                complete.insert(slot);
            }
        }
        line.clear();
    }
    log.set_len(whole)?;
    Ok((complete, tries))
}
