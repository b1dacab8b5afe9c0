//! Quantities of transport protocols as types, so that the compiler refuses to compare bytes with packets.
//!
//! Each quantity is a newtype over the number that the simulator computes with, and reads and writes the
//! text that people write: `"100 Mbit/s"`, `"50 ms"`, `"1000 B"`, `"100 packets"`, `"1.5 %"`. The space
//! between number and unit is optional, so the same parser serves scenario files and command-line options.
//!
//! ```
//! use ackclock_units::{Bytes, Rate, Span};
//! let rate: Rate = "100 Mbit/s".parse().unwrap();
//! assert_eq!(rate, "100Mbit/s".parse().unwrap());
//! // 1000 bytes at 100 Mbit/s take 8000 bit / 1e8 bit/s = 80 us.
//! assert_eq!(rate.serialisation(Bytes(1000)), Span::from_micros(80));
//! assert_eq!(Span::from_micros(80).to_string(), "80 us");
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod decimal;
mod quantity;
#[cfg(feature = "similar")]
mod similar;
mod time;
#[cfg(feature = "tools")]
pub mod tools;

pub use decimal::{Dimension, UnitError, parse_fraction};
pub use quantity::{Bytes, PacketRate, Packets, Rate, Window};
#[cfg(feature = "similar")]
pub use similar::{did_you_mean, similar};
pub use time::{PICOSECONDS_PER_SECOND, Span, Time};
