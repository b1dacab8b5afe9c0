//! `ackclock-measure`: measuring campaigns over real paths.

use std::io::{Write, stderr, stdout};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ackclock_measure::campaign::{Campaign, Plan, offer};
use ackclock_measure::disk;
use ackclock_measure::log::Damaged;
use ackclock_measure::rotating::Rotating;
use ackclock_measure::server::{Limits, Server};
use ackclock_measure::token::Token;
use ackclock_measure::transport::quic::{self, Fingerprint, Identity};
use ackclock_measure::transport::tcp::{Tcp, offered_controls};
use ackclock_measure::transport::{Dialer, Listener, Transport};
use ackclock_units::{Bytes, Rate, Span};
use clap::Parser;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// The port unless the user says otherwise.
const PORT: u16 = 5210;

/// Measuring campaigns over real paths: which congestion control is best on yours?
///
/// A server sends and switches congestion control every period; a client receives and logs. Both know a token, which
/// never crosses the wire.
///
/// Examples:
///   ackclock measure token secret                                   # then copy the file to the other machine
///   ackclock measure serve --token secret --controls reno,cubic,ack_fit
///   ackclock measure run HOST --token secret --period 60s --duration 1h -o campaign
///   ackclock measure serve --quic --token secret                    # QUIC in user space, without root
///   ackclock measure run HOST --quic --token secret -o campaign
///   ackclock measure report campaign
///
/// Exit status: 0 done, 1 failed, 2 bad input, 130 interrupted; run the same command to continue.
#[derive(Parser)]
#[command(version, verbatim_doc_comment, bin_name = "ackclock measure")]
enum Verb {
    /// Create a token, the secret that client and server share.
    #[command(after_help = "Example:\n  ackclock measure token secret")]
    Token {
        /// File to create.
        file: PathBuf,
    },
    /// Serve clients that know the token, until Ctrl-C.
    #[command(after_help = "Examples:\n  \
        ackclock measure serve --token secret --controls reno,cubic,ack_fit\n  \
        ackclock measure serve --quic --token secret --max-rate 100Mbit/s")]
    Serve {
        /// File with the token.
        #[arg(long, value_name = "FILE")]
        token: PathBuf,
        /// Serve over QUIC instead of TCP, with the controls of ackclock and quinn.
        #[arg(long)]
        quic: bool,
        /// QUIC: file with the server's key and certificate, created if missing; by default the token's file with
        /// .identity appended.
        #[arg(long, value_name = "FILE", requires = "quic")]
        identity: Option<PathBuf>,
        /// Address to listen on, for example [::]:5210 for IPv6.
        #[arg(long, default_value = "0.0.0.0:5210", value_name = "ADDRESS")]
        listen: String,
        /// Controls in the order in which they take turns, by the kernel's names; by default all that it offers. Over
        /// QUIC by ackclock's names, or quinn-reno, quinn-cubic, quinn-bbr; by default reno, cubic, illinois, fit,
        /// quinn-cubic.
        #[arg(long, value_delimiter = ',', value_name = "NAMES")]
        controls: Vec<String>,
        /// Longest slot that a client may ask for.
        #[arg(long, default_value = "10 min", value_name = "TIME")]
        max_period: Span,
        /// Maximum number of simultaneous connections; at most half of them from one host.
        #[arg(long, default_value_t = 64, value_name = "N", value_parser = clap::value_parser!(u16).range(2..))]
        max_connections: u16,
        /// Maximum number of reference flows in a slot.
        #[arg(long, default_value_t = 20, value_name = "N")]
        max_references: u32,
        /// Maximum rate of each flow, for example 100Mbit/s; unlimited by default.
        #[arg(long, value_name = "RATE")]
        max_rate: Option<Rate>,
        /// File to append the log to, as lines of JSON; standard output by default. SIGHUP opens it again by its name.
        #[arg(long, value_name = "FILE")]
        log: Option<PathBuf>,
        /// Size at which the log becomes FILE.1, in place of the one before, and a new one begins.
        #[arg(long, default_value = "64 MB", value_name = "SIZE")]
        max_log: Bytes,
    },
    /// Receive from a server, slot after slot, and log every second.
    #[command(after_help = "Examples:\n  \
        ackclock measure run HOST --token secret --period 1min --duration 4h -o zurich\n  \
        ackclock measure run HOST --quic --token secret --references 2 -o zurich-quic")]
    Run {
        /// Server, as HOST or HOST:PORT.
        server: String,
        /// File with the token.
        #[arg(long, value_name = "FILE")]
        token: PathBuf,
        /// Use QUIC instead of TCP; the server must have been started with --quic.
        #[arg(long)]
        quic: bool,
        /// QUIC: fingerprint that the server prints when it starts. Without it, the token authenticates the server the
        /// first time, and the campaign remembers its fingerprint.
        #[arg(long, value_name = "HEX", requires = "quic")]
        fingerprint: Option<Fingerprint>,
        /// Directory of the campaign; an existing campaign is resumed.
        #[arg(short, long, value_name = "DIR")]
        output: PathBuf,
        /// Length of a slot, the time for which one control is used.
        #[arg(long, default_value = "5 min", value_name = "TIME")]
        period: Span,
        /// Length of the campaign, rounded down to whole periods.
        #[arg(long, default_value = "1 h", value_name = "TIME")]
        duration: Span,
        /// Number of Reno flows alongside each slot's own flow, to measure how much bandwidth it takes from them.
        #[arg(long, default_value_t = 0, value_name = "N")]
        references: u32,
        /// Give up after this time without a complete slot.
        #[arg(long, default_value = "10 min", value_name = "TIME")]
        patience: Span,
        /// Move records that were changed on the disk to files whose names end with .bad, and measure their slots again;
        /// without this they are an error.
        #[arg(long)]
        set_aside: bool,
    },
}

/// Why the program fails: a message and the exit status.
struct Failure(String, u8);

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure(message, 1)
    }
}

fn bad(message: impl Into<String>) -> Failure {
    Failure(message.into(), 2)
}

/// Writes a line to standard error; unlike `eprintln!` it does not panic when that is closed.
fn say(text: &str) {
    let _ = writeln!(stderr(), "{text}");
}

/// Lets a signal set a flag instead of ending the process.
fn register(signal: i32, flag: &Arc<AtomicBool>) -> Result<(), Failure> {
    let registered = signal_hook::flag::register(signal, Arc::clone(flag));
    registered.map(drop).map_err(|error| Failure(format!("signals: {error}"), 1))
}

fn whole_seconds(span: Span, name: &str) -> Result<u64, Failure> {
    let seconds = span.as_seconds();
    if seconds < 1.0 || seconds.fract() != 0.0 {
        return Err(bad(format!("--{name}: expected whole seconds, at least 1, found {span}")));
    }
    Ok(seconds as u64)
}

/// The first address of a host, with the usual port if it names none.
fn resolve(host: &str) -> Result<SocketAddr, Failure> {
    let with_port = if host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()) {
        host.to_owned()
    } else {
        format!("{host}:{PORT}")
    };
    let mut addresses = with_port.to_socket_addrs().map_err(|error| bad(format!("{host}: {error}")))?;
    addresses.next().ok_or_else(|| bad(format!("{host}: no address")))
}

/// The listener, and the line that announces it.
fn listen(listen: &str, identity: Option<&Path>) -> Result<(Box<dyn Listener>, String), Failure> {
    let refuse = |error: String| Failure(format!("cannot listen on {listen}: {error}"), 1);
    let address = resolve(listen)?;
    let Some(file) = identity else {
        let listener = TcpListener::bind(address).map_err(|error| refuse(error.to_string()))?;
        let address = listener.local_addr().map_err(|error| refuse(error.to_string()))?;
        return Ok((Box::new(listener), format!("Listening on {address}")));
    };
    let identity = Identity::open(file).map_err(bad)?;
    let fingerprint = identity.fingerprint();
    let listener = quic::QuicListener::bind(address, identity).map_err(refuse)?;
    let address = listener.address().map_err(refuse)?;
    let line = format!("Listening on {address}, QUIC, fingerprint {fingerprint}");
    Ok((Box::new(listener), line))
}

fn run(verb: Verb, stop: &Arc<AtomicBool>) -> Result<(), Failure> {
    match verb {
        Verb::Token { file } => Ok(Token::make(&file)?),
        Verb::Serve {
            token,
            quic,
            identity,
            listen: address,
            controls,
            max_period,
            max_connections,
            max_references,
            max_rate,
            log,
            max_log,
        } => {
            let identity = quic.then(|| {
                identity.unwrap_or_else(|| {
                    let mut identity = token.clone().into_os_string();
                    identity.push(".identity");
                    identity.into()
                })
            });
            let token = Token::read(&token).map_err(bad)?;
            let controls = match controls.is_empty() {
                false => controls,
                true if quic => quic::DEFAULT_CONTROLS.map(str::to_owned).to_vec(),
                true => offered_controls()?,
            };
            let limits = Limits {
                slot_s: whole_seconds(max_period, "max-period")?,
                connections: max_connections.into(),
                references: max_references,
                flow_bytes_per_s: max_rate.map(|rate| (rate.0 / 8).max(1)),
            };
            let stop_on_hangup = log.is_none();
            let output: Box<dyn Write + Send> = match log {
                None => Box::new(stdout()),
                Some(file) => {
                    let reopen = Arc::new(AtomicBool::new(false));
                    register(SIGHUP, &reopen)?;
                    let log = Rotating::open(file.clone(), max_log.0, reopen);
                    Box::new(log.map_err(|error| format!("{}: {error}", file.display()))?)
                }
            };
            if stop_on_hangup {
                register(SIGHUP, stop)?;
            }
            let turns = controls.join(", ");
            let (listener, line) = listen(&address, identity.as_deref())?;
            let server =
                Server::new(listener, token, controls, limits, output, Arc::clone(stop)).map_err(bad)?;
            say(&format!("{line}; controls: {turns}"));
            Ok(server.serve()?)
        }
        Verb::Run {
            server,
            token,
            quic,
            fingerprint,
            output,
            period,
            duration,
            references,
            patience,
            set_aside,
        } => {
            register(SIGHUP, stop)?;
            let token = Token::read(&token).map_err(bad)?;
            let period_s = whole_seconds(period, "period")?;
            let slots = (whole_seconds(duration, "duration")? / period_s).max(1);
            let address = resolve(&server)?;
            let dial = |pinned: Option<Fingerprint>| match quic {
                true => {
                    quic::QuicDialer::new(address, pinned).map(|dialer| Box::new(dialer) as Box<dyn Dialer>)
                }
                false => Ok(Box::new(Tcp { server: address }) as Box<dyn Dialer>),
            };
            let (controls, identity) = offer(dial(fingerprint)?.as_ref(), &token, period_s, references)?;
            let pinned = identity.as_deref().map(str::parse).transpose()?;
            let transport = if quic { Transport::Quic } else { Transport::Tcp };
            let plan = Plan { server, transport, identity, controls, period_s, slots, references };
            let dialer = dial(pinned)?;
            let damaged = if set_aside { Damaged::SetAside } else { Damaged::Refuse };
            let (mut campaign, notes) =
                Campaign::open(&output, plan, damaged, Box::new(disk::Real)).map_err(bad)?;
            say(&format!("{} of {slots} slots of {period_s} s are complete", campaign.done()));
            notes.iter().for_each(|note| say(note));
            let patience = Duration::from_secs_f64(patience.as_seconds());
            campaign.run(dialer.as_ref(), &token, patience, stop, |number, outcome| match outcome {
                Ok(slot) => {
                    let rate = slot.received_bytes[0] as f64 * 8e-6 / slot.seconds;
                    let note = if slot.complete { "" } else { ", incomplete" };
                    say(&format!(
                        "slot {} of {slots}: {:<15} {rate:8.2} Mbit/s{note}",
                        number + 1,
                        slot.control
                    ));
                }
                Err(problem) => say(&format!("slot {} of {slots}: {problem}", number + 1)),
            })?;
            if stop.load(Ordering::Relaxed) {
                return Err(Failure("interrupted; run the same command to continue".into(), 130));
            }
            say(&format!("All slots are complete: ackclock measure report {}", output.display()));
            Ok(())
        }
    }
}

fn main() -> ExitCode {
    let verb = Verb::parse();
    let stop = Arc::new(AtomicBool::new(false));
    let done = [SIGINT, SIGTERM].iter().try_for_each(|signal| register(*signal, &stop));
    match done.and_then(|()| run(verb, &stop)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(message, status)) => {
            say(&format!("ackclock-measure: {message}"));
            ExitCode::from(status)
        }
    }
}
