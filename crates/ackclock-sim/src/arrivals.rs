//! Flows that arrive at random. They are drawn for each run before it begins. Until it starts, a flow is only its start
//! time and size; its ends are made at the start.

use std::collections::BTreeMap;
use std::ops::Range;

use ackclock_cc::registry::{Catalogue, Entry};
use ackclock_scenario::{self as scenario, Flow, Moment, Scenario, Transport};
use ackclock_units::{Bytes, Span, Time};

use crate::assemble::ends::{Makers, Placement, make_ends};
use crate::endpoint::Ends;
use crate::memory::Grow as _;
use crate::random::{Purpose, Streams};
use crate::rate;

/// Flows that arrive in a run at most.
const MOST: usize = 20_000_000;

/// The flows that arrive in a run. Their numbers follow those of all other flows, so the other flows keep their numbers
/// and random streams.
pub struct Arrivals {
    /// The number of the first arriving flow.
    first: u32,
    /// When each starts and how much it sends.
    drawn: Vec<(Time, Bytes)>,
    /// The flows of each of the scenario's [`scenario::Arrivals`].
    groups: Vec<Group>,
}

/// The flows of one of the scenario's [`scenario::Arrivals`].
struct Group {
    /// The indices of its flows among the drawn flows.
    members: Range<usize>,
    /// The index of its first flow that has not begun.
    next: usize,
    /// Makes the ends of a flow when it starts; `None` if all ends are made before the run.
    maker: Option<Maker>,
}

/// Makes the ends of flows that differ in nothing but number, start and size.
struct Maker {
    flow: Flow,
    placement: Placement,
    warmup: Time,
    /// The control of the flows, if they have one with a window.
    catalogue: Only,
}

/// A catalogue of the entries that one flow needs; it lasts as long as the run.
struct Only(Vec<Entry>);

impl Catalogue for Only {
    fn entries(&self) -> &[Entry] {
        &self.0
    }
}

impl Arrivals {
    /// Those of run `run` of `scenario`.
    ///
    /// # Errors
    /// When there are too many; a checked scenario has fewer but for an accident of one in a thousand million.
    pub fn draw(scenario: &Scenario, streams: Streams) -> Result<Self, String> {
        let mut drawn = Vec::new();
        let mut groups = Vec::new();
        for (index, arrivals) in (0..).zip(&scenario.arrivals) {
            let mut stream = streams.of(Purpose::Arrivals, index, 0);
            let first = drawn.len();
            let (mut at, end) = arrivals.between;
            loop {
                at = at + Span::from_seconds_f64(arrivals.gap.as_seconds() * stream.exponential());
                if at >= end {
                    break;
                }
                if drawn.len() >= MOST {
                    return Err(format!("flow {}: more than {MOST} flows arrive", arrivals.flow.name));
                }
                drawn.add((Time::ZERO + at, arrivals.sizes.at(stream.unit())));
            }
            groups.push(Group { members: first..drawn.len(), next: first, maker: None });
        }
        drawn.shrink_to_fit();
        Ok(Arrivals { first: scenario.flows.len() as u32, drawn, groups })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.drawn.len()
    }

    /// The index of the scenario's arrivals that `flow` belongs to, its number among their flows, its start and its
    /// size; `None` for a flow that the scenario itself defines.
    pub fn find(&self, flow: u32) -> Option<(usize, usize, Time, Bytes)> {
        let number = flow.checked_sub(self.first)? as usize;
        let group = self.groups.iter().position(|group| group.members.contains(&number))?;
        let (start, bytes) = self.drawn[number];
        Some((group, number - self.groups[group].members.start, start, bytes))
    }

    /// A flow of `scenario` that differs from `flow` in name, start and size at most.
    pub fn like<'a>(&self, scenario: &'a Scenario, flow: u32) -> &'a Flow {
        match self.find(flow) {
            Some((group, ..)) => &scenario.arrivals[group].flow,
            None => &scenario.flows[flow as usize],
        }
    }

    /// The numbers of the flows of the scenario's `group`-th arrivals.
    pub fn members(&self, group: usize) -> Range<u32> {
        let Range { start, end } = self.groups[group].members;
        self.first + start as u32..self.first + end as u32
    }

    /// From now on the flows of the scenario's `group`-th arrivals, like `flow`, begin during the run, with the control that
    /// `catalogue` has for them; `placement` is that of the first, and they are measured from `warmup` on.
    ///
    /// # Errors
    /// When their ends cannot be made.
    pub fn begin_later(
        &mut self,
        group: usize,
        flow: Flow,
        placement: Placement,
        warmup: Time,
        catalogue: &dyn Catalogue,
    ) -> Result<(), String> {
        let catalogue = Only(catalogue.find(&flow.control).copied().into_iter().collect());
        let mut maker = Maker { flow, placement, warmup, catalogue };
        maker.make()?;
        self.groups[group].maker = Some(maker);
        Ok(())
    }

    /// The next flow that begins during the run, and when.
    pub fn next(&self) -> Option<(Time, u32)> {
        let waits = |group: &&Group| group.maker.is_some() && group.next < group.members.end;
        self.groups
            .iter()
            .filter(waits)
            .map(|group| (self.drawn[group.next].0, self.first + group.next as u32))
            .min()
    }

    /// Makes the ends of `flow`, which is the next.
    pub fn begin(&mut self, flow: u32) -> Ends {
        let number = (flow - self.first) as usize;
        let (start, bytes) = self.drawn[number];
        let group = self.groups.iter_mut().find(|group| group.members.contains(&number));
        let group = group.expect("every flow belongs to a group");
        group.next += 1;
        let maker = group.maker.as_mut().expect("only flows with a maker begin");
        maker.flow.bytes = Some(bytes);
        let Placement { measured: (_, until), .. } = maker.placement;
        let measured = (start.max(maker.warmup), until);
        maker.placement = Placement { id: flow, start, measured, ..maker.placement };
        maker.make().expect("the first of them could be made")
    }
}

impl Maker {
    fn make(&mut self) -> Result<Ends, String> {
        let makers = Makers { catalogue: &self.catalogue, quic: None };
        make_ends(&self.flow, &self.placement, makers, &mut BTreeMap::new())
    }
}

/// The flow of `arrivals` with this number among them.
pub fn flow_of(arrivals: &scenario::Arrivals, number: usize, start: Time, bytes: Bytes) -> Flow {
    Flow {
        name: format!("{}-{number}", arrivals.flow.name),
        start: Moment::At(start.since(Time::ZERO)),
        bytes: Some(bytes),
        ..arrivals.flow.clone()
    }
}

/// Whether the ends of flows like `flow` can be made during a run, and nothing of them remains when they have ended: they
/// have no links of their own, and their control may be made on any thread.
pub fn may_begin_later(flow: &Flow, catalogue: &dyn Catalogue) -> bool {
    let is_alone = flow.access.is_some() || flow.delay_noise.is_some() || flow.reverse_noise.is_some();
    let is_anytime = catalogue.find(&flow.control).is_none_or(|entry| entry.anytime);
    !is_alone && flow.transport == Transport::Tcp && is_anytime && rate::find(&flow.control).is_none()
}
