//! The kernel's arithmetic against the controls in Rust, on the same signals.

use std::mem::take;

use ackclock_cc::parameters::Value;
use ackclock_cc::registry::{BuiltIn, Catalogue, NamedValues};
use ackclock_cc::{Ack, HyStart, Rules, Signal, Start};
use ackclock_kernel::twin;
use ackclock_units::{Packets, Span, Time, Window};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// What happens on a connection, with what the kernel can tell: whole packets and microseconds.
#[derive(Clone, Debug)]
enum Step {
    /// This many ACKs of a packet each, in one round trip of this length.
    RoundTrip {
        acks: u16,
        rtt_us: u32,
    },
    Recovery {
        acks: u16,
        rtt_us: u32,
    },
    /// As a round trip, and each ACK of which the number is a multiple of `every` tells that its packet came marked.
    Marked {
        acks: u16,
        rtt_us: u32,
        every: u16,
    },
    /// As a round trip, but every RTT is the same.
    Level {
        acks: u16,
        rtt_us: u32,
    },
    /// A second of nothing.
    Silence,
    Loss,
    Timeout {
        first: bool,
    },
    Undo,
    Idle,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (1..300_u16, 10_000..200_000_u32).prop_map(|(acks, rtt_us)| Step::RoundTrip { acks, rtt_us }),
        2 => (1..20_u16, 10_000..200_000_u32).prop_map(|(acks, rtt_us)| Step::Recovery { acks, rtt_us }),
        3 => Just(Step::Loss),
        1 => any::<bool>().prop_map(|first| Step::Timeout { first }),
        1 => Just(Step::Undo),
        1 => Just(Step::Idle),
    ]
}

/// The same, with marks.
fn step_with_marks() -> impl Strategy<Value = Step> {
    let marked = (1..300_u16, 10_000..200_000_u32, 1..40_u16)
        .prop_map(|(acks, rtt_us, every)| Step::Marked { acks, rtt_us, every });
    prop_oneof![2 => step(), 1 => marked]
}

/// Parameters of the control in Rust that make it what the kernel can do: no window grows there while a cut is answered.
fn parameters(name: &str) -> NamedValues<'static> {
    if name == "dctcp" { &[("grows_in_cut", Value::Flag(false))] } else { &[] }
}

/// Loss events on a path whose throughput is known: a queue that grows by 1.5 ms per round trip, and a bottleneck that
/// in one epoch of four has another rate.
fn sawtooth() -> impl Strategy<Value = Vec<Step>> {
    let rate = prop_oneof![3 => 1900..2100_u32, 1 => 1200..3000_u32];
    let epoch = (4..30_u32, rate, 1..20_u16).prop_map(|(trips, packets_per_s, acks)| {
        let trip =
            |rtt_us: u32| Step::RoundTrip { acks: (packets_per_s * (rtt_us / 1000) / 1000) as u16, rtt_us };
        let rtt_us = |trip: u32| 50_000 + 1500 * trip;
        let mut steps: Vec<_> = (0..trips).map(|number| trip(rtt_us(number))).collect();
        steps.extend([Step::Loss, Step::Recovery { acks, rtt_us: rtt_us(trips) }]);
        steps
    });
    prop::collection::vec(epoch, 4..12).prop_map(|epochs| epochs.concat())
}

/// RTTs that change only in silence: whoever remembers the smallest or the largest of a fraction of a second remembers
/// the same. All of it lasts less than the 8.6 s that an RTTmin counts at least.
fn plateaus() -> impl Strategy<Value = Vec<Step>> {
    let event = prop_oneof![
        8 => Just(None),
        2 => Just(Some(Step::Loss)),
        1 => Just(Some(Step::Timeout { first: true })),
        1 => Just(Some(Step::Undo)),
        1 => Just(Some(Step::Idle)),
    ];
    let events = prop::collection::vec(event, 1..12);
    let plateau = (10_000..100_000_u32, 1..200_u16, events).prop_map(|(rtt_us, acks, events)| {
        let mut steps = vec![Step::Silence];
        steps.extend(
            events.into_iter().flat_map(|event| [Some(Step::Level { acks, rtt_us }), event]).flatten(),
        );
        steps
    });
    prop::collection::vec(plateau, 1..4).prop_map(|plateaus| plateaus.concat())
}

/// The largest relative difference of the windows after each signal.
fn largest_difference(name: &str, window: u32, ssthresh: f64, steps: &[Step]) -> f64 {
    let start = Start {
        window: Window(f64::from(window)),
        ssthresh: Window(ssthresh),
        hystart: HyStart::Off,
        rules: Rules::Standard,
        seed: 0,
    };
    let mut ours = BuiltIn.find(name).unwrap().build(parameters(name), start).unwrap();
    let entry = twin::entries().iter().find(|entry| entry.name == format!("{name}@kernel")).unwrap();
    let mut theirs = entry.build(&[], start).unwrap();
    assert_eq!((ours.wants().marks, ours.wants().ecn), (theirs.wants().marks, theirs.wants().ecn), "{name}");
    // The kernel's clock has long begun: to the twins 0 is never.
    let (mut round, mut worst, mut now) = (0, 0.0_f64, Time::ZERO + Span::from_micros(1));
    let mut silence = Span::ZERO;
    let mut tell = |after: Span, signal| {
        now += after;
        let ours = ours.on(now, signal);
        let theirs = theirs.on(now, signal);
        worst = worst.max((theirs.window.0 / ours.window.0 - 1.0).abs());
        assert!(theirs.window.0 >= 1.0);
    };
    for step in steps {
        match *step {
            Step::RoundTrip { acks, rtt_us }
            | Step::Level { acks, rtt_us }
            | Step::Recovery { acks, rtt_us }
            | Step::Marked { acks, rtt_us, .. } => {
                round += 1;
                let marks = |number: u16| match step {
                    Step::Marked { every, .. } => number.is_multiple_of(*every),
                    _ => false,
                };
                // The queue grows: were all the same, rounding would decide whether a mean is above them.
                let rise = if matches!(step, Step::Level { .. }) { 0 } else { 10 };
                let ack = |number: u16| Ack {
                    rtt: Some(Span::from_micros(u64::from(rtt_us) + rise * u64::from(number))),
                    delivered: Packets(1),
                    marked: Packets(marks(number).into()),
                    in_flight: Packets(u64::from(acks) - 1),
                    round,
                    recovering: matches!(step, Step::Recovery { .. }),
                    ..Ack::of_one_packet()
                };
                let gap = Span::from_micros(u64::from(rtt_us / u32::from(acks)));
                (0..acks).for_each(|number| tell(gap + take(&mut silence), Signal::Ack(ack(number))));
            }
            Step::Silence => silence = Span::from_seconds(1),
            Step::Loss => tell(Span::ZERO, Signal::Loss { ecn: false }),
            Step::Timeout { first } => tell(Span::ZERO, Signal::Timeout { first }),
            Step::Undo => tell(Span::ZERO, Signal::Undo),
            Step::Idle => tell(Span::ZERO, Signal::Idle { timeouts: 1 }),
        }
    }
    worst
}

/// Where the fixed point ends. A step of the window is rounded to 2^-32 packets, factors to 2^-16: after a
/// loss event that keeps a fraction k the error is 2^-17/k of the window, and it shrinks with every further
/// one. 30 of them at most, each 2^-16: 5e-4.
const ROUNDING: f64 = 5e-4;

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fixed_factors_are_kept(
        name in prop::sample::select(vec!["aimd", "gaimd", "multcp", "reno"]),
        window in 1..50_u32,
        ssthresh in prop_oneof![Just(f64::INFINITY), 2.0..1000.0],
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let worst = largest_difference(name, window, ssthresh, &steps);
        prop_assert!(worst < ROUNDING, "{worst}");
    }

    /// N is a whole number found by comparing two means; the twin compares them to 2^-24, and decides
    /// otherwise only where they are as near as that, but not equal. Random signals are not; where they are equal both
    /// leave N as it is.
    #[test]
    fn fit_has_the_same_sessions(
        window in 1..50_u32,
        ssthresh in prop_oneof![Just(f64::INFINITY), 2.0..1000.0],
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let worst = largest_difference("fit", window, ssthresh, &steps);
        prop_assert!(worst < ROUNDING, "{worst}");
    }
}

/// After a timeout the next period has a single RTT, the largest so far: what is queued is exactly what is allowed.
#[test]
fn fit_leaves_n_where_both_are_equal() {
    let trip = |rtt_us| Step::RoundTrip { acks: 1, rtt_us };
    for rtt_us in 76_440..78_440 {
        let steps = [trip(76_439), Step::Timeout { first: false }, trip(rtt_us), Step::Loss, trip(10_000)];
        let worst = largest_difference("fit", 1, f64::INFINITY, &steps);
        assert!(worst < ROUNDING, "{rtt_us}: {worst}");
    }
}

/// The largest differences of many random connections, sorted.
fn differences(name: &str, steps: &impl Strategy<Value = Vec<Step>>) -> Vec<f64> {
    let mut runner = TestRunner::deterministic();
    let mut largest: Vec<_> = (0..1000)
        .map(|_| {
            let (steps, window) = (steps.new_tree(&mut runner).unwrap(), (1..50_u32).new_tree(&mut runner));
            largest_difference(name, window.unwrap().current(), f64::INFINITY, &steps.current())
        })
        .collect();
    largest.sort_by(f64::total_cmp);
    largest
}

/// Controls that switch at a window or delay may do so an ACK earlier or later than their twins, which are as
/// near as the rounding; in all but `rare` connections of a thousand the windows agree within `usual`, and in
/// these within `jump`, what one ACK adds.
fn agree(name: &str, usual: f64, rare: usize, jump: f64) {
    agree_on(&prop::collection::vec(step(), 1..60), name, usual, rare, jump);
}

fn agree_on(steps: &impl Strategy<Value = Vec<Step>>, name: &str, usual: f64, rare: usize, jump: f64) {
    let sorted = differences(name, steps);
    let (most, all) = (sorted[sorted.len() - 1 - rare], sorted[sorted.len() - 1]);
    assert!(most < usual && all < jump, "{name}: {most} in most, {all} in all");
}

#[test]
fn bic_agrees_but_for_steps_that_double_an_ack_later() {
    // A step of 16 packets per window in place of 8, from a window of 14 on: 8/14 of a packet per ACK.
    agree("bic", 2e-2, 20, 8.0 / 14.0 / 14.0);
}

#[test]
fn illinois_agrees_but_for_acks_at_its_threshold() {
    // alpha = dm/(10 da) comes from delays in ticks: a millisecond is 16000 of them, so alpha is known to
    // 1e-4. At a window of 10 packets it is 10 in place of 1: 9/10 of a packet for one ACK.
    agree("illinois", 2.0 * ROUNDING, 20, 0.09);
}

#[test]
fn windows_that_follow_the_delay_agree() {
    // A share of the window is known to 2^-8 packets, 4e-3 of the smallest of 2 and less of larger ones; FAST
    // halves what is left of it every round trip. Compound begins with dwnd at 41 packets, and turns at 30
    // queued ones: an ACK before or after, 41^(3/4)/8 - 1 and 30 packets of as many more.
    agree("fast", 4e-3, 20, 0.5);
    agree("compound", 4e-3, 20, 0.5);
}

#[test]
fn the_table_of_hstcp_is_near_the_formulas() {
    // Between rows of a(W) and b(W), eight to a doubling, lines leave 1/8^2/8 = 2e-3 of what bends as a power
    // of W; 60 steps add up to 1e-2 at most.
    agree("hstcp", 1e-2, 0, 1e-2);
    agree("africa", 1e-2, 20, 0.1);
}

#[test]
fn controls_that_switch_at_a_window_agree() {
    // Scalable adds 1/16 of a packet below 16 packets, from there on 0.01: an ACK before or after, 0.053/16.
    agree("scalable", ROUNDING, 20, 0.053 / 16.0);
    // Linux' BIC counts in whole numbers: at the next whole window it takes another step, at most 16 packets per
    // window of 15 and more, for one ACK.
    agree("bic-linux", ROUNDING, 20, 16.0 / 15.0 / 15.0);
    // Linux' Illinois has its threshold at 15 packets: alpha is 10 or 1 for one ACK.
    agree("illinois-linux", 2.0 * ROUNDING, 20, 9.0 / 15.0 / 15.0);
}

#[test]
fn vegas_adds_and_takes_whole_packets() {
    // diff is known to 2^-24 of the window: random delays are not as near to whole packets.
    agree("vegas", 1e-9, 20, 0.5);
}

#[test]
fn a_queue_at_the_threshold_decides_how_much_is_cut() {
    // Veno keeps 1/2 or 4/5: where the queue is at the threshold but for the rounding, the windows differ by 3/5.
    agree("veno", ROUNDING, 20, 0.6);
}

#[test]
fn the_throughput_decides_how_much_h_tcp_cuts() {
    // 1/2 or up to 4/5 by a comparison of throughputs, which the twin knows to 2^-8 packets per second of 5 and more:
    // 1e-3. None of these is as near to a fifth, be they random or those of a path.
    agree("htcp", ROUNDING, 0, ROUNDING);
    agree_on(&sawtooth(), "htcp", ROUNDING, 0, ROUNDING);
}

#[test]
fn h_tcp_of_linux_adds_and_takes_whole_packets() {
    // Whole packets are equal, or one off where the rounding of beta, 2^-17, takes W beta or the ACKs for a packet,
    // W/alpha, over a whole number: with windows of hundreds after one loss event of some hundred. Random windows are cut
    // too often for that; those of the path are 40 packets and more.
    agree("htcp-linux", 1e-9, 20, 0.5);
    agree_on(&sawtooth(), "htcp-linux", 1e-9, 50, 1.0 / 40.0);
}

#[test]
fn westwood_keeps_what_the_path_holds() {
    // The share of the window that it keeps is known to 2^-16 of itself and 2^-16 packets of the pipe; half a
    // packet of a pipe, the least that two ACKs in a round trip measure, is known to 3e-5.
    agree("westwood", ROUNDING, 20, 4.0 * ROUNDING);
}

#[test]
fn cubic_agrees_to_a_quarter_of_a_millisecond() {
    // Times are whole 2^-12 s. After D seconds the cubic grows by 1.2 D^2 packets per second: in a quarter of a
    // millisecond, D being 6 s at most here, 1e-2 packets, of windows of 5 and more. An ACK before or after, the
    // Reno-friendly window takes over from a cubic that may lag a packet of 20 behind.
    agree("cubic", 2e-3, 20, 0.1);
}

#[test]
fn marks_cut_alike() {
    // Half of alpha is known to 2^-16, of which the window keeps a half at least: 3e-5 per cut, of which 60 round trips
    // have one each at most, and every cut shrinks the error of those before.
    agree_on(&prop::collection::vec(step_with_marks(), 1..60), "dctcp", ROUNDING, 0, ROUNDING);
}

#[test]
fn ledbat_plus_plus_agrees_but_for_acks_that_end_its_slow_start() {
    // GAIN is known to 2^-16, delays to a tick of 960 000. After a timeout 1/GAIN steps of GAIN add up to a packet and
    // reach ssthresh, or an ACK later, here by the floating point and there by the fixed: that one adds GAIN, half of the
    // window at most, and one connection of ten has a timeout that ends so.
    agree("ledbat++", ROUNDING, 100, 0.5);
    // A slowdown that a microsecond decides begins a round trip later: meanwhile it has 2 packets of 2 to 60.
    agree_on(&sawtooth(), "ledbat++", ROUNDING, 5, 30.0);
}

#[test]
fn copa_agrees_where_its_extremes_do() {
    // dq and v are known to 2^-12, and so is where W reaches RTTst/(delta dq), around which it goes up and down by an
    // ACK's 1/(delta W). Where an ACK goes the other way, the direction of that round trip may differ, v and the mode after
    // it: these connections are recognised, and counted.
    agree_on(&plateaus(), "copa", 1e-2, 100, f64::INFINITY);
}

#[test]
fn every_control_is_tried_here() {
    let text = concat!(include_str!("twins.rs"), include_str!("rates.rs"));
    for name in twin::NAMES {
        assert!(text.contains(&format!("{name:?}")), "{name}");
    }
}

#[test]
fn internals_have_the_names_and_values_of_the_control() {
    for name in twin::NAMES {
        let start = Start {
            window: Window(20.0),
            ssthresh: Window(20.0),
            hystart: HyStart::Off,
            rules: Rules::Standard,
            seed: 0,
        };
        let entry = twin::entries().iter().find(|entry| entry.name == format!("{name}@kernel")).unwrap();
        let (mut ours, mut theirs) = (
            BuiltIn.find(twin::original(name)).unwrap().build(&[], start).unwrap(),
            entry.build(&[], start).unwrap(),
        );
        for number in 0..500_u64 {
            let now = Time::ZERO + Span::from_millis(number);
            // A queue that rises and falls by 10 ms in 50 round trips.
            let rtt = Some(Span::from_micros(50_000 + 200 * (number / 10).min(50 - number / 10)));
            let ack = Ack { rtt, round: number / 10, ..Ack::of_one_packet() };
            let signal = if number % 200 == 199 { Signal::Loss { ecn: false } } else { Signal::Ack(ack) };
            ours.on(now, signal);
            theirs.on(now, signal);
        }
        let mut known = Vec::new();
        ours.internals(&mut |name, value| known.push((name, value)));
        theirs.internals(&mut |internal, value| {
            let (_, ours) =
                known.iter().find(|pair| pair.0 == internal).unwrap_or_else(|| panic!("{internal}"));
            let agree = (value / ours - 1.0).abs() < 0.02 || (value - ours).abs() < 1e-4;
            // A bound that there is none of is infinite, or not known.
            assert!(
                agree || value.is_nan() && !ours.is_finite(),
                "{name}: {internal} is {value}, not {ours}"
            );
        });
        assert_eq!(twin::internals_of(name).len(), {
            let mut count = 0;
            theirs.internals(&mut |_, _| count += 1);
            count
        });
    }
}

#[test]
fn a_window_of_a_hundred_thousand_packets_still_grows_by_one() {
    // 100 000 ACKs add a packet, each 1e-5 packets: 42950 of 2^-32, rounded to within 1e-5 of itself.
    let steps: Vec<_> = (0..400).map(|_| Step::RoundTrip { acks: 250, rtt_us: 100_000 }).collect();
    let start = Start {
        window: Window(1e5),
        ssthresh: Window(2.0),
        hystart: HyStart::Off,
        rules: Rules::Standard,
        seed: 0,
    };
    let entry = twin::entries().iter().find(|entry| entry.name == "gaimd@kernel").unwrap();
    let mut control = entry.build(&[], start).unwrap();
    for step in &steps {
        let Step::RoundTrip { acks, .. } = step else { unreachable!() };
        (0..*acks).for_each(|_| {
            control.on(Time::ZERO, Signal::Ack(Ack::of_one_packet()));
        });
    }
    let grown = control.decision().window.0 - 1e5;
    assert!((grown / 0.31 - 1.0).abs() < 1e-3, "{grown}");
}

/// A window of W packets, an ACK per `delayed` of them, and a path so fast that a window arrives at once: by hand, in units
/// of the RTT, a round trip ends when its first packet is acknowledged. Where W is a multiple of `delayed` every window is
/// acknowledged after exactly one RTT, so that in n RTTs there are n round trips, wherever sequence numbers wrap.
#[test]
fn the_kernel_counts_one_round_trip_per_rtt() {
    const PACKET: u32 = 1448;
    for (window, delayed) in [(2, 1), (2, 2), (4, 2), (10, 1), (10, 2), (12, 4), (200, 1)] {
        // The third window passes 2^32.
        let first = 0_u32.wrapping_sub(2 * window * PACKET + 1);
        let (mut begin, mut acknowledged, mut next) = (first, first, first.wrapping_add(window * PACKET));
        let mut ends = Vec::new();
        for rtt in 1..=50 {
            for _ in 0..window / delayed {
                acknowledged = acknowledged.wrapping_add(delayed * PACKET);
                // The kernel asks its control before it sends what the ACK allows.
                if twin::ends_round_trip(&mut begin, acknowledged, next) {
                    ends.push(rtt);
                }
                next = next.wrapping_add(delayed * PACKET);
            }
        }
        // The first round trip begins with the first byte that is sent after the control came.
        let expected: Vec<_> = (1..=50).collect();
        assert_eq!(ends, expected, "W = {window}, an ACK per {delayed}");
    }
}
