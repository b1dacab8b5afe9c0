//! The entries of the schedule's tables.

use ackclock_units::Time;

/// A time, a component, and in the lowest 32 bits its index among the others.
#[must_use]
pub const fn node(time: Time, component: u32, other: u32) -> u128 {
    (time.0 as u128) << 64 | (component as u128) << 32 | other as u128
}

/// No component.
pub const FREE: u128 = node(Time::NEVER, u32::MAX, u32::MAX);
