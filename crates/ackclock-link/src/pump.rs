//! The emulator in real time: one thread that waits for packets and for their times.

use std::io::ErrorKind;
use std::os::fd::BorrowedFd;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use ackclock_units::{Span, Time};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::eventfd::EventFd;
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::time::{ClockId as Clock, clock_gettime};
use thread_priority::unix::{
    RealtimeThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};
use thread_priority::{ThreadPriority, ThreadPriorityValue};
use tun_rs::SyncDevice;

use crate::emulator::{Emulator, LONGEST_PACKET};
use crate::report::Direction;

/// A priority above all processes that are not real-time, and below the kernel's own threads.
const PRIORITY: u8 = 50;
/// Packets read from a device before due packets are delivered again.
const AT_ONCE: usize = 64;
/// Waits shorter than this are spent polling: setting a timer takes as long on virtual machines.
const NEAR: Span = Span::from_micros(20);
const PICOSECONDS_PER_NANOSECOND: u64 = 1000;

/// The reason why the thread woke.
const TIMER: u64 = 2;
const STOP: u64 = 3;

/// A path that is running.
#[derive(Debug)]
pub struct Pump {
    stop: EventFd,
    thread: JoinHandle<Result<Outcome, String>>,
    /// Whether the emulator has real-time priority.
    pub real_time: bool,
}

/// The totals of a path when it is stopped.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How long it ran, seconds.
    pub duration_s: f64,
    /// Forward, then reverse.
    pub directions: [Direction; 2],
}

/// Nanoseconds of the machine's clock.
fn nanoseconds() -> u64 {
    let now = clock_gettime(Clock::CLOCK_MONOTONIC).unwrap_or_else(|_| TimeSpec::new(0, 0));
    Duration::from(now).as_nanos() as u64
}

fn real_time() -> bool {
    let Ok(priority) = ThreadPriorityValue::try_from(PRIORITY) else { return false };
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Crossplatform(priority), policy)
        .is_ok()
}

impl Pump {
    /// Starts moving packets between `devices` (client, server) over `emulator`.
    ///
    /// # Errors
    /// One line, when a system call fails.
    pub fn start(emulator: Emulator, devices: [SyncDevice; 2]) -> Result<Pump, String> {
        let stop = EventFd::new().map_err(|error| format!("eventfd: {error}"))?;
        let (sender, receiver) = channel();
        let works = Works::new(emulator, devices, &stop).map_err(|error| format!("epoll: {error}"))?;
        let thread = thread::Builder::new()
            .name("ackclock-link".into())
            .spawn(move || works.run(&sender))
            .map_err(|error| format!("thread: {error}"))?;
        let real_time = receiver.recv().unwrap_or(false);
        Ok(Pump { stop, thread, real_time })
    }

    /// Stops the path; packets on it are lost.
    ///
    /// # Errors
    /// One line, when a device failed meanwhile.
    pub fn stop(self) -> Result<Outcome, String> {
        self.stop.write(1).map_err(|error| format!("eventfd: {error}"))?;
        self.thread.join().map_err(|_| "the emulator thread has panicked".to_owned())?
    }
}

struct Works {
    emulator: Emulator,
    devices: [SyncDevice; 2],
    epoll: Epoll,
    timer: TimerFd,
}

/// A device's file descriptor.
#[expect(unsafe_code, reason = "the device gives only the number")]
fn descriptor(device: &SyncDevice) -> BorrowedFd<'_> {
    use std::os::fd::AsRawFd;
    // SAFETY: the device is borrowed for as long.
    unsafe { BorrowedFd::borrow_raw(device.as_raw_fd()) }
}

impl Works {
    fn new(emulator: Emulator, devices: [SyncDevice; 2], stop: &EventFd) -> nix::Result<Works> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let timer =
            TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
        for (number, device) in devices.iter().enumerate() {
            epoll.add(descriptor(device), EpollEvent::new(EpollFlags::EPOLLIN, number as u64))?;
        }
        // Told once each time that it fires: nobody has to read it.
        epoll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLET, TIMER))?;
        epoll.add(stop, EpollEvent::new(EpollFlags::EPOLLIN, STOP))?;
        Ok(Works { emulator, devices, epoll, timer })
    }

    fn run(mut self, started: &Sender<bool>) -> Result<Outcome, String> {
        let _ = started.send(real_time());
        let start = nanoseconds();
        let now = || Time((nanoseconds() - start) * PICOSECONDS_PER_NANOSECOND);
        let mut buffer = vec![0; LONGEST_PACKET];
        let mut events = [EpollEvent::empty(); 4];
        let mut set_for = Time::NEVER;
        self.emulator.start_measuring();
        loop {
            let next = self.emulator.next_event();
            let is_near = next < now() + NEAR;
            if !is_near && next < set_for {
                self.set_timer(start, next).map_err(|error| format!("timerfd: {error}"))?;
                set_for = next;
            }
            let timeout = if is_near { EpollTimeout::ZERO } else { EpollTimeout::NONE };
            let count = match self.epoll.wait(&mut events, timeout) {
                Err(nix::errno::Errno::EINTR) => 0,
                other => other.map_err(|error| format!("epoll: {error}"))?,
            };
            for event in &events[..count] {
                match event.data() {
                    STOP => {
                        let end = now();
                        let duration_s = end.since(Time::ZERO).as_seconds();
                        return Ok(Outcome { duration_s, directions: self.emulator.report(end) });
                    }
                    TIMER => set_for = Time::NEVER,
                    number => self.read(number as usize, &mut buffer, now)?,
                }
            }
            let Works { emulator, devices, .. } = &mut self;
            emulator.deliver(now(), |direction, content| {
                // The far end of a direction is the other device. A host that takes no packets loses them.
                let _ = devices[1 - direction].send(content);
            });
        }
    }

    fn read(&mut self, number: usize, buffer: &mut [u8], now: impl Fn() -> Time) -> Result<(), String> {
        for _ in 0..AT_ONCE {
            match self.devices[number].recv(buffer) {
                Ok(length) => self.emulator.arrive(now(), number, &buffer[..length]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => break,
                Err(error) => return Err(format!("cannot read a host's device: {error}")),
            }
        }
        Ok(())
    }

    fn set_timer(&self, start: u64, next: Time) -> nix::Result<()> {
        // Rounded up: a packet must not leave early.
        let at = start + next.0.div_ceil(PICOSECONDS_PER_NANOSECOND);
        let at = TimeSpec::from_duration(Duration::from_nanos(at));
        self.timer.set(Expiration::OneShot(at), TimerSetTimeFlags::TFD_TIMER_ABSTIME)
    }
}

/// Default for the lateness up to which a packet counts as on time.
pub const TOLERANCE: Span = Span::from_millis(1);
