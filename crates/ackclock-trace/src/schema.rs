//! The output of a run, described once: the JSON schema of its summary, and the columns of its tables.

use serde_json::Value;

use crate::cells::Rows;
use crate::described::{Definitions, Schema};
use crate::summary::{FlowSummary, LinkSummary, Summary};
use crate::table::{ColumnKind, Described};

/// Per flow and sampling time. A column follows for every internal quantity of a control, as real numbers.
pub const WINDOWS: &[Described<&str>] = &[
    ("time_s", ColumnKind::Real, "time of the sample, seconds"),
    ("flow", ColumnKind::Id, "index of the flow"),
    ("window", ColumnKind::Real, "the control's window, packets"),
    ("ssthresh", ColumnKind::Real, "slow-start threshold, packets; none while it is unlimited"),
    ("rtt_ms", ColumnKind::Real, "latest round-trip time that the sender measured, milliseconds"),
    ("in_flight_packets", ColumnKind::Whole, "packets in the network, as the sender counts them"),
    ("sent_bytes", ColumnKind::Whole, "data put on the wire since the sample before, bytes"),
    ("arrived_bytes", ColumnKind::Whole, "data that arrived in any order since the sample before, bytes"),
    ("delivered_bytes", ColumnKind::Whole, "data delivered in order since the sample before, bytes"),
    (
        "one_way_delay_ms",
        ColumnKind::Real,
        "latest one-way delay of a flow of datagrams, milliseconds; of media, of a frame",
    ),
];

/// Per link and sampling time; the queue includes the packet in transmission.
pub const QUEUES: &[Described<&str>] = &[
    ("time_s", ColumnKind::Real, "time of the sample, seconds"),
    ("link", ColumnKind::Id, "index of the link"),
    ("queue_packets", ColumnKind::Whole, "queue at the time of the sample, packets"),
    ("min_packets", ColumnKind::Whole, "shortest queue since the sample before, packets"),
    ("max_packets", ColumnKind::Whole, "longest queue since the sample before, packets"),
    ("mean_packets", ColumnKind::Real, "time average of the queue since the sample before, packets"),
    ("drops", ColumnKind::Whole, "packets dropped by the queue since the sample before"),
    ("marks", ColumnKind::Whole, "packets marked by the queue since the sample before"),
    ("utilisation", ColumnKind::Real, "bits sent over the integral of the rate since the sample before"),
];

/// Loss events, timeouts, and starts and ends of flows.
pub const EVENTS: &[Described<&str>] = &[
    ("time_s", ColumnKind::Real, "time of the event, seconds"),
    ("flow", ColumnKind::Id, "index of the flow"),
    ("kind", ColumnKind::Word, "what happened"),
    ("window_before", ColumnKind::Real, "the control's window before it, packets"),
    ("window_after", ColumnKind::Real, "the control's window after it, packets"),
];

/// Every request, page of a web session and finite transfer.
pub const REQUESTS: &[Described<&str>] = &[
    ("flow", ColumnKind::Id, "index of the flow"),
    ("start_s", ColumnKind::Real, "when the sender was given the data, seconds"),
    ("bytes", ColumnKind::Whole, "how much it was, bytes"),
    (
        "completion_s",
        ColumnKind::Real,
        "from then to the delivery of its last packet, seconds; none if that did not come",
    ),
];

/// The columns of the tables of a run by name. Those of `flows` and `links`, which are made from the summary, are the
/// values of [`FlowSummary`] and [`LinkSummary`]; counters of a flow over the whole run have `whole_run_` before their
/// names, and shares of time `limited_by_`.
#[must_use]
pub fn tables() -> Vec<(&'static str, Vec<Described<String>>)> {
    let owned = |columns: &[Described<&str>]| {
        columns
            .iter()
            .map(|(name, kind, meaning)| ((*name).to_owned(), *kind, (*meaning).to_owned()))
            .collect()
    };
    vec![
        ("windows", owned(WINDOWS)),
        ("queues", owned(QUEUES)),
        ("events", owned(EVENTS)),
        ("requests", owned(REQUESTS)),
        ("flows", flows()),
        ("links", columns("", &properties(&schema_of::<LinkSummary>()))),
    ]
}

impl FlowSummary {
    /// The table `flows` without rows.
    #[must_use]
    pub fn rows() -> Rows {
        Rows::new(flows())
    }

    /// Adds the flow to a table.
    pub fn add_to(&self, rows: &mut Rows) {
        rows.add(self);
    }
}

fn flows() -> Vec<Described<String>> {
    let schema = schema_of::<FlowSummary>();
    let mut columns = columns("", &properties(&schema));
    for (prefix, of) in [("limited_by_", "LimitedBy"), ("whole_run_", "Counters")] {
        columns.extend(self::columns(prefix, &properties(&schema["$defs"][of])));
    }
    columns
}

fn properties(schema: &Value) -> serde_json::Map<String, Value> {
    schema["properties"].as_object().cloned().unwrap_or_default()
}

/// The properties that have a single value each.
fn columns(prefix: &str, properties: &serde_json::Map<String, Value>) -> Vec<Described<String>> {
    let column = |(name, schema): (&String, &Value)| {
        let is = |word: &str| {
            schema["type"] == word || schema["type"].as_array().is_some_and(|all| all.contains(&word.into()))
        };
        let kind = match schema["format"].as_str() {
            Some("uint64") => ColumnKind::Whole,
            Some("uint32") => ColumnKind::Id,
            _ if is("number") => ColumnKind::Real,
            _ if is("string") => ColumnKind::Word,
            _ => return None,
        };
        let meaning = schema["description"].as_str().unwrap_or_default();
        Some((format!("{prefix}{name}"), kind, meaning.to_owned()))
    };
    properties.iter().filter_map(column).collect()
}

/// The JSON schema (draft 2020-12) of a [`Summary`].
#[must_use]
pub fn summary_schema() -> Value {
    schema_of::<Summary>()
}

fn schema_of<T: Schema>() -> Value {
    let mut definitions = Definitions::new();
    let mut schema = T::schema(&mut definitions);
    schema["title"] = T::NAME.into();
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["$defs"] = definitions.into();
    schema
}
