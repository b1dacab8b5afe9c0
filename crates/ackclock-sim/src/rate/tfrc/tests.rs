//! TFRC by hand: the equation, the intervals, the events.

use super::*;
use crate::packet::Slab;

/// RFC 5348, section 3.1, with s = 1460 and 1000 bytes, R = 0.1 s: bytes per second computed for this project from
/// the printed equation.
#[test]
fn the_equation() {
    for (s, b, p, bytes_per_s) in [
        (1460.0, 1.0, 1e-4, 1_786_519.6),
        (1460.0, 1.0, 1e-3, 560_411.7),
        (1460.0, 1.0, 0.01, 164_005.1),
        (1460.0, 1.0, 0.05, 53_813.9),
        (1460.0, 1.0, 0.1, 25_843.5),
        (1460.0, 1.0, 0.5, 609.3),
        (1460.0, 1.0, 1.0, 60.0),
        (1000.0, 1.0, 0.01, 112_332.23),
        (1000.0, 2.0, 0.01, 79_430.88),
    ] {
        let ours = s * throughput(p, 0.1, b);
        assert!((ours / bytes_per_s - 1.0).abs() < 1e-3, "p = {p}: {ours}");
        assert!((inverse(ours / s, 0.1, b) / p - 1.0).abs() < 1e-6);
    }
}

/// Intervals of 100 packets, eight of them: 100 whatever the weights. A current one of 200 packets: (200 + 100 (1 + 1 +
/// 1 + 0.8 + 0.6 + 0.4 + 0.2))/6 = 116.7. A current one of 50 would lower the mean and does not count.
#[test]
fn the_mean_of_intervals() {
    let mut intervals = Intervals::default();
    (0..8).for_each(|_| intervals.push(100.0, 1.0));
    assert_eq!(intervals.mean(50.0, 1.0), 100.0);
    assert!((intervals.mean(200.0, 1.0) - 700.0 / 6.0).abs() < 1e-9);
    // A new interval of 10: weight 1, the rest 100 with 5/6 of the weights: 85.
    intervals.push(10.0, 1.0);
    assert!((intervals.mean(0.0, 1.0) - 85.0).abs() < 1e-9);
}

/// A current interval of 400 packets is four times the mean of 100: the others count half, so that it has 1 of 1 + 5/2:
/// (400 + 250)/3.5 = 185.7. At 1000 packets the floor of 0.5 holds.
#[test]
fn old_intervals_are_discounted() {
    let mut intervals = Intervals::default();
    (0..8).for_each(|_| intervals.push(100.0, 1.0));
    assert_eq!(intervals.discount(150.0, 0.5), 1.0);
    assert_eq!(intervals.discount(400.0, 0.0), 0.5);
    assert_eq!(intervals.discount(1000.0, 0.5), 0.5);
    assert!((intervals.mean(400.0, 0.5) - 650.0 / 3.5).abs() < 1e-9);
    // A loss now keeps the discount: 400 with weight 1, then 100 seven times with half of 1, 1, 1, 0.8, 0.6, 0.4, 0.2.
    intervals.push(400.0, 0.5);
    assert!((intervals.mean(0.0, 1.0) - (400.0 + 250.0) / 3.5).abs() < 1e-9);
}

/// A receiver with an RTT of 100 ms to which packets come every 10 ms, but for the lost ones.
fn receive(lost: &[u64], count: u64) -> TfrcReceiver {
    let mut receiver = TfrcReceiver::new(TfrcParams::default(), 0, 0, 40, u64::MAX);
    let mut payloads = Slab::default();
    for sequence in (0..count).filter(|sequence| !lost.contains(sequence)) {
        let now = Time::ZERO + Span::from_millis(10 * sequence);
        let header = Header { rtt: Span::from_millis(100), rate: 100.0 };
        let handle = payloads.insert(Payload::Header(header));
        let packet = Packet::new(Kind::Data, 0, 0, sequence, now, 1000).with_handle(handle);
        let mut context = Context { now, payloads: &mut payloads, journal: None };
        receiver.on_packet(&packet, &mut context);
    }
    receiver
}

/// Losses at 100, 105 and 200: 105 is within an RTT of 100, so there are two events. The first interval is what the
/// equation asks for at the rate that arrived, 10 to 11 packets per 100 ms, the second has 100 packets.
#[test]
fn losses_within_a_round_trip_are_one_event() {
    let receiver = receive(&[100, 105, 200], 210);
    assert_eq!(receiver.intervals.complete.len(), 2);
    assert_eq!(receiver.intervals.complete[0].0, 100.0);
    let first = 1.0 / receiver.intervals.complete[1].0;
    assert!((100.0..=120.0).contains(&throughput(first, 0.1, 1.0)), "{first}");
    assert_eq!(receiver.event.unwrap().0, 200);
    // 111 is 110 ms after 100: another event.
    assert_eq!(receive(&[100, 111], 130).intervals.complete.len(), 2);
}

/// Three later packets make a loss; two do not, and a late packet fills its gap.
#[test]
fn reordering_is_tolerated() {
    assert!(receive(&[100], 103).intervals.is_empty());
    assert!(!receive(&[100], 104).intervals.is_empty());
    let mut receiver = receive(&[100, 101], 103);
    receiver.fill(101);
    assert_eq!(receiver.missing.len(), 1);
    receiver.fill(100);
    assert!(receiver.missing.is_empty());
}

/// 1000-byte packets at an RTT of 100 ms begin with 4 packets per RTT (4380 bytes allow 4). While nothing is lost the
/// rate doubles per RTT up to twice what arrives. With p = 1 % it is the equation's 112.3 per second, or twice what
/// arrives if that is less. Without reports it halves.
#[test]
fn the_rate_follows_the_reports() {
    let mut law = Tfrc::new(TfrcParams::default(), 1000);
    let at = |milliseconds: u64| Time::ZERO + Span::from_millis(milliseconds);
    let rtt = Some(Span::from_millis(100));
    let report = |received, verdict| Report { received, verdict, ..Report::default() };
    law.start(at(0));
    law.on_report(at(100), rtt, report(1.0, 0.0));
    assert!((law.rate() - 40.0).abs() < 1e-9);
    law.on_report(at(200), rtt, report(40.0, 0.0));
    assert!((law.rate() - 80.0).abs() < 1e-9);
    law.on_report(at(300), rtt, report(30.0, 0.0));
    assert!((law.rate() - 80.0).abs() < 1e-9, "80 is twice the 40 that arrived within two RTTs");
    law.on_report(at(400), rtt, report(100.0, 0.01));
    assert!((law.rate() - 112.332).abs() < 0.01, "{}", law.rate());
    law.on_report(at(1000), rtt, report(20.0, 0.01));
    assert!((law.rate() - 40.0).abs() < 1e-9);
    // 4 RTTs later: the equation gives more than twice what arrived, so half of that counts.
    assert_eq!(law.wakeup(), at(1400));
    law.on_timer(at(1400));
    assert!((law.rate() - 20.0).abs() < 1e-9, "{}", law.rate());
}
