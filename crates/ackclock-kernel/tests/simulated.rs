//! BBR as the kernel has it, beside `bbr3-linux`, which it approximates, on the same paths in the simulator.

use ackclock_cc::registry::{Catalogue, Entry};
use ackclock_kernel::twin;
use ackclock_scenario::read_toml;
use ackclock_sim::{BuiltIn, Simulation};
use ackclock_trace::{Column, Summary, Table};

const KERNELS: &str = "bbr3-approx@kernel";
const OURS: &str = "bbr3-linux";
/// Packets of 1500 bytes that fill 20 Mbit/s and 40 ms.
const BDP: f64 = 20e6 * 0.04 / 12_000.0;

struct All(Vec<Entry>);

impl Catalogue for All {
    fn entries(&self) -> &[Entry] {
        &self.0
    }
}

/// These controls, one flow each, over 20 Mbit/s and 40 ms with a buffer of so many BDP.
fn simulated(controls: &[&str], buffer: f64, loss: f64, run: u64) -> (Summary, Vec<(&'static str, Table)>) {
    let all = All(BuiltIn.entries().iter().chain(twin::entries()).copied().collect());
    let mut text = format!(
        "[run]\nduration = \"100 s\"\nwarmup = \"10 s\"\nsample = \"10 ms\"\n\
         [dumbbell]\nrate = \"20 Mbit/s\"\ndelay = \"20 ms\"\n\
         queue = {{ kind = \"droptail\", limit = \"{} packets\" }}\n\
         loss = {{ kind = \"bernoulli\", rate = {loss} }}\n",
        (buffer * BDP).round()
    );
    for control in controls {
        text += &format!(
            "[[flow]]\ncontroller = \"{control}\"\nrtt = \"40 ms\"\nprofile = \"linux\"\npacket = \"1500 B\"\n"
        );
    }
    let checked = read_toml(&text, "path.toml", &[], &all).unwrap();
    let mut simulation = Simulation::new(checked.scenario, &all, run, true).unwrap();
    while !simulation.advance(u64::MAX) {}
    simulation.finish(&all).unwrap()
}

/// Goodput, Mbit/s, and mean RTT, ms, of a flow alone.
fn alone(control: &str, buffer: f64, loss: f64, run: u64) -> (f64, f64) {
    let (summary, _) = simulated(&[control], buffer, loss, run);
    (summary.flows[0].goodput_mbps.unwrap(), summary.flows[0].mean_rtt_ms.unwrap())
}

#[test]
fn look() {
    for loss in [0.0, 0.001, 0.01, 0.02] {
        for buffer in [0.5, 1.0, 2.0, 8.0] {
            let runs = if loss > 0.0 { 6 } else { 3 };
            let of = |control| (0..runs).map(|run| alone(control, buffer, loss, run)).collect::<Vec<_>>();
            let shown = |all: &[(f64, f64)]| {
                all.iter().map(|(a, b)| format!("{a:.2}/{b:.1}")).collect::<Vec<_>>().join(" ")
            };
            println!("{buffer} BDP {loss}: {}\n           {}", shown(&of(OURS)), shown(&of(KERNELS)));
        }
    }
    for buffer in [1.0, 2.0, 8.0] {
        for one in [OURS, KERNELS] {
            let s: Vec<_> = (0..4)
                .map(|run| {
                    let (s, _) = simulated(&[one, "cubic"], buffer, 0.0, run);
                    format!("{:.1}+{:.1}", s.flows[0].goodput_mbps.unwrap(), s.flows[1].goodput_mbps.unwrap())
                })
                .collect();
            println!("beside cubic {buffer} {one}: {}", s.join(" "));
        }
    }
    let _ = |t: &Table| matches!(t.columns[0].1, Column::Real(_));
}
