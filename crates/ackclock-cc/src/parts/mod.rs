//! What two or more controls need.

mod base;
mod hystart;
mod queueing;
mod round;
mod windowed;

pub use base::Base;
pub use hystart::HyStart;
pub use queueing::QueueingDelay;
pub use round::RoundTrips;
pub use windowed::Windowed;
