//! Who does not know the token, or does not behave, gets nothing and harms nobody, whatever the transport. All over
//! loopback.

mod running;

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::sync::atomic::AtomicBool;
use std::thread::{sleep, spawn};
use std::time::Duration;

use ackclock_measure::client::{self, Slot};
use ackclock_measure::door::Door;
use ackclock_measure::info::Info;
use ackclock_measure::server::Limits;
use ackclock_measure::token::{Conversation, Side, Token, random};
use ackclock_measure::transport::tcp::Tcp;
use ackclock_measure::transport::{Connection, Transport};
use ackclock_measure::wire::{self, Answer, Fault, Request};
use proptest::prelude::*;
use running::{Running, TOKEN, limits};

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
        let running = Running::new(transport, limits());
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
        let outcome = fetch(&running, &Slot { number: 0, seconds: 2, references: 0 }).unwrap();
        // 1 MB/s; the kernel lets the first window out at once, ten segments of 64 kB on loopback, and one or two more.
        let (bytes, due) = (outcome.received_bytes[0] as f64, 1e6 * outcome.seconds);
        assert!(bytes > 0.9 * due && bytes < due + 12.0 * 65_536.0, "{transport:?}: {bytes} of {due}");
    }
}

#[test]
fn what_exceeds_the_limits_is_refused_with_the_reason() {
    for transport in BOTH {
        let running = Running::new(transport, limits());
        let refuse =
            |seconds, references| fetch(&running, &Slot { number: 0, seconds, references }).unwrap_err();
        let address = running.address;
        assert_eq!(refuse(6, 0), format!("{address}: a slot has 1 to 5 s here"));
        assert_eq!(refuse(0, 0), format!("{address}: a slot has 1 to 5 s here"));
        assert_eq!(refuse(1, 3), format!("{address}: at most 2 references here"));
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
        stream.set_read_timeout(Some(Duration::from_secs(8))).unwrap();
        let _ = stream.write_all(bytes);
        let mut heard = Vec::new();
        let _ = stream.read_to_end(&mut heard);
        // One line: who it is, and its challenge.
        assert!(heard.len() < 200 && heard.iter().filter(|byte| **byte == b'\n').count() <= 1);
    }
}

#[test]
fn five_wrong_answers_and_an_address_stays_out() {
    for transport in BOTH {
        let running = Running::new(transport, limits());
        running.still_serves();
        for _ in 0..5 {
            let refused = running.ask(b"some other token!", &Request::Offer).unwrap_err();
            assert_eq!(refused, format!("{}: the server hung up: is it the same token?", running.address));
        }
        running.wait_for("does not know the token");
        // For a while, whatever it knows.
        assert!(running.ask(TOKEN, &Request::Offer).is_err());
        running.wait_for("turned away");
    }
}

#[test]
fn a_proof_is_good_for_one_challenge_and_one_side() {
    let token = Token::new(TOKEN).unwrap();
    let (one, other) = (random(), random());
    let of = |challenges, binding: &[u8]| Conversation { challenges, binding: binding.to_vec() };
    let talk = of([one, other], b"this connection");
    let proof = token.proof(Side::Client, &talk, "request");
    assert!(token.accepts(&proof, Side::Client, &talk, "request"));
    assert!(!token.accepts(&proof, Side::Server, &talk, "request"));
    assert!(!token.accepts(&proof, Side::Client, &of([other, one], b"this connection"), "request"));
    assert!(!token.accepts(&proof, Side::Client, &of([one, other], b"that connection"), "request"));
    // What is bound does not flow into what is said.
    assert!(!token.accepts(&proof, Side::Client, &of([one, other], b"this connectionre"), "quest"));
    assert!(!token.accepts(&proof, Side::Client, &talk, "requesT"));
    assert!(!token.accepts(&proof[..31], Side::Client, &talk, "request"));
    assert!(!token.accepts(&[], Side::Client, &talk, "request"));
    assert!(Token::new(b"  short  ").is_err());
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
        running.wait_for("the flows of the session did not come");
        running.still_serves();
    }
}

#[test]
fn a_server_that_does_not_know_the_token_is_not_believed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let impostor = spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let greeting = format!("{{\"ackclock_measure\":1,\"nonce\":\"{}\"}}\n", hex::encode(random()));
        stream.write_all(greeting.as_bytes()).unwrap();
        wire::read_line(&stream, Duration::from_secs(5)).unwrap();
        let answer = "{\\\"answer\\\":\\\"flow\\\"}";
        let line = format!("{{\"answer\":\"{answer}\",\"proof\":\"{}\"}}\n", hex::encode(random()));
        stream.write_all(line.as_bytes()).unwrap();
    });
    let refused =
        client::ask(&Tcp { server: address }, &Token::new(TOKEN).unwrap(), &Request::Offer).unwrap_err();
    impostor.join().unwrap();
    assert_eq!(refused, format!("{address}: does not know the token"));
}

/// Takes a byte every 100 ms.
#[derive(Debug)]
struct Trickle;

impl Connection for Trickle {
    fn send(&self, data: &[u8], _: Duration) -> io::Result<usize> {
        sleep(Duration::from_millis(100));
        Ok(data.len().min(1))
    }

    fn receive(&self, buffer: &mut [u8], _: Duration) -> io::Result<usize> {
        sleep(Duration::from_millis(100));
        buffer[0] = b'a';
        Ok(1)
    }

    fn binding(&self) -> Vec<u8> {
        Vec::new()
    }

    fn identity(&self) -> Option<String> {
        None
    }

    fn info(&self) -> io::Result<Info> {
        Ok(Info::default())
    }

    fn set_control(&self, _: &str) -> Result<(), String> {
        Ok(())
    }

    fn limit_rate(&self, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn finish(&self) {}

    fn abort(&self) {}
}

#[test]
fn a_line_has_its_time_however_slowly_it_goes() {
    // 500 bytes would take 50 s.
    let gone = |why: &str| Err(Fault::Gone(why.to_owned()));
    assert_eq!(wire::write_line(&Trickle, &"x".repeat(500)), gone("takes nothing"));
    assert_eq!(wire::read_line(&Trickle, Duration::from_secs(1)).map(drop), gone("said nothing in time"));
}

#[test]
fn the_door_has_room_for_so_many() {
    let door = Door::new(4);
    let [one, two, three] = [1, 2, 3].map(|last| IpAddr::V4(Ipv4Addr::new(10, 0, 0, last)));
    let first = door.enter(one).unwrap();
    let second = door.enter(one).unwrap();
    assert!(door.enter(one).is_none(), "one address has half of the room");
    let _others = [door.enter(two).unwrap(), door.enter(two).unwrap()];
    assert!(door.enter(three).is_none(), "no room at all");
    assert_eq!((door.take_turned_away(), door.take_turned_away()), (2, 0));
    drop(first);
    let third = door.enter(three).unwrap();
    (0..5).for_each(|_| third.note_fault());
    drop((second, third));
    assert!(door.enter(three).is_none(), "five faults");
    assert!(door.enter(one).is_some());
    // Many addresses do not make others be remembered for ever, nor forgotten at once.
    (0..5000_u32).for_each(|number| {
        let stranger = door.enter(IpAddr::V4(Ipv4Addr::from(number))).unwrap();
        (0..5).for_each(|_| stranger.note_fault());
    });
    assert!(door.enter(IpAddr::V4(Ipv4Addr::from(4999))).is_none());
    assert!(door.enter(three).is_some(), "the oldest is forgotten");
    // Whoever has an IPv6 network has 2^64 addresses in it.
    let sixes = [0x1_u128, 0x2, 0x1_0000_0000_0000_0001]
        .map(|low| IpAddr::V6(Ipv6Addr::from_bits(0x2001_u128 << 112 | low)));
    let door = Door::new(4);
    let _neighbours = [door.enter(sixes[0]).unwrap(), door.enter(sixes[1]).unwrap()];
    assert!(door.enter(sixes[0]).is_none() && door.enter(sixes[2]).is_some());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a client is told in place of the server's lines, it ends with a line and in time.
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
        server.join().unwrap();
    }
}
