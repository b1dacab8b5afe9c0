//! Descriptions of simulations, as checked data.
//!
//! A scenario is read from TOML or JSON, changed by settings such as
//! `flow.0.rtt=80ms`, and checked: the result has every default filled in and nothing impossible.
//! A refusal is one line with the location, what is wrong, and what is allowed. Names and
//! parameters of congestion controls are checked against a catalogue that is passed in.
//!
//! ```
//! use ackclock_cc::registry::BuiltIn;
//! use ackclock_scenario::{EXAMPLE, read_toml};
//! let checked = read_toml(EXAMPLE, "example.toml", &[], &BuiltIn).unwrap();
//! assert_eq!(checked.scenario.flows.len(), 3);
//! let refused = read_toml(EXAMPLE, "example.toml", &["dumbbell.rate=fast".into()], &BuiltIn).unwrap_err();
//! assert!(refused.to_string().starts_with("--set dumbbell.rate=fast: dumbbell.rate: not a number; expected a rate"));
//! ```
#![forbid(unsafe_code)]

mod allowed;
mod applications;
mod buffers;
mod canonical;
mod check;
mod complete;
mod describe;
mod event;
pub mod files;
mod fill;
mod flow;
mod keys;
mod link;
mod model;
mod paths;
mod plain;
mod quantity;
mod read;
mod schema;
mod series;
mod settings;
mod tcp;
mod topology;
mod traffic;
mod tree;
mod turns;
mod value;
mod words;

use std::collections::BTreeMap;
use std::sync::Arc;

use ackclock_cc::registry::Catalogue;
use sha2::{Digest as _, Sha256};

pub use describe::controllers;
pub use files::Files;
pub use model::*;
pub use paths::NamedPath;
pub use quantity::{Kind, Unit, limit, quantity};
pub use read::Refusal;
pub use schema::{file_keys, json_schema, reference};
pub use tcp::{Growth, HyStart, MinRtoBounds, Profile, Recovery, RttSampling, Tcp};

use tree::{Content, Node, Origin, SyntaxError};

/// A commented scenario to start from.
pub const EXAMPLE: &str = include_str!("../example.toml");

/// A scenario as it was written: read, but not yet checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    file: String,
    node: Node,
    files: Option<Arc<Files>>,
}

impl Draft {
    /// Reads a scenario from TOML; `file` is its name for messages, `-` for standard input. Files that it names are
    /// looked for next to it.
    ///
    /// # Errors
    /// When `text` is not TOML.
    pub fn from_toml(text: &str, file: &str) -> Result<Draft, Refusal> {
        Draft::of(Node::from_toml(text), file)
    }

    /// Reads a scenario from JSON, otherwise as [`Draft::from_toml`].
    ///
    /// # Errors
    /// When `text` is not JSON.
    pub fn from_json(text: &str, file: &str) -> Result<Draft, Refusal> {
        let node = serde_json::from_str(text)
            .map_err(|error| SyntaxError { line: error.line(), message: error.to_string() })
            .and_then(|value| Node::from_json(&value));
        Draft::of(node, file)
    }

    fn of(node: Result<Node, SyntaxError>, file: &str) -> Result<Draft, Refusal> {
        let refuse = |error: SyntaxError| Refusal {
            file: file.to_owned(),
            origin: Origin::Line(error.line),
            path: String::new(),
            problem: error.message,
        };
        Ok(Draft { file: file.to_owned(), node: node.map_err(refuse)?, files: None })
    }

    /// Supplies the files that it names, by name, instead of reading them from disk. For drivers that have no disk.
    #[must_use]
    pub fn with_files(self, files: Files) -> Draft {
        Draft { files: Some(Arc::new(files)), ..self }
    }

    /// Applies changes such as `flow.0.rtt=80ms`, in order.
    ///
    /// # Errors
    /// The first that is not a change of a key.
    pub fn set(mut self, settings: &[String]) -> Result<Draft, Refusal> {
        for setting in settings {
            self.node.set(setting).map_err(|problem| Refusal {
                file: self.file.clone(),
                origin: Origin::Setting(setting.clone()),
                path: String::new(),
                problem,
            })?;
        }
        Ok(self)
    }

    /// The controls that its flows name, each once, in the order of the flows: a catalogue must have them before the
    /// scenario is checked.
    #[must_use]
    pub fn controls(&self) -> Vec<String> {
        let named = self.flow_tables().iter().filter_map(|flow| match &flow.get("controller")?.content {
            Content::Text(name) => Some(name.as_str()),
            _ => None,
        });
        once(named)
    }

    /// Writes other names of controls, by the name in the text: the reference that a label stands for.
    #[must_use]
    pub fn with_controls(mut self, names: &BTreeMap<String, String>) -> Draft {
        if !names.is_empty()
            && let Some(Content::Array(flows)) = self.node.get_mut("flow").map(|node| &mut node.content)
        {
            for controller in flows.iter_mut().filter_map(|flow| flow.get_mut("controller")) {
                if let Content::Text(name) = &mut controller.content
                    && let Some(reference) = names.get(name)
                {
                    name.clone_from(reference);
                }
            }
        }
        self
    }

    /// The number of `[[flow]]` tables; each may stand for several flows.
    #[must_use]
    pub fn flow_table_count(&self) -> usize {
        self.flow_tables().len()
    }

    fn flow_tables(&self) -> &[Node] {
        match self.node.get("flow").map(|node| &node.content) {
            Some(Content::Array(flows)) => flows,
            _ => &[],
        }
    }

    /// Its name for messages.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The scenario as it was written, settings applied, as TOML.
    #[must_use]
    pub fn toml(&self) -> String {
        self.node.to_toml()
    }

    /// The same as JSON.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        self.node.to_json()
    }

    /// Checks it against the controls of `catalogue`.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(self, catalogue: &dyn Catalogue) -> Result<Checked, Refusal> {
        let check = || check::scenario(&self.node, &self.file, catalogue);
        let (checked, files) = files::with(self.files.as_ref(), check);
        let (scenario, complete) = checked?;
        Ok(Checked { scenario, toml: complete.to_toml(), complete, files, draft: self })
    }
}

/// A scenario that was accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The scenario.
    pub scenario: Scenario,
    /// The same as TOML with every default written out, in the form that was chosen: a dumbbell stays a
    /// dumbbell, and flows with a count stay one table. Reading it yields the same scenario and the same text.
    pub toml: String,
    complete: Node,
    files: Files,
    draft: Draft,
}

impl Checked {
    /// The content of [`Checked::toml`] as JSON.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        self.complete.to_json()
    }

    /// The texts of the files that it names, as they were read, by the names that are written: rate traces and loss traces.
    #[must_use]
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// As it was written.
    #[must_use]
    pub fn draft(&self) -> &Draft {
        &self.draft
    }

    /// The controls of its flows, each once, in the order of the flows; those that no flow names but its source
    /// implies are among them.
    #[must_use]
    pub fn controls(&self) -> Vec<String> {
        let arriving = self.scenario.arrivals.iter().map(|arrivals| &arrivals.flow);
        let controls = self.scenario.flows.iter().chain(arriving).map(|flow| flow.control.as_str());
        once(controls.filter(|control| !control.is_empty()))
    }

    /// A fingerprint of the run that it describes: the version of its rules and 32 hexadecimal digits, such as
    /// `s1:0f5a...`. Two texts with the same meaning have the same digest, however they are written; the content of
    /// files that they name counts, their names do not. It covers only what differs from the defaults, so a key that
    /// is new in a later version and has a default changes no digest.
    #[must_use]
    pub fn digest(&self) -> String {
        struct Hash(Sha256);
        impl std::fmt::Write for Hash {
            fn write_str(&mut self, text: &str) -> std::fmt::Result {
                self.0.update(text.as_bytes());
                Ok(())
            }
        }
        let mut hash = Hash(Sha256::new());
        // Writing to a hash cannot fail.
        let _ = canonical::write(&self.scenario, &mut hash);
        let digits: String = hash.0.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        format!("{}:{digits}", canonical::VERSION)
    }

    /// The text that [`Checked::digest`] hashes: what differs from the defaults, one value per line.
    #[must_use]
    pub fn canonical(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = canonical::write(&self.scenario, &mut text);
        text
    }
}

fn once<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut unique: Vec<String> = Vec::new();
    for name in names {
        if !unique.iter().any(|other| other == name) {
            unique.push(name.to_owned());
        }
    }
    unique
}

/// Reads a scenario from TOML and checks it: [`Draft::from_toml`], [`Draft::set`], [`Draft::check`].
///
/// # Errors
/// The first thing that is wrong.
pub fn read_toml(
    text: &str,
    file: &str,
    settings: &[String],
    catalogue: &dyn Catalogue,
) -> Result<Checked, Refusal> {
    Draft::from_toml(text, file)?.set(settings)?.check(catalogue)
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
    Draft::from_json(text, file)?.set(settings)?.check(catalogue)
}
