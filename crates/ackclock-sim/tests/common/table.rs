//! Tables of `tests/data`: measurements of other implementations, made by the scripts next to them.

/// Names of columns, and rows of text.
pub struct Table {
    names: Vec<&'static str>,
    rows: Vec<Vec<&'static str>>,
}

/// Controls that are compared with the kernel's own, with their names there.
pub const OF_LINUX: &[(&str, &str)] = &[
    ("reno", "reno"),
    ("cubic-linux", "cubic"),
    ("bic-linux", "bic"),
    ("htcp-linux", "htcp"),
    ("hybla-linux", "hybla"),
    ("illinois-linux", "illinois"),
    ("westwood-linux", "westwood"),
    ("bbr-linux", "bbr"),
];

/// A difference from the kernel that is known: by how many percent at most, and its cause.
pub fn known_difference(control: &str, case: &str) -> Option<(f64, &'static str)> {
    let table = Table::of_linux("differences.csv");
    if !table.has(control) {
        return None;
    }
    let row = table.case(control).find(|row| row.text("case") == case)?;
    Some((row.number("percent"), row.text("cause")))
}

/// One row of a table.
pub struct Row<'a> {
    names: &'a [&'static str],
    cells: &'a [&'static str],
}

impl Table {
    /// Reads values with commas between them under a line of names; a line that begins with `#` is a comment.
    pub fn read(text: &'static str) -> Table {
        let mut lines =
            text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(',').collect());
        Table { names: lines.next().expect("a table has names"), rows: lines.collect() }
    }

    /// The rows of a case, of which there must be one at least.
    pub fn case<'a>(&'a self, name: &'a str) -> impl Iterator<Item = Row<'a>> {
        assert!(self.has(name), "there is no {name}");
        let rows = self.rows.iter().filter(move |cells| cells[0] == name);
        rows.map(|cells| Row { names: &self.names, cells })
    }

    /// Reads a file of `tests/data/linux`.
    pub fn of_linux(file: &str) -> Table {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/linux");
        let text = std::fs::read_to_string(format!("{folder}/{file}"));
        Table::read(text.unwrap_or_else(|error| panic!("{file}: {error}")).leak())
    }

    /// Whether there is such a case.
    pub fn has(&self, name: &str) -> bool {
        self.rows.iter().any(|cells| cells[0] == name)
    }

    /// The numbers of each column of this name: a control that was measured more than once has several.
    pub fn columns(&self, name: &str) -> Vec<Vec<f64>> {
        let indices = (0..self.names.len()).filter(|index| self.names[*index] == name);
        indices.map(|index| self.rows.iter().map(|cells| cells[index].parse().unwrap()).collect()).collect()
    }
}

impl Row<'_> {
    /// A field, by the name of its column.
    pub fn text(&self, column: &str) -> &'static str {
        let index = self.names.iter().position(|name| *name == column);
        self.cells[index.unwrap_or_else(|| panic!("there is no column {column}"))]
    }

    /// A number, by the name of its column.
    pub fn number(&self, column: &str) -> f64 {
        self.text(column).parse().unwrap()
    }
}

/// The mean of some numbers.
pub fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}
