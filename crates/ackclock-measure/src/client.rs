//! The receiver: fetches one slot of a campaign and reports on it every second.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::clock;
use crate::fault::Fault;
use crate::info::Info;
use crate::session::{LOOK, Line};
use crate::token::{LineMarks, Side, Token};
use crate::transport::{Connection, Dialer};
use crate::wire::{self, Answer, Lines, PATIENCE, Request};

/// The server reports every second; after this silence it is considered gone.
const SILENCE: Duration = Duration::from_secs(10);
/// How often a request is made before the server is believed to refuse it, and how long the client waits in between.
const MOST_ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);
const BUFFER: usize = 1 << 16;
/// Lines that wait to be looked at.
const MOST_WAITING: usize = 64;
/// A server that writes a line per flow and second may be ahead by this many seconds.
const AHEAD_S: u64 = 3;

/// A slot to fetch.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Its number in the campaign.
    pub number: u64,
    /// Its length, seconds.
    pub seconds: u64,
    /// Number of Reno flows alongside it.
    pub references: u32,
}

/// The state of a flow at one moment of a slot, as one side knows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The side that knows it.
    pub side: Side,
    /// Seconds since the slot began, on that side's clock.
    pub second: f64,
    /// Number of the flow; 0 uses the control.
    pub flow: u32,
    /// The information of that side; received bytes are those of the application.
    #[serde(flatten)]
    pub info: Info,
}

/// How a slot went.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The control whose turn it was.
    pub control: String,
    /// Seconds over which it was measured, on the client's clock.
    pub seconds: f64,
    /// Bytes that each flow received in that time.
    pub received_bytes: Vec<u64>,
    /// Whether the server reported its end and it lasted as long as it should.
    pub complete: bool,
}

/// Connects and makes a request; returns the connection and the answer.
///
/// # Errors
/// One line.
pub fn ask(
    dialer: &dyn Dialer,
    token: &Token,
    request: &Request,
) -> Result<(Arc<dyn Connection>, Answer), String> {
    converse(dialer, token, request).map(|(connection, answer, _)| (connection, answer))
}

/// As [`ask`], with the marks of the lines that follow the answer.
fn converse(
    dialer: &dyn Dialer,
    token: &Token,
    request: &Request,
) -> Result<(Arc<dyn Connection>, Answer, LineMarks), String> {
    let explain = |fault: &dyn std::fmt::Display| format!("{}: {fault}", dialer.server());
    let end = clock::now() + PATIENCE;
    let mut attempts = 1;
    loop {
        let reply = dialer.connect().and_then(|connection| {
            wire::ask(connection.as_ref(), token, request).map(|(answer, marks)| (connection, answer, marks))
        });
        match reply {
            Ok((_, Answer::Refused { why }, _)) => return Err(explain(&why)),
            Ok(done) => return Ok(done),
            // The place of this connection may have been given to a neighbour at the same address; there is no other
            // sign of it.
            Err(Fault::Gone(_)) if attempts < MOST_ATTEMPTS && clock::now() + PAUSE < end => {
                attempts += 1;
                sleep(PAUSE);
            }
            Err(fault) => return Err(explain(&fault)),
        }
    }
}

/// Fetches a slot. `note` gets every sample as it arrives, with the control's name; the slot ends early when `stop` is
/// set.
///
/// # Errors
/// One line, when the slot could not begin, or somebody else than the server has written lines of it.
pub fn fetch(
    dialer: &dyn Dialer,
    token: &Token,
    slot: &Slot,
    stop: &AtomicBool,
    mut note: impl FnMut(&str, &Sample),
) -> Result<Outcome, String> {
    let Slot { number, seconds, references } = *slot;
    let request = Request::Session { slot: number, seconds, references };
    let (conversation, answer, marks) = converse(dialer, token, &request)?;
    let Answer::Session { session, control } = answer else {
        return Err(format!("{}: {}", dialer.server(), Fault::Nonsense));
    };
    // All at once: the server waits for them, and each needs several round trips.
    let flows = scope(|scope| {
        let ask = |flow| ask(dialer, token, &Request::Flow { session: session.clone(), flow });
        let asking: Vec<_> = (0..=references).map(|flow| scope.spawn(move || ask(flow))).collect();
        let done = asking.into_iter().map(|thread| thread.join().expect("asking does not panic"));
        done.map(|answer| Ok(answer?.0)).collect::<Result<Vec<_>, String>>()
    })?;
    let received: Vec<_> = flows.iter().map(|_| AtomicU64::new(0)).collect();
    let counts = || received.iter().map(|count| count.load(Ordering::Relaxed)).collect::<Vec<_>>();
    let start = clock::now();
    let (mut complete, mut measured, mut problem) = (false, None, None);
    scope(|scope| {
        for (flow, count) in flows.iter().zip(&received) {
            scope.spawn(|| drain(flow.as_ref(), count));
        }
        let (sender, lines) = sync_channel(MOST_WAITING);
        let listening = conversation.as_ref();
        scope.spawn(move || {
            // Ends with the connection, after silence, or when the receiver is gone.
            let mut lines = Telling { lines: Lines::new(listening), marks, references, start, heard: 0 };
            loop {
                let line = lines.next();
                let is_last = line.is_err();
                if sender.send(line).is_err() || is_last {
                    break;
                }
            }
        });
        let (mut second, mut over) = (1, false);
        loop {
            let deadline = start + Duration::from_secs(second);
            match next(&lines, deadline.saturating_duration_since(clock::now()).min(LOOK)) {
                Incoming::Line(Ok(Line::Flow(report))) => {
                    let sample = Sample {
                        side: Side::Server,
                        second: report.second,
                        flow: report.flow,
                        info: report.info,
                    };
                    note(&control, &sample);
                }
                Incoming::Line(Ok(Line::End { seconds: lasted })) => {
                    complete = lasted >= seconds as f64;
                    over = true;
                }
                Incoming::Line(Err(fault @ (Fault::Forged | Fault::Nonsense))) => {
                    problem = Some(fault);
                    over = true;
                }
                Incoming::Line(Err(_)) | Incoming::Over => over = true,
                Incoming::Nothing => {}
            }
            // The server's second may end a little before the client's.
            if clock::now() >= deadline || over && second <= seconds {
                if second == seconds {
                    measured = Some((start.elapsed().as_secs_f64(), counts()));
                }
                second += 1;
                for (number, (flow, count)) in flows.iter().zip(&received).enumerate() {
                    let received_bytes = count.load(Ordering::Relaxed);
                    let info = Info { received_bytes, ..flow.info().unwrap_or_default() };
                    let second = start.elapsed().as_secs_f64();
                    note(&control, &Sample { side: Side::Client, second, flow: number as u32, info });
                }
            }
            if over || stop.load(Ordering::Relaxed) {
                break;
            }
        }
        // Bytes that arrive later do not belong to the slot.
        measured.get_or_insert_with(|| (start.elapsed().as_secs_f64(), counts()));
        flows.iter().chain([&conversation]).for_each(|connection| connection.abort());
    });
    if let Some(fault) = problem {
        return Err(format!("{}: {fault}", dialer.server()));
    }
    let (seconds, received_bytes) = measured.unwrap_or_default();
    Ok(Outcome { control, seconds, received_bytes, complete })
}

/// Reports of the server during a slot.
struct Telling<'a> {
    lines: Lines<'a>,
    marks: LineMarks,
    references: u32,
    start: Instant,
    heard: u64,
}

impl Telling<'_> {
    /// The next line: of a flow that there is, and not more often than once a second for each.
    fn next(&mut self) -> Result<Line, Fault> {
        let line = self.lines.read_marked(&mut self.marks, SILENCE)?;
        self.heard += 1;
        let flows = u64::from(self.references) + 1;
        let is_too_many = self.heard > flows * (self.start.elapsed().as_secs() + AHEAD_S) + 1;
        let is_unknown = matches!(&line, Line::Flow(report) if report.flow > self.references);
        if is_too_many || is_unknown { Err(Fault::Nonsense) } else { Ok(line) }
    }
}

enum Incoming {
    Line(Result<Line, Fault>),
    Nothing,
    Over,
}

fn next(lines: &Receiver<Result<Line, Fault>>, wait: Duration) -> Incoming {
    match lines.recv_timeout(wait) {
        Ok(line) => Incoming::Line(line),
        Err(RecvTimeoutError::Timeout) => Incoming::Nothing,
        Err(RecvTimeoutError::Disconnected) => Incoming::Over,
    }
}

fn drain(flow: &dyn Connection, count: &AtomicU64) {
    let mut buffer = vec![0; BUFFER];
    while let Ok(length @ 1..) = flow.receive(&mut buffer, SILENCE) {
        count.fetch_add(length as u64, Ordering::Relaxed);
    }
}
