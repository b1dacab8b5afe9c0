//! Scenarios.
mod model;
mod settings;
pub use model::*;
