//! The tables that are read as they are written - of CoDel, RED, DualPI2, a policer, aggregation - each key declared once:
//! its form, its default, its meaning, its field and its reading.

use ackclock_units::{Bytes, Rate, Span};
use serde::Serialize;

use crate::keys::{DUALPI2, Form, Key, LARGEST_PACKET, NONE, RED, REQUIRED, key};
use crate::model::{DropSpacing, Overload, Scheduler};

/// Declares a table whose fields are read under their own names, so that none is forgotten or read twice, and the list of its
/// keys, which have a meaning with the words `of` their table. An entry is a field, how it is read (`need`: its key has a
/// default or is required; `get`: it may be missing), the form of its key and its default, other defaults `by` a word of the
/// table, other words `of` it, and its meaning. Without a form the key is declared elsewhere: disciplines share it.
macro_rules! fields {
    ($(#[$about:meta])* $vis:vis $name:ident, $keys:ident of $words:expr; $(
        $field:ident: $type:ty = $how:ident
            $(($form:expr, $default:expr $(, by $by:expr)? $(, of $of:expr)?))?, $meaning:literal;
    )+) => {
        $(#[$about])*
        $vis struct $name { $(
            #[doc = concat!("Key `", stringify!($field), "`: ", $meaning, ".")] pub $field: $type,
        )+ }

        /// Its keys, in the order of the documentation.
        pub(crate) const $keys: &[Key] = &[$($(
            key(stringify!($field), $form, $default, $meaning).of($words)$(.by($by))?$(.of($of))?,
        )?)+];

        impl $name {
            /// Reads every field under its name.
            pub(crate) fn read(table: &crate::read::Table<'_>) -> crate::read::Read<Self> {
                Ok(Self { $($field: table.$how(stringify!($field))?),+ })
            }
        }
    };
}

fields! {
    /// The law of CoDel.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub Codel, CODEL_KEYS of &["codel", "fq_codel"];
    target: Span = need(Form::PositiveTime, "5 ms", by &[("pie", "15 ms"), ("dualpi2", "15 ms")],
        of &["codel", "fq_codel", "pie", "dualpi2"]), "delay to keep";
    interval: Span = need(Form::PositiveTime, "100 ms"), "how long it may be exceeded";
    ecn: bool = need, "packets that can be marked are marked, not dropped";
}

fields! {
    /// What a scenario says of RED, of which the rate of the link supplies the rest.
    pub(crate) RedKeys, RED_KEYS of RED;
    min_threshold: Option<f64> = get(Form::Number(0.0, 1e9), "5",
        by &[("ared", "(2.5 ms of the link's rate, at least 5)")]),
        "average queue from which packets are dropped, packets";
    max_threshold: Option<f64> = get(Form::Number(0.0, 1e9), "(3 min_threshold)"),
        "average queue at which the probability is max_p, packets";
    weight: Option<f64> = get(Form::Number(1e-9, 1.0), "0.002", by &[("ared", "(1 - exp(-1/C), C packets/s)")]),
        "gain of the average queue";
    max_p: f64 = need(Form::Number(0.0, 1.0), "0.1"), "probability at the upper threshold";
    gentle: bool = need(Form::Flag, "true"), "the probability rises to 1 at twice max_threshold";
    spacing: DropSpacing = need(Form::Word(DropSpacing::WORDS), "wait"),
        "packets from one drop to the next, at probability p: 1/p to 2/p as in ns-2 and ns-3 (wait), up to 1/p as in the paper of 1993 (paper), any number (none)";
    mean_packet: Bytes = need(Form::Size(LARGEST_PACKET), "1000 B"),
        "the packet by which idle time and ared's weight count (ns-2, ns-3: 500 B)";
    uniform: Option<bool> = get(Form::Flag, NONE, by &[("dualpi2", "true")], of &["red", "ared", "dualpi2"]),
        "dualpi2: marks are spaced evenly; in red and ared this old key means spacing = \"paper\" (true) or \"none\" (false)";
    least_max_p: Option<f64> = get(Form::Number(0.0, 1.0),
        "(0.01, or 80 kbit/s over the link's rate if that is less)", of &["ared"]), "max_p does not fall below it";
    ecn: bool = need, "packets that can be marked are marked, not dropped";
}

fields! {
    /// Settings of DualPI2 under the RFC's names: L is the queue of low latency, C the classic one.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize)]
    pub DualPi2, DUALPI2_KEYS of DUALPI2;
    target: Span = need, "delay to keep";
    // Tupdate.
    update: Span = need(Form::PositiveTime, "15 ms"), "how often the probability moves, at least 0.1 ms";
    alpha: f64 = need(Form::Number(0.0, 1e6), "0.15"), "gain of the distance from the target, per s";
    beta: f64 = need(Form::Number(0.0, 1e6), "3"), "gain of the delay's change, per s";
    coupling: f64 = need(Form::Number(1.0, 1e3), "2"), "k: marks in L over the root of drops in C";
    ramp_from: Span = need(Form::Time, "800 us"), "delay in L from which its packets are marked";
    ramp_to: Span = need(Form::Time, "1.2 ms"), "delay in L from which all are; equal to ramp_from: a step";
    uniform: bool = need, "marks are spaced evenly";
    scheduler: Scheduler = need(Form::Word(Scheduler::WORDS), "wrr"), "weighted round robin, or time-shifted FIFO";
    classic_share: f64 = need(Form::Fraction, "10 %"), "C's share of the link under wrr, while both wait";
    time_shift: Span = need(Form::Time, "50 ms"),
        "under ts-fifo L goes first unless C's first packet has waited this much longer";
    overload: Overload = need(Form::Word(Overload::WORDS), "drop"),
        "when marks are not enough: drop from both queues, or let them overflow";
}

fields! {
    /// A token bucket without a queue: a packet passes if the bucket holds as many bytes as it has, and is dropped otherwise.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub Policer, POLICER_KEYS of &[];
    rate: Rate = need(Form::Rate, REQUIRED), "rate at which its bucket fills";
    burst: Bytes = need(Form::Size(1 << 40), REQUIRED),
        "what the bucket holds at most, and at the start; a packet that is larger never passes";
}

fields! {
    /// Packets that arrive in groups, as over radio and cable.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub Aggregation, AGGREGATION_KEYS of &[];
    every: Span = need(Form::PositiveTime, REQUIRED), "packets arrive at multiples of this time only";
    thin_acks: bool = need(Form::Flag, "false"),
        "of the ACKs of a flow that would arrive together only the last does; the others count as queue_drops";
}
