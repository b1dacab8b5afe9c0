//! TCP: sender, receiver, loss recovery, timers.

mod application;
mod control;
mod deadline;
mod delivery_rate;
mod handshake;
mod marks;
mod measuring;
mod pacing;
mod receiver;
pub mod recovery;
mod requests;
mod retransmissions;
mod send_delay;
mod sender;
mod sent_list;
mod sequence_set;
mod settings;
mod stamps;
mod ticks;
mod timed_packet;
mod timer;
mod usage;
mod variance;

pub use application::{Application, Group};
pub use handshake::{Handshake, SYN};
pub use receiver::{ReceiverSettings, TcpReceiver};
pub use requests::Client;
pub use send_delay::TIE_BREAK;
pub use sender::TcpSender;
pub use sequence_set::SequenceSet;
pub use settings::{PacketSettings, Settings};
pub use timer::Timer;
