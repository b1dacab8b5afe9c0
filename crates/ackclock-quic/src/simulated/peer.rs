//! One end of a connection: quinn-proto's endpoint and connection, the simulator's time, and datagrams in between.

use std::collections::VecDeque;
use std::fs::File;
use std::io::BufWriter;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ackclock_scenario::Flow;
use ackclock_sim::packet::{EcnField, Packet};
use ackclock_units::Time;
use bytes::BytesMut;
use quinn_proto::congestion::ControllerFactory;
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig, Event,
    HashedConnectionIdGenerator, QlogConfig, ServerConfig, TransportConfig, VarInt,
};

use super::identity::{NAME, identity};
use super::qlog::Corrected;

/// IP and UDP headers of a datagram, bytes.
pub const HEADERS: u16 = 28;
/// Sent data that may wait for acknowledgements, bytes: the bandwidth-delay product of 1 Gbit/s and half a second.
const SEND_WINDOW: u64 = 64 << 20;
/// Datagrams that were sent this long before the newest arrival are lost: nothing overtakes that many.
const LONGEST_REORDERING: u64 = 1 << 16;
const PICOSECONDS_PER_NANOSECOND: u64 = 1000;

/// The side of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Connects, and sends.
    Client,
    /// Accepts, and receives.
    Server,
}

/// Contents of datagrams under way in one direction, by number.
#[derive(Debug, Default)]
pub struct Datagrams {
    first: u64,
    contents: VecDeque<Option<Vec<u8>>>,
}

impl Datagrams {
    fn put(&mut self, content: Vec<u8>) -> u64 {
        self.contents.push_back(Some(content));
        self.first + self.contents.len() as u64 - 1
    }

    fn take(&mut self, number: u64) -> Option<Vec<u8>> {
        while number - self.first > LONGEST_REORDERING || matches!(self.contents.front(), Some(None)) {
            self.contents.pop_front();
            self.first += 1;
        }
        self.contents.get_mut(usize::try_from(number.checked_sub(self.first)?).ok()?)?.take()
    }
}

/// One end.
pub struct Peer {
    endpoint: Endpoint,
    /// Once connecting or accepting has begun.
    connection: Option<(ConnectionHandle, Connection)>,
    client: ClientConfig,
    transport: TransportConfig,
    outgoing: Arc<Mutex<Datagrams>>,
    incoming: Arc<Mutex<Datagrams>>,
    began: Instant,
    ecn: bool,
    buffer: Vec<u8>,
}

fn lock(datagrams: &Mutex<Datagrams>) -> MutexGuard<'_, Datagrams> {
    datagrams.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Checks an event of quinn about the connection of `flow`.
///
/// # Panics
/// When it has given the connection up: there is no time limit here, so a run must not continue as if the flow were
/// idle.
pub fn check(flow: u32, event: &Event) {
    if let Event::ConnectionLost { reason } = event {
        panic!("flow {flow}: its QUIC connection was lost: {reason}");
    }
}

fn transport(flow: &Flow) -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport
        .initial_mtu(flow.tcp.packet.0 as u16 - HEADERS)
        .mtu_discovery_config(None)
        .max_idle_timeout(None)
        .stream_receive_window(VarInt::MAX)
        .receive_window(VarInt::MAX)
        .send_window(SEND_WINDOW)
        .datagram_receive_buffer_size(None)
        .enable_segmentation_offload(false)
        .allow_spin(false);
    transport
}

/// The address of a role; they need only differ.
fn address(role: Role) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, if role == Role::Client { 1 } else { 2 }).into()
}

impl Peer {
    /// An end of `flow`. `seed` names its random numbers; `ways` are the outgoing and incoming datagrams.
    ///
    /// # Errors
    /// One line, when there is no identity.
    pub fn new(
        role: Role,
        flow: &Flow,
        seed: [u64; 3],
        ways: [&Arc<Mutex<Datagrams>>; 2],
        began: Instant,
    ) -> Result<Peer, String> {
        let identity = identity()?;
        let mut settings = EndpointConfig::default();
        let mut bytes = [role as u8; 32];
        bytes[..24].copy_from_slice(&seed.map(u64::to_le_bytes).concat());
        let key = seed[0] ^ seed[2] << 32 ^ role as u64;
        settings
            .rng_seed(Some(bytes))
            .grease_quic_bit(false)
            .cid_generator(move || Box::new(HashedConnectionIdGenerator::from_key(key)));
        let server = (role == Role::Server).then(|| {
            let mut server = ServerConfig::with_crypto(identity.server);
            server.transport_config(Arc::new(transport(flow)));
            Arc::new(server)
        });
        Ok(Peer {
            endpoint: Endpoint::new(Arc::new(settings), server, false, None),
            connection: None,
            client: ClientConfig::new(identity.client),
            transport: transport(flow),
            outgoing: Arc::clone(ways[0]),
            incoming: Arc::clone(ways[1]),
            began,
            ecn: flow.tcp.ecn,
            buffer: Vec::new(),
        })
    }

    /// The same end, which logs its events into a qlog file.
    ///
    /// # Errors
    /// One line, when the file cannot be made.
    pub fn with_qlog(mut self, file: &Path, title: &str) -> Result<Peer, String> {
        let output = File::create(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let mut settings = QlogConfig::default();
        settings
            .writer(Box::new(Corrected::new(BufWriter::new(output))))
            .title(Some(title.to_owned()))
            .start_time(self.began);
        self.transport.qlog_stream(settings.into_stream());
        Ok(self)
    }

    /// The simulator's time as quinn's.
    #[must_use]
    pub fn instant(&self, now: Time) -> Instant {
        self.began + Duration::from_nanos(now.0 / PICOSECONDS_PER_NANOSECOND)
    }

    /// Connects, with the congestion controls of `factory`.
    pub fn connect(&mut self, now: Time, factory: Arc<dyn ControllerFactory + Send + Sync>) {
        let mut transport = std::mem::take(&mut self.transport);
        transport.congestion_controller_factory(factory);
        let mut client = self.client.clone();
        client.transport_config(Arc::new(transport));
        let now = self.instant(now);
        self.connection = self.endpoint.connect(now, client, address(Role::Server), NAME).ok();
    }

    /// The connection, once connecting or accepting has begun.
    pub fn connection(&mut self) -> Option<&mut Connection> {
        self.connection.as_mut().map(|(_, connection)| connection)
    }

    /// The connection, once connecting or accepting has begun.
    #[must_use]
    pub fn connection_now(&self) -> Option<&Connection> {
        self.connection.as_ref().map(|(_, connection)| connection)
    }

    /// A datagram arrives.
    pub fn receive(&mut self, now: Time, packet: &Packet) {
        let Some(content) = lock(&self.incoming).take(packet.sequence) else { return };
        let ecn = match packet.ecn() {
            EcnField::NotCapable => None,
            EcnField::Capable => Some(EcnCodepoint::Ect0),
            EcnField::Ect1 => Some(EcnCodepoint::Ect1),
            EcnField::Marked => Some(EcnCodepoint::Ce),
        };
        let now = self.instant(now);
        let from = address(if self.is_client() { Role::Server } else { Role::Client });
        let data = BytesMut::from(content.as_slice());
        self.buffer.clear();
        match self.endpoint.handle(now, from, None, ecn, data, &mut self.buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some(connection) = self.connection() {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.connection = self.endpoint.accept(incoming, now, &mut self.buffer, None).ok();
            }
            // Answers to strangers; there are none on this path.
            Some(DatagramEvent::Response(_)) | None => {}
        }
        self.settle();
    }

    fn is_client(&self) -> bool {
        self.connection_now().is_some_and(|connection| connection.side().is_client())
    }

    /// The time that [`Peer::wakeup`] named has come.
    pub fn wake(&mut self, now: Time) {
        let now = self.instant(now);
        if let Some(connection) = self.connection() {
            connection.handle_timeout(now);
        }
        self.settle();
    }

    /// Lets endpoint and connection exchange their events.
    fn settle(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
    }

    /// The next event for the application.
    pub fn poll(&mut self) -> Option<Event> {
        self.connection().and_then(Connection::poll)
    }

    /// The next datagram to send now: its number, its bytes with all headers, and its ECN bits.
    pub fn transmit(&mut self, now: Time) -> Option<(u64, u16, EcnField)> {
        let now = self.instant(now);
        let (_, connection) = self.connection.as_mut()?;
        self.buffer.clear();
        let transmit = connection.poll_transmit(now, 1, &mut self.buffer)?;
        let content = self.buffer[..transmit.size].to_vec();
        let number = lock(&self.outgoing).put(content);
        let ecn = if self.ecn && transmit.ecn.is_some() { EcnField::Capable } else { EcnField::NotCapable };
        Some((number, transmit.size as u16 + HEADERS, ecn))
    }

    /// When it wants to be woken, at `now` or later: quinn may set a timer to a time that has passed.
    pub fn wakeup(&mut self, now: Time) -> Time {
        let began = self.began;
        let timeout = self.connection().and_then(Connection::poll_timeout);
        timeout.map_or(Time::NEVER, |timeout| {
            let nanoseconds = timeout.saturating_duration_since(began).as_nanos();
            let timeout = u64::try_from(nanoseconds).unwrap_or(u64::MAX);
            Time(timeout.saturating_mul(PICOSECONDS_PER_NANOSECOND)).max(now)
        })
    }
}
