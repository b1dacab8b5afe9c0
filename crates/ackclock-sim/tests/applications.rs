//! What applications send and when they have it: limits, requests, and the times that they take.

use ackclock_scenario::read_toml;
use ackclock_sim::BuiltIn;
use ackclock_trace::{Column, Summary, Table};

use crate::common;

type Tables = Vec<(&'static str, Table)>;

fn run(text: &str, settings: &[&str]) -> (Summary, Tables) {
    let settings: Vec<_> = settings.iter().map(|setting| (*setting).to_owned()).collect();
    let scenario = read_toml(text, "test", &settings, &BuiltIn).unwrap().scenario;
    common::run_with(&scenario, 0, true, u64::MAX)
}

/// The rows of the table of requests: flow, start, bytes, completion.
fn requests(tables: &Tables) -> Vec<(u32, f64, u64, f64)> {
    let table = &tables.iter().find(|(name, _)| *name == "requests").unwrap().1;
    let [Column::Id(flows), Column::Real(starts), Column::Whole(bytes), Column::Real(completions)] =
        [0, 1, 2, 3].map(|index| table.columns[index].1.clone())
    else {
        panic!("flow, start, bytes, completion");
    };
    (0..flows.len()).map(|row| (flows[row], starts[row], bytes[row], completions[row])).collect()
}

fn near(measured: f64, expected: f64, tolerance: f64) {
    assert!((measured - expected).abs() <= tolerance, "{measured}, not {expected}");
}

/// 100 Mbit/s and 50 ms each way: a packet of 1000 bytes takes 80 us, an ACK of 40 bytes 3.2 us.
const PATH: &str = r#"
run = { duration = "20.5 s" }
dumbbell = { rate = "100 Mbit/s", delay = "50 ms", queue = { kind = "droptail", limit = "1000 packets" } }
"#;

/// 5 Mbit/s are 625 packets of 1000 bytes per second, which arrive 50.08 ms later: 12500 between 0.5 s and 20.5 s, whatever
/// the window could be. Of 100 kB the last of 100 packets is handed over at 99 * 1.6 ms and arrives 50.08 ms later.
#[test]
fn an_application_limit_is_the_rate() {
    let flow = "[[flow]]\ncontroller = \"reno\"\nlimit = \"5 Mbit/s\"\ninitial_window = 100\n";
    let (summary, _) = run(&format!("{PATH}{flow}"), &["run.warmup=0.5 s"]);
    near(summary.flows[0].goodput_mbps.unwrap(), 5.0, 5.0 / 12500.0);
    let (summary, tables) = run(&format!("{PATH}{flow}bytes = \"100 kB\"\n"), &[]);
    near(summary.flows[0].completion_s.unwrap(), 0.1584 + 0.05008, 1e-9);
    let [(0, 0.0, 100_000, completion)] = requests(&tables)[..] else { panic!("one transfer") };
    assert_eq!(Some(completion), summary.flows[0].completion_s);
}

/// Behind a bottleneck of 1 Mbit/s an application of 5 Mbit/s is as good as bulk data.
#[test]
fn a_limit_above_the_bottleneck_is_none() {
    let goodput = |limit: &[&str]| {
        let text = format!("{PATH}[[flow]]\ncontroller = \"cubic\"\n");
        run(&text, &[&["dumbbell.rate=1 Mbit/s"], limit].concat()).0.flows[0].goodput_mbps.unwrap()
    };
    near(goodput(&["flow.0.limit=5 Mbit/s"]), goodput(&[]), 0.01);
}

/// Four packets fit into the initial window, so each request takes half a round trip and 4 * 80 us: 50.32 ms. One every
/// second makes 21 of them in 20.5 s, the last of which is complete, too.
#[test]
fn requests_take_what_their_packets_take() {
    let flow = "[[flow]]\nsource = \"requests\"\nsize = \"4 kB\"\nevery = \"1 s\"\ninitial_window = 10\n";
    let (summary, tables) = run(&format!("{PATH}{flow}"), &[]);
    let rows = requests(&tables);
    assert_eq!(rows.len(), 21);
    for (number, (flow, start, bytes, completion)) in rows.iter().enumerate() {
        assert_eq!((*flow, *start, *bytes), (0, number as f64, 4000));
        near(*completion, 0.05032, 1e-9);
    }
    let flow = &summary.flows[0];
    assert_eq!(flow.requests_completed, Some(21));
    assert_eq!(flow.request_p50_s, flow.request_p99_s);
    assert_eq!(flow.completion_s, None);
}

/// With a pause of 1 s the next begins when the last ACK is there, 100 ms, 4 * 80 us and 3.2 us after the start, and a second
/// has passed. The third is the last: with it the flow is complete.
#[test]
fn thinking_begins_when_all_is_acknowledged() {
    let flow = "[[flow]]\nsource = \"requests\"\nsize = \"4 kB\"\nthink = \"1 s\"\nrequests = 3\ninitial_window = 10\n";
    let (summary, tables) = run(&format!("{PATH}{flow}"), &[]);
    let period = 1.0 + 0.1 + 4.0 * 80e-6 + 3.2e-6;
    let rows = requests(&tables);
    assert_eq!(rows.len(), 3);
    for (number, (_, start, ..)) in rows.iter().enumerate() {
        near(*start, number as f64 * period, 1e-9);
    }
    near(summary.flows[0].completion_s.unwrap(), 2.0 * period + 0.05032, 1e-9);
}

/// Two requests at the same connection: 100 packets at 1 Mbit/s take 0.8 s, so that one every 0.4 s waits for those before
/// it: the k-th, from 0, is complete no sooner than 0.8 (k + 1) s after the first began, 0.4 (k + 2) s after its own start.
#[test]
fn requests_queue_behind_each_other() {
    let flow =
        "[[flow]]\nsource = \"requests\"\nsize = \"100 kB\"\nevery = \"0.4 s\"\ninitial_window = 100\n";
    let (_, tables) = run(&format!("{PATH}{flow}"), &["dumbbell.rate=1 Mbit/s"]);
    let rows = requests(&tables);
    for (number, (.., completion)) in rows.iter().enumerate().take(10) {
        near(*completion, 0.4 * (number as f64 + 2.0) + 0.05, 0.01);
    }
    assert!(rows.last().unwrap().3.is_nan(), "the last is not complete when the run ends");
}

/// Sizes of which 70 % are small: of 2000 requests 1400, with a standard deviation of sqrt(2000 * 0.7 * 0.3) = 20.5; five of
/// those are allowed. Exponential times of 10 ms: 2000 of them last 20 s with a standard error of 10 ms * sqrt(2000) = 0.45 s.
#[test]
fn sizes_and_times_are_drawn_as_said() {
    let flow = "[[flow]]\nsource = \"requests\"\nsize = [[\"1 kB\", \"70 %\"], [\"2 kB\", 0.3]]\nevery = \"10 ms\"\n\
                spacing = \"exponential\"\nrequests = 2000\n";
    let (_, tables) = run(&format!("{PATH}{flow}"), &["run.duration=40 s"]);
    let rows = requests(&tables);
    assert_eq!(rows.len(), 2000);
    let small = rows.iter().filter(|row| row.2 == 1000).count() as f64;
    assert!(rows.iter().all(|row| [1000, 2000].contains(&row.2)));
    near(small, 1400.0, 5.0 * 20.5);
    near(rows[1999].1, 20.0, 5.0 * 0.45);
}

/// Pages of a web session are rows of the same table, of which the summary has the times.
#[test]
fn pages_are_requests() {
    let flow = "[[flow]]\nsource = \"web\"\nthink = \"0.1 s\"\nstop = \"15 s\"\n";
    let (summary, tables) = run(&format!("{PATH}{flow}"), &["run.warmup=5 s"]);
    let rows = requests(&tables);
    assert!(rows.len() > 20 && rows.iter().all(|row| row.1 < 15.0), "{}", rows.len());
    let flow = &summary.flows[0];
    let complete = rows.iter().filter(|row| row.1 + row.3 >= 5.0 && row.3.is_finite()).count();
    assert_eq!(flow.requests_completed, Some(complete as u64));
    let mut measured: Vec<_> =
        rows.iter().filter(|row| row.1 >= 5.0 && row.3.is_finite()).map(|row| row.3).collect();
    measured.sort_by(f64::total_cmp);
    // The median by its definition: the least that half of them do not exceed.
    assert_eq!(flow.request_p50_s, Some(measured[measured.len().div_ceil(2) - 1]));
    // Half a round trip and a packet at least.
    assert!(measured[0] >= 0.05008);
}

const ARRIVALS: &str = r#"
run = { duration = "200 s" }
dumbbell = { rate = "10 Mbit/s", delay = "10 ms", queue = { kind = "droptail", limit = "1000 packets" } }
flow = [
  { name = "short", controller = "reno", arrivals = { load = "20 %", sizes = [["10 kB", "50 %"], ["30 kB", "50 %"]] } },
  { controller = "cubic", stop = "1 s" },
]
"#;

/// 20 % of 10 Mbit/s in flows of 160 kbit on average: 12.5 per second, 2500 in 200 s with a standard deviation of 50, of
/// which five are allowed; half of them are small (standard deviation of the count 25). What was delivered is what arrived:
/// 2 Mbit/s, and the link is busy for a fifth of the time.
#[test]
fn flows_arrive_at_the_load_that_is_said() {
    let (summary, tables) = run(ARRIVALS, &[]);
    assert_eq!(summary.flows[0].name, "cubic-0", "ordinary flows come first and keep their numbers");
    let arrived = &summary.flows[1..];
    near(arrived.len() as f64, 2500.0, 5.0 * 50.0);
    assert_eq!((arrived[0].name.as_str(), arrived[1].name.as_str()), ("short-0", "short-1"));
    let small = arrived.iter().filter(|flow| flow.bytes == Some(10_000)).count() as f64;
    near(small, arrived.len() as f64 / 2.0, 5.0 * 25.0);
    let done = arrived.iter().filter(|flow| flow.completion_s.is_some()).count();
    assert!(arrived.len() - done < 20, "{done} of {}", arrived.len());
    // Starts are in order, and of exponential gaps with mean 0.08 s the share e^-1 is longer than that.
    let starts: Vec<_> = arrived.iter().map(|flow| flow.start_s).collect();
    let long = starts.windows(2).filter(|pair| pair[1] - pair[0] > 0.08).count() as f64 / starts.len() as f64;
    near(long, (-1.0_f64).exp(), 0.05);
    let rows = requests(&tables);
    assert_eq!(rows.len(), arrived.len());
    for (row, flow) in rows.iter().zip(arrived) {
        assert_eq!((row.0, row.1, Some(row.2)), (flow.id, flow.start_s, flow.bytes));
        assert_eq!(Some(row.3).filter(|time| time.is_finite()), flow.completion_s);
    }
    // With settings that they share.
    assert_eq!(arrived[0].settings["bytes"], serde_json::Value::Null);
}

/// The first of them on the empty path, with the initial window of 2: 10 packets go as 2, 4 and 4, so that the last comes two
/// round trips of 20 ms and 0.8 ms of a packet and 0.032 ms of an ACK, half a round trip, and four packets later.
#[test]
fn a_short_flow_takes_its_rounds() {
    let settings = ["flow.0.arrivals.sizes=10 kB", "flow.0.arrivals.load=0.1 %", "flow.0.start=2 s"];
    let (summary, _) = run(ARRIVALS, &settings);
    let round = 0.02 + 0.8e-3 + 0.032e-3;
    near(summary.flows[1].completion_s.unwrap(), 2.0 * round + 0.01 + 4.0 * 0.8e-3, 1e-9);
}

/// Recorded flows are there all the time; without that their ends are made when they start, and go when they have ended. The
/// summary is the same, and the digest in it, whether all is measured or only the second half, to which some belong in part.
#[test]
fn flows_that_have_ended_leave_their_numbers() {
    for warmup in ["run.warmup=0 s", "run.warmup=20 s", "run.warmup=39.9 s"] {
        let settings = ["run.duration=40 s", warmup, "dumbbell.queue.limit=20 packets", "flow.1.stop=30 s"]
            .map(str::to_owned);
        let scenario = read_toml(ARRIVALS, "test", &settings, &BuiltIn).unwrap().scenario;
        let plain = common::run_with(&scenario, 0, false, 1000).0;
        assert_eq!(plain, common::run_with(&scenario, 0, true, u64::MAX).0);
        assert!(plain.flows.iter().any(|flow| flow.whole_run.retransmitted_packets > 0), "not all is simple");
    }
}

/// Which flows arrive depends on seed and run and on nothing else: not on the control.
#[test]
fn arrivals_are_those_of_seed_and_run() {
    let arrived = |number: u64, settings: &[&str]| {
        let settings: Vec<_> = settings.iter().map(|setting| (*setting).to_owned()).collect();
        let scenario = read_toml(ARRIVALS, "test", &settings, &BuiltIn).unwrap().scenario;
        let summary = common::run_with(&scenario, number, false, u64::MAX).0;
        let flows = summary.flows.into_iter().skip(1);
        flows.map(|flow| (flow.start_s.to_bits(), flow.bytes)).collect::<Vec<_>>()
    };
    let first = arrived(0, &[]);
    assert_eq!(first, arrived(0, &["flow.0.controller=vegas", "flow.1.controller=reno"]));
    assert_ne!(first, arrived(1, &[]));
    assert_ne!(first, arrived(0, &["run.seed=2"]));
}

/// 1000 bytes every 0.8 ms over a link of 8 Mbit/s, 50 ms long: 1 ms each, so that the k-th packet from 0 waits 0.2 k ms, and
/// is 51 + 0.2 k ms under way. Of the 500 packets of 0.4 s the 250th has 100.8 ms, the 475th 145.8; later than 100 ms are those
/// with k > 245: 254.
#[test]
fn datagrams_have_delays() {
    let text = r#"
run = { duration = "10 s" }
dumbbell = { rate = "8 Mbit/s", delay = "50 ms", queue = { kind = "droptail", limit = "1000 packets" } }
flow = [{ source = "cbr", rate = "10 Mbit/s", bytes = "500 kB", deadline = "100 ms" }, { controller = "reno", start = "9 s" }]
"#;
    let (summary, _) = run(text, &[]);
    let flow = &summary.flows[0];
    // Histograms have steps of less than 1 %.
    near(flow.delay_p50_ms.unwrap() / 100.8, 1.0, 0.01);
    near(flow.delay_p95_ms.unwrap() / 145.8, 1.0, 0.01);
    near(flow.late.unwrap(), 254.0 / 500.0, 1e-12);
    let tcp = &summary.flows[1];
    assert_eq!((tcp.delay_p50_ms, tcp.late, flow.rtt_p50_ms), (None, None, None));
}

/// Pulses of 8 Mbit/s, 100 ms of every second, of which the first begins with the flow at 0.5 s: 100 packets each, 9.5 pulses.
#[test]
fn pulses_are_sent() {
    let text = PATH.replace("20.5 s", "10 s")
        + "[[flow]]\nsource = \"cbr\"\nrate = \"8 Mbit/s\"\nstart = \"0.5 s\"\npulse = { on = \"100 ms\", every = \"1 s\" }\n";
    assert_eq!(run(&text, &[]).0.flows[0].whole_run.sent_packets, 1000);
}

const MEDIA: &str = r#"
run = { duration = "20 s", warmup = "5 s" }
dumbbell = { rate = "10 Mbit/s", delay = "50 ms", queue = { kind = "droptail", limit = "1000 packets" } }
[[flow]]
source = "media"
rate = "1.6 Mbit/s"
frame_rate = 25
key_every = 25
key_ratio = 6
packet = "1000 B"
deadline = "58 ms"
"#;

/// 8000 bytes per frame on average: 25 frames are 30 units, so a plain frame has 6666.7 bytes, 6 or 7 packets, and a key
/// frame 40. A packet takes 0.8 ms, so frames take 54.8 or 55.6 ms and key frames 82 ms: of the 374 frames whose deadlines are
/// measured, from 5 s to 19.942 s, 15 are key frames and late. 25 frames a second have 200 packets, 1.6
/// Mbit/s; a key frame that would go at 20 s is not of this run.
#[test]
fn frames_have_delays() {
    let (summary, _) = run(MEDIA, &[]);
    let flow = &summary.flows[0];
    near(flow.goodput_mbps.unwrap(), 1.6, 0.03);
    near(flow.delay_p50_ms.unwrap() / 55.6, 1.0, 0.01);
    near(flow.delay_p99_ms.unwrap() / 82.0, 1.0, 0.01);
    near(flow.late.unwrap(), 15.0 / 374.0, 1e-12);
    assert_eq!(flow.whole_run.sent_packets, 4000);
}

/// A frame that has lost a packet is never complete. At 2 % of 200 packets per second, in plain frames of 6.67 packets of
/// which the share 1 - 0.98^6.67 = 12.6 % loses one: with 24 of 25 such frames and a key frame that is late anyway,
/// 0.04 + 0.96 * 0.126 = 16.1 % are late; standard error over 374 frames 1.8 %.
#[test]
fn frames_with_losses_are_late() {
    let (summary, _) = run(MEDIA, &["dumbbell.loss={ kind = \"bernoulli\", rate = \"2 %\" }"]);
    near(summary.flows[0].late.unwrap(), 0.161, 5.0 * 0.018);
}

/// 0.8 Mbit/s are 100 packets of 1000 bytes per second: 1000 in 10 s, the first at 0 s; then 200 per second, of which the
/// first comes 5 ms after the change, the last at 20 s: 2000; then all that is left, which fills the path.
#[test]
fn a_limit_changes() {
    let event = |at: u64, to: &str| format!("{{ at = '{at} s', set = 'flow.0.limit', to = '{to}' }}");
    let flow = "[[flow]]\ncontroller = \"reno\"\nlimit = \"0.8 Mbit/s\"\ninitial_window = 100\n";
    let sent = |events: &str, end: &str| {
        let settings = [&*format!("event=[{events}]"), &*format!("run.duration={end}")];
        run(&format!("{PATH}{flow}"), &settings).0.flows[0].counters.sent_packets
    };
    let twice = event(10, "1.6 Mbit/s");
    assert_eq!(sent("", "9.999 s"), 1000);
    assert_eq!(sent(&twice, "20.001 s"), 1000 + 2000);
    // A change before the start is that of the start.
    let late = format!("{PATH}{}", flow.replace("controller", "start = \"10 s\"\ncontroller"));
    let settings = [&*format!("event=[{}]", event(1, "1.6 Mbit/s")), "run.duration=15.001 s"];
    assert_eq!(run(&late, &settings).0.flows[0].counters.sent_packets, 1000);
    // Without a limit it is bulk data: more than 100 Mbit/s for half of a second would be 6250 packets, and it needs time
    // to grow; it sends far more than the 50 packets of the limit.
    let free = format!("{twice}, {}", event(20, "unlimited"));
    assert!(sent(&free, "20.5 s") > 3000 + 500);
}

/// Every second until 5 s; from 5.5 s on every 250 ms, the first at 5.75 s, so that 17 more begin before 10 s. From 8 s on, with
/// the request of 8 s, they have three packets and not one: 8 of them. 15 + 24 packets.
#[test]
fn requests_change() {
    let flow = "[[flow]]\nsource = \"requests\"\nsize = \"1 kB\"\nevery = \"1 s\"\n";
    let events = "event=[{ at = '5.5 s', set = 'flow.0.every', to = '250 ms' }, { at = '8 s', set = 'flow.0.size', to = '3 kB' }]";
    let (summary, tables) = run(&format!("{PATH}{flow}"), &[events, "run.duration=10 s"]);
    let starts: Vec<_> = requests(&tables).into_iter().map(|(_, start, ..)| start).collect();
    assert_eq!(starts.len(), 23);
    assert_eq!(starts[..8], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 5.75, 6.0]);
    assert_eq!(summary.flows[0].counters.sent_packets, 15 + 24);
}

/// A request per second: two of 1 kB, then from 2 s on 2 kB and 3 kB, the latter as a distribution, in turn: packets of 1000 B.
#[test]
fn sizes_of_requests_come_in_turn() {
    let flow = "[[flow]]\nsource = \"requests\"\nsize = \"1 kB\"\nevery = \"1 s\"\n";
    let events = "event=[{ at = '2 s', every = '1 s', set = 'flow.0.size', to = { in_turn = ['2 kB', [['3 kB', '100 %']]] } }]";
    let (_, tables) = run(&format!("{PATH}{flow}"), &[events, "run.duration=5.5 s"]);
    let sizes: Vec<_> = requests(&tables).into_iter().map(|(_, _, bytes, _)| bytes).collect();
    assert_eq!(sizes, [1000, 1000, 2000, 3000, 2000, 3000]);
}

/// One by one: at 1 s after the start of the flow 1 packet, at 1.5 s two, at 2 s 1000, in a list or a file.
#[test]
fn requests_have_a_schedule() {
    let flow = "[[flow]]\nsource = \"requests\"\nstart = \"1 s\"\n";
    let listed =
        format!("{PATH}{flow}schedule = [[\"1 s\", \"1 kB\"], [\"1.5 s\", \"2 kB\"], [\"2 s\", \"1 MB\"]]\n");
    let (summary, tables) = run(&listed, &[]);
    let begun: Vec<_> = requests(&tables).into_iter().map(|(_, start, bytes, _)| (start, bytes)).collect();
    assert_eq!(begun, [(2.0, 1000), (2.5, 2000), (3.0, 1_000_000)]);
    assert_eq!(
        (summary.flows[0].counters.sent_packets, summary.flows[0].requests_completed),
        (1003, Some(3))
    );
    let files = ackclock_scenario::Files::from([(
        "r".to_owned(),
        "time,bytes\n1,1000\n1.5,2 kB\n2,1 MB\n".to_owned(),
    )]);
    let draft = ackclock_scenario::Draft::from_toml(&format!("{PATH}{flow}file = \"r\"\n"), "a").unwrap();
    let read = draft.with_files(files).check(&BuiltIn).unwrap();
    assert_eq!(read.digest(), read_toml(&listed, "a", &[], &BuiltIn).unwrap().digest());
}
