//! Scenarios at random, with everything that the format has.

use ackclock_cc::registry::{Catalogue, Kind};
use ackclock_scenario::*;
use ackclock_sim::BuiltIn;
use ackclock_units::{Bytes, Packets, Rate, Span};
use proptest::prelude::*;

/// Any control.
pub fn controller() -> impl Strategy<Value = String> {
    let names: Vec<_> = BuiltIn.entries().iter().map(|entry| entry.name.to_owned()).collect();
    prop::sample::select(names)
}

/// Whether a control sets a rate.
pub fn is_rate_based(controller: &str) -> bool {
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
        1 => (1_u64..1000, 1_u64..100, 0.0..0.1_f64, 0.0..1.0_f64).prop_map(|(good, bad, loss_good, loss_bad)| {
            let (good, bad) = (Span::from_millis(good), Span::from_millis(bad));
            Loss::GilbertElliottInTime { good, bad, loss_good, loss_bad }
        }),
        1 => prop::collection::vec((0_u64..1000, 1_u64..100), 1..20).prop_map(|gaps| {
            let mut end = 0;
            let intervals = gaps.into_iter().map(|(gap, length)| {
                let from = end + gap;
                end = from + length;
                (Span::from_millis(from), Span::from_millis(end))
            });
            Loss::Bursts { intervals: intervals.collect::<Vec<_>>().into() }
        }),
        1 => prop::collection::vec(prop::bool::weighted(0.1), 1..50).prop_map(|lost| Loss::Trace { lost: lost.into() }),
    ]
}

/// Losses that are drawn.
pub fn random_loss() -> impl Strategy<Value = Loss> {
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
    let kind = (1_u64..50, 0_u8..4).prop_map(|(milliseconds, kind)| {
        let size = Span::from_millis(milliseconds);
        match kind {
            0 => NoiseKind::Gaussian(size),
            1 => NoiseKind::Wifi(size),
            2 => NoiseKind::Table(size, vec![-20_000, -3, 0, 8192, 32_767].into()),
            _ => NoiseKind::Uniform(size),
        }
    });
    let hold = prop::option::of((1_u64..2_000).prop_map(Span::from_millis));
    let correlation = prop_oneof![2 => Just(0.0), 1 => 0.0..1.0_f64];
    let noise = (kind, any::<bool>(), hold, correlation).prop_map(|(kind, reorder, hold, correlation)| {
        let is_netem = matches!(kind, NoiseKind::Uniform(_) | NoiseKind::Table(..)) && hold.is_none();
        Noise { kind, reorder, hold, correlation: if is_netem { correlation } else { 0.0 } }
    });
    prop::option::weighted(0.3, noise)
}

fn queue() -> impl Strategy<Value = Queue> {
    let limit = prop_oneof![
        prop_oneof![1_u64..200, 1_u64..6].prop_map(|packets| Limit::Packets(Packets(packets))),
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
        RateTrace { milliseconds: milliseconds.into() }
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
                ..super::scenarios::link("a", 1)
            };
            (link, change)
        },
    )
}

/// Settings of TCP.
pub fn tcp() -> impl Strategy<Value = Tcp> {
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
    let flags = any::<[bool; 7]>();
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
                    handshake: flags[5],
                    slow_start_after_idle: flags[6],
                    ace_bits,
                    rtt_sampling: if flags[4] { RttSampling::OnePerWindow } else { RttSampling::EveryAck },
                    ..super::scenarios::tcp()
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
    let listed = prop::collection::vec((0_u64..500, 1_u64..50_000), 1..20).prop_map(|gaps| {
        let mut time = Span::ZERO;
        let next = |(gap, bytes)| {
            time = time + Span::from_millis(gap);
            (time, Bytes(bytes))
        };
        Pause::Listed(gaps.into_iter().map(next).collect::<Vec<_>>().into())
    });
    let pause = prop_oneof![4 => pause, 1 => listed];
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

/// Routes there and back: over two links in either direction, and over the two behind them, too.
const ROUTES: [(&[usize], &[usize]); 4] = [(&[0], &[1]), (&[1], &[0]), (&[0, 2], &[3, 1]), (&[2], &[3])];

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
    // Of a limit, or of requests.
    let changes = prop::collection::vec((0_u64..3_000, 1_u64..1_000), 0..5);
    let rates = ((rate(), rate()), (noise(), noise(), lies(), changes));
    ((controller(), traffic()), (20_u64..200, 0_u64..20), rates, 0_usize..4, start, end, tcp()).prop_map(
        |(
            (controller, traffic),
            (rtt, noise),
            ((access, limit), (delay_noise, reverse_noise, lies, mut changes)),
            route,
            start,
            (stop, bytes),
            tcp,
        )| {
            let by_rate = is_rate_based(&controller);
            let bulk = traffic == Traffic::Bulk;
            // Only bulk transfers may be rate-based.
            let controller = if by_rate && !bulk { "reno" } else { controller.as_str() };
            let limit = limit.filter(|_| bulk && !by_rate);
            changes.sort_unstable();
            let changes: Vec<_> = changes
                .into_iter()
                .filter_map(|(at, value)| {
                    let to = match &traffic {
                        Traffic::Bulk if limit.is_some() => {
                            ApplicationSetting::Limit(Some(Rate(value * 100_000)))
                        }
                        Traffic::Requests(requests) => match requests.pause {
                            Pause::Every(_) => {
                                ApplicationSetting::Pause(Pause::Every(Span::from_millis(value)))
                            }
                            Pause::Think(_) => {
                                ApplicationSetting::Pause(Pause::Think(Span::from_millis(value)))
                            }
                            Pause::Listed(_) => return None,
                        },
                        _ => return None,
                    };
                    Some(ApplicationChange { at: Span::from_millis(at), to })
                })
                .collect();
            Flow {
                changes: changes.into(),
                bytes: bytes.filter(|_| bulk || matches!(traffic, Traffic::Datagrams(_))),
                limit,
                traffic,
                access,
                delay_noise,
                reverse_noise,
                lies,
                path: ROUTES[route].0.to_vec().into(),
                back: ROUTES[route].1.to_vec().into(),
                rtt_noise: Span::from_millis(noise),
                start,
                stop,
                tcp: tcp.into(),
                ..super::scenarios::flow(controller, Span::from_millis(rtt))
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

/// Six seconds of up to four flows and arrivals over a dumbbell or a parking lot of two, of which one link changes. Starts,
/// stops, the end of the warm-up and changes are at whole milliseconds, where much else happens, too.
pub fn scenario() -> impl Strategy<Value = Scenario> {
    let when = prop_oneof![
        Just(When::RoundTrip { flow: 0, count: 10 }),
        (0_u64..5_000).prop_map(|at| When::At(Span::from_millis(at))),
        (0_u64..5_000, 50_u64..2_000, 0_u64..9_000).prop_map(|(first, every, until)| When::Every {
            first: Span::from_millis(first),
            every: Span::from_millis(every),
            until: Span::from_millis(until),
        }),
    ];
    let flows = (prop::collection::vec(flow(), 1..5), prop::collection::vec(arrivals(), 0..3));
    let more = prop::option::weighted(0.3, (link(), link()));
    ((link(), link(), more), flows, 0_u64..6_000, (any::<u64>(), when)).prop_map(
        |(((forward, change), (reverse, _), more), (mut flows, mut arrivals), warmup, (seed, when))| {
            let mut links = vec![forward, reverse];
            if let Some(((forward, _), (reverse, _))) = more {
                links.extend([forward, reverse]);
            }
            let all = flows.iter_mut().chain(arrivals.iter_mut().map(|arrivals| &mut arrivals.flow));
            for flow in all {
                if flow.path.iter().any(|link| *link >= links.len()) {
                    (flow.path, flow.back) = (vec![0].into(), vec![1].into());
                }
                // Each link takes 10 ms of the round trip.
                flow.rtt = flow.rtt.max(Span::from_millis(10 * (flow.path.len() + flow.back.len()) as u64));
            }
            for (number, arrivals) in arrivals.iter_mut().enumerate() {
                arrivals.flow.name = format!("arrivals{number}");
            }
            for (link, name) in links.iter_mut().zip(["a", "b", "c", "d"]) {
                link.name = name.to_owned();
            }
            Scenario {
                run: Run {
                    duration: Span::from_seconds(6),
                    warmup: Span::from_millis(warmup),
                    seed,
                    sample: Sample::Every(Span::from_millis(100)),
                },
                links,
                flows: flows.into(),
                arrivals,
                events: vec![Event { when, link: 0, change }],
            }
        },
    )
}
