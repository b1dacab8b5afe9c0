//! The server's identity: a certificate that it creates at its first start, and that clients know by its fingerprint.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use quinn::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use quinn::rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use quinn::rustls::pki_types::pem::PemObject;
use quinn::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use quinn::rustls::{DigitallySignedStruct, Error, SignatureScheme};
use rcgen::{CertificateParams, KeyPair, PKCS_ED25519};
use sha2::{Digest, Sha256};

use super::NAME;

/// SHA-256 of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// That of a certificate.
    #[must_use]
    pub fn of(certificate: &CertificateDer<'_>) -> Fingerprint {
        Fingerprint(Sha256::digest(certificate).into())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl FromStr for Fingerprint {
    type Err = String;

    /// Reads 64 hexadecimal digits, with colons or without, as printed by this program and by
    /// `openssl x509 -fingerprint -sha256`.
    fn from_str(text: &str) -> Result<Fingerprint, String> {
        let digits: String = text.chars().filter(|character| *character != ':').collect();
        let bytes = hex::decode(digits).ok().and_then(|bytes| bytes.try_into().ok());
        bytes.map(Fingerprint).ok_or_else(|| "a fingerprint has 64 hexadecimal digits".to_owned())
    }
}

/// A certificate and its key.
#[derive(Debug)]
pub struct Identity {
    pub(super) certificate: CertificateDer<'static>,
    pub(super) key: PrivateKeyDer<'static>,
}

impl Identity {
    /// Reads an identity from a PEM file, which is created if it does not exist.
    ///
    /// # Errors
    /// One line, when it cannot be read or created, or is readable by others.
    pub fn open(file: &Path) -> Result<Identity, String> {
        let refuse = |problem: &dyn fmt::Display| format!("{}: {problem}", file.display());
        match fs::metadata(file) {
            Ok(metadata) if metadata.mode() & 0o077 != 0 => {
                return Err(refuse(&"readable by others; run chmod 600 on it"));
            }
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {
                make(file).map_err(|error| refuse(&error))?
            }
            Err(error) => return Err(refuse(&error)),
        }
        let text = fs::read(file).map_err(|error| refuse(&error))?;
        let certificate = CertificateDer::from_pem_slice(&text).map_err(|error| refuse(&error))?;
        let key = PrivateKeyDer::from_pem_slice(&text).map_err(|error| refuse(&error))?;
        Ok(Identity { certificate, key })
    }

    /// The fingerprint by which clients know it.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.certificate)
    }
}

/// Creates an identity's file, readable by its owner only, whole or not at all, unless another process was faster.
fn make(file: &Path) -> Result<(), String> {
    let key = KeyPair::generate_for(&PKCS_ED25519).map_err(|error| error.to_string())?;
    let parameters = CertificateParams::new([NAME.to_owned()]).map_err(|error| error.to_string())?;
    let certificate = parameters.self_signed(&key).map_err(|error| error.to_string())?;
    let mut draft = file.as_os_str().to_owned();
    draft.push(format!(".{}", std::process::id()));
    let mut open = OpenOptions::new();
    let text = certificate.pem() + &key.serialize_pem();
    let outcome = open
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)
        .and_then(|mut output| output.write_all(text.as_bytes()).and_then(|()| output.sync_all()))
        .and_then(|()| match fs::hard_link(&draft, file) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            other => other,
        })
        .map_err(|error| error.to_string());
    let _ = fs::remove_file(&draft);
    outcome
}

/// Accepts the server with one fingerprint, or any server while none is known: then the token has to authenticate it.
#[derive(Debug)]
pub struct Pin {
    expected: Option<Fingerprint>,
    refused: Mutex<Option<Fingerprint>>,
    provider: Arc<CryptoProvider>,
}

impl Pin {
    /// For the server with this fingerprint.
    #[must_use]
    pub fn new(expected: Option<Fingerprint>) -> Arc<Pin> {
        Arc::new(Pin { expected, refused: Mutex::default(), provider: Arc::new(ring::default_provider()) })
    }

    /// Takes the fingerprint that was refused since the last call.
    #[must_use]
    pub fn take_refused(&self) -> Option<Fingerprint> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl ServerCertVerifier for Pin {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let shown = Fingerprint::of(end_entity);
        if self.expected.is_some_and(|expected| expected != shown) {
            *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(shown);
            return Err(Error::General("not the pinned certificate".into()));
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("QUIC has TLS 1.3".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
