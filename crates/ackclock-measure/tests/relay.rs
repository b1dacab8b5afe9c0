//! Somebody on the path: over TCP it can read and change everything, and nothing of what it writes is believed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::AtomicBool;
use std::thread::{scope, sleep, spawn};
use std::time::Duration;

use ackclock_measure::client::{self, Outcome, Sample, Slot};
use ackclock_measure::info::Info;
use ackclock_measure::session::{FlowReport, Line};
use ackclock_measure::token::{Side, Token};
use ackclock_measure::transport::Transport;
use ackclock_measure::transport::tcp::Tcp;
use ackclock_measure::wire;

use crate::running::{Running, TOKEN, slow};

/// What becomes of line `number` of the first connection's server, counted from 0: greeting, answer, then reports.
type Change = fn(number: usize, line: String) -> Vec<String>;

/// Stands between clients and `server`; returns its own address.
fn relay(server: SocketAddr, change: Change) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    spawn(move || {
        for (number, client) in listener.incoming().enumerate() {
            let (client, server) = (client.unwrap(), TcpStream::connect(server).unwrap());
            let (mut up, mut upper) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            spawn(move || std::io::copy(&mut up, &mut upper));
            spawn(move || pass(server, client, (number == 0).then_some(change)));
        }
    });
    address
}

fn pass(mut server: TcpStream, mut client: TcpStream, change: Option<Change>) {
    if let Some(change) = change {
        for (number, line) in BufReader::new(&server).lines().map_while(Result::ok).enumerate() {
            for line in change(number, line) {
                if writeln!(client, "{line}").is_err() {
                    return;
                }
            }
        }
    } else {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(length @ 1..) = server.read(&mut buffer)
            && client.write_all(&buffer[..length]).is_ok()
        {}
    }
    let _ = client.shutdown(std::net::Shutdown::Both);
}

/// Stands between clients and `server`, and cuts every flow after half a second; returns its own address.
fn cutter(server: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    spawn(move || {
        for (number, client) in listener.incoming().enumerate() {
            let (client, server) = (client.unwrap(), TcpStream::connect(server).unwrap());
            let (mut up, mut upper) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            spawn(move || std::io::copy(&mut up, &mut upper));
            if number > 0 {
                let ends = [client.try_clone().unwrap(), server.try_clone().unwrap()];
                spawn(move || {
                    sleep(Duration::from_millis(500));
                    ends.map(|end| end.shutdown(std::net::Shutdown::Both))
                });
            }
            spawn(move || pass(server, client, None));
        }
    });
    address
}

/// The server says that the slot has ended, as it does for a whole one; it lasted half a second of 5.
#[test]
fn a_slot_that_is_cut_short_is_not_complete() {
    let running = Running::new(Transport::Tcp, slow());
    let server = cutter(running.address);
    let (token, stop) = (Token::new(TOKEN).unwrap(), AtomicBool::new(false));
    let slot = Slot { number: 0, seconds: 5, references: 0 };
    let outcome = client::fetch(&Tcp { server }, &token, &slot, &stop, |_, _| {}).unwrap();
    assert!(!outcome.complete, "{outcome:?}");
}

/// Fetches a slot of 2 s with one reference flow through a relay; also what the server's samples said.
fn fetch(change: Change) -> (Result<Outcome, String>, Vec<Sample>) {
    let running = Running::new(Transport::Tcp, slow());
    let server = relay(running.address, change);
    let (token, stop) = (Token::new(TOKEN).unwrap(), AtomicBool::new(false));
    let mut heard = Vec::new();
    let slot = Slot { number: 0, seconds: 2, references: 1 };
    let outcome = client::fetch(&Tcp { server }, &token, &slot, &stop, |_, sample| {
        if sample.side == Side::Server {
            heard.push(sample.clone());
        }
    });
    (outcome, heard)
}

fn as_it_is(line: String) -> Vec<String> {
    vec![line]
}

#[test]
fn a_relay_that_only_passes_on_is_not_noticed() {
    let (outcome, heard) = fetch(|_, line| as_it_is(line));
    assert!(outcome.unwrap().complete);
    assert_eq!(heard.len(), 4); // Two flows, two seconds.
}

/// Rewritten, repeated, left out, in another order, made up: none of it is believed, and the slot is not complete.
#[test]
fn nothing_that_a_relay_writes_is_believed() {
    let changes: [Change; 5] = [
        |number, line| {
            as_it_is(if number == 3 { line.replace("\"rtt_ms\":", "\"rtt_ms\":6666") } else { line })
        },
        |number, line| if number == 3 { vec![line.clone(), line] } else { as_it_is(line) },
        |number, line| if number == 3 { Vec::new() } else { as_it_is(line) },
        |number, line| as_it_is(if number == 3 { line[..10].to_owned() } else { line }),
        |number, line| {
            let forged = format!("{} {{\"tell\":\"end\",\"seconds\":2}}", "0".repeat(64));
            if number == 2 { vec![forged, line] } else { as_it_is(line) }
        },
    ];
    scope(|scope| {
        let fetching = changes.map(|change| scope.spawn(move || fetch(change)));
        for (number, thread) in fetching.into_iter().enumerate() {
            let (outcome, heard) = thread.join().unwrap();
            let refused = outcome.unwrap_err();
            assert!(refused.ends_with("somebody on the path has changed what the server wrote"), "{refused}");
            assert!(heard.len() <= 2 && heard.iter().all(|sample| sample.info.rtt_ms < 6666.0), "{number}");
        }
    });
}

/// 400 000 lines in a slot of 2 s used to become a client's log of 106 MB.
#[test]
fn a_flood_of_lines_ends_the_slot() {
    let (outcome, heard) =
        fetch(|number, line| if number == 2 { vec![line; 400_000] } else { as_it_is(line) });
    assert!(outcome.is_err());
    assert_eq!(heard.len(), 1);
}

/// Tells lines of its own, as a server that knows the token does. The slot is one of 60 s with two flows.
fn outcome_of(lines: impl Iterator<Item = Line> + Send + 'static) -> (Result<Outcome, String>, usize) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = listener.local_addr().unwrap();
    let token = Token::new(TOKEN).unwrap();
    let own = token.clone();
    let mut lines = Some(lines);
    spawn(move || {
        let door = ackclock_measure::door::Door::new(8);
        let mut held = Vec::new();
        for number in 0..3 {
            let (stream, address) = listener.accept().unwrap();
            let exchange = wire::hear(&stream, &own, &door.enter(address.ip()).unwrap()).unwrap();
            let answer = match number {
                0 => wire::Answer::Session { session: "one".into(), control: "reno".into() },
                _ => wire::Answer::Flow,
            };
            exchange.answer(&stream, &own, &answer).unwrap();
            held.push((stream, exchange.marks(&own)));
        }
        let (stream, mut marks) = held.remove(0);
        for line in lines.take().into_iter().flatten() {
            if wire::write_marked(&stream, &mut marks, &line).is_err() {
                break;
            }
        }
    });
    let (slot, stop) = (Slot { number: 0, seconds: 60, references: 1 }, AtomicBool::new(false));
    let mut heard = 0;
    let outcome = client::fetch(&Tcp { server }, &token, &slot, &stop, |_, sample| {
        heard += usize::from(sample.side == Side::Server);
    });
    (outcome, heard)
}

fn of_flow(flow: u32) -> Line {
    Line::Flow(FlowReport { second: 1.0, flow, info: Info::default() })
}

/// Whoever knows the token may still be broken: a line per flow and second is what a client takes.
#[test]
fn a_server_tells_of_its_flows_once_a_second() {
    let nonsense = "does not speak the protocol of ackclock measure";
    let (outcome, heard) = outcome_of(std::iter::repeat_with(|| of_flow(1)));
    assert!(outcome.unwrap_err().ends_with(nonsense));
    // Two flows, three seconds ahead, and the last line; more only for each second that passed meanwhile.
    assert!((7..=7 + 2 * 60).contains(&heard), "{heard}");
    let (outcome, heard) = outcome_of([of_flow(0), of_flow(2)].into_iter());
    assert!(outcome.unwrap_err().ends_with(nonsense));
    assert_eq!(heard, 1);
}
