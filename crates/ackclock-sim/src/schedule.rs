//! The event queue: which component acts next, and when.
//!
//! Every component (a link's far end, an endpoint) has at most one pending event, its
//! next. So the queue is a table of times, one per component. The order of events is total, by time
//! and then by component number, whatever the order of the changes. Nothing is ever allocated, inserted or removed.
//!
//! The first few components, which are links and act most often, are
//! compared one by one. Above the others stands a tournament: each node holds
//! the earlier of its two children. Changing a time there costs one walk towards the
//! root, which ends where nothing changes. Two kinds of change, which are most, need no walk. A time that becomes later, as
//! that of a retransmission timer does with every ACK, stays in the tournament as it was, a lower bound; a bound that has
//! come to the root is made true there. And a sender that waits for microseconds before it sends comes before the whole
//! tournament: it is written down next to it, while there is room, and keeps its bound in it.

use ackclock_units::Time;

/// Components that are compared one by one: the links of a dumbbell and the paths to it and from it. With eight of
/// them, a run of one flow costs as much more as one with many links costs less.
const COMPARED: usize = 4;
/// Components that are written down next to the tournament. A thousand senders on 2.5 Gbit/s that wait for 5 us each
/// wait one or two at a time; with four places, looking through them costs what the walks did.
const EARLY: usize = 2;

/// Times of next events, by component.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Times of the first components.
    compared: [Time; COMPARED],
    /// Times of the others.
    others: Vec<Time>,
    /// Heap-ordered tournament of lower bounds of them: node `n` has the children `2n` and `2n + 1`; leaves are the last
    /// half. Its root is not a bound but the time itself, or that of a component in `early`.
    nodes: Vec<u128>,
    leaves: usize,
    /// Nodes of components that were earlier than all of the tournament when their time was set; [`FREE`] otherwise.
    early: [u128; EARLY],
    /// The earliest of all but the first components.
    next: u128,
}

/// A time and, in the lowest 32 bits, a component.
const fn node(time: Time, component: u32) -> u128 {
    (time.0 as u128) << 32 | component as u128
}

/// No component.
const FREE: u128 = node(Time::NEVER, u32::MAX);

impl Schedule {
    /// A schedule of `components` components, none of which has an event.
    #[must_use]
    pub fn new(components: usize) -> Self {
        let others = vec![Time::NEVER; components.saturating_sub(COMPARED)];
        let leaves = others.len().next_power_of_two().max(2);
        let mut nodes = vec![FREE; 2 * leaves];
        for (component, leaf) in (COMPARED..components).zip(&mut nodes[leaves..]) {
            *leaf = node(Time::NEVER, component as u32);
        }
        for index in (1..leaves).rev() {
            nodes[index] = nodes[2 * index];
        }
        Schedule {
            compared: [Time::NEVER; COMPARED],
            next: nodes[1],
            others,
            nodes,
            leaves,
            early: [FREE; EARLY],
        }
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
        let time = Time((self.next >> 32) as u64);
        if time < next.0 { (time, self.next as u32) } else { next }
    }

    /// Sets the time of a component's next event; [`Time::NEVER`] for none.
    #[inline]
    pub fn set(&mut self, component: u32, time: Time) {
        if let Some(compared) = self.compared.get_mut(component as usize) {
            *compared = time;
        } else {
            let other = &mut self.others[component as usize - COMPARED];
            if *other != time {
                *other = time;
                self.set_other(node(time, component));
            }
        }
    }

    fn set_other(&mut self, set: u128) {
        let is = |early: u128, component: u128| early as u32 == component as u32;
        let own = self.early.iter().position(|early| is(*early, set));
        let place = own.or_else(|| self.early.iter().position(|early| is(*early, FREE)));
        match place {
            Some(place) if set < self.nodes[1] => self.early[place] = set,
            _ => {
                if let Some(own) = own {
                    self.early[own] = FREE;
                }
                self.bound(set);
            }
        }
        self.next = self.early.iter().fold(self.nodes[1], |next, early| next.min(*early));
    }

    /// Sees to it that the tournament has a bound of the time that was set, and the truth at its root.
    fn bound(&mut self, set: u128) {
        let other = set as u32 as usize - COMPARED;
        if set < self.nodes[self.leaves + other] {
            self.walk(other, set);
        } else if self.nodes[1] as u32 == set as u32 {
            self.settle();
        }
    }

    /// Makes bounds at the root true until one was true.
    fn settle(&mut self) {
        loop {
            let root = self.nodes[1];
            let first = root as u32 as usize - COMPARED;
            let known = node(self.others[first], root as u32);
            if known <= root {
                return;
            }
            self.walk(first, known);
        }
    }

    /// Puts `winner` into the tournament.
    #[inline]
    fn walk(&mut self, other: usize, mut winner: u128) {
        let mut index = self.leaves + other;
        let nodes = &mut self.nodes[..];
        while nodes[index] != winner {
            nodes[index] = winner;
            if index == 1 {
                return;
            }
            winner = winner.min(nodes[index ^ 1]);
            index >>= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against the obvious implementation: look at all components.
        #[test]
        fn next_is_the_earliest_and_then_the_first(
            changes in prop::collection::vec((0_u32..25, prop_oneof![0_u64..6, 0_u64..1000]), 1..300)
        ) {
            let mut schedule = Schedule::new(25);
            let mut times = [Time::NEVER; 25];
            for (component, time) in changes {
                let time = if time == 0 { Time::NEVER } else { Time(time) };
                schedule.set(component, time);
                times[component as usize] = time;
                let earliest = *times.iter().min().unwrap();
                prop_assert_eq!(schedule.next().0, earliest);
                if earliest < Time::NEVER {
                    let first = times.iter().position(|time| *time == earliest).unwrap();
                    prop_assert_eq!(schedule.next().1 as usize, first);
                }
            }
        }
    }
}
