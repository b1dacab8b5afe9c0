//! From a tree to a checked flow: `[[flow]]`.

use ackclock_cc::Start as ControlStart;
use ackclock_cc::registry::{Catalogue, Entry, Kind};
use ackclock_units::{Bytes, Span};

use crate::link::noise_of;
use crate::model::{Flow, Lies, Moment, ParamValue, Run, Traffic, Transport};
use crate::read::{Read, Table};
use crate::tcp::{MinRtoBounds, Profile, Recovery, RttSampling, Tcp};
use crate::topology::Topology;
use crate::traffic;
use crate::tree::Content;
use crate::value::instead;

/// Settings that a flow takes over from the rest of the scenario.
pub struct FlowDefaults<'a> {
    /// `[tcp]`.
    pub tcp: &'a Tcp,
    /// `[run]`.
    pub run: &'a Run,
    /// The links.
    pub topology: &'a Topology,
    /// The controls that can be named.
    pub catalogue: &'a dyn Catalogue,
}

/// Checks one `[[flow]]`; its name is left to the caller.
pub fn flow(table: &Table<'_>, defaults: &FlowDefaults<'_>) -> Read<Flow> {
    let mut tcp = tcp(table, defaults)?;
    let source = table.get("source")?;
    let traffic = traffic::traffic(table, source, defaults.run.duration)?;
    let entry = controller(table, &traffic, defaults.catalogue)?;
    let transport = transport(table, &traffic, entry, &tcp)?;
    // QUIC has its own.
    tcp.handshake &= transport == Transport::Tcp;
    let (path, back) = defaults.topology.route(table)?;
    let delays =
        |links: &[usize]| links.iter().map(|link| defaults.topology.links[*link].delay.0).sum::<u64>();
    let least_rtt = Span(delays(&path) + delays(&back));
    let rtt = table.get("rtt")?.unwrap_or(least_rtt);
    if rtt < least_rtt {
        let problem =
            format!("must be at least the delays of its links there and back ({least_rtt}), is {rtt}");
        return Err(table.refuse("rtt", problem));
    }
    if rtt > Span::from_seconds(86_400) {
        let problem = match least_rtt > Span::from_seconds(86_400) {
            true => format!("must be at most 24 h; the delays of its links there and back are {least_rtt}"),
            false => "must be at most 24 h".to_owned(),
        };
        return Err(table.refuse("rtt", problem));
    }
    let start: Moment = table.need("start")?;
    let latest = start.latest();
    let duration = defaults.run.duration;
    if latest >= duration {
        return Err(table.refuse("start", format!("must lie before the end of the run ({duration})")));
    }
    let stop: Option<Moment> = table.get("stop")?;
    match stop {
        Some(Moment::At(stop)) if stop <= latest => {
            return Err(table.refuse("stop", format!("must come after the start ({latest})")));
        }
        Some(Moment::Uniform(_, end)) if end <= latest => {
            let problem = format!("must end after the latest start ({latest}), ends at {end}");
            return Err(table.refuse("stop", problem));
        }
        _ => {}
    }
    let bytes: Option<Bytes> = table.get("bytes")?;
    if stop.is_some() && bytes.is_some() {
        return Err(table.refuse("bytes", "give either bytes or stop, not both"));
    }
    if bytes.is_some() && matches!(traffic, Traffic::Web(_) | Traffic::Requests(_) | Traffic::Emultcp(_)) {
        return Err(table.refuse("bytes", "does not apply to this source; use stop"));
    }
    traffic::check_frames(table, &traffic, tcp.packet)?;
    if bytes.is_some() && matches!(traffic, Traffic::Media(_)) {
        return Err(table.refuse("bytes", "does not apply to this source; use stop"));
    }
    if table.has("receiver") && entry.is_none_or(|entry| entry.kind != Kind::Window) {
        let problem = "needs a window-based control, whose sender it can lie to: leave it out";
        return Err(table.refuse("receiver", problem));
    }
    if table.has("limit") {
        limited(table, &traffic, entry)?;
    }
    let label = source.unwrap_or_else(|| entry.map_or("", |entry| label_of(entry.name)));
    Ok(Flow {
        name: String::new(),
        label: label.to_owned().into(),
        control: entry.map_or("", |entry| entry.name).to_owned().into(),
        params: match entry {
            Some(entry) => params(table, entry)?.into(),
            None if table.has("params") => {
                return Err(table.refuse("params", format!("does not apply to \"{label}\": leave it out")));
            }
            None => Vec::new().into(),
        },
        traffic,
        transport,
        rtt,
        access: table.need("access")?,
        path: path.into(),
        back: back.into(),
        start,
        stop,
        bytes,
        limit: table.get("limit")?,
        changes: Vec::new().into(),
        delay_noise: noise_of(table, "delay_noise")?,
        reverse_noise: noise_of(table, "reverse_noise")?,
        lies: match table.table("receiver")? {
            Some(receiver) => Lies {
                split: receiver.need("split")?,
                advance: receiver.need("advance")?,
                ignore_marks: receiver.need("ignore_marks")?,
            },
            None => Lies::NONE,
        },
        rtt_noise: table.get("rtt_noise")?.unwrap_or(Span::ZERO),
        tcp: tcp.into(),
    })
}

/// Whether an application limit has a meaning.
fn limited(table: &Table<'_>, traffic: &Traffic, entry: Option<&Entry>) -> Read<()> {
    if *traffic != Traffic::Bulk {
        return Err(table.refuse("limit", "applies only to bulk data: leave out limit or source"));
    }
    if let Some(entry) = entry.filter(|entry| entry.kind != Kind::Window) {
        let problem =
            format!("\"{}\" is rate-based; an application limit needs a window-based control", entry.name);
        return Err(table.refuse("limit", problem));
    }
    Ok(())
}

/// The settings of a flow: its own keys over those of `[tcp]`, or over those of its own profile, which begins afresh.
fn tcp(table: &Table<'_>, defaults: &FlowDefaults<'_>) -> Read<Tcp> {
    let settings = match table.get::<Profile>("profile")? {
        Some(profile) => Tcp::read(table, Some(&Tcp::of(profile)?))?,
        None => Tcp::read(table, Some(defaults.tcp))?,
    };
    if settings.min_rto > settings.max_rto {
        let problem = format!("must not exceed max_rto ({}), is {}", settings.max_rto, settings.min_rto);
        return Err(table.refuse("min_rto", problem));
    }
    if settings.rtt_sampling == RttSampling::OnePerWindow {
        one_per_window(table, &settings)?;
    }
    Ok(settings)
}

/// Whether the settings allow a timer without time stamps, which counts in ticks.
fn one_per_window(table: &Table<'_>, settings: &Tcp) -> Read<()> {
    if let recovery @ (Recovery::Rack | Recovery::Linux26) = settings.recovery {
        let problem = format!(
            "must be \"every_ack\" with recovery = \"{}\", which has time stamps; or choose another recovery",
            recovery.name()
        );
        return Err(table.refuse("rtt_sampling", problem));
    }
    if settings.min_rto_bounds == MinRtoBounds::Variance {
        let problem = "must be \"timeout\" with rtt_sampling = \"one_per_window\", which counts in ticks";
        return Err(table.refuse("min_rto_bounds", problem));
    }
    if settings.clock == Span::ZERO || settings.clock.saturating_mul(2) > settings.max_rto {
        let problem = format!(
            "with rtt_sampling = \"one_per_window\" the timeout is two ticks at least: must be above 0 s and at most half \
             of max_rto ({}), is {}",
            settings.max_rto, settings.clock
        );
        return Err(table.refuse("clock", problem));
    }
    Ok(())
}

/// Smallest packet over QUIC: a datagram of 1200 bytes (RFC 9000, section 14) with IP and UDP headers.
const LEAST_QUIC_PACKET: Bytes = Bytes(1228);

/// The transport of a flow, refused if it cannot carry that flow.
fn transport(table: &Table<'_>, traffic: &Traffic, entry: Option<&Entry>, tcp: &Tcp) -> Read<Transport> {
    if table.need::<Transport>("transport")? == Transport::Tcp {
        return Ok(Transport::Tcp);
    }
    if *traffic != Traffic::Bulk {
        return Err(table.refuse("transport", "quic carries bulk transfers; leave out source"));
    }
    let built = entry.map(|entry| entry.build(&[], ControlStart::default()));
    let by_rate = |_: &&Entry| match &built {
        Some(Ok(control)) => control.wants().rate,
        _ => true,
    };
    let by_marks = |_: &&Entry| match &built {
        Some(Ok(control)) => control.wants().marks || control.wants().losses,
        _ => false,
    };
    if let Some(entry) = entry.filter(by_rate) {
        let problem = format!("\"{}\" is rate-based, which quic does not support", entry.name);
        return Err(table.refuse("controller", problem));
    }
    if let Some(entry) = entry.filter(by_marks) {
        let problem = format!("\"{}\" reads counts of losses or marks, which quic does not give", entry.name);
        return Err(table.refuse("controller", problem));
    }
    let tcp_only = |name: &&str| table.section().key(name).is_some_and(|key| !key.over_quic);
    if let Some(name) = table.present().find(tcp_only) {
        return Err(table.refuse(name, "does not apply over quic: leave it out"));
    }
    if tcp.packet < LEAST_QUIC_PACKET {
        let problem = format!("must be at least {LEAST_QUIC_PACKET} over quic, is {}", tcp.packet);
        return Err(table.refuse("packet", problem));
    }
    Ok(Transport::Quic)
}

/// The name of a control in results: `Gentle` for `Gentle=libgentle.so:gentle`.
fn label_of(name: &str) -> &str {
    name.split_once('=').map_or(name, |(label, _)| label)
}

/// The control of a flow; none for datagrams.
fn controller<'c>(
    table: &Table<'_>,
    traffic: &Traffic,
    catalogue: &'c dyn Catalogue,
) -> Read<Option<&'c Entry>> {
    let controller: Option<String> = table.get("controller")?;
    let name = match (traffic, controller) {
        (Traffic::Datagrams(_) | Traffic::Media(_) | Traffic::Emultcp(_), Some(_)) => {
            return Err(table.refuse("controller", "give either controller or source, not both"));
        }
        (Traffic::Datagrams(_) | Traffic::Media(_), None) => return Ok(None),
        (Traffic::Emultcp(_), None) => "reno".to_owned(),
        (Traffic::Web(_) | Traffic::Requests(_) | Traffic::Bulk, controller) => {
            table.required("controller", controller)?
        }
    };
    let name = name.as_str();
    let entry = catalogue.find(name).ok_or_else(|| {
        let names: Vec<_> = catalogue.entries().iter().map(|entry| entry.name).collect();
        let hint = instead(name, names.iter().copied(), || names.join(", "), "ackclock controllers");
        table.refuse("controller", format!("unknown control \"{name}\"{hint}"))
    })?;
    if *traffic != Traffic::Bulk && entry.kind != Kind::Window {
        return Err(table.refuse(
            "controller",
            format!("\"{name}\" is rate-based; this source needs a window-based control"),
        ));
    }
    Ok(Some(entry))
}

fn params(table: &Table<'_>, entry: &Entry) -> Read<Vec<(String, ParamValue)>> {
    let Some(node) = table.node("params") else { return Ok(Vec::new()) };
    let Content::Table(entries) = &node.content else {
        let name = entry.parameters.first().map_or("NAME", |parameter| parameter.name);
        let problem =
            format!("expected a table, found {}; write params = {{ {name} = ... }}", node.content.kind());
        return Err(table.refuse("params", problem));
    };
    let refuse = |index: usize, problem: String| {
        let mut refusal = table.refuse("params", problem);
        if let Some((name, node)) = entries.get(index) {
            refusal.origin = node.origin.clone();
            refusal.path = format!("{}.{name}", refusal.path);
        }
        refusal
    };
    let mut params = Vec::new();
    let names: Vec<_> = entry.parameters.iter().map(|parameter| parameter.name).collect();
    for (index, (name, node)) in entries.iter().enumerate() {
        if !names.contains(&name.as_str()) {
            let command = format!("ackclock explain {}", entry.name);
            let hint = instead(name, names.iter().copied(), || names.join(", "), &command);
            let problem = format!("{} has no such parameter{hint}", entry.name);
            return Err(refuse(index, problem));
        }
        let value = match &node.content {
            Content::Whole(whole) => ParamValue::Number(*whole as f64),
            Content::Real(real) => ParamValue::Number(*real),
            Content::Text(text) => ParamValue::Text(text.clone()),
            Content::Flag(flag) => ParamValue::Flag(*flag),
            other => {
                return Err(refuse(
                    index,
                    format!("expected a number, a word, true or false; found {}", other.kind()),
                ));
            }
        };
        params.push((name.clone(), value));
    }
    // A value that is the default anyway is not given: two ways to write one scenario are one scenario.
    let overrides: Vec<_> = (0..)
        .zip(&params)
        .map(|(index, (name, value))| (index, name.as_str(), value.as_value()))
        .filter(|(_, name, value)| {
            !entry.parameters.iter().any(|parameter| parameter.name == *name && parameter.default == *value)
        })
        .collect();
    let pairs: Vec<_> = overrides.iter().map(|(_, name, value)| (*name, *value)).collect();
    entry.check(&pairs).map_err(|(index, error)| {
        let index: usize = overrides.get(index).map_or(index, |(index, ..)| *index);
        let suffix =
            entries.get(index).map_or(String::new(), |(_, node)| format!(", found {}", node.content));
        refuse(index, format!("{error}{suffix}"))
    })?;
    let kept = |name: &str| {
        params
            .iter()
            .enumerate()
            .find(|(index, (other, _))| other == name && overrides.iter().any(|(number, ..)| number == index))
    };
    Ok(names.iter().filter_map(|name| kept(name)).map(|(_, param)| param.clone()).collect())
}
