//! What a start does with journals and marks that do not fit.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::sync::{Barrier, Mutex};
use std::time::Duration;

use tempfile::TempDir;

use super::*;
use crate::cache::journaled::{Journaled, PAGE_BYTES};
use crate::disc::{Disc as _, DiscError, Faults, Faulty, Ram, wait_for};
use crate::experiment::serve::Dirty;
use crate::experiment::serve::tier::TierFile;
use crate::experiment::session::Cancellation;
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
    journal_with(&checkpoint(id), is_owing)
}

fn journal_with(checkpoint: &Checkpoint, is_owing: bool) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tier.journal");
    let file = ready(None, &path, checkpoint).unwrap();
    if is_owing {
        let image = fs::read(&path).unwrap();
        let slow = Faulty::new(Ram::zeroed(SIZE), Faults::HangFrom(0), false, false, 1);
        let mut disc = Journaled::new(slow, Ram::new(image), checkpoint.clone());
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
            let faults = if is_full { Faults::From(0) } else { Faults::None };
            let mut disc = Faulty::new(Ram::zeroed(SIZE), faults, false, false, 1);
            let watch = Watch { now: &|| Nanos(1), ends: &|| 0 };
            let refused = write_back(&mut disc, owed, watch)?;
            written = Some(owed.bytes()).filter(|_| refused.error().is_none());
            Ok(refused)
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

/// A disc that has no marks.
fn source() -> Source {
    Source::Nbd("nbd:unix:a".to_owned(), SIZE as u64)
}

/// An export of such a disc, with a tier in a folder.
fn tiered(folder: &Path, size: u64, durable: bool, dirty: Dirty) -> ExportSpec {
    let tier = TierSpec {
        path: folder.join("tier"),
        size: Bytes(size),
        trusts: true,
        durable,
        timeout: Nanos(5_000_000_000),
    };
    ExportSpec { tier: Some(tier), ..export(dirty) }
}

/// An empty disc.
fn empty() -> File {
    let file = tempfile::tempfile().unwrap();
    file.set_len(SIZE as u64).unwrap();
    file
}

/// Opens the journal of an export whose disc is this file.
fn open(
    export: &ExportSpec,
    file: &File,
    cancellation: &Cancellation,
    observer: &dyn Observer,
) -> Result<(Option<JournalFile>, Backend), Error> {
    for _ in 0..TRIES {
        let clock = Stopwatch::start();
        let disc = Backend::file(file.try_clone().unwrap(), SIZE as u64, 1, clock).unwrap();
        let ends = Ends::new(cancellation, false);
        match JournalFile::open(export, disc, &source(), (clock, &ends), observer) {
            Err(error) if is_in_use(&error) => {}
            other => return other,
        }
    }
    panic!("the journal stays in use");
}

#[test]
fn a_larger_tier_finds_the_journal_of_a_smaller_one_again() {
    let folder = tempfile::tempdir().unwrap();
    let sizes = [(8, true), (32, false), (32, false), (32, true), (8, false), (8, true)];
    for (megabytes, durable) in sizes {
        let export = tiered(folder.path(), megabytes << 20, durable, Dirty::Refuse);
        let opened = open(&export, &empty(), &Cancellation::without_signals(), &());
        let (file, disc) = opened.unwrap();
        assert_eq!((file.is_some(), disc.under_way()), (durable, 0));
    }
}

/// A journal that owes 1000 bytes to the disc without marks. Its folder, and its path.
fn owing() -> (TempDir, PathBuf) {
    journal_with(&Checkpoint { owner: owner(&source()).unwrap(), ..checkpoint(9) }, true)
}

/// A file that is open to be read alone refuses all writes.
#[test]
fn a_run_goes_on_with_what_its_disc_refuses() {
    let (folder, path) = owing();
    let before = fs::read(&path).unwrap();
    let image = folder.path().join("disc");
    fs::write(&image, [0; SIZE]).unwrap();
    let ask = |disc: &mut Backend, op, data: Vec<u8>| {
        let request = Request::new(op, 0, data.len() as u64);
        wait_for(disc, Nanos(1), request, data).unwrap()
    };
    for durable in [true, true, false] {
        let export = tiered(folder.path(), 8 << 20, durable, Dirty::Refuse);
        let (said, none) = (Said::default(), Cancellation::without_signals());
        let opened = open(&export, &File::open(&image).unwrap(), &none, &said);
        let said = said.0.into_inner().unwrap().concat();
        if durable {
            let (journal, mut disc) = opened.unwrap();
            let want = "owed 1000 B of the last run, and still owes 1000 B, which the disc refuses";
            assert_eq!(said.matches(want).count(), 1, "{said}");
            assert_eq!(ask(&mut disc, Op::Read, vec![0; 1000]).data, [5; 1000]);
            let flushed = ask(&mut disc, Op::Flush, Vec::new()).outcome;
            assert!(matches!(flushed, Err(DiscError::Owed { .. })), "{flushed:?}");
            // A start that fails now takes no mark off.
            journal.unwrap().put_back();
        } else {
            let why = opened.unwrap_err().to_string();
            assert!(why.contains("the disc refuses the 1000 B that the journal "), "{why}");
            assert!(why.contains("add --durable-tier to start all the same") && said.is_empty());
        }
        assert!(fs::read(&path).unwrap() == before, "the run before goes on");
    }
    let file = File::options().read(true).write(true).open(&image).unwrap();
    let (said, none) = (Said::default(), Cancellation::without_signals());
    let export = tiered(folder.path(), 8 << 20, true, Dirty::Refuse);
    let (_, mut disc) = open(&export, &file, &none, &said).unwrap();
    let said = said.0.into_inner().unwrap().concat();
    assert!(said.contains("owed 1000 B of the last run, which the disc has now"), "{said}");
    assert_eq!(ask(&mut disc, Op::Flush, Vec::new()).outcome, Ok(()));
    assert_eq!(fs::read(&image).unwrap()[..1001], [[5; 1000].as_slice(), &[0]].concat());
}

#[test]
fn a_signal_ends_a_start_and_loses_nothing_whatever_the_settings_are() {
    let (folder, path) = owing();
    let (before, file) = (fs::read(&path).unwrap(), empty());
    for dirty in [Dirty::Refuse, Dirty::Write, Dirty::Discard] {
        let (said, cancellation) = (Said::default(), Cancellation::without_signals());
        cancellation.stopper().stop();
        let export = tiered(folder.path(), 8 << 20, true, dirty);
        let why = open(&export, &file, &cancellation, &said).unwrap_err().to_string();
        assert!(why.contains("a signal ended the start before the disc had the 1000 B"), "{why}");
        assert!(why.contains("(1000 B were not written yet)") && !why.contains('\n'), "{why}");
        assert!(fs::read(&path).unwrap() == before && said.0.into_inner().unwrap().is_empty());
    }
    let mut byte = [9];
    file.read_exact_at(&mut byte, 0).unwrap();
    assert_eq!(byte, [0]);
}

/// A start as far as its journal and its tier, with a disc of its own.
fn begin(folder: &Path, durable: bool) -> Result<Box<dyn Send>, String> {
    let export = tiered(folder, 8 << 20, durable, Dirty::Refuse);
    let (clock, cancellation) = (Stopwatch::start(), Cancellation::without_signals());
    let disc = Backend::file(empty(), SIZE as u64, 1, clock).unwrap();
    let ends = Ends::new(&cancellation, false);
    let opened = JournalFile::open(&export, disc, &source(), (clock, &ends), &());
    let (journal, disc) = opened.map_err(|error| error.to_string())?;
    let tier = export.tier.as_ref().unwrap();
    let opened = TierFile::open(tier, &export, (disc, source()), (1, clock), &());
    let (tier, disc) = opened.map_err(|error| error.to_string())?;
    Ok(Box::new((journal, tier, disc)))
}

#[test]
fn one_of_two_servers_gets_a_new_journal_or_tier() {
    for round in 0..300 {
        let durable = round % 2 == 0;
        let folder = tempfile::tempdir().unwrap();
        let together = Barrier::new(2);
        let start = || {
            together.wait();
            begin(folder.path(), durable)
        };
        // Both stay until both have tried.
        let outcomes = std::thread::scope(|scope| {
            let both = [scope.spawn(start), scope.spawn(start)];
            both.map(|thread| thread.join().unwrap())
        });
        let refused: Vec<&String> =
            outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
        assert_eq!(refused.len(), 1, "round {round}: {refused:?}");
        let is_said = refused[0].contains("another server") && !refused[0].contains('\n');
        assert!(is_said, "round {round}: {refused:?}");
    }
}

#[test]
fn a_journal_without_its_name_is_no_journal() {
    for is_replaced in [false, true] {
        let (_folder, path) = journal(9, true);
        let file = look(&path).unwrap().unwrap();
        let copy = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        if is_replaced {
            fs::write(&path, copy).unwrap();
        }
        let (export, mark) = (export(Dirty::Refuse), seen(9, 2, &path));
        let (path, seen, observer) = (path.as_path(), Some(&mark), &());
        let start =
            Start { export: &export, path, seen, has_mark: true, is_read_only: false, observer };
        let taken = start.take(file, OWNER, |_| panic!("nothing is written"));
        let why = taken.unwrap_err().to_string();
        assert!(why.contains("another server has its journal there"), "{why}");
    }
}
