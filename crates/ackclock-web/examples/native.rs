//! The results of the engine outside of a page: `native digests` or `native buckets`. Reads one scenario per line of
//! standard input, as JSON, and writes a line for each: its digest, or the extremes of its samples as JSON, or its
//! refusal. Tests of the page compare what the page has.

use std::collections::BTreeMap;
use std::env;
use std::io::{self, BufRead, Write};

use ackclock_scenario::{Draft, Files};
use ackclock_sim::{BuiltIn, Simulation};
use ackclock_trace::{Column, Table};
use serde_json::{Value, json};

/// Rows of a bucket of the first level, and how many levels are compared.
const FAN: usize = 8;
const LEVELS: u32 = 4;

fn simulation(line: &str, records: bool) -> Result<Simulation, String> {
    let request: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let files: Files = serde_json::from_value(request["files"].clone()).map_err(|error| error.to_string())?;
    let (text, name) = (request["text"].as_str().unwrap_or_default(), "scenario");
    let draft =
        if request["isJson"] == true { Draft::from_json(text, name) } else { Draft::from_toml(text, name) };
    let checked = draft
        .and_then(|draft| draft.with_files(files).check(&BuiltIn))
        .map_err(|refusal| refusal.to_string())?;
    let mut simulation = Simulation::new(checked.scenario, &BuiltIn, 0, records)?;
    while !simulation.advance(1_000_000) {}
    Ok(simulation)
}

fn digest(line: &str) -> Result<String, String> {
    let (summary, _) = simulation(line, false)?.finish(&BuiltIn).map_err(|error| error.to_string())?;
    Ok(summary.digest)
}

/// Values by owner (flow or link) and column.
fn by_owner(table: &Table, owner: &str) -> BTreeMap<(u32, &'static str), Vec<f64>> {
    let column =
        |wanted: &str| table.columns.iter().find(|(name, _)| *name == wanted).map(|(_, column)| column);
    let Some(Column::Id(owners)) = column(owner) else { return BTreeMap::new() };
    let mut values: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for (name, column) in &table.columns {
        for (row, owner) in owners.iter().enumerate() {
            let value = match column {
                Column::Real(values) => values[row],
                Column::Whole(values) => values[row] as f64,
                _ => continue,
            };
            values.entry((*owner, *name)).or_default().push(value);
        }
    }
    values
}

/// Least, most and last of each bucket of rows, by the size of buckets; null where there is none.
fn levels(values: &[f64]) -> Value {
    let known = |value: f64| (!value.is_nan()).then_some(value);
    let bucket = |rows: &[f64]| {
        let (least, most) = rows
            .iter()
            .fold((f64::NAN, f64::NAN), |(least, most), value| (least.min(*value), most.max(*value)));
        json!([known(least), known(most), known(rows[rows.len() - 1])])
    };
    (1..=LEVELS).map(|level| values.chunks(FAN.pow(level)).map(bucket).collect::<Vec<_>>()).collect()
}

fn buckets(line: &str) -> Result<String, String> {
    let tables = simulation(line, true)?.take_tables();
    let mut all = serde_json::Map::new();
    for (name, table) in &tables {
        let owner = match *name {
            "windows" => "flow",
            "queues" => "link",
            _ => continue,
        };
        for ((owner, column), values) in by_owner(table, owner) {
            all.insert(format!("{name} {owner} {column}"), levels(&values));
        }
    }
    Ok(Value::Object(all).to_string())
}

fn main() -> io::Result<()> {
    let answer = match env::args().nth(1).as_deref() {
        Some("digests") => digest,
        Some("buckets") => buckets,
        _ => return Err(io::Error::other("say digests or buckets")),
    };
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        writeln!(output, "{}", answer(&line?).unwrap_or_else(|refusal| refusal))?;
    }
    Ok(())
}
