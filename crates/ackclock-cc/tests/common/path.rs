//! A path in the head, without packets: 1000 packets fill it, 300 more the queue, and then one is lost.

use ackclock_cc::erased::ErasedController;
use ackclock_cc::{Ack, RateSample, Signal};
use ackclock_units::{Packets, Span, Time};

const FILLING: f64 = 1000.0;
const QUEUE: f64 = 300.0;
const PROPAGATION: Span = Span::from_millis(100);

/// Tells `control` of `acknowledgements` on that path, one per packet, and of the losses between.
pub fn run(control: &mut dyn ErasedController, acknowledgements: u64) {
    let (mut now, mut round, mut left) = (Time::ZERO, 0, 0_u64);
    let mut window = control.decision().window.0;
    let (mut interval, mut rtt) = (PROPAGATION, PROPAGATION);
    let mut recovery_ends = 0;
    for number in 0..acknowledgements {
        if left == 0 {
            round += 1;
            left = (window as u64).max(1);
            rtt = Span::from_seconds_f64(PROPAGATION.as_seconds() * (window / FILLING).max(1.0));
            interval = Span(rtt.0 / left);
        }
        left -= 1;
        now += interval;
        let rate = RateSample {
            delivered: Packets(window as u64),
            interval: rtt,
            application_limited: false,
            prior_delivered: Packets(number.saturating_sub(window as u64)),
            tx_in_flight: Packets(window as u64),
            lost: Packets(0),
        };
        let ack = Ack {
            rtt: Some(rtt),
            in_flight: Packets(window as u64),
            round,
            rate: Some(rate),
            recovering: round < recovery_ends,
            ..Ack::of_one_packet()
        };
        window = control.on(now, Signal::Ack(ack)).window.0;
        if window > FILLING + QUEUE && round >= recovery_ends {
            window = control.on(now, Signal::Loss { ecn: false }).window.0;
            recovery_ends = round + 2;
        } else if round == recovery_ends && left == 0 {
            window = control.on(now, Signal::Recovered).window.0;
        }
    }
}
