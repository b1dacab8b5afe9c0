//! A scenario for Python: read once, checked, and run as often as one likes.

use std::any::Any;
use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io::BufWriter;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use ackclock_scenario::{Checked, Draft, Files, Flow, Loss};
use ackclock_sim::memory::{look_for, unwind_if_short};
use ackclock_sim::{Makers, Simulation, mean_rate};
use ackclock_trace::Table;
use ackclock_units::Span;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::catalogue::{self, Everything};
use crate::column;
use crate::errors::{ScenarioError, SimulationError};
use crate::own::caught;
use crate::quic::Quic;
use crate::reserve::Kept;
use crate::summary;

/// Events between two looks at Ctrl-C and the progress: a few hundredths of a second.
const EVENTS_AT_ONCE: u64 = 500_000;

/// A finished simulation: its summary, and its tables by name.
type Finished<'py> = (Bound<'py, PyDict>, Bound<'py, PyDict>);

/// A scenario that was accepted. It never changes, and threads may share it.
#[pyclass(frozen, module = "ackclock._native")]
pub struct Scenario {
    checked: Checked,
    /// Called with the controls before each check; returns the references that labels among them stand for.
    prepare: Option<Py<PyAny>>,
    /// Computed once: it takes 50 ms with 6000 flows, and every look at the progress of a run looks the run up.
    digest: OnceLock<String>,
}

/// Length of a text, bytes, and number of flows from which on reading and building are waited for: they take longer than
/// somebody who presses Ctrl-C does.
const LONG_TEXT: usize = 200_000;
const MANY_FLOWS: usize = 5_000;
/// Address space that reading takes per byte of a text at most, while lists of the parser grow: five times what is used in
/// the end. And about what checking takes per `[[flow]]`.
const BYTES_PER_BYTE: usize = 500;
const BYTES_PER_TABLE: usize = 16_000;
/// About what a copy of a flow takes that was checked, bytes.
const BYTES_PER_COPY: usize = 2_000;
/// How often Ctrl-C is checked meanwhile.
const LOOK: Duration = Duration::from_millis(50);
/// Stack of a thread that is waited for, bytes: that of a main thread.
const STACK: usize = 8 << 20;

/// Does `work` on a thread of its own, and abandons it at Ctrl-C. It must not use Python, which may end before it.
fn waited_for<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    type Done<T> = Result<T, Box<dyn Any + Send>>;
    let (sender, mut receiver) = channel::<Done<T>>();
    thread::Builder::new().stack_size(STACK).spawn(move || {
        // Without a receiver nobody waits any more.
        let _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
    })?;
    loop {
        let done = py.detach(|| {
            let receiver = &mut receiver;
            receiver.recv_timeout(LOOK)
        });
        match done {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(payload)) => resume_unwind(payload),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => return Err(SimulationError::new_err("a thread was lost")),
        }
    }
}

fn refused(refusal: ackclock_scenario::Refusal) -> PyErr {
    let [file, key, remedy] =
        [refusal.file(), refusal.key(), refusal.remedy()].map(|text| text.map(str::to_owned));
    ScenarioError::new_err((refusal.to_string(), file, refusal.line(), key, remedy))
}

impl Scenario {
    fn check(py: Python<'_>, draft: Draft, prepare: Option<Py<PyAny>>) -> PyResult<Self> {
        let draft = match &prepare {
            Some(prepare) => {
                let references: BTreeMap<_, _> = prepare.call1(py, (draft.controls(),))?.extract(py)?;
                draft.with_controls(&references)
            }
            None => draft,
        };
        let tables = draft.flow_table_count();
        caught(|| look_for(tables * BYTES_PER_TABLE))?;
        let is_long = tables > MANY_FLOWS;
        let check = move || draft.check(&Everything::now());
        let checked = if is_long { waited_for(py, check)? } else { check() };
        Ok(Scenario { checked: checked.map_err(refused)?, prepare, digest: OnceLock::new() })
    }

    /// The scenario.
    pub fn scenario(&self) -> &ackclock_scenario::Scenario {
        &self.checked.scenario
    }

    /// The flows, and after them those that arrive during a run, of which each kind is one here.
    fn every_flow(&self) -> impl Iterator<Item = &Flow> {
        let scenario = self.scenario();
        scenario.flows.iter().chain(scenario.arrivals.iter().map(|arrivals| &arrivals.flow))
    }

    /// The first flow that has a control, or else the first flow.
    fn first(&self) -> Option<&Flow> {
        self.every_flow().find(|flow| !flow.control.is_empty()).or(self.every_flow().next())
    }

    /// The index of the slowest link on the way of the first flow.
    fn slowest(&self) -> usize {
        let links = &self.scenario().links;
        self.first()
            .and_then(|flow| flow.path.iter().copied().min_by_key(|link| links[*link].rate.0))
            .unwrap_or(0)
    }
}

#[pymethods]
impl Scenario {
    /// Reads and checks a scenario.
    #[staticmethod]
    #[pyo3(
        signature = (text, file, settings=Vec::new(), is_json=false, prepare=None, files=None),
        text_signature = "(text, file, settings=(), is_json=False, prepare=None, files=None)"
    )]
    fn read(
        py: Python<'_>,
        text: String,
        file: String,
        settings: Vec<String>,
        is_json: bool,
        prepare: Option<Py<PyAny>>,
        files: Option<Files>,
    ) -> PyResult<Self> {
        let _kept = Kept::new();
        caught(|| look_for(text.len() * BYTES_PER_BYTE))?;
        let is_long = text.len() > LONG_TEXT;
        let read = move || {
            let draft = if is_json { Draft::from_json(&text, &file) } else { Draft::from_toml(&text, &file) };
            draft.and_then(|draft| draft.set(&settings))
        };
        let draft = if is_long { waited_for(py, read)? } else { read() }.map_err(refused)?;
        let draft = match files {
            Some(files) => draft.with_files(files),
            None => draft,
        };
        Scenario::check(py, draft, prepare)
    }

    /// The same scenario with changes to what was written.
    #[pyo3(signature = (*settings))]
    fn with_(&self, py: Python<'_>, settings: Vec<String>) -> PyResult<Self> {
        let _kept = Kept::new();
        let draft = self.checked.draft().clone().set(&settings).map_err(refused)?;
        Scenario::check(py, draft, self.prepare.as_ref().map(|prepare| prepare.clone_ref(py)))
    }

    /// Simulated time, seconds.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.checked.scenario.run.duration.as_seconds()
    }

    /// Time from which metrics are measured, seconds.
    #[getter]
    fn warmup_s(&self) -> f64 {
        self.checked.scenario.run.warmup.as_seconds()
    }

    /// Seed of the random streams.
    #[getter]
    fn seed(&self) -> u64 {
        self.checked.scenario.run.seed
    }

    /// The controls of the flows, each once, in the order of the flows.
    #[getter]
    fn controls(&self) -> Vec<String> {
        self.checked.controls()
    }

    /// Name of every flow, and its control, or its source when it has none. Flows that arrive during a run, after the
    /// others, are one here.
    #[getter]
    fn flows(&self) -> Vec<(String, String)> {
        self.every_flow().map(|flow| (flow.name.clone(), flow.label.to_string())).collect()
    }

    /// Propagation round trip of every flow, seconds, in the order of `flows`.
    #[getter]
    fn rtts_s(&self) -> Vec<f64> {
        self.every_flow().map(|flow| flow.rtt.as_seconds()).collect()
    }

    /// Size of a full packet of every flow, bytes, in the order of `flows`.
    #[getter]
    fn packet_bytes(&self) -> Vec<u64> {
        self.every_flow().map(|flow| flow.tcp.packet.0).collect()
    }

    /// The name of the slowest link on the way of the first flow, by its rate at the start.
    #[getter]
    fn bottleneck(&self) -> &str {
        &self.scenario().links[self.slowest()].name
    }

    /// The mean rate of a link over an interval, Mbit/s.
    #[pyo3(signature = (link=None, *, from_s=None, to_s=None, run=0))]
    fn mean_rate_mbps(
        &self,
        link: Option<&str>,
        from_s: Option<f64>,
        to_s: Option<f64>,
        run: u64,
    ) -> PyResult<Option<f64>> {
        let Scenario { checked, .. } = self;
        let (links, run_of) = (&checked.scenario.links, &checked.scenario.run);
        let index = match link {
            None => self.slowest(),
            Some(name) => links.iter().position(|link| link.name == name).ok_or_else(|| {
                let names: Vec<&str> = links.iter().map(|link| &*link.name).collect();
                PyValueError::new_err(format!("no link {name:?}; there are: {}", names.join(", ")))
            })?,
        };
        let at = |seconds: Option<f64>, usual: Span| seconds.map_or(usual, Span::from_seconds_f64);
        let (from, to) = (at(from_s, run_of.warmup), at(to_s, run_of.duration).min(run_of.duration));
        Ok(mean_rate(&checked.scenario, index, run, from, to).map(|rate| rate / 1e6))
    }

    /// Share of the packets that the bottleneck loses independently of each other, on average where a file says it.
    #[getter]
    fn loss_rate(&self) -> f64 {
        match self.scenario().links[self.slowest()].loss {
            Loss::Bernoulli { probability } => probability,
            _ => 0.0,
        }
    }

    /// Bandwidth-delay product of the first flow with a control, in its packets.
    #[getter]
    fn bdp_packets(&self) -> PyResult<Option<f64>> {
        let packets = |(flow, mbps): (&Flow, f64)| {
            mbps * 1e6 * flow.rtt.as_seconds() / (8.0 * flow.tcp.packet.0 as f64)
        };
        Ok(self.first().zip(self.mean_rate_mbps(None, None, None, 0)?).map(packets))
    }

    /// The texts of the files that it names, by the names that are written.
    #[getter]
    fn files(&self) -> Files {
        self.checked.files().clone()
    }

    /// The number of `[[flow]]` tables; each may stand for several flows.
    #[getter]
    fn flow_tables(&self) -> usize {
        self.checked.draft().flow_table_count()
    }

    /// Fingerprint of what is to be run: a version such as `s1:` and 32 hexadecimal digits.
    #[getter]
    fn digest(&self) -> &str {
        self.digest.get_or_init(|| self.checked.digest())
    }

    /// Its name in messages.
    #[getter]
    fn file(&self) -> &str {
        self.checked.draft().file()
    }

    /// As TOML, every default filled in.
    fn toml(&self) -> &str {
        &self.checked.toml
    }

    /// The nested tables of `toml`.
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        as_python(py, &self.checked.json())
    }

    /// The nested tables that were written, settings applied, without any defaults.
    fn written<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        as_python(py, &self.checked.draft().json())
    }

    /// Runs it. With `lazy`, each flow is summarised when it is read.
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    #[pyo3(signature = (run=0, record=false, progress=None, pcap=None, qlog=None, lazy=false))]
    fn simulate<'py>(
        &self,
        py: Python<'py>,
        run: u64,
        record: bool,
        progress: Option<Bound<'py, PyAny>>,
        pcap: Option<String>,
        qlog: Option<PathBuf>,
        lazy: bool,
    ) -> PyResult<Finished<'py>> {
        let _kept = Kept::new();
        let catalogue = Everything::now();
        caught(|| look_for(self.checked.scenario.flows.len() * BYTES_PER_COPY))?;
        let scenario = self.checked.scenario.clone();
        // Controls in Python are made by Python, which notices Ctrl-C itself.
        let is_long = scenario.flows.len() > MANY_FLOWS
            && self.checked.controls().iter().all(|name| catalogue::is_ours(name));
        let build = move || {
            let (catalogue, quic) = (Everything::now(), Quic { qlog });
            let makers = Makers { catalogue: &catalogue, quic: Some(&quic) };
            Simulation::with(scenario, makers, run, record)
        };
        let simulation = if is_long { caught(|| waited_for(py, build))?? } else { caught(build)? };
        let mut simulation = simulation.map_err(SimulationError::new_err)?;
        if let Some(path) = &pcap {
            let failed = |error: std::io::Error| PyOSError::new_err(format!("cannot write {path}: {error}"));
            let file = File::create(path).map_err(failed)?;
            simulation.capture(Box::new(BufWriter::new(file))).map_err(failed)?;
        }
        while !caught(|| py.detach(|| simulation.advance(EVENTS_AT_ONCE)))? {
            caught(unwind_if_short)?;
            py.check_signals()?;
            if let Some(progress) = &progress {
                progress.call1((simulation.now().as_seconds(), simulation.packets()))?;
            }
        }
        let failed =
            |error| PyOSError::new_err(format!("cannot write {}: {error}", pcap.unwrap_or_default()));
        let (summary, tables) = if lazy {
            let (over, tables) = caught(|| py.detach(|| simulation.end()))?.map_err(failed)?;
            (summary::lazily(py, over, catalogue)?, tables)
        } else {
            let finished = caught(|| py.detach(|| simulation.finish(&catalogue)))?;
            let (summary, tables) = finished.map_err(failed)?;
            (summary::as_dict(py, summary)?, tables)
        };
        let dictionary = PyDict::new(py);
        for (name, table) in tables {
            dictionary.set_item(name, columns(py, table)?)?;
        }
        Ok((summary, dictionary))
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.checked.scenario == other.checked.scenario
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.digest().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let controls = self.checked.controls().join(", ");
        format!("<Scenario {}: {controls}; {}>", self.file(), self.checked.scenario.run.duration)
    }

    /// Another process reads what was written again; controls that are not built in must be there by then.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String, String))> {
        let draft = self.checked.draft();
        let read = py.get_type::<Scenario>().getattr("read")?;
        Ok((read, (draft.toml(), draft.file().to_owned())))
    }
}

fn as_python<'py>(py: Python<'py>, value: &serde_json::Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (value.to_string(),))
}

fn columns(py: Python<'_>, table: Table) -> PyResult<Bound<'_, PyDict>> {
    let dictionary = PyDict::new(py);
    for (name, column) in table.columns {
        dictionary.set_item(name, column::as_python(py, column)?)?;
    }
    Ok(dictionary)
}
