//! Measuring campaigns over real paths (TCP-FIT, section VI-B): a server that gives every period another congestion
//! control its turn, and a client that fetches and logs.
//!
//! A campaign goes over the kernel's TCP or over QUIC in user space; only [`transport`] knows which.
//!
//! Client and server share a token that never crosses the wire: each answers the other's challenge ([`token`]). The
//! server sends nothing but that challenge to anyone who has not answered, and bounds what it gives ([`server::Limits`]). A campaign
//! ([`campaign`]) keeps what it has measured whatever happens, and goes on where it was.

pub mod campaign;
pub mod client;
pub mod clock;
pub mod door;
pub mod info;
pub mod server;
pub mod session;
pub mod token;
pub mod transport;
pub mod wire;
