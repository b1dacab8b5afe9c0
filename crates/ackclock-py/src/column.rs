//! Columns for Python: numpy reads the numbers where they are, by the buffer protocol. Its interface for C would be eight
//! crates more to build.

use std::ffi::{c_int, c_void};

use ackclock_trace::{Cells, Column};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyList;

/// The numbers of a column; nothing changes them any more.
#[pyclass(frozen, module = "ackclock._native")]
struct Numbers(Column);

#[pymethods]
impl Numbers {
    #[expect(unsafe_code, reason = "the buffer protocol consists of pointers")]
    unsafe fn __getbuffer__(this: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        const READ_ONLY: c_int = 1;
        let (start, length): (*const c_void, usize) = match &this.get().0 {
            Column::Whole(values) => (values.as_ptr().cast(), size_of_val(values.as_slice())),
            Column::Id(values) => (values.as_ptr().cast(), size_of_val(values.as_slice())),
            Column::Real(values) => (values.as_ptr().cast(), size_of_val(values.as_slice())),
            Column::Word(_) => return Err(PyBufferError::new_err("words are not numbers")),
        };
        // SAFETY: the view is Python's, which fills it in. It keeps `this` alive, and with it the numbers, which neither move
        // nor change: the class is frozen, and the view is read-only.
        let result = unsafe {
            ffi::PyBuffer_FillInfo(view, this.as_ptr(), start.cast_mut(), length as isize, READ_ONLY, flags)
        };
        if result == 0 { Ok(()) } else { Err(PyErr::fetch(this.py())) }
    }
}

/// A column as an array, or as a list of words.
pub fn as_python(py: Python<'_>, column: Column) -> PyResult<Bound<'_, PyAny>> {
    static FROM_BUFFER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if let Column::Word(words) = column {
        return Ok(PyList::new(py, words)?.into_any());
    }
    let kind = column.kind().name();
    FROM_BUFFER.import(py, "numpy", "frombuffer")?.call1((Numbers(column), kind))
}

/// The cells of a column as an array where none is empty, else as a list.
pub fn of_cells(py: Python<'_>, cells: Cells) -> PyResult<Bound<'_, PyAny>> {
    fn full<T: Copy>(cells: &[Option<T>]) -> Option<Vec<T>> {
        cells.iter().copied().collect()
    }
    let column = match &cells {
        Cells::Whole(cells) => full(cells).map(Column::Whole),
        Cells::Id(cells) => full(cells).map(Column::Id),
        Cells::Real(cells) => full(cells).map(Column::Real),
        Cells::Word(_) => None,
    };
    if let Some(column) = column {
        return as_python(py, column);
    }
    let list = match cells {
        Cells::Whole(cells) => PyList::new(py, cells)?,
        Cells::Id(cells) => PyList::new(py, cells)?,
        Cells::Real(cells) => PyList::new(py, cells)?,
        Cells::Word(cells) => PyList::new(py, cells)?,
    };
    Ok(list.into_any())
}
