//! The client's side of QUIC.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use quinn::crypto::rustls::QuicClientConfig;
use quinn::rustls::crypto::ring;
use quinn::rustls::version::TLS13;
use quinn::{ClientConfig, ConnectionError, Endpoint, VarInt, rustls};
use tokio::time::timeout;

use super::connection::Quic;
use super::control::Choice;
use super::identity::{Fingerprint, Pin};
use super::socket;
use super::{FLOW_WINDOW_BYTES, NAME, PROTOCOL, RUNTIME, SIGN_OF_LIFE, transport};
use crate::transport::Connection;
use crate::wire::PATIENCE;

/// Connects by QUIC.
pub struct Dialer {
    server: SocketAddr,
    endpoint: Endpoint,
    crypto: Arc<QuicClientConfig>,
    pin: Arc<Pin>,
}

impl Dialer {
    /// For the server with this fingerprint; for any while none is known.
    ///
    /// # Errors
    /// One line, when this machine gives no socket.
    pub fn new(server: SocketAddr, fingerprint: Option<Fingerprint>) -> Result<Dialer, String> {
        let pin = Pin::new(fingerprint);
        let mut crypto = rustls::ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&TLS13])
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(Arc::clone(&pin) as Arc<_>)
            .with_no_client_auth();
        crypto.alpn_protocols = vec![PROTOCOL.to_vec()];
        let crypto = Arc::new(QuicClientConfig::try_from(crypto).map_err(|error| error.to_string())?);
        let any: IpAddr =
            if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let (endpoint, _) = socket::endpoint((any, 0).into(), None).map_err(|error| error.to_string())?;
        Ok(Dialer { server, endpoint, crypto, pin })
    }

    async fn connect(&self) -> Result<Quic, ConnectionError> {
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
        // The name is valid and the endpoint open, so that only the other end can refuse.
        let connecting = self
            .endpoint
            .connect_with(config, self.server, NAME)
            .map_err(|_| ConnectionError::LocallyClosed)?;
        let connection = connecting.await?;
        let streams = connection.accept_bi().await?;
        Ok(Quic::new(connection, streams, choice))
    }
}

impl crate::transport::Dialer for Dialer {
    fn server(&self) -> SocketAddr {
        self.server
    }

    fn connect(&self) -> Result<Arc<dyn Connection>, String> {
        match RUNTIME.block_on(async { timeout(PATIENCE, self.connect()).await }) {
            Ok(Ok(connection)) => Ok(Arc::new(connection)),
            Ok(Err(error)) => Err(match self.pin.refused() {
                Some(shown) => {
                    format!("shows another certificate than the pinned one, with fingerprint {shown}")
                }
                None => error.to_string(),
            }),
            Err(_) => {
                Err("no answer; is it a server of QUIC (serve --quic), and does UDP get through?".into())
            }
        }
    }
}
