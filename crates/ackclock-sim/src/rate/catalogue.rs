//! The rate-based controls: one line each, from which lists, checks and both ends of a flow follow.

use std::sync::LazyLock;

use ackclock_cc::ParameterError;
use ackclock_cc::registry::{self, Catalogue, Entry, NamedValues, read};

use super::intake::{Intake, RateReceiver as _};
use super::sender::{Law, RateSender, RateSettings};
use super::tear::Tear;
use super::tfrc::Tfrc;
use super::tfrc_2000::Tfrc2000;
use super::vivace::Vivace;
use crate::endpoint::Ends;
use crate::meter::Meter;
use crate::random::Stream;

type MakeEnds =
    fn(NamedValues<'_>, RateSettings, (Stream, Meter), Intake) -> Result<Ends, (usize, ParameterError)>;

/// A rate-based control that scenarios can name.
pub struct RateEntry {
    entry: Entry,
    make_ends: MakeEnds,
}

impl RateEntry {
    const fn of<L: Law + 'static>(name: &'static str, source: &'static str) -> Self {
        RateEntry {
            entry: Entry::of_rate::<L::Params>(name, source),
            make_ends: |parameters, settings, (chance, meter), intake| {
                let params = read::<L::Params>(parameters)?;
                let sender = RateSender::<L>::new(settings, params, chance, meter);
                Ok(Ends::new(sender, L::Receiver::new(params, intake)))
            },
        }
    }

    /// Both ends of a flow: a sender with its random stream and its meter, and a receiver that takes packets in by `intake`.
    ///
    /// # Errors
    /// The index of the given parameter that is at fault, and what is wrong with it.
    pub fn make_ends(
        &self,
        parameters: NamedValues<'_>,
        settings: RateSettings,
        sender: (Stream, Meter),
        intake: Intake,
    ) -> Result<Ends, (usize, ParameterError)> {
        (self.make_ends)(parameters, settings, sender, intake)
    }
}

const RATE_ENTRIES: &[RateEntry] = &[
    RateEntry::of::<Tfrc>("tfrc", "RFC 5348"),
    RateEntry::of::<Tfrc2000>("tfrc-2000", "ns-2 snapshots of spring and summer 2000"),
    RateEntry::of::<Tear>("tear", "Rhee, Ozdemir, Yi, 2000"),
    RateEntry::of::<Vivace>("vivace", "Dong et al., NSDI 2018"),
];

/// The rate-based control of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static RateEntry> {
    RATE_ENTRIES.iter().find(|rate| rate.entry.name == name)
}

static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let windows = registry::BuiltIn.entries().iter();
    windows.chain(RATE_ENTRIES.iter().map(|rate| &rate.entry)).copied().collect()
});

/// Every control that can be simulated: those of `ackclock-cc`, and the rate-based ones.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuiltIn;

impl Catalogue for BuiltIn {
    fn entries(&self) -> &[Entry] {
        &ENTRIES
    }
}
