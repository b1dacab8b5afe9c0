//! Controls written in Python: a class behind the contract of `ackclock-cc`.
//!
//! An exception that its methods raise leaves the engine as a panic that carries the exception; [`caught`] returns it
//! to Python with the user's own traceback.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use ackclock_cc::erased::ErasedController;
use ackclock_cc::registry::{Build, Check, Entry, NamedValues, check};
use ackclock_cc::{Decision, Domain, Ecn, HyStart, Parameter, Signal, Start, Value, Wants};
use ackclock_sim::memory::OutOfMemory;
use ackclock_units::{PacketRate, Packets, Time, Window};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

use crate::catalogue;
use crate::signals::{Ack, Beginning, Loss, Lost, RateSample, Timeout};

/// Runs `work`, and returns what a control written in Python raised in it, or that there was not enough memory for it.
pub fn caught<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| match payload.downcast::<PyErr>() {
        Ok(error) => *error,
        Err(other) if other.is::<OutOfMemory>() => PyMemoryError::new_err("not enough memory for the run"),
        Err(other) => resume_unwind(other),
    })
}

/// Leaves the engine with `error`, for [`caught`].
pub fn raise(error: PyErr) -> ! {
    resume_unwind(Box::new(error))
}

fn or_raise<T>(result: PyResult<T>) -> T {
    result.unwrap_or_else(|error| raise(error))
}

/// The constant properties of a class: one per registration, kept as long as the process.
struct Class {
    name: &'static str,
    class: Py<PyAny>,
    parameters: &'static [Parameter],
    internals: &'static [&'static str],
    wants: Wants,
}

/// The requests of a class to its driver.
fn wants_of(class: &Bound<'_, PyAny>) -> PyResult<Wants> {
    let flag = |name| match class.getattr_opt(name)? {
        Some(flag) => flag.extract(),
        None => Ok(false),
    };
    let codepoint: Option<String> = match class.getattr_opt("ecn")? {
        Some(word) => word.extract()?,
        None => None,
    };
    let ecn = match codepoint.as_deref() {
        None => Ecn::AsConfigured,
        Some("ect0") => Ecn::Ect0,
        Some("ect1") => Ecn::Ect1,
        Some(other) => {
            return Err(PyValueError::new_err(format!("ecn is {other:?}; give \"ect0\", \"ect1\" or None")));
        }
    };
    Ok(Wants {
        rate: flag("wants_rate")?,
        losses: flag("wants_losses")?,
        marks: flag("wants_marks")?,
        window_is_a_cap: flag("window_is_a_cap")?,
        ecn,
    })
}

/// One control of one flow.
struct PythonControl {
    class: &'static Class,
    object: Py<PyAny>,
    on_ack: Py<PyAny>,
    decision: Decision,
}

impl PythonControl {
    fn new(py: Python<'_>, class: &'static Class, object: Bound<'_, PyAny>) -> PyResult<Self> {
        let on_ack = object.getattr(intern!(py, "on_ack"))?.unbind();
        let nothing =
            Decision { window: Window(1.0), ssthresh: Window::UNLIMITED, pacing_rate: None, quantum: None };
        let mut own = PythonControl { class, on_ack, object: object.unbind(), decision: nothing };
        own.decide(py)?;
        Ok(own)
    }

    fn build(class: &'static Class, values: NamedValues<'_>, start: Start) -> PyResult<Self> {
        Python::attach(|py| {
            let parameters = PyDict::new(py);
            for (name, value) in values {
                match value {
                    Value::Number(number) => parameters.set_item(name, number)?,
                    Value::Choice(word) => parameters.set_item(name, word)?,
                    Value::Flag(flag) => parameters.set_item(name, flag)?,
                }
            }
            let start = Beginning {
                window: start.window.0,
                ssthresh: start.ssthresh.0,
                hystart: start.hystart == HyStart::PlusPlus,
                rules: start.rules.name(),
                seed: start.seed,
            };
            let object = class.class.bind(py).call((start,), Some(&parameters))?;
            PythonControl::new(py, class, object)
        })
    }

    /// Reads window, ssthresh, pacing rate and quantum.
    fn decide(&mut self, py: Python<'_>) -> PyResult<()> {
        let object = self.object.bind(py);
        let window: f64 = object.getattr(intern!(py, "window"))?.extract()?;
        if !(window.is_finite() && window >= 1.0) {
            let problem = "a window is a finite number of packets, at least 1";
            return Err(PyValueError::new_err(format!("{}.window is {window}; {problem}", self.class.name)));
        }
        self.decision.window = Window(window);
        // A control may begin to have these after its start.
        if let Some(ssthresh) = object.getattr_opt(intern!(py, "ssthresh"))? {
            self.decision.ssthresh = Window(ssthresh.extract()?);
        }
        if let Some(rate) = object.getattr_opt(intern!(py, "pacing_rate"))? {
            let rate: Option<f64> = rate.extract()?;
            if rate.is_some_and(|rate| !(rate.is_finite() && rate > 0.0)) {
                let problem = "give packets per second above 0, or None";
                return Err(PyValueError::new_err(format!("{}.pacing_rate: {problem}", self.class.name)));
            }
            self.decision.pacing_rate = rate.map(PacketRate);
        }
        if let Some(quantum) = object.getattr_opt(intern!(py, "quantum"))? {
            let quantum = quantum.extract::<Option<u64>>().ok().filter(|quantum| *quantum != Some(0));
            let problem = || {
                let wanted = "give a whole number of packets, at least 1, or None";
                PyValueError::new_err(format!("{}.quantum: {wanted}", self.class.name))
            };
            self.decision.quantum = quantum.ok_or_else(problem)?.map(Packets);
        }
        Ok(())
    }

    /// Notes window and threshold before a loss event or first timeout in a control that has a place for them: the base
    /// class goes back to them when the loss turns out to be none.
    fn remember(&self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let name = intern!(object.py(), "before");
        if object.getattr_opt(name)?.is_some() {
            object.setattr(name, (self.decision.window.0, self.decision.ssthresh.0))?;
        }
        Ok(())
    }

    fn tell(&mut self, py: Python<'_>, now: Time, signal: Signal) -> PyResult<()> {
        let now_s = now.as_seconds();
        let object = self.object.bind(py);
        let optional = |name| match object.getattr_opt(name)? {
            Some(method) => method.call1((now_s,)).map(drop),
            None => Ok(()),
        };
        match signal {
            Signal::Ack(ack) => {
                let delivery_rate = ack
                    .rate
                    .map(|rate| rate.delivered.0 as f64 / rate.interval.as_seconds())
                    .filter(|rate| rate.is_finite());
                let report = Ack {
                    now_s,
                    growth: ack.growth(),
                    credit: ack.credit,
                    delivered: ack.delivered.0,
                    rtt_s: ack.rtt.map(|rtt| rtt.as_seconds()),
                    in_flight: ack.in_flight.0,
                    round: ack.round,
                    window_limited: ack.window_limited,
                    recovering: ack.recovering,
                    delivery_rate,
                    rate: ack.rate.map(|rate| Py::new(py, RateSample::of(rate))).transpose()?,
                    lost: ack.lost.0,
                    marked: ack.marked.0,
                    round_limited: ack.round_limited,
                };
                self.on_ack.bind(py).call1((report,))?;
            }
            Signal::Loss { ecn } => {
                self.remember(object)?;
                object.call_method1(intern!(py, "on_loss"), (Loss { now_s, ecn },))?;
            }
            Signal::Timeout { first } => {
                if first {
                    self.remember(object)?;
                }
                object.call_method1(intern!(py, "on_timeout"), (Timeout { now_s, first },))?;
            }
            Signal::Recovered => optional(intern!(py, "on_recovered"))?,
            Signal::Moderated { window } => {
                if let Some(method) = object.getattr_opt(intern!(py, "on_moderated"))? {
                    method.call1((window.0 as f64,))?;
                }
            }
            Signal::Lost(lost) => {
                if let Some(method) = object.getattr_opt(intern!(py, "on_lost"))? {
                    let report = Lost {
                        now_s,
                        tx_in_flight: lost.tx_in_flight.0,
                        lost_since_sent: lost.lost_since_sent.0,
                        application_limited: lost.application_limited,
                    };
                    method.call1((report,))?;
                }
            }
            Signal::Restart => optional(intern!(py, "on_restart"))?,
            Signal::Undo => optional(intern!(py, "on_undo"))?,
            Signal::Idle { timeouts } => {
                // In a control that has a place for it, as `before`.
                let name = intern!(py, "idle_timeouts");
                if object.getattr_opt(name)?.is_some() {
                    object.setattr(name, timeouts)?;
                }
                optional(intern!(py, "on_idle"))?;
            }
            Signal::CaughtUp => optional(intern!(py, "on_caught_up"))?,
        }
        self.decide(py)
    }
}

impl ErasedController for PythonControl {
    fn on(&mut self, now: Time, signal: Signal) -> Decision {
        or_raise(Python::attach(|py| self.tell(py, now, signal)));
        self.decision
    }

    fn decision(&self) -> Decision {
        self.decision
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        for name in self.class.internals {
            visit(name, or_raise(Python::attach(|py| self.object.bind(py).getattr(*name)?.extract())));
        }
    }

    fn wants(&self) -> Wants {
        self.class.wants
    }

    fn duplicate(&self) -> Box<dyn ErasedController> {
        let copy = |py: Python<'_>| {
            let deepcopy = py.import(intern!(py, "copy"))?.getattr(intern!(py, "deepcopy"))?;
            PythonControl::new(py, self.class, deepcopy.call1((&self.object,))?)
        };
        Box::new(or_raise(Python::attach(copy)))
    }
}

fn text(text: &str) -> &'static str {
    Box::leak(text.into())
}

/// One parameter from its name, default, and the words that it may be.
fn parameter(name: &str, default: &Bound<'_, PyAny>, words: &[String]) -> PyResult<Parameter> {
    let (default, domain) = if !words.is_empty() {
        let words: Vec<_> = words.iter().map(|word| text(word)).collect();
        (Value::Choice(text(&default.extract::<String>()?)), Domain::Choice(words.leak()))
    } else if default.is_instance_of::<PyBool>() {
        (Value::Flag(default.extract()?), Domain::Flag)
    } else {
        let all = Domain::Number { minimum: f64::MIN, maximum: f64::MAX };
        let number = default.extract().map_err(|_| {
            PyTypeError::new_err(format!(
                "parameter {name}: its default must be a number, True or False, or a word of a Literal"
            ))
        })?;
        (Value::Number(number), all)
    };
    Ok(Parameter { name: text(name), default, domain, meaning: "" })
}

/// Adds a control that is a Python class, or replaces one that was added under its name.
///
/// The names of a class that was registered stay in memory, some hundred bytes.
#[pyfunction]
pub fn register(
    name: &str,
    source: &str,
    class_: Bound<'_, PyAny>,
    parameters: Vec<(String, Bound<'_, PyAny>, Vec<String>)>,
    internals: Vec<String>,
) -> PyResult<()> {
    let wants = wants_of(&class_)?;
    let parameters: Vec<_> = parameters
        .iter()
        .map(|(name, default, words)| parameter(name, default, words))
        .collect::<PyResult<_>>()?;
    let internals: Vec<_> = internals.iter().map(|name| text(name)).collect();
    let kept: &'static Class = Box::leak(Box::new(Class {
        name: text(name),
        parameters: parameters.leak(),
        internals: internals.leak(),
        wants,
        class: class_.unbind(),
    }));
    let build: &'static Build = Box::leak(Box::new(move |values: NamedValues<'_>, start| {
        check(kept.parameters, values)?;
        Ok(Box::new(or_raise(PythonControl::build(kept, values, start))) as Box<dyn ErasedController>)
    }));
    let checked: &'static Check =
        Box::leak(Box::new(move |values: NamedValues<'_>| check(kept.parameters, values)));
    let entry = Entry::of_dynamic(kept.name, text(source), kept.parameters, build, checked);
    if catalogue::add(entry) {
        Ok(())
    } else {
        Err(PyValueError::new_err(format!("{name} is a built-in control; choose another name")))
    }
}
