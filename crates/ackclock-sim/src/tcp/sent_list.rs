//! Packets that were sent and are not acknowledged cumulatively: a ring of packets, those in flight linked in the order
//! of their last transmission. Every operation looks at a fixed number of packets; memory is allocated
//! only to double the ring.

use ackclock_units::Time;

use crate::memory::slots;

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SentState {
    /// Reported as received, or never sent.
    Reported,
    /// Under way, as far as the sender knows.
    InFlight,
    /// Considered lost and not sent again.
    Lost,
}

/// A packet in 16 bytes, because there is a slot for each packet of a window. A window has at most 2^24 packets.
#[derive(Clone, Copy, Debug, Default)]
struct SentSlot {
    at: Time,
    /// The number of the packet in flight that was sent just before it, minus its own number; 0 for none.
    previous: i32,
    /// The same difference for the packet that was sent just after it, times 8. Bits 0 and 1 hold the state, and bit 2
    /// whether this packet was sent again.
    next: i32,
}

const STATE: i32 = 3;
const AGAIN: i32 = 4;
const NEXT_SHIFT: u32 = 3;

impl SentSlot {
    #[inline]
    const fn new(at: Time, again: bool) -> Self {
        let fate = SentState::InFlight as i32 | if again { AGAIN } else { 0 };
        SentSlot { at, previous: 0, next: fate }
    }

    #[inline]
    const fn state(self) -> SentState {
        match self.next & STATE {
            0 => SentState::Reported,
            1 => SentState::InFlight,
            _ => SentState::Lost,
        }
    }

    #[inline]
    const fn set_state(&mut self, state: SentState) {
        self.next = self.next & !STATE | state as i32;
    }

    #[inline]
    const fn again(self) -> bool {
        self.next & AGAIN != 0
    }

    #[inline]
    const fn next(self) -> i32 {
        self.next >> NEXT_SHIFT
    }

    #[inline]
    const fn set_next(&mut self, next: i32) {
        self.next = self.next & (STATE | AGAIN) | next << NEXT_SHIFT;
    }
}

/// How much higher `to` is than `from`, both numbers of packets of a window.
#[inline]
const fn distance(from: u64, to: u64) -> i32 {
    to.wrapping_sub(from) as i32
}

/// The packet whose number is `distance` higher than `sequence`; [`NONE`] for a distance of 0.
#[inline]
const fn neighbour(sequence: u64, distance: i32) -> u64 {
    if distance == 0 { NONE } else { sequence.wrapping_add_signed(distance as i64) }
}

/// No packet.
const NONE: u64 = u64::MAX;

/// The packets between the oldest unacknowledged one and the next new one.
#[derive(Clone, Debug)]
pub struct SentList {
    slots: Vec<SentSlot>,
    first: u64,
    last: u64,
    in_flight: u64,
    again_in_flight: u64,
}

impl Default for SentList {
    fn default() -> Self {
        SentList {
            slots: vec![SentSlot::default(); 64],
            first: NONE,
            last: NONE,
            in_flight: 0,
            again_in_flight: 0,
        }
    }
}

impl SentList {
    #[inline]
    fn slot(&mut self, sequence: u64) -> &mut SentSlot {
        let mask = self.slots.len() - 1;
        &mut self.slots[sequence as usize & mask]
    }

    /// The fate of `sequence`.
    #[inline]
    #[must_use]
    pub fn state(&self, sequence: u64) -> SentState {
        self.slots[sequence as usize & (self.slots.len() - 1)].state()
    }

    /// When `sequence` was last sent, and whether not for the first time.
    #[inline]
    #[must_use]
    pub fn last(&self, sequence: u64) -> (Time, bool) {
        let slot = self.slots[sequence as usize & (self.slots.len() - 1)];
        (slot.at, slot.again())
    }

    /// The packet in flight whose last transmission is the oldest: the time, and its number.
    #[inline]
    #[must_use]
    pub fn first(&self) -> Option<(Time, u64)> {
        (self.first != NONE).then(|| (self.last(self.first).0, self.first))
    }

    /// Packets in flight.
    #[inline]
    #[must_use]
    pub const fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// The retransmissions among these.
    #[inline]
    #[must_use]
    pub const fn again_in_flight(&self) -> u64 {
        self.again_in_flight
    }

    /// `sequence`, considered lost, is in flight after all, and its last transmission is older than that of all that are.
    pub fn restore(&mut self, sequence: u64) {
        let next = self.first;
        let slot = self.slot(sequence);
        slot.previous = 0;
        slot.set_next(if next == NONE { 0 } else { distance(sequence, next) });
        slot.set_state(SentState::InFlight);
        let again = slot.again();
        if next == NONE {
            self.last = sequence;
        } else {
            self.slot(next).previous = distance(next, sequence);
        }
        self.first = sequence;
        self.in_flight += 1;
        self.again_in_flight += u64::from(again);
    }

    /// `sequence` is sent at `now`, for the first time or `again`; `oldest` is the oldest unacknowledged packet.
    pub fn send(&mut self, now: Time, sequence: u64, again: bool, oldest: u64) {
        while sequence - oldest >= self.slots.len() as u64 {
            self.grow(oldest);
        }
        if again {
            let slot = *self.slot(sequence);
            self.unlink(sequence, slot);
        }
        let previous = self.last;
        let mut slot = SentSlot::new(now, again);
        if previous == NONE {
            self.first = sequence;
        } else {
            slot.previous = distance(sequence, previous);
            self.slot(previous).set_next(distance(previous, sequence));
        }
        *self.slot(sequence) = slot;
        self.last = sequence;
        self.in_flight += 1;
        self.again_in_flight += u64::from(again);
    }

    /// `sequence` is reported as received. Returns its [`SentList::last`], unless it was reported before.
    #[inline]
    pub fn report(&mut self, sequence: u64) -> Option<(Time, bool)> {
        let slot = *self.slot(sequence);
        if slot.state() == SentState::Reported {
            return None;
        }
        self.unlink(sequence, slot);
        self.slot(sequence).set_state(SentState::Reported);
        Some((slot.at, slot.again()))
    }

    /// `sequence` is no longer in flight but in `state`.
    #[inline]
    pub fn set(&mut self, sequence: u64, state: SentState) {
        let slot = *self.slot(sequence);
        self.unlink(sequence, slot);
        self.slot(sequence).set_state(state);
    }

    /// Removes `sequence`, whose slot is `slot`, from the list of packets in flight, if it is in flight.
    #[inline]
    fn unlink(&mut self, sequence: u64, slot: SentSlot) {
        if slot.state() != SentState::InFlight {
            return;
        }
        let (previous, next) = (slot.previous, slot.next());
        let (before, after) = (neighbour(sequence, previous), neighbour(sequence, next));
        if before == NONE {
            self.first = after;
        } else {
            self.slot(before).set_next(if after == NONE { 0 } else { next - previous });
        }
        if after == NONE {
            self.last = before;
        } else {
            self.slot(after).previous = if before == NONE { 0 } else { previous - next };
        }
        self.in_flight -= 1;
        self.again_in_flight -= u64::from(slot.again());
    }

    #[cold]
    fn grow(&mut self, oldest: u64) {
        let capacity = self.slots.len() * 2;
        let mut slots = slots::<SentSlot>(capacity);
        for sequence in oldest..oldest + self.slots.len() as u64 {
            slots[sequence as usize & (capacity - 1)] = *self.slot(sequence);
        }
        self.slots = slots;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a plain list of numbers in order of transmission.
        #[test]
        fn agrees_with_a_plain_list(steps in prop::collection::vec((0_u8..4, 0_u64..200), 1..400)) {
            let mut list = SentList::default();
            let mut model: Vec<u64> = Vec::new();
            let (mut oldest, mut next) = (0, 0);
            for (time, (step, pick)) in (1..).zip(steps) {
                let chosen = oldest + pick % (next - oldest + 1);
                match step {
                    0 | 1 if chosen == next || step == 0 => {
                        list.send(Time(time), next, false, oldest);
                        model.push(next);
                        next += 1;
                    }
                    1 => {
                        list.send(Time(time), chosen, true, oldest);
                        model.retain(|sequence| *sequence != chosen);
                        model.push(chosen);
                    }
                    2 if chosen < next => {
                        list.set(chosen, SentState::Lost);
                        model.retain(|sequence| *sequence != chosen);
                    }
                    _ => {
                        for sequence in oldest..chosen.min(next) {
                            let last = list.last(sequence);
                            prop_assert_eq!(list.report(sequence), Some(last));
                            prop_assert_eq!(list.report(sequence), None, "it was reported");
                        }
                        oldest = chosen.min(next).max(oldest);
                        model.retain(|sequence| *sequence >= oldest);
                    }
                }
                prop_assert_eq!(list.in_flight(), model.len() as u64);
                prop_assert_eq!(list.first().map(|(_, sequence)| sequence), model.first().copied());
            }
        }
    }
}
