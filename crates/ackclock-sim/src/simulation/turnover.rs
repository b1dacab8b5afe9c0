//! Flows that come and go during a run.

use super::Simulation;
use crate::endpoint::Ends;
use crate::flow_slots::FlowState;
use crate::memory::{Grow as _, unwind_if_short};
use crate::numbers::{Numbers, Record};
use crate::packet::{EndId, Packet};
use crate::stage::Stage;

impl Simulation {
    /// An end of a flow that arrives acts; a flow that has not started begins now, and the flow may have ended
    /// afterwards.
    #[cold]
    #[inline(never)]
    pub(super) fn act_shared(&mut self, end: EndId, packet: Option<&Packet>) {
        let slot = match self.stage.network.flow_slots.state(end.flow()) {
            FlowState::Active(slot) => slot,
            FlowState::NotStarted => self.begin(end.flow()),
            FlowState::Ended(_) => unreachable!("nothing of it was under way"),
        };
        self.act_at(slot, self.stage.network.schedule_slot(slot, end.is_sender()), end, packet);
        let is_through = self.stage.network.under_way[slot as usize] == [0, 0];
        // At the last instant the end of the run has been marked, and a record would include events after that mark.
        if slot >= self.observer.early() && is_through && !self.observer.has_ended() {
            let Ends { sender, receiver } = &self.ends[slot as usize];
            if sender.is_over() && receiver.is_over() {
                self.retire(end.flow(), slot);
            }
        }
    }

    /// `flow` begins, in a slot that is free.
    fn begin(&mut self, flow: u32) -> u32 {
        unwind_if_short();
        let ends = self.arrivals.begin(flow);
        let Stage { now, network, schedule, .. } = &mut self.stage;
        let (slot, is_new) = network.flow_slots.take(flow);
        if is_new {
            self.ends.add(ends);
            network.under_way.add([0, 0]);
            network.dropped.add([0, 0]);
            schedule.extend(network.schedule_slot(slot + 1, true) as usize);
        } else {
            self.ends[slot as usize] = ends;
            debug_assert_eq!(network.under_way[slot as usize], [0, 0], "the flow before has ended");
            network.dropped[slot as usize] = [0, 0];
        }
        self.observer.begin(slot, *now);
        self.await_next();
        slot
    }

    /// The next flow that arrives is the component in its slot of the schedule.
    pub(super) fn await_next(&mut self) {
        let Stage { now, network, schedule, .. } = &mut self.stage;
        if self.arrivals.len() > 0 {
            let schedule_slot = network.director_slot() + 1;
            schedule.forget(schedule_slot);
            if let Some((time, flow)) = self.arrivals.next() {
                schedule.set_at(*now, schedule_slot, network.number_of(EndId::sender_of(flow)), time);
            }
        }
    }

    /// `flow` has ended: its numbers are kept, if they fit into a record, and its slot is free for another.
    fn retire(&mut self, flow: u32, slot: u32) {
        let Stage { now, network, schedule, .. } = &mut self.stage;
        let measured = self.observer.measure(slot, *now, network, &self.ends);
        let numbers = Numbers::of(&self.ends[slot as usize], &measured, None);
        if let Some(record) = Record::of(&numbers) {
            schedule.forget(network.schedule_slot(slot, true));
            schedule.forget(network.schedule_slot(slot, false));
            network.flow_slots.leave(flow, self.records.len() as u32);
            self.records.add(record);
        }
    }
}
