//! A planned link that passes packets on, when they arrive, to links that only delay.

use ackclock_units::{Span, Time};

use super::line::{Line, Planned};
use super::{Link, Way};
use crate::memory::{Grow as _, or_unwind};
use crate::packet::{Heading, Packet};
use crate::ring::Ring;
use crate::wire::Wire;

/// Packets that reach the far end from this time on are not passed on, because times end soon after.
const LATEST: Time = Time(1 << 63);

/// A planned link that passes packets on. Of these it keeps only the transmissions; it delivers the other packets
/// itself.
#[derive(Debug)]
pub struct Passing {
    /// The link.
    pub line: Line,
    /// The position of the first undelivered packet, not counting packets that were passed on.
    kept: u64,
}

impl Passing {
    /// The same link, which has not had a packet yet.
    #[must_use]
    pub const fn new(line: Line) -> Self {
        Passing { line, kept: 0 }
    }

    /// A packet arrives at `now` and is passed on. Returns the time at which it reaches the far end, if it fits;
    /// [`Time::NEVER`] if that time is so late that the packet stays here.
    #[inline(always)]
    pub fn pass(&mut self, now: Time, packet: Packet) -> Option<Time> {
        let sent = self.line.plan(now, packet.bytes())?;
        let arrival = sent + self.line.delay;
        if arrival >= LATEST {
            self.keep(now, packet, sent);
            return Some(Time::NEVER);
        }
        self.kept += u64::from(self.kept == self.line.packets.end());
        self.push(Planned { packet: Packet::passed(packet.bytes()), since: now, sent });
        Some(arrival)
    }

    /// A packet arrives at `now` that goes elsewhere. Returns whether it fits.
    #[inline(always)]
    pub fn arrive(&mut self, now: Time, packet: Packet) -> bool {
        let sent = self.line.plan(now, packet.bytes());
        sent.inspect(|sent| self.keep(now, packet, *sent)).is_some()
    }

    #[inline(always)]
    fn keep(&mut self, now: Time, packet: Packet, sent: Time) {
        if self.kept == self.line.packets.end() {
            self.line.next = sent + self.line.delay;
        }
        self.push(Planned { packet, since: now, sent });
    }

    #[inline(always)]
    fn push(&mut self, planned: Planned) {
        let Line { packets, sent, level, .. } = &mut self.line;
        if packets.is_full() {
            packets.make_room(self.kept.min(*sent));
        }
        packets.push_within(planned);
        level.enter(planned.since);
    }

    /// As [`Line::deliver`].
    pub fn deliver(&mut self, now: Time, packet: &mut Packet) -> Option<Heading> {
        if self.line.sent <= self.kept {
            self.line.settle(now);
        }
        *packet = self.line.packets.get(self.kept)?.packet;
        self.kept += 1;
        while self.line.packets.get(self.kept).is_some_and(|planned| planned.packet.is_passed()) {
            self.kept += 1;
        }
        let next = self.line.packets.get(self.kept);
        self.line.next = next.map_or(Time::NEVER, |planned| planned.sent + self.line.delay);
        Some(packet.heading())
    }

    /// The packets that are delivered here.
    fn kept(&self) -> impl Iterator<Item = &Planned> {
        let positions = self.kept..self.line.packets.end();
        let all = positions.filter_map(|position| self.line.packets.get(position));
        all.filter(|planned| !planned.packet.is_passed())
    }

    /// Visits every packet that is delivered here.
    pub fn visit(&self, each: &mut dyn FnMut(&Packet)) {
        self.kept().for_each(|planned| each(&planned.packet));
    }

    /// The same link at `now`, which no longer passes packets on and has taken back `packets`. Each of them has the
    /// time at which it reaches the far end, which is after `now`.
    #[must_use]
    pub fn taking_back(mut self, now: Time, packets: Vec<(Time, Packet)>) -> Line {
        self.line.settle(now);
        let unsent = self.line.packets.end() - self.line.sent;
        let mut all = Vec::new();
        or_unwind(all.try_reserve_exact(packets.len() + (self.line.packets.end() - self.kept) as usize));
        all.extend(self.kept().copied());
        let sent = |arrival: Time| Time(arrival.0 - self.line.delay.0);
        all.extend(packets.into_iter().map(|(arrival, packet)| Planned {
            packet,
            since: Time::ZERO,
            sent: sent(arrival),
        }));
        all.sort_by_key(|planned| planned.sent);
        // The unsent packets are the last ones, in the same order as here.
        let first_unsent = all.len() - unsent as usize;
        for (position, planned) in (self.line.sent..).zip(&mut all[first_unsent..]) {
            planned.since = self.line.packets.get(position).map_or(Time::ZERO, |own| own.since);
        }
        self.line.next = all.first().map_or(Time::NEVER, |planned| planned.sent + self.line.delay);
        (self.line.packets, self.line.sent) = (Ring::default(), first_unsent as u64);
        all.into_iter().for_each(|planned| self.line.packets.push(planned));
        self.line
    }
}

/// Links that pass packets on, and links that receive them.
impl Link {
    /// As [`Link::arrive`], but also fast for a link that passes packets on. Packets that come from another link are
    /// mostly not passed on.
    #[inline(always)]
    pub fn arrive_from_link(&mut self, now: Time, packet: Packet) -> Time {
        let Way::Passing(passing) = &mut self.way else { return self.arrive(now, packet) };
        self.counters.arrived += 1;
        let lost = self.loss.loses(now, packet.flow());
        if lost || !passing.arrive(now, packet) {
            self.counters.random_losses += u64::from(lost);
            self.counters.queue_drops += u64::from(!lost);
            self.dropped.push(packet);
        }
        passing.line.next()
    }

    /// A packet arrives at the near end of a link that plans and is passed on. Returns when it reaches the far end, as
    /// [`Passing::pass`] does; `None` if it was lost.
    #[inline(always)]
    pub fn pass(&mut self, now: Time, packet: Packet) -> Option<Time> {
        let Way::Passing(passing) = &mut self.way else { unreachable!("only such links pass packets on") };
        self.counters.arrived += 1;
        let lost = self.loss.loses(now, packet.flow());
        let arrival = if lost { None } else { passing.pass(now, packet) };
        match arrival {
            Some(arrival) => self.counters.delivered += u64::from(arrival < Time::NEVER),
            None => {
                self.counters.random_losses += u64::from(lost);
                self.counters.queue_drops += u64::from(!lost);
                self.dropped.push(packet);
            }
        }
        arrival
    }

    /// A packet arrives at `time`, which may be later than now, at a link that only delays. Returns the time at which
    /// the next packet reaches the far end, if no packet was under way.
    #[inline(always)]
    pub fn arrive_delayed(&mut self, time: Time, packet: Packet) -> Option<Time> {
        let Way::Delayed(wire) = &mut self.way else {
            unreachable!("only links that delay take packets early")
        };
        self.counters.arrived += 1;
        let was_idle = wire.is_idle();
        wire.push_delayed(time, packet);
        was_idle.then(|| wire.next_in_order())
    }

    /// Passes packets on to links that only delay, if it plans. Returns whether it does; before the start.
    pub fn begin_to_pass(&mut self) -> bool {
        // Otherwise two packets could reach the far end at the same time, and their order would be lost.
        if matches!(&self.way, Way::Planned(line) if line.pace.takes_time()) {
            let way = std::mem::replace(&mut self.way, Way::Unlimited(Wire::new(Span::ZERO, None)));
            self.way = match way {
                Way::Planned(line) => Way::Passing(Passing::new(line)),
                other => other,
            };
        }
        matches!(self.way, Way::Passing(_))
    }

    /// Whether it only delays, and loses nothing.
    #[must_use]
    pub fn only_delays(&self) -> bool {
        matches!(self.way, Way::Delayed(_)) && self.loss.is_none()
    }

    /// Takes back the packets that would arrive after `now` at this link, which only delays. Adds each packet to
    /// `packets`, in its state before it was passed on, with its arrival time.
    pub fn hand_back(&mut self, now: Time, packets: &mut Vec<(Time, Packet)>) {
        let Way::Delayed(wire) = &mut self.way else { return };
        while let Some((arrival, mut packet)) = wire.take_back(now) {
            packet.hop_before();
            self.counters.arrived -= 1;
            packets.add((arrival, packet));
        }
    }

    /// Takes back packets that were passed on, each with the time at which it reaches the far end, which is after `now`.
    pub fn take_back(&mut self, now: Time, packets: Vec<(Time, Packet)>) {
        self.counters.delivered -= packets.len() as u64;
        let way = std::mem::replace(&mut self.way, Way::Unlimited(Wire::new(Span::ZERO, None)));
        self.way = match way {
            Way::Passing(passing) => Way::Planned(passing.taking_back(now, packets)),
            other => other,
        };
    }
}
