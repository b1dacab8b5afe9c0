//! The emulator's report on itself.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// Share of packets that may be late before a result is invalid.
const LARGEST_LATE_SHARE: f64 = 0.01;

/// How late packets left, compared with the model's times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Lateness {
    /// Mean, microseconds.
    pub mean_us: f64,
    /// 99th percentile, microseconds.
    pub p99_us: f64,
    /// The largest, microseconds.
    pub most_us: f64,
    /// Share of packets beyond the tolerance, 0 to 1.
    pub late_share: f64,
}

/// One direction of the path since its start.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Direction {
    /// Packets that entered.
    pub arrived_packets: u64,
    /// Packets that left at the far end.
    pub delivered_packets: u64,
    /// Packets lost at random.
    pub random_losses: u64,
    /// Packets dropped by the queue.
    pub queue_drops: u64,
    /// Packets marked by the queue.
    pub marks: u64,
    /// Bits sent over bits that could have been sent.
    pub utilisation: f64,
    /// Mean over time, the packet in transmission included.
    pub mean_queue_packets: f64,
    /// The longest, the packet in transmission included.
    pub longest_queue_packets: u64,
    /// Packets refused for lack of memory, which no real path does.
    pub refused_packets: u64,
    /// How late packets left.
    pub lateness: Lateness,
}

/// The final report of `ackclock link`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Version of this program.
    pub version: &'static str,
    /// How long the path was up, seconds.
    pub duration_s: f64,
    /// Whether the emulator had real-time priority.
    pub real_time: bool,
    /// A packet that left later than this is late, microseconds.
    pub tolerance_us: f64,
    /// From the client to the server.
    pub forward: Direction,
    /// From the server to the client.
    pub reverse: Direction,
    /// Packets dropped before the emulator read them, which no real path does.
    pub overlooked_packets: u64,
    /// Reasons why results measured over this path are not valid; empty if they are.
    pub problems: Vec<String>,
    /// Whether results measured over this path are valid.
    pub valid: bool,
}

impl Report {
    /// Decides whether results are valid: at most one packet in a hundred was late, and the emulator itself lost none.
    #[must_use]
    pub fn judged(mut self) -> Report {
        for (name, direction) in [("forward", &self.forward), ("reverse", &self.reverse)] {
            let share = direction.lateness.late_share;
            if share > LARGEST_LATE_SHARE {
                let (percent, limit) = (100.0 * share, self.tolerance_us);
                self.problems
                    .push(format!("{name}: {percent:.1} % of packets left more than {limit} us late"));
            }
            if direction.refused_packets > 0 {
                let count = direction.refused_packets;
                self.problems.push(format!("{name}: no memory for {count} packets"));
            }
        }
        if self.overlooked_packets > 0 {
            self.problems
                .push(format!("{} packets arrived faster than they could be read", self.overlooked_packets));
        }
        self.valid = self.problems.is_empty();
        self
    }

    /// A summary of a few lines.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (name, direction) in [("forward", &self.forward), ("reverse", &self.reverse)] {
            text += &format!(
                "{name}: {} packets in, {} out, {} lost at random, {} dropped; {:.1} % used, {:.1} packets queued on average; late by {:.0} us on average, {:.0} us at the 99th percentile, {:.0} us at most\n",
                direction.arrived_packets,
                direction.delivered_packets,
                direction.random_losses,
                direction.queue_drops,
                100.0 * direction.utilisation,
                direction.mean_queue_packets,
                direction.lateness.mean_us,
                direction.lateness.p99_us,
                direction.lateness.most_us,
            );
        }
        text
    }
}

/// Writes a file whole or not at all. It is done as root, perhaps in a folder where others may write: no link is followed, and
/// nothing but a file is replaced.
///
/// # Errors
/// The error of the system, or that something other than a file has this name.
pub fn write_whole(file: &Path, text: &str) -> io::Result<()> {
    let draft = draft_of(file)?;
    let written = (|| {
        // A new file: where there is a link of this name, this fails.
        let mut new = fs::OpenOptions::new().write(true).create_new(true).open(&draft)?;
        new.write_all(text.as_bytes())?;
        new.sync_all()?;
        fs::rename(&draft, file)
    })();
    if written.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::AlreadyExists) {
        let _ = fs::remove_file(&draft);
    }
    written
}

/// Writes a text like `write_whole`, and its checksum next to it, as `sha256sum` and every verb of ackclock write it.
///
/// # Errors
/// Those of `write_whole`.
pub fn write_sealed(file: &Path, text: &str) -> io::Result<()> {
    let seal = seal_of(file);
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let line = |content: &[u8]| {
        let digest: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{digest}  {name}\n")
    };
    let new = line(text.as_bytes());
    // A kill comes before or after the file gets its name: the one that is there has a line.
    if let Ok(former) = fs::read(file)
        && line(&former) != new
    {
        write_whole(&seal, &(line(&former) + &new))?;
    }
    write_whole(file, text)?;
    write_whole(&seal, &new)
}

/// The name of the checksum of a file.
fn seal_of(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".sha256");
    file.with_file_name(name)
}

/// Finds out whether `write_sealed` could write a file, before the work whose report it is.
///
/// # Errors
/// Those of `write_sealed`.
pub fn probe(file: &Path) -> io::Result<()> {
    for each in [file, &seal_of(file)] {
        let draft = draft_of(each)?;
        fs::OpenOptions::new().write(true).create_new(true).open(&draft)?;
        fs::remove_file(&draft)?;
    }
    Ok(())
}

/// Returns the name of the draft of a file; an error if something else has the name of the file.
fn draft_of(file: &Path) -> io::Result<PathBuf> {
    let is_file = file.symlink_metadata().map_or(true, |there| there.is_file());
    let Some(name) = file.file_name().filter(|_| is_file) else {
        return Err(io::Error::other("exists and is not a file; choose another name"));
    };
    let short: String = name.to_string_lossy().chars().take(MOST_LETTERS).collect();
    Ok(file.with_file_name(format!(".{short}.{}.partial", process::id())))
}

/// Of the name of a file in that of its draft.
const MOST_LETTERS: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;

    /// One packet of a thousand that is half a second late makes a mean of 500 us above a 99th percentile of 48 us.
    #[test]
    fn a_mean_above_the_percentile_is_explained_by_the_largest() {
        let lateness = Lateness { mean_us: 548.0, p99_us: 48.0, most_us: 500_000.0, late_share: 0.001 };
        let forward = Direction {
            arrived_packets: 1000,
            delivered_packets: 1000,
            random_losses: 0,
            queue_drops: 0,
            marks: 0,
            utilisation: 0.5,
            mean_queue_packets: 1.0,
            longest_queue_packets: 2,
            refused_packets: 0,
            lateness,
        };
        let report = Report {
            version: "",
            duration_s: 1.0,
            real_time: true,
            tolerance_us: 1000.0,
            reverse: forward.clone(),
            forward,
            overlooked_packets: 0,
            problems: Vec::new(),
            valid: false,
        };
        let end = "late by 548 us on average, 48 us at the 99th percentile, 500000 us at most";
        assert!(report.text().lines().all(|line| line.ends_with(end)), "{}", report.text());
        assert!(report.judged().valid, "one in a thousand is late, one in a hundred may be");
    }

    /// In a folder of its own, which goes away with the test.
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("ackclock-report-{name}-{}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_report_is_whole_and_replaces_only_a_report() {
        let folder = folder("whole");
        let file = folder.join("report.json");
        write_whole(&file, "first").unwrap();
        write_whole(&file, "second").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "second");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no draft is left");
        for refused in [&folder, Path::new("/dev/null"), &folder.join("none").join("report.json")] {
            assert!(probe(refused).is_err(), "refused before the work");
        }
        probe(&file).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "second", "looked at and not changed");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        assert!(write_whole(&folder, "text").is_err(), "a directory");
        assert!(write_whole(Path::new("/dev/null"), "text").is_err(), "a device");
        assert!(write_whole(&folder.join("none").join("report.json"), "text").is_err());
        fs::remove_dir_all(&folder).unwrap();
    }

    /// The digest of abc is that of FIPS 180-4, appendix B.1 of its earlier edition.
    #[test]
    fn a_report_has_its_checksum_next_to_it() {
        let folder = folder("sealed");
        let file = folder.join("report.json");
        let seal = || fs::read_to_string(folder.join("report.json.sha256")).unwrap();
        write_sealed(&file, "first").unwrap();
        assert_eq!(seal().len(), 64 + "  report.json\n".len());
        write_sealed(&file, "abc").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "abc");
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(seal(), format!("{digest}  report.json\n"));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "no draft is left");
        // Where the checksum cannot be written, nothing is measured.
        fs::remove_file(folder.join("report.json.sha256")).unwrap();
        fs::create_dir(folder.join("report.json.sha256")).unwrap();
        assert!(probe(&file).is_err() && write_sealed(&file, "text").is_err());
        assert!(probe(&folder.join("other.json")).is_ok());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_report_follows_no_link() {
        let folder = folder("link");
        let secret = folder.join("secret");
        fs::write(&secret, "secret").unwrap();
        let file = folder.join("report.json");
        std::os::unix::fs::symlink(&secret, &file).unwrap();
        assert!(write_whole(&file, "text").is_err());
        // Nor where the draft would be.
        fs::remove_file(&file).unwrap();
        let draft = folder.join(format!(".report.json.{}.partial", process::id()));
        std::os::unix::fs::symlink(&secret, &draft).unwrap();
        assert!(write_whole(&file, "text").is_err());
        assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
        assert!(draft.symlink_metadata().is_ok(), "what somebody else put there stays");
        fs::remove_dir_all(&folder).unwrap();
    }
}
