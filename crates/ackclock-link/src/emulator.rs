//! Both directions of a path, with the packets on it. Uses no clock and no device: the caller passes the time.

use ackclock_scenario::{Queue, Scenario, When};
use ackclock_sim::director::Director;
use ackclock_sim::link::Link;
use ackclock_sim::make_link;
use ackclock_sim::packet::{EcnField, Kind, Packet};
use ackclock_sim::random::Streams;
use ackclock_trace::Histogram;
use ackclock_units::{Span, Time};

use crate::access::Access;
use crate::report::{Direction, Lateness};

/// Longest packet, bytes: the limit of IP.
pub const LONGEST_PACKET: usize = 65_535;
/// Most packets on the path at once; more are refused, which makes the result invalid.
const MOST_PACKETS: usize = 1 << 18;
/// Both directions, as a scenario numbers them.
const DIRECTIONS: [usize; 2] = [FORWARD, 1];
const FORWARD: usize = 0;

/// The contents of the packets on the path. Slots are used again, so that nothing is allocated per packet.
#[derive(Debug, Default)]
struct Store {
    contents: Vec<Vec<u8>>,
    free: Vec<usize>,
}

impl Store {
    fn put(&mut self, content: &[u8]) -> Option<usize> {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None if self.contents.len() < MOST_PACKETS => {
                self.contents.push(Vec::with_capacity(content.len()));
                self.contents.len() - 1
            }
            None => return None,
        };
        self.contents[slot].clear();
        self.contents[slot].extend_from_slice(content);
        Some(slot)
    }
}

/// One direction: the link and how late its packets left.
#[derive(Debug)]
struct Way {
    link: Link,
    late: Late,
    refused: u64,
}

#[derive(Debug, Default)]
struct Late {
    spans: Histogram,
    total: Span,
    most: Span,
    count: u64,
    beyond: u64,
}

/// A path and the packets on it.
#[derive(Debug)]
pub struct Emulator {
    ways: [Way; 2],
    /// Before the forward queue.
    access: Access,
    /// Delays there and back, as the path begins with them.
    round_trip: Span,
    director: Director,
    store: Store,
    tolerance: Span,
}

impl Emulator {
    /// The path of `scenario`, empty; a packet that leaves later than `tolerance` counts as late.
    ///
    /// # Errors
    /// One line, when the scenario is not a dumbbell, or uses something that has to tell flows apart.
    pub fn new(scenario: &Scenario, tolerance: Span) -> Result<Emulator, String> {
        let [forward, reverse] = scenario.links.as_slice() else {
            return Err("an emulated path must be a [dumbbell]; this scenario has another topology".into());
        };
        for link in [forward, reverse] {
            if matches!(link.queue, Queue::FqCodel { .. }) {
                return Err(format!(
                    "{}: fq_codel is not supported, because the path does not tell flows apart; use codel",
                    link.name
                ));
            }
        }
        if let Some(link) = [forward, reverse]
            .into_iter()
            .find(|link| link.aggregation.is_some_and(|aggregation| aggregation.thin_acks))
        {
            return Err(format!(
                "{}: thin_acks is not supported, because the path does not know what is an ACK; leave it out",
                link.name
            ));
        }
        if scenario.events.iter().any(|event| matches!(event.when, When::RoundTrip { .. })) {
            return Err(
                "events at a flow's round trip work only in the simulator; give the event a time".into()
            );
        }
        let streams = Streams { seed: scenario.run.seed, run: 0 };
        let way = |link, id| Way { link: make_link(link, id, 1, streams), late: Late::default(), refused: 0 };
        Ok(Emulator {
            ways: [way(forward, 0), way(reverse, 1)],
            access: Access::default(),
            round_trip: forward.delay + reverse.delay,
            director: Director::new(scenario.events.clone(), &scenario.links, 1, streams),
            store: Store::default(),
            tolerance,
        })
    }

    /// The same path with a round-trip propagation delay for each of `ports`: packets that travel forward to such a
    /// port wait before the queue, as on an access link. The ports must be sorted, as [`crate::ports::read`] returns
    /// them; a later change of the path's delay does not change that wait.
    ///
    /// # Errors
    /// One line, when a round trip is shorter than the path's own.
    pub fn with_port_rtts(mut self, ports: &[(u16, Span)]) -> Result<Emulator, String> {
        self.access = Access::new(ports, self.round_trip)?;
        Ok(self)
    }

    /// A packet enters the path in `direction` (0 forward, 1 reverse) at `now`.
    pub fn arrive(&mut self, now: Time, direction: usize, content: &[u8]) {
        self.catch_up(now);
        let Some(slot) = self.store.put(content) else {
            self.ways[direction].refused += 1;
            return;
        };
        let port = if direction == FORWARD { self.access.port_of(content) } else { None };
        match port {
            Some(port) => {
                self.access.push(now, port, slot);
                // Without any delay it is there already.
                self.catch_up(now);
            }
            None => self.enter(now, direction, slot),
        }
    }

    /// The packet in `slot` reaches the queue of `direction`.
    fn enter(&mut self, now: Time, direction: usize, slot: usize) {
        let content = &self.store.contents[slot];
        let bytes = u16::try_from(content.len()).unwrap_or(u16::MAX);
        let mut packet = Packet::new(Kind::Data, 0, 0, slot as u64, now, bytes);
        packet.set_ecn(ecn_of(content));
        self.ways[direction].link.arrive(now, packet);
        self.forget_dropped(direction);
    }

    /// Passes the packets that have reached the far end by `now` to `hand_over`, with their direction; packets of one
    /// direction are in order of time.
    pub fn deliver(&mut self, now: Time, mut hand_over: impl FnMut(usize, &[u8])) {
        self.catch_up(now);
        for direction in DIRECTIONS {
            loop {
                let way = &mut self.ways[direction];
                let event = way.link.next_event();
                if event > now {
                    break;
                }
                if let (Some(packet), _) = way.link.deliver(event) {
                    let content = &mut self.store.contents[packet.sequence as usize];
                    if packet.ecn() == EcnField::Marked {
                        mark(content);
                    }
                    hand_over(direction, content);
                    self.store.free.push(packet.sequence as usize);
                    way.late.note(now.since(event), self.tolerance);
                }
                self.forget_dropped(direction);
            }
        }
    }

    /// The time of the next event.
    #[must_use]
    pub fn next_event(&self) -> Time {
        let [forward, reverse] = &self.ways;
        let links = forward.link.next_event().min(reverse.link.next_event());
        links.min(self.director.wakeup()).min(self.access.next())
    }

    /// Packets on the path, both directions together.
    #[must_use]
    pub fn on_path(&self) -> usize {
        self.store.contents.len() - self.store.free.len()
    }

    /// The report of each direction up to `now`, which must not be before the last event: forward, then reverse.
    pub fn report(&mut self, now: Time) -> [Direction; 2] {
        let elapsed = now.since(Time::ZERO);
        self.catch_up(now);
        DIRECTIONS.map(|direction| {
            let waiting = if direction == FORWARD { self.access.waiting() } else { 0 };
            let way = &mut self.ways[direction];
            let counters = way.link.counters(now);
            let (longest_queue_packets, _) = way.link.measured();
            let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
            Direction {
                arrived_packets: counters.arrived + waiting as u64,
                delivered_packets: counters.delivered,
                random_losses: counters.random_losses,
                queue_drops: counters.queue_drops,
                marks: counters.marks,
                utilisation: share(counters.bits as f64, counters.capacity as f64),
                mean_queue_packets: share(counters.queue_integral as f64, elapsed.0 as f64),
                longest_queue_packets,
                refused_packets: way.refused,
                lateness: way.late.report(),
            }
        })
    }

    /// Starts measuring the longest queues anew.
    pub fn start_measuring(&mut self) {
        self.ways.iter_mut().for_each(|way| way.link.start_measuring());
    }

    /// Processes the events at the near end up to `now`: changes, and packets that reach the queue. Each is processed
    /// at its own time, however late this is called.
    fn catch_up(&mut self, now: Time) {
        loop {
            let next = self.access.next();
            if next > now {
                break;
            }
            self.change_links(next);
            if let Some((at, slot)) = self.access.pop() {
                self.enter(at, FORWARD, slot);
            }
        }
        self.change_links(now);
    }

    fn change_links(&mut self, now: Time) {
        while let Some((link, change)) = self.director.next_change(now) {
            self.ways[link as usize].link.change(now, change);
            self.forget_dropped(link as usize);
        }
    }

    fn forget_dropped(&mut self, direction: usize) {
        while let Some((packet, _)) = self.ways[direction].link.take_dropped() {
            self.store.free.push(packet.sequence as usize);
        }
    }
}

impl Late {
    fn note(&mut self, span: Span, tolerance: Span) {
        self.spans.record(span);
        self.total = self.total + span;
        self.most = self.most.max(span);
        self.count += 1;
        self.beyond += u64::from(span > tolerance);
    }

    fn report(&self) -> Lateness {
        let count = self.count.max(1) as f64;
        let us = |span: Span| span.as_seconds() * 1e6;
        Lateness {
            mean_us: us(self.total) / count,
            p99_us: self.spans.percentile(0.99).map_or(0.0, us),
            most_us: us(self.most),
            late_share: self.beyond as f64 / count,
        }
    }
}

/// Bytes of the IP header: version, and the two low bits of the traffic class (RFC 3168, section 5).
const VERSION_4: u8 = 4;
const VERSION_6: u8 = 6;

fn version(content: &[u8]) -> u8 {
    if content.len() < 20 { 0 } else { content[0] >> 4 }
}

fn ecn_of(content: &[u8]) -> EcnField {
    let bits = match version(content) {
        VERSION_4 => content[1] & 3,
        VERSION_6 => content[1] >> 4 & 3,
        _ => 0,
    };
    match bits {
        0 => EcnField::NotCapable,
        1 => EcnField::Ect1,
        3 => EcnField::Marked,
        _ => EcnField::Capable,
    }
}

/// Sets "congestion experienced"; the checksum of IPv4 follows (RFC 1624, equation 3).
fn mark(content: &mut [u8]) {
    match version(content) {
        VERSION_4 => {
            let old = u16::from_be_bytes([content[0], content[1]]);
            content[1] |= 3;
            let new = u16::from_be_bytes([content[0], content[1]]);
            let checksum = u16::from_be_bytes([content[10], content[11]]);
            let sum = u32::from(!checksum) + u32::from(!old) + u32::from(new);
            let folded = (sum & 0xffff) + (sum >> 16);
            let folded = ((folded & 0xffff) + (folded >> 16)) as u16;
            content[10..12].copy_from_slice(&(!folded).to_be_bytes());
        }
        VERSION_6 => content[1] |= 3 << 4,
        _ => {}
    }
}
