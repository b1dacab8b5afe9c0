//! The summary of a run as Python's data, equal to what its JSON says.

use std::mem::take;
use std::sync::{Arc, Mutex, PoisonError};

use ackclock_sim::FinishedRun;
use ackclock_sim::memory::{look_for, unwind_if_short};
use ackclock_trace::{FlowSummary, Summary};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping, PySlice, PyString};
use pythonize::{PythonizeMappingType, PythonizeTypes, PythonizeUnnamedMappingAdapter, pythonize_custom};
use serde::Serialize;
use serde_json::Value;

use crate::catalogue::Everything;
use crate::errors::SimulationError;
use crate::own::caught;
use crate::{column, json};

/// About what the dictionary of a flow takes without its settings, bytes. Python's own allocator has no reserve.
const BYTES_PER_FLOW: usize = 2_500;

/// Settings, and their dictionary.
type Settings = (Arc<Value>, Py<PyAny>);

/// The dictionary of a summary.
pub fn as_dict(py: Python<'_>, mut summary: Summary) -> PyResult<Bound<'_, PyDict>> {
    let summaries = take(&mut summary.flows);
    let whole = data(py, &summary)?.cast_into::<PyDict>()?;
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
    let whole = data(py, &summary)?.cast_into::<PyDict>()?;
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

    /// The columns of flows `first` to `end` by name: arrays, or lists where a cell may be empty and of words.
    fn columns<'py>(&self, py: Python<'py>, first: u32, end: u32) -> PyResult<Bound<'py, PyDict>> {
        let rows = caught(|| {
            py.detach(|| {
                let mut rows = FlowSummary::rows();
                let mut over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
                for id in first..end.min(over.flows()) {
                    unwind_if_short();
                    over.flow(id, &self.catalogue).add_to(&mut rows);
                }
                rows
            })
        })?;
        let columns = PyDict::new(py);
        for (name, cells) in rows.columns() {
            columns.set_item(name, column::of_cells(py, cells)?)?;
        }
        Ok(columns)
    }

    /// The flows `first` to `end` as the elements of a list in JSON, `depth` levels deep, with commas between them.
    fn json(
        &self,
        py: Python<'_>,
        first: u32,
        end: u32,
        indent: Option<usize>,
        depth: usize,
    ) -> PyResult<String> {
        let text = caught(|| {
            py.detach(|| {
                let mut over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
                let flows = (first..end.min(over.flows())).map(|id| {
                    unwind_if_short();
                    json::dumps(&over.flow(id, &self.catalogue), indent, depth)
                });
                let comma =
                    indent.map_or_else(|| ", ".into(), |indent| format!(",\n{:1$}", "", indent * depth));
                Ok::<_, serde_json::Error>(flows.collect::<Result<Vec<_>, _>>()?.join(&comma))
            })
        })?;
        text.map_err(|error| SimulationError::new_err(error.to_string()))
    }

    /// The first flow of every `[[flow]]`: all others have the settings of one of them.
    fn firsts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let firsts = self.over.lock().unwrap_or_else(PoisonError::into_inner).firsts();
        firsts.into_iter().map(|id| self.flow(py, id)).collect()
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
                let converted = data(py, &settings)?.unbind();
                (settings, converted)
            }
        };
    let flow = data(py, &summary)?.cast_into::<PyDict>()?;
    flow.set_item("settings", &shared)?;
    *last = Some((known, shared));
    Ok(flow)
}

/// The data of Python that a value is.
fn data<'py, T: Serialize + ?Sized>(py: Python<'py>, value: &T) -> PyResult<Bound<'py, PyAny>> {
    pythonize_custom::<Shared, T>(py, value).map_err(|error| SimulationError::new_err(error.to_string()))
}

/// Dictionaries that share their keys: those of 100 000 flows would take 200 MB.
struct Shared;

impl PythonizeTypes for Shared {
    type Map = Shared;
    type NamedMap = PythonizeUnnamedMappingAdapter<Shared>;
    type List = PyList;
}

impl PythonizeMappingType for Shared {
    type Builder<'py> = Bound<'py, PyDict>;

    fn builder<'py>(py: Python<'py>, _: Option<usize>) -> PyResult<Self::Builder<'py>> {
        Ok(PyDict::new(py))
    }

    fn push_item<'py>(
        builder: &mut Self::Builder<'py>,
        key: Bound<'py, PyAny>,
        value: Bound<'py, PyAny>,
    ) -> PyResult<()> {
        builder.set_item(PyString::intern(key.py(), key.cast::<PyString>()?.to_str()?), value)
    }

    fn finish<'py>(builder: Self::Builder<'py>) -> PyResult<Bound<'py, PyMapping>> {
        Ok(builder.into_mapping())
    }
}
