//! Hand-worked steps of the controls that measure delay or bandwidth.

use ackclock_cc::fast::{AtLoss, Fast, FastParams};
use ackclock_cc::fit::{Fit, FitParams, Reach, Rtt};
use ackclock_cc::htcp::{Htcp, HtcpParams};
use ackclock_cc::htcp_linux::{HtcpLinux, HtcpLinuxParams};
use ackclock_cc::vegas::{Statistic, Vegas, VegasParams};
use ackclock_cc::veno::{Veno, VenoParams, queued};
use ackclock_cc::westwood::{Filter, Linux, Paper, Westwood, WestwoodParams};
use ackclock_cc::{Ack, Controller, HyStart, Rules, Signal, Start};
use ackclock_units::{Packets, Span, Time, Window};

use crate::common;
use crate::common::{ack, at, near};

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
    // The round trip began with 11 packets. At 200 ms half of them are queued, and 5 + 1 are left; ssthresh falls with the
    // window, or slow start would bring it back.
    vegas.on(Time::ZERO, ack(200, 3));
    assert_eq!((window(&vegas), vegas.decision().ssthresh.0), (6.0, 6.0));
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

/// Half of 100 packets is left, or all of them; after a timeout 1, and ssthresh is half of the window either way. Without
/// a queue the next round trip goes half way towards 20 packets more, (100 + 120)/2 = 110: what was ignored left nothing
/// behind. In slow start a loss at 10 packets ends it, so that the next acknowledgement adds nothing.
#[test]
fn fast_can_ignore_losses() {
    for (loss, left) in [(AtLoss::Halve, 50.0), (AtLoss::Ignore, 100.0)] {
        let params = FastParams { loss, ..FastParams::default() };
        let mut fast = Fast::new(params, at(100.0));
        fast.on(Time::ZERO, ack(100, 0));
        let mut timed_out = fast.clone();
        assert_eq!(common::tell(&mut fast, common::LOSS), left);
        near(common::tell(&mut fast, ack(100, 1)), left + 10.0, 1e-12);
        assert_eq!(common::tell(&mut timed_out, Signal::Timeout { first: true }), 1.0);
        assert_eq!(timed_out.decision().ssthresh, Window(50.0));
        let start = Start { window: Window(10.0), ..Start::default() };
        let mut starting = Fast::new(params, start);
        let after = common::tell(&mut starting, common::LOSS);
        assert_eq!(after, left / 10.0);
        assert_eq!(common::tell(&mut starting, ack(100, 0)), after);
    }
}

/// N and alpha of TCP-FIT after updating periods with these RTTs in milliseconds, each of which `end` ends.
fn fit_after(params: FitParams, periods: &[([u64; 2], Signal)]) -> (f64, f64) {
    let mut fit = Fit::new(params, at(100.0));
    for (samples, end) in periods {
        for milliseconds in samples {
            fit.on(Time::ZERO, common::measured(*milliseconds, 0));
        }
        fit.on(Time::ZERO, *end);
    }
    (common::internal(&fit, "n"), common::internal(&fit, "alpha"))
}

/// Samples of 100 and 180 ms, smoothed 100 and 100 + 80/8 = 110 ms. Of the samples (140 - 100)/140 = 0.286 is queued on
/// average, more than alpha = 0.25 allows one session: N stays 1. Of the smoothed RTTs (105 - 100)/105 = 0.048 is: N = 2.
/// The estimate of alpha is 80/180 of the samples and 10/110 of the smoothed RTTs.
#[test]
fn fit_by_samples_or_smoothed() {
    let period = [([100, 180], common::LOSS)];
    for (rtt, n, alpha) in
        [(Rtt::Raw, 1.0, 80.0 / 180.0), (Rtt::Smoothed, 2.0, 10.0 / 110.0), (Rtt::Mixed, 2.0, 80.0 / 180.0)]
    {
        let params = FitParams { rtt, ..FitParams::default() };
        assert_eq!(fit_after(FitParams { alpha: 0.25, ..params }, &period), (n, 0.25), "{rtt:?}");
        near(fit_after(params, &period).1, alpha, 1e-12);
    }
}

/// The smoothed RTTs of the test above make N 2. A timeout that resets it makes it 1, but not a fixed one.
#[test]
fn fit_may_begin_again_after_a_timeout() {
    let timeout = Signal::Timeout { first: true };
    for (timeout_resets_n, n, after) in [(false, 0.0, 2.0), (true, 0.0, 1.0), (true, 3.0, 3.0)] {
        let params =
            FitParams { rtt: Rtt::Smoothed, alpha: 0.25, n, timeout_resets_n, ..FitParams::default() };
        assert_eq!(fit_after(params, &[([100, 180], common::LOSS), ([100, 100], timeout)]).0, after);
    }
}

/// Two periods, of 100 and 200 ms and of 150 and 180 ms: means 150 and 165 ms. After the first alpha is 0.5, and N = 2
/// whether 50/150 or, by the least mean, nothing is queued. In the second, over the session, 65/165 = 0.394 is, more than
/// 0.5/2: N = 1. By the least mean 15/165 = 0.091 is: N = 3. With each period's extremes alpha is the mean of 100/200 and
/// 30/180, a third, and N = 1 again.
#[test]
fn fit_over_session_or_period() {
    use Reach::{Period, Session};
    let periods = [([100, 200], common::LOSS), ([150, 180], common::LOSS)];
    for (rtt_min, extremes, n, alpha) in [
        (Session, Session, 1.0, 0.5),
        (Period, Session, 3.0, 0.5),
        (Session, Period, 1.0, 1.0 / 3.0),
        // 0.091 is less than a sixth, which alpha allows each of two.
        (Period, Period, 3.0, 1.0 / 3.0),
    ] {
        let params = FitParams { rtt_min, extremes, ..FitParams::default() };
        let state = fit_after(params, &periods);
        assert_eq!(state.0, n, "{rtt_min:?}, {extremes:?}");
        near(state.1, alpha, 1e-12);
        // A period that a timeout ends changes nothing, unless extremes are the session's: then 50 ms is the least, alpha
        // becomes the mean of 100/200 and (200 - 50)/200, and 115/165 = 0.70 is queued.
        let timeout = ([50, 90], Signal::Timeout { first: true });
        let state = fit_after(params, &[periods[0], timeout, periods[1]]);
        assert_eq!(state.0, n, "{rtt_min:?}, {extremes:?}, with a timeout");
        near(state.1, if extremes == Session { 0.625 } else { alpha }, 1e-12);
    }
    // It is the least mean that counts, not the last: 150 of 300 ms is queued, more than (100/200 + 250/350)/2/2 = 0.30.
    let params = FitParams { rtt_min: Period, ..FitParams::default() };
    assert_eq!(fit_after(params, &[periods[0], ([250, 350], common::LOSS)]).0, 1.0);
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

/// An epoch whose one round trip of a second delivers `packets`, with RTTs of 70 and 100 ms, and the loss at its end.
fn epoch<C: Controller>(control: &mut C, began_s: u64, round: u64, packets: u64) {
    let now = |seconds| Time::ZERO + Span::from_seconds(seconds);
    for number in 0..packets {
        control.on(now(began_s), common::ack(if number == 0 { 70 } else { 100 }, round));
    }
    control.on(now(began_s + 1), common::ack(100, round + 1));
    control.on(now(began_s + 1), Signal::Loss { ecn: false });
}

/// Of a window of a million packets, to which an ACK adds nothing worth mentioning. At the first loss event there is
/// nothing to compare with: half is kept. The second epoch has the same throughput, 3 packets per second, and RTTs of
/// 70 to 100 ms: 0.7 is kept, and 3 s later an ACK adds 2 (1 - 0.7) 22 = 13.2 packets per window. The third has twice
/// the throughput: half again.
#[test]
fn htcp_adapts() {
    let mut htcp = Htcp::new(HtcpParams::default(), at(1e6));
    epoch(&mut htcp, 0, 0, 3);
    near(window(&htcp), 5e5, 1.0);
    epoch(&mut htcp, 2, 2, 3);
    near(window(&htcp), 3.5e5, 1.0);
    let mut later = htcp.clone();
    let before = window(&later);
    later.on(Time::ZERO + Span::from_seconds(6), Signal::Ack(Ack { round: 3, ..Ack::of_one_packet() }));
    near(window(&later) - before, 13.2 / 3.5e5, 1e-7);
    epoch(&mut htcp, 4, 4, 6);
    near(window(&htcp), 1.75e5, 1.0);
}

/// What the recovery delivers does not count as throughput: the second epoch also has three packets in recovery, and
/// yet 0.7 is kept.
#[test]
fn htcp_does_not_measure_in_recovery() {
    let mut htcp = Htcp::new(HtcpParams::default(), at(1e6));
    epoch(&mut htcp, 0, 0, 3);
    for _ in 0..30 {
        htcp.on(Time::ZERO + Span::from_seconds(1), common::measured(100, 2));
    }
    epoch(&mut htcp, 2, 3, 3);
    near(window(&htcp), 3.5e5, 1.0);
}

/// Plays `seconds` of Linux' H-TCP on a path of 100 ms and, from `queued_s` before the end, of 120 ms: a hundred ACKs
/// per round trip. The window is a hundred packets, so a round trip is a measurement of 1000 packets per second.
fn htcp_linux_epoch(
    control: &mut HtcpLinux,
    began_ms: u64,
    seconds: u64,
    queued_s: u64,
    round: &mut u64,
) -> u64 {
    for trip in 0..seconds * 10 {
        *round += 1;
        for number in 0..100 {
            let now = Time::ZERO + Span::from_millis(began_ms + trip * 100 + number);
            let rtt = if trip >= (seconds - queued_s) * 10 { 120 } else { 100 };
            let ack = Ack { rtt: Some(Span::from_millis(rtt)), round: *round, ..Ack::of_one_packet() };
            // The window stays, so that every measurement is of a round trip.
            control.on(now, Signal::Ack(Ack { credit: if number == 0 { 1e-9 } else { 0.0 }, ..ack }));
        }
    }
    began_ms + seconds * 1000
}

/// At the first loss event the throughput has no predecessor: half is kept, and the switch is set off. The second has
/// the same throughput, but only now is the switch set: half again. At the third RTTmin/RTTmax counts: RTTmin 100 ms,
/// RTTmax 120 ms of the second epoch, 5 % of its distance faded at the loss event, and again 120 ms:
/// 100/120 = 0.833, limited to 102/128.
#[test]
fn htcp_of_linux_adapts_at_the_third_loss_event() {
    let start = |window| Start {
        window: Window(window),
        ssthresh: Window(window),
        hystart: HyStart::Off,
        rules: Rules::Standard,
        seed: 0,
    };
    let mut htcp = HtcpLinux::new(HtcpLinuxParams::default(), start(100.0));
    let (mut now, mut round) = (0, 0);
    let mut kept = Vec::new();
    for _ in 0..3 {
        now = htcp_linux_epoch(&mut htcp, now, 5, 2, &mut round);
        let before = window(&htcp);
        htcp.on(Time::ZERO + Span::from_millis(now), Signal::Loss { ecn: false });
        kept.push(window(&htcp) / before);
        htcp.on(Time::ZERO + Span::from_millis(now), Signal::Undo);
    }
    assert_eq!(kept[..2], [0.5, 0.5]);
    // floor(100 * 102/128) = floor(79.6) = 79.
    near(kept[2], 0.79, 1e-9);
}

/// 3 s after the end of a recovery of 2 s, which began 5 s ago, the polynomial is 22: 2 (1 - 1/2) 22 = 22 packets per
/// round trip with an RTTmin of 100 ms, whose scale is 8/8. A window of 44 packets grows by one with the third ACK:
/// two are counted, and 2 * 22 = 44 is enough.
#[test]
fn htcp_of_linux_counts_from_the_end_of_recovery() {
    let start = Start {
        window: Window(88.0),
        ssthresh: Window(88.0),
        hystart: HyStart::Off,
        rules: Rules::Standard,
        seed: 0,
    };
    let mut htcp = HtcpLinux::new(HtcpLinuxParams::default(), start);
    let at = |milliseconds| Time::ZERO + Span::from_millis(milliseconds);
    htcp.on(at(0), common::ack(100, 0));
    htcp.on(at(1000), Signal::Loss { ecn: false });
    assert_eq!(window(&htcp), 44.0);
    htcp.on(at(2000), common::measured(100, 1));
    htcp.on(at(3000), common::ack(100, 2));
    // alpha is recomputed only when the window grows: it was 1 * 1 at the loss event, so 44 ACKs make a packet.
    for _ in 0..43 {
        htcp.on(at(6000), common::ack(100, 3));
    }
    assert_eq!(window(&htcp), 44.0, "one was counted at 3 s, 43 since");
    htcp.on(at(6000), common::ack(100, 3));
    assert_eq!(window(&htcp), 45.0);
    near(common::internal(&htcp, "alpha"), 22.0, 1e-9);
    for _ in 0..3 {
        htcp.on(at(6000), common::ack(100, 3));
    }
    assert_eq!(window(&htcp), 45.0, "3 * 22 = 66 is enough for 45, but is looked at with the next");
    htcp.on(at(6000), common::ack(100, 3));
    assert_eq!(window(&htcp), 46.0);
}

/// Time counts from a flow's own beginning: one that starts 30 s late grows as one that starts after 1 s.
#[test]
fn htcp_of_linux_begins_when_its_flow_does() {
    let grown = |start_s: u64| {
        let mut htcp = HtcpLinux::new(HtcpLinuxParams::default(), at(10.0));
        for trip in 0..50 {
            let now = Time::ZERO + Span::from_seconds(start_s) + Span::from_millis(100 * trip);
            (0..20).for_each(|_| htcp.on(now, common::ack(100, trip)));
        }
        window(&htcp)
    };
    assert_eq!(grown(1), grown(30));
    assert!(grown(1) > 20.0, "it grows");
}
