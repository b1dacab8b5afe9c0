//! Links: rates, queues, losses and delay noise.

use std::fmt;

use ackclock_units::{Bytes, Packets, Rate, Span};
use serde::Serialize;

use super::Shared;
pub use crate::plain::{Aggregation, Codel, DualPi2, Policer};
use crate::words::words;

/// Longest delay of a link.
pub const LONGEST: Span = Span::from_seconds(180 * 24 * 3600);

/// One direction of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Link {
    /// Its name, unique in the scenario.
    pub name: String,
    /// Rate at which it serialises packets; with a trace, the trace's mean.
    pub rate: Rate,
    /// When it can send, in place of a rate.
    pub trace: Option<RateTrace>,
    /// Propagation delay.
    pub delay: Span,
    /// Its queue.
    pub queue: Queue,
    /// Packets it loses at random, before the queue.
    pub loss: Loss,
    /// Random changes of its delay.
    pub noise: Option<Noise>,
    /// Drops what exceeds a rate, before the queue.
    pub policer: Option<Policer>,
    /// Packets reach the far end in groups.
    pub aggregation: Option<Aggregation>,
    /// Whether it sends, at the start of the run.
    pub up: bool,
    /// The treatment of packets while it does not.
    pub outage: Outage,
}

words! {
    /// The treatment of packets of a link that is down. The one in transmission when it goes down arrives.
    Outage {
        /// They wait in the queue, as far as they fit.
        Hold = "hold",
        /// Those that wait and those that arrive are dropped.
        Drop = "drop",
    }
}

/// Opportunities to send up to 1500 bytes each, over and over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RateTrace {
    /// When they come, milliseconds, in order; the last one is the length of the trace.
    pub milliseconds: Shared<Vec<u64>>,
}

/// Random changes of a propagation delay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Noise {
    /// How it is distributed.
    pub kind: NoiseKind,
    /// Packets may overtake each other.
    pub reorder: bool,
    /// How long a change lasts: the same for all packets that are sent in one interval of this length, of which the first
    /// begins at time 0. `None`: each packet has its own.
    pub hold: Option<Span>,
    /// Share that a draw has of the one before it of the flow, as netem has it; only of uniform noise and tables.
    pub correlation: f64,
}

/// How delay noise is distributed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum NoiseKind {
    /// Uniform from zero to this.
    Uniform(Span),
    /// Gaussian with mean zero and this standard deviation; a delay that would be negative is zero.
    Gaussian(Span),
    /// As a table of netem says: a value, of which each is as likely, times this over 8192; a delay that would be negative is
    /// zero.
    Table(Span, Shared<Vec<i32>>),
    /// As C. Huitema models Wi-Fi (draft-huitema-ccwg-c4-test): N1 of 1 ms, N1 ~ Poisson(1), less a uniform part of one
    /// unless N1 is 0; and with probability (mean - 1 ms)/90 ms N2 of 7.5 ms, N2 ~ Poisson(12).
    Wifi(Span),
}

/// A queue discipline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum Queue {
    /// First in, first out; what does not fit is dropped.
    Droptail {
        /// The capacity, including the packet in transmission.
        limit: Limit,
    },
    /// Random early detection (Floyd, Jacobson 1993), adaptive or not.
    Red {
        /// The capacity.
        limit: Limit,
        /// Its thresholds and probabilities.
        red: Red,
    },
    /// Controlled delay (RFC 8289).
    Codel {
        /// The capacity.
        limit: Limit,
        /// Its law.
        codel: Codel,
    },
    /// PIE (RFC 8033).
    Pie {
        /// The capacity.
        limit: Limit,
        /// Delay to keep.
        target: Span,
        /// Bursts of this length are let through.
        burst: Span,
        /// Packets that can be marked are marked.
        ecn: bool,
    },
    /// Every packet above a threshold is marked (RFC 8257).
    Step {
        /// The capacity.
        limit: Limit,
        /// Above what.
        threshold: Threshold,
    },
    /// FQ-CoDel (RFC 8290).
    FqCodel {
        /// The capacity of all queues together.
        limit: Limit,
        /// The law of each queue.
        codel: Codel,
        /// Bytes per turn.
        quantum: Bytes,
        /// Queues that flows are spread over.
        queues: u32,
    },
    /// DualPI2 (RFC 9332, appendix A).
    DualPi2 {
        /// The capacity of the two queues together.
        limit: Limit,
        /// Its controller, its marking and its scheduler.
        dualpi2: DualPi2,
    },
}

impl Queue {
    /// What fits, the packet in transmission included.
    #[must_use]
    pub const fn limit(&self) -> Limit {
        match self {
            Queue::Droptail { limit }
            | Queue::Red { limit, .. }
            | Queue::Codel { limit, .. }
            | Queue::Pie { limit, .. }
            | Queue::Step { limit, .. }
            | Queue::FqCodel { limit, .. }
            | Queue::DualPi2 { limit, .. } => *limit,
        }
    }
}

/// The thresholds and probabilities of RED.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Red {
    /// Average queue from which packets are dropped, packets.
    pub min_threshold: f64,
    /// Average queue at which the probability is `max_p`, packets.
    pub max_threshold: f64,
    /// Gain of the average; `None`: by the rate of the link.
    pub weight: Option<f64>,
    /// Probability at the upper threshold.
    pub max_p: f64,
    /// The probability rises to 1 at twice the upper threshold.
    pub gentle: bool,
    /// How drops are spaced.
    pub spacing: DropSpacing,
    /// The packet by which idle time and the default gain of the average count.
    pub mean_packet: Bytes,
    /// Packets that can be marked are marked.
    pub ecn: bool,
    /// Adaptive: `max_p` moves, but not below this.
    pub adaptive: Option<f64>,
}

words! {
    /// How RED spaces its drops, with p the probability that follows from the average queue.
    DropSpacing {
        /// As ns-2 and ns-3 do: none of the first 1/p packets after a drop, then gaps up to 2/p, 1.5/p on average.
        Wait = "wait",
        /// As the paper of 1993 does: gaps from 1 to 1/p, 1/(2p) on average.
        Paper = "paper",
        /// Independent drops, 1/p packets apart on average.
        None = "none",
    }
}

/// The threshold above which packets are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Threshold {
    /// Packets that a packet finds when it arrives, the one in transmission included.
    Packets(Packets),
    /// The time that a packet has waited when it leaves.
    Time(Span),
}

words! {
    /// The scheduler of the two queues of DualPI2.
    Scheduler {
        /// Weighted round robin.
        WeightedRoundRobin = "wrr",
        /// First in, first out, where L's packets count as if they had come earlier.
        TimeShiftedFifo = "ts-fifo",
    }
}

words! {
    /// The reaction of DualPI2 when it marks every packet of L and the delay still grows.
    Overload {
        /// It drops packets of either queue with C's probability.
        Drop = "drop",
        /// Its probability stays there, and what does not fit is dropped.
        Overflow = "overflow",
    }
}

/// The size of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Limit {
    /// In packets.
    Packets(Packets),
    /// In bytes.
    Bytes(Bytes),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Packets(packets) => packets.fmt(f),
            Limit::Bytes(bytes) => bytes.fmt(f),
        }
    }
}

/// A loss model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Loss {
    /// Nothing is lost at random.
    None,
    /// Every n-th arriving packet of each flow is lost, retransmissions counted.
    Periodic {
        /// n, at least 1.
        every: u64,
    },
    /// Each packet is lost independently with this probability.
    Bernoulli {
        /// From 0 to 1.
        probability: f64,
    },
    /// Two states, a chain over the packets of each flow (Gilbert 1960, Elliott 1963).
    GilbertElliott {
        /// Probability of going from the good to the bad state, per packet.
        to_bad: f64,
        /// Probability of going back.
        to_good: f64,
        /// Probability of a loss in the good state.
        loss_good: f64,
        /// Probability of a loss in the bad state.
        loss_bad: f64,
    },
    /// Two states that the link is in for exponential times, whoever sends meanwhile.
    GilbertElliottInTime {
        /// Mean time in the good state.
        good: Span,
        /// Mean time in the bad state.
        bad: Span,
        /// Probability of a loss in the good state.
        loss_good: f64,
        /// Probability of a loss in the bad state.
        loss_bad: f64,
    },
    /// Packets that arrive in these intervals are lost.
    Bursts {
        /// From when, and until when, in order and apart.
        intervals: Shared<Vec<(Span, Span)>>,
    },
    /// The n-th packet of each flow is lost if the n-th entry says so, over and over.
    Trace {
        /// The entries.
        lost: Shared<Vec<bool>>,
    },
}
