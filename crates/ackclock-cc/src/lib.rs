//! Congestion controls behind one contract, for every driver in Rust.
//!
//! A driver (the simulator, a QUIC stack) tells a [`Controller`] what happened as [`Signal`]s and does what its
//! [`Decision`] says. A control has no clock other than the times of its signals, draws no random numbers, does no I/O,
//! and allocates nothing: the same signals lead to the same decisions anywhere.
//!
//! The Linux kernel runs none of this code, because eBPF has no floating point. The controls that it can load are
//! written a second time, in C (`ackclock-kernel`); tests send the same signals to both versions and compare their
//! windows.
//!
//! The contract between the two sides:
//! - The driver calls [`Controller::on`] with times that never decrease, counts every packet as delivered
//!   once, measures no RTT from a retransmission, counts round trips, and reports whether the window
//!   limited sending.
//! - `Loss` comes once per loss episode and cuts at once; `Timeout` ends an episode. While
//!   [`Ack::recovering`] is set a control may measure but not grow ([`Ack::growth`] enforces it), unless its window
//!   only caps what a model of the path paces ([`Wants::window_is_a_cap`]).
//! - Signals that few controls read are measured only for those that ask for them ([`Controller::WANTS`]); others see
//!   zeros or `None`.
//! - The control owns window, ssthresh and slow start. Its window is finite, at least 1, and at least 2
//!   after `Loss`, whatever the signals.
//! - The sender owns duplicate ACKs, window inflation, the pipe, and the end of an episode. A sender that follows Linux
//!   2.6 signals there how far the window falls (`Moderated`), to controls whose entry has a half floor.
//!
//! ```
//! use ackclock_cc::{Ack, Controller, Signal, Start, reno::{Reno, RenoParams}};
//! use ackclock_units::{Time, Window};
//!
//! let mut reno = Reno::new(RenoParams::default(), Start { ssthresh: Window(8.0), ..Start::default() });
//! for _ in 0..6 {
//!     reno.on(Time::ZERO, Signal::Ack(Ack::of_one_packet()));
//! }
//! assert_eq!(reno.decision().window, Window(8.0)); // slow start: 2 + 6
//! reno.on(Time::ZERO, Signal::Loss { ecn: false });
//! assert_eq!(reno.decision().window, Window(4.0)); // halved
//! ```
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;

pub mod africa;
pub mod aimd;
pub mod bbr;
pub mod bbr3;
pub mod bic;
pub mod bic_linux;
pub mod compound;
pub mod compound_linux;
pub mod constant;
pub mod contract;
pub mod copa;
pub mod cubic;
pub mod dctcp;
#[cfg(feature = "alloc")]
pub mod erased;
pub mod fast;
pub mod fit;
pub mod gaimd;
pub mod hstcp;
pub mod htcp;
pub mod htcp_linux;
pub mod hybla;
pub mod illinois;
pub mod ledbat;
pub mod ledbat_plus_plus;
#[cfg(feature = "alloc")]
pub mod library;
pub mod multcp;
pub mod parameters;
pub mod parts;
pub mod prague;
#[cfg(feature = "alloc")]
pub mod registry;
pub mod reno;
pub mod scalable;
pub mod vegas;
pub mod veno;
pub mod westwood;
pub mod yeah;

use core::fmt::Debug;

use ackclock_units::{PacketRate, Packets, Span, Time, Window};

pub use ackclock_units as units;
pub use parameters::{Domain, Parameter, ParameterError, Parameters, Value};

/// A congestion control.
pub trait Controller: Clone + Debug + Send + Sync + 'static {
    /// The constants of its source, readable and writable by name.
    type Params: Parameters;

    /// The measurements and settings that the control wants from its driver in addition to acknowledgements and loss
    /// events.
    const WANTS: Wants = Wants::NOTHING;

    /// A control at the start of a connection.
    fn new(params: Self::Params, start: Start) -> Self;

    /// Processes a signal at `now`: the only method that changes state.
    fn on(&mut self, now: Time, signal: Signal);

    /// The current decision for the driver.
    fn decision(&self) -> Decision;

    /// Calls `visit` with the internals (alpha, mode, ...) by name, for the trace.
    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let _ = visit;
    }
}

/// The measurements and settings that a control wants from its driver in addition to acknowledgements and loss events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wants {
    /// It reads [`Ack::rate`]; a driver measures delivery rates only for controls that do.
    pub rate: bool,
    /// It learns of every lost packet ([`Signal::Lost`], [`Ack::lost`]) and of restarts ([`Signal::Restart`]); its
    /// delivery rates then know of losses, and of an application that was the limit.
    pub losses: bool,
    /// It reads [`Ack::marked`] and reacts to ECN marks by itself; a driver then signals no loss event for a mark.
    pub marks: bool,
    /// A model of the path sets the pace, and the window is only a cap, as in BBR: it may then grow on any
    /// acknowledgement, even during a loss episode and when the application limits sending.
    pub window_is_a_cap: bool,
    /// The ECN codepoint of its data.
    pub ecn: Ecn,
}

impl Wants {
    /// Acknowledgements and loss events are enough.
    pub const NOTHING: Wants =
        Wants { rate: false, losses: false, marks: false, window_is_a_cap: false, ecn: Ecn::AsConfigured };
}

/// The ECN codepoint that a control requests for its data (RFC 3168, section 5; RFC 9331, section 4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The sender's own setting: Not-ECT or ECT(0).
    #[default]
    AsConfigured,
    /// ECT(0).
    Ect0,
    /// ECT(1): low latency, low loss, scalable throughput (L4S).
    Ect1,
}

/// Where a connection starts: settings of the sender that the control takes over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// Initial window, and the window after a restart from idle.
    pub window: Window,
    /// Initial slow-start threshold.
    pub ssthresh: Window,
    /// Leave slow start before the first loss.
    pub hystart: HyStart,
    /// The rules to follow where standards and Linux differ.
    pub rules: Rules,
    /// A value that a control hashes instead of drawing random numbers; 0 selects the middle of each range.
    pub seed: u64,
}

impl Default for Start {
    /// Two packets, no threshold, no HyStart: the setting of ns-2.
    fn default() -> Self {
        Start {
            window: Window(2.0),
            ssthresh: Window::UNLIMITED,
            hystart: HyStart::Off,
            rules: Rules::Standard,
            seed: 0,
        }
    }
}

/// The rules to follow where standards and Linux differ, in all controls or in those of standards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rules {
    /// After an idle time the window is the initial one (RFC 5681, section 4.1). Reno adds 1/W per acknowledgement.
    #[default]
    Standard,
    /// An idle time halves the window once per timeout, down to the initial one, and ssthresh becomes 3/4 of it where that is
    /// more (`tcp_cwnd_restart`). Reno adds whole packets (`tcp_cong_avoid_ai`).
    Linux,
}

impl Rules {
    /// The word for them in controls that are not written in Rust.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Rules::Standard => "standard",
            Rules::Linux => "linux",
        }
    }
}

/// The mechanism that ends slow start in addition to loss events and ssthresh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HyStart {
    /// Nothing.
    #[default]
    Off,
    /// HyStart++ (RFC 9406), in every control with a slow start of the standard's kind.
    PlusPlus,
    /// HyStart as in Linux: a part of CUBIC, and of no other control.
    Linux {
        /// The sender paces its packets.
        paced: bool,
    },
}

/// The window and pacing that a control sets for its driver.
#[derive(Clone, Copy, Debug, PartialEq)]
// Window and threshold are not neighbours: a control mostly changes the window alone, and a processor would wait for that
// before it could copy both at once.
#[repr(C)]
pub struct Decision {
    /// The congestion window, without any inflation by the sender's recovery. At least 1 and finite.
    pub window: Window,
    /// A rate to pace at; `None` leaves pacing to the driver.
    pub pacing_rate: Option<PacketRate>,
    /// The slow-start threshold; infinite before the first loss.
    pub ssthresh: Window,
    /// Packets that may be sent back to back when pacing; `None` is one.
    pub quantum: Option<Packets>,
}

/// An event on the connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Signal {
    /// An acknowledgement arrived.
    Ack(Ack),
    /// A loss episode began; once per episode.
    Loss {
        /// An ECN mark, not a lost packet, began it.
        ecn: bool,
    },
    /// The episode that `Loss` began has ended without a timeout.
    Recovered,
    /// The retransmission timer expired; this ends an episode.
    Timeout {
        /// False when the same packet timed out before: ssthresh then stays.
        first: bool,
    },
    /// All packets that were outstanding at the last expiry of the timer have been acknowledged. Only Linux's recovery
    /// signals it.
    CaughtUp,
    /// The last `Loss` or `Timeout` was a false alarm.
    Undo,
    /// At the end of an episode the sender had far less in flight than ssthresh, so that the window falls to
    /// `window` packets, unless it is smaller; ssthresh stays. Only some senders do this
    /// (`tcp_moderate_cwnd` of Linux 2.6).
    Moderated {
        /// The window to fall to, at least 1.
        window: Packets,
    },
    /// The connection was idle for longer than the retransmission timeout and now sends again.
    Idle {
        /// Whole retransmission timeouts that have passed, at least 1.
        timeouts: u32,
    },
    /// A packet is considered lost, for controls with [`Wants::losses`]; before the `Ack`, `Loss` or
    /// `Timeout` that results.
    Lost(Lost),
    /// A packet is sent while nothing is in flight and the application was the limit, for controls with
    /// [`Wants::losses`].
    Restart,
}

/// A packet that is considered lost, as it was when it was sent last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Packets in flight when it was sent, itself included.
    pub tx_in_flight: Packets,
    /// Packets considered lost since then, itself included.
    pub lost_since_sent: Packets,
    /// The application was the limit when it was sent.
    pub application_limited: bool,
}

/// An acknowledgement, as a control sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// The growth that it allows: 1 per ACK that acknowledges new data, or the packets that it
    /// delivered when growth is per packet; 0 for a duplicate.
    pub credit: f64,
    /// Packets that it newly reports as received, cumulatively or selectively.
    pub delivered: Packets,
    /// The round-trip time that it measures, never of a retransmission.
    pub rtt: Option<Span>,
    /// Packets in the network after it.
    pub in_flight: Packets,
    /// The window, not the application or the receiver, was what limited sending. With Linux's recovery this is true, too, in
    /// slow start as long as the window is less than twice what was in flight (`tcp_is_cwnd_limited`).
    pub window_limited: bool,
    /// Round trips completed since the start of the connection.
    pub round: u64,
    /// A loss episode is in progress: measure, but do not grow.
    pub recovering: bool,
    /// The delivery rate, for controls that want it.
    pub rate: Option<RateSample>,
    /// Packets considered lost since the previous `Ack`, for controls that want losses, else 0.
    pub lost: Packets,
    /// Packets that the receiver newly reports as marked (RFC 9768), for controls that want marks, else 0.
    pub marked: Packets,
    /// The window limited sending at some time in this round trip or the previous one; [`Ack::window_limited`] is about
    /// this moment.
    pub round_limited: bool,
}

impl Ack {
    /// An ordinary acknowledgement of one packet, a starting point for tests and examples.
    #[must_use]
    pub const fn of_one_packet() -> Self {
        Ack {
            credit: 1.0,
            delivered: Packets(1),
            rtt: None,
            in_flight: Packets(0),
            window_limited: true,
            round: 0,
            recovering: false,
            rate: None,
            lost: Packets(0),
            marked: Packets(0),
            round_limited: true,
        }
    }

    /// How much the window may grow on this acknowledgement: its credit, or 0 during recovery and
    /// when something other than the window limited sending. Every control grows by this alone.
    #[must_use]
    pub fn growth(&self) -> f64 {
        if self.recovering || !self.window_limited { 0.0 } else { self.credit }
    }
}

/// A measured delivery rate (draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// Packets delivered over the interval.
    pub delivered: Packets,
    /// The longer of the times that sending and acknowledging them took.
    pub interval: Span,
    /// The application did not always have data to send.
    pub application_limited: bool,
    /// Packets delivered in total when the newest packet of the sample was sent.
    pub prior_delivered: Packets,
    /// Packets in flight when it was sent, itself included.
    pub tx_in_flight: Packets,
    /// Packets considered lost since it was sent, for controls that want losses, else 0.
    pub lost: Packets,
}
