//! A path without root: in a user namespace, where the kernel lets users make one.

use std::fs;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};

/// Becomes root of a user namespace of its own, unless the process is root already; returns whether it did.
///
/// Only this process and its children see the mounts and network namespaces that follow. The process must not have
/// started a thread yet.
///
/// # Errors
/// One line that says how the path can be had in spite of it.
pub fn enter() -> Result<bool, String> {
    if geteuid().is_root() {
        return Ok(false);
    }
    become_root().map(|()| true).map_err(|problem| {
        format!(
            "this system does not let users make network namespaces ({problem}); run sudo ackclock link ..., or \
             allow it with sudo sysctl kernel.unprivileged_userns_clone=1, on Ubuntu \
             kernel.apparmor_restrict_unprivileged_userns=0"
        )
    })
}

fn become_root() -> Result<(), String> {
    let (user, group) = (geteuid(), getegid());
    let namespaces = CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWNET;
    unshare(namespaces).map_err(|error| format!("unshare: {error}"))?;
    // A group can be mapped only by a process that gives up changing its groups.
    for (file, text) in [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("0 {user} 1")),
        ("gid_map", format!("0 {group} 1")),
    ] {
        fs::write(format!("/proc/self/{file}"), text).map_err(|error| format!("{file}: {error}"))?;
    }
    let none = None::<&str>;
    let result = mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)
        // Where iproute2 and this program keep the names of namespaces; the system's own belongs to the real root.
        .and_then(|()| mount(Some("tmpfs"), "/run", Some("tmpfs"), MsFlags::empty(), none));
    result.map_err(|error| format!("mount: {error}"))
}
