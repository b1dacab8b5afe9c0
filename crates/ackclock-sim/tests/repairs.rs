//! How a lost packet is repaired, in every style of recovery: each loss costs one reduction of the window, and each false
//! alarm one that is undone, where a style can see that it was one.
//!
//! The round trip takes 100 ms, and packets mostly take no time on the link. The smallest timeout is 200 ms.

use ackclock_scenario::{Loss, Recovery, read_toml};
use ackclock_sim::BuiltIn;
use ackclock_trace::Column;

use crate::common;

/// How a loss is repaired, or how a false alarm is raised.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Repair {
    /// Of 20 packets in flight the sixth is lost.
    FastRetransmit,
    /// Of ten the ninth is lost, so that there is one report.
    ReorderingTimer,
    /// Of ten the tenth is lost; ten more are sent a second later.
    TailLossProbe,
    /// All ten are lost.
    Timeout,
    /// Of 20 packets the sixth is lost, and its retransmission, too.
    RetransmissionAgain,
    /// A packet is delayed by 30 ms while one leaves every 5 ms: six overtake it.
    FalseFastRetransmit,
    /// The round trip rises to 300 ms: after the probe, which is sent 200 ms after the packets, their acknowledgements arrive.
    FalseProbe,
    /// The round trip rises to 800 ms. The timer is at 300 ms, or as long after the probe; its double would be later.
    FalseTimeout,
    /// Of a request of one packet the acknowledgement is lost, and that of the probe. What is sent again after the timeout is
    /// reported as a duplicate (RFC 2883); no original packet is acknowledged after it.
    DuplicateReport,
    /// As the false fast retransmit, but the retransmission is lost: nothing is reported as a duplicate, and time stamps alone
    /// tell that the original came (Eifel, RFC 3522).
    OldTimeStamp,
    /// The round trip rises to 560 ms and of ten packets the first is lost: after the timeout the others are reported, which were
    /// sent before it (F-RTO, RFC 5682). Nothing is acknowledged cumulatively, so that no time stamp counts.
    OriginalReport,
    /// The SYN is lost. Data begins a second later, with a window of one packet (RFC 5681, section 3.1), in Linux only after two.
    LostSyn,
}

const REPAIRS: [Repair; 12] = [
    Repair::FastRetransmit,
    Repair::ReorderingTimer,
    Repair::TailLossProbe,
    Repair::Timeout,
    Repair::RetransmissionAgain,
    Repair::FalseFastRetransmit,
    Repair::FalseProbe,
    Repair::FalseTimeout,
    Repair::DuplicateReport,
    Repair::OldTimeStamp,
    Repair::OriginalReport,
    Repair::LostSyn,
];

/// Loss events, timeouts, and how many of them are undone.
type Reductions = [usize; 3];

/// The number of the retransmission of the packet that six overtake, in the order in which packets come to the link.
const RESENT_IN_VAIN: usize = 203;

struct Ran {
    /// Kinds of reductions, and of what undoes them, with the windows before and after.
    steps: Vec<(&'static str, f64, f64)>,
    resent_packets: u64,
    dropped_packets: u64,
    completion_s: Option<f64>,
}

fn run(style: &str, repair: Repair) -> Ran {
    let lost: &[usize] = match repair {
        Repair::FastRetransmit => &[5],
        Repair::ReorderingTimer => &[8],
        Repair::TailLossProbe => &[9],
        Repair::Timeout => &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        Repair::RetransmissionAgain if style == "linux-2.6" => &[5, 33],
        Repair::RetransmissionAgain => &[5, 32],
        Repair::OldTimeStamp => &[RESENT_IN_VAIN],
        Repair::OriginalReport => &[20],
        Repair::LostSyn => &[0],
        _ => &[],
    };
    let lost_acks: &[usize] = match repair {
        Repair::DuplicateReport if style == "rack" => &[2, 3],
        Repair::DuplicateReport => &[2],
        _ => &[],
    };
    let keys = match repair {
        Repair::FastRetransmit | Repair::RetransmissionAgain => "initial_window = 20\nbytes = \"80 kB\"",
        Repair::ReorderingTimer | Repair::Timeout => "bytes = \"10 kB\"",
        Repair::TailLossProbe => "source = \"requests\"\nsize = \"10 kB\"\nevery = \"1 s\"\nrequests = 2",
        Repair::LostSyn => "bytes = \"10 kB\"\nhandshake = true",
        Repair::DuplicateReport => "source = \"requests\"\nsize = \"1 kB\"\nevery = \"1 s\"\nrequests = 4",
        Repair::FalseFastRetransmit | Repair::OldTimeStamp => "receive_window = 20\nbytes = \"1 MB\"",
        Repair::FalseProbe | Repair::FalseTimeout | Repair::OriginalReport => {
            "source = \"requests\"\nsize = \"10 kB\"\nevery = \"1 s\"\nrequests = 6"
        }
    };
    let event = match repair {
        Repair::FalseFastRetransmit | Repair::OldTimeStamp => {
            "event = [{ at = \"1010 ms\", set = \"dumbbell.delay\", to = \"80 ms\" }, \
             { at = \"1015 ms\", set = \"dumbbell.delay\", to = \"50 ms\" }]\n"
        }
        Repair::FalseProbe => "event = [{ at = \"2.5 s\", set = \"dumbbell.delay\", to = \"150 ms\" }]\n",
        Repair::FalseTimeout => "event = [{ at = \"2.5 s\", set = \"dumbbell.delay\", to = \"400 ms\" }]\n",
        // With RACK the timer is 300 ms after the probe.
        Repair::OriginalReport => "event = [{ at = \"1.5 s\", set = \"dumbbell.delay\", to = \"280 ms\" }]\n",
        _ => "",
    };
    let overtakes = matches!(repair, Repair::FalseFastRetransmit | Repair::OldTimeStamp);
    let rate = if overtakes { "1.6 Mbit/s" } else { "100 Gbit/s" };
    // Hardly a change, so that packets may overtake others.
    let noise = if overtakes {
        "delay_noise = { kind = \"uniform\", range = \"1 ns\", reorder = true }, "
    } else {
        ""
    };
    let text = format!(
        "run = {{ duration = \"20 s\", sample = \"1 s\" }}\n\
         tcp = {{ profile = \"linux\", handshake = false, delayed_ack = 1, recovery = \"{style}\" }}\n{event}\
         dumbbell = {{ rate = \"{rate}\", delay = \"50 ms\", {noise}queue = {{ kind = \"droptail\", limit = \"1000 packets\" }} }}\n\
         [[flow]]\ncontroller = \"reno\"\nrtt = \"100 ms\"\n{keys}\n"
    );
    let mut scenario = read_toml(&text, "repairs", &[], &BuiltIn).unwrap().scenario;
    for (link, lost) in [lost, lost_acks].into_iter().enumerate() {
        scenario.links[link].loss =
            Loss::Trace { lost: (0..2000).map(|number| lost.contains(&number)).collect::<Vec<_>>().into() };
    }
    let (summary, tables) = common::run_with(&scenario, 0, true, u64::MAX);
    let events = &tables.iter().find(|(table, _)| *table == "events").unwrap().1;
    let column = |name: &str| &events.columns.iter().find(|(column, _)| *column == name).unwrap().1;
    let (Column::Word(kinds), Column::Real(before), Column::Real(after)) =
        (column("kind"), column("window_before"), column("window_after"))
    else {
        panic!("events have a kind and two windows")
    };
    let rows = (0..kinds.len()).filter(|row| ["loss", "timeout", "undo"].contains(&kinds[*row]));
    let counters = summary.flows[0].whole_run;
    Ran {
        steps: rows.map(|row| (kinds[row], before[row], after[row])).collect(),
        resent_packets: counters.retransmitted_packets,
        dropped_packets: counters.dropped_packets,
        completion_s: summary.flows[0].completion_s,
    }
}

/// What `style` makes of it.
fn expected(style: &str, repair: Repair) -> Reductions {
    let (by_time, by_reports) = match style {
        "rack" => (true, true),
        "linux-2.6" => (false, true),
        "reno" | "reno-ns2" | "newreno" | "sack" => (false, false),
        _ => panic!("{style} has no row"),
    };
    match repair {
        Repair::FastRetransmit => [1, 0, 0],
        Repair::ReorderingTimer | Repair::TailLossProbe if by_time => [1, 0, 0],
        Repair::ReorderingTimer | Repair::TailLossProbe | Repair::Timeout => [0, 1, 0],
        // Part of the same episode where it is seen. The others wait for a timeout, which lowers the window twice
        // (RFC 5681, section 4.3).
        Repair::RetransmissionAgain if by_reports => [1, 0, 0],
        Repair::RetransmissionAgain => [1, 1, 0],
        // The acknowledgements of what it overtook are partial to NewReno, which sends all of that again; duplicates of these
        // come after the episode, and without time stamps three of them are another one (RFC 6582, sections 3.2 and 4).
        Repair::FalseFastRetransmit | Repair::OldTimeStamp if style == "newreno" => [2, 0, 0],
        // The others do not see false alarms: they have no time stamps or, like TCP-Linux of ns-2, do not use them for this.
        Repair::FalseFastRetransmit | Repair::OldTimeStamp => [1, 0, usize::from(by_time)],
        Repair::FalseTimeout | Repair::DuplicateReport => [0, 1, usize::from(by_time)],
        // The receiver reports the packet as a duplicate.
        Repair::FalseProbe => [0, 0, 0],
        // The lost packet has been sent again by then, so that it costs nothing. That Linux does the same was not measured.
        Repair::OriginalReport => [0, 1, usize::from(by_time)],
        Repair::LostSyn => [0, 0, 0],
    }
}

#[test]
fn one_loss_costs_one_reduction_however_it_is_repaired() {
    for repair in REPAIRS {
        for style in Recovery::WORDS {
            let ran = run(style, repair);
            let case = format!("{repair:?}, {style}: {:?}", ran.steps);
            println!("{case}, {} sent again", ran.resent_packets);
            let count = |wanted: &str| ran.steps.iter().filter(|(kind, ..)| *kind == wanted).count();
            assert_eq!(["loss", "timeout", "undo"].map(count), expected(style, repair), "{case}");
            let mut largest: f64 = 0.0;
            for (kind, before, after) in &ran.steps {
                largest = largest.max(*before);
                match *kind {
                    // Linux's windows are whole.
                    "loss" if *style == "rack" => assert_eq!(*after, (before / 2.0).floor(), "{case}"),
                    "loss" => assert_eq!(*after, before / 2.0, "{case}"),
                    "timeout" => assert_eq!(*after, 1.0, "{case}"),
                    _ => assert_eq!(*after, largest, "{case}"),
                }
            }
            if repair == Repair::LostSyn {
                // 1, 2, 4 and 3 packets in 3.5 round trips, or all in half of one.
                let seconds = if *style == "rack" { 1.15 } else { 1.45 };
                assert!((ran.completion_s.unwrap() - seconds).abs() < 1e-3, "{case}: {:?}", ran.completion_s);
            }
            // A probe is sent, and only there.
            let probes = u64::from(*style == "rack" && repair == Repair::FalseProbe);
            assert!(ran.resent_packets >= probes + ran.dropped_packets, "{case}");
        }
    }
}
