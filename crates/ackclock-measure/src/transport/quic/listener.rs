//! The server's side of QUIC.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use quinn::crypto::rustls::QuicServerConfig;
use quinn::rustls::crypto::ring;
use quinn::rustls::version::TLS13;
use quinn::{ConnectionError, Endpoint, Incoming, ServerConfig, VarInt, rustls};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};
use tokio::{pin, select};

use super::connection::Quic;
use super::control::{self, Choice};
use super::identity::Identity;
use super::socket::{self, Counted};
use super::{FLOW_WINDOW_BYTES, GOODBYE, PROTOCOL, RUNTIME, explain, transport};
use crate::clock;
use crate::door::{Door, Permit};
use crate::transport::{Arrival, Connection};
use crate::wire::{LONGEST_LINE, PATIENCE};

/// The number of connections that may wait to be accepted, and the bytes that each, and all together, may send before.
const MOST_WAITING: usize = 64;
const WAITING_BYTES: u64 = 1 << 14;
/// First datagrams of a handshake, which quinn does not count: before and after the address is validated.
const GREETINGS: u64 = 2;
/// Fewer stray datagrams at once than this are not reported: failed handshakes leave some behind.
const FEW_STRAYS: u64 = 100;
/// How long datagrams of a closed connection may still come.
const ECHO: Duration = Duration::from_secs(1);

/// A handshake's end: a permit, and the connection or why there is none.
type Welcomed = (Permit, Result<Quic, String>);

/// Accepts QUIC connections.
pub struct QuicListener {
    endpoint: Endpoint,
    config: ServerConfig,
    socket: Arc<Counted>,
    /// Handshakes that ended, well or not. Each has its permit, so that they are bounded.
    ended: (UnboundedSender<Welcomed>, Mutex<UnboundedReceiver<Welcomed>>),
    known: Mutex<AccountedConnections>,
    /// Datagrams of handshakes that were not let in.
    turned_away: AtomicU64,
}

/// Connections whose datagrams are accounted for.
#[derive(Default)]
struct AccountedConnections {
    /// The connections, each with the time at which it was first seen closed.
    connections: Vec<(quinn::Connection, Option<Instant>)>,
    /// Datagrams of forgotten connections.
    before: u64,
    strays_reported: u64,
}

impl QuicListener {
    /// Listens at `address` with an identity.
    ///
    /// # Errors
    /// One line, when the address cannot be had, or the identity is none.
    pub fn bind(address: SocketAddr, identity: Identity) -> Result<QuicListener, String> {
        let mut crypto = rustls::ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&TLS13])
            .and_then(|builder| {
                builder.with_no_client_auth().with_single_cert(vec![identity.certificate], identity.key)
            })
            .map_err(|error| error.to_string())?;
        crypto.alpn_protocols = vec![PROTOCOL.to_vec()];
        let crypto = QuicServerConfig::try_from(crypto).map_err(|error| error.to_string())?;
        let mut config = ServerConfig::with_crypto(Arc::new(crypto));
        config
            .migration(false)
            .max_incoming(MOST_WAITING)
            .incoming_buffer_size(WAITING_BYTES)
            .incoming_buffer_size_total(WAITING_BYTES * MOST_WAITING as u64);
        let (endpoint, socket) =
            socket::endpoint(address, Some(config.clone())).map_err(|error| error.to_string())?;
        let (sender, receiver) = unbounded_channel();
        Ok(QuicListener {
            endpoint,
            config,
            socket,
            ended: (sender, Mutex::new(receiver)),
            known: Mutex::default(),
            turned_away: AtomicU64::new(0),
        })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// One line, when the system does not tell.
    pub fn address(&self) -> Result<SocketAddr, String> {
        self.endpoint.local_addr().map_err(|error| error.to_string())
    }

    /// A client that has not shown that it receives datagrams at its address is asked to do so, and forgotten. That
    /// answer is shorter than what was received, and needs no memory here.
    fn welcome(&self, incoming: Incoming, door: &Arc<Door>) {
        if !incoming.remote_address_validated() {
            // A client that has not been validated may be asked.
            let _ = incoming.retry();
            return;
        }
        let Some(permit) = door.enter(incoming.remote_address().ip().to_canonical()) else {
            self.turned_away.fetch_add(1, Ordering::Relaxed);
            incoming.refuse();
            return;
        };
        let choice = Arc::<Choice>::default();
        let mut settings = transport();
        // A client opens no stream, and says no more than a few lines.
        settings
            .max_concurrent_bidi_streams(VarInt::from_u32(0))
            .stream_receive_window(VarInt::from_u32(4 * LONGEST_LINE as u32))
            .receive_window(VarInt::from_u32(4 * LONGEST_LINE as u32))
            .send_window(FLOW_WINDOW_BYTES.into())
            .congestion_controller_factory(Arc::clone(&choice) as Arc<_>);
        let mut config = self.config.clone();
        config.transport_config(Arc::new(settings));
        let sender = self.ended.0.clone();
        let (needed, is_needed) = oneshot::channel::<()>();
        permit.when_needed(move || drop(needed));
        RUNTIME.spawn(async move {
            let connection = select! {
                shaken = timeout(PATIENCE, shake(incoming, config, choice)) => {
                    shaken.unwrap_or_else(|_| Err("the handshake took too long".into()))
                }
                _ = is_needed => Err("its place was needed during the handshake".into()),
            };
            // Without a server there is nobody to tell.
            let _ = sender.send((permit, connection));
        });
    }
}

async fn shake(incoming: Incoming, config: ServerConfig, choice: Arc<Choice>) -> Result<Quic, String> {
    let explain = |error: ConnectionError| format!("handshake: {}", explain(&error));
    let connecting = incoming.accept_with(Arc::new(config)).map_err(explain)?;
    let connection = connecting.await.map_err(explain)?;
    let streams = connection.open_bi().await.map_err(explain)?;
    Ok(Quic::new(connection, streams, choice))
}

impl Drop for QuicListener {
    /// Says goodbye to all.
    fn drop(&mut self) {
        self.endpoint.close(0_u32.into(), b"");
        let _ = RUNTIME.block_on(async { timeout(GOODBYE, self.endpoint.wait_idle()).await });
    }
}

impl crate::transport::Listener for QuicListener {
    fn check(&self, controls: &[String]) -> Result<(), String> {
        controls.iter().try_for_each(|name| control::find(name).map(drop))
    }

    fn next(&self, door: &Arc<Door>, wait: Duration) -> Result<Option<Arrival>, String> {
        let mut ended = self.ended.1.lock().unwrap_or_else(PoisonError::into_inner);
        let welcomed = RUNTIME.block_on(async {
            let over = sleep(wait);
            pin!(over);
            loop {
                select! {
                    biased;
                    // The listener has a sender itself: the channel does not end.
                    welcomed = ended.recv() => return Ok(welcomed),
                    () = &mut over => return Ok(None),
                    incoming = self.endpoint.accept() => match incoming {
                        Some(incoming) => self.welcome(incoming, door),
                        None => return Err("the UDP socket is gone".to_owned()),
                    },
                }
            }
        })?;
        Ok(welcomed.map(|(permit, quic)| {
            if let Ok(quic) = &quic {
                let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
                known.connections.push((quic.inner().clone(), None));
                known.before += GREETINGS;
            }
            Arrival { permit, connection: quic.map(|quic| Arc::new(quic) as Arc<dyn Connection>) }
        }))
    }

    fn take_strays(&self) -> u64 {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let AccountedConnections { connections, before, strays_reported } = &mut *known;
        let now = clock::now();
        let mut own = 0;
        connections.retain_mut(|(connection, closed)| {
            let received = connection.stats().udp_rx.datagrams;
            if connection.close_reason().is_some() {
                // Datagrams still under way to a closed connection belong to it.
                let closed = *closed.get_or_insert(now);
                if now.duration_since(closed) > ECHO {
                    *before += received;
                    return false;
                }
            }
            own += received;
            true
        });
        let strays =
            self.socket.received().saturating_sub(own + *before + self.turned_away.load(Ordering::Relaxed));
        let new = strays.saturating_sub(*strays_reported);
        *strays_reported = strays;
        if new < FEW_STRAYS { 0 } else { new }
    }
}
