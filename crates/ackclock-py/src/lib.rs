//! The Python extension: scenarios in, columns out. All logic is in the crates below or in Python above.

mod catalogue;
mod column;
mod distributions;
mod episodes;
mod errors;
mod json;
mod library;
mod own;
mod quic;
mod reserve;
mod scenario;
mod signals;
mod summary;

use ackclock_scenario::{EXAMPLE, Kind, Unit, json_schema};
use include_dir::{Dir, include_dir};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::catalogue::Everything;
use crate::scenario::Scenario;

/// The controls as a JSON list.
#[pyfunction]
fn controllers() -> String {
    ackclock_scenario::controllers(&Everything::now()).to_string()
}

/// Whether a control is built in or the kernel's, not one that was registered or loaded.
#[pyfunction]
fn is_built_in(controller: &str) -> bool {
    catalogue::is_ours(controller)
}

/// A page per control: `NAME.md`.
static PAGES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../docs/controllers");

/// The page of a control, as Markdown; none if there is no such control. The kernel's code has that of what it
/// is the code of.
#[pyfunction]
fn page(controller: &str) -> Option<&'static str> {
    let name = controller.strip_suffix("@kernel").map_or(controller, ackclock_kernel::twin::original);
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

/// The JSON schema of the summary of a run.
#[pyfunction]
fn summary_schema() -> String {
    ackclock_trace::summary_schema().to_string()
}

/// The columns of the tables of a run: name, type and meaning, by table.
#[pyfunction]
fn columns(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let tables = PyDict::new(py);
    for (name, columns) in ackclock_trace::tables() {
        let columns: Vec<_> =
            columns.into_iter().map(|(name, kind, meaning)| (name, kind.name(), meaning)).collect();
        tables.set_item(name, columns)?;
    }
    Ok(tables)
}

/// Reads a quantity such as "80 ms" as a number in the unit that the name of its kind ends with.
#[pyfunction]
fn quantity(text: &str, kind: &str) -> PyResult<f64> {
    let Some((_, kind)) = Kind::NAMES.iter().find(|(name, _)| *name == kind) else {
        let names = Kind::NAMES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        return Err(PyValueError::new_err(format!("unknown kind \"{kind}\"; allowed: {names}")));
    };
    ackclock_scenario::quantity(text, *kind).map_err(PyValueError::new_err)
}

/// Reads the size of a queue, and says whether it is in packets or in bytes.
#[pyfunction]
fn limit(text: &str) -> PyResult<(u64, &'static str)> {
    let (number, unit) = ackclock_scenario::limit(text).map_err(PyValueError::new_err)?;
    Ok((number, if unit == Unit::Packets { "packets" } else { "B" }))
}

/// The question that suggests the names most like a wrong one; empty if none is similar.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python's names come as new strings")]
fn did_you_mean(wrong: &str, names: Vec<String>) -> String {
    ackclock_units::did_you_mean(wrong, names.iter().map(String::as_str))
}

/// The module.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add("ENGINE", env!("ACKCLOCK_ENGINE"))?;
    module.add("RULES", ackclock_trace::RULES)?;
    module.add("QUIC", cfg!(feature = "quic"))?;
    module.add("FILE_KEYS", ackclock_scenario::file_keys())?;
    module.add_class::<signals::Ack>()?;
    module.add_class::<signals::Beginning>()?;
    module.add_class::<signals::Loss>()?;
    module.add_class::<signals::Lost>()?;
    module.add_class::<signals::RateSample>()?;
    module.add_class::<signals::Timeout>()?;
    module.add_class::<Scenario>()?;
    module.add_class::<summary::Flows>()?;
    module.add_class::<episodes::Episodes>()?;
    module.add_function(wrap_pyfunction!(episodes::observed, module)?)?;
    module.add_function(wrap_pyfunction!(own::register, module)?)?;
    module.add_function(wrap_pyfunction!(library::load_library, module)?)?;
    module.add_function(wrap_pyfunction!(is_built_in, module)?)?;
    module.add_function(wrap_pyfunction!(controllers, module)?)?;
    module.add_function(wrap_pyfunction!(page, module)?)?;
    module.add_function(wrap_pyfunction!(summary_schema, module)?)?;
    module.add_function(wrap_pyfunction!(columns, module)?)?;
    module.add_function(wrap_pyfunction!(quantity, module)?)?;
    module.add_function(wrap_pyfunction!(limit, module)?)?;
    module.add_function(wrap_pyfunction!(did_you_mean, module)?)?;
    module.add_function(wrap_pyfunction!(distributions::student_quantile, module)?)?;
    module.add_function(wrap_pyfunction!(distributions::student_below, module)?)?;
    module.add_function(wrap_pyfunction!(distributions::chi_squared_above, module)?)?;
    module.add_function(wrap_pyfunction!(distributions::gamma_quantiles, module)?)?;
    module.add_function(wrap_pyfunction!(distributions::beta_quantile, module)?)?;
    module.add_function(wrap_pyfunction!(distributions::normal_below, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(example, module)?)
}
