//! Endpoints: the traits between the network and every protocol.

use ackclock_units::Time;

use crate::context::Context;
use crate::delays::Delays;
use crate::meter::Meter;
use crate::network::Occurrence;
use crate::packet::{EndId, Packet};
use crate::prefetch::prefetch_part;
use crate::request_log::Request;
use crate::stage::Stage;

/// A protocol at one end of a flow. It receives packets and wakeups, and determines the next packet to send. The
/// default methods do nothing.
pub trait Endpoint: Send + Sized {
    /// The range of its bytes that every packet needs.
    const NEEDED: (usize, usize) = (0, size_of::<Self>());

    /// Whether the packets that it sends are answers.
    const ANSWERS: bool = false;

    /// A packet arrives.
    #[inline]
    fn on_packet(&mut self, packet: &Packet, context: &mut Context<'_>) {
        let _ = (packet, context);
    }

    /// The time that [`Endpoint::wakeup`] named has come.
    #[inline]
    fn on_timer(&mut self, context: &mut Context<'_>) {
        let _ = context;
    }

    /// The next packet to send now, if there is one. It is called after every call above until there is none.
    #[inline]
    fn next_packet(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        let _ = context;
        None
    }

    /// When it wants to be woken; [`Time::NEVER`] for not at all.
    #[inline]
    fn wakeup(&self) -> Time {
        Time::NEVER
    }

    /// Prefetches its separately allocated parts that it needs when a packet arrives.
    fn expect_parts(&self) {}

    /// The bits of its window or rate for the digest; 0 if it has neither.
    fn window_bits(&self) -> u64 {
        0
    }
}

/// An end as the run loop knows it: whatever its protocol is, an event is one call.
pub trait Actor: Send {
    /// Takes in a packet or, without one, the time that it wanted to be woken at; sends all that is then to be sent; and
    /// returns when it wants to be woken next.
    fn act(&mut self, end: EndId, packet: Option<&Packet>, stage: &mut Stage) -> Time;

    /// When it wants to be woken first; [`Time::NEVER`] for not at all.
    fn first_wakeup(&self) -> Time;

    /// It will act soon: asks for its memory.
    fn expect(&self);

    /// Prefetches its separately allocated parts. It will receive a packet soon, and its own memory is in the cache.
    fn expect_parts(&self);
}

impl<E: Endpoint> Actor for E {
    fn act(&mut self, end: EndId, packet: Option<&Packet>, stage: &mut Stage) -> Time {
        let (what, sequence) = match packet {
            Some(packet) => {
                self.on_packet(packet, &mut stage.context());
                (Occurrence::Delivered, packet.sequence)
            }
            None => {
                self.on_timer(&mut stage.context());
                (Occurrence::Woken, 0)
            }
        };
        stage.note(end, what, sequence, self.window_bits());
        loop {
            // This takes two statements, because otherwise the context would live as long as the packet.
            let next = self.next_packet(&mut stage.context());
            let Some(packet) = next else { break };
            if Self::ANSWERS { stage.send::<true>(end, packet) } else { stage.send::<false>(end, packet) }
        }
        self.wakeup()
    }

    fn first_wakeup(&self) -> Time {
        self.wakeup()
    }

    fn expect(&self) {
        prefetch_part(self, Self::NEEDED);
    }

    fn expect_parts(&self) {
        Endpoint::expect_parts(self);
    }
}

/// The end that sends data.
pub trait SendingEnd: Actor {
    /// Its progress.
    fn view(&self) -> SenderView<'_>;

    /// Whether it speaks TCP, the only protocol that a packet capture can show.
    fn is_tcp(&self) -> bool {
        false
    }

    /// Whether it does nothing more of itself: all of its transfer is acknowledged, and no timer runs.
    fn is_over(&self) -> bool {
        false
    }
}

/// The end that receives data.
pub trait ReceivingEnd: Actor {
    /// Its progress.
    fn view(&self) -> ReceiverView;

    /// Whether it does nothing more of itself: it has all of the transfer and owes no acknowledgement.
    fn is_over(&self) -> bool {
        false
    }

    /// The one-way delays that it measured, and the share of late packets; `None` for flows with round trips.
    fn delays(&self) -> Option<(&Delays, Option<f64>)> {
        None
    }

    /// The requests that the flow carried, in order; none for other flows.
    fn requests(&self) -> Vec<Request> {
        Vec::new()
    }
}

/// Both ends of a flow. Aligned, so that both boxes are in one line of a cache.
#[repr(align(32))]
pub struct Ends {
    /// The sender.
    pub sender: Box<dyn SendingEnd>,
    /// The receiver.
    pub receiver: Box<dyn ReceivingEnd>,
}

impl ReceiverView {
    /// A receiver that delivers each packet when it arrives.
    #[must_use]
    pub const fn unordered(delivered: u64, completed: Option<Time>) -> Self {
        ReceiverView { delivered, arrived: delivered, duplicates: 0, completed }
    }
}

impl Ends {
    /// The ends of a flow.
    #[must_use]
    pub fn new(sender: impl SendingEnd + 'static, receiver: impl ReceivingEnd + 'static) -> Self {
        Ends { sender: Box::new(sender), receiver: Box::new(receiver) }
    }
}

/// The progress of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverView {
    /// Packets handed to the application in order.
    pub delivered: u64,
    /// Packets that arrived, in whatever order, each once.
    pub arrived: u64,
    /// Packets that arrived although they had arrived before.
    pub duplicates: u64,
    /// When the last packet of a finite transfer was.
    pub completed: Option<Time>,
}

/// Something whose internals can be read by name.
pub trait Internals {
    /// Calls `visit` with each name and value.
    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64));
}

impl Internals for Box<dyn ackclock_cc::erased::ErasedController> {
    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        (**self).internals(visit);
    }
}

impl<'a> SenderView<'a> {
    /// A sender that no control limits.
    #[must_use]
    pub const fn uncontrolled(meter: &'a Meter) -> Self {
        SenderView { meter, window: f64::NAN, ssthresh: f64::NAN, in_flight: 0, round: 0, control: None }
    }
}

/// The progress of a sender.
#[derive(Clone, Copy)]
pub struct SenderView<'a> {
    /// Its counters, round-trip times, and window over time.
    pub meter: &'a Meter,
    /// The control's window, packets; NaN where there is none.
    pub window: f64,
    /// Its slow-start threshold, packets; infinite before the first loss.
    pub ssthresh: f64,
    /// Packets in the network by the sender's estimate.
    pub in_flight: u64,
    /// Round trips completed.
    pub round: u64,
    /// Internals by name, for the trace.
    pub control: Option<&'a dyn Internals>,
}
