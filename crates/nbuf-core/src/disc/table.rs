//! The table of discs.
//!
//! A row names the source of its figures. Every disc here runs in virtual time: it answers at once.
//! The same requests at the same moments take the same time for the same seed. These discs keep no
//! bytes; [`super::ram`] and [`super::file`] do. [`super::choice`] finds a row by its name.

use super::latency::Latency;
use super::model::Model;
use super::null::Null;
use super::sheet::{self, Sheet};
use super::turning::{self, Turning};
use super::{Completion, Disc};
use crate::trace::request::Request;
use crate::units::Nanos;

/// A kind of disc.
#[derive(Debug)]
pub struct Row {
    /// The name on a command line.
    pub name: &'static str,
    /// A description in one line.
    pub summary: &'static str,
    /// The source of its figures.
    pub source: &'static str,
    /// The size of the disc.
    pub size_bytes: u64,
    /// Its units.
    pub shape: Shape,
    pub(super) make: Make,
}

/// The units of a disc. A disc that does not rotate has no tracks; there, all three units are a
/// sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The bytes of a sector, or of the block in which it is accessed.
    pub sector_bytes: u32,
    /// The bytes of a track; of an outermost one if tracks differ.
    pub track_bytes: u64,
    /// The bytes of a cylinder; of the outermost one if cylinders differ.
    pub cylinder_bytes: u64,
}

impl Shape {
    pub(super) const fn of_sectors(sector_bytes: u32) -> Self {
        Self { sector_bytes, track_bytes: sector_bytes as u64, cylinder_bytes: sector_bytes as u64 }
    }
}

/// The constructor of a row's disc.
#[derive(Debug)]
pub(super) enum Make {
    Null,
    Turning(&'static Turning),
    Sheet(&'static Sheet),
    /// The text of a TOML document.
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

/// Makes the row of a measured drive whose document is next to this file. The arguments give its
/// size, and the bytes of a track and of a cylinder.
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

/// All discs, the oldest first.
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

/// Any disc of the table, without a virtual call.
#[derive(Clone, Debug)]
pub enum AnyDisc {
    /// A disc that takes no time.
    Null(Null),
    /// A disc with a table of latencies.
    Latency(Latency),
    /// A rotating disc.
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

    fn submit(&mut self, now: Nanos, request: Request, data: Vec<u8>) {
        of_any!(self, disc => disc.submit(now, request, data));
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
    use super::super::{named, wait_for};
    use super::*;
    use crate::trace::request::Op;

    fn read(disc: &mut AnyDisc, now: Nanos, offset: u64) -> Completion {
        wait_for(disc, now, Request::new(Op::Read, offset, 4_096), Vec::new()).unwrap()
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
                        let done = read(&mut disc, now, place * 4_096);
                        assert_eq!(done.outcome, Ok(()), "{}", row.name);
                        assert_eq!(done.at, now + done.breakdown.total(), "{}", row.name);
                        now = done.at;
                        now
                    })
                    .collect::<Vec<_>>()
            };
            assert_eq!(run(1), run(1), "{}", row.name);
            assert!(row.name == "null" || run(1)[199] > Nanos::ZERO, "{}", row.name);
            let mut disc = named(row.name).unwrap().build(1);
            let past = read(&mut disc, Nanos::ZERO, row.size_bytes);
            assert!(past.outcome.is_err(), "{}", row.name);
            assert_eq!(disc.size_bytes(), row.size_bytes, "{}", row.name);
            let choice = named(row.name).unwrap();
            assert_eq!((choice.size_bytes(), choice.shape()), (row.size_bytes, row.shape));
        }
    }
}
