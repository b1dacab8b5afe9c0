//! The numbers that the summary of a flow states, and what is kept of a flow that has ended before the run.

use ackclock_trace::Counters;
use ackclock_units::{Span, Time};

use crate::endpoint::Ends;
use crate::observe::FlowMark;

/// The numbers that the summary of a flow states, without those of requests and one-way delays.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Numbers {
    /// Packets delivered in order, and packets that arrived, in the measured time.
    pub delivered: u64,
    pub arrived: u64,
    /// Mean of the window in that time and its largest value in the whole run, packets.
    pub mean_window: Option<f64>,
    pub max_window: Option<f64>,
    /// Mean, median, 95th and 99th percentile of the RTT samples, milliseconds.
    pub rtt: [Option<f64>; 4],
    /// Counters over the measured time and over the whole run.
    pub counters: Counters,
    pub whole_run: Counters,
    /// When the last packet of a finite transfer was delivered.
    pub completed: Option<Time>,
}

impl Numbers {
    /// Those of a flow that was measured over `span`, from the first mark to the second, and counted `whole_run` in all.
    pub fn of(ends: &Ends, (span, from, to): &(Span, FlowMark, FlowMark), whole_run: Counters) -> Self {
        let meter = ends.sender.view().meter;
        let seconds = (*span > Span::ZERO).then(|| span.as_seconds());
        let [p50, p95, p99] = meter.rtt_percentiles_ms([0.50, 0.95, 0.99]);
        Numbers {
            delivered: to.delivered - from.delivered,
            arrived: to.arrived - from.arrived,
            mean_window: seconds
                .map(|seconds| (to.window_integral - from.window_integral) / seconds)
                .filter(|window| !window.is_nan()),
            max_window: meter.largest_window().map(f64::floor),
            rtt: [meter.mean_rtt_ms(), p50, p95, p99],
            counters: to.counters.since(&from.counters),
            whole_run,
            completed: ends.receiver.view().completed,
        }
    }
}

/// [`Numbers`] in a third of their room: a run may have a million of them.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    completed: Time,
    /// NaN where there is none.
    mean_window: f64,
    rtt: [f64; 4],
    max_window: f32,
    delivered: u16,
    arrived: u16,
    counters: [u16; 5],
    whole_run: [u16; 5],
}

impl Record {
    /// The record of a flow that is complete; none of one with more packets than it can count.
    pub fn of(numbers: &Numbers) -> Option<Self> {
        let count = |number: u64| u16::try_from(number).ok();
        let counts = |counters: &Counters| {
            Some([
                count(counters.sent_packets)?,
                count(counters.retransmitted_packets)?,
                count(counters.dropped_packets)?,
                count(counters.loss_events?)?,
                count(counters.timeouts)?,
            ])
        };
        let record = Record {
            completed: numbers.completed?,
            mean_window: numbers.mean_window.unwrap_or(f64::NAN),
            rtt: numbers.rtt.map(|time| time.unwrap_or(f64::NAN)),
            max_window: numbers.max_window.map_or(f32::NAN, |window| window as f32),
            delivered: count(numbers.delivered)?,
            arrived: count(numbers.arrived)?,
            counters: counts(&numbers.counters)?,
            whole_run: counts(&numbers.whole_run)?,
        };
        (record.numbers() == *numbers).then_some(record)
    }

    /// What it is the record of.
    pub fn numbers(&self) -> Numbers {
        let some = |number: f64| Some(number).filter(|number| !number.is_nan());
        let counters = |counts: [u16; 5]| {
            let [sent_packets, retransmitted_packets, dropped_packets, loss_events, timeouts] =
                counts.map(u64::from);
            Counters {
                sent_packets,
                retransmitted_packets,
                dropped_packets,
                loss_events: Some(loss_events),
                timeouts,
            }
        };
        Numbers {
            delivered: self.delivered.into(),
            arrived: self.arrived.into(),
            mean_window: some(self.mean_window),
            max_window: some(self.max_window.into()),
            rtt: self.rtt.map(some),
            counters: counters(self.counters),
            whole_run: counters(self.whole_run),
            completed: Some(self.completed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record is its numbers, or there is none: of what 16 bits do not count, of a window that 24 do not hold, and of a
    /// transfer that is not complete.
    #[test]
    fn a_record_is_exact_or_there_is_none() {
        let counters = Counters { sent_packets: 65_535, loss_events: Some(3), ..Counters::default() };
        let numbers = Numbers {
            delivered: 10,
            arrived: 11,
            max_window: Some(16_777_216.0),
            rtt: [Some(100.1), None, Some(100.3), Some(100.4)],
            counters,
            whole_run: counters,
            completed: Some(Time(7)),
            ..Numbers::default()
        };
        assert_eq!(Record::of(&numbers).map(|record| record.numbers()), Some(numbers));
        assert_eq!(size_of::<Record>(), 80);
        for other in [
            Numbers { delivered: 65_536, ..numbers },
            Numbers { max_window: Some(16_777_217.0), ..numbers },
            Numbers { completed: None, ..numbers },
            Numbers { whole_run: Counters { loss_events: None, ..counters }, ..numbers },
        ] {
            assert!(Record::of(&other).is_none(), "{other:?}");
        }
    }
}
