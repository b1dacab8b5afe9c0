//! The keys of the format, one line each: reading, refusals, the JSON schema and the reference in the
//! documentation are made from these tables.

/// What a key may hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// A time with its unit.
    Time,
    /// A rate with its unit.
    Rate,
    /// A rate with its unit, or "unlimited".
    RateOrUnlimited,
    /// A size with its unit.
    Size,
    /// A share, in per cent or from 0 to 1.
    Fraction,
    /// A whole number between the two.
    Whole(u64, u64),
    /// A number between the two.
    Number(f64, f64),
    /// A time, or `{ flow = "a", rtt = 1000 }`.
    When,
    /// A value of any kind.
    Any,
    /// A window in packets, or "unlimited".
    WindowOrUnlimited,
    /// A window in packets.
    Window,
    /// A number of packets, or "unlimited".
    PacketsOrUnlimited,
    /// The size of a queue: packets or bytes.
    Limit,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Any text.
    Text,
    /// True or false.
    Flag,
    /// A time, or `{ uniform = [from, to] }`.
    Start,
    /// A span of time, or "rtt".
    Sample,
    /// Parameters of the control.
    Params,
    /// A table of its own.
    Table(&'static Section),
    /// Tables, one after the other.
    Tables(&'static Section),
}

/// One key.
#[derive(Debug, PartialEq)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it may hold.
    pub form: Form,
    /// What holds without it: a value, or words in brackets.
    pub default: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

/// A table of keys.
#[derive(Debug, PartialEq)]
pub struct Section {
    /// How it is written in a file.
    pub name: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
    /// Another table whose keys may stand here too.
    pub also: Option<&'static Section>,
}

impl Section {
    /// All keys that may stand in it.
    pub fn all_keys(&self) -> impl Iterator<Item = &'static Key> {
        self.keys.iter().chain(self.also.map_or(&[][..], |section| section.keys))
    }
}

const fn key(name: &'static str, form: Form, default: &'static str, meaning: &'static str) -> Key {
    Key { name, form, default, meaning }
}

const REQUIRED: &str = "(required)";
const NONE: &str = "(none)";
/// Profiles.
pub const PROFILES: &[&str] = &["ns2", "linux"];
/// Recovery styles.
pub const RECOVERIES: &[&str] = &["reno", "newreno", "sack", "rack", "linux-2.6"];
/// What the window grows by.
pub const GROWTHS: &[&str] = &["per_ack", "per_packet"];
/// Queue disciplines.
pub const QUEUES: &[&str] = &["droptail", "red", "ared", "codel", "pie", "fq_codel"];
/// Loss models.
pub const LOSSES: &[&str] = &["none", "periodic", "bernoulli", "gilbert_elliott", "trace"];
/// Distributions of delay noise.
pub const NOISES: &[&str] = &["uniform", "gaussian"];
/// Sources.
pub const SOURCES: &[&str] = &["cbr", "poisson", "onoff", "web", "emultcp"];
/// Directions of a flow.
pub const DIRECTIONS: &[&str] = &["forward", "reverse"];
pub const TRANSPORTS: &[&str] = &["tcp", "quic"];
/// Largest number of flows.
pub const MOST_FLOWS: u64 = 100_000;
/// Largest packet, bytes (IPv4).
pub const LARGEST_PACKET: u64 = 65_535;
/// Largest number of packets in a window or queue: memory stays bounded.
pub const MOST_PACKETS: u64 = 1_000_000_000;
/// Bounds of a gain of pacing.
pub const LEAST_GAIN: f64 = 0.01;
pub const MOST_GAIN: f64 = 100.0;

/// The whole file.
pub static FILE: Section = Section {
    name: "",
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
    also: None,
    keys: &[
        key("duration", Form::Time, REQUIRED, "simulated time, at most 180 days"),
        key("warmup", Form::Time, "0 s", "metrics are measured from here; traces are whole"),
        key("seed", Form::Whole(0, u64::MAX), "1", "seed of every random stream"),
        key("sample", Form::Sample, "100 ms", "spacing of the trace; \"rtt\": each flow's round trips"),
    ],
};

/// `[tcp]`.
pub static TCP: Section = Section {
    name: "[tcp]",
    also: None,
    keys: &[
        key(
            "profile",
            Form::Word(PROFILES),
            "ns2",
            "sets all that follows: ns2, the papers' setting, or linux",
        ),
        key("packet", Form::Size, "1000 B", "a data packet on the wire, headers included"),
        key("ack", Form::Size, "40 B", "an acknowledgement on the wire"),
        key("initial_window", Form::Window, "2 (linux: 10)", "packets"),
        key("initial_ssthresh", Form::WindowOrUnlimited, "unlimited", "packets"),
        key(
            "receive_window",
            Form::PacketsOrUnlimited,
            "unlimited",
            "packets in flight that the receiver allows; a sender never has more than 16777216",
        ),
        key(
            "recovery",
            Form::Word(RECOVERIES),
            "sack (linux: rack)",
            "how losses are found and repaired: RFC 5681, RFC 6582, RFC 6675, RFC 8985 with RFC 6937, TCP-Linux of ns-2",
        ),
        key("min_rto", Form::Time, "200 ms", "smallest retransmission timeout"),
        key("max_rto", Form::Time, "64 s", "largest retransmission timeout"),
        key("initial_rto", Form::Time, "1 s", "retransmission timeout before the first RTT sample"),
        key("clock", Form::Time, "1 ms", "granularity of the retransmission timer"),
        key("delayed_ack", Form::Whole(1, 2), "1 (linux: 2)", "packets per acknowledgement"),
        key(
            "delayed_ack_timer",
            Form::Time,
            "100 ms (linux: 40 ms)",
            "how long an acknowledgement is held back",
        ),
        key("limited_transmit", Form::Flag, "true", "new packets on the first two duplicate ACKs (RFC 3042)"),
        key("max_burst", Form::Whole(0, MOST_PACKETS), "0", "packets sent at once at most; 0: no limit"),
        key("overhead", Form::Time, "0 s", "upper end of the uniform random delay before each send"),
        key("growth", Form::Word(GROWTHS), "per_ack (linux: per_packet)", "what the window grows by"),
        key(
            "pacing",
            Form::Flag,
            "false",
            "spread packets over the round trip, at a gain times W/srtt; a control's own rate is always obeyed",
        ),
        key("pacing_gain", Form::Number(LEAST_GAIN, MOST_GAIN), "1.2", "gain of pacing after slow start"),
        key("slow_start_gain", Form::Number(LEAST_GAIN, MOST_GAIN), "2", "gain of pacing in slow start"),
        key(
            "min_window",
            Form::Whole(1, MOST_PACKETS),
            "1",
            "packets that may be in flight however small the window is (QUIC: 2)",
        ),
        key("hystart", Form::Flag, "false", "HyStart++ in slow start (RFC 9406)"),
        key(
            "ecn",
            Form::Flag,
            "false",
            "packets can be marked, and a mark counts as a loss event (RFC 3168)",
        ),
    ],
};

/// Keys that every link has.
const LINK_KEYS: &[Key] = &[
    key("rate", Form::Rate, REQUIRED, "its rate; or rate_trace"),
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
    key("delay_noise", Form::Table(&NOISE), NONE, "random changes of the delay, one per packet"),
    key("reverse", Form::Table(&REVERSE), NONE, "what differs in the other direction"),
];

/// `[dumbbell]`.
pub static DUMBBELL: Section = Section { name: "[dumbbell]", also: None, keys: LINK_KEYS };

/// What links have in common, where they stand in other tables.
pub static COMMON: Section = Section { name: "link", also: None, keys: LINK_KEYS };

/// `[parking_lot]`.
pub static PARKING_LOT: Section = Section {
    name: "[parking_lot]",
    also: Some(&COMMON),
    keys: &[key(
        "hops",
        Form::Whole(1, 1000),
        REQUIRED,
        "bottlenecks in a row, all alike: links hop-0, hop-1, ...",
    )],
};

/// `[[node]]`.
pub static NODE: Section =
    Section { name: "[[node]]", also: None, keys: &[key("name", Form::Text, REQUIRED, "its name")] };

/// `[[link]]`.
pub static LINK: Section = Section {
    name: "[[link]]",
    also: Some(&COMMON),
    keys: &[
        key("name", Form::Text, "FROM-TO", "its name; the other direction is NAME-reverse"),
        key("from", Form::Text, REQUIRED, "the node at its near end"),
        key("to", Form::Text, REQUIRED, "the node at its far end"),
    ],
};

/// `[[event]]`.
pub static EVENT: Section = Section {
    name: "[[event]]",
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
    also: None,
    keys: &[
        key("rate", Form::Rate, REQUIRED, "the other rate"),
        key(
            "period",
            Form::Time,
            REQUIRED,
            "of the wave; it begins with half a period of the link's own rate",
        ),
    ],
};

/// Delay noise.
pub static NOISE: Section = Section {
    name: "delay_noise",
    also: None,
    keys: &[
        key("kind", Form::Word(NOISES), REQUIRED, "its distribution"),
        key(
            "sigma",
            Form::Time,
            NONE,
            "gaussian: standard deviation around zero; a delay that would be negative is zero",
        ),
        key("range", Form::Time, NONE, "uniform: from zero to this"),
        key("reorder", Form::Flag, "false", "packets may overtake each other"),
    ],
};

/// `reverse` of a link.
pub static REVERSE: Section = Section {
    name: "reverse",
    also: None,
    keys: &[
        key("rate", Form::Rate, "(the link's)", "rate of the reverse direction"),
        key("rate_trace", Form::Text, NONE, "a file in place of the rate"),
        key("square", Form::Table(&SQUARE), NONE, "the rate alternates with another one"),
        key("delay", Form::Time, "(the link's)", "its propagation delay"),
        key(
            "queue",
            Form::Table(&QUEUE),
            "droptail, at least 1000 packets",
            "its queue; by default as long as the link's and at least 1000 packets, so that it loses no ACKs",
        ),
        key("loss", Form::Table(&LOSS), "{ kind = \"none\" }", "random losses, before the queue"),
        key("delay_noise", Form::Table(&NOISE), NONE, "random changes of the delay, one per packet"),
    ],
};

/// A queue.
pub static QUEUE: Section = Section {
    name: "queue",
    also: None,
    keys: &[
        key("kind", Form::Word(QUEUES), REQUIRED, "the discipline"),
        key(
            "limit",
            Form::Limit,
            REQUIRED,
            "\"100 packets\" or \"125 kB\", the packet in transmission included",
        ),
        key(
            "ecn",
            Form::Flag,
            "false",
            "all but droptail: packets that can be marked are marked, not dropped",
        ),
        key(
            "min_threshold",
            Form::Number(0.0, 1e9),
            "5 (ared: 5 ms of the link's rate)",
            "red, ared: average queue from which packets are dropped, packets",
        ),
        key(
            "max_threshold",
            Form::Number(0.0, 1e9),
            "3 min_threshold",
            "red, ared: average queue at which the probability is max_p, packets",
        ),
        key(
            "weight",
            Form::Number(1e-9, 1.0),
            "0.002 (ared: 1 - exp(-1/C), C packets/s)",
            "red, ared: gain of the average queue",
        ),
        key("max_p", Form::Number(0.0, 1.0), "0.1", "red, ared: probability at the upper threshold"),
        key("gentle", Form::Flag, "true", "red, ared: the probability rises to 1 at twice max_threshold"),
        key("uniform", Form::Flag, "true", "red, ared: drops are spaced evenly, as in the paper"),
        key("least_max_p", Form::Number(0.0, 1.0), "0.01", "ared: max_p does not fall below it"),
        key("target", Form::Time, "5 ms (pie: 15 ms)", "codel, fq_codel, pie: delay to keep"),
        key("interval", Form::Time, "100 ms", "codel, fq_codel: how long it may be exceeded"),
        key("burst", Form::Time, "150 ms", "pie: bursts of this length are let through"),
        key("quantum", Form::Size, "1514 B", "fq_codel: bytes per turn"),
        key("queues", Form::Whole(1, 65_536), "1024", "fq_codel: queues that flows are spread over"),
    ],
};

/// A loss model.
pub static LOSS: Section = Section {
    name: "loss",
    also: None,
    keys: &[
        key("kind", Form::Word(LOSSES), REQUIRED, "the model"),
        key(
            "rate",
            Form::Fraction,
            NONE,
            "bernoulli: probability of each packet; periodic: instead of every, 1/rate rounded",
        ),
        key(
            "every",
            Form::Whole(1, u64::MAX),
            NONE,
            "periodic: every n-th packet of each flow is lost, retransmissions counted",
        ),
        key(
            "to_bad",
            Form::Fraction,
            NONE,
            "gilbert_elliott: probability of entering the bad state, per packet",
        ),
        key("to_good", Form::Fraction, NONE, "gilbert_elliott: probability of leaving it, per packet"),
        key("loss_good", Form::Fraction, "0 %", "gilbert_elliott: probability of a loss in the good state"),
        key("loss_bad", Form::Fraction, "100 %", "gilbert_elliott: probability of a loss in the bad state"),
        key(
            "file",
            Form::Text,
            NONE,
            "trace: a file of 0 and 1, one per packet of a flow, over and over; 1 is a loss",
        ),
    ],
};

/// `[[flow]]`.
pub static FLOW: Section = Section {
    name: "[[flow]]",
    also: Some(&TCP),
    keys: &[
        key("name", Form::Text, "CONTROLLER-ID", "with count: NAME-0, NAME-1, ..."),
        key("controller", Form::Text, "(required, or source)", "a name of `ackclock controllers`"),
        key(
            "source",
            Form::Word(SOURCES),
            NONE,
            "what it sends: datagrams, or a web session under a control",
        ),
        key("rate", Form::Rate, NONE, "cbr, poisson, onoff: rate, while on; required there"),
        key("on", Form::Time, "1 s", "onoff: mean time on"),
        key("off", Form::Time, "2 s", "onoff: mean time off"),
        key(
            "shape",
            Form::Number(1.000_001, 100.0),
            "(onoff: exponential times; web: 1.2)",
            "Pareto shape: onoff of the times, web of the sizes of objects",
        ),
        key("think", Form::Time, "10 s", "web: mean time between pages, exponential"),
        key(
            "objects",
            Form::Number(1.0, 1e6),
            "4",
            "web: objects per page, mean of a geometric distribution",
        ),
        key("object", Form::Size, "12 kB", "web: mean size of an object"),
        key("params", Form::Params, "(the control's defaults)", "parameters of the control"),
        key(
            "transport",
            Form::Word(TRANSPORTS),
            "tcp",
            "quic: quinn's endpoints, with TLS, in simulated time; packets of at least 1228 B",
        ),
        key("count", Form::Whole(1, MOST_FLOWS), "1", "as many flows of this kind"),
        key("rtt", Form::Time, "(the links' delays)", "propagation round trip; sets the access delay"),
        key("access", Form::RateOrUnlimited, "unlimited", "rate of the access link"),
        key("direction", Form::Word(DIRECTIONS), "forward", "dumbbell: which way its data goes"),
        key("from", Form::Text, "(parking_lot: the first node)", "parking_lot, link: the node that sends"),
        key("to", Form::Text, "(parking_lot: the last node)", "parking_lot, link: the node that receives"),
        key("start", Form::Start, "0 s", "or { uniform = [\"0 s\", \"20 s\"] }"),
        key("stop", Form::Time, "(the end of the run)", "when it stops sending"),
        key("bytes", Form::Size, "(no end)", "a finite transfer, instead of stop; whole packets"),
        key(
            "rtt_noise",
            Form::Time,
            "0 s",
            "sigma: uniform noise on [0, 2 sigma], on what control and timer measure only",
        ),
    ],
};
