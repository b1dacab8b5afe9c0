//! What controls of the kernel remember of round-trip times in little space, the modes that follow, and their pacing.

use ackclock_cc::erased::ErasedController;
use ackclock_cc::registry::{BuiltIn, Catalogue};
use ackclock_cc::{Ack, HyStart, Rules, Signal, Start};
use ackclock_kernel::twin;
use ackclock_units::{Span, Time, Window};

const START: Start = Start {
    window: Window(20.0),
    ssthresh: Window(20.0),
    hystart: HyStart::Off,
    rules: Rules::Standard,
    seed: 0,
};

fn in_kernel(name: &str) -> Box<dyn ErasedController> {
    let entry = twin::entries().iter().find(|entry| entry.name == format!("{name}@kernel")).unwrap();
    entry.build(&[], START).unwrap()
}

fn internal(control: &dyn ErasedController, name: &str) -> f64 {
    let mut wanted = None;
    control.internals(&mut |internal, value| {
        if internal == name {
            wanted = Some(value);
        }
    });
    wanted.unwrap()
}

fn in_rust(name: &str) -> Box<dyn ErasedController> {
    BuiltIn.find(name).unwrap().build(&[], START).unwrap()
}

fn acknowledge(control: &mut dyn ErasedController, ms: u64, rtt_ms: u64) {
    acknowledge_in_round(control, ms, 1000 * rtt_ms, ms / rtt_ms);
}

fn acknowledge_in_round(control: &mut dyn ErasedController, ms: u64, rtt_us: u64, round: u64) {
    let ack = Ack { rtt: Some(Span::from_micros(rtt_us)), round, ..Ack::of_one_packet() };
    control.on(Time::ZERO + Span::from_millis(ms), Signal::Ack(ack));
}

/// 50 ms until `change`, then 70 ms: after how many milliseconds the delay of 20 ms counts as queued, and no longer does.
fn remembers(change: usize) -> [usize; 2] {
    let mut control = in_kernel("copa");
    let mut delays = Vec::new();
    for ms in 1..change + 15_000 {
        acknowledge(&mut *control, ms as u64, if ms <= change { 50 } else { 70 });
        delays.push(internal(&*control, "queueing_delay_ms"));
    }
    let first = delays.iter().position(|delay| *delay > 0.0).unwrap();
    let last = delays.iter().rposition(|delay| *delay > 0.0).unwrap() + 1;
    // In between it never forgets, and knows the delay to 2^-12.
    assert!(delays[first..last].iter().all(|delay| (delay / 20.0 - 1.0).abs() < 1.0 / 4096.0));
    assert!(first >= change, "{first}");
    [first - change, last - change]
}

/// RTTst is of 3 to 4 sevenths of a smoothed RTT, which is between the two, and RTTmin of 3 to 4 times 2.884 s, at moments
/// that are even over such a time 3.5 times that on average. An ACK comes every millisecond: either may be that late.
#[test]
fn copa_forgets_in_time() {
    let times: Vec<_> = (0..8).map(|part| remembers(10_000 + 2_884 * part / 8)).collect();
    assert!(times.iter().all(|[first, _]| (21..=41).contains(first)), "{times:?}");
    assert!(times.iter().all(|[_, last]| (8_651..=11_537).contains(last)), "{times:?}");
    let mean = times.iter().map(|[_, last]| *last as f64).sum::<f64>() / 8.0;
    // Even moments leave an eighth of a stretch open, 361 ms: half of it either way.
    assert!((mean - 10_094.0).abs() < 181.0, "{mean}");
}

/// RTTs between 20 and 120 ms: a delay below 10 ms is a nearly empty queue. RTTmax is known to a sixteenth.
#[test]
fn a_tenth_of_the_range_is_nearly_empty() {
    for (delay_us, is_competitive) in [(9_300, 0.0), (10_700, 1.0)] {
        for mut control in [in_rust("copa"), in_kernel("copa")] {
            for ms in 1..6_000 {
                let rtt_us = if ms < 500 {
                    20_000
                } else if ms % 40 == 0 {
                    120_000
                } else {
                    20_000 + delay_us
                };
                acknowledge_in_round(&mut *control, ms, rtt_us, ms / 30);
            }
            assert_eq!(
                internal(&*control, "competitive").to_bits(),
                f64::to_bits(is_competitive),
                "{delay_us}"
            );
        }
    }
}

/// 1/delta grows by 1 in each round trip of 60 ms but those with a loss event and the one after; it is halved once in a
/// round trip.
#[test]
fn losses_halve_the_weight_of_the_competitive_mode() {
    let (mut ours, mut theirs) = (in_rust("copa"), in_kernel("copa"));
    let mut largest = 0.0_f64;
    for ms in 1..5_000 {
        for control in [&mut ours, &mut theirs] {
            acknowledge_in_round(&mut **control, ms, if ms < 500 { 20_000 } else { 60_000 }, ms / 60);
            if [2_000, 2_010, 2_060, 2_120, 3_000].contains(&ms) {
                control.on(Time::ZERO + Span::from_millis(ms), Signal::Loss { ecn: false });
            }
        }
        let weights = [&ours, &theirs].map(|control| internal(&**control, "inverse_delta"));
        largest = largest.max(weights[0]);
        // Nine binary digits.
        assert!((weights[0] - weights[1]).abs() < 4.0 / 512.0, "{ms}: {weights:?}");
    }
    assert!(largest > 20.0, "{largest}");
}

/// The kernel's pacing at twice the window per smoothed RTT.
#[test]
fn copa_is_paced_at_two_windows_per_round_trip() {
    let mut control = in_kernel("copa");
    assert!(control.decision().pacing_rate.is_none());
    (1..1_000).for_each(|ms| acknowledge(&mut *control, ms, 50));
    let decision = control.decision();
    let per_trip = decision.pacing_rate.unwrap().0 * 0.05;
    assert!((per_trip / decision.window.0 - 2.0).abs() < 1e-9, "{per_trip} of {:?}", decision.window);
}

/// 50 ms for four and a half minutes, then 70 ms: the base is that of ten minutes. A minute of the kernel's is 57 times
/// 2^20 us, that is 59.8 s; after 15 of them and an ACK each it is 5 s ahead at most, and meanwhile the two may disagree.
#[test]
fn ledbat_plus_plus_forgets_after_ten_minutes() {
    let (mut ours, mut theirs) = (in_rust("ledbat++"), in_kernel("ledbat++"));
    let mut disagreeing = 0;
    for tenth in 1..15_000 {
        for control in [&mut ours, &mut theirs] {
            acknowledge(&mut **control, 100 * tenth, if tenth < 2_700 { 50 } else { 70 });
        }
        let delays = [&ours, &theirs].map(|control| internal(&**control, "delay_ms"));
        disagreeing += u32::from((delays[0] - delays[1]).abs() > 0.01);
        let known = if (2_704..8_300).contains(&tenth) { Some(20.0) } else { (tenth > 9_100).then_some(0.0) };
        assert!(known.is_none_or(|delay| (delays[1] - delay).abs() < 1e-4), "{tenth}: {delays:?}");
    }
    assert!(disagreeing <= 50, "{disagreeing}");
}
