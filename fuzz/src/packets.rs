//! Any bytes as packets on an emulated path, at any time: each leaves it, or is counted as lost.
#![no_main]

use std::sync::LazyLock;

use ackclock_cc::registry::BuiltIn;
use ackclock_link::emulator::Emulator;
use ackclock_link::ports;
use ackclock_scenario::{Scenario, read_toml};
use ackclock_units::{Span, Time};
use libfuzzer_sys::fuzz_target;

/// Queues that drop when a packet comes, and those that mark or drop when it goes.
const QUEUES: [&str; 4] = [
    "{ kind = \"droptail\", limit = \"4 packets\" }",
    "{ kind = \"codel\", limit = \"20 packets\", ecn = true }",
    "{ kind = \"dualpi2\", limit = \"20 packets\" }",
    "{ kind = \"pie\", limit = \"20 packets\", ecn = true }",
];

static SCENARIOS: LazyLock<[Scenario; 4]> = LazyLock::new(|| {
    QUEUES.map(|queue| {
        let text = format!(
            "[run]\nduration = \"1 h\"\n[dumbbell]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nqueue = {queue}\n\
             loss = {{ kind = \"bernoulli\", rate = 0.1 }}\n[[flow]]\ncontroller = \"reno\"\n"
        );
        read_toml(&text, "fuzz", &[], &BuiltIn).expect("a scenario").scenario
    })
});

/// What a checksum of IPv4 makes of a header: marking a packet must not change it (RFC 1071).
fn sum(content: &[u8]) -> u64 {
    content[..20].chunks(2).map(|pair| u64::from(u16::from_be_bytes([pair[0], pair[1]]))).sum::<u64>()
        % 0xffff
}

fuzz_target!(|data: &[u8]| {
    let Some((kind, rest)) = data.split_first() else { return };
    let path = Emulator::new(&SCENARIOS[usize::from(kind % 4)], Span::from_seconds(3600)).expect("a path");
    let ports = ports::read("1=2ms,80=50ms,5201=60ms").expect("ports");
    let mut path = path.with_port_rtts(&ports).expect("round trips");
    let (mut now, mut came, mut left) = (Time::ZERO, 0_u64, 0_u64);
    let mut sums = Vec::new();
    let mut rest = rest;
    // A packet: the time since the last, its direction, its length, and its bytes.
    while let Some(([wait, length], content)) = rest.split_first_chunk() {
        let content_length = usize::from(length >> 1).min(content.len());
        let (packet, others) = content.split_at(content_length);
        rest = others;
        now = now + Span::from_micros(u64::from(*wait) * 50);
        if packet.len() >= 20 && packet[0] >> 4 == 4 {
            sums.push(sum(packet));
        }
        path.arrive(now, usize::from(length & 1), packet);
        came += 1;
        path.deliver(now, |_, content| {
            left += 1;
            let is_four = content.len() >= 20 && content[0] >> 4 == 4;
            assert!(!is_four || sums.contains(&sum(content)), "a checksum was changed");
        });
    }
    let end = now + Span::from_seconds(60);
    path.deliver(end, |_, _| left += 1);
    let lost: u64 =
        path.report(end).iter().map(|way| way.random_losses + way.queue_drops + way.refused_packets).sum();
    assert_eq!((left + lost, path.on_path()), (came, 0), "{left} left, {lost} lost");
});
