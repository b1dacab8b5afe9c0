//! The network between endpoints: links, routes, and what happens to each packet.

use ackclock_trace::Digest;
use ackclock_units::{Span, Time};

use crate::flow_slots::FlowSlots;
use crate::link::{Link, LinkChange};
use crate::memory::collected;
use crate::packet::{EndId, Packet, Slab};
use crate::payload::Payload;
use crate::schedule::{FIRST_SHARED, Schedule};
use crate::tcp::SYN;

mod pass;

/// One step of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// Through this link.
    Link(u32),
    /// The packet goes through this link, which only delays.
    Delay(u32),
    /// The packet goes through this planned link and the next link, which only delays, without an event between them.
    Pass(u32),
    /// The packet goes to the endpoint.
    Deliver,
}

/// Kinds of occurrences in the digest.
#[derive(Clone, Copy)]
#[repr(u8)]
pub enum Occurrence {
    /// A packet enters the network.
    Sent,
    /// A packet is lost at random or dropped.
    Lost,
    /// A packet reaches its endpoint.
    Delivered,
    /// An endpoint's timer fires.
    Woken,
    /// Links change.
    Changed,
}

/// Links and routes.
#[derive(Debug)]
pub struct Network {
    /// The links; the position is the link's id.
    pub links: Vec<Link>,
    /// Routes, one after the other; a packet's `hop` points into it.
    pub hops: Vec<Hop>,
    /// Payloads of packets under way.
    pub payloads: Slab<Payload>,
    /// The slots of flows in the tables of their ends.
    pub flow_slots: FlowSlots,
    /// Packets under way that the sender and the receiver of the flow in each slot have sent. A flow has eight bytes here,
    /// because each event may meet another flow.
    pub under_way: Vec<[u32; 2]>,
    /// Packets of the sender and of the receiver of the flow in each slot that were lost at random or dropped.
    pub dropped: Vec<[u64; 2]>,
    /// All packets of all flows that were.
    pub all_dropped: u64,
    /// The slot of the flow that acts.
    pub acting: u32,
    /// The fingerprint of the run.
    pub digest: Digest,
    /// Changes of links so far.
    pub changes: u64,
}

/// Whether a lost packet counts as one of the sender, 0, or, as one without data does, of the receiver, 1.
fn counted_as(lost: &Packet) -> usize {
    usize::from(!lost.sent_by().is_sender() || lost.sequence == SYN)
}

/// Components are numbered: the far ends of all links, then the ends of all flows, whether they have begun or not, then the
/// director. In the schedule, the ends of flows that arrive during the run share slots behind the others.
impl Network {
    /// The end that is the component with this number; `None` for a link and for the director.
    #[inline]
    #[must_use]
    pub fn end(&self, number: u32) -> Option<EndId> {
        let end = number.checked_sub(self.links.len() as u32)?;
        (end < 2 * self.flow_slots.flows()).then(|| EndId::with_number(end))
    }

    /// The number of an end as a component.
    #[inline]
    #[must_use]
    pub fn number_of(&self, end: EndId) -> u32 {
        self.links.len() as u32 + end.number()
    }

    /// The number of the director as a component.
    #[must_use]
    pub fn director(&self) -> u32 {
        self.links.len() as u32 + 2 * self.flow_slots.flows()
    }

    /// The number of schedule slots for the permanent components and, behind them, the next flow that arrives.
    #[must_use]
    pub fn schedule_slots(&self) -> usize {
        self.director_slot() as usize + if self.flow_slots.flows() > self.flow_slots.fixed() { 2 } else { 1 }
    }

    /// The director's slot in the schedule; the slot behind it belongs to the next flow that arrives.
    #[must_use]
    pub fn director_slot(&self) -> u32 {
        (self.links.len() as u32 + 2 * self.flow_slots.fixed()).max(FIRST_SHARED)
    }

    /// The slot in the schedule of an end of the flow in `slot`.
    #[inline]
    #[must_use]
    pub fn schedule_slot(&self, slot: u32, is_sender: bool) -> u32 {
        let of_sender = match slot.checked_sub(self.flow_slots.fixed()) {
            None => self.links.len() as u32 + 2 * slot,
            Some(shared) => self.director_slot() + 2 + 2 * shared,
        };
        of_sender + u32::from(!is_sender)
    }

    #[inline]
    fn note(&mut self, now: Time, component: u32, what: Occurrence, packet: &Packet) {
        self.digest.note(
            now.0,
            component,
            what as u8,
            packet.flow(),
            packet.sequence,
            u64::from(packet.bytes()),
        );
    }

    /// The flow in `slot` acts now; `end` of it takes a packet in if that is `delivered`.
    #[inline(always)]
    pub fn begin_act(&mut self, slot: u32, end: EndId, delivered: bool) {
        self.acting = slot;
        if delivered {
            // The other end has sent it.
            self.under_way[slot as usize][usize::from(end.is_sender())] -= 1;
        }
    }

    /// `end` of the flow that acts sends a packet, an answer if it `ANSWERS`. As every route begins with a link, nothing is
    /// delivered here.
    // The rare hops of data share one call here: four cases would compile to a jump table, which takes registers.
    #[inline(always)]
    pub fn send<const ANSWERS: bool>(
        &mut self,
        now: Time,
        end: EndId,
        packet: Packet,
        schedule: &mut Schedule,
    ) {
        debug_assert_eq!(packet.sent_by(), end);
        self.under_way[self.acting as usize][usize::from(!end.is_sender())] += 1;
        self.note(now, self.number_of(end), Occurrence::Sent, &packet);
        match self.hops[packet.hop() as usize] {
            Hop::Link(link) => self.arrive::<false>(now, link, packet, schedule),
            Hop::Pass(link) if ANSWERS => self.pass(now, link, packet, schedule),
            hop => self.arrive_known(now, hop, &packet.in_memory(), schedule),
        }
    }

    /// A packet arrives at a link, from another or from its sender.
    // Inlined: a call would be 35 of 1400 instructions per packet.
    #[inline(always)]
    fn arrive<const FROM_LINK: bool>(
        &mut self,
        now: Time,
        id: u32,
        mut packet: Packet,
        schedule: &mut Schedule,
    ) {
        packet.next_hop();
        let link = &mut self.links[id as usize];
        let next = if FROM_LINK { link.arrive_from_link(now, packet) } else { link.arrive(now, packet) };
        schedule.set(id, next);
        if link.has_dropped() {
            self.note_all_dropped(now, id);
        }
    }

    /// Notes the packets that a link has dropped since the last call. Only events call it, never observers, so that
    /// observation changes no digest.
    #[inline]
    fn note_dropped(&mut self, now: Time, id: u32) {
        if self.links[id as usize].has_dropped() {
            self.note_all_dropped(now, id);
        }
    }

    #[cold]
    fn note_all_dropped(&mut self, now: Time, id: u32) {
        while let Some((lost, is_counted)) = self.links[id as usize].take_dropped() {
            self.payloads.remove(lost.handle());
            let slot = self.flow_slots.of(lost.flow()) as usize;
            let end = usize::from(!lost.sent_by().is_sender());
            self.under_way[slot][end] -= 1;
            self.dropped[slot][counted_as(&lost)] += u64::from(!is_counted);
            self.all_dropped += 1;
            self.note(now, id, Occurrence::Lost, &lost);
        }
    }

    /// Counts the packets that links have dropped before `now`, by flow. Links report their drops only at their next
    /// events, which enter them into the digest, but flows are marked between events.
    pub fn count_drops(&mut self, now: Time) {
        for link in &mut self.links {
            for lost in link.uncounted(now) {
                let slot = self.flow_slots.of(lost.flow()) as usize;
                self.dropped[slot][counted_as(lost)] += 1;
            }
        }
    }

    /// Packets of the sender of the flow in each slot that are under way, without those that
    /// [`Network::count_drops`] has just counted.
    #[must_use]
    pub fn data_under_way(&self) -> Vec<u32> {
        let mut under_way = collected(self.under_way.iter().map(|[data, _]| *data));
        for lost in self.links.iter().flat_map(Link::counted) {
            under_way[self.flow_slots.of(lost.flow()) as usize] -= u32::from(lost.sent_by().is_sender());
        }
        under_way
    }

    /// Changes a link.
    pub fn change(&mut self, now: Time, id: u32, change: LinkChange, schedule: &mut Schedule) {
        self.changes += 1;
        if !matches!(change, LinkChange::Loss(_)) {
            self.give_up_plan(now, id, schedule);
        }
        let link = &mut self.links[id as usize];
        link.change(now, change);
        schedule.set(id, link.next_event());
        self.note_dropped(now, id);
    }

    /// Copies the packet that reaches the far end of `link` into `packet`, and forwards it to the next link. After the
    /// last link of its route, returns the end that receives it.
    #[inline(always)]
    pub fn leave(
        &mut self,
        now: Time,
        link: u32,
        packet: &mut Packet,
        schedule: &mut Schedule,
    ) -> Option<EndId> {
        let Some((heading, next)) = self.links[link as usize].deliver_known(now, packet) else {
            return self.leave_unplanned(now, link, packet, schedule);
        };
        schedule.set(link, next);
        if self.hops[heading.hop() as usize] == Hop::Deliver {
            return Some(heading.end());
        }
        self.arrive_next(now, packet, schedule);
        None
    }

    #[inline(never)]
    fn leave_unplanned(
        &mut self,
        now: Time,
        link: u32,
        packet: &mut Packet,
        schedule: &mut Schedule,
    ) -> Option<EndId> {
        let (delivered, next) = self.links[link as usize].deliver_into(now, packet);
        schedule.set(link, next);
        self.note_dropped(now, link);
        if !delivered {
            return None;
        }
        if self.hops[packet.hop() as usize] == Hop::Deliver {
            return Some(packet.sent_to());
        }
        self.arrive_next(now, packet, schedule);
        None
    }

    /// For each number in `others`, the packet that the link delivers after that many other packets; `None` if it is
    /// not known yet, or if its route continues through another link.
    #[inline]
    #[must_use]
    pub fn expected<const N: usize>(&self, link: u32, others: [u64; N]) -> [Option<&Packet>; N] {
        let is_last = |packet: &&Packet| self.hops[packet.hop() as usize] == Hop::Deliver;
        self.links[link as usize].ahead(others).map(|packet| packet.filter(is_last))
    }

    #[inline(never)]
    fn arrive_next(&mut self, now: Time, packet: &Packet, schedule: &mut Schedule) {
        match self.hops[packet.hop() as usize] {
            Hop::Link(link) => self.arrive::<true>(now, link, *packet, schedule),
            hop => self.arrive_known(now, hop, packet, schedule),
        }
    }

    #[inline(never)]
    fn arrive_known(&mut self, now: Time, hop: Hop, packet: &Packet, schedule: &mut Schedule) {
        match hop {
            Hop::Pass(link) => self.pass(now, link, *packet, schedule),
            Hop::Delay(link) => self.delay(now, link, packet, schedule),
            Hop::Link(_) | Hop::Deliver => unreachable!("packets do not go this way"),
        }
    }

    /// Checks that every packet is accounted for. For each end, the packets inside links are those that have neither
    /// arrived nor been dropped. For each link, the packets that arrived were delivered, were dropped or are still
    /// inside. The drops of all links add up to the drops counted here. It also checks that no link has sent more than
    /// its rate allows by `now`.
    ///
    /// # Panics
    /// When that does not hold.
    pub fn check_conservation(&mut self, now: Time) {
        // This instant includes all events at `now`, opportunities of a trace included.
        let after = now + Span(1);
        for id in 0..self.links.len() as u32 {
            // The last transmissions may have dropped something.
            let _ = self.links[id as usize].counters(after);
            self.note_dropped(now, id);
        }
        let mut under_way = vec![[0_u32; 2]; self.under_way.len()];
        let mut all_dropped = 0;
        for (id, link) in self.links.iter_mut().enumerate() {
            let mut inside = 0;
            link.visit(&mut |packet| {
                inside += 1;
                let end = packet.sent_by();
                under_way[self.flow_slots.of(end.flow()) as usize][usize::from(!end.is_sender())] += 1;
            });
            let counters = link.counters(after);
            assert_eq!(
                counters.arrived,
                counters.delivered + counters.random_losses + counters.queue_drops + inside,
                "packets of link {id} are unaccounted for"
            );
            all_dropped += counters.random_losses + counters.queue_drops;
            if link.is_limited() {
                // Times are whole picoseconds, in which no rate sends more than a bit; each change of a rate begins anew.
                let most = counters.capacity + 1 + u128::from(self.changes);
                assert!(u128::from(counters.bits) <= most, "link {id} has sent more than its rate allows");
            }
        }
        assert_eq!(self.all_dropped, all_dropped, "dropped packets are unaccounted for");
        for (slot, (counted, inside)) in self.under_way.iter().zip(&under_way).enumerate() {
            assert_eq!(counted, inside, "packets of the flow in slot {slot} are unaccounted for");
        }
    }
}
