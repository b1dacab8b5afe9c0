//! The summary of a run as Python's data, equal to what its JSON says.

use std::mem::{replace, take};
use std::sync::Arc;

use ackclock_sim::memory::{look_for, unwind_if_short};
use ackclock_trace::Summary;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use serde_json::{Value, to_value};

use crate::SimulationError;
use crate::own::caught;

/// About what the dictionary of a flow takes without its settings, bytes. Python's own allocator has no reserve.
const BYTES_PER_FLOW: usize = 2_500;

/// The dictionary of a summary. Flows with the same settings share the dictionary of these, which 100 000 times would take
/// 200 MB.
pub fn as_dict(py: Python<'_>, mut summary: Summary) -> PyResult<Bound<'_, PyDict>> {
    let summaries = take(&mut summary.flows);
    let whole = dict(py, to_value(&summary))?;
    caught(|| look_for(summaries.len() * BYTES_PER_FLOW))?;
    let flows = PyList::empty(py);
    let nothing = Arc::new(Value::Null);
    let mut last: Option<(Arc<Value>, Bound<'_, PyAny>)> = None;
    for mut summary in summaries {
        caught(unwind_if_short)?;
        let settings = replace(&mut summary.settings, nothing.clone());
        let shared =
            match last.take().filter(|(known, _)| Arc::ptr_eq(known, &settings) || *known == settings) {
                Some(shared) => shared,
                None => {
                    let converted = value(py, &settings)?;
                    (settings, converted)
                }
            };
        let flow = dict(py, to_value(&summary))?;
        flow.set_item("settings", &shared.1)?;
        flows.append(flow)?;
        last = Some(shared);
    }
    whole.set_item("flows", flows)?;
    Ok(whole)
}

fn dict(py: Python<'_>, json: serde_json::Result<Value>) -> PyResult<Bound<'_, PyDict>> {
    let json = json.map_err(|error| SimulationError::new_err(error.to_string()))?;
    Ok(value(py, &json)?.cast_into::<PyDict>()?)
}

fn value<'py>(py: Python<'py>, json: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match json {
        Value::Null => py.None().into_bound(py),
        Value::Bool(flag) => flag.into_bound_py_any(py)?,
        Value::Number(number) => match number.as_u64() {
            Some(whole) => whole.into_bound_py_any(py)?,
            None => match number.as_i64() {
                Some(whole) => whole.into_bound_py_any(py)?,
                None => number.as_f64().into_bound_py_any(py)?,
            },
        },
        Value::String(text) => text.into_bound_py_any(py)?,
        Value::Array(values) => {
            let list = PyList::empty(py);
            for entry in values {
                list.append(value(py, entry)?)?;
            }
            list.into_any()
        }
        Value::Object(entries) => {
            let dict = PyDict::new(py);
            for (key, entry) in entries {
                dict.set_item(PyString::intern(py, key), value(py, entry)?)?;
            }
            dict.into_any()
        }
    })
}
