//! A control of ackclock as a congestion controller of quinn.
//!
//! The signals of quinn differ from those of TCP:
//! - It tells acknowledged packets one by one and then the end of their batch. A batch is one acknowledgement here;
//!   its RTT is that of its newest packet, and contains the delay of the peer's acknowledgement.
//! - Growth counts packets' worth of acknowledged bytes. While a loss episode lasts, which is until a packet is
//!   acknowledged that was sent after its beginning (RFC 9002, section 7.3.2), a control measures and does not grow.
//! - Persistent congestion (RFC 9002, section 7.6) is a timeout; a probe timeout is none, so that timeouts are rarer
//!   than TCP's. Nothing tells that a loss was a false alarm, or that the connection was idle.
//! - quinn paces by 1.25 windows per smoothed RTT whatever a control asks for: one that works by rates is refused, as
//!   its decision would not be obeyed. One that has a window and only spaces its packets by a rate, such as Copa, loses
//!   its own spacing.
//! - The window is at least 2 packets (RFC 9002, section 7.2).

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use ackclock_cc::erased::ErasedController;
use ackclock_cc::registry::{BuiltIn, Catalogue, Entry};
use ackclock_cc::{Ack, Ecn, Signal, Start, Value};
use ackclock_units::{Packets, Span, Time, Window, did_you_mean};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

/// The initial window, packets (RFC 9002, section 7.2).
const INITIAL_WINDOW: f64 = 10.0;
/// The smallest window, packets (RFC 9002, section 7.2).
const LEAST_WINDOW: f64 = 2.0;
const PICOSECONDS_PER_NANOSECOND: u128 = 1000;

/// Why there is no factory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlError(String);

impl fmt::Display for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ControlError {}

/// Makes a control for each connection.
pub struct Factory {
    entry: &'static Entry,
    params: Vec<(String, Owned)>,
}

/// A parameter's value, kept.
#[derive(Clone, Debug)]
enum Owned {
    Number(f64),
    Text(String),
    Flag(bool),
}

impl Owned {
    fn of(value: Value<'_>) -> Owned {
        match value {
            Value::Number(number) => Owned::Number(number),
            Value::Choice(text) => Owned::Text(text.to_owned()),
            Value::Flag(flag) => Owned::Flag(flag),
        }
    }

    fn as_value(&self) -> Value<'_> {
        match self {
            Owned::Number(number) => Value::Number(*number),
            Owned::Text(text) => Value::Choice(text),
            Owned::Flag(flag) => Value::Flag(*flag),
        }
    }
}

/// The factory of a control with its default parameters, for `TransportConfig::congestion_controller_factory`.
///
/// # Errors
/// When there is no control of that name, or it needs information that QUIC does not report.
///
/// # Examples
/// ```
/// assert!(ackclock_quic::factory("illinois").is_ok());
/// let error = ackclock_quic::factory("ilinois").err().unwrap();
/// assert_eq!(error.to_string(), "unknown control \"ilinois\", did you mean \"illinois\"?");
/// ```
pub fn factory(name: &str) -> Result<Arc<Factory>, ControlError> {
    factory_with(name, &[])
}

/// The refusal of a control that does not exist.
fn unknown(name: &str) -> String {
    match did_you_mean(name, BuiltIn.entries().iter().map(|entry| entry.name)) {
        hint if hint.is_empty() => format!("unknown control \"{name}\""),
        hint => format!("unknown control \"{name}\", {hint}"),
    }
}

/// As [`factory`], with some parameters of the control set.
///
/// # Errors
/// As [`factory`], and when the control refuses a parameter.
pub fn factory_with(name: &str, params: &[(&str, Value<'_>)]) -> Result<Arc<Factory>, ControlError> {
    let entry = BuiltIn.find(name).ok_or_else(|| ControlError(unknown(name)))?;
    let control =
        entry.build(params, start()).map_err(|(_, error)| ControlError(format!("{name}: {error}")))?;
    let wants = control.wants();
    if wants.rate || control.decision().pacing_rate.is_some() {
        return Err(ControlError(format!("{name} works by rates, which quinn neither measures nor obeys")));
    }
    if wants.losses || wants.marks || wants.ecn != Ecn::AsConfigured {
        return Err(ControlError(format!(
            "{name} needs counts of losses or marks, which quinn does not give"
        )));
    }
    let params = params.iter().map(|(name, value)| ((*name).to_owned(), Owned::of(*value))).collect();
    Ok(Arc::new(Factory { entry, params }))
}

fn start() -> Start {
    Start { window: Window(INITIAL_WINDOW), ..Start::default() }
}

impl Factory {
    fn control(&self) -> Box<dyn ErasedController> {
        let params: Vec<_> =
            self.params.iter().map(|(name, value)| (name.as_str(), value.as_value())).collect();
        self.entry.build(&params, start()).expect("it was built when the factory was made")
    }
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(Adapter::new(self.control(), now, current_mtu))
    }
}

/// A control behind quinn's interface.
pub struct Adapter {
    control: Box<dyn ErasedController>,
    /// The control's time is counted from here.
    began: Instant,
    mtu: u64,
    batch: Batch,
    /// When the last loss episode began: losses of packets that were sent before are its own, even after its end.
    episode: Option<Instant>,
    is_recovering: bool,
    /// Round trips completed, and the first packet of the present one, whose acknowledgement completes it.
    round: u64,
    round_begin: u64,
    last_sent: u64,
}

/// The signals of one acknowledgement so far.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    packets: u64,
    /// Bytes of packets that were sent after the last episode's beginning.
    bytes: u64,
    newest: Option<Instant>,
}

impl Adapter {
    /// A control at the start of a connection.
    #[must_use]
    pub fn new(control: Box<dyn ErasedController>, now: Instant, mtu: u16) -> Adapter {
        Adapter {
            control,
            began: now,
            mtu: mtu.into(),
            batch: Batch::default(),
            episode: None,
            is_recovering: false,
            round: 0,
            round_begin: 0,
            last_sent: 0,
        }
    }

    /// The control's decision and internals.
    #[must_use]
    pub fn control(&self) -> &dyn ErasedController {
        self.control.as_ref()
    }

    /// A packet of `bytes` bytes that was sent at `sent` is acknowledged, as part of a batch.
    pub fn acknowledge(&mut self, sent: Instant, bytes: u64) {
        self.batch.packets += 1;
        if self.is_after_episode(sent) {
            self.batch.bytes += bytes;
        }
        self.batch.newest = self.batch.newest.max(Some(sent));
    }

    /// Whether a packet sent at `sent` was sent after the beginning of the last episode (RFC 9002, section 7.3.1).
    fn is_after_episode(&self, sent: Instant) -> bool {
        self.episode.is_none_or(|began| sent > began)
    }

    fn time(&self, now: Instant) -> Time {
        Time::ZERO + span(now.saturating_duration_since(self.began))
    }
}

fn span(duration: std::time::Duration) -> Span {
    Span(u64::try_from(duration.as_nanos() * PICOSECONDS_PER_NANOSECOND).unwrap_or(u64::MAX))
}

impl Controller for Adapter {
    fn on_sent(&mut self, _: Instant, _: u64, last_packet_number: u64) {
        self.last_sent = last_packet_number;
    }

    fn on_ack(&mut self, _: Instant, sent: Instant, bytes: u64, _: bool, _: &RttEstimator) {
        self.acknowledge(sent, bytes);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest_acked: Option<u64>) {
        let Batch { packets, bytes, newest } = std::mem::take(&mut self.batch);
        let Some(newest) = newest else { return };
        let time = self.time(now);
        if self.is_recovering && self.is_after_episode(newest) {
            self.is_recovering = false;
            self.control.on(time, Signal::Recovered);
        }
        if largest_acked.is_some_and(|number| number >= self.round_begin) {
            self.round += 1;
            self.round_begin = self.last_sent + 1;
        }
        let ack = Ack {
            credit: bytes as f64 / self.mtu as f64,
            delivered: Packets(packets),
            rtt: Some(span(now.saturating_duration_since(newest))),
            in_flight: Packets(in_flight / self.mtu),
            window_limited: !app_limited,
            round: self.round,
            recovering: self.is_recovering,
            rate: None,
            lost: Packets(0),
            marked: Packets(0),
            round_limited: !app_limited,
        };
        self.control.on(time, Signal::Ack(ack));
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent: bool, lost_bytes: u64) {
        let time = self.time(now);
        if is_persistent {
            (self.episode, self.is_recovering) = (Some(now), true);
            self.control.on(time, Signal::Timeout { first: true });
        } else if self.is_after_episode(sent) {
            (self.episode, self.is_recovering) = (Some(now), true);
            self.control.on(time, Signal::Loss { ecn: lost_bytes == 0 });
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = new_mtu.into();
    }

    fn window(&self) -> u64 {
        let packets = self.control.decision().window.0.max(LEAST_WINDOW);
        // quinn sends while less than this is in flight with the next packet; its pacer counts in 32 bits.
        ((packets * self.mtu as f64) as u64).saturating_add(1).min(u32::MAX.into())
    }

    fn metrics(&self) -> ControllerMetrics {
        let ssthresh = self.control.decision().ssthresh.0;
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.window();
        metrics.ssthresh = ssthresh.is_finite().then_some((ssthresh * self.mtu as f64) as u64);
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Adapter { control: self.control.duplicate(), ..*self })
    }

    fn initial_window(&self) -> u64 {
        INITIAL_WINDOW as u64 * self.mtu
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
