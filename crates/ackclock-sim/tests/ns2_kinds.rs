//! Agreement with ns-2.35 in cases that differ in kind: several bottlenecks, data in both directions, few
//! acknowledgements, random loss, a buffer of four packets, unequal round trips, datagrams, many flows,
//! delayed acknowledgements, flows that start late, and RED in its four forms. ns-2's numbers are the cases
//! from `two hops` on in `tests/data/ns2`, six seeds each; ours are means over four runs. Starts are random
//! on both sides.
//!
//! Tolerances come from the scatter of the runs, which each comparison computes: three standard errors of the
//! difference of the two means, at least 2 %. A scatter that would allow more than 15 % fails, because such a
//! comparison says nothing. Where the two differ by more than chance, the tolerance holds that difference,
//! and a comment says why, or that it is not known. RED has fixed limits: 2 % of the total goodput and one
//! packet of the mean queue.

use std::fmt::Write as _;
use std::ops::Range;

use ackclock_scenario::read_toml;
use ackclock_sim::BuiltIn;
use ackclock_trace::{FlowSummary, LinkSummary, Summary};

use crate::common;
use crate::common::chance::Tolerance::{self, Chance, Differs, Fixed, Packets, Share};
use crate::common::chance::compare;
use crate::common::table::{Row, Table, mean};

/// The code of BIC in ns-2 is that of an older kernel.
const BIC_OF_NS2: &str = "params = { whole_counts = false }";
const FLOWS: &str = include_str!("../../../tests/data/ns2/flows.csv");
const LINKS: &str = include_str!("../../../tests/data/ns2/links.csv");
const RUNS: u64 = 4;
/// For mean queues: half a packet of sixteen.
const LENGTH: Tolerance = Share(0.03);
/// For drops and marks: their number is about the inverse square of the window, so 3 % of a window are 6 % of
/// them.
const COUNT: Tolerance = Share(0.06);

/// What is compared of a flow: the name of its column in `flows.csv`, and ours.
type OfFlow = (&'static str, fn(&FlowSummary) -> f64);

const GOODPUT: OfFlow = ("goodput_mbps", |flow| flow.goodput_mbps.unwrap());
const WINDOW: OfFlow = ("mean_window", |flow| flow.mean_window.unwrap());
/// ns-2 counts a timeout among the cuts.
const CUTS: OfFlow = ("cuts", |flow| (flow.whole_run.loss_events.unwrap() + flow.whole_run.timeouts) as f64);
const TIMEOUTS: OfFlow = ("timeouts", |flow| flow.whole_run.timeouts as f64);

/// What is compared of a link: the name of its column in `links.csv`, and ours.
type OfLink = (&'static str, fn(&LinkSummary) -> f64);

/// ns-2 does not count the packet in transmission, of which there is one for the share of time that the link
/// is busy.
const QUEUE: OfLink = ("mean_queue", |link| link.mean_queue_packets.unwrap() - link.utilisation.unwrap());
const DROPS: OfLink = ("drops", |link| link.queue_drops as f64);
const MARKS: OfLink = ("marks", |link| link.marks as f64);
const UTILISATION: OfLink = ("utilisation", |link| link.utilisation.unwrap());

/// A case of `cases.txt`, and our runs of it.
struct Done {
    name: &'static str,
    runs: Vec<Summary>,
}

impl Done {
    /// Runs the scenario that `text` describes.
    fn run(name: &'static str, text: &str) -> Done {
        let scenario = read_toml(text, name, &[], &BuiltIn).unwrap().scenario;
        let runs = (0..RUNS).map(|run| common::run_with(&scenario, run, false, u64::MAX).0).collect();
        Done { name, runs }
    }

    /// Compares the mean over a group of equal flows.
    fn flows(&self, what: OfFlow, flows: Range<usize>, tolerance: Tolerance) -> &Done {
        let (label, each) = (format!("{} of flows {flows:?}", what.0), 1.0 / flows.len() as f64);
        self.flows_times(each, &label, what, flows, tolerance)
    }

    /// Compares the sum of the goodputs.
    fn total_goodput(&self, flows: Range<usize>, tolerance: Tolerance) -> &Done {
        self.flows_times(1.0, &format!("sum of the goodputs of {flows:?}"), GOODPUT, flows, tolerance)
    }

    /// Compares `factor` times the sum over some flows.
    fn flows_times(
        &self,
        factor: f64,
        label: &str,
        (column, of_flow): OfFlow,
        flows: Range<usize>,
        tolerance: Tolerance,
    ) -> &Done {
        let table = Table::read(FLOWS);
        let theirs = self.per_seed(&table, column, |row| flows.contains(&(row.number("flow") as usize)));
        let theirs: Vec<f64> = theirs.iter().map(|sum| factor * sum).collect();
        let of_run = |run: &Summary| factor * run.flows[flows.clone()].iter().map(of_flow).sum::<f64>();
        let ours: Vec<f64> = self.runs.iter().map(of_run).collect();
        self.compare(label, &theirs, &ours, tolerance)
    }

    /// Compares one direction of a link; 0 and 1 are those of the first link, 2 and 3 of the second.
    fn link(&self, (column, of_link): OfLink, number: usize, tolerance: Tolerance) -> &Done {
        let table = Table::read(LINKS);
        let theirs = self.per_seed(&table, column, |row| row.number("link") as usize == number);
        let ours: Vec<f64> = self.runs.iter().map(|run| of_link(&run.links[number])).collect();
        self.compare(&format!("{column} of link {number}"), &theirs, &ours, tolerance)
    }

    /// Compares queue, drops and utilisation of one direction of a link.
    fn bottleneck(&self, number: usize) -> &Done {
        self.link(QUEUE, number, LENGTH).link(DROPS, number, COUNT).link(UTILISATION, number, Chance)
    }

    /// The sums of a column over the chosen rows of each seed of ns-2.
    fn per_seed(&self, table: &Table, column: &str, chosen: impl Fn(&Row) -> bool) -> Vec<f64> {
        let mut sums: Vec<(f64, f64)> = Vec::new();
        for row in table.case(self.name).filter(|row| chosen(row)) {
            let (seed, value) = (row.number("seed"), row.number(column));
            match sums.iter_mut().find(|(other, _)| *other == seed) {
                Some((_, sum)) => *sum += value,
                None => sums.push((seed, value)),
            }
        }
        sums.into_iter().map(|(_, sum)| sum).collect()
    }

    fn compare(&self, what: &str, theirs: &[f64], ours: &[f64], tolerance: Tolerance) -> &Done {
        compare(&format!("{}: {what}", self.name), theirs, ours, tolerance);
        self
    }
}

/// The beginning of a scenario: how long, what of it is left out, and keys of `[tcp]`.
fn run(duration_s: u32, warmup_s: u32, tcp: &str) -> String {
    format!("[run]\nduration = \"{duration_s} s\"\nwarmup = \"{warmup_s} s\"\n[tcp]\n{tcp}\n")
}

/// Rate, delay and queue of a link.
fn link(rate: &str, delay: &str, queue: &str) -> String {
    format!("rate = \"{rate}\"\ndelay = \"{delay}\"\nqueue = {{ {queue} }}\n")
}

fn dumbbell(rate: &str, delay: &str, queue: &str) -> String {
    format!("[dumbbell]\n{}", link(rate, delay, queue))
}

fn droptail(packets: u32) -> String {
    format!("kind = \"droptail\", limit = \"{packets} packets\"")
}

/// `count` flows that start within `spread_s` seconds, with other keys in `more`.
fn flows_within(spread_s: u32, count: usize, controller: &str, more: &str) -> String {
    let start = format!("start = {{ uniform = [\"0 s\", \"{spread_s} s\"] }}");
    format!("[[flow]]\ncontroller = \"{controller}\"\ncount = {count}\n{start}\n{more}\n")
}

/// `count` flows of an RTT that start within two seconds, with other keys in `more`.
fn flows(count: usize, controller: &str, rtt: &str, more: &str) -> String {
    flows_within(2, count, controller, &format!("rtt = \"{rtt}\"\n{more}"))
}

fn datagrams(source: &str, rate: &str) -> String {
    format!("[[flow]]\nsource = \"{source}\"\nrate = \"{rate}\"\n")
}

/// A random delay before each send, of about the time of a packet on the link: without it phases decide.
const OVERHEAD: &str = "overhead = \"1 ms\"";

/// Two flows over both bottlenecks, and two over each.
#[test]
fn two_hops() {
    let path = format!("[parking_lot]\nhops = 2\n{}", link("8 Mbit/s", "10 ms", &droptail(30)));
    let text = run(160, 20, OVERHEAD)
        + &path
        + &flows(2, "reno", "81.2 ms", "")
        + &flows(2, "reno", "60 ms", "to = \"n1\"")
        + &flows(2, "reno", "39.2 ms", "from = \"n1\"\nrecovery = \"newreno\"");
    let done = Done::run("two hops", &text);
    done.flows(GOODPUT, 0..2, Chance);
    done.flows(GOODPUT, 2..4, Chance).flows(GOODPUT, 4..6, Chance);
    done.bottleneck(0).bottleneck(2);
}

/// Two flows over all three bottlenecks, and two over each.
#[test]
fn three_hops() {
    let path = format!("[parking_lot]\nhops = 3\n{}", link("10 Mbit/s", "5 ms", &droptail(40)));
    let text = run(160, 20, OVERHEAD)
        + &path
        + &flows(2, "reno", "61.6 ms", "")
        + &flows(2, "reno", "72.4 ms", "to = \"n1\"")
        + &flows(2, "reno", "47.6 ms", "from = \"n1\"\nto = \"n2\"\nrecovery = \"newreno\"")
        + &flows(2, "hstcp", "32.8 ms", "from = \"n2\"");
    let done = Done::run("three hops", &text);
    // The long flows have 9 ± 4 % more than in ns-2, the others 2 % less; why was not found. Over two hops they
    // agree.
    done.flows(GOODPUT, 0..2, Share(0.20));
    for group in [2..4, 4..6, 6..8] {
        done.flows(GOODPUT, group, Share(0.04));
    }
    done.bottleneck(0).bottleneck(2).bottleneck(4);
}

/// Acknowledgements queue behind the data of the other direction, so it matters where the delay outside of
/// the bottleneck is. ns-2's access links delay at both ends; the `rtt` of a flow delays at its sender alone,
/// and with that these flows would have 17 % less.
#[test]
fn both_ways() {
    let access = link("10 Gbit/s", "5 ms", &droptail(100_000));
    // By default the other direction has room for a thousand packets.
    let shared = link("6 Mbit/s", "20 ms", &droptail(25))
        + &format!("reverse = {{ queue = {{ {} }} }}\n", droptail(25));
    let mut text = run(200, 20, OVERHEAD);
    for node in ["left", "near", "far", "right"] {
        write!(text, "[[node]]\nname = \"{node}\"\n").unwrap();
    }
    for (from, to, keys) in
        [("near", "far", shared), ("left", "near", access.clone()), ("far", "right", access)]
    {
        write!(text, "[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\n{keys}").unwrap();
    }
    text += &flows_within(2, 2, "reno", "from = \"left\"\nto = \"right\"");
    text += &flows_within(2, 2, "reno", "from = \"right\"\nto = \"left\"");
    let done = Done::run("both ways", &text);
    for direction in [0, 1] {
        done.flows(GOODPUT, 2 * direction..2 * direction + 2, Chance);
        // Two standard errors of the drops are 10 % of them, so these are not compared.
        done.link(QUEUE, direction, LENGTH).link(UTILISATION, direction, Chance);
    }
}

/// 625 acknowledgements per second fit through where 1250 packets per second may come; half of them are lost.
fn with_few_acknowledgements(recovery: &str) -> String {
    let few = format!("reverse = {{ rate = \"0.2 Mbit/s\", queue = {{ {} }} }}\n", droptail(8));
    run(200, 20, &format!("recovery = \"{recovery}\"\n{OVERHEAD}"))
        + &dumbbell("10 Mbit/s", "20 ms", &droptail(40))
        + &few
        + &flows(3, "reno", "60 ms", "")
}

#[test]
fn few_acknowledgements() {
    let done = Done::run("thin acks", &with_few_acknowledgements("newreno"));
    // With 24 runs of ours 2.3 ± 0.7 % more goodput than in ns-2 and so 4.3 ± 1.2 % more acknowledgements
    // that are lost: 29 timeouts per flow here and 21 there, at fewer cuts there; why was not found.
    done.flows(GOODPUT, 0..3, Share(0.04)).link(QUEUE, 1, LENGTH).link(DROPS, 1, Share(0.08));
}

/// ns-2's Sack1 takes one packet for gone with each acknowledgement in a recovery, so those that are lost
/// leave it waiting for packets that have long arrived, until a timeout: 25 of them per flow in 200 s. RFC
/// 6675 counts what has been reported, and has none. Its flows have 9 % more.
#[test]
fn few_acknowledgements_on_sack() {
    let done = Done::run("thin acks sack1", &with_few_acknowledgements("sack"));
    done.flows(GOODPUT, 0..3, Share(0.12));
}

/// One flow that loses nothing else: goodput and cuts.
fn with_random_loss(name: &'static str, duration_s: u32, path: &str, rtt: &str, keys: [&str; 2]) -> Done {
    let [recovery, controller] = keys;
    let text = run(duration_s, 20, &format!("recovery = \"{recovery}\""))
        + path
        + &format!("loss = {{ kind = \"bernoulli\", rate = \"{}\" }}\n", name.strip_prefix("loss ").unwrap())
        + &flows(1, controller, rtt, if controller == "bic-linux" { BIC_OF_NS2 } else { "" });
    let done = Done::run(name, &text);
    done.flows(GOODPUT, 0..1, Chance).flows(CUTS, 0..1, Chance);
    done
}

#[test]
fn random_loss() {
    let path = dumbbell("20 Mbit/s", "25 ms", &droptail(1000));
    with_random_loss("loss 0.1 %", 520, &path, "50 ms", ["linux-2.6", "bic-linux"]);
    let path = dumbbell("10 Mbit/s", "20 ms", &droptail(1000));
    with_random_loss("loss 1 %", 1020, &path, "40 ms", ["newreno", "reno"]).flows(WINDOW, 0..1, Chance);
    let path = dumbbell("10 Mbit/s", "30 ms", &droptail(1000));
    let done = with_random_loss("loss 5 %", 2020, &path, "60 ms", ["sack", "reno"]);
    // At equal goodput, window and cuts there are 19 % more timeouts here; why was not found. With 1 and 2 %
    // loss there are 16 ± 8 % and 9 ± 8 % fewer.
    done.flows(WINDOW, 0..1, Chance).flows(TIMEOUTS, 0..1, Share(0.25));
}

/// Six flows with room for three packets each, in pipe and buffer together: they live from timeout to
/// timeout.
#[test]
fn a_buffer_of_four_packets() {
    let text = run(200, 20, OVERHEAD)
        + &dumbbell("5 Mbit/s", "15 ms", &droptail(4))
        + &flows(6, "reno", "30 ms", "");
    let done = Done::run("tiny buffer", &text);
    done.flows(GOODPUT, 0..6, Chance).bottleneck(0);
    done.flows(TIMEOUTS, 0..6, Chance).flows(CUTS, 0..6, Share(0.04));
}

/// Four flows whose RTTs are whole times of a packet, 4 ms, in the order of `access_ms` on either side. What fast retransmit and
/// limited transmit send waits for no overhead, so that two flows' packets come to one free place at the same instant.
fn at_one_instant(name: &'static str, recovery: &str, access_ms: [u32; 4]) -> Done {
    let mut text = run(270, 20, &format!("recovery = \"{recovery}\"\n{OVERHEAD}"));
    let mut add = |from: &str, to: &str, keys: String| {
        write!(text, "[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\n{keys}").unwrap();
    };
    add("near", "far", link("2 Mbit/s", "10 ms", &droptail(10)));
    for access_ms in access_ms {
        let access = || link("10 Gbit/s", &format!("{access_ms} ms"), &droptail(100_000));
        add(&format!("s{access_ms}"), "near", access());
        add("far", &format!("d{access_ms}"), access());
    }
    for access_ms in access_ms {
        text += &flows_within(2, 1, "reno", &format!("from = \"s{access_ms}\"\nto = \"d{access_ms}\""));
    }
    Done::run(name, &text)
}

/// What ns-2 gives does not depend on the order of the flows: we infer that there the packet comes first that has been on its
/// way for longer, as its event was scheduled earlier. Ours prefers the flow that is first in the scenario, here the one with
/// the longest RTT.
#[test]
fn packets_at_one_instant() {
    let newreno = at_one_instant("whole times newreno", "newreno", [3, 2, 1, 0]);
    let sack = at_one_instant("whole times sack1", "sack", [3, 2, 1, 0]);
    // After a timeout Sack1 forgets what was reported, and its flows with small windows have many; without limited transmit both
    // agree, and how that plays together was not found.
    for (flow, of_sack) in [Differs(0.08), Chance, Differs(0.11), Differs(0.18)].into_iter().enumerate() {
        newreno.flows(GOODPUT, flow..flow + 1, Chance);
        sack.flows(GOODPUT, flow..flow + 1, of_sack);
    }
    // The other way round the flow with the shortest RTT wins the ties, and has an eighth more.
    let first = at_one_instant("whole times newreno", "newreno", [0, 1, 2, 3]);
    let goodput = |done: &Done, flow: usize| mean(done.runs.iter().map(|run| (GOODPUT.1)(&run.flows[flow])));
    let gain = goodput(&first, 0) / goodput(&newreno, 3);
    println!("the order of the flows: {gain:.3}");
    assert!(gain > 1.05, "{gain}");
}

#[test]
fn three_round_trip_times() {
    let text = run(200, 20, "overhead = \"0.5 ms\"")
        + &dumbbell("20 Mbit/s", "15 ms", &droptail(60))
        + &flows(2, "hstcp", "30 ms", "")
        + &flows(2, "hstcp", "61.1 ms", "")
        + &flows(2, "hstcp", "123.3 ms", "")
        + &datagrams("poisson", "1 Mbit/s");
    let done = Done::run("three rtts", &text);
    for group in [0..2, 2..4, 4..6] {
        done.flows(GOODPUT, group, Chance);
    }
    done.bottleneck(0);
}

#[test]
fn next_to_a_constant_rate() {
    let text = run(200, 20, &format!("recovery = \"newreno\"\n{OVERHEAD}"))
        + &dumbbell("10 Mbit/s", "20 ms", &droptail(30))
        + &flows(3, "reno", "60 ms", "")
        + &datagrams("cbr", "4 Mbit/s");
    let done = Done::run("cbr", &text);
    done.flows(GOODPUT, 0..3, Chance).bottleneck(0);
}

#[test]
fn next_to_a_poisson_process() {
    let text = run(200, 20, "recovery = \"linux-2.6\"")
        + &dumbbell("12 Mbit/s", "20 ms", &droptail(40))
        + &flows(2, "reno", "60 ms", "")
        + &flows(2, "bic-linux", "60 ms", BIC_OF_NS2)
        + &datagrams("poisson", "6 Mbit/s");
    let done = Done::run("poisson", &text);
    done.flows(GOODPUT, 0..2, Chance).flows(GOODPUT, 2..4, Chance).total_goodput(0..4, Chance);
    // Nine of ten drops are datagrams. TCP has 0.8 ± 0.2 % more of the full link than in ns-2 (24 runs of
    // ours), and what the datagrams lose by that is 9 % of their drops.
    done.link(QUEUE, 0, LENGTH).link(DROPS, 0, Share(0.13));
}

#[test]
fn twenty_flows() {
    let text = run(150, 20, OVERHEAD)
        + &dumbbell("20 Mbit/s", "20 ms", &droptail(50))
        + &flows_within(5, 10, "reno", "rtt = \"50 ms\"")
        + &flows_within(5, 10, "reno", "rtt = \"90.28 ms\"");
    let done = Done::run("twenty", &text);
    // The longer ones have 2.2 ± 1.1 % more than in ns-2.
    done.flows(GOODPUT, 0..10, Chance).flows(GOODPUT, 10..20, Share(0.04)).bottleneck(0);
}

#[test]
fn delayed_acknowledgements() {
    let text = run(200, 20, &format!("delayed_ack = 2\n{OVERHEAD}"))
        + &dumbbell("8 Mbit/s", "20 ms", &droptail(30))
        + &flows(3, "reno", "60 ms", "");
    let done = Done::run("delayed acks", &text);
    done.flows(GOODPUT, 0..3, Chance).flows(CUTS, 0..3, Chance);
    done.bottleneck(0);
}

/// Two flows from the beginning, two that start when the measured time does, and five transfers of 300
/// packets.
#[test]
fn flows_that_start_late() {
    let from = |start_s: u32| format!("start = {{ uniform = [\"{start_s} s\", \"{} s\"] }}\n", start_s + 2);
    let flow = "[[flow]]\ncontroller = \"reno\"\nrtt = \"60 ms\"\n";
    let mut text = run(122, 62, OVERHEAD) + &dumbbell("10 Mbit/s", "20 ms", &droptail(40));
    write!(text, "{flow}count = 2\n{}", from(0)).unwrap();
    write!(text, "{flow}count = 2\n{}", from(60)).unwrap();
    for start_s in [65, 75, 85, 95, 105] {
        write!(text, "{flow}bytes = \"300 kB\"\n{}", from(start_s)).unwrap();
    }
    let done = Done::run("late", &text);
    // The early ones have 1.2 ± 1.1 % less than in ns-2, and the late ones 1.9 ± 1.2 % more.
    done.flows(GOODPUT, 0..2, Share(0.05)).flows(GOODPUT, 2..4, Share(0.05)).link(QUEUE, 0, LENGTH);
}

/// Control, recovery, RTT and number of some equal flows.
type Group = (&'static str, &'static str, &'static str, usize);

/// A path with RED, and the flows on it.
struct Red<'a> {
    name: &'static str,
    rate: &'a str,
    delay: &'a str,
    queue: &'a str,
    flows: &'a [Group],
}

impl Red<'_> {
    /// Goodput of each group, of all, and the mean queue.
    fn agrees(&self, tcp: &str) -> Done {
        let queue = format!("limit = \"2000 packets\", {}", self.queue);
        let mut text = run(200, 20, tcp) + &dumbbell(self.rate, self.delay, &queue);
        for (controller, recovery, rtt, count) in self.flows {
            text += &flows(*count, controller, rtt, &format!("recovery = \"{recovery}\""));
        }
        let done = Done::run(self.name, &text);
        let mut first = 0;
        for (.., count) in self.flows {
            done.flows(GOODPUT, first..first + count, Chance);
            first += count;
        }
        done.total_goodput(0..first, Fixed(0.02)).link(QUEUE, 0, Packets(1.0));
        done
    }
}

const FIVE: &str = "kind = \"red\", min_threshold = 5, max_threshold = 15, weight = 0.002";
const TWELVE: &str = "kind = \"red\", min_threshold = 8, max_threshold = 24, weight = 0.002";
const TWENTY_FIVE: &str = "kind = \"red\", min_threshold = 10, max_threshold = 30, weight = 0.001";
const TWO_RTTS: &[Group] = &[("reno", "sack", "50 ms", 3), ("reno", "sack", "90 ms", 3)];
const EIGHT: &[Group] = &[("reno", "sack", "60 ms", 8)];

#[test]
fn red() {
    const EACH: &[Group] = &[("reno", "sack", "60 ms", 4), ("reno", "newreno", "60 ms", 4)];
    for case in [
        Red { name: "red 5 Mbit/s", rate: "5 Mbit/s", delay: "25 ms", queue: FIVE, flows: &EACH[..1] },
        Red { name: "red 12 Mbit/s", rate: "12 Mbit/s", delay: "20 ms", queue: TWELVE, flows: TWO_RTTS },
        Red { name: "red 25 Mbit/s", rate: "25 Mbit/s", delay: "20 ms", queue: TWENTY_FIVE, flows: EACH },
    ] {
        case.agrees("").link(DROPS, 0, COUNT);
    }
}

/// An acknowledgement with an echo must not let the window grow (RFC 3168, section 6.1.2), and echoes come
/// until the receiver sees that the window was cut, for a round trip. Growth in that time makes 13 to 33 %
/// more marks, here and in ns-2 with `old_ecn_`.
#[test]
fn red_with_ecn() {
    for (name, rate, delay, queue, flows) in [
        ("red ecn 5 Mbit/s", "5 Mbit/s", "25 ms", FIVE, &[("reno", "sack", "60 ms", 4)][..]),
        ("red ecn 12 Mbit/s", "12 Mbit/s", "20 ms", TWELVE, TWO_RTTS),
        ("red ecn 25 Mbit/s", "25 Mbit/s", "20 ms", TWENTY_FIVE, EIGHT),
    ] {
        let queue = &format!("{queue}, ecn = true");
        Red { name, rate, delay, queue, flows }.agrees("ecn = true").link(MARKS, 0, COUNT);
    }
}

#[test]
fn red_with_ecn_and_three_round_trip_times() {
    let queue = "kind = \"red\", ecn = true, min_threshold = 6, max_threshold = 24, weight = 0.002";
    let flows: &[Group] =
        &[("reno", "sack", "30 ms", 2), ("reno", "sack", "60 ms", 2), ("reno", "sack", "120 ms", 2)];
    let case = Red { name: "red ecn rtts", rate: "15 Mbit/s", delay: "15 ms", queue, flows };
    case.agrees("ecn = true").link(MARKS, 0, COUNT);
}

/// Thresholds and weight are those that ns-2 chooses, which `red.csv` has and which ours are by default. Its
/// max_p does not fall below 80 kbit/s over the link's rate, where that is less than 0.01.
#[test]
fn adaptive_red() {
    for (name, rate, delay, queue, flows) in [
        ("ared 5 Mbit/s", "5 Mbit/s", "25 ms", "kind = \"ared\"", &[("reno", "sack", "60 ms", 5)][..]),
        ("ared 12 Mbit/s", "12 Mbit/s", "20 ms", "kind = \"ared\"", TWO_RTTS),
        ("ared 25 Mbit/s", "25 Mbit/s", "20 ms", "kind = \"ared\"", EIGHT),
    ] {
        Red { name, rate, delay, queue, flows }.agrees("").link(DROPS, 0, COUNT);
    }
}

#[test]
fn gaimd_next_to_reno_over_red() {
    const FIVES: &[Group] = &[("reno", "sack", "60 ms", 2), ("gaimd", "sack", "60 ms", 2)];
    const TWELVES: &[Group] = &[("reno", "sack", "60 ms", 3), ("gaimd", "sack", "60 ms", 3)];
    const TWENTY_FIVES: &[Group] = &[("reno", "sack", "80 ms", 4), ("gaimd", "sack", "80 ms", 4)];
    for (name, rate, delay, queue, flows) in [
        ("red gaimd 5 Mbit/s", "5 Mbit/s", "25 ms", FIVE, FIVES),
        ("red gaimd 12 Mbit/s", "12 Mbit/s", "20 ms", TWELVE, TWELVES),
        ("red gaimd 25 Mbit/s", "25 Mbit/s", "20 ms", TWENTY_FIVE, TWENTY_FIVES),
    ] {
        Red { name, rate, delay, queue, flows }.agrees("").link(DROPS, 0, COUNT);
    }
}

/// The Vegas of TCP-Linux, which keeps 2 to 4 packets queued, next to Reno and to CUBIC, whose queues look like congestion
/// to it: its window within a packet, because it moves by whole packets, and what is left to the other within 2 %.
#[test]
fn vegas_yields() {
    for (name, buffer, other) in
        [("vegas next to reno", 100, "reno"), ("vegas next to cubic", 200, "cubic-linux")]
    {
        let text = run(200, 60, "recovery = \"linux-2.6\"\noverhead = \"400 us\"")
            + &dumbbell("20 Mbit/s", "25 ms", &droptail(buffer))
            + &flows(1, "vegas", "50 ms", "params = { alpha = 2, beta = 4 }")
            + &flows(1, other, "50 ms", "");
        let done = Done::run(name, &text);
        done.flows(WINDOW, 0..1, Packets(1.0)).flows(GOODPUT, 1..2, Fixed(0.02));
    }
}
