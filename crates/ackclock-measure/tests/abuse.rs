//! A client without the token, or that misbehaves, gets nothing and harms nobody, whatever the transport. All over
//! loopback.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep, spawn};
use std::time::Duration;

use ackclock_measure::client::{self, Slot};
use ackclock_measure::clock;
use ackclock_measure::server::Limits;
use ackclock_measure::token::{Token, random};
use ackclock_measure::transport::Transport;
use ackclock_measure::transport::tcp::Tcp;
use ackclock_measure::wire::{self, Answer, Request};
use proptest::prelude::*;

use crate::deadline::{DEADLINE, within};
use crate::running::{OTHER, Running, TOKEN, limits, slow};

const BOTH: [Transport; 2] = [Transport::Tcp, Transport::Quic];

fn fetch(running: &Running, slot: &Slot) -> Result<client::Outcome, String> {
    client::fetch(
        running.dialer().as_ref(),
        &Token::new(TOKEN).unwrap(),
        slot,
        &AtomicBool::new(false),
        |_, _| {},
    )
}

#[test]
fn controls_take_turns() {
    for transport in BOTH {
        let running = Running::new(transport, slow());
        for (number, control) in [(0, "reno"), (1, "cubic"), (2, "reno")] {
            let mut samples = Vec::new();
            let outcome = client::fetch(
                running.dialer().as_ref(),
                &Token::new(TOKEN).unwrap(),
                &Slot { number, seconds: 1, references: 1 },
                &AtomicBool::new(false),
                |name, sample| samples.push((name.to_owned(), sample.clone())),
            )
            .unwrap();
            assert_eq!((outcome.control.as_str(), outcome.complete), (control, true));
            assert!(
                outcome.received_bytes.iter().all(|bytes| *bytes > 0) && outcome.received_bytes.len() == 2
            );
            // Each side once for each flow.
            assert!(samples.len() >= 3 && samples.iter().all(|(name, _)| name == control), "{samples:?}");
        }
        running.wait_for("\"event\":\"slot\"");
    }
}

#[test]
fn a_rate_is_not_exceeded() {
    for transport in BOTH {
        let running = Running::new(transport, Limits { flow_bytes_per_s: Some(1_000_000), ..limits() });
        let is_reached = (0..10).any(|_| {
            let start = clock::now();
            let outcome = fetch(&running, &Slot { number: 0, seconds: 2, references: 0 }).unwrap();
            let (bytes, longest_s) = (outcome.received_bytes[0] as f64, start.elapsed().as_secs_f64());
            // 1 MB/s for as long as sending can have lasted. The kernel lets the first window out at once, ten segments
            // of 64 kB on loopback, and one or two more.
            assert!(bytes < 1e6 * longest_s + 12.0 * 65_536.0, "{transport:?}: {bytes} in {longest_s} s");
            bytes > 0.2 * 1e6 * outcome.seconds
        });
        // Bits for bytes would be an eighth. How near the rate comes depends on how busy the machine is; that a sender in
        // time reaches it is tested in made-up time.
        assert!(is_reached, "{transport:?}: the limit is never nearly reached");
    }
}

#[test]
fn what_exceeds_the_limits_is_refused_with_the_reason() {
    for transport in BOTH {
        let running = Running::new(transport, limits());
        let refuse =
            |seconds, references| fetch(&running, &Slot { number: 0, seconds, references }).unwrap_err();
        let address = running.address;
        assert_eq!(refuse(6, 0), format!("{address}: a slot must be 1 to 5 s long here"));
        assert_eq!(refuse(0, 0), format!("{address}: a slot must be 1 to 5 s long here"));
        assert_eq!(refuse(1, 3), format!("{address}: at most 2 reference flows are allowed here"));
        let request = Request::Flow { session: "none".into(), flow: 0 };
        let refused = running.ask(TOKEN, &request).unwrap_err();
        assert_eq!(refused, format!("{address}: there is no such session"));
    }
}

#[test]
fn strangers_hear_nothing_but_the_challenge() {
    let running = Running::new(Transport::Tcp, limits());
    for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0xff; 10_000], b"{}\n", b"\n"] {
        let mut stream = TcpStream::connect(running.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let _ = stream.write_all(bytes);
        let mut heard = Vec::new();
        let _ = stream.read_to_end(&mut heard);
        // One line: its identity, and its challenge.
        assert!(heard.len() < 200 && heard.iter().filter(|byte| **byte == b'\n').count() <= 1);
    }
}

/// The token has 256 random bits: guessing is hopeless, and a limit on it would lock out all that share the address.
#[test]
fn wrong_answers_do_not_lock_the_right_one_out() {
    for transport in BOTH {
        let running = Running::new(transport, limits());
        let refused = running.ask(OTHER, &Request::Offer).unwrap_err();
        let expected = "the server closed the connection; do both use the same token?";
        assert_eq!(refused, format!("{}: {expected}", running.address));
        running.wait_for("does not know the token");
        // Twenty attempts, of which five are reported individually.
        running.still_serves();
        running.wait_for("turned away");
        assert_eq!(running.log().matches("does not know the token").count(), 5);
    }
}

/// 40 neighbours at the client's address say nothing, and connect again as soon as they are dropped: 1 of 25 clients was
/// served before a place could be taken from a silent one of the same address.
#[test]
fn silent_neighbours_do_not_lock_a_client_out() {
    let running = Running::new(Transport::Tcp, Limits { connections: 64, ..limits() });
    let over = AtomicBool::new(false);
    scope(|scope| {
        for _ in 0..40 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let Ok(mut stream) = TcpStream::connect(running.address) else { continue };
                    stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
                    while !over.load(Ordering::Relaxed) {
                        match stream.read(&mut [0; 256]) {
                            Ok(0) => break,
                            Err(error) if error.kind() != ErrorKind::WouldBlock => break,
                            _ => {}
                        }
                    }
                    // As far away as a neighbour on a real path: on loopback they would take the whole machine.
                    sleep(Duration::from_millis(5));
                }
            });
        }
        // A client on a busy machine may lose its place before it has proved anything; it asks again.
        let ask = || (0..3).any(|_| running.ask(TOKEN, &Request::Offer).is_ok());
        let served = (0..25).filter(|_| ask()).count();
        over.store(true, Ordering::Relaxed);
        assert_eq!(served, 25);
    });
}

#[test]
fn who_stops_reading_or_vanishes_is_forgotten() {
    for transport in BOTH {
        let running = Running::new(transport, limits());
        // Asks for a slot and its flow, and reads neither.
        let request = Request::Session { slot: 0, seconds: 2, references: 0 };
        let (_control, answer) = running.ask(TOKEN, &request).unwrap();
        let Answer::Session { session, .. } = answer else { panic!("{answer:?}") };
        let request = Request::Flow { session, flow: 0 };
        let (_flow, answer) = running.ask(TOKEN, &request).unwrap();
        assert_eq!(answer, Answer::Flow);
        running.still_serves();
        running.wait_for(" of 2 s");
        // Asks for a slot whose flow never comes, and hangs up.
        let request = Request::Session { slot: 1, seconds: 1, references: 0 };
        drop(running.ask(TOKEN, &request).unwrap());
        running.wait_for("the flows of the session did not arrive in time");
        running.still_serves();
    }
}

#[test]
fn a_server_that_does_not_know_the_token_is_not_believed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let impostor = spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let greeting = format!("{{\"ackclock_measure\":2,\"nonce\":\"{}\"}}\n", hex::encode(random()));
        stream.write_all(greeting.as_bytes()).unwrap();
        wire::read_line(&stream, DEADLINE).unwrap();
        let answer = "{\\\"answer\\\":\\\"flow\\\"}";
        let line = format!("{{\"answer\":\"{answer}\",\"proof\":\"{}\"}}\n", hex::encode(random()));
        stream.write_all(line.as_bytes()).unwrap();
    });
    let refused =
        client::ask(&Tcp { server: address }, &Token::new(TOKEN).unwrap(), &Request::Offer).unwrap_err();
    within("the impostor ends", move || impostor.join()).unwrap();
    assert_eq!(refused, format!("{address}: does not know the token"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a client receives in place of the server's lines, it ends with a line and in time.
    #[test]
    fn a_client_survives_any_server(bytes in prop::collection::vec(any::<u8>(), 0..6000)) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.write_all(&bytes);
        });
        let tcp = Tcp { server: address };
        prop_assert!(client::ask(&tcp, &Token::new(TOKEN).unwrap(), &Request::Offer).is_err());
        within("the server ends", move || server.join()).unwrap();
    }
}
