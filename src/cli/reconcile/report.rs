//! A settlement report, read line by line in constant memory.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use csv::{ReaderBuilder, StringRecord};
use sha2::{Digest, Sha256};

use super::format::{Format, Head, Row};
use super::line::{Item, Line};
use crate::domain::money::{Money, Totals};

/// The longest record that is read, in bytes: reports have none of a hundredth of it.
const LONGEST: usize = 64 * 1024;

/// How many records may stand above the names of the columns.
const ABOVE: usize = 50;

/// Why a report was not loaded.
#[derive(Debug, thiserror::Error)]
pub enum BadReport {
    /// It cannot be opened or read.
    #[error("it cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    /// A folder, a pipe, a device.
    #[error("it is not a file")]
    NoFile,
    /// It is not such a report.
    #[error("it is not a report of {format}: the column {missing:?} is missing")]
    OtherReport {
        /// Which form was expected.
        format: &'static str,
        /// The column.
        missing: &'static str,
    },
    /// It has no columns at all.
    #[error("it has no line that names its columns")]
    NoHead,
    /// A line cannot be read.
    #[error("line {line}: {why}")]
    Line {
        /// The line of the file, counted from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// The last line is cut off.
    #[error("line {line}: the file ends in the middle of it; get the whole file and load it again")]
    CutOff {
        /// The last line.
        line: u64,
    },
    /// Its own totals say otherwise.
    #[error("its lines of {currency} add up to {ours}, and it states {stated}: the difference is {difference}")]
    Totals {
        /// The currency.
        currency: String,
        /// What its lines add up to.
        ours: Money,
        /// What it states.
        stated: Money,
        /// The difference.
        difference: Money,
    },
    /// It says that it has another number of lines.
    #[error("it has {found} lines, and says that it has {stated}")]
    Count {
        /// What was read.
        found: u64,
        /// What it states.
        stated: u64,
    },
}

/// What a whole report came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// How many lines it has.
    pub lines: u64,
    /// What all its lines add up to, by currency.
    pub all: Totals,
    /// What it states, when it states anything.
    pub stated: Option<Totals>,
}

/// The SHA-256 of a file, in hex, and its length: the same file is the same report.
pub fn fingerprint(file: &Path) -> Result<(String, u64), BadReport> {
    if !std::fs::metadata(file)?.is_file() {
        return Err(BadReport::NoFile);
    }
    let mut from = File::open(file)?;
    let mut hash = Sha256::new();
    let mut part = vec![0; 64 * 1024];
    let mut length = 0_u64;
    loop {
        let read = from.read(&mut part)?;
        if read == 0 {
            break;
        }
        hash.update(part.get(..read).unwrap_or_default());
        length = length.saturating_add(u64::try_from(read).unwrap_or(0));
    }
    let mut hex = String::new();
    for byte in hash.finalize() {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    Ok((hex, length))
}

/// Reads a whole report; `each` is given every line with its number in the file, and may end it.
pub fn read(
    file: &Path,
    format: &Format,
    each: &mut dyn FnMut(u64, Line) -> Result<(), BadReport>,
) -> Result<Summary, BadReport> {
    let mut from = BufReader::new(File::open(file)?);
    let ends_well = ends_with_a_line_end(file)?;
    skip_mark(&mut from)?;
    let delimiter = delimiter(&mut from)?;
    let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(from);
    let mut names: Vec<String> = Vec::new();
    let mut above = 0;
    let mut record = StringRecord::new();
    let mut summary = Summary::default();
    let mut counts: Option<u64> = None;
    let mut last: Option<(u64, usize)> = None;
    loop {
        let line = reader.position().line();
        match reader.read_record(&mut record) {
            Ok(false) => break,
            Ok(true) => {}
            Err(error) => {
                let why = if matches!(error.kind(), csv::ErrorKind::Utf8 { .. }) {
                    "it is not UTF-8".to_owned()
                } else {
                    error.to_string()
                };
                return Err(BadReport::Line { line, why });
            }
        }
        if record.as_slice().len() > LONGEST {
            return Err(BadReport::Line {
                line,
                why: format!("it is longer than {LONGEST} bytes: a quote is not closed"),
            });
        }
        if names.is_empty() {
            if (format.is_head)(&record) == Head::Yes {
                names = record.iter().map(|name| name.trim().trim_start_matches('\u{feff}').to_owned()).collect();
                let lacks = |column: &&&str| !names.iter().any(|name| name.eq_ignore_ascii_case(column));
                if let Some(missing) = format.columns.iter().find(lacks) {
                    return Err(BadReport::OtherReport { format: format.name, missing });
                }
            } else {
                above += 1;
                if above > ABOVE {
                    return Err(BadReport::NoHead);
                }
            }
            continue;
        }
        if record.iter().all(|field| field.trim().is_empty()) {
            continue;
        }
        last = Some((line, record.len()));
        match (format.read)(&Row { names: &names, record: &record }) {
            Ok(Item::Line(one)) => {
                if record.len() < names.len() {
                    return Err(short(&mut reader, line, record.len(), names.len(), ends_well));
                }
                summary.lines = summary.lines.saturating_add(1);
                summary.all.add(&one.money);
                each(line, one)?;
            }
            Ok(Item::Total(total)) => summary.stated.get_or_insert_default().add(&total),
            Ok(Item::Count(count)) => counts = Some(count),
            Ok(Item::Nothing) => {}
            Err(_) if record.len() < names.len() && !ends_well => {
                return Err(short(&mut reader, line, record.len(), names.len(), ends_well));
            }
            Err(why) => return Err(BadReport::Line { line, why }),
        }
    }
    if names.is_empty() {
        return Err(BadReport::NoHead);
    }
    if let (Some((line, fields)), false) = (last, ends_well)
        && fields < names.len()
    {
        return Err(BadReport::CutOff { line });
    }
    agrees(&summary, counts)?;
    Ok(summary)
}

/// A line with too few fields: at the end of a file without a line end it is cut off, elsewhere it is damaged.
fn short(
    reader: &mut csv::Reader<BufReader<File>>,
    line: u64,
    found: usize,
    wanted: usize,
    ends_well: bool,
) -> BadReport {
    let mut next = StringRecord::new();
    if !ends_well && matches!(reader.read_record(&mut next), Ok(false)) {
        return BadReport::CutOff { line };
    }
    BadReport::Line { line, why: format!("it has {found} fields, and the report has {wanted} columns") }
}

/// What the report states of itself must be so.
fn agrees(summary: &Summary, counts: Option<u64>) -> Result<(), BadReport> {
    if let Some(stated) = counts.filter(|stated| *stated != summary.lines) {
        return Err(BadReport::Count { found: summary.lines, stated });
    }
    for stated in summary.stated.iter().flat_map(Totals::iter) {
        let ours = summary.all.iter().find(|sum| sum.currency == stated.currency);
        let ours = ours.unwrap_or_else(|| Money { minor: 0, currency: stated.currency.clone() });
        if ours != stated {
            let difference =
                Money { minor: ours.minor.saturating_sub(stated.minor), currency: stated.currency.clone() };
            return Err(BadReport::Totals { currency: stated.currency.to_string(), ours, stated, difference });
        }
    }
    Ok(())
}

fn ends_with_a_line_end(file: &Path) -> Result<bool, BadReport> {
    let mut file = File::open(file)?;
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n" || last == *b"\r")
}

/// Leaves out a byte order mark.
fn skip_mark(from: &mut BufReader<File>) -> Result<(), BadReport> {
    if from.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
        from.consume(3);
    }
    Ok(())
}

/// What stands between the fields: whichever of comma, semicolon and tab the first line with letters has most of.
fn delimiter(from: &mut BufReader<File>) -> Result<u8, BadReport> {
    let start = from.fill_buf()?;
    let line = start.split(|byte| *byte == b'\n').find(|line| line.iter().any(u8::is_ascii_alphabetic));
    let line = line.unwrap_or_default();
    let count = |mark: u8| line.split(|byte| *byte == mark).count();
    // Of two that stand equally often the first: a comma is what the name of the form says.
    let mut best = b',';
    for mark in [b';', b'\t'] {
        if count(mark) > count(best) {
            best = mark;
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests;
