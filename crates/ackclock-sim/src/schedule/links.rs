//! The links of a long path in the event queue: a small tournament of their own. Their order repeats, so that what a branch
//! decides is foreseen; that of many flows does not, and theirs is written without.

use ackclock_units::Time;

/// Times of the next events of links.
#[derive(Clone, Debug)]
pub struct Tournament {
    /// The number of the first link.
    first: u32,
    times: Vec<Time>,
    /// Lower bounds of them: node `n` has the children `2n` and `2n + 1`, which stand side by side in pair `n`; leaves are the
    /// children of the last half.
    pairs: Vec<[Node; 2]>,
    /// Node 1. It is not a bound but the time itself.
    root: Node,
}

/// The time of a link. Links below a left child have lower numbers than those below its sibling, so that of equal times
/// the left is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Node {
    time: Time,
    link: u32,
}

/// No link.
const FREE: Node = Node { time: Time::NEVER, link: u32::MAX };

impl Tournament {
    /// The links from number `first` up to, not including, `end`, none of which has an event.
    pub fn new(first: u32, end: u32) -> Self {
        let count = end.saturating_sub(first) as usize;
        let leaves = count.next_power_of_two().max(2);
        let mut pairs = vec![[FREE; 2]; leaves];
        for (link, leaf) in (first..end).zip(pairs[leaves / 2..].as_flattened_mut()) {
            *leaf = Node { time: Time::NEVER, link };
        }
        for index in (1..leaves / 2).rev() {
            pairs[index] = [pairs[2 * index][0], pairs[2 * index + 1][0]];
        }
        let root = pairs[1][0];
        Tournament { first, times: vec![Time::NEVER; count], pairs, root }
    }

    /// The time that is next, and in the bits 32 to 63 its link.
    #[inline]
    pub const fn next(&self) -> u128 {
        (self.root.time.0 as u128) << 64 | (self.root.link as u128) << 32
    }

    /// Sets the time of the next event of a link.
    pub fn set(&mut self, link: u32, time: Time) {
        let known = &mut self.times[(link - self.first) as usize];
        if *known == time {
            return;
        }
        *known = time;
        if self.root.link == link && time > self.root.time {
            self.settle();
        } else {
            self.lower(Node { time, link });
        }
    }

    /// Makes bounds at the root true until one was true.
    fn settle(&mut self) {
        loop {
            let link = self.root.link;
            let time = self.times[(link - self.first) as usize];
            if time <= self.root.time {
                return;
            }
            self.raise(Node { time, link });
        }
    }

    /// Puts the true time of the link at the root into the tournament, up to the root: its bound was there everywhere.
    #[inline]
    fn raise(&mut self, mut winner: Node) {
        let pairs = &mut self.pairs[..];
        let mut index = pairs.len() + (winner.link - self.first) as usize;
        while index > 1 {
            let side = index & 1;
            index >>= 1;
            let pair = &mut pairs[index];
            pair[side] = winner;
            winner = if pair[1].time < pair[0].time { pair[1] } else { pair[0] };
        }
        self.root = winner;
    }

    /// Puts a time into the tournament, up to where others are earlier, if what it has does not bound it.
    #[inline]
    fn lower(&mut self, set: Node) {
        let mut index = self.pairs.len() + (set.link - self.first) as usize;
        while index > 1 {
            let known = &mut self.pairs[index >> 1][index & 1];
            if *known <= set {
                return;
            }
            *known = set;
            index >>= 1;
        }
        self.root = self.root.min(set);
    }
}
