//! Response functions under periodic loss: what a control gets where one packet in 1/p is lost.

use ackclock_scenario::{Limit, Loss, ParamValue, Queue, Scenario};
use ackclock_units::{Packets, Rate, Span, Window};

use crate::common;

/// Packets delivered per round trip of 100 ms on a path that only loses, one packet in `every`.
fn response(controller: &str, params: &[(&str, f64)], every: u64, seconds: u64) -> f64 {
    let mut scenario = lossy(controller, every, seconds);
    *scenario.flows[0].params =
        params.iter().map(|(name, value)| ((*name).to_owned(), ParamValue::Number(*value))).collect();
    packets_per_round(&scenario)
}

fn lossy(controller: &str, every: u64, seconds: u64) -> Scenario {
    let mut scenario = common::scenario(controller);
    scenario.links[0].loss = Loss::Periodic { every };
    for link in &mut scenario.links {
        link.rate = Rate(100_000_000_000);
        link.queue = Queue::Droptail { limit: Limit::Packets(Packets(1_000_000)) };
    }
    scenario.run.duration = Span::from_seconds(seconds);
    scenario
}

fn packets_per_round(scenario: &Scenario) -> f64 {
    // Mbit/s * 0.1 s / 8000 bit.
    common::run(scenario).flows[0].goodput_mbps.unwrap() * 1e6 * 0.1 / 8000.0
}

fn assert_near(measured: f64, formula: f64) {
    assert!((measured / formula - 1.0).abs() < 0.05, "{measured} against {formula}");
}

/// AIMD with increase a and the fraction b cut (bic.md): R = sqrt(a (2 - b)/(2 b p)). The recovery round trip
/// without growth costs more the shorter the cycle of b W/a round trips is; at 1e-4 it is 1 in 40 for
/// MulTCP and below 1 in 100 for GAIMD.
#[test]
fn additive_increases() {
    let formula = |a: f64, b: f64, p: f64| (a * (2.0 - b) / (2.0 * b * p)).sqrt();
    assert_near(response("gaimd", &[], 10_000, 400), formula(0.31, 0.125, 1e-4));
    assert_near(response("multcp", &[("n", 4.0)], 10_000, 400), formula(4.0, 0.125, 1e-4));
    // FIT with N fixed, equation 18: N sqrt(3/(2p)), up to 3 % less by equation 15.
    assert_near(response("fit", &[("n", 3.0)], 10_000, 400), 3.0 * (1.5e4_f64).sqrt());
}

/// Scalable: a cycle of -ln(0.875)/ln(1.01) = 13.4 round trips loses one packet of those that it sends,
/// 0.125 W/0.01 = 12.5 W; the recovery round trip adds 0.875 W without growth. So W = 1/p/13.375, and the rate
/// is 1/p over 14.4 round trips.
#[test]
fn scalable() {
    for every in [10_000_u64, 100_000] {
        assert_near(response("scalable", &[], every, 300), every as f64 / 14.42);
    }
}

/// TFRC obeys the equation of RFC 5348, section 3.1, with t_RTO = 4 R and b = 1: X = 1/(R (sqrt(2p/3) + 12 sqrt(3p/8) p (1 +
/// 32 p^2))). With periodic losses every loss interval has 1/p packets, and more than a round trip has, so p is exact:
/// at 1/100 11.23 packets per round trip are sent, at 1/1000 38.38, at 1/10 000 122.36; all but p of them arrive. That is
/// what Reno gets, sqrt(3/(2p)), where timeouts are rare.
#[test]
fn tfrc() {
    for (every, sent) in [(100, 11.23), (1000, 38.38), (10_000, 122.36)] {
        let measured = response("tfrc", &[], every, 600);
        let formula = sent * (1.0 - 1.0 / every as f64);
        assert!((measured / formula - 1.0).abs() < 0.02, "{measured} against {formula}");
    }
}

/// HSTCP's own response function, 0.12/p^0.835 (RFC 3649, section 5), of which its a(W) is made.
#[test]
fn hstcp() {
    assert_near(response("hstcp", &[], 100_000, 400), 0.12 * 1e5_f64.powf(0.835));
}

/// BI-TCP by its equations 1.3 (from p = 1e-5 down) and 1.5, of which these values are anchors computed by hand.
/// The analysis halves the gap to the maximum once per round trip, so the control does here, too.
#[test]
fn bic() {
    for (every, seconds, rate) in
        [(1_000_u64, 300, 83.0), (10_000, 300, 655.7), (100_000, 300, 3646.0), (1_000_000, 300, 14_118.0)]
    {
        let mut scenario = lossy("bic", every, seconds);
        *scenario.flows[0].params = vec![("search".to_owned(), ParamValue::Text("per_rtt".to_owned()))];
        assert_near(packets_per_round(&scenario), rate);
    }
}

/// RFC 9438, section 5, table for C = 0.4 and RTT 0.1 s: mean windows 187, 1054, 5926 at p = 1e-4, 1e-5, 1e-6.
/// Without fast convergence, which periodic loss can toggle. A flow that starts with W_max too large by the share
/// e loses so little of it that the table is reached slowly: a cycle then is shorter than K by 4/3 e K, and W_max
/// moves by C (T - K)^3 = -0.3 W_max (4/3)^3 e^3 = -0.71 W_max e^3, so that after n cycles e is at most
/// 1/sqrt(1.42 n), whatever it was.
#[test]
fn cubic() {
    for (every, cycles, window) in [(10_000_u64, 1000, 187.4), (100_000, 60, 1054.0), (1_000_000, 10, 5926.0)]
    {
        let seconds = every * cycles / (10 * window as u64);
        let mut scenario = lossy("cubic", every, seconds);
        scenario.run.warmup = Span::from_seconds(seconds / 2);
        *scenario.flows[0].params = vec![("fast_convergence".to_owned(), ParamValue::Flag(false))];
        scenario.flows[0].tcp.initial_ssthresh = Window(0.8 * window);
        let excess = packets_per_round(&scenario) / window - 1.0;
        let most = 1.0 / (1.42 * cycles as f64 / 2.0).sqrt();
        assert!(excess > -0.02 && excess < most + 0.02, "1/p = {every}: {excess}, at most {most}");
    }
}
