//! The papers' controls and their kin at the edges of their rules, by hand.

use ackclock_cc::africa::{Africa, AfricaParams, Fast, SlowDecrease};
use ackclock_cc::bic::{Bic, BicParams, Search};
use ackclock_cc::bic_linux::{AckRatio, BicLinux, BicLinuxParams};
use ackclock_cc::compound::{Compound, CompoundParams};
use ackclock_cc::constant::{Constant, ConstantParams};
use ackclock_cc::copa::{Copa, CopaParams};
use ackclock_cc::cubic::{Cubic, CubicParams, Rfc9438};
use ackclock_cc::dctcp::{Dctcp, DctcpParams};
use ackclock_cc::hstcp::{ClosedForm, Hstcp, HstcpParams, HstcpTableParams, Rule, Table};
use ackclock_cc::illinois::{F1, Illinois, IllinoisLinuxParams, IllinoisParams, Linux, Paper};
use ackclock_cc::scalable::{Scalable, ScalableParams};
use ackclock_cc::westwood::{
    Filter, Linux as WestwoodOfLinux, Paper as WestwoodOfPaper, Westwood, WestwoodParams,
};
use ackclock_cc::{Ack, Controller, Signal, Start};
use ackclock_units::{Packets, Span, Time};

use crate::common::{LOSS, ack, at, internal, measured, near, plain, tell};

const TIMEOUT: Signal = Signal::Timeout { first: true };

fn credit(credit: f64, round: u64) -> Signal {
    Signal::Ack(Ack { credit, round, ..Ack::of_one_packet() })
}

fn ssthresh<C: Controller>(control: &C) -> f64 {
    control.decision().ssthresh.0
}

/// The round trip of each RTT, of one sample, is completed by the next round trip's first acknowledgement: alpha then.
fn alphas<C: Controller>(control: &mut C, rtts: &[u64], round: &mut u64) -> Vec<f64> {
    rtts.iter()
        .map(|rtt| {
            tell(control, measured(*rtt, *round));
            *round += 1;
            tell(control, Signal::Ack(Ack { round: *round, recovering: true, ..Ack::of_one_packet() }));
            internal(control, "alpha")
        })
        .collect()
}

fn all_near(values: &[f64], expected: &[f64]) {
    assert_eq!(values.len(), expected.len());
    values.iter().zip(expected).for_each(|(a, b)| near(*a, *b, 1e-9));
}

/// Linux's Illinois with every parameter changed: alpha_max 20, beta_min 0.1; at the largest delay alpha_min 0.2 and beta_max
/// 0.4; two round trips of low delay restore 20. Below 50 packets it is Reno. Extremes are of samples: 100 and 300 ms in one
/// round trip are 200 apart.
#[test]
fn illinois_of_linux_takes_its_parameters() {
    let params = IllinoisLinuxParams {
        alpha_max: 20.0,
        alpha_min: 0.2,
        beta_max: 0.4,
        beta_min: 0.1,
        w_thresh: 50.0,
        theta: 2.0,
    };
    let mut illinois = Illinois::<Linux>::new(params, at(100.0));
    assert_eq!((internal(&illinois, "alpha"), internal(&illinois, "beta")), (20.0, 0.1));
    let mut round = 0;
    all_near(&alphas(&mut illinois, &[100, 200], &mut round), &[20.0, 0.2]);
    near(internal(&illinois, "beta"), 0.4, 1e-9);
    all_near(&alphas(&mut illinois, &[100, 100], &mut round), &[0.2, 20.0]);
    tell(&mut illinois, TIMEOUT);
    near(ssthresh(&illinois), 90.0, 1e-9);
    let small = Illinois::<Linux>::new(params, at(49.0));
    assert_eq!((internal(&small, "alpha"), internal(&small, "beta")), (1.0, 0.5));
    let edge = Illinois::<Linux>::new(params, at(50.0));
    assert_eq!((internal(&edge, "alpha"), internal(&edge, "beta")), (20.0, 0.1));
    let mut samples = Illinois::<Linux>::new(params, at(100.0));
    tell(&mut samples, measured(100, 0));
    tell(&mut samples, measured(300, 0));
    tell(&mut samples, measured(100, 1));
    near(internal(&samples, "dm_s"), 0.2, 1e-9);
    near(internal(&samples, "da_s"), 0.1, 1e-9);
    let paper = Illinois::<Paper>::new(IllinoisParams { alpha_max: 20.0, ..Default::default() }, at(100.0));
    assert_eq!(internal(&paper, "alpha"), 20.0);
}

/// With eta1 = 0 a round trip without delay is one of low delay, and alpha waits as for any other.
#[test]
fn illinois_waits_without_a_margin() {
    let mut illinois = Illinois::<Paper>::new(IllinoisParams { eta1: 0.0, ..Default::default() }, at(100.0));
    all_near(&alphas(&mut illinois, &[100, 200, 100], &mut 0), &[10.0, 0.1, 0.1]);
}

/// A loss event in round trip 2: what was sent in it and in the next one shows the delay from before the backoff, so no wait
/// follows; delay in the third is new, and alpha waits.
#[test]
fn illinois_tells_its_own_backoff_from_delay() {
    for (rtts, expected) in
        [(&[200, 200, 100][..], &[0.1, 0.1, 10.0][..]), (&[200, 200, 200, 100], &[0.1, 0.1, 0.1, 0.1])]
    {
        let mut illinois = Illinois::<Paper>::new(IllinoisParams::default(), at(100.0));
        let mut round = 0;
        alphas(&mut illinois, &[100, 200], &mut round);
        tell(&mut illinois, LOSS);
        all_near(&alphas(&mut illinois, rtts, &mut round), expected);
    }
}

/// After a timeout at 80 packets slow start up to 40 lasts several round trips, and alpha is 1 in all of them and for the
/// rest of the last.
#[test]
fn illinois_is_reno_as_long_as_slow_start_lasts() {
    let mut illinois = Illinois::<Paper>::new(IllinoisParams::default(), at(80.0));
    tell(&mut illinois, TIMEOUT);
    for (round, acks) in [(7, 15), (8, 24), (8, 2)] {
        for _ in 0..acks {
            tell(&mut illinois, ack(100, round));
            assert_eq!(internal(&illinois, "alpha"), 1.0);
        }
    }
    near(illinois.decision().window.0, 40.0 + 1.0 / 40.0 + 1.0 / 40.025, 1e-9);
}

/// aRTT after 100 and 200 ms is 112.5: 14 * 12.5 = 175 < 1.65 * 112.5 = 185.6 is fast, 15 * 12.5 is not. Scalable's 0.01 is
/// less than Reno's 1/50.
#[test]
fn africa_smooths_the_rtt() {
    for (window, fast) in [(14.0, 1.0), (15.0, 0.0)] {
        let mut africa = Africa::new(AfricaParams::default(), at(window));
        tell(&mut africa, measured(100, 0));
        tell(&mut africa, measured(200, 0));
        assert_eq!(internal(&africa, "fast"), fast);
    }
    let mut africa = Africa::new(AfricaParams { fast: Fast::Scalable, ..Default::default() }, at(50.0));
    near(tell(&mut africa, plain()), 50.02, 1e-9);
}

/// With a gain of 1 aRTT is the last sample, 200 ms: 3 * 100 < 1.65 * 200 = 330 is fast, 3.5 * 100 is not.
#[test]
fn africa_may_smooth_less() {
    for (window, fast) in [(3.0, 1.0), (3.5, 0.0)] {
        let mut africa = Africa::new(AfricaParams { gain: 1.0, ..Default::default() }, at(window));
        tell(&mut africa, measured(100, 0));
        tell(&mut africa, measured(200, 0));
        assert_eq!(internal(&africa, "fast"), fast);
    }
}

/// 1000 packets: b(W) = 0.5 - 0.4 ln(1000/38)/ln(83000/38) = 0.3299, in both modes or only in fast mode.
#[test]
fn africa_may_halve_in_slow_mode() {
    for (rtt, slow_decrease, cut) in [
        (100, SlowDecrease::Hstcp, 0.3299),
        (200, SlowDecrease::Hstcp, 0.3299),
        (100, SlowDecrease::Reno, 0.3299),
        (200, SlowDecrease::Reno, 0.5),
    ] {
        let mut africa = Africa::new(AfricaParams { slow_decrease, ..Default::default() }, at(1000.0));
        tell(&mut africa, measured(100, 0));
        let before = tell(&mut africa, measured(rtt, 0));
        near(1.0 - tell(&mut africa, LOSS) / before, cut, 1e-4);
    }
}

/// At the largest delay alpha is alpha_min. The low delay that follows the flow's own loss event restores alpha_max at
/// once, or, as in Linux, only after theta round trips.
#[test]
fn illinois_may_wait_after_its_own_backoff() {
    for (backoff_ends_wait, alpha) in [(true, 10.0), (false, 0.1)] {
        let params = IllinoisParams { backoff_ends_wait, ..Default::default() };
        let (mut illinois, mut round) = (Illinois::<Paper>::new(params, at(100.0)), 0);
        all_near(&alphas(&mut illinois, &[100, 200], &mut round), &[10.0, 0.1]);
        tell(&mut illinois, LOSS);
        all_near(&alphas(&mut illinois, &[100], &mut round), &[alpha]);
    }
}

/// Half of the way from d1 = 0 to dm: 0.1 + 9.9/2 = 5.05 with the power 1, 0.1 + 9.9/4 = 2.575 with 2; half of the way
/// from d2 = 0 to d3 = dm: 0.125 + 0.375/4 = 0.21875 with 2, and (0.125 + 0.5)/2 with 1. The ends are the same for all.
#[test]
fn illinois_is_one_of_its_class() {
    let params = |f1_power, f2_power| IllinoisParams {
        f1: F1::Power,
        f1_power,
        f2_power,
        eta1: 0.0,
        eta2: 0.0,
        eta3: 1.0,
        ..IllinoisParams::default()
    };
    for (power, alpha, beta) in [(1.0, 5.05, 0.3125), (2.0, 2.575, 0.21875)] {
        let class = params(power, power);
        near(class.alpha(0.05, 0.1), alpha, 1e-12);
        near(class.beta(0.05, 0.1), beta, 1e-12);
        assert_eq!((class.alpha(0.0, 0.1), class.beta(0.0, 0.1)), (10.0, 0.125));
        near(class.alpha(0.1, 0.1), 0.1, 1e-12);
        near(class.beta(0.1, 0.1), 0.5, 1e-12);
    }
}

/// Below 14 packets BI-TCP is Reno, from 14 on it keeps 7/8. A second loss event at that window is not a sign of others.
#[test]
fn bic_is_reno_below_its_low_window() {
    let bic = |window| Bic::new(BicParams::default(), at(window));
    assert!(internal(&bic(10.0), "max_win").is_nan());
    near(tell(&mut bic(10.0), plain()), 10.1, 1e-12);
    near(tell(&mut bic(10.0), LOSS), 5.0, 1e-12);
    near(tell(&mut bic(14.0), LOSS), 12.25, 1e-12);
    let mut again = bic(1000.0);
    tell(&mut again, LOSS);
    assert_eq!(tell(&mut again, Signal::Undo), 1000.0);
    tell(&mut again, LOSS);
    assert_eq!(internal(&again, "max_win"), 1000.0);
}

/// From 875 half of the way to 1000 in each round trip, in as many steps as there are acknowledgements: 62.5, then 31.25.
#[test]
fn bic_may_search_once_per_round_trip() {
    let params = BicParams { search: Search::PerRtt, s_max: 1000.0, ..BicParams::default() };
    let mut bic = Bic::new(params, at(1000.0));
    tell(&mut bic, LOSS);
    for (credited, round, expected) in
        [(437.5, 1, 906.25), (453.125, 1, 937.5), (937.5, 2, 968.75), (968.75, 3, 984.375)]
    {
        near(tell(&mut bic, credit(credited, round)), expected, 1e-9);
    }
}

/// From 14 to the maximum of 16 in one step of 2. Then 1 packet, after which steps are of 2, two halves of which reach the
/// next target, and then of 4.
#[test]
fn bic_doubles_at_its_targets() {
    let reach = |s_max| {
        let params = BicParams { s_min: 2.0, s_max, ..BicParams::default() };
        let mut bic = Bic::new(params, at(16.0));
        tell(&mut bic, LOSS);
        assert_eq!(tell(&mut bic, credit(14.0, 0)), 16.0);
        assert_eq!(internal(&bic, "probing"), 1.0);
        bic
    };
    let mut bic = reach(32.0);
    for (credited, expected) in [(8.0, 16.5), (8.25, 17.0), (8.5, 18.0), (9.0, 19.0), (9.5, 21.0)] {
        near(tell(&mut bic, credit(credited, 0)), expected, 1e-9);
    }
    let mut least = reach(2.0);
    tell(&mut least, credit(16.0, 0));
    assert_eq!(internal(&least, "probing"), 0.0, "a step of s_max ends it");
}

/// BI-TCP as printed from a loss at 16 packets on: 14, with the maximum at 16 and the target at 15.
fn as_printed() -> BicParams {
    BicParams {
        s_min: 2.0,
        least_increase: false,
        kept_maximum: false,
        loss_ends_probing: false,
        new_target: false,
        ..BicParams::default()
    }
}

/// Without a least increase the gap of 2 to the maximum is halved by ten round trips to 2/1024, and never closed; with
/// S_min = 2 it is closed at once.
#[test]
fn bic_as_printed_never_reaches_its_maximum() {
    for (least_increase, reached) in [(false, 16.0 - 2.0 / 1024.0), (true, 16.0)] {
        let params = BicParams { least_increase, kept_maximum: true, ..as_printed() };
        let mut bic = Bic::new(params, at(16.0));
        let mut window = tell(&mut bic, LOSS);
        for _ in 0..if least_increase { 1 } else { 10 } {
            window = tell(&mut bic, credit(window, 0));
        }
        near(window, reached, 1e-12);
    }
}

/// At the first loss max_win is its default, which is larger than any window: (1000 + 875)/2. The repair knows that there
/// was no maximum.
#[test]
fn bic_as_printed_converges_fast_at_every_loss() {
    for (kept_maximum, maximum) in [(false, 937.5), (true, 1000.0)] {
        let mut bic = Bic::new(BicParams { kept_maximum, ..BicParams::default() }, at(1000.0));
        tell(&mut bic, LOSS);
        assert_eq!(internal(&bic, "max_win"), maximum);
    }
}

/// Beyond 16 packets with a step of 1; the loss leaves 14. As printed the next round trip adds the same step of 1, and with
/// the repair S_min = 2.
#[test]
fn bic_as_printed_probes_on_after_a_loss() {
    for (loss_ends_probing, next) in [(false, 15.0), (true, 16.0)] {
        let params = BicParams { s_min: 2.0, loss_ends_probing, ..BicParams::default() };
        let mut bic = Bic::new(params, at(16.0));
        tell(&mut bic, LOSS);
        tell(&mut bic, credit(14.0, 0));
        assert_eq!(internal(&bic, "probing"), 1.0);
        assert_eq!(tell(&mut bic, LOSS), 14.0);
        near(tell(&mut bic, credit(14.0, 0)), next, 1e-12);
    }
}

/// The target of 15 is reached twice over by 28 acknowledgements, which is the maximum. Probing from 16 ends at 17 with a
/// step of S_max = 2. The target is still 15, so that as printed the next round trip takes 2 packets away; computed anew
/// it is the largest, so that S_max is added.
#[test]
fn bic_as_printed_shrinks_after_probing() {
    for (new_target, next) in [(false, 15.0), (true, 19.0)] {
        let params = BicParams { s_max: 2.0, kept_maximum: true, new_target, ..as_printed() };
        let mut bic = Bic::new(params, at(16.0));
        tell(&mut bic, LOSS);
        assert_eq!(tell(&mut bic, credit(28.0, 0)), 16.0);
        assert_eq!(tell(&mut bic, credit(16.0, 0)), 17.0);
        assert_eq!(internal(&bic, "probing"), 0.0);
        near(tell(&mut bic, credit(17.0, 0)), next, 1e-12);
    }
}

/// A hundred packets per 100 ms are 1000 per second. After a timeout the path has 200 ms: in Linux, which takes the RTT measured
/// last for the smallest, that is 200 packets, by the paper still 100.
#[test]
fn westwood_linux_measures_its_smallest_rtt_anew_after_a_timeout() {
    fn kept<F: Filter>() -> f64 {
        let mut westwood = Westwood::<F>::new(WestwoodParams {}, at(500.0));
        let ack = |westwood: &mut Westwood<F>, ms: u64, rtt: u64, round| {
            let rtt = Some(Span::from_millis(rtt));
            let ack = Ack { rtt, round, credit: 1e-9, delivered: Packets(100), ..Ack::of_one_packet() };
            westwood.on(Time::ZERO + Span::from_millis(ms), Signal::Ack(ack));
        };
        (0..50).for_each(|round| ack(&mut westwood, 100 * round, if round < 49 { 100 } else { 200 }, round));
        westwood.on(Time::ZERO + Span::from_seconds(5), TIMEOUT);
        near(westwood.decision().ssthresh.0, 100.0, 1e-6);
        // The same rate of 1000 packets per second.
        (50..99).for_each(|round| ack(&mut westwood, 100 * round, 200, round));
        westwood.on(Time::ZERO + Span::from_seconds(10), TIMEOUT);
        westwood.decision().ssthresh.0
    }
    near(kept::<WestwoodOfLinux>(), 200.0, 1e-3);
    near(kept::<WestwoodOfPaper>(), 100.0, 1e-3);
}

/// 4, 30 and 60 packets beyond the maximum of 2000: floor(2004 * 3/4), 2030 * 3/30, and from 48 on floor(2060/16).
#[test]
fn bic_linux_counts_beyond_its_maximum() {
    for (w, count) in [(2004.0, 1503.0), (2030.0, 203.0), (2060.0, 128.0)] {
        assert_eq!(BicLinuxParams::default().count(w, 2000.0), count);
    }
}

/// 819/1024 of 1000 are kept, 799.8046875, and 1000 is the maximum. Of 799 whole packets a quarter of the distance is 50, more
/// than 16: floor(799/16) = 49 acknowledgements per packet, of which the estimate of 31/16 per acknowledgement makes
/// floor(49 * 16/31) = 25. From 800 on they are 50, and floor(50 * 16/31) = 25, too. What comes in recovery, and duplicates, are not in the estimate.
#[test]
fn bic_linux_by_hand() {
    let mut bic = BicLinux::new(BicLinuxParams::default(), at(1000.0));
    let mut window = tell(&mut bic, LOSS);
    assert_eq!(window, 799.804_687_5);
    let burst = Ack { delivered: Packets(160), ..Ack::of_one_packet() };
    tell(&mut bic, Signal::Ack(Ack { recovering: true, ..burst }));
    assert_eq!(tell(&mut bic, Signal::Ack(Ack { credit: 0.0, ..burst })), window);
    for _ in 0..7 {
        window += 1.0 / 25.0;
        near(tell(&mut bic, plain()), window, 1e-9);
    }
    near(internal(&bic, "alpha"), window / 50.0, 1e-9);
    assert_eq!(internal(&bic, "last_max"), 1000.0);
}

/// Fast convergence: a loss event at 799 of 1000 whole packets makes floor(799 * (1 + 819/1024)/2) = 719 the maximum. Up to 14
/// packets half is kept. A timeout keeps as much for ssthresh, and leaves no maximum: above 47 packets 20 acknowledgements make a
/// packet then, floor(20 * 16/31) = 10 by the estimate, which starts anew.
#[test]
fn bic_linux_notes_its_maximum() {
    for (fast_convergence, last_max) in [(true, 719.0), (false, 799.0)] {
        let mut bic = BicLinux::new(BicLinuxParams { fast_convergence, ..Default::default() }, at(1000.0));
        tell(&mut bic, LOSS);
        near(tell(&mut bic, LOSS), 799.804_687_5 * 819.0 / 1024.0, 1e-9);
        assert_eq!(internal(&bic, "last_max"), last_max);
    }
    let bic = |window| BicLinux::new(BicLinuxParams::default(), at(window));
    assert_eq!(tell(&mut bic(14.0), LOSS), 7.0);
    let mut timed_out = bic(1000.0);
    assert_eq!(tell(&mut timed_out, TIMEOUT), 1.0);
    assert_eq!(ssthresh(&timed_out), 799.804_687_5);
    tell(&mut timed_out, Signal::Timeout { first: false });
    assert_eq!((ssthresh(&timed_out), internal(&timed_out, "last_max")), (799.804_687_5, 0.0));
    let mut later = bic(1000.0);
    tell(&mut later, LOSS);
    for _ in 0..100 {
        tell(&mut later, Signal::Ack(Ack { delivered: Packets(9), ..Ack::of_one_packet() }));
    }
    tell(&mut later, TIMEOUT);
    let until = ssthresh(&later);
    while tell(&mut later, plain()) < until {}
    let window = tell(&mut later, plain());
    near(tell(&mut later, plain()), window + 0.1, 1e-9);
}

/// Acknowledgements of one packet each that make one of growth, as `tcp_bic.c` counts them: the window itself up to 14 packets,
/// where the estimate of 31/16 has no part; then whole numbers, before and after the division by it.
#[test]
fn bic_linux_counts_small_windows_in_whole_numbers() {
    let mut ratio = AckRatio::default();
    ratio.note(1);
    for (w, last_max, acks) in [
        (3.0, 0.0, 3.0),
        (5.0, 0.0, 5.0),
        (14.0, 0.0, 14.0),
        // floor(15/16) = 0: one per acknowledgement. floor(50/16) = 3, floor(3 * 16/31) = 1.
        (15.0, 0.0, 1.0),
        (50.0, 0.0, 1.0),
        // floor(1000/16) = 62, at most 20: floor(20 * 16/31) = 10.
        (1000.0, 0.0, 10.0),
        (14.0, 100.0, 14.0),
        // A quarter of 50 is 12: floor(50/12) = 4, floor(4 * 16/31) = 2.
        (50.0, 100.0, 2.0),
        // 3 below: 50 * 20/4 = 250, floor(250 * 16/31) = 129. 10 beyond: 50 * 3/10 = 15, floor(15 * 16/31) = 7.
        (50.0, 53.0, 129.0),
        (50.0, 40.0, 7.0),
        // Far from it: 62, floor(62 * 16/31) = 32.
        (1000.0, 2000.0, 32.0),
    ] {
        let params = BicLinuxParams::default();
        assert_eq!(params.corrected(w, params.count(w, last_max), ratio), acks, "{w} of {last_max}");
    }
}

/// A Compound TCP whose dwnd grows by 6 - 1 = 5 packets per round trip with little queued, and loses a tenth of what is.
fn compound(window: f64) -> Compound {
    let params = CompoundParams { alpha: 6.0, k: 0.0, zeta: 0.1, beta: 0.4, ..CompoundParams::default() };
    let mut control = Compound::new(params, at(window));
    tell(&mut control, measured(100, 0));
    control
}

/// An acknowledgement that may grow, but by nothing that counts.
fn step(control: &mut Compound, rtt: u64, round: u64) -> f64 {
    let rtt = Some(Span::from_millis(rtt));
    tell(control, Signal::Ack(Ack { credit: 1e-12, rtt, round, ..Ack::of_one_packet() }))
}

/// 105, 110 packets: of 105 a fifth is queued at 125 ms, 21. Of 110 at 150 ms a third is, 36.67, more than 30: dwnd falls by
/// 3.67 to 6.33. A loss event keeps 0.6 of 106.33, 63.8, of which 100/2 = 50 are cwnd.
#[test]
fn compound_by_hand() {
    let mut control = compound(100.0);
    near(step(&mut control, 125, 1), 105.0, 1e-9);
    near(step(&mut control, 150, 2), 110.0, 1e-9);
    near(step(&mut control, 150, 3), 110.0 - 11.0 / 3.0, 1e-9);
    near(internal(&control, "dwnd"), 10.0 - 11.0 / 3.0, 1e-9);
    near(tell(&mut control, LOSS), 63.8, 1e-9);
    near(internal(&control, "dwnd"), 13.8, 1e-9);
    near(tell(&mut control, Signal::Undo), 110.0 - 11.0 / 3.0, 1e-9);
    tell(&mut control, TIMEOUT);
    assert_eq!(internal(&control, "dwnd"), 0.0);
    near(tell(&mut compound(100.0), plain()), 100.01, 1e-9);
    assert_eq!(CompoundParams::default().dwnd(100.0, 256.0, 30.0), 70.0);
}

/// Below 41 packets there is no dwnd. A step waits for an acknowledgement that may grow, but not through recovery.
#[test]
fn compound_steps_when_it_may_grow() {
    near(step(&mut compound(40.0), 100, 1), 40.0, 1e-9);
    for (recovering, after) in [(false, 105.0), (true, 100.0)] {
        let mut control = compound(100.0);
        let waits = Ack { window_limited: false, recovering, round: 1, ..Ack::of_one_packet() };
        assert_eq!(tell(&mut control, Signal::Ack(waits)), 100.0);
        near(step(&mut control, 100, 1), after, 1e-9);
    }
}

/// A loss event at 100 packets leaves 60, of which 10 are dwnd; 20 round trips make them 110. The false alarm gives back the
/// 100, and no more of them can be dwnd.
#[test]
fn dwnd_is_never_more_than_the_window() {
    let mut control = compound(100.0);
    near(tell(&mut control, LOSS), 60.0, 1e-9);
    (1..=20).for_each(|round| {
        step(&mut control, 100, round);
    });
    near(internal(&control, "dwnd"), 110.0, 1e-9);
    assert_eq!(tell(&mut control, Signal::Undo), 100.0);
    assert_eq!(internal(&control, "dwnd"), 100.0);
}

/// RFC 3649, section 5, with other numbers: log(1e-6/1e-2)/log(3100/31) = -2, so p(310) = 0.01 * 10^-2. With the RFC's own
/// numbers, whatever the decrease, p = 0.078125/1000^1.2 = 1.96241e-5.
#[test]
fn hstcp_response_by_hand() {
    let params = HstcpParams {
        low_window: 31.0,
        high_window: 3100.0,
        low_p: 1e-2,
        high_p: 1e-6,
        ..HstcpParams::default()
    };
    near(params.p(310.0), 1e-4, 1e-12);
    near(HstcpParams { high_decrease: 0.2, ..HstcpParams::default() }.p(1000.0), 1.962_41e-5, 1e-9);
}

/// b(1000) = 0.5 - 0.4 ln(1000/38)/ln(83000/38) = 0.329878; a = 19.6241 * 2b/(2 - b) = 7.7523. The table has 8 and 83/256.
/// At a timeout the RFC halves and Linux keeps 1 - b. Beyond the table its last row, of 73 and 23/256, holds.
#[test]
fn hstcp_by_hand() {
    let mut rfc = Hstcp::<ClosedForm>::new(HstcpParams::default(), at(1000.0));
    near(tell(&mut rfc, plain()), 1_000.007_752, 1e-6);
    near(internal(&rfc, "alpha"), 7.7523, 1e-4);
    near(internal(&rfc, "beta"), 0.329_878, 1e-6);
    near(tell(&mut rfc, LOSS), 1_000.007_752 * (1.0 - 0.329_878), 1e-3);
    let mut table = Hstcp::<Table>::new(HstcpTableParams::default(), at(1000.0));
    near(tell(&mut table, plain()), 1000.008, 1e-9);
    assert_eq!((internal(&table, "alpha"), internal(&table, "beta")), (8.0, 83.0 / 256.0));
    let mut table = Hstcp::<Table>::new(HstcpTableParams::default(), at(1000.0));
    let mut rfc = Hstcp::<ClosedForm>::new(HstcpParams::default(), at(1000.0));
    assert_eq!((tell(&mut table, TIMEOUT), tell(&mut rfc, TIMEOUT)), (1.0, 1.0));
    assert_eq!((ssthresh(&table), ssthresh(&rfc)), (675.781_25, 500.0));
    assert_eq!(Table.a_b(1e5), (73.0, 23.0 / 256.0));
    // 118 packets are in the second row; 60 acknowledgements later there are 119, in the third.
    let mut growing = Hstcp::<Table>::new(HstcpTableParams::default(), at(118.0));
    near(tell(&mut growing, credit(60.0, 0)), 118.0 + 120.0 / 118.0, 1e-9);
    tell(&mut growing, plain());
    assert_eq!(internal(&growing, "alpha"), 3.0);
}

/// From 16 packets on it is Scalable TCP: 16.01, of which 7/8 are kept.
#[test]
fn scalable_begins_at_its_low_window() {
    let mut scalable = Scalable::new(ScalableParams::default(), at(16.0));
    near(tell(&mut scalable, plain()), 16.01, 1e-12);
    near(tell(&mut Scalable::new(ScalableParams::default(), at(16.0)), LOSS), 14.0, 1e-12);
}

/// An epoch begins with the first acknowledgement that may grow: five seconds of recovery do not count. 70 packets, then
/// 3 * 0.3/1.7 of a packet per window.
#[test]
fn the_cubic_does_not_run_in_recovery() {
    let mut cubic = Cubic::<Rfc9438>::new(CubicParams::default(), at(100.0));
    tell(&mut cubic, LOSS);
    tell(&mut cubic, Signal::Ack(Ack { recovering: true, ..Ack::of_one_packet() }));
    cubic.on(Time::ZERO + Span::from_seconds(5), plain());
    near(cubic.decision().window.0, 70.0 + 0.9 / 1.7 / 70.0, 1e-9);
}

/// A round trip in which nothing was delivered has no share of marks. After a timeout a loss event is not the one of the mark
/// before it: it halves the 20 packets of slow start.
#[test]
fn dctcp_forgets_its_cut_at_a_timeout() {
    let mut idle = Dctcp::new(DctcpParams { initial_alpha: 0.0, ..DctcpParams::default() }, at(100.0));
    tell(
        &mut idle,
        Signal::Ack(Ack { credit: 0.0, delivered: Packets(0), round: 1, ..Ack::of_one_packet() }),
    );
    assert_eq!(internal(&idle, "alpha"), 0.0);
    let mut dctcp = Dctcp::new(DctcpParams::default(), at(100.0));
    let flight = Ack { credit: 0.0, in_flight: Packets(99), ..Ack::of_one_packet() };
    tell(&mut dctcp, Signal::Ack(Ack { marked: Packets(1), ..flight }));
    tell(&mut dctcp, TIMEOUT);
    for _ in 0..19 {
        tell(&mut dctcp, Signal::Ack(Ack { credit: 1.0, ..flight }));
    }
    near(tell(&mut dctcp, LOSS), 10.0, 1e-9);
}

/// delta = 0.25 keeps 4 packets queued. RTTs of 40 and then, for longer than half of a smoothed RTT, 60 ms: 20 are queueing.
#[test]
fn copa_tells_what_it_sees() {
    let mut copa = Copa::new(CopaParams { delta: 0.25, ..CopaParams::default() }, at(10.0));
    assert_eq!(internal(&copa, "inverse_delta"), 4.0);
    tell(&mut copa, Signal::Undo);
    assert_eq!(internal(&copa, "inverse_delta"), 4.0);
    for (now, rtt) in [(0, 40), (100, 60)] {
        copa.on(Time::ZERO + Span::from_millis(now), ack(rtt, 0));
    }
    near(internal(&copa, "queueing_delay_ms"), 20.0, 1e-9);
}

/// What is lost leaves a constant window of 1 after a timeout at 2, and what may not grow leaves it there.
#[test]
fn a_constant_window_waits_for_growth() {
    let mut constant = Constant::new(ConstantParams { window: 30.0 }, Start::default());
    tell(&mut constant, TIMEOUT);
    assert_eq!(tell(&mut constant, measured(100, 0)), 1.0);
    assert_eq!(tell(&mut constant, LOSS), 2.0);
    assert_eq!(tell(&mut constant, plain()), 30.0);
    assert_eq!((tell(&mut constant, LOSS), ssthresh(&constant)), (30.0, 30.0));
}
