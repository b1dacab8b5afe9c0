//! Looking ahead: what the ends of many flows need does not fit into the cache of a core, so that it is asked for before they
//! act. It changes nothing but the time that things take.

use super::Simulation;
use crate::endpoint::Actor;
use crate::network::Component;
use crate::packet::EndId;
use crate::prefetch::prefetch;

/// How many other packets a link delivers between asking for the memory of a packet and delivering it.
const AHEAD: u64 = 8;
/// The same for the entry of the packet's flow, which only the packet names.
const AHEAD_ENTRY: u64 = 4;
/// The same for the end that takes the packet in, which only the entry names.
const AHEAD_END: u64 = 2;

impl Simulation {
    /// From now on it looks ahead, or does not, however many flows there are. It changes nothing in the run but its speed:
    /// tests hold the two against each other.
    pub fn set_looks_ahead(&mut self, looks_ahead: bool) {
        (self.looks_ahead, self.looks_far) = (looks_ahead, looks_ahead);
    }

    /// Asks for what the next packets of a link need: far ahead for what leads to an end, then for the end.
    // Within the loop it would cost the runs that do not look ahead registers.
    #[inline(never)]
    pub(super) fn expect_from(&self, link: u32) {
        if self.looks_far {
            self.expect_entries_from(link);
        }
        let network = &self.stage.network;
        if let [Some(packet)] = network.expected(link, [AHEAD_END]) {
            self.expect(packet.sent_to());
            if let Some(payload) = network.payloads.get(packet.handle()) {
                prefetch(payload);
            }
        }
    }

    /// Asks for what leads to the ends, in the order in which each tells where the next is: the packet and the entry of its
    /// flow; and for what the next end has elsewhere.
    #[inline(never)]
    fn expect_entries_from(&self, link: u32) {
        let network = &self.stage.network;
        network.links[link as usize].expect(AHEAD);
        let [next, of_entry] = network.expected(link, [0, AHEAD_ENTRY]);
        if let Some(packet) = of_entry {
            self.expect_entry(packet.sent_to());
        }
        if let Some(packet) = next {
            self.with_end(packet.sent_to(), |end| end.expect_parts());
        }
    }

    /// Expects the end whose timer is next, once: its memory arrives during the events of links before it.
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
        if let Component::End(next) = self.stage.network.component(number) {
            if self.looks_far {
                self.expect_entry(next);
            }
            self.expect(next);
        }
    }

    #[inline]
    fn expect_entry(&self, end: EndId) {
        let network = &self.stage.network;
        // A flow that arrives during the run is not where its number says.
        if end.flow() < network.places.fixed() {
            prefetch(&self.ends[end.flow() as usize]);
            prefetch(&network.under_way[end.flow() as usize]);
            self.stage.schedule.expect(network.slot(end.flow(), end.is_sender()));
        }
    }

    #[inline]
    fn expect(&self, end: EndId) {
        self.with_end(end, |end| end.expect());
    }

    #[inline]
    fn with_end(&self, end: EndId, does: impl Fn(&dyn Actor)) {
        if end.flow() < self.stage.network.places.fixed() {
            let ends = &self.ends[end.flow() as usize];
            if end.is_sender() { does(&*ends.sender) } else { does(&*ends.receiver) }
        }
    }
}
