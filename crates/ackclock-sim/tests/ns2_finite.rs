//! Finite flows whose slow start overshoots the buffer, next to ns-2.35: `Agent/TCP/Reno` with `syn_ false`, no time stamps, a
//! window of two packets at the start, a minimum timeout of 200 ms and the queue's limit as here. The times are those at which
//! the last acknowledgement is back, less the way back.

use ackclock_scenario::read_toml;
use ackclock_sim::BuiltIn;

use crate::common;

fn completion_s(recovery: &str, (rate_mbps, rtt_ms, buffer): (u32, u32, u32), packets: u32) -> f64 {
    let text = format!(
        "run = {{ duration = \"30 s\" }}\ntcp = {{ recovery = \"{recovery}\" }}\n\
         dumbbell = {{ rate = \"{rate_mbps} Mbit/s\", delay = \"{} ms\", \
         queue = {{ kind = \"droptail\", limit = \"{buffer} packets\" }} }}\n\
         flow = [{{ controller = \"reno\", rtt = \"{rtt_ms} ms\", bytes = \"{packets} kB\" }}]\n",
        rtt_ms / 2
    );
    common::run(&read_toml(&text, "finite", &[], &BuiltIn).unwrap().scenario).flows[0].completion_s.unwrap()
}

/// Within 2 %: with timeouts, after which ns-2's limited transmit lets out more of what is sent again, and without.
#[test]
fn reno_of_ns2() {
    for (path, times) in [
        ((10, 40, 20), [(100, 0.2546), (300, 0.9886), (600, 1.3849), (1000, 1.7772)]),
        ((5, 100, 60), [(100, 0.6191), (300, 1.8933), (600, 2.6208), (1000, 3.2616)]),
    ] {
        for (packets, theirs) in times {
            let ours = completion_s("reno-ns2", path, packets);
            println!("{path:?}, {packets} packets: ns-2 {theirs} s, ours {ours} s");
            assert!((ours / theirs - 1.0).abs() < 0.02, "{path:?}, {packets} packets: {theirs} and {ours} s");
        }
    }
}
