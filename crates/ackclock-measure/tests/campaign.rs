//! The program as a user has it: a campaign over loopback, killed, and gone on with.

mod stand;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use stand::{Stand, measure, text};

#[test]
fn a_killed_campaign_goes_on_where_it_was() {
    killed_and_gone_on_with(&Stand::new("killed", &[]));
}

#[test]
fn a_killed_campaign_over_quic_goes_on_where_it_was() {
    let stand = Stand::new("killed-quic", &["--quic"]);
    killed_and_gone_on_with(&stand);
    // The first answer has told who the server is, and another is none.
    let plan: Value =
        serde_json::from_str(&fs::read_to_string(stand.path("campaign/campaign.json")).unwrap()).unwrap();
    let identity = plan["identity"].as_str().unwrap().to_owned();
    assert_eq!((plan["transport"].as_str(), identity.as_str()), (Some("quic"), stand.fingerprint.as_str()));
    let other = identity.replace(|digit| digit != '0', "0");
    let pinned = stand.run("4s").args(["--fingerprint", &other]).output().unwrap();
    assert_eq!(pinned.status.code(), Some(1));
    let line = format!("shows another certificate than the pinned one, with fingerprint {identity}");
    assert!(text(&pinned).contains(&line) && text(&pinned).lines().count() == 1, "{}", text(&pinned));
    let right = stand.run("4s").args(["--fingerprint", &identity]).output().unwrap();
    assert!(right.status.success(), "{}", text(&right));
    // A server with another certificate does not get into this campaign, token or not.
    let mut stand = stand;
    fs::remove_file(stand.path("token.identity")).unwrap();
    stand.restart();
    let changed = stand.run("4s").output().unwrap();
    assert_eq!(changed.status.code(), Some(2));
    assert!(text(&changed).contains("began with another certificate of the server"), "{}", text(&changed));
}

fn killed_and_gone_on_with(stand: &Stand) {
    let mut killed = stand.run("4s").spawn().unwrap();
    let lines = BufReader::new(killed.stderr.take().unwrap()).lines();
    // In the middle of the second slot.
    let first = lines.map(Result::unwrap).find(|line| line.starts_with("slot 1 of 4")).unwrap();
    assert!(first.contains("reno"), "{first}");
    sleep(Duration::from_millis(400));
    killed.kill().unwrap();
    killed.wait().unwrap();
    // And in the middle of a line.
    let log = stand.path("campaign/log.jsonl");
    let before = fs::read(&log).unwrap();
    fs::write(&log, [&before[..], b"{\"event\":\"sam"].concat()).unwrap();

    let done = stand.run("4s").output().unwrap();
    assert!(done.status.success(), "{}", text(&done));
    assert!(text(&done).starts_with("1 of 4 slots of 1 s are complete"), "{}", text(&done));
    assert!(fs::read(&log).unwrap().starts_with(&before), "nothing is lost");
    let log = stand.log();
    let complete = |slot: u64| {
        log.iter()
            .filter(|line| line["slot"] == slot && line["event"] == "end" && line["complete"] == true)
            .count()
    };
    assert_eq!([0, 1, 2, 3].map(complete), [1; 4]);
    // The second slot was tried twice.
    assert!(log.iter().any(|line| line["slot"] == 1 && line["try"] == 2));
    assert!(!log.iter().any(|line| line["slot"] == 0 && line["try"] == 2));
    let again = stand.run("4s").output().unwrap();
    assert!(again.status.success() && text(&again).starts_with("4 of 4 slots"), "{}", text(&again));
    let server = fs::read_to_string(stand.path("server.jsonl")).unwrap();
    assert!(server.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{server}");
}

#[test]
fn interrupted_is_130_and_another_campaign_is_refused() {
    let stand = Stand::new("interrupted", &[]);
    let mut client = stand.run("60s").spawn().unwrap();
    while !Path::new(&stand.path("campaign/log.jsonl")).exists() {
        sleep(Duration::from_millis(20));
    }
    sleep(Duration::from_millis(300));
    assert!(Command::new("kill").args(["-INT", &client.id().to_string()]).status().unwrap().success());
    assert_eq!(client.wait().unwrap().code(), Some(130));
    assert!(stand.log().iter().any(|line| line["event"] == "end" && line["complete"] == false));
    let other = stand.run("30s").output().unwrap();
    assert_eq!(other.status.code(), Some(2));
    assert!(text(&other).contains("holds another campaign"), "{}", text(&other));
}

#[test]
fn a_server_that_goes_away_is_waited_for_but_not_for_ever() {
    let mut stand = Stand::new("gone", &[]);
    let mut client = stand.run("60s").spawn().unwrap();
    let lines = BufReader::new(client.stderr.take().unwrap()).lines();
    let mut lines = lines.map(Result::unwrap);
    assert!(lines.any(|line| line.starts_with("slot 1 of 60")));
    stand.server.kill().unwrap();
    stand.server.wait().unwrap();
    let last = lines.last().unwrap();
    assert_eq!(client.wait().unwrap().code(), Some(1));
    assert!(last.ends_with("the same command goes on from here"), "{last}");
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
    refuse(
        &["serve", "--token", &token, "--controls", "renno"],
        "this kernel does not offer renno; it offers ",
    );
    refuse(
        &["serve", "--quic", "--token", &token, "--controls", "bbr"],
        "bbr works by rates, which quinn neither measures nor obeys; over QUIC there are ",
    );
    refuse(&["serve", "--token", "none"], "none: No such file");
    refuse(&["run", "127.0.0.1", "--token", &token, "-o", "x", "--period", "1.5s"], "expected whole seconds");
    fs::set_permissions(&token, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    refuse(&["serve", "--token", &token], "others may read this token; chmod 600 it");
    assert_eq!(measure(&["token", &token]).status.code(), Some(1), "it is not replaced");
}
