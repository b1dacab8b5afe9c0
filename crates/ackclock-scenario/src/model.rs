//! A checked scenario: every value is possible, every default is filled in.

mod flow;
mod link;
mod shared;

pub use flow::*;
pub use link::*;
pub use shared::Shared;

use ackclock_units::{Bytes, Packets, Rate, Span};
use serde::Serialize;

/// The simulation to run.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Sample {
    /// At every multiple of this span.
    Every(Span),
    /// Once per round trip of each flow.
    RoundTrip,
}

/// A change during the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Event {
    /// When.
    pub when: When,
    /// The link.
    pub link: usize,
    /// The change.
    pub change: Change,
}

/// When an event happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
    /// Again and again: at `first`, and then every `every` before `until`.
    Every {
        /// The first time.
        first: Span,
        /// From one time to the next.
        every: Span,
        /// The end.
        until: Span,
    },
}

/// A change of a link by an event.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// Whether it sends.
    Up(bool),
    /// One of these after the other, over and over.
    InTurn(Vec<Change>),
    /// A random one, uniform between the two, drawn for each time and run anew.
    Between(Box<[Change; 2]>),
}

/// The number at `fraction`, from 0 to 1, of the way from one to the other.
fn between(from: u64, to: u64, fraction: f64) -> u64 {
    let way = (from.abs_diff(to) as f64 * fraction) as u64;
    if from <= to { from + way } else { from - way }
}

impl Change {
    /// The change at `fraction`, from 0 to 1, of the way from this one to `other`; none if there is no such thing between
    /// the two.
    #[must_use]
    pub fn towards(&self, other: &Change, fraction: f64) -> Option<Change> {
        let span = |a: Span, b: Span| Span(between(a.0, b.0, fraction));
        Some(match (self, other) {
            (Change::Rate(a), Change::Rate(b)) => Change::Rate(Rate(between(a.0, b.0, fraction))),
            (Change::Delay(a), Change::Delay(b)) => Change::Delay(span(*a, *b)),
            (
                Change::Loss(Loss::Bernoulli { probability: a }),
                Change::Loss(Loss::Bernoulli { probability: b }),
            ) => Change::Loss(Loss::Bernoulli { probability: a + (b - a) * fraction }),
            (Change::Queue(Queue::Droptail { limit: a }), Change::Queue(Queue::Droptail { limit: b })) => {
                let limit = match (a, b) {
                    (Limit::Packets(a), Limit::Packets(b)) => {
                        Limit::Packets(Packets(between(a.0, b.0, fraction)))
                    }
                    (Limit::Bytes(a), Limit::Bytes(b)) => Limit::Bytes(Bytes(between(a.0, b.0, fraction))),
                    _ => return None,
                };
                Change::Queue(Queue::Droptail { limit })
            }
            (Change::Noise(Some(a)), Change::Noise(Some(b)))
                if (a.reorder, a.hold, a.correlation) == (b.reorder, b.hold, b.correlation) =>
            {
                let kind = match (&a.kind, &b.kind) {
                    (NoiseKind::Uniform(a), NoiseKind::Uniform(b)) => NoiseKind::Uniform(span(*a, *b)),
                    (NoiseKind::Gaussian(a), NoiseKind::Gaussian(b)) => NoiseKind::Gaussian(span(*a, *b)),
                    (NoiseKind::Wifi(a), NoiseKind::Wifi(b)) => NoiseKind::Wifi(span(*a, *b)),
                    _ => return None,
                };
                Change::Noise(Some(Noise { kind, ..a.clone() }))
            }
            _ => return None,
        })
    }
}
