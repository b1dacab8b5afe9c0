//! Controls of the kernel that set window and rate, on the same signals as the controls in Rust that they are the code of.
//!
//! What the kernel does not tell is left out: no packet is lost in these connections, but loss events, their ends, timeouts
//! and false alarms are signalled.

use std::collections::BTreeSet;

use ackclock_cc::registry::{BuiltIn, Catalogue};
use ackclock_cc::{Ack, HyStart, RateSample, Rules, Signal, Start};
use ackclock_kernel::twin;
use ackclock_units::{Packets, Span, Time, Window};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

#[derive(Clone, Debug)]
enum Step {
    /// This many ACKs of a packet each, in one round trip of this length, perhaps limited by the application.
    RoundTrip {
        acks: u16,
        rtt_us: u32,
        is_limited: bool,
    },
    Other(Signal),
    Pause {
        ms: u16,
    },
}

/// Round trips of a path whose rate and queue change, so that every state is come to; a sixth of the steps are something
/// else.
fn steps() -> impl Strategy<Value = Vec<Step>> {
    let trip = (20..60_u32, 40_000..60_000_u32, 0..8_u8).prop_map(|(per_10_ms, rtt_us, limited)| {
        Step::RoundTrip { acks: (per_10_ms * rtt_us / 10_000) as u16, rtt_us, is_limited: limited == 0 }
    });
    let other = prop_oneof![
        2 => Just(Step::Other(Signal::Loss { ecn: false })),
        2 => Just(Step::Other(Signal::Recovered)),
        1 => Just(Step::Other(Signal::Timeout { first: true })),
        1 => Just(Step::Other(Signal::Undo)),
        1 => Just(Step::Other(Signal::Restart)),
        2 => (1..3000_u16).prop_map(|ms| Step::Pause { ms }),
    ];
    prop::collection::vec(prop_oneof![20 => trip, 1 => other], 1..400)
}

/// The largest relative difference of windows and of rates after each signal, and the states that were come to.
fn differences(steps: &[Step], window: u32, seed: u64) -> (f64, f64, BTreeSet<u8>) {
    let start = Start {
        window: Window(f64::from(window)),
        ssthresh: Window::UNLIMITED,
        hystart: HyStart::Off,
        rules: Rules::Standard,
        seed,
    };
    let mut ours = BuiltIn.find(twin::original("bbr3-approx")).unwrap().build(&[], start).unwrap();
    let entry = twin::entries().iter().find(|entry| entry.name == "bbr3-approx@kernel").unwrap();
    let mut theirs = entry.build(&[], start).unwrap();
    assert_eq!(
        (ours.wants().rate, ours.wants().losses, ours.wants().window_is_a_cap),
        (theirs.wants().rate, theirs.wants().losses, theirs.wants().window_is_a_cap)
    );
    let (mut now, mut delivered) = (Time::ZERO + Span::from_micros(1), 0_u64);
    let mut states = BTreeSet::new();
    let (mut windows, mut rates) = (0.0_f64, 0.0_f64);
    let mut tell = |now, signal| {
        let (expected, decision) = (ours.on(now, signal), theirs.on(now, signal));
        let pacing = [expected, decision].map(|decision| decision.pacing_rate.unwrap().0);
        windows = windows.max((decision.window.0 / expected.window.0 - 1.0).abs());
        rates = rates.max((pacing[1] / pacing[0] - 1.0).abs());
        assert!(decision.window.0 >= 1.0 && pacing[1] > 0.0);
        theirs.internals(&mut |name, value| {
            if name == "state" {
                states.insert(value as u8);
            }
        });
    };
    for step in steps {
        match *step {
            Step::RoundTrip { acks, rtt_us, is_limited } => {
                for _ in 0..acks {
                    now += Span::from_micros(u64::from(rtt_us / u32::from(acks)));
                    delivered += 1;
                    let flight = u64::from(acks).min(delivered);
                    let rate = RateSample {
                        delivered: Packets(flight),
                        // Were it the RTT, rounding would decide whether what is in flight fits into their product.
                        interval: Span::from_micros(u64::from(rtt_us) + 7),
                        application_limited: is_limited,
                        prior_delivered: Packets(delivered - flight),
                        tx_in_flight: Packets(flight),
                        lost: Packets(0),
                    };
                    let ack = Ack {
                        rtt: Some(Span::from_micros(u64::from(rtt_us))),
                        in_flight: Packets(flight),
                        rate: Some(rate),
                        round_limited: !is_limited,
                        ..Ack::of_one_packet()
                    };
                    tell(now, Signal::Ack(ack));
                }
            }
            Step::Other(signal) => tell(now, signal),
            Step::Pause { ms } => now += Span::from_millis(u64::from(ms)),
        }
    }
    (windows, rates, states)
}

/// Volumes are known to 2^-16 packets, of four or more: 4e-6. Gains are known to 2^-16, of which Drain's is the smallest, a
/// third: 5e-5. In a connection of fifty at most one of them decides otherwise than the other, an acknowledgement earlier or
/// later: then their states differ for a while, and so may windows and rates.
#[test]
fn bbr_has_the_same_windows_and_rates() {
    let mut runner = TestRunner::deterministic();
    let (mut others, mut states) = (0, BTreeSet::new());
    for seed in 0..500 {
        let (steps, window) = (steps().new_tree(&mut runner).unwrap(), (1..50_u32).new_tree(&mut runner));
        let (windows, rates, come_to) = differences(&steps.current(), window.unwrap().current(), seed);
        others += u32::from(windows > 4e-6 || rates > 5e-5);
        states.extend(come_to);
    }
    assert!(others <= 10, "{others} of 500");
    assert_eq!(states, (0..7).collect());
}
