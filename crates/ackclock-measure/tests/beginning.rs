//! How a campaign begins, and begins again: what a server offers, what the directory says, and attempts that fail.

use std::fs;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ackclock_measure::campaign::{Campaign, Plan, offer};
use ackclock_measure::clock;
use ackclock_measure::disk::Real;
use ackclock_measure::fault::Fault;
use ackclock_measure::log::Damaged;
use ackclock_measure::token::Token;
use ackclock_measure::transport::{Connection, Dialer, Transport};
use serde_json::{Value, json};

use crate::directory::{Directory, old, plan, records, sealed};
use crate::running::{Running, TOKEN, limits};

fn open_as(directory: &Directory, plan: Plan, damaged: Damaged) -> Result<(Campaign, Vec<String>), String> {
    Campaign::open(&directory.0, plan, damaged, Box::new(Real))
}

fn open(directory: &Directory) -> Campaign {
    open_as(directory, plan(), Damaged::Refuse).unwrap().0
}

/// A server that nobody reaches; stops the campaign after this many attempts.
struct Unreachable {
    attempts: Mutex<Vec<Instant>>,
    most: usize,
    stop: AtomicBool,
}

impl Unreachable {
    fn after(most: usize) -> Unreachable {
        Unreachable { attempts: Mutex::default(), most, stop: AtomicBool::new(false) }
    }

    /// Runs a campaign against it.
    fn run(&self, campaign: &mut Campaign, patience: Duration) -> Result<(), String> {
        campaign.run(self, &Token::new(TOKEN).unwrap(), patience, &self.stop, |_, _| {})
    }
}

impl Dialer for Unreachable {
    fn server(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 9))
    }

    fn connect(&self) -> Result<Arc<dyn Connection>, Fault> {
        let mut attempts = self.attempts.lock().unwrap();
        attempts.push(clock::now());
        self.stop.store(attempts.len() >= self.most, Ordering::Relaxed);
        Err(Fault::Unreachable("nobody is there".to_owned()))
    }
}

/// What a log says, without checksums.
fn log(directory: &Directory) -> Vec<Value> {
    let text = fs::read_to_string(directory.log()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Pauses of 1 s and 2 s between them, and all of them in the log, also those after a new start.
#[test]
fn attempts_that_fail_are_counted_and_kept_apart() {
    let directory = Directory::new("attempts");
    let server = Unreachable::after(3);
    server.run(&mut open(&directory), Duration::MAX).unwrap();
    let attempts = server.attempts.lock().unwrap();
    assert!(attempts[1] - attempts[0] >= Duration::from_secs(1));
    assert!(attempts[2] - attempts[1] >= Duration::from_secs(2));
    // Without patience the first failure is reported.
    let mut again = open(&directory);
    assert_eq!(again.done(), 0);
    let problem = Unreachable::after(usize::MAX).run(&mut again, Duration::ZERO).unwrap_err();
    assert_eq!(problem, "127.0.0.1:9: nobody is there; run the same command again to resume");
    let lines = log(&directory);
    let expected = (1..=4).flat_map(|number| [("begin", number), ("end", number)]);
    let events = lines.iter().map(|line| (line["event"].as_str().unwrap(), line["try"].as_u64().unwrap()));
    assert!(events.eq(expected), "{lines:?}");
    assert!(lines.iter().all(|line| line["slot"] == 0));
    let ends = || lines.iter().filter(|line| line["event"] == "end");
    assert!(
        ends().all(|line| line["problem"] == "127.0.0.1:9: nobody is there" && line["complete"] == false)
    );
}

/// Time continues while no client runs, also where a log knows the wall clock alone.
#[test]
fn time_goes_on_from_the_log() {
    let directory = Directory::new("time");
    drop(open(&directory));
    // The campaign began at second 1000 of 1970, and its second slot a minute later.
    fs::write(directory.log(), sealed(&records(2))).unwrap();
    Unreachable::after(1).run(&mut open(&directory), Duration::MAX).unwrap();
    let lines = log(&directory);
    let begin = &lines[lines.len() - 2];
    assert_eq!((begin["event"].as_str(), begin["slot"].as_u64()), (Some("begin"), Some(2)));
    let late_s = begin["elapsed_s"].as_f64().unwrap() - (begin["unix_s"].as_f64().unwrap() - 1000.0);
    // The clocks are read one after the other, which a busy machine may take its time for; the slots are 60 s apart.
    assert!(late_s.abs() < 30.0, "{late_s}");
}

/// As a campaign with more slots would leave them.
#[test]
fn slots_that_are_not_planned_are_none() {
    let directory = Directory::new("beyond");
    drop(open(&directory));
    fs::write(directory.log(), sealed(&records(8))).unwrap();
    assert_eq!(open(&directory).done(), 6);
}

#[test]
fn a_directory_has_one_campaign() {
    let directory = Directory::new("one");
    let of = |identity: Option<&str>, slots| {
        let plan = Plan { identity: identity.map(str::to_owned), slots, ..plan() };
        open_as(&directory, plan, Damaged::Refuse).map(drop)
    };
    assert_eq!(of(Some("a"), 6), Ok(()));
    assert_eq!(of(Some("a"), 6), Ok(()));
    assert!(of(Some("b"), 6).unwrap_err().ends_with(
        ": began with another server certificate; find out why it changed, or choose another directory"
    ));
    assert!(
        of(Some("a"), 7)
            .unwrap_err()
            .ends_with(": contains a campaign with other options; use those, or choose another directory")
    );
}

/// With a plan that is damaged nothing says whether its log should have checksums, but the log itself.
#[test]
fn a_damaged_plan_loses_no_slot() {
    let directory = Directory::new("lost-plan");
    let file = directory.0.join("campaign.json");
    for log in [old(&records(4)), sealed(&records(4))] {
        fs::write(&file, "{").unwrap();
        fs::write(directory.log(), &log).unwrap();
        assert_eq!(open_as(&directory, plan(), Damaged::SetAside).unwrap().0.done(), 4);
        assert_eq!(fs::read(directory.log()).unwrap(), sealed(&records(4)));
    }
    // Where others have checksums, a line without is not taken for one of an old log.
    fs::write(&file, "{").unwrap();
    fs::write(directory.log(), [sealed(&records(1)), old(&records(2)[3..])].concat()).unwrap();
    assert_eq!(open_as(&directory, plan(), Damaged::SetAside).unwrap().0.done(), 1);
    assert_eq!(fs::read(directory.log()).unwrap(), sealed(&records(1)));
}

#[test]
fn a_server_offers_what_it_allows() {
    for transport in [Transport::Tcp, Transport::Quic] {
        let running = Running::new(transport, limits());
        let ask = |seconds, references| {
            offer(running.dialer().as_ref(), &Token::new(TOKEN).unwrap(), seconds, references)
        };
        let (controls, identity) = ask(5, 2).unwrap();
        assert_eq!(controls, ["reno", "cubic"]);
        // SHA-256 of the certificate, which TCP has not.
        assert_eq!(identity.map(|digits| digits.len()), (transport == Transport::Quic).then_some(64));
        let address = running.address;
        assert_eq!(
            ask(6, 2).unwrap_err(),
            format!("{address}: allows slots of at most 5 s; shorten --period")
        );
        assert_eq!(ask(5, 3).unwrap_err(), format!("{address}: allows at most 2 reference flows"));
    }
}

/// A log of somebody else is not taken over with a plan of old.
#[test]
fn only_records_of_campaigns_are_taken_over() {
    let directory = Directory::new("foreign-old");
    let file = directory.0.join("campaign.json");
    fs::write(&file, serde_json::to_string_pretty(&plan()).unwrap() + "\n").unwrap();
    let whole = json!({ "slot": 0, "try": 1, "event": "begin" });
    for (member, other) in [("slot", json!("0")), ("try", json!(-1)), ("event", json!(3))] {
        let mut foreign = whole.clone();
        foreign[member] = other;
        fs::write(directory.log(), old(&[foreign])).unwrap();
        let problem = open_as(&directory, plan(), Damaged::Refuse).unwrap_err();
        assert!(problem.contains("line 1 (byte 0) was changed or damaged"), "{member}: {problem}");
    }
    fs::write(directory.log(), old(&[whole])).unwrap();
    open(&directory);
}
