//! The two hosts at the ends of a path: network namespaces with a TUN device each.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use nix::sched::{CloneFlags, setns};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tun_rs::{DeviceBuilder, SyncDevice};

use crate::claim::Claim;
use crate::tools::tool;

/// Number of paths this process has created.
static NUMBER: AtomicU32 = AtomicU32::new(0);
/// Prefix of the namespaces that this program creates; followed by the name of the path, which is its process, the start
/// time of that process and a number, and by the host.
const PREFIX: &str = "ack-link-";
const HOSTS: [&str; 2] = ["client", "server"];
/// The directory in which paths claim their names.
const CLAIMS: &str = "/run/ackclock/links";
/// The device of each host.
pub const DEVICE: &str = "ack0";
/// Packets that may wait to be read by the emulator.
const DEVICE_QUEUE: u32 = 10_000;
/// The folder where iproute2 holds namespaces.
const NAMESPACES: &str = "/run/netns";

/// One end of the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its namespace, as `ip netns` knows it.
    pub namespace: String,
    /// Its address on the path.
    pub address: &'static str,
}

/// Both ends. Namespaces and devices created for them are removed when this is dropped.
#[derive(Debug)]
pub struct Hosts {
    /// The host that runs the command; packets from it travel forward.
    pub client: Host,
    /// The other end.
    pub server: Host,
    /// Namespaces that were created, and the claim to their name, which outlives them.
    created: Vec<String>,
    _claim: Option<Claim>,
}

/// Says why a program of iproute2 did not start.
pub fn failed(error: &io::Error) -> String {
    let advice = if error.kind() == ErrorKind::NotFound { "; install the package iproute2" } else { "" };
    format!("ip: {error}{advice}")
}

/// Runs a command of iproute2.
fn ip(arguments: &str) -> Result<String, String> {
    let output = Command::new(tool("ip"))
        .args(arguments.split_whitespace())
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(&error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let problem = String::from_utf8_lossy(&output.stderr);
    Err(format!("ip {arguments}: {}", problem.lines().next().unwrap_or("failed")))
}

/// When a process started, in ticks since boot: together with its number this identifies it for ever.
fn began(process: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may contain anything; the beginning is the twentieth word after it.
    text.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

fn remove(namespace: &str) {
    // Processes inside would keep it alive.
    for process in ip(&format!("netns pids {namespace}")).unwrap_or_default().split_whitespace() {
        if let Ok(number) = process.parse() {
            let _ = kill(Pid::from_raw(number), Signal::SIGKILL);
        }
    }
    // Connections that say goodbye into a path that is gone would hold their controls for minutes. A kernel that
    // cannot end them lets them wait.
    let ss = tool("ss");
    let _ = ip(&format!("netns exec {namespace} {} --kill --tcp --numeric state connected", ss.display()));
    let _ = ip(&format!("netns del {namespace}"));
}

/// Removes namespaces left by earlier runs that were killed. Only namespaces whose whole name follows from a leftover
/// claim are removed.
fn tidy() {
    for claim in Claim::left(Path::new(CLAIMS)) {
        for namespace in HOSTS.map(|host| format!("{PREFIX}{}-{host}", claim.name)) {
            if Path::new(NAMESPACES).join(&namespace).exists() {
                remove(&namespace);
            }
        }
    }
}

impl Hosts {
    /// Two hosts in the given namespaces (client, server), or in two new ones.
    ///
    /// # Errors
    /// One line, when a namespace does not exist or cannot be created.
    pub fn new(existing: Option<(String, String)>) -> Result<Hosts, String> {
        tidy();
        let claim = match &existing {
            Some(_) => None,
            None => {
                let process = std::process::id();
                let start = began(process).unwrap_or(0);
                // A process of the same number in another container may have begun at the same time.
                let numbers = std::iter::repeat_with(|| NUMBER.fetch_add(1, Ordering::Relaxed)).take(1000);
                let names = numbers.map(|number| format!("{process}-{start}-{number}"));
                Some(Claim::of(Path::new(CLAIMS), names)?)
            }
        };
        let name = |host: &str| format!("{PREFIX}{}-{host}", claim.as_ref().map_or("", |claim| &claim.name));
        let (client, server) = existing.unwrap_or_else(|| (name(HOSTS[0]), name(HOSTS[1])));
        let is_new = claim.is_some();
        let mut hosts = Hosts {
            client: Host { namespace: client, address: "10.77.0.1" },
            server: Host { namespace: server, address: "10.77.0.2" },
            created: Vec::new(),
            _claim: claim,
        };
        for namespace in [hosts.client.namespace.clone(), hosts.server.namespace.clone()] {
            if is_new {
                // An existing namespace of that name belongs to another program, and stays.
                ip(&format!("netns add {namespace}"))?;
                hosts.created.push(namespace.clone());
                ip(&format!("-n {namespace} link set dev lo up"))?;
            } else if !Path::new(NAMESPACES).join(&namespace).exists() {
                return Err(format!(
                    "there is no namespace {namespace}; create it with ip netns add {namespace}"
                ));
            }
        }
        Ok(hosts)
    }

    /// The devices of client and server, ready, for packets of up to `mtu` bytes.
    ///
    /// # Errors
    /// One line, when a device cannot be created.
    pub fn devices(&self, mtu: u16) -> Result<[SyncDevice; 2], String> {
        let make = |host: &Host| {
            let device = device_in(&Path::new(NAMESPACES).join(&host.namespace))?;
            let Host { namespace, address } = host;
            // One packet is one packet: without offloads nothing on the path is longer than the MTU.
            ip(&format!(
                "-n {namespace} link set dev {DEVICE} mtu {mtu} txqueuelen {DEVICE_QUEUE} gso_max_segs 1 up"
            ))?;
            ip(&format!("-n {namespace} addr add {address}/24 dev {DEVICE}"))?;
            Ok::<_, String>(device)
        };
        Ok([make(&self.client)?, make(&self.server)?])
    }

    /// Packets that were dropped before the emulator read them.
    #[must_use]
    pub fn overlooked(&self) -> u64 {
        let dropped = |host: &Host| {
            let arguments = format!("-n {} -s -j link show dev {DEVICE}", host.namespace);
            let shown: serde_json::Value = serde_json::from_str(&ip(&arguments).ok()?).ok()?;
            shown[0]["stats64"]["tx"]["dropped"].as_u64()
        };
        [&self.client, &self.server].into_iter().filter_map(dropped).sum()
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        self.created.iter().for_each(|namespace| remove(namespace));
    }
}

/// Why the device is missing, with what to do about the usual reasons.
fn no_device(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "/dev/net/tun is missing; run sudo modprobe tun".to_owned(),
        ErrorKind::PermissionDenied => {
            "only root may open /dev/net/tun; run sudo ackclock link ..., or sudo chmod 666 /dev/net/tun"
                .to_owned()
        }
        _ => error.to_string(),
    }
}

/// Makes the device in the namespace of `file`. Only a thread of its own goes there.
fn device_in(file: &PathBuf) -> Result<SyncDevice, String> {
    let enter = || {
        let refuse = |error: String| format!("{}: {error}", file.display());
        let namespace = File::open(file).map_err(|error| refuse(error.to_string()))?;
        setns(namespace, CloneFlags::CLONE_NEWNET).map_err(|error| refuse(error.to_string()))?;
        let device = DeviceBuilder::new().name(DEVICE).build_sync();
        let device =
            device.map_err(|error| refuse(format!("cannot create {DEVICE}: {}", no_device(&error))))?;
        device.set_nonblocking(true).map_err(|error| refuse(error.to_string()))?;
        Ok(device)
    };
    thread::scope(|scope| {
        scope.spawn(enter).join().map_err(|_| "the thread that creates the device has panicked".to_owned())?
    })
}
