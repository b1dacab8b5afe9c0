//! From a tree to a checked scenario: the file, `[run]` and `[dumbbell]`.

use ackclock_cc::registry::Catalogue;
use ackclock_units::{Packets, Rate, Span};

use crate::flow;
use crate::keys::{DUMBBELL, FILE, FLOW, LOSS, MOST_FLOWS, QUEUE, REVERSE, RUN, TCP};
use crate::model::{Dumbbell, Limit, Link, Loss, Queue, Run, Sample, Scenario};
use crate::read::{Read, Refusal, Table};
use crate::tree::Node;

/// Longest run: simulated time is counted in picoseconds and must not end.
const LONGEST: Span = Span::from_seconds(180 * 24 * 3600);
/// Most samples of a run: a mistyped unit must not fill the memory.
const MOST_SAMPLES: u64 = 10_000_000;
/// Length of a reverse queue unless the scenario says otherwise: long enough that no ACK is lost.
const REVERSE_PACKETS: u64 = 1000;

/// Checks a whole scenario.
pub fn scenario(node: &Node, file: &str, catalogue: &dyn Catalogue) -> Read<Scenario> {
    let table = Table::open(node, "", file, &FILE)?;
    let run = run(&table.required("run", table.table("run", &RUN)?)?)?;
    let tcp = table.table("tcp", &TCP)?;
    let dumbbell = dumbbell(&table.required("dumbbell", table.table("dumbbell", &DUMBBELL)?)?)?;
    let defaults = flow::Defaults { tcp: tcp.as_ref(), run: &run, delay: dumbbell.delay, catalogue };
    let mut flows = Vec::new();
    for table in table.tables("flow", &FLOW)? {
        let count = table.whole("count", 1, MOST_FLOWS)?.unwrap_or(1);
        if flows.len() as u64 + count > MOST_FLOWS {
            return Err(table.refuse("count", format!("there must be at most {MOST_FLOWS} flows in total")));
        }
        let flow = flow::flow(&table, &defaults)?;
        let name = table.text("name")?;
        for n in 0..count {
            let mut flow = flow.clone();
            flow.name = match name {
                Some(name) if count == 1 => name.to_owned(),
                Some(name) => format!("{name}-{n}"),
                None => format!("{}-{}", flow.controller, flows.len()),
            };
            flows.push(flow);
        }
        refuse_doubles(&table, &flows)?;
    }
    if flows.is_empty() {
        return Err(table.refuse("flow", "there must be at least one [[flow]]"));
    }
    Ok(Scenario { run, dumbbell, flows })
}

/// Names must be unique, because events and results name flows.
fn refuse_doubles(table: &Table<'_>, flows: &[crate::Flow]) -> Result<(), Refusal> {
    let mut names: Vec<_> = flows.iter().map(|flow| flow.name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => {
            Err(table.refuse("name", format!("two flows are named \"{}\"; names must differ", pair[0])))
        }
        None => Ok(()),
    }
}

fn run(table: &Table<'_>) -> Read<Run> {
    let duration = table.required("duration", table.positive_time("duration")?)?;
    if duration > LONGEST {
        return Err(table.refuse("duration", "must be at most 180 days (4320 h)"));
    }
    let warmup = table.time("warmup")?.unwrap_or(Span::ZERO);
    if warmup >= duration {
        let problem = format!("must end before the run does ({duration}), is {warmup}");
        return Err(table.refuse("warmup", problem));
    }
    let sample = if matches!(table.text("sample"), Ok(Some("rtt"))) {
        Sample::RoundTrip
    } else {
        let every = table.positive_time("sample")?.unwrap_or(Span::from_millis(100));
        if duration.0 / every.0 > MOST_SAMPLES {
            let problem =
                format!("a run has at most {MOST_SAMPLES} samples; {duration} every {every} is more");
            return Err(table.refuse("sample", problem));
        }
        Sample::Every(every)
    };
    let seed = table.whole("seed", 0, u64::MAX)?.unwrap_or(1);
    Ok(Run { duration, warmup, seed, sample })
}

fn dumbbell(table: &Table<'_>) -> Read<Dumbbell> {
    let rate = table.required("rate", table.rate("rate")?)?;
    let delay = table.required("delay", table.time("delay")?)?;
    if delay > LONGEST {
        return Err(table.refuse("delay", "must be at most 180 days (4320 h)"));
    }
    let queue = table.required("queue", queue(table)?)?;
    let forward = Link { rate, queue, loss: loss(table)? };
    let reverse = match table.table("reverse", &REVERSE)? {
        None => reverse_of(rate, queue),
        Some(reverse) => {
            let default = reverse_of(reverse.rate("rate")?.unwrap_or(rate), queue);
            Link { queue: self::queue(&reverse)?.unwrap_or(default.queue), loss: loss(&reverse)?, ..default }
        }
    };
    Ok(Dumbbell { delay, forward, reverse })
}

fn reverse_of(rate: Rate, forward: Queue) -> Link {
    let Queue::Droptail { limit } = forward;
    let packets = match limit {
        Limit::Packets(packets) => packets.0.max(REVERSE_PACKETS),
        Limit::Bytes(_) => REVERSE_PACKETS,
    };
    Link { rate, queue: Queue::Droptail { limit: Limit::Packets(Packets(packets)) }, loss: Loss::None }
}

fn queue(table: &Table<'_>) -> Read<Option<Queue>> {
    let Some(queue) = table.table("queue", &QUEUE)? else { return Ok(None) };
    queue.required("kind", queue.word("kind", &["droptail"])?)?;
    let limit = queue.required("limit", queue.limit("limit")?)?;
    Ok(Some(Queue::Droptail { limit }))
}

fn loss(table: &Table<'_>) -> Read<Loss> {
    let Some(loss) = table.table("loss", &LOSS)? else { return Ok(Loss::None) };
    let kind = loss.required("kind", loss.word("kind", &["none", "periodic", "bernoulli"])?)?;
    let (rate, every) = (loss.fraction("rate")?, loss.whole("every", 1, u64::MAX)?);
    match (kind, rate, every) {
        ("none", None, None) => Ok(Loss::None),
        ("bernoulli", Some(probability), None) => Ok(Loss::Bernoulli { probability }),
        ("periodic", None, Some(every)) => Ok(Loss::Periodic { every }),
        ("periodic", Some(rate), None) if rate >= 1e-15 => {
            Ok(Loss::Periodic { every: (1.0 / rate).round() as u64 })
        }
        ("periodic", Some(_), None) => Err(loss.refuse("rate", "must be above 0 %")),
        ("periodic", Some(_), Some(_)) => Err(loss.refuse("rate", "give either rate or every, not both")),
        ("periodic", None, None) => Err(loss.refuse("every", "is required, or rate instead")),
        ("bernoulli", None, _) => Err(loss.refuse("rate", "is required")),
        (kind, Some(_), None) => {
            Err(loss.refuse("rate", format!("has no meaning for \"{kind}\": leave it out")))
        }
        (kind, _, _) => Err(loss.refuse("every", format!("has no meaning for \"{kind}\": leave it out"))),
    }
}
