//! Runs that are advanced step by step, with the window of one flow set from outside: what learns to control.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use ackclock_cc::erased::ErasedController;
use ackclock_cc::registry::{Entry, NamedValues};
use ackclock_cc::{Decision, ParameterError, Signal, Start};
use ackclock_sim::{Makers, Simulation};
use ackclock_trace::Counters;
use ackclock_units::{Span, Time, Window};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::catalogue::Everything;
use crate::errors::SimulationError;
use crate::own::caught;
use crate::quic::Quic;
use crate::scenario::Scenario;
use crate::summary;

/// The observations of a step: names, with units last, and their meanings.
const QUANTITIES: [(&str, &str); 12] = [
    ("length_s", "length of the step, seconds"),
    ("window", "congestion window at its end, packets"),
    ("in_flight", "packets in the network at its end, by the sender's estimate"),
    ("sent", "data packets sent, retransmissions included"),
    ("retransmitted", "those of them that were sent before"),
    ("delivered", "packets newly reported as received"),
    ("growth", "packets acknowledged outside of recovery while the window was what limited sending"),
    ("loss_events", "loss events that began, ECN marks included"),
    ("timeouts", "expiries of the retransmission timer; each sets the window to 1 packet"),
    ("recovering", "1 if a loss event was being repaired at the end of the step, else 0"),
    ("rtt_s", "mean of the RTTs measured, seconds; without any, the mean of the step before"),
    ("rtt_min_s", "least RTT since the start of the flow, seconds"),
];

/// Names of what is observed of a step, in the order of the columns, and what they mean.
#[pyfunction]
pub fn observed() -> Vec<(&'static str, &'static str)> {
    QUANTITIES.to_vec()
}

/// Gain of the smoothed RTT (RFC 6298).
const GAIN: f64 = 1.0 / 8.0;

/// The state that an episode and its control share.
#[derive(Default)]
struct Line {
    /// Bits of the window to adopt at the next signal; 0 when there is none.
    window: AtomicU64,
    /// Bits of the share of the window that a loss event keeps.
    kept: AtomicU64,
}

/// A control that keeps the window that it was given, and counts.
#[derive(Clone)]
struct Outside {
    line: Arc<Line>,
    window: f64,
    observed: Observations,
}

/// The control's observations since its start.
#[derive(Clone, Copy, Default)]
struct Observations {
    delivered: f64,
    growth: f64,
    recovering: bool,
    rtt_sum_s: f64,
    rtt_count: f64,
    rtt_min_s: f64,
    rtt_smoothed_s: f64,
}

impl Observations {
    #[inline]
    fn take_rtt(&mut self, rtt_s: f64) {
        if self.rtt_count == 0.0 {
            (self.rtt_min_s, self.rtt_smoothed_s) = (rtt_s, rtt_s);
        }
        self.rtt_sum_s += rtt_s;
        self.rtt_count += 1.0;
        self.rtt_min_s = self.rtt_min_s.min(rtt_s);
        self.rtt_smoothed_s += GAIN * (rtt_s - self.rtt_smoothed_s);
    }
}

impl ErasedController for Outside {
    fn on(&mut self, _now: Time, signal: Signal) -> Decision {
        let bits = self.line.window.load(Relaxed);
        if bits != 0 {
            self.line.window.store(0, Relaxed);
            self.window = f64::from_bits(bits);
        }
        match signal {
            Signal::Ack(ack) => {
                self.observed.delivered += ack.delivered.0 as f64;
                self.observed.growth += ack.growth();
                if let Some(rtt) = ack.rtt {
                    self.observed.take_rtt(rtt.as_seconds());
                }
            }
            // At once: a packet more into the full queue would be the next loss event.
            Signal::Loss { .. } => {
                let kept = f64::from_bits(self.line.kept.load(Relaxed));
                (self.window, self.observed.recovering) = ((kept * self.window).max(2.0), true);
            }
            Signal::Timeout { .. } => (self.window, self.observed.recovering) = (1.0, false),
            Signal::Recovered | Signal::Undo => self.observed.recovering = false,
            Signal::Moderated { .. }
            | Signal::Idle { .. }
            | Signal::CaughtUp
            | Signal::Lost(_)
            | Signal::Restart => {}
        }
        ErasedController::decision(self)
    }

    fn decision(&self) -> Decision {
        let window = Window(self.window);
        Decision { window, ssthresh: Window::UNLIMITED, pacing_rate: None, quantum: None }
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let Observations { delivered, growth, recovering, rtt_sum_s, rtt_count, rtt_min_s, rtt_smoothed_s } =
            self.observed;
        visit("delivered", delivered);
        visit("growth", growth);
        visit("recovering", f64::from(u8::from(recovering)));
        visit("rtt_sum_s", rtt_sum_s);
        visit("rtt_count", rtt_count);
        visit("rtt_min_s", rtt_min_s);
        visit("rtt_smoothed_s", rtt_smoothed_s);
    }

    fn duplicate(&self) -> Box<dyn ErasedController> {
        Box::new(self.clone())
    }
}

thread_local! {
    /// The shared state of the control that is made next: a catalogue passes parameters to its controls and nothing
    /// else.
    static NEXT: RefCell<Option<Arc<Line>>> = const { RefCell::new(None) };
}

/// With a space in it, no scenario can mean it.
const NAME: &str = "set from outside";

fn build(_: NamedValues<'_>, start: Start) -> Result<Box<dyn ErasedController>, (usize, ParameterError)> {
    let line = NEXT.take().unwrap_or_default();
    Ok(Box::new(Outside { line, window: start.window.0, observed: Observations::default() }))
}

fn check(_: NamedValues<'_>) -> Result<(), (usize, ParameterError)> {
    Ok(())
}

fn catalogue() -> Everything {
    Everything::with(Entry::of_dynamic(NAME, "", &[], &build, &check))
}

/// One run, and where its last step ended.
struct Episode {
    simulation: Simulation,
    flow: usize,
    line: Arc<Line>,
    end: Time,
    now: Time,
    observed: Observations,
    counters: Counters,
    rtt_s: f64,
}

impl Episode {
    /// A run at the first RTT that `flow` measures.
    fn new(scenario: &Scenario, flow: usize, run: u64) -> PyResult<Self> {
        let mut scenario = scenario.scenario().clone();
        let count = scenario.flows.len();
        let Some(set) = scenario.flows.get_mut(flow) else {
            return Err(PyValueError::new_err(format!("there is no flow {flow}; the scenario has {count}")));
        };
        let name = set.name.clone();
        (set.control, set.label) = (NAME.to_owned().into(), NAME.to_owned().into());
        set.params = Vec::new().into();
        let end = Time::ZERO + scenario.run.duration;
        let line = Arc::new(Line::default());
        let catalogue = catalogue();
        let quic = Quic { qlog: None };
        let makers = Makers { catalogue: &catalogue, quic: Some(&quic) };
        NEXT.set(Some(line.clone()));
        let outcome = caught(|| Simulation::with(scenario, makers, run, false));
        NEXT.set(None);
        let simulation = outcome?.map_err(SimulationError::new_err)?;
        let mut episode = Episode {
            simulation,
            flow,
            line,
            end,
            now: Time::ZERO,
            observed: Observations::default(),
            counters: Counters::default(),
            rtt_s: 0.0,
        };
        while episode.look().rtt_count == 0.0 {
            if episode.simulation.advance(1) {
                let problem = format!("flow {name} has no window, or measures no RTT before the run ends");
                return Err(SimulationError::new_err(problem));
            }
        }
        Ok(episode)
    }

    /// The control's observations until now.
    fn look(&self) -> Observations {
        let mut values = [0.0; 7];
        if let Some(control) = self.simulation.view(self.flow).control {
            let mut entries = values.iter_mut();
            control.internals(&mut |_, value| {
                if let Some(entry) = entries.next() {
                    *entry = value;
                }
            });
        }
        let [delivered, growth, recovering, rtt_sum_s, rtt_count, rtt_min_s, rtt_smoothed_s] = values;
        Observations {
            delivered,
            growth,
            recovering: recovering > 0.0,
            rtt_sum_s,
            rtt_count,
            rtt_min_s,
            rtt_smoothed_s,
        }
    }

    /// Advances by `length`, or by one smoothed round trip if it is nothing, and to the end of the run when less than that
    /// would be left: rates over an instant say nothing. Returns whether the run has ended.
    fn step(&mut self, window: f64, kept: f64, length: Span) -> bool {
        self.line.window.store(window.to_bits(), Relaxed);
        self.line.kept.store(kept.to_bits(), Relaxed);
        let smoothed = Span::from_seconds_f64(self.observed.rtt_smoothed_s);
        let length = if length == Span::ZERO { smoothed } else { length };
        let target = self.simulation.now() + length;
        self.simulation.advance_to(if target + length > self.end { self.end } else { target })
    }

    /// Writes what happened since it was asked last.
    fn observe(&mut self, row: &mut [f32]) {
        let (observed, view, now) = (self.look(), self.simulation.view(self.flow), self.simulation.now());
        let counted = view.meter.counters.since(&self.counters);
        let samples = observed.rtt_count - self.observed.rtt_count;
        if samples > 0.0 {
            self.rtt_s = (observed.rtt_sum_s - self.observed.rtt_sum_s) / samples;
        }
        // What was asked for and no signal has come for since.
        let bits = self.line.window.load(Relaxed);
        let window = if bits == 0 { view.window } else { f64::from_bits(bits) };
        let values: [f64; QUANTITIES.len()] = [
            now.since(self.now).as_seconds(),
            window,
            view.in_flight as f64,
            counted.sent_packets as f64,
            counted.retransmitted_packets as f64,
            observed.delivered - self.observed.delivered,
            observed.growth - self.observed.growth,
            counted.loss_events.unwrap_or(0) as f64,
            counted.timeouts as f64,
            f64::from(u8::from(observed.recovering)),
            self.rtt_s,
            observed.rtt_min_s,
        ];
        self.counters = view.meter.counters;
        (self.now, self.observed) = (now, observed);
        for (entry, value) in row.iter_mut().zip(values) {
            *entry = value as f32;
        }
    }
}

/// Several runs in parallel, each with a flow whose window is set from outside.
#[pyclass(frozen, module = "ackclock._native")]
pub struct Episodes {
    runs: Mutex<Vec<Option<Episode>>>,
}

impl Episodes {
    /// Waiting for another thread could last for ever: that one may wait for Python, which this one has.
    fn runs(&self) -> PyResult<MutexGuard<'_, Vec<Option<Episode>>>> {
        match self.runs.try_lock() {
            Ok(runs) => Ok(runs),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {
                Err(SimulationError::new_err("these runs are being advanced by another thread"))
            }
        }
    }
}

#[pymethods]
impl Episodes {
    /// Places for `count` runs.
    #[new]
    fn new(count: usize) -> Self {
        Episodes { runs: Mutex::new((0..count).map(|_| None).collect()) }
    }

    /// Starts run number `run` of a scenario in a place, up to the first RTT that the flow measures; what happened until
    /// then is the first observation.
    fn start(
        &self,
        py: Python<'_>,
        place: usize,
        scenario: &Scenario,
        flow: usize,
        run: u64,
    ) -> PyResult<Vec<f32>> {
        let mut episode = py.detach(|| caught(|| Episode::new(scenario, flow, run)))??;
        let mut row = [0.0; QUANTITIES.len()];
        episode.observe(&mut row);
        let mut runs = self.runs()?;
        let count = runs.len();
        let Some(kept) = runs.get_mut(place) else {
            return Err(PyValueError::new_err(format!("there is no place {place} among {count}")));
        };
        *kept = Some(episode);
        Ok(row.to_vec())
    }

    /// Advances the runs in all places by `length_s` seconds, or each by one smoothed round trip if that is 0. `actions` has
    /// two numbers per place: the window, packets, from the next acknowledgement on, and the share of it that a loss event
    /// keeps. Writes what is observed, a row per place, and returns which runs have ended; a place without a run is left
    /// alone.
    fn step(
        &self,
        py: Python<'_>,
        actions: PyBuffer<f64>,
        length_s: f64,
        observed: PyBuffer<f32>,
    ) -> PyResult<Vec<bool>> {
        let (actions, mut rows) = (actions.to_vec(py)?, observed.to_vec(py)?);
        let (actions, _) = actions.as_chunks();
        let possible =
            |[window, kept]: &[f64; 2]| window.is_finite() && *window >= 1.0 && (0.0..=1.0).contains(kept);
        if !actions.iter().all(possible) {
            let problem = "a window is a finite number of packets, at least 1, and a share is from 0 to 1";
            return Err(PyValueError::new_err(problem));
        }
        if !(0.0..1e6).contains(&length_s) {
            return Err(PyValueError::new_err("length_s must be seconds from 0 to 1e6"));
        }
        let length = Span::from_seconds_f64(length_s);
        let mut runs = self.runs()?;
        if [actions.len(), rows.len() / QUANTITIES.len()] != [runs.len(); 2] {
            let problem = format!("actions and rows are as many as places, {}", runs.len());
            return Err(PyValueError::new_err(problem));
        }
        let runs: &mut [Option<Episode>] = &mut runs;
        let ended = caught(|| {
            py.detach(|| {
                let places = runs.iter_mut().zip(rows.chunks_exact_mut(QUANTITIES.len())).zip(actions);
                let advance =
                    |((run, row), [window, kept]): ((&mut Option<Episode>, &mut [f32]), &[f64; 2])| {
                        run.as_mut().is_some_and(|episode| {
                            let ended = episode.step(*window, *kept, length);
                            episode.observe(row);
                            ended
                        })
                    };
                places.map(advance).collect()
            })
        })?;
        observed.copy_from_slice(py, &rows)?;
        Ok(ended)
    }

    /// Ends the run in a place, which must have come to its end, and returns its summary; none without a run.
    fn finish<'py>(&self, py: Python<'py>, place: usize) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(episode) = self.runs()?.get_mut(place).and_then(Option::take) else { return Ok(None) };
        let (summary, _) = caught(|| episode.simulation.finish(&catalogue()))?
            .map_err(|error| SimulationError::new_err(error.to_string()))?;
        summary::as_dict(py, summary).map(Some)
    }
}
