//! What a start does with journals and marks that do not fit.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::sync::Mutex;
use std::time::Duration;

use tempfile::TempDir;

use super::*;
use crate::cache::journaled::{Journaled, Owed, PAGE_BYTES};
use crate::disc::{Disc as _, DiscError, Faults, Faulty, Ram, wait_for};
use crate::experiment::serve::Dirty;
use crate::trace::request::{Op, Request};
use crate::units::{Bytes, Nanos};

const OWNER: &[u8] = b"7 4096 a disc";
const SIZE: usize = 4096;
const RING_BYTES: u64 = 1 << 20;
/// How many times a file is looked at that is in use.
const TRIES: u32 = 2000;

/// What was said.
#[derive(Debug, Default)]
struct Said(Mutex<Vec<String>>);

impl Observer for Said {
    fn notice(&self, notice: &Notice<'_>) {
        self.0.lock().unwrap().push(notice.to_string());
    }
}

fn export(dirty: Dirty) -> ExportSpec {
    ExportSpec { dirty, ..ExportSpec::new("file:disc".parse().unwrap(), Bytes(1 << 20)) }
}

/// A journal of this number, in its second run.
fn checkpoint(id: u64) -> Checkpoint {
    let (number, generation, owner) = (4, 2, OWNER.to_vec());
    Checkpoint { number, generation, seq: 1, place: 0, ring_bytes: RING_BYTES, id, owner }
}

fn seen(id: u64, generation: u64, journal: &Path) -> Seen {
    Seen { id, generation, journal: journal.to_owned() }
}

/// A folder with a journal of this number, which may owe 1000 bytes.
fn journal(id: u64, is_owing: bool) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tier.journal");
    let file = ready(None, &path, &checkpoint(id)).unwrap();
    if is_owing {
        let image = fs::read(&path).unwrap();
        let slow = Faulty::new(Ram::zeroed(SIZE), Faults::HangFrom(0), false, false, 1);
        let mut disc = Journaled::new(slow, Ram::new(image), checkpoint(id));
        for (op, data) in [(Op::Write, vec![5; 1000]), (Op::Flush, Vec::new())] {
            let request = Request::new(op, 0, data.len() as u64);
            assert_eq!(wait_for(&mut disc, Nanos(1), request, data).unwrap().outcome, Ok(()));
        }
        let page = usize::try_from(PAGE_BYTES).unwrap();
        file.write_all_at(&disc.journal().image()[page..], PAGE_BYTES).unwrap();
    }
    (folder, path)
}

/// What a start says, how many bytes it wrote, and why it was refused.
#[derive(Debug, Default, PartialEq, Eq)]
struct Taken {
    said: String,
    written: Option<u64>,
    refused: String,
}

fn take(path: &Path, seen: Option<&Seen>, owner: &[u8], dirty: Dirty, is_full: bool) -> Taken {
    let (said, export) = (Said::default(), export(dirty));
    let start =
        Start { export: &export, path, seen, has_mark: true, is_read_only: false, observer: &said };
    let silent = Start { observer: &(), ..start };
    let checked = look(path).and_then(|file| match file {
        Some(file) => silent.check(&file, Some(owner)),
        None => silent.is_owed_nothing(None, owner),
    });
    let checked = checked.err().map(|error| error.to_string()).unwrap_or_default();
    for _ in 0..TRIES {
        let mut written = None;
        let write = |owed: &Owed| {
            if is_full {
                return Err(DiscError::Full { what: "no room".to_owned() });
            }
            written = Some(owed.bytes());
            Ok(())
        };
        let found = look(path).and_then(|file| match file {
            Some(file) => start.take(file, owner, write).map(drop),
            None => start.is_owed_nothing(None, owner),
        });
        let refused = match found {
            Ok(()) => String::new(),
            Err(error) if is_in_use(&error) => continue,
            Err(error) => error.to_string(),
        };
        // A check refuses the same. Only a write shows that the disc refuses.
        assert!(checked == refused || is_full && checked.is_empty(), "{checked:?} {refused:?}");
        return Taken { said: said.0.lock().unwrap().concat(), written, refused };
    }
    panic!("the journal stays in use");
}

/// Whether to try again: a process that another test starts has the lock until it begins.
fn is_in_use(error: &Error) -> bool {
    let is_in_use = matches!(error, Error::Journal(JournalError::InUse { .. }));
    if is_in_use {
        std::thread::sleep(Duration::from_millis(5));
    }
    is_in_use
}

#[test]
fn only_what_would_be_refused_is_discarded() {
    for dirty in [Dirty::Refuse, Dirty::Write, Dirty::Discard] {
        let (_folder, path) = journal(9, true);
        let ours = seen(9, 2, &path);
        let taken = take(&path, Some(&ours), OWNER, dirty, false);
        assert_eq!((taken.written, taken.refused.as_str()), (Some(1000), ""), "{dirty:?}");
        assert!(taken.said.contains("which the disc has now"), "{}", taken.said);
        // A disc that is full.
        let taken = take(&path, Some(&ours), OWNER, dirty, true);
        let is_lost = dirty == Dirty::Discard;
        assert_eq!(taken.said.contains("which are lost now"), is_lost, "{taken:?}");
        assert_eq!(taken.refused.contains("the disc refuses"), !is_lost, "{taken:?}");
        // Marks of an earlier run, and of another journal in a run of the same number; and no mark.
        let marks = [Some(seen(9, 1, &path)), Some(seen(8, 2, &path)), None];
        for mark in &marks {
            let taken = take(&path, mark.as_ref(), OWNER, dirty, false);
            assert_eq!(taken.written.is_some(), dirty == Dirty::Write, "{taken:?}");
            assert_eq!(taken.said.contains("which are lost now"), is_lost, "{taken:?}");
            let is_refused = taken.refused.contains("owes 1000 B to another disc");
            assert_eq!(is_refused, dirty == Dirty::Refuse, "{taken:?}");
        }
    }
}

#[test]
fn a_disc_is_owed_nothing_only_by_the_journal_of_its_mark() {
    let (_folder, path) = journal(9, false);
    let refused = |mark: &Seen, owner: &[u8], dirty| {
        let taken = take(&path, Some(mark), owner, dirty, false);
        let is_given_up = dirty == Dirty::Discard && taken.said.contains("may have owed");
        assert!(taken.said.is_empty() || is_given_up, "{}", taken.said);
        (taken.refused, !taken.said.is_empty())
    };
    let (none, other) = (String::new(), Path::new("/other.journal"));
    // The mark of this run, or of one before.
    for mark in [seen(9, 2, &path), seen(9, 1, other)] {
        for dirty in [Dirty::Refuse, Dirty::Discard] {
            assert_eq!(refused(&mark, OWNER, dirty), (none.clone(), false));
        }
    }
    let wants = [
        (seen(8, 1, other), OWNER, "start with the tier of that journal"),
        (seen(8, 2, &path), OWNER, "is not the one of the last run"),
        (seen(9, 3, &path), OWNER, "is not the one of the last run"),
        // A disc that grew, and one that an earlier run of the journal had.
        (seen(9, 2, &path), &b"7 8192 a disc"[..], "or has another size now"),
        (seen(9, 1, &path), &b"8 4096 a disc"[..], "is not the one of the last run"),
    ];
    for (mark, owner, want) in wants {
        let (why, _) = refused(&mark, owner, Dirty::Refuse);
        assert!(why.contains(want), "{why}");
        assert_eq!(refused(&mark, owner, Dirty::Discard), (none.clone(), true), "{mark:?}");
        let is_written = refused(&mark, owner, Dirty::Write).0.is_empty();
        assert_eq!(is_written, want.contains("size"), "{mark:?}");
    }
    fs::remove_file(&path).unwrap();
    let (why, _) = refused(&seen(9, 2, &path), OWNER, Dirty::Write);
    assert!(why.contains("that file is missing now"), "{why}");
}

#[test]
fn a_journal_that_was_cut_is_damaged_and_not_foreign() {
    for length in [0, 7, 16, 19, 5000, 20_000] {
        let (_folder, path) = journal(9, true);
        File::options().write(true).open(&path).unwrap().set_len(length).unwrap();
        let mark = seen(9, 2, &path);
        let taken = take(&path, Some(&mark), OWNER, Dirty::Write, false);
        assert!(taken.refused.contains("cannot be read (it was cut)"), "{length} {taken:?}");
        let taken = take(&path, Some(&mark), OWNER, Dirty::Discard, false);
        assert_eq!(taken.refused, "", "{length}");
        assert!(taken.said.contains("cannot be read (it was cut), and all that"), "{taken:?}");
        assert!(!path.exists());
    }
    let (_folder, path) = journal(9, true);
    fs::write(&path, "nbuf-served").unwrap();
    let taken = take(&path, None, OWNER, Dirty::Discard, false);
    assert!(taken.refused.contains("no journal of nbuf serve"), "{taken:?}");
}

#[test]
fn runs_count_up_and_no_two_journals_have_one_number() {
    let (export, said) = (export(Dirty::Refuse), Said::default());
    let path = Path::new("/t.journal");
    let mark = seen(9, u64::MAX, path);
    let start = |seen| Start {
        export: &export,
        path,
        seen,
        has_mark: true,
        is_read_only: false,
        observer: &said,
    };
    let first = start(None).next(&Checkpoint::default(), OWNER.to_vec(), random().unwrap());
    let other = start(None).next(&Checkpoint::default(), OWNER.to_vec(), random().unwrap());
    assert!(first.id != other.id && first.id != 0 && first.generation > 0);
    assert_ne!(start(None).next(&Checkpoint::default(), Vec::new(), [0, 0]).id, 0);
    // Two copies of one journal that went on.
    let one = start(Some(&mark)).next(&first, OWNER.to_vec(), [1, 1 << 40]);
    let two = start(None).next(&first, OWNER.to_vec(), [2, 2 << 40]);
    assert!(one.id == first.id && two.id == first.id && one.generation != two.generation);
    assert!(two.generation > first.generation && one.generation > u64::MAX / 2);
}

/// Starts a server of a disc that has no marks, and ends it as a kill would.
fn open(folder: &Path, size: u64, durable: bool) -> Result<bool, Error> {
    let tier = TierSpec {
        path: folder.join("tier"),
        size: Bytes(size),
        trusts: true,
        durable,
        timeout: Nanos(5_000_000_000),
    };
    let export = ExportSpec { tier: Some(tier), ..export(Dirty::Refuse) };
    for _ in 0..TRIES {
        let clock = Stopwatch::start();
        let file = tempfile::tempfile().unwrap();
        file.set_len(SIZE as u64).unwrap();
        let disc = Backend::file(file, SIZE as u64, 1, clock).unwrap();
        let source = Source::Nbd("nbd:unix:a".to_owned(), SIZE as u64);
        match JournalFile::open(&export, disc, &source, clock, &()) {
            Err(error) if is_in_use(&error) => {}
            other => return other.map(|(file, disc)| file.is_some() && disc.under_way() == 0),
        }
    }
    panic!("the journal stays in use");
}

#[test]
fn a_larger_tier_finds_the_journal_of_a_smaller_one_again() {
    let folder = tempfile::tempdir().unwrap();
    let sizes = [(8, true), (32, false), (32, false), (32, true), (8, false), (8, true)];
    for (megabytes, durable) in sizes {
        assert_eq!(open(folder.path(), megabytes << 20, durable).unwrap(), durable);
    }
}
