//! Retransmitted packets that are not acknowledged: in the order of their retransmissions, and by their number. Every
//! operation looks at a fixed number of them on average; memory is allocated only to double it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::memory::{Grow as _, slots};

/// The fate of a packet's last retransmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// There was none.
    #[default]
    Never,
    /// It is under way; its ordinal number among retransmissions.
    UnderWay(u64),
    /// It is considered lost.
    Lost,
}

/// One retransmission.
#[derive(Clone, Copy, Debug)]
pub struct Retransmission {
    /// The packet.
    pub sequence: u64,
    /// Its ordinal number.
    pub ordinal: u64,
    /// The first new packet that is sent after it.
    pub next: u64,
}

/// Retransmissions between the oldest unacknowledged packet and the next new one.
#[derive(Clone, Debug, Default)]
pub struct Retransmissions {
    /// A ring indexed by packet number; a slot may belong to another packet.
    fates: Vec<(u64, Fate)>,
    /// Retransmissions, the oldest first; some of them have been delivered since.
    order: VecDeque<Retransmission>,
    /// Packets to be sent once more, with some that were delivered since.
    lost: BinaryHeap<Reverse<u64>>,
    /// Ordinal number of the next one.
    ordinal: u64,
}

impl Retransmissions {
    /// The fate of the last retransmission of `sequence`.
    #[must_use]
    pub fn fate(&self, sequence: u64) -> Fate {
        let mask = self.fates.len().wrapping_sub(1);
        match self.fates.get(sequence as usize & mask) {
            Some((of, fate)) if *of == sequence => *fate,
            _ => Fate::Never,
        }
    }

    fn set(&mut self, sequence: u64, fate: Fate) {
        let mask = self.fates.len() - 1;
        self.fates[sequence as usize & mask] = (sequence, fate);
    }

    /// `sequence` is sent again, before the new packet `next`; `oldest` is the oldest unacknowledged packet.
    pub fn send(&mut self, sequence: u64, next: u64, oldest: u64) {
        while sequence - oldest >= self.fates.len() as u64 {
            self.grow(oldest);
        }
        self.set(sequence, Fate::UnderWay(self.ordinal));
        self.order.add(Retransmission { sequence, ordinal: self.ordinal, next });
        self.ordinal += 1;
    }

    /// `sequence` has arrived. Returns its previous fate.
    pub fn deliver(&mut self, sequence: u64) -> Fate {
        let fate = self.fate(sequence);
        if fate != Fate::Never {
            self.set(sequence, Fate::Never);
        }
        fate
    }

    /// The oldest retransmission under way.
    pub fn first(&mut self) -> Option<Retransmission> {
        while let Some(&first) = self.order.front() {
            if self.fate(first.sequence) == Fate::UnderWay(first.ordinal) {
                return Some(first);
            }
            self.order.pop_front();
        }
        None
    }

    /// The oldest retransmission under way is lost, too.
    pub fn lose_first(&mut self) {
        if let Some(first) = self.first() {
            self.order.pop_front();
            self.set(first.sequence, Fate::Lost);
            self.lost.add(Reverse(first.sequence));
        }
    }

    /// The lowest packet whose retransmission is lost.
    pub fn lowest_lost(&mut self) -> Option<u64> {
        while let Some(&Reverse(sequence)) = self.lost.peek() {
            if self.fate(sequence) == Fate::Lost {
                return Some(sequence);
            }
            self.lost.pop();
        }
        None
    }

    /// Whether it holds no retransmission.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty() && self.lost.is_empty()
    }

    /// Removes all.
    pub fn clear(&mut self) {
        while let Some(Retransmission { sequence, .. }) = self.order.pop_front() {
            self.deliver(sequence);
        }
        while let Some(Reverse(sequence)) = self.lost.pop() {
            self.deliver(sequence);
        }
        self.ordinal = 0;
    }

    #[cold]
    fn grow(&mut self, oldest: u64) {
        let capacity = (self.fates.len() * 2).max(64);
        let mut fates = slots::<(u64, Fate)>(capacity);
        for sequence in oldest..oldest + self.fates.len() as u64 {
            fates[sequence as usize & (capacity - 1)] = (sequence, self.fate(sequence));
        }
        self.fates = fates;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a plain list: every packet with its fate, the order kept by ordinal numbers.
        #[test]
        fn agrees_with_a_plain_list(steps in prop::collection::vec((0_u8..6, 0_u64..300), 1..400)) {
            let mut tried = Retransmissions::default();
            let mut model: Vec<(u64, Fate)> = Vec::new();
            let (mut oldest, mut ordinal) = (0, 0);
            let first_under_way = |model: &[(u64, Fate)]| {
                let mut under_way: Vec<_> = model
                    .iter()
                    .filter_map(|(sequence, fate)| match fate {
                        Fate::UnderWay(ordinal) => Some((*ordinal, *sequence)),
                        _ => None,
                    })
                    .collect();
                under_way.sort_unstable();
                under_way.first().copied()
            };
            for (step, pick) in steps {
                let chosen = oldest + pick;
                match step {
                    0..=2 => {
                        tried.send(chosen, 1000, oldest);
                        model.retain(|(sequence, _)| *sequence != chosen);
                        model.push((chosen, Fate::UnderWay(ordinal)));
                        ordinal += 1;
                    }
                    3 => {
                        let before = model.iter().find(|(sequence, _)| *sequence == chosen);
                        prop_assert_eq!(tried.deliver(chosen), before.map_or(Fate::Never, |(_, fate)| *fate));
                        model.retain(|(sequence, _)| *sequence != chosen);
                    }
                    4 => {
                        tried.lose_first();
                        if let Some((_, sequence)) = first_under_way(&model) {
                            model.retain(|(other, _)| *other != sequence);
                            model.push((sequence, Fate::Lost));
                        }
                    }
                    _ if pick < 290 => {
                        (oldest..oldest + pick / 10).for_each(|sequence| { tried.deliver(sequence); });
                        oldest += pick / 10;
                        model.retain(|(sequence, _)| *sequence >= oldest);
                    }
                    _ => {
                        tried.clear();
                        (model, ordinal) = (Vec::new(), 0);
                    }
                }
                prop_assert_eq!(tried.first().map(|first| (first.ordinal, first.sequence)), first_under_way(&model));
                let lost = model.iter().filter(|(_, fate)| *fate == Fate::Lost).map(|(sequence, _)| *sequence).min();
                prop_assert_eq!(tried.lowest_lost(), lost);
            }
        }
    }
}
