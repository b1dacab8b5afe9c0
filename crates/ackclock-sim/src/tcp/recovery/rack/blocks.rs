//! The blocks of selective acknowledgements.

use ackclock_units::Time;

use super::Rack;
use crate::payload::SackBlocks;
use crate::tcp::recovery::Flight;

impl Rack {
    /// Takes in blocks. Returns how many packets they newly report. Most blocks repeat those of the previous
    /// acknowledgement.
    pub(super) fn report_all(&mut self, now: Time, blocks: SackBlocks, flight: Flight) -> u64 {
        let mut newly = 0;
        for block in &blocks {
            if block.1 > flight.oldest && *block != self.blocks[0] && *block != self.blocks[1] {
                newly += self.report(now, *block, flight);
            }
        }
        self.blocks = blocks;
        newly
    }

    /// Takes in a block. Returns how many packets it newly reports.
    fn report(&mut self, now: Time, block: (u64, u64), flight: Flight) -> u64 {
        let end = block.1.min(flight.next);
        let mut newly = 0;
        let mut from = block.0.max(flight.oldest);
        while let Some(sequence) = self.reported.insert_missing(&mut from, end) {
            if let Some(last) = self.sent.report(sequence) {
                self.deliver(now, sequence, last);
            }
            newly += 1;
        }
        newly
    }
}

/// Whether the first block lies within the cumulative acknowledgement or the second block. Such a block reports a
/// packet that arrived twice (RFC 2883, section 4).
pub fn reports_duplicate(blocks: Option<SackBlocks>, cumulative: u64) -> bool {
    blocks.is_some_and(|[first, second, _]| {
        first.1 > 0 && (first.1 <= cumulative || first.0 >= second.0 && first.1 <= second.1)
    })
}
