//! Numbers of the draft's rules, one call each.

use super::model::{fraction, in_flight_at_loss};
use super::*;
use crate::Lost;

mod cycle;
mod model;
mod window;

fn near(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} is not {b}");
}

/// 50 Mbit/s of 1500-byte packets and 40 ms: 4166.7 packets/s, 166.7 packets; the pipe is full.
fn on_the_path(state: State) -> Bbr3<Draft> {
    path(state)
}

fn path<V: Version>(state: State) -> Bbr3<V> {
    let mut control = Bbr3::<V>::new(Bbr3Params::default(), Start::default());
    control.bw = 50e6 / 12e3;
    control.least_rtt.note(Time::ZERO, Some(Span::from_millis(40)));
    control.full.reached = true;
    control.state = state;
    control.pace();
    control
}

/// gain * 4166.7 * 0.99.
#[test]
fn pacing_is_gain_times_rate_less_a_margin() {
    for (state, rate) in
        [(State::Up, 5156.3), (State::Cruise, 4125.0), (State::Down, 3712.5), (State::Drain, 2062.5)]
    {
        near(on_the_path(state).pacing, rate, 0.06);
    }
}

/// Linux: 0.91 and 1000/2885 of 4125; ProbeRTT has a window gain of 1, and the same half a BDP at most.
#[test]
fn gains_of_linux() {
    near(State::Down.gains::<Linux>().0 * 4125.0, 3753.8, 0.06);
    near(State::Drain.gains::<Linux>().0 * 4125.0, 1429.8, 0.06);
    assert_eq!(State::ProbeRtt.gains::<Linux>().1, 1.0);
}

/// 2.77 * 10 / 40 ms = 692.5.
#[test]
fn the_first_rtt_sets_the_pace() {
    let start = Start { window: Window(10.0), ..Start::default() };
    let mut control = Bbr3::<Draft>::new(Bbr3Params::default(), start);
    near(control.pacing, 27_700.0, 1e-9);
    let ack = Ack { rtt: Some(Span::from_millis(40)), ..Ack::of_one_packet() };
    control.on(Time::ZERO + Span::from_millis(40), Signal::Ack(ack));
    near(control.pacing, 692.5, 1e-9);
}

/// The quantum is what CRUISE sends in 1 ms, 4.1 packets. 2 * 166.7; 2.25 * 166.7 + 2; 0.5 * 166.7.
#[test]
fn the_window_is_a_multiple_of_the_path() {
    let cruise = on_the_path(State::Cruise);
    near(cruise.quantum, 4.1, 0.03);
    near(cruise.max_in_flight(), 333.3, 0.05);
    near(on_the_path(State::Up).max_in_flight(), 377.0, 0.05);
    near(cruise.probe_rtt_window(), 83.3, 0.05);
}

/// Two lossy round trips at 2500: max(2500, 0.7 * 4000) = 2800, then max(2500, 0.7 * 2800) = 2500.
#[test]
fn losses_in_cruise_lower_the_short_term_model() {
    let mut control = on_the_path(State::Cruise);
    control.largest_rate.note(&Sample { rate: 4000.0, ..Sample::default() });
    for bst in [2800.0, 2500.0] {
        control.bw_latest = 2500.0;
        (control.loss_round_start, control.loss_in_round) = (true, true);
        control.lower_model();
        near(control.bst, bst, 1e-9);
    }
}

/// With losses in every round trip of a rate that falls by the share x lost, bst follows it: (1 - x)^N; but by no more
/// than 0.7 in any round trip. 0.99^63 = 0.531; 0.7^3 = 0.343 where half is lost.
#[test]
fn bst_falls_with_the_rate_but_not_faster_than_beta() {
    for (share, rounds, left) in [(0.01, 63, 0.531), (0.5, 3, 0.343)] {
        let mut control = on_the_path(State::Cruise);
        control.largest_rate.note(&Sample { rate: 1000.0, ..Sample::default() });
        for round in 1..=rounds {
            control.bw_latest = 1000.0 * libm::pow(1.0 - share, f64::from(round));
            (control.loss_round_start, control.loss_in_round) = (true, true);
            control.lower_model();
        }
        near(control.bst / 1000.0, left, 5e-4);
    }
}

/// 130 is more than 1.25 * 100; 150 and 160 are less than 1.25 * 130 = 162.5.
#[test]
fn the_pipe_is_full_after_three_round_trips_without_growth() {
    let mut full = FullPipe::default();
    for (rate, expected) in [
        (100.0, (100.0, 0)),
        (130.0, (130.0, 0)),
        (150.0, (130.0, 1)),
        (160.0, (130.0, 2)),
        (160.0, (130.0, 3)),
    ] {
        assert!(!full.now);
        full.note::<Draft>(&Sample { rate, ..Sample::default() }, true);
        assert_eq!((full.rate, full.count), expected);
    }
    assert!(full.now && full.reached);
}

/// Of 149 the 3rd lost: 148 and (0.02 * 148 - 2)/0.98 = 0.96/0.98 more. Of 100 the 4th: 99, as (1.98 - 3)/0.98 is
/// negative. 3 of 150 are 2 %: not more.
#[test]
fn a_flight_is_cut_where_the_share_was_crossed() {
    near(in_flight_at_loss(149.0, 3.0), 148.0 + 0.96 / 0.98, 1e-9);
    near(in_flight_at_loss(100.0, 4.0), 99.0, 1e-9);
    assert!(!Sample { tx_in_flight: 150.0, lost: 3.0, ..Sample::default() }.is_too_high());
    assert!(Sample { tx_in_flight: 149.0, lost: 3.0, ..Sample::default() }.is_too_high());
}

/// 15 % of lt, at least one packet, and never below four.
#[test]
fn headroom_is_left_for_others() {
    let mut control = on_the_path(State::Cruise);
    for (lt, left) in [(100.0, 85.0), (5.0, 4.0), (4.0, 4.0), (f64::INFINITY, f64::INFINITY)] {
        control.lt = lt;
        assert_eq!(control.with_headroom(), left);
    }
}

#[test]
fn the_slope_of_up_doubles() {
    let mut cycle = Cycle::default();
    let slopes: [f64; 9] = core::array::from_fn(|_| {
        cycle.double_slope(64.0);
        cycle.per_increase
    });
    assert_eq!(slopes, [64.0, 32.0, 16.0, 8.0, 4.0, 2.0, 1.0, 1.0, 1.0]);
}

/// The middle for seed 0, otherwise spread evenly: the mean of 1000 uniform numbers has a standard error of 0.009.
#[test]
fn hashes_are_spread_evenly() {
    assert_eq!(fraction(0, 7), 0.5);
    let mean = (0..1000).map(|number| fraction(42, number)).sum::<f64>() / 1000.0;
    near(mean, 0.5, 0.036);
    assert!((0..1000).all(|number| (0.0..1.0).contains(&fraction(42, number))));
}

/// A false alarm in UP: what the loss lowered comes back and UP is prepared again; a second one changes nothing.
#[test]
fn a_false_alarm_restores_the_model() {
    let mut control = on_the_path(State::Up);
    (control.window, control.lt, control.cycle.takes_samples) = (377.0, 400.0, true);
    let lost = Lost { tx_in_flight: Packets(200), lost_since_sent: Packets(10), application_limited: false };
    control.on(Time::ZERO, Signal::Lost(lost));
    assert_eq!(control.state, State::Down);
    near(control.lt, 199.0, 1e-9);
    control.on(Time::ZERO, Signal::Loss { ecn: false });
    for _ in 0..2 {
        control.on(Time::ZERO, Signal::Undo);
        assert_eq!((control.state, control.lt, control.window), (State::Refill, 400.0, 377.0));
    }
}

/// After a timeout that was a false alarm the window is what it was.
#[test]
fn a_false_timeout_is_undone() {
    let mut control = on_the_path(State::Cruise);
    control.window = 300.0;
    control.on(Time::ZERO, Signal::Timeout { first: true });
    assert_eq!(control.window, 1.0);
    control.on(Time::ZERO, Signal::Ack(Ack { rtt: Some(Span::from_millis(40)), ..Ack::of_one_packet() }));
    control.on(Time::ZERO, Signal::Undo);
    assert_eq!(control.window, 300.0);
}

/// After lt was exceeded once, UP ends when that much is in flight again, although nothing is lost; the next probe comes
/// at once, and its losses are judged anew.
#[test]
fn a_precautionary_probe_is_followed_by_another() {
    let mut control = on_the_path(State::Up);
    (control.lt, control.window, control.cycle.was_too_high) = (180.0, 180.0, true);
    control.cycle.takes_samples = true;
    let ack = |prior: u64, in_flight: u64| {
        Signal::Ack(Ack {
            rtt: Some(Span::from_millis(40)),
            in_flight: Packets(in_flight),
            rate: Some(crate::RateSample {
                delivered: Packets(170),
                interval: Span::from_millis(40),
                application_limited: false,
                prior_delivered: Packets(prior),
                tx_in_flight: Packets(170),
                lost: Packets(0),
            }),
            ..Ack::of_one_packet()
        })
    };
    control.on(Time(1), ack(1000, 180));
    assert_eq!(control.state, State::Down);
    control.on(Time(2), ack(2000, 180));
    assert_eq!(control.state, State::Refill);
}

/// After a pause of 6 s the smallest RTT is due to be probed; the first delivery after it is not the time to do so.
#[test]
fn probe_rtt_is_skipped_after_a_pause() {
    for restarts in [true, false] {
        let mut control = on_the_path(State::Cruise);
        let now = Time::ZERO + Span::from_seconds(6);
        if restarts {
            control.on(now, Signal::Restart);
        }
        control.on(now, Signal::Ack(Ack { rtt: Some(Span::from_millis(41)), ..Ack::of_one_packet() }));
        assert_eq!(control.state == State::ProbeRtt, !restarts);
    }
}
