//! The contract that every control keeps, for the whole registry and any sequence of signals.

use ackclock_cc::contract::violation;
use ackclock_cc::erased::ErasedController;
use ackclock_cc::registry::{BuiltIn, Catalogue, Entry};
use ackclock_cc::{Ack, Decision, Domain, HyStart, Lost, RateSample, Rules, Signal, Start, Value};
use ackclock_units::{Packets, Span, Time, Window};
use proptest::prelude::*;

fn entry() -> impl Strategy<Value = Entry> {
    prop::sample::select(BuiltIn.entries().to_vec())
}

/// A value in a domain, its edges as likely as its inside.
fn value(domain: Domain, draw: (u8, f64)) -> Value<'static> {
    match domain {
        Domain::Number { minimum, maximum } => Value::Number(match draw.0 {
            0 => minimum,
            1 => maximum,
            _ => minimum + (maximum - minimum) * draw.1,
        }),
        Domain::Choice(words) => Value::Choice(words[draw.0 as usize % words.len()]),
        Domain::Flag => Value::Flag(draw.0 == 0),
    }
}

fn signal() -> impl Strategy<Value = Signal> {
    let packets = || (0_u64..3000).prop_map(Packets);
    let rate = ((0_u64..100_000, 0_u64..1_000_000), any::<bool>(), [packets(), packets(), packets()])
        .prop_map(|((delivered, micros), application_limited, [prior_delivered, tx_in_flight, lost])| {
            RateSample {
                delivered: Packets(delivered),
                interval: Span::from_micros(micros),
                application_limited,
                prior_delivered,
                tx_in_flight,
                lost,
            }
        });
    let ack = (
        (0.0..1000.0_f64, 0_u64..1000, prop::option::of(0_u64..10_000_000)),
        (0_u64..3, any::<[bool; 3]>(), 0_u64..3000, prop::option::of(rate), [packets(), packets()]),
    );
    prop_oneof![
        12 => ack.prop_map(|((credit, delivered, rtt), (rounds, flags, in_flight, rate, [lost, marked]))| Signal::Ack(Ack {
            credit,
            delivered: Packets(delivered),
            rtt: rtt.map(Span::from_micros),
            window_limited: flags[0],
            // Counted up by `play`.
            round: rounds,
            recovering: flags[1],
            in_flight: Packets(in_flight),
            rate,
            lost,
            marked,
            round_limited: flags[2],
        })),
        2 => any::<bool>().prop_map(|ecn| Signal::Loss { ecn }),
        1 => Just(Signal::Recovered),
        1 => Just(Signal::CaughtUp),
        1 => any::<bool>().prop_map(|first| Signal::Timeout { first }),
        1 => Just(Signal::Undo),
        1 => (1_u64..3000).prop_map(|window| Signal::Moderated { window: Packets(window) }),
        1 => (1..70u32).prop_map(|timeouts| Signal::Idle { timeouts }),
        1 => Just(Signal::Restart),
        2 => (packets(), packets(), any::<bool>()).prop_map(|(tx_in_flight, lost_since_sent, application_limited)| {
            Signal::Lost(Lost { tx_in_flight, lost_since_sent, application_limited })
        }),
    ]
}

fn start() -> impl Strategy<Value = Start> {
    let ssthresh = prop::option::of(2.0..1e4_f64);
    let hystart = prop::sample::select(vec![
        HyStart::Off,
        HyStart::PlusPlus,
        HyStart::Linux { paced: false },
        HyStart::Linux { paced: true },
    ]);
    let rules = prop::sample::select(vec![Rules::Standard, Rules::Linux]);
    (1.0..100.0_f64, ssthresh, hystart, rules, any::<u64>()).prop_map(
        |(window, ssthresh, hystart, rules, seed)| {
            let ssthresh = ssthresh.map_or(Window::UNLIMITED, Window);
            Start { window: Window(window), ssthresh, hystart, rules, seed }
        },
    )
}

/// The signals with times and rounds that never run back.
fn in_order(signals: Vec<(Signal, u64)>) -> Vec<(Time, Signal)> {
    let (mut now, mut round) = (0, 0);
    signals
        .into_iter()
        .map(|(signal, later)| {
            now += later;
            match signal {
                Signal::Ack(ack) => {
                    round += ack.round;
                    (Time(now), Signal::Ack(Ack { round, ..ack }))
                }
                other => (Time(now), other),
            }
        })
        .collect()
}

fn signals() -> impl Strategy<Value = Vec<(Time, Signal)>> {
    prop::collection::vec((signal(), 0_u64..1_000_000_000_000), 1..300).prop_map(in_order)
}

fn build(entry: &Entry, start: Start, draws: &[(u8, f64)]) -> Option<Box<dyn ErasedController>> {
    let values: Vec<_> = entry
        .parameters
        .iter()
        .zip(draws)
        .filter(|(_, (kind, _))| *kind < 4)
        .map(|(parameter, draw)| (parameter.name, value(parameter.domain, *draw)))
        .collect();
    // Values that are allowed singly may be refused together.
    entry.build(&values, start).ok()
}

/// Each rule, kept at its edge and then broken: a check that notices nothing would pass every control.
#[test]
fn every_breach_is_noticed() {
    let decided = |window, ssthresh| Decision {
        window: Window(window),
        ssthresh: Window(ssthresh),
        pacing_rate: None,
        quantum: None,
    };
    let before = decided(10.0, 8.0);
    let (credit, no_credit) = (Ack::of_one_packet(), Ack { credit: 0.0, ..Ack::of_one_packet() });
    let lost = Lost { tx_in_flight: Packets(9), lost_since_sent: Packets(1), application_limited: false };
    let moderated = Signal::Moderated { window: Packets(3) };
    let rules = [
        (Signal::Recovered, decided(1.0, 2.0), decided(0.999, 2.0)),
        (Signal::Recovered, decided(1.0, 2.0), decided(f64::INFINITY, 2.0)),
        (Signal::Recovered, decided(1.0, 2.0), decided(f64::NAN, 2.0)),
        (Signal::Recovered, decided(1.0, 2.0), decided(1.0, 1.999)),
        (Signal::Loss { ecn: false }, decided(2.0, 2.0), decided(1.999, 2.0)),
        (Signal::Timeout { first: true }, decided(1.0, 5.0), decided(1.5, 5.0)),
        (Signal::Timeout { first: false }, decided(1.0, 8.0), decided(1.0, 7.0)),
        (moderated, decided(10.0, 8.0), decided(10.1, 8.0)),
        (moderated, decided(3.0, 8.0), decided(3.0, 7.0)),
        (Signal::Lost(lost), decided(10.0, 5.0), decided(10.1, 8.0)),
        (Signal::Ack(no_credit), decided(10.0, 8.0), decided(10.1, 8.0)),
    ];
    for (signal, kept, broken) in rules {
        assert_eq!(violation(before, signal, kept, false), None, "{signal:?} {kept:?}");
        assert!(violation(before, signal, broken, false).is_some(), "{signal:?} {broken:?}");
    }
    let in_quanta = |packets| Decision { quantum: Some(Packets(packets)), ..before };
    assert_eq!(violation(before, Signal::Recovered, in_quanta(1), false), None);
    assert!(violation(before, Signal::Recovered, in_quanta(0), false).is_some());
    // What may grow: a window that was acknowledged in full, and one that is a cap.
    assert_eq!(violation(before, Signal::Ack(credit), decided(11.0, 8.0), false), None);
    assert_eq!(violation(before, Signal::Ack(no_credit), decided(11.0, 8.0), true), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_control_keeps_it(
        entry in entry(), start in start(), signals in signals(),
        draws in prop::collection::vec((0_u8..8, 0.0..1.0_f64), 16)
    ) {
        let Some(mut control) = build(&entry, start, &draws) else { return Ok(()) };
        let mut twin = build(&entry, start, &draws).unwrap();
        let mut written = control.decision();
        let half = signals.len() / 2;
        for (index, (now, signal)) in signals.into_iter().enumerate() {
            if index == half {
                twin = control.duplicate();
            }
            let before = control.decision();
            let decision = control.on(now, signal);
            prop_assert_eq!(violation(before, signal, decision, control.wants().window_is_a_cap), None, "{:?} after {:?}", decision, signal);
            twin.decide(now, signal, &mut written);
            prop_assert_eq!(decision, written, "the same signals give the same decisions, returned or written");
            prop_assert_eq!(decision, control.decision());
            control.internals(&mut |name, _| assert!(!name.is_empty()));
        }
        let before = control.decision();
        let now = Time(u64::MAX / 2);
        for signal in [Signal::Loss { ecn: false }, Signal::Timeout { first: true }] {
            control.on(now, signal);
            let undone = control.on(now, Signal::Undo);
            prop_assert_eq!((undone.window, undone.ssthresh), (before.window, before.ssthresh));
        }
    }

    /// Values outside a domain are refused, whatever the parameter.
    #[test]
    fn nothing_outside_its_domain_is_accepted(entry in entry(), beyond in 1e-9..1e9_f64) {
        for parameter in entry.parameters {
            let outside = match parameter.domain {
                Domain::Number { minimum, maximum } => vec![
                    Value::Number(minimum - beyond), Value::Number(maximum + beyond.max(maximum * 1e-9)),
                    Value::Number(f64::NAN), Value::Choice("mean"), Value::Flag(true),
                ],
                Domain::Choice(_) => vec![Value::Choice("no such word"), Value::Number(0.0)],
                Domain::Flag => vec![Value::Number(0.0), Value::Choice("true")],
            };
            for value in outside {
                prop_assert!(entry.build(&[(parameter.name, value)], Start::default()).is_err());
            }
            prop_assert!(parameter.domain.contains(parameter.default));
        }
        prop_assert!(entry.build(&[("no such parameter", Value::Flag(true))], Start::default()).is_err());
    }
}
