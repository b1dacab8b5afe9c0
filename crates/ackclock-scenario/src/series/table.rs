//! Tables in CSV or TSV: their lines, their cells, and the numbers in these.

use ackclock_units::{Bytes, Rate, Span, UnitError, parse_fraction};

use super::Quantity;

/// The cells of the lines of a table that mean something.
pub struct Rows<'t> {
    reader: csv::Reader<&'t [u8]>,
    delimiter: u8,
    record: csv::StringRecord,
}

/// The delimiter of the columns of a file, inferred from its first line that is not blank or a comment.
fn delimiter(text: &str) -> u8 {
    let first = crate::files::lines(text).next().map_or("", |(_, line)| line);
    [b'\t', b';', b','].into_iter().find(|mark| first.as_bytes().contains(mark)).unwrap_or(b' ')
}

impl<'t> Rows<'t> {
    /// The rows of `text`.
    pub fn new(text: &'t str) -> Rows<'t> {
        let delimiter = delimiter(text);
        let mut builder = csv::ReaderBuilder::new();
        builder.delimiter(delimiter).has_headers(false).flexible(true).trim(csv::Trim::All);
        let reader = builder.comment(Some(b'#')).from_reader(text.as_bytes());
        Rows { reader, delimiter, record: csv::StringRecord::new() }
    }

    /// Reads the next line, and returns the position at which it, or a comment before it, begins; `None` at the end.
    pub fn advance(&mut self) -> Result<Option<usize>, String> {
        while self.reader.read_record(&mut self.record).map_err(|error| error.to_string())? {
            let is_blank = self.record.iter().all(str::is_empty);
            if !is_blank && !self.record.get(0).is_some_and(|cell| cell.starts_with('#')) {
                return Ok(Some(self.record.position().map_or(0, |position| position.byte() as usize)));
            }
        }
        Ok(None)
    }

    /// The cells of the line that was read.
    pub fn cells(&self) -> Vec<&str> {
        let is_spaced = self.delimiter == b' ';
        self.record.iter().filter(|cell| !is_spaced || !cell.is_empty()).collect()
    }
}

/// Whether a cell is a number, with or without a unit.
pub fn is_number(cell: &str) -> bool {
    let has_unit =
        || cell.parse::<Rate>().is_ok() || cell.parse::<Span>().is_ok() || parse_fraction(cell).is_ok();
    cell.parse::<f64>().is_ok_and(f64::is_finite) || has_unit()
}

/// The first line of a table: the names of its columns, if it has some; and how many there are.
pub fn header(text: &str) -> Result<(Option<Vec<String>>, usize), String> {
    let mut rows = Rows::new(text);
    if rows.advance()?.is_none() {
        return Err("has no line".to_owned());
    }
    let cells = rows.cells();
    let is_header = !cells.iter().any(|cell| is_number(cell));
    Ok((is_header.then(|| cells.iter().map(|cell| (*cell).to_owned()).collect()), cells.len()))
}

/// The lines of a table of times in seconds, without its header, and where each begins; see [`line_at`].
pub fn times(text: &str) -> Result<Vec<(usize, Vec<Span>)>, String> {
    let seconds = Scale { quantity: Quantity::Delay, factor: 1e12, own: 1.0 };
    let mut rows = Rows::new(text);
    let (mut all, mut is_first) = (Vec::new(), true);
    while let Some(begin) = rows.advance()? {
        let cells = rows.cells();
        let is_header = std::mem::take(&mut is_first) && !cells.iter().any(|cell| is_number(cell));
        if is_header {
            continue;
        }
        let span = |cell: &&str| match seconds.read(cell)? {
            negative if negative < 0.0 => Err(format!("must not be negative, is {cell}")),
            picoseconds => Ok(Span(picoseconds.round() as u64)),
        };
        let spans: Result<Vec<_>, String> = cells.iter().map(span).collect();
        all.push((begin, spans.map_err(|problem| format!("{}: {problem}", line_at(text, begin)))?));
    }
    Ok(all)
}

/// The requests of a table: seconds and bytes, or with units of their own.
///
/// # Errors
/// The number of the line and what is wrong.
pub fn requests(text: &str) -> Result<Vec<(Span, Bytes)>, String> {
    let seconds = Scale { quantity: Quantity::Delay, factor: 1e12, own: 1.0 };
    let mut rows = Rows::new(text);
    let (mut all, mut is_first) = (Vec::new(), true);
    while let Some(begin) = rows.advance()? {
        let cells = rows.cells();
        let is_header = std::mem::take(&mut is_first) && !cells.iter().any(|cell| is_number(cell));
        if is_header {
            continue;
        }
        let read = || -> Result<(Span, Bytes), String> {
            let [time, size] = cells[..] else {
                return Err("expected a time in s and a size in B".to_owned());
            };
            let time = seconds.read(time)?;
            let size = size.parse::<u64>().map_or_else(
                |_| size.parse().map_err(|error: UnitError| error.to_string()),
                |size| Ok(Bytes(size)),
            )?;
            match (time >= 0.0, size.0) {
                (false, _) => Err("the time must not be negative".to_owned()),
                (_, 0) => Err("a request must have at least 1 B".to_owned()),
                (_, bytes) if bytes > crate::keys::LARGEST_REQUEST => {
                    Err("a request is too large".to_owned())
                }
                _ => Ok((Span(time.round() as u64), size)),
            }
        };
        all.push(read().map_err(|problem| format!("{}: {problem}", line_at(text, begin)))?);
    }
    Ok(all)
}

/// The number of the line that begins at `begin`, or after comments there.
pub fn line_at(text: &str, begin: usize) -> usize {
    let (before, rest) = text.split_at(begin);
    let after = crate::files::lines(rest).next().map_or(1, |(line, _)| line);
    before.matches('\n').count() + after
}

/// How numbers become a quantity.
pub struct Scale {
    /// The quantity.
    pub quantity: Quantity,
    /// Of a number in the unit of the column,
    pub factor: f64,
    /// and of picoseconds, bit/s or a probability, where a cell has a unit of its own.
    pub own: f64,
}

impl Scale {
    /// The quantity in a cell.
    pub fn read(&self, cell: &str) -> Result<f64, String> {
        match cell.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number * self.factor),
            _ => Ok(own_unit(self.quantity, cell)? * self.own),
        }
    }
}

fn own_unit(quantity: Quantity, cell: &str) -> Result<f64, String> {
    let problem = |reason: String| match cell {
        "" => "is empty: leave the line out, and the value before it holds".to_owned(),
        _ if is_decimal_comma(cell) => {
            format!("\"{cell}\" has a decimal comma: write {}", cell.replace(',', "."))
        }
        _ if !is_number(cell) => {
            format!("expected a number, found \"{cell}\": leave the line out, and the value before it holds")
        }
        _ => format!("{cell}: {reason}"),
    };
    match quantity {
        Quantity::Rate => {
            cell.parse::<Rate>().map(|rate| rate.0 as f64).map_err(|error| problem(error.to_string()))
        }
        Quantity::Delay => {
            cell.parse::<Span>().map(|span| span.0 as f64).map_err(|error| problem(error.to_string()))
        }
        Quantity::Loss => parse_fraction(cell).map_err(|error| problem(error.to_string())),
    }
}

fn is_decimal_comma(cell: &str) -> bool {
    let mut parts = cell.split(',');
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    matches!((parts.next(), parts.next(), parts.next()), (Some(whole), Some(rest), None)
        if digits(whole.trim_start_matches('-')) && digits(rest))
}

/// The value of one unit in bit/s, picoseconds or as a share.
pub fn factor(quantity: Quantity, unit: &str) -> Result<f64, String> {
    if quantity == Quantity::Loss && unit == "1" {
        return Ok(1.0);
    }
    // The factor is computed from a thousand units, so that units smaller than the smallest number keep their digits.
    own_unit(quantity, &format!("1000 {unit}")).map(|thousand| thousand / 1000.0)
}
