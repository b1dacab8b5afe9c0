//! Means over runs next to those of another simulator: what of a difference chance explains.

use super::table::mean;

/// The smallest tolerance, relative.
const LEAST: f64 = 0.02;
/// So many standard errors of the difference of two means are left to chance.
const DEVIATIONS: f64 = 3.0;
/// What chance may allow at most, relative.
const LARGEST: f64 = 0.15;
/// The same of a flow with few loss events, whose single runs scatter by a third and more.
const LARGEST_OF_FEW: f64 = 0.25;

/// How far our mean may be from that of ns-2.
#[derive(Clone, Copy)]
pub enum Tolerance {
    /// What chance explains, and 2 % in any case.
    Chance,
    /// As `Chance`, of a flow that has few loss events.
    FewLosses,
    /// What chance explains, and this share in any case.
    Share(f64),
    /// More than chance explains, and at most this share: a difference that is known, and that nothing explains so far.
    Differs(f64),
    /// This share, whatever the scatter.
    Fixed(f64),
    /// So many packets, whatever the scatter.
    Packets(f64),
}

impl Tolerance {
    /// The largest difference of the means of `theirs` and `ours`.
    fn of(self, theirs: &[f64], ours: &[f64], what: &str) -> f64 {
        let reference = mean(theirs.iter().copied()).abs();
        let chance = |largest: f64| {
            let allowed = DEVIATIONS * standard_error(theirs).hypot(standard_error(ours));
            assert!(
                allowed <= largest * reference,
                "{what}: the scatter allows {allowed:.3} of {reference:.3}, which proves too little: more runs"
            );
            allowed
        };
        match self {
            Tolerance::Chance => chance(LARGEST).max(LEAST * reference),
            Tolerance::FewLosses => chance(LARGEST_OF_FEW).max(LEAST * reference),
            Tolerance::Share(share) => chance(LARGEST).max(share * reference),
            Tolerance::Differs(share) => {
                let off = (mean(ours.iter().copied()) - reference).abs();
                assert!(off > chance(LARGEST), "{what}: no more than chance: the difference is gone");
                share * reference
            }
            Tolerance::Fixed(share) => share * reference,
            Tolerance::Packets(packets) => packets,
        }
    }
}

/// Of the mean of some independent values.
fn standard_error(values: &[f64]) -> f64 {
    let (mean, count) = (mean(values.iter().copied()), values.len() as f64);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (count - 1.0) / count).sqrt()
}

/// Compares the means of a number over seeds of ns-2 and over our runs, and prints them.
pub fn compare(what: &str, theirs: &[f64], ours: &[f64], tolerance: Tolerance) {
    let (reference, result) = (mean(theirs.iter().copied()), mean(ours.iter().copied()));
    let allowed = tolerance.of(theirs, ours, what);
    let report = format!(
        "{what}: ns-2 {reference:.3} ± {:.3}, ours {result:.3} ± {:.3}, {:+.1} %, allowed {:.1} %",
        standard_error(theirs),
        standard_error(ours),
        100.0 * (result / reference - 1.0),
        100.0 * allowed / reference,
    );
    println!("{report}");
    assert!((result - reference).abs() <= allowed, "{report}");
}
