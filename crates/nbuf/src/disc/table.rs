//! The table of discs.
//!
//! A row says where its figures come from. Every disc here lives in virtual time: it answers at once,
//! and the same requests at the same moments take the same time for the same seed. They keep no bytes;
//! for those there are [`super::ram`] and [`super::file`]. [`super::choice`] finds a row by its name.

use super::latency::Latency;
use super::model::Model;
use super::null::Null;
use super::sheet::{self, Sheet};
use super::turning::{self, Turning};
use super::{Completion, Disc, Request};
use crate::units::Nanos;

pub use super::choice::Choice;

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
    pub(super) make: Make,
}

/// The units of a disc. One that does not turn has no tracks: there, all three are a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bytes of a sector, or of the block that it is asked for in.
    pub sector_bytes: u32,
    /// Bytes of a track; of one of the outermost where they differ.
    pub track_bytes: u64,
    /// Bytes of a cylinder; of the outermost where they differ.
    pub cylinder_bytes: u64,
}

impl Shape {
    pub(super) const fn of_sectors(sector_bytes: u32) -> Self {
        Self { sector_bytes, track_bytes: sector_bytes as u64, cylinder_bytes: sector_bytes as u64 }
    }
}

/// How a row becomes a disc.
#[derive(Debug)]
pub(super) enum Make {
    Null,
    Turning(&'static Turning),
    Sheet(&'static Sheet),
    /// Of a document.
    Described(&'static str),
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

/// A drive that was measured, described by a document beside this file: its size, and the bytes of a track and of a cylinder.
const fn described(
    name: &'static str,
    summary: &'static str,
    (size_bytes, track_bytes, cylinder_bytes): (u64, u64, u64),
    document: &'static str,
) -> Row {
    let source = "DiskSim 4.0, validation set; Carnegie Mellon University";
    let shape = Shape { sector_bytes: 512, track_bytes, cylinder_bytes };
    Row { name, summary, source, size_bytes, shape, make: Make::Described(document) }
}

impl Row {
    pub(super) fn turns(&self) -> bool {
        matches!(self.make, Make::Turning(_) | Make::Described(_))
    }
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
    described(
        "dec-rz26",
        "DEC RZ26, 5,360 turns a minute, 1 GB",
        (1_050_040_320, 29_696, 415_744),
        include_str!("drives/dec-rz26.toml"),
    ),
    described(
        "hp-c2490a",
        "HP C2490A, 6,398 turns a minute, 2.1 GB",
        (2_132_619_264, 55_296, 995_328),
        include_str!("drives/hp-c2490a.toml"),
    ),
    described(
        "hp-c3323a",
        "HP C3323A, 5,396 turns a minute, 1 GB",
        (1_052_676_096, 61_440, 430_080),
        include_str!("drives/hp-c3323a.toml"),
    ),
    described(
        "seagate-st32171w",
        "Seagate Barracuda ST32171W, 7,200 turns a minute, 2.1 GB",
        (2_159_447_040, 95_232, 476_160),
        include_str!("drives/seagate-st32171w.toml"),
    ),
    described(
        "seagate-st39102lw",
        "Seagate Cheetah ST39102LW, 10,045 turns a minute, 9.1 GB",
        (9_174_214_144, 130_048, 1_560_576),
        include_str!("drives/seagate-st39102lw.toml"),
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
    use super::super::{Operation, named, wait_for};
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
            let choice = named(row.name).unwrap();
            assert_eq!((choice.size_bytes(), choice.shape()), (row.size_bytes, row.shape));
        }
    }
}
