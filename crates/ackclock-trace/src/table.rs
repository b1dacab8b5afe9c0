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

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Counts, 64 bits.
    Whole,
    /// Identifiers, 32 bits.
    Id,
    /// Measurements; NaN where there is none.
    Real,
    /// Words.
    Word,
}

impl ColumnKind {
    /// The name of the type, as data frames call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ColumnKind::Whole => "uint64",
            ColumnKind::Id => "uint32",
            ColumnKind::Real => "float64",
            ColumnKind::Word => "string",
        }
    }
}

impl Column {
    /// The type of the column.
    #[must_use]
    pub const fn kind(&self) -> ColumnKind {
        match self {
            Column::Whole(_) => ColumnKind::Whole,
            Column::Id(_) => ColumnKind::Id,
            Column::Real(_) => ColumnKind::Real,
            Column::Word(_) => ColumnKind::Word,
        }
    }
}

/// A column: its name, which ends with the unit, what it holds, and what that means.
pub type Described<T> = (T, ColumnKind, T);
