//! TFRC by hand: the equation, and the rate that follows the reports.

use super::*;

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
        assert!((inverse(ours / s, |p| throughput(p, 0.1, b)) / p - 1.0).abs() < 1e-6);
    }
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
