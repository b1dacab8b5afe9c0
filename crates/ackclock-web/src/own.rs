//! A control that is written in the page: a JavaScript class behind the contract of `ackclock-cc`, as `own.rs` of the
//! Python extension has it for a Python class.
//!
//! Nothing may leap over the engine's frames, so what a method throws is kept, the control stays as it is, and the run
//! ends at the next look at [`thrown`].

use std::cell::{Cell, RefCell};

use ackclock_cc::erased::ErasedController;
use ackclock_cc::registry::{Build, Check, Entry, NamedValues, check};
use ackclock_cc::{
    Decision, Domain, Ecn, HyStart, Parameter, ParameterError, RateSample, Signal, Start, Value, Wants,
};
use ackclock_units::{PacketRate, Packets, Span, Time, Window};
use js_sys::{Array, Function, Object, Reflect};
use wasm_bindgen::prelude::*;

use crate::{catalogue, set};

/// Its name in scenarios.
const NAME: &str = "own";

thread_local! {
    static THROWN: RefCell<Option<JsValue>> = const { RefCell::new(None) };
    static CLASSES: RefCell<Vec<Class>> = const { RefCell::new(Vec::new()) };
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

#[wasm_bindgen(module = "/src/own.js")]
extern "C" {
    fn prepare(memory: JsValue, decision: u32);
    #[wasm_bindgen(catch)]
    fn make(
        class: &Function,
        parameters: Object,
        window: f64,
        ssthresh: f64,
        hystart: bool,
        rules: &str,
        seed: f64,
    ) -> Result<u32, JsValue>;
    #[wasm_bindgen(catch)]
    fn copy(control: u32) -> Result<u32, JsValue>;
    fn release(control: u32);
    #[wasm_bindgen(js_name = thrown)]
    fn caught() -> JsValue;
    fn internal(control: u32, name: &str) -> f64;
    fn ack(
        control: u32,
        now_s: f64,
        growth: f64,
        credit: f64,
        delivered: f64,
        rtt_s: f64,
        in_flight: f64,
        round: f64,
        window_limited: bool,
        recovering: bool,
        lost: f64,
        marked: f64,
        round_limited: bool,
        has_rate: bool,
        rate_delivered: f64,
        interval_s: f64,
        application_limited: bool,
        prior_delivered: f64,
        tx_in_flight: f64,
        rate_lost: f64,
    ) -> bool;
    fn loss(control: u32, now_s: f64, ecn: bool, window: f64, ssthresh: f64) -> bool;
    fn timeout(control: u32, now_s: f64, first: bool, window: f64, ssthresh: f64) -> bool;
    fn lost(
        control: u32,
        now_s: f64,
        tx_in_flight: f64,
        lost_since_sent: f64,
        application_limited: bool,
    ) -> bool;
    fn idle(control: u32, now_s: f64, timeouts: u32) -> bool;
    fn signal(control: u32, name: &str, value: f64) -> bool;
}

/// In the place of a sample that there is not.
const NO_RATE: RateSample = RateSample {
    delivered: Packets(0),
    interval: Span::ZERO,
    application_limited: false,
    prior_delivered: Packets(0),
    tx_in_flight: Packets(0),
    lost: Packets(0),
};

/// Where `own.js` writes window, ssthresh, pacing rate and quantum.
type Answer = [Cell<f64>; 4];

thread_local! {
    static ANSWER: Answer = const { [const { Cell::new(0.0) }; 4] };
}

/// One control of one flow; the object itself stays with the thread, because a control may go to another one.
struct JavaScriptControl {
    object: u32,
    internals: &'static [&'static str],
    wants: Wants,
    decision: Decision,
}

fn get(object: &JsValue, name: &str) -> Result<JsValue, JsValue> {
    Reflect::get(object, &name.into())
}

fn refused(problem: &str) -> JsValue {
    js_sys::RangeError::new(problem).into()
}

impl JavaScriptControl {
    /// A control that was made, with its first decision: without an ssthresh it has none.
    fn new(internals: &'static [&'static str], wants: Wants, object: u32) -> Self {
        let nothing =
            Decision { window: Window(1.0), ssthresh: Window::UNLIMITED, pacing_rate: None, quantum: None };
        let mut own = JavaScriptControl { object, internals, wants, decision: nothing };
        own.decide();
        own
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
        set_threshold(Window::UNLIMITED);
        // A number holds 53 bits; as good a seed as 64.
        let seed = (start.seed >> 11) as f64;
        let hystart = start.hystart == HyStart::PlusPlus;
        let rules = start.rules.name();
        let object = make(&class.class, parameters, start.window.0, start.ssthresh.0, hystart, rules, seed)?;
        Ok(JavaScriptControl::new(class.internals, class.wants, object))
    }

    /// Reads what `own.js` has checked and written.
    fn decide(&mut self) {
        let [window, ssthresh, rate, quantum] = ANSWER.with(|answer| answer.each_ref().map(Cell::get));
        self.decision = Decision {
            window: Window(window),
            ssthresh: Window(ssthresh),
            pacing_rate: (rate > 0.0).then_some(PacketRate(rate)),
            quantum: (quantum > 0.0).then_some(Packets(quantum as u64)),
        };
    }

    /// Passes a signal on; returns whether the control has answered.
    fn pass_on(&self, now: Time, signal: Signal) -> bool {
        let (object, now_s) = (self.object, now.as_seconds());
        let (window, ssthresh) = (self.decision.window.0, self.decision.ssthresh.0);
        set_threshold(self.decision.ssthresh);
        match signal {
            Signal::Ack(report) => {
                let rate = report.rate.unwrap_or(NO_RATE);
                ack(
                    object,
                    now_s,
                    report.growth(),
                    report.credit,
                    report.delivered.0 as f64,
                    report.rtt.map_or(f64::NAN, |rtt| rtt.as_seconds()),
                    report.in_flight.0 as f64,
                    report.round as f64,
                    report.window_limited,
                    report.recovering,
                    report.lost.0 as f64,
                    report.marked.0 as f64,
                    report.round_limited,
                    report.rate.is_some(),
                    rate.delivered.0 as f64,
                    rate.interval.as_seconds(),
                    rate.application_limited,
                    rate.prior_delivered.0 as f64,
                    rate.tx_in_flight.0 as f64,
                    rate.lost.0 as f64,
                )
            }
            Signal::Loss { ecn } => loss(object, now_s, ecn, window, ssthresh),
            Signal::Timeout { first } => timeout(object, now_s, first, window, ssthresh),
            Signal::Recovered => self::signal(object, "onRecovered", now_s),
            Signal::Undo => self::signal(object, "onUndo", now_s),
            Signal::Idle { timeouts } => idle(object, now_s, timeouts),
            Signal::CaughtUp => self::signal(object, "onCaughtUp", now_s),
            Signal::Restart => self::signal(object, "onRestart", now_s),
            Signal::Moderated { window } => self::signal(object, "onModerated", window.0 as f64),
            Signal::Lost(packet) => lost(
                object,
                now_s,
                packet.tx_in_flight.0 as f64,
                packet.lost_since_sent.0 as f64,
                packet.application_limited,
            ),
        }
    }
}

/// Sets what a control without an ssthresh keeps.
fn set_threshold(ssthresh: Window) {
    ANSWER.with(|answer| answer[1].set(ssthresh.0));
}

/// Keeps the first thing that is thrown.
fn keep(error: JsValue) {
    THROWN.with_borrow_mut(|thrown| {
        thrown.get_or_insert(error);
    });
}

impl Drop for JavaScriptControl {
    fn drop(&mut self) {
        release(self.object);
    }
}

impl ErasedController for JavaScriptControl {
    fn on(&mut self, now: Time, signal: Signal) -> Decision {
        if THROWN.with_borrow(Option::is_none) {
            if self.pass_on(now, signal) {
                self.decide();
            } else {
                keep(caught());
            }
        }
        self.decision
    }

    fn decision(&self) -> Decision {
        self.decision
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        for name in self.internals {
            visit(name, internal(self.object, name));
        }
    }

    fn wants(&self) -> Wants {
        self.wants
    }

    fn duplicate(&self) -> Box<dyn ErasedController> {
        set_threshold(self.decision.ssthresh);
        match copy(self.object) {
            Ok(object) => Box::new(JavaScriptControl::new(self.internals, self.wants, object)),
            Err(error) => {
                keep(error);
                Box::new(Stopped(self.decision))
            }
        }
    }
}

/// In the place of a control that could not be duplicated; the run ends.
struct Stopped(Decision);

impl ErasedController for Stopped {
    fn on(&mut self, _: Time, _: Signal) -> Decision {
        self.0
    }

    fn decision(&self) -> Decision {
        self.0
    }

    fn internals(&self, _: &mut dyn FnMut(&'static str, f64)) {}

    fn wants(&self) -> Wants {
        Wants::NOTHING
    }

    fn duplicate(&self) -> Box<dyn ErasedController> {
        Box::new(Stopped(self.0))
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
/// `onLoss` and `onTimeout`, and, if it likes, `onRecovered`, `onCaughtUp`, `onUndo`, `onIdle`, `onModerated`, `onLost` and `onRestart`;
/// `static parameters` (names and defaults), `static internals` (names of properties to be recorded), `static wants_rate`,
/// `wants_losses`, `wants_marks`, `window_is_a_cap` and `ecn` ("ect0", "ect1"). It is made from a start (`window`, `ssthresh`,
/// `hystart`, `rules`, `seed`) and its parameters.
///
/// # Errors
/// When `static parameters`, `internals` or `ecn` are not of that kind.
#[wasm_bindgen]
pub fn register(class: Function) -> Result<(), JsValue> {
    prepare(wasm_bindgen::memory(), ANSWER.with(|answer| answer.as_ptr() as u32));
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
