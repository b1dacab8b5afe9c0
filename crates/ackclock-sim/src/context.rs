//! The services that an endpoint may call while it acts, and the events that it writes.

use ackclock_units::Time;

use crate::memory::Grow as _;
use crate::packet::Slab;
use crate::payload::Payload;

/// The services that an endpoint may call while it acts.
#[derive(Debug)]
pub struct Context<'a> {
    /// The time.
    pub now: Time,
    /// Payloads of packets.
    pub payloads: &'a mut Slab<Payload>,
    /// The table of events, when they are recorded.
    pub journal: &'a mut Option<Vec<JournalEntry>>,
}

impl Context<'_> {
    /// Writes an event of a flow, if events are recorded, with the window before and after it.
    pub fn write(&mut self, flow: u32, kind: &'static str, window_before: f64, window_after: f64) {
        let time = self.now;
        if let Some(journal) = self.journal {
            journal.add(JournalEntry { time, flow, kind, window_before, window_after });
        }
    }
}

/// An event in the life of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JournalEntry {
    /// When.
    pub time: Time,
    /// The flow.
    pub flow: u32,
    /// The event: start, loss, recovered, timeout, undo, complete, stop.
    pub kind: &'static str,
    /// The control's window before it, packets.
    pub window_before: f64,
    /// The control's window after it, packets.
    pub window_after: f64,
}
