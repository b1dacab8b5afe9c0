//! From a tree to a checked flow: `[[flow]]` and `[tcp]`.

use ackclock_cc::Start as ControlStart;
use ackclock_cc::registry::{Catalogue, Entry, Kind};
use ackclock_units::{Bytes, Packets, Span, Window};

use crate::keys::{
    GROWTHS, LARGEST_PACKET, LEAST_GAIN, MOST_FLOWS, MOST_GAIN, MOST_PACKETS, PROFILES, RECOVERIES, SOURCES,
    TRANSPORTS,
};
use crate::model::{Flow, Growth, ParamValue, Profile, Recovery, Run, Start, Tcp, Traffic, Transport};
use crate::read::{Read, Table, did_you_mean};
use crate::topology::Topology;
use crate::traffic;
use crate::tree::Content;

/// Headers of a data packet, bytes: IPv4 and TCP. A packet must have room for them and one byte.
const HEADERS: u64 = 40;

/// Most connections of an E-MulTCP source unless it has a count.
const EMULTCP_CONNECTIONS: u64 = 16;

/// What a flow takes over from the rest of the scenario.
pub struct Defaults<'a> {
    /// `[tcp]`, if there is one.
    pub tcp: Option<&'a Table<'a>>,
    /// `[run]`.
    pub run: &'a Run,
    /// The links.
    pub topology: &'a Topology,
    /// The controls that can be named.
    pub catalogue: &'a dyn Catalogue,
}

/// Checks one `[[flow]]`; its name is left to the caller.
pub fn flow(table: &Table<'_>, defaults: &Defaults<'_>) -> Read<Flow> {
    let tcp = tcp(table, defaults)?;
    let source = table.word("source", SOURCES)?;
    let traffic = traffic::traffic(table, source)?;
    let entry = controller(table, traffic, defaults.catalogue)?;
    let transport = transport(table, traffic, entry, &tcp)?;
    let (path, back) = defaults.topology.route(table)?;
    let delays =
        |links: &[usize]| links.iter().map(|link| defaults.topology.links[*link].delay.0).sum::<u64>();
    let least_rtt = Span(delays(&path) + delays(&back));
    let rtt = table.time("rtt")?.unwrap_or(least_rtt);
    if rtt < least_rtt {
        let problem =
            format!("must be at least the delays of its links there and back ({least_rtt}), is {rtt}");
        return Err(table.refuse("rtt", problem));
    }
    if rtt > Span::from_seconds(86_400) {
        return Err(table.refuse("rtt", "must be at most 24 h"));
    }
    let (start, latest) = start(table)?;
    let duration = defaults.run.duration;
    if latest >= duration {
        return Err(table.refuse("start", format!("must lie before the end of the run ({duration})")));
    }
    let stop = table.time("stop")?;
    if stop.is_some_and(|stop| stop <= latest) {
        return Err(table.refuse("stop", format!("must come after the start ({latest})")));
    }
    let bytes = table.size("bytes", u64::MAX)?;
    if stop.is_some() && bytes.is_some() {
        return Err(table.refuse("bytes", "give either bytes or stop, not both"));
    }
    if bytes.is_some() && matches!(traffic, Traffic::Web(_) | Traffic::Emultcp(_)) {
        return Err(table.refuse("bytes", "has no meaning for this source; use stop"));
    }
    let access = if table.is_unlimited("access") { None } else { table.rate("access")? };
    let name = match (entry, source) {
        (Some(entry), None) => entry.name,
        (_, source) => source.unwrap_or_default(),
    };
    Ok(Flow {
        name: String::new(),
        controller: name.to_owned(),
        control: entry.map_or(String::new(), |entry| entry.name.to_owned()),
        params: match entry {
            Some(entry) => params(table, entry)?,
            None if table.node("params").is_some() => {
                return Err(table.refuse("params", format!("has no meaning for \"{name}\": leave it out")));
            }
            None => Vec::new(),
        },
        traffic,
        transport,
        rtt,
        access,
        path,
        back,
        start,
        stop,
        bytes,
        rtt_noise: table.time("rtt_noise")?.unwrap_or(Span::ZERO),
        tcp,
    })
}

/// How many flows a `[[flow]]` makes.
pub fn count(table: &Table<'_>) -> Read<u64> {
    let group = table.text("source")? == Some("emultcp");
    Ok(table.whole("count", 1, MOST_FLOWS)?.unwrap_or(if group { EMULTCP_CONNECTIONS } else { 1 }))
}

/// Settings that are TCP's alone; QUIC has its own ways.
const TCP_ONLY: &[&str] = &[
    "ack",
    "receive_window",
    "recovery",
    "min_rto",
    "max_rto",
    "initial_rto",
    "clock",
    "delayed_ack",
    "delayed_ack_timer",
    "limited_transmit",
    "max_burst",
    "overhead",
    "growth",
    "pacing",
    "pacing_gain",
    "slow_start_gain",
    "min_window",
    "rtt_noise",
];
/// Smallest packet over QUIC: a datagram of 1200 bytes (RFC 9000, section 14) with IP and UDP headers.
const LEAST_QUIC_PACKET: Bytes = Bytes(1228);

/// What carries a flow, and whether it can.
fn transport(table: &Table<'_>, traffic: Traffic, entry: Option<&Entry>, tcp: &Tcp) -> Read<Transport> {
    if table.word("transport", TRANSPORTS)? != Some("quic") {
        return Ok(Transport::Tcp);
    }
    if traffic != Traffic::Bulk {
        return Err(table.refuse("transport", "quic carries bulk transfers; leave out source"));
    }
    let by_rate = |entry: &Entry| {
        entry.build(&[], ControlStart::default()).map_or(true, |control| control.wants_rate())
    };
    if let Some(entry) = entry.filter(|entry| by_rate(entry)) {
        let problem = format!("\"{}\" works by rates, which quic neither measures nor obeys", entry.name);
        return Err(table.refuse("controller", problem));
    }
    if let Some(key) = table.present().find(|key| TCP_ONLY.contains(key)) {
        return Err(table.refuse(key, "has no meaning over quic: leave it out"));
    }
    if tcp.packet < LEAST_QUIC_PACKET {
        let problem = format!("must be at least {LEAST_QUIC_PACKET} over quic, is {}", tcp.packet);
        return Err(table.refuse("packet", problem));
    }
    Ok(Transport::Quic)
}

/// The control of a flow; none for datagrams. Web sessions have Reno unless they name another.
fn controller<'c>(
    table: &Table<'_>,
    traffic: Traffic,
    catalogue: &'c dyn Catalogue,
) -> Read<Option<&'c Entry>> {
    let given = table.text("controller")?;
    let name = match (traffic, given) {
        (Traffic::Datagrams(_) | Traffic::Emultcp(_), Some(_)) => {
            return Err(table.refuse("controller", "give either controller or source, not both"));
        }
        (Traffic::Datagrams(_), None) => return Ok(None),
        (Traffic::Web(_) | Traffic::Emultcp(_), given) => given.unwrap_or("reno"),
        (Traffic::Bulk, given) => table.required("controller", given)?,
    };
    let entry = catalogue.find(name).ok_or_else(|| {
        let names: Vec<_> = catalogue.entries().iter().map(|entry| entry.name).collect();
        let hint = did_you_mean(name, names.iter().copied());
        table.refuse("controller", format!("unknown control \"{name}\"{hint}; allowed: {}", names.join(", ")))
    })?;
    if traffic != Traffic::Bulk && entry.kind != Kind::Window {
        return Err(
            table.refuse("controller", format!("\"{name}\" has no window; a web session needs one that has"))
        );
    }
    Ok(Some(entry))
}

fn params(table: &Table<'_>, entry: &Entry) -> Read<Vec<(String, ParamValue)>> {
    let Some(node) = table.node("params") else { return Ok(Vec::new()) };
    let Content::Table(entries) = &node.content else {
        return Err(table.refuse("params", format!("expected a table, found {}", node.content.kind())));
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
    for (index, (name, node)) in entries.iter().enumerate() {
        let names: Vec<_> = entry.parameters.iter().map(|parameter| parameter.name).collect();
        if !names.contains(&name.as_str()) {
            let hint = did_you_mean(name, names.iter().copied());
            let list = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            let problem = format!("{} has no such parameter{hint}; allowed: {list}", entry.name);
            return Err(refuse(index, problem));
        }
        let value = match &node.content {
            Content::Whole(whole) => ParamValue::Number(*whole as f64),
            Content::Real(real) => ParamValue::Number(*real),
            Content::Text(text) => ParamValue::Text(text.clone()),
            Content::Flag(flag) => ParamValue::Flag(*flag),
            other => return Err(refuse(index, format!("a parameter is no {}", other.kind()))),
        };
        params.push((name.clone(), value));
    }
    let given: Vec<_> = params.iter().map(|(name, value)| (name.as_str(), value.as_value())).collect();
    entry.check(&given).map_err(|(index, error)| {
        let found = entries.get(index).map_or(String::new(), |(_, node)| format!(", found {}", node.content));
        refuse(index, format!("{error}{found}"))
    })?;
    Ok(params)
}

/// The start and the latest time that it can be.
fn start(table: &Table<'_>) -> Read<(Start, Span)> {
    let Some(Content::Table(entries)) = table.node("start").map(|node| &node.content) else {
        let start = table.time("start")?.unwrap_or(Span::ZERO);
        return Ok((Start::At(start), start));
    };
    let expected = "expected a time, or { uniform = [\"0 s\", \"20 s\"] }";
    let [(key, node)] = &entries[..] else { return Err(table.refuse("start", expected)) };
    let Content::Array(ends) = &node.content else { return Err(table.refuse("start", expected)) };
    let [Content::Text(from), Content::Text(to)] =
        [ends.first(), ends.get(1)].map(|end| end.map_or(Content::Flag(false), |node| node.content.clone()))
    else {
        return Err(table.refuse("start", expected));
    };
    if key != "uniform" || ends.len() != 2 {
        return Err(table.refuse("start", expected));
    }
    let parse = |text: &str| {
        text.parse().map_err(|error: ackclock_units::UnitError| table.refuse("start", error.to_string()))
    };
    let (from, to): (Span, Span) = (parse(&from)?, parse(&to)?);
    if to < from {
        return Err(table.refuse("start", format!("must not end ({to}) before it begins ({from})")));
    }
    Ok((Start::Uniform(from, to), to))
}

fn profile(name: &str) -> Tcp {
    let ns2 = Tcp {
        profile: Profile::Ns2,
        packet: Bytes(1000),
        ack: Bytes(40),
        initial_window: Window(2.0),
        initial_ssthresh: Window::UNLIMITED,
        receive_window: None,
        recovery: Recovery::Sack,
        min_rto: Span::from_millis(200),
        max_rto: Span::from_seconds(64),
        initial_rto: Span::from_seconds(1),
        clock: Span::from_millis(1),
        delayed_ack: 1,
        delayed_ack_timer: Span::from_millis(100),
        limited_transmit: true,
        max_burst: None,
        overhead: Span::ZERO,
        growth: Growth::PerAck,
        pacing: false,
        // As in Linux.
        pacing_gain: 1.2,
        slow_start_gain: 2.0,
        min_window: Packets(1),
        hystart: false,
        ecn: false,
    };
    if name != "linux" {
        return ns2;
    }
    Tcp {
        profile: Profile::Linux,
        initial_window: Window(10.0),
        delayed_ack: 2,
        delayed_ack_timer: Span::from_millis(40),
        growth: Growth::PerPacket,
        recovery: Recovery::Rack,
        ..ns2
    }
}

/// The settings of a flow: those of its profile or of `[tcp]`, with its own keys over them.
fn tcp(table: &Table<'_>, defaults: &Defaults<'_>) -> Read<Tcp> {
    let mut settings = profile("ns2");
    // A profile of its own begins afresh.
    let of_its_own = table.node("profile").is_some();
    for table in defaults.tcp.filter(|_| !of_its_own).into_iter().chain([table]) {
        if let Some(name) = table.word("profile", PROFILES)? {
            settings = profile(name);
        }
        settings = override_settings(table, settings)?;
    }
    if settings.min_rto > settings.max_rto {
        let problem = format!("must not exceed max_rto ({}), is {}", settings.max_rto, settings.min_rto);
        return Err(table.refuse("min_rto", problem));
    }
    Ok(settings)
}

fn override_settings(table: &Table<'_>, under: Tcp) -> Read<Tcp> {
    let recovery = table.word("recovery", RECOVERIES)?.map(|word| match word {
        "reno" => Recovery::Reno,
        "newreno" => Recovery::NewReno,
        "sack" => Recovery::Sack,
        "linux-2.6" => Recovery::Linux26,
        _ => Recovery::Rack,
    });
    let growth = table.word("growth", GROWTHS)?.map(|word| match word {
        "per_ack" => Growth::PerAck,
        _ => Growth::PerPacket,
    });
    let packet = table.size("packet", LARGEST_PACKET)?.unwrap_or(under.packet);
    if packet.0 <= HEADERS {
        return Err(
            table.refuse("packet", format!("must have room for {HEADERS} B of headers and 1 B of data"))
        );
    }
    let max_burst = table.whole("max_burst", 0, MOST_PACKETS)?;
    Ok(Tcp {
        profile: under.profile,
        packet,
        ack: table.size("ack", LARGEST_PACKET)?.unwrap_or(under.ack),
        initial_window: table.window("initial_window", 1.0, false)?.unwrap_or(under.initial_window),
        initial_ssthresh: table.window("initial_ssthresh", 2.0, true)?.unwrap_or(under.initial_ssthresh),
        receive_window: if table.is_unlimited("receive_window") {
            None
        } else {
            table.whole("receive_window", 1, MOST_PACKETS)?.map(Packets).or(under.receive_window)
        },
        recovery: recovery.unwrap_or(under.recovery),
        min_rto: table.positive_time("min_rto")?.unwrap_or(under.min_rto),
        max_rto: table.positive_time("max_rto")?.unwrap_or(under.max_rto),
        initial_rto: table.positive_time("initial_rto")?.unwrap_or(under.initial_rto),
        clock: table.time("clock")?.unwrap_or(under.clock),
        delayed_ack: table.whole("delayed_ack", 1, 2)?.unwrap_or(under.delayed_ack),
        delayed_ack_timer: table.positive_time("delayed_ack_timer")?.unwrap_or(under.delayed_ack_timer),
        limited_transmit: table.flag("limited_transmit")?.unwrap_or(under.limited_transmit),
        max_burst: max_burst.map_or(under.max_burst, |burst| (burst > 0).then_some(Packets(burst))),
        overhead: table.time("overhead")?.unwrap_or(under.overhead),
        growth: growth.unwrap_or(under.growth),
        pacing: table.flag("pacing")?.unwrap_or(under.pacing),
        pacing_gain: table.number("pacing_gain", LEAST_GAIN, MOST_GAIN)?.unwrap_or(under.pacing_gain),
        slow_start_gain: table
            .number("slow_start_gain", LEAST_GAIN, MOST_GAIN)?
            .unwrap_or(under.slow_start_gain),
        min_window: table.whole("min_window", 1, MOST_PACKETS)?.map_or(under.min_window, Packets),
        hystart: table.flag("hystart")?.unwrap_or(under.hystart),
        ecn: table.flag("ecn")?.unwrap_or(under.ecn),
    })
}
