//! The event queue: which component acts next, and when.
//!
//! Every component (a link's transmitter, a link's far end, an endpoint) has at most one pending event, its
//! next. So the queue is a table of times, one per component, with a tournament above it: each node holds
//! the earlier of its two children, the left one on a tie. The order of events is therefore total, by time
//! and then by component number, however the table came about. Changing a time costs one walk towards the
//! root, which ends where nothing changes; nothing is ever allocated, inserted or removed.

use ackclock_units::Time;

/// Times of next events, by component.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Heap-ordered tournament: node `n` has the children `2n` and `2n + 1`; leaves are the last half.
    nodes: Vec<(Time, u32)>,
    leaves: usize,
}

impl Schedule {
    /// A schedule of `components` components, none of which has an event.
    #[must_use]
    pub fn new(components: usize) -> Self {
        let leaves = components.next_power_of_two().max(2);
        let mut nodes = vec![(Time::NEVER, 0); 2 * leaves];
        for (component, leaf) in nodes[leaves..].iter_mut().enumerate() {
            leaf.1 = component as u32;
        }
        for node in (1..leaves).rev() {
            nodes[node] = nodes[2 * node];
        }
        Schedule { nodes, leaves }
    }

    /// The component that acts next and when; [`Time::NEVER`] when none does.
    #[inline]
    #[must_use]
    pub fn next(&self) -> (Time, u32) {
        self.nodes[1]
    }

    /// Sets the time of a component's next event; [`Time::NEVER`] for none.
    #[inline]
    pub fn set(&mut self, component: u32, time: Time) {
        let mut node = self.leaves + component as usize;
        if self.nodes[node].0 == time {
            return;
        }
        let mut winner = (time, component);
        self.nodes[node] = winner;
        while node > 1 {
            let sibling = self.nodes[node ^ 1];
            // The left child wins ties: a right child must be strictly earlier.
            let sibling_wins =
                if node & 1 == 0 { sibling.0 < winner.0 } else { sibling.0 <= winner.0 };
            if sibling_wins {
                winner = sibling;
            }
            node >>= 1;
            if self.nodes[node] == winner {
                return;
            }
            self.nodes[node] = winner;
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
