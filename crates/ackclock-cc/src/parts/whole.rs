//! Growth by whole packets, as the kernel of Linux counts it.

/// Packets acknowledged since the window last grew.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WholeGrowth {
    count: f64,
}

impl WholeGrowth {
    /// Counts `growth` packets acknowledged where `each` of them are worth one (`tcp_cong_avoid_ai`). Returns the packets by
    /// which the window grows. A count from a time of slower growth is worth at most one packet.
    #[inline]
    pub fn on(&mut self, growth: f64, each: f64) -> f64 {
        let count = self.count + growth;
        if count < each {
            self.count = count;
            return 0.0;
        }
        self.pay(growth, each)
    }

    /// The count plus `growth` is worth at least one packet.
    #[cold]
    fn pay(&mut self, growth: f64, each: f64) -> f64 {
        if growth <= 0.0 {
            return 0.0;
        }
        let kept = if self.count >= each { 1.0 } else { 0.0 };
        let count = if kept > 0.0 { growth } else { self.count + growth };
        let packets = libm::floor(count / each);
        self.count = count - packets * each;
        kept + packets
    }

    /// Clears the count, as after a loss event and a timeout.
    pub fn clear(&mut self) {
        self.count = 0.0;
    }
}

/// `window` in whole packets, whatever rounding errors made of it.
#[must_use]
pub fn whole(window: f64) -> f64 {
    libm::floor(window + ROUNDING)
}

/// More than the rounding errors of a window, packets, and less than any step.
const ROUNDING: f64 = 1.0 / 4096.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// At 5 packets five acknowledgements add one. 9 of a growth of one in ten are worth one when each counts twice as much, and
    /// 17 at once two, of which two are left.
    #[test]
    fn packets_are_added_whole() {
        let mut growth = WholeGrowth::default();
        assert_eq!([(); 5].map(|()| growth.on(1.0, 5.0)), [0.0, 0.0, 0.0, 0.0, 1.0]);
        assert_eq!([growth.on(9.0, 10.0), growth.on(1.0, 5.0), growth.on(13.0, 6.0)], [0.0, 1.0, 2.0]);
        assert_eq!(growth, WholeGrowth { count: 2.0 });
        growth.clear();
        assert_eq!(growth.on(2.0, 3.0), 0.0);
    }
}
