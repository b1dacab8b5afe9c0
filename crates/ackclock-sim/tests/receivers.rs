//! What receivers and the paths of single flows do to a sender: lies, thinned acknowledgements, noise.

use ackclock_scenario::{Noise, NoiseKind, read_toml};
use ackclock_sim::BuiltIn;
use ackclock_sim::packet::{Kind, Packet};
use ackclock_sim::random::Streams;
use ackclock_sim::wire::{NoiseModel, Wire};
use ackclock_trace::Summary;
use ackclock_units::{Span, Time};

use crate::common;

fn run(text: &str, settings: &[&str]) -> Summary {
    let settings: Vec<_> = settings.iter().map(|setting| (*setting).to_owned()).collect();
    common::run(&read_toml(text, "test", &settings, &BuiltIn).unwrap().scenario)
}

/// 100 Mbit/s and 50 ms each way: a packet takes 80 us, an ACK 3.2 us.
const PATH: &str = r#"
run = { duration = "20 s" }
dumbbell = { rate = "100 Mbit/s", delay = "50 ms", queue = { kind = "droptail", limit = "1000 packets" } }
[[flow]]
controller = "reno"
bytes = "24 kB"
"#;

/// Slow start from 2 packets: 24 of them go as 2, 4, 8 and 10, in four round trips less a half. With ten acknowledgements for
/// each packet the window grows by ten per packet, to 22 after the first round trip, and all have gone. A sender that counts
/// packets does not fall for it.
#[test]
fn split_acknowledgements_open_the_window() {
    let completion = |settings: &[&str]| run(PATH, settings).flows[0].completion_s.unwrap();
    let (honest, split) = (completion(&[]), completion(&["flow.0.receiver.split=10"]));
    assert!((0.35..0.355).contains(&honest), "{honest}");
    assert!((0.15..0.153).contains(&split), "{split}");
    let counted = completion(&["flow.0.receiver.split=10", "flow.0.growth=per_packet"]);
    assert!((counted - honest).abs() < 1e-3, "{counted}");
}

/// 1 % of the packets are lost, and the sender never learns of it: 100 packets per round trip of 100.0832 ms, 99 % of which
/// arrive. An honest receiver has it find and repair all losses.
#[test]
fn acknowledging_in_advance_hides_losses() {
    let settings = [
        "flow=[{ controller = \"reno\", receive_window = 100 }]",
        "run.warmup=5 s",
        "dumbbell.loss={ kind = \"periodic\", every = 100 }",
    ];
    let honest = &run(PATH, &settings).flows[0];
    let liar = &run(PATH, &[&settings[..], &["flow.0.receiver.advance=true"]].concat()).flows[0];
    assert!(honest.counters.loss_events > Some(10) && honest.goodput_mbps.unwrap() < 4.0);
    assert_eq!((liar.whole_run.loss_events, liar.whole_run.retransmitted_packets), (Some(0), 0));
    let expected = 0.99 * 100.0 * 8e-3 / 0.1000832;
    assert!((liar.goodput_mbps.unwrap() / expected - 1.0).abs() < 0.005, "{:?}", liar.goodput_mbps);
}

/// Marks that nobody tells of change nothing.
#[test]
fn marks_may_be_ignored() {
    let settings = [
        "flow=[{ controller = \"reno\", receive_window = 1500, ecn = true }]",
        "dumbbell.queue={ kind = \"step\", limit = \"1000 packets\", threshold = 10 }",
    ];
    let honest = run(PATH, &settings);
    let liar = run(PATH, &[&settings[..], &["flow.0.receiver.ignore_marks=true"]].concat());
    assert!(honest.flows[0].whole_run.loss_events > Some(0));
    assert!(liar.links[0].marks > 10 * honest.links[0].marks);
    assert_eq!((liar.flows[0].whole_run.loss_events, liar.flows[0].whole_run.dropped_packets), (Some(0), 0));
}

/// A steady window of 64 packets, acknowledged once per round trip; of 10, only by the timer of 100 ms: 10 packets per 200 ms
/// and what the packets take.
#[test]
fn acknowledgements_may_be_rare() {
    let goodput = |window: u64| {
        let flow = format!(
            "flow=[{{ controller = \"constant\", params = {{ window = {window} }}, initial_window = {window}, delayed_ack = 64 }}]"
        );
        run(PATH, &[&flow, "run.warmup=5 s"]).flows[0].goodput_mbps.unwrap()
    };
    let round = 0.1 + 64.0 * 80e-6 + 3.2e-6;
    assert!((goodput(64) / (64.0 * 8e-3 / round) - 1.0).abs() < 0.01, "{}", goodput(64));
    let round = 0.2 + 80e-6 + 3.2e-6;
    assert!((goodput(10) / (10.0 * 8e-3 / round) - 1.0).abs() < 0.01, "{}", goodput(10));
}

/// Noise on [0, 20 ms] on one of two flows, each with one packet at a time: its mean RTT is 10 ms longer (uniform: standard error
/// 20/sqrt(12 * 180) = 0.43 ms), and the other has none. On the way back it is the same.
#[test]
fn noise_may_meet_one_flow() {
    for key in ["delay_noise", "reverse_noise"] {
        let flows = format!(
            "flow=[{{ controller = \"reno\", receive_window = 1, {key} = {{ kind = \"uniform\", range = \"20 ms\" }} }}, \
             {{ controller = \"reno\", receive_window = 1, start = \"50 ms\" }}]"
        );
        let summary = run(PATH, &[&flows]);
        let mean = summary.flows[0].mean_rtt_ms.unwrap();
        assert!((mean - 110.0832).abs() < 5.0 * 0.43, "{key}: {mean}");
        assert!((summary.flows[1].rtt_p99_ms.unwrap() / 100.0832 - 1.0).abs() < 0.01);
    }
}

/// Wi-Fi: with a mean of 1 ms the long part never comes, and N1 less a part of one where it is not 0 has the mean
/// 1 - 0.5 (1 - 1/e) = 0.684 ms and the share 1/e of zeros. With a mean of 10 ms, 12 * 7.5 = 90 ms come with probability 0.1: 9.684
/// ms. Of 10^5 packets the standard errors are about 0.003 ms, 0.0015, and, as the long part has a variance of
/// 0.1 (90^2 + 12 * 7.5^2) - 81 = 797, 0.09 ms.
#[test]
fn wifi_has_the_moments_that_it_says() {
    let delays = |mean: u64| {
        let noise = Noise {
            kind: NoiseKind::Wifi(Span::from_millis(mean)),
            reorder: true,
            hold: None,
            correlation: 0.0,
        };
        let mut wire = Wire::new(Span::ZERO, Some(NoiseModel::new(noise, 0, 1, Streams { seed: 1, run: 0 })));
        let mut delays = Vec::new();
        for number in 0..100_000_u64 {
            let sent = Time::ZERO + Span::from_seconds(number);
            wire.push(sent, Packet::new(Kind::Data, 0, 0, number, sent, 1000));
            delays.push(wire.next().since(sent).as_millis());
            wire.pop();
        }
        delays
    };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let short = delays(1);
    assert!((mean(&short) - 0.684).abs() < 5.0 * 0.003, "{}", mean(&short));
    let zeros = short.iter().filter(|delay| **delay == 0.0).count() as f64 / 1e5;
    assert!((zeros - (-1.0_f64).exp()).abs() < 5.0 * 0.0015, "{zeros}");
    let long = delays(10);
    assert!((mean(&long) - 9.684).abs() < 5.0 * 0.09, "{}", mean(&long));
}
