//! Flows that come and go during a run.

use super::Simulation;
use crate::endpoint::Ends;
use crate::memory::{Grow as _, unwind_if_short};
use crate::numbers::{Numbers, Record};
use crate::packet::{EndId, Packet};
use crate::places::FlowState;
use crate::stage::Stage;

impl Simulation {
    /// An end of a flow that arrives acts; the flow begins if that is what it waits for, and may have ended then.
    #[cold]
    #[inline(never)]
    pub(super) fn act_shared(&mut self, end: EndId, packet: Option<&Packet>) {
        let place = match self.stage.network.places.state(end.flow()) {
            FlowState::Active(place) => place,
            FlowState::NotStarted => self.begin(end.flow()),
            FlowState::Ended(_) => unreachable!("nothing of it was under way"),
        };
        self.act_at(place, self.stage.network.slot(place, end.is_sender()), end, packet);
        let is_through = self.stage.network.under_way[place as usize] == [0, 0];
        // At the last instant the end of the run has been marked, and a record would have what came after it.
        if place >= self.observer.early() && is_through && !self.observer.has_ended() {
            let Ends { sender, receiver } = &self.ends[place as usize];
            if sender.is_over() && receiver.is_over() {
                self.retire(end.flow(), place);
            }
        }
    }

    /// `flow` begins, in a place that is free.
    fn begin(&mut self, flow: u32) -> u32 {
        unwind_if_short();
        let ends = self.arrivals.begin(flow);
        let Stage { now, network, schedule, .. } = &mut self.stage;
        let (place, is_new) = network.places.take(flow);
        if is_new {
            self.ends.add(ends);
            network.under_way.add([0, 0]);
            network.dropped.add([0, 0]);
            schedule.extend(network.slot(place + 1, true) as usize);
        } else {
            self.ends[place as usize] = ends;
            debug_assert_eq!(network.under_way[place as usize], [0, 0], "the flow before has ended");
            network.dropped[place as usize] = [0, 0];
        }
        self.observer.begin(place, *now);
        self.await_next();
        place
    }

    /// The next flow that arrives is the component in the slot for it.
    pub(super) fn await_next(&mut self) {
        let Stage { now, network, schedule, .. } = &mut self.stage;
        if self.arrivals.len() > 0 {
            let slot = network.director_slot() + 1;
            schedule.forget(slot);
            if let Some((time, flow)) = self.arrivals.next() {
                schedule.set_at(*now, slot, network.number_of(EndId::sender_of(flow)), time);
            }
        }
    }

    /// `flow` has ended: its numbers are kept, if they fit into a record, and its place is free for another.
    fn retire(&mut self, flow: u32, place: u32) {
        let Stage { now, network, schedule, .. } = &mut self.stage;
        let measured = self.observer.measure(place, *now, network, &self.ends);
        let numbers = Numbers::of(&self.ends[place as usize], &measured, None);
        if let Some(record) = Record::of(&numbers) {
            schedule.forget(network.slot(place, true));
            schedule.forget(network.slot(place, false));
            network.places.leave(flow, self.records.len() as u32);
            self.records.add(record);
        }
    }
}
