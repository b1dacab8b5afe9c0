//! The kernel's controls outside of the kernel.

use std::sync::LazyLock;

use ackclock_cc::erased::ErasedController;
use ackclock_cc::registry::{Build, Check, Entry, Given};
use ackclock_cc::{Decision, ParameterError, Signal, Start};
use ackclock_units::{Time, Window};

/// As `STATE_BYTES` of `bpf/host.h`: window and ssthresh come first.
type State = [u64; 13];

/// Packets are counted in units of 2^-32.
const PACKET: f64 = 4_294_967_296.0;
/// Ticks of the RTT per second.
const TICKS: f64 = 16e6;

/// As `struct functions` of `bpf/host.h`.
#[repr(C)]
struct Functions {
    start: unsafe extern "C" fn(*mut State, u32, u64),
    ack: unsafe extern "C" fn(*mut State, u32, u32, u32),
    loss: unsafe extern "C" fn(*mut State),
    timeout: unsafe extern "C" fn(*mut State, i32),
    undo: unsafe extern "C" fn(*mut State),
    idle: unsafe extern "C" fn(*mut State),
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

twins! {
    "africa" ackclock_africa;
    "bic" ackclock_bic;
    "compound" ackclock_compound;
    "fast" ackclock_fast;
    "fit" ackclock_fit;
    "gaimd" ackclock_gaimd;
    "hstcp" ackclock_hstcp;
    "illinois" ackclock_illinois;
    "multcp" ackclock_multcp;
}

/// A control of the kernel.
#[derive(Clone)]
struct Twin {
    functions: &'static Functions,
    state: State,
}

/// Whole packets, as the kernel counts them.
fn whole(packets: f64) -> u32 {
    packets.clamp(0.0, f64::from(u32::MAX)) as u32
}

#[expect(unsafe_code, reason = "the functions are C")]
impl Twin {
    fn new(functions: &'static Functions, start: Start) -> Self {
        let mut state = State::default();
        let ssthresh = start.ssthresh.0 * PACKET;
        let ssthresh = if ssthresh < u64::MAX as f64 { ssthresh as u64 } else { u64::MAX };
        // SAFETY: here and below the function has one state, which is as large as it may be.
        unsafe { (functions.start)(&raw mut state, whole(start.window.0).max(1), ssthresh) };
        Twin { functions, state }
    }

    fn tell(&mut self, signal: Signal) {
        let state = &raw mut self.state;
        match signal {
            Signal::Ack(ack) => {
                let ticks = ack.rtt.map_or(0.0, |rtt| (rtt.as_seconds() * TICKS).round().max(1.0));
                let growth = whole(ack.growth());
                // SAFETY: see `new`.
                unsafe { (self.functions.ack)(state, growth, whole(ticks), ack.round as u32) }
            }
            // SAFETY: see `new`.
            Signal::Loss { .. } => unsafe { (self.functions.loss)(state) },
            // SAFETY: see `new`.
            Signal::Timeout { first } => unsafe { (self.functions.timeout)(state, i32::from(first)) },
            // SAFETY: see `new`.
            Signal::Undo => unsafe { (self.functions.undo)(state) },
            // SAFETY: see `new`.
            Signal::Idle => unsafe { (self.functions.idle)(state) },
            Signal::Recovered => {}
        }
    }
}

impl ErasedController for Twin {
    fn on(&mut self, _: Time, signal: Signal) -> Decision {
        self.tell(signal);
        self.decision()
    }

    fn decision(&self) -> Decision {
        let [window, ssthresh, ..] = self.state;
        let ssthresh = if ssthresh == u64::MAX { f64::INFINITY } else { ssthresh as f64 / PACKET };
        Decision { window: Window(window as f64 / PACKET), ssthresh: Window(ssthresh), pacing_rate: None }
    }

    fn internals(&self, _: &mut dyn FnMut(&'static str, f64)) {}

    fn wants_rate(&self) -> bool {
        false
    }

    fn duplicate(&self) -> Box<dyn ErasedController> {
        Box::new(self.clone())
    }
}

fn none(given: Given<'_>) -> Result<(), (usize, ParameterError)> {
    if given.is_empty() { Ok(()) } else { Err((0, ParameterError::Unknown)) }
}

static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    NAMES
        .iter()
        .zip(tables())
        .map(|(name, functions)| {
            let build: Box<Build> = Box::new(move |given, start| {
                none(given)?;
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
