//! The controls in the running kernel: they load, carry a transfer over emulated paths, show themselves, tell what
//! they do, and go away.
//!
//! Needs root, a kernel with BTF, `ip`, `ss` and `iperf3`; says so and passes where one is missing. Works in
//! namespaces of its own, which go away with it; those of a test that was killed go away with the next one.
#![cfg(feature = "load")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write, stderr};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep, spawn};
use std::time::Duration;

use ackclock_cc::registry::BuiltIn;
use ackclock_kernel::{kernel, trace};
use ackclock_link::emulator::Emulator;
use ackclock_link::hosts::{Host, Hosts};
use ackclock_link::pump::{Pump, TOLERANCE};
use ackclock_scenario::read_toml;

/// One test at a time loads controls.
static TURN: Mutex<()> = Mutex::new(());

fn run(command: &str) -> (bool, String) {
    let words: Vec<_> = command.split_whitespace().collect();
    match Command::new(words[0]).args(&words[1..]).stdin(Stdio::null()).output() {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
            (output.status.success(), text.into_owned())
        }
        Err(error) => (false, format!("{command}: {error}")),
    }
}

fn must(command: &str) -> String {
    let (done, text) = run(command);
    assert!(done, "{command}: {text}");
    text
}

/// What is missing for this test.
fn missing() -> Option<&'static str> {
    if must("id -u").trim() != "0" {
        return Some("root");
    }
    if !Path::new("/sys/kernel/btf/vmlinux").exists() {
        return Some("a kernel with BTF");
    }
    for (command, name) in [("ip -V", "ip"), ("ss -V", "ss"), ("iperf3 --version", "iperf3")] {
        if !run(command).0 {
            return Some(name);
        }
    }
    None
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
        let text = format!(
            "[run]\nduration = \"1 h\"\n[dumbbell]\nrate = \"10 Mbit/s\"\ndelay = \"30 ms\"\n\
             queue = {{ kind = \"droptail\", limit = \"50 packets\" }}\n\
             loss = {{ kind = \"bernoulli\", rate = \"{loss}\" }}\n[[flow]]\ncontroller = \"reno\"\n"
        );
        let checked = read_toml(&text, "path.toml", &[], &BuiltIn).unwrap();
        let hosts = Hosts::new(None).unwrap();
        let emulator = Emulator::new(&checked.scenario, TOLERANCE).unwrap();
        let pump = Pump::start(emulator, hosts.devices(1000).unwrap()).unwrap();
        Stand { hosts, pump }
    }

    /// Two seconds of iperf3 with a control, which `ss` shows meanwhile.
    fn transfer(&self, in_kernel: &str) {
        let Host { namespace, .. } = &self.hosts.client;
        // One for each transfer: where packets are lost, the last one's server may still wait for its client's goodbye,
        // and would refuse this one.
        let _server = serve(&self.hosts.server);
        let arguments = [
            "netns",
            "exec",
            namespace,
            "iperf3",
            "-c",
            self.hosts.server.address,
            "-t",
            "2",
            "-C",
            in_kernel,
        ];
        let client = Command::new("ip").args(arguments).stdout(Stdio::null()).spawn().unwrap();
        let mut client = Process(client);
        // Where packets are lost, the connections of iperf3 may need several tries, of 1, 2 and 4 s.
        let mut tries = 0..200;
        while !must(&format!("ip netns exec {namespace} ss -tin dst {}", self.hosts.server.address))
            .contains(in_kernel)
        {
            assert!(client.0.try_wait().unwrap().is_none(), "{in_kernel}: iperf3 ended before ss showed it");
            assert!(tries.next().is_some(), "{in_kernel}: ss does not show it");
            sleep(Duration::from_millis(50));
        }
        assert!(client.0.wait().unwrap().success(), "{in_kernel}: iperf3 failed");
    }
}

fn serve(host: &Host) -> Process {
    let mut server = Command::new("ip")
        .args(["netns", "exec", &host.namespace, "iperf3", "-s", "--forceflush"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("listening")));
    // Its later output goes nowhere, and must not fill the pipe.
    spawn(move || lines.for_each(drop));
    Process(server)
}

/// A control in the kernel, until this is dropped.
struct Loaded(&'static str);

impl Loaded {
    fn new(name: &'static str) -> Loaded {
        kernel::load(name).unwrap();
        Loaded(name)
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        let _ = kernel::unload(self.0);
    }
}

/// BPF maps of the machine that have our names; empty without `bpftool`.
fn maps() -> BTreeSet<String> {
    let (_, shown) = run("bpftool map list");
    shown.lines().filter(|line| line.contains("name ack_")).map(str::to_owned).collect()
}

#[test]
fn every_control_loads_carries_transfers_and_goes_away() {
    if let Some(name) = missing() {
        // Not by a macro: those are heard only when a test fails.
        let line = format!("skipped: the kernel's controls are tried only with {name}\n");
        stderr().write_all(line.as_bytes()).unwrap();
        return;
    }
    let _turn = TURN.lock();
    let before: Vec<_> = kernel::status().unwrap().into_iter().filter(|one| one.is_loaded).collect();
    assert!(before.is_empty(), "already loaded: {before:?}");
    // Those of other users of this kernel are not ours to count.
    let foreign = maps();
    let stands = [Stand::new("0 %"), Stand::new("1 %")];
    let namespaces: Vec<_> =
        stands.iter().flat_map(|one| [one.hosts.client.clone(), one.hosts.server.clone()]).collect();
    for name in kernel::names() {
        let _loaded = Loaded::new(name);
        kernel::load(name).unwrap();
        let status = kernel::status().unwrap();
        let own = status.iter().find(|one| one.name == name).unwrap();
        assert!(own.is_loaded, "{name} is not in the kernel's list");
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
        // 20 transfers of 2 s at 10 Mbit/s are 50 000 packets of 1000 bytes; with 1 % of losses a third of them and
        // more come through.
        assert!(forward.delivered_packets > 10_000, "{forward:?}");
    }
    // The kernel lets a control go when its last connection is really closed.
    let mut tries = 0..100;
    while kernel::status().unwrap().iter().any(|one| one.is_loaded) {
        assert!(tries.next().is_some(), "{:?}", kernel::status());
        sleep(Duration::from_millis(100));
    }
    assert!(!Path::new("/sys/fs/bpf/ackclock").exists());
    assert!(namespaces.iter().all(|host| !Path::new("/run/netns").join(&host.namespace).exists()));
    let mut tries = 0..100;
    while !maps().is_subset(&foreign) {
        assert!(tries.next().is_some(), "maps are left: {:?}, before: {foreign:?}", maps());
        sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_trace_tells_every_change() {
    if missing().is_some() {
        return;
    }
    let _turn = TURN.lock();
    let file = std::env::temp_dir().join(format!("ackclock-trace-{}.csv", std::process::id()));
    let stand = Stand::new("1 %");
    let loaded = Loaded::new("fit");
    let goes_on = AtomicBool::new(true);
    let missed = scope(|scope| {
        let tracing = scope.spawn(|| {
            let mut output = fs::File::create(&file).unwrap();
            trace::write(&mut output, &|| goes_on.load(Ordering::Relaxed)).unwrap()
        });
        let mut tries = 0..100;
        while trace::listener().is_none() {
            assert!(tries.next().is_some(), "nobody listens");
            sleep(Duration::from_millis(20));
        }
        let second = trace::write(&mut Vec::new(), &|| false).unwrap_err();
        assert!(second.contains("traces already"), "{second}");
        stand.transfer("ack_fit");
        goes_on.store(false, Ordering::Relaxed);
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

#[test]
fn an_unknown_control_is_one_line() {
    let message = kernel::load("renno").unwrap_err();
    assert!(
        message.starts_with("no control for the kernel is called renno; there are africa, aimd, "),
        "{message}"
    );
    assert_eq!(message.lines().count(), 1);
}
