//! RACK-TLP and PRR, step by step by hand.
use super::*;

fn at(milliseconds: u64) -> Time {
    Time::ZERO + Span::from_millis(milliseconds)
}

/// The sender's smoothed RTT.
const RTT: Option<Span> = Some(Span::from_millis(100));

fn blocks(first: u64, end: u64) -> Option<SackBlocks> {
    Some([(first, end), (0, 0), (0, 0)])
}

/// Ten packets sent 1 ms apart from 0 ms on; the RTT is 100 ms.
fn ten() -> (Rack, Flight) {
    let mut rack = Rack::new(true);
    for sequence in 0..10 {
        rack.on_sent(at(sequence), sequence, Flight { oldest: 0, next: sequence });
    }
    (rack, Flight { oldest: 0, next: 10 })
}

/// Packet 0 is missing. With one report the reordering window is a quarter of 100 ms: it is lost at
/// 0 + 100 + 25 = 125 ms, but 3 reports make it certain at once.
#[test]
fn three_reports_or_a_quarter_of_the_rtt() {
    let (mut rack, flight) = ten();
    assert!(!rack.on_ack(at(101), 0, blocks(1, 2), flight).lost);
    assert_eq!(rack.wakeup(), at(125));
    let mut waits = rack.clone();
    assert!(waits.on_timer(at(125), flight).lost);
    assert_eq!(waits.next(flight, 5, true), NextPacket::Again(0));
    assert!(!rack.on_ack(at(102), 0, blocks(1, 3), flight).lost);
    assert!(rack.on_ack(at(103), 0, blocks(1, 4), flight).lost);
    // 10 out, 3 reported, 1 lost.
    assert_eq!(rack.in_flight(flight), 6);
}

/// The retransmission of 0, sent at 103 ms, is lost too. Packet 10, sent at 110 ms, arrives at 210 ms: the
/// retransmission was sent before it and 107 ms ago, more than the RTT of 100 ms.
#[test]
fn a_lost_retransmission_is_seen() {
    let (mut rack, flight) = ten();
    rack.on_ack(at(103), 0, blocks(1, 4), flight);
    assert_eq!(rack.next(flight, 5, true), NextPacket::Again(0));
    rack.on_sent(at(103), 0, flight);
    rack.on_ack(at(109), 0, blocks(1, 10), flight);
    assert_eq!(rack.next(flight, 5, true), NextPacket::New);
    rack.on_sent(at(110), 10, flight);
    let flight = Flight { oldest: 0, next: 11 };
    let outcome = rack.on_ack(at(210), 0, blocks(1, 11), flight);
    assert!(!outcome.lost, "the same episode");
    assert_eq!(rack.next(flight, 5, true), NextPacket::Again(0));
    rack.on_sent(at(210), 0, flight);
    rack.on_echo(at(210), RTT);
    assert!(rack.on_ack(at(310), 11, None, flight).recovered);
    assert_eq!(rack.in_flight(Flight { oldest: 11, next: 11 }), 0);
}

/// RFC 6937 with a window of 20 cut to 10 and one loss: of the 19 that arrive every second lets one out, so
/// that 10 are in flight at the end. The first three reports began the episode with 16 in flight.
#[test]
fn the_rate_is_reduced_in_proportion() {
    let mut rack = Rack::new(true);
    for sequence in 0..20 {
        rack.on_sent(at(sequence), sequence, Flight { oldest: 0, next: sequence });
    }
    let mut flight = Flight { oldest: 0, next: 20 };
    let mut sent = 0;
    for arrived in 2..=20 {
        rack.on_ack(at(99 + arrived), 0, blocks(1, arrived), flight);
        loop {
            match rack.next(flight, if rack.recovering() { 10 } else { 20 }, true) {
                NextPacket::Again(sequence) => rack.on_sent(at(99 + arrived), sequence, flight),
                NextPacket::New if rack.recovering() => {
                    rack.on_sent(at(99 + arrived), flight.next, flight);
                    flight.next += 1;
                }
                _ => break,
            }
            sent += 1;
        }
    }
    assert_eq!(rack.in_flight(flight), 10, "{sent} sent");
}

/// Two smoothed RTTs after the last transmission a probe goes out, whatever the window; another only after an
/// acknowledgement.
#[test]
fn the_tail_is_probed() {
    let mut rack = Rack::new(true);
    rack.on_sent(at(0), 0, Flight { oldest: 0, next: 0 });
    rack.on_echo(at(0), RTT);
    rack.on_ack(at(100), 1, None, Flight { oldest: 0, next: 1 });
    for sequence in 1..4 {
        rack.on_sent(at(100), sequence, Flight { oldest: 1, next: sequence });
    }
    let flight = Flight { oldest: 1, next: 4 };
    assert_eq!(rack.next(flight, 3, false), NextPacket::WindowFull);
    // The first alarm was for a single packet and lies later.
    assert_eq!(rack.wakeup(), at(300));
    assert!(rack.on_timer(at(300), flight).restarts_timer);
    assert_eq!(rack.next(flight, 3, false), NextPacket::Again(3));
    rack.on_sent(at(300), 3, flight);
    assert_eq!(rack.next(flight, 3, false), NextPacket::WindowFull);
    assert_eq!(rack.wakeup(), Time::NEVER);
}

/// Where the retransmission timer comes first, a probe takes its place, but only once.
#[test]
fn a_probe_comes_before_a_timeout() {
    let (mut rack, flight) = ten();
    assert!(!rack.probes_instead(flight), "without an RTT there is no probe");
    rack.on_echo(at(0), RTT);
    rack.on_ack(at(100), 1, None, flight);
    let flight = Flight { oldest: 1, next: 10 };
    assert!(rack.probes_instead(flight));
    assert_eq!(rack.next(flight, 5, false), NextPacket::Again(9));
    rack.on_sent(at(250), 9, flight);
    assert!(!rack.probes_instead(flight));
}

/// After a timeout packet 0 is sent again. What acknowledges it lets new packets out, 10 and 11, and not packet 1, which is
/// lost. A report of 10 means that the loss was real.
#[test]
fn new_packets_tell_whether_a_timeout_was_spurious() {
    let (mut rack, flight) = ten();
    rack.on_timeout(at(1000), flight);
    assert_eq!(rack.next(flight, 1, true), NextPacket::Again(0));
    rack.on_sent(at(1000), 0, flight);
    rack.on_echo(at(1000), RTT);
    assert!(!rack.on_ack(at(1100), 1, None, flight).undone);
    let mut flight = Flight { oldest: 1, next: 10 };
    for sequence in 10..12 {
        assert_eq!(rack.next(flight, 2, true), NextPacket::New);
        rack.on_sent(at(1100), sequence, flight);
        flight.next += 1;
    }
    assert_eq!(rack.next(flight, 2, true), NextPacket::WindowFull);
    rack.on_echo(at(1100), RTT);
    assert!(!rack.on_ack(at(1200), 1, blocks(10, 11), flight).undone);
    assert_eq!(rack.next(flight, 2, true), NextPacket::Again(1));
}

/// Without new data the lost packet goes out at once.
#[test]
fn without_new_packets_what_is_lost_is_sent() {
    let (mut rack, flight) = ten();
    rack.on_timeout(at(1000), flight);
    rack.on_sent(at(1000), 0, flight);
    rack.on_echo(at(1000), RTT);
    rack.on_ack(at(1100), 1, None, flight);
    assert_eq!(rack.next(Flight { oldest: 1, next: 10 }, 2, false), NextPacket::Again(1));
}

/// A packet that was sent only once, before the timeout, is reported after it: the timeout was spurious.
#[test]
fn a_report_of_what_was_sent_once_undoes_a_timeout() {
    let (mut rack, flight) = ten();
    rack.on_timeout(at(1000), flight);
    rack.on_sent(at(1000), 0, flight);
    rack.on_echo(at(1), RTT);
    let outcome = rack.on_ack(at(1010), 0, blocks(1, 2), flight);
    assert!(outcome.undone && !rack.recovering());
}

/// The reordering window is never longer than the sender's smoothed RTT, which reordered packets do not shorten (RFC 8985,
/// section 6.2): with 12 quarters of 100 ms it is the 100 ms of the sender.
#[test]
fn the_reordering_window_is_bounded_by_the_senders_rtt() {
    let (mut rack, flight) = ten();
    rack.on_echo(at(0), RTT);
    rack.on_ack(at(100), 1, None, flight);
    (rack.window_quarters, rack.reordering_seen) = (12, true);
    // The newest packet delivered came back after 20 ms.
    rack.rtt = Span::from_millis(20);
    rack.on_echo(at(1), RTT);
    assert_eq!(rack.reordering_window(), Span::from_millis(100));
}

/// Packet 0 was only late: its retransmission arrives as a duplicate, and the episode is undone. From then
/// on half of the smallest RTT is waited for.
#[test]
fn a_false_alarm_is_undone() {
    let (mut rack, flight) = ten();
    assert!(rack.on_ack(at(103), 0, blocks(1, 4), flight).lost);
    assert_eq!(rack.next(flight, 5, true), NextPacket::Again(0));
    rack.on_sent(at(103), 0, flight);
    rack.on_echo(at(103), RTT);
    rack.on_ack(at(104), 5, None, flight);
    let flight = Flight { oldest: 5, next: 10 };
    let outcome = rack.on_ack(at(203), 5, blocks(0, 1), flight);
    assert!(outcome.undone && !outcome.recovered);
    assert!(!rack.recovering());
    assert_eq!(rack.reordering_window(), Span::from_millis(50));
}

/// Packet 0 was only late: what acknowledges it echoes 0 ms, before its retransmission at 103 ms. While that is under way
/// the episode waits; when it is over, at packet 10, it is undone (RFC 3522).
#[test]
fn an_old_time_stamp_shows_a_false_alarm() {
    let (mut rack, flight) = ten();
    rack.on_ack(at(103), 0, blocks(1, 4), flight);
    rack.on_sent(at(103), 0, flight);
    assert_eq!(rack.sent.again_in_flight(), 1);
    rack.on_echo(at(0), RTT);
    let outcome = rack.on_ack(at(110), 10, None, flight);
    assert!(outcome.undone && !outcome.recovered && !rack.recovering());
    // The same with the retransmission's own time stamp is a recovery.
    let (mut rack, flight) = ten();
    rack.on_ack(at(103), 0, blocks(1, 4), flight);
    rack.on_sent(at(103), 0, flight);
    rack.on_echo(at(103), RTT);
    assert!(rack.on_ack(at(203), 10, None, flight).recovered);
}

/// A timeout at 130 ms was too early: 0 and 1 are taken for lost and 0 is sent again when the acknowledgement of 0 comes,
/// which echoes 0 ms. 1 is in flight after all, before everything else in the order of sending.
#[test]
fn a_timeout_that_came_too_early_is_undone() {
    let (mut rack, flight) = ten();
    rack.on_ack(at(100), 1, None, flight);
    let flight = Flight { oldest: 1, next: 10 };
    rack.on_timeout(at(127), flight);
    // RTT 100 ms and a window of 25 ms: 1 and 2, sent at 1 and 2 ms, are lost; seven are in flight.
    assert_eq!((rack.in_flight(flight), rack.next(flight, 1, true)), (7, NextPacket::WindowFull));
    assert_eq!(rack.next(flight, 8, true), NextPacket::Again(1));
    rack.on_sent(at(127), 1, flight);
    rack.on_echo(at(1), RTT);
    let outcome = rack.on_ack(at(128), 2, None, flight);
    assert!(outcome.undone);
    let flight = Flight { oldest: 2, next: 10 };
    assert_eq!((rack.in_flight(flight), rack.sent.first()), (8, Some((at(2), 2))));
}

/// Section 6.3: at a timeout the oldest is lost and what was sent an RTT ago; what was sent since stays.
#[test]
fn a_timeout_spares_what_was_sent_lately() {
    let (mut rack, flight) = ten();
    rack.on_ack(at(100), 1, None, flight);
    let flight = Flight { oldest: 1, next: 10 };
    // RTT 100 ms and a window of 25 ms: by 130 ms what was sent up to 5 ms is lost.
    rack.on_timeout(at(130), flight);
    assert_eq!(rack.in_flight(flight), 4);
    assert_eq!(rack.next(flight, 5, true), NextPacket::Again(1));
}
