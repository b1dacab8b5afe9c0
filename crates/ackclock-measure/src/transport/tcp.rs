//! TCP: the kernel's connections and controls, and its information about them (TCP_INFO).
#![expect(unsafe_code, reason = "these socket options have no safe binding that older kernels cannot break")]

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use ackclock_units::did_you_mean;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{setsockopt, sockopt};

use super::{Arrival, Connection, Dialer, Listener};
use crate::clock;
use crate::door::Door;
use crate::fault::Fault;
use crate::info::Info;
use crate::wire::PATIENCE;

/// Controls that the kernel offers to every connection.
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

impl Connection for TcpStream {
    fn send(&self, data: &[u8], patience: Duration) -> io::Result<usize> {
        self.set_write_timeout(Some(patience))?;
        (&mut &*self).write(data)
    }

    fn receive(&self, buffer: &mut [u8], patience: Duration) -> io::Result<usize> {
        self.set_read_timeout(Some(patience))?;
        (&mut &*self).read(buffer)
    }

    fn binding(&self) -> Vec<u8> {
        Vec::new()
    }

    fn identity(&self) -> Option<String> {
        None
    }

    fn info(&self) -> io::Result<Info> {
        info(self)
    }

    fn set_control(&self, control: &str) -> Result<(), String> {
        set_control(self, control).map_err(|error| error.to_string())
    }

    fn limit_rate(&self, bytes_per_s: u64) -> io::Result<()> {
        limit_rate(self, bytes_per_s)
    }

    fn finish(&self) {
        // Data that was sent still arrives after the descriptor is closed.
    }

    fn abort(&self) {
        abort(self);
    }
}

impl Listener for TcpListener {
    fn check(&self, controls: &[String]) -> Result<(), String> {
        let offered = offered_controls()?;
        let Some(missing) = controls.iter().find(|control| !offered.contains(control)) else { return Ok(()) };
        let hint = match did_you_mean(missing, offered.iter().map(String::as_str)) {
            hint if hint.is_empty() => format!("it offers {}.", offered.join(", ")),
            hint => hint,
        };
        let load = "Load those of ackclock with: sudo ackclock kernel load NAME";
        Err(format!("this kernel does not offer {missing}; {hint} {load}"))
    }

    fn next(&self, door: &Arc<Door>, wait: Duration) -> Result<Option<Arrival>, String> {
        self.set_nonblocking(true).map_err(|error| error.to_string())?;
        let end = clock::now() + wait;
        loop {
            let left = end.saturating_duration_since(clock::now());
            if left.is_zero() {
                return Ok(None);
            }
            match self.accept() {
                Ok((stream, address)) => {
                    if let Some(permit) = door.enter(address.ip().to_canonical()) {
                        let connection = stream.set_nonblocking(false).map_err(|error| error.to_string());
                        let connection = connection.map(|()| Arc::new(stream) as Arc<dyn Connection>);
                        return Ok(Some(Arrival { permit, connection }));
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let mut descriptors = [PollFd::new(self.as_fd(), PollFlags::POLLIN)];
                    let left = PollTimeout::try_from(left).unwrap_or(PollTimeout::ZERO);
                    // Ends early by a signal, which the caller looks at.
                    if !poll(&mut descriptors, left).is_ok_and(|ready| ready > 0) {
                        return Ok(None);
                    }
                }
                // Connections that were gone already, or too many open files: this passes with time.
                Err(_) => sleep(left.min(Duration::from_millis(10))),
            }
        }
    }

    fn take_strays(&self) -> u64 {
        0
    }
}

/// Connects by TCP.
#[derive(Clone, Debug)]
pub struct Tcp {
    /// The server.
    pub server: SocketAddr,
}

impl Dialer for Tcp {
    fn server(&self) -> SocketAddr {
        self.server
    }

    fn connect(&self) -> Result<Arc<dyn Connection>, Fault> {
        match TcpStream::connect_timeout(&self.server, PATIENCE) {
            Ok(stream) => Ok(Arc::new(stream)),
            Err(error) => Err(Fault::Unreachable(error.to_string())),
        }
    }
}

/// The kernel's information about a connection.
fn info(stream: &TcpStream) -> io::Result<Info> {
    // SAFETY: all zeros is a valid tcp_info, and fields that an older kernel does not fill stay zero.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes.
    let done = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        )
    };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    /// The kernel's value for no threshold.
    const UNLIMITED: u32 = 0x7fff_ffff;
    Ok(Info {
        acked_bytes: info.tcpi_bytes_acked,
        received_bytes: info.tcpi_bytes_received,
        sent_packets: info.tcpi_data_segs_out.into(),
        retransmitted_packets: info.tcpi_total_retrans.into(),
        rtt_ms: f64::from(info.tcpi_rtt) / 1000.0,
        least_rtt_ms: f64::from(info.tcpi_min_rtt) / 1000.0,
        window: info.tcpi_snd_cwnd,
        ssthresh: (info.tcpi_snd_ssthresh < UNLIMITED).then_some(info.tcpi_snd_ssthresh),
        delivery_rate_mbps: info.tcpi_delivery_rate as f64 * 8e-6,
    })
}

/// Sets the congestion control of a connection.
fn set_control(stream: &TcpStream, control: &str) -> io::Result<()> {
    setsockopt(stream, sockopt::TcpCongestion, &OsString::from(control)).map_err(io::Error::from)
}

/// Limits the sending rate of a connection, bytes per second.
fn limit_rate(stream: &TcpStream, bytes_per_s: u64) -> io::Result<()> {
    // SAFETY: the value lives as long as the call.
    let done = unsafe {
        libc::setsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MAX_PACING_RATE,
            (&raw const bytes_per_s).cast(),
            size_of::<u64>() as libc::socklen_t,
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Ends a connection at once, with all that it still holds.
fn abort(stream: &TcpStream) {
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    let _ = setsockopt(stream, sockopt::Linger, &linger);
    let _ = stream.shutdown(std::net::Shutdown::Both);
}

/// Controls that the kernel offers.
///
/// # Errors
/// One line, when it does not tell.
pub fn offered_controls() -> Result<Vec<String>, String> {
    let text = fs::read_to_string(AVAILABLE).map_err(|error| format!("{AVAILABLE}: {error}"))?;
    Ok(text.split_whitespace().map(str::to_owned).collect())
}
