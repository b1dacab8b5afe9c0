//! Quantities over time from files: tables in CSV or TSV, with or without a header.

mod table;

use ackclock_units::{Rate, Span};

use crate::files::{meaning, named};
use crate::keys::Form;
use crate::model::{Change, Event, LONGEST, Loss, When};
use crate::read::{Read, Table};
use crate::tree::Content;
use crate::value::Value;
use crate::words::words;
use table::{Rows, Scale, factor};
pub use table::{header, line_at, requests, times};

words! {
    /// How a quantity gets from one line of a file to the next.
    Between {
        /// It stays as it is until the next line.
        Hold = "hold",
        /// It moves in a straight line, in steps.
        Linear = "linear",
    }
}

/// The quantity of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A rate, bit/s.
    Rate,
    /// A delay, picoseconds.
    Delay,
    /// A probability.
    Loss,
}

/// A quantity over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    quantity: Quantity,
    /// The times of its changes, from the first line on, and the new values: bit/s, picoseconds, or a probability.
    points: Vec<(Span, f64)>,
    /// From the first line to the end of the last one, which lasts as long as the one before it.
    length: Span,
    repeats: bool,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// By its number, from 1 on.
    Number(usize),
    /// By its name in the header.
    Name(String),
}

impl Value for Column {
    fn read(content: &Content, _: Form) -> Result<Self, String> {
        match content {
            Content::Text(name) if !name.trim().is_empty() => Ok(Column::Name(name.clone())),
            Content::Whole(number) => match usize::try_from(*number) {
                Ok(number) if number > 0 => Ok(Column::Number(number)),
                _ => Err(format!("expected a number from 1 on, found {number}")),
            },
            other => Err(format!("expected the number or the name of a column, found {other}")),
        }
    }
}

/// The positions of the columns of a table.
struct Layout {
    time: Option<usize>,
    value: usize,
    columns: usize,
    has_header: bool,
}

fn layout(text: &str, file: &str, table: &Table<'_>, every: Option<Span>) -> Read<Layout> {
    let (names, columns) =
        header(text).map_err(|problem| table.refuse("file", format!("{file}: {problem}")))?;
    let find = |key: &str, column: Column| match (column, &names) {
        (Column::Number(number), _) if number <= columns => Ok(number - 1),
        (Column::Number(number), _) => {
            Err(table.refuse(key, format!("{file} has {columns} columns, and {number} is not one of them")))
        }
        (Column::Name(name), Some(names)) => {
            let same = |other: &String| other.trim().eq_ignore_ascii_case(name.trim());
            names.iter().position(same).ok_or_else(|| {
                table.refuse(key, format!("{file} has no column \"{name}\"; there are: {}", names.join(", ")))
            })
        }
        (Column::Name(name), None) => {
            let problem =
                format!("{file} has no header, and no column \"{name}\": give its number, from 1 on");
            Err(table.refuse(key, problem))
        }
    };
    let time = match (table.get::<Column>("time")?, every) {
        (Some(_), Some(_)) => return Err(table.refuse("time", "give either time or every, not both")),
        (None, Some(_)) => None,
        (time, None) => Some(find("time", time.unwrap_or(Column::Number(1)))?),
    };
    let usual = Column::Number(if time.is_some() { 2 } else { 1 });
    let value = find("column", table.get("column")?.unwrap_or(usual))?;
    Ok(Layout { time, value, columns, has_header: names.is_some() })
}

impl Series {
    /// Reads the series under `key`, if it is there.
    pub fn read(table: &Table<'_>, key: &str, quantity: Quantity) -> Read<Option<std::rc::Rc<Series>>> {
        let Some(table) = table.table(key)? else { return Ok(None) };
        let file: String = table.need("file")?;
        let written =
            |name| table.node(name).map_or(String::new(), |node| format!(" {name} = {}", node.content));
        let how: String = table.present().map(written).collect();
        meaning(format!("{key} {how}"), || Series::of(&table, &file, quantity)).map(Some)
    }

    fn of(table: &Table<'_>, file: &str, quantity: Quantity) -> Read<Series> {
        let text = named(table.file(), file).map_err(|problem| table.refuse("file", problem))?;
        let every: Option<Span> = table.get("every")?;
        let layout = layout(&text, file, table, every)?;
        let unit: String = table.need("unit")?;
        let unit = factor(quantity, &unit).map_err(|problem| table.refuse("unit", problem))?;
        let scale: f64 = table.need("scale")?;
        let values = Scale { quantity, factor: unit * scale, own: scale };
        let time_unit: String = table.need("time_unit")?;
        let time_unit =
            factor(Quantity::Delay, &time_unit).map_err(|problem| table.refuse("time_unit", problem))?;
        let times = Scale { quantity: Quantity::Delay, factor: 1.0, own: 1.0 / time_unit };
        let mut points: Vec<(Span, f64)> = Vec::new();
        let (mut rows, mut first) = (Rows::new(&text), None);
        let mut is_header = layout.has_header;
        loop {
            let line =
                rows.advance().map_err(|problem| table.refuse("file", format!("{file}: {problem}")))?;
            let Some(begin) = line else { break };
            if std::mem::take(&mut is_header) {
                continue;
            }
            let cells = rows.cells();
            let refuse = |problem: String| {
                table.refuse("file", format!("{file}:{}: {problem}", line_at(&text, begin)))
            };
            if cells.len() != layout.columns {
                let comma = if cells.len() > layout.columns {
                    "; a number has a decimal point, not a comma"
                } else {
                    ""
                };
                let problem =
                    format!("has {} columns, and the first line has {}{comma}", cells.len(), layout.columns);
                return Err(refuse(problem));
            }
            let time = match (layout.time, every) {
                (Some(column), _) => {
                    let time =
                        times.read(cells[column]).map_err(|problem| refuse(format!("time: {problem}")))?;
                    // For times in seconds since 1970, only a difference has enough digits.
                    Span(((time - *first.get_or_insert(time)) * time_unit).round().max(0.0) as u64)
                }
                (None, every) => every.unwrap_or_default().saturating_mul(points.len() as u64),
            };
            if points.last().is_some_and(|(last, _)| time <= *last) {
                return Err(refuse("expected a time after the one above".to_owned()));
            }
            let cell = cells[layout.value];
            let value = values.read(cell).map_err(refuse)?;
            if value < 0.0 {
                return Err(refuse(format!("must not be negative, is {cell}")));
            }
            points.push((time, check(quantity, value).map_err(refuse)?));
        }
        Series::from(table, file, quantity, points)
    }

    fn from(table: &Table<'_>, file: &str, quantity: Quantity, lines: Vec<(Span, f64)>) -> Read<Series> {
        let refuse = |problem: &str| table.refuse("file", format!("{file}: {problem}"));
        let Some(last) = lines.last() else { return Err(refuse("has no values")) };
        let spacing = match &lines[..] {
            [.., (before, _), (last, _)] => *last - *before,
            _ => table.get("every")?.unwrap_or(Span::from_seconds(1)),
        };
        let length = last.0 + spacing;
        if quantity == Quantity::Rate && lines.iter().all(|(_, rate)| *rate == 0.0) {
            return Err(refuse("has no rate above 0 bit/s"));
        }
        let repeats: bool = table.need("repeat")?;
        let points = match table.need("between")? {
            Between::Hold => {
                if table.has("step") {
                    return Err(table.refuse("step", "applies only with between = \"linear\""));
                }
                lines
            }
            Between::Linear => {
                let step: Span = table.get("step")?.unwrap_or(STEP);
                let count: u64 = lines.windows(2).map(|two| (two[1].0 - two[0].0).0.div_ceil(step.0)).sum();
                if count > MOST_POINTS {
                    let problem =
                        format!("{count} steps are too many: make them longer, there may be {MOST_POINTS}");
                    return Err(table.refuse("step", problem));
                }
                let points = linear(&lines, step, repeats.then_some(length));
                let is_whole = quantity != Quantity::Loss;
                let whole = |(time, value): (Span, f64)| (time, if is_whole { value.round() } else { value });
                points.into_iter().map(whole).collect()
            }
        };
        Ok(Series { quantity, points, length, repeats })
    }

    /// Its mean over its length.
    pub fn mean(&self) -> f64 {
        let ends = self.points.iter().skip(1).map(|(time, _)| *time).chain([self.length]);
        let sum: f64 =
            self.points.iter().zip(ends).map(|((from, value), to)| value * (to - *from).as_seconds()).sum();
        sum / self.length.as_seconds()
    }

    /// Its mean as a rate.
    pub fn mean_rate(&self) -> Rate {
        Rate((self.mean().round() as u64).max(1))
    }

    /// The changes of link `link` that it makes before `end`; its first value is one of them.
    pub fn events(&self, link: usize, end: Span) -> Vec<Event> {
        let mut events = Vec::new();
        let repeats = self.repeats && self.length < end;
        // Its last value is that before the first of a repetition.
        let mut before = None;
        for (time, value) in self.points.iter().filter(|(time, _)| *time < end) {
            let always = repeats && before.is_none();
            if before == Some(*value) && !always {
                continue;
            }
            let when = match repeats {
                true => When::Every { first: *time, every: self.length, until: end },
                false => When::At(*time),
            };
            let was_down = before == Some(0.0) || repeats && before.is_none();
            let mut add = |change| events.push(Event { when, link, change });
            match self.quantity {
                Quantity::Rate if *value == 0.0 => add(Change::Up(false)),
                Quantity::Rate => {
                    add(Change::Rate(Rate(*value as u64)));
                    if was_down {
                        add(Change::Up(true));
                    }
                }
                Quantity::Delay => add(Change::Delay(Span(*value as u64))),
                Quantity::Loss => add(Change::Loss(Loss::Bernoulli { probability: *value })),
            }
            before = Some(*value);
        }
        events
    }
}

/// Steps of a straight line unless the scenario says otherwise.
pub const STEP: Span = Span::from_millis(100);
/// As many as a run may have changes.
const MOST_POINTS: u64 = 1_000_000;

/// The steps of straight lines from each point to the next, and back to the first where the series has a period. Each has
/// the value in its middle, so that the mean stays.
fn linear(lines: &[(Span, f64)], step: Span, period: Option<Span>) -> Vec<(Span, f64)> {
    let mut points = Vec::new();
    let back = period.zip(lines.first()).map(|(period, (_, first))| (period, *first));
    let ends = lines.iter().skip(1).copied().chain(back);
    for ((from, low), (to, high)) in lines.iter().copied().zip(ends) {
        let mut at = from;
        while at < to {
            let end = (at + step).min(to);
            let share = ((at - from) + (end - from)).as_seconds() / 2.0 / (to - from).as_seconds();
            points.push((at, low + (high - low) * share));
            at = end;
        }
    }
    if period.is_none() {
        points.extend(lines.last());
    }
    points
}

/// A value that a link can have.
fn check(quantity: Quantity, value: f64) -> Result<f64, String> {
    match quantity {
        Quantity::Rate if value > 0.0 && value < 1.0 => Err("is below 1 bit/s; 0 is an outage".to_owned()),
        Quantity::Rate if value > 1e18 => Err("must be at most 1e18 bit/s".to_owned()),
        Quantity::Delay if value > LONGEST.0 as f64 => Err("must be at most 180 days".to_owned()),
        Quantity::Loss if value > 1.0 => {
            Err(format!("must lie between 0 % and 100 %, is {} %", value * 100.0))
        }
        Quantity::Loss => Ok(value),
        _ => Ok(value.round()),
    }
}
