//! The sending side of TCP: turns acknowledgements into signals for the congestion control, and its window
//! into packets.

use std::mem::offset_of;

use ackclock_cc::erased::ErasedController;
use ackclock_cc::{Ack, Decision, Signal};
use ackclock_units::{Bytes, PICOSECONDS_PER_SECOND, PacketRate, Packets, Rate, Span, Time};

use super::control::Control;
use super::handshake::{Handshake, TIMEOUT_AFTER_LOSS};
use super::measuring::Measuring;
use super::pacing::Pacer;
use super::recovery::{Flight, NextPacket, Outcome, Recovery};
use super::send_delay::SendDelay;
use super::settings::{PacketSettings, Settings};
use super::usage::Usage;
use super::{Application, Timer};
use crate::context::Context;
use crate::endpoint::{Endpoint, SenderView, SendingEnd};
use crate::meter::{Holder, Meter};
use crate::packet::{EcnField, Kind, Packet};
use crate::payload::Payload;
use crate::random::Stream;

/// No sender has more packets than this in flight, whatever its window: 16 GB of 1000-byte packets. Without it the
/// slow start of a control like Hybla, which multiplies its window by 2^rho per round trip, would fill the memory.
const MOST_IN_FLIGHT: u32 = 1 << 24;

/// Sends one flow, with recovery `R`.
///
/// If a thousand flows pace, each event loads its sender from a more distant cache, line by line. So the order of the
/// fields is that of memory: the fields that every packet needs are together, and the others are before and behind
/// them.
#[repr(C, align(64))]
pub struct TcpSender<R> {
    recovery: R,
    flight: Flight,
    control: Control,
    phase: Phase,
    /// The window, not the application or the receiver, ended the last sending.
    window_limited: bool,
    /// If the window did not: the application had nothing to send, and the receiver was not the limit.
    out_of_data: bool,
    /// Packets sent since the last event.
    burst: u32,
    /// The use of the window, for recoveries that allow growth by the packets in flight.
    usage: Usage,
    settings: PacketSettings,
    application: Application,
    measuring: Measuring,
    timer: Timer,
    send_delay: SendDelay,
    pacer: Pacer,
    /// The packet that timed out last, as long as it is the oldest; [`NO_PACKET`] for none.
    timed_out: u64,
    /// No mark counts before this packet is acknowledged: one reaction per window.
    marked_until: u64,
    last_sent: Time,
    /// When the flow starts or stops next, or the application wants to be woken, whichever comes first.
    plans: Time,
    meter: Meter,
    cold: ColdState,
}

/// No packet has this number.
const NO_PACKET: u64 = u64::MAX;

/// State of a sender that few packets need.
struct ColdState {
    /// When the flow starts, and when it stops sending.
    start: Time,
    stop: Time,
    /// The next of the two; [`Time::NEVER`] after the last.
    phase_ends: Time,
    handshake: Option<Handshake>,
    /// The control paces by a model of the path, which the RTT of the handshake begins.
    models: bool,
    noise: Stream,
    /// A copy of the control from the start, if the application opens new connections.
    fresh: Option<Box<dyn ErasedController>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
enum Phase {
    NotStarted,
    /// The handshake is not over.
    Connecting,
    Sending,
    Stopped,
}

impl<R: Recovery> TcpSender<R> {
    /// A sender at the start of the run.
    #[must_use]
    pub fn new(
        settings: Settings,
        control: Box<dyn ErasedController>,
        application: Application,
        mut recovery: R,
        timer: Timer,
        (overhead, noise): (Stream, Stream),
        meter: Meter,
    ) -> Self {
        if control.wants().losses {
            recovery.newly_lost().want();
        }
        let Settings { packets, overhead: longest_delay, ace_bits, min_window, handshake, start, stop } =
            settings;
        TcpSender {
            recovery,
            flight: Flight::default(),
            phase: Phase::NotStarted,
            window_limited: true,
            out_of_data: false,
            burst: 0,
            usage: Usage::default(),
            settings: PacketSettings {
                receive_window: packets.receive_window.min(MOST_IN_FLIGHT),
                ..packets
            },
            measuring: Measuring::new(&*control, ace_bits),
            timer,
            send_delay: SendDelay::new(longest_delay, overhead),
            pacer: Pacer::default(),
            timed_out: NO_PACKET,
            marked_until: 0,
            last_sent: start,
            plans: start,
            meter,
            cold: ColdState {
                start,
                stop,
                phase_ends: start,
                handshake,
                models: control.wants().window_is_a_cap,
                noise,
                fresh: application.reconnects().then(|| control.duplicate()),
            },
            control: Control::new(control, min_window),
            application,
        }
    }

    /// Signals an event to the control and adopts its decision.
    fn tell(&mut self, now: Time, signal: Signal) {
        self.control.tell(now, signal, &mut self.meter);
    }

    /// Signals to the control an event that the journal records.
    fn signal(&mut self, context: &mut Context<'_>, signal: Signal) {
        let before = self.control.window();
        self.tell(context.now, signal);
        let kind = match signal {
            Signal::Ack(_) | Signal::Idle { .. } | Signal::CaughtUp | Signal::Lost(_) | Signal::Restart => {
                return;
            }
            Signal::Loss { .. } => "loss",
            Signal::Recovered => "recovered",
            Signal::Timeout { .. } => "timeout",
            Signal::Undo => "undo",
            Signal::Moderated { .. } => "moderated",
        };
        self.write(context, kind, before);
    }

    fn write(&self, context: &mut Context<'_>, kind: &'static str, window_before: f64) {
        context.write(self.settings.flow, kind, window_before, self.control.window());
    }

    /// The RTT that an acknowledgement measures; none for a retransmission (Karn). With time stamps the timer uses those,
    /// too, when new data is acknowledged (RFC 7323, section 4.1).
    fn sample_rtt(&mut self, now: Time, ack: &Packet, advances: bool) -> Option<Span> {
        let rtt = now.since(ack.sent);
        if ack.is_retransmission() {
            self.timer.on_ack(now, ack.sequence, (R::TIMESTAMPS && advances).then_some(rtt));
            return None;
        }
        self.meter.record_rtt(now, rtt);
        let measured = if self.settings.rtt_noise == Span::ZERO { rtt } else { self.noisy(rtt) };
        // Noise makes the acknowledgement appear to arrive later by the same amount.
        self.timer.on_ack(ack.sent + measured, ack.sequence, Some(measured));
        self.application.note_rtt(rtt);
        Some(measured)
    }

    #[inline(never)]
    fn noisy(&mut self, rtt: Span) -> Span {
        rtt + self.cold.noise.span(self.settings.rtt_noise.saturating_mul(2))
    }

    fn on_ack(&mut self, ack: &Packet, context: &mut Context<'_>) {
        let blocks = match context.payloads.remove(ack.handle()) {
            Some(&Payload::Sack(blocks)) => Some(blocks),
            Some(Payload::Part) => return self.on_part(context.now),
            Some(Payload::Syn) => return self.on_connected(ack, context),
            _ => None,
        };
        let advances = ack.sequence > self.flight.oldest;
        if ack.sequence < self.flight.oldest || self.flight.outstanding() == 0 {
            if ack.sequence == self.flight.oldest {
                self.recovery.on_duplicate(ack.sequence, blocks);
            }
            return;
        }
        let was_recovering = self.recovery.recovering();
        let grows = self.grows();
        // Recovery by time needs the RTT here; for other recoveries it is measured below, at a lower cost.
        let mut rtt = None;
        if R::TIMESTAMPS {
            rtt = self.sample_rtt(context.now, ack, advances);
            self.recovery.on_echo(ack.sent, self.timer.smoothed());
        }
        let mut outcome = self.recovery.on_ack(context.now, ack.sequence, blocks, self.flight);
        self.flight.oldest = ack.sequence;
        if advances {
            self.timed_out = NO_PACKET;
            self.measuring.on_advance(ack.sequence, self.flight.next);
        }
        if self.measuring.follows_losses() && !self.recovery.newly_lost().is_empty() {
            self.tell_losses(context.now);
        }
        if !R::TIMESTAMPS {
            rtt = self.sample_rtt(context.now, ack, advances);
        }
        let (mut grows, mut recovering) =
            (grows, was_recovering && !(outcome.recovered && self.recovery.grows_at_end()));
        if R::ENDS_FIRST {
            if outcome.undone || outcome.recovered || outcome.caught_up {
                self.end_trouble(context, &mut outcome);
                (grows, recovering) = (self.grows(), false);
            }
            recovering |= outcome.lost;
        }
        // After a mark the window does not grow until the first packet that was sent since is acknowledged: until then the
        // receiver echoes the mark (RFC 3168, sections 6.1.2 and 6.1.3).
        let credit = match (advances && ack.sequence > self.marked_until, self.settings.growth_per_packet) {
            (false, _) => 0.0,
            (true, false) => 1.0,
            // Duplicates may have counted all of it: without SACK, after a timeout, that can be hundreds of packets.
            (true, true) => outcome.delivered.max(1) as f64,
        };
        let bare = self.bare_ack(grows, recovering);
        let mut report = Ack { credit, delivered: Packets(outcome.delivered), rtt, ..bare };
        if self.measuring.has_optional() {
            report.lost = Packets(self.measuring.take_uncounted());
            report.rate = self.measuring.rate(context.now, ack, outcome.delivered);
            report.marked = Packets(self.measuring.marked(ack, outcome.delivered));
        }
        self.tell(context.now, Signal::Ack(report));
        if outcome.undone
            || outcome.recovered
            || outcome.moderated.is_some()
            || outcome.lost
            || outcome.repaired
        {
            self.follow(context, outcome);
        }
        if ack.is_echo() && !self.measuring.counts_marks() {
            self.on_echo(context);
        }
        if self.flight.outstanding() == 0 {
            self.timer.stop();
        } else if advances && !outcome.keep_timer || outcome.lost || outcome.restarts_timer {
            self.timer.restart(context.now);
        }
        if advances && self.flight.oldest >= self.application.total() {
            self.on_all_acknowledged(context);
        }
    }

    /// A SYN is answered: data may go.
    #[cold]
    fn on_connected(&mut self, ack: &Packet, context: &mut Context<'_>) {
        let now = context.now;
        let Some(handshake) = self.cold.handshake.take_if(|_| self.phase == Phase::Connecting) else {
            return;
        };
        self.phase = Phase::Sending;
        self.last_sent = now;
        // Without time stamps an answer does not tell which SYN it is for (Karn).
        let rtt = now.since(ack.sent);
        if handshake.sent() == 1 || R::TIMESTAMPS {
            self.timer.on_sent(ack.sent, 0, false);
            self.timer.on_ack(now, 1, Some(rtt));
            self.recovery.on_echo(ack.sent, self.timer.smoothed());
            if self.cold.models {
                let bare = self.bare_ack(false, false);
                self.tell(now, Signal::Ack(Ack { rtt: Some(rtt), ..bare }));
            }
        } else {
            self.timer.fall_back(TIMEOUT_AFTER_LOSS);
        }
        if handshake.sent() > R::MOST_SYNS {
            self.signal(context, Signal::Moderated { window: Packets(1) });
        }
        self.plan();
    }

    /// Part of a packet was acknowledged. A sender that counts acknowledgements only sees another acknowledgement.
    #[cold]
    fn on_part(&mut self, now: Time) {
        if self.flight.outstanding() == 0 {
            return;
        }
        let grows = self.grows();
        let counts = !self.settings.growth_per_packet && self.flight.oldest >= self.marked_until;
        let bare = self.bare_ack(grows, self.recovery.recovering());
        self.tell(now, Signal::Ack(Ack { credit: if counts { 1.0 } else { 0.0 }, ..bare }));
    }

    /// An acknowledgement that reports no packets, with the current state of the connection.
    #[inline]
    fn bare_ack(&self, grows: bool, recovering: bool) -> Ack {
        Ack {
            credit: 0.0,
            delivered: Packets(0),
            rtt: None,
            in_flight: Packets(self.recovery.in_flight(self.flight)),
            window_limited: grows,
            round: self.measuring.round(),
            recovering,
            rate: None,
            lost: Packets(0),
            marked: Packets(0),
            round_limited: self.measuring.was_full(),
        }
    }

    fn on_all_acknowledged(&mut self, context: &mut Context<'_>) {
        if self.application.on_all_acknowledged(context.now) {
            self.phase = Phase::Stopped;
            self.write(context, "complete", self.control.window());
        }
        self.plan();
    }

    /// The flow may start or stop, or its application do something.
    #[inline(never)]
    fn follow_plans(&mut self, context: &mut Context<'_>) {
        let now = context.now;
        if self.phase == Phase::NotStarted && now >= self.cold.start {
            self.phase = Phase::Sending;
            if let Some(handshake) = &mut self.cold.handshake {
                self.phase = Phase::Connecting;
                handshake.begin(now);
                // No window is open yet.
                self.meter.hold(now, Holder::Window);
            }
            self.cold.phase_ends = self.cold.stop;
            self.write(context, "start", self.control.window());
        } else if matches!(self.phase, Phase::Connecting | Phase::Sending) && now >= self.cold.stop {
            self.phase = Phase::Stopped;
            self.write(context, "stop", self.control.window());
        }
        if self.phase == Phase::Stopped {
            self.cold.phase_ends = Time::NEVER;
        }
        if self.application.on_timer(now, matches!(self.phase, Phase::Connecting | Phase::Sending))
            && let Some(fresh) = &self.cold.fresh
        {
            self.control.begin_again(now, &**fresh, &mut self.meter);
        }
        self.plan();
    }

    /// Finds out when the flow or its application does something next.
    fn plan(&mut self) {
        self.plans = self.cold.phase_ends.min(self.application.wakeup());
        if self.phase == Phase::Connecting
            && let Some(handshake) = &self.cold.handshake
        {
            self.plans = self.plans.min(handshake.wakeup());
        }
    }

    /// The SYN that goes out now, if one does.
    #[cold]
    fn connect(&mut self, now: Time) -> Option<Packet> {
        let PacketSettings { flow, route, .. } = self.settings;
        let handshake = self.cold.handshake.as_mut().filter(|_| self.phase == Phase::Connecting)?;
        let syn = handshake.next_packet(now, flow, route);
        self.plan();
        syn
    }

    /// Signals newly lost packets to the control.
    #[inline(never)]
    fn tell_losses(&mut self, now: Time) {
        let Some(mut packets) = self.recovery.newly_lost().take() else { return };
        for sequence in packets.drain(..) {
            if let Some(lost) = self.measuring.lose(sequence) {
                self.tell(now, Signal::Lost(lost));
            }
        }
        self.recovery.newly_lost().give_back(packets);
    }

    /// Whether the window may grow on an acknowledgement that arrives now.
    #[inline]
    fn grows(&self) -> bool {
        if R::GROWS_BY_FLIGHT {
            let Decision { window, ssthresh, .. } = *self.control.decision();
            return self.usage.allows_growth(window, window < ssthresh);
        }
        self.window_limited && (!R::GROWS_WHEN_FULL || self.fills_window())
    }

    /// Whether the packets in flight fill the window; with byte counting, congestion avoidance does not require it.
    fn fills_window(&self) -> bool {
        let Decision { window, ssthresh, .. } = *self.control.decision();
        self.settings.counts_bytes && window >= ssthresh
            || self.recovery.in_flight(self.flight) >= window.whole().0
    }

    /// A burst begins, unless a random delay is still running.
    fn begin_burst(&mut self) {
        self.burst = 0;
        if !self.send_delay.is_waiting() {
            self.recovery.begin_burst(self.flight, self.send_delay.has_delayed());
        }
    }

    /// Nothing more goes now, because the window `is_full` or for another reason.
    #[inline]
    fn end_burst(&mut self, is_full: bool) {
        if R::GROWS_BY_FLIGHT && (is_full || self.burst > 0) {
            self.usage.note(is_full, self.flight);
        }
    }

    /// Signals a false alarm, the end of an episode or the catching up after a timeout before the acknowledgement that
    /// causes it.
    #[cold]
    fn end_trouble(&mut self, context: &mut Context<'_>, outcome: &mut Outcome) {
        if std::mem::take(&mut outcome.undone) {
            self.signal(context, Signal::Undo);
        }
        if std::mem::take(&mut outcome.recovered) {
            self.signal(context, Signal::Recovered);
        }
        if outcome.caught_up {
            self.tell(context.now, Signal::CaughtUp);
        }
    }

    fn follow(&mut self, context: &mut Context<'_>, outcome: Outcome) {
        if outcome.undone {
            self.signal(context, Signal::Undo);
        }
        if outcome.recovered {
            self.signal(context, Signal::Recovered);
        }
        if let Some(window) = outcome.moderated {
            self.signal(context, Signal::Moderated { window: Packets(window) });
        }
        if outcome.lost || outcome.repaired {
            self.meter.note_loss_event();
            // A mark in the same window has cut it already (RFC 3168, section 6.1.2).
            if self.flight.oldest >= self.marked_until {
                self.signal(context, Signal::Loss { ecn: false });
                if outcome.repaired {
                    self.signal(context, Signal::Recovered);
                }
            }
        }
    }

    /// A mark came back: a loss event without a loss, once per window (RFC 3168, section 6.1.2).
    fn on_echo(&mut self, context: &mut Context<'_>) {
        if self.recovery.recovering() || self.flight.oldest < self.marked_until {
            return;
        }
        self.marked_until = self.flight.next;
        self.meter.note_loss_event();
        self.signal(context, Signal::Loss { ecn: true });
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        if self.flight.outstanding() == 0 {
            return;
        }
        let first = self.timed_out != self.flight.oldest;
        self.timed_out = self.flight.oldest;
        self.meter.counters.timeouts += 1;
        self.recovery.on_timeout(context.now, self.flight);
        self.tell_losses(context.now);
        self.timer.back_off();
        self.timer.restart(context.now);
        self.measuring.on_timeout(self.flight.next);
        // Earlier marks are forgotten: slow start begins at once.
        self.marked_until = self.marked_until.min(self.flight.oldest);
        self.signal(context, Signal::Timeout { first });
    }

    /// Whether the application has a packet that was never sent and may go now.
    fn has_new_data(&self) -> bool {
        self.phase == Phase::Sending
            && self.flight.next < self.application.total()
            && self.application.is_open()
    }

    /// Whether there is a rate to pace at.
    #[inline]
    fn is_paced(&self) -> bool {
        self.control.decision().pacing_rate.is_some()
            || self.settings.pacing_gains.is_some() && self.timer.smoothed().is_some()
    }

    /// A packet goes at `now`, and the next one waits for as long as it takes at the rate.
    ///
    /// Never inlined: most flows are not paced, and it would take registers from those.
    #[inline(never)]
    fn pace(&mut self, now: Time) {
        if let Some(rate) = self.pacing_rate() {
            self.pacer.pass(now, Bytes(u64::from(self.settings.packet_bytes)), rate, self.quantum());
        }
    }

    /// The rate to pace at, if any.
    fn pacing_rate(&self) -> Option<Rate> {
        let packet = Bytes(u64::from(self.settings.packet_bytes));
        let decision = self.control.decision();
        if let Some(rate) = decision.pacing_rate {
            return Some(rate.on_wire(packet));
        }
        let (slow_start_gain, gain) = self.settings.pacing_gains?;
        // Signed, because that conversion takes one instruction instead of seven. No round trip lasts 2^63 ps, 106 days.
        let smoothed = self.timer.smoothed()?.0 as i64 as f64 / PICOSECONDS_PER_SECOND as f64;
        let slow_start = decision.window < decision.ssthresh;
        let gain = if slow_start { slow_start_gain } else { gain };
        Some(PacketRate(gain * decision.window.0 / smoothed).on_wire(packet))
    }

    /// Packets that may go at once when pacing.
    fn quantum(&self) -> u32 {
        // No burst has 2^32 packets: fewer are ever in flight.
        self.control.decision().quantum.map_or(1, |quantum| quantum.0.min(u64::from(u32::MAX)) as u32)
    }

    /// The packet that the window allows now, before pacing and the random delay.
    fn candidate(&mut self, now: Time) -> Option<(u64, bool)> {
        let has_data = self.has_new_data();
        let admitted = self.flight.outstanding() < u64::from(self.settings.receive_window);
        match self.recovery.next(self.flight, self.control.whole_window(), has_data && admitted) {
            NextPacket::Again(sequence) => Some((sequence, true)),
            NextPacket::New => Some((self.flight.next, false)),
            NextPacket::WindowFull => {
                self.window_limited = true;
                self.end_burst(true);
                self.measuring.on_full_window();
                // Nothing that the window holds back, if all has been sent and nothing is to be sent again. Whether more may go
                // costs more to find out.
                let all_sent =
                    self.flight.next >= self.application.total() && !self.recovery.has_lost(self.flight);
                self.meter.hold(now, if all_sent { Holder::Application } else { Holder::Window });
                None
            }
            NextPacket::NoData => {
                self.end_burst(false);
                // Only an empty send queue is a limit of the application (draft-ietf-ccwg-bbr, and tcp_rate_check_app_limited of
                // Linux).
                (self.window_limited, self.out_of_data) = (false, !has_data);
                let is_complete = self.phase == Phase::Stopped && self.flight.outstanding() == 0;
                self.meter.hold(
                    now,
                    match (has_data, is_complete) {
                        (true, _) => Holder::Receiver,
                        (false, false) => Holder::Application,
                        (false, true) => Holder::Nothing,
                    },
                );
                if !has_data && self.measuring.follows_packets() {
                    self.measuring.on_no_data(self.recovery.in_flight(self.flight));
                }
                None
            }
        }
    }

    /// Records the state of the connection for a packet that is about to be sent.
    fn stamp(&mut self, now: Time, sequence: u64, again: bool) {
        let idle = self.flight.outstanding() == 0;
        let tx_in_flight = self.recovery.in_flight(self.flight) + 1;
        let limited = self.measuring.is_limited(!self.window_limited && self.out_of_data);
        if self.measuring.follows_losses() && idle && !again && limited {
            self.tell(now, Signal::Restart);
        }
        self.measuring.on_sent(now, sequence, self.flight, tx_in_flight, limited);
    }

    /// A packet goes out while nothing is outstanding.
    #[inline]
    fn end_idle_time(&mut self, now: Time) {
        let (idle, timeout) = (now.since(self.last_sent), self.timer.timeout());
        if idle > timeout {
            // A timeout that has passed at this instant has not passed yet.
            let timeouts = (idle.0 - 1) / timeout.0.max(1);
            self.tell(now, Signal::Idle { timeouts: u32::try_from(timeouts).unwrap_or(u32::MAX) });
        }
    }

    fn send(&mut self, context: &mut Context<'_>, sequence: u64, again: bool) -> Packet {
        let now = context.now;
        if !again && self.flight.outstanding() == 0 && self.settings.restarts {
            self.end_idle_time(now);
        }
        if self.measuring.has_optional() && self.measuring.follows_packets() {
            self.stamp(now, sequence, again);
        }
        self.recovery.on_sent(now, sequence, self.flight);
        if again {
            self.meter.counters.retransmitted_packets += 1;
        } else {
            self.flight.next += 1;
        }
        self.meter.counters.sent_packets += 1;
        self.last_sent = now;
        self.burst += 1;
        self.timer.on_sent(now, sequence, again);
        self.timer.ensure_running(now);
        let PacketSettings { flow, route, packet_bytes, .. } = self.settings;
        let mut packet =
            Packet::new(Kind::Data, flow, route, sequence, now, packet_bytes).with_retransmission(again);
        // A retransmission cannot be marked (RFC 3168, section 6.1.5).
        if self.settings.ecn != EcnField::NotCapable && !again {
            packet.set_ecn(self.settings.ecn);
        }
        packet
    }
}

impl<R: Recovery> Endpoint for TcpSender<R> {
    const NEEDED: (usize, usize) = (R::NEEDED_FROM, offset_of!(Self, meter) + Meter::NEEDED_UNTIL);

    fn on_packet(&mut self, packet: &Packet, context: &mut Context<'_>) {
        self.on_ack(packet, context);
        self.begin_burst();
    }

    fn expect_parts(&self) {
        self.control.expect();
        self.meter.expect();
    }

    fn on_timer(&mut self, context: &mut Context<'_>) {
        let now = context.now;
        if self.phase != Phase::Sending || now >= self.plans {
            self.follow_plans(context);
        }
        self.send_delay.on_timer(now);
        if self.timer.expires(now) {
            if self.recovery.probes_instead(self.flight) {
                self.timer.restart(now);
            } else {
                self.on_timeout(context);
            }
        } else if now >= self.recovery.wakeup() {
            let outcome = self.recovery.on_timer(now, self.flight);
            self.tell_losses(now);
            self.follow(context, outcome);
            if outcome.restarts_timer {
                self.timer.restart(now);
            }
        }
        self.begin_burst();
    }

    fn next_packet(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        let now = context.now;
        if self.phase < Phase::Sending {
            return self.connect(now);
        }
        if self.burst >= self.settings.max_burst {
            return None;
        }
        let Some((sequence, again)) = self.candidate(now) else {
            self.send_delay.shut();
            self.pacer.release();
            return None;
        };
        if self.send_delay.delays() && !self.recovery.takes_no_delay() && !self.send_delay.passes(now) {
            self.end_burst(false);
            // The pacer may hold a packet that was not to wait here; its time must not come again and again.
            self.pacer.release();
            return None;
        }
        if self.is_paced() {
            if !self.pacer.admits(now) {
                self.end_burst(false);
                self.meter.hold(now, Holder::Pacing);
                return None;
            }
            self.pace(now);
        }
        Some(self.send(context, sequence, again))
    }

    fn wakeup(&self) -> Time {
        let own = self.timer.alarm().min(self.plans).min(self.send_delay.wakeup());
        own.min(self.pacer.wakeup()).min(self.recovery.wakeup())
    }

    fn window_bits(&self) -> u64 {
        self.control.window().to_bits()
    }
}

impl<R: Recovery> SendingEnd for TcpSender<R> {
    fn view(&self) -> SenderView<'_> {
        SenderView {
            meter: &self.meter,
            window: self.control.window(),
            ssthresh: self.control.decision().ssthresh.0,
            in_flight: self.recovery.in_flight(self.flight),
            round: self.measuring.round(),
            control: Some(self.control.internals()),
        }
    }

    fn is_tcp(&self) -> bool {
        true
    }

    fn is_over(&self) -> bool {
        self.phase == Phase::Stopped && self.flight.outstanding() == 0 && self.wakeup() == Time::NEVER
    }
}
