//! The cache of MAX-IV in front of a disc: bytes become its disc addresses, and back.
//!
//! The paper's address of a sector is a track number over a sector number of 8 bits, of which small
//! files use three: the hash by division suffers. [`Addressing`] can compose it otherwise. A request
//! that does not begin at a sector is one of more than a sector where it crosses into the next; a
//! write that begins inside one evicts it, since padding would lose what stands before. A write of no
//! bytes is a write of EOF, a read of none advances a record.
//!
//! Invariant: a sector has one address, and never -1. Cost: as [`MaxIv`].

use super::super::max_iv::{self, Failed, Marks, MaxIv, Operation, Rules, SECTOR_WORDS};
use super::{Layer, Lookup, Work};
use crate::trace::request::{Op, Request};

/// Bytes of a sector of MAX-IV.
pub const SECTOR_BYTES: u32 = 256;

const _: () = assert!(SECTOR_BYTES as usize == 2 * SECTOR_WORDS, "a word has two bytes");

/// How the address of a sector is made of its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressing {
    /// Sectors are counted through.
    Plain,
    /// The track above, the sector in its lowest 8 bits, as in the paper.
    SectorLow {
        /// Sectors of a track, 1 to 256.
        track_sectors: u32,
    },
    /// The track in its lowest 16 bits, the sector in the 8 above, which are the 24 bits that the
    /// paper's discs have; what a larger disc has more of tracks stands above these.
    TrackLow {
        /// Sectors of a track, 1 to 255: the last address of all is no address.
        track_sectors: u32,
    },
}

impl Addressing {
    /// The address of the sector of this number, counted through; nothing where it has none.
    pub fn address(self, sector: u64) -> Option<u32> {
        let address = match self {
            Self::Plain => sector,
            Self::SectorLow { track_sectors } => {
                let sectors = u64::from(track_sectors.clamp(1, 256));
                ((sector / sectors) << 8) | (sector % sectors)
            }
            Self::TrackLow { track_sectors } => {
                let sectors = u64::from(track_sectors.clamp(1, 255));
                let track = sector / sectors;
                ((track >> 16) << 24) | ((sector % sectors) << 16) | (track & 0xffff)
            }
        };
        u32::try_from(address).ok().filter(|&address| address != u32::MAX)
    }

    /// The number of the sector that has this address.
    pub fn sector(self, address: u32) -> u64 {
        let address = u64::from(address);
        match self {
            Self::Plain => address,
            Self::SectorLow { track_sectors } => {
                (address >> 8) * u64::from(track_sectors.clamp(1, 256)) + (address & 0xff)
            }
            Self::TrackLow { track_sectors } => {
                let track = ((address >> 24) << 16) | (address & 0xffff);
                track * u64::from(track_sectors.clamp(1, 255)) + ((address >> 16) & 0xff)
            }
        }
    }

    /// Whether every sector of a disc of this many bytes has an address.
    pub fn reaches(self, disc_bytes: u64) -> bool {
        let last = disc_bytes.div_ceil(SECTOR_BYTES.into()).saturating_sub(1);
        self.address(last).is_some()
    }
}

/// A layer of sectors in front of a disc, as MAX-IV has it.
#[derive(Clone, Debug)]
pub struct Sectors {
    cache: MaxIv,
    addressing: Addressing,
}

impl Sectors {
    /// With room for this many sectors, at least one. What the addressing does not reach goes past.
    pub fn new(sectors: u32, rules: Rules, addressing: Addressing) -> Self {
        Self { cache: MaxIv::new(sectors, rules), addressing }
    }

    /// The cache itself.
    pub fn cache(&self) -> &MaxIv {
        &self.cache
    }

    /// The request as the handler has it; nothing for what it does not know, and what has no address.
    fn handled(&self, request: &Request) -> Option<max_iv::Request> {
        let operation = match (request.op, request.length_bytes) {
            (Op::Read, 0) => Operation::AdvanceRecord,
            (Op::Read, _) => Operation::Read,
            (Op::Write, 0) => Operation::WriteEof,
            (Op::Write, _) => Operation::Write,
            (Op::Discard | Op::Flush, _) => return None,
        };
        let bytes = u64::from(SECTOR_BYTES);
        let address = self.addressing.address(request.offset / bytes)?;
        let inside = request.offset % bytes;
        let crosses = inside > 0 && inside + request.length_bytes > bytes;
        let span = request.span().aligned(bytes).length_bytes;
        let moved = if crosses { span } else { request.length_bytes };
        let words = u32::try_from(moved.div_ceil(2)).unwrap_or(u32::MAX);
        Some(max_iv::Request { operation, address, position: request.position, words })
    }

    /// Evicts what was touched, sector by sector: addresses need not follow each other.
    fn evict(&mut self, request: &Request) {
        let bytes = u64::from(SECTOR_BYTES);
        let span = request.span();
        let (operation, position) = (Operation::Write, request.position);
        for sector in span.offset_bytes / bytes..span.end().div_ceil(bytes) {
            let Some(address) = self.addressing.address(sector) else { continue };
            let one = max_iv::Request { operation, address, position, words: 0 };
            self.cache.terminate(&one, Err(Failed), &[]);
        }
    }

    fn since(&self, before: max_iv::Work) -> Work {
        let now = self.cache.work();
        Work {
            comparisons: now.comparisons - before.comparisons,
            copied_bytes: (now.copies - before.copies) * u64::from(SECTOR_BYTES),
        }
    }
}

impl Layer for Sectors {
    fn initiate(&mut self, request: &Request) -> Lookup {
        let Some(handled) = self.handled(request) else { return Lookup::past(request) };
        let before = self.cache.work();
        let is_hit = self.cache.initiate(&handled, &mut []).is_some();
        Lookup {
            rest: (!is_hit).then(|| request.span()),
            units: u32::from(request.op == Op::Read),
            unit_hits: is_hit.into(),
            work: self.since(before),
        }
    }

    fn terminate(&mut self, request: &Request, is_done: bool) -> Work {
        let before = self.cache.work();
        if evicts(request, is_done) {
            self.evict(request);
        } else if let Some(handled) = self.handled(request) {
            let outcome = if is_done { Ok(Marks::default()) } else { Err(Failed) };
            self.cache.terminate(&handled, outcome, &[]);
        }
        self.since(before)
    }

    fn unit_bytes(&self) -> u64 {
        SECTOR_BYTES.into()
    }

    fn addresses(&self) -> Vec<u64> {
        let sector = |address| self.addressing.sector(address) * u64::from(SECTOR_BYTES);
        self.cache.addresses().map(sector).collect()
    }

    fn list_lengths(&self) -> Vec<u32> {
        self.cache.list_lengths()
    }
}

/// Whether what a request touched goes, sector by sector, when it is over.
fn evicts(request: &Request, is_done: bool) -> bool {
    let bytes = u64::from(SECTOR_BYTES);
    let is_split = !request.offset.is_multiple_of(bytes);
    let is_large = request.length_bytes > bytes;
    match request.op {
        Op::Read | Op::Flush => false,
        Op::Write => !is_done || request.length_bytes > 0 && (is_split || is_large),
        Op::Discard => true,
    }
}
