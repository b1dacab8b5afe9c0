//! Controls that answer marks in proportion, against arithmetic.

use ackclock_cc::dctcp::{Dctcp, DctcpParams};
use ackclock_cc::prague::{Prague, PragueParams};
use ackclock_cc::{Ack, Controller, Signal};
use ackclock_units::{Packets, Span, Time};

use crate::common::{LOSS, at, internal, near, tell};

/// An acknowledgement of `delivered` packets, of which `marked` came marked, in round trip `round`.
fn marks(delivered: u64, marked: u64, round: u64) -> Ack {
    Ack {
        credit: 0.0,
        delivered: Packets(delivered),
        marked: Packets(marked),
        in_flight: Packets(99),
        round,
        ..Ack::of_one_packet()
    }
}

fn dctcp(window: f64) -> Dctcp {
    Dctcp::new(DctcpParams::default(), at(window))
}

/// (15/16)^10 = 0.5245; 100 (1 - 0.5245/2) = 73.8, and only once per window of data.
#[test]
fn dctcp_cuts_by_half_of_alpha() {
    let mut control = dctcp(100.0);
    for round in 1..=10 {
        tell(&mut control, Signal::Ack(marks(100, 0, round)));
    }
    near(internal(&control, "alpha"), 0.5245, 5e-5);
    near(tell(&mut control, Signal::Ack(marks(1, 1, 10))), 73.8, 0.05);
    near(control.decision().ssthresh.0, 73.8, 0.05);
    let cut = control.decision().window.0;
    near(tell(&mut control, Signal::Ack(marks(99, 99, 10))), cut, 1e-9);
    // 99 were in flight: the next mark is of another window of data.
    assert!(tell(&mut control, Signal::Ack(marks(1, 1, 10))) < cut);
}

/// 0.1 + 0.9 (15/16)^16 = 0.420.
#[test]
fn alpha_follows_the_share_of_marks() {
    let mut control = dctcp(100.0);
    for round in 1..=16 {
        tell(&mut control, Signal::Ack(marks(100, 10, round)));
    }
    near(internal(&control, "alpha"), 0.42, 5e-4);
}

/// A loss halves, also where a mark has cut before: 100 to 50 at alpha 1, and the loss of that window of data leaves 50.
#[test]
fn a_loss_replaces_the_cut_of_its_window() {
    let mut control = dctcp(100.0);
    near(tell(&mut control, Signal::Ack(marks(1, 1, 0))), 50.0, 1e-9);
    near(tell(&mut control, LOSS), 50.0, 1e-9);
    near(tell(&mut control, Signal::Ack(marks(5, 5, 0))), 50.0, 1e-9);
    let mut clean = dctcp(100.0);
    near(tell(&mut clean, LOSS), 50.0, 1e-9);
}

/// Time average of the window of `control` when every packet is marked with probability `p`, drawn by splitmix64, and a
/// round trip is `rtt`.
fn mean_window(mut control: impl Controller, p: f64, rtt: Span) -> f64 {
    let mut now = Time::ZERO;
    let (mut state, mut round, mut left, mut rounds, mut sum) = (1_u64, 0, 0_u64, 0, 0.0);
    while rounds < 60_000 {
        if left == 0 {
            (round, rounds) = (round + 1, rounds + 1);
            now += rtt;
            left = control.decision().window.0 as u64;
            sum += control.decision().window.0;
        }
        left -= 1;
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let marked = ((mixed ^ (mixed >> 31)) as f64) < p * u64::MAX as f64;
        let in_flight = Packets(control.decision().window.0 as u64 - 1);
        let rtt = Some(rtt);
        let ack = Ack { marked: Packets(marked.into()), in_flight, round, rtt, ..Ack::of_one_packet() };
        control.on(now, Signal::Ack(ack));
    }
    sum / f64::from(rounds)
}

/// With m = pW marks per round trip a cycle is the wait for a mark, 1/m round trips, and the round trip of the cut. The
/// cut takes pW/2 = m/2, what has grown until then. If the window grows in all of it: 1/m + 1 = m/2, m = 1 + sqrt 3; if
/// not in the round trip of the cut: 1/m = m/2, m = sqrt 2. Cycles are random, which this leaves out: 10 %.
#[test]
fn random_marks_give_the_window_of_their_law() {
    for p in [0.02, 0.05, 0.1] {
        for (grows_in_cut, law) in [(true, 1.0 + 3.0_f64.sqrt()), (false, 2.0_f64.sqrt())] {
            let params = DctcpParams { grows_in_cut, initial_alpha: p, ..DctcpParams::default() };
            let marks = mean_window(Dctcp::new(params, at(2.0 / p)), p, Span::from_millis(10)) * p;
            assert!((marks / law - 1.0).abs() < 0.1, "p {p}: {marks} against {law}");
        }
    }
}

/// With random marks the rate of Prague is (1 + sqrt 3)/2 * 2 packets/25 ms * (1/p - 1), whatever the round trip up to 25
/// ms; at 50 ms half of it. In packets of 1500 bytes 24.5, 11.7, 5.2 Mbit/s at 0.05, 0.1, 0.2. In this test acknowledgements
/// come in bursts of a round trip, so that the windows of marks are whole ones: 12 %.
#[test]
fn prague_has_one_rate_for_all_short_round_trips() {
    for (milliseconds, share) in [(5, 1.0), (10, 1.0), (25, 1.0), (50, 0.5)] {
        for p in [0.05_f64, 0.1] {
            let rtt = Span::from_millis(milliseconds);
            let control = Prague::new(PragueParams::default(), at(2.0 / p));
            let rate = mean_window(control, p, rtt) / rtt.as_seconds() * 12e-3;
            let law = (1.0 + 3.0_f64.sqrt()) / 2.0 * 0.96 * (1.0 / p - 1.0) * share;
            assert!((rate / law - 1.0).abs() < 0.12, "{milliseconds} ms, p {p}: {rate} against {law}");
        }
    }
}
