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
    pairs: Vec<[u128; 2]>,
    /// Node 1. It is not a bound but the time itself.
    root: u128,
}

/// A time, and in the next 32 bits a link.
const fn node(time: Time, link: u32) -> u128 {
    (time.0 as u128) << 64 | (link as u128) << 32
}

/// The link of a node.
const fn link_of(node: u128) -> u32 {
    (node >> 32) as u32
}

impl Tournament {
    /// The links from number `first` up to, not including, `end`, none of which has an event.
    pub fn new(first: u32, end: u32) -> Self {
        let count = end.saturating_sub(first) as usize;
        let leaves = count.next_power_of_two().max(2);
        let mut pairs = vec![[node(Time::NEVER, u32::MAX); 2]; leaves];
        for (link, leaf) in (first..end).zip(pairs[leaves / 2..].as_flattened_mut()) {
            *leaf = node(Time::NEVER, link);
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
        self.root
    }

    /// Sets the time of the next event of a link.
    pub fn set(&mut self, link: u32, time: Time) {
        let known = &mut self.times[(link - self.first) as usize];
        if *known == time {
            return;
        }
        *known = time;
        let set = node(time, link);
        if set > self.root && link_of(self.root) == link {
            self.settle();
        } else {
            self.lower(set);
        }
    }

    /// Makes bounds at the root true until one was true.
    fn settle(&mut self) {
        loop {
            let link = link_of(self.root);
            let known = node(self.times[(link - self.first) as usize], link);
            if known <= self.root {
                return;
            }
            self.raise(known);
        }
    }

    /// Puts the true time of the link at the root into the tournament, up to the root: its bound was there everywhere.
    #[inline]
    fn raise(&mut self, mut winner: u128) {
        let pairs = &mut self.pairs[..];
        let mut index = pairs.len() + (link_of(winner) - self.first) as usize;
        while index > 1 {
            let side = index & 1;
            index >>= 1;
            let pair = &mut pairs[index];
            pair[side] = winner;
            winner = pair[0].min(pair[1]);
        }
        self.root = winner;
    }

    /// Puts a time into the tournament, up to where others are earlier, if what it has does not bound it.
    #[inline]
    fn lower(&mut self, set: u128) {
        let mut index = self.pairs.len() + (link_of(set) - self.first) as usize;
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
