//! A checked scenario: every value is possible, every default is filled in.

use ackclock_cc::Value;
use ackclock_units::{Bytes, Packets, Rate, Span, Window};

/// What is to be run.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Duration, seed and sampling.
    pub run: Run,
    /// The links, each one direction; a link's id is its index. Those of a dumbbell are the bottleneck and its
    /// other direction.
    pub links: Vec<Link>,
    /// The flows, `count` already expanded, in the order of the file; a flow's id is its index.
    pub flows: Vec<Flow>,
    /// Changes during the run, in the order of the file.
    pub events: Vec<Event>,
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

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
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
}

/// Opportunities to send up to 1500 bytes each, over and over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateTrace {
    /// When they come, milliseconds, in order; the last one is the length of the trace.
    pub milliseconds: Vec<u64>,
}

/// Random changes of a propagation delay, one per packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noise {
    /// How it is distributed.
    pub kind: NoiseKind,
    /// Packets may overtake each other.
    pub reorder: bool,
}

/// How delay noise is distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseKind {
    /// Uniform from zero to this.
    Uniform(Span),
    /// Gaussian with mean zero and this standard deviation; a delay that would be negative is zero.
    Gaussian(Span),
}

/// A queue discipline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Queue {
    /// First in, first out; what does not fit is dropped.
    Droptail {
        /// What fits, the packet in transmission included.
        limit: Limit,
    },
    /// Random early detection (Floyd, Jacobson 1993), adaptive or not.
    Red {
        /// What fits.
        limit: Limit,
        /// Average queue from which packets are dropped, packets.
        min_threshold: f64,
        /// Average queue at which the probability is `max_p`, packets.
        max_threshold: f64,
        /// Gain of the average; `None`: by the rate of the link.
        weight: Option<f64>,
        /// Probability at the upper threshold.
        max_p: f64,
        /// The probability rises to 1 at twice the upper threshold.
        gentle: bool,
        /// Drops are spaced evenly.
        uniform: bool,
        /// Packets that can be marked are marked.
        ecn: bool,
        /// Adaptive: `max_p` moves, but not below this.
        adaptive: Option<f64>,
    },
    /// Controlled delay (RFC 8289).
    Codel {
        /// What fits.
        limit: Limit,
        /// Its law.
        codel: Codel,
    },
    /// PIE (RFC 8033).
    Pie {
        /// What fits.
        limit: Limit,
        /// Delay to keep.
        target: Span,
        /// Bursts of this length are let through.
        burst: Span,
        /// Packets that can be marked are marked.
        ecn: bool,
    },
    /// FQ-CoDel (RFC 8290).
    FqCodel {
        /// What fits in all queues together.
        limit: Limit,
        /// The law of each queue.
        codel: Codel,
        /// Bytes per turn.
        quantum: Bytes,
        /// Queues that flows are spread over.
        queues: u32,
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
            | Queue::FqCodel { limit, .. } => *limit,
        }
    }
}

/// The law of CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codel {
    /// Delay that may stand.
    pub target: Span,
    /// How long it may be exceeded.
    pub interval: Span,
    /// Packets that can be marked are marked.
    pub ecn: bool,
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
#[derive(Clone, Debug, PartialEq)]
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
    /// The n-th packet of each flow is lost if the n-th entry says so, over and over.
    Trace {
        /// The entries.
        lost: Vec<bool>,
    },
}

/// A change during the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When.
    pub when: When,
    /// The link.
    pub link: usize,
    /// What changes.
    pub change: Change,
}

/// When an event happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At this time.
    At(Span),
    /// When this flow has completed this many round trips.
    RoundTrip {
        /// The flow's id.
        flow: usize,
        /// Its round trips.
        count: u64,
    },
}

/// What an event changes at a link.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Its rate; the packet in transmission keeps its finish time.
    Rate(Rate),
    /// Its propagation delay; no packet overtakes another unless the link reorders.
    Delay(Span),
    /// Its queue; waiting packets move into the new one.
    Queue(Queue),
    /// Its loss model.
    Loss(Loss),
    /// Its delay noise.
    Noise(Option<Noise>),
}

/// One flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Its name, unique in the scenario.
    pub name: String,
    /// What results call it: the name of its congestion control, or of its source.
    pub controller: String,
    /// The congestion control of its connection; empty for datagrams.
    pub control: String,
    /// Parameters of the control that differ from its defaults.
    pub params: Vec<(String, ParamValue)>,
    /// What it sends and when.
    pub traffic: Traffic,
    /// What carries it.
    pub transport: Transport,
    /// Propagation round trip.
    pub rtt: Span,
    /// Rate of its access link; `None` is unlimited.
    pub access: Option<Rate>,
    /// Links that its data goes over, in order.
    pub path: Vec<usize>,
    /// Links that its acknowledgements go over, in order.
    pub back: Vec<usize>,
    /// When it starts.
    pub start: Start,
    /// When it stops sending; `None`: at the end of the run.
    pub stop: Option<Span>,
    /// How much it sends; `None`: without end.
    pub bytes: Option<Bytes>,
    /// Standard deviation of the noise on its RTT measurements: uniform on [0, 2 sigma].
    pub rtt_noise: Span,
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

/// What carries a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// The simulator's TCP.
    Tcp,
    /// QUIC endpoints that are real but for their time.
    Quic,
}

/// What a flow sends and when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Traffic {
    /// All that its control lets out.
    Bulk,
    /// Pages of a web session over one connection, under its control.
    Web(Web),
    /// Several Reno connections whose number follows the queue (E-MulTCP).
    Emultcp(Emultcp),
    /// Datagrams at a rate that nothing changes.
    Datagrams(Datagrams),
}

/// A web session: think, fetch a page, think.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Web {
    /// Mean think time, exponential.
    pub think: Span,
    /// Objects per page, the mean of a geometric distribution.
    pub objects: f64,
    /// Mean size of an object.
    pub object: Bytes,
    /// Pareto shape of the sizes, above 1.
    pub shape: f64,
}

/// E-MulTCP (Chen, Zakhor).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Emultcp {
    /// The group that the connection belongs to: flows of one `[[flow]]`.
    pub group: usize,
    /// Its place in the group.
    pub place: u32,
    /// Connections in the group.
    pub size: u32,
}

/// Datagrams that nothing changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Datagrams {
    /// Rate while on.
    pub rate: Rate,
    /// Times between packets are exponential, not constant.
    pub poisson: bool,
    /// On and off times; `None`: always on.
    pub cycle: Option<Cycle>,
}

/// On and off times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycle {
    /// Mean time on.
    pub on: Span,
    /// Mean time off.
    pub off: Span,
    /// Pareto shape of both, above 1; `None`: exponential.
    pub shape: Option<f64>,
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
    /// Gain of pacing after slow start.
    pub pacing_gain: f64,
    /// Gain of pacing in slow start.
    pub slow_start_gain: f64,
    /// Packets that may be in flight however small the window is.
    pub min_window: Packets,
    /// HyStart++ in slow start.
    pub hystart: bool,
    /// Packets can be marked, and a mark counts as a loss event (RFC 3168).
    pub ecn: bool,
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
    /// FACK and rate halving, as TCP-Linux of ns-2 has them.
    Linux26,
}

/// What the window grows by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// By one credit per acknowledgement.
    PerAck,
    /// By one credit per packet delivered.
    PerPacket,
}
