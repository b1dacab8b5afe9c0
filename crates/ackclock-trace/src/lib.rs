//! Results of a run: a summary, columns over time, and packet captures. Any driver fills them; metrics
//! and pictures read them.
#![forbid(unsafe_code)]

mod cells;
mod described;
mod digest;
mod histogram;
mod pcap;
mod schema;
mod summary;
mod table;

pub use cells::{Cells, Rows};
pub use digest::Digest;
pub use histogram::Histogram;
pub use pcap::{Capture, Segment};
pub use schema::{EVENTS, QUEUES, REQUESTS, WINDOWS, summary_schema, tables};
pub use summary::{
    Counters, DualPi2Summary, FlowKind, FlowSummary, LimitedBy, LinkSummary, RULES, SideSummary, Summary,
    jain,
};
pub use table::{Column, ColumnKind, Described, Table};
