//! A disc by its name: `NAME` or `NAME:OPTION,OPTION`.
//!
//! Discs that turn take `mean`, which reckons every seek and wait with its mean
//! ([`Way::Mean`](super::model::drive::Way)), and `scheduler=fifo`, `sstf` or `elevator`:
//! `sata-hdd:scheduler=sstf`. `measured:FILE` is a document of latencies ([`super::measured`]), or else a
//! large file of this machine, which is measured then and there; that alone differs from run to run. Any other name with a
//! `/` or a `.` in it is a file that describes a drive ([`super::description`]), with the options of one that turns.

use std::io::Read as _;
use std::path::Path;

use super::description::{self, DescriptionError, Document};
use super::latency::{Latencies, Latency};
use super::measured::{self, Measured, MeasuredError};
use super::model::drive::{Drive, Way};
use super::model::{Model, Scheduler};
use super::null::Null;
use super::table::{AnyDisc, DISCS, Make, Row, Shape};
use crate::sys::input::{self, Refused};
use crate::units::Nanos;

/// A disc that was asked for by name, before it is made.
#[derive(Clone, Debug)]
pub struct Choice(Of);

#[derive(Clone, Debug)]
enum Of {
    Row { row: &'static Row, options: Options },
    Described { name: String, drive: Box<Drive> },
    Measured(Measured),
}

/// What is said behind the name of a disc that turns.
#[derive(Clone, Copy, Debug, Default)]
struct Options {
    mean: bool,
    scheduler: Option<Scheduler>,
}

impl Choice {
    /// As in [`DISCS`], or `measured`, or the file of a drive.
    pub fn name(&self) -> &str {
        match &self.0 {
            Of::Row { row, .. } => row.name,
            Of::Described { name, .. } => name,
            Of::Measured(_) => MEASURED,
        }
    }

    /// Where it ends.
    pub fn size_bytes(&self) -> u64 {
        match &self.0 {
            Of::Row { row, .. } => row.size_bytes,
            Of::Described { drive, .. } => drive.geometry.sectors() * u64::from(drive.sector_bytes),
            Of::Measured(measured) => measured.size_bytes,
        }
    }

    /// What it is made of.
    pub fn shape(&self) -> Shape {
        match &self.0 {
            Of::Row { row, .. } => row.shape,
            Of::Described { drive, .. } => {
                let track_bytes =
                    u64::from(drive.geometry.track_sectors()) * u64::from(drive.sector_bytes);
                let cylinder_bytes = track_bytes * u64::from(drive.geometry.surfaces());
                Shape { sector_bytes: drive.sector_bytes, track_bytes, cylinder_bytes }
            }
            Of::Measured(_) => Shape::of_sectors(512),
        }
    }

    /// The drive that a document or a file describes; nothing for other discs.
    pub fn drive(&self) -> Option<&Drive> {
        match &self.0 {
            Of::Described { drive, .. } => Some(drive),
            Of::Row { .. } | Of::Measured(_) => None,
        }
    }

    /// The disc, idle, at the beginning of time.
    pub fn build(&self, seed: u64) -> AnyDisc {
        let size_bytes = self.size_bytes();
        let of_latencies = |latencies| AnyDisc::Latency(Latency::new(size_bytes, latencies, seed));
        match &self.0 {
            Of::Measured(measured) => of_latencies(measured.latencies()),
            Of::Described { drive, .. } => {
                AnyDisc::Model(Box::new(Model::new(Drive::clone(drive))))
            }
            Of::Row { row, options } => match row.make {
                Make::Null | Make::Described(_) => AnyDisc::Null(Null::new(size_bytes)),
                Make::Sheet(sheet) => of_latencies(Latencies::new(sheet.cells())),
                Make::Turning(turning) => {
                    let drive = turning.drive(options.mean, options.scheduler);
                    AnyDisc::Model(Box::new(Model::new(drive)))
                }
            },
        }
    }
}

/// A disc that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownDisc {
    /// No row is called that.
    #[error("there is no disc `{name}`; there are {}", names())]
    Name {
        /// What was asked for.
        name: String,
    },
    /// The row has no such option.
    #[error("the disc `{disc}` takes no option `{option}`; {allowed}")]
    Option {
        /// The row.
        disc: String,
        /// What was asked for.
        option: String,
        /// What may be.
        allowed: &'static str,
    },
    /// A file that could not be read.
    #[error("{file}: {what}")]
    File {
        /// Which one.
        file: String,
        /// In the kernel's words.
        what: String,
    },
    /// A file that is none to be read.
    #[error("{0}")]
    Refused(String),
    /// A file that describes no drive.
    #[error("{file}: {error}")]
    Described {
        /// Which one.
        file: String,
        /// What is wrong with it.
        error: DescriptionError,
    },
    /// A file that says nothing of a disc.
    #[error("{file}: {error}")]
    Measured {
        /// Which one.
        file: String,
        /// What is wrong with it.
        error: MeasuredError,
    },
}

/// What comes before the file of a measured disc.
const MEASURED: &str = "measured";

fn names() -> String {
    let names = DISCS.iter().map(|row| row.name).chain(["measured:FILE", "./FILE"]);
    names.collect::<Vec<_>>().join(", ")
}

/// What `text` asks for.
pub fn named(text: &str) -> Result<Choice, UnknownDisc> {
    let (name, options) = text.split_once(':').unwrap_or((text, ""));
    if name == MEASURED && !options.is_empty() {
        return read_measured(options).map(|measured| Choice(Of::Measured(measured)));
    }
    let Some(row) = DISCS.iter().find(|row| row.name == name) else {
        return file(text);
    };
    let options = parse_options(row.name, options, row.turns())?;
    match row.make {
        Make::Described(document) => {
            let wrong = |error| UnknownDisc::Described { file: row.name.to_owned(), error };
            let drive = Document::parse(document).and_then(|document| document.drive());
            Ok(described_as(row.name, drive.map_err(wrong)?, options))
        }
        Make::Null | Make::Sheet(_) | Make::Turning(_) => Ok(Choice(Of::Row { row, options })),
    }
}

fn parse_options(disc: &str, options: &str, turns: bool) -> Result<Options, UnknownDisc> {
    let mut found = Options::default();
    for option in options.split(',').filter(|option| !option.is_empty()) {
        let wanted = option.strip_prefix("scheduler=");
        let named = Scheduler::NAMED.iter().find(|(name, _)| Some(*name) == wanted);
        match named {
            Some((_, of_name)) if turns => found.scheduler = Some(*of_name),
            None if turns && option == "mean" => found.mean = true,
            _ => {
                let (disc, option) = (disc.to_owned(), option.to_owned());
                let allowed = if turns { TURNING_OPTIONS } else { "it takes none" };
                return Err(UnknownDisc::Option { disc, option, allowed });
            }
        }
    }
    Ok(found)
}

fn described_as(name: &str, mut drive: Drive, options: Options) -> Choice {
    if options.mean {
        let sectors = u64::from(drive.geometry.track_sectors().max(1));
        drive.way = Way::Mean { sector: Nanos(drive.rotation.0 / sectors) };
    }
    drive.scheduler = options.scheduler.unwrap_or(drive.scheduler);
    Choice(Of::Described { name: name.to_owned(), drive: Box::new(drive) })
}

/// A file that describes a drive, perhaps with options behind it.
fn file(text: &str) -> Result<Choice, UnknownDisc> {
    let unknown = |name: &str| UnknownDisc::Name { name: name.to_owned() };
    let is_file = |name: &str| name.contains(['/', '.']);
    let (name, options) = match text.rsplit_once(':') {
        Some((name, options)) if is_file(name) && !is_file(options) => (name, options),
        Some((name, _)) if !is_file(text) => return Err(unknown(name)),
        _ if is_file(text) => (text, ""),
        _ => return Err(unknown(text)),
    };
    let options = parse_options(name, options, true)?;
    let wrong = |error| UnknownDisc::Described { file: name.to_owned(), error };
    let drive = described(Path::new(name))?.drive().map_err(wrong)?;
    Ok(described_as(name, drive, options))
}

/// What a file describes. A file that it names lies beside it; where there is none of that name, one that is called
/// as it is itself is taken, with the ending of the other.
pub fn described(path: &Path) -> Result<Document, UnknownDisc> {
    let text = read_text(path).map_err(|error| UnknownDisc::Refused(error.to_string()))?;
    let mut read = |name: &str| {
        let near = path.with_file_name(name);
        match (read_text(&near), Path::new(name).extension()) {
            (Err(error), Some(ending)) if error.is_absent() => {
                read_text(&path.with_extension(ending)).map_err(|_| error.to_string())
            }
            (text, _) => text.map_err(|error| error.to_string()),
        }
    };
    description::parse(&text, &mut read)
        .map_err(|error| UnknownDisc::Described { file: input::name(path), error })
}

fn read_text(path: &Path) -> Result<String, Refused> {
    let mut text = String::new();
    let failed = |source| Refused::Open { path: path.to_owned(), source };
    input::open(path)?.take(DESCRIPTION_BYTES_MAX).read_to_string(&mut text).map_err(failed)?;
    Ok(text)
}

/// No description of a drive is longer.
const DESCRIPTION_BYTES_MAX: u64 = 16 << 20;

/// A document that somebody kept, or else a file that is measured now.
fn read_measured(file: &str) -> Result<Measured, UnknownDisc> {
    let failed =
        |what: std::io::Error| UnknownDisc::File { file: file.to_owned(), what: what.to_string() };
    let mut begin = Vec::new();
    let opened = std::fs::File::open(file).map_err(failed)?;
    opened.take(DOCUMENT_BYTES_MAX).read_to_end(&mut begin).map_err(failed)?;
    let document = String::from_utf8(begin).ok().filter(|text| text.trim_start().starts_with('{'));
    let measured = match document {
        Some(text) => Measured::parse(&text),
        None => measured::sample(file),
    };
    measured.map_err(|error| UnknownDisc::Measured { file: file.to_owned(), error })
}

/// No document of latencies is longer.
const DOCUMENT_BYTES_MAX: u64 = 1 << 20;

const TURNING_OPTIONS: &str = "it takes mean, scheduler=fifo, scheduler=sstf, scheduler=elevator";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_name_gets_the_right_ones() {
        let check = |text: &str, want: &str| {
            let said = named(text).unwrap_err().to_string();
            assert!(said.contains(want), "{said}");
            assert!(!said.contains('\n'));
        };
        check("floppy", "there is no disc `floppy`; there are ");
        check("floppy", "nvme-ssd");
        check("", "there is no disc ``");
        check("measured:", "there is no disc `measured`; there are ");
        check("measured:/absent/file", "/absent/file: No such file");
        check("measured:/dev/null", "/dev/null: no reads and no writes were measured");
        check("null:mean", "takes no option `mean`; it takes none");
        check("rk05:scheduler=best", "it takes mean, scheduler=fifo");
        check("rk05:mean,scheduler", "takes no option `scheduler`");
        for (option, _) in Scheduler::NAMED {
            assert!(TURNING_OPTIONS.contains(option));
        }
    }
}
