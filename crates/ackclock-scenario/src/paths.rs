//! Named paths: `path = "geo"` stands for a `[dumbbell]` with the numbers of a kind of path. What the file says of the
//! dumbbell comes first. docs/named-paths.md has the source of every number.

use crate::tree::{Content, Node, Origin};
use crate::words::words;

words! {
    /// A kind of path.
    NamedPath {
        /// A geostationary satellite.
        Geo = "geo",
        /// Satellites in low orbits.
        Leo = "leo",
        /// A mobile network of the fourth generation.
        FourG = "4g",
        /// One of the fifth.
        FiveG = "5g",
        /// A telephone line.
        Dsl = "dsl",
        /// A television cable.
        Cable = "cable",
        /// A wireless local network in front of a fast line.
        Wifi = "wifi",
        /// Within a data centre.
        Datacentre = "datacentre",
        /// Between servers in Europe and North America.
        Transatlantic = "transatlantic",
    }
}

impl NamedPath {
    /// All of them.
    const ALL: [NamedPath; 9] = [
        NamedPath::Geo,
        NamedPath::Leo,
        NamedPath::FourG,
        NamedPath::FiveG,
        NamedPath::Dsl,
        NamedPath::Cable,
        NamedPath::Wifi,
        NamedPath::Datacentre,
        NamedPath::Transatlantic,
    ];

    /// Its dumbbell, as a scenario file writes it; the delay is half of the round trip.
    const fn dumbbell(self) -> &'static str {
        match self {
            NamedPath::Geo => {
                r#"
                rate = "20 Mbit/s"
                delay = "300 ms"
                queue = { kind = "droptail", limit = "1500 packets" }
                loss = { kind = "bernoulli", rate = "0.1 %" }
                "#
            }
            NamedPath::Leo => {
                r#"
                rate = "180 Mbit/s"
                delay = "20 ms"
                queue = { kind = "droptail", limit = "2250 packets" }
                loss = { kind = "bernoulli", rate = "0.4 %" }
                delay_noise = { kind = "uniform", range = "20 ms", hold = "100 ms" }
                "#
            }
            NamedPath::FourG => {
                r#"
                rate = "13 Mbit/s"
                delay = "35 ms"
                queue = { kind = "droptail", limit = "800 packets" }
                delay_noise = { kind = "uniform", range = "10 ms", hold = "20 ms" }
                "#
            }
            NamedPath::FiveG => {
                r#"
                rate = "200 Mbit/s"
                delay = "15 ms"
                queue = { kind = "droptail", limit = "2500 packets" }
                delay_noise = { kind = "uniform", range = "5 ms", hold = "20 ms" }
                "#
            }
            NamedPath::Dsl => {
                r#"
                rate = "25 Mbit/s"
                delay = "15 ms"
                queue = { kind = "droptail", limit = "640 packets" }
                "#
            }
            NamedPath::Cable => {
                r#"
                rate = "200 Mbit/s"
                delay = "10 ms"
                queue = { kind = "pie", limit = "2500 packets", target = "10 ms" }
                "#
            }
            NamedPath::Wifi => {
                r#"
                rate = "100 Mbit/s"
                delay = "10 ms"
                queue = { kind = "fq_codel", limit = "8192 packets", target = "20 ms" }
                aggregation = { every = "4 ms" }
                "#
            }
            NamedPath::Datacentre => {
                r#"
                rate = "10 Gbit/s"
                delay = "50 us"
                queue = { kind = "droptail", limit = "700 packets" }
                "#
            }
            NamedPath::Transatlantic => {
                r#"
                rate = "1 Gbit/s"
                delay = "36 ms"
                queue = { kind = "droptail", limit = "9000 packets" }
                "#
            }
        }
    }
}

/// Writes the dumbbell of a named path and the profile of Linux into a tree, where the file does not say otherwise. The
/// case of the name does not matter. Names that do not exist are left to the reader.
pub fn supply(root: &mut Node) {
    let Some(Node { content: Content::Text(name), .. }) = root.get_mut("path") else { return };
    // 4G is how people write it.
    let Some(path) = NamedPath::ALL.into_iter().find(|path| path.name().eq_ignore_ascii_case(name)) else {
        return;
    };
    path.name().clone_into(name);
    // Who names a path of today has senders of today, unless the file says otherwise.
    root.supply("tcp", || Content::Table(Vec::new()));
    if let Some(tcp) = root.get_mut("tcp") {
        tcp.supply("profile", || Content::Text("linux".to_owned()));
    }
    // Another topology next to it is refused by its reader.
    root.supply("dumbbell", || Content::Table(Vec::new()));
    let (Some(dumbbell), Ok(Node { content: Content::Table(entries), .. })) =
        (root.get_mut("dumbbell"), Node::from_toml(path.dumbbell()))
    else {
        return;
    };
    let is_replaced = |key: &str| match key {
        "rate" => dumbbell.get("rate_trace").is_some() || dumbbell.get("rate_series").is_some(),
        "delay" => dumbbell.get("delay_series").is_some(),
        "loss" => dumbbell.get("loss_series").is_some(),
        _ => false,
    };
    let entries: Vec<_> = entries.into_iter().filter(|(key, _)| !is_replaced(key)).collect();
    for (key, mut node) in entries {
        forget_lines(&mut node);
        dumbbell.supply(&key, || node.content);
    }
}

/// The lines of a path are none of the file that names it.
fn forget_lines(node: &mut Node) {
    node.origin = Origin::Data;
    match &mut node.content {
        Content::Table(entries) => entries.iter_mut().for_each(|(_, node)| forget_lines(node)),
        Content::Array(values) => values.iter_mut().for_each(forget_lines),
        _ => {}
    }
}
