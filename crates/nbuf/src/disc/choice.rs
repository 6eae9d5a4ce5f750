//! A disc by its name: `NAME` or `NAME:OPTION,OPTION`.
//!
//! Discs that turn take `mean`, which reckons every seek and wait with its mean
//! ([`Way::Mean`](super::model::drive::Way)), and `scheduler=fifo`, `sstf` or `elevator`:
//! `sata-hdd:scheduler=sstf`. `measured:FILE` is a document of latencies ([`super::measured`]), or else a
//! large file of this machine, which is measured then and there; that alone differs from run to run.

use std::io::Read as _;

use super::latency::{Latencies, Latency};
use super::measured::{self, Measured, MeasuredError};
use super::model::{Model, Scheduler};
use super::null::Null;
use super::table::{AnyDisc, DISCS, Make, Row, Shape};

/// A disc that was asked for by name, before it is made.
#[derive(Clone, Debug)]
pub struct Choice(Of);

#[derive(Clone, Debug)]
enum Of {
    Row { row: &'static Row, mean: bool, scheduler: Option<Scheduler> },
    Measured(Measured),
}

impl Choice {
    /// As in [`DISCS`], or `measured`.
    pub fn name(&self) -> &str {
        match &self.0 {
            Of::Row { row, .. } => row.name,
            Of::Measured(_) => MEASURED,
        }
    }

    /// Where it ends.
    pub fn size_bytes(&self) -> u64 {
        match &self.0 {
            Of::Row { row, .. } => row.size_bytes,
            Of::Measured(measured) => measured.size_bytes,
        }
    }

    /// What it is made of.
    pub fn shape(&self) -> Shape {
        match &self.0 {
            Of::Row { row, .. } => row.shape,
            Of::Measured(_) => Shape::of_sectors(512),
        }
    }

    /// The disc, idle, at the beginning of time.
    pub fn build(&self, seed: u64) -> AnyDisc {
        let size_bytes = self.size_bytes();
        let of_latencies = |latencies| AnyDisc::Latency(Latency::new(size_bytes, latencies, seed));
        match &self.0 {
            Of::Measured(measured) => of_latencies(measured.latencies()),
            Of::Row { row, mean, scheduler } => match row.make {
                Make::Null => AnyDisc::Null(Null::new(size_bytes)),
                Make::Sheet(sheet) => of_latencies(Latencies::new(sheet.cells())),
                Make::Turning(turning) => {
                    AnyDisc::Model(Box::new(Model::new(turning.drive(*mean, *scheduler))))
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
        disc: &'static str,
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
    let names = DISCS.iter().map(|row| row.name).chain(["measured:FILE"]);
    names.collect::<Vec<_>>().join(", ")
}

/// What `text` asks for.
pub fn named(text: &str) -> Result<Choice, UnknownDisc> {
    let (name, options) = text.split_once(':').unwrap_or((text, ""));
    if name == MEASURED && !options.is_empty() {
        return read_measured(options).map(|measured| Choice(Of::Measured(measured)));
    }
    let unknown = || UnknownDisc::Name { name: name.to_owned() };
    let row = DISCS.iter().find(|row| row.name == name).ok_or_else(unknown)?;
    let (mut mean, mut scheduler) = (false, None);
    for option in options.split(',').filter(|option| !option.is_empty()) {
        let wanted = option.strip_prefix("scheduler=");
        let named = Scheduler::NAMED.iter().find(|(name, _)| Some(*name) == wanted);
        let (turns, allowed) = match row.make {
            Make::Turning(_) => (true, TURNING_OPTIONS),
            Make::Null | Make::Sheet(_) => (false, "it takes none"),
        };
        match named {
            Some((_, of_name)) if turns => scheduler = Some(*of_name),
            None if turns && option == "mean" => mean = true,
            _ => {
                let option = option.to_owned();
                return Err(UnknownDisc::Option { disc: row.name, option, allowed });
            }
        }
    }
    Ok(Choice(Of::Row { row, mean, scheduler }))
}

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
