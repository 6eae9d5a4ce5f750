//! What was in the page cache when a recording of running programs began.

use serde::{Deserialize, Serialize};

use crate::units::{Bytes, PAGE_BYTES};

/// The cached pages of the files that the programs had open or mapped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The files.
    pub files: Vec<CachedFile>,
    /// Whether all pages were looked at. Some of a very large cache are left out.
    pub is_whole: bool,
}

/// The cached pages of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachedFile {
    /// The kernel's number of its device.
    pub device: u32,
    /// Its number there.
    pub inode: u64,
    /// Its number in the trace; nothing while it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<u32>,
    /// Its folios, in order.
    pub runs: Vec<FolioRun>,
}

/// Folios next to each other that are alike. The kernel keeps and evicts a folio as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolioRun {
    /// The first page.
    pub first: u64,
    /// Folios.
    pub count: u32,
    /// The pages of each, as a power of two.
    pub order: u8,
    /// Whether they are on the active list.
    pub is_active: bool,
    /// Whether another group than those of the programs is charged for them.
    pub is_foreign: bool,
}

impl FolioRun {
    /// All of its pages.
    pub fn pages(&self) -> u64 {
        u64::from(self.count) << self.order.min(32)
    }

    /// The first page of each folio.
    pub fn firsts(&self) -> impl Iterator<Item = u64> + use<> {
        let Self { first, order, .. } = *self;
        (0..u64::from(self.count)).map(move |at| first.saturating_add(at << order.min(31)))
    }

    /// Whether a folio follows on and is alike; then it belongs to this run from now on.
    pub fn takes(&mut self, next: &Self) -> bool {
        let is_alike = (self.order, self.is_active, self.is_foreign)
            == (next.order, next.is_active, next.is_foreign);
        let follows = is_alike && self.first.saturating_add(self.pages()) == next.first;
        if follows {
            self.count = self.count.saturating_add(next.count);
        }
        follows
    }
}

impl Snapshot {
    /// The size of the pages of the runs for which this is so.
    pub fn bytes(&self, is_wanted: impl Fn(&FolioRun) -> bool) -> Bytes {
        let runs = self.files.iter().flat_map(|file| &file.runs).filter(|run| is_wanted(run));
        Bytes(runs.map(FolioRun::pages).sum::<u64>().saturating_mul(PAGE_BYTES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folios_that_follow_and_are_alike_make_a_run() {
        let folio = |first, order| FolioRun { first, count: 1, order, ..FolioRun::default() };
        let mut run = folio(4, 2);
        assert!(run.takes(&folio(8, 2)) && !run.takes(&folio(12, 0)) && !run.takes(&folio(16, 2)));
        assert!(!run.takes(&FolioRun { is_active: true, ..folio(12, 2) }));
        assert_eq!((run.pages(), run.firsts().collect::<Vec<_>>()), (8, vec![4, 8]));
        let file = CachedFile { runs: vec![run, folio(12, 0)], ..CachedFile::default() };
        let snapshot = Snapshot { files: vec![file], is_whole: true };
        assert_eq!(snapshot.bytes(|run| run.order > 0), Bytes(8 * PAGE_BYTES));
    }
}
