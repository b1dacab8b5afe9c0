//! Columns of a declared type: a row for each value, a column for each of its fields.

use std::sync::Arc;

use serde_json::Value;

use crate::table::{ColumnKind, Described};

/// The contents of a column, row by row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Counts.
    Whole(Vec<Option<u64>>),
    /// Identifiers.
    Id(Vec<Option<u32>>),
    /// Measurements.
    Real(Vec<Option<f64>>),
    /// Words.
    Word(Vec<Option<String>>),
}

/// Rows of one type, column by column.
#[derive(Clone, Debug)]
pub struct Rows {
    columns: Vec<(String, Cells)>,
    /// The column of each cell of a row, in the order of the cells of the first row.
    order: Vec<usize>,
    /// Cells of this row so far.
    cell: usize,
}

impl Rows {
    /// No rows of these columns.
    pub(crate) fn new(columns: Vec<Described<String>>) -> Self {
        let empty = |kind| match kind {
            ColumnKind::Whole => Cells::Whole(Vec::new()),
            ColumnKind::Id => Cells::Id(Vec::new()),
            ColumnKind::Real => Cells::Real(Vec::new()),
            ColumnKind::Word => Cells::Word(Vec::new()),
        };
        let columns = columns.into_iter().map(|(name, kind, _)| (name, empty(kind))).collect();
        Rows { columns, order: Vec::new(), cell: 0 }
    }

    /// Adds a row.
    pub(crate) fn add<T: Row>(&mut self, row: &T) {
        self.cell = 0;
        T::fields(Some(row), "", self);
    }

    /// The columns with their names.
    #[must_use]
    pub fn columns(self) -> Vec<(String, Cells)> {
        self.columns
    }

    fn next(&mut self, prefix: &str, name: &str) -> &mut Cells {
        if self.cell == self.order.len() {
            let whole = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}_{name}") };
            let column = self.columns.iter().position(|(column, _)| *column == whole);
            self.order.push(column.expect("every field has a column"));
        }
        self.cell += 1;
        &mut self.columns[self.order[self.cell - 1]].1
    }
}

/// A type whose fields are columns; those of a field that is one, too, have the field's name before theirs.
pub(crate) trait Row {
    fn fields(row: Option<&Self>, prefix: &str, rows: &mut Rows);
}

/// A type of a field.
pub(crate) trait Cell {
    /// Adds the cell, or all of its fields; without one, as many that are empty.
    fn put(cell: Option<&Self>, prefix: &str, name: &str, rows: &mut Rows);
}

impl<T: Row> Cell for T {
    fn put(cell: Option<&Self>, _: &str, name: &str, rows: &mut Rows) {
        T::fields(cell, name, rows);
    }
}

macro_rules! cells {
    ($($kind:ty: $column:ident,)*) => {
        $(impl Cell for $kind {
            fn put(cell: Option<&Self>, prefix: &str, name: &str, rows: &mut Rows) {
                match rows.next(prefix, name) {
                    Cells::$column(cells) => cells.push(cell.cloned()),
                    other => unreachable!("{name} is of another kind than its column: {other:?}"),
                }
            }
        })*
    };
}

cells! {
    u64: Whole,
    u32: Id,
    f64: Real,
    String: Word,
}

impl<T: Cell> Cell for Option<T> {
    fn put(cell: Option<&Self>, prefix: &str, name: &str, rows: &mut Rows) {
        T::put(cell.and_then(Option::as_ref), prefix, name, rows);
    }
}

/// Settings have no column.
impl Cell for Arc<Value> {
    fn put(_: Option<&Self>, _: &str, _: &str, _: &mut Rows) {}
}

#[cfg(test)]
mod tests {
    use serde_json::to_value;

    use super::*;
    use crate::summary::{Counters, FlowSummary};

    fn flow(id: u32, limited_by: Option<crate::LimitedBy>) -> FlowSummary {
        let counters =
            Counters { sent_packets: 7, loss_events: (id > 0).then_some(3), ..Counters::default() };
        FlowSummary {
            id,
            name: format!("flow-{id}"),
            controller: "reno".to_owned(),
            kind: crate::FlowKind::Window,
            rtt_ms: 40.0,
            goodput_mbps: Some(2.5),
            in_order_mbps: None,
            limited_by,
            mean_window: None,
            max_window: None,
            mean_rtt_ms: None,
            rtt_p50_ms: None,
            rtt_p95_ms: None,
            rtt_p99_ms: None,
            counters,
            completion_s: None,
            requests_completed: None,
            request_p50_s: None,
            request_p95_s: None,
            request_p99_s: None,
            delay_p50_ms: None,
            delay_p95_ms: None,
            delay_p99_ms: None,
            late: None,
            start_s: 0.5,
            bytes: Some(10_000),
            whole_run: Counters { timeouts: 9, ..counters },
            settings: Arc::default(),
        }
    }

    /// A missing group of cells leaves them empty, and shifts none of the cells after it.
    #[test]
    fn a_row_has_a_cell_in_every_column() {
        let limits = crate::LimitedBy { window: 0.75, receiver: 0.0, application: 0.25, pacing: 0.0 };
        let mut rows = FlowSummary::rows();
        for flow in [flow(0, None), flow(1, Some(limits)), flow(2, None)] {
            flow.add_to(&mut rows);
        }
        let columns = rows.columns();
        let of = |name: &str| {
            let column = columns.iter().find(|(column, _)| column == name);
            column.map(|(_, cells)| cells.clone()).expect("there is such a column")
        };
        assert_eq!(of("id"), Cells::Id(vec![Some(0), Some(1), Some(2)]));
        assert_eq!(of("limited_by_window"), Cells::Real(vec![None, Some(0.75), None]));
        assert_eq!(of("limited_by_application"), Cells::Real(vec![None, Some(0.25), None]));
        assert_eq!(of("loss_events"), Cells::Whole(vec![None, Some(3), Some(3)]));
        assert_eq!(of("timeouts"), Cells::Whole(vec![Some(0); 3]));
        assert_eq!(of("whole_run_timeouts"), Cells::Whole(vec![Some(9); 3]));
        assert_eq!(of("bytes"), Cells::Whole(vec![Some(10_000); 3]));
        let kind = to_value(crate::FlowKind::Window).expect("a kind is JSON");
        assert_eq!(of("kind"), Cells::Word(vec![kind.as_str().map(str::to_owned); 3]));
    }
}
