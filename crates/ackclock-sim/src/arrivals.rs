//! Flows that arrive at random: which ones do is drawn for each run before it begins.

use ackclock_scenario::{Flow, Moment, Scenario};
use ackclock_units::Span;

use crate::random::{Purpose, Stream};

/// Flows that a run has at most.
const MOST_FLOWS: usize = 100_000;

/// Adds the flows that arrive in run `run` of `scenario`, after the others: those keep their numbers and so their random
/// streams.
///
/// # Errors
/// When there are too many; a checked scenario has fewer but for an accident of one in a thousand million.
pub fn expand(scenario: &mut Scenario, run: u64) -> Result<(), String> {
    let Scenario { flows, arrivals, run: settings, .. } = scenario;
    for (index, arrivals) in (0..).zip(&*arrivals) {
        let mut stream = Stream::new(settings.seed, run, Purpose::Arrivals, index, 0);
        let (mut at, end) = arrivals.between;
        for number in 0_u64.. {
            at = at + Span::from_seconds_f64(arrivals.gap.as_seconds() * stream.exponential());
            if at >= end {
                break;
            }
            if flows.len() >= MOST_FLOWS {
                return Err(format!("flow {}: more than {MOST_FLOWS} flows arrive", arrivals.flow.name));
            }
            flows.push(Flow {
                name: format!("{}-{number}", arrivals.flow.name),
                start: Moment::At(at),
                bytes: Some(arrivals.sizes.at(stream.unit())),
                arrival_of: Some(index),
                ..arrivals.flow.clone()
            });
        }
    }
    Ok(())
}
