//! The canonical text of a scenario: its differences from the defaults, sorted, one value a line. A scenario's digest
//! is taken from it, so a new key with a default changes no digest.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::sync::OnceLock;

use ackclock_cc::registry::BuiltIn;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::Scenario;

/// Begins every digest. Whoever changes a default, or what a key means, raises the number: the same text then means
/// something else.
pub const VERSION: &str = "s1";

/// Everything that a scenario may have, at its defaults.
const EVERY: &str = include_str!("every.toml");

/// The defaults of the fields of tables, by the kind of table.
type DefaultsByTable = BTreeMap<String, Map<String, Value>>;

/// Writes the canonical text of `scenario` to `out`.
pub fn write(scenario: &Scenario, out: &mut dyn Write) -> fmt::Result {
    let defaults = defaults();
    let Scenario { run, links, flows, arrivals, events } = scenario;
    let mut text = Text { defaults, out };
    text.member("run", "run", run)?;
    text.members("link", links)?;
    text.members("flow", flows.iter())?;
    text.members("arrivals", arrivals)?;
    text.members("event", events)
}

fn defaults() -> &'static DefaultsByTable {
    static DEFAULTS: OnceLock<DefaultsByTable> = OnceLock::new();
    DEFAULTS.get_or_init(|| {
        let every = crate::read_toml(EVERY, "every.toml", &[], &BuiltIn);
        let Scenario { run, links, flows, arrivals, events } = every.expect("a test reads it").scenario;
        let mut defaults = DefaultsByTable::new();
        collect("run", &value(&run), &mut defaults);
        // The other direction is a plain link.
        links.iter().rev().for_each(|link| collect("link", &value(link), &mut defaults));
        flows.iter().for_each(|flow| collect("flow", &value(flow), &mut defaults));
        arrivals.iter().for_each(|arrivals| collect("arrivals", &value(arrivals), &mut defaults));
        events.iter().for_each(|event| collect("event", &value(event), &mut defaults));
        defaults
    })
}

fn value(part: &impl Serialize) -> Value {
    serde_json::to_value(part).expect("a scenario has text keys only")
}

/// The kind of the table under `key` in a table of kind `parent`.
fn kind(parent: &str, key: &str, value: &Value) -> String {
    match key {
        "queue" | "Queue" => "queue".to_owned(),
        "loss" | "Loss" => "loss".to_owned(),
        "noise" | "delay_noise" | "reverse_noise" | "Noise" => "noise".to_owned(),
        "flow" => "flow".to_owned(),
        // Its defaults depend on its profile.
        "tcp" => format!("tcp {}", value["profile"]),
        _ => format!("{parent}.{key}"),
    }
}

/// Whether a table has one field, the variant of an enumeration: which one it is has no default.
fn is_variant(fields: &Map<String, Value>) -> bool {
    fields.len() == 1 && fields.keys().all(|name| name.starts_with(|first: char| first.is_ascii_uppercase()))
}

/// Takes over the fields of a table and of those in it, unless a table of the kind was seen before.
fn collect(kind_of_table: &str, table: &Value, defaults: &mut DefaultsByTable) {
    let Value::Object(fields) = table else { return };
    if !is_variant(fields) {
        defaults.entry(kind_of_table.to_owned()).or_insert_with(|| fields.clone());
    }
    for (name, field) in fields {
        let kind = kind(kind_of_table, name, field);
        match field {
            Value::Array(items) => items.iter().for_each(|item| collect(&kind, item, defaults)),
            _ => collect(&kind, field, defaults),
        }
    }
}

struct Text<'a> {
    defaults: &'static DefaultsByTable,
    out: &'a mut dyn Write,
}

impl Text<'_> {
    fn members<T: Serialize>(
        &mut self,
        kind: &str,
        parts: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
    ) -> fmt::Result {
        let parts = parts.into_iter();
        writeln!(self.out, "{kind} {}", parts.len())?;
        (0..).zip(parts).try_for_each(|(index, part)| self.member(&format!("{kind}.{index}"), kind, &part))
    }

    fn member(&mut self, path: &str, kind: &str, part: &impl Serialize) -> fmt::Result {
        self.table(path, kind, &value(part))
    }

    /// Writes the fields of a table that are not at their defaults.
    fn table(&mut self, path: &str, kind_of_table: &str, table: &Value) -> fmt::Result {
        let Value::Object(fields) = table else { return Ok(()) };
        let defaults = self.defaults.get(kind_of_table);
        let mut names: Vec<_> = fields.keys().collect();
        names.sort_unstable();
        for name in names {
            let field = &fields[name];
            // The profile says which defaults hold.
            if name != "profile" && defaults.and_then(|defaults| defaults.get(name)) == Some(field) {
                continue;
            }
            let (path, kind) = (format!("{path}.{name}"), kind(kind_of_table, name, field));
            match field {
                Value::Object(_) => {
                    writeln!(self.out, "{path}")?;
                    self.table(&path, &kind, field)?;
                }
                Value::Array(items) if items.iter().all(Value::is_object) => {
                    writeln!(self.out, "{path} {}", items.len())?;
                    (0..)
                        .zip(items)
                        .try_for_each(|(index, item)| self.table(&format!("{path}.{index}"), &kind, item))?;
                }
                _ => writeln!(self.out, "{path} = {field}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{FLOW, Form, LOSS, NOISE, QUEUE};

    fn text(defaults: &DefaultsByTable, table: &Value) -> String {
        let mut out = String::new();
        let defaults: &'static DefaultsByTable = Box::leak(Box::new(defaults.clone()));
        Text { defaults, out: &mut out }.table("flow.0", "flow", table).unwrap();
        out
    }

    #[test]
    fn a_new_key_at_its_default_changes_nothing() {
        let scenario = crate::read_toml(crate::EXAMPLE, "a.toml", &[], &BuiltIn).unwrap().scenario;
        let (mut defaults, mut flow) = (defaults().clone(), value(&scenario.flows[0]));
        let before = text(&defaults, &flow);
        let new = || ("new_key".to_owned(), Value::from(7));
        defaults.get_mut("tcp \"linux\"").unwrap().extend([new()]);
        let of_flow = defaults.get_mut("flow").unwrap();
        of_flow.extend([new()]);
        of_flow["tcp"]["new_key"] = 7.into();
        flow["new_key"] = 7.into();
        flow["tcp"]["new_key"] = 7.into();
        assert_eq!(text(&defaults, &flow), before);
        flow["tcp"]["new_key"] = 8.into();
        let more = text(&defaults, &flow);
        let added: Vec<_> = more.lines().filter(|line| !before.contains(line)).collect();
        assert_eq!(added, ["flow.0.tcp.new_key = 8"]);
    }

    /// A kind of table that `every.toml` lacks would change its digests with every new key.
    #[test]
    fn every_kind_of_table_has_defaults() {
        let queue = |rest: &str| format!("dumbbell.queue={{ limit = \"9 packets\", kind = {rest} }}");
        let loss = |rest: &str| format!("dumbbell.loss={{ kind = {rest} }}");
        let noise = |rest: &str| format!("flow.0.delay_noise={{ kind = {rest} }}");
        let source = |rest: &str| format!("flow=[{{ source = {rest} }}]");
        let settings = [
            queue("\"droptail\""),
            queue("\"red\""),
            queue("\"ared\""),
            queue("\"codel\""),
            queue("\"pie\""),
            queue("\"step\", threshold = 9"),
            queue("\"fq_codel\""),
            queue("\"dualpi2\""),
            loss("\"none\""),
            loss("\"periodic\", every = 9"),
            loss("\"bernoulli\", rate = 0.5"),
            loss("\"gilbert_elliott\", to_bad = 0.5, to_good = 0.5"),
            loss("\"gilbert_elliott\", good_time = \"1 s\", bad_time = \"1 s\""),
            noise("\"uniform\", range = \"9 ms\""),
            noise("\"gaussian\", sigma = \"9 ms\""),
            noise("\"wifi\", mean = \"9 ms\""),
            source("\"cbr\", rate = \"9 kbit/s\", pulse = { on = \"1 s\", every = \"2 s\" }"),
            source("\"poisson\", rate = \"9 kbit/s\""),
            source("\"onoff\", rate = \"9 kbit/s\""),
            source("\"media\", rate = \"9 Mbit/s\""),
            source("\"web\""),
            source("\"requests\", size = \"9 kB\", every = \"9 s\""),
            source("\"emultcp\""),
            "dumbbell.policer={ rate = \"9 Mbit/s\", burst = \"9 kB\" }".to_owned(),
            "dumbbell.aggregation={ every = \"9 ms\" }".to_owned(),
            "flow.0.receiver={ split = 9 }".to_owned(),
            "flow.0.profile=linux".to_owned(),
        ];
        settings.iter().for_each(|setting| covered(setting));
        for section in [&QUEUE, &LOSS, &NOISE, &FLOW] {
            let Some(Form::Word(words)) = section.key(section.selector.unwrap()).map(|key| key.form) else {
                panic!()
            };
            for word in words.iter().filter(|word| !["trace", "bursts", "table"].contains(word)) {
                let word = format!("\"{word}\"");
                assert!(settings.iter().any(|setting| setting.contains(&word)), "{word} is not tried");
            }
        }
    }

    /// Asserts that every table with more than one field in a scenario is of a kind that has defaults.
    fn covered(setting: &str) {
        let checked = crate::read_toml(crate::EXAMPLE, "a.toml", &[setting.to_owned()], &BuiltIn)
            .unwrap_or_else(|refusal| panic!("{refusal}"));
        let mut tables = DefaultsByTable::new();
        checked.scenario.links.iter().for_each(|link| collect("link", &value(link), &mut tables));
        checked.scenario.flows.iter().for_each(|flow| collect("flow", &value(flow), &mut tables));
        for (kind, fields) in tables {
            assert!(
                fields.len() < 2 || defaults().contains_key(&kind),
                "{setting}: every.toml has no {kind}"
            );
        }
    }
}
