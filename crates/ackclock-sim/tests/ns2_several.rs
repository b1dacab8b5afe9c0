//! Agreement with ns-2.35 where flows compete: means over seeds, ns-2's from `tests/data/ns2` (`remake.py` there measures
//! them again), ours over eight runs or more. D: two Reno flows and two of another control, RTT 100 ms. C: four flows of
//! one control, RTT 60, 80, 100 and 120 ms. 100 Mbit/s, 100 packets, 200 s, measured from 60 s. docs/validation.md,
//! *Several flows*, has the numbers side by side.
//!
//! A tolerance is three standard errors of the difference of the means, from the scatter of the runs on both sides, or 2 %
//! where that is more. Of 78 such comparisons chance alone exceeds it about once. `Differs` stands where the two differ by
//! more, for no known reason: *What is left* in docs/validation.md.

use std::fmt::Write as _;

use ackclock_scenario::read_toml;
use ackclock_sim::BuiltIn;
use ackclock_trace::{Column, Summary};

use crate::common;
use crate::common::chance::Tolerance::{self, Chance, Differs, FewLosses, Fixed};
use crate::common::chance::compare;
use crate::common::table::{Table, mean};

const FLOWS: &str = include_str!("../../../tests/data/ns2/flows.csv");
const DROPS: &str = include_str!("../../../tests/data/ns2/drops.csv");
const DELIVERED: &str = include_str!("../../../tests/data/ns2/delivered.csv");
const RUNS: u64 = 8;
/// A gap of this length without a drop ends an episode.
const BETWEEN_EPISODES_S: f64 = 1.0;

/// What is compared: names of the columns of `flows.csv`.
#[derive(Clone, Copy, PartialEq)]
enum What {
    Goodput,
    Cuts,
}

/// A path and what runs on it.
struct Case {
    /// As `flows.csv` calls it.
    name: &'static str,
    /// Controls with their RTTs in ms, in the order of their starts.
    flows: Vec<(&'static str, f64)>,
    recovery: &'static str,
    overhead: &'static str,
    poisson: &'static str,
    path: &'static str,
    /// Each flow starts up to so much later.
    spread_s: f64,
    runs: u64,
}

const PATH: &str =
    "rate = \"100 Mbit/s\"\ndelay = \"DELAY\"\nqueue = { kind = \"droptail\", limit = \"100 packets\" }\n";
const STARTS_S: [f64; 4] = [0.0, 0.37, 0.71, 1.13];

impl Case {
    fn new(name: &'static str, recovery: &'static str, flows: &[(&'static str, f64)]) -> Case {
        Case {
            name,
            flows: flows.to_vec(),
            recovery,
            overhead: "0 s",
            poisson: "",
            path: PATH,
            spread_s: 0.0,
            runs: RUNS,
        }
    }

    fn d(name: &'static str, recovery: &'static str, other: &'static str) -> Case {
        Case::new(name, recovery, &[("reno", 100.0), ("reno", 100.0), (other, 100.0), (other, 100.0)])
    }

    fn c(name: &'static str, recovery: &'static str, control: &'static str) -> Case {
        Case::new(name, recovery, &[60.0, 80.0, 100.0, 120.0].map(|rtt| (control, rtt)))
    }

    fn overhead(self, overhead: &'static str) -> Case {
        Case { overhead, ..self }
    }

    fn poisson(self, poisson: &'static str) -> Case {
        Case { poisson, ..self }
    }

    fn spread(self, spread_s: f64) -> Case {
        Case { spread_s, ..self }
    }

    fn runs(self, runs: u64) -> Case {
        Case { runs, ..self }
    }

    fn toml(&self) -> String {
        // The bottleneck has the delay of the shortest flow, whose access links have none.
        let shortest = self.flows.iter().map(|(_, rtt)| *rtt).fold(f64::INFINITY, f64::min);
        let path = self.path.replace("DELAY", &format!("{} us", shortest * 500.0));
        let mut text = format!(
            "[run]\nduration = \"200 s\"\nwarmup = \"60 s\"\n[tcp]\nrecovery = \"{}\"\noverhead = \"{}\"\n[dumbbell]\n{path}",
            self.recovery, self.overhead,
        );
        for ((control, rtt), start) in self.flows.iter().zip(STARTS_S) {
            // The CUBIC of 2.6.22 keeps 819/1024.
            let params = match *control {
                "cubic" => "params = { beta = 0.7998046875 }\n",
                // The code in ns-2 is older.
                "bic-linux" => "params = { whole_counts = false }\n",
                _ => "",
            };
            let start = if self.spread_s > 0.0 {
                format!("{{ uniform = [\"{start} s\", \"{} s\"] }}", start + self.spread_s)
            } else {
                format!("\"{start} s\"")
            };
            let times = format!("rtt = \"{} us\"\nstart = {start}\n", rtt * 1000.0);
            write!(text, "[[flow]]\ncontroller = \"{control}\"\n{params}{times}").unwrap();
        }
        if !self.poisson.is_empty() {
            write!(text, "[[flow]]\nsource = \"poisson\"\nrate = \"{}\"\n", self.poisson).unwrap();
        }
        text
    }

    fn run(self) -> Done {
        self.done(false)
    }

    /// With the tables that episodes are found in.
    fn recorded(self) -> Done {
        self.done(true)
    }

    fn done(self, record: bool) -> Done {
        let scenario = read_toml(&self.toml(), self.name, &[], &BuiltIn).unwrap().scenario;
        let runs = (0..self.runs).map(|run| common::run_with(&scenario, run, record, u64::MAX)).collect();
        Done { case: self, runs }
    }
}

/// A case and its runs.
struct Done {
    case: Case,
    runs: Vec<(Summary, Vec<(&'static str, ackclock_trace::Table)>)>,
}

impl Done {
    /// Compares means of groups of flows; each group with its tolerance.
    fn agrees(&self, what: What, groups: &[(&[usize], Tolerance)]) {
        for (flows, tolerance) in groups {
            let ours: Vec<_> = self
                .runs
                .iter()
                .map(|(summary, _)| {
                    mean(flows.iter().map(|flow| match what {
                        What::Goodput => summary.flows[*flow].goodput_mbps.unwrap(),
                        // ns-2 counts a timeout among the cuts.
                        What::Cuts => {
                            let counters = &summary.flows[*flow].whole_run;
                            (counters.loss_events.unwrap() + counters.timeouts) as f64
                        }
                    }))
                })
                .collect();
            let theirs = reference(self.case.name, flows, what);
            compare(&format!("{}: flows {flows:?}", self.case.name), &theirs, &ours, *tolerance);
        }
    }

    /// Compares the spacing of congestion episodes, their drops, and the flows that each hits.
    fn episodes_agree(&self, tolerances: [f64; 3]) {
        let (table, case) = (Table::read(DROPS), &self.case);
        let of_seed = |seed: f64| table.case(case.name).filter(move |row| row.number("seed") == seed);
        let seeds = table.case(case.name).map(|row| row.number("seed")).fold(0.0, f64::max) as u64;
        let theirs = episodes((1..=seeds).map(|seed| {
            let drops: Vec<_> = of_seed(seed as f64)
                .map(|row| (row.number("time_s"), row.number("flow") as u64))
                .filter(|(_, flow)| *flow < case.flows.len() as u64)
                .collect();
            (drops.len() as f64, drops)
        }));
        // Ours are the loss events, of which a flow has one in an episode, and the drops are counted apart.
        let ours = episodes(self.runs.iter().map(|(summary, tables)| {
            let dropped = summary.flows.iter().map(|flow| flow.counters.dropped_packets as f64).sum();
            (dropped, loss_events(tables).into_iter().filter(|(time, _)| *time > 60.0).collect())
        }));
        let names = ["spacing in s", "drops per episode", "flows per episode"];
        for (index, name) in names.into_iter().enumerate() {
            let off = ours[index] / theirs[index] - 1.0;
            let report = format!("{}: {name}: ns-2 {:.2}, ours {:.2}", case.name, theirs[index], ours[index]);
            println!("{report}, {:+.1} %", 100.0 * off);
            assert!(off.abs() <= tolerances[index], "{report}");
        }
    }
}

/// The mean spacing of congestion episodes in seconds, their mean drops, and how many flows each hits, over some runs:
/// each the number of its drops, and times and flows of what tells an episode.
fn episodes(runs: impl Iterator<Item = (f64, Vec<(f64, u64)>)>) -> [f64; 3] {
    let (mut count, mut spaces, mut spanned, mut hit, mut dropped) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (drops, signs) in runs {
        let mut own: Vec<Vec<(f64, u64)>> = Vec::new();
        for (time, flow) in signs {
            match own.last_mut() {
                Some(last) if time - last[last.len() - 1].0 <= BETWEEN_EPISODES_S => last.push((time, flow)),
                _ => own.push(vec![(time, flow)]),
            }
        }
        count += own.len() as f64;
        spaces += own.len() as f64 - 1.0;
        spanned += own[own.len() - 1][0].0 - own[0][0].0;
        dropped += drops;
        for episode in &mut own {
            episode.sort_by_key(|(_, flow)| *flow);
            episode.dedup_by_key(|(_, flow)| *flow);
            hit += episode.len() as f64;
        }
    }
    [spanned / spaces, dropped / count, hit / count]
}

/// The mean over some flows of a case, of each seed of ns-2.
fn reference(case: &str, flows: &[usize], what: What) -> Vec<f64> {
    let column = if what == What::Goodput { "goodput_mbps" } else { "cuts" };
    let table = Table::read(FLOWS);
    let of_flow = |flow: usize| -> Vec<f64> {
        let rows = table.case(case).filter(move |row| row.number("flow") == flow as f64);
        rows.map(|row| row.number(column)).collect()
    };
    let flows: Vec<_> = flows.iter().map(|flow| of_flow(*flow)).collect();
    (0..flows[0].len()).map(|seed| mean(flows.iter().map(|values| values[seed]))).collect()
}

/// Times and flows of the loss events of a run, in order.
fn loss_events(tables: &[(&'static str, ackclock_trace::Table)]) -> Vec<(f64, u64)> {
    let events = &tables.iter().find(|(name, _)| *name == "events").unwrap().1;
    let column = |wanted| &events.columns.iter().find(|(name, _)| *name == wanted).unwrap().1;
    let (Column::Real(times), Column::Id(flows), Column::Word(kinds)) =
        (column("time_s"), column("flow"), column("kind"))
    else {
        panic!("events have times, flows and kinds");
    };
    let all = times.iter().zip(flows).zip(kinds);
    all.filter(|(_, kind)| **kind == "loss").map(|((time, flow), _)| (*time, u64::from(*flow))).collect()
}

const RENOS: &[usize] = &[0, 1];
const OTHERS: &[usize] = &[2, 3];

/// Each flow with a tolerance of its own.
fn each(tolerances: [Tolerance; 4]) -> [(&'static [usize], Tolerance); 4] {
    [(&[0], tolerances[0]), (&[1], tolerances[1]), (&[2], tolerances[2]), (&[3], tolerances[3])]
}

#[test]
fn reno_beside_highspeed_on_sack() {
    let case = Case::d("D sack1 hstcp 0.5 ms", "sack", "hstcp").overhead("500 us").recorded();
    case.agrees(What::Goodput, &[(RENOS, Chance), (OTHERS, Chance)]);
    case.agrees(What::Cuts, &[(RENOS, Chance), (OTHERS, Chance)]);
    // Of the 31 episodes of a run, one more or less is 3 %.
    case.episodes_agree([0.06, 0.06, 0.06]);
}

#[test]
fn highspeed_of_four_rtts_on_sack() {
    let case = Case::c("C sack1 hstcp 0.5 ms", "sack", "hstcp").overhead("500 us").runs(12).run();
    case.agrees(What::Goodput, &each([Chance, FewLosses, FewLosses, FewLosses]));
}

#[test]
fn reno_beside_highspeed_on_sack_with_a_packets_time_of_overhead() {
    let case = Case::d("D sack1 hstcp 80 us", "sack", "hstcp").overhead("80 us").run();
    case.agrees(What::Goodput, &[(RENOS, Differs(0.08)), (OTHERS, Chance)]);
}

#[test]
fn reno_beside_gaimd_on_sack() {
    let case = Case::d("D sack1 gaimd 0.5 ms", "sack", "gaimd").overhead("500 us").run();
    case.agrees(What::Goodput, &[(RENOS, Chance), (OTHERS, Chance)]);
}

#[test]
fn reno_of_four_rtts_on_newreno() {
    let case = Case::c("C newreno 80 us", "newreno", "reno").overhead("80 us").runs(12).run();
    case.agrees(What::Goodput, &each([Chance, FewLosses, FewLosses, FewLosses]));
}

/// ns-2's Linux agent without overhead, next to `sack`: phases lock, but alike in both. All flows start within two
/// seconds, at random, so that a mean is over many ways to lock.
#[test]
fn reno_beside_the_controls_of_linux_without_overhead() {
    for (name, control, [reno, other]) in [
        ("D linux bic", "bic-linux", [Chance; 2]),
        ("D linux highspeed", "hstcp-table", [Differs(0.06), Chance]),
        ("D linux compound", "compound-linux", [Chance; 2]),
        ("D linux illinois", "illinois-linux", [Chance, Differs(0.04)]),
    ] {
        let case = Case::d(name, "sack", control).spread(2.0).run();
        case.agrees(What::Goodput, &[(RENOS, reno), (OTHERS, other)]);
    }
}

#[test]
fn bic_of_four_rtts_with_other_traffic() {
    // The rounding of ns-2's clock lets the flow of the shorter RTT be first in every pair of these, from 64 s on
    // (`rounding_decides_who_is_first_in_ns2`): 2 us between the RTTs do so here.
    let flows = [60.0, 80.002, 100.004, 120.006].map(|rtt| ("bic-linux", rtt));
    let case = Case::new("C linux bic poisson", "linux-2.6", &flows).poisson("5 Mbit/s").run();
    case.agrees(What::Goodput, &each([Chance; 4]));
}

#[test]
fn reno_beside_highspeed_with_other_traffic() {
    let case = Case::d("D linux highspeed poisson", "sack", "hstcp-table").poisson("5 Mbit/s").run();
    case.agrees(What::Goodput, &[(RENOS, FewLosses), (OTHERS, Chance)]);
    case.agrees(What::Cuts, &[(RENOS, FewLosses), (OTHERS, Chance)]);
}

#[test]
fn reno_beside_illinois_with_other_traffic() {
    let case = Case::d("D linux illinois poisson", "sack", "illinois-linux").poisson("5 Mbit/s").run();
    case.agrees(What::Goodput, &[(RENOS, FewLosses), (OTHERS, Chance)]);
}

/// With an overhead ns-2's Linux agent grows only on the first acknowledgement of each delayed send, and `linux-2.6` does.
#[test]
fn bic_of_four_rtts_on_linux_2_6() {
    let case = Case::c("C linux bic 0.5 ms", "linux-2.6", "bic-linux").overhead("500 us").run();
    case.agrees(What::Goodput, &each([Chance, FewLosses, FewLosses, FewLosses]));
    case.agrees(What::Cuts, &each([Chance; 4]));
}

#[test]
fn highspeed_of_four_rtts_on_linux_2_6() {
    let case = Case::c("C linux highspeed 0.5 ms", "linux-2.6", "hstcp-table").overhead("500 us").run();
    case.agrees(What::Goodput, &each([Chance, FewLosses, FewLosses, FewLosses]));
}

#[test]
#[ignore = "long: make test-all"]
fn others_of_four_rtts_on_linux_2_6() {
    for (name, control, tolerances) in [
        ("C linux compound 0.5 ms", "compound-linux", [Chance, Chance, Chance, FewLosses]),
        ("C linux htcp 0.5 ms", "htcp-linux", [Chance, Chance, Chance, Differs(0.11)]),
        ("C linux cubic 0.5 ms", "cubic", [Chance, FewLosses, FewLosses, FewLosses]),
        ("C linux illinois 0.5 ms", "illinois-linux", [Chance, FewLosses, FewLosses, FewLosses]),
    ] {
        let case = Case::c(name, "linux-2.6", control).overhead("500 us").run();
        case.agrees(What::Goodput, &each(tolerances));
    }
}

/// Reno has 7 to 17 % more than in ns-2 next to all of these. Each alone is within what chance explains, all together are
/// not; docs/validation.md, *What is left*, says what was tried to find out why.
#[test]
#[ignore = "long: make test-all"]
fn reno_beside_others_on_linux_2_6() {
    for (name, control, [reno, other]) in [
        ("D linux bic 0.5 ms", "bic-linux", [FewLosses, Chance]),
        ("D linux compound 0.5 ms", "compound-linux", [Chance, Differs(0.04)]),
        ("D linux htcp 0.5 ms", "htcp-linux", [Chance; 2]),
        ("D linux cubic 0.5 ms", "cubic", [FewLosses, Chance]),
        ("D linux illinois 0.5 ms", "illinois-linux", [Chance; 2]),
    ] {
        let case = Case::d(name, "linux-2.6", control).overhead("500 us").run();
        case.agrees(What::Goodput, &[(RENOS, reno), (OTHERS, other)]);
    }
    let case = Case::d("D linux highspeed 0.5 ms", "linux-2.6", "hstcp-table").overhead("500 us").recorded();
    case.agrees(What::Goodput, &[(RENOS, Chance), (OTHERS, Chance)]);
    case.episodes_agree([0.10, 0.10, 0.10]);
}

/// Which of two flows is first at the bottleneck when its packet and one of the other flow would come at one instant, in
/// the double-precision clock of ns-2 from `from_s` on: 0 or 1, or none where it varies. A saturated bottleneck sends a
/// packet per slot, and the clock adds a slot's length each time; a packet that left in a slot comes back after two
/// hops of the bottleneck and four of its access links of 10 Gbit/s, each an addition to the clock. The packet of the
/// longer RTT left as many slots earlier as the RTTs differ by.
fn first_in_ns2(rate_mbps: f64, [short_ms, long_ms]: [f64; 2], from_s: f64) -> Option<usize> {
    let (slot, ack) = (8000.0 / (rate_mbps * 1e6), 320.0 / (rate_mbps * 1e6));
    let (packet_at_access, ack_at_access) = (8000.0 / 1e10, 320.0 / 1e10);
    let delay = short_ms / 2e3;
    let returns = |left: f64, rtt_ms: f64| {
        let access = (rtt_ms / 1e3 / 2.0 - delay) / 2.0;
        let there = left + (slot + delay) + (packet_at_access + access);
        there
            + (ack_at_access + access)
            + (ack + delay)
            + (ack_at_access + access)
            + (packet_at_access + access)
    };
    let apart = ((long_ms - short_ms) / 1e3 / slot).round() as usize;
    let slots: Vec<f64> =
        std::iter::successors(Some(from_s), |time| Some(time + slot)).take(apart + 2000).collect();
    let mut first = (apart..slots.len()).map(|index| {
        let (short, long) = (returns(slots[index], short_ms), returns(slots[index - apart], long_ms));
        assert!((short - long).abs() < 1e-9, "they come at different times");
        usize::from(long < short)
    });
    let winner = first.next()?;
    first.all(|other| other == winner).then_some(winner)
}

/// Within a power of two the rounding of a sum of equal terms goes one way, so all ties of a run go to one flow, and at
/// 64 s or 128 s possibly to the other. So in ns-2 on 200 Mbit/s with RTTs of 60 and 160 ms: BIC's
/// longer flow loses until 128 s and wins after that.
#[test]
fn rounding_decides_who_is_first_in_ns2() {
    for from_s in [64.0, 128.0] {
        for rtts in [[60.0, 80.0], [60.0, 100.0], [60.0, 120.0]] {
            assert_eq!(first_in_ns2(100.0, rtts, from_s), Some(0));
        }
        assert_eq!(first_in_ns2(80.0, [60.0, 162.0], from_s), Some(1));
    }
    assert_eq!(first_in_ns2(200.0, [60.0, 160.0], 64.0), Some(0));
    assert_eq!(first_in_ns2(200.0, [60.0, 160.0], 128.0), Some(1));
    let table = Table::read(DELIVERED);
    let packets = |time_s: f64| {
        let mut rows = table.case("tie bic 200 Mbit/s").filter(|row| row.number("flow") == 1.0);
        rows.find(|row| row.number("time_s") == time_s).unwrap().number("packets")
    };
    let rate = |from_s: f64, to_s: f64| (packets(to_s) - packets(from_s)) / (to_s - from_s);
    assert!(rate(120.0, 128.0) < rate(64.0, 72.0) / 2.0, "the longer flow does not fall until 128 s");
    assert!(rate(188.0, 196.0) > 10.0 * rate(120.0, 128.0), "the longer flow does not climb after 128 s");
    // So ns-2 without the two microseconds is ns-2 with the longer flow first, and not with the shorter.
    for control in ["cubic", "illinois", "veno"] {
        let of = |who: &str| mean(reference(&format!("ratio 2.7 {control} {who}"), &[1], What::Goodput));
        assert!((of("tie") / of("long first") - 1.0).abs() < 0.25, "{control}");
        assert!(of("tie") > 1.5 * of("short first"), "{control}");
    }
}

/// RTTs of 1 : 2.7 and a buffer of a third of the longer path: where two packets come to the full queue at one instant,
/// the order of simultaneous packets decides the shares. Two microseconds on one RTT decide it, in ns-2 as here.
#[test]
#[ignore = "long: make test-all"]
fn who_comes_first_decides_between_unequal_rtts() {
    const EIGHTY: &str =
        "rate = \"80 Mbit/s\"\ndelay = \"DELAY\"\nqueue = { kind = \"droptail\", limit = \"540 packets\" }\n";
    for (control, names) in [
        ("cubic", ["ratio 2.7 cubic long first", "ratio 2.7 cubic short first"]),
        ("illinois-linux", ["ratio 2.7 illinois long first", "ratio 2.7 illinois short first"]),
        ("bic-linux", ["ratio 2.7 bic long first", "ratio 2.7 bic short first"]),
        ("veno", ["ratio 2.7 veno long first", "ratio 2.7 veno short first"]),
    ] {
        for (name, rtts) in names.into_iter().zip([[60.002, 162.0], [60.0, 162.002]]) {
            let flows = rtts.map(|rtt| (control, rtt));
            let case = Case { path: EIGHTY, ..Case::new(name, "linux-2.6", &flows).poisson("4 Mbit/s") };
            // The one that is second has 1.5 to 40 of 76 Mbit/s, which a loss event more or less changes by a third, and ns-2
            // has two seeds. Their order changes these numbers by factors of 1.5 to 25.
            let second = usize::from(name.ends_with("short first"));
            case.run().agrees(What::Goodput, &[(&[1 - second], Fixed(0.20)), (&[second], Fixed(0.50))]);
        }
    }
}
