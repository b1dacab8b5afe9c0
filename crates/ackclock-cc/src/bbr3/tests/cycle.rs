//! States: when they begin and end.

use super::*;

fn millis(milliseconds: u64) -> Time {
    Time::ZERO + Span::from_millis(milliseconds)
}

const NOTHING: Sample =
    Sample { rate: 0.0, delivered: 0.0, prior_delivered: 0, limited: false, tx_in_flight: 0.0, lost: 0.0 };

/// Six acknowledgements with losses, or marks, in a round trip of recovery at whose end a flight lost more than 2 % end
/// Startup: 3 of 100. The volume is then bounded by what was delivered, 50, or what fills the path, 1000 * 0.04 = 40.
#[test]
fn losses_end_startup() {
    let lossy = Ack { lost: Packets(1), recovering: true, ..Ack::of_one_packet() };
    let marked = Ack { lost: Packets(0), marked: Packets(1), ..lossy };
    let clean = Ack { lost: Packets(0), ..lossy };
    let (high, low) = (Sample { tx_in_flight: 100.0, lost: 3.0, ..NOTHING }, NOTHING);
    for (acks, sample, round_ends, ends) in [
        ([lossy; 6], high, true, true),
        ([marked; 6], high, true, true),
        ([lossy, lossy, lossy, lossy, lossy, clean], high, true, false),
        ([lossy; 6], high, false, false),
        ([lossy; 6], low, true, false),
        ([Ack { recovering: false, ..lossy }; 6], high, true, false),
    ] {
        let mut control = on_the_path(State::Startup);
        control.full = FullPipe::default();
        control.largest_rate.note(&Sample { rate: 1000.0, ..NOTHING });
        control.latest = 50.0;
        for (number, ack) in acks.iter().enumerate() {
            assert_eq!(control.state, State::Startup);
            control.loss_round_start = round_ends && number == 5;
            control.check_startup(&sample, ack);
        }
        assert_eq!(control.state, if ends { State::Drain } else { State::Startup });
        assert_eq!(control.lt, if ends { 50.0 } else { f64::INFINITY });
        // The next round trip counts anew.
        control.state = State::Startup;
        control.full = FullPipe::default();
        if round_ends {
            control.check_startup(&high, &lossy);
            assert_eq!(control.state, State::Startup);
        }
    }
}

/// 1000/s for 40 ms are 40 packets. Drain lasts until no more are in flight; in the draft at most three round trips.
#[test]
fn drain_ends_with_its_queue() {
    fn after<V: Version>(state: State, in_flight: f64, round: u64) -> State {
        let mut control = path::<V>(state);
        control.largest_rate.note(&Sample { rate: 1000.0, ..NOTHING });
        (control.in_flight, control.drain_round, control.round) = (in_flight, 5, round);
        control.check_drain(Time::ZERO);
        control.state
    }
    assert_eq!(after::<Draft>(State::Drain, 41.0, 8), State::Drain);
    assert_eq!(after::<Draft>(State::Drain, 40.0, 5), State::Down);
    assert_eq!(after::<Draft>(State::Drain, 41.0, 9), State::Down);
    assert_eq!(after::<Linux>(State::Drain, 41.0, 9), State::Drain);
    assert_eq!(after::<Linux>(State::Drain, 40.0, 5), State::Down);
    assert_eq!(after::<Draft>(State::Cruise, 40.0, 5), State::Cruise);
}

/// 83.3 packets, half of the path, may be in flight; from then on 200 ms and a round trip must pass. The bounds of the time
/// between probes are forgotten, and the window is what it was.
#[test]
fn probe_rtt_lasts_200_ms_and_a_round_trip() {
    for (reached, next) in [(true, State::Cruise), (false, State::Startup)] {
        let mut control = on_the_path(State::Cruise);
        (control.window, control.bst, control.st) = (300.0, 2000.0, 150.0);
        control.full.reached = reached;
        control.in_flight = 84.0;
        control.probe_rtt(millis(0), false);
        assert_eq!(control.state, State::Cruise);
        control.probe_rtt(millis(0), true);
        control.window = 80.0;
        control.round_start = true;
        control.probe_rtt(millis(500), false);
        assert_eq!((control.state, control.probe_rtt_ends), (State::ProbeRtt, None));
        control.in_flight = 83.0;
        control.probe_rtt(millis(1000), false);
        assert_eq!(control.probe_rtt_ends, Some(millis(1200)));
        control.round_start = false;
        control.probe_rtt(millis(1300), false);
        assert_eq!(control.state, State::ProbeRtt, "no round trip has passed");
        control.round_start = true;
        control.probe_rtt(millis(1200), false);
        assert_eq!(control.state, State::ProbeRtt, "200 ms, not more");
        control.round_start = false;
        control.probe_rtt(millis(1201), false);
        assert_eq!((control.state, control.window, control.least_rtt.probe_at), (next, 300.0, millis(1201)));
        assert_eq!((control.bst, control.st), (f64::INFINITY, f64::INFINITY));
    }
}

/// Another sample than those of ProbeRTT is judged first: a probe that is cut short tells nothing of its rate.
#[test]
fn probe_rtt_ends_the_feedback_of_a_probe() {
    let mut control = on_the_path(State::Up);
    control.cycle.takes_samples = true;
    control.probe_rtt(Time::ZERO, true);
    control.round_start = true;
    control.advance_cycle(Time::ZERO, &Ack::of_one_packet(), &NOTHING);
    assert!(!control.cycle.takes_samples);
}

/// The wait is 2.5 s where the seed asks for the middle, or as many round trips as packets fill the path or the window, 63 at
/// most; in DOWN and in CRUISE.
#[test]
fn probes_are_seconds_or_round_trips_apart() {
    for state in [State::Down, State::Cruise] {
        for (now, rounds, window, probes) in [
            (12_500, 62, 400.0, false),
            (12_501, 0, 400.0, true),
            (10_000, 63, 400.0, true),
            (10_000, 9, 10.0, false),
            (10_000, 10, 10.0, true),
        ] {
            let mut control = on_the_path(State::Up);
            control.cycle.rounds = 40;
            control.enter_down(millis(10_000));
            assert_eq!(control.cycle.rounds, 0);
            (control.state, control.window, control.in_flight) = (state, window, 500.0);
            control.cycle.rounds = rounds;
            (control.bst, control.st) = (2000.0, 150.0);
            control.advance_cycle(millis(now), &Ack::of_one_packet(), &NOTHING);
            assert_eq!(control.state, if probes { State::Refill } else { state }, "{now} ms, {rounds}");
            assert_eq!((control.bst.is_finite(), control.st.is_finite()), (!probes, !probes));
        }
    }
}

/// DOWN is over when the path, 166.7 packets, and 0.85 of lt are no longer exceeded. Linux takes lt along into CRUISE.
#[test]
fn down_leaves_room() {
    fn after<V: Version>(lt: f64, in_flight: f64) -> (State, f64) {
        let mut control = path::<V>(State::Down);
        control.largest_rate.note(&Sample { rate: control.bw, ..NOTHING });
        (control.lt, control.st, control.in_flight, control.window) = (lt, 200.0, in_flight, 400.0);
        control.advance_cycle(Time::ZERO, &Ack::of_one_packet(), &NOTHING);
        (control.state, control.st)
    }
    assert_eq!(after::<Draft>(100.0, 86.0), (State::Down, 200.0));
    assert_eq!(after::<Draft>(100.0, 85.0), (State::Cruise, 200.0));
    assert_eq!(after::<Draft>(f64::INFINITY, 167.0), (State::Down, 200.0));
    assert_eq!(after::<Draft>(f64::INFINITY, 166.0), (State::Cruise, 200.0));
    assert_eq!(after::<Linux>(100.0, 85.0), (State::Cruise, 100.0));
}

/// A control in UP, which a round trip of REFILL has begun, with a window of 64 packets that lt allows.
fn up(control: &mut Bbr3<Draft>) {
    (control.window, control.lt) = (64.0, 64.0);
    control.enter_refill();
    control.round_start = false;
    control.advance_cycle(Time::ZERO, &Ack::of_one_packet(), &NOTHING);
    assert_eq!(control.state, State::Refill);
    let rates = control.largest_rate;
    control.round_start = true;
    control.advance_cycle(Time::ZERO, &Ack::of_one_packet(), &NOTHING);
    assert_eq!((control.state, control.cycle.takes_samples), (State::Up, true));
    assert_eq!(control.largest_rate, rates, "a probe begins no cycle of rates");
    control.round_start = false;
}

/// lt grows by a packet per 64 acknowledged, per 32 in the next round trip: of 80 acknowledged 16 are left over, 48 more
/// make another. It grows only while it is what limits sending, and each probe begins anew.
#[test]
fn up_raises_the_bound_that_limits_it() {
    let mut control = on_the_path(State::Cruise);
    control.largest_rate.note(&Sample { rate: 5000.0, ..NOTHING });
    control.enter_down(Time::ZERO);
    for _ in 0..2 {
        up(&mut control);
        let acked = |packets, round_limited| Ack {
            delivered: Packets(packets),
            round_limited,
            ..Ack::of_one_packet()
        };
        assert_eq!(control.cycle.per_increase, 64.0);
        let mut lt = |ack, window, round_start| {
            (control.window, control.round_start) = (window, round_start);
            control.advance_cycle(Time::ZERO, &ack, &NOTHING);
            control.lt
        };
        assert_eq!(lt(acked(80, true), 64.0, false), 65.0);
        assert_eq!(lt(acked(48, false), 65.0, false), 65.0);
        assert_eq!(lt(acked(48, true), 64.9, false), 65.0);
        assert_eq!(lt(acked(48, true), 65.0, false), 66.0);
        assert_eq!(lt(acked(0, true), 66.0, true), 66.0);
        assert_eq!(lt(acked(98, true), 66.0, false), 68.0, "66/2 = 33 per packet");
    }
    control.state = State::Cruise;
    control.advance_cycle(Time::ZERO, &Ack { delivered: Packets(640), ..Ack::of_one_packet() }, &NOTHING);
    assert_eq!(control.lt, 68.0, "only in UP");
    assert!(control.cycle.takes_samples);
    control.enter_down(Time::ZERO);
    assert_eq!(control.cycle.per_increase, f64::INFINITY);
}

/// Half of the cycles begin with a round trip, at random: of 64 no less than 16 and no more than 48, four standard errors.
#[test]
fn cycles_differ() {
    let start = Start { seed: 42, ..Start::default() };
    let mut control = Bbr3::<Draft>::new(Bbr3Params::default(), start);
    let longer = (0..64).filter(|_| {
        control.enter_down(Time::ZERO);
        control.cycle.rounds == 1
    });
    assert!((16..=48).contains(&longer.count()));
}

/// UP ends when the rate has stopped growing, unless lt is what limits it; much in flight alone does not end it.
#[test]
fn up_ends_when_the_pipe_is_full() {
    for (full, window, round_limited, next) in [
        (false, 64.0, true, State::Up),
        (true, 64.0, true, State::Down),
        (true, 100.0, true, State::Up),
        (true, 100.0, false, State::Down),
    ] {
        let mut control = on_the_path(State::Up);
        (control.lt, control.window, control.in_flight, control.full.now) = (100.0, window, 100.0, full);
        let ack = Ack { round_limited, ..Ack::of_one_packet() };
        control.advance_cycle(Time::ZERO, &ack, &NOTHING);
        assert_eq!(control.state, next);
    }
}

/// When the first packets of DOWN are acknowledged a cycle of rates is over, unless the last sample was limited. It is
/// not yet time for another probe, neither after a probe that was not cut short nor after the one that made up for
/// that.
#[test]
fn a_cycle_of_rates_ends_with_the_probe() {
    for limited in [false, true] {
        let mut control = on_the_path(State::Up);
        control.largest_rate.note(&Sample { rate: 5000.0, ..NOTHING });
        let mut expected = control.largest_rate;
        if !limited {
            expected.advance(false);
        }
        control.window = 400.0;
        control.enter_down(Time::ZERO);
        control.in_flight = 500.0;
        for round_start in [false, true, true] {
            control.round_start = round_start;
            control.advance_cycle(Time::ZERO, &Ack::of_one_packet(), &Sample { limited, ..NOTHING });
            assert_eq!(control.state, State::Down);
        }
        assert_eq!(control.largest_rate, expected);
    }
    let mut control = on_the_path(State::Up);
    (control.lt, control.window, control.in_flight, control.cycle.was_too_high) = (64.0, 400.0, 500.0, true);
    for state in [State::Down, State::Refill, State::Up] {
        control.advance_cycle(Time::ZERO, &Ack::of_one_packet(), &NOTHING);
        assert_eq!(control.state, state);
        control.round_start = true;
    }
    control.enter_down(Time::ZERO);
    control.advance_cycle(Time::ZERO, &Ack::of_one_packet(), &NOTHING);
    assert_eq!(control.state, State::Down);
}

/// Linux judges the losses of a sample, too: 5 of 200 while probing. The draft has them told one by one.
#[test]
fn linux_judges_samples() {
    fn after<V: Version>(probes: bool) -> (State, f64) {
        let mut control = path::<V>(State::Up);
        (control.window, control.in_flight, control.cycle.takes_samples) = (300.0, 500.0, probes);
        let sample = Sample { tx_in_flight: 200.0, lost: 5.0, ..NOTHING };
        control.advance_cycle(Time::ZERO, &Ack::of_one_packet(), &sample);
        (control.state, control.lt)
    }
    assert_eq!(after::<Linux>(true), (State::Down, 200.0));
    assert_eq!(after::<Linux>(false), (State::Up, f64::INFINITY));
    assert_eq!(after::<Draft>(true), (State::Up, f64::INFINITY));
}
