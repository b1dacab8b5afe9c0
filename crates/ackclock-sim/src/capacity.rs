//! The capacity of a link, computed before the run.

use ackclock_scenario::{Change, Scenario, When};
use ackclock_units::{PICOSECONDS_PER_SECOND, Span, Time};

use crate::assemble::pace_of;
use crate::director::Director;
use crate::link::LinkChange;
use crate::random::Streams;

/// The mean rate at which link `link` can send from `from` until `to` in run `run`, bit/s: its rate or its trace, changed by
/// square waves and events, and nothing while it is down. A policer is not counted. `None` if flows decide when it changes
/// (events at round trips), or if the interval is empty.
///
/// # Panics
/// When the scenario has no such link.
#[must_use]
pub fn mean_rate(scenario: &Scenario, link: usize, run: u64, from: Span, to: Span) -> Option<f64> {
    let of_link = || scenario.events.iter().filter(|event| event.link == link && alters(&event.change));
    if from >= to || of_link().any(|event| matches!(event.when, When::RoundTrip { .. })) {
        return None;
    }
    let described = &scenario.links[link];
    if described.up && described.trace.is_none() && of_link().next().is_none() {
        // Exactly; whole bits of an interval would not be.
        return Some(described.rate.0 as f64);
    }
    let mut pace = pace_of(described);
    if !described.up {
        pace.pause(Time::ZERO, true, Time::NEVER);
    }
    let (from, to) = (Time::ZERO + from, Time::ZERO + to);
    let mut before = (from == Time::ZERO).then_some(0);
    if of_link().next().is_some() {
        let streams = Streams { seed: scenario.run.seed, run };
        let mut director = Director::new(scenario.events.clone(), &scenario.links, 0, streams);
        while director.wakeup() < to {
            let now = director.wakeup();
            if now >= from && before.is_none() {
                before = Some(pace.capacity(from));
            }
            while let Some((changed, change)) = director.next_change(now) {
                match change {
                    LinkChange::Rate(rate) if changed as usize == link => pace.change(now, rate, Time::NEVER),
                    LinkChange::Up(up) if changed as usize == link => pace.pause(now, !up, Time::NEVER),
                    _ => {}
                }
            }
        }
    }
    let bits = pace.capacity(to) - before.unwrap_or_else(|| pace.capacity(from));
    Some(bits as f64 * PICOSECONDS_PER_SECOND as f64 / (to.0 - from.0) as f64)
}

/// Whether a change alters the capacity of a link.
fn alters(change: &Change) -> bool {
    match change {
        Change::Rate(_) | Change::Up(_) => true,
        Change::InTurn(changes) => changes.iter().any(alters),
        Change::Between(ends) => alters(&ends[0]),
        Change::Delay(_) | Change::Queue(_) | Change::Loss(_) | Change::Noise(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_cc::registry::BuiltIn;
    use ackclock_scenario::read_toml;

    fn mean(link: &str, more: &str, from_ms: u64, to_ms: u64) -> Option<f64> {
        let text = format!(
            "[run]\nduration = \"10 s\"\n[dumbbell]\n{link}\ndelay = \"1 ms\"\n\
             queue = {{ kind = \"droptail\", limit = \"10 packets\" }}\n[[flow]]\ncontroller = \"reno\"\n{more}"
        );
        let checked = read_toml(&text, "test.toml", &[], &BuiltIn).expect("a scenario");
        mean_rate(&checked.scenario, 0, 0, Span::from_millis(from_ms), Span::from_millis(to_ms))
    }

    fn event(at: &str, set: &str, to: &str) -> String {
        format!("[[event]]\nat = {at}\nset = \"dumbbell.{set}\"\nto = {to}\n")
    }

    const TEN: &str = "rate = \"10 Mbit/s\"";

    #[test]
    fn a_rate_is_its_own_mean() {
        assert_eq!(mean(TEN, "", 0, 10_000), Some(1e7));
        assert_eq!(mean(TEN, "", 2_000, 2_001), Some(1e7));
        assert_eq!(mean(TEN, "", 2_000, 2_000), None);
    }

    #[test]
    fn events_count_from_their_time_on() {
        // 10 Mbit/s until 4 s, 2 Mbit/s until 6 s, then nothing until 8 s, then 2 Mbit/s.
        let events = event("\"4 s\"", "rate", "\"2 Mbit/s\"")
            + &event("\"6 s\"", "up", "false")
            + &event("\"8 s\"", "up", "true");
        assert_eq!(mean(TEN, &events, 0, 4_000), Some(1e7));
        assert_eq!(mean(TEN, &events, 4_000, 6_000), Some(2e6));
        assert_eq!(mean(TEN, &events, 6_000, 8_000), Some(0.0));
        // 1 s of 10, 2 s of 2, 2 s of 0 and 1 s of 2: 16 Mbit in 6 s.
        assert_eq!(mean(TEN, &events, 3_000, 9_000), Some(16e6 / 6.0));
        // Other changes of the link leave its rate alone.
        assert_eq!(mean(TEN, &event("\"4 s\"", "delay", "\"5 ms\""), 0, 10_000), Some(1e7));
    }

    #[test]
    fn squares_alternate() {
        let square = "rate = \"10 Mbit/s\"\nsquare = { rate = \"2 Mbit/s\", period = \"2 s\" }";
        // One second at each rate, the first at 10 Mbit/s.
        assert_eq!(mean(square, "", 0, 1_000), Some(1e7));
        assert_eq!(mean(square, "", 0, 10_000), Some(6e6));
        assert_eq!(mean(square, "", 1_500, 2_500), Some(6e6));
    }

    #[test]
    fn flows_that_decide_leave_it_open() {
        let at_round = |set: &str, to: &str| event("{ flow = \"reno-0\", rtt = 3 }", set, to);
        assert_eq!(mean(TEN, &at_round("rate", "\"2 Mbit/s\""), 0, 1_000), None);
        assert_eq!(mean(TEN, &at_round("delay", "\"2 ms\""), 0, 1_000), Some(1e7));
    }
}
