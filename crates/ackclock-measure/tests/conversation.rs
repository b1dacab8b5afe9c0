//! Proofs, lines and slots as two ends have them, without a server: over loopback, or on connections that the test makes.

use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{sleep, spawn};
use std::time::Duration;

use ackclock_measure::door::Door;
use ackclock_measure::fault::Fault;
use ackclock_measure::info::Info;
use ackclock_measure::session::{FlowReport, Line, Session};
use ackclock_measure::token::{Conversation, Side, Token, random};
use ackclock_measure::transport::Connection;
use ackclock_measure::wire::{self, Answer, Lines, Request};

use crate::deadline;
use crate::deadline::DEADLINE;

const TOKEN: &[u8] = b"a4c123b1612dd272d1371c17149d439536b3216fdaeeb975729fae923d5a4fd1";
const OTHER: &[u8] = b"2aabfe228f219e9cb0eb53f16947ccf25ec84d8dbc74254770f58904dba41ecc";

/// What becomes of the call with this number, which offers this many bytes or has room for them.
type Does = fn(call: usize, length: usize) -> io::Result<usize>;

/// A connection that does what its test says. What it receives is `line`, again and again.
struct Made {
    does: Does,
    calls: AtomicUsize,
    received: AtomicUsize,
}

impl Made {
    fn that(does: Does) -> Arc<dyn Connection> {
        Arc::new(Made { does, calls: AtomicUsize::new(0), received: AtomicUsize::new(0) })
    }

    fn next(&self, length: usize) -> io::Result<usize> {
        (self.does)(self.calls.fetch_add(1, Ordering::Relaxed), length)
    }
}

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Made")
    }
}

impl Connection for Made {
    fn send(&self, data: &[u8], _: Duration) -> io::Result<usize> {
        self.next(data.len())
    }

    fn receive(&self, buffer: &mut [u8], _: Duration) -> io::Result<usize> {
        let length = self.next(buffer.len())?;
        for byte in &mut buffer[..length] {
            *byte = b"line\n"[self.received.fetch_add(1, Ordering::Relaxed) % 5];
        }
        Ok(length)
    }

    fn binding(&self) -> Vec<u8> {
        Vec::new()
    }

    fn identity(&self) -> Option<String> {
        None
    }

    fn info(&self) -> io::Result<Info> {
        Ok(Info { received_bytes: 7, ..Info::default() })
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

type Talk = (Result<(Answer, Line), Fault>, Result<Request, Fault>);

/// What the client hears from a server that answers and writes a line, and what the server says of the client.
fn talk(client: &[u8], server: &[u8], answer: Answer) -> Talk {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let [client, server] = [client, server].map(|token| Token::new(token).unwrap());
    let serving = spawn(move || {
        let (stream, from) = listener.accept().unwrap();
        let exchange = wire::hear(&stream, &server, &Door::new(2).enter(from.ip()).unwrap())?;
        exchange.answer(&stream, &server, &answer)?;
        wire::write_marked(&stream, &mut exchange.marks(&server), &Line::End { seconds: 2.0 })?;
        Ok(exchange.request)
    });
    let stream = TcpStream::connect(address).unwrap();
    let heard = wire::ask(&stream, &client, &Request::Offer).and_then(|(answer, mut marks)| {
        let line = Lines::new(&stream).read_marked(&mut marks, DEADLINE)?;
        Ok((answer, line))
    });
    (heard, serving.join().unwrap())
}

#[test]
fn who_has_the_token_is_heard_and_answered() {
    assert_eq!(
        talk(TOKEN, TOKEN, Answer::Flow),
        (Ok((Answer::Flow, Line::End { seconds: 2.0 })), Ok(Request::Offer))
    );
    let closed = "the server closed the connection; do both use the same token?".to_owned();
    assert_eq!(talk(TOKEN, OTHER, Answer::Flow), (Err(Fault::Gone(closed)), Err(Fault::Stranger)));
    assert_eq!(Fault::Stranger.to_string(), "does not know the token");
}

/// A server that knows the token cannot write to the client's terminal, log or page what it likes.
#[test]
fn what_a_server_names_is_readable() {
    let heard = |answer| talk(TOKEN, TOKEN, answer).0.map(|(answer, _)| answer);
    let offer = |name: &str| Answer::Offer {
        controls: vec!["reno".into(), name.to_owned()],
        longest_slot_s: 1,
        most_references: 0,
    };
    let session = |control: &str| Answer::Session { session: "5f".into(), control: control.to_owned() };
    for name in ["bbr", "bic_linux", "ackclock-fit", "x.y+2"] {
        assert_eq!(heard(offer(name)), Ok(offer(name)));
        assert_eq!(heard(session(name)), Ok(session(name)));
    }
    let long = "x".repeat(65);
    for name in ["", "\u{1b}[2J", "a\nb", "two words", "<img>", "\u{202e}oner", "../x", "..", &long] {
        assert_eq!(heard(offer(name)), Err(Fault::Nonsense), "{name:?}");
        assert_eq!(heard(session(name)), Err(Fault::Nonsense), "{name:?}");
    }
    let refused = |why: &str| Answer::Refused { why: why.to_owned() };
    assert_eq!(
        heard(refused("\u{1b}[2Jit's\n\"ö\" \u{202e}")),
        Ok(refused("\\u{1b}[2Jit's\\n\"ö\" \\u{202e}"))
    );
}

#[test]
fn a_proof_is_good_for_one_challenge_and_one_side() {
    let token = Token::new(TOKEN).unwrap();
    let (first, second) = (random(), random());
    let of = |challenges, binding: &[u8]| Conversation { challenges, binding: binding.to_vec() };
    let talk = of([first, second], b"this connection");
    let proof = token.proof(Side::Client, &talk, "request");
    assert!(token.accepts(&proof, Side::Client, &talk, "request"));
    assert!(!token.accepts(&proof, Side::Server, &talk, "request"));
    assert!(!token.accepts(&proof, Side::Client, &of([second, first], b"this connection"), "request"));
    assert!(!token.accepts(&proof, Side::Client, &of([first, second], b"that connection"), "request"));
    // What is bound does not flow into what is said.
    assert!(!token.accepts(&proof, Side::Client, &of([first, second], b"this connectionre"), "quest"));
    assert!(!token.accepts(&proof, Side::Client, &talk, "requesT"));
    assert!(!token.accepts(&proof[..31], Side::Client, &talk, "request"));
    assert!(!token.accepts(&[], Side::Client, &talk, "request"));
}

/// A mark holds for one line, at one place, of one conversation, by one token.
#[test]
fn a_mark_is_good_for_one_line() {
    let conversation = |last: u8| Conversation { challenges: [[1; 32], [last; 32]], binding: Vec::new() };
    let marks = |token: &[u8], last| Token::new(token).unwrap().marks(&conversation(last));
    let mut writing = marks(TOKEN, 1);
    let (first, second) = (writing.mark("a"), writing.mark("a"));
    assert_ne!(first, second);
    let mut reading = marks(TOKEN, 1);
    assert!(reading.accepts(&first, "a") && reading.accepts(&second, "a"));
    assert!(!marks(TOKEN, 1).accepts(&second, "a"), "another place");
    assert!(!marks(TOKEN, 1).accepts(&first, "b"), "another line");
    assert!(!marks(TOKEN, 2).accepts(&first, "a"), "another conversation");
    assert!(!marks(OTHER, 1).accepts(&first, "a"), "another token");
    assert!(!marks(TOKEN, 1).accepts(&first[..16], "a") && !marks(TOKEN, 1).accepts(&[], "a"));
}

/// Only what `token` makes is a token.
#[test]
fn weak_tokens_are_refused() {
    let hint = "a token is 64 random hexadecimal digits; ackclock measure token FILE creates one";
    let repeated = [b"0123456".repeat(9), b"a".repeat(64), b"0".repeat(64), b"ab".repeat(32)];
    let upper = TOKEN.to_ascii_uppercase();
    for weak in
        [b"correct horse battery staple".to_vec(), TOKEN[..63].to_vec(), upper].iter().chain(&repeated)
    {
        assert_eq!(Token::new(weak).unwrap_err(), hint, "{}", String::from_utf8_lossy(weak));
    }
    let file = std::env::temp_dir().join(format!("ackclock-token-{}", std::process::id()));
    Token::make(&file).unwrap();
    let ended = [TOKEN, b"\n"].concat();
    assert!(Token::read(&file).is_ok() && Token::new(&ended).is_ok());
    std::fs::remove_file(file).unwrap();
}

/// Logs and messages show what they are given.
#[test]
fn a_secret_is_not_shown() {
    let token = Token::new(TOKEN).unwrap();
    let talk = Conversation { challenges: [random(), random()], binding: Vec::new() };
    assert_eq!(format!("{token:?} {:?}", token.marks(&talk)), "Token LineMarks { next: 0, .. }");
}

/// A line that never ends is not a line, however long its reader would wait.
#[test]
fn a_line_has_an_end() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut writing = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (reading, _) = listener.accept().unwrap();
    let longest = "x".repeat(wire::LONGEST_LINE);
    writeln!(writing, "{longest}").unwrap();
    assert_eq!(wire::read_line(&reading, deadline::DEADLINE), Ok(longest));
    // Without a bound the next would be read for a minute, and come to 1 MB.
    spawn(move || writing.write_all(&vec![b'x'; 1 << 20]));
    assert_eq!(Lines::new(&reading).read(deadline::DEADLINE), Err(Fault::Nonsense));
}

/// Takes and gives a byte every 100 ms.
fn trickle(_: usize, length: usize) -> io::Result<usize> {
    sleep(Duration::from_millis(100));
    Ok(length.min(1))
}

#[test]
fn a_line_has_its_time_however_slowly_it_goes() {
    // 500 bytes would take 50 s; the line that is read takes half a second.
    let gone = |why: &str| Err(Fault::Gone(why.to_owned()));
    assert_eq!(
        wire::write_line(Made::that(trickle).as_ref(), &"x".repeat(500)),
        gone("does not read what is sent")
    );
    assert_eq!(
        wire::read_line(Made::that(trickle).as_ref(), Duration::from_millis(250)).map(drop),
        gone("did not answer in time")
    );
}

/// A signal or a full buffer ends no line, and a connection that has ended is not waited for.
#[test]
fn only_what_passes_is_tried_again() {
    let passing: Does = |call, _| match call % 4 {
        0 => Err(ErrorKind::Interrupted.into()),
        1 => Err(ErrorKind::WouldBlock.into()),
        2 => Err(ErrorKind::TimedOut.into()),
        _ => Ok(1),
    };
    assert_eq!(wire::write_line(Made::that(passing).as_ref(), &"x"), Ok(()));
    assert_eq!(wire::read_line(Made::that(passing).as_ref(), DEADLINE), Ok("line".to_owned()));
    let gone = |why: &str| Fault::Gone(why.to_owned());
    let reset: Does = |_, _| Err(io::Error::new(ErrorKind::ConnectionReset, "reset"));
    assert_eq!(wire::write_line(Made::that(reset).as_ref(), &"x"), Err(gone("reset")));
    assert_eq!(wire::read_line(Made::that(reset).as_ref(), Duration::from_secs(1)), Err(gone("reset")));
    let closed: Does = |_, _| Ok(0);
    assert_eq!(wire::write_line(Made::that(closed).as_ref(), &"x"), Err(gone("does not read what is sent")));
    assert_eq!(wire::read_line(Made::that(closed).as_ref(), DEADLINE), Err(gone("closed the connection")));
}

/// A client elsewhere that overhears or guesses the name of a session gets nothing of it.
#[test]
fn a_flow_comes_from_where_its_session_does() {
    let door = Door::new(8);
    let [own, other] = [[127, 0, 0, 1], [127, 0, 0, 2]].map(IpAddr::from);
    let session = Session::new(own, "reno".into(), 1, 2);
    let join = |address, number| {
        session.join(number, Made::that(|_, length| Ok(length)), door.enter(address).unwrap())
    };
    assert_eq!(join(other, 0), Err("this session belongs to another address"));
    assert_eq!(join(own, 2), Err("this session has no flow of that number"));
    assert_eq!(join(own, 0), Ok(()));
    assert_eq!(join(own, 0), Err("this flow has arrived already"));
    assert!(session.wait(Duration::from_millis(1)).is_none(), "one is missing");
    assert_eq!(join(own, 1), Ok(()));
    assert_eq!(session.wait(DEADLINE).map(|flows| flows.len()), Some(2));
}

/// Runs a slot of this many seconds; the lines that it sent, what it knew at the end, and how long it took, seconds.
fn run(seconds: u64, flows: &[Does], stop: bool, most_lines: usize) -> (Vec<Line>, Vec<Info>, f64) {
    let flows: Vec<_> = flows.iter().map(|does| Made::that(*does)).collect();
    let session = Session::new(IpAddr::from([127, 0, 0, 1]), "reno".into(), seconds, flows.len() as u32);
    let mut lines = Vec::new();
    let (known, lasted) = session.run(&flows, &AtomicBool::new(stop), |line| {
        lines.push(line.clone());
        lines.len() < most_lines
    });
    (lines, known, lasted)
}

/// A slot lasts as long as it should, with a line per flow and second, unless there is nobody to send to, it is asked
/// to stop, or nobody listens. What ends early would otherwise take a minute.
#[test]
fn a_slot_lasts_until_its_end_or_that_of_its_flows() {
    let takes: Does = |_, length| {
        assert!(length > 0);
        sleep(Duration::from_millis(1));
        Ok(length)
    };
    let waits: Does = |call, _| {
        sleep(Duration::from_millis(1));
        Err([ErrorKind::Interrupted, ErrorKind::WouldBlock, ErrorKind::TimedOut][call % 3].into())
    };
    let broken: Does = |_, _| Err(ErrorKind::BrokenPipe.into());
    let whole = usize::MAX;
    let (lines, known, lasted) = run(2, &[takes, waits], false, whole);
    assert!(lasted >= 2.0 && known.len() == 2 && known.iter().all(|info| info.received_bytes == 7));
    let flows = lines.iter().map_while(|line| match line {
        Line::Flow(FlowReport { flow, second, .. }) => Some((*flow, *second as u64)),
        Line::End { .. } => None,
    });
    let flows: Vec<_> = flows.collect();
    // On a busy machine a line may come a second late.
    assert!(flows.iter().map(|(flow, _)| *flow).eq([0, 1, 0, 1]) && flows[0].1 >= 1 && flows[2].1 >= 2);
    assert_eq!(lines.last(), Some(&Line::End { seconds: lasted }));
    assert!(run(60, &[broken, broken], false, whole).2 < 60.0, "nobody to send to");
    assert!(run(60, &[takes], true, whole).2 < 60.0, "told to stop");
    assert!(run(60, &[takes], false, 1).2 < 60.0, "nobody listens");
    assert!(run(1, &[waits], false, whole).2 >= 1.0, "it only has to wait");
    // One flow that has ended ends no other.
    assert!(run(1, &[takes, broken], false, whole).2 >= 1.0);
}
