//! What quinn tells, and what the controls make of it.

use std::time::{Duration, Instant};

use ackclock_cc::registry::{BuiltIn, Catalogue, Kind};
use ackclock_cc::{Decision, Signal, Start, Value};
use ackclock_quic::controller::Adapter;
use ackclock_quic::{factory, factory_with};
use ackclock_units::{Time, Window};
use proptest::prelude::*;
use quinn_proto::congestion::Controller;

const MTU: u16 = 1200;

fn adapter(name: &str, began: Instant) -> Adapter {
    let control = BuiltIn
        .find(name)
        .unwrap()
        .build(&[], ackclock_cc::Start { window: ackclock_units::Window(10.0), ..Default::default() });
    Adapter::new(control.unwrap(), began, MTU)
}

#[expect(clippy::disallowed_methods, reason = "any moment will do")]
fn began() -> Instant {
    Instant::now()
}

/// A connection that sends and gets acknowledgements by the round trip.
struct Path {
    adapter: Adapter,
    now: Instant,
    number: u64,
}

impl Path {
    fn new(name: &str) -> Path {
        let now = began();
        Path { adapter: adapter(name, now), now, number: 0 }
    }

    /// Sends `count` packets now; a round trip of 50 ms later they are acknowledged in one batch.
    fn round_trip(&mut self, count: u64) -> Instant {
        let sent = self.now;
        self.number += count;
        self.adapter.on_sent(sent, count * u64::from(MTU), self.number);
        self.now += Duration::from_millis(50);
        (0..count).for_each(|_| self.adapter.acknowledge(sent, MTU.into()));
        self.adapter.on_end_acks(self.now, 0, false, Some(self.number));
        sent
    }

    /// Packets of the window: one byte more, because quinn keeps below it.
    fn window(&self) -> f64 {
        (self.adapter.window() - 1) as f64 / f64::from(MTU)
    }
}

#[test]
fn reno_doubles_halves_and_adds_one() {
    let mut path = Path::new("reno");
    assert_eq!(path.window(), 10.0);
    path.round_trip(10);
    assert_eq!(path.window(), 20.0);
    path.round_trip(20);
    assert_eq!(path.window(), 40.0);
    let sent = path.now;
    path.now += Duration::from_millis(50);
    path.adapter.on_congestion_event(path.now, sent, false, 1200);
    assert_eq!(path.window(), 20.0);
    assert_eq!(path.adapter.metrics().ssthresh, Some(20 * u64::from(MTU)));
    // More losses of the same flight, and acknowledgements of what was sent before: nothing.
    path.adapter.on_congestion_event(path.now, sent, false, 1200);
    (0..20).for_each(|_| path.adapter.acknowledge(sent, MTU.into()));
    path.adapter.on_end_acks(path.now, 0, false, Some(path.number));
    assert_eq!(path.window(), 20.0);
    // A round trip of what was sent after: 20 ACKs in one, of 1/20 packet each.
    path.now += Duration::from_millis(1);
    path.round_trip(20);
    assert!((path.window() - 21.0).abs() < 1e-3, "{}", path.window());
    // A late loss of the first flight belongs to the first episode, though that is over.
    path.adapter.on_congestion_event(path.now, sent, false, 1200);
    assert!((path.window() - 21.0).abs() < 1e-3, "{}", path.window());
    // A loss of the next flight is a new episode.
    let sent = path.round_trip(21);
    path.adapter.on_congestion_event(path.now, sent, false, 0);
    assert!((path.window() - 11.0).abs() < 1e-3, "{}", path.window());
}

#[test]
fn persistent_congestion_is_a_timeout_and_two_packets_are_the_least() {
    let mut path = Path::new("reno");
    path.round_trip(10);
    path.adapter.on_congestion_event(path.now, path.now, true, 12_000);
    assert_eq!(path.window(), 2.0);
    assert_eq!(path.adapter.metrics().ssthresh, Some(10 * u64::from(MTU)));
}

#[test]
fn who_waits_for_the_application_does_not_grow() {
    let mut path = Path::new("reno");
    let sent = path.now;
    path.adapter.on_sent(sent, 1200, 1);
    path.adapter.acknowledge(sent, MTU.into());
    path.adapter.on_end_acks(path.now + Duration::from_millis(50), 0, true, Some(1));
    assert_eq!(path.window(), 10.0);
    // A batch without packets says nothing.
    path.adapter.on_end_acks(path.now, 0, false, None);
    assert_eq!(path.window(), 10.0);
}

/// Says how many round trips it has been told of.
#[derive(Clone, Debug)]
struct Counting {
    rounds: u64,
}

ackclock_cc::parameters! {
    /// None.
    pub struct NoParams {}
}

impl ackclock_cc::Controller for Counting {
    type Params = NoParams;

    fn new(_: NoParams, _: Start) -> Self {
        Counting { rounds: 0 }
    }

    fn on(&mut self, _: Time, signal: Signal) {
        if let Signal::Ack(ack) = signal {
            self.rounds = ack.round;
        }
    }

    fn decision(&self) -> Decision {
        Decision { window: Window(2.0), ssthresh: Window(2.0), pacing_rate: None, quantum: None }
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("rounds", self.rounds as f64);
    }
}

/// With a window of two packets each acknowledgement lets one out, so that packets n and n + 1 are out when n is acknowledged.
/// A round trip ends with its own first packet: 0, 2, 4, ..., not with the one before it. Forty packets are twenty round trips.
#[test]
fn a_round_trip_ends_with_its_own_first_packet() {
    let mut now = began();
    let mut adapter = Adapter::new(Box::new(Counting { rounds: 0 }), now, MTU);
    adapter.on_sent(now, MTU.into(), 0);
    adapter.on_sent(now, MTU.into(), 1);
    for number in 0..40 {
        now += Duration::from_millis(25);
        adapter.acknowledge(now, MTU.into());
        adapter.on_end_acks(now, u64::from(MTU), false, Some(number));
        adapter.on_sent(now, MTU.into(), number + 2);
    }
    let mut rounds = 0.0;
    adapter.control().internals(&mut |_, value| rounds = value);
    assert_eq!(rounds, 20.0);
}

#[test]
fn half_a_packet_is_half_an_acknowledgement() {
    let mut path = Path::new("reno");
    let sent = path.now;
    path.adapter.acknowledge(sent, u64::from(MTU) / 2);
    path.adapter.on_end_acks(path.now + Duration::from_millis(50), 0, false, Some(1));
    assert_eq!(path.window(), 10.5);
    path.adapter.on_mtu_update(2400);
    assert_eq!(path.adapter.window(), 10 * 2400 + 1200 + 1);
}

#[test]
fn a_duplicate_goes_its_own_way() {
    let mut path = Path::new("cubic");
    path.round_trip(10);
    let other = path.adapter.clone_box();
    path.round_trip(20);
    assert_eq!(other.window(), 20 * u64::from(MTU) + 1);
    assert!(path.adapter.window() > other.window());
    assert!(other.into_any().downcast::<Adapter>().is_ok());
}

#[test]
fn every_window_control_has_a_factory_and_others_say_why_not() {
    // By rates, and by counts of marks: quinn has neither.
    let impossible = ["bbr", "bbr-linux", "bbr3", "bbr3-linux", "dctcp", "prague"];
    for entry in BuiltIn.entries() {
        let outcome = factory(entry.name);
        let possible = entry.kind == Kind::Window && !impossible.contains(&entry.name);
        assert_eq!(outcome.is_ok(), possible, "{}", entry.name);
    }
    let why = |name| factory(name).err().unwrap().to_string();
    assert_eq!(why("bbr"), "bbr works by rates, which quinn neither measures nor obeys");
    assert_eq!(why("tfrc"), "unknown control \"tfrc\"");
    assert!(factory_with("aimd", &[("alpha", Value::Number(2.0))]).is_ok());
    assert!(factory_with("aimd", &[("alpha", Value::Number(-2.0))]).is_err());
    assert!(factory_with("aimd", &[("gamma", Value::Number(2.0))]).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the signals, in whatever order: the window stays between 2 packets and what the pacer can count.
    #[test]
    fn windows_stay_within_bounds(
        name in prop::sample::select(
            BuiltIn.entries().iter().map(|entry| entry.name).filter(|name| factory(name).is_ok()).collect::<Vec<_>>()
        ),
        steps in prop::collection::vec((0..6_u8, 0..100_000_u64, 0..3_000_u64), 1..200),
    ) {
        let mut path = Path::new(name);
        for (kind, number, bytes) in steps {
            path.now += Duration::from_micros(number);
            let sent = path.now - Duration::from_micros(bytes * 30);
            match kind {
                0 => path.adapter.on_sent(path.now, bytes, number),
                1 | 2 => {
                    (0..bytes / 30).for_each(|_| path.adapter.acknowledge(sent, bytes));
                    path.adapter.on_end_acks(path.now, bytes, bytes % 7 == 0, Some(number));
                }
                3 => path.adapter.on_congestion_event(path.now, sent, false, bytes),
                4 => path.adapter.on_congestion_event(path.now, sent, true, bytes),
                _ => path.adapter.on_mtu_update((bytes as u16).max(1200)),
            }
            let window = path.adapter.window();
            prop_assert!((2401..=u64::from(u32::MAX)).contains(&window), "{window}");
        }
    }
}
