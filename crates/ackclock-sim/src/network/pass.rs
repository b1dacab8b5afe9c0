//! Packets that a planned link passes on to a link that only delays. Their arrival times there are known when they
//! enter the queue, and no other packet comes between them, so they are moved there at once, without an event. The
//! digest has no entry for this step. A change of the planned link takes back the packets that have not left it.

use ackclock_units::Time;

use super::{Hop, Network};
use crate::memory::slots;
use crate::packet::Packet;
use crate::schedule::Schedule;

/// The predecessor of a link on all routes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Before {
    /// The link is on no route.
    #[default]
    Nothing,
    /// The predecessor is always this link.
    Link(u32),
    /// The predecessors are ends, or several links.
    Others,
}

impl Network {
    /// Finds the steps of routes through links that only delay, and those on which packets are passed on to them.
    pub fn find_passes(&mut self) {
        let mut before = slots::<Before>(self.links.len());
        let mut last = Before::Others;
        for hop in &self.hops {
            last = match *hop {
                Hop::Link(link) | Hop::Delay(link) | Hop::Pass(link) => {
                    let known = &mut before[link as usize];
                    *known = if *known == Before::Nothing || *known == last { last } else { Before::Others };
                    Before::Link(link)
                }
                Hop::Deliver => Before::Others,
            };
        }
        for index in 0..self.hops.len() {
            if let Hop::Link(next) = self.hops[index]
                && self.links[next as usize].only_delays()
            {
                self.hops[index] = Hop::Delay(next);
                if let Before::Link(link) = before[next as usize]
                    && self.links[link as usize].begin_to_pass()
                {
                    self.hops[index - 1] = Hop::Pass(link);
                }
            }
        }
    }

    /// A packet arrives at a link that passes it on.
    #[inline(always)]
    pub(super) fn pass(&mut self, now: Time, id: u32, mut packet: Packet, schedule: &mut Schedule) {
        packet.next_hop();
        let link = &mut self.links[id as usize];
        match link.pass(now, packet) {
            None => self.note_all_dropped(now, id),
            Some(Time::NEVER) => schedule.set(id, link.next_event()),
            Some(arrival) => {
                if let Hop::Delay(next) = self.hops[packet.hop() as usize] {
                    packet.next_hop();
                    if let Some(time) = self.links[next as usize].arrive_delayed(arrival, packet) {
                        schedule.set(next, time);
                    }
                }
            }
        }
    }

    /// A packet arrives at a link that only delays.
    #[inline(never)]
    pub(super) fn delay(&mut self, now: Time, id: u32, packet: &Packet, schedule: &mut Schedule) {
        let mut packet = *packet;
        packet.next_hop();
        if let Some(time) = self.links[id as usize].arrive_delayed(now, packet) {
            schedule.set(id, time);
        }
    }

    /// From `now` on a link plans nothing.
    pub fn give_up_plan(&mut self, now: Time, id: u32, schedule: &mut Schedule) {
        let mut packets = Vec::new();
        for index in 0..self.hops.len() {
            if self.hops[index] == Hop::Pass(id) {
                self.hops[index] = Hop::Link(id);
                if let Hop::Delay(next) = self.hops[index + 1] {
                    let delaying = &mut self.links[next as usize];
                    delaying.hand_back(now, &mut packets);
                    schedule.set(next, delaying.next_event());
                }
            } else if self.hops[index] == Hop::Delay(id) {
                self.hops[index] = Hop::Link(id);
            }
        }
        let link = &mut self.links[id as usize];
        link.take_back(now, packets);
        link.give_up_plan(now);
        schedule.set(id, link.next_event());
    }
}
