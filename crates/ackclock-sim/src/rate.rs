//! Rate-based controls: a sender that spaces packets by its law, and receivers that report.
//!
//! Data packets carry the sender's measurements, and reports carry the receiver's results: [`Header`] and [`Report`].
//!
//! [`Header`]: crate::payload::Header
//! [`Report`]: crate::payload::Report

mod catalogue;
mod intake;
mod sender;
pub mod tear;
pub mod tfrc;
pub mod tfrc_2000;
pub mod vivace;

pub use catalogue::{BuiltIn, RateEntry, find};
pub use intake::{Intake, RateReceiver};
pub use sender::{Departure, Jitter, Law, RateSender, RateSettings};
