//! Suggestions for names that do not exist.

extern crate std;

use std::string::String;
use std::vec::Vec;
use std::{format, vec};

/// How many names are suggested.
const MOST: usize = 3;
/// From how many letters on a name is also similar to one that contains it.
const PART: usize = 3;

/// The names that are most like `wrong`, at most three, the nearest first. Upper and lower case do not matter.
///
/// ```
/// use ackclock_units::similar;
/// assert_eq!(similar("cubik", ["reno", "cubic", "cubic-linux"]), ["cubic"]);
/// assert_eq!(similar("bbrv3", ["bbr", "bbr3", "bbr3-linux"]), ["bbr3", "bbr"]);
/// assert_eq!(similar("4G", ["4g", "5g"]), ["4g", "5g"]);
/// assert!(similar("slow-start", ["reno", "constant"]).is_empty());
/// ```
pub fn similar<'n>(wrong: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let wrong = wrong.to_lowercase();
    let mut near: Vec<(usize, &str)> = vec![];
    for name in names {
        let lower = name.to_lowercase();
        let distance = strsim::damerau_levenshtein(&wrong, &lower);
        let length = lower.chars().count();
        let is_part = |part: &str, whole: &str| part.len() >= PART && whole.contains(part);
        // A letter in place of the only letter has nothing in common.
        let has_typing_error = distance <= 1 + length / 4 && distance < length;
        if has_typing_error || is_part(&wrong, &lower) || is_part(&lower, &wrong) {
            near.push((distance, name));
        }
    }
    near.sort_by_key(|(distance, _)| *distance);
    near.into_iter().map(|(_, name)| name).take(MOST).collect()
}

/// The question that suggests the names most like `wrong`, such as `did you mean "reno" or "veno"?`; empty if no name
/// is similar.
///
/// ```
/// use ackclock_units::did_you_mean;
/// assert_eq!(did_you_mean("ceno", ["reno", "veno", "cubic"]), "did you mean \"reno\" or \"veno\"?");
/// assert_eq!(did_you_mean("tfrc", ["reno"]), "");
/// ```
pub fn did_you_mean<'n>(wrong: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    let quoted: Vec<_> = similar(wrong, names).into_iter().map(|name| format!("\"{name}\"")).collect();
    match &quoted[..] {
        [] => String::new(),
        [only] => format!("did you mean {only}?"),
        [before @ .., last] => format!("did you mean {} or {last}?", before.join(", ")),
    }
}
