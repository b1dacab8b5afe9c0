//! A slot of a campaign on the sender's side: its flows, and the reports about them every second. It knows transports
//! only through [`Connection`].

use std::io::ErrorKind;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{scope, sleep};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock;
use crate::door::Permit;
use crate::info::Info;
use crate::token::random;
use crate::transport::Connection;

/// Size of one write, bytes.
const BLOCK: usize = 1 << 16;
/// How often a waiting thread checks whether it should end.
pub const LOOK: Duration = Duration::from_millis(200);

/// The sender's report about a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowReport {
    /// Seconds since the slot began.
    pub second: f64,
    /// The flow's number; 0 has the control.
    pub flow: u32,
    /// This end's information about it.
    #[serde(flatten)]
    pub info: Info,
}

/// A line that the sender writes during a slot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "tell", rename_all = "snake_case")]
pub enum Line {
    /// The state of a flow.
    Flow(FlowReport),
    /// The slot is over.
    End {
        /// Its length, seconds.
        seconds: f64,
    },
}

/// A flow that has arrived, with its place among the connections.
struct Arrived {
    flow: Arc<dyn Connection>,
    _permit: Permit,
}

/// A slot: the client that asked for it, and its flows.
pub struct Session {
    /// Its name, which cannot be guessed.
    pub name: String,
    /// The client that asked for it.
    pub address: IpAddr,
    /// The control whose turn it is.
    pub control: String,
    seconds: u64,
    arrivals: Mutex<Vec<Option<Arrived>>>,
    arrived: Condvar,
}

impl Session {
    /// A slot of `seconds` for `flows` flows, which must come from `address`.
    #[must_use]
    pub fn new(address: IpAddr, control: String, seconds: u64, flows: u32) -> Session {
        Session {
            name: hex::encode(&random()[..16]),
            address,
            control,
            seconds,
            arrivals: Mutex::new((0..flows).map(|_| None).collect()),
            arrived: Condvar::new(),
        }
    }

    /// Adds flow `number`.
    ///
    /// # Errors
    /// One line, when it comes from another address, has arrived already, or its number is too large.
    pub fn join(&self, number: u32, flow: Arc<dyn Connection>, permit: Permit) -> Result<(), &'static str> {
        if permit.address() != self.address {
            return Err("this session belongs to another address");
        }
        let mut arrivals = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        match arrivals.get_mut(number as usize) {
            None => Err("this session has no flow of that number"),
            Some(Some(_)) => Err("this flow has arrived already"),
            Some(arrival) => {
                *arrival = Some(Arrived { flow, _permit: permit });
                self.arrived.notify_all();
                Ok(())
            }
        }
    }

    /// Waits for its flows; `None` if they have not all arrived within `patience`.
    #[must_use]
    pub fn wait(&self, patience: Duration) -> Option<Vec<Arc<dyn Connection>>> {
        let arrivals = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        let some_missing = |arrivals: &mut Vec<Option<Arrived>>| arrivals.iter().any(Option::is_none);
        let (arrivals, _) = self
            .arrived
            .wait_timeout_while(arrivals, patience, some_missing)
            .unwrap_or_else(PoisonError::into_inner);
        arrivals.iter().map(|arrival| arrival.as_ref().map(|arrived| Arc::clone(&arrived.flow))).collect()
    }

    /// Sends on all flows until the time is over, `stop` is set, `tell` returns false, or all flows have ended. Returns
    /// the information about the flows at the end, and the duration, seconds.
    pub fn run(
        &self,
        flows: &[Arc<dyn Connection>],
        stop: &AtomicBool,
        mut tell: impl FnMut(&Line) -> bool,
    ) -> (Vec<Info>, f64) {
        let over = AtomicBool::new(false);
        let alive = AtomicUsize::new(flows.len());
        let start = clock::now();
        // Random, so that no path can compress it.
        let block: Vec<u8> = std::iter::repeat_with(random).flatten().take(BLOCK).collect();
        let last = scope(|scope| {
            for flow in flows {
                scope.spawn(|| {
                    send(flow.as_ref(), &block, &over);
                    alive.fetch_sub(1, Ordering::Relaxed);
                });
            }
            let mut last = vec![Info::default(); flows.len()];
            'seconds: for second in 1..=self.seconds {
                let until = start + Duration::from_secs(second);
                loop {
                    let left = until.saturating_duration_since(clock::now());
                    if left.is_zero() {
                        break;
                    }
                    if stop.load(Ordering::Relaxed) || alive.load(Ordering::Relaxed) == 0 {
                        break 'seconds;
                    }
                    sleep(left.min(LOOK));
                }
                for (number, flow) in flows.iter().enumerate() {
                    let Ok(info) = flow.info() else { continue };
                    last[number] = info;
                    let report =
                        FlowReport { second: start.elapsed().as_secs_f64(), flow: number as u32, info };
                    if !tell(&Line::Flow(report)) {
                        break 'seconds;
                    }
                }
            }
            over.store(true, Ordering::Relaxed);
            last
        });
        flows.iter().for_each(|flow| flow.abort());
        let seconds = start.elapsed().as_secs_f64();
        tell(&Line::End { seconds });
        (last, seconds)
    }
}

fn send(flow: &dyn Connection, block: &[u8], over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        match flow.send(block, LOOK) {
            Ok(_) => {}
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                ) => {}
            Err(_) => return,
        }
    }
}
