//! What carries a campaign. Client, server and what they say to each other know a transport by these traits alone.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::door::{Door, Permit};
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
    /// Sends some of `data` within `patience`; returns how many bytes.
    ///
    /// # Errors
    /// `WouldBlock` or `TimedOut` when it takes nothing for so long; anything else when it is over.
    fn send(&self, data: &[u8], patience: Duration) -> io::Result<usize>;

    /// Receives some bytes within `patience`; none when the other end sends no more.
    ///
    /// # Errors
    /// `WouldBlock` or `TimedOut` when nothing comes for so long; anything else when it is over.
    fn receive(&self, buffer: &mut [u8], patience: Duration) -> io::Result<usize>;

    /// What the two ends of this very connection know and nobody between them; empty where nothing is secret.
    fn binding(&self) -> Vec<u8>;

    /// The certificate's fingerprint that the other end has shown, where there is one.
    fn identity(&self) -> Option<String>;

    /// What this end knows of it.
    ///
    /// # Errors
    /// When it is over.
    fn info(&self) -> io::Result<Info>;

    /// Gives it its congestion control.
    ///
    /// # Errors
    /// One line, when there is none of that name.
    fn set_control(&self, control: &str) -> Result<(), String>;

    /// Limits what it sends, bytes per second.
    ///
    /// # Errors
    /// When it is over.
    fn limit_rate(&self, bytes_per_s: u64) -> io::Result<()>;

    /// Lets what was sent arrive; the connection ends when it is dropped.
    fn finish(&self);

    /// Ends it at once, with all that it still holds.
    fn abort(&self);
}

/// Who has come in.
#[derive(Debug)]
pub struct Arrival {
    /// To be inside.
    pub permit: Permit,
    /// The connection, or why it did not come about.
    pub connection: Result<Arc<dyn Connection>, String>,
}

/// Where connections arrive.
pub trait Listener: Send + Sync {
    /// Whether its connections can have these controls.
    ///
    /// # Errors
    /// One line: which one not, and which others.
    fn check(&self, controls: &[String]) -> Result<(), String>;

    /// The next connection that comes within `wait` and that `door` lets in.
    ///
    /// # Errors
    /// One line, when it cannot listen any more.
    fn next(&self, door: &Arc<Door>, wait: Duration) -> Result<Option<Arrival>, String>;

    /// How many datagrams came since this was last asked that belong to no connection.
    fn take_strays(&self) -> u64;
}

/// How a client reaches a server.
pub trait Dialer: Send + Sync {
    /// Where the server is.
    fn server(&self) -> SocketAddr;

    /// A new connection.
    ///
    /// # Errors
    /// One line.
    fn connect(&self) -> Result<Arc<dyn Connection>, String>;
}
