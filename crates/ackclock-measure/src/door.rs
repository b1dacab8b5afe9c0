//! Admission: bounds on the number of connections, on guesses at the token, and on what one host can do to others.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::clock;

/// How long a host is shut out, and its faults are remembered.
const BANNED: Duration = Duration::from_secs(60);
/// How long a host that has proved that it knows the token is known for it.
const KNOWN: Duration = Duration::from_secs(3600);
/// Hosts whose faults or proofs are remembered; beyond that the one heard of least recently is forgotten.
const MOST_HOSTS: usize = 4096;

/// What a host can do wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wrong {
    /// A wrong answer to the challenge: a guess at the token.
    Answer,
    /// Something that is not part of the protocol.
    Nonsense,
    /// Nothing at all: hanging up, or waiting until patience ends. Whoever only looks whether the port is open does it.
    Gone,
}

impl Wrong {
    /// How often it may happen until the host is shut out: few guesses, but no neighbour behind the same address shall
    /// be shut out by somebody's port scan.
    #[must_use]
    pub const fn most(self) -> u32 {
        match self {
            Wrong::Answer => 5,
            Wrong::Nonsense => 20,
            Wrong::Gone => 100,
        }
    }
}

/// Decides which connections a server accepts, and whose answers it looks at.
pub struct Door {
    most_connections: usize,
    now: Box<dyn Fn() -> Instant + Send + Sync>,
    state: Mutex<State>,
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Door").field("state", &self.state).finish_non_exhaustive()
    }
}

/// How often something happened, and since when it is counted: guesses since the last, all else since the first, so that
/// what happens rarely never adds up.
#[derive(Clone, Copy, Debug)]
struct Count {
    number: u32,
    since: Instant,
}

/// A connection's place.
struct Place {
    host: IpAddr,
    /// Whether its host was known when it came, or has proved since that it knows the token.
    is_known: bool,
    /// Ends the connection.
    close: Option<Box<dyn FnOnce() + Send>>,
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").field("host", &self.host).field("is_known", &self.is_known).finish()
    }
}

#[derive(Debug, Default)]
struct State {
    /// Open connections, in the order in which they came.
    places: BTreeMap<u64, Place>,
    next_place: u64,
    faults: BTreeMap<(IpAddr, Wrong), Count>,
    /// When each host last proved that it knows the token.
    known: BTreeMap<IpAddr, Instant>,
    turned_away: u64,
}

/// A place for one connection, given back when it is dropped.
#[derive(Debug)]
pub struct Permit {
    door: Arc<Door>,
    address: IpAddr,
    place: u64,
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

/// Makes room for one more host, at the cost of the one heard of least recently.
fn bound<K: Copy + Ord, V>(hosts: &mut BTreeMap<K, V>, heard: impl Fn(&V) -> Instant) {
    if hosts.len() >= MOST_HOSTS {
        let oldest = hosts.iter().min_by_key(|(_, value)| heard(value)).map(|(key, _)| *key);
        oldest.map(|key| hosts.remove(&key));
    }
}

impl State {
    fn is_known(&self, host: IpAddr, now: Instant) -> bool {
        self.known.get(&host).is_some_and(|proved| now.duration_since(*proved) < KNOWN)
    }

    /// Whether `host` has used up its faults. A known one is shut out for guesses alone: what else comes from its address
    /// may be a neighbour's, and costs no more than the places of one host.
    fn is_shut_out(&self, host: IpAddr, now: Instant) -> bool {
        let is_over = |wrong: Wrong| {
            let count = self.faults.get(&(host, wrong));
            count.is_some_and(|one| one.number >= wrong.most() && now.duration_since(one.since) < BANNED)
        };
        is_over(Wrong::Answer)
            || !self.is_known(host, now) && (is_over(Wrong::Nonsense) || is_over(Wrong::Gone))
    }

    /// Counts a fault, and returns how many of its kind there are now.
    fn count(&mut self, host: IpAddr, wrong: Wrong, now: Instant) -> u32 {
        self.faults.retain(|_, count| now.duration_since(count.since) < BANNED);
        if !self.faults.contains_key(&(host, wrong)) {
            bound(&mut self.faults, |count| count.since);
        }
        let count = self.faults.entry((host, wrong)).or_insert(Count { number: 0, since: now });
        count.number += 1;
        if wrong == Wrong::Answer {
            count.since = now;
        }
        count.number
    }

    fn remember(&mut self, host: IpAddr, place: u64, now: Instant) {
        if !self.known.contains_key(&host) {
            bound(&mut self.known, |proved| *proved);
        }
        self.known.insert(host, now);
        if let Some(place) = self.places.get_mut(&place) {
            place.is_known = true;
        }
    }

    /// The place that is taken away first: the oldest of the unknown host that has most of them.
    fn first_to_go(&self) -> Option<u64> {
        let mut held = BTreeMap::<IpAddr, (usize, u64)>::new();
        for (number, place) in self.places.iter().filter(|(_, place)| !place.is_known) {
            held.entry(place.host).or_insert((0, *number)).0 += 1;
        }
        let most = held.values().max_by_key(|(count, oldest)| (*count, u64::MAX - oldest));
        most.map(|(_, oldest)| *oldest)
    }
}

impl Door {
    /// A door for `most_connections` at once, of which one host gets at most half, and hosts that have not proved lately
    /// that they know the token get at most three quarters.
    #[must_use]
    pub fn new(most_connections: usize) -> Arc<Door> {
        Door::by(most_connections, clock::now)
    }

    /// As [`Door::new`], by another clock.
    #[must_use]
    pub fn by(most_connections: usize, now: impl Fn() -> Instant + Send + Sync + 'static) -> Arc<Door> {
        Arc::new(Door { most_connections, now: Box::new(now), state: Mutex::default() })
    }

    /// Lets a connection from `address` in; `None` when its host is shut out or has its share. When there is no place,
    /// the connection gets that of one that has proved nothing so far; `None` when there is no such either.
    #[must_use]
    pub fn enter(self: &Arc<Door>, address: IpAddr) -> Option<Permit> {
        let (host, now) = (host(address), (self.now)());
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        let is_known = state.is_known(host, now);
        let own = state.places.values().filter(|place| place.host == host).count();
        let (taken, room) = if is_known {
            (state.places.len(), self.most_connections)
        } else {
            let strangers = state.places.values().filter(|place| !place.is_known).count();
            let most = self.most_connections - self.most_connections / 4;
            // Places of known hosts count when they need more than their quarter.
            (strangers.max((state.places.len() + most).saturating_sub(self.most_connections)), most)
        };
        let is_full = taken >= room;
        let leaves = if is_full { state.first_to_go() } else { None };
        if state.is_shut_out(host, now)
            || own >= self.most_connections.div_ceil(2)
            || is_full && leaves.is_none()
        {
            state.turned_away += 1;
            return None;
        }
        let close = leaves.and_then(|number| state.places.remove(&number)).and_then(|place| place.close);
        if leaves.is_some() {
            state.turned_away += 1;
        }
        let place = state.next_place;
        state.next_place += 1;
        state.places.insert(place, Place { host, is_known, close: None });
        drop(guard);
        if let Some(close) = close {
            close();
        }
        Some(Permit { door: Arc::clone(self), address, place })
    }

    /// Takes the number of connections refused or ended for others, of answers not judged, and of faults too frequent to
    /// be told one by one, since the last call.
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

    /// Says how the connection is ended when its place is needed for another; at once if it was given away already.
    pub fn when_needed(&self, close: impl FnOnce() + Send + 'static) {
        let mut state = lock(&self.door.state);
        if let Some(place) = state.places.get_mut(&self.place) {
            place.close = Some(Box::new(close));
        } else {
            drop(state);
            close();
        }
    }

    /// Judges an answer with `is_right` and counts it if it is wrong. Returns whether it is right, or `None` without
    /// judging it when this host is shut out. Answers that arrive at the same time are judged one after the other, each
    /// counted before the next is looked at, so that asking in parallel gives nobody another guess. `is_right` runs
    /// under the door's lock and must not wait.
    pub fn judge(&self, is_right: impl FnOnce() -> bool) -> Option<bool> {
        let (host, now) = (host(self.address), (self.door.now)());
        let mut state = lock(&self.door.state);
        if state.is_shut_out(host, now) {
            state.turned_away += 1;
            return None;
        }
        // Counted first, and taken back: not even a panic in between is a guess for nothing.
        let before = state.faults.get(&(host, Wrong::Answer)).copied();
        state.count(host, Wrong::Answer, now);
        let right = is_right();
        if right {
            match before {
                Some(before) => state.faults.insert((host, Wrong::Answer), before),
                None => state.faults.remove(&(host, Wrong::Answer)),
            };
            state.remember(host, self.place, now);
        }
        Some(right)
    }

    /// Counts a conversation that ended without an answer to judge. Returns whether it is to be told by itself: what a
    /// host does often is told as a number ([`Door::take_turned_away`]).
    pub fn note_fault(&self, wrong: Wrong) -> bool {
        let now = (self.door.now)();
        let mut state = lock(&self.door.state);
        let is_rare = state.count(host(self.address), wrong, now) <= Wrong::Answer.most();
        if !is_rare {
            state.turned_away += 1;
        }
        is_rare
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        lock(&self.door.state).places.remove(&self.place);
    }
}
