//! Controls that answer delay: what they leave in the queue, and that they yield.

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
            assert!((0.0..=4.0).contains(&waiting), "{case}: {waiting} packets wait");
            assert!(summary.links[0].utilisation.unwrap() > 0.99, "{case}");
        }
    }
}

/// Every control that answers delay (YeAH does so only above a product of 640 packets, as its page says): when datagrams
/// take 70 % of the link, three tenths are left, and within 20 s the window is below 0.6 of what it was.
#[test]
fn what_answers_delay_yields_to_datagrams() {
    for control in ["vegas", "fast", "copa", "ledbat", "ledbat++"] {
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
