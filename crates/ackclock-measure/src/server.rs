//! The sender: serves clients that know the token, and uses the next control in each slot.

use std::collections::BTreeMap;
use std::io::{Write, stderr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, sleep};
use std::time::Duration;

use serde::Serialize;

use crate::clock;
use crate::door::{Door, Permit};
use crate::fault::Fault;
use crate::info::Info;
use crate::session::{FlowReport, LOOK, Line, Session};
use crate::token::Token;
use crate::transport::{Arrival, Connection, Listener};
use crate::wire::{self, Answer, Exchange, Request};

/// Control of the reference flows.
const REFERENCE: &str = "reno";
/// How long the flows of a session may take to arrive.
const FLOWS_WITHIN: Duration = Duration::from_secs(10);
/// How often the log says how many were turned away.
const TELL: Duration = Duration::from_secs(1);
/// Stack of a connection's thread, bytes.
const STACK: usize = 256 << 10;

/// The most that a server allows.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Length of a slot, seconds.
    pub slot_s: u64,
    /// Simultaneous connections.
    pub connections: usize,
    /// Reference flows of a session.
    pub references: u32,
    /// Rate of each flow, bytes per second; unlimited if `None`.
    pub flow_bytes_per_s: Option<u64>,
}

/// A sender.
pub struct Server {
    listener: Box<dyn Listener>,
    token: Token,
    /// In the order in which they take turns.
    controls: Vec<String>,
    limits: Limits,
    door: Arc<Door>,
    sessions: Mutex<BTreeMap<String, Arc<Session>>>,
    log: Mutex<EventLog>,
    stop: Arc<AtomicBool>,
}

/// The destination of the server's log.
struct EventLog {
    output: Box<dyn Write + Send>,
    /// Whether the last line could not be written.
    failed: bool,
}

impl EventLog {
    /// Writes a line. A log that cannot be written does not stop the server; that is said once on standard error.
    fn write(&mut self, mut line: String) {
        line.push('\n');
        if self.failed {
            // The line feed ends a line that was written only in part.
            line.insert(0, '\n');
        }
        let written = self.output.write_all(line.as_bytes()).and_then(|()| self.output.flush());
        let _ = match (&written, self.failed) {
            (Err(error), false) => {
                writeln!(stderr(), "the log cannot be written, serving without it: {error}")
            }
            (Ok(()), true) => writeln!(stderr(), "the log is written again"),
            _ => Ok(()),
        };
        self.failed = written.is_err();
    }
}

/// A line of the server's log.
#[derive(Serialize)]
struct EventLine<'a> {
    unix_s: f64,
    /// Seconds since the machine was started: the wall clock may be set meanwhile.
    boot_s: f64,
    address: String,
    event: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    control: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    flows: Vec<Info>,
}

impl Server {
    /// A server that switches between `controls`, writes a line of JSON to `log` for everything that happens, and ends
    /// soon after `stop` is set.
    ///
    /// # Errors
    /// One line, when `controls` is empty or `listener` does not offer one of them.
    pub fn new(
        listener: Box<dyn Listener>,
        token: Token,
        controls: Vec<String>,
        limits: Limits,
        log: Box<dyn Write + Send>,
        stop: Arc<AtomicBool>,
    ) -> Result<Arc<Server>, String> {
        if controls.is_empty() {
            return Err("no congestion controls to switch between; name some with --controls".into());
        }
        listener.check(&controls)?;
        Ok(Arc::new(Server {
            listener,
            token,
            controls,
            door: Door::new(limits.connections),
            limits,
            sessions: Mutex::default(),
            log: Mutex::new(EventLog { output: log, failed: false }),
            stop,
        }))
    }

    /// Serves until it is stopped.
    ///
    /// # Errors
    /// One line, when it can no longer listen.
    pub fn serve(self: &Arc<Server>) -> Result<(), String> {
        let mut last_report = clock::now();
        while !self.stop.load(Ordering::Relaxed) {
            if let Some(Arrival { permit, connection }) = self.listener.next(&self.door, LOOK)? {
                let server = Arc::clone(self);
                let handle = move || server.handle(connection, permit);
                // Without a thread the connection is dropped, which closes it.
                let _ = Builder::new().name("connection".into()).stack_size(STACK).spawn(handle);
            }
            if last_report.elapsed() >= TELL {
                last_report = clock::now();
                self.tell_turned_away();
            }
        }
        // Sessions check `stop` regularly and log how they ended.
        let end = clock::now() + 5 * LOOK;
        while !self.sessions().is_empty() && clock::now() < end {
            sleep(LOOK / 10);
        }
        Ok(())
    }

    /// Logs the number of connections turned away in one line, so that a flood of connections does not flood the log.
    fn tell_turned_away(&self) {
        let turned_away = self.door.take_turned_away();
        if turned_away > 0 {
            self.note("-", "turned away", None, Some(format!("{turned_away} connections")), Vec::new());
        }
        let strays = self.listener.take_strays();
        if strays > 0 {
            self.note("-", "strays", None, Some(format!("{strays} datagrams of no connection")), Vec::new());
        }
    }

    fn note(
        &self,
        address: &str,
        event: &str,
        control: Option<&str>,
        detail: Option<String>,
        flows: Vec<Info>,
    ) {
        let address = address.to_owned();
        let (unix_s, boot_s) = (clock::unix_s(), clock::boot_s());
        let entry = EventLine { unix_s, boot_s, address, event, control, detail, flows };
        let line = serde_json::to_string(&entry).unwrap_or_default();
        self.log.lock().unwrap_or_else(PoisonError::into_inner).write(line);
    }

    fn handle(&self, connection: Result<Arc<dyn Connection>, String>, permit: Permit) {
        let address = permit.address().to_string();
        let connection = match connection {
            Ok(connection) => connection,
            Err(why) => return self.turn_down(&permit, &Fault::Gone(why)),
        };
        let held = Arc::downgrade(&connection);
        permit.when_needed(move || held.upgrade().iter().for_each(|connection| connection.abort()));
        let exchange = match wire::hear(connection.as_ref(), &self.token, &permit) {
            Ok(exchange) => exchange,
            // The connection is still open: whoever sees it close has been counted.
            Err(fault) => return self.turn_down(&permit, &fault),
        };
        let done = match &exchange.request {
            Request::Offer => self.offer(connection.as_ref(), &exchange),
            Request::Session { slot, seconds, references } => {
                self.session(connection.as_ref(), &exchange, &permit, (*slot, *seconds, *references))
            }
            Request::Flow { session, flow } => self.flow(&connection, &exchange, permit, session, *flow),
        };
        if !matches!((&exchange.request, &done), (Request::Flow { .. }, Ok(()))) {
            connection.finish();
        }
        if let Err(fault) = done {
            self.note(&address, "ended", None, Some(fault.to_string()), Vec::new());
        }
    }

    /// Counts and logs a conversation that did not get as far as a request.
    fn turn_down(&self, permit: &Permit, fault: &Fault) {
        if permit.note_fault() {
            let address = permit.address().to_string();
            self.note(&address, "refused", None, Some(fault.to_string()), Vec::new());
        }
    }

    fn offer(&self, connection: &dyn Connection, exchange: &Exchange) -> Result<(), Fault> {
        let answer = Answer::Offer {
            controls: self.controls.clone(),
            longest_slot_s: self.limits.slot_s,
            most_references: self.limits.references,
        };
        exchange.answer(connection, &self.token, &answer)
    }

    fn refuse(&self, connection: &dyn Connection, exchange: &Exchange, why: &str) -> Result<(), Fault> {
        exchange.answer(connection, &self.token, &Answer::Refused { why: why.to_owned() })?;
        Err(Fault::Gone(format!("refused: {why}")))
    }

    fn session(
        &self,
        connection: &dyn Connection,
        exchange: &Exchange,
        permit: &Permit,
        (slot, seconds, references): (u64, u64, u32),
    ) -> Result<(), Fault> {
        if seconds == 0 || seconds > self.limits.slot_s {
            let why = format!("a slot must be 1 to {} s long here", self.limits.slot_s);
            return self.refuse(connection, exchange, &why);
        }
        if references > self.limits.references {
            return self.refuse(
                connection,
                exchange,
                &format!("at most {} reference flows are allowed here", self.limits.references),
            );
        }
        let control = &self.controls[(slot % self.controls.len() as u64) as usize];
        let session = Arc::new(Session::new(permit.address(), control.clone(), seconds, references + 1));
        self.sessions().insert(session.name.clone(), Arc::clone(&session));
        let answer = Answer::Session { session: session.name.clone(), control: control.clone() };
        let done = exchange.answer(connection, &self.token, &answer).and_then(|()| {
            let flows = session.wait(FLOWS_WITHIN);
            let flows =
                flows.ok_or_else(|| Fault::Gone("the flows of the session did not arrive in time".into()))?;
            let (mut written, mut marks) = (Ok(()), exchange.marks(&self.token));
            let address = permit.address().to_string();
            let (infos, lasted) = session.run(&flows, &self.stop, |line| {
                if let Line::Flow(FlowReport { flow, info, .. }) = line {
                    let flow = Some(format!("slot {slot}, flow {flow}"));
                    self.note(&address, "sample", Some(control), flow, vec![*info]);
                }
                written = wire::write_marked(connection, &mut marks, line);
                written.is_ok()
            });
            let event = if lasted >= seconds as f64 { "slot" } else { "cut short" };
            let detail = format!("slot {slot}, {lasted:.1} of {seconds} s");
            self.note(&address, event, Some(control), Some(detail), infos);
            written
        });
        self.sessions().remove(&session.name);
        done
    }

    fn flow(
        &self,
        connection: &Arc<dyn Connection>,
        exchange: &Exchange,
        permit: Permit,
        session: &str,
        number: u32,
    ) -> Result<(), Fault> {
        let known = self.sessions().get(session).map(Arc::clone);
        let Some(session) = known else {
            return self.refuse(connection.as_ref(), exchange, "there is no such session");
        };
        let control = if number == 0 { session.control.as_str() } else { REFERENCE };
        if let Err(error) = connection.set_control(control) {
            let why = format!("{control} is no longer offered: {error}");
            return self.refuse(connection.as_ref(), exchange, &why);
        }
        if let Some(limit) = self.limits.flow_bytes_per_s {
            connection.limit_rate(limit).map_err(|error| Fault::Gone(error.to_string()))?;
        }
        exchange.answer(connection.as_ref(), &self.token, &Answer::Flow)?;
        session.join(number, Arc::clone(connection), permit).map_err(|why| Fault::Gone(why.to_owned()))
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Full after `room` bytes, until `room` is raised.
    struct Disk(Arc<Mutex<(Vec<u8>, usize)>>);

    impl Write for Disk {
        fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
            let (text, room) = &mut *self.0.lock().unwrap();
            let length = data.len().min(*room - text.len());
            text.extend_from_slice(&data[..length]);
            if length == 0 { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(length) }
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// A line that a full disk tore used to become one with the next.
    #[test]
    fn a_torn_line_takes_no_other_with_it() {
        let disk = Arc::new(Mutex::new((Vec::new(), 14)));
        let mut log = EventLog { output: Box::new(Disk(Arc::clone(&disk))), failed: false };
        log.write("{\"a\":1}".into());
        log.write("{\"b\":2}".into());
        assert!(log.failed);
        disk.lock().unwrap().1 = 1000;
        log.write("{\"c\":3}".into());
        log.write("{\"d\":4}".into());
        assert!(!log.failed);
        let text = String::from_utf8(disk.lock().unwrap().0.clone()).unwrap();
        assert_eq!(text, "{\"a\":1}\n{\"b\":2\n{\"c\":3}\n{\"d\":4}\n");
    }
}
