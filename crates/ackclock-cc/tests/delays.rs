//! YeAH, FAST and Westwood at the edges of their rules, by hand; and that controls tell their internals.

use ackclock_cc::fast::{Fast, FastParams};
use ackclock_cc::registry::{BuiltIn, Catalogue};
use ackclock_cc::westwood::{Paper, Westwood, WestwoodParams};
use ackclock_cc::yeah::{Yeah, YeahParams};
use ackclock_cc::{Ack, Controller, Signal, Start};
use ackclock_units::{Span, Time, Window};

use crate::common::{LOSS, at, internal, measured, near, plain, tell};

/// An acknowledgement with an RTT, in milliseconds, by which nothing grows.
fn sampled(milliseconds: u64, round: u64) -> Signal {
    let rtt = Some(Span::from_millis(milliseconds));
    Signal::Ack(Ack { credit: 0.0, rtt, round, ..Ack::of_one_packet() })
}

/// The windows after round trips of these RTTs; the next round trip's first acknowledgement completes each.
fn windows(yeah: &mut Yeah, rtts: &[u64]) -> Vec<f64> {
    rtts.iter()
        .enumerate()
        .map(|(round, rtt)| {
            tell(yeah, sampled(*rtt, round as u64));
            tell(&mut yeah.clone(), sampled(*rtt, round as u64 + 1))
        })
        .collect()
}

/// 100 packets at 120 ms over a path of 100: 16.7 are queued, fewer than 80, but the RTT is 20 % longer, more than 1/8: slow,
/// and nothing is given up.
#[test]
fn yeah_is_slow_where_the_rtt_has_grown() {
    let mut yeah = Yeah::new(YeahParams::default(), at(100.0));
    assert_eq!(windows(&mut yeah, &[100, 120, 120]), [100.0; 3]);
    assert_eq!(internal(&yeah, "fast"), 0.0);
    near(tell(&mut yeah, plain()), 100.01, 1e-9);
}

/// At four times the RTT 3/4 of the window are queued. Half of it is given up at most: 500 of 1000, and Reno would have half of
/// that, 250: then 250 are left; Reno has a packet more per round trip, and less than it would have is not given up. With
/// gamma = 2 half of the 90.9 packets queued at 110 ms are given up.
#[test]
fn yeah_gives_up_its_queue_but_not_more_than_reno() {
    let mut yeah = Yeah::new(YeahParams::default(), at(1000.0));
    assert_eq!(windows(&mut yeah, &[100, 400, 400, 400]), [1000.0, 500.0, 250.0, 250.0]);
    let mut yeah = Yeah::new(YeahParams { gamma: 2.0, ..YeahParams::default() }, at(1000.0));
    near(windows(&mut yeah, &[100, 110])[1], 1000.0 - 500.0 / 11.0, 1e-9);
}

/// With rho = 1 a slow round trip is one of competition, in which a loss event halves; more than zeta = 2 fast ones in turn
/// end that, and 7/8 are kept. Of 75 packets queued of 100 no more than half is cut.
#[test]
fn yeah_forgets_its_competitors() {
    for (fast, kept) in [(2, 50.0), (3, 87.5)] {
        let mut yeah = Yeah::new(YeahParams { rho: 1.0, zeta: 2.0, ..YeahParams::default() }, at(100.0));
        tell(&mut yeah, sampled(120, 0));
        tell(&mut yeah, sampled(100, 0));
        // In recovery no round trip is judged: not the one of 100 ms, but then that of 120, which is slow.
        tell(&mut yeah, measured(120, 1));
        (2..=2 + fast).for_each(|round| {
            tell(&mut yeah, sampled(100, round));
        });
        assert_eq!(tell(&mut yeah, LOSS), kept, "{fast}");
    }
    let mut yeah = Yeah::new(YeahParams { q_max: 1e6, ..YeahParams::default() }, at(100.0));
    windows(&mut yeah, &[100, 400]);
    tell(&mut yeah, sampled(400, 2));
    assert_eq!(tell(&mut yeah, LOSS), 50.0);
}

/// RTTs of 100 and 200 ms, smoothed with gain 1/8: 112.5. Of 10 packets 10/9 are queued: slow start ends if that is not less
/// than alpha, with an acknowledgement that may grow.
#[test]
fn fast_leaves_slow_start_with_its_queue() {
    for (alpha, grows, ends) in [(1.0, true, true), (1.2, true, false), (1.0, false, false)] {
        let start = Start { window: Window(10.0), ..Start::default() };
        let mut fast = Fast::new(FastParams { alpha, ..FastParams::default() }, start);
        tell(&mut fast, measured(100, 0));
        let rtt = Some(Span::from_millis(200));
        tell(&mut fast, Signal::Ack(Ack { credit: 1e-9, rtt, recovering: !grows, ..Ack::of_one_packet() }));
        assert_eq!(fast.decision().ssthresh < Window::UNLIMITED, ends);
    }
}

/// No estimate is made within a round trip, and without one a loss event halves. Growth is Reno's.
#[test]
fn westwood_halves_without_an_estimate() {
    let mut westwood = Westwood::<Paper>::new(WestwoodParams {}, at(20.0));
    for second in 0..3 {
        westwood.on(Time::ZERO + Span::from_seconds(second), measured(100, 0));
    }
    assert_eq!(internal(&westwood, "bandwidth_packets_per_s"), 0.0);
    assert_eq!(tell(&mut westwood, LOSS), 10.0);
    near(tell(&mut westwood, plain()), 10.1, 1e-12);
}

/// Traces are of internals: every one of these controls tells some, each of them once.
#[test]
fn controls_tell_their_internals() {
    for name in [
        "africa",
        "hybla",
        "hybla-linux",
        "veno",
        "htcp",
        "compound-linux",
        "htcp-linux",
        "westwood",
        "yeah",
        "fit",
        "bbr3",
    ] {
        let control = BuiltIn.find(name).unwrap().build(&[], Start::default()).unwrap();
        let mut names = Vec::new();
        control.internals(&mut |name, _| names.push(name));
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert!(all > 0 && names.len() == all, "{name}: {names:?}");
    }
}
