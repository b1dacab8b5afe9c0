//! The client's side of QUIC.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use quinn::crypto::rustls::QuicClientConfig;
use quinn::rustls::crypto::ring;
use quinn::rustls::version::TLS13;
use quinn::{ClientConfig, ConnectionError, Endpoint, VarInt, rustls};
use tokio::time::timeout;

use super::connection::Quic;
use super::control::Choice;
use super::identity::{Fingerprint, Pin};
use super::socket;
use super::{FLOW_WINDOW_BYTES, GOODBYE, NAME, PROTOCOL, RUNTIME, SIGN_OF_LIFE, explain, transport};
use crate::fault::Fault;
use crate::transport::Connection;
use crate::wire::PATIENCE;

/// Connects by QUIC.
pub struct QuicDialer {
    server: SocketAddr,
    /// One for each connection, so that each is a flow of its own to whatever tells flows apart on the path.
    endpoints: Mutex<Vec<Endpoint>>,
    crypto: Arc<QuicClientConfig>,
    pin: Arc<Pin>,
}

impl QuicDialer {
    /// For the server with this fingerprint; for any while none is known.
    ///
    /// # Errors
    /// One line, when TLS cannot be set up.
    pub fn new(server: SocketAddr, fingerprint: Option<Fingerprint>) -> Result<QuicDialer, String> {
        let pin = Pin::new(fingerprint);
        let mut crypto = rustls::ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&TLS13])
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(Arc::clone(&pin) as Arc<_>)
            .with_no_client_auth();
        crypto.alpn_protocols = vec![PROTOCOL.to_vec()];
        let crypto = Arc::new(QuicClientConfig::try_from(crypto).map_err(|error| error.to_string())?);
        Ok(QuicDialer { server, endpoints: Mutex::default(), crypto, pin })
    }

    fn endpoint(&self) -> io::Result<Endpoint> {
        let any: IpAddr = match self.server {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let (endpoint, _) = socket::endpoint((any, 0).into(), None)?;
        let mut endpoints = self.endpoints.lock().unwrap_or_else(PoisonError::into_inner);
        endpoints.retain(|endpoint| endpoint.open_connections() > 0);
        endpoints.push(endpoint.clone());
        Ok(endpoint)
    }

    async fn connect(&self, endpoint: &Endpoint) -> Result<Quic, ConnectionError> {
        let choice = Arc::<Choice>::default();
        let mut settings = transport();
        settings
            .max_concurrent_bidi_streams(VarInt::from_u32(1))
            .stream_receive_window(VarInt::from_u32(FLOW_WINDOW_BYTES))
            .receive_window(VarInt::from_u32(FLOW_WINDOW_BYTES))
            .keep_alive_interval(Some(SIGN_OF_LIFE))
            .congestion_controller_factory(Arc::clone(&choice) as Arc<_>);
        let mut config = ClientConfig::new(Arc::clone(&self.crypto) as Arc<_>);
        config.transport_config(Arc::new(settings));
        let connecting =
            endpoint.connect_with(config, self.server, NAME).map_err(|_| ConnectionError::LocallyClosed)?;
        let connection = connecting.await?;
        let streams = connection.accept_bi().await?;
        Ok(Quic::new(connection, streams, choice))
    }
}

impl Drop for QuicDialer {
    /// Waits until the last messages have been sent.
    fn drop(&mut self) {
        let endpoints = std::mem::take(self.endpoints.get_mut().unwrap_or_else(PoisonError::into_inner));
        let _ = RUNTIME.block_on(async {
            timeout(GOODBYE, async {
                for endpoint in &endpoints {
                    endpoint.wait_idle().await;
                }
            })
            .await
        });
    }
}

impl crate::transport::Dialer for QuicDialer {
    fn server(&self) -> SocketAddr {
        self.server
    }

    fn connect(&self) -> Result<Arc<dyn Connection>, Fault> {
        let endpoint = self.endpoint().map_err(|error| Fault::Unreachable(error.to_string()))?;
        match RUNTIME.block_on(async { timeout(PATIENCE, self.connect(&endpoint)).await }) {
            Ok(Ok(connection)) => Ok(Arc::new(connection)),
            Ok(Err(error)) => Err(match (self.pin.take_refused(), &error) {
                (Some(shown), _) => Fault::Unreachable(format!(
                    "its certificate is not the pinned one; it has the fingerprint {shown}"
                )),
                (None, ConnectionError::ConnectionClosed(_) | ConnectionError::ApplicationClosed(_)) => {
                    Fault::Gone(explain(&error))
                }
                (None, _) => Fault::Unreachable(explain(&error)),
            }),
            Err(_) => Err(Fault::Unreachable(
                "no answer; was the server started with --quic, and does UDP get through?".into(),
            )),
        }
    }
}
