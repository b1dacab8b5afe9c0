//! What holds for every scenario: nothing is lost from sight, and the same scenario gives the same run.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use ackclock_cc::registry::{Catalogue, Kind};
use ackclock_scenario::*;
use ackclock_sim::loss::LossModel;
use ackclock_sim::{BuiltIn, Simulation};
use ackclock_trace::{Column, FlowSummary};
use ackclock_units::{Bytes, Packets, Rate, Span};
use proptest::prelude::*;

use crate::common;

fn controller() -> impl Strategy<Value = String> {
    let names: Vec<_> = BuiltIn.entries().iter().map(|entry| entry.name.to_owned()).collect();
    prop::sample::select(names)
}

fn is_rate_based(controller: &str) -> bool {
    BuiltIn.find(controller).unwrap().kind == Kind::Rate
}

fn loss() -> impl Strategy<Value = Loss> {
    prop_oneof![
        3 => Just(Loss::None),
        2 => (0.0..0.2_f64).prop_map(|probability| Loss::Bernoulli { probability }),
        1 => (1_u64..300).prop_map(|every| Loss::Periodic { every }),
        1 => (0.0..0.1_f64, 0.01..1.0_f64, 0.0..0.1_f64, 0.0..1.0_f64).prop_map(
            |(to_bad, to_good, loss_good, loss_bad)| Loss::GilbertElliott { to_bad, to_good, loss_good, loss_bad }
        ),
        1 => prop::collection::vec(prop::bool::weighted(0.1), 1..50).prop_map(|lost| Loss::Trace { lost }),
    ]
}

fn random_loss() -> impl Strategy<Value = Loss> {
    prop_oneof![
        (0.01..0.5_f64).prop_map(|probability| Loss::Bernoulli { probability }),
        (0.01..0.5_f64, 0.01..0.5_f64, 0.0..0.1_f64, 0.5..1.0_f64).prop_map(
            |(to_bad, to_good, loss_good, loss_bad)| Loss::GilbertElliott {
                to_bad,
                to_good,
                loss_good,
                loss_bad
            }
        ),
    ]
}

fn noise() -> impl Strategy<Value = Option<Noise>> {
    let kind = (1_u64..50, 0_u8..3).prop_map(|(milliseconds, kind)| {
        let size = Span::from_millis(milliseconds);
        match kind {
            0 => NoiseKind::Gaussian(size),
            1 => NoiseKind::Wifi(size),
            _ => NoiseKind::Uniform(size),
        }
    });
    let hold = prop::option::of((1_u64..2_000).prop_map(Span::from_millis));
    let noise = (kind, any::<bool>(), hold).prop_map(|(kind, reorder, hold)| Noise { kind, reorder, hold });
    prop::option::weighted(0.3, noise)
}

fn queue() -> impl Strategy<Value = Queue> {
    let limit = prop_oneof![
        (1_u64..200).prop_map(|packets| Limit::Packets(Packets(packets))),
        (1_600_u64..200_000).prop_map(|bytes| Limit::Bytes(Bytes(bytes))),
    ];
    let target = (1_u64..30).prop_map(Span::from_millis);
    let red =
        ((0.0..50.0_f64, 0.1..50.0_f64), (1e-4..1.0_f64, 0.0..1.0_f64), (any::<[bool; 2]>(), 0_usize..3));
    (limit, target, any::<bool>(), red, prop::option::of(0.0..0.1_f64), 0_u8..7).prop_map(
        |(
            limit,
            target,
            ecn,
            ((low, more), (weight, max_p), ([gentle, uniform], spacing)),
            adaptive,
            kind,
        )| {
            let codel = Codel { target, interval: target.saturating_mul(20), ecn };
            match kind {
                0 => Queue::Droptail { limit },
                1 => {
                    let (min_threshold, max_threshold, weight) = (low, low + more, Some(weight));
                    let spacing = [DropSpacing::Wait, DropSpacing::Paper, DropSpacing::None][spacing];
                    let mean_packet = Bytes(500);
                    let red = Red {
                        min_threshold,
                        max_threshold,
                        weight,
                        max_p,
                        gentle,
                        spacing,
                        mean_packet,
                        ecn,
                        adaptive,
                    };
                    Queue::Red { limit, red }
                }
                2 => Queue::Codel { limit, codel },
                3 => Queue::Pie { limit, target, burst: target, ecn },
                4 => {
                    let most = Packets(low as u64);
                    let threshold = if ecn { Threshold::Time(target) } else { Threshold::Packets(most) };
                    Queue::Step { limit, threshold }
                }
                5 => Queue::DualPi2 { limit, dualpi2: dualpi2(target, gentle, uniform, max_p) },
                _ => Queue::FqCodel { limit, codel, quantum: Bytes(1514), queues: 8 },
            }
        },
    )
}

/// DualPI2 with settings of others: all its words, and shares and delays of any size.
fn dualpi2(target: Span, fifo: bool, uniform: bool, share: f64) -> DualPi2 {
    DualPi2 {
        target,
        update: target,
        alpha: 0.16,
        beta: 3.2,
        coupling: 1.0 + share,
        ramp_from: Span(target.0 / 10),
        ramp_to: Span(target.0 / 5),
        uniform,
        scheduler: if fifo { Scheduler::TimeShiftedFifo } else { Scheduler::WeightedRoundRobin },
        classic_share: share,
        time_shift: target.saturating_mul(3),
        overload: if share < 0.5 { Overload::Drop } else { Overload::Overflow },
    }
}

/// A link of 10 ms, and a change of it.
fn link() -> impl Strategy<Value = (Link, Change)> {
    let trace = prop::collection::vec(0_u64..20, 1..40).prop_map(|mut milliseconds| {
        milliseconds.sort_unstable();
        milliseconds.push(20);
        RateTrace { milliseconds }
    });
    let change = prop_oneof![
        (100_000_u64..50_000_000).prop_map(|rate| Change::Rate(Rate(rate))),
        (0_u64..50).prop_map(|delay| Change::Delay(Span::from_millis(delay))),
        queue().prop_map(Change::Queue),
        loss().prop_map(Change::Loss),
        noise().prop_map(Change::Noise),
        any::<bool>().prop_map(Change::Up),
        (100_000_u64..50_000_000, 100_000_u64..50_000_000)
            .prop_map(|(a, b)| Change::Between(Box::new([Change::Rate(Rate(a)), Change::Rate(Rate(b))]))),
        prop::collection::vec(queue().prop_map(Change::Queue), 1..4).prop_map(Change::InTurn),
        Just(Change::InTurn(vec![Change::Up(false), Change::Up(true)])),
    ];
    let outage = (prop::bool::weighted(0.9), prop::sample::select(vec![Outage::Hold, Outage::Drop]));
    let policer = (100_000_u64..50_000_000, 1_600_u64..100_000)
        .prop_map(|(rate, burst)| Policer { rate: Rate(rate), burst: Bytes(burst) });
    let aggregation = (1_u64..20_000, any::<bool>())
        .prop_map(|(us, thin_acks)| Aggregation { every: Span::from_micros(us), thin_acks });
    let more = (prop::option::weighted(0.2, policer), prop::option::weighted(0.2, aggregation), outage);
    let spec = (100_000_u64..50_000_000, queue(), loss(), noise(), prop::option::weighted(0.2, trace));
    (spec, more, change).prop_map(
        |((rate, queue, loss, noise, trace), (policer, aggregation, (up, outage)), change)| {
            let (rate, delay) = (Rate(rate), Span::from_millis(10));
            let link = Link {
                rate,
                trace,
                delay,
                queue,
                loss,
                noise,
                policer,
                aggregation,
                up,
                outage,
                ..common::link("a", 1)
            };
            (link, change)
        },
    )
}

fn tcp() -> impl Strategy<Value = Tcp> {
    let recovery = prop::sample::select(vec![
        Recovery::Reno,
        Recovery::RenoNs2,
        Recovery::NewReno,
        Recovery::Sack,
        Recovery::Rack,
        Recovery::Linux26,
    ]);
    let growth = prop::sample::select(vec![Growth::PerAck, Growth::PerPacket]);
    // Some slow starts would fill any memory otherwise.
    let window = prop_oneof![(1_u64..60), Just(100_000)].prop_map(|packets| Some(Packets(packets)));
    let burst = prop::option::of((1_u64..5).prop_map(Packets));
    let flags = any::<[bool; 5]>();
    let pacing = (0.5..3.0_f64, 0.5..3.0_f64, 1_u64..4);
    let ace_bits = prop::sample::select(vec![3_u64, 5, 11]);
    (
        (recovery, growth, window, burst),
        (0_u64..3_000, prop_oneof![3 => 1_u64..3, 1 => 3_u64..65], 41_u64..1500),
        pacing,
        (flags, ace_bits),
    )
        .prop_map(
            |(
                (recovery, growth, receive_window, max_burst),
                (overhead, delayed_ack, packet),
                pacing,
                (flags, ace_bits),
            )| {
                Tcp {
                    recovery,
                    growth,
                    receive_window,
                    max_burst,
                    overhead: Span::from_micros(overhead),
                    delayed_ack,
                    packet: Bytes(packet),
                    limited_transmit: flags[0],
                    pacing: flags[1],
                    pacing_gain: pacing.0,
                    slow_start_gain: pacing.1,
                    min_window: Packets(pacing.2),
                    hystart: [HyStart::Off, HyStart::PlusPlus, HyStart::Linux]
                        [usize::from(flags[2]) + usize::from(flags[2] && flags[3])],
                    min_rto_bounds: if flags[0] || flags[4] {
                        MinRtoBounds::Timeout
                    } else {
                        MinRtoBounds::Variance
                    },
                    ecn: flags[3],
                    ace_bits,
                    rtt_sampling: if flags[4] { RttSampling::OnePerWindow } else { RttSampling::EveryAck },
                    ..common::tcp()
                }
            },
        )
}

fn requests() -> impl Strategy<Value = Requests> {
    let sizes = prop::collection::vec((1_u64..50_000, 0.0..1.0_f64), 1..4)
        .prop_map(|sizes| Sizes(sizes.into_iter().map(|(bytes, share)| (Bytes(bytes), share)).collect()));
    let pause = (1_u64..1000, any::<bool>()).prop_map(|(ms, think)| {
        let time = Span::from_millis(ms);
        if think { Pause::Think(time) } else { Pause::Every(time) }
    });
    let spacing = prop::sample::select(vec![Spacing::Fixed, Spacing::Exponential]);
    (sizes, pause, spacing, prop::option::of(1_u64..20)).prop_map(|(sizes, pause, spacing, count)| Requests {
        sizes,
        pause,
        spacing,
        count,
    })
}

fn traffic() -> impl Strategy<Value = Traffic> {
    let cycle = (1_u64..500, 1_u64..500, prop::option::of(1.1..3.0_f64)).prop_map(|(on, off, shape)| Cycle {
        on: Span::from_millis(on),
        off: Span::from_millis(off),
        shape,
    });
    let codepoint = prop::sample::select(vec![Codepoint::NotEct, Codepoint::Ect0, Codepoint::Ect1]);
    let pulse = (1_u64..500, 0_u64..500)
        .prop_map(|(on, off)| Pulse { on: Span::from_millis(on), every: Span::from_millis(on + off) });
    let deadline = || prop::option::of((1_u64..200).prop_map(Span::from_millis));
    let more = (prop::option::of(pulse), deadline());
    // At least a packet in a frame that is not a key frame, at packets of 1500 B and the least share of a key frame.
    let media = (1.0..100.0_f64, 1_u64..100, 1.0..10.0_f64, 1.0..20.0_f64, deadline());
    let datagrams = (10_000_u64..20_000_000, any::<bool>(), prop::option::of(cycle), codepoint, more);
    prop_oneof![
        6 => Just(Traffic::Bulk),
        1 => (0_u64..2000, 1.0..5.0_f64, 100_u64..50_000, 1.1..3.0_f64).prop_map(
            |(think, objects, object, shape)| Traffic::Web(Web {
                think: Span::from_millis(think), objects, object: Bytes(object), shape,
            })
        ),
        1 => requests().prop_map(|requests| Traffic::Requests(requests.into())),
        1 => Just(Traffic::Emultcp(Emultcp { group: 0, place: 0, size: 4 })),
        1 => media.prop_map(|(frame_rate, key_every, key_ratio, packets, deadline)| {
            let rate = Rate((12_000.0 * packets * key_ratio * frame_rate) as u64);
            let codepoint = Codepoint::NotEct;
            Traffic::Media(Media { rate, frame_rate, key_every, key_ratio, codepoint, deadline })
        }),
        1 => datagrams.prop_map(|(rate, poisson, cycle, codepoint, (pulse, deadline))| {
            Traffic::Datagrams(Datagrams { rate: Rate(rate), poisson, cycle, codepoint, pulse, deadline })
        }),
    ]
}

fn lies() -> impl Strategy<Value = Lies> {
    let some = (1_u64..20, any::<[bool; 2]>()).prop_map(|(split, [advance, ignore_marks])| Lies {
        split,
        advance,
        ignore_marks,
    });
    prop_oneof![3 => Just(Lies::NONE), 1 => some]
}

fn flow() -> impl Strategy<Value = Flow> {
    let start = prop_oneof![
        (0_u64..3_000).prop_map(|ms| Moment::At(Span::from_millis(ms))),
        Just(Moment::Uniform(Span::ZERO, Span::from_seconds(2))),
    ];
    let end = prop_oneof![
        Just((None, None)),
        Just((Some(Moment::At(Span::from_seconds(4))), None)),
        // Starts lie before 3 s.
        (0_u64..3_000, 3_000_u64..8_000).prop_map(|(from, to)| {
            (Some(Moment::Uniform(Span::from_millis(from), Span::from_millis(to))), None)
        }),
        (1_u64..300_000).prop_map(|bytes| (None, Some(Bytes(bytes)))),
    ];
    let rate = || prop::option::of((200_000_u64..100_000_000).prop_map(Rate));
    let rates = ((rate(), rate()), (noise(), noise(), lies()));
    ((controller(), traffic()), (20_u64..200, 0_u64..20), rates, 0_usize..2, start, end, tcp()).prop_map(
        |(
            (controller, traffic),
            (rtt, noise),
            ((access, limit), (delay_noise, reverse_noise, lies)),
            direction,
            start,
            (stop, bytes),
            tcp,
        )| {
            let by_rate = is_rate_based(&controller);
            let bulk = traffic == Traffic::Bulk;
            // Only bulk transfers may be rate-based.
            let controller = if by_rate && !bulk { "reno" } else { controller.as_str() };
            Flow {
                bytes: bytes.filter(|_| bulk || matches!(traffic, Traffic::Datagrams(_))),
                limit: limit.filter(|_| bulk && !by_rate),
                traffic,
                access,
                delay_noise,
                reverse_noise,
                lies,
                path: vec![direction].into(),
                back: vec![1 - direction].into(),
                rtt_noise: Span::from_millis(noise),
                start,
                stop,
                tcp: tcp.into(),
                ..common::flow(controller, Span::from_millis(rtt))
            }
        },
    )
}

fn arrivals() -> impl Strategy<Value = Arrivals> {
    let flow = flow().prop_filter("bulk data", |flow| flow.traffic == Traffic::Bulk);
    (flow, 20_u64..1000, 0_u64..6, 1_u64..200_000).prop_map(|(flow, gap, from, bytes)| Arrivals {
        flow: Flow { stop: None, ..flow },
        gap: Span::from_millis(gap),
        between: (Span::from_seconds(from), Span::from_seconds(6)),
        sizes: Sizes(vec![(Bytes(bytes), 0.5), (Bytes(2 * bytes), 0.5)]),
    })
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let when = prop_oneof![
        Just(When::RoundTrip { flow: 0, count: 10 }),
        (0_u64..5_000).prop_map(|at| When::At(Span::from_millis(at))),
        (0_u64..5_000, 50_u64..2_000, 0_u64..9_000).prop_map(|(first, every, until)| When::Every {
            first: Span::from_millis(first),
            every: Span::from_millis(every),
            until: Span::from_millis(until),
        }),
    ];
    let flows = (prop::collection::vec(flow(), 1..5), prop::option::weighted(0.3, arrivals()));
    (link(), link(), flows, 0_u64..6_000, (any::<u64>(), when)).prop_map(
        |((forward, change), (reverse, _), (flows, arrivals), warmup, (seed, when))| Scenario {
            run: Run {
                duration: Span::from_seconds(6),
                warmup: Span::from_millis(warmup),
                seed,
                sample: Sample::Every(Span::from_millis(100)),
            },
            links: vec![forward, Link { name: "b".to_owned(), ..reverse }],
            flows: flows.into(),
            arrivals: arrivals.into_iter().collect(),
            events: vec![Event { when, link: 0, change }],
        },
    )
}

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
        let seconds = (scenario.run.duration - scenario.run.warmup).as_seconds();
        let changed = |link: usize| scenario.events.iter().any(|event| event.link == link);
        for (id, (link, settings)) in summary.links.iter().zip(&scenario.links).enumerate() {
            // A packet counts when it is sent: one may have begun before the measured time, at another rate.
            let one_packet = 1500.0 * 8.0 / (settings.rate.0.min(100_000) as f64 * seconds);
            // A link that is down all the time has no capacity; one that goes down still sends the packet in transmission.
            let goes_down = |change: &Change| match change {
                Change::InTurn(values) => values.contains(&Change::Up(false)),
                change => *change == Change::Up(false),
            };
            let down = !settings.up || scenario.events.iter().any(|event| goes_down(&event.change));
            let utilisation = link.utilisation.unwrap_or(0.0);
            prop_assert!(down || link.utilisation.is_some());
            prop_assert!(down || utilisation <= 1.0 + one_packet, "{:?}", link.utilisation);
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
        let mut together = LossModel::new(loss.clone(), 0, 3, seed, 0);
        let fates: Vec<_> = turns.iter().map(|flow| (*flow, together.loses(*flow))).collect();
        for flow in 0..3 {
            let mut alone = LossModel::new(loss.clone(), 0, flow + 1, seed, 0);
            for (number, (_, fate)) in fates.iter().filter(|(other, _)| *other == flow).enumerate() {
                prop_assert_eq!(*fate, alone.loses(flow), "packet {} of flow {}", number, flow);
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

/// Two threads at once give what one gives.
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
