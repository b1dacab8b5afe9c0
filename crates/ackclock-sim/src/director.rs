//! Changes during a run: their times, and their effects on links.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ackclock_scenario::{Change, Event, Link, Queue, When};
use ackclock_units::{Rate, Time};

use crate::link::LinkChange;
use crate::queue::Discipline;
use crate::random::{Purpose, Streams};
use crate::wire::NoiseModel;

/// Holds the events of a scenario and says when they are due.
#[derive(Debug)]
pub struct Director {
    /// When events at times happen next, by time and then in the order of the file, and how often they have happened.
    timed: BinaryHeap<Reverse<(Time, usize, u64)>>,
    /// Events at round trips of flows.
    at_rounds: Vec<(usize, u64, usize)>,
    events: Vec<Event>,
    /// The current rates of the links, for queues that depend on them.
    rates: Vec<Rate>,
    flows: u32,
    streams: Streams,
}

impl Director {
    /// A director of `events` over `links`, for `flows` flows in run `run` of `seed`.
    #[must_use]
    pub fn new(events: Vec<Event>, links: &[Link], flows: u32, streams: Streams) -> Self {
        let mut timed = BinaryHeap::new();
        let mut at_rounds = Vec::new();
        for (index, event) in events.iter().enumerate() {
            match event.when {
                When::Every { first, until, .. } if first >= until => {}
                When::At(at) | When::Every { first: at, .. } => {
                    timed.push(Reverse((Time::ZERO + at, index, 0)));
                }
                When::RoundTrip { flow, count } => at_rounds.push((flow, count, index)),
            }
        }
        let rates = links.iter().map(|link| link.rate).collect();
        Director { timed, at_rounds, events, rates, flows, streams }
    }

    /// When the next event at a time is due.
    #[must_use]
    pub fn wakeup(&self) -> Time {
        self.timed.peek().map_or(Time::NEVER, |Reverse((time, ..))| *time)
    }

    /// Whether events wait for round trips.
    #[inline]
    #[must_use]
    pub fn waits_for_round_trips(&self) -> bool {
        !self.at_rounds.is_empty()
    }

    /// The next change that is due at `now`, and its link. It is called until it returns `None`.
    pub fn next_change(&mut self, now: Time) -> Option<(u32, LinkChange)> {
        let Reverse((time, index, count)) = *self.timed.peek()?;
        if time > now {
            return None;
        }
        self.timed.pop();
        if let When::Every { every, until, .. } = self.events[index].when
            && time + every < Time::ZERO + until
        {
            self.timed.push(Reverse((time + every, index, count + 1)));
        }
        Some(self.change(index, count))
    }

    /// The next change that is due when `flow` has completed `round` round trips; asked until there is none.
    pub fn next_change_at_round(&mut self, flow: u32, round: u64) -> Option<(u32, LinkChange)> {
        let is_due = |(other, count, _): &(usize, u64, usize)| *other == flow as usize && round >= *count;
        let position = self.at_rounds.iter().position(is_due)?;
        let (_, _, index) = self.at_rounds.remove(position);
        Some(self.change(index, 0))
    }

    /// The change that event `index` makes after it has happened `count` times.
    fn change(&mut self, index: usize, count: u64) -> (u32, LinkChange) {
        let Event { link, change, .. } = &self.events[index];
        let id = *link as u32;
        let drawn;
        let change = match change {
            Change::InTurn(values) => &values[(count % values.len() as u64) as usize],
            Change::Between(ends) => {
                let mut stream = self.streams.numbered(Purpose::Event, index as u32, count);
                drawn = ends[0].towards(&ends[1], stream.unit());
                drawn.as_ref().unwrap_or(&ends[0])
            }
            change => change,
        };
        let change = match change {
            Change::Rate(rate) => {
                self.rates[*link] = *rate;
                LinkChange::Rate(*rate)
            }
            Change::Delay(delay) => LinkChange::Delay(*delay),
            Change::Queue(queue) => LinkChange::Queue(self.queue(*queue, id, index, count)),
            Change::Up(up) => LinkChange::Up(*up),
            Change::Loss(loss) => LinkChange::Loss(loss.clone()),
            Change::Noise(noise) => LinkChange::Noise(
                noise.clone().map(|noise| NoiseModel::new(noise, id, self.flows, self.streams)),
            ),
            Change::InTurn(_) | Change::Between(_) => unreachable!("they are single changes by now"),
        };
        (id, change)
    }

    /// A new queue draws from a stream of its own.
    fn queue(&self, queue: Queue, link: u32, index: usize, count: u64) -> Discipline {
        let index = index as u32 + 1;
        let stream = match count {
            0 => self.streams.of(Purpose::Queue, link, index),
            _ => {
                let number = u64::from(index) << 32 | count;
                self.streams.numbered(Purpose::Queue, link, number)
            }
        };
        Discipline::new(queue, self.rates[link as usize], stream)
    }
}
