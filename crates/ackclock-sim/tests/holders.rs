//! What holds a flow back, for every control with a state of its own: its state and its window after ten seconds.
//!
//! A path of 40 Mbit/s carries 5000 packets of 1000 bytes per second. An empty round trip takes 100.208 ms: 100 ms, 0.2 ms
//! for the packet and 0.008 ms for its acknowledgement. So its BDP is 501 packets. The receiver allows 250.

use std::ops::RangeInclusive;

use ackclock_cc::registry::{Catalogue, Kind};
use ackclock_scenario::read_toml;
use ackclock_sim::BuiltIn;
use ackclock_trace::{Column, LimitedBy};

use crate::common;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Holder {
    Window,
    Receiver,
    SmallestReceiver,
    Application,
    Pacing,
    NothingYet,
}

use Holder::{Application, NothingYet, Pacing, Receiver, SmallestReceiver, Window};

const HOLDERS: [Holder; 6] = [Window, Receiver, SmallestReceiver, Application, Pacing, NothingYet];

/// Internals that say in which state a control is.
const STATES: &[&str] = &["mode", "state", "competitive", "fast", "slowdown", "probing"];

/// Those that have one, with its name: whoever adds one writes its rows. The state of `bic` is a search that a loss begins,
/// and that of `ledbat++` a slowdown at times of its own: only their windows are looked at.
const WITH_STATE: &[(&str, &str)] = &[
    ("bbr", "mode"),
    ("bbr-linux", "mode"),
    ("bbr3", "state"),
    ("bbr3-linux", "state"),
    ("copa", "competitive"),
    ("africa", "fast"),
    ("yeah", "fast"),
    ("bic", ""),
    ("ledbat++", ""),
];

struct Ended {
    state: Option<f64>,
    window: f64,
    limited_by: LimitedBy,
    internals: Vec<&'static str>,
}

/// A flow after 10 s.
fn ended(control: &str, state: &str, holder: Holder) -> Ended {
    let is_bbr = control.starts_with("bbr");
    let keys = match holder {
        Receiver => "receive_window = 250",
        SmallestReceiver => "receive_window = 1",
        Application => "limit = \"20 Mbit/s\"",
        // Half a window per round trip.
        Pacing if !is_bbr => "pacing = true\npacing_gain = 0.5\nslow_start_gain = 0.5",
        // The second packet would be there after 20 s.
        NothingYet => "limit = \"400 bit/s\"",
        Window | Pacing => "",
    };
    // BBR paces, so that its window holds it only where the path has become slower than it believes: for ten round trips, which
    // take two seconds each with all of its window in the queue.
    let event = match holder {
        Window if is_bbr => "event = [{ at = \"6 s\", set = \"dumbbell.rate\", to = \"4 Mbit/s\" }]\n",
        _ => "",
    };
    let text = format!(
        "run = {{ duration = \"10 s\", sample = \"100 ms\" }}\n{event}\
         dumbbell = {{ rate = \"40 Mbit/s\", delay = \"50 ms\", \
         queue = {{ kind = \"droptail\", limit = \"2000 packets\" }} }}\n\
         [[flow]]\nrtt = \"100 ms\"\nprofile = \"linux\"\nhandshake = false\ncontroller = \"{control}\"\n{keys}\n"
    );
    let scenario = read_toml(&text, "holders", &[], &BuiltIn).unwrap().scenario;
    let (summary, tables) = common::run_with(&scenario, 0, true, u64::MAX);
    let windows = &tables.iter().find(|(table, _)| *table == "windows").unwrap().1;
    let last = |name: &str| {
        let column = windows.columns.iter().find(|(column, _)| *column == name)?;
        let Column::Real(values) = &column.1 else { return None };
        values.last().copied()
    };
    Ended {
        state: last(state),
        window: last("window").unwrap(),
        limited_by: summary.flows[0].limited_by.clone().unwrap(),
        internals: windows.columns.iter().map(|(name, _)| *name).collect(),
    }
}

/// States that are allowed, none for any, and the bounds of the window.
type Row = (&'static [f64], RangeInclusive<f64>);

/// The rows of BBR, whose window is a gain times what the path carries in a round trip, and a few packets.
fn of_bbr(control: &str, holder: Holder) -> Row {
    let is_first = !control.starts_with("bbr3");
    // Startup is state 0. Afterwards version 1 is in ProbeBW, and version 3 in one of its four phases, or in ProbeRTT.
    let startup: &[f64] = &[0.0];
    let later: &[f64] = if is_first { &[2.0] } else { &[2.0, 3.0, 4.0, 5.0, 6.0] };
    // bbr: gain 2 and 3 packets. bbr-linux: three bursts, each what it sends in a millisecond but at least 2 packets; up to an
    // even number; 2 more where it probes; and the largest aggregate of acknowledgements, here at most 5 packets. bbr3: gain 2,
    // 2.25 in UP, and aggregates of 2 to 5 packets. What it delivers in a round trip may be two packets less than it has in
    // flight, because every other packet is acknowledged.
    let held = |packets: f64, bursts: f64| match control {
        "bbr" => 2.0 * (packets - 2.0) + 3.0..=2.0 * packets + 3.0,
        "bbr-linux" => 2.0 * (packets - 2.0) + 3.0 * bursts..=2.0 * packets + 3.0 * bursts + 2.0 + 2.0 + 5.0,
        _ => 2.0 * (packets - 2.0)..=2.25 * packets + 2.0 + 5.0,
    };
    match holder {
        Receiver => (later, held(250.0, 2.0)),
        // One packet per round trip: 2 + 3; three bursts of 2 and, where it probes, 2 more, and one packet as an aggregate.
        SmallestReceiver if control == "bbr" => (later, 5.0..=5.0),
        SmallestReceiver => (later, 4.0..=9.0),
        // It never sees a full pipe, and grows no further than its gain in Startup: 2/ln 2 times 501 packets and 3 bursts of
        // 14 packets, what 2.885 times the rate is in a millisecond; for version 3 it is 2, and an aggregate.
        Application if is_first => (startup, 2.88539 * 501.0..=2.88539 * 501.04 + 3.0 * 14.0 + 4.0),
        Application => (startup, 2.0 * 501.0..=2.0 * 501.04 + 64.0),
        Pacing | Window => (later, held(501.04, 5.0)),
        // One packet was sent, and BBR's window grows with what is delivered.
        NothingYet => (startup, 11.0..=11.0),
    }
}

/// The rows of the others.
fn of_window(control: &str, holder: Holder) -> Row {
    // There is no queue: Africa and YeAH are in their fast mode, and nothing makes Copa competitive.
    let calm: &[f64] = match control {
        "copa" => &[0.0],
        "africa" | "yeah" => &[1.0],
        _ => &[],
    };
    match holder {
        // The pipe is full and its queue is not: between one and five times the BDP. A window of which half goes in a round trip
        // fills the pipe when it is twice as large.
        Window => (&[], 0.7 * 501.0..=2510.0),
        Pacing => (&[], 400.0..=5020.0),
        // In slow start it grows to twice what the receiver lets out (tcp_is_cwnd_limited): by an acknowledgement of two
        // packets, or what is in one burst.
        Receiver => (calm, 500.0..=504.0),
        SmallestReceiver | NothingYet => (calm, 10.0..=10.0),
        // At the start it catches up with its application, as fast as slow start grows, with less than two BDPs in flight; the
        // window grows to twice as many.
        Application => (calm, 500.0..=2004.0),
    }
}

/// Whether `holder` is what holds it back, as the summary says.
fn is_held(by: &LimitedBy, holder: Holder, control: &str) -> bool {
    let paced = if control == "copa" { by.pacing } else { 0.0 };
    match holder {
        Window => by.window > 0.3,
        Pacing => by.pacing > 0.7 || by.window > 0.3 && !control.starts_with("bbr"),
        // A round trip in eight of ProbeBW is not held; Copa paces twice a window per round trip.
        Receiver if control.starts_with("bbr") => by.receiver + by.pacing > 0.9 && by.application == 0.0,
        Receiver | SmallestReceiver => by.receiver + paced > 0.9,
        Application => by.application > 0.5,
        NothingYet => by.application == 1.0,
    }
}

#[test]
fn state_and_window_by_what_holds_a_flow_back() {
    let mut wrong = Vec::new();
    for (control, state) in WITH_STATE {
        for holder in HOLDERS {
            let ended = ended(control, state, holder);
            let row = if control.starts_with("bbr") { of_bbr } else { of_window };
            let (states, windows) = row(control, holder);
            let line = format!(
                "{control}, {holder:?}: state {:?} of {states:?}, window {:.2} of {windows:.2?}, {:?}",
                ended.state, ended.window, ended.limited_by
            );
            println!("{line}");
            let in_state = states.is_empty() || states.contains(&ended.state.unwrap());
            if !in_state || !windows.contains(&ended.window) || !is_held(&ended.limited_by, holder, control) {
                wrong.push(line);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Every other control has no state, and the receiver stops its window's growth, too.
#[test]
fn every_control_has_its_rows() {
    let all = BuiltIn.entries().iter().filter(|entry| entry.kind == Kind::Window && entry.name != "constant");
    for control in all.map(|entry| entry.name) {
        let ended = ended(control, "", Receiver);
        let has_state = ended.internals.iter().any(|name| STATES.contains(name));
        let has_rows = WITH_STATE.iter().any(|(name, _)| *name == control);
        assert_eq!(has_state, has_rows, "{control}: {:?}", ended.internals);
        println!("{control}: {}", ended.window);
        let most = match control {
            // 2^(100.208/25) - 1 = 15.1 packets for each of the first ten, and for each of the 250 that may be in flight when the
            // window has been full for the last time.
            "hybla" | "hybla-linux" => 10.0 + 15.1 * 260.0,
            _ => 504.0,
        };
        assert!(has_state || ended.window <= most, "{control}: {}", ended.window);
    }
}

/// The case of a satellite path: the receiver allows 667 packets where twice as many fill the path. BBR leaves Startup, and its
/// window is 2 times 667 packets and 3.
#[test]
fn a_receive_window_of_half_the_product_ends_startup() {
    let text = "run = { duration = \"60 s\", warmup = \"40 s\" }\n\
        dumbbell = { rate = \"40 Mbit/s\", delay = \"300 ms\", queue = { kind = \"droptail\", limit = \"2000 packets\" } }\n\
        [[flow]]\ncontroller = \"bbr\"\npacket = \"1500 B\"\nrtt = \"600 ms\"\nreceive_window = 667\nprofile = \"linux\"\n";
    let summary = common::run(&read_toml(text, "satellite", &[], &BuiltIn).unwrap().scenario);
    let window = summary.flows[0].mean_window.unwrap();
    assert!((window - 1337.0).abs() <= 4.0, "{window}: every other packet is acknowledged, see above");
}
