//! A server inside the test, over either transport.

use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, spawn};

use ackclock_measure::client;
use ackclock_measure::server::{Limits, Server};
use ackclock_measure::token::Token;
use ackclock_measure::transport::tcp::Tcp;
use ackclock_measure::transport::{Connection, Dialer, Listener, Transport, quic};
use ackclock_measure::wire::{Answer, Request};

use crate::deadline::{until, within};

/// The token of these tests.
pub const TOKEN: &[u8] = b"a4c123b1612dd272d1371c17149d439536b3216fdaeeb975729fae923d5a4fd1";
/// Another one.
pub const OTHER: &[u8] = b"2aabfe228f219e9cb0eb53f16947ccf25ec84d8dbc74254770f58904dba41ecc";

/// A server that ends with its owner, and what it has logged.
pub struct Running {
    pub address: SocketAddr,
    transport: Transport,
    log: Arc<Mutex<Vec<u8>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), String>>>,
}

struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Small ones.
pub fn limits() -> Limits {
    Limits { slot_s: 5, connections: 20, references: 2, flow_bytes_per_s: None }
}

/// The same where how fast it is does not matter: as fast as they can, loopback's flows take all processors.
pub fn slow() -> Limits {
    Limits { flow_bytes_per_s: Some(1_000_000), ..limits() }
}

/// An identity of its own.
pub fn identity() -> quic::Identity {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("ackclock-identity-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    let file = std::env::temp_dir().join(name);
    let identity = quic::Identity::open(&file).unwrap();
    std::fs::remove_file(file).unwrap();
    identity
}

impl Running {
    pub fn new(transport: Transport, limits: Limits) -> Running {
        let (listener, address): (Box<dyn Listener>, _) = match transport {
            Transport::Tcp => {
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                let address = listener.local_addr().unwrap();
                (Box::new(listener), address)
            }
            Transport::Quic => {
                let listener = quic::QuicListener::bind("127.0.0.1:0".parse().unwrap(), identity()).unwrap();
                let address = listener.address().unwrap();
                (Box::new(listener), address)
            }
        };
        let (log, stop) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let controls = vec!["reno".to_owned(), "cubic".to_owned()];
        let token = Token::new(TOKEN).unwrap();
        let output = Box::new(Log(Arc::clone(&log)));
        let server = Server::new(listener, token, controls, limits, output, Arc::clone(&stop)).unwrap();
        let thread = Some(spawn(move || server.serve()));
        Running { address, transport, log, stop, thread }
    }

    /// How a client reaches it.
    pub fn dialer(&self) -> Box<dyn Dialer> {
        match self.transport {
            Transport::Tcp => Box::new(Tcp { server: self.address }),
            Transport::Quic => Box::new(quic::QuicDialer::new(self.address, None).unwrap()),
        }
    }

    pub fn ask(&self, token: &[u8], request: &Request) -> Result<(Arc<dyn Connection>, Answer), String> {
        client::ask(self.dialer().as_ref(), &Token::new(token).unwrap(), request)
    }

    pub fn log(&self) -> String {
        String::from_utf8(self.log.lock().unwrap().clone()).unwrap()
    }

    /// Waits until its log contains `text`.
    pub fn wait_for(&self, text: &str) {
        until(&format!("{text:?} in the server's log"), || self.log().contains(text));
    }

    /// It still serves clients that know the token.
    pub fn still_serves(&self) {
        let (_, answer) = self.ask(TOKEN, &Request::Offer).unwrap();
        let controls = vec!["reno".to_owned(), "cubic".to_owned()];
        assert_eq!(answer, Answer::Offer { controls, longest_slot_s: 5, most_references: 2 });
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().unwrap();
        let served = within("the server stops", move || thread.join());
        // A test that fails already must not panic again.
        if !std::thread::panicking() {
            served.unwrap().unwrap();
        }
    }
}
