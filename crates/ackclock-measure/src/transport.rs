//! Transports that carry a campaign. Client, server and protocol know a transport only through these traits.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::door::{Door, Permit};
use crate::fault::Fault;
use crate::info::Info;

pub mod quic;
pub mod tcp;

/// The transports there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// The kernel's TCP.
    #[default]
    Tcp,
    /// QUIC in user space.
    Quic,
}

/// A connection: bytes in order, both ways. Several threads may use it, one of them to send and one to receive.
pub trait Connection: fmt::Debug + Send + Sync {
    /// Sends some of `data` within `patience`; returns the number of bytes.
    ///
    /// # Errors
    /// `WouldBlock` or `TimedOut` when nothing can be sent in that time; anything else when the connection has ended.
    fn send(&self, data: &[u8], patience: Duration) -> io::Result<usize>;

    /// Receives some bytes within `patience`; none when the peer will send no more.
    ///
    /// # Errors
    /// `WouldBlock` or `TimedOut` when nothing arrives in that time; anything else when the connection has ended.
    fn receive(&self, buffer: &mut [u8], patience: Duration) -> io::Result<usize>;

    /// A secret of the two ends of this connection; empty where the transport has no secret.
    fn binding(&self) -> Vec<u8>;

    /// Fingerprint of the peer's certificate, if it has one.
    fn identity(&self) -> Option<String>;

    /// This end's information about the connection.
    ///
    /// # Errors
    /// When it has ended.
    fn info(&self) -> io::Result<Info>;

    /// Sets the congestion control.
    ///
    /// # Errors
    /// One line, when there is no control of that name.
    fn set_control(&self, control: &str) -> Result<(), String>;

    /// Limits the sending rate, bytes per second.
    ///
    /// # Errors
    /// When the connection has ended.
    fn limit_rate(&self, bytes_per_s: u64) -> io::Result<()>;

    /// Makes sure that sent data arrives; the connection ends when it is dropped.
    fn finish(&self);

    /// Ends the connection at once and discards what is still queued.
    fn abort(&self);
}

/// A connection that was accepted.
#[derive(Debug)]
pub struct Arrival {
    /// Its place among the connections.
    pub permit: Permit,
    /// The connection, or why it could not be set up.
    pub connection: Result<Arc<dyn Connection>, String>,
}

/// Accepts connections.
pub trait Listener: Send + Sync {
    /// Checks that its connections can use these controls.
    ///
    /// # Errors
    /// One line that names the unknown control and those available.
    fn check(&self, controls: &[String]) -> Result<(), String>;

    /// The next connection that arrives within `wait` and is admitted by `door`.
    ///
    /// # Errors
    /// One line, when it can no longer listen.
    fn next(&self, door: &Arc<Door>, wait: Duration) -> Result<Option<Arrival>, String>;

    /// Takes the number of datagrams since the last call that belong to no connection.
    fn take_strays(&self) -> u64;
}

/// How a client reaches a server.
pub trait Dialer: Send + Sync {
    /// Address of the server.
    fn server(&self) -> SocketAddr;

    /// Opens a new connection.
    ///
    /// # Errors
    /// [`Fault::Gone`] when the server ended it, which another attempt may change, else [`Fault::Unreachable`].
    fn connect(&self) -> Result<Arc<dyn Connection>, Fault>;
}
