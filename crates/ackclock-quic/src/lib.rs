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
//! The controls are those of `ackclock-cc`, told what quinn tells: see [`controller`] for what that leaves out.
#![forbid(unsafe_code)]

pub mod controller;
#[cfg(feature = "simulate")]
pub mod simulated;

pub use controller::{ControlError, Factory, factory, factory_with};
