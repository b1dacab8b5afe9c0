//! TFRC of 2000 by hand: what distinguishes it from RFC 5348, one by one.

use super::*;
use crate::context::Context;
use crate::endpoint::Endpoint;
use crate::meter::Meter;
use crate::packet::{Kind, Packet, Slab};
use crate::payload::Payload;
use crate::random::{Purpose, Streams};
use crate::rate::intake::{Intake, RateReceiver as _};
use crate::rate::{RateSender, RateSettings};

fn at(milliseconds: u64) -> Time {
    Time::ZERO + Span::from_millis(milliseconds)
}

fn near(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 1e-4, "{value}, not {expected}");
}

/// Reports to a law over an RTT of 100 ms that nobody held.
fn report(law: &mut Tfrc2000, milliseconds: u64, received: f64, p: f64) -> Departure {
    let report = Report { received, verdict: p, ..Report::default() };
    law.on_report(at(milliseconds), Some(Span::from_millis(100)), report)
}

/// A law that left slow start at 100 ms with the rate that the equation gives for `p`.
fn law(p: f64) -> Tfrc2000 {
    let mut law = Tfrc2000::new(Tfrc2000Params::default(), 1000);
    report(&mut law, 100, 1.0, p);
    law
}

/// The equation with R = 0.1 s and `t_RTO` = 0.3 s. p = 1 %: 0.1 sqrt(0.02/3) = 0.008165 s, 0.3 (3 sqrt(0.00375))
/// 0.01 1.0032 = 0.000553 s, 1/0.008718 s = 114.71 per second. p = 50 %: 3 sqrt(0.1875) = 1.3 counts as 1, so that
/// 0.1 sqrt(1/3) = 0.057735 s and 0.3 0.5 9 = 1.35 s: 0.71036 per second. b = 2 at 1 %: 0.1 sqrt(0.04/3) = 0.011547 s
/// and 0.3 (3 sqrt(0.0075)) 0.01 1.0032 = 0.000782 s: 81.11 per second.
#[test]
fn the_equation() {
    near(throughput(0.01, 0.1, 0.3, 1.0), 114.706);
    near(throughput(0.5, 0.1, 0.3, 1.0), 0.710_361);
    near(throughput(0.01, 0.1, 0.3, 2.0), 81.1096);
}

/// The no-feedback timer: 2 R after a report at 100 ms is 300 ms, at 115 packets per second as well as at 0.7,
/// where a packet is due only after 1.4 s. Each time it expires X is halved and an urgent packet goes at once.
#[test]
fn without_a_report_for_two_round_trips_a_packet_goes_at_once() {
    for (p, rate) in [(0.01, 114.706), (0.5, 0.710_361)] {
        let mut law = law(p);
        near(law.rate(), rate);
        assert_eq!((law.wakeup(), law.header().urgent), (at(300), false));
        assert_eq!(law.on_timer(at(300)), Departure::Now);
        near(law.rate(), rate / 2.0);
        assert_eq!((law.wakeup(), law.header().urgent), (at(500), true));
        law.on_timer(at(500));
        near(law.rate(), rate / 4.0);
        report(&mut law, 600, 1.0, p);
        assert!(!law.header().urgent);
    }
}

/// The ages of time stamps are taken as samples: 100 ms, then 100 + 150 ms. R = 0.1 + 0.05 0.15 = 0.1075 s.
#[test]
fn the_hold_time_is_not_subtracted() {
    let mut law = law(0.01);
    let held = Report { delay: Span::from_millis(150), received: 1.0, verdict: 0.01, ..Report::default() };
    law.on_report(at(200), Some(Span::from_millis(100)), held);
    near(law.rtt().unwrap().as_seconds(), 0.1075);
}

/// With damping, samples of 100 ms and 250 ms: the mean root is 0.316228 + 0.05 (0.5 - 0.316228) = 0.325416, so that
/// spacings are 0.5/0.325416 = 1.536495 times 1/X. Without it they are 1/X.
#[test]
fn damping_spaces_by_the_root_of_the_last_sample() {
    for (damping, factor) in [(true, 1.536_495), (false, 1.0)] {
        let mut law = Tfrc2000::new(Tfrc2000Params { damping, ..Tfrc2000Params::default() }, 1000);
        report(&mut law, 100, 100.0, 0.01);
        near(law.spacing() * law.rate(), 1.0);
        law.on_report(
            at(200),
            Some(Span::from_millis(250)),
            Report { received: 100.0, verdict: 0.01, ..Report::default() },
        );
        near(law.spacing() * law.rate(), factor);
    }
}

/// A report of 1 packet per second allows 2, although the equation allows 114.7 and half of the way there is 59.9.
#[test]
fn an_empty_report_leaves_two_packets_per_second() {
    let mut law = law(0.01);
    law.rate = 5.0;
    report(&mut law, 200, 1.0, 0.01);
    assert_eq!(law.rate(), 2.0);
}

/// The timeout in ticks of 0.1 s, 6 s before the first sample. First sample 100 ms = 1 tick: smoothed 8/8, deviation
/// 2/4, (8 2 + 8)/8 = 3 ticks. The same again: error 0, and 2/4 of deviation lose 2 >> 2 = 0: 3 ticks for ever. Then
/// 250 ms, which is 3 ticks: error 3 - 1 = 2, smoothed 10/8, deviation 2 + 2 - 0 = 4/4, (8 4 + 10) >> 3 = 42 >> 3 = 5
/// ticks. Again: error 3 - (10 >> 3) = 2, smoothed 12/8, deviation 4 + 2 - 1 = 5/4, (40 + 12) >> 3 = 6 ticks.
#[test]
fn the_timeout_counts_ticks() {
    let mut clock = RetransmissionClock::default();
    near(clock.timeout(), 6.0);
    for (seconds, timeout) in [(0.1, 0.3), (0.1, 0.3), (0.25, 0.5), (0.25, 0.6)] {
        clock.measure(seconds);
        near(clock.timeout(), timeout);
    }
}

/// At p = 1 % the equation allows 114.706 per second; R = 0.1 s. From 5, less than a packet per round trip (10):
/// halfway is 59.853, but twice the 4 that arrive is 8. Then (8 + 114.706)/2 = 61.353. A round trip later 10 more;
/// after a gap of five round trips 20 more, not 50: 91.353. Then 101.353 and 111.353, and as 121 would be too much,
/// (111.353 + 114.706)/2 = 113.03. At p = 50 % the equation's 0.71036 counts at once, whatever arrives.
#[test]
fn the_rate_rises_by_a_packet_per_round_trip() {
    let mut law = law(0.01);
    law.rate = 5.0;
    for (milliseconds, received, rate) in [
        (200, 4.0, 8.0),
        (300, 100.0, 61.353),
        (400, 100.0, 71.353),
        (900, 100.0, 91.353),
        (1000, 100.0, 101.353),
        (1100, 100.0, 111.353),
        (1200, 100.0, 113.0296),
    ] {
        assert_eq!(report(&mut law, milliseconds, received, 0.01), Departure::AsDue);
        near(law.rate(), rate);
    }
    report(&mut law, 1300, 0.1, 0.5);
    near(law.rate(), 0.710_361);
}

/// Slow start: 300 bytes per second, then a packet per round trip, doubled per round trip up to twice what arrives;
/// each report sends a packet. The first loss ends it with the equation's rate, and so does the no-feedback timer.
#[test]
fn slow_start_ends_at_a_loss_or_without_reports() {
    let mut law = Tfrc2000::new(Tfrc2000Params::default(), 1000);
    assert_eq!((law.rate(), law.wakeup(), law.header().urgent), (0.3, Time::NEVER, true));
    for (milliseconds, received, rate) in
        [(100, 1.0, 10.0), (201, 15.0, 20.0), (302, 18.0, 36.0), (350, 10.0, 20.0)]
    {
        assert_eq!(report(&mut law, milliseconds, received, 0.0), Departure::Now);
        near(law.rate(), rate);
    }
    let mut lost = law.clone();
    assert_eq!(report(&mut lost, 450, 100.0, 0.01), Departure::Now);
    near(lost.rate(), 114.706);
    law.on_timer(at(550));
    // Nothing was ever lost: 10 per second and a packet per round trip, the last change being 350 ms ago.
    assert_eq!(report(&mut law, 700, 100.0, 0.0), Departure::AsDue);
    near(law.rate(), 30.0);
}

/// A receiver with its payloads, whose sender has an RTT of 100 ms.
struct Bench {
    receiver: Tfrc2000Receiver,
    payloads: Slab<Payload>,
}

impl Bench {
    fn new() -> Bench {
        let receiver = Tfrc2000Receiver::new(Tfrc2000Params::default(), Intake::new(0, 0, 40, u64::MAX));
        Bench { receiver, payloads: Slab::default() }
    }

    /// What the receiver sends when `act` has been done to it: the time stamp it returns and the report.
    fn after(
        &mut self,
        milliseconds: u64,
        act: impl FnOnce(&mut Tfrc2000Receiver, &mut Context<'_>),
    ) -> Option<(Time, Report)> {
        let mut context = Context { now: at(milliseconds), payloads: &mut self.payloads, journal: &mut None };
        act(&mut self.receiver, &mut context);
        let packet = self.receiver.next_packet(&mut context)?;
        match self.payloads.remove(packet.handle()) {
            Some(&Payload::Report(report)) => Some((packet.sent, report)),
            other => panic!("{other:?}"),
        }
    }

    /// Packet `sequence` arrives 50 ms after it was sent.
    fn packet(&mut self, milliseconds: u64, sequence: u64, urgent: bool) -> Option<(Time, Report)> {
        let header = Header { rtt: Span::from_millis(100), timeout: 0.3, round: sequence, urgent, rate: 1.0 };
        let handle = self.payloads.insert(Payload::Header(header));
        let sent = at(milliseconds - 50);
        let packet = Packet::new(Kind::Data, 0, 0, sequence, sent, 1000).with_handle(handle);
        self.after(milliseconds, |receiver, context| receiver.on_packet(&packet, context))
    }

    fn timer(&mut self) -> Option<(Time, Report)> {
        let milliseconds = self.receiver.wakeup().0 / 1_000_000_000;
        self.after(milliseconds, |receiver, context| receiver.on_timer(context))
    }
}

/// A packet that was sent at 950 ms and arrives at 1 s, a second after the last report: 1 per second. 1.5 R later
/// there is another report, with the same time stamp, now 150 ms old at the receiver; with the 100 ms that a round
/// trip takes this is a sample of 250 ms. Its rate is 1 packet per second although nothing arrived. There is no
/// third.
#[test]
fn a_report_follows_a_report() {
    let mut bench = Bench::new();
    let (stamp, first) = bench.packet(1000, 0, false).unwrap();
    assert_eq!((stamp, first.received, first.delay), (at(950), 1.0, Span::ZERO));
    assert_eq!(bench.receiver.wakeup(), at(1150));
    let (stamp, second) = bench.timer().unwrap();
    assert_eq!((stamp, second.received, second.delay), (at(950), 1.0, Span::from_millis(150)));
    assert_eq!(bench.receiver.wakeup(), at(1300));
    assert_eq!(bench.timer(), None);
    assert_eq!(bench.receiver.wakeup(), Time::NEVER);
    // The next packet is reported at once, 400 ms after the last report: 2.5 per second.
    near(bench.packet(1550, 1, false).unwrap().1.received, 2.5);
}

/// Within a round trip of a report a packet is reported only if it is urgent, or if a loss event came with it;
/// otherwise it waits for the timer, 1.5 R after the report: 1 packet in 150 ms, held for 90 ms.
#[test]
fn urgent_packets_and_losses_are_reported_at_once() {
    let mut bench = Bench::new();
    bench.packet(1000, 0, false).unwrap();
    assert_eq!(bench.packet(1060, 1, false), None);
    let (_, late) = bench.timer().unwrap();
    near(late.received, 1.0 / 0.15);
    assert_eq!(late.delay, Span::from_millis(90));
    // Two packets, of 1150 - 90 and of now, are in the last 100 ms.
    near(bench.packet(1160, 2, true).unwrap().1.received, 20.0);
    // Packet 3 is missing: the first loss. Packets 2 and 4 came in the last 100 ms, 20 per second. The interval that
    // the equation has for that continues with packet 4.
    let (_, loss) = bench.packet(1180, 4, false).unwrap();
    near(throughput(1.0 / (1.0 / loss.verdict - 1.0), 0.1, 0.3, 1.0), 20.0);
}

/// A sender of 1000-byte packets that starts at once.
fn sender(overhead: Span) -> RateSender<Tfrc2000> {
    let settings = RateSettings {
        flow: 0,
        route: 0,
        packet_bytes: 1000,
        total: u64::MAX,
        overhead,
        start: Time::ZERO,
        stop: Time::NEVER,
    };
    let meter = Meter::new(Time::ZERO, (Time::ZERO, Time::NEVER));
    RateSender::new(
        settings,
        Tfrc2000Params::default(),
        Streams { seed: 1, run: 0 }.of(Purpose::Overhead, 0, 0),
        meter,
    )
}

/// Before a report a packet is due every 1000/300 = 3.333 s. Multiplied by U(0.5, 1.5) that is 1.667 to 5 s; 1000 of
/// them have a mean within 4 standard errors, 4 3.333 sqrt(1/12)/sqrt(1000) = 0.122 s, and reach both ends within 2
/// %.
#[test]
fn spacings_are_random_by_half() {
    let mut sender = sender(Span(1));
    let mut payloads = Slab::default();
    let mut times = Vec::new();
    for _ in 0..=1000 {
        let now = sender.wakeup();
        let mut context = Context { now, payloads: &mut payloads, journal: &mut None };
        sender.on_timer(&mut context);
        assert!(sender.next_packet(&mut context).is_some());
        times.push(now);
    }
    let spacings: Vec<_> = times.windows(2).map(|pair| pair[1].since(pair[0]).as_seconds()).collect();
    let least = spacings.iter().copied().fold(f64::INFINITY, f64::min);
    let most = spacings.iter().copied().fold(0.0, f64::max);
    assert!((1.6666..1.7).contains(&least) && (4.9..5.0001).contains(&most), "{least} {most}");
    let mean = spacings.iter().sum::<f64>() / 1000.0;
    assert!((mean - 10.0 / 3.0).abs() < 0.122, "{mean}");
}

/// The first packet goes at 0, the next is due 3.333 s later. A report at 100 ms makes the rate 10 per second and
/// sends one at once; the next is due 100 ms after that one, not after the one that was due. 2 R after the report, at
/// 300 ms, when one is due anyway, the timer halves the rate, and the next one goes at 500 ms.
#[test]
fn a_packet_that_goes_at_once_takes_the_place_of_the_one_due() {
    let mut sender = sender(Span::ZERO);
    let mut payloads = Slab::default();
    let mut sent = Vec::new();
    for reports in [true, false, false, false] {
        let now = sender.wakeup();
        let handle = payloads.insert(Payload::Report(Report { received: 1.0, ..Report::default() }));
        let mut context = Context { now, payloads: &mut payloads, journal: &mut None };
        sender.on_timer(&mut context);
        sent.extend(std::iter::from_fn(|| sender.next_packet(&mut context)).map(|packet| packet.sent));
        if reports {
            context.now = at(100);
            sender.on_packet(
                &Packet::new(Kind::Ack, 0, 0, 1, Time::ZERO, 40).with_handle(handle),
                &mut context,
            );
            sent.extend(std::iter::from_fn(|| sender.next_packet(&mut context)).map(|packet| packet.sent));
        }
    }
    assert_eq!(sent, [0, 100, 200, 300, 500].map(at));
}
