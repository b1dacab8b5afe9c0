//! `ackclock-link`: an emulated path between two network namespaces.

use std::ffi::{OsStr, OsString};
use std::io::{Write, stderr};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use ackclock_cc::registry::BuiltIn;
use ackclock_link::buffer;
use ackclock_link::emulator::Emulator;
use ackclock_link::hosts::{Host, Hosts, failed};
use ackclock_link::ports;
use ackclock_link::pump::{Pump, TOLERANCE};
use ackclock_link::report::{Report, probe, write_sealed};
use ackclock_link::tools::tool;
use ackclock_link::user;
use ackclock_scenario::files::read_text;
use ackclock_scenario::{Scenario, read_toml};
use ackclock_units::{Bytes, Rate, Span, UnitError};
use clap::Parser;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getppid};

/// Set up an emulated path between two network namespaces: the simulator's link, in real time.
///
/// Without a scenario the path has 100 Mbit/s, 20 ms each way and a droptail queue of 100 packets. Packets from
/// the client travel forward, those from the server in reverse. A COMMAND runs on the client, and the path is
/// removed when it ends; without one the path stays up until Ctrl-C. The server's address is 10.77.0.2.
///
/// Without root, everything is in a user namespace, where the system allows that; packets are later, because real-time
/// priority needs root.
///
/// Examples:
///   ackclock link --rate 10Mbit/s --delay 30ms --buffer 50 --server 'iperf3 -s' -- iperf3 -c 10.77.0.2
///   ackclock link --rate 10Mbit/s --rtt 60ms --buffer 2bdp --queue codel --loss 1% -o path.json
///   ackclock link --delay 30ms --port-rtts 5201=60ms,5202=80ms --server 'iperf3 -s -p 5202' \
///     -- iperf3 -c 10.77.0.2 -p 5202
///   ackclock link path.toml --set dumbbell.loss.kind=gilbert_elliott \
///     --set dumbbell.loss.to_bad=0.1% --set dumbbell.loss.to_good=20%
///
/// Exit status: that of COMMAND, or 0; 1 also when the emulator was too late for results over the path to be valid;
/// 2 for bad input; 130 when COMMAND was interrupted.
#[derive(Parser)]
#[command(version, verbatim_doc_comment, bin_name = "ackclock link")]
struct Arguments {
    /// Scenario with a [dumbbell] that describes the path; its flows are ignored.
    scenario: Option<PathBuf>,
    /// Rate of the bottleneck, for example 10Mbit/s.
    #[arg(long, value_name = "RATE")]
    rate: Option<String>,
    /// Propagation delay of each direction, for example 30ms.
    #[arg(long, value_name = "TIME")]
    delay: Option<String>,
    /// Propagation round trip in place of --delay, which is half of it.
    #[arg(long, value_name = "TIME", conflicts_with = "delay")]
    rtt: Option<Span>,
    /// Buffer of the forward queue, the packet in transmission included: 250 (packets), 2bdp, 100ms or 3MB.
    #[arg(long, value_name = "SIZE")]
    buffer: Option<String>,
    /// Kind of the forward queue, for example codel.
    #[arg(long, value_name = "KIND")]
    queue: Option<String>,
    /// Random loss in the forward direction, for example 1%.
    #[arg(long, value_name = "SHARE")]
    loss: Option<String>,
    /// Standard deviation of Gaussian noise on the forward delay, for example 5ms; packets are not reordered.
    #[arg(long, value_name = "TIME")]
    noise: Option<String>,
    /// Apply --buffer, --queue, --loss and --noise to both directions instead of the forward one only.
    #[arg(long)]
    both: bool,
    /// Round-trip propagation delays for TCP and UDP ports of the server instead of the path's own, for example
    /// 5201=60ms,5202=80ms. The extra delay is added before the queue, as by an access link. Other packets keep the
    /// path's.
    #[arg(long, value_name = "PORT=RTT,...")]
    port_rtts: Option<String>,
    /// Seed of the random streams.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Set any key of the scenario, for example dumbbell.reverse.loss.rate=1%.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// MTU of the path, for example 9000B.
    #[arg(long, value_name = "SIZE", default_value = "1500B", value_parser = mtu)]
    mtu: u16,
    /// Use existing namespaces instead of creating new ones.
    #[arg(long, value_name = "CLIENT,SERVER", value_parser = two)]
    namespaces: Option<(String, String)>,
    /// Shell command to run on the server; COMMAND starts once it has opened a port.
    #[arg(long, value_name = "COMMAND")]
    server: Option<String>,
    /// How long the path stays up without a COMMAND, for example 60s; until Ctrl-C by default.
    #[arg(long, value_name = "TIME")]
    duration: Option<Span>,
    /// A packet that leaves later than TIME counts as late, for example 5ms; more than 1 % of late packets make results
    /// invalid.
    #[arg(long, value_name = "TIME", default_value_t = TOLERANCE)]
    tolerance: Span,
    /// File to write the report to, as JSON.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Command to run on the client.
    #[arg(last = true)]
    command: Vec<String>,
}

/// Smallest MTU of IPv4 (RFC 791).
const LEAST_MTU: u16 = 68;

fn mtu(text: &str) -> Result<u16, String> {
    let size: Bytes = text.parse().map_err(|error: UnitError| error.to_string())?;
    let mtu = u16::try_from(size.0).ok().filter(|mtu| *mtu >= LEAST_MTU);
    mtu.ok_or_else(|| format!("must lie between {LEAST_MTU} B and {} B, is {} B", u16::MAX, size.0))
}

fn two(text: &str) -> Result<(String, String), String> {
    let (client, server) = text.split_once(',').ok_or("expected CLIENT,SERVER")?;
    Ok((client.to_owned(), server.to_owned()))
}

/// The path unless the user says otherwise.
const PATH: &str = r#"
[run]
duration = "24 h"
[dumbbell]
rate = "100 Mbit/s"
delay = "20 ms"
queue = { kind = "droptail", limit = "100 packets" }
[[flow]]
controller = "reno"
"#;

/// How often to check on a running command and on signals.
const LOOK: Duration = Duration::from_millis(20);
/// How often to look whether a server has opened its port: 30 s, enough for a busy machine.
const SERVER_LOOKS: u32 = 1500;

/// Why the program fails: a message and the exit status.
struct Failure(String, u8);

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure(message, 1)
    }
}

impl Arguments {
    fn scenario(&self) -> Result<Scenario, Failure> {
        let refuse = |message: String| Failure(message, 2);
        let (text, file) = match &self.scenario {
            None => (PATH.to_owned(), "the path".to_owned()),
            Some(path) => {
                let file = path.display().to_string();
                (read_text(path).map_err(|problem| refuse(format!("{file}: {problem}")))?, file)
            }
        };
        let mut settings = Vec::new();
        let mut set = |key: &str, value: &str| {
            settings.push(format!("dumbbell.{key}={value}"));
            if self.both {
                settings.push(format!("dumbbell.reverse.{key}={value}"));
            }
        };
        if let Some(rate) = &self.rate {
            set("rate", rate);
        }
        if let Some(delay) = &self.delay {
            set("delay", delay);
        }
        if let Some(rtt) = &self.rtt {
            set("delay", &Span(rtt.0 / 2).to_string());
        }
        if let Some(kind) = &self.queue {
            set("queue.kind", kind);
        }
        if let Some(loss) = &self.loss {
            set("loss.kind", "bernoulli");
            set("loss.rate", loss);
        }
        if let Some(noise) = &self.noise {
            set("delay_noise.kind", "gaussian");
            set("delay_noise.sigma", noise);
        }
        settings.extend(self.seed.map(|seed| format!("run.seed={seed}")));
        settings.extend_from_slice(&self.set);
        let read = |settings: &[String]| {
            let checked = read_toml(&text, &file, settings, &BuiltIn);
            checked.map(|checked| checked.scenario).map_err(|error| refuse(error.to_string()))
        };
        let Some(buffer) = &self.buffer else { return read(&settings) };
        // Its size may depend on the rate and the delays that everything else decides.
        let path = read(&settings)?;
        let round_trip = Span(path.links.iter().map(|link| link.delay.0).sum());
        let rate = path.links.first().map_or(Rate(0), |link| link.rate);
        let limit = buffer::limit(buffer, rate, round_trip).map_err(refuse)?;
        settings.push(format!("dumbbell.queue.limit={limit}"));
        if self.both {
            settings.push(format!("dumbbell.reverse.queue.limit={limit}"));
        }
        read(&settings)
    }

    fn emulator(&self) -> Result<Emulator, Failure> {
        let refuse = |message: String| Failure(message, 2);
        let emulator = Emulator::new(&self.scenario()?, self.tolerance).map_err(refuse)?;
        let Some(text) = &self.port_rtts else { return Ok(emulator) };
        ports::read(text)
            .and_then(|ports| emulator.with_port_rtts(&ports))
            .map_err(|message| refuse(format!("--port-rtts: {message}")))
    }
}

/// Writes a line to standard error; unlike `eprintln!` it does not panic when that is closed.
fn say(text: &str) {
    let _ = writeln!(stderr(), "{text}");
}

/// First argument with which this program calls itself, for a command that must not outlive it: the kernel takes the
/// wish to be ended with the parent only from the child itself. Its number and the command follow.
const TIED: &str = "--tied-to";

/// Becomes the command, which is killed when the process `parent` ends, however that ends.
fn tied(parent: &OsStr, command: &[OsString]) -> Result<u8, Failure> {
    let (program, arguments) = command.split_first().ok_or_else(|| "no command".to_owned())?;
    set_pdeathsig(Signal::SIGKILL).map_err(|error| format!("prctl: {error}"))?;
    if *parent != *getppid().to_string() {
        return Err("the path is gone".to_owned().into());
    }
    Err(format!("{}: {}", program.display(), Command::new(program).args(arguments).exec()).into())
}

/// Starts a command on a host.
fn start(host: &Host, command: &[&str], quiet: bool) -> Result<Child, String> {
    let mut start = Command::new("/proc/self/exe");
    start.args([TIED, &std::process::id().to_string()]).arg(tool("ip"));
    start.args(["netns", "exec", &host.namespace]).args(command);
    if quiet {
        start.stdin(Stdio::null()).stdout(Stdio::null());
    }
    start.spawn().map_err(|error| failed(&error))
}

/// A process that is ended when this is dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = kill(Pid::from_raw(self.0.id() as i32), Signal::SIGTERM);
        for _ in 0..50 {
            if matches!(self.0.try_wait(), Ok(Some(_))) {
                return;
            }
            sleep(LOOK);
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(host: &Host, command: &str) -> Result<Process, String> {
    let mut server =
        Process(start(host, &[&tool("sh").to_string_lossy(), "-c", &format!("exec {command}")], true)?);
    for _ in 0..SERVER_LOOKS {
        if let Ok(Some(status)) = server.0.try_wait() {
            return Err(format!("the server command has exited: {status}"));
        }
        let ports = Command::new(tool("ip"))
            .args(["netns", "exec", &host.namespace])
            .arg(tool("ss"))
            .arg("-Htuln")
            .output()
            .map_err(|error| failed(&error))?;
        if !ports.stdout.is_empty() {
            return Ok(server);
        }
        sleep(LOOK);
    }
    Err("the server has not opened a port within 30 s".into())
}

/// Waits for the command, a signal, or the end of the duration; returns the exit status of the command.
fn hold(arguments: &Arguments, hosts: &Hosts, is_user: bool, ended: &AtomicBool) -> Result<u8, Failure> {
    if arguments.command.is_empty() {
        // Only from within the user namespace are its namespaces known.
        let enter = match is_user {
            true => format!("nsenter -t {} -U -m --preserve-credentials ip netns exec", std::process::id()),
            false => "ip netns exec".to_owned(),
        };
        say(&format!(
            "The path is up. On the client: {enter} {} COMMAND; on the server, {}: {enter} {} COMMAND",
            hosts.client.namespace, hosts.server.address, hosts.server.namespace
        ));
        let looks = arguments.duration.map(|span| (span.as_seconds() / LOOK.as_secs_f64()).ceil() as u64);
        let mut looked = 0;
        while !ended.load(Ordering::Relaxed) && looks.is_none_or(|looks| looked < looks) {
            sleep(LOOK);
            looked += 1;
        }
        return Ok(0);
    }
    let words: Vec<_> = arguments.command.iter().map(String::as_str).collect();
    let mut command = Process(start(&hosts.client, &words, false)?);
    loop {
        if let Some(status) = command.0.try_wait().map_err(|error| error.to_string())? {
            return Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1));
        }
        if ended.load(Ordering::Relaxed) {
            return Err(Failure("interrupted".into(), 130));
        }
        sleep(LOOK);
    }
}

fn run(arguments: &Arguments) -> Result<u8, Failure> {
    let emulator = arguments.emulator()?;
    if let Some(file) = &arguments.output {
        // Before hours of work, as the user who runs this.
        probe(file).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    // Before any thread, of which only its own would change its user.
    let is_user = user::enter()?;
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        signal_hook::flag::register(signal as i32, Arc::clone(&ended))
            .map_err(|error| format!("signals: {error}"))?;
    }
    let hosts = Hosts::new(arguments.namespaces.clone())?;
    let pump = Pump::start(emulator, hosts.devices(arguments.mtu)?)?;
    let real_time = pump.real_time;
    let served = arguments.server.as_ref().map(|command| serve(&hosts.server, command)).transpose();
    let held = served.map_err(Failure::from).and_then(|server| {
        let held = hold(arguments, &hosts, is_user, &ended);
        drop(server);
        held
    });
    let overlooked_packets = hosts.overlooked();
    let outcome = pump.stop()?;
    let status = held?;
    let [forward, reverse] = outcome.directions;
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        duration_s: outcome.duration_s,
        real_time,
        tolerance_us: arguments.tolerance.as_seconds() * 1e6,
        forward,
        reverse,
        overlooked_packets,
        problems: Vec::new(),
        valid: false,
    };
    finish(report.judged(), arguments, status)
}

fn finish(report: Report, arguments: &Arguments, status: u8) -> Result<u8, Failure> {
    say(report.text().trim_end());
    if !report.real_time {
        say("Could not get real-time priority; packets will be later.");
    }
    if let Some(file) = &arguments.output {
        let text = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())? + "\n";
        write_sealed(file, &text).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    match status {
        0 if !report.valid => {
            Err(Failure(format!("results over this path are not valid: {}", report.problems.join("; ")), 1))
        }
        status => Ok(status),
    }
}

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    let outcome = match &words[..] {
        [_, first, parent, command @ ..] if first == TIED => tied(parent, command),
        _ => run(&Arguments::parse()),
    };
    match outcome {
        Ok(status) => ExitCode::from(status),
        Err(Failure(message, status)) => {
            say(&format!("ackclock-link: {message}"));
            ExitCode::from(status)
        }
    }
}
