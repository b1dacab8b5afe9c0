//! A log of records that are only appended. Every record that was written is in the file, or its loss is reported.
//!
//! A kill or a power cut leaves at most the beginning of one record at the end, and only such a fragment is ever cut
//! off. A record that was changed on the disk is an error that names its line or, on request, is set aside.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::disk::{self, Disk};
use crate::record::{is_sealed, is_torn, seal, unseal};

/// The treatment of records that were changed or damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damaged {
    /// Change nothing, and say where.
    Refuse,
    /// Move them to a file next to the log, whose name ends with `.bad`.
    SetAside,
}

/// A log, open at its end.
#[derive(Debug)]
pub struct Log {
    disk: Box<dyn Disk>,
    file: File,
    /// Bytes of whole records.
    length: u64,
    failed: bool,
}

/// A line of a log: its number from 1, and its bytes without the line feed.
struct RawLine<'a> {
    number: u64,
    range: Range<u64>,
    content: &'a [u8],
    is_ended: bool,
}

fn each_line(file: &File, mut take: impl FnMut(RawLine<'_>) -> Result<(), String>) -> Result<(), String> {
    let mut lines = BufReader::new(file);
    lines.seek(SeekFrom::Start(0)).map_err(|error| error.to_string())?;
    let (mut line, mut number, mut start) = (Vec::new(), 0, 0);
    while lines.read_until(b'\n', &mut line).map_err(|error| error.to_string())? > 0 {
        number += 1;
        let range = start..start + line.len() as u64;
        start = range.end;
        let content = line.strip_suffix(b"\n");
        take(RawLine { number, range, content: content.unwrap_or(&line), is_ended: content.is_some() })?;
        line.clear();
    }
    Ok(())
}

/// The contents of a log other than whole records.
#[derive(Default)]
struct Contents {
    bad: Vec<Range<u64>>,
    torn: Option<Range<u64>>,
    has_unsealed: bool,
    length: u64,
}

/// Reads every line, and passes whole records to `take`.
fn look(
    file: &File,
    damaged: Damaged,
    is_old: bool,
    take: &mut dyn FnMut(&Value),
) -> Result<Contents, String> {
    let mut contents = Contents::default();
    each_line(file, |line| {
        contents.length = line.range.end;
        let sealed = unseal(line.content).filter(|_| line.is_ended);
        let unsealed = || {
            let record = serde_json::from_slice::<Value>(line.content).ok();
            record.filter(|record| is_old && line.is_ended && !is_sealed(line.content) && is_record(record))
        };
        if let Some(record) = sealed {
            take(&record);
        } else if let Some(record) = unsealed() {
            contents.has_unsealed = true;
            take(&record);
        } else if !line.is_ended && is_torn(line.content) {
            contents.torn = Some(line.range);
        } else if damaged == Damaged::SetAside {
            contents.bad.push(line.range);
        } else {
            return Err(format!(
                "line {} (byte {}) was changed or damaged; restore the file from a copy, or set such lines aside \
                 and measure their slots again with --set-aside",
                line.number, line.range.start
            ));
        }
        Ok(())
    })?;
    Ok(contents)
}

/// Whether a record without a checksum is one of a campaign.
fn is_record(record: &Value) -> bool {
    record["slot"].is_u64() && record["try"].is_u64() && record["event"].is_string()
}

impl Log {
    /// Opens the log at `path`, or begins it, and passes every record to `take`, the oldest first. With `is_old` it may
    /// hold records without checksums, which get one. Returns the log and notes, a line each.
    ///
    /// # Errors
    /// One line, when it cannot be read or written, or holds records that were changed or damaged.
    pub fn open(
        path: &Path,
        mut disk: Box<dyn Disk>,
        damaged: Damaged,
        is_old: bool,
        mut take: impl FnMut(&Value),
    ) -> Result<(Log, Vec<String>), String> {
        let explain = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let open = || OpenOptions::new().read(true).append(true).create(true).open(path);
        let mut file = open().map_err(|error| explain(&error))?;
        let contents = look(&file, damaged, is_old, &mut take).map_err(|error| explain(&error))?;
        let mut notes = Vec::new();
        let mut length = contents.torn.as_ref().map_or(contents.length, |torn| torn.start);
        if let Some(torn) = &contents.torn {
            let bytes = torn.end - torn.start;
            notes.push(explain(&format!("cut off {bytes} bytes of a line that was not finished")));
        }
        if !contents.bad.is_empty() || contents.has_unsealed {
            if !contents.bad.is_empty() {
                let aside = set_aside(disk.as_mut(), &file, path, &contents.bad);
                let name = aside.map_err(|error| explain(&error))?.display().to_string();
                let count = contents.bad.len();
                notes.push(explain(&format!("changed or damaged lines: {count}; moved to {name}")));
            }
            if contents.has_unsealed {
                notes.push(explain(&"its lines had no checksums and have them now"));
            }
            rewrite(disk.as_mut(), &file, path, &contents).map_err(|error| explain(&error))?;
            file = open().map_err(|error| explain(&error))?;
            length = file.metadata().map_err(|error| explain(&error))?.len();
        } else if contents.torn.is_some() {
            disk.truncate(&file, length).map_err(|error| explain(&error))?;
        }
        disk.sync(&file).map_err(|error| explain(&error))?;
        disk::sync_directory_of(disk.as_mut(), path).map_err(|error| explain(&error))?;
        Ok((Log { disk, file, length, failed: false }, notes))
    }

    /// Appends a record. The operating system has it when this returns.
    ///
    /// # Errors
    /// One line. An incomplete record is cut off again, and nothing is appended afterwards: after an error, the
    /// contents of the file are unknown until it is read again.
    pub fn append(&mut self, record: &Value) -> Result<(), String> {
        let line = seal(record);
        self.step(|log| {
            log.disk.write(&mut log.file, line.as_bytes())?;
            log.length += line.len() as u64;
            Ok(())
        })
    }

    /// Returns when every record survives a power cut.
    ///
    /// # Errors
    /// One line, as for [`Self::append`].
    pub fn sync(&mut self) -> Result<(), String> {
        self.step(|log| log.disk.sync(&log.file))
    }

    /// The disk that it is on.
    pub fn disk(&mut self) -> &mut dyn Disk {
        self.disk.as_mut()
    }

    fn step(&mut self, work: impl FnOnce(&mut Log) -> io::Result<()>) -> Result<(), String> {
        if self.failed {
            return Err("cannot write the log: an earlier line could not be written".to_owned());
        }
        work(self).map_err(|error| {
            self.failed = true;
            // If that fails, too, the next to open it cuts the line off.
            let _ = self.disk.truncate(&self.file, self.length);
            format!("cannot write the log: {error}")
        })
    }
}

/// Copies bad lines to the file for them, and returns its path.
fn set_aside(disk: &mut dyn Disk, file: &File, path: &Path, bad: &[Range<u64>]) -> io::Result<PathBuf> {
    let mut name = path.as_os_str().to_owned();
    name.push(".bad");
    let aside = PathBuf::from(name);
    let mut kept = OpenOptions::new().append(true).create(true).open(&aside)?;
    for range in bad {
        disk.write(&mut kept, &bytes(file, range)?)?;
    }
    disk.sync(&kept)?;
    disk::sync_directory_of(disk, &aside)?;
    Ok(aside)
}

fn bytes(mut file: &File, range: &Range<u64>) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; (range.end - range.start) as usize];
    file.seek(SeekFrom::Start(range.start))?;
    io::Read::read_exact(&mut file, &mut bytes)?;
    Ok(bytes)
}

/// Writes the log again without bad or torn records, every record with its checksum.
fn rewrite(disk: &mut dyn Disk, file: &File, path: &Path, contents: &Contents) -> io::Result<()> {
    disk::replace(disk, path, |disk, draft| {
        let mut out = BufWriter::new(Through { disk, file: draft });
        let mut bad = contents.bad.iter().chain(&contents.torn).peekable();
        let copied = each_line(file, |line| {
            if bad.next_if(|range| **range == line.range).is_some() {
                return Ok(());
            }
            let text = match serde_json::from_slice(line.content) {
                Ok(record) if !is_sealed(line.content) => seal(&record).into_bytes(),
                _ => [line.content, b"\n"].concat(),
            };
            out.write_all(&text).map_err(|error| error.to_string())
        });
        copied.map_err(io::Error::other)?;
        out.flush()
    })
}

struct Through<'a> {
    disk: &'a mut dyn Disk,
    file: &'a mut File,
}

impl Write for Through<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.write(self.file, bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
