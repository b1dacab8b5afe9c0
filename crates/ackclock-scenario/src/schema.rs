//! The JSON schema and the reference tables, made from the tables of keys.

use serde_json::{Map, Value, json};

use crate::allowed::is_flag;
use crate::keys::{
    AGGREGATION, ARRIVALS, DUMBBELL, EVENT, FILE, FLOW, Form, Key, LINK, LOSS, NODE, NOISE, PARKING_LOT,
    POLICER, PULSE, QUEUE, RATE_SERIES, RECEIVER, REVERSE, RUN, SQUARE, Section,
};
use crate::tcp::TCP;

/// The JSON schema (draft 2020-12) of a scenario: keys, kinds of values and words. Rules that depend on other values
/// are left to the check.
#[must_use]
pub fn json_schema() -> Value {
    let mut schema = of_section(&FILE);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("ackclock scenario");
    schema
}

/// The names of the keys whose values are names of files.
#[must_use]
pub fn file_keys() -> Vec<&'static str> {
    let mut names = Vec::new();
    let mut sections = vec![&FILE];
    while let Some(section) = sections.pop() {
        for key in section.all_keys() {
            match key.form {
                Form::Table(inner) | Form::Tables(inner) => sections.push(inner),
                Form::File | Form::WordOrFile(_) if !names.contains(&key.name) => names.push(key.name),
                _ => {}
            }
        }
    }
    names
}

fn of_section(section: &Section) -> Value {
    let properties: Map<_, _> = section.all_keys().map(|key| (key.name.to_owned(), of_key(key))).collect();
    let required: Vec<_> =
        section.all_keys().filter(|key| key.is_required() && key.of.is_empty()).map(|key| key.name).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn of_key(key: &Key) -> Value {
    let mut schema = of_form(key.form);
    schema["description"] = json!(format!("{}; without it: {}", key.meaning(), key.default_in_words()));
    schema
}

fn of_form(form: Form) -> Value {
    let text = || json!({ "type": "string" });
    let number_or = |word: &str| json!({ "anyOf": [{ "type": "number" }, { "const": word }] });
    match form {
        Form::Time
        | Form::PositiveTime
        | Form::Rate
        | Form::RateOrUnlimited
        | Form::Size(_)
        | Form::Limit
        | Form::Sample
        | Form::File
        | Form::Text => text(),
        Form::Schedule => {
            let pair = json!({ "type": "array", "items": text(), "minItems": 2, "maxItems": 2 });
            json!({ "type": "array", "items": pair, "minItems": 1 })
        }
        Form::Column => json!({ "anyOf": [{ "type": "integer", "minimum": 1 }, text()] }),
        Form::Sizes => {
            let share = json!({ "anyOf": [text(), { "type": "number", "minimum": 0, "maximum": 1 }] });
            let pair =
                json!({ "type": "array", "prefixItems": [text(), share], "minItems": 2, "maxItems": 2 });
            json!({ "anyOf": [text(), { "type": "array", "items": pair, "minItems": 1 }] })
        }
        Form::Load => {
            json!({ "anyOf": [text(), { "type": "number", "minimum": 0.0001, "maximum": 10 }] })
        }
        Form::Fraction => json!({ "anyOf": [text(), { "type": "number", "minimum": 0, "maximum": 1 }] }),
        Form::Whole(minimum, maximum) => json!({ "type": "integer", "minimum": minimum, "maximum": maximum }),
        Form::Window(_) => json!({ "type": "number" }),
        Form::Number(least, most) => json!({ "type": "number", "minimum": least, "maximum": most }),
        Form::When => {
            let round_trip = json!({
                "type": "object",
                "properties": { "flow": text(), "rtt": { "type": "integer", "minimum": 1 } },
                "required": ["flow", "rtt"],
                "additionalProperties": false,
            });
            json!({ "anyOf": [text(), round_trip] })
        }
        Form::Any => json!({}),
        Form::WindowOrUnlimited(_) | Form::PacketsOrUnlimited => number_or("unlimited"),
        Form::Word(words) => json!({ "enum": words }),
        Form::WordOrFile(words) => json!({ "anyOf": [{ "enum": words }, text()] }),
        Form::FlagOrWord(words) => {
            let word = |word: &&str| if is_flag(word) { json!(*word == "true") } else { json!(word) };
            json!({ "enum": words.iter().map(word).collect::<Vec<_>>() })
        }
        Form::Flag => json!({ "type": "boolean" }),
        Form::Moment => {
            let ends = json!({ "type": "array", "items": text(), "minItems": 2, "maxItems": 2 });
            let uniform = json!({
                "type": "object",
                "properties": { "uniform": ends },
                "required": ["uniform"],
                "additionalProperties": false,
            });
            json!({ "anyOf": [text(), uniform] })
        }
        Form::Params => {
            json!({ "type": "object", "additionalProperties": { "type": ["number", "string", "boolean"] } })
        }
        Form::Table(section) => of_section(section),
        Form::Tables(section) => json!({ "type": "array", "items": of_section(section), "minItems": 1 }),
    }
}

/// The keys of all sections as Markdown tables.
#[must_use]
pub fn reference() -> String {
    let sections = [
        ("[run]", &RUN),
        ("[tcp], and in each [[flow]]", &TCP),
        ("[dumbbell], and in [parking_lot] and each [[link]]", &DUMBBELL),
        ("reverse", &REVERSE),
        ("[parking_lot]", &PARKING_LOT),
        ("[[node]]", &NODE),
        ("[[link]]", &LINK),
        ("queue", &QUEUE),
        ("loss", &LOSS),
        ("delay_noise", &NOISE),
        ("rate_series; delay_series and loss_series likewise, in ms and shares", &RATE_SERIES),
        ("policer", &POLICER),
        ("aggregation", &AGGREGATION),
        ("square", &SQUARE),
        ("[[flow]]", &FLOW),
        ("arrivals", &ARRIVALS),
        ("pulse", &PULSE),
        ("receiver", &RECEIVER),
        ("[[event]]", &EVENT),
    ];
    let mut text = String::new();
    for (title, section) in sections {
        text.push_str(&format!(
            "### {title}\n\n| key | allowed | without it | meaning |\n| --- | --- | --- | --- |\n"
        ));
        for key in section.keys {
            let allowed = key.form.allowed().replace('|', "\\|");
            let (default, meaning) = (key.default_in_words(), key.meaning());
            text.push_str(&format!("| `{}` | {allowed} | {default} | {meaning} |\n", key.name));
        }
        text.push('\n');
    }
    text
}
