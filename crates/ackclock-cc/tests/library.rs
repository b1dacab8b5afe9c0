//! Libraries of controls: whatever their code does stays in them, and another layout has another build.

#[path = "../sources.rs"]
mod sources;

use std::fs;
use std::path::Path;

use ackclock_cc::registry::Entry;
use ackclock_cc::units::Time;
use ackclock_cc::{Ack, Controller, Decision, Ecn, Signal, Start, Value, Wants, library::BUILD, parts::Base};

ackclock_cc::parameters! {
    /// When to panic.
    pub struct FaultyParams {
        /// panics in the constructor
        new: bool = false, Domain::Flag;
        /// panics when a copy is made
        clone: bool = false, Domain::Flag;
    }
}

/// Panics at a loss, and where its parameters say so.
#[derive(Debug)]
struct Faulty(FaultyParams, Base);

impl Clone for Faulty {
    fn clone(&self) -> Self {
        assert!(!self.0.clone, "no copies");
        Faulty(self.0, self.1.clone())
    }
}

impl Controller for Faulty {
    type Params = FaultyParams;

    fn new(params: FaultyParams, start: Start) -> Self {
        assert!(!params.new, "not\nmade");
        Faulty(params, Base::new(start))
    }

    fn on(&mut self, _now: Time, signal: Signal) {
        assert!(!matches!(signal, Signal::Loss { .. }), "a packet is lost");
        self.1.react(signal, 0.5);
    }

    fn decision(&self) -> Decision {
        self.1.decision()
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("before", 1.0);
        panic!("nothing to see");
    }
}

impl Drop for Faulty {
    fn drop(&mut self) {
        panic!("not even this");
    }
}

ackclock_cc::library! {
    "faulty", "a test" => Faulty;
    "reno", "a test" => ackclock_cc::reno::Reno;
    "bbr3", "a test" => ackclock_cc::bbr3::Bbr3<ackclock_cc::bbr3::Draft>;
    "prague", "a test" => ackclock_cc::prague::Prague;
}

fn entry() -> &'static Entry {
    &ACKCLOCK_ENTRIES[0]
}

#[test]
fn a_panic_is_a_failure_that_can_be_asked_for() {
    let mut control = entry().build(&[], Start::default()).unwrap();
    let before = control.on(Time::ZERO, Signal::Ack(Ack::of_one_packet()));
    assert_eq!(control.failure(), None);
    let mut internals = Vec::new();
    control.internals(&mut |name, value| internals.push((name, value)));
    assert_eq!(internals, [("before", 1.0)]);
    assert_eq!(control.on(Time::ZERO, Signal::Loss { ecn: false }), before);
    let why = control.failure().unwrap().to_owned();
    assert!(why.starts_with("panicked at ") && why.ends_with(": a packet is lost"), "{why}");
    // It receives no further signal, or it would panic with something else.
    control.on(Time::ZERO, Signal::Ack(Ack::of_one_packet()));
    assert_eq!(control.duplicate().failure(), Some(why.as_str()));
}

#[test]
fn a_constructor_or_a_copy_that_panics_is_a_failure() {
    let failure = |name| {
        let control = entry().build(&[(name, Value::Flag(true))], Start::default()).unwrap();
        control.failure().or(control.duplicate().failure()).unwrap().to_owned()
    };
    assert!(failure("new").ends_with(": not made"));
    assert!(failure("clone").ends_with(": no copies"));
    assert!(entry().build(&[("none", Value::Flag(true))], Start::default()).is_err());
}

/// Reno needs nothing; version 3 of BBR rates, losses and marks, and its window is a cap; Prague marks and ECT(1).
#[test]
fn a_library_passes_on_what_its_controls_need() {
    for (name, wants) in [
        ("reno", Wants::NOTHING),
        (
            "bbr3",
            Wants { rate: true, losses: true, marks: true, window_is_a_cap: true, ecn: Ecn::AsConfigured },
        ),
        ("prague", Wants { marks: true, ecn: Ecn::Ect1, ..Wants::NOTHING }),
    ] {
        let entry = ACKCLOCK_ENTRIES.iter().find(|entry| entry.name == name).unwrap();
        let control = entry.build(&[], Start::default()).unwrap();
        assert_eq!(control.wants(), wants, "{name}");
    }
}

/// Sources changed in one byte, given another name or joined by another are another build.
#[test]
fn the_build_names_every_source() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let ours = sources::hash(crates);
    assert!(BUILD.contains(&format!(", sources {ours:016x}, rustc ")), "{BUILD}");
    let copy = std::env::temp_dir().join(format!("ackclock-sources-{}", std::process::id()));
    for directory in sources::SHARED {
        copy_all(&crates.join(directory), &copy.join(directory));
    }
    assert_eq!(sources::hash(&copy), ours);
    for file in ["ackclock-cc/src/registry.rs", "ackclock-cc/src/parts/base.rs", "ackclock-units/src/time.rs"]
    {
        let before = fs::read_to_string(copy.join(file)).unwrap();
        fs::write(copy.join(file), format!("{before} ")).unwrap();
        assert_ne!(sources::hash(&copy), ours, "{file}");
        fs::write(copy.join(file), before).unwrap();
        assert_eq!(sources::hash(&copy), ours);
    }
    fs::rename(copy.join("ackclock-cc/src/bbr.rs"), copy.join("ackclock-cc/src/zbbr.rs")).unwrap();
    assert_ne!(sources::hash(&copy), ours);
    fs::remove_dir_all(copy).unwrap();
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let there = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_all(&path, &there);
        } else {
            fs::copy(&path, &there).unwrap();
        }
    }
}
