//! Changes during a run: when they are due, and what they do to links.

use ackclock_scenario::{Change, Event, Link, Queue, When};
use ackclock_units::{Rate, Time};

use crate::link::LinkChange;
use crate::queue::Discipline;
use crate::random::{Purpose, Stream};
use crate::wire::NoiseModel;

/// Holds the events of a scenario and says when they are due.
#[derive(Debug)]
pub struct Director {
    /// Events at times, the latest first.
    timed: Vec<(Time, usize)>,
    /// Events at round trips of flows.
    at_rounds: Vec<(usize, u64, usize)>,
    events: Vec<Event>,
    /// The rates of the links as they are, for queues that depend on them.
    rates: Vec<Rate>,
    flows: u32,
    seed: u64,
    run: u64,
}

impl Director {
    /// A director of `events` over `links`, for `flows` flows in run `run` of `seed`.
    #[must_use]
    pub fn new(events: Vec<Event>, links: &[Link], flows: u32, seed: u64, run: u64) -> Self {
        let mut timed = Vec::new();
        let mut at_rounds = Vec::new();
        for (index, event) in events.iter().enumerate() {
            match event.when {
                When::At(at) => timed.push((Time::ZERO + at, index)),
                When::RoundTrip { flow, count } => at_rounds.push((flow, count, index)),
            }
        }
        // Events at the same time happen in the order of the file.
        timed.sort_by(|a, b| b.cmp(a));
        let rates = links.iter().map(|link| link.rate).collect();
        Director { timed, at_rounds, events, rates, flows, seed, run }
    }

    /// When the next event at a time is due.
    #[must_use]
    pub fn wakeup(&self) -> Time {
        self.timed.last().map_or(Time::NEVER, |(time, _)| *time)
    }

    /// Whether events wait for round trips.
    #[inline]
    #[must_use]
    pub fn waits_for_round_trips(&self) -> bool {
        !self.at_rounds.is_empty()
    }

    /// The next change that is due at `now`, and the link that it is for; asked until there is none.
    pub fn due(&mut self, now: Time) -> Option<(u32, LinkChange)> {
        let (_, index) = self.timed.pop_if(|(time, _)| *time <= now)?;
        Some(self.change(index))
    }

    /// The next change that is due when `flow` has completed `round` round trips; asked until there is none.
    pub fn due_at_round(&mut self, flow: u32, round: u64) -> Option<(u32, LinkChange)> {
        let is_due = |(other, count, _): &(usize, u64, usize)| *other == flow as usize && round >= *count;
        let position = self.at_rounds.iter().position(is_due)?;
        let (_, _, index) = self.at_rounds.remove(position);
        Some(self.change(index))
    }

    fn change(&mut self, index: usize) -> (u32, LinkChange) {
        let Event { link, change, .. } = &self.events[index];
        let id = *link as u32;
        let change = match change {
            Change::Rate(rate) => {
                self.rates[*link] = *rate;
                LinkChange::Rate(*rate)
            }
            Change::Delay(delay) => LinkChange::Delay(*delay),
            Change::Queue(queue) => LinkChange::Queue(self.queue(*queue, id, index)),
            Change::Loss(loss) => LinkChange::Loss(loss.clone()),
            Change::Noise(noise) => LinkChange::Noise(
                noise.map(|noise| NoiseModel::new(noise, id, self.flows, self.seed, self.run)),
            ),
        };
        (id, change)
    }

    /// A new queue draws from a stream of its own.
    fn queue(&self, queue: Queue, link: u32, index: usize) -> Discipline {
        let stream = Stream::new(self.seed, self.run, Purpose::Queue, link, index as u32 + 1);
        Discipline::new(queue, self.rates[link as usize], stream)
    }
}
