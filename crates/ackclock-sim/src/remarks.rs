//! Sentences about a run in addition to its numbers: warnings, and the limits of its flows.

use ackclock_scenario::{Flow, Scenario};
use ackclock_trace::{FlowKind, FlowSummary};

/// The number of bandwidth-delay products above which no host would allow a window.
const MOST_PRODUCTS: f64 = 100.0;

/// The flows that a warning is about, among the flows noted so far.
#[derive(Default)]
pub struct Warnings {
    /// The flow with the largest window: the window in products of the rate of its slowest link and its round-trip
    /// time; the flow's name; and the window in packets.
    window: Option<(f64, String, f64)>,
}

impl Warnings {
    /// Notes `flow` if its window is larger than those before.
    pub fn of_window(&mut self, scenario: &Scenario, flow: &Flow, summary: &FlowSummary) {
        let Some(window) = summary.max_window else { return };
        let Some(slowest) = flow.path.iter().map(|link| scenario.links[*link].rate.0).min() else { return };
        let product = slowest as f64 * flow.rtt.as_seconds() / (8.0 * flow.tcp.packet.0 as f64);
        let times = window / product.max(1.0);
        if self.window.as_ref().is_none_or(|most| times.total_cmp(&most.0).is_ge()) {
            self.window = Some((times, summary.name.clone(), window));
        }
    }

    /// The warnings.
    pub fn sentences(self) -> Vec<String> {
        let window = self.window.filter(|(times, ..)| *times > MOST_PRODUCTS).map(|(times, name, window)| {
            format!(
                "the window of {name} reached {window:.0} packets, {times:.0} times the bandwidth-delay product; \
                 only tcp.receive_window limits what it sends"
            )
        });
        window.into_iter().collect()
    }
}

/// A limit that holds for more than this share of a flow's time is reported.
const MOST_OF_THE_TIME: f64 = 0.5;

/// The limits, other than the window, that held flows with a control back for most of their time.
#[derive(Default)]
pub struct Limits {
    receiver: Limited,
    application: Limited,
    pacing: Limited,
}

/// The flows that something limited: the text of the first, its name, and how many they are.
#[derive(Default)]
struct Limited {
    first: Option<(String, String)>,
    flows: u32,
}

impl Limited {
    /// Notes that the flow `name` was limited for the share `share` of its time by the limit that `what` names.
    fn note(&mut self, name: &str, share: f64, what: impl FnOnce() -> String) {
        if share > MOST_OF_THE_TIME {
            self.flows += 1;
            self.first.get_or_insert_with(|| {
                let percent = (100.0 * share).round();
                (name.to_owned(), format!("was limited by {} for {percent} % of the time", what()))
            });
        }
    }
}

impl Limits {
    /// Notes the limits that held `flow` back.
    pub fn note(&mut self, flow: &Flow, summary: &FlowSummary) {
        let Some(by) = &summary.limited_by else { return };
        if matches!(summary.kind, FlowKind::Rate | FlowKind::Datagrams | FlowKind::Media) {
            return;
        }
        let receiver = || match flow.tcp.receive_window {
            Some(packets) => format!("its receive window of {} packets", packets.0),
            None => "its receive window".to_owned(),
        };
        self.receiver.note(&summary.name, by.receiver, receiver);
        self.application.note(&summary.name, by.application, || "its application".to_owned());
        self.pacing.note(&summary.name, by.pacing, || "pacing".to_owned());
    }

    /// A sentence for each limit, without its full stop.
    pub fn sentences(self) -> Vec<String> {
        let all = [
            (self.receiver, "their receive windows"),
            (self.application, "their applications"),
            (self.pacing, "pacing"),
        ];
        let sentence = |(Limited { first, flows }, what)| {
            first.map(|(name, text)| match flows {
                1 => format!("{name} {text}"),
                2 => format!("{name} and another flow were limited by {what} for more than half of the time"),
                more => format!(
                    "{name} and {} other flows were limited by {what} for more than half of the time",
                    more - 1
                ),
            })
        };
        all.into_iter().filter_map(sentence).collect()
    }
}
