//! The tables of the format and their keys, but for those of a TCP sender, which are in `tcp`.

use super::{
    AGGREGATION, DELAY_SERIES, FLOW, Form, Key, LOSS, LOSS_SERIES, MOST_PACKETS, NOISE, NONE, POLICER,
    RATE_SERIES, REQUIRED, SQUARE, Section, count, joined, key,
};
use crate::model::Outage;
use crate::plain;
use crate::tcp::TCP;
use crate::words::words;

words! {
    /// Queue disciplines.
    QueueKind {
        /// First in, first out.
        Droptail = "droptail",
        /// Random early detection.
        Red = "red",
        /// Adaptive RED.
        Ared = "ared",
        /// CoDel.
        Codel = "codel",
        /// PIE.
        Pie = "pie",
        /// Marks above a threshold.
        Step = "step",
        /// A queue per flow, each with CoDel.
        FqCodel = "fq_codel",
        /// The coupled queues of RFC 9332.
        DualPi2 = "dualpi2",
    }
}

/// Those of random early detection.
pub const RED: &[&str] = &["red", "ared"];
/// The coupled queues.
pub const DUALPI2: &[&str] = &["dualpi2"];

/// The whole file.
pub static FILE: Section = Section {
    name: "",
    selector: None,
    also: None,
    keys: &[
        key("run", Form::Table(&RUN), REQUIRED, "duration, seed and sampling"),
        key("tcp", Form::Table(&TCP), "(the profile's values)", "settings of every TCP flow"),
        key(
            "path",
            Form::WordOrFile(crate::NamedPath::WORDS),
            NONE,
            "a named path, or a measured one: what [dumbbell] does not say is taken from it",
        ),
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

/// Rate, delay and loss may change as a file says.
const RATE_OVER_TIME: Key = key(
    "rate_series",
    Form::Table(&RATE_SERIES),
    NONE,
    "a rate over time from a file, in place of the rate; 0 is an outage",
);
const DELAY_OVER_TIME: Key = key(
    "delay_series",
    Form::Table(&DELAY_SERIES),
    NONE,
    "a delay over time from a file, in place of the delay",
);
const LOSS_OVER_TIME: Key =
    key("loss_series", Form::Table(&LOSS_SERIES), NONE, "a rate of independent losses over time from a file");

/// As the other direction has it.
const LINKS_OWN: &str = "(the link's)";
/// It may be down,
const UP: Key = key("up", Form::Flag, "true", "whether it sends at all; an event changes that");
/// and then loses packets or not.
const OUTAGE: Key = key(
    "outage",
    Form::Word(Outage::WORDS),
    "hold",
    "what becomes of packets while it is down: hold keeps them in the queue, drop loses what waits and what arrives",
);

/// Keys that every link has.
const LINK_KEYS: &[Key] = &[
    key("rate", Form::Rate, "(required, or rate_trace, or rate_series)", "its rate"),
    key(
        "rate_trace",
        Form::File,
        NONE,
        "a file in place of the rate, as Mahimahi has it: per line a time in ms at which 1500 B can be sent, over and over; \
         the last time is its length",
    ),
    RATE_OVER_TIME,
    key("square", Form::Table(&SQUARE), NONE, "the rate alternates with another one"),
    key("delay", Form::Time, "(required, or delay_series)", "its propagation delay, one way"),
    DELAY_OVER_TIME,
    key("queue", Form::Table(&QUEUE), REQUIRED, "its queue"),
    key("loss", Form::Table(&LOSS), "{ kind = \"none\" }", "random losses, before the queue"),
    LOSS_OVER_TIME,
    key("delay_noise", Form::Table(&NOISE), NONE, "random changes of the delay"),
    POLICED,
    AGGREGATED,
    UP,
    OUTAGE,
    key("reverse", Form::Table(&REVERSE), NONE, "what differs in the other direction"),
];

/// `[dumbbell]`.
pub static DUMBBELL: Section = Section { name: "[dumbbell]", selector: None, also: None, keys: LINK_KEYS };

/// Keys of links that other tables contain.
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
            "a key of a link: dumbbell.loss.rate, dumbbell.reverse.rate, parking_lot.rate, link.NAME.delay; or of an application: \
             flow.NAME.limit, or every, think and size of requests",
        ),
        key(
            "to",
            Form::Any,
            REQUIRED,
            "its new value; with every also a list of values that it has in turn, of sizes { in_turn = [\"10 kB\", \"1 MB\"] }; a \
             random one between two: { uniform = [\"40 ms\", \"80 ms\"] }",
        ),
        key("every", Form::PositiveTime, NONE, "how often it happens again, from at on"),
        key("until", Form::PositiveTime, "(the end of the run)", "from when on it does not happen again"),
    ],
};

/// `reverse` of a link.
pub static REVERSE: Section = Section {
    name: "reverse",
    selector: None,
    also: None,
    keys: &[
        key("rate", Form::Rate, "(the link's)", "rate of the reverse direction"),
        key("rate_trace", Form::File, NONE, "a file in place of the rate"),
        RATE_OVER_TIME,
        key("square", Form::Table(&SQUARE), NONE, "the rate alternates with another one"),
        key("delay", Form::Time, "(the link's)", "its propagation delay"),
        DELAY_OVER_TIME,
        key(
            "queue",
            Form::Table(&QUEUE),
            "(droptail, at least 1000 packets)",
            "its queue; by default as long as the link's and at least 1000 packets, so that it loses no ACKs",
        ),
        key("loss", Form::Table(&LOSS), "{ kind = \"none\" }", "random losses, before the queue"),
        LOSS_OVER_TIME,
        key("delay_noise", Form::Table(&NOISE), NONE, "random changes of the delay"),
        POLICED,
        AGGREGATED,
        Key { default: LINKS_OWN, ..UP },
        Key { default: LINKS_OWN, ..OUTAGE },
    ],
};

/// The keys of a queue: those that disciplines share, and those of each.
const QUEUE_KEYS: &[&[Key]] = &[
    &[
        key("kind", Form::Word(QueueKind::WORDS), REQUIRED, "the discipline"),
        key(
            "limit",
            Form::Limit,
            REQUIRED,
            "the packet in transmission included; a time is of the link's rate at the start, a product also of the RTT of the first \
             flow with a control, and both become packets",
        ),
        key("ecn", Form::Flag, "false", "packets that can be marked are marked, not dropped")
            .of(&["red", "ared", "codel", "pie", "fq_codel"]),
    ],
    plain::RED_KEYS,
    plain::CODEL_KEYS,
    &[
        key("burst", Form::Time, "150 ms", "bursts of this length are let through").of(&["pie"]),
        key(
            "threshold",
            Form::Whole(0, MOST_PACKETS),
            NONE,
            "packets above which those that arrive are marked",
        )
        .of(&["step"]),
        key("sojourn", Form::PositiveTime, NONE, "wait above which those that leave are marked instead")
            .of(&["step"]),
        key("quantum", Form::Size(1 << 30), "1514 B", "bytes per turn").of(&["fq_codel"]),
        key("queues", Form::Whole(1, 65_536), "1024", "queues that flows are spread over").of(&["fq_codel"]),
    ],
    plain::DUALPI2_KEYS,
];

/// A queue.
pub static QUEUE: Section = Section {
    name: "queue",
    selector: Some("kind"),
    also: None,
    keys: &joined::<{ count(QUEUE_KEYS) }>(QUEUE_KEYS),
};
