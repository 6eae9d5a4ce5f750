//! What was cached when a window began, and what follows from it: the folios that the kernel evicts as one. A folio that
//! another group is charged for is one of them: without that group, the programs would bring it in themselves.

use std::collections::HashSet;

use crate::cache::kernel::Present;
use crate::experiment::result::LiveSnapshot;
use crate::trace::{Capture, FolioRun};
use crate::units::{Bytes, PAGE_BYTES};

/// In sizes.
pub(super) fn of(capture: &Capture) -> Option<LiveSnapshot> {
    let snapshot = capture.snapshot.as_ref()?;
    let orders = snapshot.files.iter().flat_map(|file| &file.runs).map(|run| run.order);
    Some(LiveSnapshot {
        resident_bytes: snapshot.bytes(|_| true),
        active_bytes: snapshot.bytes(|run| run.is_active),
        large_folio_bytes: snapshot.bytes(|run| run.order > 0),
        largest_folio_bytes: orders.max().map_or(Bytes(0), |it| Bytes(PAGE_BYTES << it.min(40))),
        foreign_bytes: snapshot.bytes(|run| run.is_foreign),
        is_whole: snapshot.is_whole,
    })
}

/// The runs of a trace's files.
fn runs(capture: &Capture) -> impl Iterator<Item = (u32, &FolioRun)> {
    let files = capture.snapshot.iter().flat_map(|snapshot| &snapshot.files);
    files.flat_map(|file| {
        let number = file.file.unwrap_or(u32::MAX);
        file.runs.iter().map(move |run| (number, run))
    })
}

/// The folios of the programs, but those of pages that are always there.
pub(super) fn present(capture: &Capture, kept: &[(u32, u32)]) -> Vec<Present> {
    let kept: HashSet<&(u32, u32)> = kept.iter().collect();
    let folios = runs(capture).flat_map(|(file, run)| {
        let (order, is_active) = (u32::from(run.order), run.is_active);
        run.firsts().map_while(move |first| {
            let first = u32::try_from(first).ok()?;
            Some(Present { file, first, order, is_active })
        })
    });
    folios.filter(|folio| !kept.contains(&(folio.file, folio.first))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{CachedFile, Snapshot};

    #[test]
    fn all_folios_are_there_but_those_that_stay() {
        let run = |first, count, order, is_foreign| FolioRun {
            first,
            count,
            order,
            is_active: first == 0,
            is_foreign,
        };
        let runs = vec![run(0, 2, 2, false), run(8, 3, 0, true), run(11, 2, 0, false)];
        let file = CachedFile { file: Some(3), runs, ..CachedFile::default() };
        let snapshot = Snapshot { files: vec![file], is_whole: true };
        let capture = Capture { snapshot: Some(snapshot), ..Capture::default() };
        let present = present(&capture, &[(3, 12)]);
        let got: Vec<_> = present.iter().map(|it| (it.first, it.order, it.is_active)).collect();
        let single = [8, 9, 10, 11].map(|first| (first, 0, false));
        assert_eq!(got, [&[(0, 2, true), (4, 2, true)][..], &single[..]].concat());
        let sizes = of(&capture).unwrap();
        let pages = [sizes.resident_bytes, sizes.active_bytes, sizes.large_folio_bytes];
        assert_eq!(pages.map(|bytes| bytes.0 / PAGE_BYTES), [13, 8, 8]);
        assert_eq!(sizes.largest_folio_bytes, Bytes(4 * PAGE_BYTES));
        assert_eq!((sizes.foreign_bytes, sizes.is_whole), (Bytes(3 * PAGE_BYTES), true));
        assert_eq!(of(&Capture::default()), None);
    }
}
