//! Packet-level simulation of congestion controls.
//!
//! A [`Simulation`] is built from a checked scenario, advances in simulated time, and ends with a summary and
//! tables. Time is whole picoseconds; events are ordered by time and then by component; every random number
//! comes from a stream named by seed, run and purpose. So the same scenario yields the same bytes anywhere.
#![deny(unsafe_code)]

mod arrivals;
mod assemble;
mod capacity;
pub mod context;
pub mod datagrams;
pub mod delays;
pub mod director;
pub mod endpoint;
mod flow_slots;
pub mod link;
pub mod loss;
pub mod media;
pub mod memory;
pub mod meter;
mod network;
mod numbers;
mod observe;
pub mod pace;
pub mod packet;
pub mod payload;
pub mod policer;
mod prefetch;
pub mod queue;
pub mod random;
pub mod rate;
pub mod remarks;
mod request_log;
mod ring;
pub mod samples;
pub mod schedule;
mod simulation;
mod stage;
mod summary;
pub mod tcp;
pub mod wire;

pub use assemble::{Makers, Placement, Transport, make_link};
pub use capacity::mean_rate;
pub use rate::BuiltIn;
pub use simulation::Simulation;
pub use summary::FinishedRun;
