//! QUIC in user space: quinn's connections, with the controls of ackclock or quinn's own. Needs no root.
//!
//! Each flow is a connection of its own, with one stream that the server opens. The server shows the certificate of
//! its [`Identity`]; the proofs of the token hold for one connection alone (RFC 9266), so that nobody can stand
//! between the two.

use std::sync::LazyLock;
use std::time::Duration;

use quinn::{ConnectionError, IdleTimeout, TransportConfig, VarInt};
use tokio::runtime::{Builder, Runtime};

mod connection;
mod control;
mod dialer;
mod identity;
mod listener;
mod socket;

pub use control::{DEFAULT_CONTROLS, controls};
pub use dialer::QuicDialer;
pub use identity::{Fingerprint, Identity};
pub use listener::QuicListener;

/// Name of the protocol inside (ALPN).
const PROTOCOL: &[u8] = b"ackclock-measure";
/// The name that a certificate is asked for; the fingerprint says which it is.
const NAME: &str = "ackclock-measure";
/// Most bytes that a flow may have in flight: 16 MiB carry 670 Mbit/s over 200 ms.
const FLOW_WINDOW_BYTES: u32 = 16 << 20;
/// A connection is considered gone after this silence.
const SILENCE: Duration = Duration::from_secs(10);
/// How long closing all connections may take when a process ends.
const GOODBYE: Duration = Duration::from_secs(1);
/// How often the client shows that it is alive.
const SIGN_OF_LIFE: Duration = Duration::from_secs(3);

/// Where connections live: threads of the whole process, which end with it.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().enable_all().build().expect("threads can be started"));

/// Settings that both ends share.
fn transport() -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport
        .max_idle_timeout(Some(IdleTimeout::from(VarInt::from_u32(SILENCE.as_millis() as u32))))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .datagram_receive_buffer_size(None);
    transport
}

/// Why a connection is over, in one line; the reason that the other end states is not repeated.
fn explain(error: &ConnectionError) -> String {
    match error {
        ConnectionError::ConnectionClosed(close) => {
            format!("the peer refused the connection: {}", close.error_code)
        }
        ConnectionError::ApplicationClosed(close) => {
            format!("the peer closed the connection: {}", close.error_code)
        }
        other => other.to_string(),
    }
}
