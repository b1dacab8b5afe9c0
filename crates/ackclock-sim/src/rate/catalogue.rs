//! The controls of this crate's catalogue: those of `ackclock-cc`, and the rate-based ones.

use std::sync::LazyLock;

use ackclock_cc::registry::{self, Catalogue, Entry};

use super::tear::TearParams;
use super::tfrc::TfrcParams;
use super::tfrc_2000::Tfrc2000Params;
use super::vivace::VivaceParams;

static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let mut entries = registry::BuiltIn.entries().to_vec();
    entries.push(Entry::of_rate::<TfrcParams>("tfrc", "RFC 5348"));
    entries.push(Entry::of_rate::<Tfrc2000Params>("tfrc-2000", "ns-2 snapshots of spring and summer 2000"));
    entries.push(Entry::of_rate::<TearParams>("tear", "Rhee, Ozdemir, Yi, 2000"));
    entries.push(Entry::of_rate::<VivaceParams>("vivace", "Dong et al., NSDI 2018"));
    entries
});

/// Every control that can be simulated.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuiltIn;

impl Catalogue for BuiltIn {
    fn entries(&self) -> &[Entry] {
        &ENTRIES
    }
}
