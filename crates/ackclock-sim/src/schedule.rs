//! The event queue: which component acts next, and when.
//!
//! Every component (a link's far end, an endpoint) has at most one pending event, its
//! next. So the queue is a table of times, one per component. The order of events is total, by time
//! and then by component number, whatever the order of the changes. Nothing is allocated, inserted or removed, except that
//! flows which come and go share the slots of the table: there a component is not its slot.
//!
//! The first few components, which are links and act most often, are
//! compared one by one. Further links have a ring of buckets of their own. Above the others stands a tournament: each node holds
//! the earlier of its two children. Changing a time there costs one walk towards the
//! root, which ends where nothing changes. Two kinds of change, which are most, need no walk. A time that becomes later, as
//! that of a retransmission timer does with every ACK, stays in the tournament as it was, a lower bound; a bound that
//! reaches the root is replaced with the true time there. And a sender that waits before it sends acts before its bound
//! in the tournament, which stays as it was. If its time is the earliest of all, it is stored next to the tournament,
//! while there is room; otherwise, if it waits for milliseconds, it is stored in a ring of buckets.

use ackclock_units::{Span, Time};

use crate::memory::or_unwind;
use crate::prefetch::prefetch;

mod links;
mod node;
mod wheel;

use self::links::Calendar;
use self::node::{FREE, node};
use self::wheel::{Entry, Wheel};

/// Components that are compared one by one: the links of a dumbbell and the paths to it and from it. With eight of
/// them, a run of one flow costs as much more as one with many links costs less.
const COMPARED: usize = 4;
/// The number of components that can be stored next to the tournament. A thousand senders on 2.5 Gbit/s that wait for 5
/// us each wait one or two at a time; with four entries, looking through them costs what the walks did.
const EARLY: usize = 2;

/// Times of next events, by component.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Times of the first components.
    compared: [Time; COMPARED],
    /// The links that are not compared.
    links: Calendar,
    /// The first slot of the others, and their times.
    first: u32,
    others: Vec<Entry>,
    /// Heap-ordered tournament of lower bounds of them: node `n` has the children `2n` and `2n + 1`; leaves are the last
    /// half.
    nodes: Vec<u128>,
    /// Node 1. It is not a bound but the time itself, or that of a component in `early` or `wheel`.
    root: u128,
    leaves: usize,
    /// Nodes of components that were earlier than all of the tournament when their time was set; [`FREE`] otherwise.
    early: [u128; EARLY],
    /// Components whose time, when it was set, was near and earlier than their bound.
    wheel: Wheel,
    /// The earliest event of the other components, and the earliest event of all components that are not compared one
    /// by one.
    next_other: u128,
    next: u128,
}

/// The entry of `early` that holds this component; of [`FREE`], a free entry.
#[inline]
fn early_entry(early: &[u128; EARLY], other: u128) -> Option<usize> {
    early.iter().position(|early| *early as u32 == other as u32)
}

/// The first slot that components may share. Components in lower slots are compared in the order of their numbers.
pub const FIRST_SHARED: u32 = COMPARED as u32;

impl Schedule {
    /// A schedule of `slots` slots, none of which has an event. The slots of `links` links come first. A permanent
    /// component has the number of its slot. Events of links are about `spacing` apart.
    #[must_use]
    pub fn new(links: u32, slots: usize, spacing: Span) -> Self {
        let first = links.max(FIRST_SHARED);
        let others = slots.saturating_sub(first as usize);
        let leaves = others.next_power_of_two().max(2);
        let mut schedule = Schedule {
            compared: [Time::NEVER; COMPARED],
            next_other: FREE,
            next: FREE,
            links: Calendar::new(FIRST_SHARED, links, spacing),
            first,
            others: vec![Entry::NONE; others],
            nodes: Vec::new(),
            root: FREE,
            leaves,
            early: [FREE; EARLY],
            wheel: Wheel::EMPTY,
        };
        schedule.plant(leaves);
        schedule
    }

    /// Makes room for `slots` slots.
    pub fn extend(&mut self, slots: usize) {
        let others = slots.saturating_sub(self.first as usize);
        if others > self.others.len() {
            or_unwind(self.others.try_reserve(others - self.others.len()));
            self.others.resize(others, Entry::NONE);
        }
        if others > self.leaves {
            self.plant(others.next_power_of_two());
        }
    }

    /// Puts the tournament's leaves into one with this many.
    fn plant(&mut self, leaves: usize) {
        let mut nodes = Vec::new();
        or_unwind(nodes.try_reserve_exact(2 * leaves));
        nodes.resize(leaves, FREE);
        nodes.extend((0..leaves as u32).map(|other| node(Time::NEVER, u32::MAX, other)));
        if let Some(known) = self.nodes.get(self.leaves..) {
            nodes[leaves..leaves + known.len()].copy_from_slice(known);
        }
        for index in (1..leaves).rev() {
            nodes[index] = nodes[2 * index].min(nodes[2 * index + 1]);
        }
        (self.root, self.nodes, self.leaves) = (nodes[1], nodes, leaves);
        self.find_next();
    }

    /// The component that acts next and when; [`Time::NEVER`] when none does.
    #[inline]
    #[must_use]
    pub fn next(&self) -> (Time, u32) {
        let mut next = (Time::NEVER, 0);
        for (component, time) in (0..).zip(self.compared) {
            if time < next.0 {
                next = (time, component);
            }
        }
        let time = Time((self.next >> 64) as u64);
        if time < next.0 { (time, (self.next >> 32) as u32) } else { next }
    }

    /// The earliest component behind the links; any when none has an event.
    #[inline]
    #[must_use]
    pub fn next_behind_links(&self) -> u32 {
        (self.next_other >> 32) as u32
    }

    /// A guess at the slot of the component after the next one; it may be any slot behind the links.
    #[inline]
    #[must_use]
    pub const fn later_behind_links(&self) -> u32 {
        self.first + self.wheel.later()
    }

    /// Prefetches the time of a slot behind the links.
    #[inline]
    pub fn expect(&self, slot: u32) {
        let index = slot.wrapping_sub(self.first) as usize;
        if let Some(entry) = self.others.get(index) {
            prefetch(entry);
        }
    }

    /// Sets the time of the next event of a link; [`Time::NEVER`] for none.
    #[inline]
    pub fn set(&mut self, link: u32, time: Time) {
        if let Some(compared) = self.compared.get_mut(link as usize) {
            *compared = time;
        } else {
            self.links.set(link, time);
            self.next = self.links.next().min(self.next_other);
        }
    }

    /// Sets the time of the next event of a component in a slot behind the links; [`Time::NEVER`] for none. `now` is that of
    /// the last event: no time is earlier.
    #[inline]
    pub fn set_at(&mut self, now: Time, slot: u32, component: u32, time: Time) {
        if let Some(compared) = self.compared.get_mut(slot as usize) {
            *compared = time;
        } else {
            let index = slot - self.first;
            let other = &mut self.others[index as usize];
            if other.time != time {
                let set = node(time, component, index);
                if other.is_in_bucket() {
                    return self.set_again(set, now);
                }
                other.time = time;
                self.set_other(set, now);
            }
        }
    }

    /// Forgets the component in a shared slot, which another may have now.
    pub fn forget(&mut self, slot: u32) {
        let index = slot - self.first;
        if self.others[index as usize].is_in_bucket() {
            self.wheel.remove(&mut self.others, index);
        }
        self.others[index as usize] = Entry::NONE;
        for early in &mut self.early {
            if *early as u32 == index {
                *early = FREE;
            }
        }
        self.walk(index as usize, node(Time::NEVER, u32::MAX, index));
        self.settle();
    }

    /// Sets the time of a component that is in a bucket.
    #[inline(never)]
    fn set_again(&mut self, set: u128, now: Time) {
        self.wheel.remove(&mut self.others, set as u32);
        self.others[set as u32 as usize].time = Time((set >> 64) as u64);
        // It is not among the early ones, and it may have been the next.
        if set < self.root
            && let Some(free) = early_entry(&self.early, FREE)
        {
            self.early[free] = set;
            self.find_next();
        } else {
            self.set_bound(set, now);
        }
    }

    // Whatever it calls is called last, so that it needs no registers of its caller: most times need no walk.
    fn set_other(&mut self, set: u128, now: Time) {
        let is_early = set < self.root;
        if let Some(own) = early_entry(&self.early, set) {
            self.early[own] = if is_early { set } else { FREE };
            if is_early {
                return self.find_next();
            }
        } else if is_early && let Some(free) = early_entry(&self.early, FREE) {
            self.early[free] = set;
            // No time became later, so only this component may act earlier than the previous next one.
            self.next_other = self.next_other.min(set);
            self.next = self.next.min(set);
            return;
        }
        self.set_bound(set, now);
    }

    /// Sees to it that the tournament has a bound of a time, and the truth at its root.
    #[inline]
    fn set_bound(&mut self, set: u128, now: Time) {
        if Time((set >> 64) as u64) < self.others[set as u32 as usize].bound {
            self.lower(set, now);
        } else if self.root as u32 == set as u32 {
            self.settle();
        } else {
            self.find_next();
        }
    }

    #[inline]
    fn find_next(&mut self) {
        self.next_other =
            self.early.iter().fold(self.root.min(self.wheel.next()), |next, early| next.min(*early));
        self.next = self.next_other.min(self.links.next());
    }

    /// Sets a time that is earlier than its bound in the tournament.
    #[inline(never)]
    fn lower(&mut self, set: u128, now: Time) {
        if !self.wheel.insert(&mut self.others, set, now) {
            self.walk(set as u32 as usize, set);
        }
        self.find_next();
    }

    /// Makes bounds at the root true until one was true.
    #[inline(never)]
    fn settle(&mut self) {
        loop {
            let root = self.root;
            let first = root as u32 as usize;
            let known = node(self.others[first].time, (root >> 32) as u32, root as u32);
            if known <= root {
                break;
            }
            self.raise(first, known);
        }
        self.find_next();
    }

    /// Puts the true time of the component at the root into the tournament, up to the root: its bound was there everywhere.
    #[inline]
    fn raise(&mut self, other: usize, mut winner: u128) {
        self.others[other].bound = Time((winner >> 64) as u64);
        let mut index = self.leaves + other;
        let nodes = &mut self.nodes[..];
        while index > 1 {
            nodes[index] = winner;
            winner = winner.min(nodes[index ^ 1]);
            index >>= 1;
        }
        self.root = winner;
    }

    /// Puts `winner` into the tournament.
    #[inline]
    fn walk(&mut self, other: usize, mut winner: u128) {
        self.others[other].bound = Time((winner >> 64) as u64);
        let mut index = self.leaves + other;
        let nodes = &mut self.nodes[..];
        while index > 1 {
            if nodes[index] == winner {
                return;
            }
            nodes[index] = winner;
            winner = winner.min(nodes[index ^ 1]);
            index >>= 1;
        }
        self.root = winner;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The next component is the first of the earliest.
    fn check_next(schedule: &Schedule, times: &[Time]) -> Result<(), TestCaseError> {
        let earliest = *times.iter().min().unwrap();
        prop_assert_eq!(schedule.next().0, earliest);
        if earliest < Time::NEVER {
            let first = times.iter().position(|time| *time == earliest).unwrap();
            prop_assert_eq!(schedule.next().1 as usize, first);
        }
        Ok(())
    }

    proptest! {
        /// Against the obvious implementation: look at all components.
        #[test]
        fn next_is_the_earliest_and_then_the_first(
            changes in prop::collection::vec((0_u32..25, prop_oneof![0_u64..6, 0_u64..1000]), 1..300),
            links in 0_u32..25,
        ) {
            let mut schedule = Schedule::new(links, 25, Span(1 << 22));
            let mut times = [Time::NEVER; 25];
            for (component, time) in changes {
                let time = if time == 0 { Time::NEVER } else { Time(time) };
                if component < links {
                    schedule.set(component, time);
                } else {
                    schedule.set_at(Time::ZERO, component, component, time);
                }
                times[component as usize] = time;
                check_next(&schedule, &times)?;
            }
        }

        /// The same as time passes, with times in one bucket, in different ones, and behind all of them: the ring covers
        /// 17 ms, 1.7e10 ps.
        #[test]
        fn next_is_the_earliest_as_time_passes(
            changes in prop::collection::vec((3_u32..90, 0_u8..5, 0_u64..1000), 1..400),
        ) {
            let mut schedule = Schedule::new(3, 90, Span(1 << 22));
            let mut times = [Time::NEVER; 90];
            let mut now = Time::ZERO;
            for (component, kind, amount) in changes {
                let earliest = *times.iter().min().unwrap();
                // Every other change is one of the component that acts; the others are those of packets that come in.
                let acts = amount % 2 == 0 && earliest < Time::NEVER;
                let component = if acts { schedule.next().1 } else { component };
                now = if acts { earliest } else { now };
                let wait = [1, 1 << 16, 1 << 22, 1 << 25, 1 << 30][usize::from(kind)] * amount;
                let time = if amount % 7 == 3 { Time::NEVER } else { Time(now.0 + wait) };
                schedule.set_at(now, component, component, time);
                times[component as usize] = time;
                check_next(&schedule, &times)?;
            }
        }

        /// The same for links, with times in one bucket of theirs, in different ones, and turns of the ring away.
        #[test]
        fn next_is_the_earliest_of_many_links_as_time_passes(
            changes in prop::collection::vec((0_u32..60, 0_u8..6, 0_u64..1000), 1..400),
        ) {
            let mut schedule = Schedule::new(60, 60, Span(1 << 22));
            let mut times = [Time::NEVER; 60];
            let mut now = Time::ZERO;
            for (link, kind, amount) in changes {
                let earliest = *times.iter().min().unwrap();
                let acts = amount % 3 > 0 && earliest < Time::NEVER;
                let link = if acts { schedule.next().1 } else { link };
                now = if acts { earliest } else { now };
                let wait = [1, 1 << 13, 1 << 22, 1 << 25, 1 << 30, 1 << 33][usize::from(kind)] * amount;
                let time = if amount % 7 == 3 { Time::NEVER } else { Time(now.0 + wait) };
                schedule.set(link, time);
                times[link as usize] = time;
                check_next(&schedule, &times)?;
            }
        }

        /// The same with 6 components that stay and many that take a slot when they have their first event and leave it with
        /// their last: the earliest is the same, and the tournament grows only when none is free.
        #[test]
        fn slots_are_used_again(
            changes in prop::collection::vec((0_u32..40, prop_oneof![0_u64..6, 0_u64..1000]), 1..300)
        ) {
            let mut schedule = Schedule::new(6, 6, Span(1 << 22));
            let mut times = [Time::NEVER; 40];
            let mut slots: Vec<Option<u32>> = vec![None; 6];
            for (component, time) in changes {
                let time = if time == 0 { Time::NEVER } else { Time(time) };
                times[component as usize] = time;
                let own_slot = slots.iter().position(|owner| *owner == Some(component));
                match (component < 6, own_slot, time) {
                    (true, ..) => schedule.set(component, time),
                    (_, Some(slot), Time::NEVER) => {
                        slots[slot] = None;
                        schedule.forget(slot as u32);
                    }
                    (_, None, Time::NEVER) => {}
                    (_, own_slot, _) => {
                        let free = || (6..slots.len()).find(|slot| slots[*slot].is_none());
                        let slot = own_slot.or_else(free).unwrap_or(slots.len());
                        if slot == slots.len() {
                            slots.push(None);
                            schedule.extend(slots.len());
                        }
                        slots[slot] = Some(component);
                        schedule.set_at(Time::ZERO, slot as u32, component, time);
                    }
                }
                check_next(&schedule, &times)?;
            }
        }
    }
}
