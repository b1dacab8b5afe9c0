//! The secret that client and server share, and how each proves to the other that it knows it.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

/// The number of digits of a token. They are random: a token that a person made up could be guessed from a single
/// conversation.
const DIGITS: usize = 64;
/// Digits that look random have at least this many different ones; fewer happen once in 10^19 tokens.
const LEAST_DIFFERENT: usize = 8;
/// Length of a challenge, bytes.
pub const NONCE_BYTES: usize = 32;

/// A side of a conversation; a proof by one side is not valid for the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The receiver.
    Client,
    /// The sender.
    Server,
}

/// Identifies one conversation among all others.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// The server's challenge and the client's.
    pub challenges: [[u8; NONCE_BYTES]; 2],
    /// A secret of the two ends of the connection, so that a proof is not valid on another connection.
    pub binding: Vec<u8>,
}

/// A shared secret.
#[derive(Clone)]
pub struct Token(Vec<u8>);

impl Token {
    /// A token of these digits, as [`Token::make`] writes them.
    ///
    /// # Errors
    /// One line, when they are anything else.
    pub fn new(digits: &[u8]) -> Result<Token, String> {
        let digits = digits.trim_ascii();
        let is_digit = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
        let different = digits.iter().collect::<BTreeSet<_>>().len();
        if digits.len() != DIGITS || !digits.iter().all(is_digit) || different < LEAST_DIFFERENT {
            return Err(format!(
                "a token is {DIGITS} random hexadecimal digits; ackclock measure token FILE creates one"
            ));
        }
        Ok(Token(digits.to_vec()))
    }

    /// Reads a token's file.
    ///
    /// # Errors
    /// One line, when it cannot be read, others may read it, or it was not made by [`Token::make`].
    pub fn read(file: &Path) -> Result<Token, String> {
        let refuse = |problem: String| format!("{}: {problem}", file.display());
        let metadata = fs::metadata(file).map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                refuse("there is no such token; ackclock measure token creates one".into())
            }
            _ => refuse(error.to_string()),
        })?;
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
        let refuse = |error: std::io::Error| match error.kind() {
            ErrorKind::AlreadyExists => format!("{}: exists already; choose another name", file.display()),
            _ => format!("{}: {error}", file.display()),
        };
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

    /// The marks of the lines that the server writes after a conversation has begun. Their key is derived from the
    /// token and the conversation (as in one step of HKDF, RFC 5869, section 2.3).
    #[must_use]
    pub fn marks(&self, conversation: &Conversation) -> LineMarks {
        let key = self.labelled(b"ackclock-measure lines", conversation).finalize().into_bytes();
        LineMarks { mac: keyed(&key), next: 0 }
    }

    fn mac(&self, side: Side, conversation: &Conversation, message: &str) -> Hmac<Sha256> {
        let label: &[u8] = match side {
            Side::Client => b"ackclock-measure client",
            Side::Server => b"ackclock-measure server",
        };
        let mut mac = self.labelled(label, conversation);
        mac.update(message.as_bytes());
        mac
    }

    fn labelled(&self, label: &[u8], conversation: &Conversation) -> Hmac<Sha256> {
        let mut mac = keyed(&self.0);
        mac.update(label);
        conversation.challenges.iter().for_each(|challenge| mac.update(challenge));
        mac.update(&(conversation.binding.len() as u64).to_be_bytes());
        mac.update(&conversation.binding);
        mac
    }
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("any length is a key")
}

/// Marks lines in order, or checks them: without the token nobody can change, add, leave out or repeat one without
/// being noticed.
#[derive(Clone)]
pub struct LineMarks {
    mac: Hmac<Sha256>,
    /// Number of the next line.
    next: u64,
}

impl LineMarks {
    fn of_next(&mut self, line: &str) -> Hmac<Sha256> {
        let mut mac = self.mac.clone();
        mac.update(&self.next.to_be_bytes());
        mac.update(line.as_bytes());
        self.next += 1;
        mac
    }

    /// The mark of the next line.
    pub fn mark(&mut self, line: &str) -> Vec<u8> {
        self.of_next(line).finalize().into_bytes().to_vec()
    }

    /// Whether `mark` is that of the next line; compared in constant time.
    pub fn accepts(&mut self, mark: &[u8], line: &str) -> bool {
        self.of_next(line).verify_slice(mark).is_ok()
    }
}

impl std::fmt::Debug for LineMarks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LineMarks").field("next", &self.next).finish_non_exhaustive()
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
