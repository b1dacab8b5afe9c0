//! The secret that client and server share, and how each proves to the other that it knows it.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Shortest token, bytes.
const SHORTEST: usize = 16;
/// Length of a challenge, bytes.
pub const NONCE_BYTES: usize = 32;

/// The side that proves; a proof by one side is not valid for the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The receiver.
    Client,
    /// The sender.
    Server,
}

/// What distinguishes one conversation from all others.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// The server's challenge and the client's.
    pub challenges: [[u8; NONCE_BYTES]; 2],
    /// What only the two ends of the connection know, so that a proof is not valid on another connection.
    pub binding: Vec<u8>,
}

/// A shared secret.
#[derive(Clone)]
pub struct Token(Vec<u8>);

impl Token {
    /// A token of these bytes.
    ///
    /// # Errors
    /// One line, when they are too few.
    pub fn new(bytes: &[u8]) -> Result<Token, String> {
        let bytes = bytes.trim_ascii();
        if bytes.len() < SHORTEST {
            return Err(format!(
                "a token has at least {SHORTEST} characters; ackclock measure token FILE creates one"
            ));
        }
        Ok(Token(bytes.to_vec()))
    }

    /// Reads a token's file.
    ///
    /// # Errors
    /// One line, when it cannot be read, others may read it, or it is too short.
    pub fn read(file: &Path) -> Result<Token, String> {
        let refuse = |problem: String| format!("{}: {problem}", file.display());
        let metadata = fs::metadata(file).map_err(|error| refuse(error.to_string()))?;
        if metadata.mode() & 0o077 != 0 {
            return Err(refuse("readable by others; run chmod 600 on it".into()));
        }
        let bytes = fs::read(file).map_err(|error| refuse(error.to_string()))?;
        Token::new(&bytes).map_err(refuse)
    }

    /// Creates a token in a new file that only its owner may read.
    ///
    /// # Errors
    /// One line, when the file exists or cannot be written.
    pub fn make(file: &Path) -> Result<(), String> {
        let refuse = |error: std::io::Error| format!("{}: {error}", file.display());
        let mut open = OpenOptions::new();
        let mut output = open.write(true).create_new(true).mode(0o600).open(file).map_err(refuse)?;
        writeln!(output, "{}", hex::encode(random())).map_err(refuse)
    }

    /// The proof of `side` for `message` in a conversation: HMAC-SHA256 (RFC 2104).
    #[must_use]
    pub fn proof(&self, side: Side, conversation: &Conversation, message: &str) -> Vec<u8> {
        self.mac(side, conversation, message).finalize().into_bytes().to_vec()
    }

    /// Whether `proof` is that of `side`; compared in constant time.
    #[must_use]
    pub fn accepts(&self, proof: &[u8], side: Side, conversation: &Conversation, message: &str) -> bool {
        self.mac(side, conversation, message).verify_slice(proof).is_ok()
    }

    fn mac(&self, side: Side, conversation: &Conversation, message: &str) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("any length is a key");
        mac.update(match side {
            Side::Client => b"ackclock-measure client",
            Side::Server => b"ackclock-measure server",
        });
        conversation.challenges.iter().for_each(|challenge| mac.update(challenge));
        mac.update(&(conversation.binding.len() as u64).to_be_bytes());
        mac.update(&conversation.binding);
        mac.update(message.as_bytes());
        mac
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

/// Unpredictable bytes.
///
/// # Panics
/// When the operating system has no random numbers, as may happen early at boot.
#[must_use]
pub fn random() -> [u8; NONCE_BYTES] {
    let mut bytes = [0; NONCE_BYTES];
    getrandom::fill(&mut bytes).expect("the machine has random bytes");
    bytes
}
