//! Speed.
#[path = "../tests/common/mod.rs"]
mod common;
use ackclock_scenario::*;
use ackclock_units::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let n: usize = a[2].parse().unwrap();
    let mbit: u64 = a[3].parse().unwrap();
    let secs: u64 = a[4].parse().unwrap();
    let mut s = common::scenario(&a[1]);
    let bdp = mbit * 1_000_000 / 80_000;
    for l in [&mut s.dumbbell.forward, &mut s.dumbbell.reverse] {
        l.rate = Rate(mbit * 1_000_000);
        l.queue = Queue::Droptail { limit: Limit::Packets(Packets(bdp)) };
    }
    s.dumbbell.reverse.queue = Queue::Droptail { limit: Limit::Packets(Packets(bdp * 4)) };
    s.run.duration = Span::from_seconds(secs);
    s.run.warmup = Span::ZERO;
    let f = s.flows[0].clone();
    s.flows = (0..n)
        .map(|i| {
            let mut f = f.clone();
            f.name = format!("f{i}");
            if n > 1 {
                f.start = Start::Uniform(Span::ZERO, Span::from_seconds(1));
                f.tcp.overhead = Span::from_micros(100);
            }
            f
        })
        .collect();
    #[allow(clippy::disallowed_methods)]
    let t = std::time::Instant::now();
    let r = common::run(&s);
    let e = t.elapsed().as_secs_f64();
    let f = &r.flows[0];
    println!(
        "{} x{n} {mbit} Mbit/s: {:.2} Mpkt/s, {:.1} ns/pkt, util {:.3} drops {} retr {} to {} ev {}",
        a[1],
        r.packets_simulated as f64 / e / 1e6,
        e * 1e9 / r.packets_simulated as f64,
        r.links[0].utilisation.unwrap(),
        r.links[0].queue_drops,
        f.counters.retransmitted_packets,
        f.counters.timeouts,
        f.counters.loss_events
    );
}
