//! Agreement with the TCP of Linux 6.12: Reno, CUBIC and HighSpeed on one path, 10 Mbit/s, RTT 60 ms, 50 packets of 1014
//! bytes on the wire, and DCTCP at a queue that marks, both measured from 5 s to 20 s every 10 ms. The kernel's windows are
//! in `tests/data/linux`; docs/validation.md has the numbers side by side.
mod common;

use ackclock_scenario::{Scenario, read_toml};
use ackclock_sim::BuiltIn;
use ackclock_trace::Column;
use common::table::{Table, mean};

const WINDOWS: &str = include_str!("../../../tests/data/linux/windows.csv");
const MARKED: &str = include_str!("../../../tests/data/linux/marked.csv");
const SHARES: &str = include_str!("../../../tests/data/linux/shares.csv");
/// The samples of the first 5 s.
const LEFT_OUT: usize = 500;

const PATH: &str = r#"
run = { duration = "20 s", warmup = "5 s", sample = "10 ms" }
tcp = { profile = "linux", packet = "1014 B" }
dumbbell = { rate = "10 Mbit/s", delay = "30 ms", queue = { kind = "droptail", limit = "50 packets" } }
flow = [{ controller = "reno", rtt = "60 ms" }]
"#;

fn scenario(controller: &str) -> Scenario {
    let hystart = controller == "cubic";
    let settings = [format!("flow.0.controller={controller}"), format!("flow.0.hystart={hystart}")];
    read_toml(PATH, "path", &settings, &BuiltIn).unwrap().scenario
}

fn smallest_and_largest(windows: &[f64]) -> [f64; 2] {
    [windows.iter().copied().fold(f64::INFINITY, f64::min), windows.iter().copied().fold(0.0, f64::max)]
}

/// The window at every sample.
fn windows<'a>(tables: &'a [(&'static str, ackclock_trace::Table)]) -> &'a [f64] {
    let windows = &tables.iter().find(|(name, _)| *name == "windows").unwrap().1;
    let (_, Column::Real(window)) = windows.columns.iter().find(|(name, _)| *name == "window").unwrap()
    else {
        panic!("windows are numbers");
    };
    window
}

/// Against the mean of the kernel's turns, whose means differ among themselves by 0.3 %.
///
/// Smallest and largest window within 3 packets: a loss may be found a round trip earlier or later, in which HS-TCP grows
/// by 3 packets at these windows (RFC 3649, appendix B) and the others by less. The mean lies half way between, so that
/// moves it by 1.5 packets at most, of about a hundred: 1.5 %.
fn agrees(controller: &str, in_kernel: &str) {
    let (summary, tables) = common::run_with(&scenario(controller), 0, true, u64::MAX);
    assert_eq!(summary.flows[0].whole_run.timeouts, 0);
    let ours = smallest_and_largest(&windows(&tables)[LEFT_OUT..]);
    let turns = Table::read(WINDOWS).columns(in_kernel);
    assert!(!turns.is_empty(), "nobody measured {in_kernel}");
    let expected = mean(turns.iter().map(|turn| mean(turn[LEFT_OUT..].iter().copied())));
    let measured = summary.flows[0].mean_window.unwrap();
    println!("{controller}: mean {measured:.2} beside {expected:.2}, {ours:?}");
    assert!((measured / expected - 1.0).abs() < 0.015, "{controller}: mean {measured} beside {expected}");
    for (index, extreme) in ["smallest", "largest"].into_iter().enumerate() {
        let theirs = mean(turns.iter().map(|turn| smallest_and_largest(&turn[LEFT_OUT..])[index]));
        assert!(
            (ours[index] - theirs).abs() <= 3.0,
            "{controller}: {extreme} {} beside {theirs}",
            ours[index]
        );
    }
}

#[test]
fn reno() {
    agrees("reno", "reno");
}

#[test]
fn cubic() {
    agrees("cubic", "cubic");
}

#[test]
fn highspeed() {
    agrees("hstcp-table", "highspeed");
}

/// 20 Mbit/s, RTT 40 ms, packets of 1514 bytes on the wire, of which those are marked that have waited for more than 10 ms.
/// The kernel lets no window grow while it answers marks.
const MARKING_PATH: &str = r#"
run = { duration = "20 s", warmup = "5 s", sample = "10 ms" }
tcp = { profile = "linux", packet = "1514 B", ack = "66 B" }
dumbbell = { rate = "20 Mbit/s", delay = "20 ms", queue = { kind = "step", sojourn = "10 ms", limit = "1000 packets" } }
flow = [{ controller = "dctcp", params = { grows_in_cut = false }, rtt = "40 ms" }]
"#;

/// Mean and largest window within 5 %. The kernel takes a round trip to bring its
/// window down, packets go on being marked meanwhile, and it often cuts again, to 75 packets where one cut leaves 81; the
/// mean moves by less than half of that.
#[test]
fn dctcp() {
    let scenario = read_toml(MARKING_PATH, "path", &[], &BuiltIn).unwrap().scenario;
    let (summary, tables) = common::run_with(&scenario, 0, true, u64::MAX);
    let ours = smallest_and_largest(&windows(&tables)[LEFT_OUT..]);
    let flow = &summary.flows[0];
    let turns = Table::read(MARKED).columns("dctcp");
    assert!(!turns.is_empty());
    for turn in turns {
        let settled = &turn[LEFT_OUT..];
        let [_, largest] = smallest_and_largest(settled);
        let (measured, expected) = (flow.mean_window.unwrap(), mean(settled.iter().copied()));
        println!("dctcp: mean {measured:.2} beside {expected:.2}");
        assert!((measured / expected - 1.0).abs() < 0.05, "mean {measured} beside {expected}");
        assert!((ours[1] / largest - 1.0).abs() < 0.05, "largest {} beside {largest}", ours[1]);
    }
    assert_eq!((summary.links[0].queue_drops, flow.whole_run.loss_events), (0, 0));
}

/// DCTCP beside CUBIC with ECN, one flow of each or two, half a second apart: the share of DCTCP, from 15 s to 45 s, within
/// 10 % of the mean of the kernel's turns.
#[test]
fn dctcp_beside_cubic() {
    for flows in [2, 4] {
        let name = flows.to_string();
        let table = Table::read(SHARES);
        let sum = |odd: f64| -> f64 {
            let rows = table.case(&name).filter(|row| row.number("flow") % 2.0 == odd);
            rows.map(|row| row.number("goodput_mbps")).sum()
        };
        let expected = sum(0.0) / (sum(0.0) + sum(1.0));
        let entries: Vec<_> = (0..flows)
            .map(|flow| {
                let control = ["dctcp\", params = { grows_in_cut = false }", "cubic\", ecn = true, hystart = true"];
                let (control, start) = (control[flow % 2], 0.5 * flow as f64);
                format!(
                    "{{ controller = \"{control}, start = \"{start} s\", rtt = \"40 ms\", overhead = \"0.1 ms\" }}"
                )
            })
            .collect();
        let (path, _) = MARKING_PATH.split_once("flow =").unwrap();
        let text = format!("{path}flow = [{}]\n", entries.join(", "));
        let settings = ["run.duration=45 s".to_owned(), "run.warmup=15 s".to_owned()];
        let scenario = read_toml(&text, "path", &settings, &BuiltIn).unwrap().scenario;
        let summary = common::run(&scenario);
        let goodput = |flow: usize| summary.flows[flow].goodput_mbps.unwrap();
        let (all, own): (f64, f64) =
            ((0..flows).map(goodput).sum(), (0..flows).step_by(2).map(goodput).sum());
        let share = own / all;
        println!("{flows} flows: share {share:.3} beside {expected:.3}");
        assert!((share / expected - 1.0).abs() < 0.1, "{flows} flows: {share} beside {expected}");
    }
}
