//! Proportional rate reduction (RFC 6937): in an episode, packets are sent in proportion to packets delivered.

/// An episode's state.
#[derive(Clone, Debug, Default)]
pub struct Reduction {
    /// The window when the episode began; Linux divides by it where RFC 6937 has the packets outstanding.
    at_start: u64,
    delivered: u64,
    sent: u64,
    /// Packets delivered since the last limit, and whether the last one lets slow start grow.
    newly: Option<(u64, bool)>,
    /// Packets in flight at most.
    limit: u64,
}

impl Reduction {
    /// An episode begins under a window of `window` packets.
    pub fn new(window: u64) -> Self {
        Reduction { at_start: window.max(1), ..Reduction::default() }
    }

    /// An acknowledgement delivered `delivered` packets. `grows`: it reports new data and no new loss.
    pub fn on_ack(&mut self, delivered: u64, grows: bool) {
        let (pending, _) = self.newly.unwrap_or_default();
        self.newly = Some((pending + delivered, grows));
    }

    /// A timer found a loss: it lets out as many packets as one delivery.
    pub fn on_timer(&mut self) {
        self.newly.get_or_insert((1, false));
    }

    /// A packet is sent.
    pub fn on_sent(&mut self) {
        self.sent += 1;
    }

    /// The most packets that may be in flight (section 3) under a window of `window` packets, when there are `in_flight`.
    pub fn limit(&mut self, window: u64, in_flight: u64) -> u64 {
        if let Some((newly, grows)) = self.newly.take() {
            self.delivered += newly;
            let count = if in_flight > window {
                (window * self.delivered).div_ceil(self.at_start).saturating_sub(self.sent)
            } else {
                // Slow start while something arrives and nothing more is lost, else packet conservation.
                let conserved = self.delivered.saturating_sub(self.sent).max(newly);
                (conserved + u64::from(grows)).min(window - in_flight)
            };
            // The first retransmission goes at once.
            self.limit = in_flight + count.max(u64::from(self.sent == 0));
        }
        self.limit
    }
}
