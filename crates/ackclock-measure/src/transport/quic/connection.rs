//! A QUIC connection as client and server use it: from threads that wait.

use std::any::Any;
use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use quinn::rustls::pki_types::CertificateDer;
use quinn::{RecvStream, SendStream};
use tokio::time::timeout;

use super::control::{self, Choice, Watched};
use super::{FLOW_WINDOW_BYTES, Fingerprint, RUNTIME};
use crate::clock;
use crate::info::Info;
use crate::transport::Connection;

/// RFC 9266, section 2.
const BINDING: &[u8] = b"EXPORTER-Channel-Binding";
const BINDING_BYTES: usize = 32;
/// The time that the last message may take to arrive.
const FAREWELL: Duration = Duration::from_secs(2);
/// A rate-limited flow sends the bytes of this interval at once.
const PORTION: Duration = Duration::from_millis(5);
/// The smallest limit of bytes that wait to be sent.
const LEAST_BACKLOG: u64 = 64 << 10;

/// A connection with its one stream.
#[derive(Debug)]
pub struct Quic {
    connection: quinn::Connection,
    outgoing: Mutex<SendStream>,
    incoming: Mutex<RecvStream>,
    choice: Arc<Choice>,
    pace: Mutex<Option<Pace>>,
    /// The last bound of the backlog, bytes.
    backlog: AtomicU64,
}

/// A limit of the sending rate.
#[derive(Debug)]
struct Pace {
    bytes_per_s: u64,
    /// When the next bytes may go.
    next: Instant,
}

impl Pace {
    /// How many of `bytes` may go at `now`; `None` before their time.
    fn turn(&mut self, now: Instant, bytes: usize) -> Option<usize> {
        if self.next > now {
            return None;
        }
        // Waking up late is made up for by at most a portion; capacity that was not used before is lost.
        self.next = self.next.max(now.checked_sub(PORTION).unwrap_or(now));
        let portion = (self.bytes_per_s as f64 * PORTION.as_secs_f64()).ceil();
        Some(bytes.min(portion as usize))
    }

    /// `bytes` have gone.
    fn charge(&mut self, bytes: usize) {
        self.next += Duration::from_secs_f64(bytes as f64 / self.bytes_per_s as f64);
    }
}

impl Quic {
    /// Wraps a connection and its stream; `choice` sets its control later.
    pub fn new(
        connection: quinn::Connection,
        (outgoing, incoming): (SendStream, RecvStream),
        choice: Arc<Choice>,
    ) -> Quic {
        let (outgoing, incoming) = (Mutex::new(outgoing), Mutex::new(incoming));
        Quic { connection, outgoing, incoming, choice, pace: Mutex::default(), backlog: AtomicU64::new(0) }
    }

    /// quinn's own.
    pub const fn inner(&self) -> &quinn::Connection {
        &self.connection
    }

    /// Waits until the limit allows sending, at most for `patience`. Returns how many of `bytes` may be sent then.
    fn wait_turn(&self, bytes: usize, patience: Duration) -> Option<usize> {
        let mut pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(pace) = pace.as_mut() else { return Some(bytes) };
        sleep(pace.next.saturating_duration_since(clock::now()).min(patience));
        pace.turn(clock::now(), bytes)
    }

    fn charge(&self, bytes: usize) {
        if let Some(pace) = self.pace.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            pace.charge(bytes);
        }
    }

    /// Bounds the bytes that wait to be sent or acknowledged. All bytes after the oldest hole wait, and a hole whose
    /// repair is lost again lasts for four round trips: eight windows keep every control busy. A rate-limited flow gets
    /// the bytes that it may send in two round trips, at most twice that: more bytes would leave in a burst as soon as
    /// the path accepts them.
    fn bound_backlog(&self) {
        let path = self.connection.stats().path;
        let pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        let most = pace.as_ref().map_or(u64::MAX, |pace| {
            (pace.bytes_per_s as f64 * (2 * path.rtt + 2 * PORTION).as_secs_f64()) as u64
        });
        drop(pace);
        let needed = path.cwnd.saturating_mul(8).min(most).clamp(LEAST_BACKLOG, FLOW_WINDOW_BYTES.into());
        // The bound changes in large steps, because each change wakes the connection.
        let backlog = needed.next_power_of_two();
        if self.backlog.swap(backlog, Ordering::Relaxed) != backlog {
            self.connection.set_send_window(backlog);
        }
    }
}

impl Drop for Quic {
    /// Nothing else ends the connection, because the datagram counter also holds it.
    fn drop(&mut self) {
        self.connection.close(0_u32.into(), b"");
    }
}

fn over(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::new(ErrorKind::ConnectionAborted, error)
}

impl Connection for Quic {
    fn send(&self, data: &[u8], patience: Duration) -> io::Result<usize> {
        let Some(bytes) = self.wait_turn(data.len(), patience) else {
            return Err(ErrorKind::TimedOut.into());
        };
        self.bound_backlog();
        let mut stream = self.outgoing.lock().unwrap_or_else(PoisonError::into_inner);
        let written = RUNTIME.block_on(async { timeout(patience, stream.write(&data[..bytes])).await });
        let length = written.map_err(|_| io::Error::from(ErrorKind::TimedOut))?.map_err(over)?;
        self.charge(length);
        Ok(length)
    }

    fn receive(&self, buffer: &mut [u8], patience: Duration) -> io::Result<usize> {
        let mut stream = self.incoming.lock().unwrap_or_else(PoisonError::into_inner);
        let read = RUNTIME.block_on(async { timeout(patience, stream.read(buffer)).await });
        Ok(read.map_err(|_| io::Error::from(ErrorKind::TimedOut))?.map_err(over)?.unwrap_or(0))
    }

    fn binding(&self) -> Vec<u8> {
        let mut binding = vec![0; BINDING_BYTES];
        self.connection
            .export_keying_material(&mut binding, BINDING, b"")
            .expect("a connection whose handshake is done exports 32 bytes");
        binding
    }

    fn identity(&self) -> Option<String> {
        let shown: Box<dyn Any> = self.connection.peer_identity()?;
        let chain = shown.downcast::<Vec<CertificateDer<'static>>>().ok()?;
        chain.first().map(|certificate| Fingerprint::of(certificate).to_string())
    }

    fn info(&self) -> io::Result<Info> {
        let path = self.connection.stats().path;
        let mtu = f64::from(path.current_mtu.max(1));
        let control = self.connection.congestion_state();
        let ssthresh = control.metrics().ssthresh;
        let observed = control.into_any().downcast::<Watched>().ok().map(|watched| *watched.observed());
        Ok(Info {
            acked_bytes: observed.map_or(0, |observed| observed.acked_bytes),
            // The application counts these bytes, because quinn does not.
            received_bytes: 0,
            sent_packets: path.sent_packets,
            retransmitted_packets: path.lost_packets,
            rtt_ms: path.rtt.as_secs_f64() * 1000.0,
            least_rtt_ms: path.min_rtt.as_secs_f64() * 1000.0,
            window: (path.cwnd as f64 / mtu) as u32,
            ssthresh: ssthresh
                .filter(|bytes| *bytes < u32::MAX.into())
                .map(|bytes| (bytes as f64 / mtu) as u32),
            delivery_rate_mbps: observed.map_or(0.0, |observed| observed.delivery_rate_mbps),
        })
    }

    fn set_control(&self, name: &str) -> Result<(), String> {
        self.choice.choose(control::find(name)?);
        Ok(())
    }

    fn limit_rate(&self, bytes_per_s: u64) -> io::Result<()> {
        *self.pace.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Pace { bytes_per_s, next: clock::now() });
        Ok(())
    }

    fn finish(&self) {
        let mut stream = self.outgoing.lock().unwrap_or_else(PoisonError::into_inner);
        if stream.finish().is_ok() {
            // Nobody hears whether it has arrived.
            let _ = RUNTIME.block_on(async { timeout(FAREWELL, stream.stopped()).await });
        }
    }

    fn abort(&self) {
        self.connection.close(0_u32.into(), b"");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that go at 1 MB/s until 2 s have passed, when the sender wakes up `late` after its time.
    fn sent(late: Duration) -> usize {
        let start = clock::now();
        let mut pace = Pace { bytes_per_s: 1_000_000, next: start };
        let (mut now, mut sent) = (start, 0);
        while now < start + Duration::from_secs(2) {
            while let Some(bytes) = pace.turn(now, 1 << 16) {
                pace.charge(bytes);
                sent += bytes;
            }
            now = pace.next + late;
        }
        sent
    }

    #[test]
    fn a_rate_is_kept_and_reached() {
        // A portion is 5000 bytes, every 5 ms: 400 of them.
        assert_eq!(sent(Duration::ZERO), 2_000_000);
        // Late by less than a portion: made up for, but for the last portion.
        assert!((1_995_000..=2_005_000).contains(&sent(Duration::from_millis(3))));
        // 20 ms late every time: two portions each time, for the one that was made up for, then 5 + 20 ms to the next.
        assert_eq!(sent(Duration::from_millis(20)), 5000 + (2000_usize.div_ceil(25) - 1) * 10_000);
    }
}
