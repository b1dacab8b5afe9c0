//! From a tree to checked links: rates, queues, losses, noise, and the files that they name.

mod loss;

use std::rc::Rc;

use ackclock_units::{Packets, Rate, Span};

use crate::files::lines;
use crate::keys::{NoiseName, QueueKind};
use crate::model::{
    Aggregation, Codel, DropSpacing, DualPi2, Event, LONGEST, Limit, Link, Loss, Noise, NoiseKind, Policer,
    Queue, RateTrace, Red, Shared, Threshold,
};
use crate::plain::RedKeys;
use crate::read::{Read, Table};
use crate::series::{Quantity, Series};
use loss::own_loss;

/// Length of a reverse queue unless the scenario says otherwise: long enough that no ACK is lost.
const REVERSE_PACKETS: u64 = 1000;
/// Bits sent per opportunity of a rate trace.
const OPPORTUNITY_BITS: u64 = 1500 * 8;
/// DualPI2's probability does not move more often: each step costs time in a simulation, too.
const SHORTEST_UPDATE: Span = Span::from_micros(100);

/// Means of Wi-Fi's delay: below it only the short part is left, above it the long one would come more often than always.
const LEAST_WIFI: Span = Span::from_millis(1);
const MOST_WIFI: Span = Span::from_millis(91);

/// A rate that alternates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Square {
    /// The other rate.
    pub rate: Rate,
    /// The period of the whole wave.
    pub period: Span,
}

/// How a link changes by itself, as its own keys say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changing {
    /// A wave of its rate.
    pub square: Option<Square>,
    /// Rate, delay and loss over time.
    pub series: [Option<Rc<Series>>; 3],
}

impl Changing {
    /// The changes of link `link` before `end`.
    pub fn events(&self, link: usize, end: Span) -> Vec<Event> {
        self.series.iter().flatten().flat_map(|series| series.events(link, end)).collect()
    }
}

/// Both directions of a link, each with how it changes by itself.
pub type Pair = [(Link, Changing); 2];

/// Reads both directions of the link in `table`.
pub fn pair(table: &Table<'_>, name: &str) -> Read<Pair> {
    let (delay, delay_series) = delay(table)?;
    let delay = table.required("delay", delay)?;
    let pace = pace(table)?;
    let Some(rate) = pace.rate else { return Err(table.refuse("rate", "is required")) };
    let queue = table.required("queue", queue(table, rate)?)?;
    let (loss, loss_series) = loss(table)?;
    let forward = Link {
        name: name.to_owned(),
        rate,
        trace: pace.trace,
        delay,
        queue,
        loss,
        noise: noise(table)?,
        policer: policer(table)?,
        aggregation: aggregation(table)?,
        up: table.need("up")?,
        outage: table.need("outage")?,
    };
    let default = Link {
        name: format!("{name}-reverse"),
        trace: None,
        queue: reverse_queue(queue),
        loss: Loss::None,
        noise: None,
        policer: None,
        aggregation: None,
        ..forward.clone()
    };
    let series = [pace.series, delay_series.clone(), loss_series];
    let forward = (forward, Changing { square: square(table)?, series });
    // Its delay is that of the other direction, but neither its losses nor, over time, its rate.
    let alike = Changing { square: None, series: [None, delay_series, None] };
    let Some(reverse) = table.table("reverse")? else { return Ok([forward, (default, alike)]) };
    let pace = self::pace(&reverse)?;
    let rate = pace.rate.unwrap_or(default.rate);
    let (delay, delay_series) = match self::delay(&reverse)? {
        (Some(delay), series) => (delay, series),
        (None, _) => (default.delay, alike.series[1].clone()),
    };
    let (loss, loss_series) = self::loss(&reverse)?;
    let link = Link {
        rate,
        trace: pace.trace,
        delay,
        queue: self::queue(&reverse, rate)?.unwrap_or(default.queue),
        loss,
        noise: noise(&reverse)?,
        policer: policer(&reverse)?,
        aggregation: aggregation(&reverse)?,
        up: reverse.get("up")?.unwrap_or(default.up),
        outage: reverse.get("outage")?.unwrap_or(default.outage),
        name: default.name,
    };
    let series = [pace.series, delay_series, loss_series];
    Ok([forward, (link, Changing { square: square(&reverse)?, series })])
}

/// The delay of a link; over time its mean. There and back, RTTs of 24 h are the longest.
fn delay(table: &Table<'_>) -> Read<(Option<Span>, Option<Rc<Series>>)> {
    let given: Option<Span> = table.get("delay")?;
    let series = Series::read(table, "delay_series", Quantity::Delay)?;
    let (key, delay) = match &series {
        Some(_) if given.is_some() => {
            return Err(table.refuse("delay_series", "give either delay or delay_series, not both"));
        }
        // The mean is rounded to whole nanoseconds, which texts represent exactly.
        Some(series) => ("delay_series", Some(Span((series.mean() / 1e3).round() as u64 * 1000))),
        None => ("delay", given),
    };
    if delay.is_some_and(|delay| delay > Span::from_seconds(43_200)) {
        return Err(table.refuse(key, "must be at most 12 h"));
    }
    Ok((delay, series))
}

/// The rate of a link, on average where it changes by itself; and how it does.
#[derive(Default)]
struct Pacing {
    rate: Option<Rate>,
    trace: Option<RateTrace>,
    series: Option<Rc<Series>>,
}

fn pace(table: &Table<'_>) -> Read<Pacing> {
    let rate: Option<Rate> = table.get("rate")?;
    if let Some(series) = Series::read(table, "rate_series", Quantity::Rate)? {
        for key in ["rate", "rate_trace"] {
            if table.has(key) {
                return Err(
                    table.refuse("rate_series", format!("give either {key} or rate_series, not both"))
                );
            }
        }
        if table.get("up")? == Some(false) {
            return Err(
                table.refuse("up", "does not apply with rate_series, which says when the link is down")
            );
        }
        return Ok(Pacing { rate: Some(series.mean_rate()), series: Some(series), trace: None });
    }
    let Some(file) = table.get::<String>("rate_trace")? else {
        return Ok(Pacing { rate, ..Pacing::default() });
    };
    if rate.is_some() {
        return Err(table.refuse("rate_trace", "give either rate or rate_trace, not both"));
    }
    let trace = crate::files::meaning(format!("rate_trace {file}"), || trace(table, &file))?;
    let period = trace.milliseconds.last().copied().unwrap_or(0);
    let mean = u128::from(OPPORTUNITY_BITS) * trace.milliseconds.len() as u128 * 1000 / u128::from(period);
    let rate = Some(Rate(u64::try_from(mean).unwrap_or(u64::MAX)));
    Ok(Pacing { rate, trace: Some((*trace).clone()), series: None })
}

fn trace(table: &Table<'_>, file: &str) -> Read<RateTrace> {
    let text = read_file(table, "rate_trace", file)?;
    let mut milliseconds = Vec::new();
    for (line, word) in lines(&text) {
        let time =
            word.parse::<u64>().ok().filter(|time| milliseconds.last().is_none_or(|last| time >= last));
        let Some(time) = time.filter(|time| *time <= LONGEST.0 / 1_000_000_000) else {
            let problem = format!("{file}:{line}: expected a time in whole ms, not before the one above");
            return Err(table.refuse("rate_trace", problem));
        };
        milliseconds.push(time);
    }
    if milliseconds.last().is_none_or(|period| *period == 0) {
        return Err(table.refuse("rate_trace", format!("{file}: has no time above 0 ms")));
    }
    Ok(RateTrace { milliseconds: milliseconds.into() })
}

/// The text of a file that a scenario names.
pub fn read_file(table: &Table<'_>, key: &str, file: &str) -> Read<String> {
    crate::files::named(table.file(), file).map_err(|problem| table.refuse(key, problem))
}

fn square(table: &Table<'_>) -> Read<Option<Square>> {
    let Some(square) = table.table("square")? else { return Ok(None) };
    if let Some(key) = ["rate_trace", "rate_series"].into_iter().find(|key| table.has(key)) {
        return Err(table.refuse("square", format!("does not apply with {key}: leave it out")));
    }
    Ok(Some(Square { rate: square.need("rate")?, period: square.need("period")? }))
}

fn reverse_queue(forward: Queue) -> Queue {
    let packets = match forward.limit() {
        Limit::Packets(packets) => packets.0.max(REVERSE_PACKETS),
        Limit::Bytes(_) => REVERSE_PACKETS,
    };
    Queue::Droptail { limit: Limit::Packets(Packets(packets)) }
}

fn queue(table: &Table<'_>, rate: Rate) -> Read<Option<Queue>> {
    let Some(table) = table.table("queue")? else { return Ok(None) };
    let kind: QueueKind = table.need("kind")?;
    let limit = table.need("limit")?;
    Ok(Some(match kind {
        QueueKind::Droptail => Queue::Droptail { limit },
        QueueKind::Red | QueueKind::Ared => {
            Queue::Red { limit, red: red(&table, kind == QueueKind::Ared, rate)? }
        }
        QueueKind::Codel => Queue::Codel { limit, codel: Codel::read(&table)? },
        QueueKind::Pie => Queue::Pie {
            limit,
            target: table.need("target")?,
            burst: table.need("burst")?,
            ecn: table.need("ecn")?,
        },
        QueueKind::Step => Queue::Step { limit, threshold: threshold(&table)? },
        QueueKind::DualPi2 => Queue::DualPi2 { limit, dualpi2: dualpi2(&table)? },
        QueueKind::FqCodel => Queue::FqCodel {
            limit,
            codel: Codel::read(&table)?,
            quantum: table.need("quantum")?,
            queues: table.need("queues")?,
        },
    }))
}

fn threshold(table: &Table<'_>) -> Read<Threshold> {
    match (table.get("threshold")?, table.get("sojourn")?) {
        (Some(packets), None) => Ok(Threshold::Packets(packets)),
        (None, Some(time)) => Ok(Threshold::Time(time)),
        (Some(_), Some(_)) => Err(table.refuse("threshold", "give either threshold or sojourn, not both")),
        (None, None) => Err(table.refuse("threshold", "is required, or sojourn instead")),
    }
}

/// Adaptive RED aims at a queue of 5 ms, twice its lower threshold, which is at least 5 packets (Floyd, Gummadi, Shenker
/// 2001). `max_p` does not fall below 0.01, or below a packet of 1000 bytes in 100 ms of the link if that is less, as ns-2
/// and ns-3 have it.
fn red(table: &Table<'_>, adaptive: bool, rate: Rate) -> Read<Red> {
    let keys = RedKeys::read(table)?;
    if keys.mean_packet.0 == 0 {
        return Err(table.refuse("mean_packet", "must be at least 1 B"));
    }
    // In packets of 1000 bytes.
    let automatic = (rate.0 as f64 / 8000.0 * 0.005 / 2.0).max(5.0);
    let least_max_p = || 0.01_f64.min(8000.0 / (0.1 * rate.0 as f64));
    if let Some(uniform) = keys.uniform
        && keys.spacing != spacing_of_uniform(uniform)
    {
        return Err(table.refuse("uniform", "set either spacing or uniform, not both"));
    }
    let min_threshold = keys.min_threshold.unwrap_or(automatic);
    let max_threshold = keys.max_threshold.unwrap_or(3.0 * min_threshold);
    if max_threshold <= min_threshold {
        let problem = format!("must exceed min_threshold ({min_threshold}), is {max_threshold}");
        return Err(table.refuse("max_threshold", problem));
    }
    Ok(Red {
        min_threshold,
        max_threshold,
        weight: keys.weight,
        max_p: keys.max_p,
        gentle: keys.gentle,
        spacing: keys.spacing,
        mean_packet: keys.mean_packet,
        ecn: keys.ecn,
        adaptive: adaptive.then(|| keys.least_max_p.unwrap_or_else(least_max_p)),
    })
}

/// The meaning of RED's key `uniform` in earlier versions.
pub const fn spacing_of_uniform(uniform: bool) -> DropSpacing {
    if uniform { DropSpacing::Paper } else { DropSpacing::None }
}

fn dualpi2(table: &Table<'_>) -> Read<DualPi2> {
    let dualpi2 = DualPi2::read(table)?;
    if dualpi2.update < SHORTEST_UPDATE {
        return Err(table.refuse("update", format!("must be at least 0.1 ms, is {}", dualpi2.update)));
    }
    if dualpi2.ramp_to < dualpi2.ramp_from {
        let DualPi2 { ramp_from, ramp_to, .. } = dualpi2;
        let problem = format!("must be at least ramp_from ({ramp_from}), is {ramp_to}");
        return Err(table.refuse("ramp_to", problem));
    }
    Ok(dualpi2)
}

fn policer(table: &Table<'_>) -> Read<Option<Policer>> {
    table.table("policer")?.map(|policer| Policer::read(&policer)).transpose()
}

fn aggregation(table: &Table<'_>) -> Read<Option<Aggregation>> {
    table.table("aggregation")?.map(|aggregation| Aggregation::read(&aggregation)).transpose()
}

fn noise(table: &Table<'_>) -> Read<Option<Noise>> {
    noise_of(table, "delay_noise")
}

/// Reads the noise under `key`.
pub fn noise_of(table: &Table<'_>, key: &str) -> Read<Option<Noise>> {
    let Some(noise) = table.table(key)? else { return Ok(None) };
    let kind = match noise.need("kind")? {
        NoiseName::Wifi => {
            let mean: Span = noise.need("mean")?;
            if !(LEAST_WIFI..=MOST_WIFI).contains(&mean) {
                return Err(noise.refuse("mean", format!("must lie between 1 ms and 91 ms, is {mean}")));
            }
            NoiseKind::Wifi(mean)
        }
        NoiseName::Uniform => NoiseKind::Uniform(noise.need("range")?),
        NoiseName::Table => {
            let file: String = noise.need("file")?;
            let values = crate::files::meaning(format!("table {file}"), || distribution(&noise, &file))?;
            NoiseKind::Table(noise.need("sigma")?, (*values).clone())
        }
        NoiseName::Gaussian => NoiseKind::Gaussian(noise.need("sigma")?),
    };
    let (hold, correlation) = (noise.get("hold")?, noise.get("correlation")?.unwrap_or(0.0));
    if hold.is_some() && correlation > 0.0 {
        return Err(noise.refuse("correlation", "does not apply with hold: leave one out"));
    }
    Ok(Some(Noise { kind, reorder: noise.need("reorder")?, hold, correlation }))
}

/// The numbers of a distribution table of netem.
fn distribution(noise: &Table<'_>, file: &str) -> Read<Shared<Vec<i32>>> {
    let text = read_file(noise, "file", file)?;
    let mut values: Vec<i32> = Vec::new();
    for (line, numbers) in lines(&text) {
        for number in numbers.split_whitespace() {
            let value = number.parse().ok().filter(|value: &i32| value.unsigned_abs() <= MOST_OF_TABLE);
            let problem =
                || format!("{file}:{line}: expected whole numbers from -{MOST_OF_TABLE} to {MOST_OF_TABLE}");
            values.push(value.ok_or_else(|| noise.refuse("file", problem()))?);
        }
    }
    if values.is_empty() {
        return Err(noise.refuse("file", format!("{file}: has no number")));
    }
    Ok(values.into())
}

/// Largest number of a table: netem has 16 bits.
const MOST_OF_TABLE: u32 = 32_767;

/// The losses of a link; over time they begin with their mean.
fn loss(table: &Table<'_>) -> Read<(Loss, Option<Rc<Series>>)> {
    let loss = own_loss(table)?;
    let Some(series) = Series::read(table, "loss_series", Quantity::Loss)? else { return Ok((loss, None)) };
    if loss != Loss::None {
        return Err(table.refuse("loss_series", "give either loss or loss_series, not both"));
    }
    Ok((Loss::Bernoulli { probability: series.mean() }, Some(series)))
}
