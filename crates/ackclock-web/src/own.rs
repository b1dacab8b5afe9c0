//! A control that is written in the page: a JavaScript class behind the contract of `ackclock-cc`, as `own.rs` of the
//! Python extension has it for a Python class.
//!
//! Nothing may leap over the engine's frames, so what a method throws is kept, the control stays as it is, and the run
//! ends at the next look at [`thrown`].

use std::cell::RefCell;

use ackclock_cc::erased::ErasedController;
use ackclock_cc::registry::{Build, Check, Entry, NamedValues, check};
use ackclock_cc::{Decision, Domain, Ecn, HyStart, Parameter, ParameterError, Signal, Start, Value, Wants};
use ackclock_units::{PacketRate, Packets, Time, Window};
use js_sys::{Array, Function, Object, Reflect};
use wasm_bindgen::prelude::*;

use crate::{catalogue, set};

/// Its name in scenarios.
const NAME: &str = "own";
/// No quantum is larger, packets: every whole number up to here is exact.
const LARGEST_QUANTUM: f64 = 9_007_199_254_740_992.0;

thread_local! {
    static THROWN: RefCell<Option<JsValue>> = const { RefCell::new(None) };
    static CLASSES: RefCell<Vec<Class>> = const { RefCell::new(Vec::new()) };
    static OBJECTS: RefCell<Vec<JsValue>> = const { RefCell::new(Vec::new()) };
}

/// The exception of a control since the last call.
pub fn thrown() -> Result<(), JsValue> {
    THROWN.take().map_or(Ok(()), Err)
}

/// The constant properties of a class: one per registration, kept as long as the worker.
#[derive(Clone)]
struct Class {
    class: Function,
    internals: &'static [&'static str],
    wants: Wants,
}

/// The requests of a class to its driver.
fn wants_of(class: &JsValue) -> Result<Wants, JsValue> {
    let flag = |name| get(class, name).map(|flag| flag.is_truthy());
    let codepoint = get(class, "ecn")?;
    let ecn = match codepoint.as_string().as_deref() {
        None if codepoint.is_undefined() || codepoint.is_null() => Ecn::AsConfigured,
        Some("ect0") => Ecn::Ect0,
        Some("ect1") => Ecn::Ect1,
        _ => return Err(refused("static ecn: give \"ect0\", \"ect1\" or null")),
    };
    Ok(Wants {
        rate: flag("wants_rate")?,
        losses: flag("wants_losses")?,
        marks: flag("wants_marks")?,
        window_is_a_cap: flag("window_is_a_cap")?,
        ecn,
    })
}

/// One control of one flow; the object itself stays with the thread, because a control may go to another one.
struct JavaScriptControl {
    object: usize,
    internals: &'static [&'static str],
    wants: Wants,
    decision: Decision,
}

fn get(object: &JsValue, name: &str) -> Result<JsValue, JsValue> {
    Reflect::get(object, &name.into())
}

fn number(object: &JsValue, name: &str) -> Result<f64, JsValue> {
    let value = get(object, name)?;
    value.as_f64().ok_or_else(|| {
        js_sys::TypeError::new(&format!(
            "{name} is {}, not a number",
            value.js_typeof().as_string().unwrap_or_default()
        ))
        .into()
    })
}

fn refused(problem: &str) -> JsValue {
    js_sys::RangeError::new(problem).into()
}

fn object_of(fields: &[(&str, JsValue)]) -> JsValue {
    let object = Object::new();
    for (name, value) in fields {
        set(&object, name, value);
    }
    object.into()
}

impl JavaScriptControl {
    fn new(class: &Class, object: JsValue) -> Result<Self, JsValue> {
        let nothing =
            Decision { window: Window(1.0), ssthresh: Window::UNLIMITED, pacing_rate: None, quantum: None };
        let index = OBJECTS.with_borrow_mut(|objects| {
            objects.push(object.clone());
            objects.len() - 1
        });
        let mut own = JavaScriptControl {
            object: index,
            internals: class.internals,
            wants: class.wants,
            decision: nothing,
        };
        own.decide(&object)?;
        Ok(own)
    }

    fn build(class: &Class, values: NamedValues<'_>, start: Start) -> Result<Self, JsValue> {
        let parameters = Object::new();
        for (name, value) in values {
            let value = match value {
                Value::Number(number) => JsValue::from_f64(*number),
                Value::Choice(word) => JsValue::from_str(word),
                Value::Flag(flag) => JsValue::from_bool(*flag),
            };
            set(&parameters, name, &value);
        }
        let start = object_of(&[
            ("window", start.window.0.into()),
            ("ssthresh", start.ssthresh.0.into()),
            ("hystart", (start.hystart == HyStart::PlusPlus).into()),
            // A number holds 53 bits; as good a seed as 64.
            ("seed", ((start.seed >> 11) as f64).into()),
        ]);
        JavaScriptControl::new(class, Reflect::construct(&class.class, &Array::of2(&start, &parameters))?)
    }

    /// Reads window, ssthresh, pacing rate and quantum.
    fn decide(&mut self, object: &JsValue) -> Result<(), JsValue> {
        let window = number(object, "window")?;
        if !(window.is_finite() && window >= 1.0) {
            return Err(refused(&format!(
                "window is {window}; a window is a finite number of packets, at least 1"
            )));
        }
        self.decision.window = Window(window);
        if !get(object, "ssthresh")?.is_undefined() {
            let ssthresh = number(object, "ssthresh")?;
            if ssthresh.is_nan() {
                return Err(refused("ssthresh is NaN; give packets, or Infinity"));
            }
            self.decision.ssthresh = Window(ssthresh);
        }
        let rate = get(object, "pacing_rate")?;
        self.decision.pacing_rate = if rate.is_undefined() || rate.is_null() {
            None
        } else {
            let rate = number(object, "pacing_rate")?;
            if !(rate.is_finite() && rate > 0.0) {
                return Err(refused("pacing_rate: give packets per second above 0, or null"));
            }
            Some(PacketRate(rate))
        };
        let quantum = get(object, "quantum")?;
        self.decision.quantum = if quantum.is_undefined() || quantum.is_null() {
            None
        } else {
            let quantum = number(object, "quantum")?;
            if !(1.0..=LARGEST_QUANTUM).contains(&quantum) || quantum.fract() != 0.0 {
                return Err(refused("quantum: give a whole number of packets, at least 1, or null"));
            }
            Some(Packets(quantum as u64))
        };
        Ok(())
    }

    fn object(&self) -> JsValue {
        OBJECTS.with_borrow(|objects| objects.get(self.object).cloned().unwrap_or_default())
    }

    /// Notes window and threshold before a loss event or first timeout in a control that has a place for them: the base
    /// class goes back to them when the loss turns out to be none.
    fn remember(&self, object: &JsValue) -> Result<(), JsValue> {
        if !get(object, "before")?.is_undefined() {
            let before = Array::of2(&self.decision.window.0.into(), &self.decision.ssthresh.0.into());
            set(object.unchecked_ref(), "before", &before);
        }
        Ok(())
    }

    fn tell(&mut self, now: Time, signal: Signal) -> Result<(), JsValue> {
        let object = self.object();
        let now_s = JsValue::from_f64(now.as_seconds());
        let call = |name: &str, argument: &JsValue, is_optional: bool| -> Result<(), JsValue> {
            let method = get(&object, name)?;
            if is_optional && method.is_undefined() {
                return Ok(());
            }
            let method: Function = method
                .dyn_into()
                .map_err(|_| js_sys::TypeError::new(&format!("the control has no method {name}")))?;
            method.call1(&object, argument).map(drop)
        };
        match signal {
            Signal::Ack(ack) => {
                let rate = ack.rate.map(|rate| rate.delivered.0 as f64 / rate.interval.as_seconds());
                let rate = rate.filter(|rate| rate.is_finite());
                let sample = ack.rate.map_or(JsValue::NULL, |rate| {
                    object_of(&[
                        ("delivered", (rate.delivered.0 as f64).into()),
                        ("interval_s", rate.interval.as_seconds().into()),
                        ("application_limited", rate.application_limited.into()),
                        ("prior_delivered", (rate.prior_delivered.0 as f64).into()),
                        ("tx_in_flight", (rate.tx_in_flight.0 as f64).into()),
                        ("lost", (rate.lost.0 as f64).into()),
                    ])
                });
                let report = object_of(&[
                    ("now_s", now_s),
                    ("growth", ack.growth().into()),
                    ("credit", ack.credit.into()),
                    ("delivered", (ack.delivered.0 as f64).into()),
                    ("rtt_s", ack.rtt.map_or(JsValue::NULL, |rtt| rtt.as_seconds().into())),
                    ("in_flight", (ack.in_flight.0 as f64).into()),
                    ("round", (ack.round as f64).into()),
                    ("window_limited", ack.window_limited.into()),
                    ("recovering", ack.recovering.into()),
                    ("delivery_rate", rate.map_or(JsValue::NULL, JsValue::from_f64)),
                    ("rate", sample),
                    ("lost", (ack.lost.0 as f64).into()),
                    ("marked", (ack.marked.0 as f64).into()),
                    ("round_limited", ack.round_limited.into()),
                ]);
                call("onAck", &report, false)?;
            }
            Signal::Loss { ecn } => {
                self.remember(&object)?;
                call("onLoss", &object_of(&[("now_s", now_s), ("ecn", ecn.into())]), false)?
            }
            Signal::Timeout { first } => {
                if first {
                    self.remember(&object)?;
                }
                call("onTimeout", &object_of(&[("now_s", now_s), ("first", first.into())]), false)?;
            }
            Signal::Recovered => call("onRecovered", &now_s, true)?,
            Signal::Undo => call("onUndo", &now_s, true)?,
            Signal::Idle => call("onIdle", &now_s, true)?,
            Signal::Moderated { window } => call("onModerated", &(window.0 as f64).into(), true)?,
            Signal::Lost(lost) => {
                let report = object_of(&[
                    ("now_s", now_s),
                    ("tx_in_flight", (lost.tx_in_flight.0 as f64).into()),
                    ("lost_since_sent", (lost.lost_since_sent.0 as f64).into()),
                    ("application_limited", lost.application_limited.into()),
                ]);
                call("onLost", &report, true)?;
            }
            Signal::Restart => call("onRestart", &now_s, true)?,
        }
        self.decide(&object)
    }

    fn duplicated(&self) -> Result<Self, JsValue> {
        let object = self.object();
        let state = Object::assign(&Object::new(), object.unchecked_ref());
        let copy = Object::create(&Object::get_prototype_of(&object));
        let class = Class { class: Function::default(), internals: self.internals, wants: self.wants };
        JavaScriptControl::new(&class, Object::assign(&copy, &state).into())
    }
}

/// Keeps the first thing that is thrown.
fn keep(error: JsValue) {
    THROWN.with_borrow_mut(|thrown| {
        thrown.get_or_insert(error);
    });
}

impl ErasedController for JavaScriptControl {
    fn on(&mut self, now: Time, signal: Signal) -> Decision {
        if THROWN.with_borrow(Option::is_none)
            && let Err(error) = self.tell(now, signal)
        {
            keep(error);
        }
        self.decision
    }

    fn decision(&self) -> Decision {
        self.decision
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        for name in self.internals {
            visit(name, number(&self.object(), name).unwrap_or(f64::NAN));
        }
    }

    fn wants(&self) -> Wants {
        self.wants
    }

    fn duplicate(&self) -> Box<dyn ErasedController> {
        Box::new(self.duplicated().unwrap_or_else(|error| {
            keep(error);
            JavaScriptControl { internals: &[], ..*self }
        }))
    }
}

fn text(text: &str) -> &'static str {
    Box::leak(text.into())
}

fn parameter(name: &str, default: &JsValue) -> Result<Parameter, JsValue> {
    let (default, domain) = if let Some(flag) = default.as_bool() {
        (Value::Flag(flag), Domain::Flag)
    } else if let Some(number) = default.as_f64() {
        (Value::Number(number), Domain::Number { minimum: f64::MIN, maximum: f64::MAX })
    } else {
        let problem = format!("static parameters: {name} must be a number, true or false");
        return Err(js_sys::TypeError::new(&problem).into());
    };
    Ok(Parameter { name: text(name), default, domain, meaning: "" })
}

/// Makes a JavaScript class the control `own`, in place of one before.
///
/// The class has `window`, `ssthresh`, `pacing_rate` and `quantum` (packets, packets, packets per second, packets), `onAck`,
/// `onLoss` and `onTimeout`, and, if it likes, `onRecovered`, `onUndo`, `onIdle`, `onModerated`, `onLost` and `onRestart`;
/// `static parameters` (names and defaults), `static internals` (names of properties to be recorded), `static wants_rate`,
/// `wants_losses`, `wants_marks`, `window_is_a_cap` and `ecn` ("ect0", "ect1"). It is made from a start (`window`, `ssthresh`,
/// `hystart`, `seed`) and its parameters.
///
/// # Errors
/// When `static parameters`, `internals` or `ecn` are not of that kind.
#[wasm_bindgen]
pub fn register(class: Function) -> Result<(), JsValue> {
    let mut parameters = Vec::new();
    let declared = get(&class, "parameters")?;
    if let Some(declared) = Object::try_from(&declared) {
        for name in Object::keys(declared).iter().filter_map(|name| name.as_string()) {
            parameters.push(parameter(&name, &get(declared, &name)?)?);
        }
    }
    let internals = get(&class, "internals")?;
    let internals: Vec<&'static str> = if internals.is_undefined() {
        Vec::new()
    } else {
        Array::from(&internals).iter().filter_map(|name| name.as_string()).map(|name| text(&name)).collect()
    };
    let parameters: &'static [Parameter] = parameters.leak();
    let wants = wants_of(&class)?;
    let index = CLASSES.with_borrow_mut(|classes| {
        classes.push(Class { class, internals: internals.leak(), wants });
        classes.len() - 1
    });
    let build: &'static Build = Box::leak(Box::new(move |values: NamedValues<'_>, start| {
        check(parameters, values)?;
        let class = CLASSES.with_borrow(|classes| classes.get(index).cloned());
        let class = class.ok_or((0, ParameterError::Together("the control is of another worker")))?;
        let own = JavaScriptControl::build(&class, values, start).map_err(|error| {
            keep(error);
            (0, ParameterError::Together("the control threw when it was made"))
        })?;
        Ok(Box::new(own) as Box<dyn ErasedController>)
    }));
    let checked: &'static Check =
        Box::leak(Box::new(move |values: NamedValues<'_>| check(parameters, values)));
    catalogue::add(Entry::of_dynamic(NAME, "written in the page", parameters, build, checked));
    Ok(())
}
