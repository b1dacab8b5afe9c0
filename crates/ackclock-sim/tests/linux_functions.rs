//! Every `-linux` control, function by function, against the kernel's own: `tests/data/linux/functions.csv` has what Linux 6.12
//! did with given windows and given losses, and what a simulation needs to repeat it.

use std::fmt::Write as _;

use ackclock_cc::registry::Catalogue;
use ackclock_scenario::{Loss, read_toml};
use ackclock_sim::BuiltIn;
use ackclock_trace::Column;

use crate::common;
use crate::common::page;
use crate::common::table::{OF_LINUX, Row, Table, known_difference};

/// What Linux writes for no threshold.
const UNLIMITED: &str = "2147483647";

/// `-linux` controls that Linux 6.12 does not have, and what they are compared with.
const OTHERS: &[(&str, &str)] = &[
    ("bbr3-linux", "no oracle: no released kernel has it"),
    ("compound-linux", "the module in ns-2.35: ns2.rs"),
];

fn numbers(field: &str) -> Vec<i64> {
    field.split_whitespace().map(|number| number.parse().unwrap()).collect()
}

/// The same case in the simulator: the window in the middle of each round trip.
fn simulated(control: &str, row: &Row<'_>) -> Vec<f64> {
    let rounds = numbers(row.text("windows")).len();
    let rtt_ms = row.number("rtt_ms");
    let ssthresh = match row.text("ssthresh") {
        UNLIMITED => "\"unlimited\"",
        packets => packets,
    };
    // Times count from the start of the flow, whose handshake takes a round trip.
    let requests: Vec<_> = row
        .text("packets_at")
        .split(' ')
        .map(|request| {
            let (packets, at_ms) = request.split_once('@').unwrap();
            let (packets, at_ms) = (packets.parse::<u32>().unwrap(), at_ms.parse::<f64>().unwrap());
            let at_ms = if at_ms > 0.0 { at_ms + rtt_ms } else { 0.0 };
            format!("[\"{at_ms} ms\", \"{} B\"]", packets * 1014)
        })
        .collect();
    let text = format!(
        "run = {{ duration = \"{} ms\", sample = \"{} ms\" }}\n\
         tcp = {{ profile = \"linux\", packet = \"1014 B\", ack = \"66 B\", handshake = true }}\n\
         dumbbell = {{ rate = \"{} Mbit/s\", delay = \"{} ms\", \
         queue = {{ kind = \"droptail\", limit = \"60000 packets\" }}, reverse = {{ rate = \"100 Gbit/s\" }} }}\n\
         [[flow]]\ncontroller = \"{control}\"\nrtt = \"{rtt_ms} ms\"\ninitial_window = {}\n\
         initial_ssthresh = {ssthresh}\ndelayed_ack = {}\nsource = \"requests\"\nschedule = [{}]\n",
        (rounds as f64 + 1.5) * rtt_ms,
        rtt_ms / 2.0,
        row.number("rate_mbps"),
        rtt_ms / 2.0,
        // That of Linux's Hybla is a number of its own.
        numbers(row.text("windows"))[0],
        row.number("delayed_ack"),
        requests.join(", "),
    );
    let mut scenario = read_toml(&text, "functions", &[], &BuiltIn).unwrap().scenario;
    for (link, column) in [(0, "lost"), (1, "acks_lost")] {
        let lost = numbers(row.text(column));
        if !lost.is_empty() {
            // The packet of the handshake is the first.
            let pattern: Vec<_> = (0..100_000).map(|number| lost.contains(&(number - 1))).collect();
            scenario.links[link].loss = Loss::Trace { lost: pattern.into() };
        }
    }
    let (_, tables) = common::run_with(&scenario, 0, true, u64::MAX);
    let windows = &tables.iter().find(|(name, _)| *name == "windows").unwrap().1;
    let column = |name: &str| {
        let (_, values) = windows.columns.iter().find(|(column, _)| *column == name).unwrap();
        let Column::Real(values) = values else { panic!("{name} is a number") };
        values
    };
    let (times, windows) = (column("time_s"), column("window"));
    let at = |round: usize| {
        let time_s = (round as f64 + 1.5) * rtt_ms / 1000.0;
        times.iter().position(|sample_s| (sample_s - time_s).abs() < 1e-6).expect("a sample")
    };
    (0..rounds).map(|round| windows[at(round)]).collect()
}

/// The largest difference of windows that is more than one packet, in percent of the kernel's. Kernel and control mean
/// different things by the window while lost packets are repaired (states CWR and Recovery): there the kernel's is brought
/// down packet by packet.
fn difference(ours: &[f64], row: &Row<'_>) -> f64 {
    let samples = ours.iter().zip(numbers(row.text("windows"))).zip(numbers(row.text("states")));
    let compared = samples.filter(|(_, state)| ![2, 3].contains(state));
    // The kernel's window is whole; rounding errors are smaller than any step.
    let differences =
        compared.map(|((ours, kernel), _)| (kernel, (ours + 1.0 / 4096.0).floor() - kernel as f64));
    differences
        .filter(|(_, difference)| difference.abs() > 1.0)
        .map(|(kernel, difference)| 100.0 * difference.abs() / kernel as f64)
        .fold(0.0, f64::max)
}

/// A window may differ by a packet or 2 %: a loss may be found an acknowledgement earlier or later. BBR's depends on rates that
/// are measured, and may differ by 10 %. What differs more is in `differences.csv`, by how much and why.
#[test]
fn every_function_as_in_the_kernel() {
    let table = Table::of_linux("functions.csv");
    let mut wrong = Vec::new();
    for (control, in_kernel) in OF_LINUX {
        let mut lines = "| case | difference | cause |\n| --- | --- | --- |\n".to_owned();
        for row in table.case(in_kernel) {
            let case = row.text("case");
            let ours = simulated(control, &row);
            let percent = difference(&ours, &row);
            let usual = if *control == "bbr-linux" { 10.0 } else { 2.0 };
            let known = known_difference(control, case);
            println!(
                "{control}; {case}; {percent:.1} %\n  kernel {}\n  ours {ours:.1?}",
                row.text("windows")
            );
            // A difference that is gone is struck from the list.
            if known.map_or(percent > usual, |(most, _)| percent > most || percent <= usual) {
                wrong.push(format!("{control}, {case}: {percent:.1} %"));
            }
            let words = if percent == 0.0 { "none".to_owned() } else { format!("{percent:.0} %") };
            writeln!(lines, "| {case} | {words} | {} |", known.map_or("", |(_, cause)| cause)).unwrap();
        }
        if control.ends_with("-linux") {
            page::holds(&format!("controllers/{control}.md"), "functions", &lines);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Whoever adds a control of Linux measures it, too, or says what else it is compared with.
#[test]
fn every_control_of_linux_has_rows_or_another_oracle() {
    for entry in BuiltIn.entries().iter().filter(|entry| entry.name.ends_with("-linux")) {
        let measured = OF_LINUX.iter().any(|(control, _)| *control == entry.name);
        let others = OTHERS.iter().filter(|(control, _)| *control == entry.name).count();
        assert_eq!(usize::from(measured) + others, 1, "{}", entry.name);
    }
}
