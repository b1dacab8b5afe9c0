//! The table of a flow, and those in it.

use super::{Form, MOST_FLOWS, NOISE, NONE, REQUIRED, Section, key};
use crate::model::{Codepoint, Spacing, Transport};
use crate::tcp::TCP;

/// Sources of datagrams.
const DATAGRAMS: &[&str] = &["cbr", "poisson", "onoff", "media"];
const MEDIA: &[&str] = &["media"];
/// Sources.
const SOURCES: &[&str] = &["cbr", "poisson", "onoff", "media", "web", "requests", "emultcp"];
const REQUESTS: &[&str] = &["requests"];
/// Directions of a flow.
const DIRECTIONS: &[&str] = &["forward", "reverse"];
/// Largest size of one request or object, bytes.
pub const LARGEST_REQUEST: u64 = 1 << 40;
/// Most requests of a flow: each is remembered.
pub const MOST_REQUESTS: u64 = 10_000_000;

/// Arrivals of flows.
pub static ARRIVALS: Section = Section {
    name: "arrivals",
    selector: None,
    also: None,
    keys: &[
        key("load", Form::Load, REQUIRED, "their mean rate, as a share of the slowest link that they cross"),
        key("sizes", Form::Sizes, REQUIRED, "of a flow: always the same, or drawn with these shares"),
    ],
};

/// How a receiver lies.
pub static RECEIVER: Section = Section {
    name: "receiver",
    selector: None,
    also: None,
    keys: &[
        key("split", Form::Whole(1, 64), "1", "acknowledgements in place of one, each for a part of it"),
        key(
            "advance",
            Form::Flag,
            "false",
            "acknowledges everything up to the newest packet, so that losses stay hidden and are not repaired",
        ),
        key("ignore_marks", Form::Flag, "false", "tells the sender of no mark"),
    ],
};

/// Pulses.
pub static PULSE: Section = Section {
    name: "pulse",
    selector: None,
    also: None,
    keys: &[
        key("on", Form::PositiveTime, REQUIRED, "how long a pulse lasts"),
        key("every", Form::PositiveTime, REQUIRED, "from the start of one to that of the next"),
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
            .by(&[("web", "reno"), ("requests", "reno")]),
        key(
            "source",
            Form::Word(SOURCES),
            NONE,
            "what it sends: datagrams, or a web session or requests under a control",
        ),
        key("rate", Form::Rate, REQUIRED, "rate, while on; media: on average").of(DATAGRAMS),
        key(
            "codepoint",
            Form::Word(Codepoint::WORDS),
            "not-ect",
            "their ECN field: ect0 and ect1 can be marked, ect1 goes into dualpi2's queue of low latency",
        )
        .of(DATAGRAMS),
        key(
            "deadline",
            Form::PositiveTime,
            NONE,
            "delay beyond which a packet (media: a frame) is late, for the summary",
        )
        .of(DATAGRAMS),
        key("pulse", Form::Table(&PULSE), NONE, "it sends in pulses, the first of which begins at its start")
            .of(&["cbr"]),
        key("frame_rate", Form::Number(0.1, 1000.0), "30", "frames per second").of(MEDIA),
        key("key_every", Form::Whole(1, 1_000_000), "60", "one frame in this many, the first too, is a key frame")
            .of(MEDIA),
        key("key_ratio", Form::Number(1.0, 1000.0), "4", "size of a key frame over that of another").of(MEDIA),
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
        key(
            "think",
            Form::Time,
            "10 s",
            "web: mean time between pages, exponential; requests: from the end of one to the next, instead of every",
        )
        .by(&[("requests", "(none)")])
        .of(&["web", "requests"]),
        key("objects", Form::Number(1.0, 1e6), "4", "objects per page, mean of a geometric distribution")
            .of(&["web"]),
        // Sizes of objects as A. Feldmann et al. measured them (SIGCOMM 1999): Pareto, shape 1.2, mean 12 kB.
        key("object", Form::Size(LARGEST_REQUEST), "12 kB", "mean size of an object").of(&["web"]),
        key(
            "size",
            Form::Sizes,
            "(required, or schedule or file)",
            "of a request: always the same, or drawn with these shares",
        )
        .of(REQUESTS),
        key("schedule", Form::Schedule, NONE, "requests one by one: their times, from the start of the flow, and sizes")
            .of(REQUESTS),
        key("file", Form::File, NONE, "the same from a table of two columns, seconds and bytes").of(REQUESTS),
        key("every", Form::PositiveTime, NONE, "from the start of one request to that of the next")
            .of(REQUESTS),
        key("spacing", Form::Word(Spacing::WORDS), "fixed", "of every or think: always the same, or its mean")
            .of(REQUESTS),
        key(
            "requests",
            Form::Whole(1, MOST_REQUESTS),
            "(no end)",
            "how many; the flow completes with the last",
        )
        .of(REQUESTS),
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
            "arrivals",
            Form::Table(&ARRIVALS),
            NONE,
            "not one flow but short ones that arrive at random times (a Poisson process) from start to stop",
        ),
        key(
            "limit",
            Form::Rate,
            NONE,
            "bulk data under a window-based control: rate at which the application hands it over, a packet at a time",
        )
        .tcp_only(),
        key("delay_noise", Form::Table(&NOISE), NONE, "random changes of the delay of its data on the access link"),
        key(
            "reverse_noise",
            Form::Table(&NOISE),
            NONE,
            "random changes of the delay of what comes back to its sender",
        ),
        key(
            "receiver",
            Form::Table(&RECEIVER),
            "(an honest one)",
            "how its receiver lies, under a window-based control",
        )
        .tcp_only(),
        key(
            "rtt_noise",
            Form::Time,
            "0 s",
            "sigma: uniform noise on [0, 2 sigma], on what control and timer measure only",
        )
        .tcp_only(),
    ],
};
