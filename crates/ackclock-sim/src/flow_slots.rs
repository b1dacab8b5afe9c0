//! The slots of flows in the tables of their ends: a flow of the scenario has the slot with its number; a flow that arrives
//! during the run takes a slot when it begins and leaves it when it has ended, so that the tables are only as long as
//! the number of concurrent flows.

use crate::memory::{Grow as _, collected};

/// The slot of a flow that has not begun.
const WAITS: u32 = u32::MAX;
/// Set if a flow has ended; the other bits are then the number of its record, not a slot.
const ENDED: u32 = 1 << 31;
/// The owner of a slot that no flow has.
const FREE: u32 = u32::MAX;

/// The state of a flow that arrives during the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowState {
    /// It has not begun.
    NotStarted,
    /// In this slot.
    Active(u32),
    /// It has ended, and this is the number of its record.
    Ended(u32),
}

/// The slots of flows.
#[derive(Debug, Default)]
pub struct FlowSlots {
    /// Flows whose slots have their numbers.
    fixed: u32,
    /// All flows.
    all: u32,
    /// For each arriving flow, its slot, [`WAITS`], or the number of its record with [`ENDED`].
    others: Vec<u32>,
    /// The flow in each slot of arriving flows.
    owners: Vec<u32>,
    free: Vec<u32>,
}

impl FlowSlots {
    /// `fixed` permanent flows, and `others` flows after them that arrive during the run.
    pub fn new(fixed: u32, others: u32) -> Self {
        FlowSlots {
            fixed,
            all: fixed + others,
            others: collected((0..others as usize).map(|_| WAITS)),
            owners: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Flows that stay in their slots.
    #[inline]
    pub const fn fixed(&self) -> u32 {
        self.fixed
    }

    /// All flows, whether they have begun or not.
    #[inline]
    pub const fn flows(&self) -> u32 {
        self.all
    }

    /// The slot of a flow that has begun and not ended.
    #[inline]
    pub fn of(&self, flow: u32) -> u32 {
        if flow < self.fixed { flow } else { self.others[(flow - self.fixed) as usize] }
    }

    /// The state of a flow.
    pub fn state(&self, flow: u32) -> FlowState {
        match self.of(flow) {
            WAITS => FlowState::NotStarted,
            slot if slot < ENDED => FlowState::Active(slot),
            record => FlowState::Ended(record & !ENDED),
        }
    }

    /// Gives `flow` a slot. Returns it, and whether it is new.
    pub fn take(&mut self, flow: u32) -> (u32, bool) {
        let (slot, is_new) = match self.free.pop() {
            Some(slot) => (slot, false),
            None => {
                self.owners.add(FREE);
                (self.fixed + self.owners.len() as u32 - 1, true)
            }
        };
        self.owners[(slot - self.fixed) as usize] = flow;
        self.others[(flow - self.fixed) as usize] = slot;
        (slot, is_new)
    }

    /// `flow` has ended, with this record: its slot is free.
    pub fn leave(&mut self, flow: u32, record: u32) {
        let slot = std::mem::replace(&mut self.others[(flow - self.fixed) as usize], record | ENDED);
        self.owners[(slot - self.fixed) as usize] = FREE;
        self.free.add(slot);
    }

    /// The slots of permanent flows, and the slots that arriving flows have now.
    pub fn live(&self) -> impl Iterator<Item = u32> {
        let owners = (self.fixed..).zip(&self.owners);
        (0..self.fixed).chain(owners.filter(|(_, owner)| **owner != FREE).map(|(slot, _)| slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two flows stay, three come. The first slot behind the two is used again by the third.
    #[test]
    fn a_slot_is_used_again() {
        let mut flow_slots = FlowSlots::new(2, 3);
        assert_eq!(
            (flow_slots.flows(), flow_slots.state(1), flow_slots.state(2)),
            (5, FlowState::Active(1), FlowState::NotStarted)
        );
        assert_eq!((flow_slots.take(2), flow_slots.take(3)), ((2, true), (3, true)));
        flow_slots.leave(2, 0);
        assert_eq!(flow_slots.live().collect::<Vec<_>>(), [0, 1, 3]);
        assert_eq!(flow_slots.take(4), (2, false));
        assert_eq!(
            [2, 3, 4].map(|flow| flow_slots.state(flow)),
            [FlowState::Ended(0), FlowState::Active(3), FlowState::Active(2)]
        );
    }
}
