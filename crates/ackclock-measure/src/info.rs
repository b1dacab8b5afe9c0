//! What the kernel knows of a connection (TCP_INFO), and its options.
#![expect(unsafe_code, reason = "these socket options have no safe binding that older kernels cannot break")]

use std::ffi::OsString;
use std::fs;
use std::io;
use std::net::TcpStream;
use std::os::fd::AsRawFd;

use nix::sys::socket::{setsockopt, sockopt};
use serde::{Deserialize, Serialize};

/// Controls that the kernel offers to every connection.
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// A connection at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Info {
    /// Bytes that the other end has acknowledged.
    pub acked_bytes: u64,
    /// Bytes that have come in order.
    pub received_bytes: u64,
    /// Packets with data that were sent, retransmissions included.
    pub sent_packets: u64,
    /// Retransmissions.
    pub retransmitted_packets: u64,
    /// Smoothed RTT, milliseconds.
    pub rtt_ms: f64,
    /// The smallest RTT, milliseconds.
    pub least_rtt_ms: f64,
    /// The congestion window, packets.
    pub window: u32,
    /// The slow-start threshold, packets; none before the first loss.
    pub ssthresh: Option<u32>,
    /// The delivery rate, Mbit/s.
    pub delivery_rate_mbps: f64,
}

/// What the kernel knows of a connection.
///
/// # Errors
/// When the socket is gone.
pub fn read(stream: &TcpStream) -> io::Result<Info> {
    // SAFETY: all zeros is a tcp_info, and what an older kernel does not fill stays so.
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
    /// What the kernel calls no threshold.
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

/// Gives a connection its congestion control.
///
/// # Errors
/// When the kernel does not offer it.
pub fn set_control(stream: &TcpStream, control: &str) -> io::Result<()> {
    setsockopt(stream, sockopt::TcpCongestion, &OsString::from(control)).map_err(io::Error::from)
}

/// Limits what a connection sends, bytes per second.
///
/// # Errors
/// When the kernel refuses.
pub fn limit_rate(stream: &TcpStream, bytes_per_s: u64) -> io::Result<()> {
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
pub fn abort(stream: &TcpStream) {
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
