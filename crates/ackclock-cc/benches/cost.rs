//! What an acknowledgement costs each control: the mean over a long run in congestion avoidance, as CSV.
//! `make bench` writes it into docs/performance.md.
#[path = "../tests/common/path.rs"]
mod path;

use std::time::Instant;

use ackclock_cc::Start;
use ackclock_cc::registry::{BuiltIn, Catalogue};

const ACKNOWLEDGEMENTS: u64 = 20_000_000;
const REPETITIONS: usize = 3;

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn nanoseconds(entry: &ackclock_cc::registry::Entry) -> f64 {
    let mut control = entry.build(&[], Start::default()).expect("defaults are allowed");
    let begin = Instant::now();
    path::run(&mut *control, ACKNOWLEDGEMENTS);
    begin.elapsed().as_secs_f64() * 1e9 / ACKNOWLEDGEMENTS as f64
}

fn main() {
    for entry in BuiltIn.entries() {
        let mut times: Vec<_> = (0..REPETITIONS).map(|_| nanoseconds(entry)).collect();
        times.sort_by(f64::total_cmp);
        println!("{},{:.1}", entry.name, times[REPETITIONS / 2]);
    }
}
