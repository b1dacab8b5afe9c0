//! The controls in the running kernel: they load, carry a transfer, show themselves, and go away.
//!
//! Needs root, a kernel with BTF, `ip`, `ss` and `iperf3`; says so and passes where one is missing. Works in
//! two network namespaces of its own, which go away with it; those of a test that was killed go away with
//! the next one.
#![cfg(feature = "load")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio, id};
use std::thread::sleep;
use std::time::Duration;

use ackclock_kernel::kernel;

const PREFIX: &str = "acktest-";

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

fn namespaces() -> Vec<String> {
    let listed = must("ip netns list");
    let names = listed.lines().filter_map(|line| line.split_whitespace().next());
    names.filter(|name| name.starts_with(PREFIX)).map(str::to_owned).collect()
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

/// Two hosts with a cable between them.
struct Hosts {
    client: String,
    server: String,
}

impl Hosts {
    fn new() -> Hosts {
        for name in namespaces() {
            let owner = name.rsplit('-').next().unwrap_or_default();
            if !Path::new("/proc").join(owner).exists() {
                must(&format!("ip netns del {name}"));
            }
        }
        let hosts = Hosts { client: format!("{PREFIX}c-{}", id()), server: format!("{PREFIX}s-{}", id()) };
        let Hosts { client, server } = &hosts;
        must(&format!("ip netns add {client}"));
        must(&format!("ip netns add {server}"));
        must(&format!("ip link add cable netns {client} type veth peer name cable netns {server}"));
        for (host, address) in [(client, "10.213.0.1/24"), (server, "10.213.0.2/24")] {
            must(&format!("ip -n {host} addr add {address} dev cable"));
            must(&format!("ip -n {host} link set cable up"));
        }
        hosts
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        run(&format!("ip netns del {}", self.client));
        run(&format!("ip netns del {}", self.server));
    }
}

/// A process that ends with its owner.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(host: &str) -> Process {
    let mut server = Command::new("ip")
        .args(["netns", "exec", host, "iperf3", "-s", "--forceflush"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("listening")));
    // Its later output goes nowhere, and must not fill the pipe.
    std::thread::spawn(move || lines.for_each(drop));
    Process(server)
}

#[test]
fn every_control_loads_carries_a_transfer_and_goes_away() {
    if let Some(name) = missing() {
        eprintln!("skipped: the kernel's controls are tried only with {name}");
        return;
    }
    let before: Vec<_> = kernel::status().unwrap().into_iter().filter(|one| one.is_loaded).collect();
    assert!(before.is_empty(), "already loaded: {before:?}");
    let hosts = Hosts::new();
    let _server = serve(&hosts.server);
    for name in kernel::names() {
        kernel::load(name).unwrap();
        kernel::load(name).unwrap();
        let in_kernel = kernel::name_in_kernel(name);
        let client =
            ["netns", "exec", &hosts.client, "iperf3", "-c", "10.213.0.2", "-t", "2", "-C", &in_kernel];
        let client = Command::new("ip").args(client).stdout(Stdio::null()).spawn().unwrap();
        let mut client = Process(client);
        let seen = {
            let mut tries = 0..40;
            let sockets = format!("ip netns exec {} ss -tin dst 10.213.0.2", hosts.client);
            loop {
                let shown = must(&sockets).contains(&in_kernel);
                if shown || tries.next().is_none() {
                    break shown;
                }
                sleep(Duration::from_millis(50));
            }
        };
        assert!(client.0.wait().unwrap().success(), "{name}: iperf3 failed");
        assert!(seen, "{name}: ss does not show it");
        kernel::unload(name).unwrap();
        kernel::unload(name).unwrap();
    }
    // The kernel lets a control go when its last connection is really closed.
    let mut tries = 0..100;
    while kernel::status().unwrap().iter().any(|one| one.is_loaded) {
        assert!(tries.next().is_some(), "{:?}", kernel::status());
        sleep(Duration::from_millis(100));
    }
    assert!(!Path::new("/sys/fs/bpf/ackclock").exists());
    drop(hosts);
    assert!(namespaces().iter().all(|name| !name.ends_with(&format!("-{}", id()))));
}

#[test]
fn an_unknown_control_is_one_line() {
    let message = kernel::load("renno").unwrap_err();
    assert_eq!(
        message,
        "no control for the kernel is called renno; there are africa, bic, compound, fast, fit, gaimd, hstcp, illinois, multcp"
    );
}
