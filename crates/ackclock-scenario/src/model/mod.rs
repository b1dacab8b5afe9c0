//! A checked scenario: every value is possible, every default is filled in.

mod flow;
mod link;
mod shared;

pub use flow::*;
pub use link::*;
pub use shared::Shared;

use ackclock_units::{Rate, Span};

/// What is to be run.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Duration, seed and sampling.
    pub run: Run,
    /// The links, each one direction; a link's id is its index. Those of a dumbbell are the bottleneck and its
    /// other direction.
    pub links: Vec<Link>,
    /// The flows, `count` already expanded, in the order of the file; a flow's id is its index.
    pub flows: Shared<Vec<Flow>>,
    /// Flows that arrive during the run, in the order of the file.
    pub arrivals: Vec<Arrivals>,
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
