//! Measuring campaigns over real paths (TCP-FIT, section VI-B): a server that switches congestion control every
//! period, and a client that receives and logs.
//!
//! A campaign goes over the kernel's TCP or over QUIC in user space; only [`transport`] knows which.
//!
//! Client and server share a token that never crosses the wire: each answers the other's challenge ([`token`]). To
//! anyone who has not answered it the server sends nothing but that challenge, and what it does for clients is bounded
//! ([`server::Limits`]). A campaign ([`campaign`]) keeps its results whatever happens, and can be resumed.

pub mod campaign;
pub mod client;
pub mod clock;
pub mod disk;
pub mod door;
pub mod fault;
pub mod info;
pub mod log;
pub mod record;
pub mod rotating;
pub mod server;
pub mod session;
pub mod token;
pub mod transport;
pub mod wire;
