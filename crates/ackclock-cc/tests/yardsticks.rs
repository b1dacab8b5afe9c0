//! Hybla, YeAH, LEDBAT, BBR and the constant window, by hand-worked steps from their specifications.

use ackclock_cc::bbr::{Bbr, BbrLinux, BbrParams};
use ackclock_cc::constant::{Constant, ConstantParams};
use ackclock_cc::hybla::{Hybla, HyblaParams, Linux, Paper};
use ackclock_cc::ledbat::{Ledbat, LedbatParams, step};
use ackclock_cc::yeah::{Yeah, YeahParams};
use ackclock_cc::{Ack, Controller, HyStart, RateSample, Rules, Signal, Start};
use ackclock_units::{Packets, Span, Time, Window};

use crate::common;
use crate::common::{LOSS, ack, at, internal, near, tell};

/// At 100 ms rho = 4: slow start adds 2^4 - 1 = 15 per acknowledgement, congestion avoidance 16/W.
#[test]
fn hybla_grows_by_rho() {
    let start = Start {
        window: Window(2.0),
        ssthresh: Window(32.0),
        hystart: HyStart::Off,
        rules: Rules::Standard,
        seed: 0,
    };
    let mut hybla = Hybla::<Paper>::new(HyblaParams::default(), start);
    assert_eq!(tell(&mut hybla, ack(100, 0)), 17.0);
    assert_eq!(tell(&mut hybla, ack(100, 0)), 32.0);
    near(tell(&mut hybla, ack(100, 0)), 32.5, 1e-12);
    // An RTT of 100 s has rho = 4000; an acknowledgement without credit still adds nothing (found by fuzzing).
    let mut far = Hybla::<Paper>::new(HyblaParams::default(), start);
    let nothing = Ack { credit: 0.0, rtt: Some(Span::from_seconds(100)), ..Ack::of_one_packet() };
    assert_eq!(tell(&mut far, Signal::Ack(nothing)), 2.0);
    // A path shorter than the reference is Reno's.
    let mut near_path = Hybla::<Paper>::new(HyblaParams::default(), at(10.0));
    near(tell(&mut near_path, ack(10, 0)), 10.1, 1e-12);
}

/// At 180 ms rho is 57 eighths (57.6): 2^7 times the kernel's 139/128 for 2^(1/8), less 1, is 138 packets per
/// acknowledgement. At 1000 packets it adds 128 (57/8)^2 / 1000 = 6.498 parts of 1/128, of which the kernel counts 6.
#[test]
fn hybla_of_linux_counts_in_parts_of_128() {
    let start = |window, ssthresh| Start {
        window: Window(window),
        ssthresh: Window(ssthresh),
        hystart: HyStart::Off,
        rules: Rules::Standard,
        seed: 0,
    };
    let hybla = |start| Hybla::<Linux>::new(HyblaParams::default(), start);
    assert_eq!(tell(&mut hybla(start(2.0, 1e4)), ack(180, 0)), 140.0);
    near(tell(&mut hybla(at(1000.0)), ack(180, 0)), 1000.0 + 6.0 / 128.0, 1e-12);
    // At 700 ms rho is 28, but slow start adds no more than 2^16 - 1, and the window ends at 65 535.
    let mut far = hybla(start(2.0, 1e9));
    assert_eq!(tell(&mut far, ack(700, 0)), 65_535.0);
    assert_eq!(tell(&mut far, ack(700, 0)), 65_535.0);
    // The smallest smoothed RTT counts: 100 ms, then 7/8 of 100 and 1/8 of 20, which is 90 ms or 28 eighths; 128 (28/8)^2 /
    // 100 = 15.68.
    let mut nearer = hybla(at(100.0));
    tell(&mut nearer, ack(100, 0));
    let before = nearer.decision().window.0;
    near(tell(&mut nearer, ack(20, 1)), before + 15.0 / 128.0, 1e-12);
    near(internal(&nearer, "rho"), 3.5, 1e-12);
    // Less than a part of 1/128 is a packet per window, as with Reno.
    near(tell(&mut hybla(at(200.0)), ack(10, 0)), 200.005, 1e-12);
}

/// RTTs of 100 ms, then 105 ms at 1000 packets: Q = 1000 (1 - 100/105) = 47.6 is below 80 and 5 % below 1/8:
/// fast, 0.01 per acknowledgement. At 110 ms Q = 90.9 of about 1000: that much is given up and it is slow. A
/// loss then cuts Q or W/8, whichever is more.
#[test]
fn yeah_has_two_modes() {
    let mut yeah = Yeah::new(YeahParams::default(), at(1000.0));
    tell(&mut yeah, ack(100, 0));
    tell(&mut yeah, ack(105, 1));
    near(tell(&mut yeah, ack(110, 2)), 1000.03, 1e-9);
    near(internal(&yeah, "queued"), 47.6, 0.05);
    let w = 1000.03 * 100.0 / 110.0;
    near(tell(&mut yeah, ack(110, 3)), w + 1.0 / w, 1e-9);
    near(internal(&yeah, "queued"), 90.9, 0.05);
    assert_eq!(internal(&yeah, "fast"), 0.0);
    let w = w + 1.0 / w;
    near(tell(&mut yeah, LOSS), w - w / 8.0, 1e-9);
}

/// Half of the target: half of the gain. Twice the target: the whole gain downwards.
#[test]
fn ledbat_keeps_its_target() {
    assert_eq!((step(1.0, 50.0, 100.0), step(1.0, 200.0, 100.0)), (0.5, -1.0));
    let mut ledbat = Ledbat::new(LedbatParams::default(), at(100.0));
    let busy = |milliseconds| {
        let rtt = Some(Span::from_millis(milliseconds));
        Signal::Ack(Ack { rtt, in_flight: Packets(99), ..Ack::of_one_packet() })
    };
    tell(&mut ledbat, busy(100));
    // 100 + 1/100; the smallest of four samples is still 100 ms.
    near(ledbat.decision().window.0, 100.01, 1e-12);
    for _ in 0..4 {
        tell(&mut ledbat, busy(150));
    }
    // Three times a whole step more, then half a one; in flight are 99 + 1, so 101 is the limit.
    near(ledbat.decision().window.0, 100.045, 1e-4);
    for _ in 0..4 {
        tell(&mut ledbat, busy(300));
    }
    near(ledbat.decision().window.0, 100.045 + 3.0 * 0.005 - 0.01, 1e-4);
    near(internal(&ledbat, "delay_ms"), 200.0, 1e-9);
}

/// The smallest delay of a minute is forgotten after `base_history` minutes.
#[test]
fn ledbat_forgets() {
    let mut ledbat = Ledbat::new(LedbatParams { base_history: 2.0, ..LedbatParams::default() }, at(100.0));
    for (second, rtt) in [(0, 100), (30, 150), (70, 150), (75, 150), (80, 150), (85, 150)] {
        ledbat.on(Time::ZERO + Span::from_seconds(second), common::measured(rtt, 0));
    }
    near(internal(&ledbat, "delay_ms"), 50.0, 1e-9);
    ledbat.on(Time::ZERO + Span::from_seconds(140), common::measured(150, 0));
    near(internal(&ledbat, "delay_ms"), 0.0, 1e-9);
}

/// An acknowledgement of a path that delivers 1000 packets per second at an RTT of 100 ms.
fn steady(round: u64, in_flight: u64) -> Signal {
    let rate = RateSample {
        delivered: Packets(100),
        interval: Span::from_millis(100),
        application_limited: false,
        prior_delivered: Packets(100 * (round - 1)),
        tx_in_flight: Packets(100),
        lost: Packets(0),
    };
    let rtt = Some(Span::from_millis(100));
    let in_flight = Packets(in_flight);
    Signal::Ack(Ack { rtt, round, in_flight, rate: Some(rate), ..Ack::of_one_packet() })
}

/// BtlBw = 1000/s from the first sample on; it does not grow for three round trips, so the pipe is full. Drain
/// paces at 1000/2.885; with 103 packets in flight, 1000 * 0.1 + 3, it is over. ProbeBW keeps at most
/// 2 * 100 + 3 = 203 packets and paces at 1000/s. Eight phases of 100 ms: 6 of gain 1, 5/4, 3/4.
#[test]
fn bbr_finds_rate_and_delay() {
    let mut bbr = Bbr::new(BbrParams::default(), Start::default());
    let mut now = Time::ZERO;
    for round in 1..=4 {
        assert_eq!(internal(&bbr, "mode"), 0.0, "Startup in round {round}");
        bbr.on(now, steady(round, 300));
        now += Span::from_millis(100);
    }
    assert_eq!(internal(&bbr, "mode"), 1.0, "Drain");
    near(bbr.decision().pacing_rate.unwrap().0, 1000.0 / 2.885_39, 1e-6);
    bbr.on(now, steady(5, 104));
    assert_eq!(internal(&bbr, "mode"), 1.0, "more than 103 in flight");
    bbr.on(now, steady(5, 103));
    assert_eq!(internal(&bbr, "mode"), 2.0, "ProbeBW");
    near(bbr.decision().pacing_rate.unwrap().0, 1000.0, 1e-9);
    let mut gains = Vec::new();
    for round in 6..=14 {
        now += Span::from_millis(101);
        // 128 = 1.25 * 100 + 3 in flight lets the probing phase end.
        for _ in 0..40 {
            bbr.on(now, steady(round, 127));
        }
        gains.push(internal(&bbr, "pacing_gain"));
    }
    assert_eq!(gains, [1.0, 1.0, 1.0, 1.0, 1.0, 1.25, 0.75, 1.0, 1.0]);
    near(bbr.decision().window.0, 203.0, 1e-9);
}

/// Startup keeps at most 2.885 * 100 + 3 = 291.5 packets and grows a packet per acknowledgement until then: it ends up to a
/// packet beyond. A round trip of 400 packets is none of the path's; it only gives the window room to go further.
#[test]
fn bbr_keeps_its_window_near_the_model_while_it_starts() {
    let mut bbr = Bbr::new(BbrParams::default(), at(10.0));
    for _ in 0..400 {
        bbr.on(Time::ZERO, steady(1, 300));
    }
    assert_eq!(internal(&bbr, "mode"), 0.0);
    let window = bbr.decision().window.0;
    assert!((291.5..292.6).contains(&window), "{window}");
}

/// Ten seconds without an RTT as small as the smallest: the window falls to 4 until 200 ms and a round trip have
/// passed with no more than that in flight, and then returns.
#[test]
fn bbr_probes_the_delay() {
    let mut bbr = Bbr::new(BbrParams::default(), Start::default());
    for round in 1..=200 {
        bbr.on(Time::ZERO, steady(round, 100));
    }
    let late = |milliseconds: u64| Time::ZERO + Span::from_millis(milliseconds);
    let slower = |round, in_flight| match steady(round, in_flight) {
        Signal::Ack(ack) => Signal::Ack(Ack { rtt: Some(Span::from_millis(120)), ..ack }),
        other => other,
    };
    let before = bbr.decision().window.0;
    bbr.on(late(10_001), slower(201, 100));
    assert_eq!((internal(&bbr, "mode"), bbr.decision().window.0), (3.0, 4.0));
    near(internal(&bbr, "rtprop_ms"), 120.0, 1e-9);
    bbr.on(late(10_100), slower(201, 4));
    bbr.on(late(10_299), slower(202, 4));
    assert_eq!(internal(&bbr, "mode"), 3.0, "199 ms");
    bbr.on(late(10_301), slower(203, 4));
    assert_eq!(internal(&bbr, "mode"), 2.0);
    assert!(bbr.decision().window.0 >= before);
}

/// As Linux has it: 1000/s is more than 1.2 Mbit/s of 1500-byte packets and less than 2 packets per 1/1024 s, so a quantum is 2
/// packets. Drain is over with 100 + 3 * 2 = 106 in flight; ProbeBW keeps 2 * 100 + 6 = 206, and 1 for an
/// aggregate of the one packet that each acknowledgement brings. It paces at 0.99 of the rate, and begins with the middle of the
/// seven phases where the seed is 0: the sixth, of gain 1, and two later the one of 5/4 with its 2 packets more.
#[test]
fn bbr_of_linux_has_room_for_quanta() {
    let mut bbr = BbrLinux::new(BbrParams::default(), at(300.0));
    let mut now = Time::ZERO;
    for round in 1..=4 {
        now += Span::from_millis(100);
        bbr.on(now, steady(round, 300));
    }
    assert_eq!(internal(&bbr, "mode"), 1.0, "Drain");
    near(bbr.decision().pacing_rate.unwrap().0, 990.0 / 2.885_39, 1e-6);
    let mut after = |in_flight, round| {
        now += Span::from_millis(101);
        bbr.on(now, steady(round, in_flight));
        (internal(&bbr, "mode"), bbr.decision().pacing_rate.unwrap().0, bbr.decision().window.0)
    };
    assert_eq!(after(107, 5).0, 1.0);
    assert_eq!(after(106, 6), (2.0, 990.0, 207.0));
    assert_eq!((after(106, 7).1, after(106, 8).1), (990.0, 990.0));
    // The window grows by what is delivered, a packet each.
    assert_eq!(after(106, 9), (2.0, 1.25 * 990.0, 208.0));
    assert_eq!(after(106, 10), (2.0, 1.25 * 990.0, 209.0));
}

/// A loss episode begins with 150 packets in flight: as many and one are the window until a round trip has passed, whatever
/// is lost; then it grows, and at its end it is what it was.
#[test]
fn bbr_of_linux_conserves_packets_for_a_round_trip() {
    let mut bbr = BbrLinux::new(BbrParams::default(), at(300.0));
    let mut now = Time::ZERO;
    for round in 1..=6 {
        now += Span::from_millis(101);
        bbr.on(now, steady(round, if round < 5 { 300 } else { 100 }));
    }
    let lossy = |round| match steady(round, 150) {
        Signal::Ack(ack) => Signal::Ack(Ack { lost: Packets(1), recovering: true, ..ack }),
        other => other,
    };
    bbr.on(now, lossy(6));
    let before = bbr.decision().window.0;
    bbr.on(now, LOSS);
    assert_eq!(bbr.decision().window.0, 151.0);
    bbr.on(now, lossy(6));
    assert_eq!(bbr.decision().window.0, 151.0);
    bbr.on(now, lossy(7));
    assert_eq!(bbr.decision().window.0, 152.0);
    bbr.on(now, Signal::Recovered);
    assert_eq!(bbr.decision().window.0, before);
}

/// It stays through losses, falls to 1 at a timeout and comes back.
#[test]
fn constant_stays() {
    let mut constant = Constant::new(ConstantParams { window: 30.0 }, Start::default());
    assert_eq!(tell(&mut constant, LOSS), 30.0);
    assert_eq!(tell(&mut constant, Signal::Timeout { first: true }), 1.0);
    assert_eq!(tell(&mut constant, ack(100, 1)), 30.0);
}
