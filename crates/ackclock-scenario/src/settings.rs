//! The effective settings of a flow, as they appear in summaries.

use ackclock_cc::Value;
use ackclock_cc::registry::Catalogue;
use serde_json::{Map, json};

use crate::model::{Flow, Moment};

impl Flow {
    /// Every effective setting of the flow under its name in scenarios; parameters of the control are those
    /// of `catalogue` where the scenario gives none.
    #[must_use]
    pub fn settings(&self, catalogue: &dyn Catalogue) -> serde_json::Value {
        let shown = |moment: Moment| match moment {
            Moment::At(time) => json!(time.to_string()),
            Moment::Uniform(from, to) => json!({ "uniform": [from.to_string(), to.to_string()] }),
        };
        let mut settings = Map::new();
        let own = [
            ("controller", json!(*self.label)),
            ("params", self.all_params(catalogue).into()),
            ("transport", json!(self.transport.name())),
            ("rtt", json!(self.rtt.to_string())),
            ("access", self.access.map_or_else(|| json!("unlimited"), |rate| json!(rate.to_string()))),
            ("direction", json!(if *self.path == [1] && *self.back == [0] { "reverse" } else { "forward" })),
            ("path", json!(*self.path)),
            ("rtt_noise", json!(self.rtt_noise.to_string())),
            ("start", shown(self.start)),
            ("stop", json!(self.stop.map(shown))),
            ("bytes", json!(self.bytes.map(|bytes| bytes.to_string()))),
            ("limit", json!(self.limit.map(|rate| rate.to_string()))),
        ];
        settings.extend(own.map(|(name, value)| (name.to_owned(), value)));
        self.tcp.show(&mut settings);
        settings.into()
    }

    /// Whether [`Flow::settings`] are those of `other`, as they are within a `[[flow]]`: all but the name and, of E-MulTCP,
    /// the place in the group is the same.
    #[must_use]
    pub fn has_settings_of(&self, other: &Flow) -> bool {
        let own = Flow { name: other.name.clone(), traffic: other.traffic.clone(), ..self.clone() };
        own == *other
    }

    fn all_params(&self, catalogue: &dyn Catalogue) -> Map<String, serde_json::Value> {
        let entry = catalogue.find(&self.control);
        let parameters = entry.map_or(&[][..], |entry| entry.parameters);
        let effective = |name: &str, default: Value<'static>| {
            let param = self.params.iter().find(|(other, _)| other == name);
            match param.map_or(default, |(_, value)| value.as_value()) {
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
