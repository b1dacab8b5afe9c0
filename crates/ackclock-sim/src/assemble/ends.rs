//! From a flow of a scenario to its two ends.

use std::collections::BTreeMap;
use std::sync::Arc;

use ackclock_cc::erased::ErasedController;
use ackclock_cc::registry::{Catalogue, Kernel26};
use ackclock_cc::{HyStart, Rules, Start, Value};
use ackclock_scenario::{
    self as scenario, Datagrams, Emultcp, Flow, Growth, MinRtoBounds, Recovery, RttSampling, Traffic,
};
use ackclock_units::Time;

use crate::datagrams::{Sink, Source, SourceSettings};
use crate::delays::Delays;
use crate::endpoint::{Ends, SendingEnd};
use crate::media::{Frames, MediaSettings, MediaSink, MediaSource};
use crate::meter::Meter;
use crate::packet::{EcnField, MARKS_BITS};
use crate::random::{Purpose, Stream, Streams};
use crate::rate::{self, Intake, RateSettings};
use crate::request_log::RequestLog;
use crate::tcp::recovery::{DuplicateAcks, Linux26, Rack, Sack};
use crate::tcp::{
    Application, Client, Group, Handshake, PacketSettings, ReceiverSettings, Settings, TIE_BREAK,
    TcpReceiver, TcpSender, Timer,
};

/// Makes the ends of flows that use something other than the simulator's TCP.
pub trait Transport {
    /// Sender and receiver of `flow`, which has `control`.
    ///
    /// # Errors
    /// One line, when it cannot.
    fn make_ends(
        &self,
        flow: &Flow,
        placement: &Placement,
        control: Box<dyn ErasedController>,
    ) -> Result<Ends, String>;
}

/// Makers of the controls and ends of flows.
#[derive(Clone, Copy)]
pub struct Makers<'a> {
    /// Controls by name.
    pub catalogue: &'a dyn Catalogue,
    /// QUIC, if it is available.
    pub quic: Option<&'a dyn Transport>,
}

/// The routes of a flow in the network, and its times.
#[derive(Clone, Copy, Debug)]
pub struct Placement {
    /// Its id.
    pub id: u32,
    /// The streams of the run.
    pub streams: Streams,
    /// The entry of its data in the table of routes.
    pub data_route: u32,
    /// The entry of its acknowledgements in the table of routes.
    pub ack_route: u32,
    /// When it starts.
    pub start: Time,
    /// When it stops sending.
    pub stop: Time,
    /// When it is measured.
    pub measured: (Time, Time),
}

impl Placement {
    fn stream(&self, purpose: Purpose) -> Stream {
        self.streams.of(purpose, 0, self.id)
    }

    /// The meter of its sender.
    #[must_use]
    pub fn meter(&self) -> Meter {
        Meter::new(self.start, self.measured)
    }
}

/// Groups of E-MulTCP connections by their first flow.
pub type Groups = BTreeMap<usize, Arc<Group>>;

/// Sender and receiver of a flow.
///
/// # Errors
/// When the flow names an unknown control or parameters that it refuses.
pub fn make_ends(
    flow: &Flow,
    placement: &Placement,
    makers: Makers<'_>,
    groups: &mut Groups,
) -> Result<Ends, String> {
    if flow.transport == scenario::Transport::Quic {
        let quic = makers.quic.ok_or_else(|| format!("flow {}: there is no QUIC here", flow.name))?;
        return quic.make_ends(flow, placement, make_control(flow, placement, makers.catalogue)?);
    }
    let total = flow.bytes.map_or(u64::MAX, |bytes| bytes.0.div_ceil(flow.tcp.packet.0));
    if let Traffic::Datagrams(datagrams) = &flow.traffic {
        return Ok(datagram_ends(flow, placement, *datagrams, total));
    }
    if let Traffic::Media(media) = &flow.traffic {
        let frames = Frames::new(*media, flow.tcp.packet.0 as u16, placement.start);
        let Placement { id, data_route, stop, measured, .. } = *placement;
        let source =
            MediaSource::new(MediaSettings { flow: id, route: data_route, stop }, frames, placement.meter());
        return Ok(Ends::new(source, MediaSink::new(frames, measured, stop)));
    }
    if matches!(flow.traffic, Traffic::Bulk)
        && let Some(ends) = rate_ends(flow, placement, total)?
    {
        return Ok(ends);
    }
    let (application, requests) = application(flow, placement, total, groups);
    let control = make_control(flow, placement, makers.catalogue)?;
    let linux_2_6 =
        makers.catalogue.find(&flow.control).map_or_else(Kernel26::default, |entry| entry.linux_2_6);
    let receiver = TcpReceiver::new(ReceiverSettings {
        flow: placement.id,
        route: placement.ack_route,
        ack_bytes: flow.tcp.ack.0 as u16,
        delayed_ack: flow.tcp.delayed_ack,
        delayed_ack_timer: flow.tcp.delayed_ack_timer,
        sack: !matches!(flow.tcp.recovery, Recovery::Reno | Recovery::RenoNs2 | Recovery::NewReno),
        reports_duplicates: flow.tcp.recovery == Recovery::Rack,
        tells_marks_at_once: control.wants().marks,
        has_short_count: control.wants().marks && flow.tcp.ace_bits < u64::from(MARKS_BITS),
        total,
        lies: flow.lies,
    })
    .with_requests(requests);
    let sender = make_sender(flow, placement, (control, linux_2_6), application);
    Ok(Ends { sender, receiver: Box::new(receiver) })
}

/// The source of a TCP sender's data, and the log of its requests if it has any.
fn application(
    flow: &Flow,
    placement: &Placement,
    total: u64,
    groups: &mut Groups,
) -> (Application, Option<RequestLog>) {
    let (packet, start) = (flow.tcp.packet.0, placement.start);
    let stream = || placement.stream(Purpose::Application);
    match &flow.traffic {
        Traffic::Web(web) => {
            let log = RequestLog::default();
            (Application::web(*web, packet, stream(), start, log.clone()), Some(log))
        }
        Traffic::Requests(requests) => {
            let log = RequestLog::new(requests.count);
            let client = Client::new((**requests).clone(), packet, stream(), start, log.clone());
            let client = client.with_changes(flow.changes.clone());
            (Application::requests(client), Some(log))
        }
        Traffic::Emultcp(Emultcp { group, place: index, size }) => {
            let group = groups.entry(*group).or_insert_with(|| Arc::new(Group::new(*size)));
            (Application::member(group.clone(), *index, start), None)
        }
        Traffic::Bulk | Traffic::Datagrams(_) | Traffic::Media(_) => match flow.limit {
            Some(rate) => {
                let limited = Application::limited(total, packet as u16, rate, start);
                (limited.with_changes(&flow.changes), None)
            }
            None => (Application::bulk(total), None),
        },
    }
}

fn datagram_ends(flow: &Flow, placement: &Placement, datagrams: Datagrams, total: u64) -> Ends {
    let settings = SourceSettings {
        flow: placement.id,
        route: placement.data_route,
        packet_bytes: flow.tcp.packet.0 as u16,
        total,
        datagrams,
        start: placement.start,
        stop: placement.stop,
    };
    let source = Source::new(settings, placement.stream(Purpose::Application), placement.meter());
    Ends::new(source, Sink::new(total, Delays::new(placement.measured, datagrams.deadline)))
}

/// The ends of a rate-based control; none if the flow has another.
fn rate_ends(flow: &Flow, placement: &Placement, total: u64) -> Result<Option<Ends>, String> {
    let Some(control) = rate::find(&flow.control) else { return Ok(None) };
    let settings = RateSettings {
        flow: placement.id,
        route: placement.data_route,
        packet_bytes: flow.tcp.packet.0 as u16,
        total,
        overhead: flow.tcp.overhead,
        start: placement.start,
        stop: placement.stop,
    };
    let sender = (placement.stream(Purpose::Overhead), placement.meter());
    let intake = Intake::new(placement.id, placement.ack_route, flow.tcp.ack.0 as u16, total);
    let ends = control.make_ends(&parameters(flow), settings, sender, intake);
    ends.map(Some).map_err(|(_, error)| format!("flow {}: {error}", flow.name))
}

/// The parameters of the flow's control.
fn parameters(flow: &Flow) -> Vec<(&str, Value<'_>)> {
    flow.params.iter().map(|(name, value)| (name.as_str(), value.as_value())).collect()
}

fn make_control(
    flow: &Flow,
    placement: &Placement,
    catalogue: &dyn Catalogue,
) -> Result<Box<dyn ErasedController>, String> {
    let seed = placement.stream(Purpose::Control).number();
    let name = flow.control.as_str();
    let entry =
        catalogue.find(name).ok_or_else(|| format!("flow {}: unknown control \"{name}\"", flow.name))?;
    let start = Start {
        window: flow.tcp.initial_window,
        ssthresh: flow.tcp.initial_ssthresh,
        hystart: match flow.tcp.hystart {
            scenario::HyStart::Off => HyStart::Off,
            scenario::HyStart::PlusPlus => HyStart::PlusPlus,
            // quinn always paces.
            scenario::HyStart::Linux => {
                HyStart::Linux { paced: flow.tcp.pacing || flow.transport == scenario::Transport::Quic }
            }
        },
        rules: if flow.tcp.recovery == Recovery::Rack && flow.transport != scenario::Transport::Quic {
            Rules::Linux
        } else {
            Rules::Standard
        },
        seed,
    };
    entry.build(&parameters(flow), start).map_err(|(_, error)| format!("flow {}: {error}", flow.name))
}

/// The codepoint of data under a control that asks for `wanted`, when the sender is set to ECN or not.
fn codepoint(wanted: ackclock_cc::Ecn, is_set: bool) -> EcnField {
    match wanted {
        ackclock_cc::Ecn::AsConfigured if !is_set => EcnField::NotCapable,
        ackclock_cc::Ecn::AsConfigured | ackclock_cc::Ecn::Ect0 => EcnField::Capable,
        ackclock_cc::Ecn::Ect1 => EcnField::Ect1,
    }
}

/// A limit in 32 bits: no sender has 2^32 packets in flight or in a burst.
fn narrow(limit: u64) -> u32 {
    u32::try_from(limit).unwrap_or(u32::MAX)
}

fn make_sender(
    flow: &Flow,
    placement: &Placement,
    (control, linux_2_6): (Box<dyn ErasedController>, Kernel26),
    application: Application,
) -> Box<dyn SendingEnd> {
    let tcp = &flow.tcp;
    let packets = PacketSettings {
        flow: placement.id,
        route: placement.data_route,
        packet_bytes: tcp.packet.0 as u16,
        receive_window: tcp.receive_window.map_or(u32::MAX, |packets| narrow(packets.0)),
        max_burst: tcp.max_burst.map_or(u32::MAX, |packets| narrow(packets.0)),
        growth_per_packet: tcp.growth == Growth::PerPacket,
        restarts: tcp.slow_start_after_idle,
        counts_bytes: linux_2_6.counts_bytes,
        ecn: codepoint(control.wants().ecn, tcp.ecn),
        rtt_noise: flow.rtt_noise,
        pacing_gains: tcp.pacing.then_some((tcp.slow_start_gain, tcp.pacing_gain)),
    };
    let settings = Settings {
        packets,
        overhead: if tcp.recovery == Recovery::Linux26 { tcp.overhead.max(TIE_BREAK) } else { tcp.overhead },
        ace_bits: tcp.ace_bits,
        min_window: tcp.min_window.0,
        handshake: tcp.handshake.then(|| {
            let initial = tcp.initial_rto.clamp(tcp.min_rto, tcp.max_rto);
            Handshake::new(tcp.ack.0 as u16, initial, tcp.max_rto)
        }),
        start: placement.start,
        stop: placement.stop,
    };
    let streams = (placement.stream(Purpose::Overhead), placement.stream(Purpose::Measurement));
    let meter = placement.meter();
    let timer = Timer::new(tcp.initial_rto, tcp.min_rto, tcp.max_rto, tcp.clock);
    let timer = match tcp.min_rto_bounds {
        MinRtoBounds::Timeout => timer,
        MinRtoBounds::Variance => timer.of_linux(),
    };
    let timer = match tcp.rtt_sampling {
        RttSampling::EveryAck => timer,
        RttSampling::OnePerWindow => timer.one_per_window(placement.stream(Purpose::Clock).span(tcp.clock)),
    };
    match tcp.recovery {
        Recovery::Reno | Recovery::RenoNs2 | Recovery::NewReno => {
            let newreno = tcp.recovery == Recovery::NewReno;
            let recovery = DuplicateAcks::new(newreno, tcp.limited_transmit);
            let recovery = if tcp.recovery == Recovery::RenoNs2 { recovery.of_ns2() } else { recovery };
            Box::new(TcpSender::new(settings, control, application, recovery, timer, streams, meter))
        }
        Recovery::Sack => {
            let recovery = Sack::new(tcp.limited_transmit);
            Box::new(TcpSender::new(settings, control, application, recovery, timer, streams, meter))
        }
        Recovery::Linux26 => {
            let recovery = Linux26::new(tcp.limited_transmit, linux_2_6.half_floor);
            Box::new(TcpSender::new(settings, control, application, recovery, timer, streams, meter))
        }
        Recovery::Rack => {
            let recovery = Rack::new(control.decision().pacing_rate.is_none());
            Box::new(TcpSender::new(settings, control, application, recovery, timer, streams, meter))
        }
    }
}
