//! A checked scenario: every value is possible, every default is filled in.

use ackclock_cc::Value;
use ackclock_units::{Bytes, Packets, Rate, Span, Window};

/// What is to be run.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Duration, seed and sampling.
    pub run: Run,
    /// The topology.
    pub dumbbell: Dumbbell,
    /// The flows, `count` already expanded, in the order of the file; a flow's id is its index.
    pub flows: Vec<Flow>,
}

/// Duration, seed and sampling of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Simulated time.
    pub duration: Span,
    /// Metrics are measured from here on.
    pub warmup: Span,
    /// The seed of every random stream.
    pub seed: u64,
    /// When the trace is sampled.
    pub sample: Sample,
}

/// When the trace is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// At every multiple of this span.
    Every(Span),
    /// Once per round trip of each flow.
    RoundTrip,
}

/// One bottleneck between two routers, with a propagation round trip per flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Dumbbell {
    /// Propagation delay of the bottleneck, one way.
    pub delay: Span,
    /// The direction of data of forward flows.
    pub forward: Link,
    /// The other direction: acknowledgements of forward flows, data of reverse ones.
    pub reverse: Link,
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Rate at which it serialises packets.
    pub rate: Rate,
    /// Its queue.
    pub queue: Queue,
    /// Packets it loses at random, before the queue.
    pub loss: Loss,
}

/// A queue discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// First in, first out; what does not fit is dropped.
    Droptail {
        /// What fits, the packet in transmission included.
        limit: Limit,
    },
}

/// The size of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// In packets.
    Packets(Packets),
    /// In bytes.
    Bytes(Bytes),
}

/// A loss model.
#[derive(Clone, Copy, Debug, PartialEq)]
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
}

/// One flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Its name, unique in the scenario.
    pub name: String,
    /// The name of its congestion control.
    pub controller: String,
    /// Parameters of the control that differ from its defaults.
    pub params: Vec<(String, ParamValue)>,
    /// Propagation round trip.
    pub rtt: Span,
    /// Rate of its access link; `None` is unlimited.
    pub access: Option<Rate>,
    /// Which way its data goes.
    pub direction: Direction,
    /// When it starts.
    pub start: Start,
    /// When it stops sending; `None`: at the end of the run.
    pub stop: Option<Span>,
    /// How much it sends; `None`: without end.
    pub bytes: Option<Bytes>,
    /// Settings of its sender and receiver.
    pub tcp: Tcp,
}

/// A parameter's value, owned.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamValue {
    /// A number.
    Number(f64),
    /// A word.
    Text(String),
    /// Yes or no.
    Flag(bool),
}

impl ParamValue {
    /// The value as controls take it.
    #[must_use]
    pub fn as_value(&self) -> Value<'_> {
        match self {
            ParamValue::Number(number) => Value::Number(*number),
            ParamValue::Text(text) => Value::Choice(text),
            ParamValue::Flag(flag) => Value::Flag(*flag),
        }
    }
}

/// Which way a flow's data goes over the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From left to right.
    Forward,
    /// From right to left.
    Reverse,
}

/// When a flow starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At this time.
    At(Span),
    /// At a random time, uniform between the two.
    Uniform(Span, Span),
}

/// Settings of a TCP sender and receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct Tcp {
    /// The profile that the other settings come from.
    pub profile: Profile,
    /// A data packet on the wire, all headers included.
    pub packet: Bytes,
    /// An acknowledgement on the wire.
    pub ack: Bytes,
    /// Initial window, packets.
    pub initial_window: Window,
    /// Initial slow-start threshold, packets.
    pub initial_ssthresh: Window,
    /// Limit on packets in flight set by the receiver; `None` is unlimited.
    pub receive_window: Option<Packets>,
    /// How losses are found and repaired.
    pub recovery: Recovery,
    /// Smallest retransmission timeout.
    pub min_rto: Span,
    /// Largest retransmission timeout.
    pub max_rto: Span,
    /// Retransmission timeout before the first RTT sample.
    pub initial_rto: Span,
    /// Granularity of the retransmission timer.
    pub clock: Span,
    /// Packets per acknowledgement: 1 or 2.
    pub delayed_ack: u64,
    /// How long an acknowledgement is held back.
    pub delayed_ack_timer: Span,
    /// New packets on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Packets sent at once at most; `None`: no limit.
    pub max_burst: Option<Packets>,
    /// Upper end of the uniform random delay before each send.
    pub overhead: Span,
    /// What the window grows by.
    pub growth: Growth,
    /// Spread packets over the round trip.
    pub pacing: bool,
    /// HyStart++ in slow start.
    pub hystart: bool,
}

/// Where the settings of a sender come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// ns-2's defaults, the papers' setting.
    Ns2,
    /// What Linux does.
    Linux,
}

/// How a sender finds and repairs losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// RFC 5681.
    Reno,
    /// RFC 6582.
    NewReno,
    /// RFC 6675.
    Sack,
    /// RFC 8985 with proportional rate reduction.
    Rack,
}

/// What the window grows by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// By one credit per acknowledgement.
    PerAck,
    /// By one credit per packet delivered.
    PerPacket,
}
