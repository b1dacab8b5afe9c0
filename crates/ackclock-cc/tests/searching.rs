//! BI-TCP's pseudo-code with its repairs, TCP-Illinois' waits and HyStart++, step by step by hand.

use ackclock_cc::bic::{Bic, BicParams};
use ackclock_cc::illinois::{Illinois, IllinoisLinuxParams, IllinoisParams, Linux, Paper};
use ackclock_cc::reno::{Reno, RenoParams};
use ackclock_cc::{Controller, HyStart, Signal, Start};
use ackclock_units::Window;

use crate::common;
use crate::common::{LOSS, at, internal, near, plain, tell};

/// A loss at 16 packets keeps 14 and aims at 15. Each acknowledgement adds the distance to the target over the
/// window and moves the target to the middle between the window and 16:
/// 14 + 1/14 = 14.071429, target 15.035714; + 0.964286/14.071429 = 14.139956, target 15.069978;
/// + 0.930022/14.139956 = 14.205729.
#[test]
fn bic_searches() {
    let mut bic = Bic::new(BicParams::default(), at(16.0));
    near(tell(&mut bic, LOSS), 14.0, 1e-12);
    for expected in [14.071_429, 14.139_956, 14.205_729] {
        near(tell(&mut bic, plain()), expected, 1e-6);
    }
    // Far from its target S_max limits the step: a loss at 1000 keeps 875 and aims at 937.5, 62.5 away.
    let mut bic = Bic::new(BicParams::default(), at(1000.0));
    tell(&mut bic, LOSS);
    near(tell(&mut bic, plain()), 875.0 + 32.0 / 875.0, 1e-9);
}

/// Losses at 1000, 875 and 765.625. The second and third come below the maximum before: max_win becomes the
/// middle of W and what is kept, (875 + 765.625)/2 and (765.625 + 669.921875)/2.
#[test]
fn bic_converges_fast() {
    let mut bic = Bic::new(BicParams::default(), at(1000.0));
    for (kept, max_win) in [(875.0, 1000.0), (765.625, 820.3125), (669.921_875, 717.773_437_5)] {
        near(tell(&mut bic, LOSS), kept, 1e-9);
        near(internal(&bic, "max_win"), max_win, 1e-9);
    }
}

/// The repairs: S_min = 0.5 is the least step, so that the maximum of 16 is reached from 14 after at most
/// 2/(0.5/16) = 64 acknowledgements; beyond it the steps are 1, 2, 4, ...; a loss there at some W ends the
/// probing and makes W the maximum, although the one before was left behind as unknown.
#[test]
fn bic_passes_its_maximum() {
    let mut bic = Bic::new(BicParams { s_min: 0.5, ..BicParams::default() }, at(16.0));
    let mut before = tell(&mut bic, LOSS);
    let mut steps = 0;
    while internal(&bic, "probing") == 0.0 {
        let now = tell(&mut bic, plain());
        assert!(now - before >= 0.5 / before - 1e-12, "repair 1: {before} to {now}");
        (before, steps) = (now, steps + 1);
    }
    assert!(before >= 16.0 && steps <= 64, "{before} after {steps}");
    let reached = before;
    // One packet per round trip up to one packet further, then two.
    near(tell(&mut bic, plain()), reached + 1.0 / reached, 1e-9);
    before = tell(&mut bic, plain());
    while before < reached + 1.0 {
        before = tell(&mut bic, plain());
    }
    near(tell(&mut bic, plain()), before + 2.0 / before, 1e-9);
    let lost_at = bic.decision().window.0;
    near(tell(&mut bic, LOSS), 0.875 * lost_at, 1e-9);
    near(internal(&bic, "max_win"), lost_at, 1e-9);
    assert_eq!(internal(&bic, "probing"), 0.0, "repair 3");
}

/// Probing doubles until its step is S_max = 4; the first acknowledgement after it grows (repair 4), by S_max.
#[test]
fn bic_never_shrinks_on_an_acknowledgement() {
    let params = BicParams { s_min: 0.5, s_max: 4.0, ..BicParams::default() };
    let mut bic = Bic::new(params, at(16.0));
    let mut before = tell(&mut bic, LOSS);
    let mut was_probing = false;
    for _ in 0..400 {
        let now = tell(&mut bic, plain());
        assert!(now > before);
        let probes = internal(&bic, "probing") == 1.0;
        if was_probing && !probes {
            near(tell(&mut bic, plain()), now + 4.0 / now, 1e-9);
            return;
        }
        (before, was_probing) = (now, probes);
    }
    panic!("the probing never ended");
}

/// One round trip per entry, of one acknowledgement: alpha after it.
fn alphas<C: Controller>(control: &mut C, rtts: &[u64], round: &mut u64) -> Vec<f64> {
    rtts.iter()
        .map(|rtt| {
            tell(control, common::measured(*rtt, *round));
            *round += 1;
            // The next round trip's first acknowledgement completes this one.
            tell(
                control,
                Signal::Ack(ackclock_cc::Ack {
                    round: *round,
                    recovering: true,
                    ..ackclock_cc::Ack::of_one_packet()
                }),
            );
            internal(control, "alpha")
        })
        .collect()
}

/// RTTs of 100 and 200 ms: the second is the largest delay, alpha = 0.1. Then 100 ms, no delay: alpha stays for
/// theta = 5 round trips, unless a higher delay restarts the wait.
#[test]
fn illinois_waits_theta_round_trips() {
    let mut illinois = Illinois::<Paper>::new(IllinoisParams::default(), at(100.0));
    let mut round = 0;
    let values = alphas(&mut illinois, &[100, 200, 100, 100, 100, 100, 100], &mut round);
    for (alpha, expected) in values.into_iter().zip([10.0, 0.1, 0.1, 0.1, 0.1, 0.1, 10.0]) {
        near(alpha, expected, 1e-12);
    }
    let values = alphas(&mut illinois, &[200, 100, 100, 150, 100, 100, 100, 100, 100], &mut round);
    // da = dm/2: 0.1/0.5 = 0.2.
    for (alpha, expected) in values.into_iter().zip([0.1, 0.1, 0.1, 0.2, 0.2, 0.2, 0.2, 0.2, 10.0]) {
        near(alpha, expected, 1e-12);
    }
}

/// After a backoff of its own the paper's Illinois does not wait; Linux's does.
#[test]
fn illinois_waits_after_its_own_backoff_only_in_linux() {
    let mut paper = Illinois::<Paper>::new(IllinoisParams::default(), at(100.0));
    let mut linux = Illinois::<Linux>::new(IllinoisLinuxParams::default(), at(100.0));
    let (mut round_paper, mut round_linux) = (0, 0);
    alphas(&mut paper, &[100, 200], &mut round_paper);
    alphas(&mut linux, &[100, 200], &mut round_linux);
    // The delay was the largest: beta = 1/2 in both.
    near(tell(&mut paper, LOSS), 50.0, 1e-9);
    near(tell(&mut linux, LOSS), 50.0, 1e-9);
    near(alphas(&mut paper, &[100], &mut round_paper)[0], 10.0, 1e-12);
    let values = alphas(&mut linux, &[100; 5], &mut round_linux);
    for (alpha, expected) in values.into_iter().zip([0.3, 0.3, 0.3, 0.3, 10.0]) {
        near(alpha, expected, 1e-12);
    }
}

/// A timeout at 40 packets: ssthresh 20, alpha = 1 and beta = 1/2 through slow start and the round trip in which
/// it ends; from the next one on alpha is the table's again, here 10.
#[test]
fn illinois_is_reno_after_a_timeout() {
    let mut illinois = Illinois::<Paper>::new(IllinoisParams::default(), at(40.0));
    assert_eq!(tell(&mut illinois, Signal::Timeout { first: true }), 1.0);
    assert_eq!(illinois.decision().ssthresh, Window(20.0));
    for _ in 0..19 {
        tell(&mut illinois, common::ack(100, 7));
        assert_eq!(internal(&illinois, "alpha"), 1.0);
    }
    near(tell(&mut illinois, common::ack(100, 7)), 20.0 + 1.0 / 20.0, 1e-12);
    let before = illinois.decision().window.0;
    near(tell(&mut illinois, common::ack(100, 8)), before + 10.0 / before, 1e-9);
}

/// RFC 9406: RTTs of 100 ms, then of 112.5 ms; the threshold is 100/8 = 12.5 ms. From the eighth sample of the
/// second round trip on an acknowledgement counts a quarter; five round trips later slow start ends.
#[test]
fn hystart_leaves_slow_start() {
    let start = Start { window: Window(10.0), hystart: HyStart::PlusPlus, ..Start::default() };
    let mut reno = Reno::new(RenoParams::default(), start);
    for _ in 0..8 {
        tell(&mut reno, common::ack(100, 0));
    }
    let mut steps = Vec::new();
    for _ in 0..9 {
        let before = reno.decision().window.0;
        steps.push(tell(&mut reno, common::ack(113, 1)) - before);
    }
    assert_eq!(steps[..7], [1.0; 7]);
    assert_eq!(steps[7..], [0.25; 2]);
    for round in 2..6 {
        tell(&mut reno, common::ack(113, round));
        assert_eq!(reno.decision().ssthresh, Window::UNLIMITED, "round {round}");
    }
    tell(&mut reno, common::ack(113, 6));
    assert!(reno.decision().ssthresh < Window::UNLIMITED);
}
