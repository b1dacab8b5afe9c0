//! What only QUIC has to stand: forged addresses, floods of handshakes and of datagrams, and hosts between client
//! and server. The server is the program as a user has it, so that its memory can be looked at. All over loopback,
//! whose many addresses are as many strangers.

use std::fs;
use std::net::{SocketAddr, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, spawn};
use std::time::Duration;

use ackclock_measure::client;
use ackclock_measure::clock;
use ackclock_measure::door::Door;
use ackclock_measure::token::Token;
use ackclock_measure::transport::{Connection, Dialer, Listener, quic};
use ackclock_measure::wire::{Answer, Request};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use quinn::rustls::RootCertStore;
use quinn::rustls::pki_types::CertificateDer;
use quinn::rustls::pki_types::pem::PemObject;
use quinn::{ClientConfig, ConnectionError, Endpoint};
use tokio::time::timeout;

use crate::deadline::{ClearAtEnd, DEADLINE, output, until, wait, within};
use crate::stand::{Stand, text};

/// What a server may need beyond its beginning, whatever comes: 16 MiB that a flow may have on its way, and room for
/// what its allocator keeps.
const ROOM_BYTES: u64 = 64 << 20;

impl Stand {
    /// What the server has needed at most.
    fn most_memory_bytes(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.server.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
    }

    fn socket_address(&self) -> SocketAddr {
        self.address.parse().unwrap()
    }

    /// A client that knows the certificate.
    fn trust(&self) -> ClientConfig {
        let pem = fs::read(self.path("token.identity")).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(&pem).unwrap()).unwrap();
        let crypto =
            quinn::rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        let mut crypto = crypto;
        crypto.alpn_protocols = vec![b"ackclock-measure".to_vec()];
        let crypto = quinn::crypto::rustls::QuicClientConfig::try_from(crypto).unwrap();
        ClientConfig::new(Arc::new(crypto))
    }

    /// The first datagram of a handshake.
    fn first_datagram(&self) -> Vec<u8> {
        let mut endpoint = quinn_proto::Endpoint::new(Arc::default(), None, false, None);
        let now = clock::now();
        let (_, mut connection) =
            endpoint.connect(now, self.trust(), self.socket_address(), "ackclock-measure").unwrap();
        let mut datagram = Vec::new();
        let transmit = connection.poll_transmit(now, 1, &mut datagram).unwrap();
        assert_eq!(transmit.size, datagram.len());
        datagram
    }

    fn token(&self) -> Token {
        Token::read(self.path("token").as_ref()).unwrap()
    }

    fn still_serves(&self) {
        let dialer = quic::QuicDialer::new(self.socket_address(), None).unwrap();
        let (_, answer) = client::ask(&dialer, &self.token(), &Request::Offer).unwrap();
        assert!(matches!(answer, Answer::Offer { .. }));
    }
}

#[test]
fn a_forged_address_gets_less_than_three_times_what_came_from_it() {
    let stand = Stand::new("forged", &["--quic"]);
    let datagram = stand.first_datagram();
    // RFC 9000, section 14.1: a first datagram is at least 1200 bytes long.
    assert!(datagram.len() >= 1200);
    let before = stand.most_memory_bytes();
    for _ in 0..200 {
        let socket = UdpSocket::bind("127.0.0.9:0").unwrap();
        socket.set_read_timeout(Some(DEADLINE)).unwrap();
        socket.send_to(&datagram, &stand.address).unwrap();
        let mut heard = [0; 2048];
        let length = socket.recv(&mut heard).unwrap();
        // A Retry packet (RFC 9000, section 17.2.5), and no certificate.
        assert!(heard[0] & 0xf0 == 0xf0 && length < datagram.len(), "{length} bytes: {:x?}", &heard[..8]);
        socket.set_nonblocking(true).unwrap();
        assert!(socket.recv(&mut heard).is_err(), "more than one answer");
    }
    // Whoever was asked is forgotten: nothing more is said, and nothing kept.
    let socket = UdpSocket::bind("127.0.0.9:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(4))).unwrap();
    socket.send_to(&datagram, &stand.address).unwrap();
    let mut received = 0;
    while received < 3 * datagram.len()
        && let Ok(length) = socket.recv(&mut [0; 2048])
    {
        received += length;
    }
    assert!(received < 3 * datagram.len(), "{received}");
    assert!(stand.most_memory_bytes() - before < 8 << 20);
    stand.still_serves();
}

#[test]
fn a_flood_of_handshakes_leaves_room_for_others() {
    let stand = Stand::new("flood", &["--quic"]);
    let before = stand.most_memory_bytes();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let flood = runtime.block_on(async {
        let endpoint = Endpoint::client("127.0.0.2:0".parse().unwrap()).unwrap();
        let tries = (0..500).map(|_| {
            let connecting =
                endpoint.connect_with(stand.trust(), stand.socket_address(), "ackclock-measure").unwrap();
            tokio::spawn(connecting.into_future())
        });
        let tries: Vec<_> = tries.collect();
        let mut inside = Vec::new();
        for handshake in tries {
            inside.extend(timeout(DEADLINE, handshake).await.expect("a handshake ends").unwrap());
        }
        // They have shaken hands, say nothing, and stay.
        inside
    });
    // Half of the 64 places; whoever comes later takes the place of another that has said nothing.
    until("no more than 32 are open", || {
        flood.iter().filter(|connection| connection.close_reason().is_none()).count() <= 32
    });
    stand.still_serves();
    stand.wait_for("turned away");
    stand.wait_for("did not answer in time");
    stand.still_serves();
    let grown = stand.most_memory_bytes() - before;
    assert!(grown < ROOM_BYTES, "{grown}");
}

#[test]
fn a_stranger_who_stays_is_shown_out() {
    let stand = Stand::new("stays", &["--quic"]);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let why = runtime.block_on(async {
        let endpoint = Endpoint::client("127.0.0.4:0".parse().unwrap()).unwrap();
        let mut settings = quinn::TransportConfig::default();
        settings.keep_alive_interval(Some(Duration::from_millis(100)));
        let mut config = stand.trust();
        config.transport_config(Arc::new(settings));
        let connecting = endpoint.connect_with(config, stand.socket_address(), "ackclock-measure").unwrap();
        let conversation = async {
            let connection = connecting.await.unwrap();
            let (mut sending, _receiving) = connection.accept_bi().await.unwrap();
            sending.write_all(b"{}\n").await.unwrap();
            connection.closed().await
        };
        timeout(DEADLINE, conversation).await
    });
    assert!(matches!(why, Ok(ConnectionError::ApplicationClosed(_))), "{why:?}");
    stand.wait_for("does not speak the protocol of ackclock measure");
}

/// A connection stays with its address (migration is off): a client that moves is not heard any more, and whoever
/// steals a flow's keys cannot point it at others.
#[test]
fn a_connection_stays_with_its_address() {
    let stand = Stand::new("moves", &["--quic"]);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let end = runtime.block_on(async {
        let endpoint = Endpoint::client("127.0.0.5:0".parse().unwrap()).unwrap();
        let connecting =
            endpoint.connect_with(stand.trust(), stand.socket_address(), "ackclock-measure").unwrap();
        let connection = connecting.await.unwrap();
        let (mut sending, _receiving) = connection.accept_bi().await.unwrap();
        endpoint.rebind(UdpSocket::bind("127.0.0.6:0").unwrap()).unwrap();
        sending.write_all(b"{}\n").await.unwrap();
        // Heard, it would be called nonsense at once.
        timeout(DEADLINE, connection.closed()).await
    });
    stand.wait_for("did not answer in time");
    assert!(!stand.server_log().contains("does not speak the protocol"), "{end:?}");
    stand.still_serves();
}

#[test]
fn an_identity_is_made_once_and_read_by_nobody_else() {
    let file = std::env::temp_dir().join(format!("ackclock-once-{}", std::process::id()));
    let fingerprint = quic::Identity::open(&file).unwrap().fingerprint();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(quic::Identity::open(&file).unwrap().fingerprint(), fingerprint);
    // As openssl writes it.
    let text = fingerprint.to_string().to_uppercase();
    let pairs: Vec<_> = text.as_bytes().chunks(2).map(|pair| str::from_utf8(pair).unwrap()).collect();
    assert_eq!(pairs.join(":").parse(), Ok(fingerprint));
    assert!("12ab".parse::<quic::Fingerprint>().is_err());
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let refused = quic::Identity::open(&file).unwrap_err();
    fs::remove_file(&file).unwrap();
    assert!(refused.ends_with("readable by others; run chmod 600 on it"), "{refused}");
}

#[test]
fn ten_seconds_of_nonsense_do_not_stop_a_campaign() {
    let stand = Stand::new("nonsense", &["--quic"]);
    stand.still_serves();
    let before = stand.most_memory_bytes();
    let datagram = stand.first_datagram();
    let goes_on = AtomicBool::new(true);
    let done = scope(|scope| {
        let _end = ClearAtEnd(&goes_on);
        scope.spawn(|| {
            let socket = UdpSocket::bind("127.0.0.3:0").unwrap();
            let config =
                Config { rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() };
            let mut random = TestRunner::new(config).new_rng();
            let mut bytes = [0; 1500];
            while goes_on.load(Ordering::Relaxed) {
                random.fill_bytes(&mut bytes);
                let length = random.random_range(0..=bytes.len());
                let _ = socket.send_to(&bytes[..length], &stand.address);
                // Cut off, and with a byte changed.
                let _ = socket.send_to(&datagram[..length.min(datagram.len())], &stand.address);
                let mut changed = datagram.clone();
                changed[length % datagram.len()] ^= bytes[0];
                let _ = socket.send_to(&changed, &stand.address);
            }
        });
        // A datagram of its own may be lost among all of these, and a slot tried again.
        output(&mut stand.run_by("1s", "10s", "60s"))
    });
    assert!(done.status.success(), "{}", text(&done));
    stand.wait_for("datagrams of no connection");
    stand.still_serves();
    let grown = stand.most_memory_bytes() - before;
    assert!(grown < ROOM_BYTES, "{grown}");
}

#[test]
fn who_stops_reading_costs_no_more_than_a_window() {
    let stand = Stand::new("deaf", &["--quic"]);
    let before = stand.most_memory_bytes();
    let dialer = quic::QuicDialer::new(stand.socket_address(), None).unwrap();
    let ask = |request: &Request| client::ask(&dialer, &stand.token(), request).unwrap();
    let (_control, answer) = ask(&Request::Session { slot: 0, seconds: 8, references: 0 });
    let Answer::Session { session, .. } = answer else { panic!("{answer:?}") };
    let (_flow, _) = ask(&Request::Flow { session, flow: 0 });
    // 8 s at 80 Mbit/s are 80 MB; nobody reads them.
    let samples = || stand.server_log().matches("\"event\":\"sample\"").count();
    until("half of the slot is over", || samples() >= 4);
    stand.still_serves();
    stand.wait_for("\"event\":\"slot\"");
    let grown = stand.most_memory_bytes() - before;
    assert!(grown < ROOM_BYTES, "{grown}");
}

#[test]
fn who_vanishes_is_noticed_and_may_come_again() {
    let stand = Stand::new("vanished", &["--quic"]);
    let mut client = stand.run_by("5min", "5min", "2s").spawn().unwrap();
    stand.wait_for("\"event\":\"sample\"");
    client.kill().unwrap();
    wait(&mut client);
    // Well before its five minutes are over: nothing is heard of it for 10 s.
    stand.wait_for("\"event\":\"cut short\"");
    stand.still_serves();
}

/// Carries bytes from the one to the other until one ends.
fn carry(from: &dyn Connection, to: &dyn Connection) {
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = from.receive(&mut buffer, DEADLINE) {
        if to.send(&buffer[..length], DEADLINE).is_err() {
            return;
        }
    }
}

#[test]
fn nobody_can_stand_between_client_and_server() {
    let stand = Stand::new("between", &["--quic"]);
    let file = stand.directory.join("other.identity");
    let relay =
        quic::QuicListener::bind("127.0.0.1:0".parse().unwrap(), quic::Identity::open(&file).unwrap())
            .unwrap();
    let address = relay.address().unwrap();
    let onward = quic::QuicDialer::new(stand.socket_address(), None).unwrap();
    // It has a certificate of its own and hands on every word.
    let relaying = spawn(move || {
        let door = Door::new(8);
        let mut tries = 0..300;
        let arrival = loop {
            assert!(tries.next().is_some(), "nobody came");
            if let Some(arrival) = relay.next(&door, Duration::from_millis(200)).unwrap() {
                break arrival;
            }
        };
        let (near, far) = (arrival.connection.unwrap(), onward.connect().unwrap());
        scope(|scope| {
            scope.spawn(|| carry(far.as_ref(), near.as_ref()));
            carry(near.as_ref(), far.as_ref());
            far.abort();
        });
    });
    let dialer = quic::QuicDialer::new(address, None).unwrap();
    let refused = client::ask(&dialer, &stand.token(), &Request::Offer).unwrap_err();
    assert_eq!(refused, format!("{address}: the server closed the connection; do both use the same token?"));
    stand.wait_for("does not know the token");
    drop(dialer);
    within("the relay ends", move || relaying.join()).unwrap();
}

#[test]
fn a_client_survives_nonsense_too() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let ends = Arc::clone(&stop);
    let server = spawn(move || {
        socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let mut heard = [0; 2048];
        while !ends.load(Ordering::Relaxed) {
            let Ok((length, from)) = socket.recv_from(&mut heard) else { continue };
            // What came, cut off and changed.
            heard[length / 3] ^= 0x5a;
            let _ = socket.send_to(&heard[..length / 2], from);
        }
    });
    let dialer = quic::QuicDialer::new(address, None).unwrap();
    let problem = dialer.connect().unwrap_err();
    stop.store(true, Ordering::Relaxed);
    within("the server ends", move || server.join()).unwrap();
    assert_eq!(problem.to_string().lines().count(), 1);
}
