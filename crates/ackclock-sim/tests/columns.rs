//! What a run gives is what `ackclock-trace` says that it gives.

use ackclock_cc::registry::Catalogue;
use ackclock_scenario::read_toml;
use ackclock_sim::{BuiltIn, Simulation};
use ackclock_trace::{ColumnKind, summary_schema, tables};
use ackclock_units::Span;
use serde_json::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn required(schema: &Value) -> Vec<&str> {
    let mut keys: Vec<_> =
        schema["required"].as_array().unwrap().iter().map(|key| key.as_str().unwrap()).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn a_run_has_the_columns_and_keys_that_are_described() {
    let file = format!("{ROOT}/scenarios/illinois-figure-8.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let settings = ["run.duration=3 s", "run.warmup=1 s"].map(str::to_owned);
    let scenario = read_toml(&text, &file, &settings, &BuiltIn).unwrap().scenario;
    let mut simulation = Simulation::new(scenario, &BuiltIn, 0, true).unwrap();
    while !simulation.advance(u64::MAX) {}
    let (summary, written) = simulation.finish(&BuiltIn).unwrap();

    let described = tables();
    let names: Vec<_> = described.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["windows", "queues", "events", "requests", "flows", "links"]);
    for (name, table) in &written {
        let (_, wanted) = described.iter().find(|(other, _)| other == name).unwrap();
        let mut columns = table.columns.iter().map(|(name, column)| (*name, column.kind()));
        for (column, kind, meaning) in wanted {
            assert_eq!(columns.next(), Some((column.as_str(), *kind)), "{name}");
            assert!(!meaning.is_empty());
        }
        let more: Vec<_> = columns.collect();
        // Illinois shows alpha, beta and its delays; no other table has columns of controls.
        assert_eq!(more.is_empty(), *name != "windows", "{name}: {more:?}");
        assert!(more.iter().all(|(_, kind)| *kind == ColumnKind::Real));
    }

    let summary = serde_json::to_value(summary).unwrap();
    let schema = summary_schema();
    assert_eq!(keys(&summary), required(&schema));
    assert_eq!(keys(&summary["flows"][0]), required(&schema["$defs"]["FlowSummary"]));
    assert_eq!(keys(&summary["flows"][0]["whole_run"]), required(&schema["$defs"]["Counters"]));
    assert_eq!(keys(&summary["flows"][0]["limited_by"]), required(&schema["$defs"]["LimitedBy"]));
    assert_eq!(keys(&summary["links"][0]), required(&schema["$defs"]["LinkSummary"]));
    let flow = &summary["flows"][0];
    let parts = ["whole_run", "limited_by"]
        .map(|of| keys(&flow[of]).into_iter().map(move |key| format!("{of}_{key}")));
    let mut columns: Vec<_> = keys(flow)
        .into_iter()
        .filter(|key| !flow[*key].is_object())
        .map(str::to_owned)
        .chain(parts.into_iter().flatten())
        .collect();
    columns.sort();
    let mut wanted: Vec<_> = described[4].1.iter().map(|(name, ..)| name.clone()).collect();
    wanted.sort();
    assert_eq!(columns, wanted);
    let mut links: Vec<_> = described[5].1.iter().map(|(name, ..)| name.as_str()).collect();
    links.sort_unstable();
    assert_eq!(links, keys(&summary["links"][0]));
}

/// The rows of a table as texts, so that those of several can be put behind each other.
fn rows(table: &ackclock_trace::Table) -> Vec<String> {
    use ackclock_trace::Column;
    let cell = |column: &Column, row: usize| match column {
        Column::Whole(values) => format!("{:?}", values[row]),
        Column::Id(values) => format!("{:?}", values[row]),
        Column::Real(values) => format!("{:?}", values[row]),
        Column::Word(values) => values[row].to_owned(),
    };
    let count = match &table.columns[0].1 {
        Column::Whole(values) => values.len(),
        Column::Id(values) => values.len(),
        Column::Real(values) => values.len(),
        Column::Word(values) => values.len(),
    };
    (0..count)
        .map(|row| {
            let cells = table.columns.iter().map(|(name, column)| format!("{name}={}", cell(column, row)));
            cells.collect::<Vec<_>>().join(" ")
        })
        .collect()
}

#[test]
fn samples_that_are_taken_while_the_run_goes_on_are_those_of_its_end() {
    let file = format!("{ROOT}/scenarios/illinois-figure-8.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let settings = ["run.duration=3 s", "run.warmup=1 s"].map(str::to_owned);
    let scenario = read_toml(&text, &file, &settings, &BuiltIn).unwrap().scenario;
    let new = || Simulation::new(scenario.clone(), &BuiltIn, 0, true).unwrap();

    let mut whole = new();
    while !whole.advance(u64::MAX) {}
    let (summary, at_the_end) = whole.finish(&BuiltIn).unwrap();
    let mut watched = new();
    let mut rows_by_table: Vec<Vec<String>> = vec![Vec::new(); at_the_end.len()];
    let mut looks = 0;
    loop {
        let ended = watched.advance(97);
        for (index, (name, table)) in watched.take_tables().iter().enumerate() {
            assert_eq!(*name, at_the_end[index].0);
            rows_by_table[index].extend(rows(table));
        }
        looks += 1;
        if ended {
            break;
        }
    }
    assert!(looks > 10);
    for ((name, table), rows_before) in at_the_end.iter().zip(&rows_by_table) {
        // Bulk transfers have no requests.
        assert!(*name == "requests" || !rows_before.is_empty(), "{name}");
        assert_eq!(rows(table), *rows_before, "{name}");
    }
    let (again, left) = watched.finish(&BuiltIn).unwrap();
    assert_eq!(again, summary);
    assert!(left.iter().all(|(_, table)| rows(table).is_empty()));
}

/// Advanced to times of every kind, among them samples and the end, a run is what it is in one go.
#[test]
fn how_a_run_is_cut_changes_nothing() {
    let file = format!("{ROOT}/scenarios/illinois-figure-8.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let settings = ["run.duration=3 s", "run.warmup=1 s"].map(str::to_owned);
    let scenario = read_toml(&text, &file, &settings, &BuiltIn).unwrap().scenario;
    let finished = |step: Span| {
        let mut simulation = Simulation::new(scenario.clone(), &BuiltIn, 0, true).unwrap();
        while !simulation.advance_to(simulation.now() + step) {}
        format!("{:?}", simulation.finish(&BuiltIn).unwrap())
    };
    let mut whole = Simulation::new(scenario.clone(), &BuiltIn, 0, true).unwrap();
    while !whole.advance(u64::MAX) {}
    let whole = format!("{:?}", whole.finish(&BuiltIn).unwrap());
    for step in [Span::from_millis(1), Span::from_millis(100), Span(333_333_333_333), Span::from_seconds(5)] {
        assert!(finished(step) == whole, "steps of {step}");
    }
}

/// Else a table would have two columns of one name.
#[test]
fn no_control_shows_something_by_the_name_of_a_column() {
    let (_, windows) = tables().into_iter().find(|(name, _)| *name == "windows").unwrap();
    let flows: String = BuiltIn
        .entries()
        .iter()
        .map(|entry| format!("{{ controller = \"{}\", rtt = \"20 ms\" }},\n", entry.name))
        .collect();
    let text = format!(
        "run = {{ duration = \"1 s\" }}\n\
         dumbbell = {{ rate = \"100 Mbit/s\", delay = \"5 ms\", queue = {{ kind = \"droptail\", limit = \"100 packets\" }} }}\n\
         flow = [{flows}]\n"
    );
    let scenario = read_toml(&text, "all", &[], &BuiltIn).unwrap().scenario;
    let mut simulation = Simulation::new(scenario, &BuiltIn, 0, true).unwrap();
    while !simulation.advance(u64::MAX) {}
    let tables = simulation.take_tables();
    let (_, table) = tables.iter().find(|(name, _)| *name == "windows").unwrap();
    let mut names: Vec<_> = table.columns.iter().map(|(name, _)| *name).collect();
    assert!(names.len() > windows.len() + 30, "{}", names.len());
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}
