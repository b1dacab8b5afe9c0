//! What a driver sees of a control whose type it does not know, and what a user sees of parameters that are refused.

use ackclock_cc::erased::ErasedController;
use ackclock_cc::registry::{BuiltIn, Catalogue};
use ackclock_cc::units::Time;
use ackclock_cc::{Decision, Ecn, Signal, Start, Value, Wants, reno::Reno};

/// Rates, losses, marks, the codepoint, and whether the window is a cap: Reno needs nothing, BBR rates, Linux's BBR and
/// version 3 losses, version 3 marks; DCTCP sends ECT(0) (RFC 8257), Prague ECT(1) (RFC 9331).
#[test]
fn a_driver_is_told_what_a_control_needs() {
    for (name, wants, ecn, is_cap) in [
        ("reno", [false, false, false], Ecn::AsConfigured, false),
        ("bbr", [true, false, false], Ecn::AsConfigured, true),
        ("bbr-linux", [true, true, false], Ecn::AsConfigured, true),
        ("bbr3", [true, true, true], Ecn::AsConfigured, true),
        ("dctcp", [false, false, true], Ecn::Ect0, false),
        ("prague", [false, false, true], Ecn::Ect1, false),
    ] {
        let entry = BuiltIn.find(name).unwrap();
        let control = entry.build(&[], Start::default()).unwrap();
        assert_eq!(entry.name, name);
        let [rate, losses, marks] = wants;
        let wants = Wants { rate, losses, marks, window_is_a_cap: is_cap, ecn };
        assert_eq!((control.wants(), control.failure()), (wants, None), "{name}");
    }
    assert!(BuiltIn.find("no such control").is_none());
}

/// A control that says only what it must.
struct Silent;

impl ErasedController for Silent {
    fn on(&mut self, _: Time, _: Signal) -> Decision {
        ErasedController::decision(self)
    }

    fn decision(&self) -> Decision {
        let reno = <Reno as ackclock_cc::Controller>::new(Default::default(), Start::default());
        ackclock_cc::Controller::decision(&reno)
    }

    fn internals(&self, _: &mut dyn FnMut(&'static str, f64)) {}

    fn duplicate(&self) -> Box<dyn ErasedController> {
        Box::new(Silent)
    }
}

/// It needs nothing but acknowledgements and losses, and has not failed.
#[test]
fn a_control_needs_nothing_unless_it_says_so() {
    let silent: Box<dyn ErasedController> = Box::new(Silent);
    assert_eq!((silent.wants(), silent.failure()), (Wants::NOTHING, None));
}

/// Internals of a boxed control are those of its type: N = 3 of TCP-FIT, which was given by name.
#[test]
fn a_boxed_control_has_its_parameters_and_internals() {
    let values = [("n", Value::Number(3.0)), ("rtt", Value::Choice("smoothed"))];
    let fit = BuiltIn.find("fit").unwrap().build(&values, Start::default()).unwrap();
    let mut n = None;
    fit.internals(&mut |name, value| {
        if name == "n" {
            n = Some(value);
        }
    });
    assert_eq!(n, Some(3.0));
    let flags = [("fast_convergence", Value::Flag(false))];
    assert_eq!(BuiltIn.find("cubic").unwrap().check(&flags), Ok(()));
}

/// Which of the given parameters is at fault, and what would be right.
#[test]
fn a_refusal_says_what_is_expected() {
    for (control, values, index, message) in [
        ("cubic", &[("nothing", Value::Flag(true))][..], 0, "unknown parameter"),
        (
            "cubic",
            &[("c", Value::Number(1.0)), ("beta", Value::Number(2.0))],
            1,
            "expected a number from 0.1 to 0.99",
        ),
        ("bic", &[("search", Value::Choice("never"))], 0, "expected one of \"per_ack\" \"per_rtt\""),
        ("cubic", &[("fast_convergence", Value::Number(1.0))], 0, "expected true or false"),
        ("fit", &[("n", Value::Number(0.5))], 0, "n must be 0 or at least 1"),
    ] {
        let (at_fault, error) = BuiltIn.find(control).unwrap().check(values).unwrap_err();
        assert_eq!((at_fault, error.to_string().as_str()), (index, message));
    }
    let values =
        [Value::Number(0.5), Value::Choice("word"), Value::Flag(true)].map(|value| value.to_string());
    assert_eq!(values, ["0.5", "\"word\"", "true"]);
    assert!(format!("{:?}", BuiltIn.find("bic").unwrap()).contains("bic"));
}
