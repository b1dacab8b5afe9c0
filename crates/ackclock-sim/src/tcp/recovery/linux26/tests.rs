use super::*;
use proptest::prelude::*;

const FLIGHT: Flight = Flight { oldest: 10, next: 30 };

fn block(first: u64, end: u64) -> Option<SackBlocks> {
    Some([(first, end), (0, 0), (0, 0)])
}

/// Twenty packets 10..30 are out, of 20 that the window allows.
fn twenty_out(half_floor: bool) -> Linux26 {
    let mut recovery = Linux26::new(true, half_floor);
    recovery.on_ack(Time::ZERO, 10, None, Flight { oldest: 0, next: 30 });
    recovery
}

#[test]
fn a_report_four_above_is_a_loss_however_few_there_are() {
    let mut recovery = twenty_out(false);
    assert!(!recovery.on_ack(Time::ZERO, 10, block(13, 14), FLIGHT).lost, "13 is three above 10");
    let outcome = recovery.on_ack(Time::ZERO, 10, block(15, 16), FLIGHT);
    assert!(outcome.lost, "15 is four above 11 and five above 10");
    // 10 and 11 are lost, 13 and 15 reported: 20 - 2 - 2.
    assert_eq!(recovery.in_flight(FLIGHT), 16);
    assert_eq!(recovery.next(FLIGHT, 17, true), NextPacket::Again(10));
}

#[test]
fn every_acknowledgement_starts_the_timer_anew() {
    let mut recovery = twenty_out(false);
    assert!(recovery.on_ack(Time::ZERO, 10, block(13, 14), FLIGHT).restarts_timer);
}

/// Plays an episode in which 10 is lost and every other packet is reported in turn. Returns what was sent and what is
/// in flight at the end.
fn episode(recovery: &mut Linux26, window: u64) -> (u64, u64) {
    let (mut flight, mut sent) = (FLIGHT, 0);
    for reported in 11..30 {
        recovery.on_ack(Time::ZERO, 10, block(11, reported + 1), flight);
        recovery.begin_burst(flight, false);
        loop {
            let sequence = match recovery.next(flight, window, true) {
                NextPacket::Again(sequence) => sequence,
                NextPacket::New if recovery.recovering() => flight.next,
                _ => break,
            };
            recovery.on_sent(Time::ZERO, sequence, flight);
            flight.next += u64::from(sequence == flight.next);
            sent += 1;
        }
    }
    (sent, recovery.in_flight(flight))
}

/// The loss is seen with the fourth report: 20 were in flight, 4 are reported and 1 lost, 15 are left and 15 more
/// reports come. Rate halving lets one out at the first of all, which makes it 16 and the limit 15, and from then on
/// one for two reports, until nothing but the floor lets anything out. With a floor of 10 = W/2: 16 - 15/2 rounded
/// to the floor's side lies below it, so the floor holds what is in flight up.
#[test]
fn one_packet_goes_out_for_two_that_arrive_down_to_the_floor() {
    let (sent, in_flight) = episode(&mut twenty_out(false), 10);
    assert_eq!(in_flight, 10);
    // 15 in flight, 15 leave, 10 are left.
    assert_eq!(sent, 10);
    // With half the floor, 5, rate halving alone decides: one at once, then one for two of 15 reports.
    let (sent, in_flight) = episode(&mut twenty_out(true), 10);
    assert_eq!((sent, in_flight), (8, 8));
}

#[test]
fn the_window_is_moderated_only_where_the_floor_is_half() {
    for (half_floor, moderated) in [(false, None), (true, Some(8 + 3))] {
        let mut recovery = twenty_out(half_floor);
        let window = 10;
        let (sent, _) = episode(&mut recovery, window);
        let flight = Flight { oldest: 10, next: 30 + sent - 1 };
        let outcome = recovery.on_ack(Time::ZERO, 30, None, flight);
        assert!(outcome.recovered);
        // All up to the recovery point is acknowledged; the new packets sent meanwhile, all but the retransmission,
        // are in flight: 7, so the window is at most 10.
        assert_eq!(outcome.moderated, moderated.map(|_| sent - 1 + 3));
    }
}

/// 10 is sent again with 30 as the next new packet; when the report of 30 comes, 10 is lost again.
#[test]
fn a_retransmission_is_lost_when_something_first_sent_after_it_is_reported() {
    let mut recovery = twenty_out(false);
    recovery.on_ack(Time::ZERO, 10, block(11, 15), FLIGHT);
    assert_eq!(recovery.next(FLIGHT, 100, true), NextPacket::Again(10));
    recovery.on_sent(Time::ZERO, 10, FLIGHT);
    recovery.on_sent(Time::ZERO, 30, FLIGHT);
    let flight = Flight { oldest: 10, next: 31 };
    recovery.on_ack(Time::ZERO, 10, block(11, 30), flight);
    assert_eq!(recovery.next(flight, 100, true), NextPacket::New, "29 was sent before it");
    recovery.on_ack(Time::ZERO, 10, block(11, 31), flight);
    assert_eq!(recovery.next(flight, 100, true), NextPacket::Again(10));
}

#[test]
fn after_a_timeout_a_loss_begins_an_episode_again() {
    let mut recovery = twenty_out(false);
    recovery.on_timeout(Time::ZERO, FLIGHT);
    assert_eq!((recovery.in_flight(FLIGHT), recovery.recovering()), (0, false));
    assert_eq!(recovery.next(FLIGHT, 1, true), NextPacket::Again(10));
    recovery.on_sent(Time::ZERO, 10, FLIGHT);
    recovery.on_sent(Time::ZERO, 30, FLIGHT);
    let flight = Flight { oldest: 10, next: 31 };
    assert!(recovery.on_ack(Time::ZERO, 10, block(30, 31), flight).lost, "30 was sent after 10");
}

/// The burst after a random delay takes from the limit only until it is over.
#[test]
fn a_delayed_burst_gives_back_what_it_takes() {
    let mut halving = Halving { limit: 20, floor: 5, ..Halving::default() };
    halving.begin_burst(15, false);
    assert_eq!((halving.limit, halving.of_burst), (16, 16));
    halving.begin_burst(12, true);
    halving.on_sent(13);
    assert_eq!((halving.limit, halving.of_burst), (16, 12));
    halving.begin_burst(4, true);
    assert_eq!(halving.limit, 5, "at the floor there is nothing to give back");
}

proptest! {
    /// Against a scoreboard that is looked through packet by packet.
    #[test]
    fn agrees_with_a_scanned_scoreboard(steps in prop::collection::vec((0_u8..10, 0_u64..40, 1_u64..6), 1..200)) {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark { Out, Reported, Lost, Again { ordinal: u64, next: u64 } }
        let mut tried = Linux26::new(true, false);
        let mut marks: std::collections::BTreeMap<u64, Mark> = (0..20).map(|sequence| (sequence, Mark::Out)).collect();
        let (mut flight, mut highest, mut ordinal, mut delivered) = (Flight { oldest: 0, next: 20 }, 0, 0, 0);
        // Where the episode ends, and whether a timeout began it.
        let mut point: Option<(u64, bool)> = None;
        for (step, pick, length) in steps {
            match step {
                0..=2 => {
                    let first = (flight.oldest + 1 + pick).min(flight.next);
                    let end = (first + length).min(flight.next);
                    let cumulative = if step == 2 { (flight.oldest + length).min(first) } else { flight.oldest };
                    tried.on_ack(Time::ZERO, cumulative, block(first, end), flight);
                    let arrived = |sequence: &u64| *sequence < cumulative || (first..end).contains(sequence);
                    for (sequence, mark) in marks.iter_mut().filter(|(sequence, _)| arrived(sequence)) {
                        if let Mark::Again { ordinal, .. } = mark {
                            delivered = delivered.max(*ordinal + 1);
                        }
                        if *sequence >= cumulative && *mark != Mark::Reported {
                            highest = highest.max(sequence + 1);
                        }
                        *mark = Mark::Reported;
                    }
                    marks.retain(|sequence, _| *sequence >= cumulative);
                    flight.oldest = cumulative;
                    let mut has_lost = false;
                    for (sequence, mark) in &mut marks {
                        let lost = match mark {
                            Mark::Out => sequence + 4 < highest,
                            Mark::Again { ordinal, next } => *next < highest || *ordinal + 5 < delivered,
                            _ => false,
                        };
                        if lost {
                            (*mark, has_lost) = (Mark::Lost, true);
                        }
                    }
                    if point.is_some_and(|(point, _)| cumulative >= point) {
                        marks.values_mut().for_each(|mark| *mark = Mark::Out);
                        (highest, ordinal, delivered, point) = (0, 0, 0, None);
                    } else if has_lost && point.is_none_or(|(_, after_timeout)| after_timeout) {
                        point = Some((flight.next, false));
                    }
                }
                3 => {
                    tried.on_timeout(Time::ZERO, flight);
                    marks.values_mut().filter(|mark| **mark != Mark::Reported).for_each(|mark| *mark = Mark::Lost);
                    (ordinal, delivered, point) = (0, 0, Some((flight.next, true)));
                }
                _ => {
                    let lowest = marks.iter().find(|(_, mark)| **mark == Mark::Lost).map(|(sequence, _)| *sequence);
                    match tried.next(flight, u64::MAX, true) {
                        NextPacket::Again(sequence) => {
                            prop_assert_eq!(Some(sequence), lowest);
                            tried.on_sent(Time::ZERO, sequence, flight);
                            marks.insert(sequence, Mark::Again { ordinal, next: flight.next });
                            ordinal += 1;
                        }
                        next => {
                            prop_assert_eq!((next, lowest), (NextPacket::New, None));
                            tried.on_sent(Time::ZERO, flight.next, flight);
                            marks.insert(flight.next, Mark::Out);
                            flight.next += 1;
                        }
                    }
                }
            }
            let out = marks.values().filter(|mark| matches!(mark, Mark::Out | Mark::Again { .. })).count();
            prop_assert_eq!(tried.in_flight(flight), out as u64);
        }
    }
}
