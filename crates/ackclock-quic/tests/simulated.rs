//! Real QUIC endpoints in virtual time, compared with the simulated TCP on the same path.
#![cfg(feature = "simulate")]

use std::mem::ManuallyDrop;

use ackclock_cc::registry::BuiltIn;
use ackclock_quic::simulated::Quic;
use ackclock_scenario::{ParamValue, Sample, Scenario, read_toml};
use ackclock_sim::{Makers, Simulation};
use ackclock_trace::Column;
use ackclock_units::Span;
use qlog::VantagePointType;
use qlog::events::EventData;
use qlog::reader::{Event, QlogSeqReader};

fn scenario(text: &str) -> Scenario {
    read_toml(text, "test.toml", &[], &BuiltIn).unwrap_or_else(|error| panic!("{error}")).scenario
}

fn run(scenario: Scenario, run: u64) -> serde_json::Value {
    let makers = Makers { catalogue: &BuiltIn, quic: Some(&Quic::default()) };
    let mut simulation = Simulation::with(scenario, makers, run, true).unwrap();
    while !simulation.advance(1 << 20) {}
    serde_json::to_value(simulation.finish(&BuiltIn).unwrap().0).unwrap()
}

/// 20 Mbit/s, 40 ms, a queue of 100 packets of 1500 bytes. TCP as QUIC is: growth per packet, an ACK per 2 packets
/// with a timer of 25 ms, RACK, pacing by 1.25 windows per round trip, at least 2 packets.
fn path(control: &str, transport: &str, loss: &str) -> Scenario {
    let tcp = if transport == "tcp" {
        "growth = \"per_packet\"\ndelayed_ack = 2\ndelayed_ack_timer = \"25 ms\"\nrecovery = \"rack\"\npacing = true\n\
         pacing_gain = 1.25\nslow_start_gain = 1.25\nmin_window = 2\n"
    } else {
        ""
    };
    scenario(&format!(
        "[run]\nduration = \"120 s\"\nwarmup = \"20 s\"\n[dumbbell]\nrate = \"20 Mbit/s\"\ndelay = \"20 ms\"\n\
         queue = {{ kind = \"droptail\", limit = \"100 packets\" }}\nloss = {{ kind = \"bernoulli\", rate = \"{loss}\" }}\n\
         [[flow]]\ncontroller = \"{control}\"\ntransport = \"{transport}\"\nrtt = \"40 ms\"\npacket = \"1500 B\"\n\
         initial_window = 10\n{tcp}"
    ))
}

#[test]
fn a_qlog_file_has_what_the_sender_did() {
    let directory = std::env::temp_dir().join(format!("ackclock-qlog-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let quic = Quic { qlog: Some(directory.clone()) };
    let makers = Makers { catalogue: &BuiltIn, quic: Some(&quic) };
    let mut scenario = path("reno", "quic", "1 %");
    scenario.run.duration = Span::from_seconds(21);
    let mut simulation = Simulation::with(scenario.clone(), makers, 0, false).unwrap();
    while !simulation.advance(1 << 20) {}
    let summary = serde_json::to_value(simulation.finish(&BuiltIn).unwrap().0).unwrap();
    let file = std::fs::File::open(directory.join(format!("{}.sqlog", scenario.flows[0].name))).unwrap();
    let mut reader = QlogSeqReader::new(Box::new(std::io::BufReader::new(file))).unwrap();
    assert_eq!(reader.qlog.trace.vantage_point.ty, VantagePointType::Client);
    let (mut sent, mut lost, mut last, mut rtts) = (0_u64, 0, 0.0, Vec::new());
    // Events are not dropped, because compiling the destructors of all the format's types takes 14 seconds.
    while let Some(event) = ManuallyDrop::new(reader.next()).as_ref() {
        // Whatever is not an event of the qlog crate's types does not come this far.
        let Event::Qlog(event) = event else { panic!("{event:?}") };
        assert!(f64::from(event.time) >= last);
        last = f64::from(event.time);
        match &event.data {
            EventData::PacketSent(_) => sent += 1,
            EventData::PacketLost(_) => lost += 1,
            EventData::MetricsUpdated(metrics) => rtts.extend(metrics.min_rtt),
            _ => {}
        }
    }
    std::fs::remove_dir_all(&directory).unwrap();
    let counted = |key: &str| summary["flows"][0]["whole_run"][key].as_u64().unwrap();
    // A datagram of the handshake may hold two packets.
    assert!(sent >= counted("sent_packets") && sent <= counted("sent_packets") + 5, "{sent}");
    assert_eq!(lost, counted("retransmitted_packets"));
    // Milliseconds, as those of the format: the path has 40 of them, and a packet takes 0.6 ms to send.
    let least = rtts.iter().copied().fold(f32::INFINITY, f32::min);
    assert!((40.0..42.0).contains(&least), "{least}");
    // Milliseconds of simulated time.
    assert!((20_000.0..21_001.0).contains(&last), "{last}");
}

fn number(summary: &serde_json::Value, key: &str) -> f64 {
    summary["flows"][0][key].as_f64().unwrap_or_else(|| panic!("{key}: {summary}"))
}

#[test]
fn the_window_is_that_of_the_simulated_tcp() {
    let mut report = String::new();
    let mut all = true;
    for control in ["reno", "illinois", "bic", "fit", "cubic"] {
        let (tcp, quic) = (run(path(control, "tcp", "0 %"), 0), run(path(control, "quic", "0 %"), 0));
        let of = |key| (number(&tcp, key), number(&quic, key));
        let (windows, goodputs) = (of("mean_window"), of("goodput_mbps"));
        report += &format!(
            "{control}: windows {windows:?}, goodputs {goodputs:?}, events {:?}\n",
            of("loss_events")
        );
        // No more packets arrive than the link carries in 100 s, and one whose last bit arrives within them.
        assert!(goodputs.1 <= 20.0 + 0.012 / 100.0, "{control}: {goodputs:?}");
        all &= (windows.1 / windows.0 - 1.0).abs() < 0.05 && (goodputs.1 / goodputs.0 - 1.0).abs() < 0.03;
    }
    assert!(all, "{report}");
    eprintln!("{report}");
}

/// Copa without its own pacing: two packets at the set point, 1.25 times that and the packet in transmission on average
/// (`crates/ackclock-sim/tests/copa.rs`), and as many again for the bursts in which quinn sends and the ACKs of two packets.
#[test]
fn copa_keeps_its_queue_short_without_its_pacing() {
    let mut scenario = path("copa", "quic", "0 %");
    scenario.flows[0].params = vec![("mode_switching".to_owned(), ParamValue::Flag(false))].into();
    let summary = run(scenario, 0);
    let link = &summary["links"][0];
    assert!(link["utilisation"].as_f64().unwrap() > 0.99, "{link}");
    let queue = link["mean_queue_packets"].as_f64().unwrap();
    assert!(queue < 2.0 * (1.25 * 2.0 + 1.0), "{link}");
    assert_eq!(link["queue_drops"], 0, "{link}");
}

#[test]
fn the_same_seed_gives_the_same_packets() {
    for loss in ["0 %", "1 %"] {
        let digests = [0, 0, 1].map(|number| run(path("cubic", "quic", loss), number)["digest"].clone());
        assert_eq!(digests[0], digests[1]);
        // Another run has other losses, where there are any.
        assert!(loss == "0 %" || digests[0] != digests[2]);
    }
}

#[test]
fn a_finite_transfer_ends_and_a_flow_stops() {
    let text = |rest: &str| {
        format!(
            "[run]\nduration = \"20 s\"\n[dumbbell]\nrate = \"20 Mbit/s\"\ndelay = \"20 ms\"\n\
             queue = {{ kind = \"droptail\", limit = \"100 packets\" }}\nloss = {{ kind = \"bernoulli\", rate = \"1 %\" }}\n\
             [[flow]]\ncontroller = \"reno\"\ntransport = \"quic\"\npacket = \"1500 B\"\n{rest}"
        )
    };
    let done = run(scenario(&text("bytes = \"1 MB\"\nstart = \"1 s\"\n")), 0);
    // A handshake of a round trip, 1 MB at 20 Mbit/s for 0.4 s, and half a round trip at least.
    let completion = number(&done, "completion_s");
    assert!((0.46..10.0).contains(&completion), "{completion}");
    let stopped = run(scenario(&text("stop = \"5 s\"\n")), 0);
    let sent = stopped["flows"][0]["whole_run"]["sent_packets"].as_u64().unwrap();
    // At most 5 s of 20 Mbit/s, and what was under way.
    assert!((500..9500).contains(&sent), "{sent}");
}

/// 100 Mbit/s, 100 ms and a queue of one bandwidth-delay product: slow start ends with more than 1024 gaps, which a receiver
/// that reads in order does not survive. After 20 s Reno has the path for itself, with a queue that never runs empty: all of
/// 100 Mbit/s less headers, 1.5 % of them and of what is sent again.
#[test]
fn a_connection_survives_the_end_of_slow_start() {
    let text = "[run]\nduration = \"30 s\"\nwarmup = \"20 s\"\n[dumbbell]\nrate = \"100 Mbit/s\"\ndelay = \"50 ms\"\n\
                queue = { kind = \"droptail\", limit = \"833 packets\" }\n[[flow]]\ncontroller = \"reno\"\n\
                transport = \"quic\"\npacket = \"1500 B\"\n";
    let summary = run(scenario(text), 0);
    assert!(number(&summary, "goodput_mbps") > 80.0, "{summary}");
    let whole = &summary["flows"][0]["whole_run"];
    assert!(whole["dropped_packets"].as_u64().unwrap() > 500, "the end of slow start is one: {whole}");
}

#[test]
fn tcp_and_quic_share_a_link() {
    let text = "[run]\nduration = \"60 s\"\nwarmup = \"20 s\"\n[dumbbell]\nrate = \"20 Mbit/s\"\ndelay = \"20 ms\"\n\
                queue = { kind = \"droptail\", limit = \"100 packets\" }\n[tcp]\npacket = \"1500 B\"\n\
                [[flow]]\ncontroller = \"reno\"\n[[flow]]\ncontroller = \"reno\"\ntransport = \"quic\"\n";
    let summary = run(scenario(text), 0);
    let utilisation = summary["links"][0]["utilisation"].as_f64().unwrap();
    assert!(utilisation > 0.9, "{summary}");
    assert!(summary["jain"].as_f64().unwrap() > 0.8, "{summary}");
}

/// Half of the acknowledgements are lost, so that a timer of quinn may be set to a time that has passed. It expires at once.
#[test]
fn a_timer_of_the_past_expires_at_once() {
    for seed in 1..=3 {
        let text = format!(
            "run = {{ duration = \"10 s\", seed = {seed} }}\n\
             dumbbell = {{ rate = \"1 Mbit/s\", delay = \"20 ms\", queue = {{ kind = \"droptail\", limit = \"20 packets\" }}, \
             reverse = {{ loss = {{ kind = \"bernoulli\", rate = 0.5 }} }} }}\n\
             flow = [{{ controller = \"reno\", transport = \"quic\", packet = \"1500 B\" }}]\n"
        );
        assert!(number(&run(scenario(&text), 0), "goodput_mbps") > 0.1);
    }
}

/// What has been delivered in order does not become less, however much arrives beyond a gap: its samples add up to
/// the summary's rate, and it is at most what has arrived.
#[test]
fn samples_of_what_is_delivered_add_up() {
    let mut scenario = path("cubic", "quic", "1 %");
    (scenario.run.duration, scenario.run.warmup) = (Span::from_seconds(10), Span::ZERO);
    scenario.run.sample = Sample::Every(Span::from_millis(10));
    let makers = Makers { catalogue: &BuiltIn, quic: Some(&Quic::default()) };
    let mut simulation = Simulation::with(scenario, makers, 0, true).unwrap();
    while !simulation.advance(1 << 20) {}
    let (summary, tables) = simulation.finish(&BuiltIn).unwrap();
    let windows = &tables.iter().find(|(name, _)| *name == "windows").unwrap().1;
    let sum = |name: &str| {
        let column = &windows.columns.iter().find(|(other, _)| *other == name).unwrap().1;
        let Column::Whole(values) = column else { panic!("{name} has whole numbers") };
        values.iter().map(|bytes| u128::from(*bytes)).sum::<u128>()
    };
    // Mbit/s over 10 s.
    let bytes = |rate: Option<f64>| (rate.unwrap() * 10.0 * 1e6 / 8.0).round() as u128;
    let flow = &summary.flows[0];
    assert!(flow.counters.loss_events > Some(10));
    assert_eq!(sum("arrived_bytes"), bytes(flow.goodput_mbps));
    assert_eq!(sum("delivered_bytes"), bytes(flow.in_order_mbps));
    assert!(flow.in_order_mbps <= flow.goodput_mbps);
}

#[test]
fn what_quic_has_not_is_refused() {
    let refuse = |flow: &str| {
        let text = format!(
            "[run]\nduration = \"1 s\"\n[dumbbell]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n\
             queue = {{ kind = \"droptail\", limit = \"9 packets\" }}\n[[flow]]\ntransport = \"quic\"\n{flow}"
        );
        read_toml(&text, "f", &[], &BuiltIn).unwrap_err().to_string()
    };
    assert!(
        refuse("controller = \"reno\"\n").ends_with("packet: must be at least 1.228 kB over quic, is 1 kB"),
        "{}",
        refuse("controller = \"reno\"\n")
    );
    let large = "packet = \"1500 B\"\n";
    assert!(refuse(&format!("controller = \"bbr\"\n{large}")).contains("\"bbr\" is rate-based"));
    assert!(
        refuse(&format!("controller = \"reno\"\nrecovery = \"sack\"\n{large}"))
            .contains("does not apply over quic")
    );
    assert!(refuse(&format!("source = \"cbr\"\nrate = \"1 kbit/s\"\n{large}")).contains("leave out source"));
}
