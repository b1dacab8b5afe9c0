//! Where the ends of flows are: those of the scenario stand at their numbers; a flow that arrives during the run takes a
//! place when it begins and leaves it when it has ended, so that the tables of ends are as long as flows live at a time.

use crate::memory::{Grow as _, collected};

/// The place of a flow that has not begun.
const WAITS: u32 = u32::MAX;
/// Where a flow that has ended has no place but the number of its record.
const ENDED: u32 = 1 << 31;
/// The owner of a place that nobody has.
const FREE: u32 = u32::MAX;

/// Where a flow that arrives is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowState {
    /// It has not begun.
    NotStarted,
    /// At this place.
    Active(u32),
    /// It has ended, and this is the number of its record.
    Ended(u32),
}

/// The places of flows.
#[derive(Debug, Default)]
pub struct Places {
    /// Flows that are at the places with their numbers.
    fixed: u32,
    /// All flows.
    all: u32,
    /// Of each of the others its place, [`WAITS`], or the number of its record with [`ENDED`].
    others: Vec<u32>,
    /// Of each place of the others the flow.
    owners: Vec<u32>,
    free: Vec<u32>,
}

impl Places {
    /// `fixed` flows that stay, and `others` after them that come and go.
    pub fn new(fixed: u32, others: u32) -> Self {
        Places {
            fixed,
            all: fixed + others,
            others: collected((0..others as usize).map(|_| WAITS)),
            owners: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Flows that stay at their places.
    #[inline]
    pub const fn fixed(&self) -> u32 {
        self.fixed
    }

    /// All flows, whether they have begun or not.
    #[inline]
    pub const fn flows(&self) -> u32 {
        self.all
    }

    /// The place of a flow that has begun and not ended.
    #[inline]
    pub fn of(&self, flow: u32) -> u32 {
        if flow < self.fixed { flow } else { self.others[(flow - self.fixed) as usize] }
    }

    /// Where a flow is.
    pub fn state(&self, flow: u32) -> FlowState {
        match self.of(flow) {
            WAITS => FlowState::NotStarted,
            place if place < ENDED => FlowState::Active(place),
            record => FlowState::Ended(record & !ENDED),
        }
    }

    /// Gives `flow` a place. Returns it, and whether it is new.
    pub fn take(&mut self, flow: u32) -> (u32, bool) {
        let (place, is_new) = match self.free.pop() {
            Some(place) => (place, false),
            None => {
                self.owners.add(FREE);
                (self.fixed + self.owners.len() as u32 - 1, true)
            }
        };
        self.owners[(place - self.fixed) as usize] = flow;
        self.others[(flow - self.fixed) as usize] = place;
        (place, is_new)
    }

    /// `flow` has ended, with this record: its place is free.
    pub fn leave(&mut self, flow: u32, record: u32) {
        let place = std::mem::replace(&mut self.others[(flow - self.fixed) as usize], record | ENDED);
        self.owners[(place - self.fixed) as usize] = FREE;
        self.free.add(place);
    }

    /// The places of flows that stay, and those that others have taken now.
    pub fn live(&self) -> impl Iterator<Item = u32> {
        let owners = (self.fixed..).zip(&self.owners);
        (0..self.fixed).chain(owners.filter(|(_, owner)| **owner != FREE).map(|(place, _)| place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two flows stay, three come. The first place behind the two is used again by the third.
    #[test]
    fn a_place_is_used_again() {
        let mut places = Places::new(2, 3);
        assert_eq!(
            (places.flows(), places.state(1), places.state(2)),
            (5, FlowState::Active(1), FlowState::NotStarted)
        );
        assert_eq!((places.take(2), places.take(3)), ((2, true), (3, true)));
        places.leave(2, 0);
        assert_eq!(places.live().collect::<Vec<_>>(), [0, 1, 3]);
        assert_eq!(places.take(4), (2, false));
        assert_eq!(
            [2, 3, 4].map(|flow| places.state(flow)),
            [FlowState::Ended(0), FlowState::Active(3), FlowState::Active(2)]
        );
    }
}
