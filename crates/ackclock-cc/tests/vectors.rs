//! Published numbers and hand-worked steps.

use ackclock_cc::africa::{Africa, AfricaParams, is_fast};
use ackclock_cc::aimd::{Aimd, AimdParams};
use ackclock_cc::bic_linux::{AckRatio, BicLinuxParams};
use ackclock_cc::compound::CompoundParams;
use ackclock_cc::compound_linux::{CompoundLinux, CompoundLinuxParams};
use ackclock_cc::cubic::{Cubic, CubicParams, Rfc8312, Rfc9438};
use ackclock_cc::fit::{Fit, FitParams, next_n};
use ackclock_cc::gaimd::{Gaimd, GaimdParams};
use ackclock_cc::hstcp::{HstcpParams, Rule, Table};
use ackclock_cc::illinois::IllinoisParams;
use ackclock_cc::multcp::{Multcp, MultcpParams};
use ackclock_cc::reno::{Reno, RenoParams};
use ackclock_cc::scalable::{Scalable, ScalableParams};
use ackclock_cc::{Ack, Controller, Parameters, Signal};
use ackclock_units::{Packets, Span, Time};

use crate::common::{ack, at, near, tell};

/// RFC 3649, appendix B, all of its 73 rows: the largest window, a, b. The RFC prints a row where a passes the next
/// whole number, to two digits: half a digit of rounding in a and b each, and w is rounded, too, which moves a by
/// less than 0.02 at the first rows.
#[test]
fn hstcp_follows_the_table_of_its_rfc() {
    let params = HstcpParams::default();
    let table = Table::new(Default::default());
    for (index, line) in include_str!("data/rfc3649-appendix-b.txt").lines().enumerate() {
        let row: Vec<f64> = line.split_whitespace().map(|word| word.parse().unwrap()).collect();
        let (w, a, b) = (row[0], row[1], row[2]);
        near(params.a(w), a, 0.02);
        near(params.b(w), b, 0.001);
        let (row_a, row_b) = table.a_b(w);
        assert_eq!(row_a, (index + 1) as f64, "row {index}");
        // b is kept in 256ths, rounded down.
        assert!(b - row_b < 1.0 / 256.0 + 0.0005 && b - row_b > -0.0005, "row {index}");
    }
    // Between rows: 60 packets are in the row of 118; the closed form gives 60^2 * 0.078125/60^1.2 * 0.625 = 1.29.
    assert_eq!(table.a_b(60.0).0, 2.0);
    near(params.a(60.0), 1.29, 0.005);
}

/// Paper, section 3: alpha(d1) = alpha_max, alpha(dm) = alpha_min; with the standard parameters k2 = 0 and
/// k1 = 0.1 dm, so alpha = 0.1 dm/da above d1.
#[test]
fn illinois_alpha() {
    let params = IllinoisParams::default();
    let dm = 0.008;
    assert_eq!(params.alpha(0.01 * dm, dm), 10.0);
    near(params.alpha(0.01 * dm * (1.0 + 1e-12), dm), 10.0, 1e-9);
    near(params.alpha(dm, dm), 0.1, 1e-12);
    near(params.alpha(0.5 * dm, dm), 0.2, 1e-12);
    // eta1 = 0.2: k1 = 0.0808 dm, k2 = -0.1919 dm; at da = dm/2: 0.0808/(0.5 - 0.1919) = 0.2623.
    let wide = IllinoisParams { eta1: 0.2, ..params };
    near(wide.alpha(0.5 * dm, dm), 0.2623, 1e-4);
    // No queueing delay yet: alpha_max; one constant: that.
    assert_eq!(params.alpha(0.0, 0.0), 10.0);
    let constant = IllinoisParams { alpha_min: 1.0, alpha_max: 1.0, ..params };
    assert_eq!(constant.alpha(0.5 * dm, dm), 1.0);
}

/// beta is 1/8 up to 0.1 dm, 1/2 from 0.8 dm on, and half way between the two, at 0.45 dm, 5/16.
#[test]
fn illinois_beta() {
    let params = IllinoisParams::default();
    assert_eq!((params.beta(0.1, 1.0), params.beta(0.8, 1.0)), (0.125, 0.5));
    near(params.beta(0.45, 1.0), 0.3125, 1e-12);
    assert_eq!(params.beta(0.0, 0.0), 0.125);
    let step = IllinoisParams { eta2: 0.5, eta3: 0.5, ..params };
    assert_eq!((step.beta(0.5, 1.0), step.beta(0.500_001, 1.0)), (0.125, 0.5));
}

/// Counts of acknowledgements per packet of growth, by hand.
#[test]
fn bic_linux_counts() {
    let params = BicLinuxParams::default();
    let count = |w, last_max| params.count(w, last_max);
    assert_eq!(count(14.0, 2000.0), 14.0, "Reno up to low_window");
    assert_eq!(count(1000.0, 2000.0), 62.0, "250 > 16: floor(1000/16)");
    assert_eq!(count(1960.0, 2000.0), 196.0, "a quarter of 40 is 10: 1960/10");
    assert_eq!(count(1995.0, 2000.0), 9975.0, "a quarter of 5 is 1: 1995 * 20/4");
    assert_eq!(count(2003.0, 2000.0), 10_015.0, "3 beyond: 2003 * 20/4");
    assert_eq!(count(2010.0, 2000.0), 603.0, "10 beyond: 2010 * 3/10");
    assert_eq!(count(2048.0, 2000.0), 128.0, "48 beyond: 2048/16");
    assert_eq!(count(1000.0, 0.0), 20.0, "before the first loss 5 % per round trip");
}

/// The estimate starts at 32/16. With one packet each, 32 - 2 + 1 = 31, then 31 - 1 + 1 = 31 for ever; with
/// two, 32 - 2 + 2 = 32.
#[test]
fn bic_linux_packets_per_acknowledgement() {
    let (mut singles, mut pairs) = (AckRatio::default(), AckRatio::default());
    for _ in 0..100 {
        singles.note(1);
        pairs.note(2);
    }
    assert_eq!((singles.value(), pairs.value()), (31.0 / 16.0, 2.0));
}

/// 256^0.75 = 64, 64/8 - 1 = 7; with 40 packets queued, above gamma = 30, dwnd loses 40.
#[test]
fn compound_dwnd() {
    let params = CompoundParams::default();
    near(params.dwnd(10.0, 256.0, 29.9), 17.0, 1e-12);
    assert_eq!(params.dwnd(100.0, 256.0, 40.0), 60.0);
    assert_eq!(params.dwnd(10.0, 256.0, 40.0), 0.0);
    // 8^0.75/8 is less than 1: never a decrease while little is queued.
    assert_eq!(params.dwnd(10.0, 8.0, 0.0), 10.0);
}

/// The port: floor(256^0.75)/8 - 1 = 7 whole packets; diff in half packets: 256 - floor(512 * 100/112)/2 =
/// 256 - 228.5 = 27.5 lies below 30; with 120 ms 256 - floor(426.7)/2 = 43, which dwnd loses.
#[test]
fn compound_of_linux_dwnd() {
    let params = CompoundLinuxParams::default();
    assert_eq!(params.dwnd(10.0, 256.0, 0.100, 0.112), 17.0);
    assert_eq!(params.dwnd(100.0, 256.0, 0.100, 0.120), 57.0);
    assert_eq!(params.dwnd(10.0, 256.0, 0.100, 0.120), 0.0);
    // floor(37^0.75) = 15, 15/8 = 1: no step.
    assert_eq!(params.dwnd(10.0, 37.0, 0.1, 0.1), 10.0);
}

/// Twelve round trips of 210 packets add floor(210^0.75) = 55, 55/8 = 6, 6 - 1 = 5 packets each to dwnd: a window of 40
/// is 100 then. A loss event leaves 50 and no dwnd, and Reno's part grows by a packet per window: with the 50th ACK. The
/// next round trip counts what was delivered since the last step: 260 packets, floor(260^0.75) = 64, 8 - 1 = 7.
#[test]
fn compound_of_linux_after_a_loss() {
    let mut control = CompoundLinux::new(CompoundLinuxParams::default(), at(40.0));
    let rtt = Some(Span::from_millis(100));
    let ack = |control: &mut CompoundLinux, delivered, round, credit| {
        let ack = Ack { rtt, delivered: Packets(delivered), round, credit, ..Ack::of_one_packet() };
        control.on(Time::ZERO, Signal::Ack(ack));
        control.decision().window.0
    };
    for round in 1..=12 {
        (0..3).for_each(|_| {
            ack(&mut control, 70, round - 1, 0.0);
        });
        near(ack(&mut control, 0, round, 1e-9), 40.0 + 5.0 * round as f64, 1e-6);
    }
    control.on(Time::ZERO, Signal::Loss { ecn: false });
    assert_eq!(control.decision().window.0, 50.0);
    control.on(Time::ZERO, Signal::Recovered);
    for number in 1..=50 {
        assert_eq!(ack(&mut control, 1, 12, 1.0), if number < 50 { 50.0 } else { 51.0 });
    }
    assert_eq!(ack(&mut control, 210, 13, 1e-9), 58.0);
}

/// 10 + 1/10, then a halving; a timeout gives 1 and half of the window for ssthresh, a second one keeps it.
#[test]
fn reno_by_hand() {
    let mut reno = Reno::new(RenoParams::default(), at(10.0));
    reno.on(Time::ZERO, Signal::Ack(Ack::of_one_packet()));
    near(reno.decision().window.0, 10.1, 1e-12);
    reno.on(Time::ZERO, Signal::Loss { ecn: false });
    near(reno.decision().window.0, 5.05, 1e-12);
    reno.on(Time::ZERO, Signal::Timeout { first: true });
    reno.on(Time::ZERO, Signal::Timeout { first: false });
    assert_eq!(reno.decision().window.0, 1.0);
    near(reno.decision().ssthresh.0, 2.525, 1e-12);
}

/// 100 + 32/100; then 12.5 % less.
#[test]
fn aimd_by_hand() {
    let mut aimd = Aimd::new(AimdParams::default(), at(100.0));
    aimd.on(Time::ZERO, Signal::Ack(Ack::of_one_packet()));
    near(aimd.decision().window.0, 100.32, 1e-12);
    aimd.on(Time::ZERO, Signal::Loss { ecn: false });
    near(aimd.decision().window.0, 87.78, 1e-12);
    assert!(AimdParams { alpha: 1.0, beta: 0.5 }.check().is_ok());
}

/// The window after one acknowledgement and after a loss event from there.
fn ack_and_loss<C: Controller>(params: C::Params, window: f64) -> (f64, f64) {
    let mut control = C::new(params, at(window));
    control.on(Time::ZERO, Signal::Ack(Ack::of_one_packet()));
    let grown = control.decision().window.0;
    control.on(Time::ZERO, Signal::Loss { ecn: false });
    (grown, control.decision().window.0)
}

#[test]
fn increases_and_decreases_by_hand() {
    // 100 + 0.31/100, 7/8 of it kept.
    let (grown, cut) = ack_and_loss::<Gaimd>(GaimdParams::default(), 100.0);
    near(grown, 100.0031, 1e-9);
    near(cut, 87.502_712_5, 1e-9);
    // N = 4: 100 + 4/100, an eighth cut.
    let (grown, cut) = ack_and_loss::<Multcp>(MultcpParams { n: 4.0 }, 100.0);
    near(grown, 100.04, 1e-9);
    near(cut, 87.535, 1e-9);
    // 100 + 0.01, an eighth cut; below 16 Reno: 10 + 1/10, half.
    let (grown, cut) = ack_and_loss::<Scalable>(ScalableParams::default(), 100.0);
    near(grown, 100.01, 1e-9);
    near(cut, 87.508_75, 1e-9);
    let (grown, cut) = ack_and_loss::<Scalable>(ScalableParams::default(), 10.0);
    near(grown, 10.1, 1e-9);
    near(cut, 5.05, 1e-9);
    // N = 3 fixed: 100 + 3/100, 2/10 cut.
    let (grown, cut) = ack_and_loss::<Fit>(FitParams { n: 3.0, ..FitParams::default() }, 100.0);
    near(grown, 100.03, 1e-9);
    near(cut, 80.024, 1e-9);
}

/// GAIMD with whole windows. 15.9 packets are 15, 7/8 of which are 13.125: 13; without rounding 13.9125. 9.9 packets keep
/// floor(7.875) = 7, though 7/8 of 9.9 is 8.66, and 7 keep floor(6.125) = 6. 2.5 packets would keep floor(1.75) = 1: no
/// window is less than 2 after a loss event. After a timeout ssthresh is floor(15.9/2) = 7, and no less than 2.
#[test]
fn gaimd_rounds_down_to_whole_windows() {
    let whole = GaimdParams { whole_windows: true, ..GaimdParams::default() };
    let after = |params, window, signal| {
        let mut gaimd = Gaimd::new(params, at(window));
        gaimd.on(Time::ZERO, signal);
        (gaimd.decision().window.0, gaimd.decision().ssthresh.0)
    };
    let (loss, timeout) = (Signal::Loss { ecn: false }, Signal::Timeout { first: true });
    for (window, kept) in [(15.9, 13.0), (9.9, 7.0), (7.0, 6.0), (2.5, 2.0)] {
        assert_eq!(after(whole, window, loss), (kept, kept));
    }
    near(after(GaimdParams::default(), 15.9, loss).0, 13.9125, 1e-12);
    assert_eq!(after(whole, 15.9, timeout), (1.0, 7.0));
    assert_eq!(after(whole, 3.9, timeout), (1.0, 2.0));
    near(after(GaimdParams::default(), 15.9, timeout).1, 7.95, 1e-12);
    // What it grows by is not rounded: 15 + 0.31/15.
    let (grown, _) = ack_and_loss::<Gaimd>(whole, 15.0);
    near(grown, 15.0 + 0.31 / 15.0, 1e-12);
}

/// Equation 2 by hand: with rtt_min = 100, rtt = 110 a tenth of 110 is queued: 10/110 = 0.0909. alpha = 0.5
/// allows 0.5/N: N rises to 5 (0.1) and, at 6 (0.0833), falls.
#[test]
fn fit_finds_n() {
    let mut n = 1.0;
    for expected in [2.0, 3.0, 4.0, 5.0, 6.0, 5.0, 6.0] {
        n = next_n(n, 110.0, 100.0, 0.5);
        assert_eq!(n, expected);
    }
    // Equal stays: 25/100 queued, alpha/N = 0.5/2.
    assert_eq!(next_n(2.0, 100.0, 75.0, 0.5), 2.0);
    // So does what only rounding makes unequal: at N = 1 and the first loss event after one RTT, the session's
    // largest, alpha and the queued share are the same fraction, (153620 - r)/153620, whatever r is.
    for least in 10_000..153_620 {
        let (least, rtt) = (f64::from(least) * 1e-6, 0.153_62);
        assert_eq!(next_n(1.0, rtt, least, (rtt - least) / rtt), 1.0, "{least}");
    }
    assert_eq!(next_n(1.0, 100.0, 10.0, 0.5), 1.0, "never below 1");
}

/// RTTs of 100 and 200 ms, then a loss: alpha = (200 - 100)/200 = 0.5, mean RTT 150, a third queued, less
/// than 0.5/1: N = 2. The loss itself is of one session: half the window.
#[test]
fn fit_updates_at_a_loss() {
    let mut fit = Fit::new(FitParams::default(), at(100.0));
    for milliseconds in [100, 200] {
        let rtt = Some(Span::from_millis(milliseconds));
        // Recovering, so that the window stays 100.
        fit.on(Time::ZERO, Signal::Ack(Ack { rtt, recovering: true, ..Ack::of_one_packet() }));
    }
    fit.on(Time::ZERO, Signal::Loss { ecn: false });
    near(fit.decision().window.0, 50.0, 1e-12);
    let mut internals = Vec::new();
    fit.internals(&mut |name, value| internals.push((name, value)));
    assert_eq!(internals, [("n", 2.0), ("alpha", 0.5)]);
}

/// The switch is at W (aRTT - minRTT) = alpha*aRTT: with aRTT = 2 minRTT and alpha = 1.65 at W = 3.3 exactly
/// slow, a hair below fast. In numbers that are exact: alpha = 1.5, W = 3.
#[test]
fn africa_switches_exactly() {
    assert!(!is_fast(3.0, 2.0, 1.0, 1.5), "equal is slow");
    assert!(is_fast(3.0 - 1e-12, 2.0, 1.0, 1.5));
    // Fast at 1058 packets: a = 8.02 per round trip, b = 0.327; slow: one packet, the same decrease.
    let (grown, cut) = ack_and_loss::<Africa>(AfricaParams::default(), 1058.0);
    near(grown - 1058.0, 8.02 / 1058.0, 0.01 / 1058.0);
    near(cut / grown, 1.0 - 0.327, 0.0005);
    let mut africa = Africa::new(AfricaParams::default(), at(1058.0));
    for milliseconds in [100, 200] {
        let rtt = Some(Span::from_millis(milliseconds));
        africa.on(Time::ZERO, Signal::Ack(Ack { rtt, recovering: true, ..Ack::of_one_packet() }));
    }
    // aRTT = 112.5 ms: 1058 * 12.5 > 1.65 * 112.5.
    africa.on(Time::ZERO, Signal::Ack(Ack::of_one_packet()));
    near(africa.decision().window.0, 1058.0 + 1.0 / 1058.0, 1e-12);
}

/// RFC 9438: K = cbrt(W_max (1 - beta)/C) for W_max = 10, 100, 1000, 10 000, and alpha = 0.9/1.7.
#[test]
fn cubic_constants() {
    let params = CubicParams::default();
    for (w_max, k) in [(10.0, 1.957_434), (100.0, 4.217_163), (1e3, 9.085_603), (1e4, 19.574_338)] {
        near(params.k(w_max, 0.7 * w_max), k, 1e-6);
        near(params.w_cubic(k, k, w_max), w_max, 1e-9);
        // At t = 0: C (-K)^3 + W_max = beta W_max; the printed K has six digits.
        near(params.w_cubic(0.0, k, w_max), 0.7 * w_max, 1e-3);
    }
    near(params.alpha(), 0.529_412, 1e-6);
}

/// A loss at 1000 keeps 700 and gives W_max = 1000; the next at 700 is below it: W_max = 700 * 1.7/2 = 595, and
/// 490 is kept.
#[test]
fn cubic_converges_fast() {
    let mut cubic = Cubic::<Rfc9438>::new(CubicParams::default(), at(1000.0));
    let mut maxima = Vec::new();
    for _ in 0..2 {
        cubic.on(Time::ZERO, Signal::Loss { ecn: false });
        cubic.internals(&mut |_, w_max| maxima.push(w_max));
    }
    assert_eq!(maxima, [1000.0, 595.0]);
    near(cubic.decision().window.0, 490.0, 1e-9);
}

/// After a loss at 10, beta = 0.7 keeps 7; K = cbrt(3/0.4) = 1.957 s, and at time 0 `W_cubic` = 7 as well. So there the
/// Reno-friendly window is the larger one, and the window.
///
/// RFC 9438, section 4.3: each packet adds alpha/cwnd, alpha = 0.9/1.7 until the window is what it was before the loss, then 1.
/// RFC 8312, equation 4: W_max beta + alpha t/RTT, where samples of 100 and 180 ms smooth to 110 ms (by 1/8): after 200 ms
/// 7 + 0.9/1.7 * 200/110 = 7.962567, and `W_cubic` = 10 - 0.4 * 1.757434^3 = 7.828841.
#[test]
fn cubic_is_friendly_to_reno() {
    let mut cubic = Cubic::<Rfc9438>::new(CubicParams::default(), at(10.0));
    tell(&mut cubic, Signal::Loss { ecn: false });
    let mut expected = 7.0;
    for _ in 0..100 {
        expected += if expected < 10.0 { 0.9 / 1.7 } else { 1.0 } / expected;
        near(tell(&mut cubic, ack(100, 0)), expected, 1e-9);
    }
    // A packet a round trip is sqrt(7^2 + 2 * 0.529 n) until 10 after 48 packets, and from there sqrt(10^2 + 2 n).
    near(expected, 14.28, 0.05);
    let mut old = Cubic::<Rfc8312>::new(CubicParams::default(), at(10.0));
    tell(&mut old, Signal::Loss { ecn: false });
    tell(&mut old, ack(100, 0));
    old.on(Time::ZERO + Span::from_millis(200), ack(180, 2));
    near(old.decision().window.0, 7.962_567, 1e-6);
}

/// After a loss at 1000 the window is 700 and K = 9.085603 s. With an RTT of 100 ms the target after 1 s is
/// `W_cubic`(1.1 s) = 1000 - 0.4 * 7.985603^3 = 796.305, so that an acknowledgement adds 96.305/700 (RFC 9438, section 4.4);
/// after 100 s it is 1.5 windows (section 4.2), and one adds a half. A timeout keeps 0.7 for ssthresh (section 4.8).
#[test]
fn cubic_follows_its_curve() {
    let mut cubic = Cubic::<Rfc9438>::new(CubicParams::default(), at(1000.0));
    tell(&mut cubic, Signal::Loss { ecn: false });
    tell(&mut cubic, ack(100, 0));
    let mut before = cubic.decision().window.0;
    for (milliseconds, more) in [(1000, 96.305 / 700.0), (100_000, 0.5)] {
        cubic.on(Time::ZERO + Span::from_millis(milliseconds), ack(100, 0));
        near(cubic.decision().window.0 - before, more, 1e-4);
        before = cubic.decision().window.0;
    }
    tell(&mut cubic, Signal::Timeout { first: true });
    assert_eq!(cubic.decision().window.0, 1.0);
    near(cubic.decision().ssthresh.0, 0.7 * before, 1e-9);
    cubic.internals(&mut |_, w_max| assert_eq!(w_max, 0.0));
}
