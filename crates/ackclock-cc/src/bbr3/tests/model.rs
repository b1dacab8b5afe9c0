//! What the model remembers, and what makes it smaller.

use super::*;
use crate::RateSample;

fn seconds(seconds: f64) -> Time {
    Time::ZERO + Span::from_seconds_f64(seconds)
}

fn millis(milliseconds: u64) -> Option<Span> {
    Some(Span::from_millis(milliseconds))
}

/// 170 packets in `interval` milliseconds, sent when `prior` were delivered.
fn sampled(prior: u64, interval: u64) -> Ack {
    let rate = RateSample {
        delivered: Packets(170),
        interval: Span::from_millis(interval),
        application_limited: false,
        prior_delivered: Packets(prior),
        tx_in_flight: Packets(170),
        lost: Packets(0),
    };
    Ack { rtt: millis(40), rate: Some(rate), ..Ack::of_one_packet() }
}

/// 170 packets in 40 ms are 4250/s. An interval below the smallest RTT shows no rate, nor does none at all; what had arrived
/// before is not a sample.
#[test]
fn a_rate_needs_an_interval_of_an_rtt() {
    let rate = |interval, least| Sample::of(&sampled(0, interval), Span::from_millis(least)).unwrap().rate;
    assert_eq!((rate(40, 40), rate(39, 40), rate(0, 0)), (4250.0, 0.0, 0.0));
    assert_eq!(Sample::of(&Ack { delivered: Packets(0), ..sampled(0, 40) }, Span::ZERO), None);
}

/// A limited sample counts if it is larger. A rate lasts for the rest of its cycle and the next one.
#[test]
fn the_largest_rate_lasts_two_cycles() {
    let of = |rate, limited| Sample { rate, limited, ..Sample::default() };
    let mut largest = LargestRate::default();
    for (sample, expected) in [
        (of(100.0, true), 100.0),
        (of(90.0, true), 100.0),
        (of(110.0, true), 110.0),
        (of(105.0, false), 110.0),
    ] {
        largest.note(&sample);
        assert_eq!(largest.get(), expected);
    }
    largest.advance(false);
    largest.note(&of(60.0, true));
    largest.note(&of(50.0, false));
    assert_eq!(largest.get(), 110.0);
    largest.advance(true);
    assert_eq!(largest.get(), 50.0);
    largest.advance(true);
    assert_eq!(largest.get(), 50.0, "Linux keeps the last one while a cycle has no sample");
    largest.advance(false);
    assert_eq!(largest.get(), 0.0);
}

/// Only unlimited samples count, in the draft only those that begin a round trip; Linux sees growth at once.
#[test]
fn growth_is_looked_for_once_per_round_trip() {
    let sample = Sample { rate: 130.0, ..Sample::default() };
    let (mut draft, mut linux) = (FullPipe::default(), FullPipe::default());
    draft.restart(100.0);
    linux.restart(100.0);
    draft.note::<Draft>(&sample, false);
    linux.note::<Linux>(&sample, false);
    assert_eq!((draft.rate, linux.rate), (100.0, 130.0));
    draft.note::<Draft>(&Sample { limited: true, ..sample }, true);
    draft.note::<Draft>(&Sample { rate: 0.0, ..sample }, true);
    assert_eq!((draft.rate, draft.count), (100.0, 0));
    let slow = Sample { rate: 110.0, ..sample };
    linux.note::<Linux>(&slow, false);
    assert_eq!(linux.count, 0);
    (0..5).for_each(|_| draft.note::<Draft>(&slow, true));
    assert_eq!((draft.count, draft.now, draft.reached), (3, true, true));
    draft.restart(110.0);
    assert_eq!(draft, FullPipe { rate: 110.0, count: 0, now: false, reached: true });
}

/// RTTs of 40 ms, then 50, then 30 at 2 s. Five seconds later, not at the fifth, it is time to probe, and 35 is the smallest
/// of late; ten seconds after the 30 that is what counts. The smallest ever is 30.
#[test]
fn the_smallest_rtt_lasts_ten_seconds() {
    let mut least = LeastRtt::new();
    for (now, rtt, expired, expected) in [
        (0.0, 40, false, 40),
        (1.0, 50, false, 40),
        (2.0, 30, false, 30),
        (7.0, 35, false, 30),
        (7.001, 35, true, 30),
        (12.0, 36, false, 30),
        (12.001, 36, false, 35),
    ] {
        assert_eq!(least.note(seconds(now), millis(rtt)), expired, "{now} s");
        assert_eq!(
            (least.rtt, least.ever),
            (millis(expected), millis(expected.min(if now < 2.0 { 40 } else { 30 })).unwrap())
        );
    }
    assert_eq!(least.probe_at, seconds(7.001));
}

/// An RTT that is found again at its smallest does not renew the five seconds, nor when it is due the ten of the model.
#[test]
fn an_equally_small_rtt_is_not_a_smaller_one() {
    let mut least = LeastRtt::new();
    for (now, expired) in [(0.0, false), (3.0, false), (5.001, true)] {
        assert_eq!(least.note(seconds(now), millis(30)), expired, "{now} s");
    }
    let mut least = LeastRtt::new();
    for (now, rtt, expected) in [(0.0, 30, 30), (5.001, 30, 30), (10.0, 35, 30), (10.002, 35, 35)] {
        least.note(seconds(now), millis(rtt));
        assert_eq!(least.rtt, millis(expected), "{now} s");
    }
}

/// At 1000/s 10 packets at once are 10 beyond the rate; 3 more in 5 ms 13 - 5 = 8; after 20 ms a new stretch begins. No more
/// than `most` count. The largest is forgotten ten round trips later.
#[test]
fn aggregates_are_what_exceeds_the_rate() {
    let mut aggregation = Aggregation::default();
    let mut note = |milliseconds: u64, acked, round, most| {
        let now = Time::ZERO + Span::from_millis(milliseconds);
        aggregation.note(now, acked, round, 1000.0, most);
        (aggregation.largest(true), aggregation.largest(false))
    };
    assert_eq!(note(0, 8.0, 0, 99.0), (8.0, 8.0));
    assert_eq!(note(1, 3.0, 0, 99.0), (10.0, 10.0));
    assert_eq!(note(5, 3.0, 1, 99.0), (10.0, 9.0));
    assert_eq!(note(20, 6.0, 2, 99.0), (10.0, 6.0));
    assert_eq!(note(21, 9.0, 2, 7.0), (10.0, 7.0));
    for round in 3..=9 {
        assert_eq!(note(100 * round, 2.0, round, 99.0), (10.0, 2.0), "round {round}");
    }
    assert_eq!(note(1000, 2.0, 10, 99.0), (9.0, 2.0));
    assert_eq!(note(1100, 2.0, 11, 99.0), (7.0, 2.0));
    assert_eq!(note(1200, 2.0, 12, 99.0), (2.0, 2.0));
    assert_eq!(note(9900, 1.0, 99, 99.0), (1.0, 1.0));
}

/// A round trip is over when what was sent at its beginning is delivered.
#[test]
fn rounds_are_counted_by_what_is_delivered() {
    let mut control = on_the_path(State::Cruise);
    control.delivered = 100;
    control.marks = 3.0;
    let mut count = |prior_delivered| {
        control.count_rounds(&Sample { prior_delivered, ..Sample::default() });
        (control.round_start, control.loss_round_start, control.round, control.cycle.rounds, control.marks)
    };
    assert_eq!(count(0), (true, true, 1, 1, 0.0));
    assert_eq!(count(99), (false, false, 1, 1, 0.0));
    assert_eq!(count(100), (true, true, 2, 2, 0.0));
}

/// The total is that of the sample's packet and the sample; what had arrived before adds nothing.
#[test]
fn deliveries_are_counted_by_samples() {
    let mut control = on_the_path(State::Cruise);
    for (ack, total) in [
        (sampled(1000, 40), 1170),
        (Ack { delivered: Packets(0), ..sampled(5000, 40) }, 1170),
        (Ack { delivered: Packets(5), rate: None, ..sampled(0, 40) }, 1175),
    ] {
        control.on(Time::ZERO, Signal::Ack(ack));
        assert_eq!(control.delivered, total);
    }
}

/// 4250/s is less than the 5000/s of the cycle before, so it counts unless it is limited: by ProbeRTT if it was sent between
/// 1000 and 2000 deliveries.
#[test]
fn what_probe_rtt_limits_is_not_a_rate() {
    for (prior, limited, counts) in [
        (0, (0, 0), true),
        (999, (1000, 2000), true),
        (1500, (1000, 2000), false),
        (2001, (1000, 2000), true),
    ] {
        let mut control = on_the_path(State::Cruise);
        control.largest_rate.note(&Sample { rate: 5000.0, ..Sample::default() });
        control.largest_rate.advance(false);
        let before = control.largest_rate;
        control.probe_rtt_limited = limited;
        control.on(Time::ZERO, Signal::Ack(sampled(prior, 40)));
        assert_eq!(control.largest_rate != before, counts, "{prior}");
    }
}

/// 4 of 200 are 2 %: not more; 5 are, and 199 in flight would not have been too much. Where the path takes 0.7 * 166.7 =
/// 116.7, no less counts. What the application limits says nothing about the volume, nor do losses of no probe.
#[test]
fn too_many_losses_bound_the_volume() {
    for (probes, (tx, lost), limited, expected) in [
        (true, (200, 4), false, (f64::INFINITY, State::Up)),
        (true, (200, 5), false, (199.0, State::Down)),
        (true, (100, 10), false, (0.7 * 50e6 / 12e3 * 0.04, State::Down)),
        (true, (200, 5), true, (f64::INFINITY, State::Down)),
        (false, (200, 50), false, (f64::INFINITY, State::Up)),
    ] {
        let mut control = on_the_path(State::Up);
        (control.window, control.cycle.takes_samples) = (377.0, probes);
        control.on_lost(
            Time::ZERO,
            Lost { tx_in_flight: Packets(tx), lost_since_sent: Packets(lost), application_limited: limited },
        );
        assert_eq!(control.state, expected.1);
        if expected.0.is_finite() {
            near(control.lt, expected.0, 1e-9)
        } else {
            assert_eq!(control.lt, expected.0)
        }
    }
}

/// Marks are as losses, all those of a round trip: of 200 in flight one lost and 4 marked are 5; 2 are not, and 3 more in the
/// same round trip are.
#[test]
fn marks_count_as_losses() {
    let sample = Sample { tx_in_flight: 200.0, lost: 1.0, ..Sample::default() };
    let marked = |marked| Ack { marked: Packets(marked), ..Ack::of_one_packet() };
    for (marks, states) in
        [(&[4][..], &[State::Down][..]), (&[2, 3][..], &[State::Up, State::Down][..]), (&[0], &[State::Up])]
    {
        let mut control = on_the_path(State::Up);
        (control.window, control.cycle.takes_samples) = (377.0, true);
        for (marks, state) in marks.iter().zip(states) {
            control.on_marks(Time::ZERO, &marked(*marks), Some(sample));
            assert_eq!(control.state, *state);
        }
        assert_eq!(control.lt.is_finite(), states.contains(&State::Down));
    }
    let mut control = on_the_path(State::Up);
    control.on_marks(Time::ZERO, &marked(9), Some(sample));
    assert_eq!((control.state, control.loss_in_round), (State::Up, true), "no sample is of a probe");
}

/// st: max(100, 0.7 * 300) = 210, max(100, 0.7 * 210) = 147. Nothing falls while probing, nor without a loss.
#[test]
fn losses_lower_the_volume_between_probes_only() {
    let mut control = on_the_path(State::Cruise);
    control.window = 300.0;
    for st in [210.0, 147.0] {
        (control.latest, control.loss_round_start, control.loss_in_round) = (100.0, true, true);
        control.lower_model();
        near(control.st, st, 1e-9);
    }
    for (state, lossy) in
        [(State::Startup, true), (State::Refill, true), (State::Up, true), (State::Cruise, false)]
    {
        let mut control = on_the_path(state);
        (control.loss_round_start, control.loss_in_round) = (true, lossy);
        control.lower_model();
        assert_eq!((control.bst, control.st), (f64::INFINITY, f64::INFINITY));
    }
}

/// A false alarm gives back the window before, but not less than there is; a window of 2 is what the loss event made of 1.
#[test]
fn a_false_alarm_never_lowers_the_window() {
    for (now, before, expected) in [(400.0, 300.0, 400.0), (100.0, 300.0, 300.0), (2.0, 1.0, 1.0)] {
        let mut control = on_the_path(State::Cruise);
        (control.window, control.before) = (now, before);
        control.on_undo();
        assert_eq!(control.window, expected);
    }
}

/// Linux does not return to UP; nor does anybody out of ProbeRTT.
#[test]
fn a_false_alarm_does_not_end_probe_rtt() {
    let mut linux = path::<Linux>(State::Down);
    let mut draft = on_the_path(State::ProbeRtt);
    (linux.undo.state, draft.undo.state) = (Some(State::Up), Some(State::Up));
    linux.on_undo();
    draft.on_undo();
    assert_eq!((linux.state, draft.state), (State::Down, State::ProbeRtt));
}

/// Within an episode the larger window is kept to return to; a new one begins with the window then.
#[test]
fn an_episode_remembers_the_window_before_it() {
    let mut control = on_the_path(State::Cruise);
    (control.window, control.saved) = (300.0, 400.0);
    control.on(Time::ZERO, Signal::Loss { ecn: false });
    assert_eq!(control.saved, 300.0);
    control.window = 100.0;
    control.on(Time::ZERO, Signal::Timeout { first: true });
    assert_eq!(control.saved, 300.0);
}

/// At a timeout Linux bounds the volume by the window before it, where nothing else does, but not while it probes.
#[test]
fn a_timeout_of_linux_bounds_the_volume() {
    for (state, before, after) in [
        (State::Cruise, f64::INFINITY, 300.0),
        (State::Cruise, 200.0, 200.0),
        (State::Up, f64::INFINITY, f64::INFINITY),
    ] {
        let mut control = path::<Linux>(state);
        (control.window, control.st) = (300.0, before);
        control.on(Time::ZERO, Signal::Timeout { first: true });
        assert_eq!((control.st, control.window), (after, 1.0));
    }
}
