//! Any control, any parameters, any sequence of signals: the contract holds.
#![no_main]

use ackclock_cc::contract::violation;
use ackclock_cc::erased::ErasedController;
use ackclock_cc::registry::{BuiltIn, Catalogue, Entry};
use ackclock_cc::{Ack, Domain, HyStart, Lost, RateSample, Rules, Signal, Start, Value};
use ackclock_units::{Packets, Span, Time, Window};
use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;

/// A number in a range, its ends more often than others.
fn number(u: &mut Unstructured<'_>, minimum: f64, maximum: f64) -> Result<f64> {
    Ok(match u.arbitrary::<u8>()? {
        0 => minimum,
        1 => maximum,
        _ => minimum + (maximum - minimum) * f64::from(u.arbitrary::<u32>()?) / f64::from(u32::MAX),
    })
}

fn value(u: &mut Unstructured<'_>, domain: Domain) -> Result<Value<'static>> {
    Ok(match domain {
        Domain::Number { minimum, maximum } => Value::Number(number(u, minimum, maximum)?),
        Domain::Choice(words) => Value::Choice(u.choose(words)?),
        Domain::Flag => Value::Flag(u.arbitrary()?),
    })
}

fn signal(u: &mut Unstructured<'_>, round: &mut u64) -> Result<Signal> {
    Ok(match u.arbitrary::<u8>()? {
        0..=9 => Signal::Loss { ecn: u.arbitrary()? },
        10..=14 => Signal::Recovered,
        15..=19 => Signal::Timeout { first: u.arbitrary()? },
        20..=22 => Signal::Undo,
        23 => Signal::Moderated { window: Packets(u64::from(u.arbitrary::<u16>()?).max(1)) },
        24 => Signal::Idle { timeouts: u.arbitrary::<u32>()?.max(1) },
        25 => Signal::Restart,
        26 => Signal::CaughtUp,
        27..=29 => Signal::Lost(Lost {
            tx_in_flight: Packets(u.arbitrary::<u16>()?.into()),
            lost_since_sent: Packets(u.arbitrary::<u16>()?.into()),
            application_limited: u.arbitrary()?,
        }),
        kind => {
            *round = round.saturating_add(u64::from(kind % 3));
            Signal::Ack(Ack {
                credit: number(u, 0.0, 1e6)?,
                delivered: Packets(u.arbitrary::<u32>()?.into()),
                rtt: u.arbitrary::<Option<u32>>()?.map(|micros| Span::from_micros(micros.into())),
                in_flight: Packets(u.arbitrary::<u32>()?.into()),
                window_limited: kind % 5 > 0,
                round: *round,
                recovering: kind % 7 == 0,
                rate: match u.arbitrary::<Option<(u32, u32, bool)>>()? {
                    None => None,
                    Some((delivered, micros, application_limited)) => Some(RateSample {
                        delivered: Packets(delivered.into()),
                        interval: Span::from_micros(micros.into()),
                        application_limited,
                        prior_delivered: Packets(u.arbitrary::<u32>()?.into()),
                        tx_in_flight: Packets(u.arbitrary::<u16>()?.into()),
                        lost: Packets(u.arbitrary::<u16>()?.into()),
                    }),
                },
                lost: Packets(u.arbitrary::<u8>()?.into()),
                marked: Packets(u.arbitrary::<u8>()?.into()),
                round_limited: kind % 4 > 0,
            })
        }
    })
}

fn start(u: &mut Unstructured<'_>) -> Result<Start> {
    Ok(Start {
        window: Window(number(u, 1.0, 1000.0)?),
        ssthresh: if u.arbitrary()? { Window(number(u, 2.0, 1e6)?) } else { Window::UNLIMITED },
        hystart: *u.choose(&[
            HyStart::Off,
            HyStart::PlusPlus,
            HyStart::Linux { paced: false },
            HyStart::Linux { paced: true },
        ])?,
        rules: *u.choose(&[Rules::Standard, Rules::Linux])?,
        seed: u.arbitrary()?,
    })
}

fn control(u: &mut Unstructured<'_>, entry: &Entry) -> Result<Option<Box<dyn ErasedController>>> {
    let mut given = Vec::new();
    for parameter in entry.parameters {
        if u.arbitrary()? {
            given.push((parameter.name, value(u, parameter.domain)?));
        }
    }
    // Values that are allowed singly may be refused together.
    Ok(entry.build(&given, start(u)?).ok())
}

fn play(u: &mut Unstructured<'_>) -> Result<()> {
    let entry = *u.choose(BuiltIn.entries())?;
    let Some(mut control) = control(u, &entry)? else { return Ok(()) };
    let (mut now, mut round) = (Time::ZERO, 0);
    while !u.is_empty() {
        now = now + Span::from_micros(u.arbitrary::<u16>()?.into());
        let signal = signal(u, &mut round)?;
        let mut twin = control.duplicate();
        let before = control.decision();
        let after = control.on(now, signal);
        assert_eq!(
            violation(before, signal, after, control.wants().window_is_a_cap),
            None,
            "{}: {signal:?}: {before:?}, {after:?}",
            entry.name
        );
        assert_eq!(after, twin.on(now, signal), "{}: the same signals, other decisions", entry.name);
        for sign in [Signal::Loss { ecn: false }, Signal::Timeout { first: true }] {
            let mut twin = control.duplicate();
            twin.on(now, sign);
            let undone = twin.on(now, Signal::Undo);
            assert_eq!(
                (undone.window, undone.ssthresh),
                (after.window, after.ssthresh),
                "{}: undo",
                entry.name
            );
        }
    }
    Ok(())
}

fuzz_target!(|data: &[u8]| {
    // Out of data is the end, no failure.
    let _ = play(&mut Unstructured::new(data));
});
