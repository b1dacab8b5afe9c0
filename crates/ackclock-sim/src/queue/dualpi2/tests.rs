//! The parts of DualPI2 against arithmetic.

use super::*;
use crate::packet::Kind;
use crate::random::{Purpose, Streams};

/// The RFC's settings.
const SETTINGS: scenario::DualPi2 = scenario::DualPi2 {
    target: Span::from_millis(15),
    update: Span::from_millis(15),
    alpha: 0.15,
    beta: 3.0,
    coupling: 2.0,
    ramp_from: Span::from_micros(800),
    ramp_to: Span::from_micros(1200),
    uniform: true,
    scheduler: Scheduler::WeightedRoundRobin,
    classic_share: 0.1,
    time_shift: Span::from_millis(50),
    overload: Overload::Drop,
};

fn queue(settings: scenario::DualPi2) -> DualPi2 {
    DualPi2::new(settings, (100_000, u64::MAX), Streams { seed: 1, run: 0 }.of(Purpose::Queue, 0, 0))
}

fn at(microseconds: u64) -> Time {
    Time::ZERO + Span::from_micros(microseconds)
}

/// Puts `count` packets of 1500 bytes into the queue at `now`.
fn put(queue: &mut DualPi2, now: Time, ecn: EcnField, count: u64) {
    for sequence in 0..count {
        let mut packet = Packet::new(Kind::Data, 0, 0, sequence, now, 1500);
        packet.set_ecn(ecn);
        let mut dropped = Vec::new();
        queue.enqueue(now, &packet, InService::default(), &mut dropped);
        assert!(dropped.is_empty());
    }
}

/// The ECN fields of the next `count` packets that leave at `now`, and how many were dropped before them.
fn take(queue: &mut DualPi2, now: Time, count: usize) -> (Vec<EcnField>, usize) {
    let mut dropped = Vec::new();
    let left = (0..count).map_while(|_| queue.dequeue(now, &mut dropped)).map(|queued| queued.packet.ecn());
    (left.collect(), dropped.len())
}

/// 20 ms after none, with Linux's gains of 0.16 and 3.2 per second: 0.16 * 0.005 + 3.2 * 0.02 = 0.0648; the same delay
/// again adds 0.16 * 0.005. An empty queue takes 0.16 * 0.015 + 3.2 * 0.02 = 0.0664 away, and p' is never less than 0.
#[test]
fn the_probability_moves_by_distance_and_change() {
    let mut queue = queue(scenario::DualPi2 { alpha: 0.16, beta: 3.2, ..SETTINGS });
    queue.update(Span::from_millis(20));
    assert!((queue.probability - 0.0648).abs() < 1e-15);
    queue.update(Span::from_millis(20));
    assert!((queue.probability - 0.0656).abs() < 1e-15);
    queue.update(Span::ZERO);
    assert_eq!(queue.probability, 0.0);
}

/// Updates are due every 15 ms and see the head of each queue as it was then: a packet that came at 10 ms has waited
/// 5 ms at 15 ms and 20 ms at 30 ms, when one of L that came at 12 ms had waited 18 ms. However late anybody looks.
#[test]
fn the_longer_delay_counts_at_the_time_of_the_update() {
    let mut queue = queue(SETTINGS);
    put(&mut queue, at(10_000), EcnField::NotCapable, 1);
    put(&mut queue, at(12_000), EcnField::Ect1, 1);
    queue.catch_up(at(44_000));
    // 0.15 (0.005 - 0.015) + 3 * 0.005 = 0.0135; then 0.15 * 0.005 + 3 * 0.015 = 0.04575.
    assert!((queue.probability - 0.059_25).abs() < 1e-15, "{}", queue.probability);
}

/// Without packets p' falls by 0.15 * 0.015 = 0.00225 per update, from 0.01 to 0 in five of them; the rest of an hour changes
/// nothing and costs nothing, and the next update is still at a multiple of 15 ms: at 3600.015 s.
#[test]
fn an_idle_hour() {
    let mut queue = queue(SETTINGS);
    queue.probability = 0.01;
    queue.catch_up(at(60_000));
    assert!((queue.probability - 0.001).abs() < 1e-15, "four updates");
    queue.catch_up(at(3_600_000_000));
    assert_eq!((queue.probability, queue.updates_at), (0.0, at(3_600_015_000)));
}

/// p_C = p'^2, p_CL = 2 p' up to 1: at 0.1 they are 0.01 and 0.2, and p_C = (p_CL/2)^2; at 0.5 they are 0.25 and 1, which is
/// overload. Without drops in overload p' stays at 1/k there.
#[test]
fn the_coupling_is_a_square() {
    let mut queue = queue(SETTINGS);
    for (probability, classic, coupled, overloaded) in
        [(0.1, 0.01, 0.2, false), (0.5, 0.25, 1.0, true), (0.6, 0.36, 1.0, true)]
    {
        queue.probability = probability;
        let p = queue.probabilities();
        assert!((p.classic - classic).abs() < 1e-15 && (p.coupled - coupled).abs() < 1e-15, "{p:?}");
        assert_eq!(p.overloaded, overloaded);
    }
    let mut held = self::queue(scenario::DualPi2 { overload: Overload::Overflow, ..SETTINGS });
    held.update(Span::from_seconds(9));
    assert_eq!(held.probabilities(), Probabilities { classic: 0.25, coupled: 1.0, overloaded: false });
}

/// Sums of 0.375: 1.125 at the third packet, 1.25 at the sixth, then 0.625, 1.0 (not above 1) and 1.375 at the ninth.
#[test]
fn evenly_spaced_packets() {
    let mut side = SubQueue::new();
    let numbers: Vec<_> = (1..=14).filter(|_| side.recurs(0.375)).collect();
    assert_eq!(numbers, [3, 6, 9, 11, 14]);
}

/// At 0.8 ms nothing, at 1 ms half, from 1.2 ms on all, as long as another packet waits. With both ends at 1 ms: a step.
#[test]
fn the_ramp() {
    let ramp = |queue: &DualPi2, us| queue.ramp(Span::from_micros(us), 2);
    let rfc = queue(SETTINGS);
    assert_eq!([800, 1000, 1200, 9000].map(|us| ramp(&rfc, us)), [0.0, 0.5, 1.0, 1.0]);
    assert_eq!(rfc.ramp(Span::from_millis(9), 1), 0.0);
    let (ramp_from, ramp_to) = (Span::from_millis(1), Span::from_millis(1));
    let step = queue(scenario::DualPi2 { ramp_from, ramp_to, ..SETTINGS });
    assert_eq!([999, 1000, 1001].map(|us| ramp(&step, us)), [0.0, 0.0, 1.0]);
}

/// Two packets of L that have waited for 2 ms: the first is marked by the ramp (its sum is above 1 only with what was there
/// before), the second is alone and is not.
#[test]
fn packets_of_the_low_latency_queue_are_marked_for_their_own_delay() {
    let mut queue = queue(SETTINGS);
    queue.low_latency.accumulated = 0.5;
    put(&mut queue, at(0), EcnField::Ect1, 2);
    assert_eq!(take(&mut queue, at(2000), 3), (vec![EcnField::Marked, EcnField::Ect1], 0));
    assert_eq!(queue.marks(), 1);
}

/// Nine packets of L go for one of C: the credit begins at 1500 * (0.1 - 0.9) < 0, rises by 0.1 * 1500 with each packet
/// of L, and falls by 0.9 * 1500 with one of C. The first of C goes after the eight that -1200 takes to 0 and one more.
#[test]
fn weighted_round_robin() {
    let mut queue = queue(SETTINGS);
    put(&mut queue, at(0), EcnField::Ect1, 60);
    put(&mut queue, at(0), EcnField::NotCapable, 10);
    let order = take(&mut queue, at(0), 50).0;
    let classic: Vec<_> =
        order.iter().zip(0..).filter(|(ecn, _)| **ecn == EcnField::NotCapable).map(|(_, n)| n).collect();
    assert_eq!(classic, [9, 19, 29, 39, 49]);
}

/// A packet of C goes first if it has waited 50 ms longer than the first of L, and not otherwise.
#[test]
fn time_shifted_fifo() {
    let settings = scenario::DualPi2 { scheduler: Scheduler::TimeShiftedFifo, ..SETTINGS };
    for (came, first) in [(50_000, EcnField::Ect1), (50_001, EcnField::NotCapable)] {
        let mut queue = queue(settings);
        put(&mut queue, at(0), EcnField::NotCapable, 1);
        put(&mut queue, at(came), EcnField::Ect1, 1);
        // No update between: the question is which queue goes first.
        queue.updates_at = Time::NEVER;
        assert_eq!(take(&mut queue, at(55_000), 1).0, [first]);
    }
}

/// ECT(0) waits in C and is marked there; CE waits in L.
#[test]
fn the_low_bit_of_the_ecn_field_decides() {
    let mut queue = queue(SETTINGS);
    for ecn in [EcnField::NotCapable, EcnField::Capable, EcnField::Ect1, EcnField::Marked] {
        put(&mut queue, at(0), ecn, 1);
    }
    assert_eq!((queue.low_latency.queue.len(), queue.classic.queue.len(), queue.len()), (2, 2, 4));
}

/// At p' = 0.4, p_C = 0.16 and p_CL = 0.8. Of 1000 packets of L 800 are marked, of as many ECT(0) of C 160, and of as many
/// of C without ECN 160 are dropped: with evenly spaced ones to one more or less.
#[test]
fn marks_and_drops_have_their_shares() {
    for (ecn, marked, lost) in
        [(EcnField::Ect1, 800, 0), (EcnField::Capable, 160, 0), (EcnField::NotCapable, 0, 160)]
    {
        let mut queue = queue(SETTINGS);
        put(&mut queue, at(0), ecn, 1000);
        queue.probability = 0.4;
        let (left, dropped) = take(&mut queue, at(0), 1000);
        let marks = left.iter().filter(|ecn| **ecn == EcnField::Marked).count();
        assert!(marks.abs_diff(marked) <= 1 && dropped.abs_diff(lost) <= 1, "{ecn:?}: {marks}, {dropped}");
    }
}

/// The same at random: five standard deviations of a thousand draws, sqrt(1000 p (1 - p)), are 63 and 58.
#[test]
fn random_marks_and_drops_have_their_shares() {
    for (ecn, marked, lost) in [(EcnField::Ect1, 800, 0), (EcnField::NotCapable, 0, 160)] {
        let mut queue = queue(scenario::DualPi2 { uniform: false, ..SETTINGS });
        put(&mut queue, at(0), ecn, 1000);
        queue.probability = 0.4;
        let (left, dropped) = take(&mut queue, at(0), 1000);
        let marks = left.iter().filter(|ecn| **ecn == EcnField::Marked).count();
        assert!(marks.abs_diff(marked) <= 63 && dropped.abs_diff(lost) <= 58, "{ecn:?}: {marks}, {dropped}");
    }
}

/// Overload at p' = 0.6: both queues lose 0.36 of their packets, whatever their ECN field, and all that is left of L is marked.
#[test]
fn overload_drops_from_both_queues() {
    for ecn in [EcnField::Ect1, EcnField::Capable, EcnField::NotCapable] {
        let mut queue = queue(SETTINGS);
        put(&mut queue, at(0), ecn, 1000);
        queue.probability = 0.6;
        let (left, dropped) = take(&mut queue, at(0), 1000);
        assert!(dropped.abs_diff(360) <= 1, "{ecn:?}: {dropped}");
        let after = if ecn == EcnField::Ect1 { EcnField::Marked } else { ecn };
        assert!(left.iter().all(|ecn| *ecn == after));
    }
}

/// Both queues share the limit, the packet in transmission included.
#[test]
fn one_limit_for_both() {
    let mut queue =
        DualPi2::new(SETTINGS, (3, u64::MAX), Streams { seed: 1, run: 0 }.of(Purpose::Queue, 0, 0));
    put(&mut queue, at(0), EcnField::Ect1, 1);
    put(&mut queue, at(0), EcnField::NotCapable, 1);
    let (mut dropped, packet) = (Vec::new(), Packet::new(Kind::Data, 0, 0, 9, at(0), 1500));
    queue.enqueue(at(0), &packet, InService { packets: 1, bytes: 1500 }, &mut dropped);
    assert_eq!((dropped.len(), queue.len()), (1, 2));
    queue.enqueue(at(0), &packet, InService::default(), &mut dropped);
    assert_eq!((dropped.len(), queue.len()), (1, 3));
}
