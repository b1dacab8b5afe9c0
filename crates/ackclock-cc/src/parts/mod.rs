//! What two or more controls need.

mod base;
mod hystart;
mod round;

pub use base::Base;
pub use hystart::HyStart;
pub use round::RoundTrips;
