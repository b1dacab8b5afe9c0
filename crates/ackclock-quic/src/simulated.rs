//! Real QUIC endpoints in the simulator's virtual time: `transport = "quic"` on a flow of a scenario.
//!
//! Both ends are quinn-proto's, with TLS and all. The simulator tells them the time and carries their datagrams over
//! its links; so the same scenario and seed give the same packets at the same times. Their contents are encrypted with
//! keys that differ from run to run: what is promised are times, sizes and numbers, not bytes.

mod identity;
mod peer;
mod qlog;
mod receiver;
mod sender;
mod watched;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use ackclock_cc::erased::ErasedController;
use ackclock_scenario::Flow;
use ackclock_sim::endpoint::Ends;
use ackclock_sim::{Placement, Transport};

use peer::{Datagrams, Peer, Role};
use receiver::QuicReceiver;
use sender::QuicSender;

/// Makes QUIC ends for the simulator.
#[derive(Clone, Debug, Default)]
pub struct Quic {
    /// A directory for a qlog file of each flow's sender, `NAME.sqlog` (draft-ietf-quic-qlog-main-schema).
    pub qlog: Option<PathBuf>,
}

impl Transport for Quic {
    fn make_ends(
        &self,
        flow: &Flow,
        placement: &Placement,
        control: Box<dyn ErasedController>,
    ) -> Result<Ends, String> {
        let refuse = |error: String| format!("flow {}: {error}", flow.name);
        let began = began();
        let [there, back] = [(); 2].map(|()| Arc::new(Mutex::new(Datagrams::default())));
        let seed = [placement.streams.seed, placement.streams.run, placement.id.into()];
        let sending = Peer::new(Role::Client, flow, seed, [&there, &back], began).map_err(refuse)?;
        let receiving = Peer::new(Role::Server, flow, seed, [&back, &there], began).map_err(refuse)?;
        let qlog = self.qlog.as_ref().map(|directory| directory.join(format!("{}.sqlog", flow.name)));
        let sending = match qlog {
            None => sending,
            Some(file) => sending.with_qlog(&file, &flow.name).map_err(refuse)?,
        };
        let sender = QuicSender::new(sending, flow, placement, control);
        Ok(Ends::new(sender, QuicReceiver::new(receiving, placement)))
    }
}

/// Any moment: only differences from it are used.
#[expect(clippy::disallowed_methods, reason = "quinn's times are the machine's; only differences count")]
fn began() -> Instant {
    Instant::now()
}
