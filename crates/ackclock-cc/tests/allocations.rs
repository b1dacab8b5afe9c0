//! No control allocates: counted by the allocator itself, in a process of one thread.
#[path = "common/path.rs"]
mod path;

use std::alloc::System;

use ackclock_cc::Start;
use ackclock_cc::registry::{BuiltIn, Catalogue};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() {
    for entry in BuiltIn.entries() {
        let mut control = entry.build(&[], Start::default()).unwrap();
        let region = Region::new(ALLOCATOR);
        path::run(&mut *control, 200_000);
        assert_eq!(region.change().allocations, 0, "{}", entry.name);
    }
}
