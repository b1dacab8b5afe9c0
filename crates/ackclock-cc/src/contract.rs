//! The obligations of every control, as a check that tests of any control can call after each signal.

use crate::{Decision, Signal};

/// Checks a decision of a control against the contract.
///
/// `before` is the decision before `signal`, `after` the one after it; `is_cap` is the control's
/// [`window_is_a_cap`](crate::Wants::window_is_a_cap). Returns the violated rule, if there is one: the window is finite
/// and at least 1, at least 2 after a loss event and 1 after a timeout; ssthresh is at least 2 and changes at a timeout
/// only if it is the first of its packet; moderation leaves ssthresh and never lets the window grow; during a loss
/// episode, or when something other than the window limits sending, the window does not grow, unless it is a cap; a
/// lost packet alone does not make it grow; a quantum is at least one packet.
#[must_use]
pub fn violation(before: Decision, signal: Signal, after: Decision, is_cap: bool) -> Option<&'static str> {
    let window = after.window.0;
    let broken = |holds: bool, rule: &'static str| (!holds).then_some(rule);
    let always = broken(window.is_finite() && window >= 1.0, "the window is finite and at least 1")
        .or(broken(after.ssthresh.0 >= 2.0, "ssthresh is at least 2"))
        .or(broken(after.quantum.is_none_or(|quantum| quantum.0 >= 1), "a quantum is at least one packet"));
    let of_signal = match signal {
        Signal::Loss { .. } => broken(window >= 2.0, "the window is at least 2 after a loss event"),
        Signal::Timeout { first } => broken(window == 1.0, "the window is 1 after a timeout").or(broken(
            first || after.ssthresh == before.ssthresh,
            "only the first timeout of a packet sets ssthresh",
        )),
        Signal::Moderated { .. } => broken(
            window <= before.window.0 && after.ssthresh == before.ssthresh,
            "a moderated window does not grow, and ssthresh stays",
        ),
        Signal::Lost(_) => {
            broken(window <= before.window.0, "the window does not grow without an acknowledgement")
        }
        Signal::Ack(ack) if ack.growth() == 0.0 && !is_cap => {
            broken(window <= before.window.0, "the window does not grow while it must not")
        }
        _ => None,
    };
    always.or(of_signal)
}
