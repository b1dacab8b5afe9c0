//! A link: random loss, a policer, then a queue, serialisation at a rate, and propagation.

use ackclock_scenario::{self as scenario, Outage};
use ackclock_trace::Histogram;
use ackclock_units::Time;

use crate::loss::LossModel;
use crate::pace::Pace;
use crate::packet::{Heading, Packet};
use crate::policer::Policer;
use crate::queue::{Discipline, Queue};
use crate::wire::Wire;

mod change;
mod counters;
mod level;
mod line;
mod passing;
mod transmitter;

pub use change::LinkChange;
pub use counters::LinkCounters;
use level::Level;
use line::Line;
use passing::Passing;
use transmitter::{Drops, Transmitter};

/// One direction of a link.
///
/// Its only events are arrivals at the far end. Dropped packets are kept until [`Link::take_dropped`].
#[derive(Debug)]
pub struct Link {
    loss: LossModel,
    /// A policer; only links without a plan have one.
    policer: Option<Box<Policer>>,
    outage: Outage,
    way: Way,
    counters: LinkCounters,
    dropped: Vec<Packet>,
    /// The number of packets at the front of `dropped` that have been counted for their flows.
    counted: usize,
}

/// How packets get to the far end. The tag is a byte of its own, because every event of a link looks at it.
#[derive(Debug)]
#[repr(u8)]
enum Way {
    /// Without a rate nothing ever waits, and with one delay for all nothing overtakes: known on arrival, too.
    Delayed(Wire),
    /// Without a rate nothing ever waits.
    Unlimited(Wire),
    /// Droptail at a fixed rate: planned on arrival.
    Planned(Line),
    /// A planned link that passes packets on to links that only delay.
    Passing(Passing),
    /// Any queue at any rate.
    Transmitted(Box<Transmitter>),
}

impl Link {
    /// A link with the given wire; `limited` is `None` for one without a rate and a queue.
    #[must_use]
    pub fn new(wire: Wire, loss: LossModel, limited: Option<(Pace, Discipline)>) -> Self {
        let way = match limited {
            None if wire.is_plain() => Way::Delayed(wire),
            None => Way::Unlimited(wire),
            Some((pace, Discipline::Droptail(queue))) if pace.is_rate() && wire.is_plain() => {
                Way::Planned(Line::new(pace, &queue, wire.delay))
            }
            Some((pace, queue)) => Way::Transmitted(Box::new(Transmitter::new(pace, queue, wire))),
        };
        Link {
            loss,
            policer: None,
            outage: Outage::Hold,
            way,
            counters: LinkCounters::default(),
            dropped: Vec::new(),
            counted: 0,
        }
    }

    /// The same link before the start, with a policer if one is given.
    #[must_use]
    pub fn with_policer(mut self, policer: Option<scenario::Policer>) -> Self {
        if let Some(policer) = policer {
            self.give_up_plan(Time::ZERO);
            self.policer = Some(Box::new(Policer::new(policer)));
        }
        self
    }

    /// The same link before the start, with the treatment of its packets during an outage; the link may start in one.
    #[must_use]
    pub fn with_outage(mut self, up: bool, outage: Outage) -> Self {
        self.outage = outage;
        if !up {
            self.change(Time::ZERO, LinkChange::Up(false));
        }
        self
    }

    /// A packet arrives at the near end. Returns when the next one reaches the far end.
    #[inline(always)]
    pub fn arrive(&mut self, now: Time, packet: Packet) -> Time {
        self.counters.arrived += 1;
        match &mut self.way {
            Way::Planned(line) => {
                let lost = self.loss.loses(now, packet.flow());
                if lost || !line.arrive(now, packet) {
                    self.counters.random_losses += u64::from(lost);
                    self.counters.queue_drops += u64::from(!lost);
                    self.dropped.push(packet);
                }
                line.next()
            }
            _ => self.arrive_unplanned(now, packet.in_memory()),
        }
    }

    #[inline(never)]
    fn arrive_unplanned(&mut self, now: Time, packet: Packet) -> Time {
        // First of all: drops until now are recorded at this event, whether or not an observer has caught up before.
        self.catch_up(now);
        if self.loss.loses(now, packet.flow()) {
            self.counters.random_losses += 1;
            self.dropped.push(packet);
        } else if self.policer.as_mut().is_some_and(|policer| !policer.passes(now, packet.bytes())) {
            self.counters.queue_drops += 1;
            self.dropped.push(packet);
        } else {
            match &mut self.way {
                Way::Passing(passing) => {
                    if !passing.arrive(now, packet) {
                        self.counters.queue_drops += 1;
                        self.dropped.push(packet);
                    }
                }
                Way::Delayed(wire) => wire.push_delayed(now, packet),
                Way::Unlimited(wire) => wire.push(now, packet),
                Way::Planned(_) => unreachable!("its packets arrive elsewhere"),
                Way::Transmitted(transmitter) => {
                    let drops = Drops { packets: &mut self.dropped, counters: &mut self.counters };
                    transmitter.arrive(now, &packet, drops);
                }
            }
        }
        self.next_event()
    }

    /// Delivers the packet that reaches the far end at the time of [`Link::next_event`]. Returns it and the time of the
    /// next delivery. There may be no packet if packets overtake each other or acknowledgements are thinned out.
    pub fn deliver(&mut self, now: Time) -> (Option<Packet>, Time) {
        let mut packet = Packet::default();
        let (delivered, next) = self.deliver_into(now, &mut packet);
        (delivered.then_some(packet), next)
    }

    /// As [`Link::deliver_into`], for a link that plans or only delays; `None` for any other.
    #[inline(always)]
    pub fn deliver_known(&mut self, now: Time, packet: &mut Packet) -> Option<(Heading, Time)> {
        let delivered = match &mut self.way {
            Way::Planned(line) => (line.deliver(now, packet)?, line.next()),
            Way::Delayed(wire) => (wire.deliver(packet)?, wire.next_in_order()),
            _ => return None,
        };
        self.counters.delivered += 1;
        Some(delivered)
    }

    /// As [`Link::deliver`], into a place that the caller has: returning a packet by value copies it several times, and
    /// each copy waits for the previous one.
    #[inline(always)]
    pub fn deliver_into(&mut self, now: Time, packet: &mut Packet) -> (bool, Time) {
        let (delivered, next) = match &mut self.way {
            Way::Planned(line) => (line.deliver(now, packet).is_some(), line.next()),
            Way::Passing(passing) => (passing.deliver(now, packet).is_some(), passing.line.next()),
            Way::Delayed(wire) => (wire.deliver(packet).is_some(), wire.next_in_order()),
            _ => self.deliver_unplanned(now, packet),
        };
        self.counters.delivered += u64::from(delivered);
        (delivered, next)
    }

    #[inline(always)]
    fn deliver_unplanned(&mut self, now: Time, packet: &mut Packet) -> (bool, Time) {
        self.catch_up(now);
        let wire = match &mut self.way {
            Way::Unlimited(wire) => wire,
            Way::Planned(_) | Way::Passing(_) | Way::Delayed(_) => {
                unreachable!("its packets are delivered elsewhere")
            }
            Way::Transmitted(transmitter) => &mut transmitter.wire,
        };
        let mut delivered = wire.next() <= now;
        if delivered {
            *packet = wire.pop();
            if wire.thins_out(now, packet) {
                self.counters.queue_drops += 1;
                self.dropped.push(*packet);
                delivered = false;
            }
        }
        (delivered, self.next_event())
    }

    /// Processes the past transmissions of a link that is not planned.
    #[inline]
    fn catch_up(&mut self, now: Time) {
        if let Way::Transmitted(transmitter) = &mut self.way {
            transmitter.catch_up(now, Drops { packets: &mut self.dropped, counters: &mut self.counters });
        }
    }

    /// Whether anything was lost at random or dropped since [`Link::take_dropped`] was last asked.
    #[inline]
    #[must_use]
    pub const fn has_dropped(&self) -> bool {
        !self.dropped.is_empty()
    }

    /// One of the packets that were lost at random or dropped since this was last asked, and whether
    /// [`Link::uncounted`] has named it.
    #[inline]
    pub fn take_dropped(&mut self) -> Option<(Packet, bool)> {
        let packet = self.dropped.pop()?;
        let is_counted = self.counted > self.dropped.len();
        self.counted -= usize::from(is_counted);
        Some((packet, is_counted))
    }

    /// The packets that were dropped before `now` and wait for [`Link::take_dropped`], each once.
    pub fn uncounted(&mut self, now: Time) -> &[Packet] {
        self.catch_up(just_before(now));
        &self.dropped[std::mem::replace(&mut self.counted, self.dropped.len())..]
    }

    /// The packets that [`Link::uncounted`] has named and that wait for [`Link::take_dropped`].
    pub fn counted(&self) -> &[Packet] {
        &self.dropped[..self.counted]
    }

    /// When the next packet reaches the far end.
    #[inline]
    #[must_use]
    pub fn next_event(&self) -> Time {
        match &self.way {
            Way::Delayed(wire) | Way::Unlimited(wire) => wire.next(),
            Way::Planned(line) | Way::Passing(Passing { line, .. }) => line.next(),
            Way::Transmitted(transmitter) => transmitter.next(),
        }
    }

    /// For each number in `others`, the packet that reaches the far end after that many other packets, if it is known.
    #[inline]
    #[must_use]
    pub fn ahead<const N: usize>(&self, others: [u64; N]) -> [Option<&Packet>; N] {
        match &self.way {
            Way::Delayed(wire) | Way::Unlimited(wire) => wire.ahead(others),
            Way::Planned(line) => line.ahead(others),
            Way::Passing(_) => [None; N],
            Way::Transmitted(transmitter) => transmitter.wire.ahead(others),
        }
    }

    /// Prefetches the packets that the link reads after `others` other packets.
    #[inline]
    pub fn expect(&self, others: u64) {
        match &self.way {
            Way::Delayed(wire) | Way::Unlimited(wire) => wire.expect(others),
            Way::Planned(line) => line.expect(others),
            Way::Passing(_) => {}
            Way::Transmitted(transmitter) => transmitter.wire.expect(others),
        }
    }

    /// Counters just before `now`, which is not before the last event. A transmission that ends at `now` counts with
    /// all its bits.
    #[must_use]
    pub fn counters(&mut self, now: Time) -> LinkCounters {
        self.catch_up(just_before(now));
        match &mut self.way {
            Way::Delayed(_) | Way::Unlimited(_) => self.counters,
            Way::Planned(line) | Way::Passing(Passing { line, .. }) => {
                line.settle(just_before(now));
                LinkCounters {
                    queue_integral: line.level.integral(now),
                    bits: line.bits(now),
                    capacity: line.pace.capacity(now),
                    ..self.counters
                }
            }
            Way::Transmitted(transmitter) => LinkCounters {
                queue_integral: transmitter.level.integral(now),
                bits: transmitter.bits(now),
                marks: self.counters.marks + transmitter.queue.marks(),
                capacity: transmitter.pace.capacity(now),
                ..self.counters
            },
        }
    }

    /// Whether it has a rate and a queue.
    #[must_use]
    pub const fn is_limited(&self) -> bool {
        !matches!(self.way, Way::Delayed(_) | Way::Unlimited(_))
    }

    /// From now on the longest queue and the queueing delays are measured; after [`Link::counters`] of the same time.
    pub fn start_measuring(&mut self) {
        if let Some((level, _, measured)) = self.measures() {
            level.start_measuring();
            *measured = true;
        }
    }

    /// From now on the queueing delays are not measured any more.
    pub fn stop_measuring(&mut self) {
        if let Some((.., measured)) = self.measures() {
            *measured = false;
        }
    }

    /// The queue over time, the queueing delays, and whether the delays are measured.
    fn measures(&mut self) -> Option<(&mut Level, &mut Histogram, &mut bool)> {
        match &mut self.way {
            Way::Delayed(_) | Way::Unlimited(_) => None,
            Way::Planned(line) | Way::Passing(Passing { line, .. }) => {
                Some((&mut line.level, &mut line.delays, &mut line.measured))
            }
            Way::Transmitted(transmitter) => {
                Some((&mut transmitter.level, &mut transmitter.delays, &mut transmitter.measured))
            }
        }
    }

    /// Longest queue since measuring began, and the queueing delays.
    #[must_use]
    pub fn measured(&mut self) -> (u64, Option<&Histogram>) {
        self.measures().map_or((0, None), |(level, delays, _)| (level.most_measured(), Some(&*delays)))
    }

    /// Queueing delays of DualPI2's queue L and of its queue C; `None` if the link never had that queue.
    #[must_use]
    pub fn measured_sides(&self) -> Option<&[Histogram; 2]> {
        match &self.way {
            Way::Transmitted(transmitter) => transmitter.sides.as_deref(),
            Way::Delayed(_) | Way::Unlimited(_) | Way::Planned(_) | Way::Passing(_) => None,
        }
    }

    /// Queue now, and its extremes since this was last asked; after [`Link::counters`] of the same time.
    pub fn take_extremes(&mut self) -> (u64, u64, u64) {
        self.measures().map_or((0, 0, 0), |(level, ..)| level.take_extremes())
    }

    /// Visits every packet in the link: waiting, in transmission, in propagation.
    pub fn visit(&self, each: &mut dyn FnMut(&Packet)) {
        match &self.way {
            Way::Delayed(wire) | Way::Unlimited(wire) => wire.visit(each),
            Way::Planned(line) => line.visit(each),
            Way::Passing(passing) => passing.visit(each),
            Way::Transmitted(transmitter) => transmitter.visit(each),
        }
    }
}

/// The last instant before `now`.
fn just_before(now: Time) -> Time {
    Time(now.0.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use ackclock_units::{Rate, Span};

    use super::*;
    use crate::packet::Kind;
    use crate::queue::Droptail;

    fn packet(sequence: u64) -> Packet {
        Packet::new(Kind::Data, 0, 0, sequence, Time::ZERO, 1000)
    }

    fn microseconds(us: u64) -> Time {
        Time(us * 1_000_000)
    }

    fn link(limit: u64) -> Link {
        let queue = Discipline::Droptail(Droptail::new(limit, u64::MAX));
        let wire = Wire::new(Span::from_millis(50), None);
        Link::new(wire, LossModel::NONE, Some((Pace::of_rate(Rate(100_000_000)), queue)))
    }

    /// 1000 bytes at 100 Mbit/s take 80 us; the delay is 50 ms. Two packets at once leave 80 us apart.
    #[test]
    fn a_packet_waits_is_sent_and_travels() {
        let mut link = link(2);
        (0..3).for_each(|sequence| _ = link.arrive(Time::ZERO, packet(sequence)));
        assert_eq!((link.take_dropped(), link.take_dropped()), (Some((packet(2), false)), None));
        assert_eq!(link.next_event(), microseconds(50_080));
        assert_eq!(link.counters(microseconds(80)).bits, 8000, "one is sent");
        // Of the second packet 79 of 80 us: 7900 bits.
        assert_eq!(link.counters(microseconds(159)).bits, 15_900);
        assert_eq!(link.deliver(microseconds(50_080)).0, Some(packet(0)));
        assert_eq!(link.next_event(), microseconds(50_160));
        assert_eq!(link.deliver(microseconds(50_160)).0, Some(packet(1)));
        // Two packets for 80 us, then one for 80 us.
        let counters = link.counters(microseconds(50_160));
        assert_eq!(counters.queue_integral, 3 * 80_000_000);
        // 100 Mbit/s for 50.16 ms.
        assert_eq!(counters.capacity, 5_016_000);
    }

    /// At 40 us the rate halves: the packet in transmission still ends at 80 us, the next takes 160 us. At 100 us the
    /// delay falls to 10 ms: the second packet, sent at 240 us, would arrive at 10.24 ms but not before the first.
    #[test]
    fn changes_apply_to_what_begins_after_them() {
        let mut link = link(10);
        link.arrive(Time::ZERO, packet(0));
        link.arrive(Time::ZERO, packet(1));
        link.arrive(Time::ZERO, packet(2));
        link.change(microseconds(40), LinkChange::Rate(Rate(50_000_000)));
        link.change(microseconds(100), LinkChange::Delay(Span::from_millis(10)));
        assert_eq!(link.next_event(), microseconds(50_080));
        assert!(link.deliver(microseconds(50_080)).0.is_some());
        // The second was under way when the delay changed.
        assert_eq!(link.next_event(), microseconds(50_240));
        assert!(link.deliver(microseconds(50_240)).0.is_some());
        assert_eq!(link.next_event(), microseconds(50_240), "the third may not overtake");
        // 4000 bit in 40 us, then 50 Mbit/s for 60 us.
        assert_eq!(link.counters(microseconds(50_240)).bits, 24_000);
    }

    /// Four packets wait, one is in transmission; the new queue holds three with it.
    #[test]
    fn a_new_queue_takes_over() {
        let mut link = link(10);
        (0..5).for_each(|sequence| _ = link.arrive(Time::ZERO, packet(sequence)));
        let small = Discipline::Droptail(Droptail::new(3, u64::MAX));
        link.change(microseconds(10), LinkChange::Queue(small));
        assert_eq!(link.counters(microseconds(10)).queue_drops, 2);
        assert_eq!(
            (link.take_dropped(), link.take_dropped()),
            (Some((packet(4), false)), Some((packet(3), false)))
        );
    }

    /// ACKs of flows 1 and 2 in turns and one packet of data, 1 ms apart, of which groups of ten arrive: the last ACK of
    /// each flow does, and the data.
    #[test]
    fn all_but_the_last_ack_of_a_flow_can_be_thinned_out() {
        let aggregation = scenario::Aggregation { every: Span::from_millis(10), thin_acks: true };
        let wire = Wire::new(Span::ZERO, None).with_aggregation(Some(aggregation));
        let mut link = Link::new(wire, LossModel::NONE, None);
        for sequence in 1..=20 {
            let kind = if sequence == 3 { Kind::Data } else { Kind::Ack };
            let flow = 1 + sequence as u32 % 2;
            let packet = Packet::new(kind, flow, 0, sequence, Time::ZERO, 40);
            link.arrive(microseconds(1000 * sequence), packet);
        }
        let mut arrived = Vec::new();
        while link.next_event() < Time::NEVER {
            let now = link.next_event();
            arrived.extend(link.deliver(now).0.map(|packet| (now, packet.sequence)));
        }
        assert_eq!(
            arrived,
            [(10, 3), (10, 9), (10, 10), (20, 19), (20, 20)].map(|(ms, n)| (microseconds(1000 * ms), n))
        );
        let counters = link.counters(microseconds(20_000));
        assert_eq!((counters.arrived, counters.delivered, counters.queue_drops), (20, 5, 15));
    }

    /// 8 Mbit/s of packets of 1000 bytes, 1 ms apart, through 4 Mbit/s and a bucket of 2000 bytes: packet n finds 2000 + 500 n
    /// bytes less the 1000 of each that passed before: 0, 1 and 2 pass, then every other one. No queue is there to wait in.
    #[test]
    fn a_policer_drops_and_delays_nothing() {
        let policer = scenario::Policer { rate: Rate(4_000_000), burst: ackclock_units::Bytes(2000) };
        let mut link = link(100).with_policer(Some(policer));
        let mut arrived = Vec::new();
        for sequence in 0..8 {
            link.arrive(microseconds(1000 * sequence), packet(sequence));
        }
        while link.next_event() < Time::NEVER {
            let now = link.next_event();
            arrived.extend(link.deliver(now).0.map(|packet| (now, packet.sequence)));
        }
        let expected = [0, 1, 2, 4, 6].map(|n| (microseconds(1000 * n + 50_080), n));
        assert_eq!(arrived, expected);
        assert_eq!(link.counters(microseconds(60_000)).queue_drops, 3);
        assert_eq!(std::iter::from_fn(|| link.take_dropped()).count(), 3);
    }
}
