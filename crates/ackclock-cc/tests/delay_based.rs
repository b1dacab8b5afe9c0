//! Hand-worked steps of the controls that measure delay or bandwidth.
mod common;

use ackclock_cc::fast::{Fast, FastParams};
use ackclock_cc::htcp::{Htcp, HtcpParams};
use ackclock_cc::vegas::{Statistic, Vegas, VegasParams};
use ackclock_cc::veno::{Veno, VenoParams, queued};
use ackclock_cc::westwood::{Filter, Linux, Paper, Westwood, WestwoodParams};
use ackclock_cc::{Ack, Controller, Signal, Start};
use ackclock_units::{Packets, Span, Time, Window};
use common::{ack, at, near};

fn window<C: Controller>(control: &C) -> f64 {
    control.decision().window.0
}

/// 20 packets at RTT 100 ms with BaseRTT 90 ms: 20 * 0.1 = 2 queued, random: a fifth is cut. At 120 ms: 5
/// queued, congestion: half is cut, and every second acknowledgement lets it grow.
#[test]
fn veno_has_two_branches() {
    near(queued(20.0, 90.0, 100.0), 2.0, 1e-12);
    let at_rtt = |milliseconds| {
        let mut veno = Veno::new(VenoParams::default(), at(20.0));
        veno.on(Time::ZERO, common::measured(90, 0));
        veno.on(Time::ZERO, common::measured(milliseconds, 0));
        veno
    };
    let (mut few, mut many) = (at_rtt(100), at_rtt(120));
    for control in [&mut few, &mut many] {
        control.on(Time::ZERO, Signal::Loss { ecn: false });
    }
    near(window(&few), 16.0, 1e-12);
    near(window(&many), 10.0, 1e-12);
    let mut many = at_rtt(120);
    let without_rtt = Signal::Ack(Ack::of_one_packet());
    many.on(Time::ZERO, without_rtt);
    assert_eq!(window(&many), 20.0);
    many.on(Time::ZERO, without_rtt);
    near(window(&many), 20.05, 1e-12);
}

/// baseRTT 100 ms. At 100 ms nothing is queued: +1 per round trip. 21 packets at 125 ms: 4.2 queued, above
/// beta = 3: -1. 20 packets at 111 ms: 1.98, between: it stays.
#[test]
fn vegas_moves_by_one() {
    let mut vegas = Vegas::new(VegasParams::default(), at(20.0));
    vegas.on(Time::ZERO, ack(100, 0));
    vegas.on(Time::ZERO, ack(125, 1));
    assert_eq!(window(&vegas), 21.0);
    vegas.on(Time::ZERO, ack(111, 2));
    assert_eq!(window(&vegas), 20.0);
    vegas.on(Time::ZERO, ack(100, 3));
    assert_eq!(window(&vegas), 20.0);
}

/// baseRTT 100 ms, 20 packets, a round trip with samples of 100 and 150 ms. By its minimum nothing is queued:
/// +1. By its mean, 125 ms, 4 packets are: -1.
#[test]
fn vegas_by_minimum_or_mean() {
    for (rtt, after) in [(Statistic::Minimum, 22.0), (Statistic::Mean, 20.0)] {
        let mut vegas = Vegas::new(VegasParams { rtt, ..VegasParams::default() }, at(20.0));
        vegas.on(Time::ZERO, ack(100, 0));
        for milliseconds in [100, 150] {
            vegas.on(Time::ZERO, ack(milliseconds, 1));
        }
        assert_eq!(window(&vegas), 21.0);
        vegas.on(Time::ZERO, ack(100, 2));
        assert_eq!(window(&vegas), after);
    }
}

/// Slow start grows every other round trip and ends when more than gamma = 1 is queued.
#[test]
fn vegas_slow_start() {
    let start = Start { window: Window(10.0), ..Start::default() };
    let mut vegas = Vegas::new(VegasParams::default(), start);
    vegas.on(Time::ZERO, ack(100, 0));
    assert_eq!(window(&vegas), 11.0);
    vegas.on(Time::ZERO, ack(100, 1));
    vegas.on(Time::ZERO, ack(100, 1));
    assert_eq!(window(&vegas), 11.0, "the second round trip only measures");
    vegas.on(Time::ZERO, ack(200, 2));
    assert_eq!(window(&vegas), 12.0);
    // 12 packets at 200 ms: 6 are queued.
    vegas.on(Time::ZERO, ack(200, 3));
    assert_eq!(vegas.decision().ssthresh, vegas.decision().window);
}

/// 100 packets, base 100, RTT 125, alpha 20: target 100 * 0.8 + 20 = 100: the fixed point. At base = RTT the
/// target is 120, half way 110. Never more than double: 4 packets go to 8, not to (4 + 24)/2 = 14.
#[test]
fn fast_goes_half_way() {
    let params = FastParams::default();
    near(params.window(100.0, 100.0, 125.0), 100.0, 1e-12);
    near(params.window(100.0, 100.0, 100.0), 110.0, 1e-12);
    near(params.window(4.0, 100.0, 100.0), 8.0, 1e-12);
    let mut fast = Fast::new(params, at(100.0));
    fast.on(Time::ZERO, ack(100, 0));
    assert_eq!(window(&fast), 100.0, "once per round trip");
    fast.on(Time::ZERO, ack(100, 1));
    near(window(&fast), 110.0, 1e-12);
}

/// The filters by hand: 100 then 200: 0.9 * 100 + 0.1 * 200 = 110; Linux: (700 + 200)/8 = 112.5, then
/// (700 + 112.5)/8 = 101.5625.
#[test]
fn westwood_filters() {
    let (mut paper, mut linux) = (Paper::default(), Linux::default());
    assert_eq!((paper.next(100.0), linux.next(100.0)), (100.0, 100.0));
    near(paper.next(200.0), 110.0, 1e-12);
    near(linux.next(200.0), 101.5625, 1e-12);
}

/// 50 packets in 100 ms are 500 per second; with RTTmin 60 ms the pipe holds 30: so much is left of 100.
#[test]
fn westwood_keeps_the_pipe() {
    let mut westwood = Westwood::<Paper>::new(WestwoodParams {}, at(100.0));
    let now = |milliseconds| Time::ZERO + Span::from_millis(milliseconds);
    westwood.on(now(0), common::measured(60, 0));
    let many = Ack { delivered: Packets(50), recovering: true, round: 1, ..Ack::of_one_packet() };
    westwood.on(now(100), Signal::Ack(many));
    let mut twin = westwood.clone();
    westwood.on(now(100), Signal::Loss { ecn: false });
    near(window(&westwood), 30.0, 1e-9);
    twin.on(now(100), Signal::Timeout { first: true });
    near(twin.decision().ssthresh.0, 30.0, 1e-9);
}

/// alpha(D): 1 up to 1 s; at 3 s 1 + 10*2 + 1 = 22; at 5 s 1 + 40 + 4 = 45.
#[test]
fn htcp_alpha() {
    let params = HtcpParams::default();
    assert_eq!(params.alpha(1.0), 1.0);
    near(params.alpha(3.0), 22.0, 1e-12);
    near(params.alpha(5.0), 45.0, 1e-12);
}

/// Two epochs of the same throughput with RTTs of 70 to 100 ms: 0.7 is kept at the second loss event; at the
/// first there is nothing to compare with: half. Then 2 (1 - 0.7) * 22 = 13.2 packets per round trip 3 s on.
#[test]
fn htcp_adapts() {
    let mut htcp = Htcp::new(HtcpParams::default(), at(100.0));
    let now = |seconds| Time::ZERO + Span::from_seconds(seconds);
    htcp.on(now(0), common::measured(70, 0));
    htcp.on(now(10), common::measured(100, 0));
    htcp.on(now(10), Signal::Loss { ecn: false });
    near(window(&htcp), 50.0, 1e-12);
    htcp.on(now(12), common::measured(100, 0));
    htcp.on(now(20), common::measured(70, 0));
    htcp.on(now(20), Signal::Loss { ecn: false });
    near(window(&htcp), 35.0, 1e-12);
    htcp.on(now(23), Signal::Ack(Ack::of_one_packet()));
    near(window(&htcp), 35.0 + 13.2 / 35.0, 1e-12);
}
