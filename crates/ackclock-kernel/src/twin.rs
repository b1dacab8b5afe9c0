//! The kernel's controls, compiled to run outside the kernel.

use std::ffi::{CStr, c_char};
use std::sync::LazyLock;

use ackclock_cc::erased::ErasedController;
use ackclock_cc::registry::{Build, Check, Entry, NamedValues};
use ackclock_cc::{Ack, Decision, Ecn, ParameterError, Signal, Start, Wants};
use ackclock_units::{PacketRate, Packets, Span, Time, Window};

/// As `RATE_STATE_BYTES` of `bpf/host.h`: window and ssthresh come first.
type State = [u64; STATE_WORDS];
const STATE_WORDS: usize = 80;

/// Packets are counted in units of 2^-32.
const PACKET: f64 = 4_294_967_296.0;
/// Ticks of the RTT per second.
const TICKS: f64 = 16e6;
/// The stack's gain of the smoothed RTT (RFC 6298).
const GAIN: f64 = 1.0 / 8.0;

/// As `struct ack` of `bpf/control.h`.
#[repr(C)]
struct AckOfC {
    now: u64,
    growth: u32,
    rtt: u32,
    round: u32,
    delivered: u32,
    marked: u32,
    credit: u32,
    is_again: u8,
    recovering: u8,
    new_round: u8,
    window_limited: u8,
    round_limited: u8,
    application_limited: u8,
    acked: u32,
    in_flight: u32,
    lost: u32,
    sampled: u32,
    interval: u32,
    prior: u32,
}

/// As `MOST_INTERNALS` and `NEVER_KNOWN` of `bpf/control.h`.
pub const MOST_INTERNALS: usize = 8;
const NEVER_KNOWN: u64 = u64::MAX;

/// As `struct functions` of `bpf/host.h`.
#[repr(C)]
struct Functions {
    start: unsafe extern "C" fn(*mut State, u32, u64, u64),
    ack: unsafe extern "C" fn(*mut State, *const AckOfC),
    loss: unsafe extern "C" fn(*mut State, u64),
    timeout: unsafe extern "C" fn(*mut State, i32, u64),
    undo: unsafe extern "C" fn(*mut State),
    idle: unsafe extern "C" fn(*mut State),
    internals: unsafe extern "C" fn(*const State, *mut u64),
    mark: Option<unsafe extern "C" fn(*mut State)>,
    loss_again: Option<unsafe extern "C" fn(*mut State, u64)>,
    recovered: unsafe extern "C" fn(*mut State),
    restart: Option<unsafe extern "C" fn(*mut State, u64)>,
    pacing: Option<unsafe extern "C" fn(*const State) -> u64>,
    ends_round_trip: unsafe extern "C" fn(*mut u32, u32, u32) -> i32,
    pacing_gain: u32,
    names: [Option<&'static c_char>; MOST_INTERNALS],
}

/// Declares the table of each control, and lists them.
macro_rules! twins {
    ($($name:literal $table:ident;)+) => {
        #[expect(unsafe_code, reason = "the tables are C")]
        mod tables {
            use super::Functions;

            unsafe extern "C" {
                $(pub safe static $table: Functions;)+
            }
        }

        /// Names of the controls that have a twin.
        pub const NAMES: &[&str] = &[$($name),+];

        fn tables() -> [&'static Functions; NAMES.len()] {
            [$(&tables::$table),+]
        }
    };
}

include!(concat!(env!("OUT_DIR"), "/twins.rs"));

/// A number of packets from units of 2^-32; infinite if it is the largest.
#[must_use]
pub fn packets(fixed: u64) -> f64 {
    if fixed == u64::MAX { f64::INFINITY } else { fixed as f64 / PACKET }
}

/// An internal from units of 2^-16; NaN while it is not known.
#[must_use]
pub fn internal(fixed: u64) -> f64 {
    if fixed == NEVER_KNOWN { f64::NAN } else { fixed as f64 / 65_536.0 }
}

/// Names of a control's internals, in their order; none for an unknown control.
#[must_use]
pub fn internals_of(name: &str) -> Vec<&'static str> {
    let index = NAMES.iter().position(|known| *known == name);
    index.map_or_else(Vec::new, |index| names_of(tables()[index]).collect())
}

#[expect(unsafe_code, reason = "the names are C's")]
fn names_of(functions: &'static Functions) -> impl Iterator<Item = &'static str> {
    // SAFETY: literals of C, which live for ever and end with 0.
    let text = |name: &'static c_char| unsafe { CStr::from_ptr(name) };
    functions.names.iter().map_while(move |name| text((*name)?).to_str().ok())
}

/// Whether an acknowledgement of all bytes before `acknowledged` ends the round trip that began with the byte `begin`, as
/// the kernel's controls count it; if so, the next one begins with the byte `next`. Sequence numbers wrap.
#[expect(unsafe_code, reason = "the function is C")]
pub fn ends_round_trip(begin: &mut u32, acknowledged: u32, next: u32) -> bool {
    // SAFETY: it reads and writes one number, which is borrowed.
    unsafe { (tables()[0].ends_round_trip)(&raw mut *begin, acknowledged, next) != 0 }
}

/// The packets that the kernel sends at once at a rate: the packets of a millisecond, at least 2, at most 64 KiB of
/// 1500-byte packets.
fn autosized(packets_per_s: f64) -> u64 {
    (packets_per_s * 1e-3).clamp(2.0, 64.0 * 1024.0 / 1500.0) as u64
}

/// A control of the kernel.
#[derive(Clone)]
struct Twin {
    functions: &'static Functions,
    state: State,
    /// Packets in total, delivered and marked, and those in flight.
    delivered: u64,
    marked: u64,
    in_flight: u64,
    round: u64,
    /// Smoothed RTT, seconds, by which the stack paces.
    smoothed: Option<f64>,
    /// Windows of data with marks that the next acknowledgement tells of, of a control that sets the rate: each counts as
    /// a lost packet.
    windows_with_marks: u32,
    /// For controls whose marks are not losses: the total of delivered packets at which the window of data with the cut
    /// ends. The kernel tracks this with its states CWR and Recovery, in which no window grows.
    cut: Option<u64>,
}

/// Microseconds, as the kernel counts them.
fn microseconds(now: Time) -> u64 {
    now.0 / 1_000_000
}

/// Whole packets, as the kernel counts them.
fn whole(packets: f64) -> u32 {
    packets.clamp(0.0, f64::from(u32::MAX)) as u32
}

#[expect(unsafe_code, reason = "the functions are C")]
impl Twin {
    fn new(functions: &'static Functions, start: Start) -> Self {
        let mut state = [0; STATE_WORDS];
        let ssthresh = start.ssthresh.0 * PACKET;
        let ssthresh = if ssthresh < u64::MAX as f64 { ssthresh as u64 } else { u64::MAX };
        // SAFETY: here and below the function has one state, which is as large as it may be.
        unsafe { (functions.start)(&raw mut state, whole(start.window.0).max(1), ssthresh, start.seed) };
        Twin {
            functions,
            state,
            delivered: 0,
            marked: 0,
            in_flight: 0,
            round: 0,
            smoothed: None,
            windows_with_marks: 0,
            cut: None,
        }
    }

    /// Packets per second, if it sets the rate.
    fn pacing(&self) -> Option<f64> {
        // SAFETY: see `new`.
        self.functions.pacing.map(|pacing| unsafe { pacing(&raw const self.state) } as f64 / 65_536.0)
    }

    /// From now on no mark cuts until the packets in flight are delivered.
    fn begin_cut(&mut self) {
        self.cut = Some(self.delivered.saturating_add(self.in_flight.max(1)));
    }

    fn lose(&mut self, now: Time) {
        let state = &raw mut self.state;
        match self.functions.loss_again.filter(|_| self.cut.is_some()) {
            // SAFETY: see `new`.
            Some(loss_again) => unsafe { loss_again(state, microseconds(now)) },
            // SAFETY: see `new`.
            None => unsafe { (self.functions.loss)(state, microseconds(now)) },
        }
        if self.wants().marks {
            self.begin_cut();
        }
    }

    fn acknowledge(&mut self, now: Time, ack: &Ack) {
        let ticks = ack.rtt.map_or(0.0, |rtt| (rtt.as_seconds() * TICKS).round().max(1.0));
        if let Some(rtt) = ack.rtt.map(Span::as_seconds) {
            let before = self.smoothed.unwrap_or(rtt);
            self.smoothed = Some(before + GAIN * (rtt - before));
        }
        let new_round = ack.round > self.round;
        self.round = ack.round;
        let rate = ack.rate.filter(|_| self.wants().rate && ack.delivered.0 > 0);
        self.delivered = match rate {
            Some(rate) => rate.prior_delivered.0.saturating_add(rate.delivered.0),
            None => self.delivered.saturating_add(ack.delivered.0),
        };
        self.marked = self.marked.saturating_add(ack.marked.0);
        self.in_flight = ack.in_flight.0;
        self.cut = self.cut.filter(|until| self.delivered <= *until);
        let of_c = AckOfC {
            now: microseconds(now),
            growth: if self.cut.is_none() { whole(ack.growth()) } else { 0 },
            rtt: whole(ticks),
            round: ack.round as u32,
            delivered: self.delivered as u32,
            marked: self.marked as u32,
            credit: whole(ack.delivered.0 as f64),
            is_again: 0,
            recovering: u8::from(ack.recovering || self.cut.is_some()),
            new_round: u8::from(new_round),
            window_limited: u8::from(ack.window_limited),
            round_limited: u8::from(ack.round_limited),
            application_limited: u8::from(rate.is_some_and(|rate| rate.application_limited)),
            // An unnecessary retransmission delivers no data, but it is acknowledged.
            acked: whole(ack.credit.max(ack.delivered.0 as f64)),
            in_flight: ack.in_flight.0 as u32,
            lost: ack.lost.0 as u32 + std::mem::take(&mut self.windows_with_marks),
            sampled: rate.map_or(0, |rate| rate.delivered.0 as u32),
            interval: rate.map_or(0, |rate| microseconds(Time::ZERO + rate.interval) as u32),
            prior: rate.map_or(0, |rate| rate.prior_delivered.0 as u32),
        };
        let state = &raw mut self.state;
        // SAFETY: see `new`.
        unsafe { (self.functions.ack)(state, &raw const of_c) };
        if let Some(mark) = self.functions.mark
            && ack.marked.0 > 0
            && self.cut.is_none()
            && !ack.recovering
        {
            self.begin_cut();
            // SAFETY: see `new`.
            unsafe { mark(state) };
        }
    }

    fn tell(&mut self, now: Time, signal: Signal) {
        let state = &raw mut self.state;
        match signal {
            Signal::Ack(ack) => self.acknowledge(now, &ack),
            Signal::Loss { ecn: true } if self.wants().rate => self.windows_with_marks += 1,
            Signal::Loss { .. } => self.lose(now),
            Signal::Timeout { first } => {
                self.cut = None;
                // SAFETY: see `new`.
                unsafe { (self.functions.timeout)(state, i32::from(first), microseconds(now)) }
            }
            // SAFETY: see `new`.
            Signal::Undo => unsafe { (self.functions.undo)(state) },
            // SAFETY: see `new`.
            Signal::Idle { .. } => unsafe { (self.functions.idle)(state) },
            Signal::Moderated { window } => self.state[0] = self.state[0].min(window.0.min(1 << 30) << 32),
            // SAFETY: see `new`.
            Signal::Recovered => unsafe { (self.functions.recovered)(state) },
            Signal::Restart => {
                if let Some(restart) = self.functions.restart {
                    // SAFETY: see `new`.
                    unsafe { restart(state, microseconds(now)) };
                }
            }
            // The kernel does not tell; `Ack::lost` counts them.
            Signal::Lost(_) | Signal::CaughtUp => {}
        }
    }
}

#[expect(unsafe_code, reason = "the functions are C")]
impl ErasedController for Twin {
    fn on(&mut self, now: Time, signal: Signal) -> Decision {
        self.tell(now, signal);
        self.decision()
    }

    fn decision(&self) -> Decision {
        let [window, ssthresh, ..] = self.state;
        let gain = Some(self.functions.pacing_gain).filter(|gain| *gain > 0);
        let per_second =
            gain.zip(self.smoothed).map(|(gain, rtt)| f64::from(gain) * packets(window) / rtt.max(1e-6));
        Decision {
            window: Window(packets(window)),
            ssthresh: Window(packets(ssthresh)),
            pacing_rate: self.pacing().or(per_second).map(PacketRate),
            quantum: self.pacing().map(|rate| Packets(autosized(rate))),
        }
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let mut values = [0; MOST_INTERNALS];
        // SAFETY: `values` has room for all values that the function may write.
        unsafe { (self.functions.internals)(&raw const self.state, values.as_mut_ptr()) };
        names_of(self.functions).zip(values).for_each(|(name, value)| visit(name, internal(value)));
    }

    fn wants(&self) -> Wants {
        let (rate, marks) = (self.functions.pacing.is_some(), self.functions.mark.is_some());
        let ecn = if marks { Ecn::Ect0 } else { Ecn::AsConfigured };
        Wants { rate, losses: rate, marks, window_is_a_cap: rate, ecn }
    }

    fn duplicate(&self) -> Box<dyn ErasedController> {
        Box::new(self.clone())
    }
}

/// The Rust control that a control of the kernel implements: the control of the same name, except for the approximate
/// version of BBR.
#[must_use]
pub fn original(name: &str) -> &str {
    if name == "bbr3-approx" { "bbr3-linux" } else { name }
}

fn none(values: NamedValues<'_>) -> Result<(), (usize, ParameterError)> {
    if values.is_empty() { Ok(()) } else { Err((0, ParameterError::Unknown)) }
}

static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    NAMES
        .iter()
        .zip(tables())
        .map(|(name, functions)| {
            let build: Box<Build> = Box::new(move |values, start| {
                none(values)?;
                Ok(Box::new(Twin::new(functions, start)) as Box<dyn ErasedController>)
            });
            let check: &'static Check = &none;
            let name = Box::leak(format!("{name}@kernel").into_boxed_str());
            Entry::of_dynamic(name, "ackclock-kernel, the code of the kernel", &[], Box::leak(build), check)
        })
        .collect()
});

/// The twins as scenarios can name them: `fit@kernel` and so on, without parameters.
#[must_use]
pub fn entries() -> &'static [Entry] {
    &ENTRIES
}
