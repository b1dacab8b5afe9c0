//! Parts that two or more controls share.

mod base;
mod hystart;
mod hystart_linux;
mod queueing;
mod round;
mod whole;
mod windowed;

pub use base::Base;
pub use hystart::HyStartPlusPlus;
pub use hystart_linux::HyStartLinux;
pub use queueing::QueueingDelay;
pub use round::RoundTrips;
pub use whole::{WholeGrowth, whole};
pub use windowed::Windowed;
