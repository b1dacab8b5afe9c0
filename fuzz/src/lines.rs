//! Lines of the network. An end without the token is neither heard nor believed, whatever it says. One with it may
//! say anything: it is understood or not, and nothing else happens.
#![no_main]

mod peer;

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use ackclock_measure::door::{Door, Permit};
use ackclock_measure::fault::Fault;
use ackclock_measure::session::Line;
use ackclock_measure::token::{Conversation, Side, Token};
use ackclock_measure::wire::{self, Answer, LONGEST_LINE, Lines, PROTOCOL, Request};
use libfuzzer_sys::fuzz_target;
use peer::Peer;
use serde_json::{Value, json};

const DIGITS: &[u8] = b"fedcba98765432100123456789abcdef00112233445566778899aabbccddeeff";
const NONCE: [u8; 32] = [7; 32];
const PATIENCE: Duration = Duration::from_secs(1);

fn permit() -> Permit {
    Door::new(2).enter(IpAddr::V4(Ipv4Addr::LOCALHOST)).expect("a place")
}

fn line(content: &Value) -> Vec<u8> {
    format!("{content}\n").into_bytes()
}

/// The challenge in what a peer has sent.
fn nonce(heard: &[u8]) -> [u8; 32] {
    let line: Value = serde_json::from_slice(heard).expect("our own lines are JSON");
    let bytes = hex::decode(line["nonce"].as_str().expect("a challenge")).expect("digits");
    bytes.try_into().expect("32 bytes")
}

fn conversation(server: [u8; 32], client: [u8; 32]) -> Conversation {
    Conversation { challenges: [server, client], binding: Vec::new() }
}

/// Bytes of a stranger, to a server, to a client, and in the place of marked lines.
fn strange(bytes: &[u8], token: &Token) {
    assert!(wire::hear(&Peer::deaf(bytes), token, &permit()).is_err());
    assert!(wire::ask(&Peer::deaf(bytes), token, &Request::Offer).is_err());
    let mut marks = token.marks(&conversation(NONCE, NONCE));
    let connection = Peer::deaf(bytes);
    assert!(Lines::new(&connection).read_marked::<Line>(&mut marks, PATIENCE).is_err());
    let connection = Peer::deaf(bytes);
    let mut reading = Lines::new(&connection);
    while let Ok(line) = reading.read(PATIENCE) {
        // The last portion may be a little longer than what was left.
        assert!(line.len() <= LONGEST_LINE + 7);
    }
}

/// A text of an end that knows the token: a request, an answer, and a line about a flow.
fn known(text: &str, token: &Token) {
    let fits = text.len() <= LONGEST_LINE / 8;
    let client = Peer::new(|turn, heard| {
        if turn > 0 {
            return Vec::new();
        }
        let proof = token.proof(Side::Client, &conversation(nonce(heard), NONCE), text);
        line(&json!({ "nonce": hex::encode(NONCE), "request": text, "proof": hex::encode(proof) }))
    });
    let request = serde_json::from_str::<Request>(text);
    match wire::hear(&client, token, &permit()) {
        Ok(asked) => assert_eq!(asked.request, request.expect("it was understood")),
        Err(fault) => assert!(fault == Fault::Nonsense && (request.is_err() || !fits), "{fault}"),
    }

    let server = Peer::new(|turn, heard| match turn {
        0 => line(&json!({ "ackclock_measure": PROTOCOL, "nonce": hex::encode(NONCE) })),
        1 => {
            let proof = token.proof(Side::Server, &conversation(NONCE, nonce(heard)), text);
            line(&json!({ "answer": text, "proof": hex::encode(proof) }))
        }
        _ => Vec::new(),
    });
    let answer = serde_json::from_str::<Answer>(text).map_err(|_| Fault::Nonsense).and_then(Answer::readable);
    match wire::ask(&server, token, &Request::Offer) {
        Ok((heard, _)) => {
            let reason = if let Answer::Refused { why } = &heard { why.as_str() } else { "" };
            assert!(!reason.contains(char::is_control), "a terminal would obey it");
            assert_eq!(heard, answer.expect("it was understood"));
        }
        Err(fault) => assert!(fault == Fault::Nonsense && (answer.is_err() || !fits), "{fault}"),
    }

    if text.contains('\n') {
        return;
    }
    let both = conversation(NONCE, NONCE);
    let marked = format!("{} {text}\n", hex::encode(token.marks(&both).mark(text)));
    let connection = Peer::deaf(marked.as_bytes());
    match Lines::new(&connection).read_marked::<Line>(&mut token.marks(&both), PATIENCE) {
        Ok(line) => {
            let again = serde_json::to_string(&line).expect("a line is JSON");
            assert_eq!(serde_json::from_str::<Line>(&again).expect("what was written can be read"), line);
        }
        Err(fault) => assert_eq!(fault, Fault::Nonsense),
    }
}

fuzz_target!(|data: &[u8]| {
    let token = Token::new(DIGITS).expect("a token");
    strange(data, &token);
    if let Ok(text) = std::str::from_utf8(data) {
        known(text, &token);
    }
});
