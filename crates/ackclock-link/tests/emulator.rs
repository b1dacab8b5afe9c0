//! The path in made-up time: what goes in comes out, when the arithmetic says so, or is accounted for.

use ackclock_cc::registry::BuiltIn;
use ackclock_link::emulator::Emulator;
use ackclock_link::ports;
use ackclock_scenario::read_toml;
use ackclock_units::{Span, Time};
use proptest::prelude::*;

const TOLERANCE: Span = Span::from_millis(1);

fn emulator(dumbbell: &str) -> Emulator {
    let text =
        format!("[run]\nduration = \"10 s\"\n[dumbbell]\n{dumbbell}\n[[flow]]\ncontroller = \"reno\"\n");
    let checked = read_toml(&text, "path.toml", &[], &BuiltIn).unwrap();
    Emulator::new(&checked.scenario, TOLERANCE).unwrap()
}

fn at(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

/// Everything that leaves up to `us`: when the emulator said so, the direction, the last byte.
fn leave(emulator: &mut Emulator, us: u64) -> Vec<(Time, usize, u8)> {
    let mut left = Vec::new();
    while emulator.next_event() <= at(us) {
        let now = emulator.next_event();
        emulator.deliver(now, |direction, content| left.push((now, direction, *content.last().unwrap())));
    }
    left
}

/// 1000 bytes at 10 Mbit/s take 800 us, then 30 ms. Three at once leave 800 us apart; the queue holds two with
/// the one in transmission. The other direction has nothing of that: 100 bytes take 80 us.
#[test]
fn packets_leave_when_they_should() {
    let mut emulator = emulator(
        "rate = \"10 Mbit/s\"\ndelay = \"30 ms\"\nqueue = { kind = \"droptail\", limit = \"2 packets\" }",
    );
    emulator.start_measuring();
    (0..3).for_each(|number| emulator.arrive(at(0), 0, &[number; 1000]));
    emulator.arrive(at(100), 1, &[9; 100]);
    assert_eq!(emulator.on_path(), 3, "the third was dropped");
    assert_eq!(leave(&mut emulator, 100_000), [(at(30_180), 1, 9), (at(30_800), 0, 0), (at(31_600), 0, 1)]);
    assert_eq!(emulator.on_path(), 0);
    let [forward, reverse] = emulator.report(at(100_000));
    assert_eq!((forward.arrived_packets, forward.delivered_packets, forward.queue_drops), (3, 2, 1));
    assert_eq!((forward.longest_queue_packets, reverse.delivered_packets), (2, 1));
    // Two packets for 800 us and one for 800 us, of 100 ms.
    assert!((forward.mean_queue_packets - 0.024).abs() < 1e-9);
    assert!((forward.utilisation - 0.016).abs() < 1e-9);
    assert_eq!(forward.lateness.most_us, 0.0);
}

/// Both leave at 30.8 ms. One is handed over 3 ms later, more than the tolerance of 1 ms.
#[test]
fn lateness_is_told() {
    let path =
        "rate = \"10 Mbit/s\"\ndelay = \"30 ms\"\nqueue = { kind = \"droptail\", limit = \"9 packets\" }";
    let mut emulator = emulator(path);
    emulator.arrive(at(0), 0, &[0; 1000]);
    emulator.arrive(at(0), 1, &[0; 1000]);
    let mut count = 0;
    emulator.deliver(at(33_800), |_, _| count += 1);
    assert_eq!(count, 2);
    let [forward, _] = emulator.report(at(40_000));
    assert_eq!((forward.lateness.mean_us, forward.lateness.most_us), (3000.0, 3000.0));
    assert_eq!(forward.lateness.late_share, 1.0);
}

/// At 20 ms the delay falls to 10 ms: a packet of 25 ms leaves at 25 + 0.8 + 10 ms.
#[test]
fn changes_happen_at_their_times() {
    let text = "[run]\nduration = \"10 s\"\n[dumbbell]\nrate = \"10 Mbit/s\"\ndelay = \"30 ms\"\n\
                queue = { kind = \"droptail\", limit = \"9 packets\" }\n[[flow]]\ncontroller = \"reno\"\n\
                rtt = \"100 ms\"\n[[event]]\nat = \"20 ms\"\nset = \"dumbbell.delay\"\nto = \"10 ms\"\n";
    let checked = read_toml(text, "path.toml", &[], &BuiltIn).unwrap();
    let mut emulator = Emulator::new(&checked.scenario, TOLERANCE).unwrap();
    emulator.arrive(at(25_000), 0, &[7; 1000]);
    assert_eq!(leave(&mut emulator, 100_000), [(at(35_800), 0, 7)]);
}

const RATE_AND_DELAY: &str = "rate = \"10 Mbit/s\"\ndelay = \"30 ms\"\n";

/// The path of 10 Mbit/s and 30 ms with a queue of `limit` packets, where port 5201 has 80 ms and 5202 has 70 ms: 20 and
/// 10 ms more than twice the path's delay.
fn with_ports(limit: u32) -> Emulator {
    let queue = format!("queue = {{ kind = \"droptail\", limit = \"{limit} packets\" }}");
    let ports = ports::read("5201=80ms,5202=70ms").unwrap();
    emulator(&format!("{RATE_AND_DELAY}{queue}")).with_port_rtts(&ports).unwrap()
}

/// 1000 bytes of TCP over IPv4 to `port`; the last byte is `name`.
fn to(port: u16, name: u8) -> Vec<u8> {
    let mut packet = vec![0; 1000];
    (packet[0], packet[9]) = (0x45, 6);
    packet[22..24].copy_from_slice(&port.to_be_bytes());
    packet[999] = name;
    packet
}

/// 1000 bytes of UDP over IPv6.
fn over_version_6(port: u16, name: u8) -> Vec<u8> {
    let mut packet = vec![0; 1000];
    (packet[0], packet[6]) = (0x60, 17);
    packet[42..44].copy_from_slice(&port.to_be_bytes());
    packet[999] = name;
    packet
}

/// They reach the queue after 20, 10, 0 and 20 ms, each finds it empty, is sent in 0.8 ms and travels 30 ms: at 0 + 20
/// ms, 1 + 10 ms, 2 ms and 3 + 20 ms, and 30.8 ms later at the far end. What goes back has no such delay: 3 + 30.8 ms.
#[test]
fn a_port_has_its_round_trip() {
    let mut emulator = with_ports(9);
    emulator.arrive(at(0), 0, &to(5201, 1));
    assert_eq!(emulator.next_event(), at(20_000), "it reaches the queue");
    emulator.arrive(at(1000), 0, &to(5202, 2));
    emulator.arrive(at(2000), 0, &to(80, 3));
    emulator.arrive(at(3000), 0, &over_version_6(5201, 4));
    emulator.arrive(at(3000), 1, &to(5201, 5));
    assert_eq!((emulator.on_path(), emulator.next_event()), (5, at(11_000)));
    let expected = [(32_800, 0, 3), (33_800, 1, 5), (41_800, 0, 2), (50_800, 0, 1), (53_800, 0, 4)];
    assert_eq!(
        leave(&mut emulator, 100_000),
        expected.map(|(us, direction, name)| (at(us), direction, name))
    );
    assert_eq!((emulator.on_path(), emulator.next_event()), (0, Time::NEVER));
}

/// At the queue, which is a line: 19.9 ms (the second, no port), 20 ms (the first, 0 + 20 ms), 20 ms (the third, 10 + 10
/// ms), 20 ms (the fourth, no port, that comes when the others are there). Each takes 0.8 ms: they leave at 20.7, 21.5,
/// 22.3 and 23.1 ms and arrive 30 ms later. So it is when nobody looks before 100 ms.
#[test]
fn the_queue_is_in_order_of_arrival_there() {
    for looks in [true, false] {
        let mut emulator = with_ports(9);
        emulator.arrive(at(0), 0, &to(5201, 1));
        emulator.arrive(at(10_000), 0, &to(5202, 3));
        emulator.arrive(at(19_900), 0, &to(80, 2));
        emulator.arrive(at(20_000), 0, &to(80, 4));
        if looks {
            let expected = [(50_700, 2), (51_500, 1), (52_300, 3), (53_100, 4)];
            assert_eq!(leave(&mut emulator, 100_000), expected.map(|(us, name)| (at(us), 0, name)));
        } else {
            let mut names = vec![];
            emulator.deliver(at(100_000), |_, content| names.push(content[999]));
            assert_eq!(names, [2, 1, 3, 4]);
            // (49.3 + 48.5 + 47.7 + 46.9) / 4 ms too late.
            assert_eq!(emulator.report(at(100_000))[0].lateness.mean_us, 48_100.0);
        }
    }
}

/// Twenty packets wait for the queue, which holds two: they reach it one per ms and each takes 0.8 ms, so that it never
/// holds more than one. Then three at once: the third finds two.
#[test]
fn what_has_not_reached_the_queue_takes_no_place_in_it() {
    let mut emulator = with_ports(2);
    emulator.start_measuring();
    (0..20).for_each(|number| emulator.arrive(at(u64::from(number) * 1000), 0, &to(5201, number)));
    assert_eq!(emulator.on_path(), 20);
    // The last of the twenty reaches the queue at 39 ms.
    assert_eq!(leave(&mut emulator, 39_000), []);
    let [forward, _] = emulator.report(at(39_000));
    assert_eq!((forward.arrived_packets, forward.queue_drops, forward.longest_queue_packets), (20, 0, 1));
    (0..3).for_each(|number| emulator.arrive(at(40_000), 0, &to(5202, 20 + number)));
    let left = leave(&mut emulator, 200_000);
    let names: Vec<_> = left.iter().map(|(_, _, name)| *name).collect();
    assert_eq!(names, (0..22).collect::<Vec<_>>());
    // 40 + 10 + 2 x 0.8 + 30 ms.
    assert_eq!(left[21].0, at(81_600));
    let [forward, _] = emulator.report(at(200_000));
    assert_eq!((forward.arrived_packets, forward.queue_drops, forward.longest_queue_packets), (23, 1, 2));
}

/// 60 ms are what the path has itself, so nothing waits: 0.8 + 30 ms. Less cannot be.
#[test]
fn a_round_trip_is_at_least_the_path_s() {
    let path =
        || emulator(&format!("{RATE_AND_DELAY}queue = {{ kind = \"droptail\", limit = \"9 packets\" }}"));
    let mut same = path().with_port_rtts(&ports::read("5201=60ms").unwrap()).unwrap();
    same.arrive(at(0), 0, &to(5201, 1));
    assert_eq!(leave(&mut same, 100_000), [(at(30_800), 0, 1)]);
    assert_eq!(
        path().with_port_rtts(&ports::read("5201=60ms,5202=59ms").unwrap()).unwrap_err(),
        "port 5202: must be at least the round-trip delay of the path (60 ms), is 59 ms"
    );
    let uneven = "reverse = { delay = \"10 ms\" }\nqueue = { kind = \"droptail\", limit = \"9 packets\" }";
    let uneven = emulator(&format!("{RATE_AND_DELAY}{uneven}"));
    assert!(uneven.with_port_rtts(&ports::read("5201=40ms").unwrap()).is_ok(), "30 ms there and 10 ms back");
}

/// A header of IPv4 as RFC 791 has it, capable of ECN, with its checksum.
fn header() -> Vec<u8> {
    let mut packet = vec![0x45, 2, 0, 40, 1, 2, 0, 0, 64, 6, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2];
    packet.resize(40, 0);
    let sum = checksum(&packet);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet
}

/// The checksum of the header, summed anew.
fn checksum(packet: &[u8]) -> u16 {
    let words = packet[..20].chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let sum: u32 = words.sum();
    !(((sum & 0xffff) + (sum >> 16)) as u16)
}

/// CoDel marks once packets have waited 5 ms for 100 ms: 200 packets of 40 bytes at 80 kbit/s wait up to 0.8 s.
#[test]
fn a_marked_packet_has_a_right_checksum() {
    let mut emulator = emulator(
        "rate = \"80 kbit/s\"\ndelay = \"1 ms\"\nqueue = { kind = \"codel\", limit = \"500 packets\", ecn = true }",
    );
    (0..200).for_each(|_| emulator.arrive(at(0), 0, &header()));
    let mut marked = 0;
    emulator.deliver(at(2_000_000), |_, content| {
        // Over a right header the sum is 0.
        assert_eq!(checksum(content), 0);
        marked += u32::from(content[1] & 3 == 3);
    });
    assert!(marked > 0);
    assert_eq!(emulator.report(at(2_000_000))[0].marks, u64::from(marked));
}

/// 40 bytes at 80 kbit/s take 4 ms. Three packets with ECT(0) wait in the classic queue when one with ECT(1) comes: it goes
/// when the first has gone, at 8 ms, and is there a millisecond later.
#[test]
fn ect1_goes_into_the_queue_of_low_latency() {
    let mut emulator = emulator(
        "rate = \"80 kbit/s\"\ndelay = \"1 ms\"\nqueue = { kind = \"dualpi2\", limit = \"9 packets\" }",
    );
    for (name, ecn) in [(0, 2), (1, 2), (2, 2), (3, 1)] {
        let mut packet = header();
        (packet[1], packet[39]) = (ecn, name);
        emulator.arrive(at(u64::from(name) * 100), 0, &packet);
    }
    let expected = [(5_000, 0), (9_000, 3), (13_000, 1), (17_000, 2)];
    assert_eq!(leave(&mut emulator, 20_000), expected.map(|(us, name)| (at(us), 0, name)));
}

#[test]
fn what_needs_flows_is_refused() {
    let refuse = |text: &str| {
        let checked = read_toml(text, "path.toml", &[], &BuiltIn).unwrap();
        Emulator::new(&checked.scenario, TOLERANCE).unwrap_err()
    };
    let rest = "[run]\nduration = \"1 s\"\n[[flow]]\ncontroller = \"reno\"\n";
    let fq = "[dumbbell]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nqueue = { kind = \"fq_codel\", limit = \"9 packets\" }\n";
    assert_eq!(
        refuse(&format!("{rest}{fq}")),
        "bottleneck: fq_codel is not supported, because the path does not tell flows apart; use codel"
    );
    let thin = "[dumbbell]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nqueue = { kind = \"droptail\", limit = \"9 packets\" }\nreverse = { aggregation = { every = \"9 ms\", thin_acks = true } }\n";
    assert_eq!(
        refuse(&format!("{rest}{thin}")),
        "bottleneck-reverse: thin_acks is not supported, because the path does not know what is an ACK; leave it out"
    );
    let lot = "[parking_lot]\nhops = 2\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nqueue = { kind = \"droptail\", limit = \"9 packets\" }\n";
    assert!(refuse(&format!("{rest}{lot}")).contains("dumbbell"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever comes, in time or late: each packet is handed over once with its content and not before it has been
    /// sent and travelled, or dropped, or lost, or still there; the order is kept without reordering noise.
    #[test]
    fn nothing_is_made_or_forgotten(
        arrivals in prop::collection::vec((0..3000_u64, 0..2_usize, 20..1500_usize, any::<bool>()), 1..200),
        loss in 0..20_u32,
        noise in 0..5_u32,
    ) {
        let mut emulator = emulator(&format!(
            "rate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nqueue = {{ kind = \"droptail\", limit = \"10 packets\" }}\n\
             loss = {{ kind = \"bernoulli\", rate = \"{loss} %\" }}\n\
             delay_noise = {{ kind = \"uniform\", range = \"{noise} ms\" }}"
        ));
        let mut now = 0;
        let mut left = vec![];
        for (number, (wait, direction, length, looks)) in arrivals.iter().enumerate() {
            now += wait;
            let mut content = vec![0; *length];
            content[..8].copy_from_slice(&(number as u64).to_be_bytes());
            content[8..16].copy_from_slice(&now.to_be_bytes());
            emulator.arrive(at(now), *direction, &content);
            if *looks {
                emulator.deliver(at(now), |direction, content| left.push((now, direction, content.to_vec())));
            }
        }
        let on_path = emulator.on_path() as u64;
        let [forward, reverse] = emulator.report(at(now));
        let sum = |part: fn(&ackclock_link::report::Direction) -> u64| part(&forward) + part(&reverse);
        prop_assert_eq!(sum(|report| report.arrived_packets), arrivals.len() as u64);
        prop_assert_eq!(sum(|report| report.delivered_packets), left.len() as u64);
        let gone = sum(|report| report.delivered_packets + report.random_losses + report.queue_drops);
        prop_assert_eq!(arrivals.len() as u64, gone + on_path);
        for direction in 0..2 {
            let mut last = None;
            for (when, _, content) in left.iter().filter(|packet| packet.1 == direction) {
                let number = u64::from_be_bytes(content[..8].try_into().unwrap());
                let sent = u64::from_be_bytes(content[8..16].try_into().unwrap());
                prop_assert_eq!(content.len(), arrivals[number as usize].2);
                prop_assert!(last < Some(number));
                // 10 Mbit/s are 10 bits in a microsecond.
                prop_assert!(*when >= sent + 5000 + content.len() as u64 * 8 / 10);
                last = Some(number);
            }
        }
    }

    /// Packets to two ports with delays of their own and to others, looked for now and then. In order of arrival at the
    /// queue, packets of the same time by their ports, each begins when it is there and the one before it is sent, takes
    /// 0.8 ms and travels 30 ms: those times, and every packet once.
    #[test]
    fn ports_wait_and_the_queue_serves_in_order(
        arrivals in prop::collection::vec((0..4000_u64, 0..3_usize, any::<bool>()), 1..100),
    ) {
        let mut emulator = with_ports(1000);
        let mut left = vec![];
        let mut entries = vec![];
        let mut now = 0;
        for (number, (wait, kind, looks)) in arrivals.iter().enumerate() {
            now += wait;
            if *looks {
                left.extend(leave(&mut emulator, now));
            }
            emulator.arrive(at(now), 0, &to([5201, 5202, 80][*kind], number as u8));
            entries.push((now + [20_000, 10_000, 0][*kind], *kind, number as u8));
        }
        left.extend(leave(&mut emulator, now + 1_000_000));
        entries.sort();
        let mut sent = 0;
        let expected: Vec<_> = entries
            .into_iter()
            .map(|(there, _, number)| {
                sent = sent.max(there) + 800;
                (at(sent + 30_000), 0, number)
            })
            .collect();
        prop_assert_eq!(left, expected);
        prop_assert_eq!(emulator.on_path(), 0);
    }
}
