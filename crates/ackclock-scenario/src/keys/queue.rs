//! The keys of queues.

use super::{Form, MOST_PACKETS, NONE, REQUIRED, Section, key};
use crate::model::{Overload, Scheduler};

/// Queue disciplines.
const QUEUES: &[&str] = &["droptail", "red", "ared", "codel", "pie", "step", "fq_codel", "dualpi2"];
/// Those of random early detection.
const RED: &[&str] = &["red", "ared"];
/// The coupled queues.
const DUALPI2: &[&str] = &["dualpi2"];

/// A queue.
pub static QUEUE: Section = Section {
    name: "queue",
    selector: Some("kind"),
    also: None,
    keys: &[
        key("kind", Form::Word(QUEUES), REQUIRED, "the discipline"),
        key(
            "limit",
            Form::Limit,
            REQUIRED,
            "\"100 packets\" or \"125 kB\", the packet in transmission included",
        ),
        key("ecn", Form::Flag, "false", "packets that can be marked are marked, not dropped")
            .of(&["red", "ared", "codel", "pie", "fq_codel"]),
        key(
            "min_threshold",
            Form::Number(0.0, 1e9),
            "5",
            "average queue from which packets are dropped, packets",
        )
        .by(&[("ared", "(5 ms of the link's rate, at least 5)")])
        .of(RED),
        key(
            "max_threshold",
            Form::Number(0.0, 1e9),
            "(3 min_threshold)",
            "average queue at which the probability is max_p, packets",
        )
        .of(RED),
        key("weight", Form::Number(1e-9, 1.0), "0.002", "gain of the average queue")
            .by(&[("ared", "(1 - exp(-1/C), C packets/s)")])
            .of(RED),
        key("max_p", Form::Number(0.0, 1.0), "0.1", "probability at the upper threshold").of(RED),
        key("gentle", Form::Flag, "true", "the probability rises to 1 at twice max_threshold").of(RED),
        key("uniform", Form::Flag, "true", "drops (and dualpi2's marks) are spaced evenly, as in the paper")
            .of(&["red", "ared", "dualpi2"]),
        key("least_max_p", Form::Number(0.0, 1.0), "0.01", "max_p does not fall below it").of(&["ared"]),
        key("target", Form::PositiveTime, "5 ms", "delay to keep")
            .by(&[("pie", "15 ms"), ("dualpi2", "15 ms")])
            .of(&["codel", "fq_codel", "pie", "dualpi2"]),
        key("interval", Form::PositiveTime, "100 ms", "how long it may be exceeded")
            .of(&["codel", "fq_codel"]),
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
        key("update", Form::PositiveTime, "15 ms", "how often the probability moves, at least 0.1 ms")
            .of(DUALPI2),
        key("alpha", Form::Number(0.0, 1e6), "0.15", "gain of the distance from the target, per s")
            .of(DUALPI2),
        key("beta", Form::Number(0.0, 1e6), "3", "gain of the delay's change, per s").of(DUALPI2),
        key("coupling", Form::Number(1.0, 1e3), "2", "k: marks in L over the root of drops in C").of(DUALPI2),
        key("ramp_from", Form::Time, "800 us", "delay in L from which its packets are marked").of(DUALPI2),
        key("ramp_to", Form::Time, "1.2 ms", "delay in L from which all are; equal to ramp_from: a step")
            .of(DUALPI2),
        key("scheduler", Form::Word(Scheduler::WORDS), "wrr", "weighted round robin, or time-shifted FIFO")
            .of(DUALPI2),
        key("classic_share", Form::Fraction, "10 %", "C's share of the link under wrr, while both wait")
            .of(DUALPI2),
        key(
            "time_shift",
            Form::Time,
            "50 ms",
            "under ts-fifo L goes first unless C's first packet has waited this much longer",
        )
        .of(DUALPI2),
        key(
            "overload",
            Form::Word(Overload::WORDS),
            "drop",
            "when marks are not enough: drop from both queues, or let them overflow",
        )
        .of(DUALPI2),
    ],
};
