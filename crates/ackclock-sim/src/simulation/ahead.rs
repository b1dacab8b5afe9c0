//! Looking ahead: what the ends of many flows need does not fit into the cache of a core, so that it is asked for before they
//! act. It changes nothing but the time that things take.

use super::Simulation;
use crate::endpoint::Ends;
use crate::packet::EndId;
use crate::prefetch::prefetch;

/// How many other packets a link delivers between asking for the memory of a packet and delivering it.
const AHEAD: u64 = 8;
/// The same for the entry of the packet's flow, which only the packet names.
const AHEAD_ENTRY: u64 = 4;
/// The same for the end that takes the packet in, which only the entry names.
const AHEAD_END: u64 = 1;

impl Simulation {
    /// From now on it looks ahead, or does not, however many flows there are. It changes nothing in the run but its speed:
    /// tests hold the two against each other.
    pub fn set_looks_ahead(&mut self, looks_ahead: bool) {
        (self.looks_ahead, self.looks_far) = (looks_ahead, looks_ahead);
    }

    /// Asks for what the next packets of a link need: far ahead for the packet, then for the end and the payload that it
    /// brings there.
    // Within the loop it would cost the runs that do not look ahead registers.
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

    /// Asks for what leads to the end of a later packet, and for what the sender that takes the next one in has elsewhere.
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

    /// Expects the end whose timer is next, once: its memory arrives during the events of links before it. What leads to an
    /// end behind it is asked for, too.
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
        // What stays has the number of its slot, and nothing else is expected.
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

    /// The ends of a flow; `None` for one that arrives during the run, which is not where its number says.
    #[inline]
    fn fixed_ends(&self, flow: u32) -> Option<&Ends> {
        (flow < self.stage.network.flow_slots.fixed()).then(|| &self.ends[flow as usize])
    }
}
