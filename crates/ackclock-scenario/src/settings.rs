//! The effective settings of a flow, as they appear in summaries.

use ackclock_cc::Value;
use ackclock_cc::registry::Catalogue;
use serde_json::{Map, json};

use crate::model::{Flow, Growth, Profile, Recovery, Start, Transport};

impl Profile {
    /// Its name in scenarios.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Profile::Ns2 => "ns2",
            Profile::Linux => "linux",
        }
    }
}

impl Recovery {
    /// Its name in scenarios.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Recovery::Reno => "reno",
            Recovery::NewReno => "newreno",
            Recovery::Sack => "sack",
            Recovery::Rack => "rack",
            Recovery::Linux26 => "linux-2.6",
        }
    }
}

impl Transport {
    /// Its name in scenarios.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Transport::Tcp => "tcp",
            Transport::Quic => "quic",
        }
    }
}

impl Flow {
    /// Every effective setting of the flow under its name in scenarios; parameters of the control are those
    /// of `catalogue` where the scenario gives none.
    #[must_use]
    pub fn settings(&self, catalogue: &dyn Catalogue) -> serde_json::Value {
        let tcp = &self.tcp;
        let unlimited = || json!("unlimited");
        let start = match self.start {
            Start::At(start) => json!(start.to_string()),
            Start::Uniform(from, to) => json!({ "uniform": [from.to_string(), to.to_string()] }),
        };
        let ssthresh = tcp.initial_ssthresh.0;
        json!({
            "controller": self.controller,
            "params": self.all_params(catalogue),
            "transport": self.transport.name(),
            "rtt": self.rtt.to_string(),
            "access": self.access.map_or_else(unlimited, |rate| json!(rate.to_string())),
            "direction": if self.path == [1] && self.back == [0] { "reverse" } else { "forward" },
            "path": self.path,
            "rtt_noise": self.rtt_noise.to_string(),
            "start": start,
            "stop": self.stop.map(|stop| stop.to_string()),
            "bytes": self.bytes.map(|bytes| bytes.to_string()),
            "profile": tcp.profile.name(),
            "packet": tcp.packet.to_string(),
            "ack": tcp.ack.to_string(),
            "initial_window": tcp.initial_window.0,
            "initial_ssthresh": if ssthresh.is_finite() { json!(ssthresh) } else { unlimited() },
            "receive_window": tcp.receive_window.map_or_else(unlimited, |packets| json!(packets.0)),
            "recovery": tcp.recovery.name(),
            "min_rto": tcp.min_rto.to_string(),
            "max_rto": tcp.max_rto.to_string(),
            "initial_rto": tcp.initial_rto.to_string(),
            "clock": tcp.clock.to_string(),
            "delayed_ack": tcp.delayed_ack,
            "delayed_ack_timer": tcp.delayed_ack_timer.to_string(),
            "limited_transmit": tcp.limited_transmit,
            "max_burst": tcp.max_burst.map_or(0, |packets| packets.0),
            "overhead": tcp.overhead.to_string(),
            "growth": match tcp.growth {
                Growth::PerAck => "per_ack",
                Growth::PerPacket => "per_packet",
            },
            "pacing": tcp.pacing,
            "pacing_gain": tcp.pacing_gain,
            "slow_start_gain": tcp.slow_start_gain,
            "min_window": tcp.min_window.0,
            "hystart": tcp.hystart,
            "ecn": tcp.ecn,
        })
    }

    fn all_params(&self, catalogue: &dyn Catalogue) -> Map<String, serde_json::Value> {
        let entry = catalogue.find(&self.control);
        let parameters = entry.map_or(&[][..], |entry| entry.parameters);
        let effective = |name: &str, default: Value<'static>| {
            let given = self.params.iter().find(|(given, _)| given == name);
            match given.map_or(default, |(_, value)| value.as_value()) {
                Value::Number(number) => json!(number),
                Value::Choice(word) => json!(word),
                Value::Flag(flag) => json!(flag),
            }
        };
        parameters
            .iter()
            .map(|parameter| (parameter.name.to_owned(), effective(parameter.name, parameter.default)))
            .collect()
    }
}
