//! The protocol of client and server: lines of JSON, bounded in length and time.
//!
//! The server begins with a challenge. The client answers with a challenge of its own, a request, and the proof that it
//! knows the token; the server replies with its proof and an answer. Without the client's proof the server says nothing
//! more. Every line after its answer has a mark ([`LineMarks`]), so that nobody on the path can write in its place.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::clock;
use crate::door::Permit;
use crate::fault::Fault;
use crate::token::{Conversation, LineMarks, NONCE_BYTES, Side, Token, random};
use crate::transport::Connection;

/// Version of the protocol.
pub const PROTOCOL: u32 = 2;
/// Longest line, bytes.
pub const LONGEST_LINE: usize = 4096;
/// Longest name of a control or a session, bytes.
const LONGEST_NAME: usize = 64;
/// How long a line may take.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// The request of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// The offer of the server.
    Offer,
    /// A slot of a campaign, with the control whose turn it is.
    Session {
        /// Number of the slot, which decides the control.
        slot: u64,
        /// Its length, seconds.
        seconds: u64,
        /// Number of Reno flows alongside it, to measure the bandwidth that it takes from them.
        references: u32,
    },
    /// This connection is one of a session's flows.
    Flow {
        /// The session.
        session: String,
        /// Number of the flow: 0 uses the control, the others are references.
        flow: u32,
    },
}

/// The server's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// Its offer.
    Offer {
        /// Controls, in the order in which they take turns.
        controls: Vec<String>,
        /// Longest slot, seconds.
        longest_slot_s: u64,
        /// Maximum number of reference flows.
        most_references: u32,
    },
    /// A session has been set up and waits for its flows.
    Session {
        /// Its name.
        session: String,
        /// The control whose turn it is.
        control: String,
    },
    /// Data follow.
    Flow,
    /// The request is refused.
    Refused {
        /// The reason, in one line.
        why: String,
    },
}

impl Answer {
    /// The answer in a form that a terminal shows as it is: control characters in a reason are escaped, and a name that
    /// no control can have is a violation of the protocol.
    ///
    /// # Errors
    /// [`Fault::Nonsense`], for a control or a session with such a name.
    pub fn readable(self) -> Result<Answer, Fault> {
        let is_name = |name: &str| {
            let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_-+.".contains(&byte);
            let begins_well = name.starts_with(|character: char| character.is_ascii_alphanumeric());
            begins_well && name.len() <= LONGEST_NAME && name.bytes().all(is_part)
        };
        let is_readable = match &self {
            Answer::Offer { controls, .. } => controls.iter().all(|name| is_name(name)),
            Answer::Session { session, control } => is_name(session) && is_name(control),
            Answer::Flow => true,
            Answer::Refused { why } => return Ok(Answer::Refused { why: escaped(why) }),
        };
        if is_readable { Ok(self) } else { Err(Fault::Nonsense) }
    }
}

/// A text without characters that a terminal would obey or not show.
fn escaped(text: &str) -> String {
    let escape = |character: char| match character {
        '\'' | '"' | '\\' => character.to_string(),
        _ => character.escape_debug().to_string(),
    };
    text.chars().map(escape).collect()
}

#[derive(Serialize, Deserialize)]
struct Greeting {
    ackclock_measure: u32,
    nonce: String,
}

#[derive(Serialize, Deserialize)]
struct Asking {
    nonce: String,
    request: String,
    proof: String,
}

#[derive(Serialize, Deserialize)]
struct Answering {
    answer: String,
    proof: String,
}

/// Reads lines from a connection.
pub struct Lines<'a> {
    connection: &'a dyn Connection,
    /// Most bytes read at once.
    portion: usize,
    /// Bytes that arrived after the last line.
    rest: Vec<u8>,
}

impl<'a> Lines<'a> {
    /// Lines of `connection` from now on; bytes after the last line that is read may be lost.
    #[must_use]
    pub fn new(connection: &'a dyn Connection) -> Lines<'a> {
        Lines { connection, portion: LONGEST_LINE, rest: Vec::new() }
    }

    /// Reads a line, which must be complete within `patience`.
    ///
    /// # Errors
    /// When it is too long, too late, or the connection ends.
    pub fn read(&mut self, patience: Duration) -> Result<String, Fault> {
        let end = clock::now() + patience;
        let mut looked_at = 0;
        loop {
            if let Some(length) = self.rest[looked_at..].iter().position(|byte| *byte == b'\n') {
                let mut line: Vec<u8> = self.rest.drain(..=looked_at + length).collect();
                line.pop();
                return String::from_utf8(line).map_err(|_| Fault::Nonsense);
            }
            looked_at = self.rest.len();
            if looked_at > LONGEST_LINE {
                return Err(Fault::Nonsense);
            }
            let mut portion = [0; LONGEST_LINE];
            match self.connection.receive(&mut portion[..self.portion], left(end)?) {
                Ok(0) => return Err(Fault::Gone("closed the connection".into())),
                Ok(length) => self.rest.extend_from_slice(&portion[..length]),
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(Fault::Gone(error.to_string())),
            }
        }
    }
}

impl Lines<'_> {
    /// Reads a line that must bear the next of `marks`, and be complete within `patience`.
    ///
    /// # Errors
    /// As [`Lines::read`], and [`Fault::Forged`].
    pub fn read_marked<T: DeserializeOwned>(
        &mut self,
        marks: &mut LineMarks,
        patience: Duration,
    ) -> Result<T, Fault> {
        let line = self.read(patience)?;
        let (mark, text) = line.split_once(' ').ok_or(Fault::Forged)?;
        let mark = hex::decode(mark).map_err(|_| Fault::Forged)?;
        if marks.accepts(&mark, text) { parse(text) } else { Err(Fault::Forged) }
    }
}

/// The time left until `end`.
fn left(end: Instant) -> Result<Duration, Fault> {
    let left = end.saturating_duration_since(clock::now());
    if left.is_zero() { Err(Fault::Gone("did not answer in time".into())) } else { Ok(left) }
}

/// Whether an error is temporary.
fn is_passing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// Reads a line, which must be complete within `patience`, and no byte after it.
///
/// # Errors
/// When it is too long, too late, or the connection ends.
pub fn read_line(connection: &dyn Connection, patience: Duration) -> Result<String, Fault> {
    Lines { connection, portion: 1, rest: Vec::new() }.read(patience)
}

/// Writes a line.
///
/// # Errors
/// When the connection fails or does not accept the whole line in time.
pub fn write_line(connection: &dyn Connection, line: &impl Serialize) -> Result<(), Fault> {
    write_text(connection, &serde_json::to_string(line).map_err(|_| Fault::Nonsense)?)
}

/// Writes a line with the next of `marks` before it.
///
/// # Errors
/// As [`write_line`].
pub fn write_marked(
    connection: &dyn Connection,
    marks: &mut LineMarks,
    line: &impl Serialize,
) -> Result<(), Fault> {
    let text = serde_json::to_string(line).map_err(|_| Fault::Nonsense)?;
    let mark = hex::encode(marks.mark(&text));
    write_text(connection, &format!("{mark} {text}"))
}

fn write_text(connection: &dyn Connection, text: &str) -> Result<(), Fault> {
    let text = format!("{text}\n");
    let end = clock::now() + PATIENCE;
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        match connection.send(rest, left(end).map_err(|_| Fault::Gone("does not read what is sent".into()))?)
        {
            Ok(0) => return Err(Fault::Gone("does not read what is sent".into())),
            Ok(length) => rest = &rest[length..],
            Err(error) if is_passing(&error) => {}
            Err(error) => return Err(Fault::Gone(error.to_string())),
        }
    }
    Ok(())
}

fn parse<T: DeserializeOwned>(line: &str) -> Result<T, Fault> {
    serde_json::from_str(line).map_err(|_| Fault::Nonsense)
}

fn nonce(text: &str) -> Result<[u8; NONCE_BYTES], Fault> {
    let bytes = hex::decode(text).map_err(|_| Fault::Nonsense)?;
    bytes.try_into().map_err(|_| Fault::Nonsense)
}

fn bytes(text: &str) -> Result<Vec<u8>, Fault> {
    hex::decode(text).map_err(|_| Fault::Nonsense)
}

/// The data with which the server proves itself in its answer.
#[derive(Debug)]
pub struct Exchange {
    /// The client's request.
    pub request: Request,
    conversation: Conversation,
}

/// The server's part: challenges the client and reads its request.
///
/// # Errors
/// When the client does not know the token or violates the protocol.
pub fn hear(connection: &dyn Connection, token: &Token, permit: &Permit) -> Result<Exchange, Fault> {
    let own = random();
    write_line(connection, &Greeting { ackclock_measure: PROTOCOL, nonce: hex::encode(own) })?;
    let asking: Asking = parse(&read_line(connection, PATIENCE)?)?;
    let conversation =
        Conversation { challenges: [own, nonce(&asking.nonce)?], binding: connection.binding() };
    let proof = bytes(&asking.proof)?;
    if !token.accepts(&proof, Side::Client, &conversation, &asking.request) {
        return Err(Fault::Stranger);
    }
    permit.prove();
    Ok(Exchange { request: parse(&asking.request)?, conversation })
}

impl Exchange {
    /// Marks for the lines that follow the answer.
    #[must_use]
    pub fn marks(&self, token: &Token) -> LineMarks {
        token.marks(&self.conversation)
    }

    /// The server's answer.
    ///
    /// # Errors
    /// When the connection fails.
    pub fn answer(&self, connection: &dyn Connection, token: &Token, answer: &Answer) -> Result<(), Fault> {
        let text = serde_json::to_string(answer).map_err(|_| Fault::Nonsense)?;
        let proof = hex::encode(token.proof(Side::Server, &self.conversation, &text));
        write_line(connection, &Answering { answer: text, proof })
    }
}

/// The client's part: answers the challenge, sends the request, and returns the server's answer with the marks of the
/// lines that follow.
///
/// # Errors
/// When the server does not know the token, or violates the protocol.
pub fn ask(
    connection: &dyn Connection,
    token: &Token,
    request: &Request,
) -> Result<(Answer, LineMarks), Fault> {
    let greeting: Greeting = parse(&read_line(connection, PATIENCE)?)?;
    if greeting.ackclock_measure != PROTOCOL {
        return Err(Fault::Nonsense);
    }
    let own = random();
    let conversation =
        Conversation { challenges: [nonce(&greeting.nonce)?, own], binding: connection.binding() };
    let text = serde_json::to_string(request).map_err(|_| Fault::Nonsense)?;
    let proof = hex::encode(token.proof(Side::Client, &conversation, &text));
    write_line(connection, &Asking { nonce: hex::encode(own), request: text, proof })?;
    let line = read_line(connection, PATIENCE).map_err(|fault| match fault {
        // The server says nothing to strangers.
        Fault::Gone(_) => Fault::Gone("the server closed the connection; do both use the same token?".into()),
        other => other,
    })?;
    let answering: Answering = parse(&line)?;
    if !token.accepts(&bytes(&answering.proof)?, Side::Server, &conversation, &answering.answer) {
        return Err(Fault::Stranger);
    }
    Ok((parse::<Answer>(&answering.answer)?.readable()?, token.marks(&conversation)))
}
