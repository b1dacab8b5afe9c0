//! The tables of what a link does to packets in addition to queueing them.

use super::{Form, Key, NONE, REQUIRED, Section, key};
use crate::plain;
use crate::series::Between;
use crate::words::words;

words! {
    /// Loss models.
    LossKind {
        /// Nothing is lost at random.
        None = "none",
        /// Every n-th packet of a flow.
        Periodic = "periodic",
        /// Independent losses.
        Bernoulli = "bernoulli",
        /// Two states, in packets or in time.
        GilbertElliott = "gilbert_elliott",
        /// As a file says, packet by packet.
        Trace = "trace",
        /// All in the intervals of a file.
        Bursts = "bursts",
    }
}

words! {
    /// Distributions of delay noise.
    NoiseName {
        /// From zero to a range.
        Uniform = "uniform",
        /// Normal.
        Gaussian = "gaussian",
        /// That of a wireless network.
        Wifi = "wifi",
        /// A table of netem.
        Table = "table",
    }
}

const GILBERT: &[&str] = &["gilbert_elliott"];

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
        key("kind", Form::Word(NoiseName::WORDS), REQUIRED, "its distribution"),
        key(
            "sigma",
            Form::Time,
            REQUIRED,
            "standard deviation around zero; a delay that would be negative is zero",
        )
        .of(&["gaussian", "table"]),
        key("file", Form::File, REQUIRED, "a table as netem reads it: numbers, 8192 of which are a sigma")
            .of(&["table"]),
        key(
            "correlation",
            Form::Fraction,
            "0 %",
            "share of the draw before it of the flow, as netem has it, which makes extremes rarer",
        )
        .of(&["uniform", "table"]),
        key("range", Form::Time, REQUIRED, "from zero to this").of(&["uniform"]),
        key(
            "mean",
            Form::PositiveTime,
            REQUIRED,
            "from 1 ms to 91 ms; about a third of a millisecond more than the mean that comes out",
        )
        .of(&["wifi"]),
        key("reorder", Form::Flag, "false", "packets may overtake each other"),
        key(
            "hold",
            Form::PositiveTime,
            "(a change per packet)",
            "how long a change lasts: all packets sent in one interval of this length have the same",
        ),
    ],
};

/// A loss model.
pub static LOSS: Section = Section {
    name: "loss",
    selector: Some("kind"),
    also: None,
    keys: &[
        key("kind", Form::Word(LossKind::WORDS), REQUIRED, "the model"),
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
        key(
            "to_bad",
            Form::Fraction,
            "(required, or times)",
            "probability of entering the bad state, per packet of a flow",
        )
        .of(GILBERT),
        key("to_good", Form::Fraction, "(required, or times)", "probability of leaving it, per packet of a flow")
            .of(GILBERT),
        key(
            "good_time",
            Form::PositiveTime,
            NONE,
            "mean time in the good state, exponential, in place of to_bad: the link is in one state for all flows",
        )
        .of(GILBERT),
        key("bad_time", Form::PositiveTime, NONE, "mean time in the bad state, in place of to_good").of(GILBERT),
        key("loss_good", Form::Fraction, "0 %", "probability of a loss in the good state").of(GILBERT),
        key("loss_bad", Form::Fraction, "100 %", "probability of a loss in the bad state").of(GILBERT),
        key(
            "file",
            Form::File,
            REQUIRED,
            "trace: 0 and 1, one per packet of a flow, over and over; 1 is a loss. bursts: two columns, from when and until when \
             all is lost, in s from the start of the run",
        )
        .of(&["trace", "bursts"]),
    ],
};

/// The keys of a quantity over time, in `unit`.
const fn series(unit: &'static str) -> [Key; 10] {
    [
        key(
            "file",
            Form::File,
            REQUIRED,
            "a table in CSV or tab-separated, with or without a header; lines that begin with # do not count",
        ),
        key("column", Form::Column, "(2; with every 1)", "where the values are"),
        key("time", Form::Column, "(1)", "where the times are; they count from the first line on"),
        key(
            "every",
            Form::PositiveTime,
            NONE,
            "time from one line to the next, in place of a column of times",
        ),
        key("unit", Form::Text, unit, "of values without one, as in this format; 1 and % for shares"),
        key("time_unit", Form::Text, "s", "of times without one"),
        key(
            "scale",
            Form::Number(1e-9, 1e9),
            "1",
            "what values are multiplied by: 0.5 for half of a round trip",
        ),
        key(
            "between",
            Form::Word(Between::WORDS),
            "hold",
            "lines: a value holds until the next, or moves there",
        ),
        key(
            "step",
            Form::PositiveTime,
            "(100 ms, with linear)",
            "linear: length of the steps, each at its mean",
        ),
        key(
            "repeat",
            Form::Flag,
            "false",
            "begins again after the last line, which lasts as long as the one before; else its value stays",
        ),
    ]
}

static RATES: [Key; 10] = series("Mbit/s");
static DELAYS: [Key; 10] = series("ms");
static LOSSES_OVER_TIME: [Key; 10] = series("1");

/// A rate over time.
pub static RATE_SERIES: Section = Section { name: "rate_series", selector: None, also: None, keys: &RATES };

/// A delay over time.
pub static DELAY_SERIES: Section =
    Section { name: "delay_series", selector: None, also: None, keys: &DELAYS };

/// A loss rate over time.
pub static LOSS_SERIES: Section =
    Section { name: "loss_series", selector: None, also: None, keys: &LOSSES_OVER_TIME };

/// A policer.
pub static POLICER: Section =
    Section { name: "policer", selector: None, also: None, keys: plain::POLICER_KEYS };

/// Aggregation.
pub static AGGREGATION: Section =
    Section { name: "aggregation", selector: None, also: None, keys: plain::AGGREGATION_KEYS };
