//! Waiting with a deadline, for tests of several crates: what never happens fails with a message instead of hanging.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{sleep, spawn};
use std::time::Duration;

/// Many times what any step takes, so that a busy machine does not decide.
pub const DEADLINE: Duration = Duration::from_secs(60);
/// The same for a program that runs from start to end.
pub const PROGRAM_DEADLINE: Duration = Duration::from_secs(300);
const LOOK: Duration = Duration::from_millis(20);

/// Runs `work` on its own thread and returns its result.
///
/// # Panics
/// When it takes longer than [`DEADLINE`], or panics.
pub fn within<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = channel();
    spawn(move || sender.send(work()));
    match receiver.recv_timeout(DEADLINE) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => panic!("{what}: not done within {DEADLINE:?}"),
        Err(RecvTimeoutError::Disconnected) => panic!("{what}: its thread has panicked"),
    }
}

/// Waits until `is_so` returns true.
///
/// # Panics
/// When that takes longer than [`DEADLINE`].
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    // Sleeping never takes less than it should, so that counting is enough.
    let mut looks = 0..DEADLINE.as_millis() / LOOK.as_millis();
    while !is_so() {
        assert!(looks.next().is_some(), "not within {DEADLINE:?}: {what}");
        sleep(LOOK);
    }
}

/// Waits for a process to end.
///
/// # Panics
/// When that takes longer than [`DEADLINE`]; the process is killed then.
pub fn wait(child: &mut Child) -> ExitStatus {
    let mut looks = 0..DEADLINE.as_millis() / LOOK.as_millis();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if looks.next().is_none() {
            let _ = child.kill();
            panic!("process {} has not ended within {DEADLINE:?}", child.id());
        }
        sleep(LOOK);
    }
}

/// Runs a command to its end, without input, and returns its status and what it wrote.
///
/// # Panics
/// When that takes longer than [`PROGRAM_DEADLINE`]; the process is killed then.
pub fn output(command: &mut Command) -> Output {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let process = child.id().to_string();
    let (sender, receiver) = channel();
    spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = receiver.recv_timeout(PROGRAM_DEADLINE) else {
        let _ = Command::new("kill").args(["-KILL", &process]).status();
        panic!("{command:?} has not ended within {PROGRAM_DEADLINE:?}");
    };
    output.unwrap()
}

/// The lines of a stream, read on another thread, to the end even when nobody asks for them any more: so that a
/// program never waits for its output to be read.
///
/// The iterator panics when a line takes longer than [`DEADLINE`].
pub struct Lines(Receiver<String>);

impl Lines {
    pub fn of(stream: impl Read + Send + 'static) -> Lines {
        let (sender, receiver) = channel();
        spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Lines(receiver)
    }
}

impl Iterator for Lines {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        match self.0.recv_timeout(DEADLINE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no line within {DEADLINE:?}"),
        }
    }
}

/// Clears a flag when it is dropped: threads that run while the flag is set end with a test that fails, too.
pub struct ClearAtEnd<'a>(pub &'a AtomicBool);

impl Drop for ClearAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}
