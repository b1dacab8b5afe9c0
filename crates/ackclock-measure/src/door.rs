//! Who comes in: bounds on connections, and on those that do not know the token.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::clock;

/// So many wrong answers, and an address stays out for a while.
const MOST_FAULTS: u32 = 5;
/// How long.
const BANNED: Duration = Duration::from_secs(60);
/// Addresses that are remembered; the oldest is forgotten for another.
const MOST_ADDRESSES: usize = 4096;

/// The door of a server.
#[derive(Debug)]
pub struct Door {
    most_connections: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    inside: BTreeMap<IpAddr, usize>,
    faults: BTreeMap<IpAddr, (u32, Instant)>,
    turned_away: u64,
}

/// A connection inside; it leaves when this is dropped.
#[derive(Debug)]
pub struct Permit {
    door: Arc<Door>,
    address: IpAddr,
}

/// Who counts as one: an address, and over IPv6 the network that one host has for itself.
const fn host(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(six) => IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() >> 64 << 64)),
    }
}

/// A lock whose holder cannot have left anything half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Door {
    /// A door for so many connections, of which one host has at most half.
    #[must_use]
    pub fn new(most_connections: usize) -> Arc<Door> {
        Arc::new(Door { most_connections, state: Mutex::default() })
    }

    /// Lets a connection in, or not.
    #[must_use]
    pub fn enter(self: &Arc<Door>, address: IpAddr) -> Option<Permit> {
        let mut state = lock(&self.state);
        let host = host(address);
        let banned = state.faults.get(&host).is_some_and(|(count, last)| {
            *count >= MOST_FAULTS && clock::now().duration_since(*last) < BANNED
        });
        let all: usize = state.inside.values().sum();
        let own = state.inside.get(&host).copied().unwrap_or(0);
        if banned || all >= self.most_connections || own >= self.most_connections.div_ceil(2) {
            state.turned_away += 1;
            return None;
        }
        *state.inside.entry(host).or_default() += 1;
        Some(Permit { door: Arc::clone(self), address })
    }

    /// Connections that were not let in since this was last asked.
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

    /// It did not know the token, or spoke nonsense.
    pub fn note_fault(&self) {
        let mut state = lock(&self.door.state);
        let now = clock::now();
        state.faults.retain(|_, (_, last)| now.duration_since(*last) < BANNED);
        if state.faults.len() >= MOST_ADDRESSES {
            let oldest = state.faults.iter().min_by_key(|(_, (_, last))| *last).map(|(address, _)| *address);
            oldest.map(|address| state.faults.remove(&address));
        }
        let (count, last) = state.faults.entry(host(self.address)).or_insert((0, now));
        (*count, *last) = (*count + 1, now);
    }

    /// It knew the token.
    pub fn forgive(&self) {
        lock(&self.door.state).faults.remove(&host(self.address));
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
