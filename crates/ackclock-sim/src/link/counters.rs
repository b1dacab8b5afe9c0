//! The counters of a link.

/// Counters of a link since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkCounters {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets that left at the far end.
    pub delivered: u64,
    /// Packets lost at random.
    pub random_losses: u64,
    /// Packets dropped by the queue, the policer or an outage, and acknowledgements that were thinned out.
    pub queue_drops: u64,
    /// Bits transmitted, including the bits already sent of the packet in transmission.
    pub bits: u64,
    /// Packets marked by the queue.
    pub marks: u64,
    /// Bits that could have been transmitted; 0 for a link without a limit.
    pub capacity: u128,
    /// Integral of the queue over time, packets times picoseconds.
    pub queue_integral: u128,
}

impl LinkCounters {
    /// The bits transmitted since `earlier` as a share of the capacity; `None` if the capacity was zero.
    #[must_use]
    pub fn utilisation_since(&self, earlier: &LinkCounters) -> Option<f64> {
        let capacity = (self.capacity - earlier.capacity) as f64;
        // Because of rounding to whole bits and picoseconds, the link may send a bit more than the rate allows.
        (capacity > 0.0).then(|| ((self.bits - earlier.bits) as f64 / capacity).min(1.0))
    }
}
