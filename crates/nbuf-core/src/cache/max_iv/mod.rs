//! The disc cache of MAX-IV, by Van Jacobson, 1982: sectors in memory inside the handler of a disc.
//!
//! It looks a sector up when a request is initiated, and serves it if it can; it takes a sector in
//! when a request has terminated, from the user's buffer. So it never reads or writes anything
//! itself, and never holds what the disc does not.
//!
//! | request | served on a hit | taken in when it is done |
//! |---|---|---|
//! | read, fewer words than a sector | yes | no |
//! | read of a sector | yes | yes |
//! | read of more | no | no |
//! | write, at most a sector | no | yes, padded with zeros as the disc does |
//! | write of more, or one that failed | no | what it touched is evicted |
//! | advance record, backspace record | yes, the marks | no |
//! | advance file, backspace file | no | no |
//! | write EOF | no | what it touched is evicted |
//!
//! The last row is the one deviation. The listing evicts for a write of EOF that failed, and does nothing
//! for one that succeeded, so that a sector in the cache would hide the mark ([`Rules::LISTING`] does it
//! that way, and a test shows what comes of it). The notes cache nothing for a record that is advanced or
//! backspaced; the listing serves such a record. Both hold here, since serving is
//! not caching. Where the listing takes the oldest entry for a new sector, it does not say that the
//! entry is the youngest then; it is here, or the next sector would take the same entry.
//!
//! V. Jacobson, *A MAX-IV Disc Cache*, LBL-15552, Lawrence Berkeley Laboratory 1982. Cost: as many
//! comparisons as the hash list is long, and a copy of a sector. Not for anything that is to be fast
//! today: [`crate::cache::policy`] has what is.

mod lists;
#[cfg(test)]
mod tests;

use lists::Lists;

/// Words of a sector.
pub const SECTOR_WORDS: usize = 128;

/// Hash lists, by default: a prime, for a hash by division.
pub const LISTS: u32 = 251;

/// The words of a sector.
pub type Words = [u16; SECTOR_WORDS];

/// The 129th word of a sector, after its words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// End of file.
    pub eof: bool,
    /// End of information: nothing was ever written behind it.
    pub eoi: bool,
    /// End of record.
    pub eor: bool,
}

/// The seven requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// Words come from the disc.
    Read,
    /// Words go to it.
    Write,
    /// One sector on, to find out whether there is a mark.
    AdvanceRecord,
    /// On behind the next EOF.
    AdvanceFile,
    /// One sector back.
    BackspaceRecord,
    /// Back behind the EOF before.
    BackspaceFile,
    /// Puts an EOF mark on a sector.
    WriteEof,
}

impl Operation {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 7] = [
        Self::Read,
        Self::Write,
        Self::AdvanceRecord,
        Self::AdvanceFile,
        Self::BackspaceRecord,
        Self::BackspaceFile,
        Self::WriteEof,
    ];

    /// As it is called in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::AdvanceRecord => "advance record",
            Self::AdvanceFile => "advance file",
            Self::BackspaceRecord => "backspace record",
            Self::BackspaceFile => "backspace file",
            Self::WriteEof => "write EOF",
        }
    }

    /// Whether the disc holds something else afterwards.
    pub const fn changes_the_disc(self) -> bool {
        matches!(self, Self::Write | Self::WriteEof)
    }
}

/// What is asked of the handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Which of the seven.
    pub operation: Operation,
    /// Where on which disc (the paper's DPI): 24 bits of address under 4 bits of unit.
    pub address: u32,
    /// Which sector of the user's file that is (the paper's FPI).
    pub position: u32,
    /// Words to move; 0 unless reading or writing.
    pub words: u32,
}

impl Request {
    /// Sectors that it touches.
    pub fn sectors(&self) -> std::ops::Range<u32> {
        let count = self.words.div_ceil(SECTOR_WORDS_U32).max(1);
        self.address..self.address.saturating_add(count)
    }
}

const SECTOR_WORDS_U32: u32 = 128;

/// A request failed at the disc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the disc reports an error; the operation may be done in part")]
pub struct Failed;

/// What can be done one way or the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Hash lists.
    pub lists: u32,
    /// Sectors at this position of their file or behind are not taken in, so that big files leave the
    /// small ones in peace. The paper tried it and dropped it: the tables most worth keeping lay far
    /// behind in one big partition.
    pub positions: Option<u32>,
    /// A write of EOF that succeeded evicts, too.
    pub eof_evicts: bool,
}

impl Rules {
    /// As it is run here.
    pub const DEFAULT: Self = Self { lists: LISTS, positions: None, eof_evicts: true };
    /// To the letter, with the EOF that hides.
    pub const LISTING: Self = Self { eof_evicts: false, ..Self::DEFAULT };
}

/// What the cache cost the processor, to be priced by a caller with the figures of the processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Entries that were compared with an address.
    pub comparisons: u64,
    /// Sectors that were copied, to the user or from him.
    pub copies: u64,
}

/// The cache of MAX-IV: sectors in hash lists, with the rules of 1982.
#[derive(Clone, Debug)]
pub struct MaxIv {
    rules: Rules,
    lists: Lists,
    sectors: Vec<(Words, Marks)>,
    work: Work,
}

impl MaxIv {
    /// With room for this many sectors, at least one.
    pub fn new(sectors: u32, rules: Rules) -> Self {
        let lists = Lists::new(sectors.max(1), rules.lists.max(1));
        let sectors = vec![([0; SECTOR_WORDS], Marks::default()); sectors.max(1) as usize];
        Self { rules, lists, sectors, work: Work::default() }
    }

    /// A request is about to go to the disc. If it need not, its words are in `buffer` now, and its
    /// marks come back. `buffer` has room for the words of the request.
    pub fn initiate(&mut self, request: &Request, buffer: &mut [u16]) -> Option<Marks> {
        use Operation::{AdvanceRecord, BackspaceRecord, Read};
        let entry = self.find(request.address)?;
        self.lists.rejuvenate(entry);
        let (words, marks) = &self.sectors[entry as usize];
        match request.operation {
            Read if request.words <= SECTOR_WORDS_U32 => {
                let wanted = buffer.len().min(request.words as usize);
                buffer[..wanted].copy_from_slice(&words[..wanted]);
                self.work.copies += 1;
                Some(*marks)
            }
            AdvanceRecord | BackspaceRecord => Some(*marks),
            _ => None,
        }
    }

    /// The disc is done with a request, or has failed. `buffer` holds the words that were moved, the
    /// outcome the marks of the sector.
    pub fn terminate(&mut self, request: &Request, outcome: Result<Marks, Failed>, buffer: &[u16]) {
        use Operation::{Read, Write, WriteEof};
        let is_small = request.words <= SECTOR_WORDS_U32;
        let is_whole = request.words == SECTOR_WORDS_U32;
        match outcome {
            Ok(marks)
                if (request.operation == Read && is_whole)
                    || (request.operation == Write && is_small) =>
            {
                self.take_in(request, marks, buffer);
            }
            Ok(_) if request.operation == WriteEof && !self.rules.eof_evicts => {}
            Ok(_) if is_small && request.operation != WriteEof => {}
            _ if request.operation.changes_the_disc() => self.evict(request),
            _ => {}
        }
    }

    fn take_in(&mut self, request: &Request, marks: Marks, buffer: &[u16]) {
        let entry = self.find(request.address).or_else(|| {
            let admitted = self.rules.positions.is_none_or(|limit| request.position < limit);
            admitted.then(|| self.lists.take_oldest(request.address))
        });
        let Some(entry) = entry else { return };
        self.lists.rejuvenate(entry);
        let mut words = [0; SECTOR_WORDS];
        let moved = buffer.len().min(request.words as usize).min(SECTOR_WORDS);
        words[..moved].copy_from_slice(&buffer[..moved]);
        self.sectors[entry as usize] = (words, marks);
        self.work.copies += 1;
    }

    fn evict(&mut self, request: &Request) {
        for address in request.sectors() {
            if let Some(entry) = self.find(address) {
                self.lists.forget(entry);
            }
        }
    }

    fn find(&mut self, address: u32) -> Option<u32> {
        let (entry, comparisons) = self.lists.find(address);
        self.work.comparisons += u64::from(comparisons);
        entry
    }

    /// What it has cost so far.
    pub fn work(&self) -> Work {
        self.work
    }

    /// Whether a sector is there. Costs nothing in the model.
    pub fn contains(&self, address: u32) -> bool {
        self.lists.find(address).0.is_some()
    }

    /// Addresses of all sectors that are there, in no order.
    pub fn addresses(&self) -> impl Iterator<Item = u32> + '_ {
        self.lists.addresses()
    }

    /// How long each hash list is, entries that hold nothing included: those are on list 0.
    pub fn list_lengths(&self) -> Vec<u32> {
        self.lists.lengths()
    }

    /// Verifies what always holds, slowly; for tests.
    pub fn check(&self) -> Result<(), String> {
        self.lists.check()
    }
}
