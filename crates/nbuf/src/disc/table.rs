//! The table of discs, and the grammar of their names: `NAME` or `NAME:OPTION,OPTION`.
//!
//! Discs that turn take `mean`, which reckons every seek and wait with its mean
//! ([`Way::Mean`](super::model::drive::Way)), and `scheduler=fifo`, `sstf` or `elevator`: `sata-hdd:scheduler=sstf`. A row
//! says where its figures come from. Every disc here lives in virtual time: it answers at once, and
//! the same requests at the same moments take the same time for the same seed. They keep no bytes; for those
//! there is [`super::ram`].

use super::latency::{Latencies, Latency};
use super::model::{Model, Scheduler};
use super::null::Null;
use super::sheet::{self, Sheet};
use super::turning::{self, Turning};
use super::{Completion, Disc, Request};
use crate::units::Nanos;

/// A kind of disc.
#[derive(Debug)]
pub struct Row {
    /// What it is called on a command line.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// Where its figures come from.
    pub source: &'static str,
    /// Where it ends.
    pub size_bytes: u64,
    /// What it is made of.
    pub shape: Shape,
    make: Make,
}

/// The units of a disc. One that does not turn has no tracks: there, all three are a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bytes of a sector.
    pub sector_bytes: u32,
    /// Bytes of a track; of one of the outermost where they differ.
    pub track_bytes: u64,
    /// Bytes of a cylinder; of the outermost where they differ.
    pub cylinder_bytes: u64,
}

impl Shape {
    const fn of_sectors(sector_bytes: u32) -> Self {
        Self { sector_bytes, track_bytes: sector_bytes as u64, cylinder_bytes: sector_bytes as u64 }
    }
}

#[derive(Debug)]
enum Make {
    Null,
    Turning(&'static Turning),
    Sheet(&'static Sheet),
}

const fn turning(
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    of: &'static Turning,
) -> Row {
    let (size_bytes, shape) = (of.size_bytes(), of.shape());
    Row { name, summary, source, size_bytes, shape, make: Make::Turning(of) }
}

/// All of them, the oldest first.
pub const DISCS: &[Row] = &[
    turning(
        "ibm-2314",
        "IBM's disc pack of 1965, 28.7 MB",
        "IBM 2314 Direct Access Storage Facility, A26-3599",
        &turning::IBM_2314,
    ),
    turning(
        "rs11",
        "DEC's fixed heads on an RF11, 1970, 512 KiB",
        "Computer History Wiki, from DEC's figures",
        &turning::RS11,
    ),
    turning(
        "rk03",
        "DEC's cartridge on an RK11-C, 1971, 2.5 MB",
        "DEC, RK11-C manual; Diablo 31",
        &turning::RK03,
    ),
    turning(
        "rk05",
        "DEC's cartridge of 1972, 2.5 MB",
        "Computer History Wiki, from DEC's figures",
        &turning::RK05,
    ),
    turning(
        "modcomp-4134",
        "of the MAX-IV paper, 40 MB, no buffer",
        "V. Jacobson, LBL-15552, 1982; geometry assumed",
        &turning::MODCOMP_4134,
    ),
    turning(
        "modcomp-4138",
        "of the MAX-IV paper, 80 MB, with a buffer for a track",
        "V. Jacobson, LBL-15552, 1982; geometry assumed",
        &turning::MODCOMP_4138,
    ),
    turning(
        "sata-hdd",
        "7,200 turns a minute, of 2005, 500 GB",
        "Hitachi Deskstar 7K500, OEM specification and The Tech Report, 2005; buffer assumed",
        &turning::SATA_HDD,
    ),
    Row {
        name: "sata-ssd",
        summary: "an SSD on SATA of 2021, 1 TB",
        source: "Samsung's figures for the 870 EVO 1TB, as quoted by KitGuru, February 2021",
        size_bytes: 1_000_204_886_016,
        shape: Shape::of_sectors(512),
        make: Make::Sheet(&sheet::SATA_SSD),
    },
    Row {
        name: "nvme-ssd",
        summary: "an SSD on four lanes of PCIe 3.0 of 2019, 1 TB",
        source: "Samsung's figures for the 970 EVO Plus 1TB, as quoted by Digit, 2019",
        size_bytes: 1_000_204_886_016,
        shape: Shape::of_sectors(512),
        make: Make::Sheet(&sheet::NVME_SSD),
    },
    Row {
        name: "network",
        summary: "a block store behind the network of a cloud",
        source: "fio on a balanced network volume of Google's cloud, as published on easontechtalk.com",
        size_bytes: 1 << 40,
        shape: Shape::of_sectors(4_096),
        make: Make::Sheet(&sheet::NETWORK),
    },
    Row {
        name: "null",
        summary: "takes no time and keeps nothing",
        source: "none needed",
        size_bytes: 1 << 62,
        shape: Shape::of_sectors(512),
        make: Make::Null,
    },
];

/// A disc that was asked for by name, before it is made.
#[derive(Clone, Debug)]
pub struct Choice {
    row: &'static Row,
    mean: bool,
    scheduler: Option<Scheduler>,
}

impl Choice {
    /// As in [`DISCS`].
    pub fn name(&self) -> &str {
        self.row.name
    }

    /// Where it ends.
    pub fn size_bytes(&self) -> u64 {
        self.row.size_bytes
    }

    /// What it is made of.
    pub fn shape(&self) -> Shape {
        self.row.shape
    }

    /// The disc, idle, at the beginning of time.
    pub fn build(&self, seed: u64) -> AnyDisc {
        match self.row.make {
            Make::Null => AnyDisc::Null(Null::new(self.row.size_bytes)),
            Make::Turning(turning) => {
                AnyDisc::Model(Box::new(Model::new(turning.drive(self.mean, self.scheduler))))
            }
            Make::Sheet(sheet) => {
                let latencies = Latencies::new(sheet.cells());
                AnyDisc::Latency(Latency::new(self.row.size_bytes, latencies, seed))
            }
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
}

fn names() -> String {
    DISCS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ")
}

/// What `text` asks for.
pub fn named(text: &str) -> Result<Choice, UnknownDisc> {
    let (name, options) = text.split_once(':').unwrap_or((text, ""));
    let unknown = || UnknownDisc::Name { name: name.to_owned() };
    let row = DISCS.iter().find(|row| row.name == name).ok_or_else(unknown)?;
    let mut choice = Choice { row, mean: false, scheduler: None };
    for option in options.split(',').filter(|option| !option.is_empty()) {
        let known = matches!(row.make, Make::Turning(_)) && choice.take(option);
        if !known {
            let allowed = match row.make {
                Make::Turning(_) => TURNING_OPTIONS,
                Make::Null | Make::Sheet(_) => "it takes none",
            };
            return Err(UnknownDisc::Option { disc: row.name, option: option.to_owned(), allowed });
        }
    }
    Ok(choice)
}

const TURNING_OPTIONS: &str = "it takes mean, scheduler=fifo, scheduler=sstf, scheduler=elevator";

impl Choice {
    /// Whether a disc that turns knows the option.
    fn take(&mut self, option: &str) -> bool {
        let scheduler = option.strip_prefix("scheduler=");
        let named = Scheduler::NAMED.iter().find(|(name, _)| Some(*name) == scheduler);
        self.mean |= option == "mean";
        self.scheduler = named.map(|(_, scheduler)| *scheduler).or(self.scheduler);
        option == "mean" || named.is_some()
    }
}

/// A disc of any row, without a virtual call.
#[derive(Clone, Debug)]
pub enum AnyDisc {
    /// Takes no time.
    Null(Null),
    /// Takes what a table says.
    Latency(Latency),
    /// Turns.
    Model(Box<Model>),
}

macro_rules! of_any {
    ($any:expr, $disc:ident => $do:expr) => {
        match $any {
            AnyDisc::Null($disc) => $do,
            AnyDisc::Latency($disc) => $do,
            AnyDisc::Model($disc) => $do,
        }
    };
}

impl Disc for AnyDisc {
    fn size_bytes(&self) -> u64 {
        of_any!(self, disc => disc.size_bytes())
    }

    fn submit(&mut self, now: Nanos, request: Request) {
        of_any!(self, disc => disc.submit(now, request));
    }

    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        of_any!(self, disc => disc.next_completion(until))
    }

    fn under_way(&self) -> usize {
        of_any!(self, disc => disc.under_way())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Operation, wait_for};
    use super::*;

    fn read(tag: u64, offset_bytes: u64) -> Request {
        let (length_bytes, data) = (4_096, Vec::new());
        Request { tag, operation: Operation::Read, offset_bytes, length_bytes, data }
    }

    #[test]
    fn every_row_serves_and_repeats_itself() {
        for row in DISCS {
            let run = |seed| {
                let mut disc = named(row.name).unwrap().build(seed);
                let mut now = Nanos::ZERO;
                (0..200_u64)
                    .map(|at| {
                        let place =
                            at.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (disc.size_bytes() / 8_192);
                        let done = wait_for(&mut disc, now, read(at, place * 4_096)).unwrap();
                        assert_eq!(done.outcome, Ok(()), "{}", row.name);
                        assert_eq!(done.at, now + done.spent.total(), "{}", row.name);
                        now = done.at;
                        now
                    })
                    .collect::<Vec<_>>()
            };
            assert_eq!(run(1), run(1), "{}", row.name);
            assert!(row.name == "null" || run(1)[199] > Nanos::ZERO, "{}", row.name);
            let mut disc = named(row.name).unwrap().build(1);
            let past = wait_for(&mut disc, Nanos::ZERO, read(0, row.size_bytes)).unwrap();
            assert!(past.outcome.is_err(), "{}", row.name);
            assert_eq!(disc.size_bytes(), row.size_bytes, "{}", row.name);
        }
    }

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
        check("null:mean", "takes no option `mean`; it takes none");
        check("rk05:scheduler=best", "it takes mean, scheduler=fifo");
        check("rk05:mean,scheduler", "takes no option `scheduler`");
        for (option, _) in Scheduler::NAMED {
            assert!(TURNING_OPTIONS.contains(option));
        }
    }
}
