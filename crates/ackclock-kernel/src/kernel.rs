//! The controls in the running kernel: loading, listing, unloading.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ackclock_units::tools::of_system;
use libbpf_rs::{MapCore, ObjectBuilder};

/// Where loaded controls are pinned: one file each, in the BPF file system, named after control and program. Without its
/// file a control is unloaded when its last connection has ended.
const HELD: &str = "/sys/fs/bpf/ackclock";
/// Maps that all controls share, pinned next to them; named as in `bpf/trace.h`.
const CHANGES: &str = "ack_changes";
const LISTENING: &str = "ack_listening";
const BPF: &str = "/sys/fs/bpf";
const BTF: &str = "/sys/kernel/btf/vmlinux";
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// Name, name in the kernel, and compiled program of each control.
const OBJECTS: &[(&str, &str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/objects.rs"));

/// A control and its state in the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Its name.
    pub name: &'static str,
    /// Its name in the kernel.
    pub in_kernel: &'static str,
    /// Whether the kernel offers it to connections.
    pub is_loaded: bool,
}

/// All controls, loaded or not.
///
/// # Errors
/// When the kernel's list of congestion controls cannot be read.
pub fn status() -> Result<Vec<Status>, String> {
    let available = fs::read_to_string(AVAILABLE).map_err(|error| format!("{AVAILABLE}: {error}"))?;
    Ok(OBJECTS
        .iter()
        .map(|(name, in_kernel, _)| {
            let is_loaded = available.split_whitespace().any(|word| word == *in_kernel);
            Status { name, in_kernel, is_loaded }
        })
        .collect())
}

/// The files of the maps that all controls share: the ring of changes, and its listeners.
pub(crate) fn shared() -> [PathBuf; 2] {
    [held(CHANGES), held(LISTENING)]
}

fn held(name: &str) -> PathBuf {
    Path::new(HELD).join(name)
}

/// Capabilities of which either lets a process load programs (linux/capability.h): of all administration, and of BPF.
const CAP_SYS_ADMIN: u64 = 1 << 21;
const CAP_BPF: u64 = 1 << 39;

/// Digits that tell one program from another.
const DIGITS: usize = 16;

/// The file of a control whose program this is.
fn pin_of(name: &str, program: &[u8]) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    program.hash(&mut hasher);
    held(&format!("{name}_{:0DIGITS$x}", hasher.finish()))
}

/// Whether a file is that of a control, whichever program it has; before programs were distinguished it had the name
/// alone.
fn is_pin_of(name: &str, file: &str) -> bool {
    let digits = file.strip_prefix(name).and_then(|rest| rest.strip_prefix('_'));
    file == name
        || digits.is_some_and(|digits| {
            digits.len() == DIGITS && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
        })
}

/// The files in which a control is held.
fn pins(name: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(HELD).into_iter().flatten().flatten();
    files
        .filter(|file| is_pin_of(name, &file.file_name().to_string_lossy()))
        .map(|file| file.path())
        .collect()
}

/// Checks that this machine meets the requirements of loading.
fn check() -> Result<(), String> {
    // libbpf would answer with lines about limits of memory.
    if !may_load() {
        return Err("loading controls needs root; run sudo ackclock kernel load NAME".into());
    }
    if !Path::new(BTF).exists() {
        return Err(format!(
            "{BTF} is missing; the kernel must be built with CONFIG_DEBUG_INFO_BTF, as Debian's is"
        ));
    }
    // Some systems, above all containers, do not mount it by themselves.
    let mount =
        || Command::new(of_system("mount")).args(["-t", "bpf", "bpf", BPF]).stderr(Stdio::null()).status();
    match fs::create_dir_all(HELD) {
        Ok(()) => Ok(()),
        Err(_) if mount().is_ok_and(|status| status.success()) && fs::create_dir_all(HELD).is_ok() => Ok(()),
        Err(error) => Err(format!(
            "cannot create {HELD} ({error}); mount the BPF file system with mount -t bpf bpf {BPF}"
        )),
    }
}

/// Whether the kernel lets this process load programs.
fn may_load() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let held = effective.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    held.is_some_and(|held| held & (CAP_SYS_ADMIN | CAP_BPF) != 0)
}

/// Loads a control into the kernel, where it stays until [`unload`]; does nothing if it is already loaded.
///
/// # Errors
/// One line: what is missing, why the kernel rejects it, or that another build has loaded it, with its own program.
pub fn load(name: &str) -> Result<(), String> {
    let (.., program) = find(name)?;
    check()?;
    let (own, before) = (pin_of(name, program), pins(name));
    if before.contains(&own) {
        return Ok(());
    }
    if !before.is_empty() {
        return Err(format!(
            "{name}: loaded by another build of ackclock; ackclock kernel unload {name} removes it"
        ));
    }
    let refuse = |error: libbpf_rs::Error| format!("{name}: rejected by the kernel: {error}");
    let mut object = ObjectBuilder::default()
        .pin_root_path(HELD)
        .and_then(|builder| builder.open_memory(program))
        .and_then(|object| object.load())
        .map_err(refuse)?;
    let mut map = object
        .maps_mut()
        .find(|map| map.name() == "control")
        .ok_or_else(|| format!("{name}: its program contains no control"))?;
    let mut link = map.attach_struct_ops().map_err(refuse)?;
    link.pin(own).map_err(|error| {
        format!("{name}: cannot be pinned in {HELD}: {error}; mount the BPF file system with mount -t bpf bpf {BPF}")
    })
}

/// Unloads a control; connections that use it keep it until they end.
///
/// # Errors
/// When there is no such control, or its file cannot be removed.
pub fn unload(name: &str) -> Result<(), String> {
    find(name)?;
    for pin in pins(name) {
        match fs::remove_file(&pin) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(format!("{}: {error}", pin.display())),
        }
    }
    // The shared maps are removed with the last control.
    if OBJECTS.iter().all(|(name, ..)| pins(name).is_empty()) {
        for shared in [CHANGES, LISTENING] {
            let _ = fs::remove_file(held(shared));
        }
        let _ = fs::remove_dir(HELD);
    }
    Ok(())
}

/// Checks that there is a control of each name.
///
/// # Errors
/// One line about the first name that is unknown: up to three similar ones, or the command that lists all.
pub fn check_names(names: &[String]) -> Result<(), String> {
    names.iter().try_for_each(|name| find(name).map(|_| ()))
}

fn find(name: &str) -> Result<&'static (&'static str, &'static str, &'static [u8]), String> {
    OBJECTS.iter().find(|(known, ..)| *known == name).ok_or_else(|| {
        let hint = match ackclock_units::did_you_mean(name, names()) {
            hint if hint.is_empty() => format!("ackclock kernel list shows all {}", OBJECTS.len()),
            hint => hint,
        };
        format!("there is no control {name} for the kernel; {hint}")
    })
}

/// The control with this name in the kernel.
#[must_use]
pub fn name_of(in_kernel: &str) -> Option<&'static str> {
    OBJECTS.iter().find(|(_, known, _)| *known == in_kernel).map(|(name, ..)| *name)
}

/// Number of connections of this network namespace by the name of their control, according to `ss`.
///
/// # Errors
/// When `ss` cannot be run.
pub fn connections() -> Result<BTreeMap<String, usize>, String> {
    let output = Command::new(of_system("ss")).arg("-Htin").output();
    let output = output.map_err(|error| format!("ss: {error}; install the package iproute2"))?;
    let mut counts = BTreeMap::new();
    // Each connection is a line, then an indented one that begins with its control.
    for line in
        String::from_utf8_lossy(&output.stdout).lines().filter(|line| line.starts_with(char::is_whitespace))
    {
        if let Some(name) = line.split_whitespace().next() {
            *counts.entry(name.to_owned()).or_default() += 1;
        }
    }
    Ok(counts)
}

/// Names of all controls.
#[must_use]
pub fn names() -> Vec<&'static str> {
    OBJECTS.iter().map(|(name, ..)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_belongs_to_one_control() {
        let own = pin_of("htcp", b"program");
        let file = own.file_name().unwrap().to_str().unwrap();
        assert!(is_pin_of("htcp", file) && is_pin_of("htcp", "htcp"));
        assert!(!is_pin_of("htcp-linux", file) && !is_pin_of("htc", file));
        assert!(
            !is_pin_of("htcp", "htcp-linux") && !is_pin_of("htcp", "htcp_fedc") && !is_pin_of("ack", CHANGES)
        );
        assert_ne!(own, pin_of("htcp", b"another program"));
    }
}
