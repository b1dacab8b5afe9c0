//! The signals of a control written in Python, as immutable objects.

use pyo3::prelude::*;

/// The signal to a control written in Python when an acknowledgement arrives.
#[pyclass(frozen, get_all, module = "ackclock")]
pub struct Ack {
    pub now_s: f64,
    pub growth: f64,
    pub credit: f64,
    pub delivered: u64,
    pub rtt_s: Option<f64>,
    pub in_flight: u64,
    pub round: u64,
    pub window_limited: bool,
    pub recovering: bool,
    pub delivery_rate: Option<f64>,
    pub rate: Option<Py<RateSample>>,
    pub lost: u64,
    pub marked: u64,
    pub round_limited: bool,
}

/// A measured delivery rate, for a control written in Python.
#[pyclass(frozen, get_all, module = "ackclock")]
pub struct RateSample {
    pub delivered: u64,
    pub interval_s: f64,
    pub application_limited: bool,
    pub prior_delivered: u64,
    pub tx_in_flight: u64,
    pub lost: u64,
}

/// The signal to a control written in Python when a packet is considered lost.
#[pyclass(frozen, get_all, module = "ackclock")]
pub struct Lost {
    pub now_s: f64,
    pub tx_in_flight: u64,
    pub lost_since_sent: u64,
    pub application_limited: bool,
}

/// The signal to a control written in Python when a loss event begins.
#[pyclass(frozen, get_all, module = "ackclock")]
pub struct Loss {
    pub now_s: f64,
    pub ecn: bool,
}

/// The signal to a control written in Python when the retransmission timer expires.
#[pyclass(frozen, get_all, module = "ackclock")]
pub struct Timeout {
    pub now_s: f64,
    pub first: bool,
}

/// Where a connection starts, for a control written in Python.
#[pyclass(frozen, get_all, module = "ackclock", name = "Start")]
pub struct Beginning {
    pub window: f64,
    pub ssthresh: f64,
    pub hystart: bool,
    pub rules: &'static str,
    pub seed: u64,
}

impl RateSample {
    /// As a control in Rust sees it.
    pub const fn of(rate: ackclock_cc::RateSample) -> Self {
        RateSample {
            delivered: rate.delivered.0,
            interval_s: rate.interval.as_seconds(),
            application_limited: rate.application_limited,
            prior_delivered: rate.prior_delivered.0,
            tx_in_flight: rate.tx_in_flight.0,
            lost: rate.lost.0,
        }
    }
}
