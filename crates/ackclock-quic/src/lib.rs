//! The congestion controls of ackclock over QUIC.
//!
//! [`factory`] lets any quinn 0.11 application use any window control of ackclock:
//!
//! ```
//! let mut transport = quinn::TransportConfig::default();
//! transport.congestion_controller_factory(ackclock_quic::factory("fit")?);
//! # Ok::<(), ackclock_quic::ControlError>(())
//! ```
//!
//! The controls are those of `ackclock-cc`, driven by the signals of quinn: see [`controller`] for the information that
//! quinn does not provide.
#![forbid(unsafe_code)]

pub mod controller;
#[cfg(feature = "simulate")]
pub mod simulated;

pub use controller::{ControlError, Factory, factory, factory_with};
