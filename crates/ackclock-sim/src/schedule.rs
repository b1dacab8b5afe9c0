//! The event queue: which component acts next, and when.
//!
//! Every component (a link's far end, an endpoint) has at most one pending event, its
//! next. So the queue is a table of times, one per component. The order of events is total, by time
//! and then by component number, whatever the order of the changes. Nothing is ever allocated, inserted or removed.
//!
//! The first few components, which are links and act most often, are
//! compared one by one. Above the others stands a tournament: each node holds
//! the earlier of its two children. Changing a time there costs one walk towards the
//! root, which ends where nothing changes. A sender that waits for microseconds before it sends would walk all the way, and
//! again when its retransmission timer is next once more; so who comes before the whole tournament is written down beside
//! it, while there is room, and keeps its later time in it.

use ackclock_units::Time;

/// Components that are compared one by one: the links of a dumbbell and the paths to it and from it. With eight of
/// them, a run of one flow costs as much more as one with many links costs less.
const COMPARED: usize = 4;
/// Components that are written down beside the tournament. A thousand senders on 2.5 Gbit/s that wait for 5 us each wait
/// one or two at a time; with four places, looking through them costs what the walks did.
const EARLY: usize = 2;

/// Times of next events, by component.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Times of the first components.
    compared: [Time; COMPARED],
    /// Heap-ordered tournament of the others: node `n` has the children `2n` and `2n + 1`; leaves are the last half.
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
        let leaves = components.saturating_sub(COMPARED).next_power_of_two().max(2);
        let mut nodes = vec![FREE; 2 * leaves];
        for (component, leaf) in (COMPARED..components).zip(&mut nodes[leaves..]) {
            *leaf = node(Time::NEVER, component as u32);
        }
        for index in (1..leaves).rev() {
            nodes[index] = nodes[2 * index];
        }
        Schedule { compared: [Time::NEVER; COMPARED], next: nodes[1], nodes, leaves, early: [FREE; EARLY] }
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
        match self.compared.get_mut(component as usize) {
            Some(compared) => *compared = time,
            None => self.set_other(node(time, component)),
        }
    }

    fn set_other(&mut self, set: u128) {
        let leaf = self.leaves + set as u32 as usize - COMPARED;
        let mut free = None;
        for early in &mut self.early {
            if *early as u32 == set as u32 {
                *early = FREE;
            }
            if *early == FREE {
                free = Some(early);
            }
        }
        if set < self.nodes[1]
            && let Some(free) = free
        {
            *free = set;
        } else {
            self.walk(leaf, set);
        }
        self.next = self.early.iter().fold(self.nodes[1], |next, early| next.min(*early));
    }

    /// Puts `winner` into the tournament.
    #[inline]
    fn walk(&mut self, leaf: usize, mut winner: u128) {
        let mut index = leaf;
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
