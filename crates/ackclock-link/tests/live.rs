//! The path in real time, between namespaces that go away with it. Needs root, iproute2 and /dev/net/tun:
//! `make test-all` runs these tests where it can, and says so where it cannot.

#[allow(dead_code, reason = "shared with tests of other programs")]
#[path = "../../../tests/deadline.rs"]
mod deadline;

use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use deadline::{Lines, output, until, wait};

const PROGRAM: &str = env!("CARGO_BIN_EXE_ackclock-link");

/// Held by tests that leave a path behind, and by those whose path in a container would find it: from there processes
/// outside cannot be seen, and so not ended.
static LEFT: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn link(arguments: &[&str]) -> Output {
    output(Command::new(PROGRAM).args(arguments))
}

fn ip(arguments: &str) -> Output {
    output(Command::new("ip").args(arguments.split(' ')))
}

fn namespaces_of(process: u32) -> usize {
    let prefix = format!("ack-link-{process}-");
    let entries = fs::read_dir("/run/netns").into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix)).count()
}

/// A path, once it says that it is up.
fn up() -> Child {
    let tolerant = ["--tolerance", "1h"];
    let mut child =
        Command::new(PROGRAM).args(tolerant).stderr(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
    let line = Lines::of(child.stderr.take().unwrap()).next().unwrap_or_default();
    assert!(line.starts_with("The path is up."), "{line}");
    assert_eq!(namespaces_of(child.id()), 2);
    child
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

#[test]
#[ignore = "needs root, ip, ss and /dev/net/tun"]
fn a_command_runs_over_the_path() {
    let report = std::env::temp_dir().join(format!("ackclock-link-{}.json", std::process::id()));
    let server = "python3 -c 'import socket; s = socket.create_server((\"10.77.0.2\", 7)); c, _ = s.accept(); \
                  c.sendall(c.recv(9)); c.recv(9)'";
    // Connects in one round trip and gets the echo in the next: 2 x 60 ms, never less.
    let client = "import socket, time; t = time.monotonic(); c = socket.create_connection((\"10.77.0.2\", 7)); \
                  c.sendall(b'x'); c.recv(9); raise SystemExit(time.monotonic() - t < 0.12)";
    let done = link(&[
        "--delay",
        "30ms",
        "-o",
        report.to_str().unwrap(),
        "--tolerance",
        "1h",
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
#[ignore = "needs root, ip, ss and /dev/net/tun"]
fn late_results_are_refused() {
    // Nothing is sent within a picosecond of its time.
    let done = link(&[
        "--tolerance",
        "0s",
        "--",
        "python3",
        "-c",
        // Until the answer that nobody listens there has come back over the path.
        "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(60)
s.connect(('10.77.0.2', 9)); s.send(b'x')
try: s.recv(1)
except ConnectionRefusedError: pass",
    ]);
    assert_eq!(done.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&done.stderr).contains("results over this path are not valid"));
}

#[test]
#[ignore = "needs root, ip, ss and /dev/net/tun"]
fn the_status_of_the_command_is_kept() {
    assert_eq!(link(&["--", "sh", "-c", "exit 7"]).status.code(), Some(7));
}

#[test]
#[ignore = "needs root, ip, ss and /dev/net/tun"]
fn nothing_is_left_behind() {
    let _alone = alone();
    let mut child = up();
    signal(&child, "-TERM");
    assert!(wait(&mut child).success());
    assert_eq!(namespaces_of(child.id()), 0);

    let mut killed = up();
    // A process in there would keep the namespace.
    let listed = String::from_utf8_lossy(&ip("netns list").stdout).into_owned();
    let prefix = format!("ack-link-{}-", killed.id());
    let mut names = listed.split_whitespace().filter(|name| name.starts_with(&prefix));
    let client = names.find(|name| name.ends_with("client")).unwrap();
    let mut sleeper = Command::new("ip").args(["netns", "exec", client, "sleep", "1000"]).spawn().unwrap();
    until("the process is in the namespace", || {
        let inside = String::from_utf8_lossy(&ip(&format!("netns pids {client}")).stdout).into_owned();
        inside.split_whitespace().any(|process| process == sleeper.id().to_string())
    });
    killed.kill().unwrap();
    wait(&mut killed);
    assert_eq!(namespaces_of(killed.id()), 2);
    let mut next = up();
    assert_eq!(namespaces_of(killed.id()), 0, "the next start tidies");
    assert!(!wait(&mut sleeper).success());
    signal(&next, "-INT");
    assert!(wait(&mut next).success());
    assert_eq!(namespaces_of(next.id()), 0);
}

/// What a path runs used to continue when the path was killed.
#[test]
#[ignore = "needs root, ip, ss and /dev/net/tun"]
fn commands_end_with_a_path_that_is_killed() {
    let _alone = alone();
    // Numbers that nobody else sleeps for; the server opens a port, and says nothing.
    let server =
        "python3 -c 'import socket, time; s = socket.create_server((\"10.77.0.2\", 7)); time.sleep(10077)'";
    let mut path = Command::new(PROGRAM)
        .args(["--server", server, "--", "sleep", "10078"])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let running = || {
        let output = output(Command::new("ps").args(["-eo", "args"]));
        let all = String::from_utf8_lossy(&output.stdout).into_owned();
        let of = |words: &str| {
            all.lines().filter(|line| line.contains(words) && !line.contains("ackclock-link")).count()
        };
        (of("time.sleep(10077)"), of("sleep 10078"))
    };
    until("both commands run", || running() == (1, 1));
    path.kill().unwrap();
    wait(&mut path);
    until("both commands have ended", || running() == (0, 0));
    let mut next = up();
    assert_eq!(namespaces_of(path.id()), 0, "the next start tidies");
    signal(&next, "-INT");
    assert!(wait(&mut next).success());
}

/// A namespace that is only called like ours used to be deleted at the next start, and what ran in it killed.
#[test]
#[ignore = "needs root, ip, ss and /dev/net/tun"]
fn namespaces_of_others_stay() {
    let names = ["ack-link-1-1-mine", "ack-link-1-1-0-client"];
    names.iter().for_each(|name| assert!(ip(&format!("netns add {name}")).status.success()));
    let mut sleeper = Command::new("ip").args(["netns", "exec", names[0], "sleep", "1000"]).spawn().unwrap();
    let mut path = up();
    let is_there = names.map(|name| fs::exists(format!("/run/netns/{name}")).unwrap());
    let lives = matches!(sleeper.try_wait(), Ok(None));
    signal(&path, "-INT");
    assert!(wait(&mut path).success());
    sleeper.kill().unwrap();
    wait(&mut sleeper);
    names.iter().for_each(|name| drop(ip(&format!("netns del {name}"))));
    assert_eq!((is_there, lives), ([true; 2], true));
}

/// A path in a container has numbers of processes of its own. One outside used to take it for dead.
#[test]
#[ignore = "needs root, ip, ss and /dev/net/tun"]
fn paths_in_containers_stay() {
    let _alone = alone();
    let mut inside = Command::new("unshare")
        .args(["--pid", "--fork", "--kill-child", "--mount-proc", PROGRAM, "--tolerance", "1h"])
        .stderr(Stdio::piped())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let line = Lines::of(inside.stderr.take().unwrap()).next().unwrap_or_default();
    let client = line.split_whitespace().find(|word| word.ends_with("-client")).unwrap().to_owned();
    let mut outside = up();
    let is_there = fs::exists(format!("/run/netns/{client}")).unwrap();
    signal(&outside, "-INT");
    assert!(wait(&mut outside).success());
    // Killed, it is tidied up after by the next one outside.
    inside.kill().unwrap();
    wait(&mut inside);
    assert!(is_there, "{client} was removed while its path was alive");
    until("the next start removes what the container left", || {
        let mut next = up();
        signal(&next, "-INT");
        wait(&mut next).success() && !fs::exists(format!("/run/netns/{client}")).unwrap()
    });
}

#[test]
#[ignore = "needs root, ip, ss and /dev/net/tun"]
fn given_namespaces_stay() {
    let names = ["client", "server"].map(|host| format!("acktest-link-{host}-{}", std::process::id()));
    names.iter().for_each(|name| assert!(ip(&format!("netns add {name}")).status.success()));
    let both = names.join(",");
    let done = link(&["--namespaces", &both, "--tolerance", "1h", "--", "true"]);
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
    refuse(
        &["none.toml"],
        "ackclock-link: none.toml: cannot be read: No such file or directory (os error 2)\n",
    );
    refuse(
        &["--delay", "30ms", "--port-rtts", "5201=50ms"],
        "ackclock-link: --port-rtts: port 5201: must be at least the round-trip delay of the path (60 ms), is 50 ms\n",
    );
    refuse(&["--port-rtts", "5201=60ms,5201=80ms"], "ackclock-link: --port-rtts: port 5201 is given twice\n");
    refuse(
        &["--port-rtts", "5201"],
        "ackclock-link: --port-rtts: \"5201\": expected PORT=RTT, for example 5201=60ms\n",
    );
}

/// Runs the program as somebody who is not root, from where everybody may read it.
fn as_nobody(before: &[&str], arguments: &[&str]) -> Output {
    static COPIES: AtomicU32 = AtomicU32::new(0);
    let number = COPIES.fetch_add(1, Ordering::Relaxed);
    let copy = std::env::temp_dir().join(format!("ackclock-link-{}-{number}", std::process::id()));
    fs::copy(PROGRAM, &copy).unwrap();
    let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let words: Vec<&str> = [before, &user, &[copy.to_str().unwrap()], arguments].concat();
    let done = output(Command::new(words[0]).args(&words[1..]));
    fs::remove_file(copy).unwrap();
    done
}

#[test]
#[ignore = "needs root, ip, ss and /dev/net/tun"]
fn a_user_needs_no_root() {
    // A device that all may open, as most systems have it, whatever this one has.
    let script = "mount -t tmpfs none /dev/net && mknod -m 666 /dev/net/tun c 10 200 && exec \"$@\"";
    let command = ["--tolerance", "1h", "--", "ip", "-o", "addr", "show", "dev", "ack0"];
    let done = as_nobody(&["unshare", "--mount", "sh", "-c", script, "sh"], &command);
    let message = String::from_utf8_lossy(&done.stderr);
    if message.contains("does not let users make network namespaces") {
        eprintln!("not tested: {message}");
        return;
    }
    assert!(done.status.success(), "{message}");
    assert!(String::from_utf8_lossy(&done.stdout).contains("10.77.0.1/24"));
    assert!(message.contains("Could not get real-time priority"), "{message}");
}

#[test]
#[ignore = "needs root, ip, ss and /dev/net/tun"]
fn where_users_may_not_make_namespaces_it_says_what_to_do() {
    // The kernel lets nobody make a user namespace whose root is another directory than that of its mounts.
    let inside = format!("/tmp/ackclock-root-{}", std::process::id());
    let script = format!("mkdir {inside} && mount --rbind / {inside} && exec chroot {inside} \"$@\"");
    let done = as_nobody(&["unshare", "--mount", "sh", "-c", &script, "sh"], &["--", "true"]);
    fs::remove_dir(&inside).unwrap();
    assert_eq!(done.status.code(), Some(1));
    let message = String::from_utf8_lossy(&done.stderr);
    assert!(message.starts_with(
        "ackclock-link: this system does not let users make network namespaces (unshare: EPERM"
    ));
    assert!(message.contains("; run sudo ackclock link ..., or allow it with sudo sysctl "), "{message}");
}

#[test]
#[ignore = "needs root, ip, ss and /dev/net/tun"]
fn without_its_device_it_says_what_to_do() {
    let script = "mount -t tmpfs none /dev/net && exec \"$@\"";
    let done = as_nobody(&["unshare", "--mount", "sh", "-c", script, "sh"], &["--", "true"]);
    assert_eq!(done.status.code(), Some(1));
    let message = String::from_utf8_lossy(&done.stderr);
    assert!(
        message.ends_with("cannot create ack0: /dev/net/tun is missing; run sudo modprobe tun\n"),
        "{message}"
    );
}
