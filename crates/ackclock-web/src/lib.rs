//! The engine for web pages: scenarios in, columns out. All logic is in the crates below or in the page.

mod catalogue;
mod own;

use std::cell::RefCell;

use ackclock_scenario::{Checked, Draft, EXAMPLE, Files, Sample};
use ackclock_sim::Simulation;
use ackclock_trace::{Column, Table};
use include_dir::{Dir, include_dir};
use js_sys::{Array, Float64Array, Object, Reflect, Uint32Array};
use wasm_bindgen::prelude::*;

use crate::catalogue::Everything;

thread_local! {
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Notes what a panic says, for [`last_panic`]; the engine cannot continue after one.
#[wasm_bindgen(start)]
pub fn begin() {
    std::panic::set_hook(Box::new(|panic| PANIC.set(Some(panic.to_string()))));
}

/// The message of the engine when it stopped, once.
#[wasm_bindgen]
#[must_use]
pub fn last_panic() -> Option<String> {
    PANIC.take()
}

/// Version of the engine.
#[wasm_bindgen]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// The controls as a JSON list: names, kinds, sources, parameters with domains.
#[wasm_bindgen]
#[must_use]
pub fn controllers() -> String {
    ackclock_scenario::controllers(&Everything::now()).to_string()
}

/// A page per control: `NAME.md`.
static PAGES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../docs/controllers");

/// The page of a control, as Markdown; none if there is no such control.
#[wasm_bindgen]
#[must_use]
pub fn page(controller: &str) -> Option<String> {
    PAGES.get_file(format!("{controller}.md"))?.contents_utf8().map(str::to_owned)
}

/// The JSON schema of scenarios.
#[wasm_bindgen]
#[must_use]
pub fn schema() -> String {
    ackclock_scenario::json_schema().to_string()
}

/// A commented scenario.
#[wasm_bindgen]
#[must_use]
pub fn example() -> String {
    EXAMPLE.to_owned()
}

/// A scenario that was accepted.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Scenario {
    checked: Checked,
}

#[wasm_bindgen]
impl Scenario {
    /// Reads and checks a scenario, TOML or JSON. `files` is a JSON object with the files that it names.
    ///
    /// # Errors
    /// The engine's refusal, as a text.
    pub fn read(text: &str, is_json: bool, files: &str) -> Result<Scenario, JsValue> {
        let files: Files = serde_json::from_str(files).map_err(|error| error.to_string())?;
        let name = "scenario";
        let draft = if is_json { Draft::from_json(text, name) } else { Draft::from_toml(text, name) };
        let checked = draft.and_then(|draft| draft.with_files(files).check(&Everything::now()));
        Ok(Scenario { checked: checked.map_err(|refusal| refusal.to_string())? })
    }

    /// As it was written, as TOML.
    #[must_use]
    pub fn written(&self) -> String {
        self.checked.draft().toml()
    }

    /// As it was written, as JSON.
    #[must_use]
    pub fn written_json(&self) -> String {
        self.checked.draft().json().to_string()
    }

    /// Every default filled in, as TOML.
    #[must_use]
    pub fn complete(&self) -> String {
        self.checked.toml.clone()
    }

    /// The content of [`Scenario::complete`] as JSON.
    #[must_use]
    pub fn json(&self) -> String {
        self.checked.json().to_string()
    }

    /// The names of flows and links, the links that each flow's data passes, the simulated seconds and the spacing of samples,
    /// as JSON.
    #[must_use]
    pub fn outline(&self) -> String {
        let scenario = &self.checked.scenario;
        let flows = scenario.flows.iter().map(|flow| {
            let packet_bytes = flow.tcp.packet.0;
            serde_json::json!({
                "name": flow.name,
                "control": flow.label.to_string(),
                "packet_bytes": packet_bytes,
                "path": *flow.path,
            })
        });
        let sample_s = match scenario.run.sample {
            Sample::Every(every) => Some(every.as_seconds()),
            Sample::RoundTrip => None,
        };
        let links = scenario.links.iter().map(|link| link.name.as_str());
        serde_json::json!({
            "duration_s": scenario.run.duration.as_seconds(),
            "warmup_s": scenario.run.warmup.as_seconds(),
            "sample_s": sample_s,
            "flows": flows.collect::<Vec<_>>(),
            "links": links.collect::<Vec<_>>(),
        })
        .to_string()
    }
}

/// One run of a scenario.
#[wasm_bindgen]
#[allow(missing_debug_implementations, reason = "a simulation has none")]
pub struct Run {
    simulation: Option<Simulation>,
}

#[wasm_bindgen]
impl Run {
    /// Run number `run` of `scenario`, at time 0. With `record`, samples are taken.
    ///
    /// # Errors
    /// When a flow cannot be made, or its control throws.
    #[wasm_bindgen(constructor)]
    pub fn new(scenario: &Scenario, run: u32, record: bool) -> Result<Run, JsValue> {
        let scenario = scenario.checked.scenario.clone();
        let simulation = Simulation::new(scenario, &Everything::now(), run.into(), record);
        own::thrown()?;
        Ok(Run { simulation: Some(simulation?) })
    }

    /// Advances by `events` events, or to the end; returns whether that is reached.
    ///
    /// # Errors
    /// The exception of a control that is written in the page; the run is at its end then.
    pub fn advance(&mut self, events: u32) -> Result<bool, JsValue> {
        let Some(simulation) = &mut self.simulation else { return Ok(true) };
        let ended = simulation.advance(events.into());
        own::thrown().inspect_err(|_| self.simulation = None)?;
        Ok(ended)
    }

    /// The simulated time, seconds.
    #[must_use]
    pub fn now_s(&self) -> f64 {
        self.simulation.as_ref().map_or(f64::NAN, |simulation| simulation.now().as_seconds())
    }

    /// Data packets put on the wire.
    #[must_use]
    pub fn packets(&self) -> f64 {
        self.simulation.as_ref().map_or(f64::NAN, |simulation| simulation.packets() as f64)
    }

    /// The samples since the last call: an object of tables, which are objects of columns.
    #[must_use]
    pub fn take(&mut self) -> Object {
        let tables = self.simulation.as_mut().map(Simulation::take_tables).unwrap_or_default();
        let object = Object::new();
        for (name, table) in tables {
            set(&object, name, &columns(table));
        }
        object
    }

    /// The summary as JSON, the digest in it. The run is gone then.
    ///
    /// # Errors
    /// When there was no run any more.
    pub fn finish(&mut self) -> Result<String, JsValue> {
        let simulation = self.simulation.take().ok_or("the run is gone")?;
        let (summary, _) = simulation.finish(&Everything::now()).map_err(|error| error.to_string())?;
        serde_json::to_string(&summary).map_err(|error| error.to_string().into())
    }
}

fn columns(table: Table) -> JsValue {
    let object = Object::new();
    for (name, column) in table.columns {
        let values: JsValue = match column {
            Column::Whole(values) => {
                let values: Vec<_> = values.into_iter().map(|value| value as f64).collect();
                Float64Array::from(values.as_slice()).into()
            }
            Column::Id(values) => Uint32Array::from(values.as_slice()).into(),
            Column::Real(values) => Float64Array::from(values.as_slice()).into(),
            Column::Word(values) => values.into_iter().map(JsValue::from_str).collect::<Array>().into(),
        };
        set(&object, name, &values);
    }
    object.into()
}

/// Sets a property of an object that is ours, which cannot refuse it.
fn set(object: &Object, name: &str, value: &JsValue) {
    let _ = Reflect::set(object, &name.into(), value);
}
