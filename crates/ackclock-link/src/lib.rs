//! The simulator's link in real time: an emulated path between two network namespaces.
//!
//! The path of a scenario (rate or rate trace, delay, queue, losses, delay noise, changes, both directions)
//! is the very code that the simulator runs, told the time of the machine's clock. Packets come and go
//! through a TUN device in each namespace. It measures its own lateness, and says when a result is not to be
//! trusted because of it.

mod access;
pub mod emulator;
pub mod hosts;
pub mod ports;
pub mod pump;
pub mod report;
