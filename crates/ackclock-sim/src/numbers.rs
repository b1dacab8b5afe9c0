//! The numbers in the summary of a flow, and the record of a flow that ended before the run did.

use ackclock_trace::Counters;
use ackclock_units::{Span, Time};

use crate::endpoint::Ends;
use crate::observe::Measured;

/// The numbers in the summary of a flow, except those of requests and one-way delays.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Numbers {
    /// Packets delivered in order, and packets that arrived, in the measured time.
    pub delivered: u64,
    pub arrived: u64,
    /// Shares of the time in which it was held back, as [`Held::shares`] has them.
    pub held: Option<[u16; 4]>,
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
    /// The numbers of a flow, from the marks of its measured time and whole run in `measured`. A completion at the
    /// instant `end`, if given, counts as after it.
    pub fn of(ends: &Ends, measured: &Measured, end: Option<Time>) -> Self {
        let Measured { span, from, whole_run, .. } = measured;
        let to = if *span == Span::ZERO { from } else { measured.to.as_ref().unwrap_or(whole_run) };
        let meter = ends.sender.view().meter;
        let seconds = (*span > Span::ZERO).then(|| span.as_seconds());
        let [p50, p95, p99] = meter.rtt_percentiles_ms([0.50, 0.95, 0.99]);
        Numbers {
            delivered: to.delivered - from.delivered,
            arrived: to.arrived - from.arrived,
            held: to.held.since(&from.held).shares(),
            mean_window: seconds
                .map(|seconds| (to.window_integral - from.window_integral) / seconds)
                .filter(|window| !window.is_nan()),
            max_window: measured.largest_window,
            rtt: [meter.mean_rtt_ms(), p50, p95, p99],
            counters: to.counters.since(&from.counters),
            whole_run: whole_run.counters,
            completed: ends.receiver.view().completed.filter(|time| end.is_none_or(|end| *time < end)),
        }
    }
}

/// [`Numbers`] in a third of their room: a run may have a million of them.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    completed: Time,
    /// NaN where there is none.
    mean_window: f64,
    max_window: f64,
    rtt: [f64; 4],
    delivered: u16,
    arrived: u16,
    /// Counters over the whole run; counters that stay small are separate.
    counts: [u16; 5],
    few: [u8; 2],
    /// Three of the four shares; the fourth is the remainder to 10 000. [`NOT_HELD`] without shares.
    held: [u16; 3],
    /// Whether the whole run was measured; otherwise none of it was.
    is_measured: bool,
}

const NOT_HELD: [u16; 3] = [u16::MAX; 3];

/// Counters of nothing.
const NOTHING: Counters = Counters {
    sent_packets: 0,
    retransmitted_packets: 0,
    dropped_packets: 0,
    loss_events: Some(0),
    timeouts: 0,
    duplicate_packets: 0,
    dropped_acks: 0,
};

impl Record {
    /// The record of a flow that is complete; none of one with more packets than it can count, or of which a part was
    /// measured.
    pub fn of(numbers: &Numbers) -> Option<Self> {
        let count = |number: u64| u16::try_from(number).ok();
        let few = |number: u64| u8::try_from(number).ok();
        let Counters {
            sent_packets,
            retransmitted_packets,
            dropped_packets,
            loss_events,
            timeouts,
            duplicate_packets,
            dropped_acks,
        } = numbers.whole_run;
        let record = Record {
            completed: numbers.completed?,
            mean_window: numbers.mean_window.unwrap_or(f64::NAN),
            max_window: numbers.max_window.unwrap_or(f64::NAN),
            rtt: numbers.rtt.map(|time| time.unwrap_or(f64::NAN)),
            delivered: count(numbers.delivered)?,
            arrived: count(numbers.arrived)?,
            counts: [
                count(sent_packets)?,
                count(retransmitted_packets)?,
                count(dropped_packets)?,
                count(loss_events?)?,
                count(timeouts)?,
            ],
            few: [few(duplicate_packets)?, few(dropped_acks)?],
            held: numbers
                .held
                .map_or(NOT_HELD, |[window, receiver, application, _]| [window, receiver, application]),
            is_measured: numbers.counters == numbers.whole_run,
        };
        (record.numbers() == *numbers).then_some(record)
    }

    /// The numbers that it records.
    pub fn numbers(&self) -> Numbers {
        let some = |number: f64| Some(number).filter(|number| !number.is_nan());
        let [sent_packets, retransmitted_packets, dropped_packets, loss_events, timeouts] =
            self.counts.map(u64::from);
        let [duplicate_packets, dropped_acks] = self.few.map(u64::from);
        let whole_run = Counters {
            sent_packets,
            retransmitted_packets,
            dropped_packets,
            loss_events: Some(loss_events),
            timeouts,
            duplicate_packets,
            dropped_acks,
        };
        let [window, receiver, application] = self.held;
        let pacing = || 10_000 - window - receiver - application;
        Numbers {
            delivered: self.delivered.into(),
            arrived: self.arrived.into(),
            held: (self.held != NOT_HELD).then(|| [window, receiver, application, pacing()]),
            mean_window: some(self.mean_window),
            max_window: some(self.max_window),
            rtt: self.rtt.map(some),
            counters: if self.is_measured { whole_run } else { NOTHING },
            whole_run,
            completed: Some(self.completed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record is its numbers, or there is none: of what its bits do not count, of a flow of which a part was measured, and of
    /// a transfer that is not complete.
    #[test]
    fn a_record_is_exact_or_there_is_none() {
        let counters = Counters {
            sent_packets: 65_535,
            loss_events: Some(3),
            duplicate_packets: 255,
            ..Counters::default()
        };
        let numbers = Numbers {
            delivered: 10,
            arrived: 11,
            held: Some([1, 2, 3, 9994]),
            max_window: Some(10.1),
            rtt: [Some(100.1), None, Some(100.3), Some(100.4)],
            counters,
            whole_run: counters,
            completed: Some(Time(7)),
            ..Numbers::default()
        };
        assert_eq!(size_of::<Record>(), 80);
        for recorded in [numbers, Numbers { counters: NOTHING, held: None, ..numbers }] {
            assert_eq!(Record::of(&recorded).map(|record| record.numbers()), Some(recorded));
        }
        let more = Counters { dropped_acks: 256, ..counters };
        for other in [
            Numbers { delivered: 65_536, ..numbers },
            Numbers { counters: more, whole_run: more, ..numbers },
            Numbers { counters: Counters { sent_packets: 1, ..counters }, ..numbers },
            Numbers { completed: None, ..numbers },
            Numbers { whole_run: Counters { loss_events: None, ..counters }, ..numbers },
        ] {
            assert!(Record::of(&other).is_none(), "{other:?}");
        }
    }
}
