//! Sources of a TCP sender's data: bulk data at once or at a rate, a web session, requests, or membership in an
//! E-MulTCP group.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ackclock_scenario::{ApplicationChange, Shared, Web};
use ackclock_units::{Bytes, Rate, Span, Time};

use super::requests::{Client, Trickle};
use crate::pace::Serialiser;
use crate::random::Stream;
use crate::request_log::RequestLog;

/// How often an E-MulTCP group changes its number of connections.
const GROUP_CHANGES_EVERY: Span = Span::from_seconds(10);
/// Share of the smallest RTT that the mean queueing delay may be before connections close.
const GROUP_DELAY: f64 = 0.2;

/// The application of one sender.
#[derive(Debug)]
pub struct Application {
    /// Packets that it has handed over so far; `u64::MAX` for no end.
    total: u64,
    kind: ApplicationKind,
}

#[derive(Debug)]
enum ApplicationKind {
    Bulk,
    // The variants are boxed: bulk data, which most senders have, reads only one word of this enum, which shares a
    // cache line with other fields that it needs.
    Limited(Box<Trickle>),
    Web(Box<WebSession>),
    Requests(Box<Client>),
    Member(Box<Member>),
}

impl Application {
    /// `total` packets at once; `u64::MAX` for no end.
    #[must_use]
    pub const fn bulk(total: u64) -> Self {
        Application { total, kind: ApplicationKind::Bulk }
    }

    /// `total` packets of `packet_bytes` bytes, one after the other at `rate`, from `start` on.
    #[must_use]
    pub fn limited(total: u64, packet_bytes: u16, rate: Rate, start: Time) -> Self {
        let trickle = Trickle::new(Serialiser::new(rate), packet_bytes, total, start);
        Application { total: 0, kind: ApplicationKind::Limited(Box::new(trickle)) }
    }

    /// The same application before its start, with changes of the rate of its data.
    #[must_use]
    pub fn with_changes(mut self, changes: &Shared<Vec<ApplicationChange>>) -> Self {
        if let ApplicationKind::Limited(trickle) = &mut self.kind {
            trickle.set_changes(changes);
        }
        self
    }

    /// A web session in packets of `packet_bytes` bytes, from `start` on, whose pages are written into `log`.
    #[must_use]
    pub fn web(web: Web, packet_bytes: u64, stream: Stream, start: Time, log: RequestLog) -> Self {
        Application {
            total: 0,
            kind: ApplicationKind::Web(Box::new(WebSession { web, packet_bytes, stream, next: start, log })),
        }
    }

    /// The requests of `client`.
    #[must_use]
    pub fn requests(client: Client) -> Self {
        Application { total: 0, kind: ApplicationKind::Requests(Box::new(client)) }
    }

    /// Connection number `index` of `group`, from `start` on.
    #[must_use]
    pub fn member(group: Arc<Group>, index: u32, start: Time) -> Self {
        let member = Member { group, index, next: start + GROUP_CHANGES_EVERY, open: index == 0 };
        Application { total: u64::MAX, kind: ApplicationKind::Member(Box::new(member)) }
    }

    /// Packets that it has handed over so far.
    #[inline]
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// Whether it allows new data to be sent.
    #[inline]
    #[must_use]
    pub fn is_open(&self) -> bool {
        match &self.kind {
            ApplicationKind::Member(member) => member.open,
            _ => true,
        }
    }

    /// When it wants to be woken.
    #[inline]
    #[must_use]
    pub fn wakeup(&self) -> Time {
        match &self.kind {
            ApplicationKind::Bulk => Time::NEVER,
            ApplicationKind::Limited(trickle) => trickle.wakeup(),
            ApplicationKind::Requests(client) => client.wakeup(),
            ApplicationKind::Web(session) => session.next,
            ApplicationKind::Member(member) => member.next,
        }
    }

    /// Whether [`Application::on_timer`] may begin a new connection.
    #[must_use]
    pub const fn reconnects(&self) -> bool {
        matches!(self.kind, ApplicationKind::Member(_))
    }

    /// Does what is due at `now`, while the sender is `sending` or when it has stopped. Returns whether a new connection
    /// begins.
    pub fn on_timer(&mut self, now: Time, sending: bool) -> bool {
        if now < self.wakeup() {
            return false;
        }
        match &mut self.kind {
            ApplicationKind::Bulk => false,
            ApplicationKind::Limited(trickle) if !sending => {
                trickle.stop();
                false
            }
            ApplicationKind::Requests(client) if !sending => {
                client.stop();
                false
            }
            ApplicationKind::Limited(trickle) => {
                self.total = trickle.advance(now, self.total);
                false
            }
            ApplicationKind::Requests(client) => {
                self.total = client.advance(now, self.total);
                false
            }
            ApplicationKind::Web(session) => {
                let (packets, bytes) = session.page();
                self.total += packets;
                if sending {
                    session.log.begin(now, bytes, self.total);
                }
                session.next = Time::NEVER;
                false
            }
            ApplicationKind::Member(member) => member.tick(),
        }
    }

    /// Everything handed over so far has been acknowledged. Returns whether that was all there will ever be.
    pub fn on_all_acknowledged(&mut self, now: Time) -> bool {
        match &mut self.kind {
            ApplicationKind::Web(session) => {
                session.next = now + session.think();
                false
            }
            ApplicationKind::Requests(client) => client.on_all_acknowledged(now),
            ApplicationKind::Limited(trickle) => self.total == trickle.most,
            ApplicationKind::Bulk | ApplicationKind::Member(_) => true,
        }
    }

    /// A round-trip time was measured.
    #[inline]
    pub fn note_rtt(&self, rtt: Span) {
        if let ApplicationKind::Member(member) = &self.kind {
            member.group.note(rtt);
        }
    }
}

/// A web session: fetch a page, think, fetch the next. All objects of a page come over the one connection.
#[derive(Debug)]
struct WebSession {
    web: Web,
    packet_bytes: u64,
    stream: Stream,
    /// When the next page is fetched; [`Time::NEVER`] while one is being fetched.
    next: Time,
    log: RequestLog,
}

impl WebSession {
    /// Packets and bytes of the next page.
    fn page(&mut self) -> (u64, Bytes) {
        let objects = self.stream.geometric(self.web.objects);
        let (mut packets, mut total) = (0, 0);
        for _ in 0..objects {
            let bytes = self.web.object.0 as f64 * self.stream.pareto(self.web.shape);
            // At most a terabyte, so that no draw of a heavy tail overflows a sum.
            let bytes = (bytes.min(1e12) as u64).max(1);
            packets += bytes.div_ceil(self.packet_bytes);
            total += bytes;
        }
        (packets, Bytes(total))
    }

    fn think(&mut self) -> Span {
        Span::from_seconds_f64(self.web.think.as_seconds() * self.stream.exponential())
    }
}

/// The state that the connections of an E-MulTCP source share (Chen, Zakhor): their number, as a real number, and the
/// RTTs since it last changed. All of them belong to one run, which one thread runs.
#[derive(Debug)]
pub struct Group {
    connections: AtomicU64,
    most: f64,
    least_rtt: AtomicU64,
    sum: AtomicU64,
    count: AtomicU64,
}

impl Group {
    /// A group of at most `most` connections, one of which is open.
    #[must_use]
    pub fn new(most: u32) -> Self {
        Group {
            connections: AtomicU64::new(1.0_f64.to_bits()),
            most: f64::from(most),
            least_rtt: AtomicU64::new(u64::MAX),
            sum: AtomicU64::new(0),
            count: AtomicU64::new(0),
        }
    }

    fn note(&self, rtt: Span) {
        self.least_rtt.fetch_min(rtt.0, Ordering::Relaxed);
        // Nanoseconds, so that 10 s of samples fit.
        self.sum.fetch_add(rtt.0 / 1000, Ordering::Relaxed);
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    fn connections(&self) -> f64 {
        f64::from_bits(self.connections.load(Ordering::Relaxed))
    }

    /// The number of connections after ten seconds.
    fn change(&self) {
        let count = self.count.swap(0, Ordering::Relaxed);
        let sum = self.sum.swap(0, Ordering::Relaxed);
        if count == 0 {
            return;
        }
        let mean = sum as f64 * 1000.0 / count as f64;
        let least = self.least_rtt.load(Ordering::Relaxed) as f64;
        let next = next_number(self.connections(), mean - least <= GROUP_DELAY * least).min(self.most);
        self.connections.store(next.to_bits(), Ordering::Relaxed);
    }
}

/// n += 1/n without congestion, else n -= n/4, at least 1.
fn next_number(n: f64, calm: bool) -> f64 {
    if calm { n + 1.0 / n } else { (n - n / 4.0).max(1.0) }
}

/// A member's position; the first member changes the number, at the times at which the others read it.
#[derive(Debug)]
struct Member {
    group: Arc<Group>,
    index: u32,
    next: Time,
    open: bool,
}

impl Member {
    fn tick(&mut self) -> bool {
        self.next += GROUP_CHANGES_EVERY;
        if self.index == 0 {
            self.group.change();
        }
        let was_open =
            std::mem::replace(&mut self.open, f64::from(self.index) < self.group.connections().floor());
        self.open && !was_open
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Streams};

    /// 1, 2, 2.5, 2.9; with congestion 2.175.
    #[test]
    fn the_number_of_connections() {
        let mut n = 1.0;
        for expected in [2.0, 2.5, 2.9] {
            n = next_number(n, true);
            assert!((n - expected).abs() < 1e-12);
        }
        assert!((next_number(n, false) - 2.175).abs() < 1e-12);
        assert_eq!(next_number(1.2, false), 1.0);
    }

    /// RTTs of 100 and 110 ms: 5 ms of queueing on average, less than 20: from 1 to 2 connections, so that the second
    /// opens. Then 150 ms: back to 1.5, and it closes.
    #[test]
    fn a_group_opens_and_closes() {
        let group = Arc::new(Group::new(4));
        let mut members = [0, 1].map(|index| Application::member(group.clone(), index, Time::ZERO));
        assert!(members[0].is_open() && !members[1].is_open());
        let mut tick = |rtts: &[u64], second: u64| {
            rtts.iter().for_each(|rtt| members[0].note_rtt(Span::from_millis(*rtt)));
            let now = Time::ZERO + Span::from_seconds(second);
            members
                .iter_mut()
                .map(|member| (member.on_timer(now, true), member.is_open()))
                .collect::<Vec<_>>()
        };
        assert_eq!(tick(&[100, 110], 10), [(false, true), (true, true)]);
        assert_eq!(tick(&[150], 20), [(false, true), (false, false)]);
    }

    /// Pages of 4 objects of 12 kB: 48 kB on average, in packets of 1000 bytes half a packet more per object. Shape 3 has
    /// a variance of 1/3 of the squared mean, so that 10 000 pages have a standard error below 1.5 %.
    #[test]
    fn pages_have_their_mean() {
        let web = Web { think: Span::from_seconds(1), objects: 4.0, object: Bytes(12_000), shape: 3.0 };
        let stream = Streams { seed: 1, run: 0 }.of(Purpose::Application, 0, 0);
        let mut application = Application::web(web, 1000, stream, Time::ZERO, RequestLog::default());
        let mut now = Time::ZERO;
        for _ in 0..10_000 {
            application.on_timer(now, true);
            assert!(!application.on_all_acknowledged(now));
            now = application.wakeup();
        }
        let mean = application.total() as f64 / 1e4;
        assert!((mean / 50.0 - 1.0).abs() < 0.05, "{mean}");
        assert!((now.as_seconds() / 1e4 - 1.0).abs() < 0.05, "{now:?}");
    }
}
