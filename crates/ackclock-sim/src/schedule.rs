//! The event queue: which component acts next, and when.
//!
//! Every component (a link's far end, an endpoint) has at most one pending event, its
//! next. So the queue is a table of times, one per component. The first few, which are links and act most often, are
//! compared one by one; above the others stands a tournament: each node holds
//! the earlier of its two children, the one of the lower number on a tie. The order of events is therefore total, by time
//! and then by component number, whatever the order of the changes. Changing a time costs one walk towards the
//! root, which ends where nothing changes; nothing is ever allocated, inserted or removed.

use ackclock_units::Time;

/// Components that are compared one by one: the links of a dumbbell and the paths to it and from it. With eight of
/// them, a run of one flow costs as much more as one with many links costs less.
const COMPARED: usize = 4;

/// Times of next events, by component.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Times of the first components.
    compared: [Time; COMPARED],
    /// Heap-ordered tournament of the others: node `n` has the children `2n` and `2n + 1`; leaves are the last half. A
    /// node is a time and, in its lowest 32 bits, a component.
    nodes: Vec<u128>,
    leaves: usize,
}

const fn node(time: Time, component: u32) -> u128 {
    (time.0 as u128) << 32 | component as u128
}

impl Schedule {
    /// A schedule of `components` components, none of which has an event.
    #[must_use]
    pub fn new(components: usize) -> Self {
        let leaves = components.saturating_sub(COMPARED).next_power_of_two().max(2);
        let mut nodes = vec![node(Time::NEVER, 0); 2 * leaves];
        for (component, leaf) in (COMPARED..).zip(&mut nodes[leaves..]) {
            *leaf = node(Time::NEVER, component as u32);
        }
        for index in (1..leaves).rev() {
            nodes[index] = nodes[2 * index];
        }
        Schedule { compared: [Time::NEVER; COMPARED], nodes, leaves }
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
        let winner = self.nodes[1];
        let time = Time((winner >> 32) as u64);
        if time < next.0 { (time, winner as u32) } else { next }
    }

    /// Sets the time of a component's next event; [`Time::NEVER`] for none.
    #[inline]
    pub fn set(&mut self, component: u32, time: Time) {
        match self.compared.get_mut(component as usize) {
            Some(compared) => *compared = time,
            None => self.set_among_others(component, time),
        }
    }

    fn set_among_others(&mut self, component: u32, time: Time) {
        let mut winner = node(time, component);
        let mut index = self.leaves + component as usize - COMPARED;
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
            changes in prop::collection::vec((0_u32..11, 0_u64..6), 1..200)
        ) {
            let mut schedule = Schedule::new(11);
            let mut times = [Time::NEVER; 11];
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
