//! A connection whose other end is the fuzzer.

use std::io;
use std::sync::Mutex;
use std::time::Duration;

use ackclock_measure::info::Info;
use ackclock_measure::transport::Connection;

/// What the other end says, given its turn, from 0, and what it has heard since its last one. Saying nothing hangs up.
pub type Speech<'a> = Box<dyn FnMut(usize, &[u8]) -> Vec<u8> + Send + 'a>;

/// The other end. What it says arrives in small portions, so that lines are torn.
pub struct Peer<'a>(Mutex<State<'a>>);

struct State<'a> {
    speech: Speech<'a>,
    turn: usize,
    heard: Vec<u8>,
    says: Vec<u8>,
    said: usize,
}

impl<'a> Peer<'a> {
    pub fn new(speech: impl FnMut(usize, &[u8]) -> Vec<u8> + Send + 'a) -> Peer<'a> {
        let speech = Box::new(speech);
        Peer(Mutex::new(State { speech, turn: 0, heard: Vec::new(), says: Vec::new(), said: 0 }))
    }

    /// One that says `bytes`, whatever it hears, and hangs up.
    pub fn deaf(bytes: &'a [u8]) -> Peer<'a> {
        Peer::new(move |turn, _| if turn == 0 { bytes.to_vec() } else { Vec::new() })
    }
}

impl std::fmt::Debug for Peer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Peer")
    }
}

impl Connection for Peer<'_> {
    fn send(&self, data: &[u8], _: Duration) -> io::Result<usize> {
        self.0.lock().expect("one thread").heard.extend_from_slice(data);
        Ok(data.len())
    }

    fn receive(&self, buffer: &mut [u8], _: Duration) -> io::Result<usize> {
        let state = &mut *self.0.lock().expect("one thread");
        if state.said == state.says.len() {
            state.says = (state.speech)(state.turn, &std::mem::take(&mut state.heard));
            (state.turn, state.said) = (state.turn + 1, 0);
        }
        let length = buffer.len().min(state.says.len() - state.said).min(7);
        buffer[..length].copy_from_slice(&state.says[state.said..][..length]);
        state.said += length;
        Ok(length)
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
