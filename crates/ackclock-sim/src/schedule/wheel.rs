//! The near future of many components: a ring of buckets, each with the components whose events are in its few
//! microseconds. Setting a time and finding the next take a few steps, however many flows there are.

use std::mem::replace;

use ackclock_units::Time;

use super::node::{FREE, node};
use crate::memory::{collected, slots};
use crate::prefetch::prefetch;

/// All buckets cover two to this power picoseconds, 17 ms: most paced senders wait less for their next packet.
const TURN: u32 = 34;
/// The smallest and largest numbers of buckets, as powers of two. The smallest fills a group of words of bits. Between
/// them, there are as many buckets as entries when the first entry is inserted.
const FEWEST: u32 = 12;
const MOST: u32 = 20;

/// The most entries of a bucket, through which the search for the earliest goes. Ten thousand flows may begin at once.
const ROOM: u32 = 16;

/// The entry is in no bucket.
const OUT: u32 = u32::MAX;
/// The entry is the last of its bucket.
const END: u32 = u32::MAX - 1;

/// The time of a component, and where it stands in a bucket. Aligned, so that all of it is in one line of a cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub struct Entry {
    pub time: Time,
    /// The time of its leaf in the tournament, here so that most changes need not look there.
    pub bound: Time,
    component: u32,
    /// The index of the next in its bucket, [`END`] or [`OUT`].
    after: u32,
}

impl Entry {
    /// No event.
    pub const NONE: Entry = Entry { time: Time::NEVER, bound: Time::NEVER, component: u32::MAX, after: OUT };

    /// Whether it is in a bucket.
    #[inline]
    pub const fn is_in_bucket(&self) -> bool {
        self.after != OUT
    }
}

/// The index of the first entry of a bucket, or [`END`], and the number of its entries.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    first: u32,
    length: u32,
}

/// Buckets of entries, which stand in a table of all.
#[derive(Clone, Debug)]
pub struct Wheel {
    /// Empty until the first entry comes.
    buckets: Vec<Bucket>,
    /// A bit for each bucket that is not empty.
    words: Vec<u64>,
    /// A bit for each word that is not zero.
    groups: Vec<u64>,
    /// A bucket covers two to this power picoseconds.
    width: u32,
    /// The earliest entry, or [`FREE`].
    next: u128,
    /// The index of an entry behind the earliest, if one is known.
    later: u32,
}

impl Wheel {
    pub const EMPTY: Wheel = Wheel {
        buckets: Vec::new(),
        words: Vec::new(),
        groups: Vec::new(),
        width: TURN - FEWEST,
        next: FREE,
        later: 0,
    };

    /// The earliest entry, or [`FREE`].
    #[inline]
    pub const fn next(&self) -> u128 {
        self.next
    }

    /// The index of an entry behind the earliest, if one is known; otherwise any index.
    #[inline]
    pub const fn later(&self) -> u32 {
        self.later
    }

    /// Puts an entry, which is in no bucket, into that of its time. Returns false when that is full, or too far from `now`,
    /// the time of the last event.
    pub fn insert(&mut self, entries: &mut [Entry], set: u128, now: Time) -> bool {
        let time = Time((set >> 64) as u64);
        if time.0 - now.0 >= (1 << TURN) - (1 << (TURN - FEWEST)) {
            return false;
        }
        if self.buckets.is_empty() {
            self.make(entries.len());
        }
        let number = self.number_of(time);
        let bucket = &mut self.buckets[number];
        if bucket.length == ROOM {
            return false;
        }
        bucket.length += 1;
        let index = set as u32;
        let entry = &mut entries[index as usize];
        entry.component = (set >> 32) as u32;
        entry.after = replace(&mut bucket.first, index);
        self.words[number / 64] |= 1 << (number % 64);
        self.groups[number / 4096] |= 1 << (number / 64 % 64);
        self.next = self.next.min(set);
        true
    }

    #[cold]
    fn make(&mut self, entries: usize) {
        let power = entries.next_power_of_two().ilog2().clamp(FEWEST, MOST);
        self.width = TURN - power;
        self.buckets = collected((0..1 << power).map(|_: u32| Bucket { first: END, length: 0 }));
        self.words = slots(self.buckets.len() / 64);
        self.groups = slots(self.words.len() / 64);
    }

    /// The number of the bucket of a time.
    #[inline]
    fn number_of(&self, time: Time) -> usize {
        (time.0 >> self.width) as usize & (self.buckets.len() - 1)
    }

    /// Takes the entry at `index` out of its bucket.
    pub fn remove(&mut self, entries: &mut [Entry], index: u32) {
        let number = self.number_of(entries[index as usize].time);
        let after = replace(&mut entries[index as usize].after, OUT);
        let bucket = &mut self.buckets[number];
        bucket.length -= 1;
        if bucket.first == index {
            bucket.first = after;
            if after == END {
                self.words[number / 64] &= !(1 << (number % 64));
                if self.words[number / 64] == 0 {
                    self.groups[number / 4096] &= !(1 << (number / 64 % 64));
                }
            }
        } else {
            let mut before = bucket.first;
            while entries[before as usize].after != index {
                before = entries[before as usize].after;
            }
            entries[before as usize].after = after;
        }
        if self.next as u32 == index {
            self.next = self.earliest_from(number, entries);
        }
    }

    /// The earliest entry, when none is before this bucket: all are less than a turn of the ring from there.
    fn earliest_from(&mut self, number: usize, entries: &[Entry]) -> u128 {
        let Some(number) = self.filled_from(number) else { return FREE };
        let mut earliest = FREE;
        let mut index = self.buckets[number].first;
        while index != END {
            let Entry { time, component, after, .. } = entries[index as usize];
            earliest = earliest.min(node(time, component, index));
            index = after;
        }
        self.expect_after(number, entries);
        earliest
    }

    /// Asks for the memory of an entry in the bucket after this one: it is soon read, when the earliest has been taken out.
    #[inline]
    fn expect_after(&mut self, number: usize, entries: &[Entry]) {
        let rest = self.words[number / 64] & (!1 << (number % 64));
        if rest != 0 {
            self.later = self.buckets[number / 64 * 64 + rest.trailing_zeros() as usize].first;
            prefetch(&entries[self.later as usize]);
        }
    }

    /// The first bucket, from this one on around the ring, that is not empty.
    fn filled_from(&self, number: usize) -> Option<usize> {
        let word = number / 64;
        let rest = self.words[word] & (!0 << (number % 64));
        if rest != 0 {
            return Some(word * 64 + rest.trailing_zeros() as usize);
        }
        let word = (word + 1) % self.words.len();
        let mut group = word / 64;
        let mut rest = self.groups[group] & (!0 << (word % 64));
        // Once around, and the first again, of which only the end has been looked at.
        for _ in 0..self.groups.len() {
            if rest != 0 {
                break;
            }
            group = (group + 1) % self.groups.len();
            rest = self.groups[group];
        }
        let word = group * 64 + rest.trailing_zeros() as usize;
        (rest != 0).then(|| word * 64 + self.words[word].trailing_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A search goes through one bucket at most, so that it is short even where all flows begin at once.
    #[test]
    fn a_bucket_has_room_for_few() {
        let mut wheel = Wheel::EMPTY;
        let mut entries = [Entry { time: Time(5), ..Entry::NONE }; ROOM as usize + 1];
        let set = |index| node(Time(5), index, index);
        for index in 0..ROOM {
            assert!(wheel.insert(&mut entries, set(index), Time(5)));
        }
        assert!(!wheel.insert(&mut entries, set(ROOM), Time(5)));
        assert_eq!(wheel.next(), set(0));
        wheel.remove(&mut entries, 0);
        assert_eq!(wheel.next(), set(1));
        assert!(wheel.insert(&mut entries, set(ROOM), Time(5)));
        // 2^34 ps are a turn, and a bucket is 2^22 of them: a bucket less than a turn is too far.
        wheel.remove(&mut entries, 1);
        assert!(!wheel.insert(&mut entries, node(Time(5 + (1 << 34) - (1 << 22)), 1, 1), Time(5)));
        assert!(wheel.insert(&mut entries, node(Time(4 + (1 << 34) - (1 << 22)), 1, 1), Time(5)));
    }
}
