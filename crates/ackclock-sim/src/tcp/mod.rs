//! TCP: sender, receiver, loss recovery, timers.

mod application;
mod pacing;
mod receiver;
pub mod recovery;
mod retransmissions;
mod sender;
mod sent_list;
mod sequence_set;
mod timer;

pub use application::{Application, Group};
pub use receiver::{Receiver, ReceiverSettings};
pub use sender::{Sender, Settings, TIE_BREAK};
pub use sequence_set::SequenceSet;
pub use timer::Timer;
