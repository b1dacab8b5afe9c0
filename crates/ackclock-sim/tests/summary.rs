//! What a summary says is what happened: see [`crate::common::ledger`].

use ackclock_scenario::read_toml;
use ackclock_sim::BuiltIn;
use ackclock_trace::{Column, Counters, FlowSummary, LimitedBy, Summary};
use ackclock_units::Span;
use proptest::prelude::*;

use crate::common;
use crate::common::{ledger, random};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_shown_adds_up(scenario in random::scenario()) {
        if let Err(error) = ledger::check(&scenario) {
            prop_assert!(false, "{}", error);
        }
    }
}

/// The ruler itself: one number is changed in a summary that is right, up to its bound and then beyond it.
#[test]
fn a_number_beyond_its_bound_is_noticed() {
    let text = "run = { duration = \"20 s\" }\n\
        dumbbell = { rate = \"8 Mbit/s\", delay = \"50 ms\", queue = { kind = \"droptail\", limit = \"20 packets\" } }\n\
        flow = [{ controller = \"reno\", rtt = \"100 ms\" }, { source = \"cbr\", rate = \"80 kbit/s\", deadline = \"60 ms\" }]\n";
    let scenario = read_toml(text, "summary", &[], &BuiltIn).unwrap().scenario;
    let right = common::run(&scenario);
    let changed = |change: &dyn Fn(&mut Summary)| {
        let mut summary = right.clone();
        change(&mut summary);
        ledger::of_bounds(&scenario, &summary, Span::ZERO, Span::from_seconds(20))
    };
    assert_eq!(changed(&|_| {}), Ok(()));
    let sent = right.flows[0].counters.sent_packets;
    let window = right.flows[0].mean_window;
    type Change = (&'static str, fn(&mut Summary, f64), f64, f64);
    let changes: [Change; 9] = [
        ("utilisation", |all, to| all.links[0].utilisation = Some(to), 1.0, 1.000_001),
        ("on average", |all, to| all.links[0].mean_queue_packets = Some(to), 20.0, 20.1),
        ("fit", |all, to| all.links[0].max_queue_packets = to as u64, 20.0, 21.0),
        ("late", |all, to| all.flows[1].late = Some(to), 1.0, 1.1),
        ("Jain", |all, to| all.jain = Some(to), 1.0, 1.1),
        // The median may be a bin of a histogram below, by less than 1 %.
        ("RTT", |all, to| all.flows[0].mean_rtt_ms = Some(to), 99.1, 98.9),
        // A packet of 8 kbit that is not of the 20 s: 400 bit/s.
        ("Mbit/s", |all, to| all.flows[0].goodput_mbps = Some(to), 8.0004, 8.0005),
        (
            "sent before",
            |all, to| all.flows[0].counters.retransmitted_packets = to as u64,
            sent as f64,
            sent as f64 + 1.0,
        ),
        (
            "a window of",
            |all, to| all.flows[0].max_window = Some(to),
            window.unwrap(),
            window.unwrap() - 0.001,
        ),
    ];
    for (what, change, bound, beyond) in changes {
        assert_eq!(changed(&|summary| change(summary, bound)), Ok(()), "{what}: {bound}");
        let error = changed(&|summary| change(summary, beyond)).expect_err(what);
        assert!(error.contains(what), "{error}");
    }
    let by = LimitedBy { window: 0.5, receiver: 0.0, application: 0.25, pacing: 0.25 };
    for (by, holds) in [(by.clone(), true), (LimitedBy { pacing: 0.26, ..by.clone() }, false)] {
        assert_eq!(changed(&|all| all.flows[0].limited_by = Some(by.clone())).is_ok(), holds, "{by:?}");
    }
}

fn run(text: &str) -> Summary {
    common::run(&read_toml(text, "summary", &[], &BuiltIn).unwrap().scenario)
}

/// Ten packets at once into a queue that holds five, the one in transmission included: five are lost, and sent again. All of it
/// happens within the measured time, whenever the flow starts, as a `[[flow]]` or as an arrival.
#[test]
fn the_first_burst_of_a_flow_counts() {
    for (start, warmup) in [("0 s", "0 s"), ("3 s", "0 s"), ("3 s", "3 s"), ("3 s", "2 s")] {
        let text = format!(
            "run = {{ duration = \"20 s\", warmup = \"{warmup}\" }}\n\
             tcp = {{ initial_window = 10 }}\n\
             dumbbell = {{ rate = \"10 Mbit/s\", delay = \"20 ms\", queue = {{ kind = \"droptail\", limit = \"5 packets\" }} }}\n\
             flow = [{{ controller = \"reno\", rtt = \"40 ms\", bytes = \"10 kB\", start = \"{start}\" }}]\n"
        );
        let summary = run(&text);
        let flow = &summary.flows[0];
        let expected = (15, 5, 5);
        for Counters { sent_packets, retransmitted_packets, dropped_packets, .. } in
            [flow.counters, flow.whole_run]
        {
            assert_eq!((sent_packets, retransmitted_packets, dropped_packets), expected, "{start} {warmup}");
        }
        assert_eq!(summary.links[0].queue_drops, 5, "{start} {warmup}");
    }
}

/// One packet per millisecond, at whole milliseconds from 0 on, that takes half a millisecond and no other time, and a flow
/// whose every second packet a full queue drops at once. In [1 s, 2 s) are 1000 of them: that of 1 s is, and that of 2 s is
/// not. A flow that stops at 1.5 s has 500, and every sample of 100 ms has 100 in it, also the first.
#[test]
fn an_interval_has_its_first_instant_and_not_its_last() {
    let text = "run = { duration = \"2 s\", warmup = \"1 s\", sample = \"100 ms\" }\n\
        dumbbell = { rate = \"16 Mbit/s\", delay = \"0 s\", queue = { kind = \"droptail\", limit = \"1 packet\" } }\n\
        [[flow]]\nsource = \"cbr\"\nrate = \"8 Mbit/s\"\nname = \"all\"\n\
        [[flow]]\nsource = \"cbr\"\nrate = \"8 Mbit/s\"\nname = \"dropped\"\nstop = \"1.5 s\"\n";
    let scenario = read_toml(text, "summary", &[], &BuiltIn).unwrap().scenario;
    let (summary, tables) = common::run_with(&scenario, 0, true, u64::MAX);
    let [all, dropped] = [&summary.flows[0], &summary.flows[1]];
    assert_eq!((all.counters.sent_packets, all.whole_run.sent_packets), (1000, 2000));
    assert_eq!((dropped.counters.sent_packets, dropped.counters.dropped_packets), (500, 500));
    assert_eq!((dropped.whole_run.sent_packets, summary.links[0].queue_drops), (1500, 500));
    // A packet of 2000 ms less one arrives half a millisecond later.
    assert_eq!(all.goodput_mbps, Some(8.0));
    // The link sends half of the time, and a packet that begins at 1 s is not sent before.
    assert_eq!(summary.links[0].utilisation, Some(0.5));
    let table = |name| &tables.iter().find(|(other, _)| *other == name).unwrap().1;
    let column = |of, name| {
        let column = &table(of).columns.iter().find(|(other, _)| *other == name).unwrap().1;
        let Column::Whole(values) = column else { panic!("{name} has whole numbers") };
        values.clone()
    };
    assert_eq!(column("windows", "sent_bytes").into_iter().step_by(2).collect::<Vec<_>>(), vec![100_000; 20]);
    let drops: Vec<_> = column("queues", "drops").into_iter().step_by(2).collect();
    assert_eq!(drops, [vec![100; 15], vec![0; 5]].concat());
}

const PATH: &str = "run = { duration = \"20 s\", warmup = \"10 s\" }\n\
    dumbbell = { rate = \"8 Mbit/s\", delay = \"50 ms\", queue = { kind = \"droptail\", limit = \"1000 packets\" } }\n";

fn flow(keys: &str) -> FlowSummary {
    run(&format!("{PATH}[[flow]]\nrtt = \"100 ms\"\n{keys}")).flows.remove(0)
}

fn limited_by(keys: &str) -> LimitedBy {
    flow(keys).limited_by.unwrap()
}

/// The path has 100 packets in a round trip, and 1000 more in its queue.
#[test]
fn a_flow_says_what_limits_it() {
    let alone = |window, receiver, application, pacing| LimitedBy { window, receiver, application, pacing };
    assert_eq!(limited_by("controller = \"constant\"\nparams = { window = 50 }"), alone(1.0, 0.0, 0.0, 0.0));
    assert_eq!(limited_by("controller = \"reno\"\nreceive_window = 50"), alone(0.0, 1.0, 0.0, 0.0));
    assert_eq!(limited_by("controller = \"reno\"\nlimit = \"1 Mbit/s\""), alone(0.0, 0.0, 1.0, 0.0));
    assert_eq!(limited_by("controller = \"tfrc\""), alone(0.0, 0.0, 0.0, 1.0));
    assert_eq!(limited_by("source = \"cbr\"\nrate = \"1 Mbit/s\"").application, 1.0);
    // A receive window holds nothing unless it is smaller than the window.
    let receiver = "receive_window = 50\nparams = { window = 50 }";
    assert_eq!(limited_by(&format!("controller = \"constant\"\n{receiver}")), alone(1.0, 0.0, 0.0, 0.0));
    assert_eq!(
        limited_by(&format!("controller = \"constant\"\n{}", receiver.replacen("50", "49", 1))),
        alone(0.0, 1.0, 0.0, 0.0)
    );
}

/// What is said of a limit is what its share is, in one sentence for all flows that it limits for more than half of their time;
/// nothing is said of windows, of controls that set a rate, and of flows without a control.
#[test]
fn a_limit_for_most_of_the_time_is_said_in_one_sentence() {
    let notes = |keys: &str| run(&format!("{PATH}[[flow]]\nrtt = \"100 ms\"\n{keys}")).notes;
    assert_eq!(notes("controller = \"constant\"\nparams = { window = 50 }"), Vec::<String>::new());
    assert_eq!(notes("controller = \"tfrc\""), Vec::<String>::new());
    assert_eq!(notes("source = \"cbr\"\nrate = \"1 Mbit/s\""), Vec::<String>::new());
    let held = "controller = \"reno\"\nreceive_window = 50";
    let sentence = "reno-0 was limited by its receive window of 50 packets for 100 % of the time";
    assert_eq!(notes(held), [sentence]);
    let many = notes(&format!("{held}\ncount = 3\n[[flow]]\ncontroller = \"cubic\"\nlimit = \"100 kbit/s\""));
    let sentences = [
        "reno-0 and 2 other flows were limited by their receive windows for more than half of the time",
        "cubic-3 was limited by its application for 100 % of the time",
    ];
    assert_eq!(many, sentences);
    // Requests of ten packets, five at once: the window holds the others for 105 ms. One per 250 ms: 42 % of the time; one
    // per 200 ms: 52.5 %.
    let requests = |every: u32| {
        notes(&format!(
            "controller = \"constant\"\nparams = {{ window = 5 }}\nsource = \"requests\"\nsize = \"10 kB\"\n\
             every = \"{every} ms\""
        ))
    };
    assert_eq!(requests(250), ["requests-0 was limited by its application for 58 % of the time"]);
    assert_eq!(requests(200), Vec::<String>::new());
}

/// A window of 50 packets, paced at half of it per RTT: the pacer holds back each packet. Paced at 1.25 times that the packets
/// soon have the spacing that the pacer wants, so that each acknowledgement finds it open: the window holds them back.
#[test]
fn pacing_limits_where_it_is_slower_than_the_acknowledgements() {
    let paced = |gain: f64| {
        limited_by(&format!(
            "controller = \"constant\"\nparams = {{ window = 50 }}\npacing = true\n\
             pacing_gain = {gain}\nslow_start_gain = {gain}"
        ))
    };
    assert_eq!((paced(0.5).pacing, paced(1.25).window), (1.0, 1.0));
}

/// Requests of ten packets, one per second: for a round trip and ten milliseconds there is something to wait for, but nothing
/// more to send. At an initial window of 5 the second five wait for the window: 101 ms until the first is acknowledged.
#[test]
fn an_application_without_data_limits() {
    let requests = |window: u32| {
        let keys = format!(
            "controller = \"constant\"\nparams = {{ window = {window} }}\nsource = \"requests\"\nsize = \"10 kB\"\nevery = \"1 s\""
        );
        limited_by(&keys)
    };
    assert_eq!(requests(10).application, 1.0);
    let by = requests(5);
    // The fifth of them leaves when the fifth is acknowledged, 4 ms after the first.
    assert!((by.window - 0.105).abs() < 0.001 && (by.application - 0.895).abs() < 0.001, "{by:?}");
}

/// 100 packets of a window of 50, of which the first 50 go at once: the window is full until the 50th is acknowledged, 100 ms
/// and 50 packets of 1 ms later. After that the application has nothing more until the last arrives. Then the time does not
/// count any more, however long the run is.
#[test]
fn a_complete_transfer_is_limited_by_nothing() {
    let keys = "controller = \"constant\"\nparams = { window = 50 }\nbytes = \"100 kB\"\nstart = \"11 s\"";
    let flow = flow(keys);
    let by = flow.limited_by.unwrap();
    let (window, application) = (0.15, 0.101);
    assert!((by.window - window / (window + application)).abs() < 0.01, "{by:?}");
    assert!((by.window + by.application - 1.0).abs() < 1e-9, "{by:?}");
    // One that is complete before the measured time was limited by nothing within it.
    assert_eq!(self::flow(&keys.replace("11 s", "1 s")).limited_by, None);
}

/// All of a transfer is sent at once, 200 packets into a queue of 20, and most of them are lost: for the rest of its life there
/// is something to send again, which its window holds back, but for the wait for the timeout and for the last packets.
#[test]
fn the_window_limits_what_is_sent_again() {
    for recovery in ["reno", "reno-ns2", "newreno", "sack", "rack", "linux-2.6"] {
        let text = format!(
            "run = {{ duration = \"20 s\" }}\n\
             dumbbell = {{ rate = \"1 Mbit/s\", delay = \"20 ms\", queue = {{ kind = \"droptail\", limit = \"20 packets\" }} }}\n\
             flow = [{{ controller = \"reno\", rtt = \"40 ms\", recovery = \"{recovery}\", bytes = \"200 kB\", initial_window = 200 }}]\n"
        );
        let flow = run(&text).flows.remove(0);
        assert!(flow.counters.dropped_packets >= 180 && flow.completion_s.is_some(), "{recovery}: {flow:?}");
        let by = flow.limited_by.unwrap();
        assert!(by.window > 0.5 && by.receiver + by.pacing == 0.0, "{recovery}: {by:?}");
    }
}

/// The initial window counts for the largest, and a mean is not above it.
#[test]
fn the_largest_window_is_the_largest() {
    let constant = flow("controller = \"constant\"\nparams = { window = 100 }");
    assert_eq!((constant.mean_window, constant.max_window), (Some(100.0), Some(100.0)));
    let cut = flow("controller = \"constant\"\nparams = { window = 2.75 }");
    assert_eq!((cut.mean_window, cut.max_window), (Some(2.75), Some(2.75)));
    assert_eq!(flow("controller = \"reno\"\nreceive_window = 1\ninitial_window = 7.5").max_window, Some(7.5));
}

/// A packet of 9000 bytes takes 144 ms at 0.5 Mbit/s, and the link goes down in the middle of one: it is sent all the same, in
/// time that the link is given. What is sent is never more than what could be.
#[test]
fn a_link_that_goes_down_is_not_used_more_than_it_can_be() {
    let text = "run = { duration = \"3 s\", warmup = \"1 s\" }\n\
        dumbbell = { rate = \"0.5 Mbit/s\", delay = \"1 ms\", queue = { kind = \"droptail\", limit = \"100 packets\" } }\n\
        event = [{ at = \"1.5 s\", set = \"dumbbell.up\", to = false }]\n\
        flow = [{ source = \"cbr\", rate = \"2 Mbit/s\", packet = \"9000 B\" }]\n";
    assert_eq!(run(text).links[0].utilisation, Some(1.0));
}

/// A link that is never idle, at 1234.567 bits per sample of a millisecond, whole bits of which count. It begins 0.1 ms after a
/// sample, so that some samples would have a bit more than could be sent.
#[test]
fn no_sample_has_a_utilisation_above_one() {
    let text = "run = { duration = \"1 s\", sample = \"1 ms\" }\n\
        dumbbell = { rate = \"1234567 bit/s\", delay = \"1 ms\", queue = { kind = \"droptail\", limit = \"100 packets\" } }\n\
        flow = [{ source = \"cbr\", rate = \"4 Mbit/s\", start = \"100 us\" }]\n";
    let scenario = read_toml(text, "summary", &[], &BuiltIn).unwrap().scenario;
    let (_, tables) = common::run_with(&scenario, 0, true, u64::MAX);
    let queues = &tables.iter().find(|(name, _)| *name == "queues").unwrap().1;
    let (_, column) = queues.columns.iter().find(|(name, _)| *name == "utilisation").unwrap();
    let Column::Real(values) = column else { panic!("utilisation is real") };
    // Of the two directions, in turn.
    let forward: Vec<_> = values.iter().step_by(2).collect();
    assert!(forward.iter().all(|value| (0.9..=1.0).contains(*value)), "{forward:?}");
}

/// Marks and samples do not disturb what a queue drops when a packet goes: the drops are counted for its flows when they are
/// for the link. CoDel at three times its rate drops many, at ends of transmissions, of which one is at each whole millisecond.
#[test]
fn flows_and_links_lose_the_same_up_to_every_instant() {
    for milliseconds in (2000..2020).chain([2500]) {
        let text = format!(
            "run = {{ duration = \"{milliseconds} ms\", warmup = \"1005 ms\" }}\n\
             dumbbell = {{ rate = \"8 Mbit/s\", delay = \"10 ms\", queue = {{ kind = \"codel\", limit = \"2000 packets\" }} }}\n\
             flow = [{{ source = \"cbr\", rate = \"24 Mbit/s\" }}]\n"
        );
        let summary = run(&text);
        assert_eq!(summary.flows[0].counters.dropped_packets, summary.links[0].queue_drops, "{milliseconds}");
        assert!(summary.links[0].queue_drops > 10);
    }
}
