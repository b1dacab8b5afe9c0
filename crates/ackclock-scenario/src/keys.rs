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
/// Recovery styles of this version. RACK is named in the refusal of the profile that needs it.
pub const RECOVERIES: &[&str] = &["reno", "newreno", "sack", "rack"];
/// What the window grows by.
pub const GROWTHS: &[&str] = &["per_ack", "per_packet"];
/// Directions of a flow.
pub const DIRECTIONS: &[&str] = &["forward", "reverse"];
/// Largest number of flows.
pub const MOST_FLOWS: u64 = 100_000;
/// Largest packet, bytes (IPv4).
pub const LARGEST_PACKET: u64 = 65_535;
/// Largest number of packets in a window or queue: memory stays bounded.
pub const MOST_PACKETS: u64 = 1_000_000_000;

/// The whole file.
pub static FILE: Section = Section {
    name: "",
    also: None,
    keys: &[
        key("run", Form::Table(&RUN), REQUIRED, "duration, seed and sampling"),
        key("tcp", Form::Table(&TCP), "(the profile's values)", "settings of every TCP flow"),
        key("dumbbell", Form::Table(&DUMBBELL), REQUIRED, "the path"),
        key("flow", Form::Tables(&FLOW), REQUIRED, "the flows"),
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
            "packets in flight that the receiver allows",
        ),
        key(
            "recovery",
            Form::Word(RECOVERIES),
            "sack (linux: rack)",
            "how losses are found and repaired: RFC 5681, RFC 6582, RFC 6675, RFC 8985 with RFC 6937",
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
            "2 W/srtt in slow start, 1.2 W/srtt after; a control's own rate is always obeyed",
        ),
        key("hystart", Form::Flag, "false", "HyStart++ in slow start (RFC 9406)"),
    ],
};

/// `[dumbbell]`.
pub static DUMBBELL: Section = Section {
    name: "[dumbbell]",
    also: None,
    keys: &[
        key("rate", Form::Rate, REQUIRED, "rate of the bottleneck"),
        key("delay", Form::Time, REQUIRED, "propagation delay of the bottleneck, one way"),
        key("queue", Form::Table(&QUEUE), REQUIRED, "its queue"),
        key("loss", Form::Table(&LOSS), "{ kind = \"none\" }", "random losses, before the queue"),
        key("reverse", Form::Table(&REVERSE), NONE, "what differs in the other direction"),
    ],
};

/// `dumbbell.reverse`.
pub static REVERSE: Section = Section {
    name: "dumbbell.reverse",
    also: None,
    keys: &[
        key("rate", Form::Rate, "(the bottleneck's)", "rate of the reverse direction"),
        key(
            "queue",
            Form::Table(&QUEUE),
            "droptail, at least 1000 packets",
            "its queue; by default as long as the bottleneck's and at least 1000 packets, so that it loses no ACKs",
        ),
        key("loss", Form::Table(&LOSS), "{ kind = \"none\" }", "random losses, before the queue"),
    ],
};

/// A queue.
pub static QUEUE: Section = Section {
    name: "queue",
    also: None,
    keys: &[
        key("kind", Form::Word(&["droptail"]), REQUIRED, "the discipline"),
        key(
            "limit",
            Form::Limit,
            REQUIRED,
            "\"100 packets\" or \"125 kB\", the packet in transmission included",
        ),
    ],
};

/// A loss model.
pub static LOSS: Section = Section {
    name: "loss",
    also: None,
    keys: &[
        key("kind", Form::Word(&["none", "periodic", "bernoulli"]), REQUIRED, "the model"),
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
    ],
};

/// `[[flow]]`.
pub static FLOW: Section = Section {
    name: "[[flow]]",
    also: Some(&TCP),
    keys: &[
        key("name", Form::Text, "CONTROLLER-ID", "with count: NAME-0, NAME-1, ..."),
        key("controller", Form::Text, REQUIRED, "a name of `ackclock controllers`"),
        key("params", Form::Params, "(the control's defaults)", "parameters of the control"),
        key("count", Form::Whole(1, MOST_FLOWS), "1", "as many flows of this kind"),
        key(
            "rtt",
            Form::Time,
            "(twice the bottleneck's delay)",
            "propagation round trip; sets the access delay",
        ),
        key("access", Form::RateOrUnlimited, "unlimited", "rate of the access link"),
        key("direction", Form::Word(DIRECTIONS), "forward", "which way its data goes"),
        key("start", Form::Start, "0 s", "or { uniform = [\"0 s\", \"20 s\"] }"),
        key("stop", Form::Time, "(the end of the run)", "when it stops sending"),
        key("bytes", Form::Size, "(no end)", "a finite transfer, instead of stop; whole packets"),
    ],
};
