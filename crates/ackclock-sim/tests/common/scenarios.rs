//! The papers' dumbbell, changed as a test needs it.

use ackclock_scenario::*;
use ackclock_units::{Bytes, Packets, Rate, Span, Window};

pub fn tcp() -> Tcp {
    Tcp {
        profile: Profile::Ns2,
        packet: Bytes(1000),
        ack: Bytes(40),
        initial_window: Window(2.0),
        initial_ssthresh: Window::UNLIMITED,
        receive_window: None,
        recovery: Recovery::Sack,
        min_rto: Span::from_millis(200),
        min_rto_bounds: MinRtoBounds::Timeout,
        max_rto: Span::from_seconds(64),
        initial_rto: Span::from_seconds(1),
        handshake: false,
        clock: Span::from_millis(1),
        rtt_sampling: RttSampling::EveryAck,
        delayed_ack: 1,
        delayed_ack_timer: Span::from_millis(100),
        limited_transmit: true,
        max_burst: None,
        overhead: Span::ZERO,
        growth: Growth::PerAck,
        pacing: false,
        pacing_gain: 1.2,
        slow_start_gain: 2.0,
        min_window: Packets(1),
        slow_start_after_idle: true,
        hystart: HyStart::Off,
        ecn: false,
        ace_bits: 11,
    }
}

pub fn flow(controller: &str, rtt: Span) -> Flow {
    Flow {
        name: controller.to_owned(),
        label: controller.to_owned().into(),
        control: controller.to_owned().into(),
        params: Shared::default(),
        rtt,
        traffic: Traffic::Bulk,
        transport: Transport::Tcp,
        access: None,
        path: vec![0].into(),
        back: vec![1].into(),
        start: Moment::At(Span::ZERO),
        stop: None,
        bytes: None,
        limit: None,
        changes: Vec::new().into(),
        delay_noise: None,
        reverse_noise: None,
        lies: Lies::NONE,
        rtt_noise: Span::ZERO,
        tcp: tcp().into(),
    }
}

/// 100 Mbit/s, 50 ms one way, a queue of `limit` packets.
pub fn link(name: &str, limit: u64) -> Link {
    Link {
        name: name.to_owned(),
        rate: Rate(100_000_000),
        trace: None,
        delay: Span::from_millis(50),
        queue: Queue::Droptail { limit: Limit::Packets(Packets(limit)) },
        loss: Loss::None,
        noise: None,
        policer: None,
        aggregation: None,
        up: true,
        outage: Outage::Hold,
    }
}

/// 100 Mbit/s, 50 ms one way, 100 packets, one flow; measured from 100 s to 300 s.
pub fn scenario(controller: &str) -> Scenario {
    Scenario {
        run: Run {
            duration: Span::from_seconds(300),
            warmup: Span::from_seconds(100),
            seed: 1,
            sample: Sample::Every(Span::from_millis(100)),
        },
        links: vec![link("bottleneck", 100), link("bottleneck-reverse", 1000)],
        flows: vec![flow(controller, Span::from_millis(100))].into(),
        arrivals: Vec::new(),
        events: Vec::new(),
    }
}
