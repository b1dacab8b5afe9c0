//! A control that sets window and rate in the running kernel: BBR over an emulated path.

use super::{AtomicBool, ClearAtEnd, Host, Loaded, Ordering, Process, Stand, TURN};
use super::{Command, Stdio, scope, serve, trace, until, wait};

const LINK_MBPS: f64 = 20.0;
/// Bytes of a packet, and how many of them fill the link and 40 ms.
const PACKET: f64 = 1500.0;
const BDP: f64 = LINK_MBPS * 1e6 * 0.04 / (8.0 * PACKET);
/// Of the simulator: 0.99 of the rate, less 0.25 s of ProbeRTT at half of it every 5.2 s.
const RATE_MBPS: f64 = LINK_MBPS * 0.99 * (1.0 - 0.5 * 0.25 / 5.2);
const PROBE_RTT: f64 = 6.0;

/// What a line of the trace tells.
struct Change {
    connection: String,
    time_s: f64,
    window: f64,
    delivered: f64,
    state: f64,
}

fn changes(text: &str) -> Vec<Change> {
    let number = |word: &str| word.parse::<f64>().unwrap();
    let of = |line: &str| {
        let row: Vec<_> = line.split(',').collect();
        let state = row[14].split(' ').find_map(|word| word.strip_prefix("state="));
        Change {
            connection: row[1].to_owned(),
            time_s: number(row[0]) / 1e6,
            window: number(row[4]),
            delivered: number(row[7]),
            state: number(state.unwrap()),
        }
    };
    text.lines().skip(1).filter(|line| line.contains(",bbr3-approx,")).map(of).collect()
}

/// The changes of a transfer of 14 s, and whether the path was in time for them to count.
fn transfer() -> (Vec<Change>, bool) {
    let stand = Stand::on(
        ("20 Mbit/s", "20 ms", PACKET as u16),
        "queue = { kind = \"droptail\", limit = \"67 packets\" }",
    );
    let Host { namespace, .. } = &stand.hosts.client;
    let _server = serve(&stand.hosts.server);
    let goes_on = AtomicBool::new(true);
    let text = scope(|scope| {
        let end = ClearAtEnd(&goes_on);
        let tracing = scope.spawn(|| {
            let mut text = Vec::new();
            assert_eq!(trace::write(&mut text, &|| goes_on.load(Ordering::Relaxed)), Ok(0));
            String::from_utf8(text).unwrap()
        });
        until("the trace has begun", || trace::listener().is_some());
        let client = Command::new("ip")
            .args(["netns", "exec", namespace, "iperf3", "-c", stand.hosts.server.address])
            .args(["-C", "ack_bbr3_approx", "-t", "14"])
            .stdout(Stdio::null())
            .spawn();
        let mut client = Process(client.unwrap());
        assert!(wait(&mut client.0).success(), "iperf3 failed");
        drop(end);
        until("the trace has ended", || tracing.is_finished());
        tracing.join().unwrap()
    });
    let [forward, _] = stand.pump.stop().unwrap().directions;
    (changes(&text), forward.lateness.late_share <= 0.01)
}

/// The rate is that of the simulator's `bbr3-linux` within 5 %: the emulator and the kernel's pacing are late by tens of
/// microseconds, and 12 s begin and end anywhere in a cycle of 2.5 s, of which UP sends a quarter more for 0.16 s.
#[test]
#[ignore = "needs root, a kernel with BTF, ip, ss and iperf3"]
fn bbr_has_the_simulators_rate_and_dips() {
    let _turn = TURN.lock();
    let _loaded = Loaded::new("bbr3-approx");
    // A path that was late says nothing about the control.
    let tried = (0..3).map(|_| transfer()).find(|(_, is_valid)| *is_valid);
    let (mut changes, _) = tried.expect("the path was late three times");
    let data = changes.iter().max_by(|change, other| change.delivered.total_cmp(&other.delivered));
    let data = data.unwrap().connection.clone();
    changes.retain(|change| change.connection == data);
    let began = changes[0].time_s + 2.0;
    let settled: Vec<_> = changes.iter().filter(|change| change.time_s > began).collect();
    let (first, last) = (settled[0], settled[settled.len() - 1]);
    let rate = (last.delivered - first.delivered) * PACKET * 8e-6 / (last.time_s - first.time_s);
    println!("{rate:.2} Mbit/s, {RATE_MBPS:.2} in the simulator");
    assert!((rate / RATE_MBPS - 1.0).abs() < 0.05, "{rate} Mbit/s");
    // Half of the largest measured rate, which is at least the mean above, in the shortest RTT, which is above 40 ms, and
    // after it what there was before.
    let dips = settled.iter().filter(|change| change.state == PROBE_RTT).map(|change| change.window);
    let least = dips.fold(f64::INFINITY, f64::min);
    let half = 0.5 * BDP * rate / LINK_MBPS;
    assert!((half..0.6 * BDP).contains(&least), "{least} packets in ProbeRTT, at least {half:.1} expected");
    let mut later = settled.iter().skip_while(|change| change.state != PROBE_RTT);
    let after = later.find(|change| change.state != PROBE_RTT).unwrap();
    assert!(after.window > BDP, "{} packets after ProbeRTT", after.window);
}
