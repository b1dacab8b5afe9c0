//! What the tests of controls share.

use ackclock_cc::{Ack, Controller, HyStart, Rules, Signal, Start};
use ackclock_units::{Span, Time, Window};

/// Both numbers are equal but for `tolerance`.
pub fn near(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} is not {b}");
}

/// A start in congestion avoidance at `window` packets.
pub fn at(window: f64) -> Start {
    Start {
        window: Window(window),
        ssthresh: Window(window),
        hystart: HyStart::Off,
        rules: Rules::Standard,
        seed: 0,
    }
}

/// An acknowledgement of one packet with an RTT in milliseconds, in round trip `round`.
pub fn ack(milliseconds: u64, round: u64) -> Signal {
    Signal::Ack(Ack { rtt: Some(Span::from_millis(milliseconds)), round, ..Ack::of_one_packet() })
}

/// The same during a loss episode: the control measures and does not grow.
pub fn measured(milliseconds: u64, round: u64) -> Signal {
    let rtt = Some(Span::from_millis(milliseconds));
    Signal::Ack(Ack { rtt, round, recovering: true, ..Ack::of_one_packet() })
}

/// Tells the control something at time 0; returns the window then.
pub fn tell<C: Controller>(control: &mut C, signal: Signal) -> f64 {
    control.on(Time::ZERO, signal);
    control.decision().window.0
}

/// An acknowledgement of one packet, nothing measured.
pub fn plain() -> Signal {
    Signal::Ack(Ack::of_one_packet())
}

/// A loss event.
pub const LOSS: Signal = Signal::Loss { ecn: false };

/// An internal by name.
pub fn internal<C: Controller>(control: &C, wanted: &str) -> f64 {
    let mut internal = None;
    control.internals(&mut |name, value| {
        if name == wanted {
            internal = Some(value);
        }
    });
    internal.expect("the control has such an internal")
}
