//! The path in real time, between namespaces that go away with it. Needs root and iproute2; says so and passes
//! where one is missing.

use std::fs;
use std::io::{BufRead, BufReader, Write, stderr};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

const PROGRAM: &str = env!("CARGO_BIN_EXE_ackclock-link");

fn is_missing() -> bool {
    let has = |command: &str| Command::new(command).arg("-V").output().is_ok();
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    let missing = !is_root || !has("ip") || !has("ss") || fs::metadata("/dev/net/tun").is_err();
    if missing {
        // Not by a macro: those are heard only when a test fails.
        let line = "skipped: the emulated path is tried only by root, with ip, ss and /dev/net/tun\n";
        stderr().write_all(line.as_bytes()).unwrap();
    }
    missing
}

fn link(arguments: &[&str]) -> Output {
    Command::new(PROGRAM).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn namespaces_of(process: u32) -> usize {
    let prefix = format!("ack-link-{process}-");
    let entries = fs::read_dir("/run/netns").into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix)).count()
}

/// A path that stands, once it says so.
fn standing() -> Child {
    let tolerant = ["--tolerance", "1s"];
    let mut child =
        Command::new(PROGRAM).args(tolerant).stderr(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("The path stands."), "{line}");
    assert_eq!(namespaces_of(child.id()), 2);
    child
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn a_command_runs_over_the_path() {
    if is_missing() {
        return;
    }
    let report = std::env::temp_dir().join(format!("ackclock-link-{}.json", std::process::id()));
    let server = "python3 -c 'import socket; s = socket.create_server((\"10.77.0.2\", 7)); c, _ = s.accept(); \
                  c.sendall(c.recv(9)); c.recv(9)'";
    // Connects in one round trip and gets the echo in the next: 2 x 60 ms, never less.
    let client = "import socket, time; t = time.monotonic(); c = socket.create_connection((\"10.77.0.2\", 7)); \
                  c.sendall(b'x'); c.recv(9); raise SystemExit(time.monotonic() - t < 0.12)";
    let done = link(&[
        "--delay",
        "30ms",
        "--report",
        report.to_str().unwrap(),
        "--tolerance",
        "1s",
        "--server",
        server,
        "--",
        "python3",
        "-c",
        client,
    ]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = fs::read_to_string(&report).unwrap();
    fs::remove_file(&report).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["valid"], true);
    // A handshake, a byte, and what ends a connection.
    assert!(report["forward"]["delivered_packets"].as_u64().unwrap() >= 3);
    assert!(report["reverse"]["delivered_packets"].as_u64().unwrap() >= 2);
}

#[test]
fn late_results_are_refused() {
    if is_missing() {
        return;
    }
    // Nothing is sent within a picosecond of its time.
    let done = link(&[
        "--tolerance",
        "0s",
        "--",
        "python3",
        "-c",
        "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'x', ('10.77.0.2', 9)); import time; time.sleep(0.3)",
    ]);
    assert_eq!(done.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&done.stderr).contains("results over this path do not hold"));
}

#[test]
fn the_status_of_the_command_is_kept() {
    if is_missing() {
        return;
    }
    assert_eq!(link(&["--", "sh", "-c", "exit 7"]).status.code(), Some(7));
}

#[test]
fn nothing_is_left_behind() {
    if is_missing() {
        return;
    }
    let mut child = standing();
    signal(&child, "-TERM");
    assert!(child.wait().unwrap().success());
    assert_eq!(namespaces_of(child.id()), 0);

    let mut killed = standing();
    // A process in there would keep the namespace.
    let listed = Command::new("ip").args(["netns", "list"]).output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let prefix = format!("ack-link-{}-", killed.id());
    let mut names = listed.split_whitespace().filter(|name| name.starts_with(&prefix));
    let client = names.find(|name| name.ends_with("client")).unwrap();
    let mut sleeper = Command::new("ip").args(["netns", "exec", client, "sleep", "1000"]).spawn().unwrap();
    sleep(Duration::from_millis(100));
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(namespaces_of(killed.id()), 2);
    let mut next = standing();
    assert_eq!(namespaces_of(killed.id()), 0, "the next start tidies");
    assert!(!sleeper.wait().unwrap().success());
    signal(&next, "-INT");
    assert!(next.wait().unwrap().success());
    assert_eq!(namespaces_of(next.id()), 0);
}

#[test]
fn given_namespaces_stay() {
    if is_missing() {
        return;
    }
    let ip = |arguments: &str| Command::new("ip").args(arguments.split(' ')).output().unwrap();
    let names = ["client", "server"].map(|host| format!("acktest-link-{host}-{}", std::process::id()));
    names.iter().for_each(|name| assert!(ip(&format!("netns add {name}")).status.success()));
    let both = names.join(",");
    let done = link(&["--namespaces", &both, "--tolerance", "1s", "--", "true"]);
    let left = names.iter().map(|name| ip(&format!("-n {name} -o link show"))).collect::<Vec<_>>();
    names.iter().for_each(|name| assert!(ip(&format!("netns del {name}")).status.success()));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(left.iter().all(|shown| !String::from_utf8_lossy(&shown.stdout).contains("ack0")));
}

#[test]
fn bad_input_is_one_line() {
    let refuse = |arguments: &[&str], line: &str| {
        let done = link(arguments);
        assert_eq!((done.status.code(), String::from_utf8_lossy(&done.stderr).as_ref()), (Some(2), line));
    };
    refuse(
        &["--rate", "fast"],
        "ackclock-link: --set dumbbell.rate=fast: dumbbell.rate: not a number; expected a rate such as \"100 Mbit/s\" (bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s)\n",
    );
    refuse(&["none.toml"], "ackclock-link: none.toml: No such file or directory (os error 2)\n");
    refuse(
        &["--delay", "30ms", "--port-rtts", "5201=50ms"],
        "ackclock-link: --port-rtts: port 5201: must be at least the delays of the path there and back (60 ms), is 50 ms\n",
    );
    refuse(&["--port-rtts", "5201=60ms,5201=80ms"], "ackclock-link: --port-rtts: port 5201 is named twice\n");
    refuse(
        &["--port-rtts", "5201"],
        "ackclock-link: --port-rtts: \"5201\": expected PORT=RTT, for example 5201=60ms\n",
    );
}
