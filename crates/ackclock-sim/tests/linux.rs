//! Agreement with the TCP of Linux 6.12: Reno, CUBIC and HighSpeed on one path, 10 Mbit/s, RTT 60 ms, 50 packets of 1014
//! bytes on the wire, DCTCP at a queue that marks, both measured from 5 s to 20 s every 10 ms, and BBR. What the kernel did is
//! in `tests/data/linux`; docs/validation.md and docs/controllers have the numbers side by side.

use ackclock_scenario::{Scenario, read_toml};
use ackclock_sim::BuiltIn;
use ackclock_trace::Column;

use crate::common;
use crate::common::table::{Table, mean};

const WINDOWS: &str = include_str!("../../../tests/data/linux/windows.csv");
const MARKED: &str = include_str!("../../../tests/data/linux/marked.csv");
const SHARES: &str = include_str!("../../../tests/data/linux/shares.csv");
const BBR: &str = include_str!("../../../tests/data/linux/bbr.csv");
const PACED: &str = include_str!("../../../tests/data/linux/paced.csv");
/// The samples of the first 5 s.
const LEFT_OUT: usize = 500;

const PATH: &str = r#"
run = { duration = "20 s", warmup = "5 s", sample = "10 ms" }
tcp = { profile = "linux", packet = "1014 B" }
dumbbell = { rate = "10 Mbit/s", delay = "30 ms", queue = { kind = "droptail", limit = "50 packets" } }
flow = [{ controller = "reno", rtt = "60 ms" }]
"#;

fn scenario(controller: &str) -> Scenario {
    let setting = format!("flow.0.controller={controller}");
    read_toml(PATH, "path", &[setting], &BuiltIn).unwrap().scenario
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
    println!("{controller}: mean {measured:.2} against {expected:.2}, {ours:?}");
    assert!((measured / expected - 1.0).abs() < 0.015, "{controller}: mean {measured} against {expected}");
    for (index, extreme) in ["smallest", "largest"].into_iter().enumerate() {
        let theirs = mean(turns.iter().map(|turn| smallest_and_largest(&turn[LEFT_OUT..])[index]));
        assert!(
            (ours[index] - theirs).abs() <= 3.0,
            "{controller}: {extreme} {} against {theirs}",
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
    agrees("cubic-linux", "cubic");
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
/// window down, packets are still marked meanwhile, and it often cuts again, to 75 packets where one cut leaves 81; the
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
        println!("dctcp: mean {measured:.2} against {expected:.2}");
        assert!((measured / expected - 1.0).abs() < 0.05, "mean {measured} against {expected}");
        assert!((ours[1] / largest - 1.0).abs() < 0.05, "largest {} against {largest}", ours[1]);
    }
    assert_eq!((summary.links[0].queue_drops, flow.whole_run.loss_events), (0, Some(0)));
}

/// DCTCP next to CUBIC with ECN, one flow of each or two, half a second apart: the share of DCTCP, from 15 s to 45 s,
/// within 10 % of the mean of the kernel's turns.
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
                let control = ["dctcp\", params = { grows_in_cut = false }", "cubic-linux\", ecn = true"];
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
        println!("{flows} flows: share {share:.3} against {expected:.3}");
        assert!((share / expected - 1.0).abs() < 0.1, "{flows} flows: {share} against {expected}");
    }
}

/// 10 Mbit/s, RTT 40 ms, a product of 33 packets of 1514 bytes on the wire, which carry 1448.
const BBR_PATH: &str = r#"
run = { duration = "90 s", warmup = "30 s" }
tcp = { profile = "linux", packet = "1514 B", ack = "66 B" }
dumbbell = { rate = "10 Mbit/s", delay = "20 ms", queue = { kind = "droptail", limit = "264 packets" } }
"#;

/// BBR, version 1: alone its goodput within 5 %. Next to CUBIC, which begins a second later, with buffers of 2 and 8 products:
/// with pacing its share within 10 % of Linux 6.18 (`paced.csv`), two or three turns there and 8 runs here, which
/// scatter by 0.02 each. Without pacing there is one turn of Linux 6.12 each, which scatters as much: three standard
/// deviations, 0.06, are allowed. The differences, 0.04 and 0.05 of 0.54 and 0.41, have the same sign: open. With 32 products
/// it is a tenth in the simulator and half of that in the kernel, of which there is one turn: not held.
#[test]
fn bbr_alone_and_beside_cubic() {
    let flow = |control: &str, start: u32, more: &str| {
        format!(
            "{{ controller = \"{control}\", start = \"{start} s\", rtt = \"40 ms\", overhead = \"0.1 ms\"{more} }}"
        )
    };
    let goodputs = |flows: &str, buffer: u64, run: u64| -> Vec<f64> {
        let settings = [format!("dumbbell.queue.limit={} packets", 33 * buffer)];
        let text = format!("{BBR_PATH}flow = [{flows}]\n");
        let scenario = read_toml(&text, "path", &settings, &BuiltIn).unwrap().scenario;
        let (summary, _) = common::run_with(&scenario, run, false, u64::MAX);
        summary.flows.iter().map(|flow| flow.goodput_mbps.unwrap()).collect()
    };
    let kernels = |buffer: u64, flows: f64| -> Vec<f64> {
        let rows: Vec<_> = Table::read(BBR)
            .case(&buffer.to_string())
            .map(|row| (row.number("flows"), row.number("goodput_mbps")))
            .collect();
        rows.into_iter().filter(|row| row.0 == flows).map(|row| row.1).collect()
    };
    let alone = goodputs(&flow("bbr-linux", 0, ""), 8, 0)[0] * 1448.0 / 1514.0;
    let expected = kernels(8, 1.0)[0];
    println!("bbr alone: {alone:.3} against {expected:.3} Mbit/s");
    assert!((alone / expected - 1.0).abs() < 0.05, "{alone} against {expected} Mbit/s");
    let share = |goodputs: &[f64]| goodputs[0] / (goodputs[0] + goodputs[1]);
    let measured = |buffer: u64, more: &str| {
        let both = [flow("bbr-linux", 0, ""), flow("cubic-linux", 1, more)].join(", ");
        mean((0..8).map(|run| share(&goodputs(&both, buffer, run))))
    };
    let paced = Table::read(PACED);
    for buffer in [2, 8] {
        let case = buffer.to_string();
        let (without, expected) = (measured(buffer, ""), share(&kernels(buffer, 2.0)));
        println!("bbr next to cubic, {buffer} products: {without:.3}, Linux {expected:.3}");
        assert!((without - expected).abs() < 0.06, "{buffer} products: {without}, Linux {expected}");
        let turns = paced.case(&case).map(|row| share(&[row.number("bbr_mbps"), row.number("cubic_mbps")]));
        let (with, expected) = (measured(buffer, ", pacing = true"), mean(turns));
        println!("with pacing: {with:.3}, Linux {expected:.3}");
        assert!((with / expected - 1.0).abs() < 0.1, "{buffer} products, paced: {with}, Linux {expected}");
    }
}

/// CUBIC before its first loss, over 20 Mbit/s and 30 ms with a buffer that is never full, where Linux 6.18 paces: HyStart
/// ends slow start, and from then on 1667 packets per second of 1500 bytes make the window grow by a twentieth of them, 83.3
/// packets per second. The kernel's windows (`ackclock link`, iperf3, equal in two turns) after 1 to 6 and 14 s.
#[test]
fn cubic_before_its_first_loss() {
    let text = "run = { duration = \"15 s\", sample = \"1 s\" }\n\
                tcp = { profile = \"linux\", packet = \"1500 B\", pacing = true }\n\
                dumbbell = { rate = \"20 Mbit/s\", delay = \"15 ms\", \
                queue = { kind = \"droptail\", limit = \"2000 packets\" } }\n\
                flow = [{ controller = \"cubic-linux\", rtt = \"30 ms\" }]\n";
    let scenario = read_toml(text, "line", &[], &BuiltIn).unwrap().scenario;
    let (_, tables) = common::run_with(&scenario, 0, true, u64::MAX);
    let ours = windows(&tables);
    let in_kernel = [(1, 200.0), (2, 283.0), (3, 367.0), (4, 450.0), (5, 533.0), (6, 617.0), (14, 1283.0)];
    for (second, kernel) in in_kernel {
        let window = ours[second - 1];
        println!("{second} s: {window:.0}, Linux {kernel}");
        // HyStart may come an acknowledgement of two packets or three earlier or later.
        assert!((window - kernel).abs() < 6.0, "after {second} s: {window} packets, Linux {kernel}");
    }
    let slope = (ours[13] - ours[1]) / 12.0;
    assert!((slope - 83.3).abs() < 2.0, "{slope} packets per second");
}
