//! Named paths: `path = "geo"` stands for a `[dumbbell]` with the numbers of a kind of path. What the file says of the
//! dumbbell comes first. docs/named-paths.md has the source of every number. A file with a measurement is a path as well.

mod measured;

use crate::files::lines;
use crate::keys::FILE;
use crate::read::{Read, Table};
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

/// Writes the dumbbell of a named or measured path and the profile of Linux into a tree, where the file does not say
/// otherwise. The case of the name does not matter. Names that do not exist are left to the reader.
pub fn supply(root: &mut Node, scenario: &str) -> Read<()> {
    let Some(Node { content: Content::Text(name), .. }) = root.get("path") else { return Ok(()) };
    let is_file = name.contains(['.', '/', '\\']);
    // 4G is how people write it.
    let named = NamedPath::ALL.into_iter().find(|path| path.name().eq_ignore_ascii_case(name));
    let dumbbell = match named {
        Some(path) => {
            Node::from_toml(path.dumbbell()).unwrap_or_else(|_| Node::table(Vec::new(), &Origin::Data))
        }
        None if is_file => measured(&Table::open(root, "", scenario, &FILE)?, name)?,
        None => return Ok(()),
    };
    if let (Some(path), Some(node)) = (named, root.get_mut("path")) {
        node.content = Content::Text(path.name().to_owned());
    }
    // Who names a path of today has senders of today, unless the file says otherwise.
    root.supply("tcp", || Content::Table(Vec::new()));
    if let Some(tcp) = root.get_mut("tcp") {
        tcp.supply("profile", || Content::Text("linux".to_owned()));
    }
    // Another topology next to it is refused by its reader.
    root.supply("dumbbell", || Content::Table(Vec::new()));
    if let Some(table) = root.get_mut("dumbbell") {
        let is_replaced = |key: &str| match key {
            "rate" | "rate_trace" | "rate_series" => {
                ["rate", "rate_trace", "rate_series"].iter().any(|other| table.get(other).is_some())
            }
            "delay" | "delay_series" => {
                ["delay", "delay_series"].iter().any(|other| table.get(other).is_some())
            }
            "loss" | "loss_series" => ["loss", "loss_series"].iter().any(|other| table.get(other).is_some()),
            _ => false,
        };
        let entries: Vec<_> =
            dumbbell.entries().iter().filter(|(key, _)| !is_replaced(key)).cloned().collect();
        for (key, mut node) in entries {
            forget_lines(&mut node);
            table.supply(&key, || node.content);
        }
    }
    if named.is_none() {
        let has_delay = root
            .get("dumbbell")
            .is_some_and(|dumbbell| ["delay", "delay_series"].iter().any(|key| dumbbell.get(key).is_some()));
        if !has_delay {
            let problem = "the file says nothing of delays: set dumbbell.delay, half of the round trip";
            return Err(Table::open(root, "", scenario, &FILE)?.refuse("path", problem));
        }
        // The dumbbell says it all.
        if let Content::Table(entries) = &mut root.content {
            entries.retain(|(key, _)| key != "path");
        }
    }
    Ok(())
}

/// The dumbbell of a measured path: a trace as Mahimahi has it, or a table of rates and, if they are there, delays and
/// losses. Its buffer is one bandwidth-delay product.
fn measured(table: &Table<'_>, file: &str) -> Read<Node> {
    let text = crate::files::named(table.file(), file).map_err(|problem| table.refuse("path", problem))?;
    let node = |content| Node { content, origin: Origin::Data };
    let entry = |key: &str, content| (key.to_owned(), node(content));
    let word = |word: &str| Content::Text(word.to_owned());
    let queue = vec![entry("kind", word("droptail")), entry("limit", word("1 bdp"))];
    let mut dumbbell = vec![entry("queue", Content::Table(queue))];
    if is_trace(&text) {
        dumbbell.push(entry("rate_trace", word(file)));
        return Ok(Node::table(dumbbell, &Origin::Data));
    }
    let columns =
        measured::columns(&text).map_err(|problem| table.refuse("path", format!("{file}: {problem}")))?;
    for (key, column) in
        [("rate_series", Some(columns.rate)), ("delay_series", columns.delay), ("loss_series", columns.loss)]
    {
        let Some(column) = column else { continue };
        let place = |column: usize| Content::Whole(column as i128 + 1);
        let mut series = vec![entry("file", word(file)), entry("column", place(column.index))];
        series.push(entry("time", place(columns.time)));
        series.push(entry("time_unit", word(&columns.time_unit)));
        series.push(entry("unit", word(&column.unit)));
        if column.scale != 1.0 {
            series.push(entry("scale", Content::Real(column.scale)));
        }
        dumbbell.push(entry(key, Content::Table(series)));
    }
    Ok(Node::table(dumbbell, &Origin::Data))
}

/// Whether a file has one whole number per line, none below the one above.
fn is_trace(text: &str) -> bool {
    let times: Option<Vec<u64>> = lines(text).map(|(_, line)| line.parse().ok()).collect();
    times.is_some_and(|times| !times.is_empty() && times.is_sorted())
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
