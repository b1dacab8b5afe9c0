//! A control that quinn drives and the simulator can observe.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use ackclock_cc::erased::ErasedController;
use ackclock_cc::{Decision, Signal};
use ackclock_sim::endpoint::Internals;
use ackclock_units::{Span, Time};
use quinn_proto::congestion::{Controller, ControllerFactory};

use crate::controller::Adapter;

/// The state that the simulator can observe.
pub struct ObservedState {
    control: Box<dyn ErasedController>,
    /// Quinn counts a connection's time from its beginning; the simulator from its own.
    started: Time,
    /// Loss signals.
    pub losses: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Round trips.
    pub round: u64,
    /// Packets in the network at the last acknowledgement, packets sent since, and whether the application had no data then.
    pub in_flight: u64,
    pub sent_since: u64,
    pub is_idle: bool,
    /// An RTT sample that has not been recorded yet.
    pub rtt: Option<Span>,
}

/// A control shared by quinn, which drives it, and the simulator, which observes it.
#[derive(Clone)]
pub struct Watched(Arc<Mutex<ObservedState>>);

impl Watched {
    /// Watches `control`, whose connection starts at `started`.
    #[must_use]
    pub fn new(control: Box<dyn ErasedController>, started: Time) -> Watched {
        Watched(Arc::new(Mutex::new(ObservedState {
            control,
            started,
            losses: 0,
            timeouts: 0,
            round: 0,
            in_flight: 0,
            sent_since: 0,
            is_idle: false,
            rtt: None,
        })))
    }

    /// The state now.
    pub fn observed(&self) -> MutexGuard<'_, ObservedState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The control's decision.
    #[must_use]
    pub fn decided(&self) -> Decision {
        self.observed().control.decision()
    }
}

impl ErasedController for Watched {
    fn on(&mut self, now: Time, signal: Signal) -> Decision {
        let mut observed = self.observed();
        let now = observed.started + now.since(Time::ZERO);
        let decision = observed.control.on(now, signal);
        match signal {
            Signal::Ack(ack) => {
                (observed.round, observed.in_flight, observed.rtt) = (ack.round, ack.in_flight.0, ack.rtt);
                (observed.sent_since, observed.is_idle) = (0, !ack.window_limited);
            }
            Signal::Loss { .. } => observed.losses += 1,
            Signal::Timeout { .. } => observed.timeouts += 1,
            Signal::Recovered
            | Signal::Undo
            | Signal::Moderated { .. }
            | Signal::Idle { .. }
            | Signal::CaughtUp
            | Signal::Lost(_)
            | Signal::Restart => {}
        }
        decision
    }

    fn decision(&self) -> Decision {
        self.decided()
    }

    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.observed().control.internals(visit);
    }

    fn duplicate(&self) -> Box<dyn ErasedController> {
        // quinn duplicates controls for new paths of a connection; in a simulation there is one path.
        Box::new(self.clone())
    }
}

impl Internals for Watched {
    fn internals(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        ErasedController::internals(self, visit);
    }
}

/// Makes the control of a flow for its one connection.
pub struct OneFactory(pub Watched);

impl ControllerFactory for OneFactory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(Adapter::new(Box::new(self.0.clone()), now, current_mtu))
    }
}
