//! The page of a fleet, which the same command writes again until all tasks are done.
//!
//! A page of a fleet that is not whole ends with a mark: a hash of all before it. Invariant: only a page with its
//! mark, of which no byte was changed, is replaced.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use nbuf::experiment::output::{Readers, is_descriptor};

use crate::output::{self, write_new};

/// What the mark begins and ends with.
const MARK: [&str; 2] =
    ["<!-- not all tasks are done; the same command replaces this page ", " -->\n"];

/// A longer file is no page of ours.
const PAGE_BYTES_MAX: u64 = 1 << 30;

/// Refuses a name under which no page can be written. The name of a page that is not whole is free.
pub(super) fn must_be_possible(path: &Path) -> Result<()> {
    if is_draft(path) { Ok(()) } else { output::must_be_possible(path, "--html") }
}

/// Writes a page.
pub(super) fn write(path: &Path, mut page: String, is_whole: bool) -> Result<()> {
    if !is_whole && !is_descriptor(path) {
        page += &mark(&page);
    }
    if is_draft(path) {
        fs::remove_file(path).with_context(|| format!("cannot replace {}", path.display()))?;
    }
    write_new(path, "--html", Readers::All, |mut file| file.write_all(page.as_bytes()))
}

/// Whether a file is a page of ours that was not whole.
fn is_draft(path: &Path) -> bool {
    let is_page = |metadata: fs::Metadata| metadata.is_file() && metadata.len() <= PAGE_BYTES_MAX;
    if !fs::symlink_metadata(path).is_ok_and(is_page) {
        return false;
    }
    let Ok(text) = fs::read_to_string(path) else { return false };
    let page = text.rfind(MARK[0]).map(|at| &text[..at]);
    page.is_some_and(|page| text[page.len()..] == mark(page))
}

/// The mark of a page, with its hash (FNV-1a).
fn mark(page: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = page.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    format!("{}{hash:016x}{}", MARK[0], MARK[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_is_whole_or_was_changed_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.html");
        let page = || "<html>1</html>\n".to_owned();
        write(&path, page(), false).unwrap();
        must_be_possible(&path).unwrap();
        let draft = fs::read_to_string(&path).unwrap();
        fs::write(&path, draft.replace('1', "2")).unwrap();
        assert!(must_be_possible(&path).is_err() && write(&path, page(), true).is_err());
        fs::write(&path, &draft).unwrap();
        write(&path, page(), true).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), page());
        assert!(must_be_possible(&path).is_err() && write(&path, page(), false).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), page());
    }
}
