//! The summary of a run, as `--json` prints it.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::described::described;

/// The rules by which a summary counts and measures. Numbers of other rules are not compared with those of these:
///
/// 1. Intervals begin after the events of their first instant, and goodput is data delivered in order.
/// 2. Intervals are half-open, and goodput is data that arrives for the first time.
/// 3. A request counts where it is completed, and a flow that repairs losses is limited by its window.
pub const RULES: u32 = 3;

described! {
    /// The summary of one run. What does not apply is null.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Summary {
        /// Version of the engine.
        pub version: &'static str,
        /// Rules by which it counts and measures; numbers of other rules cannot be compared.
        pub rules: u32,
        /// Fingerprint of everything that happened.
        pub digest: String,
        /// Seed of the random streams.
        pub seed: u64,
        /// Number of the run among those of the seed.
        pub run: u64,
        /// Simulated time, seconds.
        pub duration_s: f64,
        /// Where measuring began, seconds.
        pub measured_from_s: f64,
        /// One entry per flow, by id.
        pub flows: Vec<FlowSummary>,
        /// One entry per link.
        pub links: Vec<LinkSummary>,
        /// Jain's index of the flows' goodputs; null when nothing was delivered.
        pub jain: Option<f64>,
        /// Data packets put on the wire by senders over the whole run, retransmissions included.
        pub packets_simulated: u64,
        /// What to know before trusting the numbers.
        pub warnings: Vec<String>,
        /// What held flows with a control back for more than half of their time, where that was not their window.
        pub notes: Vec<String>,
    }
}

described! {
    rows
    /// Counters of a flow.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
    pub struct Counters {
        /// Data packets put on the wire, retransmissions included.
        pub sent_packets: u64,
        /// Those of them that were sent before.
        pub retransmitted_packets: u64,
        /// Data packets dropped by queues or lost at random.
        pub dropped_packets: u64,
        /// Loss events, timeouts apart: signals to the control or, of TFRC and TEAR, those that the receiver reports. Null for
        /// Vivace, which knows none.
        pub loss_events: Option<u64>,
        /// Expiries of the retransmission timer.
        pub timeouts: u64,
        /// Data packets that arrived although they had arrived before. Packets sent are those that arrived for the first time,
        /// those that arrived again, those dropped, and those under way.
        pub duplicate_packets: u64,
        /// Acknowledgements, or reports of its receiver, dropped by queues, lost at random, or thinned out.
        pub dropped_acks: u64,
    }
}

impl Counters {
    /// What was counted since `earlier`.
    #[must_use]
    pub const fn since(&self, earlier: &Counters) -> Counters {
        Counters {
            sent_packets: self.sent_packets - earlier.sent_packets,
            retransmitted_packets: self.retransmitted_packets - earlier.retransmitted_packets,
            dropped_packets: self.dropped_packets - earlier.dropped_packets,
            loss_events: match (self.loss_events, earlier.loss_events) {
                (Some(all), Some(before)) => Some(all - before),
                (all, _) => all,
            },
            timeouts: self.timeouts - earlier.timeouts,
            duplicate_packets: self.duplicate_packets - earlier.duplicate_packets,
            dropped_acks: self.dropped_acks - earlier.dropped_acks,
        }
    }
}

described! {
    /// What a flow carries and what limits it: see [`FlowSummary::kind`].
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum FlowKind {
        /// A transfer under a window.
        Window,
        /// A transfer under a rate.
        Rate,
        /// Datagrams, which nothing slows down.
        Datagrams,
        /// Frames, which nothing slows down.
        Media,
        /// Pages and requests of an application.
        Web,
    }
}

described! {
    rows
    /// A flow, measured on [max(warmup, start), min(duration, stop)): what happens at the last instant does not count.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct FlowSummary {
        /// Its index.
        pub id: u32,
        /// Its name.
        pub name: String,
        /// Its congestion control; of other traffic, what sends it.
        pub controller: String,
        /// What it carries and what limits it: a transfer under a `window` or a `rate`, as its control sets them; pages and
        /// requests of an application, `web`; `datagrams` and `media`, which nothing slows down.
        pub kind: FlowKind,
        /// Propagation round trip, milliseconds.
        pub rtt_ms: f64,
        /// Packets that arrived for the first time, in any order, times the packet size, Mbit/s.
        pub goodput_mbps: Option<f64>,
        /// Packets delivered in order to the application, times the packet size, Mbit/s. What waited for a lost packet counts when
        /// that arrives, so that this may exceed the rate of a link.
        pub in_order_mbps: Option<f64>,
        /// Shares of the measured time in which something kept the flow from sending more; null for a flow that never began
        /// within it.
        pub limited_by: Option<LimitedBy>,
        /// Time average of the control's window, packets.
        pub mean_window: Option<f64>,
        /// Largest window of the control in the whole run, the initial one included, packets.
        pub max_window: Option<f64>,
        /// Mean of the RTT samples, milliseconds.
        pub mean_rtt_ms: Option<f64>,
        /// Median of the RTT samples, milliseconds.
        pub rtt_p50_ms: Option<f64>,
        /// 95th percentile of the RTT samples, milliseconds.
        pub rtt_p95_ms: Option<f64>,
        /// 99th percentile of the RTT samples, milliseconds.
        pub rtt_p99_ms: Option<f64>,
        /// Counters over the measured time.
        #[serde(flatten)]
        pub counters: Counters,
        /// From start to the delivery of the last packet of a finite transfer, seconds; with that of its handshake,
        /// if it has one.
        pub completion_s: Option<f64>,
        /// Requests or pages that were completed in the measured time.
        pub requests_completed: Option<u64>,
        /// Median of the times from their starts to the delivery of their last packets, seconds, of those that also began in
        /// the measured time.
        pub request_p50_s: Option<f64>,
        /// 95th percentile of these times, seconds.
        pub request_p95_s: Option<f64>,
        /// 99th percentile of these times, seconds.
        pub request_p99_s: Option<f64>,
        /// Of datagrams, median of the one-way delays of those that arrived, milliseconds; of media, of complete frames.
        pub delay_p50_ms: Option<f64>,
        /// 95th percentile of these delays, milliseconds.
        pub delay_p95_ms: Option<f64>,
        /// 99th percentile of these delays, milliseconds.
        pub delay_p99_ms: Option<f64>,
        /// Share of the datagrams that arrived which were later than the deadline; of media, share of the frames that were not
        /// complete by it, lost or late.
        pub late: Option<f64>,
        /// When it started, seconds.
        pub start_s: f64,
        /// How much it was to send, bytes; null without end.
        pub bytes: Option<u64>,
        /// The same counters from time 0.
        pub whole_run: Counters,
        /// Every effective setting of the flow.
        pub settings: Arc<Value>,
    }
}

described! {
    rows
    /// What kept a flow from sending more. The shares add up to 1 and are rounded to four digits. The time after a finite
    /// transfer is complete does not count, and while a packet waits for a random `overhead` or for `max_burst` what held
    /// the flow before still does.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct LimitedBy {
        /// Its congestion window was full.
        pub window: f64,
        /// Its receive window was full, and its congestion window was not.
        pub receiver: f64,
        /// Its application had nothing new to send.
        pub application: f64,
        /// It was paced, or its control sets a rate and has no window.
        pub pacing: f64,
    }
}

described! {
    /// A link, measured from the warm-up on.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct LinkSummary {
        /// Its name.
        pub id: String,
        /// The size of its queue at the start, in packets or bytes, as scenarios write it.
        pub queue_limit: String,
        /// Bits sent over the integral of the rate. A packet in transmission counts as far as it is sent, and when the link
        /// changes or goes down its rate lasts until it is sent.
        pub utilisation: Option<f64>,
        /// Packets dropped by the queue, a policer or an outage, and acknowledgements that were thinned out.
        pub queue_drops: u64,
        /// Packets marked by the queue.
        pub marks: u64,
        /// Packets lost at random before the queue.
        pub random_losses: u64,
        /// Time average of the queue, the packet in transmission included.
        pub mean_queue_packets: Option<f64>,
        /// Longest queue, the packet in transmission included.
        pub max_queue_packets: u64,
        /// Median of the time from arrival to the start of transmission, milliseconds.
        pub queue_delay_p50_ms: Option<f64>,
        /// Its 95th percentile, milliseconds.
        pub queue_delay_p95_ms: Option<f64>,
        /// Its 99th percentile, milliseconds.
        pub queue_delay_p99_ms: Option<f64>,
        /// The two queues of `dualpi2` apart; left out where the link has another queue.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub dualpi2: Option<DualPi2Summary>,
    }
}

described! {
    /// The two queues of DualPI2, each by itself.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct DualPi2Summary {
        /// L, which packets wait in that came as ECT(1) or already marked.
        pub low_latency: SideSummary,
        /// C, which all others wait in.
        pub classic: SideSummary,
    }
}

described! {
    /// One queue of DualPI2, measured from the warm-up on.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct SideSummary {
        /// Packets whose transmission began.
        pub packets: u64,
        /// Median of the time from arrival to the start of transmission, milliseconds.
        pub queue_delay_p50_ms: Option<f64>,
        /// Its 95th percentile, milliseconds.
        pub queue_delay_p95_ms: Option<f64>,
        /// Its 99th percentile, milliseconds.
        pub queue_delay_p99_ms: Option<f64>,
    }
}

/// Jain's fairness index `(sum x)^2 / (n sum x^2)` of `shares`; `None` without shares or when all are 0.
///
/// Source: R. Jain, D. Chiu, W. Hawe, DEC TR-301 (1984).
///
/// ```
/// // (1 + 3)^2 / (2 * (1 + 9)) = 16/20.
/// assert_eq!(ackclock_trace::jain(&[1.0, 3.0]), Some(0.8));
/// ```
#[must_use]
pub fn jain(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}
