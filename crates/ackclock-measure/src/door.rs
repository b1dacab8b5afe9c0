//! Admission: bounds on the number of connections, and on guesses at the token.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::clock;

/// Faults after which a host is shut out.
const MOST_FAULTS: u32 = 5;
/// How long after its last fault a host is shut out, and its faults are remembered.
const BANNED: Duration = Duration::from_secs(60);
/// Hosts whose faults are remembered; beyond that the one whose last fault is oldest is forgotten.
const MOST_HOSTS: usize = 4096;

/// Decides which connections a server accepts, and whose answers it looks at.
#[derive(Debug)]
pub struct Door {
    most_connections: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Open connections of each host.
    inside: BTreeMap<IpAddr, usize>,
    /// Faults of each host, and when the last of them was.
    faults: BTreeMap<IpAddr, (u32, Instant)>,
    turned_away: u64,
}

/// A place for one connection, given back when it is dropped.
#[derive(Debug)]
pub struct Permit {
    door: Arc<Door>,
    address: IpAddr,
}

/// What counts as one host: an IPv4 address, or an IPv6 /64 network, since a single host may use all of it.
const fn host(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(six) => IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() >> 64 << 64)),
    }
}

/// Locks, even after a panic: no holder leaves the state inconsistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    /// Whether `host` has used up its faults.
    fn is_shut_out(&self, host: IpAddr) -> bool {
        let fault = self.faults.get(&host);
        fault
            .is_some_and(|(count, last)| *count >= MOST_FAULTS && clock::now().duration_since(*last) < BANNED)
    }

    fn count_fault(&mut self, host: IpAddr) {
        let now = clock::now();
        self.faults.retain(|_, (_, last)| now.duration_since(*last) < BANNED);
        if self.faults.len() >= MOST_HOSTS && !self.faults.contains_key(&host) {
            let oldest = self.faults.iter().min_by_key(|(_, (_, last))| *last).map(|(host, _)| *host);
            oldest.map(|host| self.faults.remove(&host));
        }
        let (count, last) = self.faults.entry(host).or_insert((0, now));
        (*count, *last) = (*count + 1, now);
    }
}

impl Door {
    /// A door for `most_connections` at once, of which one host gets at most half.
    #[must_use]
    pub fn new(most_connections: usize) -> Arc<Door> {
        Arc::new(Door { most_connections, state: Mutex::default() })
    }

    /// Lets a connection from `address` in; `None` when there is no place for it or its host is shut out.
    #[must_use]
    pub fn enter(self: &Arc<Door>, address: IpAddr) -> Option<Permit> {
        let mut state = lock(&self.state);
        let host = host(address);
        let all: usize = state.inside.values().sum();
        let own = state.inside.get(&host).copied().unwrap_or(0);
        if state.is_shut_out(host) || all >= self.most_connections || own >= self.most_connections.div_ceil(2)
        {
            state.turned_away += 1;
            return None;
        }
        *state.inside.entry(host).or_default() += 1;
        Some(Permit { door: Arc::clone(self), address })
    }

    /// Takes the number of connections refused, and of answers not judged, since the last call.
    #[must_use]
    pub fn take_turned_away(&self) -> u64 {
        std::mem::take(&mut lock(&self.state).turned_away)
    }
}

impl Permit {
    /// Where the connection comes from.
    #[must_use]
    pub const fn address(&self) -> IpAddr {
        self.address
    }

    /// Judges an answer with `is_right` and counts it if it is wrong. Returns whether it is right, or `None` without
    /// judging it when this host is shut out. Answers that arrive at the same time are judged one after the other, each
    /// counted before the next is looked at, so that asking in parallel gives nobody another guess. `is_right` runs
    /// under the door's lock and must not wait.
    pub fn judge(&self, is_right: impl FnOnce() -> bool) -> Option<bool> {
        let mut state = lock(&self.door.state);
        let host = host(self.address);
        if state.is_shut_out(host) {
            state.turned_away += 1;
            return None;
        }
        let right = is_right();
        if !right {
            state.count_fault(host);
        }
        Some(right)
    }

    /// Counts a conversation that ended without an answer to judge.
    pub fn note_fault(&self) {
        lock(&self.door.state).count_fault(host(self.address));
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = lock(&self.door.state);
        let host = host(self.address);
        if let Some(count) = state.inside.get_mut(&host) {
            *count -= 1;
            if *count == 0 {
                state.inside.remove(&host);
            }
        }
    }
}
