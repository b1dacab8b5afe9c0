//! The controls of a catalogue as data, for whoever shows them.

use ackclock_cc::registry::{Catalogue, Entry};
use ackclock_cc::{Domain, Parameter, Value};
use serde_json::json;

/// The controls of `catalogue` as a JSON list: name, kind ("window" or "rate"), source, and per parameter its name,
/// default, domain (`minimum` and `maximum`, or `choices`) and meaning.
#[must_use]
pub fn controllers(catalogue: &dyn Catalogue) -> serde_json::Value {
    catalogue.entries().iter().map(describe).collect()
}

fn describe(entry: &Entry) -> serde_json::Value {
    let parameters: Vec<_> = entry.parameters.iter().map(describe_parameter).collect();
    json!({
        "name": entry.name,
        "kind": entry.kind.name(),
        "source": entry.source,
        "parameters": parameters,
    })
}

fn describe_parameter(parameter: &Parameter) -> serde_json::Value {
    let default = match parameter.default {
        Value::Number(number) => json!(number),
        Value::Choice(word) => json!(word),
        Value::Flag(flag) => json!(flag),
    };
    let mut description = json!({
        "name": parameter.name,
        "default": default,
        "minimum": null,
        "maximum": null,
        "meaning": parameter.meaning,
    });
    match parameter.domain {
        Domain::Number { minimum, maximum } => {
            description["minimum"] = json!(minimum);
            description["maximum"] = json!(maximum);
        }
        Domain::Choice(words) => description["choices"] = json!(words),
        Domain::Flag => description["choices"] = json!([true, false]),
    }
    description
}
