//! The tables of the format and their keys, but for those of a TCP sender, which are in `tcp`.

use super::queue::QUEUE;
use super::{Form, Key, MOST_FLOWS, NONE, REQUIRED, Section, key};
use crate::model::{Codepoint, Transport};
use crate::tcp::TCP;

/// Loss models.
const LOSSES: &[&str] = &["none", "periodic", "bernoulli", "gilbert_elliott", "trace"];
const GILBERT: &[&str] = &["gilbert_elliott"];
/// Sources of datagrams.
const DATAGRAMS: &[&str] = &["cbr", "poisson", "onoff"];
/// Distributions of delay noise.
const NOISES: &[&str] = &["uniform", "gaussian"];
/// Sources.
const SOURCES: &[&str] = &["cbr", "poisson", "onoff", "web", "emultcp"];
/// Directions of a flow.
const DIRECTIONS: &[&str] = &["forward", "reverse"];

/// The whole file.
pub static FILE: Section = Section {
    name: "",
    selector: None,
    also: None,
    keys: &[
        key("run", Form::Table(&RUN), REQUIRED, "duration, seed and sampling"),
        key("tcp", Form::Table(&TCP), "(the profile's values)", "settings of every TCP flow"),
        key("dumbbell", Form::Table(&DUMBBELL), NONE, "one bottleneck; or parking_lot, or link"),
        key(
            "parking_lot",
            Form::Table(&PARKING_LOT),
            NONE,
            "bottlenecks in a row, between nodes n0, n1, ...",
        ),
        key("node", Form::Tables(&NODE), "(as the links name them)", "the nodes of a topology"),
        key("link", Form::Tables(&LINK), NONE, "the links of a topology"),
        key("flow", Form::Tables(&FLOW), REQUIRED, "the flows"),
        key("event", Form::Tables(&EVENT), NONE, "changes during the run"),
    ],
};

/// `[run]`.
pub static RUN: Section = Section {
    name: "[run]",
    selector: None,
    also: None,
    keys: &[
        key("duration", Form::PositiveTime, REQUIRED, "simulated time, at most 180 days"),
        key("warmup", Form::Time, "0 s", "metrics are measured from here; traces are whole"),
        key("seed", Form::Whole(0, u64::MAX), "1", "seed of every random stream"),
        key("sample", Form::Sample, "100 ms", "spacing of the trace; \"rtt\": each flow's round trips"),
    ],
};

/// A link may have a policer,
const POLICED: Key = key(
    "policer",
    Form::Table(&POLICER),
    NONE,
    "a token bucket before the queue: what exceeds it is dropped",
);
/// and groups of packets at its far end.
const AGGREGATED: Key =
    key("aggregation", Form::Table(&AGGREGATION), NONE, "packets reach the far end in groups");

/// Keys that every link has.
const LINK_KEYS: &[Key] = &[
    key("rate", Form::Rate, "(required, or rate_trace)", "its rate"),
    key(
        "rate_trace",
        Form::Text,
        NONE,
        "a file in place of the rate: per line a time in ms at which 1500 B can be sent, over and over",
    ),
    key("square", Form::Table(&SQUARE), NONE, "the rate alternates with another one"),
    key("delay", Form::Time, REQUIRED, "its propagation delay, one way"),
    key("queue", Form::Table(&QUEUE), REQUIRED, "its queue"),
    key("loss", Form::Table(&LOSS), "{ kind = \"none\" }", "random losses, before the queue"),
    key("delay_noise", Form::Table(&NOISE), NONE, "random changes of the delay"),
    POLICED,
    AGGREGATED,
    key("reverse", Form::Table(&REVERSE), NONE, "what differs in the other direction"),
];

/// `[dumbbell]`.
pub static DUMBBELL: Section = Section { name: "[dumbbell]", selector: None, also: None, keys: LINK_KEYS };

/// What links have in common, where they stand in other tables.
pub static COMMON: Section = Section { name: "link", selector: None, also: None, keys: LINK_KEYS };

/// `[parking_lot]`.
pub static PARKING_LOT: Section = Section {
    name: "[parking_lot]",
    selector: None,
    also: Some(&COMMON),
    keys: &[key(
        "hops",
        Form::Whole(1, 1000),
        REQUIRED,
        "bottlenecks in a row, all alike: links hop-0, hop-1, ...",
    )],
};

/// `[[node]]`.
pub static NODE: Section = Section {
    name: "[[node]]",
    selector: None,
    also: None,
    keys: &[key("name", Form::Text, REQUIRED, "its name")],
};

/// `[[link]]`.
pub static LINK: Section = Section {
    name: "[[link]]",
    selector: None,
    also: Some(&COMMON),
    keys: &[
        key("name", Form::Text, "(FROM-TO)", "its name; the other direction is NAME-reverse"),
        key("from", Form::Text, REQUIRED, "the node at its near end"),
        key("to", Form::Text, REQUIRED, "the node at its far end"),
    ],
};

/// `[[event]]`.
pub static EVENT: Section = Section {
    name: "[[event]]",
    selector: None,
    also: None,
    keys: &[
        key("at", Form::When, REQUIRED, "when: a time, or { flow = \"a\", rtt = 1000 }"),
        key(
            "set",
            Form::Text,
            REQUIRED,
            "a key of a link: dumbbell.loss.rate, dumbbell.reverse.rate, parking_lot.rate, link.NAME.delay",
        ),
        key("to", Form::Any, REQUIRED, "its new value"),
    ],
};

/// A square wave.
pub static SQUARE: Section = Section {
    name: "square",
    selector: None,
    also: None,
    keys: &[
        key("rate", Form::Rate, REQUIRED, "the other rate"),
        key(
            "period",
            Form::PositiveTime,
            REQUIRED,
            "of the wave; it begins with half a period of the link's own rate",
        ),
    ],
};

/// Delay noise.
pub static NOISE: Section = Section {
    name: "delay_noise",
    selector: Some("kind"),
    also: None,
    keys: &[
        key("kind", Form::Word(NOISES), REQUIRED, "its distribution"),
        key(
            "sigma",
            Form::Time,
            REQUIRED,
            "standard deviation around zero; a delay that would be negative is zero",
        )
        .of(&["gaussian"]),
        key("range", Form::Time, REQUIRED, "from zero to this").of(&["uniform"]),
        key("reorder", Form::Flag, "false", "packets may overtake each other"),
        key(
            "hold",
            Form::PositiveTime,
            "(a change per packet)",
            "how long a change lasts: all packets sent in one interval of this length have the same",
        ),
    ],
};

/// `reverse` of a link.
pub static REVERSE: Section = Section {
    name: "reverse",
    selector: None,
    also: None,
    keys: &[
        key("rate", Form::Rate, "(the link's)", "rate of the reverse direction"),
        key("rate_trace", Form::Text, NONE, "a file in place of the rate"),
        key("square", Form::Table(&SQUARE), NONE, "the rate alternates with another one"),
        key("delay", Form::Time, "(the link's)", "its propagation delay"),
        key(
            "queue",
            Form::Table(&QUEUE),
            "(droptail, at least 1000 packets)",
            "its queue; by default as long as the link's and at least 1000 packets, so that it loses no ACKs",
        ),
        key("loss", Form::Table(&LOSS), "{ kind = \"none\" }", "random losses, before the queue"),
        key("delay_noise", Form::Table(&NOISE), NONE, "random changes of the delay"),
        POLICED,
        AGGREGATED,
    ],
};

/// A policer.
pub static POLICER: Section = Section {
    name: "policer",
    selector: None,
    also: None,
    keys: &[
        key("rate", Form::Rate, REQUIRED, "rate at which its bucket fills"),
        key(
            "burst",
            Form::Size(1 << 40),
            REQUIRED,
            "what the bucket holds at most, and at the start; a packet that is larger never passes",
        ),
    ],
};

/// Aggregation.
pub static AGGREGATION: Section = Section {
    name: "aggregation",
    selector: None,
    also: None,
    keys: &[
        key("every", Form::PositiveTime, REQUIRED, "packets arrive at multiples of this time only"),
        key(
            "thin_acks",
            Form::Flag,
            "false",
            "of the ACKs of a flow that would arrive together only the last does; the others count as queue_drops",
        ),
    ],
};

/// A loss model.
pub static LOSS: Section = Section {
    name: "loss",
    selector: Some("kind"),
    also: None,
    keys: &[
        key("kind", Form::Word(LOSSES), REQUIRED, "the model"),
        key(
            "rate",
            Form::Fraction,
            NONE,
            "probability of each packet; periodic: instead of every, 1/rate rounded",
        )
        .of(&["bernoulli", "periodic"]),
        key(
            "every",
            Form::Whole(1, u64::MAX),
            NONE,
            "every n-th packet of each flow is lost, retransmissions counted",
        )
        .of(&["periodic"]),
        key("to_bad", Form::Fraction, REQUIRED, "probability of entering the bad state, per packet")
            .of(GILBERT),
        key("to_good", Form::Fraction, REQUIRED, "probability of leaving it, per packet").of(GILBERT),
        key("loss_good", Form::Fraction, "0 %", "probability of a loss in the good state").of(GILBERT),
        key("loss_bad", Form::Fraction, "100 %", "probability of a loss in the bad state").of(GILBERT),
        key(
            "file",
            Form::Text,
            REQUIRED,
            "a file of 0 and 1, one per packet of a flow, over and over; 1 is a loss",
        )
        .of(&["trace"]),
    ],
};

/// `[[flow]]`.
pub static FLOW: Section = Section {
    name: "[[flow]]",
    selector: Some("source"),
    also: Some(&TCP),
    keys: &[
        key("name", Form::Text, "(CONTROLLER-ID)", "with count: NAME-0, NAME-1, ..."),
        key("controller", Form::Text, "(required, or source)", "a name of `ackclock controllers`")
            .by(&[("web", "reno")]),
        key(
            "source",
            Form::Word(SOURCES),
            NONE,
            "what it sends: datagrams, or a web session under a control",
        ),
        key("rate", Form::Rate, REQUIRED, "rate, while on").of(DATAGRAMS),
        key(
            "codepoint",
            Form::Word(Codepoint::WORDS),
            "not-ect",
            "their ECN field: ect0 and ect1 can be marked, ect1 goes into dualpi2's queue of low latency",
        )
        .of(DATAGRAMS),
        key("on", Form::PositiveTime, "1 s", "mean time on").of(&["onoff"]),
        key("off", Form::PositiveTime, "2 s", "mean time off").of(&["onoff"]),
        key(
            "shape",
            Form::Number(1.000_001, 100.0),
            "(onoff: exponential times)",
            "Pareto shape: onoff of the times, web of the sizes of objects",
        )
        .by(&[("web", "1.2")])
        .of(&["onoff", "web"]),
        key("think", Form::Time, "10 s", "mean time between pages, exponential").of(&["web"]),
        key("objects", Form::Number(1.0, 1e6), "4", "objects per page, mean of a geometric distribution")
            .of(&["web"]),
        // Sizes of objects as A. Feldmann et al. measured them (SIGCOMM 1999): Pareto, shape 1.2, mean 12 kB.
        key("object", Form::Size(1 << 40), "12 kB", "mean size of an object").of(&["web"]),
        key("params", Form::Params, "(the control's defaults)", "parameters of the control"),
        key(
            "transport",
            Form::Word(Transport::WORDS),
            "tcp",
            "quic: quinn's endpoints, with TLS, in simulated time; packets of at least 1228 B",
        ),
        key("count", Form::Whole(1, MOST_FLOWS), "1", "as many flows of this kind").by(&[("emultcp", "16")]),
        key("rtt", Form::Time, "(the links' delays)", "propagation round trip; sets the access delay"),
        key("access", Form::RateOrUnlimited, "unlimited", "rate of the access link"),
        key("direction", Form::Word(DIRECTIONS), "(forward)", "dumbbell: which way its data goes"),
        key("from", Form::Text, "(parking_lot: the first node)", "parking_lot, link: the node that sends"),
        key("to", Form::Text, "(parking_lot: the last node)", "parking_lot, link: the node that receives"),
        key("start", Form::Moment, "0 s", "or { uniform = [\"0 s\", \"20 s\"] }"),
        key(
            "stop",
            Form::Moment,
            "(the end of the run)",
            "when it stops sending; a random time is drawn between its start, or the first if that is later, and the second",
        ),
        key("bytes", Form::Size(u64::MAX), "(no end)", "a finite transfer, instead of stop; whole packets"),
        key(
            "rtt_noise",
            Form::Time,
            "0 s",
            "sigma: uniform noise on [0, 2 sigma], on what control and timer measure only",
        )
        .tcp_only(),
    ],
};
