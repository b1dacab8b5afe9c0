//! From a tree to the traffic of a flow: bulk data, web sessions, datagrams.

use ackclock_units::{Bytes, Rate, Span};

use crate::keys::{Form, LARGEST_REQUEST, MOST_REQUESTS};
use crate::link::read_file;
use crate::model::{
    Arrivals, Cycle, Datagrams, Emultcp, Flow, Media, Moment, Pause, Pulse, Requests, Shared, Sizes, Spacing,
    Traffic, Web,
};
use crate::read::{Read, Table};
use crate::series;
use crate::tcp::HEADERS;
use crate::tree::{Content, Node};
use crate::value::Value;

/// Reads the traffic of the flow in `table`, which lasts for `duration` at most.
pub fn traffic(table: &Table<'_>, source: Option<&'static str>, duration: Span) -> Read<Traffic> {
    Ok(match source {
        None => Traffic::Bulk,
        Some("web") => Traffic::Web(Web {
            think: table.need("think")?,
            objects: table.need("objects")?,
            object: table.need("object")?,
            shape: table.need("shape")?,
        }),
        Some("requests") => Traffic::Requests(requests(table, duration)?.into()),
        Some("emultcp") => Traffic::Emultcp(Emultcp { group: 0, place: 0, size: 1 }),
        Some("onoff") => {
            let cycle = Cycle { on: table.need("on")?, off: table.need("off")?, shape: table.get("shape")? };
            datagrams(table, false, Some(cycle))?
        }
        Some("media") => Traffic::Media(media(table)?),
        Some(source) => datagrams(table, source == "poisson", None)?,
    })
}

fn requests(table: &Table<'_>, duration: Span) -> Read<Requests> {
    if let Some((key, list)) = listed(table)? {
        if let Some(other) = ["size", "every", "think", "requests"].into_iter().find(|other| table.has(other))
        {
            return Err(table.refuse(other, format!("does not apply with {key}: leave it out")));
        }
        let count = Some(list.len() as u64);
        return Ok(Requests {
            sizes: Sizes(Vec::new()),
            pause: Pause::Listed(list),
            spacing: Spacing::Fixed,
            count,
        });
    }
    let pause = match (table.get("every")?, table.get("think")?) {
        (Some(every), None) => Pause::Every(every),
        (None, Some(think)) => Pause::Think(think),
        (Some(_), Some(_)) => return Err(table.refuse("think", "give either every or think, not both")),
        (None, None) => return Err(table.refuse("every", "is required, or think instead")),
    };
    if let Pause::Every(every) = &pause
        && duration.0 / every.0 > MOST_REQUESTS
    {
        let problem =
            format!("a flow has at most {MOST_REQUESTS} requests; {duration} every {every} is more");
        return Err(table.refuse("every", problem));
    }
    Ok(Requests {
        sizes: table.need("size")?,
        pause,
        spacing: table.need("spacing")?,
        count: table.get("requests")?,
    })
}

/// When requests are made, and their sizes.
type RequestList = Shared<Vec<(Span, Bytes)>>;

/// The requests of a list or of a file, and the key that has them.
fn listed(table: &Table<'_>) -> Read<Option<(&'static str, RequestList)>> {
    let file: Option<String> = table.get("file")?;
    let schedule: Option<Schedule> = table.get("schedule")?;
    let (key, list) = match (file, schedule) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => return Err(table.refuse("file", "give either schedule or file, not both")),
        (None, Some(Schedule(list))) => ("schedule", Shared::from(list)),
        (Some(file), None) => {
            let read = || -> Read<Shared<Vec<(Span, Bytes)>>> {
                let text = read_file(table, "file", &file)?;
                let list = series::requests(&text)
                    .map_err(|problem| table.refuse("file", format!("{file}:{problem}")))?;
                Ok(list.into())
            };
            ("file", (*crate::files::meaning(format!("requests {file}"), read)?).clone())
        }
    };
    if list.is_empty() || list.len() as u64 > MOST_REQUESTS {
        let problem = format!("must have 1 to {MOST_REQUESTS} requests, has {}", list.len());
        return Err(table.refuse(key, problem));
    }
    if !list.is_sorted_by_key(|(time, _)| *time) {
        return Err(table.refuse(key, "the time of a request must not be before that of the one above"));
    }
    Ok(Some((key, list)))
}

/// Requests as a list of times and sizes.
struct Schedule(Vec<(Span, Bytes)>);

impl Value for Schedule {
    fn read(content: &Content, _: Form) -> Result<Self, String> {
        let problem = || "expected a list such as [[\"0 s\", \"10 kB\"], [\"1 s\", \"5 MB\"]]".to_owned();
        let Content::Array(entries) = content else { return Err(problem()) };
        let pair = |entry: &Node| match &entry.content {
            Content::Array(pair) if pair.len() == 2 => {
                let time = Span::read(&pair[0].content, Form::Time)?;
                Ok((time, Bytes::read(&pair[1].content, Form::Size(LARGEST_REQUEST))?))
            }
            _ => Err(problem()),
        };
        entries.iter().map(pair).collect::<Result<_, _>>().map(Schedule)
    }
}

fn datagrams(table: &Table<'_>, poisson: bool, cycle: Option<Cycle>) -> Read<Traffic> {
    let (rate, codepoint) = (table.need("rate")?, table.need("codepoint")?);
    let pulse = match table.table("pulse")? {
        None => None,
        Some(pulse) => {
            let (on, every): (Span, Span) = (pulse.need("on")?, pulse.need("every")?);
            if on > every {
                return Err(pulse.refuse("on", format!("must be at most every ({every}), is {on}")));
            }
            Some(Pulse { on, every })
        }
    };
    let deadline = table.get("deadline")?;
    Ok(Traffic::Datagrams(Datagrams { rate, poisson, cycle, codepoint, pulse, deadline }))
}

fn media(table: &Table<'_>) -> Read<Media> {
    Ok(Media {
        rate: table.need("rate")?,
        frame_rate: table.need("frame_rate")?,
        key_every: table.need("key_every")?,
        key_ratio: table.need("key_ratio")?,
        codepoint: table.need("codepoint")?,
        deadline: table.get("deadline")?,
    })
}

/// Frames are sent in whole packets, so that each must have one.
pub fn check_frames(table: &Table<'_>, traffic: &Traffic, packet: Bytes) -> Read<()> {
    if let Traffic::Media(media) = traffic
        && media.frame_bytes() < packet.0 as f64
    {
        let bytes = media.frame_bytes().floor().max(HEADERS as f64 + 1.0);
        let problem = format!(
            "a frame between key frames has {:.0} B, less than a packet ({packet}): set packet to at most {bytes} B, or \
             raise the rate",
            media.frame_bytes()
        );
        return Err(table.refuse("rate", problem));
    }
    Ok(())
}

/// Reads how flows like `flow` arrive, if they do; `run` is the run's end, `capacity` the rate of the slowest link.
pub fn arrivals(table: &Table<'_>, flow: &Flow, end: Span, capacity: Rate) -> Read<Option<Arrivals>> {
    let Some(arrivals) = table.table("arrivals")? else { return Ok(None) };
    for key in ["source", "bytes"] {
        if table.has(key) {
            return Err(table.refuse(key, "does not apply with arrivals: leave it out"));
        }
    }
    if table.need::<u64>("count")? != 1 {
        return Err(table.refuse("count", "does not apply with arrivals: leave it out"));
    }
    let between = match (flow.start, flow.stop) {
        (Moment::At(start), None) => (start, end),
        (Moment::At(start), Some(Moment::At(stop))) => (start, stop.min(end)),
        (Moment::Uniform(..), _) => {
            return Err(table.refuse("start", "must be one time with arrivals, which are random themselves"));
        }
        (_, Some(Moment::Uniform(..))) => {
            return Err(table.refuse("stop", "must be one time with arrivals, which are random themselves"));
        }
    };
    let sizes: Sizes = arrivals.need("sizes")?;
    let load: f64 = arrivals.need("load")?;
    let bits = sizes.mean_packets(flow.tcp.packet) * flow.tcp.packet.0 as f64 * 8.0;
    let gap = Span::from_seconds_f64(bits / (load * capacity.0 as f64)).max(Span(1));
    let flow = Flow { start: Moment::At(between.0), stop: None, ..flow.clone() };
    Ok(Some(Arrivals { flow, gap, between, sizes }))
}

impl Flow {
    /// Makes it number `index` of the `size` flows of its `[[flow]]`, of which `first` is the first.
    pub(crate) fn join_group(&mut self, first: usize, index: u32, size: u32) {
        if let Traffic::Emultcp(group) = &mut self.traffic {
            *group = Emultcp { group: first, place: index, size };
        }
    }
}
