//! Changes of a link during a run, and the end of its plan.

use ackclock_scenario::Loss;
use ackclock_units::{Rate, Span, Time};

use super::transmitter::{Drops, Service};
use super::{Link, Way};
use crate::queue::Discipline;
use crate::wire::{NoiseModel, Wire};

/// A change of a link during the run.
#[derive(Debug)]
pub enum LinkChange {
    /// Another rate. The packet in transmission keeps its finish time.
    Rate(Rate),
    /// Another propagation delay.
    Delay(Span),
    /// Another queue.
    Queue(Discipline),
    /// Another loss model.
    Loss(Loss),
    /// Other delay noise, or none.
    Noise(Option<NoiseModel>),
    /// It goes down, or comes up again. The packet in transmission keeps its finish time.
    Up(bool),
}

impl Link {
    /// Something about the link changes at `now`. A new queue takes over the waiting packets.
    pub fn change(&mut self, now: Time, change: LinkChange) {
        self.catch_up(now);
        if let LinkChange::Loss(loss) = change {
            self.loss.change(now, loss);
            return;
        }
        self.give_up_plan(now);
        let drops = Drops { packets: &mut self.dropped, counters: &mut self.counters };
        match (change, &mut self.way) {
            (LinkChange::Rate(rate), Way::Transmitted(transmitter)) => {
                transmitter.pace.change(now, rate, transmitter.finish);
            }
            (LinkChange::Queue(queue), Way::Transmitted(transmitter)) => {
                self.counters.marks += transmitter.change_queue(now, queue, drops);
            }
            (LinkChange::Up(up), Way::Transmitted(transmitter)) => {
                transmitter.switch(now, Service::of(up, self.outage), drops);
            }
            (change, Way::Unlimited(wire)) => change_wire(wire, change),
            (change, Way::Transmitted(transmitter)) => change_wire(&mut transmitter.wire, change),
            (_, Way::Planned(_) | Way::Passing(_) | Way::Delayed(_)) => {}
        }
    }

    /// Ends the plan at `now`. Packets that were passed on have been taken back.
    pub fn give_up_plan(&mut self, now: Time) {
        let way = std::mem::replace(&mut self.way, Way::Unlimited(Wire::new(Span::ZERO, None)));
        self.way = match way {
            Way::Planned(line) => Way::Transmitted(Box::new(line.into_transmitter(now))),
            Way::Delayed(wire) => Way::Unlimited(wire.no_longer_plain()),
            other => other,
        };
    }
}

fn change_wire(wire: &mut Wire, change: LinkChange) {
    match change {
        LinkChange::Delay(delay) => wire.delay = delay,
        LinkChange::Noise(noise) => wire.set_noise(noise),
        LinkChange::Rate(_) | LinkChange::Queue(_) | LinkChange::Loss(_) | LinkChange::Up(_) => {}
    }
}
