//! The summary of a run as Python's data, equal to what its JSON says.

use std::mem::take;
use std::sync::{Arc, Mutex, PoisonError};

use ackclock_sim::FinishedRun;
use ackclock_sim::memory::{look_for, unwind_if_short};
use ackclock_trace::{FlowSummary, Summary};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySlice, PyString};
use serde_json::{Value, to_value};

use crate::catalogue::Everything;
use crate::errors::SimulationError;
use crate::own::caught;

/// About what the dictionary of a flow takes without its settings, bytes. Python's own allocator has no reserve.
const BYTES_PER_FLOW: usize = 2_500;

/// Settings, and their dictionary.
type Settings = (Arc<Value>, Py<PyAny>);

/// The dictionary of a summary.
pub fn as_dict(py: Python<'_>, mut summary: Summary) -> PyResult<Bound<'_, PyDict>> {
    let summaries = take(&mut summary.flows);
    let whole = dict(py, to_value(&summary))?;
    caught(|| look_for(summaries.len() * BYTES_PER_FLOW))?;
    let flows = PyList::empty(py);
    let mut last = None;
    for summary in summaries {
        caught(unwind_if_short)?;
        flows.append(flow(py, summary, &mut last)?)?;
    }
    whole.set_item("flows", flows)?;
    Ok(whole)
}

/// The dictionary of the summary of a run whose flows are summarised when they are read.
pub fn lazily(py: Python<'_>, mut over: FinishedRun, catalogue: Everything) -> PyResult<Bound<'_, PyDict>> {
    let summary = caught(|| py.detach(|| over.summarise(&catalogue, &mut |_| ())))?;
    let whole = dict(py, to_value(&summary))?;
    whole.set_item("flows", Flows { over: Mutex::new(over), catalogue, last: Mutex::new(None) })?;
    Ok(whole)
}

/// The flows of a run that has ended, each of them summarised when it is read.
#[pyclass(frozen, sequence, module = "ackclock._native")]
pub struct Flows {
    over: Mutex<FinishedRun>,
    catalogue: Everything,
    /// The settings of the flow that was read last.
    last: Mutex<Option<Settings>>,
}

#[derive(FromPyObject)]
enum Which<'py> {
    One(isize),
    Part(Bound<'py, PySlice>),
}

impl Flows {
    fn flow<'py>(&self, py: Python<'py>, id: u32) -> PyResult<Bound<'py, PyDict>> {
        // Neither is locked while Python may run: a thread that waits for a lock would keep Python from the one that has it.
        let summary = {
            let mut over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
            caught(|| over.flow(id, &self.catalogue))?
        };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner).take();
        let flow = flow(py, summary, &mut last)?;
        let known = std::mem::replace(&mut *self.last.lock().unwrap_or_else(PoisonError::into_inner), last);
        drop(known);
        Ok(flow)
    }
}

#[pymethods]
impl Flows {
    fn __len__(&self) -> usize {
        self.over.lock().unwrap_or_else(PoisonError::into_inner).flows() as usize
    }

    fn __getitem__<'py>(&self, py: Python<'py>, which: Which<'py>) -> PyResult<Bound<'py, PyAny>> {
        let count = self.__len__() as isize;
        match which {
            Which::One(index) => {
                let id = if index < 0 { index + count } else { index };
                if !(0..count).contains(&id) {
                    return Err(PyIndexError::new_err("there is no such flow"));
                }
                Ok(self.flow(py, id as u32)?.into_any())
            }
            Which::Part(slice) => {
                let slice = slice.indices(count)?;
                let flows = PyList::empty(py);
                for step in 0..slice.slicelength as isize {
                    flows.append(self.flow(py, (slice.start + step * slice.step) as u32)?)?;
                }
                Ok(flows.into_any())
            }
        }
    }

    /// A copy is a list.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
        let every = self.__getitem__(py, Which::Part(PySlice::full(py)))?;
        Ok((py.get_type::<PyList>().into_any(), (every,)))
    }

    fn __repr__(&self) -> String {
        format!("<Flows: {}>", self.__len__())
    }
}

/// The dictionary of a flow. Flows with the same settings as the `last` share the dictionary of these, which 100 000 times
/// would take 200 MB.
fn flow<'py>(
    py: Python<'py>,
    mut summary: FlowSummary,
    last: &mut Option<Settings>,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = take(&mut summary.settings);
    let (known, shared) =
        match last.take().filter(|(known, _)| Arc::ptr_eq(known, &settings) || *known == settings) {
            Some(shared) => shared,
            None => {
                let converted = value(py, &settings)?.unbind();
                (settings, converted)
            }
        };
    let flow = dict(py, to_value(&summary))?;
    flow.set_item("settings", &shared)?;
    *last = Some((known, shared));
    Ok(flow)
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
