//! The simulator's link in real time: an emulated path between two network namespaces.
//!
//! The path of a scenario (rate or rate trace, delay, queue, losses, delay noise, changes, both directions)
//! runs the same code as the simulator, driven by the machine's clock. Packets enter and leave through a TUN device in
//! each namespace. It measures its own lateness, and says when that makes results invalid.

mod access;
pub mod buffer;
mod claim;
pub mod emulator;
pub mod hosts;
pub mod ports;
pub mod pump;
pub mod report;
pub mod tools;
pub mod user;
