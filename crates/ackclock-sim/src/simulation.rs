//! The run loop.

use std::io;

use ackclock_cc::registry::Catalogue;
use ackclock_scenario::Scenario;
use ackclock_trace::{Capture, Segment, Summary, Table};
use ackclock_units::{Span, Time};

use crate::assemble::{Makers, Parts, assemble};
use crate::director::Director;
use crate::endpoint::{Context, Endpoint, Ends, JournalEntry};
use crate::network::{Component, Network, Occurrence};
use crate::observe::Observer;
use crate::packet::{EndId, Kind, Packet};
use crate::payload::Payload;
use crate::schedule::Schedule;
use crate::summary::summarise;

/// One run of a scenario.
pub struct Simulation {
    scenario: Scenario,
    run: u64,
    now: Time,
    end: Time,
    network: Network,
    ends: Vec<Ends>,
    schedule: Schedule,
    director: Director,
    observer: Observer,
    journal: Option<Vec<JournalEntry>>,
    packets: u64,
    capture: Option<PacketCapture>,
}

/// A packet capture, and which flows it can show: those that speak TCP.
struct PacketCapture {
    output: Capture,
    shown: Vec<bool>,
}

impl Simulation {
    /// Run number `run` of `scenario`, at time 0. With `record`, tables are kept besides the summary.
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
        let Parts { network, ends, measured } = assemble(&scenario, makers, run)?;
        let mut schedule = Schedule::new(network.director() as usize + 1);
        let director = Director::new(
            scenario.events.clone(),
            &scenario.links,
            scenario.flows.len() as u32,
            scenario.run.seed,
            run,
        );
        schedule.set(network.director(), director.wakeup());
        for (flow, Ends { sender, receiver, .. }) in (0..).zip(&ends) {
            schedule.set(network.number_of(EndId::sender_of(flow)), sender.wakeup());
            schedule.set(network.number_of(EndId::receiver_of(flow)), receiver.wakeup());
        }
        let end = Time::ZERO + scenario.run.duration;
        Ok(Simulation {
            observer: Observer::new(&scenario, measured, record),
            run,
            now: Time::ZERO,
            end,
            network,
            ends,
            schedule,
            director,
            journal: record.then(Vec::new),
            packets: 0,
            capture: None,
            scenario,
        })
    }

    /// Writes a packet capture to `output`: what the sender's host of each flow would see. Call it before the
    /// first [`Simulation::advance`]. It changes nothing in the run.
    ///
    /// # Errors
    /// When the capture's header cannot be written.
    pub fn capture(&mut self, output: Box<dyn io::Write + Send>) -> io::Result<()> {
        let shown = self.ends.iter().map(|ends| ends.sender.is_tcp()).collect();
        self.capture = Some(PacketCapture { output: Capture::new(output)?, shown });
        Ok(())
    }

    /// The simulated time.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Data packets put on the wire so far.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Advances to the end of the run, or by `events` events, whichever comes first. Returns whether the run
    /// has ended. How a run is cut into calls changes nothing.
    ///
    /// # Panics
    /// When time would run back, or a control breaks its contract.
    pub fn advance(&mut self, events: u64) -> bool {
        for _ in 0..events {
            let (time, number) = self.schedule.next();
            if time > self.end {
                self.now = self.end;
                self.observe(self.end + Span(1));
                return true;
            }
            if time > self.observer.next() {
                self.observe(time);
            }
            assert!(time >= self.now, "time runs back at component {number}");
            self.now = time;
            match self.network.component(number) {
                Component::Link(link) => {
                    if let Some(packet) = &self.network.act(time, link, &mut self.schedule) {
                        self.deliver(packet);
                    }
                }
                Component::End(end) => self.wake(end),
                Component::Director => self.direct(number),
            }
        }
        false
    }

    fn observe(&mut self, before: Time) {
        self.observer.observe(before, &mut self.network, &self.ends);
    }

    #[inline]
    fn deliver(&mut self, packet: &Packet) {
        let flow = packet.flow();
        let ends = &mut self.ends[flow as usize];
        if let Some(capture) = &mut self.capture
            && packet.kind() == Kind::Ack
        {
            capture.write(self.now, packet, &self.scenario, &self.network);
        }
        let mut context =
            Context { now: self.now, payloads: &mut self.network.payloads, journal: self.journal.as_mut() };
        match packet.kind() {
            Kind::Data => {
                ends.receiver.on_packet(packet, &mut context);
                self.pump::<false>(flow, Occurrence::Delivered, packet.sequence);
            }
            Kind::Ack => {
                ends.sender.on_packet(packet, &mut context);
                self.pump::<true>(flow, Occurrence::Delivered, packet.sequence);
            }
        }
    }

    fn wake(&mut self, end: EndId) {
        let flow = end.flow();
        let ends = &mut self.ends[flow as usize];
        let mut context =
            Context { now: self.now, payloads: &mut self.network.payloads, journal: self.journal.as_mut() };
        if end.is_sender() {
            ends.sender.on_timer(&mut context);
            self.pump::<true>(flow, Occurrence::Woken, 0);
        } else {
            ends.receiver.on_timer(&mut context);
            self.pump::<false>(flow, Occurrence::Woken, 0);
        }
    }

    /// Applies the scenario's events that are due.
    fn direct(&mut self, component: u32) {
        while let Some((link, change)) = self.director.due(self.now) {
            self.network.change(self.now, link, change, &mut self.schedule);
        }
        self.network.digest.note(self.now.0, component, Occurrence::Changed as u8, 0, 0, 0);
        self.schedule.set(component, self.director.wakeup());
    }

    /// Records `what` happened to the sender of `flow`, or to its receiver (with packet `sequence`, if any), in the digest,
    /// and sends what that end then has to send. Two copies of it cost less than asking which end it is again and again.
    fn pump<const SENDER: bool>(&mut self, flow: u32, what: Occurrence, sequence: u64) {
        let ends = &mut self.ends[flow as usize];
        let (end, id, window): (&mut dyn Endpoint, _, _) = if SENDER {
            let window = ends.sender.window_bits();
            (&mut *ends.sender, EndId::sender_of(flow), window)
        } else {
            (&mut *ends.receiver, EndId::receiver_of(flow), 0)
        };
        let component = self.network.number_of(id);
        self.network.digest.note(self.now.0, component, what as u8, flow, sequence, window);
        loop {
            let mut context = Context {
                now: self.now,
                payloads: &mut self.network.payloads,
                journal: self.journal.as_mut(),
            };
            // The packet stays where the end put it: a copy would wait for the writes of single fields.
            let mut next = end.next_packet(&mut context);
            let Some(packet) = &mut next else { break };
            if SENDER {
                self.packets += 1;
                if let Some(capture) = &mut self.capture {
                    capture.write(self.now, packet, &self.scenario, &self.network);
                }
            }
            self.network.send(self.now, component, packet, &mut self.schedule);
        }
        self.schedule.set(component, end.wakeup());
        if SENDER {
            self.after_sender(flow);
        }
    }

    /// Applies events and takes samples that wait for round trips of `flow`.
    #[inline]
    fn after_sender(&mut self, flow: u32) {
        if self.director.waits_for_round_trips() {
            let round = self.ends[flow as usize].sender.view().round;
            while let Some((link, change)) = self.director.due_at_round(flow, round) {
                self.network.change(self.now, link, change, &mut self.schedule);
            }
        }
        self.observer.after_sender(self.now, flow, &self.ends);
    }

    /// The summary and, if they were recorded, the tables by name. Call it when the run has ended.
    ///
    /// # Errors
    /// When the packet capture could not be written.
    ///
    /// # Panics
    /// When packets are unaccounted for or a link has sent more than it can.
    pub fn finish(mut self, catalogue: &dyn Catalogue) -> io::Result<(Summary, Vec<(&'static str, Table)>)> {
        if let Some(capture) = self.capture.take() {
            capture.output.finish()?;
        }
        self.network.check_conservation(self.now);
        let summary =
            summarise(&self.scenario, self.run, &mut self.network, &self.ends, &self.observer, catalogue);
        let tables = match self.journal {
            Some(journal) => self.observer.into_tables(journal),
            None => Vec::new(),
        };
        Ok((summary, tables))
    }
}

impl PacketCapture {
    /// Writes `packet`, which its sender's host sends or receives at `time`.
    #[cold]
    #[inline(never)]
    fn write(&mut self, time: Time, packet: &Packet, scenario: &Scenario, network: &Network) {
        let flow = packet.flow();
        if !self.shown[flow as usize] {
            return;
        }
        let blocks = match network.payloads.get(packet.handle()) {
            Some(Payload::Sack(blocks)) => *blocks,
            _ => Default::default(),
        };
        self.output.write(&Segment {
            time,
            flow,
            sequence: packet.sequence,
            acknowledges: packet.kind() == Kind::Ack,
            packet_bytes: scenario.flows[flow as usize].tcp.packet.0 as u16,
            blocks,
        });
    }
}
