//! Every window change in the kernel, as reported by the controls.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::rc::Rc;
use std::time::Duration;

use libbpf_rs::{MapCore, MapFlags, MapHandle, RingBufferBuilder};

use crate::kernel;
use crate::twin::{self, MOST_INTERNALS};

/// Causes of changes of a window: the kinds of `bpf/trace.h`, in their order, as the simulator's trace calls them.
const KINDS: [&str; 7] = ["start", "ack", "loss", "timeout", "undo", "idle", "stop"];
/// Length of `struct change` and of its parts.
const NUMBERS: usize = 4 + MOST_INTERNALS;
const NAME_BYTES: usize = 16;
const CHANGE_BYTES: usize = 8 * NUMBERS + 4 * 6 + 2 * 2 + 4 + NAME_BYTES;
/// How often the trace checks whether to continue.
const LOOK: Duration = Duration::from_millis(100);

/// The columns of the table that [`write`] writes.
pub const COLUMNS: &str = "time_us,connection,kind,control,window,ssthresh,rtt_us,delivered_packets,sent_packets,\
                           retransmitted_packets,in_flight_packets,segment_bytes,source_port,destination_port,internals";

/// A change of a window; `struct change` of `bpf/trace.h`.
struct Change<'a> {
    bytes: &'a [u8],
}

impl Change<'_> {
    fn long(&self, index: usize) -> u64 {
        self.bytes[8 * index..][..8].try_into().map_or(0, u64::from_ne_bytes)
    }

    fn word(&self, index: usize) -> u32 {
        self.bytes[8 * NUMBERS + 4 * index..][..4].try_into().map_or(0, u32::from_ne_bytes)
    }

    fn port(&self, index: usize) -> u16 {
        self.bytes[8 * NUMBERS + 24 + 2 * index..][..2].try_into().map_or(0, u16::from_ne_bytes)
    }

    fn name(&self) -> &str {
        let bytes = &self.bytes[8 * NUMBERS + 32..][..NAME_BYTES];
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(NAME_BYTES);
        str::from_utf8(&bytes[..end]).unwrap_or_default()
    }

    /// The line of the table.
    fn line(&self) -> String {
        let kind = KINDS.get(self.word(7) as usize).unwrap_or(&"?");
        let control = kernel::name_of(self.name()).unwrap_or("?");
        let (window, ssthresh) = (twin::packets(self.long(2)), twin::packets(self.long(3)));
        let ssthresh = if ssthresh.is_finite() { ssthresh.to_string() } else { String::new() };
        let mut line = format!("{},{:x},{kind},{control},{window},{ssthresh}", self.long(0), self.long(1));
        for index in 0..6 {
            let _ = write!(line, ",{}", self.word(index));
        }
        let _ = write!(line, ",{},{},", self.port(0), self.port(1));
        let internals = twin::internals_of(control).into_iter().enumerate();
        let internals = internals.map(|(index, name)| (name, twin::internal(self.long(4 + index))));
        let known = internals.filter(|(_, value)| !value.is_nan());
        line + &known.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    }
}

/// Identifies a process among all others, even a later one of the same number: the number in the lower half, and when
/// it began in the upper (proc(5), starttime, in ticks since the machine began).
fn mark_of(process: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name, in parentheses, may hold anything; starttime is the 20th field after it.
    let ticks: u64 = stat.rsplit_once(") ")?.1.split(' ').nth(19)?.parse().ok()?;
    Some(ticks << 32 | u64::from(process))
}

/// The process of a mark, if it still runs.
fn running(mark: u64) -> Option<u32> {
    let process = (mark & u64::from(u32::MAX)) as u32;
    (mark_of(process) == Some(mark)).then_some(process)
}

/// The map with the process that traces and the number of changes lost because the ring was full.
struct Listening(MapHandle);

/// Marks this process as the tracing one, until the value is dropped.
struct Turn(Listening);

impl Turn {
    fn take(listening: Listening) -> Result<Turn, String> {
        if let Some(process) = listening.process() {
            return Err(format!("process {process} is already tracing; only one can trace at a time"));
        }
        listening.set(mark_of(std::process::id()).ok_or("trace: /proc does not show this process")?)?;
        Ok(Turn(listening))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let _ = self.0.set(0);
    }
}

impl Listening {
    /// The process that traces, unless it has been killed.
    fn process(&self) -> Option<u32> {
        running(self.read().0)
    }

    fn read(&self) -> (u64, u64) {
        let value = self.0.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).ok().flatten().unwrap_or_default();
        let part = |index: usize| {
            value
                .get(8 * index..8 * index + 8)
                .and_then(|part| part.try_into().ok())
                .map_or(0, u64::from_ne_bytes)
        };
        (part(0), part(1))
    }

    fn set(&self, mark: u64) -> Result<(), String> {
        let value = [mark.to_ne_bytes(), 0_u64.to_ne_bytes()].concat();
        self.0.update(&0_u32.to_ne_bytes(), &value, MapFlags::ANY).map_err(|error| format!("trace: {error}"))
    }
}

/// The process that traces, if any.
#[must_use]
pub fn listener() -> Option<u32> {
    let [_, listening] = kernel::shared();
    Listening(MapHandle::from_pinned_path(listening).ok()?).process()
}

/// Writes every change as a line of CSV, with the columns [`COLUMNS`], while `goes_on`. Windows are packets, with
/// their fractions. Returns the number of changes lost because they arrived faster than they could be written.
///
/// # Errors
/// One line, when no control is loaded, another process is tracing, or `output` cannot be written.
pub fn write(output: &mut dyn Write, goes_on: &dyn Fn() -> bool) -> Result<u64, String> {
    let [changes, listening] = kernel::shared();
    let open = |path| {
        MapHandle::from_pinned_path(path).map_err(|error| {
            format!("no control to trace ({error}); load one first with sudo ackclock kernel load NAME")
        })
    };
    let (changes, turn) = (open(&changes)?, Turn::take(Listening(open(&listening)?))?);
    let failure = Rc::new(RefCell::new(None));
    let output = RefCell::new(output);
    let write = |line: &str| -> io::Result<()> { writeln!(output.borrow_mut(), "{line}") };
    let cannot = |error: io::Error| format!("cannot write the trace: {error}");
    write(COLUMNS).map_err(cannot)?;
    let failed = Rc::clone(&failure);
    let mut builder = RingBufferBuilder::new();
    builder
        .add(&changes, move |bytes: &[u8]| {
            if bytes.len() == CHANGE_BYTES
                && let Err(error) = write(&Change { bytes }.line())
            {
                *failed.borrow_mut() = Some(error);
            }
            i32::from(failed.borrow().is_some())
        })
        .map_err(|error| format!("trace: {error}"))?;
    let ring = builder.build().map_err(|error| format!("trace: {error}"))?;
    while goes_on() {
        // A signal or a failure interrupts the poll; the failure is checked here.
        let _ = ring.poll(LOOK);
        if let Some(error) = failure.borrow_mut().take() {
            return Err(cannot(error));
        }
        // Whoever kills this process loses no more than a moment of its trace.
        output.borrow_mut().flush().map_err(cannot)?;
    }
    let (_, missed) = turn.0.read();
    drop(turn);
    let _ = ring.consume();
    drop(ring);
    output.borrow_mut().flush().map_err(cannot)?;
    Ok(missed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_process_of_the_same_number_is_another() {
        let own = std::process::id();
        let mark = mark_of(own).unwrap();
        assert_eq!(running(mark), Some(own));
        assert_eq!(running(mark ^ 1 << 32), None);
        assert_eq!(running(0), None);
    }
}
