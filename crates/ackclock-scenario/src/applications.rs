//! Events that change what applications do: the rate of bulk data, the size and the times of requests.

use std::collections::BTreeMap;

use ackclock_units::{Rate, Span};

use crate::complete::First;
use crate::keys::FLOW;
use crate::model::{ApplicationChange, ApplicationSetting, Flow, Pause, Run, Sizes, Traffic};
use crate::read::{Read, Table};
use crate::tree::{Content, Node};
use crate::turns::{in_turn, listed};
use crate::value::{Value, did_you_mean};

/// Most changes of applications: each is kept for its flow.
const MOST_CHANGES: u64 = 1_000_000;

/// Whether an event sets a key of a flow.
pub fn is_of_flow(event: &Table<'_>) -> bool {
    matches!(event.node("set"), Some(Node { content: Content::Text(set), .. }) if set.starts_with("flow."))
}

/// Gives the flows the changes that `events` make; `firsts` says where the first flow of each `[[flow]]` is. Returns the
/// tables of these events.
pub fn changes(events: &[Table<'_>], run: &Run, flows: &mut [Flow], firsts: &[First]) -> Read<Vec<Node>> {
    if !events.iter().any(is_of_flow) {
        return Ok(Vec::new());
    }
    let (mut tables, mut count) = (Vec::new(), 0);
    let mut changes: BTreeMap<usize, Vec<ApplicationChange>> = BTreeMap::new();
    let names: BTreeMap<String, usize> = flows.iter().map(|flow| flow.name.clone()).zip(0..).collect();
    for event in events.iter().filter(|event| is_of_flow(event)) {
        let set: String = event.need("set")?;
        let mut parts = set.splitn(3, '.').skip(1);
        let (Some(name), Some(key)) = (parts.next(), parts.next()) else {
            return Err(event.refuse("set", "expected a key of an application, such as flow.NAME.limit"));
        };
        if !["limit", "every", "think", "size"].contains(&key) {
            return Err(event.refuse("set", "of an application only limit, every, think and size can change"));
        }
        // By number, all flows of a table are meant, as with --set.
        let targets = match (names.get(name), name.parse::<usize>()) {
            (Some(index), _) => *index..index + 1,
            (None, Ok(number)) if number < firsts.len() => of_table(number, flows.len(), firsts),
            _ => {
                let hint = did_you_mean(name, names.keys().map(String::as_str));
                return Err(event.refuse("set", format!("unknown flow \"{name}\"{hint}")));
            }
        };
        if let Some(Content::Table(_)) = event.node("at").map(|node| &node.content) {
            return Err(event.refuse("at", "an application changes at a time, not after round trips"));
        }
        let at: Span = event.need("at")?;
        if at >= run.duration {
            let problem = format!("must lie before the end of the run ({}), is {at}", run.duration);
            return Err(event.refuse("at", problem));
        }
        let times = times(event, at, run)?;
        let to = event.required("to", event.node("to"))?;
        let values = match (&to.content, listed(event, to)?) {
            (_, Some(values)) => values,
            // A list of sizes is one value, a distribution.
            (Content::Array(values), None) if key != "size" => in_turn(event, values)?,
            _ => vec![to],
        };
        let settings = values
            .into_iter()
            .map(|value| setting(key, &value.content).map_err(|problem| event.refuse("to", problem)))
            .collect::<Read<Vec<_>>>()?;
        count += (times.len() * targets.len()) as u64;
        if count > MOST_CHANGES {
            let problem = format!(
                "applications have at most {MOST_CHANGES} changes; with this event there are {count}"
            );
            return Err(event.refuse("every", problem));
        }
        for flow in targets {
            applies(event, key, &flows[flow])?;
            let of_flow = changes.entry(flow).or_default();
            let settings = settings.iter().cycle();
            of_flow.extend(
                times.iter().zip(settings).map(|(at, to)| ApplicationChange { at: *at, to: to.clone() }),
            );
        }
        tables.push(Node::table(event.entries().to_vec(), event.origin()));
    }
    for (flow, mut of_flow) in changes {
        of_flow.sort_by_key(|change| change.at);
        let last = of_flow.len() - 1;
        let is_endless = |change: &ApplicationChange| change.to == ApplicationSetting::Limit(None);
        if of_flow.iter().position(is_endless).is_some_and(|position| position < last) {
            let name = &flows[flow].name;
            let problem = format!(
                "after an event that sets flow.{name}.limit to \"unlimited\" there is nothing left to limit"
            );
            return Err(events[0].refuse("to", problem));
        }
        flows[flow].changes = of_flow.into();
    }
    Ok(tables)
}

/// The flows of a `[[flow]]`.
fn of_table(number: usize, flows: usize, firsts: &[First]) -> std::ops::Range<usize> {
    let first = |first: &First| match first {
        First::Flow(index) => Some(*index),
        First::Arrivals(_) => None,
    };
    let Some(begin) = first(&firsts[number]) else { return 0..0 };
    let end = firsts[number + 1..].iter().find_map(first).unwrap_or(flows);
    begin..end
}

fn times(event: &Table<'_>, at: Span, run: &Run) -> Read<Vec<Span>> {
    let Some(every) = event.get::<Span>("every")? else {
        if event.has("until") {
            return Err(event.refuse("until", "applies only with every"));
        }
        return Ok(vec![at]);
    };
    let until = event.get::<Span>("until")?.unwrap_or(run.duration).min(run.duration);
    let count = (until - at).0.div_ceil(every.0);
    if count > MOST_CHANGES {
        let problem = format!("applications have at most {MOST_CHANGES} changes; this event makes {count}");
        return Err(event.refuse("every", problem));
    }
    Ok((0..count).map(|number| at + every.saturating_mul(number)).collect())
}

/// Whether a key of an application has a meaning for `flow`.
fn applies(event: &Table<'_>, key: &str, flow: &Flow) -> Read<()> {
    let is_right = match (key, &flow.traffic) {
        ("limit", _) => flow.limit.is_some(),
        ("every", Traffic::Requests(requests)) => matches!(requests.pause, Pause::Every(_)),
        ("think", Traffic::Requests(requests)) => matches!(requests.pause, Pause::Think(_)),
        ("size", Traffic::Requests(requests)) => !matches!(requests.pause, Pause::Listed(_)),
        _ => false,
    };
    if is_right {
        return Ok(());
    }
    Err(event.refuse("set", format!("\"{}\" has no {key} that could change: give it one", flow.name)))
}

fn setting(key: &str, content: &Content) -> Result<ApplicationSetting, String> {
    let form = FLOW.key(key).map_or(crate::keys::Form::Any, |key| key.form);
    Ok(match key {
        "limit" => ApplicationSetting::Limit(Option::<Rate>::read(content, form)?),
        "every" => {
            ApplicationSetting::Pause(Pause::Every(Span::read(content, crate::keys::Form::PositiveTime)?))
        }
        "think" => ApplicationSetting::Pause(Pause::Think(Span::read(content, form)?)),
        "size" => ApplicationSetting::Size(Sizes::read(content, form)?),
        _ => return Err("cannot change".to_owned()),
    })
}
