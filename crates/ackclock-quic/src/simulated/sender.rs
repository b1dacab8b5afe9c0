//! The end that sends.

use std::sync::Arc;

use ackclock_cc::erased::ErasedController;
use ackclock_scenario::Flow;
use ackclock_sim::Placement;
use ackclock_sim::context::Context;
use ackclock_sim::endpoint::{Endpoint, SenderView, SendingEnd};
use ackclock_sim::meter::{Holder, Meter};
use ackclock_sim::packet::{Kind, Packet};
use ackclock_units::Time;
use quinn_proto::{Dir, Event, StreamEvent, StreamId};

use super::peer::{Peer, check};
use super::watched::{OneFactory, Watched};

/// Bytes that the application writes at once.
static BLOCK: [u8; 1 << 16] = [0; 1 << 16];

/// Connects at the flow's start and writes into one stream.
pub struct QuicSender {
    peer: Peer,
    watched: Watched,
    flow: u32,
    route: u32,
    start: Time,
    stop: Time,
    stream: Option<StreamId>,
    /// Bytes to be written; none for no end.
    left: Option<u64>,
    has_started: bool,
    has_stopped: bool,
    /// All is acknowledged.
    is_complete: bool,
    meter: Meter,
    /// When quinn wants to be woken; kept, because asking it needs mutable access.
    peer_wakeup: Time,
}

impl QuicSender {
    /// The sender of `flow`, with its congestion control.
    #[must_use]
    pub fn new(
        peer: Peer,
        flow: &Flow,
        placement: &Placement,
        control: Box<dyn ErasedController>,
    ) -> QuicSender {
        QuicSender {
            peer,
            watched: Watched::new(control, placement.start),
            flow: placement.id,
            route: placement.data_route,
            start: placement.start,
            stop: placement.stop,
            stream: None,
            left: flow.bytes.map(|bytes| bytes.0),
            has_started: false,
            has_stopped: false,
            is_complete: false,
            meter: placement.meter(),
            peer_wakeup: Time::NEVER,
        }
    }

    /// The application's part: opens the stream once connected, and writes while there is room.
    fn drive(&mut self) {
        while let Some(event) = self.peer.poll() {
            check(self.flow, &event);
            self.is_complete |= matches!(event, Event::Stream(StreamEvent::Finished { .. }));
            if matches!(event, Event::Connected)
                && let Some(connection) = self.peer.connection()
            {
                self.stream = connection.streams().open(Dir::Uni);
            }
        }
        let (Some(id), false) = (self.stream, self.has_stopped) else { return };
        let Some(connection) = self.peer.connection() else { return };
        let mut stream = connection.send_stream(id);
        loop {
            let wanted = self.left.map_or(BLOCK.len(), |left| left.min(BLOCK.len() as u64) as usize);
            if wanted == 0 {
                let _ = stream.finish();
                self.has_stopped = true;
                return;
            }
            // An error is a full window, or the end.
            let Ok(written) = stream.write(&BLOCK[..wanted]) else { return };
            self.left = self.left.map(|left| left - written as u64);
        }
    }

    /// The holder that keeps quinn from sending now. It is inferred, because quinn only reports whether it had data at
    /// the last acknowledgement.
    fn holder(&self) -> Holder {
        let window = self.watched.decided().window;
        let observed = self.watched.observed();
        match () {
            () if self.is_complete => Holder::Nothing,
            () if observed.in_flight + observed.sent_since >= window.whole().0 => Holder::Window,
            () if observed.is_idle => Holder::Application,
            () => Holder::Pacing,
        }
    }

    /// Runs `act`, measures its effect, and records the changes of the window.
    fn act(&mut self, context: &mut Context<'_>, act: impl FnOnce(&mut QuicSender)) {
        let window = self.watched.decided().window.0;
        self.meter.hold_window(context.now, window);
        act(self);
        self.drive();
        let after = self.watched.decided().window.0;
        // QUIC sends lost frames again, not packets: one packet for each that was lost. This asks the control, too.
        let lost = self.peer.connection_now().map_or(0, |connection| connection.stats().path.lost_packets);
        let mut observed = self.watched.observed();
        let counters = &mut self.meter.counters;
        let losses = counters.loss_events.unwrap_or(0);
        for (count, before, kind) in
            [(observed.losses, losses, "loss"), (observed.timeouts, counters.timeouts, "timeout")]
        {
            if count > before {
                context.write(self.flow, kind, window, after);
            }
        }
        (counters.loss_events, counters.timeouts) = (Some(observed.losses), observed.timeouts);
        counters.retransmitted_packets = lost;
        if let Some(rtt) = observed.rtt.take() {
            self.meter.record_rtt(context.now, rtt);
        }
    }
}

impl Endpoint for QuicSender {
    fn on_packet(&mut self, packet: &Packet, context: &mut Context<'_>) {
        let now = context.now;
        self.act(context, |sender| sender.peer.receive(now, packet));
    }

    fn on_timer(&mut self, context: &mut Context<'_>) {
        let now = context.now;
        if !self.has_started && now >= self.start {
            self.has_started = true;
            let window = self.watched.decided().window.0;
            context.write(self.flow, "start", window, window);
            self.peer.connect(now, Arc::new(OneFactory(self.watched.clone())));
        }
        if !self.has_stopped && now >= self.stop {
            self.has_stopped = true;
            let window = self.watched.decided().window.0;
            context.write(self.flow, "stop", window, window);
            if let (Some(id), Some(connection)) = (self.stream, self.peer.connection()) {
                let _ = connection.send_stream(id).reset(0_u32.into());
            }
        }
        self.act(context, |sender| sender.peer.wake(now));
    }

    fn next_packet(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        let Some((number, bytes, ecn)) = self.peer.transmit(context.now) else {
            // Nothing more to send now, so the timers are final.
            self.peer_wakeup = self.peer.wakeup(context.now);
            if self.has_started {
                self.meter.hold(context.now, self.holder());
            }
            return None;
        };
        self.watched.observed().sent_since += 1;
        self.meter.counters.sent_packets += 1;
        let mut packet = Packet::new(Kind::Data, self.flow, self.route, number, context.now, bytes);
        packet.set_ecn(ecn);
        Some(packet)
    }

    fn wakeup(&self) -> Time {
        let start = if self.has_started { Time::NEVER } else { self.start };
        let stop = if self.has_stopped { Time::NEVER } else { self.stop };
        self.peer_wakeup.min(start).min(stop)
    }

    fn window_bits(&self) -> u64 {
        self.watched.decided().window.0.to_bits()
    }
}

impl SendingEnd for QuicSender {
    fn view(&self) -> SenderView<'_> {
        let decided = self.watched.decided();
        let observed = self.watched.observed();
        SenderView {
            meter: &self.meter,
            window: decided.window.0,
            ssthresh: decided.ssthresh.0,
            in_flight: observed.in_flight,
            round: observed.round,
            control: Some(&self.watched),
        }
    }
}
