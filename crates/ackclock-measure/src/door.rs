//! Admission: bounds on the number of connections and on the harm that one host can do to others.
//!
//! Guesses at the token are not limited: it has 256 random bits, and a limit per host would let a neighbour behind the
//! same address lock the right answer out.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::clock;
use crate::token::random;

/// How long a host's faults are remembered.
const REMEMBERED: Duration = Duration::from_secs(60);
/// How many faults of one host are reported individually in that time.
const MOST_TOLD: u32 = 5;
/// How long a host that has proved that it knows the token is known for it.
const KNOWN: Duration = Duration::from_secs(3600);
/// The number of hosts whose faults or proofs are remembered. When there are more, the host with the oldest record is
/// forgotten.
const MOST_HOSTS: usize = 4096;

/// Decides which connections a server accepts.
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

/// How many faults there were since the first that is remembered.
#[derive(Clone, Copy, Debug)]
struct Count {
    number: u32,
    since: Instant,
}

/// A connection's place.
struct Place {
    host: IpAddr,
    /// Whether its host was known when the connection arrived, or the connection has since proved that it knows the
    /// token. Such a place is not given to another host.
    is_known: bool,
    /// Whether the connection itself has proved that it knows the token. Such a place is never given away.
    has_proved: bool,
    /// Ends the connection.
    close: Option<Box<dyn FnOnce() + Send>>,
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { host, is_known, has_proved, .. } = self;
        f.debug_tuple("Place").field(host).field(is_known).field(has_proved).finish()
    }
}

#[derive(Debug, Default)]
struct State {
    /// Open connections, in the order of their arrival.
    places: BTreeMap<u64, Place>,
    next_place: u64,
    faults: BTreeMap<IpAddr, Count>,
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

/// The unit that counts as one host: an IPv4 address, or an IPv6 /64 network, since a single host may use all of it.
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

/// Makes room for one more host by forgetting the host with the oldest record.
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

    /// Counts a fault, and returns how many there are now.
    fn count(&mut self, host: IpAddr, now: Instant) -> u32 {
        self.faults.retain(|_, count| now.duration_since(count.since) < REMEMBERED);
        if !self.faults.contains_key(&host) {
            bound(&mut self.faults, |count| count.since);
        }
        let count = self.faults.entry(host).or_insert(Count { number: 0, since: now });
        count.number += 1;
        count.number
    }

    fn remember(&mut self, host: IpAddr, place: u64, now: Instant) {
        if !self.known.contains_key(&host) {
            bound(&mut self.known, |proved| *proved);
        }
        self.known.insert(host, now);
        if let Some(place) = self.places.get_mut(&place) {
            (place.is_known, place.has_proved) = (true, true);
        }
    }

    /// A place that `may_go`, of the host that holds the most such places. It is chosen at random: if it were always
    /// the oldest, a burst of as many newcomers as places would end every conversation that lasts longer than the
    /// burst.
    fn first_to_go(&self, may_go: impl Fn(&Place) -> bool) -> Option<u64> {
        let mut held = BTreeMap::<IpAddr, Vec<u64>>::new();
        for (number, place) in self.places.iter().filter(|(_, place)| may_go(place)) {
            held.entry(place.host).or_default().push(*number);
        }
        let most = held.values().max_by_key(|numbers| (numbers.len(), u64::MAX - numbers[0]))?;
        let [a, b, c, d, ..] = random();
        Some(most[u32::from_le_bytes([a, b, c, d]) as usize % most.len()])
    }
}

impl Door {
    /// A door for `most_connections` at once. One host gets at most half of them. Hosts that have not recently proved
    /// that they know the token get at most three quarters.
    #[must_use]
    pub fn new(most_connections: usize) -> Arc<Door> {
        Door::by(most_connections, clock::now)
    }

    /// As [`Door::new`], with another clock.
    #[must_use]
    pub fn by(most_connections: usize, now: impl Fn() -> Instant + Send + Sync + 'static) -> Arc<Door> {
        Arc::new(Door { most_connections, now: Box::new(now), state: Mutex::default() })
    }

    /// Lets a connection from `address` in. If its host already has its share, the connection replaces another
    /// connection of that host that has not proved itself. If all places are taken, it replaces a connection of an
    /// unknown host. Returns `None` if there is no such connection: all others have proved that they know the token, or
    /// belong to hosts that have.
    #[must_use]
    pub fn enter(self: &Arc<Door>, address: IpAddr) -> Option<Permit> {
        let (host, now) = (host(address), (self.now)());
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        let is_known = state.is_known(host, now);
        let own = state.places.values().filter(|place| place.host == host).count();
        let (count, room) = if is_known {
            (state.places.len(), self.most_connections)
        } else {
            let strangers = state.places.values().filter(|place| !place.is_known).count();
            let most = self.most_connections - self.most_connections / 4;
            // Places of known hosts count if they take up more than their quarter.
            (strangers.max((state.places.len() + most).saturating_sub(self.most_connections)), most)
        };
        let has_its_share = own >= self.most_connections.div_ceil(2);
        let leaves = if has_its_share {
            // An unknown connection does not replace a known one: that would raise the number of unknown connections,
            // which is bounded.
            state
                .first_to_go(|place| place.host == host && !place.has_proved && (is_known || !place.is_known))
        } else if count >= room {
            state.first_to_go(|place| !place.is_known)
        } else {
            None
        };
        if leaves.is_none() && (has_its_share || count >= room) {
            state.turned_away += 1;
            return None;
        }
        let close = leaves.and_then(|number| state.places.remove(&number)).and_then(|place| place.close);
        if leaves.is_some() {
            state.turned_away += 1;
        }
        let place = state.next_place;
        state.next_place += 1;
        state.places.insert(place, Place { host, is_known, has_proved: false, close: None });
        drop(guard);
        if let Some(close) = close {
            close();
        }
        Some(Permit { door: Arc::clone(self), address, place })
    }

    /// The number, since the last call, of connections refused or ended in favour of others, and of faults too frequent
    /// to be reported individually.
    #[must_use]
    pub fn take_turned_away(&self) -> u64 {
        std::mem::take(&mut lock(&self.state).turned_away)
    }
}

impl Permit {
    /// The host that the connection comes from.
    #[must_use]
    pub const fn address(&self) -> IpAddr {
        self.address
    }

    /// Sets how the connection is ended when its place is needed for another; at once if it was given away already.
    pub fn when_needed(&self, close: impl FnOnce() + Send + 'static) {
        let mut state = lock(&self.door.state);
        if let Some(place) = state.places.get_mut(&self.place) {
            place.close = Some(Box::new(close));
        } else {
            drop(state);
            close();
        }
    }

    /// Notes that the connection has proved that it knows the token: it keeps its place, and its host is known.
    pub fn prove(&self) {
        let now = (self.door.now)();
        lock(&self.door.state).remember(host(self.address), self.place, now);
    }

    /// Counts a conversation that ended without a right answer. Returns whether it is to be reported individually:
    /// frequent faults of a host are reported as a number ([`Door::take_turned_away`]).
    pub fn note_fault(&self) -> bool {
        let now = (self.door.now)();
        let mut state = lock(&self.door.state);
        if !state.places.contains_key(&self.place) {
            // The connection was ended in favour of another, which has been counted already.
            return false;
        }
        let is_rare = state.count(host(self.address), now) <= MOST_TOLD;
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
