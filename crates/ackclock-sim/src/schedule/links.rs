//! The links of long paths, and the wires to and from many flows, in the event queue: a ring of buckets, each with the links
//! whose next events are in its few microseconds. Setting a time and finding the next take a few steps, however many there are.

use ackclock_units::{Span, Time};

/// Buckets, whose bits have one word of bits above them.
const BUCKETS: usize = 4096;
/// The narrowest and the widest buckets, two to these powers picoseconds.
const NARROWEST: u32 = 14;
const WIDEST: u32 = 30;

/// The last of its bucket.
const END: u32 = u32::MAX;

/// The time of a link, and the next in its bucket.
#[derive(Clone, Copy, Debug)]
struct Entry {
    time: Time,
    after: u32,
}

/// Buckets of links, and bits that tell which are not empty.
#[derive(Clone, Debug)]
struct Buckets {
    /// The first entry of each bucket, or [`END`]. A bucket also holds events that are one or more turns of the ring
    /// later.
    first: [u32; BUCKETS],
    /// A bit for each bucket that is not empty.
    words: [u64; BUCKETS / 64],
    /// A bit for each word that is not zero.
    group: u64,
}

/// Times of the next events of links.
#[derive(Clone, Debug)]
pub struct Calendar {
    /// The number of the first link.
    first: u32,
    entries: Vec<Entry>,
    buckets: Box<Buckets>,
    /// A bucket covers two to this power picoseconds.
    width: u32,
    /// The earliest entry, and its time.
    next: u32,
    time: Time,
}

impl Calendar {
    /// The links from number `first` up to, not including, `end`, none of which has an event; events are about `spacing` apart.
    pub fn new(first: u32, end: u32, spacing: Span) -> Self {
        Calendar {
            first,
            entries: vec![Entry { time: Time::NEVER, after: END }; end.saturating_sub(first) as usize],
            buckets: Box::new(Buckets { first: [END; BUCKETS], words: [0; BUCKETS / 64], group: 0 }),
            width: spacing.0.max(1).ilog2().clamp(NARROWEST, WIDEST),
            next: END,
            time: Time::NEVER,
        }
    }

    /// The time that is next, and in the bits 32 to 63 its link.
    #[inline]
    pub const fn next(&self) -> u128 {
        (self.time.0 as u128) << 64 | (self.first.wrapping_add(self.next) as u128) << 32
    }

    /// Sets the time of the next event of a link.
    #[inline(never)]
    pub fn set(&mut self, link: u32, time: Time) {
        let index = link - self.first;
        let entry = &mut self.entries[index as usize];
        let (known, after) = (entry.time, entry.after);
        if known == time {
            return;
        }
        entry.time = time;
        if known < Time::NEVER {
            self.remove(index, known, after);
        }
        if time < Time::NEVER {
            self.insert(index, time);
        }
        if is_before((time, index), (self.time, self.next)) {
            (self.time, self.next) = (time, index);
        } else if index == self.next {
            self.find_next();
        }
    }

    /// The number of the bucket of a time.
    #[inline]
    const fn bucket_of(&self, time: Time) -> usize {
        (time.0 >> self.width) as usize % BUCKETS
    }

    #[inline]
    fn insert(&mut self, index: u32, time: Time) {
        let bucket = self.bucket_of(time);
        let Buckets { first, words, group } = &mut *self.buckets;
        self.entries[index as usize].after = std::mem::replace(&mut first[bucket], index);
        words[bucket / 64] |= 1 << (bucket % 64);
        *group |= 1 << (bucket / 64);
    }

    #[inline]
    fn remove(&mut self, index: u32, time: Time, after: u32) {
        let bucket = self.bucket_of(time);
        let Buckets { first, words, group } = &mut *self.buckets;
        if first[bucket] == index {
            first[bucket] = after;
            if after == END {
                words[bucket / 64] &= !(1 << (bucket % 64));
                if words[bucket / 64] == 0 {
                    *group &= !(1 << (bucket / 64));
                }
            }
        } else {
            let mut before = first[bucket];
            while self.entries[before as usize].after != index {
                before = self.entries[before as usize].after;
            }
            self.entries[before as usize].after = after;
        }
    }

    /// Finds the earliest event, which is not before the previous one.
    #[inline]
    fn find_next(&mut self) {
        let width = self.width;
        let mut number = self.time.0 >> width;
        let last = number + BUCKETS as u64;
        let mut earliest = (Time::NEVER, END);
        while let Some(steps) = self.buckets.steps_to_filled(number as usize % BUCKETS) {
            number += steps;
            if number >= last {
                return self.look_at_all();
            }
            let mut index = self.buckets.first[number as usize % BUCKETS];
            while let Some(Entry { time, after }) = self.entries.get(index as usize) {
                // Other entries are one or more turns of the ring later.
                if time.0 >> width == number && is_before((*time, index), earliest) {
                    earliest = (*time, index);
                }
                index = *after;
            }
            if earliest.1 != END {
                break;
            }
            number += 1;
        }
        (self.time, self.next) = earliest;
    }

    /// Finds the earliest event when it is more than a turn of the ring away.
    #[cold]
    #[inline(never)]
    fn look_at_all(&mut self) {
        (self.time, self.next) = (Time::NEVER, END);
        for (index, entry) in (0..).zip(&self.entries) {
            if entry.time < self.time {
                (self.time, self.next) = (entry.time, index);
            }
        }
    }
}

/// Whether a time and its entry come before another pair: at equal times, the lower entry comes first.
#[inline]
fn is_before(this: (Time, u32), other: (Time, u32)) -> bool {
    this.0 < other.0 || this.0 == other.0 && this.1 < other.1
}

impl Buckets {
    /// The distance from a bucket to the first, from this one on around the ring, that is not empty.
    #[inline]
    fn steps_to_filled(&self, bucket: usize) -> Option<u64> {
        let rest = self.words[bucket / 64] >> (bucket % 64);
        if rest != 0 {
            return Some(u64::from(rest.trailing_zeros()));
        }
        // The words after this one around the ring, and this one last, of which only the beginning has not been looked at.
        let turn = (bucket as u32 / 64 + 1) % 64;
        let later = self.group.rotate_right(turn);
        let word = (turn + later.trailing_zeros()) % 64;
        let bucket_there = u64::from(word * 64 + self.words[word as usize].trailing_zeros());
        (later != 0).then(|| bucket_there.wrapping_sub(bucket as u64) % BUCKETS as u64)
    }
}
