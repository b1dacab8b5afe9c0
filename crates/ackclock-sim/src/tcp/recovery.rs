//! Loss detection and recovery: how a sender learns that packets are lost, and which packets it retransmits.
//!
//! One trait, one implementation per style; the sender knows none of them. Windows are the congestion
//! control's; this side owns duplicate acknowledgements, inflation, the pipe and the end of an episode.

mod linux26;
mod rack;
mod reno;
mod sack;

use ackclock_units::{Span, Time};

use crate::payload::SackBlocks;

pub use linux26::Linux26;
pub use rack::Rack;
pub use reno::DuplicateAcks;
pub use sack::Sack;

/// Duplicate acknowledgements that mean a loss (RFC 5681, section 3.2; RFC 6675, section 2).
pub const DUPLICATE_THRESHOLD: u64 = 3;

/// The sender's outstanding data, in packet numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flight {
    /// The oldest packet that is not acknowledged cumulatively.
    pub oldest: u64,
    /// The next packet that was never sent.
    pub next: u64,
}

impl Flight {
    /// Packets sent and not acknowledged cumulatively.
    #[must_use]
    pub const fn outstanding(&self) -> u64 {
        self.next - self.oldest
    }
}

/// The outstanding packets in the tests of the styles.
#[cfg(test)]
const FLIGHT: Flight = Flight { oldest: 10, next: 20 };

/// The information in an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Packets newly reported as received, each counted once.
    pub delivered: u64,
    /// A loss episode begins.
    pub lost: bool,
    /// The loss episode ends.
    pub recovered: bool,
    /// A loss has been repaired before it was seen: an episode that is over at once.
    pub repaired: bool,
    /// The last episode or timeout was a false alarm.
    pub undone: bool,
    /// All packets that were outstanding at the last expiry of the timer have been acknowledged, if the style tracks
    /// this.
    pub caught_up: bool,
    /// The window falls to this many packets if it is larger, after the end of the episode.
    pub moderated: Option<u64>,
    /// The retransmission timer is to be restarted even if no new data was acknowledged.
    pub restarts_timer: bool,
    /// The retransmission timer is not to be restarted although new data was acknowledged.
    pub keep_timer: bool,
}

/// Packets newly considered lost, kept only for a sender that asks for them.
#[derive(Clone, Debug, Default)]
pub struct NewlyLost(Option<Vec<u64>>);

impl NewlyLost {
    /// Keeps them from now on.
    pub fn want(&mut self) {
        self.0 = Some(Vec::new());
    }

    /// `sequence` is considered lost.
    #[inline]
    pub fn note(&mut self, sequence: u64) {
        if let Some(packets) = &mut self.0 {
            packets.push(sequence);
        }
    }

    /// Whether there are none.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(Vec::is_empty)
    }

    /// Takes them out, if there are any; their list is to be given back.
    pub fn take(&mut self) -> Option<Vec<u64>> {
        self.0.take_if(|packets| !packets.is_empty())
    }

    /// Gives back the list, which is empty now and is used again.
    pub fn give_back(&mut self, packets: Vec<u64>) {
        self.0 = Some(packets);
    }
}

/// The packet that may be sent next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextPacket {
    /// This packet, again.
    Again(u64),
    /// The next new packet.
    New,
    /// Nothing: the window is full.
    WindowFull,
    /// Nothing: there is no data.
    NoData,
}

/// A style of loss detection and recovery.
pub trait Recovery: std::fmt::Debug + Send {
    /// From this byte on it is needed for every packet.
    const NEEDED_FROM: usize = 0;

    /// Whether the window grows only on acknowledgements before which it was full.
    const GROWS_WHEN_FULL: bool = false;

    /// Whether growth of the window depends on the packets in flight in the last window of data, as in Linux.
    const GROWS_BY_FLIGHT: bool = false;

    /// Whether the acknowledgement that ends an episode, or shows a false alarm, comes after that end and grows the window, as
    /// in Linux; one that begins an episode does not.
    const ENDS_FIRST: bool = false;

    /// Whether packets carry time stamps (RFC 7323), so that a retransmission measures the round trip, too.
    const TIMESTAMPS: bool = false;

    /// SYNs after which a connection still begins with its initial window: one (RFC 5681, section 3.1).
    const MOST_SYNS: u32 = 1;

    /// The acknowledgement that comes next echoes the time stamp of a packet sent at `sent`; `smoothed_rtt` is the
    /// sender's, that acknowledgement's sample included.
    fn on_echo(&mut self, sent: Time, smoothed_rtt: Option<Span>) {
        let _ = (sent, smoothed_rtt);
    }

    /// An acknowledgement up to `cumulative` arrived at `now`, with selective blocks if it has any. `flight` is as it
    /// was before; the sender moves `oldest` afterwards.
    fn on_ack(&mut self, now: Time, cumulative: u64, blocks: Option<SackBlocks>, flight: Flight) -> Outcome;

    /// An acknowledgement up to `cumulative` that repeats earlier ones arrives while nothing is outstanding.
    fn on_duplicate(&mut self, cumulative: u64, blocks: Option<SackBlocks>) {
        let _ = (cumulative, blocks);
    }

    /// The retransmission timer expired at `now`.
    fn on_timeout(&mut self, now: Time, flight: Flight);

    /// Whether a tail loss probe goes out in place of the timeout that the retransmission timer has come to.
    fn probes_instead(&mut self, flight: Flight) -> bool {
        let _ = flight;
        false
    }

    /// The time that [`Recovery::wakeup`] named has come.
    fn on_timer(&mut self, now: Time, flight: Flight) -> Outcome {
        let _ = (now, flight);
        Outcome::default()
    }

    /// When it wants to be woken; [`Time::NEVER`] for not at all.
    fn wakeup(&self) -> Time {
        Time::NEVER
    }

    /// The sender begins to send the packets that the window allows: after an acknowledgement or a timer, or once a
    /// random delay is over (`delayed`).
    fn begin_burst(&mut self, flight: Flight, delayed: bool) {
        let _ = (flight, delayed);
    }

    /// The packet to send next under a window of `window` packets, when new data is available or not.
    fn next(&mut self, flight: Flight, window: u64, new_data: bool) -> NextPacket;

    /// Whether a packet that is lost waits for the window, to be sent again.
    fn has_lost(&mut self, flight: Flight) -> bool;

    /// Whether the next packet is sent without the sender's random delay: in ns-2's own agents, this holds for the
    /// first retransmission of an episode and the packets of limited transmit.
    fn takes_no_delay(&mut self) -> bool {
        false
    }

    /// Packet `sequence` is being sent at `now`, a new one or once more.
    fn on_sent(&mut self, now: Time, sequence: u64, flight: Flight);

    /// The list of the packets that it newly considers lost.
    fn newly_lost(&mut self) -> &mut NewlyLost;

    /// Packets in the network by this style's estimate.
    fn in_flight(&self, flight: Flight) -> u64;

    /// Whether a loss episode is in progress.
    fn recovering(&self) -> bool;

    /// Whether the window grows on the acknowledgement that ends a loss episode.
    fn grows_at_end(&self) -> bool {
        false
    }
}
