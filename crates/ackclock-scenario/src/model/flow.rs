//! Flows: their control, what they send and when.

use ackclock_cc::Value;
use ackclock_units::{Bytes, Rate, Span};
use serde::Serialize;

use super::{Noise, Shared};
use crate::tcp::Tcp;
use crate::words::words;

/// One flow. What has no fixed size is shared with the other flows of its `[[flow]]`, but for the name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flow {
    /// Its name, unique in the scenario.
    pub name: String,
    /// The name under which results show it: the control, or the source for other traffic.
    pub label: Shared<String>,
    /// The congestion control of its connection; empty for datagrams.
    pub control: Shared<String>,
    /// Parameters of the control that differ from its defaults, in the order of its list.
    pub params: Shared<Vec<(String, ParamValue)>>,
    /// Its source of data.
    pub traffic: Traffic,
    /// Its transport protocol.
    pub transport: Transport,
    /// Propagation round trip.
    pub rtt: Span,
    /// Rate of its access link; `None` is unlimited.
    pub access: Option<Rate>,
    /// Links that its data goes over, in order.
    pub path: Shared<Vec<usize>>,
    /// Links that its acknowledgements go over, in order.
    pub back: Shared<Vec<usize>>,
    /// When it starts.
    pub start: Moment,
    /// When it stops sending; `None`: at the end of the run. A random time is not drawn before the flow's start: it is
    /// uniform between the later of the start and the first of the two, and the second.
    pub stop: Option<Moment>,
    /// How much it sends; `None`: without end.
    pub bytes: Option<Bytes>,
    /// Rate at which the application of a bulk transfer hands its data over; `None`: all of it is there at once.
    pub limit: Option<Rate>,
    /// Changes of its application during the run, in order of time.
    pub changes: Shared<Vec<ApplicationChange>>,
    /// Random changes of the delay of its data, on its access link.
    pub delay_noise: Option<Noise>,
    /// The same of what comes back to its sender.
    pub reverse_noise: Option<Noise>,
    /// How its receiver lies.
    pub lies: Lies,
    /// Standard deviation of the noise on its RTT measurements: uniform on [0, 2 sigma].
    pub rtt_noise: Span,
    /// Settings of its sender and receiver.
    pub tcp: Shared<Tcp>,
}

/// Short flows that arrive as a Poisson process. Which ones do is drawn in each run anew.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Arrivals {
    /// The flow that all of them repeat; its name is followed by their numbers.
    pub flow: Flow,
    /// Mean time between two of them.
    pub gap: Span,
    /// When they arrive: from the first to the second.
    pub between: (Span, Span),
    /// How much each of them sends.
    pub sizes: Sizes,
}

impl Arrivals {
    /// How many are expected.
    #[must_use]
    pub fn expected(&self) -> f64 {
        (self.between.1 - self.between.0).as_seconds() / self.gap.as_seconds()
    }
}

/// How a receiver lies to a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Lies {
    /// Acknowledgements in place of one that acknowledges something new.
    pub split: u64,
    /// It acknowledges everything up to the newest packet, whatever is missing.
    pub advance: bool,
    /// It tells of no mark.
    pub ignore_marks: bool,
}

impl Lies {
    /// An honest receiver.
    pub const NONE: Lies = Lies { split: 1, advance: false, ignore_marks: false };
}

/// A parameter's value, owned.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// The transport protocol of a flow.
    Transport {
        /// The simulator's TCP.
        Tcp = "tcp",
        /// QUIC endpoints that are real but for their time.
        Quic = "quic",
    }
}

/// The source of a flow's data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Traffic {
    /// All that its control lets out.
    Bulk,
    /// Pages of a web session over one connection, under its control.
    Web(Web),
    /// Requests over one connection, under its control.
    Requests(Shared<Requests>),
    /// Several Reno connections whose number follows the queue (E-MulTCP).
    Emultcp(Emultcp),
    /// Datagrams at a rate that nothing changes.
    Datagrams(Datagrams),
    /// Frames of audio or video.
    Media(Media),
}

/// A web session: think, fetch a page, think.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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

/// Requests over one connection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Requests {
    /// How large they are.
    pub sizes: Sizes,
    /// The moment from which the time in between counts.
    pub pause: Pause,
    /// Whether it is always the same.
    pub spacing: Spacing,
    /// How many there are; `None`: no end.
    pub count: Option<u64>,
}

/// A change of an application.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ApplicationChange {
    /// When.
    pub at: Span,
    /// Its new setting.
    pub to: ApplicationSetting,
}

/// A setting of an application that may change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum ApplicationSetting {
    /// Rate at which bulk data is handed over; `None`: all that is left at once.
    Limit(Option<Rate>),
    /// When the next request comes.
    Pause(Pause),
    /// How large requests are.
    Size(Sizes),
}

/// When the next request comes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Pause {
    /// This long after the start of the one before, whether that is complete or not.
    Every(Span),
    /// This long after all of the one before was acknowledged.
    Think(Span),
    /// At these times from the start of the flow, in order, with these sizes.
    Listed(Shared<Vec<(Span, Bytes)>>),
}

words! {
    /// Whether a time is always the same.
    Spacing {
        /// It is.
        Fixed = "fixed",
        /// It is the mean of exponential times.
        Exponential = "exponential",
    }
}

/// Sizes with their shares, which add up to 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sizes(pub Vec<(Bytes, f64)>);

impl Sizes {
    /// The mean, in whole packets of `packet` bytes.
    #[must_use]
    pub fn mean_packets(&self, packet: Bytes) -> f64 {
        self.0.iter().map(|(bytes, share)| share * bytes.0.div_ceil(packet.0) as f64).sum()
    }

    /// The size at `fraction`, from 0 to 1, when they lie side by side in the order of the file, each as long as its
    /// share.
    #[must_use]
    pub fn at(&self, fraction: f64) -> Bytes {
        let mut end = 0.0;
        let within = |(_, share): &&(Bytes, f64)| {
            end += share;
            fraction < end
        };
        self.0.iter().find(within).or(self.0.last()).map_or(Bytes(1), |(size, _)| *size)
    }
}

/// E-MulTCP (Chen, Zakhor).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Emultcp {
    /// The group that the connection belongs to: flows of one `[[flow]]`.
    pub group: usize,
    /// Its place in the group.
    pub place: u32,
    /// Connections in the group.
    pub size: u32,
}

/// Datagrams that nothing changes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Datagrams {
    /// Rate while on.
    pub rate: Rate,
    /// Times between packets are exponential, not constant.
    pub poisson: bool,
    /// On and off times; `None`: always on.
    pub cycle: Option<Cycle>,
    /// Their ECN field.
    pub codepoint: Codepoint,
    /// It sends in pulses; `None`: all the time, or as its cycle says.
    pub pulse: Option<Pulse>,
    /// Delay beyond which a packet is late.
    pub deadline: Option<Span>,
}

/// Pulses of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Pulse {
    /// How long one lasts.
    pub on: Span,
    /// From the start of one to that of the next; the first begins with the flow.
    pub every: Span,
}

/// Frames of audio or video that nothing slows down.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Media {
    /// Rate on average.
    pub rate: Rate,
    /// Frames per second.
    pub frame_rate: f64,
    /// One frame in this many, the first too, is a key frame.
    pub key_every: u64,
    /// Size of a key frame over that of another.
    pub key_ratio: f64,
    /// Their ECN field.
    pub codepoint: Codepoint,
    /// Delay beyond which a frame is late.
    pub deadline: Option<Span>,
}

impl Media {
    /// Bytes of a frame that is not a key frame.
    #[must_use]
    pub fn frame_bytes(&self) -> f64 {
        let mean = self.rate.0 as f64 / 8.0 / self.frame_rate;
        let frames = self.key_every as f64;
        mean * frames / (frames - 1.0 + self.key_ratio)
    }
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cycle {
    /// Mean time on.
    pub on: Span,
    /// Mean time off.
    pub off: Span,
    /// Pareto shape of the times on and off, above 1; `None`: exponential.
    pub shape: Option<f64>,
}

/// A time, given or random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
