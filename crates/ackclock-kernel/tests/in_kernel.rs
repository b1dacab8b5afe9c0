//! The controls in the running kernel: they load, carry a transfer over emulated paths, show themselves, tell what
//! they do, and go away.
//!
//! Needs root, a kernel with BTF, `ip`, `ss` and `iperf3`: `make test-all` runs these tests where it can, and says so
//! where it cannot. Works in namespaces of its own, which go away with it; those of a test that was killed go away with the
//! next one, and what it loaded at once.
#![cfg(feature = "load")]

#[allow(dead_code, reason = "shared with tests of other programs")]
#[path = "../../../tests/deadline.rs"]
mod deadline;
#[path = "in_kernel/rate.rs"]
mod rate;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::Duration;

use ackclock_cc::registry::BuiltIn;
use ackclock_kernel::{kernel, trace};
use ackclock_link::emulator::Emulator;
use ackclock_link::hosts::{Host, Hosts};
use ackclock_link::pump::{Pump, TOLERANCE};
use ackclock_scenario::read_toml;
use deadline::{ClearAtEnd, Lines, output, until, wait};
use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_ackclock-kernel");
/// The user without any permission.
const NOBODY: u32 = 65534;

/// Runs the program as a user who is not root, from a copy that everybody may run.
fn as_nobody(arguments: &[&str]) -> (Option<i32>, String) {
    let copy =
        std::env::temp_dir().join(format!("ackclock-kernel-{}-{}", std::process::id(), arguments.join("-")));
    // By a process of its own: what another test starts while this one has the copy open for writing would keep it open,
    // and a file that somebody may write to cannot be run.
    let copied = output(Command::new("cp").arg(PROGRAM).arg(&copy));
    assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
    let mut command = Command::new(&copy);
    command.args(arguments);
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        command.uid(NOBODY);
    }
    let done = output(&mut command);
    fs::remove_file(&copy).unwrap();
    (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
}

/// What the program prints, as JSON.
fn as_json(arguments: &[&str]) -> Value {
    serde_json::from_slice(&output(Command::new(PROGRAM).args(arguments)).stdout).unwrap()
}

#[test]
fn who_may_not_load_is_told_in_one_line() {
    let (status, message) = as_nobody(&["load", "fit"]);
    assert_eq!(message, "ackclock-kernel: loading controls needs root; run sudo ackclock kernel load NAME\n");
    assert_eq!(status, Some(1));
}

#[test]
fn an_unknown_name_is_bad_input_and_the_one_that_was_meant_is_named() {
    for verb in ["load", "unload"] {
        let (status, message) = as_nobody(&[verb, "reno", "fitt"]);
        assert_eq!(
            message,
            "ackclock-kernel: there is no control fitt for the kernel; did you mean \"fit\" or \"fast\"?\n"
        );
        assert_eq!(status, Some(2));
        let (status, message) = as_nobody(&[verb, "nothing-like-it"]);
        let list = format!("; ackclock kernel list shows all {}\n", kernel::names().len());
        assert!(message.ends_with(&list), "{message}");
        assert_eq!((status, message.lines().count()), (Some(2), 1));
    }
}

/// One test at a time loads controls.
static TURN: Mutex<()> = Mutex::new(());

fn must(command: &str) -> String {
    let words: Vec<_> = command.split_whitespace().collect();
    let output = output(Command::new(words[0]).args(&words[1..]));
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A process that ends with its owner.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An emulated path.
struct Stand {
    hosts: Hosts,
    pump: Pump,
}

impl Stand {
    /// 10 Mbit/s, 60 ms there and back, 50 packets, and `loss`.
    fn new(loss: &str) -> Stand {
        Stand::with(&format!(
            "queue = {{ kind = \"droptail\", limit = \"50 packets\" }}\n\
             loss = {{ kind = \"bernoulli\", rate = \"{loss}\" }}"
        ))
    }

    /// The same path with this queue; its client agrees on ECN.
    fn with(queue: &str) -> Stand {
        Stand::on(("10 Mbit/s", "30 ms", 1000), queue)
    }

    /// A path of this rate, this delay in each direction, and packets of this many bytes.
    fn on((rate, delay, bytes): (&str, &str, u16), queue: &str) -> Stand {
        let text = format!(
            "[run]\nduration = \"1 h\"\n[dumbbell]\nrate = \"{rate}\"\ndelay = \"{delay}\"\n{queue}\n\
             [[flow]]\ncontroller = \"reno\"\n"
        );
        let checked = read_toml(&text, "path.toml", &[], &BuiltIn).unwrap();
        let hosts = Hosts::new(None).unwrap();
        must(&format!("ip netns exec {} sysctl -qw net.ipv4.tcp_ecn=1", hosts.client.namespace));
        let emulator = Emulator::new(&checked.scenario, TOLERANCE).unwrap();
        let pump = Pump::start(emulator, hosts.devices(bytes).unwrap()).unwrap();
        Stand { hosts, pump }
    }

    /// A transfer by iperf3 with a control, which `ss` shows meanwhile.
    fn transfer(&self, in_kernel: &str) {
        // A busy machine may look only when the transfer is over: then at a longer one.
        let is_shown = [2, 10, 50].into_iter().any(|seconds| self.is_shown_during(in_kernel, seconds));
        assert!(is_shown, "{in_kernel}: ss does not show it");
    }

    /// Whether `ss` shows the control during a transfer of this many seconds, which must succeed.
    fn is_shown_during(&self, in_kernel: &str, seconds: u32) -> bool {
        let Host { namespace, .. } = &self.hosts.client;
        let address = self.hosts.server.address;
        // One for each transfer: where packets are lost, the last one's server may still wait for its client's goodbye,
        // and would refuse this one.
        let _server = serve(&self.hosts.server);
        let client = Command::new("ip")
            .args(["netns", "exec", namespace, "iperf3", "-c", address, "-C", in_kernel])
            .args(["-t", &seconds.to_string()])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut client = Process(client);
        let mut is_shown = false;
        // Where packets are lost, the connections of iperf3 may need several tries, of 1, 2 and 4 s.
        until(&format!("{in_kernel}: ss shows it, or iperf3 ends"), || {
            is_shown = must(&format!("ip netns exec {namespace} ss -tin dst {address}")).contains(in_kernel);
            is_shown || client.0.try_wait().unwrap().is_some()
        });
        assert!(wait(&mut client.0).success(), "{in_kernel}: iperf3 failed");
        is_shown
    }
}

fn serve(host: &Host) -> Process {
    let mut server = Command::new("ip")
        .args(["netns", "exec", &host.namespace, "iperf3", "-s", "--forceflush"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = Lines::of(server.stdout.take().unwrap());
    let server = Process(server);
    assert!(lines.any(|line| line.contains("listening")));
    server
}

/// A control in the kernel, until this is dropped or the process that has it was killed.
struct Loaded {
    name: &'static str,
    /// Unloads it when nobody can write to it any more.
    guard: Child,
}

impl Loaded {
    fn new(name: &'static str) -> Loaded {
        let guard = Command::new("sh")
            .args(["-c", r#"read -r _; exec "$0" unload "$1""#, PROGRAM, name])
            .stdin(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let loaded = Loaded { name, guard };
        kernel::load(name).unwrap();
        loaded
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        let _ = self.guard.kill();
        let _ = self.guard.wait();
        let _ = kernel::unload(self.name);
    }
}

#[test]
#[ignore = "needs root, a kernel with BTF, ip, ss and iperf3"]
fn what_a_killed_test_has_loaded_goes_away() {
    const IS_TO_BE_KILLED: &str = "ACKCLOCK_IS_TO_BE_KILLED";
    let is_loaded =
        || kernel::status().unwrap().iter().any(|control| control.name == "veno" && control.is_loaded);
    if std::env::var_os(IS_TO_BE_KILLED).is_some() {
        let _loaded = Loaded::new("veno");
        sleep(2 * deadline::DEADLINE);
    }
    let _turn = TURN.lock();
    let this = ["what_a_killed_test_has_loaded_goes_away", "--exact", "--ignored"];
    let mut other = Command::new(std::env::current_exe().unwrap());
    let other = other.args(this).env(IS_TO_BE_KILLED, "1").stdout(Stdio::null()).spawn();
    let mut other = Process(other.unwrap());
    until("the other has loaded", is_loaded);
    other.0.kill().unwrap();
    assert_eq!(wait(&mut other.0).code(), None);
    until("it is unloaded", || !is_loaded());
}

/// BPF maps of the machine that have our names; empty without `bpftool`.
fn maps() -> BTreeSet<String> {
    let listed = output(Command::new("sh").args(["-c", "bpftool map list"]));
    let shown = String::from_utf8_lossy(&listed.stdout);
    shown.lines().filter(|line| line.contains("name ack_")).map(str::to_owned).collect()
}

#[test]
#[ignore = "needs root, a kernel with BTF, ip, ss and iperf3"]
fn every_control_loads_carries_transfers_and_goes_away() {
    let _turn = TURN.lock();
    // Whose test was killed loses its connections to the first of these, and with them its controls.
    let stands = [Stand::new("0 %"), Stand::new("1 %")];
    let none_is_loaded = || kernel::status().unwrap().iter().all(|control| !control.is_loaded);
    until("no control is loaded (ackclock-kernel unload)", none_is_loaded);
    // Those of other users of this kernel are not ours to count.
    let foreign = maps();
    let namespaces: Vec<_> =
        stands.iter().flat_map(|stand| [stand.hosts.client.clone(), stand.hosts.server.clone()]).collect();
    for name in kernel::names() {
        let _loaded = Loaded::new(name);
        kernel::load(name).unwrap();
        let status = kernel::status().unwrap();
        let own = status.iter().find(|control| control.name == name).unwrap();
        assert!(own.is_loaded, "{name} is not in the kernel's list");
        let listed = as_json(&["list", "--json"]);
        let of_it = listed.as_array().unwrap().iter().find(|control| control["name"] == name).unwrap();
        assert_eq!((&of_it["in_kernel"], &of_it["loaded"]), (&json!(own.in_kernel), &json!(true)));
        let expected = json!([{ "name": name, "in_kernel": own.in_kernel, "connections": 0 }]);
        assert_eq!(as_json(&["status", "--json"])["controls"], expected);
        scope(|scope| {
            stands.iter().for_each(|stand| {
                scope.spawn(|| stand.transfer(own.in_kernel));
            });
        });
        kernel::unload(name).unwrap();
        kernel::unload(name).unwrap();
    }
    for stand in stands {
        let [forward, _] = stand.pump.stop().unwrap().directions;
        // 24 transfers of 2 s at 10 Mbit/s are 60 000 packets of 1000 bytes; with 1 % of losses a third of them and
        // more come through.
        assert!(forward.delivered_packets > 10_000, "{forward:?}");
    }
    // The kernel lets a control go when its last connection is really closed.
    until("no control is loaded", none_is_loaded);
    assert!(!Path::new("/sys/fs/bpf/ackclock").exists());
    assert!(namespaces.iter().all(|host| !Path::new("/run/netns").join(&host.namespace).exists()));
    until("no map of ours is left", || maps().is_subset(&foreign));
}

#[test]
#[ignore = "needs root, a kernel with BTF, ip, ss and iperf3"]
fn a_trace_tells_every_change() {
    let _turn = TURN.lock();
    let file = std::env::temp_dir().join(format!("ackclock-trace-{}.csv", std::process::id()));
    let stand = Stand::new("1 %");
    let loaded = Loaded::new("fit");
    let goes_on = AtomicBool::new(true);
    let missed = scope(|scope| {
        let end = ClearAtEnd(&goes_on);
        let tracing = scope.spawn(|| {
            let mut output = fs::File::create(&file).unwrap();
            trace::write(&mut output, &|| goes_on.load(Ordering::Relaxed)).unwrap()
        });
        until("the trace has begun", || trace::listener().is_some());
        let second = trace::write(&mut Vec::new(), &|| false).unwrap_err();
        assert!(second.contains("is already tracing"), "{second}");
        stand.transfer("ack_fit");
        drop(end);
        until("the trace has ended", || tracing.is_finished());
        tracing.join().unwrap()
    });
    drop(loaded);
    assert_eq!((missed, trace::listener()), (0, None));
    let text = fs::read_to_string(&file).unwrap();
    fs::remove_file(&file).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(trace::COLUMNS));
    let rows: Vec<Vec<_>> = lines.map(|line| line.split(',').collect()).collect();
    let fit: Vec<_> = rows.iter().filter(|row| row[3] == "fit").collect();
    let count = |kind: &str| fit.iter().filter(|row| row[2] == kind).count();
    // Two connections of iperf3, the second for its control words, here or there with the control.
    assert!(
        count("start") > 0 && count("stop") > 0 && count("loss") > 0 && count("ack") > 100,
        "{}",
        fit.len()
    );
    let mut last = 0;
    for row in &fit {
        let (time, window): (u64, f64) = (row[0].parse().unwrap(), row[4].parse().unwrap());
        assert!(time >= last && window >= 1.0 && row[14].starts_with("n="), "{row:?}");
        last = time;
    }
    // Each loss event of FIT with N = 1, 2, 3 ... sessions keeps 1 - 2/(3N + 1) of the window, at least half.
    for pair in fit.windows(2).filter(|pair| pair[0][1] == pair[1][1] && pair[1][2] == "loss") {
        let [before, after] = [pair[0], pair[1]].map(|row| row[4].parse::<f64>().unwrap());
        assert!(after >= 0.499 * before && after < before || after == 2.0, "{before} -> {after}");
    }
}

/// The largest number after `name` in a text.
fn largest(text: &str, name: &str) -> u64 {
    let numbers = text.split_whitespace().filter_map(|word| word.strip_prefix(name)?.parse().ok());
    numbers.max().unwrap_or(0)
}

/// The queue marks above 20 ms and has room for ten round trips: nothing is dropped. One bit tells the sender of marks;
/// where the receiver set it for packets that did not come marked, until it hears of a cut as RFC 3168 has it, the
/// sender would count whole round trips of some 80 packets, of which the queue marks a tenth. A hundredth more than it
/// made is let pass: on a busy machine a delayed acknowledgement waits for a socket that is in use, and then tells of a
/// mark and of the packet before it (1087 of 1086 was seen once in six runs).
#[test]
#[ignore = "needs root, a kernel with BTF, ip, ss and iperf3"]
fn as_many_marks_are_counted_as_were_made() {
    let _turn = TURN.lock();
    let stand = Stand::with("queue = { kind = \"step\", sojourn = \"20 ms\", limit = \"1000 packets\" }");
    let _loaded = Loaded::new("dctcp");
    let Host { namespace, .. } = &stand.hosts.client;
    let address = stand.hosts.server.address;
    let server = serve(&stand.hosts.server);
    let client = Command::new("ip")
        .args(["netns", "exec", namespace, "iperf3", "-c", address, "-C", "ack_dctcp", "-t", "10"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut client = Process(client);
    let mut counted = 0;
    until("iperf3 ends", || {
        let shown = must(&format!("ip netns exec {namespace} ss -tin dst {address}"));
        counted = largest(&shown, "delivered_ce:").max(counted);
        client.0.try_wait().unwrap().is_some()
    });
    assert!(wait(&mut client.0).success(), "iperf3 failed");
    drop(server);
    let [forward, _] = stand.pump.stop().unwrap().directions;
    println!("{counted} of {} marks counted", forward.marks);
    assert_eq!(forward.queue_drops, 0);
    let most = forward.marks + forward.marks / 100;
    assert!(counted > 0 && counted <= most, "{counted} of {}", forward.marks);
}

/// A connection that was set up without ECN sends no packet that could be marked: it is left to Reno.
#[test]
#[ignore = "needs root, a kernel with BTF, ip, ss and iperf3"]
fn without_ecn_it_is_reno() {
    let _turn = TURN.lock();
    let stand = Stand::new("0 %");
    must(&format!("ip netns exec {} sysctl -qw net.ipv4.tcp_ecn=0", stand.hosts.server.namespace));
    let _loaded = Loaded::new("dctcp");
    let Host { namespace, .. } = &stand.hosts.client;
    let address = stand.hosts.server.address;
    let _server = serve(&stand.hosts.server);
    let client = Command::new("ip")
        .args(["netns", "exec", namespace, "iperf3", "-c", address, "-C", "ack_dctcp", "-t", "50"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let client = Process(client);
    until("ss shows Reno", || {
        let shown = must(&format!("ip netns exec {namespace} ss -tin dst {address}"));
        assert!(!shown.contains("ack_dctcp"), "{shown}");
        shown.lines().any(|line| line.trim_start().starts_with("reno "))
    });
    drop(client);
}

/// Runs the program, and kills it after this many microseconds. Returns whether it had not ended by then.
fn killed_after(arguments: &[&str], microseconds: u64) -> bool {
    let program =
        Command::new(env!("CARGO_BIN_EXE_ackclock-kernel")).args(arguments).stdout(Stdio::null()).spawn();
    let mut program = Process(program.unwrap());
    sleep(Duration::from_micros(microseconds));
    program.0.kill().unwrap();
    wait(&mut program.0).code().is_none()
}

/// At random moments while it loads, unloads and traces, ACKCLOCK_KILLS times each.
#[test]
#[ignore = "needs root, a kernel with BTF, ip, ss and iperf3"]
fn a_killed_loader_does_not_stand_in_the_way() {
    let _turn = TURN.lock();
    let foreign = maps();
    let kills = std::env::var("ACKCLOCK_KILLS").map_or(2, |number| number.parse().unwrap());
    let is_loaded =
        || kernel::status().unwrap().iter().any(|control| control.name == "fit" && control.is_loaded);
    // Numbers that look random (Knuth's MMIX generator).
    let mut state = u64::from(std::process::id());
    println!("seed {state}");
    for arguments in [&["load", "fit"][..], &["unload", "fit"], &["trace"]] {
        let (mut killed, mut tries) = (0, 0);
        while killed < kills {
            assert!(tries < 100 * kills, "{arguments:?} is never killed before it ends");
            tries += 1;
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let moment = (state >> 33) % if arguments[0] == "unload" { 3_000 } else { 30_000 };
            let _loaded = (arguments[0] != "load").then(|| Loaded::new("fit"));
            killed += u32::from(killed_after(arguments, moment));
            kernel::load("fit").unwrap_or_else(|why| panic!("{arguments:?} killed after {moment} us: {why}"));
            assert!(is_loaded());
            assert_eq!(trace::listener(), None);
            assert_eq!(trace::write(&mut Vec::new(), &|| false), Ok(0));
            kernel::unload("fit").unwrap();
            until("fit is unloaded", || !is_loaded());
            let is_left = Path::new("/sys/fs/bpf/ackclock").exists();
            assert!(!is_left, "{arguments:?} killed after {moment} us");
        }
        println!("{arguments:?}: {killed} of {tries} killed before their end");
    }
    until("no map of ours is left", || maps().is_subset(&foreign));
}

/// An upgraded loader used to take the program of the one before for its own.
#[test]
#[ignore = "needs root, a kernel with BTF, ip, ss and iperf3"]
fn the_program_of_another_build_is_told() {
    let _turn = TURN.lock();
    let _loaded = Loaded::new("reno");
    let held = Path::new("/sys/fs/bpf/ackclock");
    let files: Vec<_> = fs::read_dir(held).unwrap().map(|file| file.unwrap().path()).collect();
    let own =
        files.iter().find(|file| file.file_name().unwrap().to_string_lossy().starts_with("reno_")).unwrap();
    for name in ["reno_0123456789abcdef", "reno"] {
        fs::rename(own, held.join(name)).unwrap();
        let message = kernel::load("reno").unwrap_err();
        assert_eq!(
            message,
            "reno: loaded by another build of ackclock; ackclock kernel unload reno removes it"
        );
        fs::rename(held.join(name), own).unwrap();
    }
    kernel::load("reno").unwrap();
    fs::rename(own, held.join("reno_0123456789abcdef")).unwrap();
    kernel::unload("reno").unwrap();
    assert!(!held.exists());
}

#[test]
fn an_unknown_control_is_one_line() {
    let message = kernel::load("renno").unwrap_err();
    assert_eq!(message, "there is no control renno for the kernel; did you mean \"reno\" or \"veno\"?");
    let message = kernel::load("quantum").unwrap_err();
    let all = kernel::names().len();
    assert_eq!(
        message,
        format!("there is no control quantum for the kernel; ackclock kernel list shows all {all}")
    );
}
