//! What is to be simulated, as checked data.
//!
//! A scenario is read from TOML, or taken over as JSON data, changed by settings such as
//! `flow.0.rtt=80ms`, and checked: what comes out has every default filled in and nothing impossible. What
//! is refused is refused in one line with the place, what is wrong, and what is allowed. Names and
//! parameters of congestion controls are checked against a catalogue that is passed in.
//!
//! ```
//! use ackclock_cc::registry::BuiltIn;
//! use ackclock_scenario::{EXAMPLE, read_toml};
//! let checked = read_toml(EXAMPLE, "example.toml", &[], &BuiltIn).unwrap();
//! assert_eq!(checked.scenario.flows.len(), 3);
//! let refused = read_toml(EXAMPLE, "example.toml", &["dumbbell.rate=fast".into()], &BuiltIn).unwrap_err();
//! assert!(refused.to_string().starts_with("--set dumbbell.rate=fast: dumbbell.rate: no number; expected a rate"));
//! ```
#![forbid(unsafe_code)]

mod check;
mod event;
mod flow;
mod keys;
mod link;
mod model;
mod read;
mod schema;
mod settings;
mod topology;
mod traffic;
mod tree;

use ackclock_cc::registry::Catalogue;

pub use model::*;
pub use read::Refusal;
pub use schema::{json_schema, reference};

use tree::{Node, Origin, SyntaxError};

/// A commented scenario to start from.
pub const EXAMPLE: &str = include_str!("../../../scenarios/example.toml");

/// A scenario that was accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The scenario.
    pub scenario: Scenario,
    /// As it was given, with the settings applied, as TOML.
    pub toml: String,
}

/// Reads a scenario from TOML.
///
/// `file` is its name for messages, `-` for standard input; `settings` are changes such as
/// `flow.0.rtt=80ms`, applied in order.
///
/// # Errors
/// The first thing that is wrong.
pub fn read_toml(
    text: &str,
    file: &str,
    settings: &[String],
    catalogue: &dyn Catalogue,
) -> Result<Checked, Refusal> {
    let node = Node::from_toml(text).map_err(|error| syntax(error, file))?;
    read(node, file, settings, catalogue)
}

/// Reads a scenario from JSON, otherwise as [`read_toml`].
///
/// # Errors
/// The first thing that is wrong.
pub fn read_json(
    text: &str,
    file: &str,
    settings: &[String],
    catalogue: &dyn Catalogue,
) -> Result<Checked, Refusal> {
    let node = serde_json::from_str(text)
        .map_err(|error| SyntaxError { line: error.line(), message: error.to_string() })
        .and_then(|value| Node::from_json(&value))
        .map_err(|error| syntax(error, file))?;
    read(node, file, settings, catalogue)
}

fn syntax(error: SyntaxError, file: &str) -> Refusal {
    Refusal {
        file: file.to_owned(),
        origin: Origin::Line(error.line),
        path: String::new(),
        problem: error.message,
    }
}

fn read(
    mut node: Node,
    file: &str,
    settings: &[String],
    catalogue: &dyn Catalogue,
) -> Result<Checked, Refusal> {
    for setting in settings {
        node.set(setting).map_err(|problem| Refusal {
            file: file.to_owned(),
            origin: Origin::Setting(setting.clone()),
            path: String::new(),
            problem,
        })?;
    }
    let scenario = check::scenario(&node, file, catalogue)?;
    Ok(Checked { scenario, toml: node.to_toml() })
}
