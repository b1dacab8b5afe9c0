//! Flows: their control, what they send and when.

use ackclock_cc::Value;
use ackclock_units::{Bytes, Rate, Span};

use crate::tcp::Tcp;
use crate::words::words;

/// One flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Its name, unique in the scenario.
    pub name: String,
    /// What results show in place of the control's name: the control, or the source for other traffic.
    pub label: String,
    /// The congestion control of its connection; empty for datagrams.
    pub control: String,
    /// Parameters of the control that differ from its defaults, in the order of its list.
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
    pub start: Moment,
    /// When it stops sending; `None`: at the end of the run. A random time is not drawn before the flow's start: it is
    /// uniform between the later of the start and the first of the two, and the second.
    pub stop: Option<Moment>,
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

words! {
    /// What carries a flow.
    Transport {
        /// The simulator's TCP.
        Tcp = "tcp",
        /// QUIC endpoints that are real but for their time.
        Quic = "quic",
    }
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
    /// Their ECN field.
    pub codepoint: Codepoint,
}

words! {
    /// The ECN field of a packet, as it is sent (RFC 3168, RFC 9331).
    Codepoint {
        /// It may only be dropped.
        NotEct = "not-ect",
        /// It may be marked.
        Ect0 = "ect0",
        /// It may be marked, and asks for the queue of low latency.
        Ect1 = "ect1",
    }
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

/// A time, given or random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// This time.
    At(Span),
    /// A random time, uniform between the two.
    Uniform(Span, Span),
}

impl Moment {
    /// The latest time that it may be.
    #[must_use]
    pub const fn latest(self) -> Span {
        match self {
            Moment::At(latest) | Moment::Uniform(_, latest) => latest,
        }
    }
}
