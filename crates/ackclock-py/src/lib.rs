//! The Python extension: scenarios in, columns out. All logic is in the crates below or in Python above.

mod catalogue;
mod library;
mod own;

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use ackclock_cc::registry::{Catalogue, Entry};
use ackclock_cc::{Domain, Parameter, Value};
use ackclock_quic::simulated::Quic;
use ackclock_scenario::{Checked, EXAMPLE, json_schema, read_json, read_toml};
use ackclock_sim::{Makers, Simulation};
use ackclock_trace::{Column, Table};
use include_dir::{Dir, include_dir};
use numpy::PyArray1;
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::json;

use crate::catalogue::Everything;
use crate::own::caught;

create_exception!(_native, ScenarioError, PyValueError, "A scenario was refused.");
create_exception!(_native, SimulationError, PyRuntimeError, "A simulation failed.");

/// Events between two looks at Ctrl-C and the progress: a few hundredths of a second.
const EVENTS_AT_ONCE: u64 = 500_000;

fn read(text: &str, file: &str, settings: &[String], is_json: bool) -> PyResult<Checked> {
    let read = if is_json { read_json } else { read_toml };
    read(text, file, settings, &Everything::now())
        .map_err(|refusal| ScenarioError::new_err(refusal.to_string()))
}

/// Checks a scenario and returns it as it would be run, as TOML.
#[pyfunction]
#[pyo3(signature = (text, file, settings, is_json=false))]
fn check(text: &str, file: &str, settings: Vec<String>, is_json: bool) -> PyResult<String> {
    read(text, file, &settings, is_json).map(|checked| checked.toml)
}

/// The controls as a JSON list.
#[pyfunction]
fn controllers() -> String {
    let list: Vec<_> = Everything::now().entries().iter().map(describe).collect();
    serde_json::Value::from(list).to_string()
}

fn describe(entry: &Entry) -> serde_json::Value {
    let parameters: Vec<_> = entry.parameters.iter().map(describe_parameter).collect();
    json!({
        "name": entry.name,
        "kind": entry.kind.name(),
        "source": entry.source,
        "parameters": parameters,
    })
}

fn describe_parameter(parameter: &Parameter) -> serde_json::Value {
    let default = match parameter.default {
        Value::Number(number) => json!(number),
        Value::Choice(word) => json!(word),
        Value::Flag(flag) => json!(flag),
    };
    let mut description = json!({
        "name": parameter.name,
        "default": default,
        "minimum": null,
        "maximum": null,
        "meaning": parameter.meaning,
    });
    match parameter.domain {
        Domain::Number { minimum, maximum } => {
            description["minimum"] = json!(minimum);
            description["maximum"] = json!(maximum);
        }
        Domain::Choice(words) => description["choices"] = json!(words),
        Domain::Flag => description["choices"] = json!([true, false]),
    }
    description
}

/// A page per control: `NAME.md`.
static PAGES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../docs/controllers");

/// The page of a control, as Markdown; none if there is no such control. The kernel's code has that of what it
/// is the code of.
#[pyfunction]
fn page(controller: &str) -> Option<&'static str> {
    let name = controller.strip_suffix("@kernel").unwrap_or(controller);
    PAGES.get_file(format!("{name}.md"))?.contents_utf8()
}

/// The JSON schema of scenarios.
#[pyfunction]
fn schema() -> String {
    json_schema().to_string()
}

/// A commented scenario.
#[pyfunction]
fn example() -> &'static str {
    EXAMPLE
}

/// Runs a scenario: its summary as JSON, and its tables if they are to be recorded.
#[pyfunction]
#[pyo3(signature = (text, file, settings, is_json=false, run=0, record=false, progress=None, pcap=None, qlog=None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
fn simulate<'py>(
    py: Python<'py>,
    text: &str,
    file: &str,
    settings: Vec<String>,
    is_json: bool,
    run: u64,
    record: bool,
    progress: Option<Bound<'py, PyAny>>,
    pcap: Option<String>,
    qlog: Option<PathBuf>,
) -> PyResult<(String, Bound<'py, PyDict>)> {
    let scenario = read(text, file, &settings, is_json)?.scenario;
    let catalogue = Everything::now();
    let quic = Quic { qlog };
    let makers = Makers { catalogue: &catalogue, quic: Some(&quic) };
    let mut simulation =
        caught(|| Simulation::with(scenario, makers, run, record))?.map_err(SimulationError::new_err)?;
    if let Some(path) = &pcap {
        let failed = |error: std::io::Error| PyOSError::new_err(format!("cannot write {path}: {error}"));
        let file = File::create(path).map_err(failed)?;
        simulation.capture(Box::new(BufWriter::new(file))).map_err(failed)?;
    }
    while !caught(|| py.detach(|| simulation.advance(EVENTS_AT_ONCE)))? {
        py.check_signals()?;
        if let Some(progress) = &progress {
            progress.call1((simulation.now().as_seconds(), simulation.packets()))?;
        }
    }
    let (summary, tables) = py
        .detach(|| simulation.finish(&catalogue))
        .map_err(|error| PyOSError::new_err(format!("cannot write {}: {error}", pcap.unwrap_or_default())))?;
    let summary =
        serde_json::to_string(&summary).map_err(|error| SimulationError::new_err(error.to_string()))?;
    let dictionary = PyDict::new(py);
    for (name, table) in tables {
        dictionary.set_item(name, columns(py, table)?)?;
    }
    Ok((summary, dictionary))
}

fn columns(py: Python<'_>, table: Table) -> PyResult<Bound<'_, PyDict>> {
    let dictionary = PyDict::new(py);
    for (name, column) in table.columns {
        match column {
            Column::Whole(values) => dictionary.set_item(name, PyArray1::from_vec(py, values))?,
            Column::Id(values) => dictionary.set_item(name, PyArray1::from_vec(py, values))?,
            Column::Real(values) => dictionary.set_item(name, PyArray1::from_vec(py, values))?,
            Column::Word(values) => dictionary.set_item(name, PyList::new(py, values)?)?,
        }
    }
    Ok(dictionary)
}

/// The module.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add("SimulationError", module.py().get_type::<SimulationError>())?;
    module.add_class::<own::Ack>()?;
    module.add_class::<own::Beginning>()?;
    module.add_class::<own::Loss>()?;
    module.add_class::<own::Timeout>()?;
    module.add_function(wrap_pyfunction!(own::register, module)?)?;
    module.add_function(wrap_pyfunction!(library::load_library, module)?)?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(controllers, module)?)?;
    module.add_function(wrap_pyfunction!(page, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(example, module)?)?;
    module.add_function(wrap_pyfunction!(simulate, module)?)
}
