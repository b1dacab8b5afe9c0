//! The door: who gets a place, whose answers are judged, and what one host can do to others. All without a network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{scope, sleep};
use std::time::Duration;

use ackclock_measure::clock;
use ackclock_measure::door::{Door, Permit, Wrong};
use proptest::prelude::*;

fn four(last: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, last))
}

fn enter(door: &Arc<Door>, last: u8) -> Option<Permit> {
    door.enter(four(last))
}

/// Makes a host known.
fn prove(door: &Arc<Door>, last: u8) {
    assert_eq!(enter(door, last).unwrap().judge(|| true), Some(true));
}

/// Of 40 wrong answers, each on its own thread and slow to judge, exactly five are judged, wherever a right one falls;
/// right answers that come at the same time are all accepted beside four wrong ones.
#[test]
fn the_door_judges_one_answer_after_the_other() {
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let judge = |wrong: usize, right: usize| {
        let door = Door::new(2 * (wrong + right));
        let permits: Vec<_> = (0..wrong + right).map(|_| door.enter(address).unwrap()).collect();
        let answer = &|number: usize| {
            permits[number].judge(|| {
                // Long enough for the others to arrive meanwhile.
                sleep(Duration::from_millis(5));
                number >= wrong
            })
        };
        let verdicts: Vec<_> = scope(|scope| {
            let judging = (0..wrong + right).map(|number| scope.spawn(move || answer(number)));
            let judging: Vec<_> = judging.collect();
            judging.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let count = |verdict| verdicts.iter().filter(|one| **one == verdict).count();
        (count(Some(false)), count(Some(true)), count(None))
    };
    for _ in 0..5 {
        let (wrong, right, not_judged) = judge(40, 1);
        assert_eq!((wrong, right + not_judged), (5, 36));
        assert_eq!(judge(4, 21), (4, 21, 0));
    }
}

#[test]
fn the_number_of_hosts_at_the_door_is_bounded() {
    let door = Door::new(4);
    prove(&door, 1);
    prove(&door, 2);
    let first = enter(&door, 1).unwrap();
    let second = enter(&door, 1).unwrap();
    assert!(enter(&door, 1).is_none(), "one address has half of the room");
    let _others = [enter(&door, 2).unwrap(), enter(&door, 2).unwrap()];
    assert!(enter(&door, 3).is_none(), "no room at all");
    assert_eq!((door.take_turned_away(), door.take_turned_away()), (2, 0));
    drop(first);
    let third = enter(&door, 3).unwrap();
    (0..5).for_each(|_| assert_eq!(third.judge(|| false), Some(false)));
    assert_eq!(third.judge(|| true), None, "already inside, and not judged any more");
    assert_eq!(door.take_turned_away(), 1);
    drop((second, third));
    assert!(enter(&door, 3).is_none(), "five wrong answers");
    assert!(enter(&door, 1).is_some());
    // Whoever has an IPv6 network has 2^64 addresses in it.
    let sixes = [0x1_u128, 0x2, 0x1_0000_0000_0000_0001]
        .map(|low| IpAddr::V6(Ipv6Addr::from_bits(0x2001_u128 << 112 | low)));
    let door = Door::new(4);
    let _neighbours = [door.enter(sixes[0]).unwrap(), door.enter(sixes[1]).unwrap()];
    assert!(door.enter(sixes[0]).is_none() && door.enter(sixes[2]).is_some());
}

/// Many hosts neither make others be remembered for ever, nor forgotten at once.
#[test]
fn the_host_that_came_first_is_forgotten_first() {
    let door = Door::new(8);
    let guess = |address| {
        let stranger = door.enter(address).unwrap();
        (0..5).for_each(|_| assert_eq!(stranger.judge(|| false), Some(false)));
    };
    guess(four(3));
    assert!(enter(&door, 3).is_none());
    (0..5000_u32).for_each(|number| guess(IpAddr::V4(Ipv4Addr::from(number))));
    assert!(door.enter(IpAddr::V4(Ipv4Addr::from(4999))).is_none());
    assert!(enter(&door, 3).is_some(), "the oldest is forgotten");
    // The same for those that are known: 5000 prove, the first is a stranger again and the last is not.
    let door = Door::new(4);
    (1..=5000_u32).for_each(|number| {
        door.enter(IpAddr::V4(Ipv4Addr::from(number))).unwrap().judge(|| true);
    });
    let _strangers = [enter(&door, 1).unwrap(), enter(&door, 2).unwrap(), enter(&door, 3).unwrap()];
    let _ = door.take_turned_away();
    drop(door.enter(IpAddr::V4(Ipv4Addr::from(1))).unwrap());
    assert_eq!(door.take_turned_away(), 1, "it took the place of another stranger");
    let _fourth = enter(&door, 4).unwrap();
    let _known = door.enter(IpAddr::V4(Ipv4Addr::from(5000))).unwrap();
    assert_eq!(door.take_turned_away(), 0, "the quarter is for the known");
}

/// Hosts that come once each do not fill the memory either: 4096 are remembered.
#[test]
fn hosts_that_come_once_are_bounded_too() {
    let door = Door::new(8);
    let stranger = |number: u32| door.enter(IpAddr::V4(Ipv4Addr::from(number))).unwrap();
    (0..5000).for_each(|number| assert_eq!(stranger(number).judge(|| false), Some(false)));
    // What is remembered cannot be asked for; how it shows itself tells it.
    let remembered = format!("{door:?}").matches("number: 1").count();
    assert_eq!(remembered, 4096);
}

/// A port scan from behind the same address used to shut a neighbour out for a minute.
#[test]
fn each_kind_of_fault_has_its_own_budget() {
    let faults = |wrong: Wrong, count: u32| {
        let door = Door::new(4);
        (0..count).for_each(|_| {
            enter(&door, 1).map(|permit| permit.note_fault(wrong));
        });
        door
    };
    for (wrong, most) in [(Wrong::Nonsense, 20), (Wrong::Gone, 100)] {
        assert!(enter(&faults(wrong, most - 1), 1).is_some(), "{wrong:?}");
        assert!(enter(&faults(wrong, most), 1).is_none(), "{wrong:?}");
        // Kinds do not add up.
        let door = faults(wrong, most - 1);
        enter(&door, 1).unwrap().judge(|| false);
        assert!(enter(&door, 1).is_some(), "{wrong:?}");
        // Of a known host only guesses count.
        let door = Door::new(4);
        prove(&door, 1);
        (0..2 * most).for_each(|_| {
            enter(&door, 1).unwrap().note_fault(wrong);
        });
        let permit = enter(&door, 1).unwrap();
        (0..5).for_each(|_| assert_eq!(permit.judge(|| false), Some(false)));
        assert_eq!(permit.judge(|| true), None);
    }
    // Told one by one while they are rare, and then as a number.
    let door = Door::new(4);
    let permit = enter(&door, 1).unwrap();
    let told = (0..50).filter(|_| permit.note_fault(Wrong::Gone)).count();
    assert_eq!((told, door.take_turned_away()), (5, 45));
}

/// A clock that is set by the test, in seconds.
fn clocked(most: usize) -> (Arc<Door>, Arc<AtomicUsize>) {
    let (start, seconds) = (clock::now(), Arc::new(AtomicUsize::new(0)));
    let own = Arc::clone(&seconds);
    let now = move || start + Duration::from_secs(own.load(Ordering::Relaxed) as u64);
    (Door::by(most, now), seconds)
}

/// Guesses are forgotten a minute after the last of them, all else a minute after the first.
#[test]
fn faults_are_forgotten_after_a_minute() {
    let (door, seconds) = clocked(4);
    let permit = enter(&door, 1).unwrap();
    for second in [0, 59, 118, 177, 236] {
        seconds.store(second, Ordering::Relaxed);
        assert_eq!(permit.judge(|| false), Some(false), "{second}");
    }
    assert!(enter(&door, 1).is_none());
    seconds.store(236 + 59, Ordering::Relaxed);
    assert_eq!(permit.judge(|| true), None);
    seconds.store(236 + 60, Ordering::Relaxed);
    assert_eq!(permit.judge(|| true), Some(true));
    assert_eq!(permit.judge(|| false), Some(false), "the first of new ones");
    assert!(enter(&door, 1).is_some());
    // One look at the port every other second for an hour: at most 30 within a minute.
    let (door, seconds) = clocked(4);
    for second in (0..3600).step_by(2) {
        seconds.store(second, Ordering::Relaxed);
        enter(&door, 1).unwrap().note_fault(Wrong::Gone);
    }
    // Two a second: shut out after 50 s, until the minute is over.
    let (door, seconds) = clocked(4);
    let mut served = Vec::new();
    for half in 0..240 {
        seconds.store(half / 2, Ordering::Relaxed);
        if let Some(permit) = enter(&door, 1) {
            permit.note_fault(Wrong::Gone);
            served.push(half);
        }
    }
    assert_eq!(served, (0..100).chain(120..220).collect::<Vec<_>>());
}

#[test]
fn a_host_is_known_for_an_hour() {
    let (door, seconds) = clocked(4);
    let turned_away_at = |second| {
        seconds.store(second, Ordering::Relaxed);
        let _strangers: Vec<_> = (2..5).map(|last| enter(&door, last).unwrap()).collect();
        let _ = door.take_turned_away();
        drop(enter(&door, 1).unwrap());
        door.take_turned_away()
    };
    prove(&door, 1);
    assert_eq!(turned_away_at(3599), 0);
    assert_eq!(turned_away_at(3600), 1, "at the cost of a stranger");
}

/// A right answer is not a fault, and does not take an earlier one back.
#[test]
fn a_right_answer_changes_no_count() {
    let door = Door::new(4);
    let permit = enter(&door, 1).unwrap();
    for round in 0..4 {
        assert_eq!(permit.judge(|| false), Some(false), "{round}");
        (0..10).for_each(|_| assert_eq!(permit.judge(|| true), Some(true)));
    }
    assert_eq!(permit.judge(|| false), Some(false));
    assert_eq!(permit.judge(|| true), None);
    // Also one whose judging ends in a panic was counted.
    let permit = enter(&door, 2).unwrap();
    for _ in 0..5 {
        let judging = std::panic::AssertUnwindSafe(|| permit.judge(|| panic!("while it is judged")));
        assert!(std::panic::catch_unwind(judging).is_err());
    }
    assert_eq!(permit.judge(|| true), None);
}

/// 30 hosts that say nothing take each other's places, and nobody else's.
#[test]
fn who_floods_takes_places_from_floods_alone() {
    let door = Door::new(64);
    let closed = Arc::new(AtomicUsize::new(0));
    let silent = |last: u8| {
        let permit = enter(&door, last)?;
        let closed = Arc::clone(&closed);
        permit.when_needed(move || {
            closed.fetch_add(1, Ordering::Relaxed);
        });
        Some(permit)
    };
    let mut held: Vec<Permit> = (0..200).filter_map(|number| silent(2 + number % 30)).collect();
    // Strangers have three quarters of 64 places; 200 came.
    assert_eq!(closed.load(Ordering::Relaxed), 200 - 48);
    // One who comes for the first time gets in, and stays while hundreds come after.
    let honest = enter(&door, 1).unwrap();
    held.extend((0..300_u16).filter_map(|number| silent((2 + number % 30) as u8)));
    let shut = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&shut);
    honest.when_needed(move || {
        count.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(shut.load(Ordering::Relaxed), 0, "its place was given away");
    assert_eq!(honest.judge(|| true), Some(true));
    // From now on it is known: places are kept for it, and nobody's place is taken.
    held.extend((0..300_u16).filter_map(|number| silent((2 + number % 30) as u8)));
    let before = closed.load(Ordering::Relaxed);
    let _more: Vec<_> = (0..15).map(|_| enter(&door, 1).unwrap()).collect();
    assert_eq!(closed.load(Ordering::Relaxed), before);
    // Beyond the quarter it takes them from strangers, up to half of all.
    let _most: Vec<_> = (0..16).map(|_| enter(&door, 1).unwrap()).collect();
    assert_eq!(closed.load(Ordering::Relaxed), before + 16);
    assert!(enter(&door, 1).is_none());
    // Whose place is gone already is told at once.
    let count = Arc::clone(&shut);
    held[0].when_needed(move || {
        count.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(shut.load(Ordering::Relaxed), 1);
}

/// Something that happens at the door, to one of four hosts.
#[derive(Clone, Copy, Debug)]
enum Step {
    Enter,
    Leave,
    Judge(bool),
    Fault(Wrong),
    Wait(usize),
}

fn steps() -> impl Strategy<Value = Vec<(u8, Step)>> {
    let step = prop_oneof![
        4 => Just(Step::Enter),
        1 => Just(Step::Leave),
        2 => any::<bool>().prop_map(Step::Judge),
        1 => Just(Step::Fault(Wrong::Nonsense)),
        1 => Just(Step::Fault(Wrong::Gone)),
        1 => (1..70_usize).prop_map(Step::Wait),
    ];
    prop::collection::vec((0..4_u8, step), 1..200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Everything at the door happens under one lock, so that what threads do is one order of these steps. Whatever the
    /// order: places and shares are never exceeded, and no host gets a sixth guess without a pause of a minute.
    #[test]
    fn no_order_of_steps_exceeds_a_bound(steps in steps(), most in 2..9_usize) {
        let (door, seconds) = clocked(most);
        // Open permits, each with whether its place was taken away.
        let mut open: Vec<(u8, Permit, Arc<AtomicBool>)> = Vec::new();
        let (mut known, mut guesses) = ([false; 4], [(0, 0); 4]);
        for (host, step) in steps {
            let now = seconds.load(Ordering::Relaxed);
            let mine = open.iter().position(|(owner, ..)| *owner == host);
            match (step, mine) {
                (Step::Enter, _) => {
                    if let Some(permit) = enter(&door, host) {
                        let gone = Arc::new(AtomicBool::new(false));
                        let own = Arc::clone(&gone);
                        permit.when_needed(move || own.store(true, Ordering::Relaxed));
                        open.push((host, permit, gone));
                    }
                }
                (Step::Leave, Some(place)) => drop(open.remove(place)),
                (Step::Judge(right), Some(place)) => {
                    let (count, last) = &mut guesses[usize::from(host)];
                    if now - *last >= 60 {
                        *count = 0;
                    }
                    let verdict = open[place].1.judge(|| right);
                    prop_assert_eq!(verdict, (*count < 5).then_some(right));
                    if verdict == Some(false) {
                        (*count, *last) = (*count + 1, now);
                    }
                    known[usize::from(host)] |= verdict == Some(true);
                }
                (Step::Fault(wrong), Some(place)) => {
                    open[place].1.note_fault(wrong);
                }
                (Step::Wait(more), _) => {
                    seconds.fetch_add(more, Ordering::Relaxed);
                }
                _ => {}
            }
            let held = || open.iter().filter(|(.., gone)| !gone.load(Ordering::Relaxed));
            prop_assert!(held().count() <= most);
            for host in 0..4 {
                prop_assert!(held().filter(|(owner, ..)| *owner == host).count() <= most.div_ceil(2));
            }
            // Within the hours of a test nobody is forgotten but by time.
            if seconds.load(Ordering::Relaxed) < 3600 {
                let strangers = held().filter(|(owner, ..)| !known[usize::from(*owner)]).count();
                prop_assert!(strangers <= most - most / 4);
            }
        }
        drop(open);
        seconds.fetch_add(60, Ordering::Relaxed);
        prop_assert!(enter(&door, 9).is_some(), "all places are given back");
    }
}
