//! Columns over time, written once per run.

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Counts.
    Whole(Vec<u64>),
    /// Identifiers.
    Id(Vec<u32>),
    /// Measurements; NaN where there is none.
    Real(Vec<f64>),
    /// Words.
    Word(Vec<&'static str>),
}

/// A table: named columns of one length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Names and contents, in order.
    pub columns: Vec<(&'static str, Column)>,
}
