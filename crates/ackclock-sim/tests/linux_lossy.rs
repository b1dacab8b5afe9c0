//! Linux 6.12 and the simulator under random loss, with the same packets lost: the patterns and what the kernel did with them
//! are in `tests/data/linux`.

use ackclock_scenario::{Loss, read_toml};
use ackclock_sim::BuiltIn;

use std::fmt::Write as _;

use crate::common;
use crate::common::page;
use crate::common::table::{OF_LINUX, Table, known_difference, mean};

/// A path: rate in Mbit/s, RTT in ms, limit of its queue in packets.
struct Path {
    /// Of its tables.
    number: u32,
    name: &'static str,
    numbers: (u32, u32, u32),
}

/// As `lossy.py` has them.
const PATHS: [Path; 3] = [
    Path { number: 1, name: "8 Mbit/s, 80 ms, 0.2 %", numbers: (8, 80, 53) },
    Path { number: 2, name: "20 Mbit/s, 40 ms, 1 %", numbers: (20, 40, 66) },
    Path { number: 3, name: "10 Mbit/s, 100 ms, 3 %", numbers: (10, 100, 82) },
];
/// By how many percent the mean ratio of goodputs may differ from 1, but for `differences.csv`.
const USUAL: f64 = 3.0;

/// The share of a packet that is payload: 1448 of 1514 bytes.
const PAYLOAD: f64 = 1448.0 / 1514.0;
/// Packets that a pattern is about, with the handshake's.
const LONGEST: usize = 131_065;

/// Half of the 95 % interval of a mean, by Student's t.
fn interval(values: &[f64]) -> f64 {
    let (count, centre) = (values.len() as f64, mean(values.iter().copied()));
    let t = match values.len() {
        3 => 4.303,
        10 => 2.262,
        count => panic!("{count} patterns"),
    };
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    t * (squares / (count - 1.0) / count).sqrt()
}

/// Goodput in Mbit/s from 5 s to 45 s after the handshake, and mean window.
fn simulated(control: &str, path: &Path, lost: &[bool]) -> (f64, f64) {
    let (rate, rtt_ms, limit) = path.numbers;
    let text = format!(
        "run = {{ duration = \"{} ms\", warmup = \"{} ms\" }}\n\
         tcp = {{ profile = \"linux\", packet = \"1514 B\", ack = \"66 B\", handshake = true }}\n\
         dumbbell = {{ rate = \"{rate} Mbit/s\", delay = \"{} ms\", \
         queue = {{ kind = \"droptail\", limit = \"{limit} packets\" }}, reverse = {{ rate = \"100 Gbit/s\" }} }}\n\
         flow = [{{ controller = \"{control}\", rtt = \"{rtt_ms} ms\" }}]\n",
        45_000 + rtt_ms,
        5_000 + rtt_ms,
        rtt_ms / 2,
    );
    let mut scenario = read_toml(&text, "lossy", &[], &BuiltIn).unwrap().scenario;
    scenario.links[0].loss = Loss::Trace { lost: lost.to_vec().into() };
    let flow = &common::run(&scenario).flows[0];
    (flow.goodput_mbps.unwrap() * PAYLOAD, flow.mean_window.unwrap())
}

#[test]
fn goodput_with_the_same_losses() {
    let mut wrong = Vec::new();
    let mut lines = "| path | control | Linux | ours | ratio |\n| --- | --- | --- | --- | --- |\n".to_owned();
    for path in &PATHS {
        let number = path.number;
        let [losses, patterns] =
            ["losses", "patterns"].map(|kind| Table::of_linux(&format!("{kind}-{number}.csv")));
        let lost = |pattern: &str| {
            // The packet of the handshake is the first.
            let mut lost = vec![false; LONGEST];
            let row = patterns.case(pattern).next().unwrap();
            row.text("lost").split(' ').for_each(|packet| lost[1 + packet.parse::<usize>().unwrap()] = true);
            lost
        };
        for (control, in_kernel) in OF_LINUX {
            if !losses.has(in_kernel) {
                continue;
            }
            let rows: Vec<_> = losses
                .case(in_kernel)
                .map(|row| {
                    let (goodput, window) = simulated(control, path, &lost(row.text("pattern")));
                    [row.number("goodput_mbps"), goodput, row.number("window"), window]
                })
                .collect();
            let of = |column: usize| rows.iter().map(|row| row[column]).collect::<Vec<_>>();
            let ratios: Vec<_> = rows.iter().map(|row| row[1] / row[0]).collect();
            let [kernel, ours, kernel_window, window] =
                [0, 1, 2, 3].map(|column| (mean(of(column)), interval(&of(column))));
            let (ratio, half) = (mean(ratios.iter().copied()), interval(&ratios));
            let windows = format!("{kernel_window:.1?}, {window:.1?}");
            println!("{number}, {control}: {kernel:.2?}, {ours:.2?}, {ratio:.3}, windows {windows}");
            let ([kernel, ours], name) =
                ([kernel, ours].map(|(mean, half)| format!("{mean:.2} ± {half:.2}")), path.name);
            writeln!(lines, "| {name} | `{control}` | {kernel} | {ours} | {ratio:.3} ± {half:.3} |").unwrap();
            let known = known_difference(control, &format!("losses-{number}"));
            let percent = 100.0 * (ratio - 1.0).abs();
            if known.map_or(percent > USUAL, |(most, _)| percent > most || percent <= USUAL) {
                wrong.push(format!("{}, {control}: {ratio:.3} ± {half:.3}", path.name));
            }
        }
    }
    page::holds("validation.md", "lossy", &lines);
    assert!(wrong.is_empty(), "{wrong:#?}");
}
