//! Agreement with ns-2.35 on one dumbbell (numbers in docs/validation.md).
mod common;

#[test]
#[ignore]
fn explore() {
    for c in ["reno", "hstcp-table", "bic-linux", "hstcp", "bic", "illinois", "illinois-linux", "compound", "compound-linux", "aimd"] {
        for rec in [ackclock_scenario::Recovery::Sack, ackclock_scenario::Recovery::NewReno, ackclock_scenario::Recovery::Reno] {
        let mut s = common::scenario(c);
        s.flows[0].tcp.recovery = rec;
        let t = std::time::Instant::now();
        let r = common::run(&s);
        let f = &r.flows[0];
        println!("{c:15} {rec:?} goodput {:.2} window {:.1} drops {} cuts {} to {} queue {:.1} | slow start drops {} | {:.1} Mpkt/s",
            f.goodput_mbps.unwrap(), f.mean_window.unwrap(), f.counters.dropped_packets, f.whole_run.loss_events, f.whole_run.timeouts,
            r.links[0].mean_queue_packets.unwrap(), f.whole_run.dropped_packets - f.counters.dropped_packets, r.packets_simulated as f64 / t.elapsed().as_secs_f64()/1e6);
        }
    }
}
