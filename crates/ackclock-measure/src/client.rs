//! The receiver: one slot of a campaign, fetched and logged every second.

use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::scope;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock;
use crate::info::{self, Info};
use crate::session::{LOOK, Line};
use crate::token::Token;
use crate::wire::{self, Answer, Fault, LONGEST_LINE, PATIENCE, Request};

/// The server speaks every second; after this silence it is taken for gone.
const SILENCE: Duration = Duration::from_secs(10);
const BUFFER: usize = 1 << 16;

/// What is fetched.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Its number in the campaign.
    pub number: u64,
    /// Its length, seconds.
    pub seconds: u64,
    /// Reno flows beside it.
    pub references: u32,
}

/// What one side knows of a flow at a second of a slot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Who knows it.
    pub side: Which,
    /// Seconds since the slot began, on that side's clock.
    pub second: f64,
    /// Which flow; 0 has the control.
    pub flow: u32,
    /// What its kernel knows; received bytes are the application's.
    #[serde(flatten)]
    pub info: Info,
}

/// A side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// Who sends.
    Server,
    /// Who receives.
    Client,
}

/// How a slot went.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The control whose turn it was.
    pub control: String,
    /// Seconds over which it was measured, on the client's clock.
    pub seconds: f64,
    /// Bytes that each flow has received in them.
    pub received_bytes: Vec<u64>,
    /// The server said that it was over, and it lasted as long as it should.
    pub complete: bool,
}

/// Connects and asks.
///
/// # Errors
/// One line.
pub fn ask(server: SocketAddr, token: &Token, request: &Request) -> Result<(TcpStream, Answer), String> {
    let explain = |fault: &dyn std::fmt::Display| format!("{server}: {fault}");
    let mut stream = TcpStream::connect_timeout(&server, PATIENCE).map_err(|error| explain(&error))?;
    match wire::ask(&mut stream, token, request).map_err(|fault| explain(&fault))? {
        Answer::Refused { why } => Err(explain(&why)),
        answer => Ok((stream, answer)),
    }
}

/// Fetches a slot. `note` gets every sample as it comes; the slot ends early when `stop` is set.
///
/// # Errors
/// One line, when it could not begin.
pub fn fetch(
    server: SocketAddr,
    token: &Token,
    slot: &Slot,
    stop: &AtomicBool,
    mut note: impl FnMut(&str, &Sample),
) -> Result<Outcome, String> {
    let Slot { number, seconds, references } = *slot;
    let (control_stream, answer) =
        ask(server, token, &Request::Session { slot: number, seconds, references })?;
    let Answer::Session { session, control } = answer else {
        return Err(format!("{server}: {}", Fault::Nonsense));
    };
    let flows = (0..=references)
        .map(|flow| Ok(ask(server, token, &Request::Flow { session: session.clone(), flow })?.0))
        .collect::<Result<Vec<_>, String>>()?;
    let gone = |error: std::io::Error| format!("{server}: {error}");
    let received: Vec<_> = flows.iter().map(|_| AtomicU64::new(0)).collect();
    let counts = || received.iter().map(|count| count.load(Ordering::Relaxed)).collect::<Vec<_>>();
    let start = clock::now();
    let (mut complete, mut measured) = (false, None);
    scope(|scope| {
        for (flow, count) in flows.iter().zip(&received) {
            flow.set_read_timeout(Some(SILENCE)).map_err(gone)?;
            scope.spawn(|| drain(flow, count));
        }
        control_stream.set_read_timeout(Some(SILENCE)).map_err(gone)?;
        let (sender, lines) = channel();
        let listening = &control_stream;
        scope.spawn(move || {
            let mut lines = BufReader::new(listening.take(u64::MAX)).split(b'\n');
            // Ends with the connection, with silence, or when nobody wants to hear more.
            while let Some(Ok(line)) = lines.next()
                && line.len() <= LONGEST_LINE
                && let Ok(line) = serde_json::from_slice::<Line>(&line)
                && sender.send(line).is_ok()
            {}
        });
        let (mut second, mut over) = (1, false);
        loop {
            let due = start + Duration::from_secs(second);
            match next(&lines, due.saturating_duration_since(clock::now()).min(LOOK)) {
                Next::Line(Line::Flow(told)) => {
                    let sample =
                        Sample { side: Which::Server, second: told.second, flow: told.flow, info: told.info };
                    note(&control, &sample);
                }
                Next::Line(Line::End { seconds: lasted }) => {
                    complete = lasted >= seconds as f64;
                    over = true;
                }
                Next::Over => over = true,
                Next::Nothing => {}
            }
            // The server's second may end a little before the client's.
            if clock::now() >= due || over && second <= seconds {
                if second == seconds {
                    measured = Some((start.elapsed().as_secs_f64(), counts()));
                }
                second += 1;
                for (number, (flow, count)) in flows.iter().zip(&received).enumerate() {
                    let received_bytes = count.load(Ordering::Relaxed);
                    let info = Info { received_bytes, ..info::read(flow).unwrap_or_default() };
                    let second = start.elapsed().as_secs_f64();
                    note(&control, &Sample { side: Which::Client, second, flow: number as u32, info });
                }
            }
            if over || stop.load(Ordering::Relaxed) {
                break;
            }
        }
        // What comes after its time is not the slot's.
        measured.get_or_insert_with(|| (start.elapsed().as_secs_f64(), counts()));
        flows.iter().chain([&control_stream]).for_each(info::abort);
        Ok::<_, String>(())
    })?;
    let (seconds, received_bytes) = measured.unwrap_or_default();
    Ok(Outcome { control, seconds, received_bytes, complete })
}

enum Next {
    Line(Line),
    Nothing,
    Over,
}

fn next(lines: &Receiver<Line>, wait: Duration) -> Next {
    match lines.recv_timeout(wait) {
        Ok(line) => Next::Line(line),
        Err(RecvTimeoutError::Timeout) => Next::Nothing,
        Err(RecvTimeoutError::Disconnected) => Next::Over,
    }
}

fn drain(mut flow: &TcpStream, count: &AtomicU64) {
    let mut buffer = vec![0; BUFFER];
    while let Ok(length @ 1..) = flow.read(&mut buffer) {
        count.fetch_add(length as u64, Ordering::Relaxed);
    }
}
