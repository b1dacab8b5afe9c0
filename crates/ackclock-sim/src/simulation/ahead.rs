//! Looking ahead: the data of many flows does not fit into the cache of a core, so the loop prefetches it before their
//! ends act. Only the speed of the run changes.

use super::Simulation;
use crate::endpoint::Ends;
use crate::packet::EndId;
use crate::prefetch::prefetch;

/// The number of other packets that a link delivers between prefetching a packet and delivering it.
const AHEAD: u64 = 8;
/// The same for the entry of the packet's flow, which is known only once the packet is in the cache.
const AHEAD_ENTRY: u64 = 4;
/// The same for the receiving end, which is known only once the entry is in the cache.
const AHEAD_END: u64 = 1;

impl Simulation {
    /// Turns looking ahead on or off, regardless of the number of flows. Only the speed of the run changes: tests
    /// compare the two ways.
    pub fn set_looks_ahead(&mut self, looks_ahead: bool) {
        (self.looks_ahead, self.looks_far) = (looks_ahead, looks_ahead);
    }

    /// Prefetches the data for the next packets of a link: far ahead the packet itself, then its destination and its
    /// payload.
    // Inlined into the loop, it would take registers from the runs that do not look ahead.
    #[inline(never)]
    pub(super) fn expect_from(&self, link: u32) {
        if self.looks_far {
            self.expect_entries_from(link);
        }
        let network = &self.stage.network;
        network.links[link as usize].expect(AHEAD);
        let [Some(packet)] = network.expected(link, [AHEAD_END]) else { return };
        let Some(ends) = self.fixed_ends(packet.flow()) else { return };
        // Each kind of end has its own call, whose target a processor foresees.
        if packet.sent_to().is_sender() {
            ends.sender.expect();
            if let Some(payload) = network.payloads.get(packet.handle()) {
                prefetch(payload);
            }
        } else {
            ends.receiver.expect();
        }
    }

    /// Prefetches the table entries for the destination of a later packet, and the separately allocated parts of the
    /// sender that receives the next packet.
    #[inline(never)]
    fn expect_entries_from(&self, link: u32) {
        let [next, of_entry] = self.stage.network.expected(link, [0, AHEAD_ENTRY]);
        if let Some(packet) = of_entry {
            self.expect_entry(packet.sent_to());
        }
        if let Some(packet) = next
            && packet.sent_to().is_sender()
            && let Some(ends) = self.fixed_ends(packet.flow())
        {
            ends.sender.expect_parts();
        }
    }

    /// Prefetches, once, the end whose timer is next: its memory arrives during the link events before that timer. The
    /// table entries of a later end are prefetched, too.
    #[inline]
    pub(super) fn look_ahead(&mut self) {
        let number = self.stage.schedule.next_behind_links();
        if number != self.looked_at {
            self.looked_at = number;
            self.expect_timer(number);
        }
    }

    #[inline(never)]
    fn expect_timer(&self, number: u32) {
        // A permanent component has the number of its slot, and only permanent components are prefetched.
        if self.looks_far
            && let Some(later) = self.stage.network.end(self.stage.schedule.later_behind_links())
        {
            self.expect_entry(later);
        }
        if let Some(next) = self.stage.network.end(number)
            && let Some(ends) = self.fixed_ends(next.flow())
        {
            if next.is_sender() { ends.sender.expect() } else { ends.receiver.expect() }
        }
    }

    #[inline]
    fn expect_entry(&self, end: EndId) {
        if let Some(ends) = self.fixed_ends(end.flow()) {
            let network = &self.stage.network;
            prefetch(ends);
            prefetch(&network.under_way[end.flow() as usize]);
            self.stage.schedule.expect(network.schedule_slot(end.flow(), end.is_sender()));
        }
    }

    /// The ends of a flow; `None` for a flow that arrives during the run, because its number is not its slot.
    #[inline]
    fn fixed_ends(&self, flow: u32) -> Option<&Ends> {
        (flow < self.stage.network.flow_slots.fixed()).then(|| &self.ends[flow as usize])
    }
}
