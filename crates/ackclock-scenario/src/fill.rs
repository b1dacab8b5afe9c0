//! The defaults of the keys, written into the tree before it is read. Omitted keys are then read like the others.

use crate::keys::{FILE, Form, Key, LOSS, QUEUE, RED, Section};
use crate::link::spacing_of_uniform;
use crate::tree::{Content, Node};

/// Writes the defaults that keys have into a whole scenario. Values that rules set, such as the round trip of a flow,
/// are left to the reader, and so are all errors.
pub fn scenario(root: &mut Node) {
    root.supply("tcp", || Content::Table(Vec::new()));
    section(root, &FILE);
}

/// Writes the defaults of a table and of the tables in it.
pub fn section(node: &mut Node, section: &'static Section) {
    // A loss rate alone is that of independent losses, as `--set dumbbell.loss.rate=1%` means it.
    if section.name == LOSS.name && node.get("rate").is_some() {
        node.supply("kind", || Content::Text("bernoulli".to_owned()));
    }
    // RED's uniform of earlier versions is a spacing.
    if section.name == QUEUE.name
        && matches!(node.get("kind"), Some(Node { content: Content::Text(kind), .. }) if RED.contains(&kind.as_str()))
        && let Some(Node { content: Content::Flag(uniform), .. }) = node.get("uniform")
    {
        let spacing = spacing_of_uniform(*uniform).name();
        node.supply("spacing", || Content::Text(spacing.to_owned()));
    }
    let Some(word) = section.word(node.entries()).map(str::to_owned) else { return };
    for key in section.keys.iter().filter(|key| key.applies(&word)) {
        fill_key(node, key, &word);
    }
    // A flow has the keys of [tcp] from there, unless it has a profile of its own.
    if let Some(also) = section.also
        && also.selector.is_none_or(|selector| node.get(selector).is_some())
        && let Some(word) = also.word(node.entries()).map(str::to_owned)
    {
        also.keys.iter().for_each(|key| fill_key(node, key, &word));
    }
}

fn fill_key(node: &mut Node, key: &'static Key, word: &str) {
    let over_quic = matches!(node.get("transport").map(|node| &node.content), Some(Content::Text(text)) if text == "quic");
    if let Some(default) = key.default(word)
        && (key.over_quic || !over_quic)
    {
        node.supply(key.name, || default);
    }
    match (key.form, node.get_mut(key.name)) {
        (Form::Table(inner), Some(table)) => section(table, inner),
        (Form::Tables(inner), Some(Node { content: Content::Array(tables), .. })) => {
            tables.iter_mut().for_each(|table| section(table, inner));
        }
        _ => {}
    }
}
