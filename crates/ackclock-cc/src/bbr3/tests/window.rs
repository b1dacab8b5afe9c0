//! Window and pace.

use super::*;

/// Three quanta of 4.125 packets, 4 packets, and what arrives at once beyond the rate are room; 2 more in UP.
#[test]
fn the_window_has_room_for_quanta_and_aggregates() {
    let mut cruise = on_the_path(State::Cruise);
    near(cruise.quantized(1.0), 12.375, 1e-9);
    near(cruise.quantized(100.0), 100.0, 1e-9);
    near(on_the_path(State::Up).quantized(100.0), 102.0, 1e-9);
    cruise.aggregation.note(Time::ZERO, 10.0, 0, 1000.0, 99.0);
    near(cruise.max_in_flight(), 2.0 * 500.0 / 3.0 + 10.0, 1e-9);
}

/// The model allows 333.3 packets. A window grows up to there once the pipe is full, from less than there before, and beyond
/// as long as less was delivered than the initial window of 2 packets, or twice that in Linux, which then minds no model.
#[test]
fn the_window_grows_within_the_model() {
    fn after<V: Version>(reached: bool, delivered: u64, window: f64) -> f64 {
        let mut control = path::<V>(State::Cruise);
        (control.full.reached, control.delivered, control.window) = (reached, delivered, window);
        control.set_window(5.0);
        control.window
    }
    let most = 1000.0 / 3.0;
    for (reached, delivered, window, draft, linux) in [
        (true, 9, 300.0, 305.0, 305.0),
        (true, 9, 331.0, most, most),
        (true, 3, 400.0, most, 405.0),
        (true, 4, 400.0, most, most),
        (false, 9, 331.0, 336.0, 336.0),
        (false, 1, 400.0, 405.0, 405.0),
        (false, 2, 400.0, 400.0, 405.0),
        (false, 4, 400.0, 400.0, 400.0),
    ] {
        near(after::<Draft>(reached, delivered, window), draft, 1e-9);
        near(after::<Linux>(reached, delivered, window), linux, 1e-9);
    }
}

/// lt bounds a probe, 0.85 of it CRUISE, st all, half of the path ProbeRTT; 4 packets are always allowed.
#[test]
fn bounds_of_the_window() {
    for (state, window, lt, st, expected) in [
        (State::Startup, 400.0, 180.0, f64::INFINITY, 400.0),
        (State::Up, 400.0, 180.0, f64::INFINITY, 180.0),
        (State::Down, 400.0, 180.0, 150.0, 150.0),
        (State::Cruise, 400.0, 180.0, f64::INFINITY, 153.0),
        (State::Cruise, 400.0, f64::INFINITY, f64::INFINITY, 400.0),
        (State::ProbeRtt, 400.0, f64::INFINITY, f64::INFINITY, 250.0 / 3.0),
        (State::Up, 2.0, 180.0, f64::INFINITY, 4.0),
        (State::Up, 400.0, 2.0, f64::INFINITY, 4.0),
    ] {
        let mut control = on_the_path(state);
        (control.window, control.lt, control.st) = (window, lt, st);
        control.bound_window();
        near(control.window, expected, 1e-9);
    }
}

/// A thousandth of a second of 27700/s. The pace falls only once the pipe is full: 1.0 * 1000 * 0.99.
#[test]
fn the_pace_falls_when_the_pipe_is_full() {
    let start = Start { window: Window(10.0), ..Start::default() };
    assert_eq!(Bbr3::<Draft>::new(Bbr3Params::default(), start).decision().quantum, Some(Packets(27)));
    for (bw, reached, pace) in [(1000.0, false, 4125.0), (1000.0, true, 990.0), (5000.0, false, 4950.0)] {
        let mut control = on_the_path(State::Cruise);
        (control.bw, control.full.reached) = (bw, reached);
        control.pace();
        near(control.pacing, pace, 1e-9);
    }
}

/// After a pause ProbeBW resumes at 0.99 of its rate, if it has one, and Startup at its own; ProbeRTT ends if it was
/// due to.
#[test]
fn a_pause_resets_the_pace() {
    let now = Time::ZERO + Span::from_seconds(2);
    for (state, bw, pacing) in
        [(State::Up, 4000.0, 3960.0), (State::Up, 0.0, 7.0), (State::Startup, 4000.0, 7.0)]
    {
        let mut control = on_the_path(state);
        (control.bw, control.pacing) = (bw, 7.0);
        control.probe_rtt_ends = Some(Time::ZERO);
        control.on(now, Signal::Restart);
        near(control.pacing, pacing, 1e-9);
        assert_eq!(control.state, state);
    }
    let mut control = on_the_path(State::ProbeRtt);
    control.probe_rtt_ends = Some(Time::ZERO);
    control.on(now, Signal::Restart);
    assert_eq!(control.state, State::Cruise);
}

/// A duplicate acknowledgement is not a pause: after six seconds it is time for ProbeRTT.
#[test]
fn a_duplicate_is_not_a_pause() {
    let mut control = on_the_path(State::Cruise);
    let duplicate = Ack { credit: 0.0, delivered: Packets(0), ..Ack::of_one_packet() };
    control.on(Time::ZERO, Signal::Ack(duplicate));
    let rtt = Some(Span::from_millis(41));
    control.on(Time::ZERO + Span::from_seconds(6), Signal::Ack(Ack { rtt, ..Ack::of_one_packet() }));
    assert_eq!(control.state, State::ProbeRtt);
}

/// In Linux what comes in a tenth of a second, 416.7 packets, is the largest aggregate; in the draft the window is.
#[test]
fn aggregates_have_a_largest_size() {
    fn largest<V: Version>() -> f64 {
        let mut control = path::<V>(State::Cruise);
        control.window = 500.0;
        control.on(Time::ZERO, Signal::Ack(Ack { delivered: Packets(600), ..Ack::of_one_packet() }));
        control.aggregation.largest(true)
    }
    near(largest::<Linux>(), 1250.0 / 3.0, 1e-9);
    near(largest::<Draft>(), 500.0, 1e-9);
}

/// What the trace shows, by name.
#[test]
fn internals_have_their_names() {
    let mut control = on_the_path(State::Cruise);
    (control.lt, control.st, control.bst) = (180.0, 150.0, 4000.0);
    let expected =
        [("state", 3.0), ("bst_packets_per_s", 4000.0), ("st", 150.0), ("lt", 180.0), ("min_rtt_ms", 40.0)];
    let mut count = 0;
    control.internals(&mut |name, value| {
        if let Some((_, expected)) = expected.iter().find(|(other, _)| *other == name) {
            assert_eq!(value, *expected, "{name}");
            count += 1;
        }
    });
    assert_eq!(count, expected.len());
}
