//! Controls that answer delay: what they leave in the queue, and that they yield.

use ackclock_cc::registry::Catalogue;
use ackclock_scenario::{Scenario, read_toml};
use ackclock_sim::BuiltIn;
use ackclock_trace::Column;

use crate::common;

fn read(text: &str) -> Scenario {
    read_toml(text, "delay", &[], &BuiltIn).unwrap().scenario
}

fn windows(scenario: &Scenario, flow: u32) -> Vec<f64> {
    let tables = common::run_with(scenario, 0, true, u64::MAX).1;
    let windows = &tables.iter().find(|(table, _)| *table == "windows").unwrap().1;
    let column = |name: &str| &windows.columns.iter().find(|(column, _)| *column == name).unwrap().1;
    let (Column::Id(flows), Column::Real(window)) = (column("flow"), column("window")) else {
        panic!("flows and windows")
    };
    flows.iter().zip(window).filter(|(id, _)| **id == flow).map(|(_, window)| *window).collect()
}

/// Alone, with a buffer of ten products of rate and RTT, Vegas keeps alpha = 1 to beta = 3 packets in the queue once slow
/// start is over, one packet more or less because it moves by whole packets.
#[test]
fn vegas_alone_keeps_its_few_packets() {
    for (rate, rtt) in [(10, 40), (50, 40), (100, 100), (2, 200)] {
        for (profile, statistic) in [("ns2", "minimum"), ("ns2", "mean"), ("linux", "minimum")] {
            let product = rate * rtt * 1000 / 8000;
            let text = format!(
                "run = {{ duration = \"150 s\", warmup = \"120 s\" }}\ntcp = {{ profile = \"{profile}\" }}\n\
                 flow = [{{ controller = \"vegas\", rtt = \"{rtt} ms\", params = {{ rtt = \"{statistic}\" }} }}]\n\
                 [dumbbell]\nrate = \"{rate} Mbit/s\"\ndelay = \"{} ms\"\n\
                 queue = {{ kind = \"droptail\", limit = \"{} packets\" }}\n",
                rtt / 2,
                10 * product
            );
            let summary = common::run(&read(&text));
            let waiting =
                summary.links[0].mean_queue_packets.unwrap() - summary.links[0].utilisation.unwrap();
            let case = format!("{rate} Mbit/s, {rtt} ms, {profile}, {statistic}");
            println!("{case}: {waiting:.2} packets wait");
            // By the mean of a burst more waits than between bursts.
            let least = if statistic == "mean" { 0.5 } else { 1.0 };
            assert!((least..=4.0).contains(&waiting), "{case}: {waiting} packets wait");
            assert!(summary.links[0].utilisation.unwrap() > 0.99, "{case}");
        }
    }
}

/// Those that answer delay.
const ANSWERS: &[&str] = &["vegas", "fast", "copa", "ledbat", "ledbat++"];
/// All others: whoever adds a control says here, or above, what it does. `yeah` answers delay only above a product of 640
/// packets, as its page says; `vivace` is a rate with a window only for show; the delay changes how these grow or how much
/// they cut, but does not make them fall: `illinois`, `compound`, `africa`, `veno`, `fit`, `htcp`, `westwood` and their like.
const OTHERS: &[&str] = &[
    "reno",
    "gaimd",
    "aimd",
    "multcp",
    "hstcp",
    "hstcp-table",
    "scalable",
    "illinois",
    "illinois-linux",
    "bic",
    "bic-linux",
    "compound",
    "compound-linux",
    "cubic",
    "cubic-8312",
    "cubic-linux",
    "htcp",
    "htcp-linux",
    "westwood",
    "westwood-linux",
    "veno",
    "africa",
    "fit",
    "hybla",
    "hybla-linux",
    "yeah",
    "bbr",
    "bbr-linux",
    "bbr3",
    "bbr3-linux",
    "dctcp",
    "prague",
    "constant",
    "tfrc",
    "tfrc-2000",
    "tear",
    "vivace",
];

#[test]
fn every_control_is_known_to_answer_delay_or_not() {
    let mut named: Vec<_> = ANSWERS.iter().chain(OTHERS).copied().collect();
    let mut all: Vec<_> = BuiltIn.entries().iter().map(|entry| entry.name).collect();
    named.sort_unstable();
    all.sort_unstable();
    assert_eq!(named, all);
}

/// When datagrams take 70 % of the link, three tenths are left, and within 20 s the window is below 0.6 of what it was.
#[test]
fn what_answers_delay_yields_to_datagrams() {
    for control in ANSWERS {
        let text = format!(
            "run = {{ duration = \"60 s\", sample = \"10 ms\" }}\ntcp = {{ profile = \"linux\" }}\n\
             flow = [\n  {{ controller = \"{control}\", rtt = \"40 ms\" }},\n\
             {{ source = \"cbr\", rate = \"7 Mbit/s\", rtt = \"40 ms\", start = \"40 s\" }},\n]\n\
             [dumbbell]\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\n\
             queue = {{ kind = \"droptail\", limit = \"1000 packets\" }}\n"
        );
        let windows = windows(&read(&text), 0);
        let mean = |from: usize, to: usize| windows[from..to].iter().sum::<f64>() / (to - from) as f64;
        let (before, after) = (mean(3500, 4000), mean(5800, 6000));
        println!("{control}: {before:.1}, then {after:.1} packets");
        assert!(after < 0.6 * before, "{control}: {before} packets, then {after}");
    }
}

/// Next to Reno and CUBIC, whose queues are at least half full on average, Vegas keeps at most beta = 3 packets and one more: of
/// 50 and of 100 packets that is 8 and 4 % of 20 Mbit/s. In Linux it gets a few per cent, too.
#[test]
fn vegas_starves_next_to_loss_based_flows_of_linux() {
    for (other, buffer, most) in [("reno", 100, 1.6), ("cubic-linux", 200, 0.8)] {
        let text = format!(
            "run = {{ duration = \"100 s\", warmup = \"30 s\" }}\ntcp = {{ profile = \"linux\", overhead = \"0.4 ms\" }}\n\
             flow = [\n  {{ controller = \"vegas\", rtt = \"50 ms\" }},\n\
             {{ controller = \"{other}\", rtt = \"50 ms\", start = \"1 s\" }},\n]\n\
             [dumbbell]\nrate = \"20 Mbit/s\"\ndelay = \"25 ms\"\n\
             queue = {{ kind = \"droptail\", limit = \"{buffer} packets\" }}\n"
        );
        let summary = common::run(&read(&text));
        let goodputs: Vec<_> = summary.flows.iter().map(|flow| flow.goodput_mbps.unwrap()).collect();
        println!("next to {other}: {goodputs:.2?}");
        assert!(goodputs[0] < most, "next to {other}: {goodputs:?}");
    }
}
