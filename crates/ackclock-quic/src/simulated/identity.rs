//! The certificate and TLS settings by which the ends know each other, the same for all flows of a process.

use std::sync::{Arc, OnceLock};

use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use rcgen::{CertificateParams, KeyPair, PKCS_ED25519, SerialNumber};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ClientConfig, RootCertStore, ServerConfig};

/// The server's name.
pub const NAME: &str = "ackclock";

/// Both sides' TLS.
#[derive(Clone)]
pub struct Identity {
    /// The receiver's.
    pub server: Arc<QuicServerConfig>,
    /// The sender's.
    pub client: Arc<QuicClientConfig>,
}

/// The identity of this process.
///
/// # Errors
/// One line, when the system provides no randomness for a key.
pub fn identity() -> Result<Identity, String> {
    static IDENTITY: OnceLock<Result<Identity, String>> = OnceLock::new();
    IDENTITY.get_or_init(|| make().map_err(|error| format!("no certificate: {error}"))).clone()
}

fn make() -> Result<Identity, Box<dyn std::error::Error>> {
    // Ed25519 and a fixed serial number: certificate and signatures have the same length in every run.
    let key = KeyPair::generate_for(&PKCS_ED25519)?;
    let mut params = CertificateParams::new([NAME.to_owned()])?;
    params.serial_number = Some(SerialNumber::from(1_u64));
    let certificate = params.self_signed(&key)?.der().clone();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let server = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], PrivatePkcs8KeyDer::from(key.serialize_der()).into())?;
    let mut trusted = RootCertStore::empty();
    trusted.add(certificate)?;
    let client = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_root_certificates(trusted)
        .with_no_client_auth();
    Ok(Identity {
        server: Arc::new(QuicServerConfig::try_from(server)?),
        client: Arc::new(QuicClientConfig::try_from(client)?),
    })
}
