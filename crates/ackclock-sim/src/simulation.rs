//! The run loop.

use std::io;

use ackclock_cc::registry::Catalogue;
use ackclock_scenario::Scenario;
use ackclock_trace::{FlowSummary, Summary, Table};
use ackclock_units::{Bytes, Rate, Time};

use crate::arrivals::Arrivals;
use crate::assemble::{Makers, Parts, assemble};
use crate::director::Director;
use crate::endpoint::{Ends, SenderView};
use crate::flow_slots::FlowState;
use crate::memory::{look_for, or_unwind};
use crate::network::Occurrence;
use crate::numbers::Record;
use crate::observe::Observer;
use crate::packet::{EndId, Packet, Slab};
use crate::random::Streams;
use crate::samples::Samples;
use crate::schedule::Schedule;
use crate::stage::{PacketCapture, Stage};
use crate::summary::{FinishedRun, requests};

mod ahead;
mod guess;
mod turnover;

use self::guess::Guesses;

/// An estimate of the memory that a flow takes before a run begins, bytes.
const BYTES_PER_FLOW: usize = 16_000;

/// An estimate of the mean size of packets and acknowledgements.
const MEAN_PACKET: Bytes = Bytes(500);

/// One run of a scenario.
pub struct Simulation {
    scenario: Scenario,
    run: u64,
    end: Time,
    stage: Stage,
    /// The ends of flows, by the flow's slot.
    ends: Vec<Ends>,
    arrivals: Arrivals,
    /// Records of the flows that have ended.
    records: Vec<Record>,
    director: Director,
    observer: Observer,
    /// Whether events or samples wait for round trips of a flow.
    counts_round_trips: bool,
    /// Whether the ends do not fit into the cache of a core, so that the loop prefetches the ends that act next.
    looks_ahead: bool,
    /// Whether the tables that locate the ends do not fit into that cache, either.
    looks_far: bool,
    /// Whether the loop guesses the next component. A flow that is alone on its path makes the same components act in
    /// turn.
    guesses: bool,
    /// The component whose timer is next, and whose memory the loop has prefetched.
    looked_at: u32,
}

/// With more flows than this, the loop looks ahead. The data of fewer flows stays in the cache of the core, and
/// prefetching it costs up to 8 %.
const FEW_FLOWS: u32 = 1500;
/// The same threshold for flows that pace: each event belongs to another flow, whose data is not in a core's own cache.
const FEW_PACED_FLOWS: u32 = 300;
/// With more pacing flows than this, the tables that locate the ends do not fit into that cache, either.
const MANY_FLOWS: u32 = 4000;

impl Simulation {
    /// Run number `run` of `scenario`, at time 0. With `record`, tables are kept in addition to the summary.
    ///
    /// # Errors
    /// When a flow names a control that `catalogue` does not have, or parameters that it refuses; a checked
    /// scenario does not.
    pub fn new(
        scenario: Scenario,
        catalogue: &dyn Catalogue,
        run: u64,
        record: bool,
    ) -> Result<Self, String> {
        Simulation::with(scenario, Makers { catalogue, quic: None }, run, record)
    }

    /// As [`Simulation::new`], with given makers of controls and ends, such as those of QUIC, which another crate makes.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn with(scenario: Scenario, makers: Makers<'_>, run: u64, record: bool) -> Result<Self, String> {
        let streams = Streams { seed: scenario.run.seed, run };
        let mut arrivals = Arrivals::draw(&scenario, streams)?;
        let count = scenario.flows.len() + arrivals.len();
        // Samples are taken of all flows, whether they have begun or not.
        let early = if record { count } else { scenario.flows.len() };
        look_for(early * BYTES_PER_FLOW);
        let Parts { network, ends, measured } = assemble(&scenario, &mut arrivals, makers, streams, record)?;
        let rate = scenario.links.iter().map(|link| link.rate).max().unwrap_or(Rate(1));
        let spacing = rate.serialisation(MEAN_PACKET);
        let mut schedule = Schedule::new(network.links.len() as u32, network.schedule_slots(), spacing);
        schedule.extend(network.schedule_slot(ends.len() as u32, true) as usize);
        let director = Director::new(scenario.events.clone(), &scenario.links, count as u32, streams);
        schedule.set_at(Time::ZERO, network.director_slot(), network.director(), director.wakeup());
        for flow in 0..count as u32 {
            let FlowState::Active(slot) = network.flow_slots.state(flow) else { continue };
            let Ends { sender, receiver } = &ends[slot as usize];
            for (end, wakeup) in [
                (EndId::sender_of(flow), sender.first_wakeup()),
                (EndId::receiver_of(flow), receiver.first_wakeup()),
            ] {
                schedule.set_at(
                    Time::ZERO,
                    network.schedule_slot(slot, end.is_sender()),
                    network.number_of(end),
                    wakeup,
                );
            }
        }
        let end = Time::ZERO + scenario.run.duration;
        let stage = Stage {
            now: Time::ZERO,
            network,
            schedule,
            journal: record.then(Vec::new),
            packets: 0,
            capture: None,
        };
        let samples = record.then(|| Samples::new(&scenario, &arrivals));
        let observer = Observer::new(&scenario, measured, samples);
        let counts_round_trips = director.waits_for_round_trips() || observer.waits_for_round_trips();
        let mut records = Vec::new();
        or_unwind(records.try_reserve_exact(count - early));
        let mut simulation = Simulation {
            scenario,
            run,
            end,
            stage,
            ends,
            arrivals,
            records,
            director,
            observer,
            counts_round_trips,
            looks_ahead: false,
            looks_far: false,
            guesses: false,
            looked_at: u32::MAX,
        };
        let paces = simulation.scenario.flows.iter().any(|flow| flow.tcp.pacing);
        let few = if paces { FEW_PACED_FLOWS } else { FEW_FLOWS };
        simulation.looks_ahead = simulation.stage.network.flow_slots.fixed() > few;
        simulation.looks_far = paces && simulation.stage.network.flow_slots.fixed() > MANY_FLOWS;
        simulation.guesses =
            simulation.stage.network.flow_slots.flows() == 1 && simulation.stage.network.links.len() == 2;
        simulation.await_next();
        Ok(simulation)
    }

    /// Writes a packet capture to `output`, with the packets that the sender's host of each flow would see. Call it
    /// before the first [`Simulation::advance`]. It changes nothing in the run.
    ///
    /// # Errors
    /// When the capture's header cannot be written.
    pub fn capture(&mut self, output: Box<dyn io::Write + Send>) -> io::Result<()> {
        let flow_slots = &self.stage.network.flow_slots;
        let packet_bytes = |flow: u32| {
            let is_tcp = match flow_slots.state(flow) {
                FlowState::Active(slot) => self.ends[slot as usize].sender.is_tcp(),
                // Others do not begin during a run.
                FlowState::NotStarted | FlowState::Ended(_) => true,
            };
            if is_tcp { self.arrivals.like(&self.scenario, flow).tcp.packet.0 as u16 } else { 0 }
        };
        let packet_bytes = (0..flow_slots.flows()).map(packet_bytes).collect();
        self.stage.capture = Some(Box::new(PacketCapture::new(output, packet_bytes, self.end)?));
        Ok(())
    }

    /// From now on no link plans the future of its packets; each link handles them one by one. Only the speed of the
    /// run changes: tests compare the two ways.
    pub fn give_up_plans(&mut self) {
        let Stage { now, network, schedule, .. } = &mut self.stage;
        (0..network.links.len() as u32).for_each(|link| network.give_up_plan(*now, link, schedule));
    }

    /// The simulated time.
    #[must_use]
    pub fn now(&self) -> Time {
        self.stage.now
    }

    /// Data packets put on the wire so far.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.stage.packets
    }

    /// Advances to the end of the run, or by `events` events, whichever comes first. Returns whether the run
    /// has ended. How a run is cut into calls changes nothing.
    ///
    /// # Panics
    /// When time would run back, or a control breaks its contract.
    pub fn advance(&mut self, events: u64) -> bool {
        match (self.looks_ahead, self.guesses) {
            (true, _) => self.advance_by::<true, false>(events),
            (false, true) => self.advance_by::<false, true>(events),
            (false, false) => self.advance_by::<false, false>(events),
        }
    }

    /// The loop is compiled once for each case. The code that looks ahead would cost the other runs 13 instructions per
    /// packet, and guessing costs time when components do not act in a regular order.
    fn advance_by<const LOOKS_AHEAD: bool, const GUESSES: bool>(&mut self, events: u64) -> bool {
        let mut packet = Packet::default();
        let mut uneventful = self.observer.next().min(self.end);
        let mut guesses = Guesses::default();
        for _ in 0..events {
            let (time, number) = self.stage.schedule.next();
            let number = if GUESSES { guesses.take(number) } else { number };
            if time >= uneventful {
                if time > self.end {
                    self.stage.now = self.end;
                    self.observe(self.end);
                    return true;
                }
                self.observe(time);
                uneventful = self.observer.next().min(self.end);
            }
            assert!(time >= self.stage.now, "time runs back at component {number}");
            self.stage.now = time;
            let mut delivered = false;
            let end = if (number as usize) < self.stage.network.links.len() {
                let Stage { network, schedule, .. } = &mut self.stage;
                let Some(end) = network.leave(time, number, &mut packet, schedule) else { continue };
                delivered = true;
                if LOOKS_AHEAD {
                    self.expect_from(number);
                }
                if end.is_sender() {
                    self.stage.show(packet);
                }
                end
            } else if let Some(end) = self.stage.network.end(number) {
                end
            } else {
                self.direct(number);
                continue;
            };
            self.act(end, delivered.then_some(&packet));
            if LOOKS_AHEAD {
                self.look_ahead();
            }
        }
        false
    }

    /// Advances to `time`, or to the end of the run if that comes first. The events of that instant are included.
    /// Returns whether the run has ended.
    ///
    /// # Panics
    /// As [`Simulation::advance`].
    pub fn advance_to(&mut self, time: Time) -> bool {
        let end = self.end;
        self.end = time.max(self.stage.now).min(end);
        while !self.advance(u64::MAX) {}
        let ended = self.end == end;
        self.end = end;
        ended
    }

    /// The progress of the sender of a flow.
    ///
    /// # Panics
    /// When the scenario does not have that many flows; one that arrives, before it begins and when it has ended.
    #[must_use]
    pub fn view(&self, flow: usize) -> SenderView<'_> {
        self.ends[self.stage.network.flow_slots.of(flow as u32) as usize].sender.view()
    }

    fn observe(&mut self, until: Time) {
        self.observer.observe(until, &mut self.stage.network, &self.ends);
    }

    /// An end takes in a packet, or the time that it wanted to be woken at.
    #[inline(always)]
    fn act(&mut self, end: EndId, packet: Option<&Packet>) {
        let flow = end.flow();
        if flow < self.stage.network.flow_slots.fixed() {
            self.act_at(flow, self.stage.network.number_of(end), end, packet);
        } else {
            self.act_shared(end, packet);
        }
    }

    /// The same for an end of the flow in `slot`, which has `schedule_slot` in the schedule.
    #[inline(always)]
    fn act_at(&mut self, slot: u32, schedule_slot: u32, end: EndId, packet: Option<&Packet>) {
        self.stage.network.begin_act(slot, end, packet.is_some());
        let ends = &mut self.ends[slot as usize];
        let wakeup = if end.is_sender() {
            ends.sender.act(end, packet, &mut self.stage)
        } else {
            ends.receiver.act(end, packet, &mut self.stage)
        };
        self.stage.schedule.set_at(self.stage.now, schedule_slot, self.stage.network.number_of(end), wakeup);
        if self.counts_round_trips && end.is_sender() {
            self.after_sender(end.flow(), slot);
        }
    }

    /// Applies the scenario's events that are due.
    fn direct(&mut self, component: u32) {
        while let Some((link, change)) = self.director.next_change(self.stage.now) {
            self.stage.change(link, change);
        }
        self.stage.network.digest.note(self.stage.now.0, component, Occurrence::Changed as u8, 0, 0, 0);
        let schedule_slot = self.stage.network.director_slot();
        self.stage.schedule.set_at(self.stage.now, schedule_slot, component, self.director.wakeup());
    }

    /// Applies events and takes samples that wait for round trips of `flow`.
    #[cold]
    #[inline(never)]
    fn after_sender(&mut self, flow: u32, slot: u32) {
        if self.director.waits_for_round_trips() {
            let round = self.ends[slot as usize].sender.view().round;
            while let Some((link, change)) = self.director.next_change_at_round(flow, round) {
                self.stage.change(link, change);
            }
        }
        self.observer.after_sender(self.stage.now, flow, &self.ends);
    }

    /// The tables by name, with the rows recorded since the last call; none without recording. An observer takes them
    /// during the run, so that memory holds only the rows that it still needs.
    pub fn take_tables(&mut self) -> Vec<(&'static str, Table)> {
        match &mut self.stage.journal {
            Some(journal) => self.observer.take_tables(std::mem::take(journal)),
            None => Vec::new(),
        }
    }

    /// The summary and, if they were recorded, the tables by name, without the rows already taken. Call it when the run
    /// has ended.
    ///
    /// # Errors
    /// When the packet capture could not be written.
    ///
    /// # Panics
    /// When packets are unaccounted for or a link has sent more than it can.
    pub fn finish(self, catalogue: &dyn Catalogue) -> io::Result<(Summary, Vec<(&'static str, Table)>)> {
        let (mut over, tables) = self.end()?;
        look_for(over.flows() as usize * size_of::<FlowSummary>());
        let mut flows = Vec::with_capacity(over.flows() as usize);
        let summary = over.summarise(catalogue, &mut |flow| flows.push(flow));
        Ok((Summary { flows, ..summary }, tables))
    }

    /// As [`Simulation::finish`], but flows are summarised one at a time when they are asked for: the summaries of a million
    /// flows take 600 MB.
    ///
    /// # Errors
    /// As [`Simulation::finish`].
    ///
    /// # Panics
    /// As [`Simulation::finish`].
    pub fn end(mut self) -> io::Result<(FinishedRun, Vec<(&'static str, Table)>)> {
        let Stage { now, mut network, journal, capture, .. } = self.stage;
        if let Some(capture) = capture {
            capture.finish()?;
        }
        network.check_conservation(now);
        // Packets under way have been counted, and the summaries of many flows need the memory of their payloads.
        network.payloads = Slab::default();
        let tables = match journal {
            Some(journal) => {
                let mut tables = self.observer.take_tables(journal);
                tables.push(("requests", requests(&self.scenario, &self.arrivals, &self.ends)));
                tables
            }
            None => Vec::new(),
        };
        let Simulation { scenario, run, arrivals, ends, records, observer, .. } = self;
        Ok((FinishedRun { scenario, run, network, arrivals, ends, records, observer, last: None }, tables))
    }
}
