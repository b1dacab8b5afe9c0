//! The program as a user has it: a campaign over loopback, killed and resumed.

use std::fs;
use std::process::{Child, Command};

use ackclock_measure::record::seal;
use serde_json::Value;

use crate::deadline::{Lines, output, until, wait};
use crate::stand::{Stand, measure, text};

#[test]
fn a_killed_campaign_is_resumed() {
    kill_and_resume(&Stand::new("killed", &[]));
}

#[test]
fn a_killed_campaign_over_quic_is_resumed() {
    let stand = Stand::new("killed-quic", &["--quic"]);
    kill_and_resume(&stand);
    // The first answer has identified the server, and it accepts no other.
    let plan: Value =
        serde_json::from_str(&fs::read_to_string(stand.path("campaign/campaign.json")).unwrap()).unwrap();
    let identity = plan["identity"].as_str().unwrap().to_owned();
    assert_eq!((plan["transport"].as_str(), identity.as_str()), (Some("quic"), stand.fingerprint.as_str()));
    let other = identity.replace(|digit| digit != '0', "0");
    let pinned = output(stand.run("6s").args(["--fingerprint", &other]));
    assert_eq!(pinned.status.code(), Some(1));
    let line = format!("its certificate is not the pinned one; it has the fingerprint {identity}");
    assert!(text(&pinned).contains(&line) && text(&pinned).lines().count() == 1, "{}", text(&pinned));
    let right = output(stand.run("6s").args(["--fingerprint", &identity]));
    assert!(right.status.success(), "{}", text(&right));
    // A server with another certificate does not get into this campaign, token or not.
    let mut stand = stand;
    fs::remove_file(stand.path("token.identity")).unwrap();
    stand.restart();
    let changed = output(&mut stand.run("6s"));
    assert_eq!(changed.status.code(), Some(2));
    assert!(text(&changed).contains("began with another server certificate"), "{}", text(&changed));
}

/// A server that is asked to end does so in order: its clients learn of it, and the log says how far it came.
#[test]
fn a_server_ends_in_order() {
    for name in ["-TERM", "-INT"] {
        let mut stand = Stand::new("ends", &[]);
        let mut client = stand.run_by("60s", "60s", "1s").spawn().unwrap();
        stand.wait_for("\"event\":\"sample\"");
        signal(&stand.server, name);
        assert!(wait(&mut stand.server).success(), "{name}");
        assert!(stand.server_log().contains("cut short"), "{}", stand.server_log());
        client.kill().unwrap();
        wait(&mut client);
    }
}

/// What rotates logs renames the file, and sends SIGHUP.
#[test]
fn a_server_opens_its_log_again() {
    let stand = Stand::new("rotated", &[]);
    fs::rename(stand.path("server.jsonl"), stand.path("old.jsonl")).unwrap();
    signal(&stand.server, "-HUP");
    until("the log by its name", || {
        assert!(output(&mut stand.run("1s")).status.success());
        fs::remove_dir_all(stand.path("campaign")).unwrap();
        fs::exists(stand.path("server.jsonl")).unwrap()
    });
    stand.wait_for("\"event\":\"slot\"");
}

/// Sends a signal to a process.
fn signal(process: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &process.id().to_string()]).status().unwrap().success());
}

/// Whether its main thread, which writes the log, is stopped or gone.
fn is_stopped(process: &Child) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.id())).unwrap();
    // The state comes after the name in parentheses.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['T', 'Z']))
}

/// The slots of a log that are complete, and the one in whose middle it ends.
fn progress(log: &[Value]) -> (Vec<u64>, Option<u64>) {
    let ends = log.iter().filter(|line| line["event"] == "end" && line["complete"] == true);
    let last = log.last().filter(|line| line["event"] != "end");
    (
        ends.map(|line| line["slot"].as_u64().unwrap()).collect(),
        last.map(|line| line["slot"].as_u64().unwrap()),
    )
}

fn kill_and_resume(stand: &Stand) {
    let mut killed = stand.run("6s").spawn().unwrap();
    let mut lines = Lines::of(killed.stderr.take().unwrap());
    let first = lines.find(|line| line.starts_with("slot 1 of 6")).unwrap();
    assert!(first.contains("reno"), "{first}");
    // Killed in the middle of a slot: looked at while it is stopped, so that it cannot get any further.
    until("the client is in the middle of a slot", || {
        signal(&killed, "-STOP");
        until("the client is stopped", || is_stopped(&killed));
        let is_inside = progress(&stand.log()).1.is_some();
        if !is_inside {
            signal(&killed, "-CONT");
        }
        is_inside
    });
    killed.kill().unwrap();
    wait(&mut killed);
    let (complete, interrupted) = progress(&stand.log());
    let interrupted = interrupted.unwrap();
    assert_eq!(complete, (0..interrupted).collect::<Vec<_>>());
    // And in the middle of a line.
    let log = stand.path("campaign/log.jsonl");
    let before = fs::read(&log).unwrap();
    fs::write(&log, [&before[..], b"{\"event\":\"sam"].concat()).unwrap();

    let done = output(&mut stand.run("6s"));
    assert!(done.status.success(), "{}", text(&done));
    let expected = format!("{} of 6 slots of 1 s are complete", complete.len());
    assert!(text(&done).starts_with(&expected), "{}", text(&done));
    assert!(fs::read(&log).unwrap().starts_with(&before), "nothing is lost");
    let log = stand.log();
    assert_eq!(progress(&log), ((0..6).collect(), None), "each is complete once");
    let tries =
        |slot: u64| log.iter().filter(|line| line["slot"] == slot && line["event"] == "begin").count();
    assert!(
        tries(interrupted) >= 2 && log.iter().any(|line| line["slot"] == interrupted && line["try"] == 2)
    );
    let again = output(&mut stand.run("6s"));
    assert!(again.status.success() && text(&again).starts_with("6 of 6 slots"), "{}", text(&again));
    let server = stand.server_log();
    assert!(server.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{server}");
}

#[test]
fn interrupted_is_130_and_another_campaign_is_refused() {
    let stand = Stand::new("interrupted", &[]);
    let mut client = stand.run_by("5min", "5min", "2s").spawn().unwrap();
    until("the slot has begun", || stand.log().iter().any(|line| line["event"] == "begin"));
    signal(&client, "-INT");
    assert_eq!(wait(&mut client).code(), Some(130));
    assert!(stand.log().iter().any(|line| line["event"] == "end" && line["complete"] == false));
    let other = output(&mut stand.run("30s"));
    assert_eq!(other.status.code(), Some(2));
    assert!(text(&other).contains("contains a campaign with other options"), "{}", text(&other));
}

#[test]
fn a_second_client_waits_its_turn() {
    let stand = Stand::new("second", &[]);
    let mut first = stand.run_by("5min", "5min", "2s").spawn().unwrap();
    until("the slot has begun", || stand.log().iter().any(|line| line["event"] == "begin"));
    let second = output(&mut stand.run_by("5min", "5min", "2s"));
    assert_eq!(second.status.code(), Some(2));
    assert!(text(&second).contains("campaign: another client is working there"), "{}", text(&second));
    assert!(stand.log().iter().all(|line| line["try"] == 1));
    signal(&first, "-INT");
    assert_eq!(wait(&mut first).code(), Some(130));
}

#[test]
fn a_clock_that_is_set_back_moves_no_slot() {
    let stand = Stand::new("clock", &[]);
    assert!(output(&mut stand.run("2s")).status.success());
    // The second slot is to be measured again, and the wall clock was two hours ahead before.
    let mut log = stand.log();
    log.retain(|line| line["slot"] == 0);
    for line in &mut log {
        line.as_object_mut().unwrap().remove("checksum");
        if let Some(unix_s) = line["unix_s"].as_f64() {
            line["unix_s"] = (unix_s + 7200.0).into();
        }
    }
    let sealed = log.iter().map(seal).collect::<String>();
    fs::write(stand.path("campaign/log.jsonl"), &sealed).unwrap();
    let again = output(&mut stand.run("2s"));
    assert!(again.status.success() && text(&again).starts_with("1 of 2 slots"), "{}", text(&again));
    let of = |name: &str| stand.log().iter().filter_map(|line| line[name].as_f64()).collect::<Vec<_>>();
    assert!(!of("unix_s").is_sorted(), "{:?}", of("unix_s"));
    // The beginning and end of the two slots.
    assert!(of("elapsed_s").len() == 4 && of("elapsed_s").is_sorted(), "{:?}", of("elapsed_s"));
}

#[test]
fn a_changed_byte_is_told_and_can_be_set_aside() {
    let stand = Stand::new("changed", &[]);
    assert!(output(&mut stand.run("3s")).status.success());
    let log = stand.path("campaign/log.jsonl");
    let mut content = fs::read(&log).unwrap();
    let middle = content.len() / 2;
    content[middle] = 0;
    fs::write(&log, &content).unwrap();
    let refused = output(&mut stand.run("3s"));
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused).contains("log.jsonl: line ") && text(&refused).contains("--set-aside"));
    assert_eq!(text(&refused).lines().count(), 1);
    assert_eq!(fs::read(&log).unwrap(), content);
    let repaired = output(stand.run("3s").arg("--set-aside"));
    assert!(repaired.status.success(), "{}", text(&repaired));
    let note = "changed or damaged lines: 1; moved to ";
    assert!(text(&repaired).contains(note), "{}", text(&repaired));
    let (mut complete, _) = progress(&stand.log());
    complete.sort_unstable();
    complete.dedup();
    assert_eq!(complete, [0, 1, 2]);
    assert!(output(&mut stand.run("3s")).status.success());
}

#[test]
fn a_server_that_goes_away_is_waited_for_but_not_for_ever() {
    let mut stand = Stand::new("gone", &[]);
    let mut client = stand.run("60s").spawn().unwrap();
    let mut lines = Lines::of(client.stderr.take().unwrap());
    assert!(lines.any(|line| line.starts_with("slot 1 of 60")));
    stand.server.kill().unwrap();
    wait(&mut stand.server);
    let last = lines.last().unwrap();
    assert_eq!(wait(&mut client).code(), Some(1));
    assert!(last.ends_with("run the same command again to resume"), "{last}");
}

#[test]
fn bad_input_is_one_line() {
    let stand = Stand::new("bad", &[]);
    let token = stand.path("token");
    let refuse = |arguments: &[&str], part: &str| {
        let done = measure(arguments);
        assert_eq!(done.status.code(), Some(2), "{}", text(&done));
        assert!(text(&done).contains(part) && text(&done).lines().count() == 1, "{}", text(&done));
    };
    // Not at the default port, which another server may have.
    let serve = ["serve", "--listen", "127.0.0.1:0", "--token", &token];
    refuse(
        &[&serve[..], &["--controls", "renno"]].concat(),
        "this kernel does not offer renno; did you mean \"reno\"",
    );
    refuse(
        &[&serve[..], &["--quic", "--controls", "bbr"]].concat(),
        "bbr works by rates, which quinn neither measures nor obeys; over QUIC use for example reno, cubic, ",
    );
    refuse(&["serve", "--token", "none"], "none: there is no such token");
    refuse(&["run", "127.0.0.1", "--token", &token, "-o", "x", "--period", "1.5s"], "expected whole seconds");
    // Each of the bits that let somebody else read, write or run it.
    for mode in (0..6).map(|bit| 0o600 | 1 << bit) {
        fs::set_permissions(&token, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        refuse(&["serve", "--token", &token], "readable by others; run chmod 600 on it");
    }
    assert_eq!(measure(&["token", &token]).status.code(), Some(1), "it is not replaced");
}
