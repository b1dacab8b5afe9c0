//! Delays packets by destination port before they reach the queue of the bottleneck.

use std::collections::VecDeque;

use ackclock_units::{Span, Time};

use crate::ports::destination_port;

/// The access links of the ports that have a round-trip delay of their own.
#[derive(Debug, Default)]
pub struct Access {
    /// In order of the ports.
    ports: Vec<Port>,
    waiting: usize,
    /// The earliest time of all ports, with the index of its port.
    next: Option<(Time, usize)>,
}

/// A port. Its packets reach the queue in the order of their arrival, so they are held in a queue.
#[derive(Debug)]
struct Port {
    number: u16,
    delay: Span,
    /// When each reaches the queue, and its slot in the store.
    packets: VecDeque<(Time, usize)>,
}

impl Access {
    /// Access links for `ports`, which are in order, each with its round trip; `path` is the round trip of the path
    /// itself.
    ///
    /// # Errors
    /// One line, when a round trip is shorter than the path's.
    pub fn new(ports: &[(u16, Span)], path: Span) -> Result<Access, String> {
        let mut access = Access::default();
        for &(number, rtt) in ports {
            if rtt < path {
                return Err(format!(
                    "port {number}: must be at least the round-trip delay of the path ({path}), is {rtt}"
                ));
            }
            access.ports.push(Port { number, delay: rtt - path, packets: VecDeque::new() });
        }
        Ok(access)
    }

    /// The index of the port at which `content` has to wait before the queue.
    pub fn port_of(&self, content: &[u8]) -> Option<usize> {
        if self.ports.is_empty() {
            return None;
        }
        let number = destination_port(content)?;
        self.ports.binary_search_by_key(&number, |port| port.number).ok()
    }

    /// The packet in `slot` of the store goes to `port` at `now`.
    pub fn push(&mut self, now: Time, port: usize, slot: usize) {
        let at = now + self.ports[port].delay;
        self.ports[port].packets.push_back((at, slot));
        self.waiting += 1;
        // Among packets with the same time, the packet of the lowest port goes first, regardless of their order of
        // arrival.
        let entry = (at, port);
        self.next = Some(self.next.map_or(entry, |next| next.min(entry)));
    }

    /// When the next packet reaches the queue.
    pub fn next(&self) -> Time {
        self.next.map_or(Time::NEVER, |(at, _)| at)
    }

    /// The packet that reaches the queue next.
    pub fn pop(&mut self) -> Option<(Time, usize)> {
        let (_, port) = self.next?;
        let packet = self.ports[port].packets.pop_front();
        self.waiting -= usize::from(packet.is_some());
        let fronts = self.ports.iter().enumerate();
        self.next = fronts.filter_map(|(index, port)| Some((port.packets.front()?.0, index))).min();
        packet
    }

    /// Packets that have not reached the queue.
    pub fn waiting(&self) -> usize {
        self.waiting
    }
}
