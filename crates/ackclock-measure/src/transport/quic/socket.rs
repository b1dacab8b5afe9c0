//! Endpoints, on a UDP socket that counts incoming datagrams.

use std::fmt;
use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use nix::sys::socket::{setsockopt, sockopt};
use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, Endpoint, EndpointConfig, Runtime, ServerConfig, TokioRuntime, UdpPoller};

use super::RUNTIME;

/// The size of the kernel's receive and send buffers, if it allows so much: the common 208 KiB are 4 ms at 400 Mbit/s.
const BUFFER_BYTES: usize = 4 << 20;

/// An endpoint at `address`, and its socket.
///
/// # Errors
/// When the system refuses.
pub fn endpoint(address: SocketAddr, config: Option<ServerConfig>) -> io::Result<(Endpoint, Arc<Counted>)> {
    let socket = UdpSocket::bind(address)?;
    // Less is slower on fast paths, and no fault.
    let _ = setsockopt(&socket, sockopt::RcvBuf, &BUFFER_BYTES);
    let _ = setsockopt(&socket, sockopt::SndBuf, &BUFFER_BYTES);
    let _inside = RUNTIME.enter();
    let runtime = Arc::new(TokioRuntime);
    let counted = Arc::new(Counted { socket: runtime.wrap_udp_socket(socket)?, received: AtomicU64::new(0) });
    let shared = Arc::clone(&counted) as Arc<dyn AsyncUdpSocket>;
    let endpoint = Endpoint::new_with_abstract_socket(EndpointConfig::default(), config, shared, runtime)?;
    Ok((endpoint, counted))
}

/// quinn's socket, and how many datagrams it has received.
pub struct Counted {
    socket: Arc<dyn AsyncUdpSocket>,
    received: AtomicU64,
}

impl Counted {
    /// Datagrams that have come.
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counted").field("received", &self.received()).finish_non_exhaustive()
    }
}

impl AsyncUdpSocket for Counted {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Arc::clone(&self.socket).create_io_poller()
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        self.socket.try_send(transmit)
    }

    fn poll_recv(
        &self,
        context: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        metas: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let count = ready!(self.socket.poll_recv(context, buffers, metas))?;
        // The kernel may hand over many datagrams as one.
        let datagrams = metas[..count].iter().map(|meta| meta.len.div_ceil(meta.stride.max(1)).max(1) as u64);
        self.received.fetch_add(datagrams.sum(), Ordering::Relaxed);
        Poll::Ready(Ok(count))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.socket.max_transmit_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.socket.max_receive_segments()
    }

    fn may_fragment(&self) -> bool {
        self.socket.may_fragment()
    }
}
