//! Finds a disc by its name: `NAME` or `NAME:OPTION,OPTION`.
//!
//! Rotating discs take `mean`, which charges each seek and wait its mean
//! ([`Way::Mean`](super::model::drive::Way)). They also take `scheduler=fifo`, `sstf` or
//! `elevator`: `sata-hdd:scheduler=sstf`. `measured:FILE` is a document of latencies
//! ([`super::measured`]), or a large file of this machine. Such a file is measured on the spot, so
//! only its times differ from run to run. Any other name with a `/` or a `.` is a file that
//! describes a drive ([`super::description`]), with the options of a rotating disc.

#[cfg(feature = "system")]
mod files;

#[cfg(feature = "system")]
pub use files::described;

use super::description::{DescriptionError, Document};
use super::latency::{Latencies, Latency};
use super::measured::{Measured, MeasuredError};
use super::model::drive::{Drive, Way};
use super::model::{Model, Scheduler};
use super::null::Null;
use super::table::{AnyDisc, DISCS, Make, Row, Shape};
use crate::units::Nanos;

/// A disc that a name selected; [`Choice::build`] makes it.
#[derive(Clone, Debug)]
pub struct Choice(Of);

#[derive(Clone, Debug)]
enum Of {
    Row { row: &'static Row, options: Options },
    Described { name: String, drive: Box<Drive> },
    Measured(Measured),
}

/// The options after the name of a rotating disc.
#[derive(Clone, Copy, Debug, Default)]
struct Options {
    mean: bool,
    scheduler: Option<Scheduler>,
}

impl Choice {
    /// A disc of measured latencies.
    pub fn measured(measured: Measured) -> Self {
        Self(Of::Measured(measured))
    }

    /// The name in [`DISCS`], or `measured`, or the file of a drive.
    pub fn name(&self) -> &str {
        match &self.0 {
            Of::Row { row, .. } => row.name,
            Of::Described { name, .. } => name,
            Of::Measured(_) => MEASURED,
        }
    }

    /// The size of the disc.
    pub fn size_bytes(&self) -> u64 {
        match &self.0 {
            Of::Row { row, .. } => row.size_bytes,
            Of::Described { drive, .. } => drive.geometry.sectors() * u64::from(drive.sector_bytes),
            Of::Measured(measured) => measured.size_bytes,
        }
    }

    /// The units in which the disc can be divided.
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

    /// The drive that a document or a file describes; `None` for other discs.
    pub fn drive(&self) -> Option<&Drive> {
        match &self.0 {
            Of::Described { drive, .. } => Some(drive),
            Of::Row { .. } | Of::Measured(_) => None,
        }
    }

    /// Makes the disc, idle, at time zero.
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

/// The reason why a name selects no disc.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownDisc {
    /// No row has this name.
    #[error("there is no disc `{name}`: write one of {}", names())]
    Name {
        /// The unknown name.
        name: String,
    },
    /// The row does not have this option.
    #[error("the disc `{disc}` takes no option `{option}`; {allowed}")]
    Option {
        /// The row's name.
        disc: String,
        /// The unknown option.
        option: String,
        /// The options that the row has.
        allowed: &'static str,
    },
    /// A file cannot be read.
    #[error("{file}: {what}")]
    File {
        /// Its name.
        file: String,
        /// The kernel's error.
        what: String,
    },
    /// A file cannot be opened, or is not a regular file.
    #[error("{0}")]
    Refused(String),
    /// A file does not describe a drive.
    #[error("{file}: {error}")]
    Described {
        /// Its name.
        file: String,
        /// The error in the description.
        error: DescriptionError,
    },
    /// A file has no usable latencies.
    #[error("{file}: {error}")]
    Measured {
        /// Its name.
        file: String,
        /// The error in the document.
        error: MeasuredError,
    },
}

/// The name before the file of a measured disc.
const MEASURED: &str = "measured";

fn names() -> String {
    let names = DISCS.iter().map(|row| row.name).chain(["measured:FILE", "./FILE"]);
    names.collect::<Vec<_>>().join(", ")
}

/// Parses `text` and finds the disc.
pub fn named(text: &str) -> Result<Choice, UnknownDisc> {
    let (name, options) = text.split_once(':').unwrap_or((text, ""));
    let Some(row) = DISCS.iter().find(|row| row.name == name) else {
        return by_file(text);
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

/// Finds a disc by a file.
#[cfg(feature = "system")]
fn by_file(text: &str) -> Result<Choice, UnknownDisc> {
    files::by_file(text)
}

/// Finds no disc: this build opens no files.
#[cfg(not(feature = "system"))]
fn by_file(text: &str) -> Result<Choice, UnknownDisc> {
    Err(UnknownDisc::Name { name: text.to_owned() })
}

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
        check("floppy", "there is no disc `floppy`: write one of ");
        check("floppy", "nvme-ssd");
        check("", "there is no disc ``");
        check("measured:", "there is no disc `measured`: write one of ");
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
