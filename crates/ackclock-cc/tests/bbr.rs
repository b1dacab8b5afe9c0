//! BBR of version 1 at the edges of its rules, on a path of 1000 packets per second and 100 ms: 100 packets fill it.

use ackclock_cc::bbr::{Bbr, BbrLinux, BbrParams};
use ackclock_cc::{Ack, Controller, RateSample, Signal, Start};
use ackclock_units::{Packets, Span, Time};

use crate::common;
use crate::common::{at, internal, near, tell};

fn ms(milliseconds: u64) -> Time {
    Time::ZERO + Span::from_millis(milliseconds)
}

/// The acknowledgement of one packet in round trip `round`, from 1 on, with 100 packets in `interval` milliseconds.
fn sampled(round: u64, interval: u64, in_flight: u64) -> Ack {
    let rate = RateSample {
        delivered: Packets(100),
        interval: Span::from_millis(interval),
        application_limited: false,
        prior_delivered: Packets(100 * (round - 1)),
        tx_in_flight: Packets(100),
        lost: Packets(0),
    };
    Ack {
        rtt: Some(Span::from_millis(100)),
        in_flight: Packets(in_flight),
        rate: Some(rate),
        ..Ack::of_one_packet()
    }
}

fn application_limited(ack: Ack) -> Ack {
    Ack { rate: ack.rate.map(|rate| RateSample { application_limited: true, ..rate }), ..ack }
}

fn bandwidth<C: Controller>(control: &C) -> f64 {
    internal(control, "bandwidth_packets_per_s")
}

fn pacing<C: Controller>(control: &C) -> f64 {
    control.decision().pacing_rate.unwrap().0
}

/// Five round trips of the path: the first sets the rate, three do not raise it, and with 103 packets in flight the fifth
/// ends Drain, at time 0 in phase 2 of 8 (or, in Linux, 5 of 8).
fn probing<C: Controller>() -> C
where
    C::Params: Default,
{
    let mut control = C::new(C::Params::default(), at(300.0));
    for round in 1..=5 {
        tell(&mut control, Signal::Ack(sampled(round, 100, if round < 5 { 300 } else { 103 })));
    }
    assert_eq!(internal(&control, "mode"), 2.0);
    control
}

/// 1000/s in one round trip and 500/s in the next ones: the first counts for ten round trips, itself included.
#[test]
fn the_rate_is_the_largest_of_ten_round_trips() {
    let mut bbr = Bbr::new(BbrParams::default(), at(10.0));
    for round in 1..=11 {
        tell(&mut bbr, Signal::Ack(sampled(round, if round == 1 { 100 } else { 200 }, 10)));
        assert_eq!(bandwidth(&bbr), if round < 11 { 1000.0 } else { 500.0 }, "round {round}");
    }
}

/// Nothing of this is a rate of the path: 100 packets in no time, and a sample of what had arrived before. Without a rate
/// nothing bounds the window. A sample that the application limits counts when it is larger, and is not a round trip
/// without growth; nor are more samples of one round trip.
#[test]
fn what_says_nothing_about_the_rate() {
    let mut bbr = Bbr::new(BbrParams::default(), at(10.0));
    for acknowledged in 1..=20 {
        let window = tell(&mut bbr, Signal::Ack(sampled(1, 0, 10)));
        assert_eq!((bandwidth(&bbr), window), (0.0, 10.0 + f64::from(acknowledged)));
    }
    tell(&mut bbr, Signal::Ack(Ack { delivered: Packets(0), ..sampled(2, 50, 10) }));
    assert_eq!(bandwidth(&bbr), 0.0);
    tell(&mut bbr, Signal::Ack(sampled(3, 100, 10)));
    for round in 4..=20 {
        tell(&mut bbr, Signal::Ack(application_limited(sampled(round, 200, 10))));
        tell(&mut bbr, Signal::Ack(Ack { delivered: Packets(0), ..sampled(round + 1, 200, 10) }));
        assert_eq!((bandwidth(&bbr), internal(&bbr, "mode")), (1000.0, 0.0), "round {round}");
    }
    tell(&mut bbr, Signal::Ack(application_limited(sampled(30, 50, 10))));
    assert_eq!(bandwidth(&bbr), 2000.0);
}

/// gain * 10/1 ms, gain * 10/100 ms with the first RTT, each times 0.99 in Linux. A rate of 50/s would be slower,
/// 144.3: while the pipe is not full the pace does not fall, but rises to gain * 1000/s.
#[test]
fn the_first_pace() {
    fn paces<C: Controller<Params = BbrParams>>(share: f64) {
        let mut control = C::new(BbrParams::default(), at(10.0));
        near(pacing(&control), 28_853.9 * share, 1e-6);
        tell(&mut control, common::ack(100, 0));
        near(pacing(&control), 288.539 * share, 1e-6);
        tell(&mut control, Signal::Ack(sampled(1, 2000, 10)));
        near(pacing(&control), 288.539 * share, 1e-6);
        tell(&mut control, Signal::Ack(sampled(2, 100, 10)));
        near(pacing(&control), 2885.39 * share, 1e-6);
    }
    paces::<Bbr>(1.0);
    paces::<BbrLinux>(0.99);
}

/// An RTT no larger than the smallest begins the ten seconds anew; they must be exceeded. A smaller one counts at once.
#[test]
fn the_smallest_rtt_is_renewed() {
    let mut bbr = Bbr::new(BbrParams::default(), at(10.0));
    let of = |rtt| Signal::Ack(Ack { rtt: Some(Span::from_millis(rtt)), ..sampled(1, 100, 10) });
    for (now, rtt, mode) in
        [(0, 100, 0.0), (9_000, 100, 0.0), (10_500, 120, 0.0), (19_000, 120, 0.0), (19_001, 120, 3.0)]
    {
        bbr.on(ms(now), of(rtt));
        assert_eq!(internal(&bbr, "mode"), mode, "{now} ms");
    }
    near(internal(&bbr, "rtprop_ms"), 120.0, 1e-9);
    bbr.on(ms(19_002), of(80));
    near(internal(&bbr, "rtprop_ms"), 80.0, 1e-9);
}

/// Six phases of gain 1, each longer than 100 ms: after exactly 100 ms none is over, however little is in flight. That of
/// 5/4 waits for 1.25 * 100 + 3 = 128 packets before the acknowledgement, or a loss; that of 3/4 is over at 102, which is
/// less than 100 + 3.
#[test]
fn phases_last_longer_than_the_rtt() {
    let mut bbr = probing::<Bbr>();
    let mut began = Time::ZERO;
    for phase in 2..8 {
        for (later, gain) in [(Span::ZERO, 1.0), (Span(1), if phase < 7 { 1.0 } else { 1.25 })] {
            let now = began + Span::from_millis(100) + later;
            bbr.on(now, Signal::Ack(sampled(5, 100, 10)));
            assert_eq!(internal(&bbr, "pacing_gain"), gain, "phase {phase}");
        }
        began = began + Span::from_millis(100) + Span(1);
    }
    let mut gain = |now, in_flight| {
        bbr.on(ms(now), Signal::Ack(sampled(5, 100, in_flight)));
        internal(&bbr, "pacing_gain")
    };
    assert_eq!((gain(800, 126), gain(800, 127)), (1.25, 0.75));
    assert_eq!((gain(801, 102), gain(801, 101)), (0.75, 1.0));
    // Little in flight ends no other phase early.
    assert_eq!((1..50).map(|_| gain(802, 10)).fold(0.0, f64::max), 1.0);
}

/// At most 4 packets in flight begin the 200 ms, which must pass, and a round trip; an RTT that is due but not measured
/// does not make BBR forget the window to return to. What was sent meanwhile lowers no rate; what is sent later does.
#[test]
fn probing_the_rtt_does_not_measure_the_rate() {
    let mut bbr = probing::<Bbr>();
    (0..200).for_each(|_| {
        tell(&mut bbr, Signal::Ack(sampled(5, 100, 103)));
    });
    let before = bbr.decision().window.0;
    assert_eq!(before, 203.0);
    // A duplicate acknowledgement is not a pause of the application.
    tell(&mut bbr, Signal::Ack(Ack { credit: 0.0, delivered: Packets(0), ..sampled(5, 100, 103) }));
    let mut mode = |now, round, in_flight, rtt: Option<u64>| {
        let ack = Ack { rtt: rtt.map(Span::from_millis), ..sampled(round, 200, in_flight) };
        bbr.on(ms(now), Signal::Ack(ack));
        (internal(&bbr, "mode"), bandwidth(&bbr))
    };
    assert_eq!(mode(10_000, 5, 103, None), (2.0, 1000.0), "ten seconds, not more");
    assert_eq!(mode(10_001, 6, 103, None), (3.0, 1000.0));
    assert_eq!(mode(10_002, 6, 100, None), (3.0, 1000.0));
    assert_eq!(mode(10_100, 6, 5, Some(110)), (3.0, 1000.0));
    assert_eq!(mode(10_200, 6, 4, Some(110)), (3.0, 1000.0));
    for round in 7..=30 {
        assert_eq!(mode(10_399, round, 4, Some(110)), (3.0, 1000.0), "round {round}");
    }
    assert_eq!(mode(10_400, 30, 4, Some(110)), (2.0, 1000.0));
    assert_eq!(bbr.decision().window.0, before + 1.0, "and the packet acknowledged, of 2 * 110 + 3");
    for round in 32..=42 {
        bbr.on(ms(10_500), Signal::Ack(sampled(round, 200, 4)));
    }
    assert_eq!(bandwidth(&bbr), 500.0);
}

/// In Linux an application that sends again after a pause is paced at 0.99 of the rate, whatever the phase of ProbeBW, here
/// the one of 5/4 that is two later than the first. Drain keeps its own pace.
#[test]
fn linux_sends_at_the_rate_after_a_pause() {
    let mut bbr = probing::<BbrLinux>();
    for step in 1..=3 {
        bbr.on(ms(101 * step), Signal::Ack(sampled(5, 100, 110)));
    }
    near(pacing(&bbr), 1237.5, 1e-9);
    bbr.on(ms(303), Signal::Restart);
    near(pacing(&bbr), 990.0, 1e-9);
    let mut draining = BbrLinux::new(BbrParams::default(), at(300.0));
    for round in 1..=4 {
        tell(&mut draining, Signal::Ack(sampled(round, 100, 300)));
    }
    let pace = pacing(&draining);
    tell(&mut draining, Signal::Restart);
    assert_eq!((internal(&draining, "mode"), pacing(&draining)), (1.0, pace));
}

/// The delivery after a pause of eleven seconds does not probe the RTT, the one after it does; without a pause the first.
#[test]
fn linux_does_not_probe_the_rtt_right_after_a_pause() {
    for pauses in [true, false] {
        let mut bbr = probing::<BbrLinux>();
        if pauses {
            bbr.on(ms(11_000), Signal::Restart);
        }
        let without_rtt = Signal::Ack(Ack { rtt: None, ..sampled(5, 100, 103) });
        bbr.on(ms(11_000), without_rtt);
        assert_eq!(internal(&bbr, "mode"), if pauses { 2.0 } else { 3.0 });
        bbr.on(ms(11_001), without_rtt);
        assert_eq!(internal(&bbr, "mode"), 3.0);
    }
}

/// Phases of Linux begin at random, but not with the one that drains: of 70 connections about ten begin with each of 7
/// phases, the one of 5/4 among them; that none of 70 does has a probability of (6/7)^70 = 2e-5.
#[test]
fn linux_begins_with_a_random_phase() {
    let gains: Vec<f64> = (1..=70)
        .map(|seed| {
            let mut bbr = BbrLinux::new(BbrParams::default(), Start { seed, ..at(300.0) });
            for round in 1..=5 {
                tell(&mut bbr, Signal::Ack(sampled(round, 100, if round < 5 { 300 } else { 103 })));
            }
            internal(&bbr, "pacing_gain")
        })
        .collect();
    assert!(gains.contains(&1.25) && gains.contains(&1.0) && !gains.contains(&0.75));
}

/// A burst of 200 packets where 100 fill the path: 200 beyond the rate, of which what comes in 100 ms, 1000 * 0.1 = 100, is
/// room: 2 * 100 + 6 + 100 = 306.
#[test]
fn linux_leaves_room_for_aggregates() {
    let mut bbr = probing::<BbrLinux>();
    bbr.on(ms(10), Signal::Ack(Ack { credit: 200.0, delivered: Packets(200), ..sampled(5, 100, 103) }));
    assert_eq!(bbr.decision().window.0, 306.0);
}
