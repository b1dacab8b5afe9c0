//! From a tree to checked loss models, and the files that they name.

use ackclock_units::Span;

use super::read_file;
use crate::files::lines;
use crate::keys::LossKind;
use crate::model::{Loss, Shared};
use crate::read::{Read, Table};
use crate::series::{line_at, times};

/// The loss model of a link that has one of its own.
pub fn own_loss(table: &Table<'_>) -> Read<Loss> {
    let Some(loss) = table.table("loss")? else { return Ok(Loss::None) };
    Ok(match loss.need("kind")? {
        LossKind::None => Loss::None,
        LossKind::Bernoulli => Loss::Bernoulli { probability: loss.need("rate")? },
        LossKind::Periodic => periodic(&loss)?,
        LossKind::GilbertElliott => gilbert_elliott(&loss)?,
        LossKind::Bursts => {
            let file: String = loss.need("file")?;
            let intervals = crate::files::meaning(format!("bursts {file}"), || bursts(&loss, &file))?;
            Loss::Bursts { intervals: (*intervals).clone() }
        }
        LossKind::Trace => {
            let file: String = loss.need("file")?;
            let lost = crate::files::meaning(format!("lost {file}"), || marks(&loss, &file))?;
            Loss::Trace { lost: (*lost).clone() }
        }
    })
}

/// The states of the channel do not change more often: each change costs time in a simulation, too.
const SHORTEST_STATE: Span = Span::from_micros(100);

fn gilbert_elliott(loss: &Table<'_>) -> Read<Loss> {
    let (loss_good, loss_bad) = (loss.need("loss_good")?, loss.need("loss_bad")?);
    let (to_bad, to_good) = (loss.get("to_bad")?, loss.get("to_good")?);
    let (good, bad): (Option<Span>, Option<Span>) = (loss.get("good_time")?, loss.get("bad_time")?);
    match (to_bad, to_good, good, bad) {
        (Some(to_bad), Some(to_good), None, None) => {
            Ok(Loss::GilbertElliott { to_bad, to_good, loss_good, loss_bad })
        }
        (None, None, Some(good), Some(bad)) => {
            for (key, time) in [("good_time", good), ("bad_time", bad)] {
                if time < SHORTEST_STATE {
                    return Err(loss.refuse(key, format!("must be at least 0.1 ms, is {time}")));
                }
            }
            Ok(Loss::GilbertElliottInTime { good, bad, loss_good, loss_bad })
        }
        (Some(_), _, Some(_), _)
        | (Some(_), _, _, Some(_))
        | (_, Some(_), Some(_), _)
        | (_, Some(_), _, Some(_)) => {
            let problem = "give either to_bad and to_good, of packets, or good_time and bad_time";
            Err(loss.refuse(if good.is_some() { "good_time" } else { "bad_time" }, problem))
        }
        (.., Some(_), None) => Err(loss.refuse("bad_time", "is required")),
        (.., None, Some(_)) => Err(loss.refuse("good_time", "is required")),
        (None, _, None, None) => Err(loss.refuse("to_bad", "is required, or good_time and bad_time instead")),
        (Some(_), None, None, None) => Err(loss.refuse("to_good", "is required")),
    }
}

/// The intervals of a file in which all is lost.
fn bursts(loss: &Table<'_>, file: &str) -> Read<Shared<Vec<(Span, Span)>>> {
    let text = read_file(loss, "file", file)?;
    let mut intervals: Vec<(Span, Span)> = Vec::new();
    for (begin, row) in times(&text).map_err(|problem| loss.refuse("file", format!("{file}:{problem}")))? {
        let refuse =
            |problem: &str| loss.refuse("file", format!("{file}:{}: {problem}", line_at(&text, begin)));
        let [from, until] = row[..] else {
            return Err(refuse("expected two times in s, from when and until when"));
        };
        if until <= from {
            return Err(refuse("a burst must end after it begins"));
        }
        if intervals.last().is_some_and(|(_, before)| from < *before) {
            return Err(refuse("a burst must not begin before the end of the one above"));
        }
        intervals.push((from, until));
    }
    if intervals.is_empty() {
        return Err(loss.refuse("file", format!("{file}: has no burst")));
    }
    Ok(intervals.into())
}

/// The marks of a file, one per packet.
fn marks(loss: &Table<'_>, file: &str) -> Read<Shared<Vec<bool>>> {
    let text = read_file(loss, "file", file)?;
    let mut lost = Vec::new();
    for (line, marks) in lines(&text) {
        for mark in marks.chars().filter(|mark| !mark.is_whitespace()) {
            if !matches!(mark, '0' | '1') {
                let problem = format!("{file}:{line}: expected 0 and 1, one per packet");
                return Err(loss.refuse("file", problem));
            }
            lost.push(mark == '1');
        }
    }
    if lost.is_empty() {
        return Err(loss.refuse("file", format!("{file}: expected 0 and 1, one per packet")));
    }
    Ok(lost.into())
}

fn periodic(loss: &Table<'_>) -> Read<Loss> {
    match (loss.get::<f64>("rate")?, loss.get("every")?) {
        (None, Some(every)) => Ok(Loss::Periodic { every }),
        (Some(rate), None) if rate >= 1e-15 => Ok(Loss::Periodic { every: (1.0 / rate).round() as u64 }),
        (Some(_), None) => Err(loss.refuse("rate", "must be above 0 %")),
        (Some(_), Some(_)) => Err(loss.refuse("rate", "give either rate or every, not both")),
        (None, None) => Err(loss.refuse("every", "is required, or rate instead")),
    }
}
