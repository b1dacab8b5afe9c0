//! The kinds of changes of a link, and the differences between two of its states.

use crate::model::{Change, Link};

/// Something that can change of a link, in the order of the keys of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Rate,
    Delay,
    Queue,
    Loss,
    Noise,
    Up,
}

impl Kind {
    /// It, as it is of a link.
    pub fn of(self, link: &Link) -> Change {
        match self {
            Kind::Rate => Change::Rate(link.rate),
            Kind::Delay => Change::Delay(link.delay),
            Kind::Queue => Change::Queue(link.queue),
            Kind::Loss => Change::Loss(link.loss.clone()),
            Kind::Noise => Change::Noise(link.noise.clone()),
            Kind::Up => Change::Up(link.up),
        }
    }

    /// Whether it differs between two states of a link.
    pub fn differs(self, a: &Link, b: &Link) -> bool {
        match self {
            Kind::Rate => a.rate != b.rate,
            Kind::Delay => a.delay != b.delay,
            Kind::Queue => a.queue != b.queue,
            Kind::Loss => a.loss != b.loss,
            Kind::Noise => a.noise != b.noise,
            Kind::Up => a.up != b.up,
        }
    }
}

/// The differences between two states of a link, in the order of events at one time.
pub fn differing(new: &Link, old: &Link) -> impl Iterator<Item = Kind> + use<> {
    let order = [Kind::Rate, Kind::Delay, Kind::Queue, Kind::Loss, Kind::Up, Kind::Noise];
    let differs = order.map(|kind| kind.differs(new, old));
    order.into_iter().zip(differs).filter(|(_, differs)| *differs).map(|(kind, _)| kind)
}
