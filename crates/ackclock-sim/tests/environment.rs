//! The environment end to end: queues against their targets, rate-based controls next to TCP, events, topologies.

use ackclock_scenario::{Scenario, read_toml};
use ackclock_sim::BuiltIn;
use ackclock_trace::{Column, Summary, Table};

use crate::common;

fn read(text: &str, settings: &[&str]) -> Scenario {
    let settings: Vec<_> = settings.iter().map(|setting| (*setting).to_owned()).collect();
    read_toml(text, "test", &settings, &BuiltIn).unwrap().scenario
}

fn run(text: &str, settings: &[&str]) -> Summary {
    common::run(&read(text, settings))
}

/// A column of numbers of the table of windows.
fn windows(tables: &[(&'static str, Table)], wanted: &str) -> Vec<f64> {
    let windows = &tables.iter().find(|(name, _)| *name == "windows").unwrap().1;
    match &windows.columns.iter().find(|(name, _)| *name == wanted).unwrap().1 {
        Column::Real(values) => values.clone(),
        Column::Whole(values) => values.iter().map(|value| *value as f64).collect(),
        _ => panic!("{wanted} is not a number"),
    }
}

const OVERLOAD: &str = r#"
run = { duration = "400 s", warmup = "50 s" }
flow = [{ source = "poisson", rate = "8.6 Mbit/s" }]
[dumbbell]
rate = "8 Mbit/s"
delay = "10 ms"
queue = { kind = "red", limit = "1000 packets", min_threshold = 20, max_threshold = 80, max_p = 0.2 }
"#;

/// 1075 packets per second arrive and 1000 can go: the share 0.07 is dropped, and the average queue settles where p is
/// that (independent drops), half of it (gaps up to 1/p, of which there are 2p) or 1.5 times that (gaps of 1/p to 2/p). The
/// probability is linear in the queue, so the one at the mean queue is the mean one. With gaps of 1/p to 2/p, at p = 0.1,
/// the mean of the whole numbers of packets from 10 to 19 is 14.5, not 15.
#[test]
fn red_drops_the_share_that_its_average_says() {
    for (key, factor) in [
        ("spacing=none", 1.0),
        ("spacing=paper", 2.0),
        ("spacing=wait", 1.0 / 1.45),
        // The key of earlier versions.
        ("uniform=false", 1.0),
        ("uniform=true", 2.0),
    ] {
        let summary = run(OVERLOAD, &[&format!("dumbbell.queue.{key}")]);
        let (flow, link) = (&summary.flows[0], &summary.links[0]);
        let share = flow.counters.dropped_packets as f64 / flow.counters.sent_packets as f64;
        // The average is of what waits when a packet arrives, without it and without the packet in transmission.
        let waiting = link.mean_queue_packets.unwrap() - link.utilisation.unwrap();
        let p = 0.2 * (waiting - 20.0) / 60.0;
        assert!((share / (factor * p) - 1.0).abs() < 0.03, "{key}: {share} at p = {p}");
    }
}

const QUEUES: &str = r#"
run = { duration = "60 s", warmup = "20 s" }
tcp = { overhead = "100 us" }
dumbbell = { rate = "100 Mbit/s", delay = "50 ms", queue = { kind = "codel", limit = "1250 packets" } }
[[flow]]
controller = "reno"
rtt = "100 ms"
start = { uniform = ["0 s", "1 s"] }
"#;

/// Mean queueing delay in milliseconds: a packet of 1000 bytes takes 0.08 ms.
fn mean_delay_ms(kind: &str, flows: u32) -> f64 {
    let settings = [format!("dumbbell.queue.kind={kind}"), format!("flow.0.count={flows}")];
    let summary = run(QUEUES, &[&settings[0], &settings[1]]);
    assert!(summary.links[0].utilisation.unwrap() > 0.75);
    summary.links[0].mean_queue_packets.unwrap() * 0.08
}

/// RFC 8289 and RFC 8033 keep delays of 5 and 15 ms. With 100 flows CoDel's law, which asks for one drop per 100 ms and
/// more only slowly, is behind: docs/validation.md.
#[test]
fn codel_and_pie_keep_twice_their_targets() {
    for flows in [1, 10] {
        let (codel, pie) = (mean_delay_ms("codel", flows), mean_delay_ms("pie", flows));
        assert!(codel <= 10.0 && pie <= 30.0, "{flows} flows: CoDel {codel} ms, PIE {pie} ms");
    }
}

/// RTTs of 20 and 50 ms. Flows that always have packets waiting get equal shares. Reno with the longer RTT cannot refill
/// its queue at once after a drop of CoDel's: it gets a fifth less, where droptail gives it less than half.
#[test]
fn fq_codel_is_fair_to_unequal_round_trips() {
    let text = QUEUES.replace("delay = \"50 ms\"", "delay = \"10 ms\"").replace("100 Mbit/s", "20 Mbit/s");
    let two = text.replace("rtt = \"100 ms\"", "rtt = \"20 ms\"")
        + "[[flow]]\ncontroller = \"reno\"\nrtt = \"50 ms\"\n";
    let ratio = |controller: &str, queue: &str| {
        let queue = format!("dumbbell.queue={{ kind = \"{queue}\", limit = \"100 packets\" }}");
        let summary = run(&two.replace("reno", controller), &[&queue, "run.duration=200 s"]);
        summary.flows[0].goodput_mbps.unwrap() / summary.flows[1].goodput_mbps.unwrap()
    };
    assert!((ratio("scalable", "fq_codel") - 1.0).abs() < 0.02, "{}", ratio("scalable", "fq_codel"));
    let (fair, unfair) = (ratio("reno", "fq_codel"), ratio("reno", "droptail"));
    assert!((1.0..1.35).contains(&fair) && unfair > 2.0, "{fair} with FQ-CoDel, {unfair} with droptail");
}

const FRIENDLY: &str = r#"
run = { duration = "400 s", warmup = "100 s" }
tcp = { overhead = "10 ms" }
dumbbell = { rate = "2.5 Mbit/s", delay = "30 ms", queue = { kind = "droptail", limit = "50 packets" } }
flow = [
  { controller = "tfrc", rtt = "100 ms" },
  { controller = "reno", rtt = "100 ms", count = 7, start = { uniform = ["0 s", "5 s"] } },
]
"#;

/// A factor of two is what RFC 5348, section 1, promises; what TFRC makes of a given loss rate is tested in
/// responses.rs to 2 %.
#[test]
fn tfrc_is_fair_to_tcp_within_a_factor_of_two() {
    for queue in [
        "{ kind = \"droptail\", limit = \"50 packets\" }",
        "{ kind = \"red\", limit = \"50 packets\", max_threshold = 25 }",
    ] {
        let summary = run(FRIENDLY, &[&format!("dumbbell.queue={queue}")]);
        let tcp = summary.flows[1..].iter().map(|flow| flow.goodput_mbps.unwrap()).sum::<f64>() / 7.0;
        let ratio = summary.flows[0].goodput_mbps.unwrap() / tcp;
        assert!((0.5..2.0).contains(&ratio), "{queue}: {ratio}");
    }
}

const STEP: &str = r#"
run = { duration = "160 s", warmup = "60 s" }
flow = [{ name = "a", controller = "tear", rtt = "100 ms" }]
event = [{ at = { flow = "a", rtt = 600 }, set = "dumbbell.loss.rate", to = "100 %" }]
[dumbbell]
rate = "10 Mbit/s"
delay = "30 ms"
queue = { kind = "droptail", limit = "100 packets" }
loss = { kind = "bernoulli", rate = "0.5 %" }
"#;

/// From round trip 600 on, about 60 s, nothing arrives. With its timeout the receiver learns of it by the silence: after
/// 100 s the mean window of eight epochs is near the one packet per round trip that is its least. Without it the rate stays (transient.md, figure 22).
#[test]
fn tear_needs_its_timeout() {
    for (timeout, slows) in [("true", true), ("false", false)] {
        let (_, tables) = common::run_with(
            &read(STEP, &[&format!("flow.0.params={{ timeout = {timeout} }}")]),
            0,
            true,
            u64::MAX,
        );
        let rate = windows(&tables, "rate_packets_per_s");
        let (before, after) = (rate[500], rate[rate.len() - 1]);
        assert_eq!(after < 0.2 * before, slows, "timeout {timeout}: {before} and {after}");
        if !slows {
            assert!(after > 0.9 * before);
        }
    }
}

/// A square wave between 10 and 5 Mbit/s with a period of 4 s: 7.5 Mbit/s on average, and a constant source of 12 Mbit/s
/// keeps the link busy.
#[test]
fn rates_change_in_a_square_wave() {
    let text = OVERLOAD.replace("poisson", "cbr").replace("8.6 Mbit/s", "12 Mbit/s").replace(
        "rate = \"8 Mbit/s\"",
        "rate = \"10 Mbit/s\"\nsquare = { rate = \"5 Mbit/s\", period = \"4 s\" }",
    );
    let summary =
        run(&text, &["dumbbell.queue={ kind = \"droptail\", limit = \"100 packets\" }", "run.warmup=40 s"]);
    let (flow, link) = (&summary.flows[0], &summary.links[0]);
    assert!((flow.goodput_mbps.unwrap() - 7.5).abs() < 0.01, "{:?}", flow.goodput_mbps);
    assert!((link.utilisation.unwrap() - 1.0).abs() < 1e-3, "{:?}", link.utilisation);
}

const LOT: &str = r#"
run = { duration = "100 s", warmup = "20 s" }
tcp = { overhead = "1 ms" }
flow = [
  { controller = "reno", name = "long" },
  { controller = "reno", from = "n0", to = "n1" },
  { controller = "reno", from = "n1", to = "n2" },
  { controller = "reno", from = "n2", to = "n3" },
]
[parking_lot]
hops = 3
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "droptail", limit = "50 packets" }
"#;

/// A flow over three bottlenecks, each with a flow of its own: it loses at each and has the longer round trip, so it gets
/// less than any other, and every bottleneck is busy.
#[test]
fn a_parking_lot() {
    let summary = run(LOT, &[]);
    assert_eq!(summary.links.len(), 6);
    let goodput: Vec<_> = summary.flows.iter().map(|flow| flow.goodput_mbps.unwrap()).collect();
    assert!(goodput[1..].iter().all(|other| *other > 2.0 * goodput[0]), "{goodput:?}");
    for hop in [0, 2, 4] {
        assert!(summary.links[hop].utilisation.unwrap() > 0.8, "{:?}", summary.links[hop]);
    }
    assert_eq!(summary.flows[0].rtt_ms, 60.0);
}

/// Marks in place of drops: Reno with ECN loses nothing once slow start is over, and cuts as often.
#[test]
fn marks_replace_drops() {
    let settings = ["dumbbell.queue.ecn=true", "tcp.ecn=true", "flow.0.count=10"];
    let summary = run(QUEUES, &settings);
    assert_eq!(summary.links[0].queue_drops, 0);
    assert!(summary.links[0].marks > 20);
    let events: u64 = summary.flows.iter().map(|flow| flow.counters.loss_events.unwrap()).sum();
    assert!(events > 10 && events <= summary.links[0].marks);
}

/// Noise on the measurement alone: uniform on [0, 20 ms] at an RTT of 100 ms. Vegas takes it for a queue and keeps a
/// smaller window; the RTT that is reported has no noise.
#[test]
fn measurement_noise_is_seen_by_the_control_only() {
    let text = QUEUES.replace("controller = \"reno\"", "controller = \"fast\"");
    let (plain, noisy) = (run(&text, &[]), run(&text, &["flow.0.rtt_noise=10 ms"]));
    let (plain, noisy) = (&plain.flows[0], &noisy.flows[0]);
    assert!(noisy.mean_window.unwrap() < 0.8 * plain.mean_window.unwrap());
    assert!(noisy.rtt_p99_ms.unwrap() < 106.0);
}

/// One packet at a time over an empty path, whose delay is drawn anew every 2 s: the RTT is 100 ms, 80 us for the packet of
/// 1000 bytes and 3.2 us for the ACK of 40, and what was drawn for the interval in which the packet went. In order, only
/// a packet that went within 40 ms of the interval before may have to wait; with one packet at a time none does.
#[test]
fn held_noise_gives_one_round_trip_time_per_interval() {
    let text = QUEUES.replace("[[flow]]", "[[flow]]\nreceive_window = 1").replace("100 us", "0 us");
    let noise = "dumbbell.delay_noise={ kind = \"uniform\", range = \"40 ms\", hold = \"2 s\" }";
    let tables = common::run_with(&read(&text, &["run.sample=rtt", noise]), 0, true, u64::MAX).1;
    let mut intervals = std::collections::BTreeMap::<u64, Vec<f64>>::new();
    for (time, rtt) in windows(&tables, "time_s").iter().zip(windows(&tables, "rtt_ms")) {
        if rtt.is_finite() {
            let on_the_wire = time - rtt / 1e3 + 80e-6;
            intervals.entry((on_the_wire / 2.0) as u64).or_default().push(rtt);
        }
    }
    assert!(intervals.len() >= 29, "60 s have 30 intervals, of which the last may be without an answer");
    for (interval, rtts) in &intervals {
        // At least 1 s, the latest start, with RTTs of at most 140 ms.
        assert!(rtts.len() >= 7, "interval {interval}: {rtts:?}");
        assert!(rtts.iter().all(|rtt| (rtt - rtts[0]).abs() < 1e-6), "interval {interval}: {rtts:?}");
        assert!((100.0832..140.0832).contains(&rtts[0]), "interval {interval}: {rtts:?}");
    }
    let firsts: Vec<_> = intervals.values().map(|rtts| rtts[0]).collect();
    assert!(firsts.windows(2).all(|pair| (pair[0] - pair[1]).abs() > 1e-6), "{firsts:?}");
}

/// When each flow starts and stops, from the table of events.
fn lives(tables: &[(&'static str, Table)]) -> Vec<[f64; 2]> {
    let events = &tables.iter().find(|(name, _)| *name == "events").unwrap().1;
    let column = |wanted| &events.columns.iter().find(|(name, _)| *name == wanted).unwrap().1;
    let (Column::Real(times), Column::Id(flows), Column::Word(kinds)) =
        (column("time_s"), column("flow"), column("kind"))
    else {
        panic!("times, flows and kinds");
    };
    let time_of = |flow: u32, wanted: &str| {
        let mut rows = times.iter().zip(flows).zip(kinds);
        *rows.find(|((_, other), kind)| **other == flow && **kind == wanted).unwrap().0.0
    };
    let count = flows.iter().max().unwrap() + 1;
    (0..count).map(|flow| [time_of(flow, "start"), time_of(flow, "stop")]).collect()
}

/// Starts are uniform on [0, 8] s; ends are uniform between 4 s, or the start if that is later, and 10 s. Brought to
/// [0, 1], 1000 of them have a mean of 1/2 with a standard error of 1/sqrt(12 * 1000) = 0.0091, and no correlation with
/// the starts, with one of 1/sqrt(1000) = 0.032; five of each are 0.046 and 0.16.
#[test]
fn random_ends_come_after_the_starts() {
    let text =
        QUEUES.replace("[[flow]]", "[[flow]]\nreceive_window = 1\ncount = 1000").replace("60 s", "10 s");
    let settings = [
        "run.warmup=0 s",
        "flow.0.rtt=2 s",
        "flow.0.start={ uniform = [\"0 s\", \"8 s\"] }",
        "flow.0.stop={ uniform = [\"4 s\", \"10 s\"] }",
    ];
    let scenario = read(&text, &settings);
    let lives = lives(&common::run_with(&scenario, 0, true, u64::MAX).1);
    assert_eq!(lives.len(), 1000);
    let ends: Vec<_> = lives
        .iter()
        .map(|[start, stop]| {
            let earliest = start.max(4.0);
            assert!((earliest..10.0).contains(stop), "{start} to {stop}");
            (stop - earliest) / (10.0 - earliest)
        })
        .collect();
    let mean = ends.iter().sum::<f64>() / 1e3;
    assert!((mean - 0.5).abs() < 0.046, "{mean}");
    let covariance =
        lives.iter().zip(&ends).map(|([start, _], end)| (start - 4.0) * (end - 0.5)).sum::<f64>() / 1e3;
    let correlation = covariance / (8.0 / 12.0);
    assert!(correlation.abs() < 0.16, "{correlation}");
}

/// 1 Mbit/s in packets of 1000 bytes is one every 8 ms, and each is 50 ms and 80 us on its way. Until 5 s, when the first
/// flow stops, those have arrived that were sent until 4.94992 s: 619, from 0 s on. Its goodput is over the 5 s that it
/// lives, not over the 20 s of the run. The second is gone before the warm-up ends: null. A transfer of 1 MB lasts to
/// the end of the run as far as its goodput is concerned.
#[test]
fn the_goodput_of_a_flow_that_ends_early() {
    let text = r#"
run = { duration = "20 s" }
dumbbell = { rate = "100 Mbit/s", delay = "50 ms", queue = { kind = "droptail", limit = "1000 packets" } }
flow = [{ source = "cbr", rate = "1 Mbit/s", stop = "5 s" }]
"#;
    let goodput = |settings: &[&str]| run(text, settings).flows[0].goodput_mbps;
    assert_eq!(goodput(&[]), Some(619.0 * 8e-3 / 5.0));
    assert_eq!(goodput(&["run.warmup=6 s"]), None);
    assert_eq!(goodput(&["flow=[{ controller = 'reno', bytes = '1 MB' }]"]), Some(8.0 / 20.0));
}

/// Web sessions and E-MulTCP run under TCP: pages come and pauses, connections open while the queue is short.
#[test]
fn web_and_emultcp_use_the_path() {
    let web = QUEUES.replace("controller = \"reno\"", "source = \"web\"\nthink = \"1 s\"\ncount = 20");
    let summary = run(&web, &["run.duration=200 s"]);
    // 20 sessions of 48 kB per page and a second of thought and some round trips between.
    let total: f64 = summary.flows.iter().map(|flow| flow.goodput_mbps.unwrap()).sum();
    assert!((1.0..8.0).contains(&total), "{total}");
    // 1 % loss holds one Reno at about 1 Mbit/s; connections open until they are eight.
    let group = QUEUES.replace("controller = \"reno\"", "source = \"emultcp\"\ncount = 8");
    let summary = run(
        &group,
        &["run.duration=600 s", "run.warmup=500 s", "dumbbell.loss={ kind = \"bernoulli\", rate = \"1 %\" }"],
    );
    let total: f64 = summary.flows.iter().map(|flow| flow.goodput_mbps.unwrap()).sum();
    assert!((6.0..10.0).contains(&total), "{total}");
}

/// Every scenario of this repository, with the files that it names.
#[test]
fn the_scenarios_of_this_repository_are_accepted() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = std::fs::read_to_string(&path).unwrap();
            let name = path.to_str().unwrap();
            let checked = read_toml(&text, name, &[], &BuiltIn).unwrap();
            let again = read_toml(&checked.toml, name, &[], &BuiltIn).unwrap();
            assert_eq!(again.scenario, checked.scenario, "as run, it is the same");
        }
    }
}

#[test]
fn a_web_session_needs_a_window() {
    let web = QUEUES.replace("controller = \"reno\"", "source = \"web\"\ncontroller = \"tfrc\"");
    let refused = read_toml(&web, "a.toml", &[], &BuiltIn).unwrap_err().to_string();
    assert_eq!(
        refused,
        "a.toml:7: flow.0.controller: \"tfrc\" is rate-based; this source needs a window-based control"
    );
}

const STEADY: &str = r#"
run = { duration = "40 s", warmup = "10 s" }
dumbbell = { rate = "100 Mbit/s", delay = "50 ms", queue = { kind = "droptail", limit = "100 packets" } }
flow = [{ controller = "constant", params = { window = 10 }, packet = "1000 B", rtt = "100 ms" }]
"#;

/// A steady window of 10 packets paced at half of it per round trip, or one of 2 of which 5 are the least: 5 packets of
/// 8000 bits per 100 ms are 0.4 Mbit/s. A packet's own 0.08 ms at 100 Mbit/s is below 1 % of a round trip.
#[test]
fn gains_of_pacing_and_the_least_window_are_obeyed() {
    let paced = ["flow.0.pacing=true", "flow.0.pacing_gain=0.5", "flow.0.slow_start_gain=0.25"];
    let after = [&paced[..], &["flow.0.initial_ssthresh=2"]].concat();
    let least = ["flow.0.params.window=2", "flow.0.min_window=5"];
    for (settings, expected) in [(&paced[..], 0.2), (&after[..], 0.4), (&least[..], 0.4), (&[][..], 0.8)] {
        let goodput = run(STEADY, settings).flows[0].goodput_mbps.unwrap();
        assert!((goodput / expected - 1.0).abs() < 0.01, "{settings:?}: {goodput}");
    }
}

/// 20 Mbit/s of 1000-byte packets through a policer of 10 Mbit/s and 50 kB: half of them pass, and the first 50 kB above that,
/// which are 40 ms of 10 Mbit/s. Nothing waits, because the link is faster. 10 s are 25 000 packets.
#[test]
fn a_policer_passes_its_rate_and_its_burst() {
    let text = r#"
run = { duration = "10 s" }
flow = [{ source = "cbr", rate = "20 Mbit/s", stop = "9.999999 s" }]
[dumbbell]
rate = "100 Mbit/s"
delay = "0 ms"
queue = { kind = "droptail", limit = "100 packets" }
policer = { rate = "10 Mbit/s", burst = "50 kB" }
"#;
    let summary = run(text, &[]);
    let whole = summary.flows[0].whole_run;
    assert_eq!(whole.sent_packets, 25_000);
    // The bucket had 50 kB and got 12.5 MB: 12 550 packets.
    assert!(whole.dropped_packets.abs_diff(25_000 - 12_550) <= 1, "{}", whole.dropped_packets);
    let link = &summary.links[0];
    assert_eq!((link.queue_drops, link.random_losses), (whole.dropped_packets, 0));
    assert_eq!(link.queue_delay_p99_ms, Some(0.0));
}

/// A window of 50 packets, 4 ms long, once per round trip of 100 ms. ACKs that come at multiples of 30 ms only make that 120
/// ms, and all 50 come together. Thinned out, one tells as much as all of them; 30 s have 250 round trips.
#[test]
fn aggregation_makes_acks_come_in_groups() {
    let text = STEADY.replace("window = 10", "window = 50");
    for (keys, thinned) in [("", 0), (", thin_acks = true", 250 * 49)] {
        let summary = run(&text, &[&format!("dumbbell.reverse.aggregation={{ every = \"30 ms\"{keys} }}")]);
        let goodput = summary.flows[0].goodput_mbps.unwrap();
        assert!((goodput - 50.0 * 8e-3 / 0.12).abs() < 1e-9, "{goodput}");
        assert_eq!(summary.links[1].queue_drops, thinned);
    }
}

/// Random losses of one packet in a thousand, about 40 packets per round trip: a second loss in the round trip of a first
/// one belongs to the same event, which happens to 4 in 100. So TFRC and TEAR count 0.9 to 1 loss event per loss. Vivace
/// knows no loss events.
#[test]
fn rate_based_controls_count_loss_events() {
    let text = "run = { duration = \"400 s\" }\nflow = [{ controller = \"tfrc\", rtt = \"100 ms\" }]\n[dumbbell]\n\
                rate = \"50 Mbit/s\"\ndelay = \"50 ms\"\nqueue = { kind = \"droptail\", limit = \"1000 packets\" }\n\
                loss = { kind = \"bernoulli\", rate = \"0.1 %\" }\n";
    for control in ["tfrc", "tfrc-2000", "tear"] {
        let counters = run(text, &[&format!("flow.0.controller={control}")]).flows[0].whole_run;
        let share = counters.loss_events.unwrap() as f64 / counters.dropped_packets as f64;
        println!("{control}: {share:.3} loss events per loss, of {}", counters.dropped_packets);
        assert!((0.9..=1.0).contains(&share), "{control}: {share}");
    }
    assert_eq!(run(text, &["flow.0.controller=vivace"]).flows[0].whole_run.loss_events, None);
}

/// Packets that limited transmit lets out do not wait for the random delay, but for their turn when packets are paced: the
/// run comes to its end, and 2 % of loss leave Reno its few packets per round trip.
#[test]
fn a_paced_sender_with_a_random_delay_comes_to_its_end() {
    let text = "run = { duration = \"60 s\" }\n\
                tcp = { overhead = \"2 ms\", pacing = true }\n\
                flow = [{ controller = \"reno\", rtt = \"40 ms\", count = 3 }]\n[dumbbell]\n\
                rate = \"10 Mbit/s\"\ndelay = \"20 ms\"\nqueue = { kind = \"droptail\", limit = \"20 packets\" }\n\
                loss = { kind = \"bernoulli\", rate = \"2 %\" }\n";
    for recovery in ["reno", "newreno", "sack"] {
        let summary = run(text, &[&format!("tcp.recovery={recovery}")]);
        assert!(summary.flows.iter().all(|flow| flow.goodput_mbps.unwrap() > 0.3), "{recovery}");
    }
}

/// A mark stops growth until what was sent since is acknowledged, but not after a timeout: everything is lost for 0.3 s, from
/// ten moments on, of which some follow a mark at once. A second after the outage slow start has brought the window back to
/// ten packets.
#[test]
fn a_timeout_forgets_the_mark_before_it() {
    for begins_ms in (5000_usize..6000).step_by(40) {
        let text = format!(
            "run = {{ duration = \"8 s\", sample = \"10 ms\" }}\n\
             tcp = {{ ecn = true }}\nflow = [{{ controller = \"reno\", rtt = \"40 ms\" }}]\n[dumbbell]\n\
             rate = \"10 Mbit/s\"\ndelay = \"20 ms\"\n\
             queue = {{ kind = \"step\", limit = \"200 packets\", threshold = 20 }}\n\
             [[event]]\nat = \"{begins_ms} ms\"\nset = \"dumbbell.loss.rate\"\nto = \"100 %\"\n\
             [[event]]\nat = \"{} ms\"\nset = \"dumbbell.loss.rate\"\nto = \"0 %\"\n",
            begins_ms + 300
        );
        let (summary, tables) = common::run_with(&read(&text, &[]), 0, true, u64::MAX);
        assert!(summary.flows[0].whole_run.timeouts > 0);
        let over = begins_ms / 10 + 30;
        let window = windows(&tables, "window");
        let largest = window[over + 20..over + 130].iter().copied().fold(0.0, f64::max);
        assert!(largest >= 10.0, "outage at {begins_ms} ms: at most {largest} packets");
    }
}
