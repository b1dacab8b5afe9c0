//! Properties of every scenario: every packet is accounted for, and the same scenario gives the same run.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use ackclock_scenario::*;
use ackclock_sim::loss::LossModel;
use ackclock_sim::random::Streams;
use ackclock_sim::{BuiltIn, Simulation};
use ackclock_trace::{Column, FlowSummary};
use ackclock_units::{Bytes, Packets, Rate, Span, Time};
use proptest::prelude::*;

use crate::common;
use crate::common::random::{controller, is_rate_based, random_loss, scenario, tcp};

/// A writer whose content can be looked at afterwards.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Conservation of packets and the rate of links are asserted by the run itself, as are the order of time
    /// and windows of at least 1; here is what follows from them for the summary.
    #[test]
    fn nothing_is_lost_from_sight(scenario in scenario()) {
        let (summary, tables) = common::run_with(&scenario, 0, true, 1000);
        let completed = |flow: &FlowSummary| flow.request_p50_s.is_none_or(|time| time > 0.0);
        prop_assert!(summary.flows.iter().all(completed));
        prop_assert!(summary.flows.len() >= scenario.flows.len());
        for (flow, settings) in summary.flows.iter().zip(scenario.flows.iter()) {
            let whole = flow.whole_run;
            let once = whole.sent_packets - whole.retransmitted_packets;
            prop_assert!(whole.dropped_packets <= whole.sent_packets);
            if let Some(bytes) = settings.bytes {
                let total = bytes.0.div_ceil(settings.tcp.packet.0);
                prop_assert!(once <= total);
                prop_assert!(flow.completion_s.is_none() || once == total, "complete, but not all was sent");
            }
        }
        let changed = |link: usize| scenario.events.iter().any(|event| event.link == link);
        for (id, (link, settings)) in summary.links.iter().zip(&scenario.links).enumerate() {
            if let (Limit::Packets(limit), false) = (settings.queue.limit(), changed(id)) {
                prop_assert!(link.max_queue_packets <= limit.0);
            }
        }
        let lengths: Vec<_> = tables.iter().flat_map(|(name, table)| {
            table.columns.iter().map(move |(_, column)| (*name, length(column)))
        }).collect();
        prop_assert!(lengths.windows(2).all(|pair| pair[0].0 != pair[1].0 || pair[0].1 == pair[1].1));
    }

    /// Neither how a run is cut into calls, nor recording, nor a packet capture changes it.
    #[test]
    fn observers_change_nothing(scenario in scenario()) {
        let plain = common::run_with(&scenario, 0, false, u64::MAX).0;
        let recorded = common::run_with(&scenario, 0, true, 777).0;
        prop_assert_eq!(&plain, &recorded);
        let mut simulation = Simulation::new(scenario, &BuiltIn, 0, false).unwrap();
        let output = Shared::default();
        simulation.capture(Box::new(output.clone())).unwrap();
        while !simulation.advance(10_000) {}
        prop_assert_eq!(&plain, &simulation.finish(&BuiltIn).unwrap().0);
        prop_assert!(output.0.lock().unwrap().len() >= 24, "a capture has at least its header");
    }

    /// Links that plan the future of their packets and links that find out packet by packet are the same: the same digest,
    /// the same summary to the last percentile, the same samples. Plans are given up at the beginning, in the middle of the
    /// run, by events, or never.
    #[test]
    fn plans_change_nothing(scenario in scenario(), limits in any::<[(u16, bool); 2]>(), given_up_after in 1_u64..20_000) {
        let mut scenario = scenario;
        for (link, (limit, bytes)) in scenario.links.iter_mut().zip(limits) {
            let limit = u64::from(limit) % 200 + 1;
            let limit = if bytes { Limit::Bytes(Bytes(1500 * limit)) } else { Limit::Packets(Packets(limit)) };
            (link.queue, link.noise, link.trace) = (Queue::Droptail { limit }, None, None);
        }
        let run = |given_up_after: Option<u64>| {
            let mut simulation = Simulation::new(scenario.clone(), &BuiltIn, 0, true).unwrap();
            let ended = given_up_after.is_some_and(|events| {
                let ended = events > 0 && simulation.advance(events);
                simulation.give_up_plans();
                ended
            });
            while !ended && !simulation.advance(u64::MAX) {}
            simulation.finish(&BuiltIn).unwrap()
        };
        let (summary, tables) = run(None);
        for given_up_after in [0, given_up_after] {
            let (other, other_tables) = run(Some(given_up_after));
            prop_assert_eq!(&summary, &other);
            // NaN is not equal to itself.
            prop_assert_eq!(format!("{tables:?}"), format!("{other_tables:?}"));
        }
    }

    /// A run that asks for memory before it is needed is the same as one that does not.
    #[test]
    fn looking_ahead_changes_nothing(scenario in scenario()) {
        let run = |looks_ahead: bool| {
            let mut simulation = Simulation::new(scenario.clone(), &BuiltIn, 0, false).unwrap();
            simulation.set_looks_ahead(looks_ahead);
            while !simulation.advance(u64::MAX) {}
            simulation.finish(&BuiltIn).unwrap().0
        };
        prop_assert_eq!(run(true), run(false));
    }

    /// Whatever the settings, a transfer ends: nothing waits for ever for what will not come. At 5 % loss each
    /// way, 300 packets need some dozens of timeouts at the very worst; the largest RTO is 64 s.
    #[test]
    fn every_transfer_ends(tcp in tcp(), controller in controller(), seed in any::<u64>()) {
        // Rate-based controls repair nothing.
        prop_assume!(!is_rate_based(&controller));
        let mut scenario = common::scenario(&controller);
        scenario.run.seed = seed;
        scenario.run.duration = Span::from_seconds(4000);
        scenario.run.warmup = Span::ZERO;
        let loss = Loss::Bernoulli { probability: 0.05 };
        (scenario.links[0].loss, scenario.links[1].loss) = (loss.clone(), loss);
        let bytes = Bytes(300 * tcp.packet.0);
        let flow = Flow { tcp: tcp.into(), bytes: Some(bytes), ..scenario.flows[0].clone() };
        scenario.flows = vec![flow].into();
        let flow = common::run(&scenario).flows.remove(0);
        prop_assert!(flow.completion_s.is_some(), "{:?}", flow.whole_run);
    }

    /// Random losses of the n-th packet of a flow do not depend on what the other flows send, nor on how many there are:
    /// three flows take turns as `turns` says, and each meets what it meets alone.
    #[test]
    fn the_nth_packet_of_a_flow_meets_the_same_fate_whatever_the_others_send(
        loss in random_loss(),
        turns in prop::collection::vec(0_u32..3, 300..1000),
        seed in any::<u64>(),
    ) {
        let mut together = LossModel::new(loss.clone(), 0, 3, Streams { seed, run: 0 });
        let fates: Vec<_> = turns.iter().map(|flow| (*flow, together.loses(Time::ZERO, *flow))).collect();
        for flow in 0..3 {
            let mut alone = LossModel::new(loss.clone(), 0, flow + 1, Streams { seed, run: 0 });
            for (number, (_, fate)) in fates.iter().filter(|(other, _)| *other == flow).enumerate() {
                prop_assert_eq!(*fate, alone.loses(Time::ZERO, flow), "packet {} of flow {}", number, flow);
            }
        }
    }

    /// The same in a run: datagrams leave every 10 ms, so the deliveries in each 10 ms say which of them were lost. They
    /// are the same whatever control a second flow has. The link is so fast that nobody waits for the other.
    #[test]
    fn the_nth_packet_of_a_flow_meets_the_same_fate_whatever_the_control_of_another(
        loss in random_loss(),
        controls in [controller(), controller()],
        seed in any::<u64>(),
    ) {
        let deliveries = |control: &String| {
            let mut scenario = common::scenario(control);
            scenario.run.seed = seed;
            scenario.run.duration = Span::from_seconds(5);
            scenario.run.warmup = Span::ZERO;
            scenario.run.sample = Sample::Every(Span::from_millis(10));
            scenario.links[0].rate = Rate(1_000_000_000_000);
            scenario.links[0].queue = Queue::Droptail { limit: Limit::Packets(Packets(1 << 20)) };
            scenario.links[0].loss = loss.clone();
            // 1000 bytes in 10 ms.
            let datagrams = Datagrams { rate: Rate(800_000), poisson: false, cycle: None, codepoint: Codepoint::NotEct, pulse: None, deadline: None };
            // They leave half way between the samples.
            let start = Moment::At(Span::from_millis(5));
            let other = common::flow(control, Span::from_millis(100));
            let first = common::flow("reno", Span::from_millis(100));
            let source = Flow { traffic: Traffic::Datagrams(datagrams), start, ..first };
            scenario.flows = vec![source, other].into();
            // A window of a thousand packets is enough to disturb, and keeps the run short.
            scenario.flows[1].tcp.receive_window = Some(Packets(1000));
            let tables = common::run_with(&scenario, 0, true, u64::MAX).1;
            let windows = tables.into_iter().find(|(name, _)| *name == "windows").unwrap().1;
            let column = |name| windows.columns.iter().find(|(other, _)| *other == name).unwrap();
            let (Column::Id(flows), Column::Whole(bytes)) = (&column("flow").1, &column("delivered_bytes").1) else {
                panic!("columns of numbers");
            };
            flows.iter().zip(bytes).filter(|(flow, _)| **flow == 0).map(|(_, bytes)| *bytes).collect::<Vec<_>>()
        };
        let [first, second] = controls.each_ref().map(deliveries);
        prop_assert!(first.iter().any(|bytes| *bytes > 0), "something arrives");
        prop_assert_eq!(first, second);
    }

    /// Another run draws other random numbers; the same run cut into other pieces does not.
    #[test]
    fn another_run_is_another_run(seed in any::<u64>()) {
        let mut scenario = common::scenario("reno");
        scenario.run.seed = seed;
        scenario.run.duration = Span::from_seconds(5);
        scenario.run.warmup = Span::ZERO;
        scenario.links[0].loss = Loss::Bernoulli { probability: 0.01 };
        let (first, again) = (common::run_with(&scenario, 0, false, 5000).0, common::run_with(&scenario, 0, false, 99).0);
        prop_assert_eq!(&first.digest, &again.digest);
        prop_assert_ne!(&first.digest, &common::run_with(&scenario, 1, false, 5000).0.digest);
    }
}

fn length(column: &Column) -> usize {
    match column {
        Column::Whole(values) => values.len(),
        Column::Id(values) => values.len(),
        Column::Real(values) => values.len(),
        Column::Word(values) => values.len(),
    }
}

/// Two concurrent threads give the same result as one.
#[test]
fn threads_do_not_matter() {
    let scenario = common::scenario("illinois");
    let alone = common::run(&scenario);
    let both = std::thread::scope(|scope| {
        let threads = [0, 1].map(|_| scope.spawn(|| common::run(&scenario)));
        threads.map(|thread| thread.join().unwrap())
    });
    assert!(both.iter().all(|summary| *summary == alone));
}

/// The fingerprints of the scenarios in this repository: they guard against change, and tell debug from
/// release builds, machine from machine. A change of behaviour changes digests.txt, where it is seen.
#[test]
fn digests_are_those_on_file() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let path = format!("{root}/tests/digests.txt");
    let mut digests = String::new();
    for name in [
        "example",
        "example-ns2",
        "illinois-figure-8",
        "lossy-path",
        "cellular",
        "mixed-traffic",
        "handovers",
    ] {
        let text = std::fs::read_to_string(format!("{root}/scenarios/{name}.toml")).unwrap();
        let file = format!("{root}/scenarios/{name}.toml");
        let scenario = read_toml(&text, &file, &[], &BuiltIn).unwrap().scenario;
        digests += &format!("{} {name}\n", common::run(&scenario).digest);
    }
    if std::env::var_os("UPDATE_DIGESTS").is_some() {
        std::fs::write(&path, &digests).unwrap();
    }
    assert_eq!(
        digests,
        std::fs::read_to_string(&path).unwrap(),
        "behaviour changed: UPDATE_DIGESTS=1 if meant"
    );
}
