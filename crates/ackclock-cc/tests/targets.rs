//! Controls that keep a delay: Copa and LEDBAT++, and ABE, by hand-worked steps from their specifications.

use ackclock_cc::copa::{Copa, CopaParams, Velocity, step};
use ackclock_cc::cubic::{Cubic, CubicParams, Rfc8312, Rfc9438};
use ackclock_cc::ledbat_plus_plus::{LedbatPlusPlus, LedbatPlusPlusParams, SlowdownGain};
use ackclock_cc::parts::Windowed;
use ackclock_cc::reno::{Reno, RenoParams};
use ackclock_cc::{Ack, Controller, HyStart, Signal, Start};
use ackclock_units::{Packets, Span, Time, Window};
use proptest::prelude::*;

use crate::common;
use crate::common::{LOSS, at, internal, near, tell};

const MARK: Signal = Signal::Loss { ecn: true };

fn window<C: Controller>(control: &C) -> f64 {
    control.decision().window.0
}

fn ms(milliseconds: u64) -> Time {
    Time::ZERO + Span::from_millis(milliseconds)
}

/// 20 packets at 42 ms are 476 per second, the target 1/(0.5 * 2 ms) = 1000: up by 1/(0.5 * 20) = 0.1. At 50 ms they
/// are 400, the target is 200: down. Without a queue the target is infinite. v = 40 would be 4 packets per packet.
#[test]
fn copa_steps_towards_its_rate() {
    near(step(0.5, 1.0, 20.0, 0.040, 0.042), 0.1, 1e-12);
    near(step(0.5, 1.0, 20.0, 0.040, 0.050), -0.1, 1e-12);
    near(step(0.5, 4.0, 20.0, 0.040, 0.040), 0.4, 1e-12);
    assert_eq!(step(0.5, 40.0, 20.0, 0.040, 0.050), -1.0);
}

/// Tells Copa of `packets` packets with one RTT, spread over the round trip that ends at `end`.
fn round(copa: &mut Copa, end: u64, rtt: u64, number: u64, packets: u64) {
    for packet in 1..=packets {
        let now = ms(end - rtt) + Span(Span::from_millis(rtt).0 / packets * packet);
        copa.on(now, common::ack(rtt, number));
    }
}

fn copa_at(window: f64, mode_switching: bool) -> Copa {
    Copa::new(CopaParams { mode_switching, velocity: Velocity::Paper, ..CopaParams::default() }, at(window))
}

/// Slow start adds a packet per packet. RTTs of 40 ms, then 60 ms for longer than half of a smoothed RTT: the target is
/// 1/(0.5 * 20 ms) = 100 per second, which any window above 6 packets exceeds. The steps from there on go down.
#[test]
fn copa_leaves_slow_start_at_its_target() {
    let mut copa = Copa::new(CopaParams::default(), Start::default());
    assert_eq!(copa.decision().pacing_rate, None);
    for (number, packets) in [(1, 2), (2, 4), (3, 8)] {
        round(&mut copa, 40 * number, 40, number, packets);
    }
    assert_eq!(window(&copa), 16.0);
    near(copa.decision().pacing_rate.unwrap().0, 2.0 * 16.0 / 0.040, 1e-6);
    assert_eq!(copa.decision().ssthresh, Window::UNLIMITED);
    round(&mut copa, 180, 60, 4, 16);
    // 16 packets acknowledged in slow start would have made 32.
    let left = copa.decision().ssthresh.0;
    assert!(left < 32.0, "slow start is over at {left}");
    assert_eq!(window(&copa), left, "and does not come back while the window falls");
}

/// The path stays empty, so the window rises without end. v is 1 until the window has been seen to have risen three times in
/// turn, and then 2, 4, 8: the window gains 2v packets per round trip of W packets, but never more than it has.
#[test]
fn copa_doubles_its_velocity() {
    let mut copa = copa_at(100.0, false);
    let mut velocities = Vec::new();
    let mut end = 0;
    for number in 1..=6 {
        let before = window(&copa);
        end += 40;
        // The first packet of a round trip ends the one before.
        round(&mut copa, end, 40, number, 100);
        let velocity = internal(&copa, "velocity");
        velocities.push(velocity);
        // Per packet v/(0.5 W), W growing meanwhile: W dW = 2v dn, so W^2 grows by 4v per packet.
        near(window(&copa), (before * before + 4.0 * velocity * 100.0).sqrt(), 0.3);
    }
    assert_eq!(velocities, [1.0, 1.0, 1.0, 2.0, 4.0, 8.0]);
    // A queue of 60 ms asks for the other direction: v is 1 again with the first step down.
    round(&mut copa, end + 100, 100, 7, 100);
    assert_eq!(internal(&copa, "velocity"), 1.0);
}

/// In the authors' code v doubles from the first round trip on, because it begins with a direction, up; at most to delta W,
/// which is 50 or more here. Down instead of up it is 1 again.
#[test]
fn copa_doubles_its_velocity_at_once_as_the_authors_do() {
    let params = CopaParams { mode_switching: false, ..CopaParams::default() };
    assert_eq!(params.velocity, Velocity::Authors);
    let mut copa = Copa::new(params, at(100.0));
    let mut velocities = Vec::new();
    for number in 1..=5 {
        round(&mut copa, 40 * number, 40, number, 100);
        velocities.push(internal(&copa, "velocity"));
    }
    assert_eq!(velocities, [2.0, 4.0, 8.0, 16.0, 32.0]);
    // 100 ms ask for the other direction; the round trip after it sees that.
    for number in 6..8 {
        round(&mut copa, 200 + 100 * (number - 5), 100, number, 100);
    }
    assert_eq!(internal(&copa, "velocity"), 1.0);
}

/// Loss does nothing in the default mode, not even to slow start; what a loss episode held back comes at its end.
#[test]
fn copa_ignores_loss() {
    let mut copa = Copa::new(CopaParams::default(), Start { window: Window(10.0), ..Start::default() });
    tell(&mut copa, common::ack(40, 0));
    let before = copa.decision();
    copa.on(Time::ZERO, LOSS);
    assert_eq!(copa.decision(), before);
    for _ in 0..5 {
        tell(&mut copa, common::measured(40, 0));
    }
    assert_eq!(window(&copa), 11.0);
    assert_eq!(tell(&mut copa, Signal::Recovered), 16.0);
}

/// A queue of 60 ms over a path of 40 brings 100 packets down. Retransmissions measure nothing, so the 60 ms stand at first;
/// after four smoothed RTTs of less than 100 ms they say no more about the path than an empty queue would.
#[test]
fn copa_forgets_what_it_has_not_measured_for_long() {
    let mut copa = copa_at(100.0, false);
    round(&mut copa, 40, 40, 1, 10);
    round(&mut copa, 200, 100, 2, 50);
    let unmeasured = |now| {
        let mut twin = copa.clone();
        twin.on(ms(now), Signal::Ack(Ack { round: 2, ..Ack::of_one_packet() }));
        window(&twin) - window(&copa)
    };
    assert!(unmeasured(300) < 0.0);
    assert!(unmeasured(601) > 0.0);
}

/// RTTs between 80 and 100 ms over a path of 40: the queue is never nearly empty, 40 > 0.1 * 60, but for the first ACKs of
/// the second round trip, within half of a smoothed RTT. From the sixth round trip after that on Copa is competitive, and 1/delta grows from 2 by 1 with each; a loss event halves it, once
/// per round trip, and one that was none is undone. Ten of 1/delta fall to 5; an empty queue brings the default back.
#[test]
fn copa_competes() {
    let mut copa = copa_at(100.0, true);
    round(&mut copa, 40, 40, 1, 10);
    let mut end = 40;
    let mut history = Vec::new();
    for number in 2..=15 {
        let rtt = if number % 2 == 0 { 80 } else { 100 };
        end += rtt;
        round(&mut copa, end, rtt, number, 10);
        history.push((internal(&copa, "competitive"), internal(&copa, "inverse_delta")));
    }
    let expected: Vec<_> = (2..=15)
        .map(|number| if number <= 7 { (0.0, 2.0) } else { (1.0, f64::from(number) - 5.0) })
        .collect();
    assert_eq!(history, expected);
    let undone = {
        let mut twin = copa.clone();
        twin.on(ms(end), LOSS);
        twin.on(ms(end), Signal::Undo);
        internal(&twin, "inverse_delta")
    };
    assert_eq!(undone, 10.0);
    copa.on(ms(end), LOSS);
    copa.on(ms(end), LOSS);
    assert_eq!(internal(&copa, "inverse_delta"), 5.0);
    round(&mut copa, end + 40, 40, 16, 10);
    assert_eq!((internal(&copa, "competitive"), internal(&copa, "inverse_delta")), (0.0, 2.0));
}

proptest! {
    /// Against the definition, over all samples: the result is one of the window, and at most the smallest of its
    /// newest fifteen sixteenths.
    #[test]
    fn a_windowed_least_is_one_of_the_window(
        steps in prop::collection::vec((0_u64..40, 0_u64..1000), 1..300), length in 1_u64..1000,
    ) {
        let (mut least, mut now, mut all) = (Windowed::default(), 0, Vec::new());
        for (later, sample) in steps {
            now += later;
            all.push((now, sample));
            let estimate = least.note(Time(now), sample, Span(length));
            let within = |length: u64| {
                all.iter().filter(move |(time, _)| now - time <= length).map(|(_, sample)| *sample)
            };
            prop_assert!(within(length).any(|sample| sample == estimate));
            prop_assert!(estimate <= within(length - length / 16).min().unwrap());
        }
    }

    /// The same for a window that changes: still one of its samples, and never larger than the newest.
    #[test]
    fn a_windowed_least_survives_other_lengths(
        steps in prop::collection::vec((0_u64..40, 0_u64..1000, 1_u64..1000), 1..300),
    ) {
        let (mut least, mut now, mut all) = (Windowed::default(), 0, Vec::new());
        for (later, sample, length) in steps {
            now += later;
            all.push((now, sample));
            let estimate = least.note(Time(now), sample, Span(length));
            prop_assert!(all.iter().any(|(time, sample)| now - time <= length && *sample == estimate));
            prop_assert!(estimate <= sample || now - all[all.len() - 2].0 <= length / 16);
        }
    }
}

/// GAIN = 1/min(16, ceil(120/base)): 1/16 below 8 ms, 1/15 at 8, 1/6 at 20, 1/3 at 40, 1/2 at 60, 1 from 120 on.
#[test]
fn ledbat_plus_plus_gain() {
    let params = LedbatPlusPlusParams::default();
    let divisors =
        [(7.9, 16.0), (8.0, 15.0), (20.0, 6.0), (40.0, 3.0), (60.0, 2.0), (120.0, 1.0), (500.0, 1.0)];
    for (base, divisor) in divisors {
        near(params.gain(base), 1.0 / divisor, 1e-12);
    }
}

/// 30 packets, GAIN 1/6: below the target +1/6; at 66 ms 1/6 - 30 * 0.1 = -2.83; at 90 ms 1/6 - 30 * 0.5 = -14.83; at
/// 180 ms it would be 1/6 - 60, but no more than half goes.
#[test]
fn ledbat_plus_plus_changes_per_round_trip() {
    let params = LedbatPlusPlusParams::default();
    for (delay, change) in [(50.0, 1.0 / 6.0), (66.0, -2.8333), (90.0, -14.8333), (180.0, -15.0)] {
        near(params.change(1.0 / 6.0, 30.0, delay), change, 1e-4);
    }
}

/// The same change in steps: an ACK is a packet of 30. The delay is the smallest of four samples over 20 ms.
#[test]
fn ledbat_plus_plus_spreads_it_over_a_round_trip() {
    for (rtt, change) in [(70, 1.0 / 6.0), (86, -2.8333), (110, -14.8333)] {
        let mut control = LedbatPlusPlus::new(LedbatPlusPlusParams::default(), at(30.0));
        tell(&mut control, common::measured(20, 0));
        for _ in 0..3 {
            tell(&mut control, common::measured(rtt, 0));
        }
        assert_eq!(internal(&control, "delay_ms"), 0.0);
        let before = window(&control);
        near(tell(&mut control, common::ack(rtt, 0)), before + change / before, 1e-5);
    }
}

/// A control of LEDBAT++ that has acknowledged its first slow start to an end at `window` packets, over a path of 120 ms,
/// where GAIN is 1: the time is then 0.
fn slow_started(params: LedbatPlusPlusParams, window: f64) -> LedbatPlusPlus {
    let start =
        Start { window: Window(2.0), ssthresh: Window(window), hystart: HyStart::Off, ..Start::default() };
    let mut control = LedbatPlusPlus::new(params, start);
    for _ in 0..(window as u64) - 1 {
        tell(&mut control, common::ack(120, 0));
    }
    control
}

/// Tells of one packet at `now` in round trip `round`; returns the window.
fn later(control: &mut LedbatPlusPlus, now: u64, round: u64) -> f64 {
    control.on(ms(now), common::ack(120, round));
    window(control)
}

/// Slow start ends with the ACK that finds 20 packets, at 0 ms. The first slowdown is due 2 RTTs, 240 ms, later, and
/// begins with the next round trip: at 360 ms. Two packets for two round trips, then a packet per packet up to ssthresh,
/// which is reached at 1000 ms: it took 640 ms, so that the next is due at 1000 + 9 * 640 = 6760 ms.
#[test]
fn ledbat_plus_plus_slows_down() {
    let mut control = slow_started(LedbatPlusPlusParams::default(), 20.0);
    assert!(later(&mut control, 230, 1) > 20.0);
    let before = later(&mut control, 250, 1);
    assert!(before > 20.0, "the round trip is not over");
    assert_eq!(later(&mut control, 360, 2), 2.0);
    assert_eq!(control.decision().ssthresh.0, before);
    assert_eq!(later(&mut control, 480, 3), 2.0);
    // The first packet of the third round trip is the first that counts again.
    assert_eq!(later(&mut control, 600, 4), 3.0);
    let mut grown = 3.0;
    while grown < before {
        grown = later(&mut control, 999, 5);
    }
    assert_eq!(grown, before);
    assert_eq!(internal(&control, "slowdown"), 1.0);
    later(&mut control, 1000, 5);
    assert_eq!(internal(&control, "slowdown"), 0.0);
    assert!(later(&mut control, 6759, 6) > before);
    assert!(later(&mut control, 6759, 7) > before);
    assert_eq!(later(&mut control, 6760, 8), 2.0);
}

/// On a path of 40 ms the way back is by 1/3 per packet, or by 1.
#[test]
fn ledbat_plus_plus_returns() {
    for (slowdown_gain, step) in [(SlowdownGain::Path, 1.0 / 3.0), (SlowdownGain::One, 1.0)] {
        let params = LedbatPlusPlusParams { slowdown_gain, ..LedbatPlusPlusParams::default() };
        let mut control = LedbatPlusPlus::new(params, at(30.0));
        for (now, round) in [(0, 0), (100, 1), (140, 2)] {
            control.on(ms(now), common::ack(40, round));
        }
        assert_eq!(window(&control), 2.0);
        control.on(ms(180), common::ack(40, 3));
        near(window(&control), 2.0 + step, 1e-9);
    }
}

/// A loss event in the held window halves what it returns to, 20 packets and what they grew by; a timeout, too, but it
/// starts at once.
#[test]
fn ledbat_plus_plus_loses_in_a_slowdown() {
    for (signal, expected) in [(LOSS, 2.0), (Signal::Timeout { first: true }, 1.0)] {
        let mut control = slow_started(LedbatPlusPlusParams::default(), 20.0);
        later(&mut control, 250, 1);
        later(&mut control, 360, 2);
        let threshold = control.decision().ssthresh.0;
        control.on(ms(370), signal);
        assert_eq!(window(&control), expected);
        near(control.decision().ssthresh.0, threshold / 2.0, 1e-9);
        assert_eq!(later(&mut control, 400, 2), 2.0, "held, or the first packet after the timeout");
    }
}

/// The first slow start ends above 45 ms of delay, three quarters of the target, with whatever window there is.
#[test]
fn ledbat_plus_plus_leaves_the_first_slow_start() {
    let mut control = LedbatPlusPlus::new(LedbatPlusPlusParams::default(), Start::default());
    tell(&mut control, common::ack(120, 0));
    for _ in 0..4 {
        tell(&mut control, common::ack(165, 0));
    }
    assert_eq!(control.decision().ssthresh, Window::UNLIMITED, "45 ms");
    for _ in 0..4 {
        tell(&mut control, common::ack(166, 0));
    }
    assert_eq!(control.decision().ssthresh, control.decision().window);
}

/// RFC 8511: a mark in congestion avoidance leaves Reno 0.8 and CUBIC 0.85, at least 2 packets; losses, and marks in
/// slow start, leave half and 0.7. Without the parameter a mark is as a loss.
#[test]
fn alternative_backoff() {
    fn kept<C: Controller>(params: C::Params, start: Start, signal: Signal) -> f64 {
        tell(&mut C::new(params, start), signal)
    }
    let reno = RenoParams { ecn_keep: 0.8 };
    let cubic = CubicParams { ecn_keep: 0.85, ..CubicParams::default() };
    for (signal, reno_window, cubic_window) in [(MARK, 16.0, 17.0), (LOSS, 10.0, 14.0)] {
        near(kept::<Reno>(reno, at(20.0), signal), reno_window, 1e-9);
        near(kept::<Cubic<Rfc9438>>(cubic, at(20.0), signal), cubic_window, 1e-9);
        near(kept::<Cubic<Rfc8312>>(cubic, at(20.0), signal), cubic_window, 1e-9);
    }
    assert_eq!(kept::<Reno>(reno, at(2.0), MARK), 2.0);
    assert_eq!(kept::<Reno>(RenoParams::default(), at(20.0), MARK), 10.0);
    near(kept::<Cubic<Rfc9438>>(CubicParams::default(), at(20.0), MARK), 14.0, 1e-9);
    let starting = Start { window: Window(20.0), ..Start::default() };
    assert_eq!(kept::<Reno>(reno, starting, MARK), 10.0);
    near(kept::<Cubic<Rfc9438>>(cubic, starting, MARK), 14.0, 1e-9);
}

/// The window of RFC 8312 is computed from what was kept: the cubic starts at 17 of 20 packets, K = cbrt(3/0.4) = 1.957
/// s, and is back at 20 after K. One acknowledgement at K - RTT with RTT 0 has that as its target.
#[test]
fn alternative_backoff_shifts_the_older_cubic() {
    let params = CubicParams { ecn_keep: 0.85, ..CubicParams::default() };
    let mut cubic = Cubic::<Rfc8312>::new(params, at(20.0));
    tell(&mut cubic, MARK);
    let full = Ack { credit: 17.0, delivered: Packets(17), ..Ack::of_one_packet() };
    cubic.on(Time::ZERO, Signal::Ack(Ack { credit: 1e-9, ..full }));
    near(window(&cubic), 17.0, 1e-6);
    cubic.on(Time::ZERO + Span::from_micros(1_957_434), Signal::Ack(full));
    near(window(&cubic), 20.0, 1e-4);
}
