//! The controls of a QUIC connection, and their observations.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use ackclock_cc::registry::{BuiltIn, Catalogue};
use ackclock_units::did_you_mean;
use quinn::congestion::{
    BbrConfig, Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig,
};
use quinn_proto::RttEstimator;

/// Controls that take turns unless the user says otherwise.
pub const DEFAULT_CONTROLS: [&str; 5] = ["reno", "cubic", "illinois", "fit", "quinn-cubic"];
/// quinn's own, with quinn's settings: its BBR begins with 240 kB, all others with 10 to 12 packets.
const OWN: [&str; 3] = ["quinn-reno", "quinn-cubic", "quinn-bbr"];

/// Makes a control for a connection.
pub type Factory = Arc<dyn ControllerFactory + Send + Sync>;

/// The control of that name.
///
/// # Errors
/// One line, when there is none.
pub fn find(name: &str) -> Result<Factory, String> {
    match name {
        "quinn-reno" => Ok(Arc::new(NewRenoConfig::default())),
        "quinn-cubic" => Ok(Arc::new(CubicConfig::default())),
        "quinn-bbr" => Ok(Arc::new(BbrConfig::default())),
        other => match ackclock_quic::factory(other) {
            Ok(factory) => Ok(factory),
            Err(error) => Err(instead(other, &error.to_string())),
        },
    }
}

/// The refusal of a name, with similar ones if it is unknown, and otherwise with some that work.
fn instead(name: &str, problem: &str) -> String {
    let hint = match BuiltIn.find(name) {
        Some(_) => String::new(),
        None => did_you_mean(name, controls()),
    };
    match hint.is_empty() {
        true => format!("{problem}; over QUIC use for example {}", DEFAULT_CONTROLS.join(", ")),
        false => format!("unknown control \"{name}\", {hint}"),
    }
}

/// Names of all controls that a QUIC connection can have: those of ackclock that work by windows, and quinn's own.
#[must_use]
pub fn controls() -> Vec<&'static str> {
    let ours =
        BuiltIn.entries().iter().map(|entry| entry.name).filter(|name| ackclock_quic::factory(name).is_ok());
    ours.chain(OWN).collect()
}

/// The control with which a connection begins: quinn wants its control when the connection begins, the client asks for
/// one later.
#[derive(Default)]
pub struct Choice(OnceLock<Factory>);

impl Choice {
    /// The connection has this control as soon as another packet has left.
    pub fn choose(&self, control: Factory) {
        // Asked for once in a connection's life.
        let _ = self.0.set(control);
    }
}

impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Choice").field("is_chosen", &self.0.get().is_some()).finish()
    }
}

impl ControllerFactory for Choice {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let control = Arc::new(NewRenoConfig::default()).build(now, current_mtu);
        Box::new(Watched {
            choice: self,
            is_chosen: false,
            mtu: current_mtu,
            control,
            observed: Observations::new(now),
        })
    }
}

/// A control, and its observations.
pub struct Watched {
    choice: Arc<Choice>,
    is_chosen: bool,
    mtu: u16,
    control: Box<dyn Controller>,
    observed: Observations,
}

/// The observations of a control. In rounds in which there was too little to send, the delivery rate is that of the
/// sender.
#[derive(Clone, Copy, Debug)]
pub struct Observations {
    /// Bytes that were acknowledged, with their headers.
    pub acked_bytes: u64,
    /// The delivery rate of the last round trip, Mbit/s.
    pub delivery_rate_mbps: f64,
    /// When this round trip began, after how many bytes, and the packet whose acknowledgement ends it.
    round: (Instant, u64, u64),
    last_sent: u64,
}

impl Observations {
    fn new(now: Instant) -> Observations {
        Observations { acked_bytes: 0, delivery_rate_mbps: 0.0, round: (now, 0, 0), last_sent: 0 }
    }

    fn end_acks(&mut self, now: Instant, largest_acked: Option<u64>) {
        let (began, before, end) = self.round;
        if largest_acked.is_some_and(|number| number >= end) {
            let lasted = now.saturating_duration_since(began).as_secs_f64();
            if lasted > 0.0 {
                self.delivery_rate_mbps = (self.acked_bytes - before) as f64 * 8e-6 / lasted;
            }
            self.round = (now, self.acked_bytes, self.last_sent + 1);
        }
    }
}

impl Watched {
    /// Its observations so far.
    #[must_use]
    pub const fn observed(&self) -> &Observations {
        &self.observed
    }

    fn look(&mut self, now: Instant) {
        if !self.is_chosen
            && let Some(factory) = self.choice.0.get()
        {
            self.is_chosen = true;
            self.control = Arc::clone(factory).build(now, self.mtu);
        }
    }
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.look(now);
        self.observed.last_sent = last_packet_number;
        self.control.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.observed.acked_bytes += bytes;
        self.control.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest_acked: Option<u64>) {
        self.observed.end_acks(now, largest_acked);
        self.control.on_end_acks(now, in_flight, app_limited, largest_acked);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent: bool, lost_bytes: u64) {
        self.control.on_congestion_event(now, sent, is_persistent, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = new_mtu;
        self.control.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.control.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.control.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Watched { choice: Arc::clone(&self.choice), control: self.control.clone_box(), ..*self })
    }

    fn initial_window(&self) -> u64 {
        self.control.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
