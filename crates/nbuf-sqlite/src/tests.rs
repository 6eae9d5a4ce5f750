//! The rules of coherence against a model of the file, of its locks and of its WAL, with another process that writes.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use crate::below::Below;
use crate::code::Code;
use crate::handle::{Handle, Shared};
use crate::index::{BACKFILL, FRAMES, Index, SALTS, VERSION, WORDS};
use crate::options::Options;
use crate::stamp::{Seen, Status};

/// Bytes of a page of the database; a page of the cache has more.
const PAGE: usize = 512;
const PAGES: usize = 24;

/// A file in memory, with the kernel's clock.
#[derive(Default)]
struct Inode {
    bytes: Vec<u8>,
    clock: i64,
    is_settled: bool,
    fails: bool,
}

#[derive(Clone)]
struct Model(Arc<Mutex<Inode>>);

impl Model {
    fn new(is_wal: bool) -> Self {
        let mut bytes = vec![0; PAGE * PAGES];
        bytes[18..20].fill(1 + u8::from(is_wal));
        Self(Arc::new(Mutex::new(Inode { bytes, clock: 1, is_settled: true, fails: false })))
    }

    fn page(&self, page: usize) -> Vec<u8> {
        self.0.lock().unwrap().bytes[page * PAGE..][..PAGE].to_vec()
    }

    /// Another process writes a page. The clock of the kernel may stand still meanwhile.
    fn other_writes(&self, page: usize, value: u8, ticks: bool) {
        let mut file = self.0.lock().unwrap();
        let from = if page == 0 { 100 } else { 0 };
        file.bytes[page * PAGE..][from..PAGE].fill(value);
        file.clock += i64::from(ticks);
    }

    /// What each transaction outside WAL changes.
    fn other_counts(&self) {
        let bytes = &mut self.0.lock().unwrap().bytes;
        let counter = u32::from_be_bytes(bytes[24..28].try_into().unwrap());
        bytes[24..28].copy_from_slice(&(counter + 1).to_be_bytes());
    }

    fn handles(&self, cache_page: &str) -> [Handle<Self>; 2] {
        let given = |name: &str| match name {
            "nbuf_size" => Some("16KiB".to_owned()),
            "nbuf_page" => Some(cache_page.to_owned()),
            _ => None,
        };
        let file = Arc::clone(&self.0);
        let look = move || {
            let file = file.lock().unwrap();
            let status = Status { length: file.bytes.len() as u64, times: [(file.clock, 0); 2] };
            Some(Seen { status, is_settled: file.is_settled })
        };
        let shared = Arc::new(Shared::new(&Options::read(given).unwrap(), Box::new(look)));
        [(); 2].map(|()| Handle::new(self.clone(), Arc::clone(&shared)))
    }
}

impl Below for Model {
    fn read(&self, buffer: &mut [u8], offset: u64) -> Result<(), Code> {
        let file = self.0.lock().unwrap();
        if file.fails {
            return Err(Code(266));
        }
        let from = usize::try_from(offset).unwrap().min(file.bytes.len());
        let there = buffer.len().min(file.bytes.len() - from);
        buffer[..there].copy_from_slice(&file.bytes[from..from + there]);
        buffer[there..].fill(0);
        if there < buffer.len() { Err(Code::SHORT_READ) } else { Ok(()) }
    }

    fn write(&self, data: &[u8], offset: u64) -> Result<(), Code> {
        let mut file = self.0.lock().unwrap();
        if file.fails {
            return Err(Code(13));
        }
        let from = usize::try_from(offset).unwrap();
        let end = from + data.len();
        let longer = file.bytes.len().max(end);
        file.bytes.resize(longer, 0);
        file.bytes[from..end].copy_from_slice(data);
        file.clock += 1;
        Ok(())
    }

    fn truncate(&self, length: u64) -> Result<(), Code> {
        let mut file = self.0.lock().unwrap();
        file.bytes.resize(usize::try_from(length).unwrap(), 0);
        file.clock += 1;
        Ok(())
    }
}

fn read(handle: &mut Handle<Model>, page: usize) -> Vec<u8> {
    let mut buffer = vec![0xee; PAGE];
    let outcome = handle.read(&mut buffer, (page * PAGE) as u64);
    assert!(outcome.is_ok() || outcome == Err(Code::SHORT_READ), "{outcome:?}");
    buffer
}

/// Writes a page and keeps the header as it is.
fn write(handle: &Handle<Model>, page: usize, value: u8) {
    let from = if page == 0 { 100 } else { 0 };
    handle.write(&vec![value; PAGE - from], (page * PAGE + from) as u64).unwrap();
}

fn misses(handle: &Handle<Model>) -> u64 {
    figure(handle, "misses")
}

fn figure(handle: &Handle<Model>, name: &str) -> u64 {
    let all = handle.statistics();
    let at = all.find(&format!("\"{name}\":")).unwrap() + name.len() + 3;
    all[at..].split([',', '}']).next().unwrap().parse().unwrap()
}

#[derive(Clone, Debug)]
enum Step {
    Lock(usize),
    Unlock(usize),
    Read(usize, usize),
    Write(usize, usize, u8),
    Truncate(usize, usize),
    Other(usize, u8, bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (who, page) = (0..2_usize, 0..PAGES);
    let step = prop_oneof![
        1 => who.clone().prop_map(Step::Lock),
        1 => who.clone().prop_map(Step::Unlock),
        4 => (who.clone(), page.clone()).prop_map(|(who, page)| Step::Read(who, page)),
        1 => (who.clone(), page.clone(), any::<u8>())
            .prop_map(|(who, page, value)| Step::Write(who, page, value)),
        1 => (who, 1..PAGES).prop_map(|(who, page)| Step::Truncate(who, page)),
        2 => (page, any::<u8>(), any::<bool>())
            .prop_map(|(page, value, ticks)| Step::Other(page, value, ticks)),
    ];
    prop::collection::vec(step, 0..120)
}

proptest! {
    /// Outside WAL: every read under a lock, and without one, gives what the file holds.
    #[test]
    fn outside_wal_a_read_gives_what_the_file_holds(
        steps in steps(), cache_page in prop::sample::select(vec!["512", "1KiB", "4KiB"])
    ) {
        let model = Model::new(false);
        let mut handles = model.handles(cache_page);
        let mut levels = [0; 2];
        for step in steps {
            match step {
                Step::Lock(who) => {
                    handles[who].locked(1);
                    levels[who] = 1;
                }
                Step::Unlock(who) => {
                    handles[who].unlocks(0);
                    levels[who] = 0;
                }
                Step::Read(who, page) => {
                    let length = model.0.lock().unwrap().bytes.len();
                    let bytes = read(&mut handles[who], page);
                    if (page + 1) * PAGE <= length {
                        prop_assert_eq!(bytes, model.page(page));
                    } else {
                        prop_assert_eq!(bytes, vec![0; PAGE]);
                    }
                }
                Step::Write(who, page, value) if levels[1 - who] == 0 && levels[who] == 1 => {
                    handles[who].locked(4);
                    write(&handles[who], page, value);
                    handles[who].unlocks(1);
                }
                Step::Truncate(who, page) if levels[1 - who] == 0 && levels[who] == 1 => {
                    handles[who].locked(4);
                    handles[who].truncate((page * PAGE) as u64).unwrap();
                    handles[who].unlocks(1);
                }
                Step::Other(page, value, ticks) if levels == [0, 0] => {
                    let length = model.0.lock().unwrap().bytes.len();
                    if (page + 1) * PAGE <= length {
                        model.other_writes(page, value, ticks);
                        model.other_counts();
                    }
                }
                _ => {}
            }
        }
    }

    /// In WAL mode another process writes pages back that readers do not look for in the file, and then counts them.
    #[test]
    fn in_wal_mode_a_read_gives_what_the_file_holds(
        steps in prop::collection::vec((0..8_u8, 0..2_usize, 0..PAGES, any::<u8>()), 0..160),
        cache_page in prop::sample::select(vec!["512", "1KiB", "4KiB"])
    ) {
        let model = Model::new(true);
        let mut handles = model.handles(cache_page);
        let index = index();
        for handle in &mut handles {
            handle.locked(1);
            handle.mapped(index);
        }
        // Pages that the other process has written, without having counted them yet.
        let mut hidden = Vec::new();
        let mut checkpointer = None;
        for (what, who, page, value) in steps {
            match what {
                0..=3 if !hidden.contains(&page) => {
                    prop_assert_eq!(read(&mut handles[who], page), model.page(page));
                }
                4 if checkpointer.is_none() => {
                    model.other_writes(page, value, false);
                    hidden.push(page);
                }
                5 if !hidden.is_empty() => {
                    hidden.clear();
                    index[BACKFILL].fetch_add(1, Ordering::SeqCst);
                }
                6 if hidden.is_empty() => match checkpointer.take() {
                    None => {
                        handles[who].checkpoint_begins();
                        checkpointer = Some(who);
                    }
                    Some(own) => {
                        index[BACKFILL].fetch_add(1, Ordering::SeqCst);
                        handles[own].checkpoint_ends();
                    }
                },
                7 => {
                    if let Some(own) = checkpointer {
                        write(&handles[own], page, value);
                    } else if hidden.is_empty() {
                        // The WAL begins again.
                        index[SALTS[0]].fetch_add(1, Ordering::SeqCst);
                        index[BACKFILL].store(0, Ordering::SeqCst);
                    }
                }
                _ => {}
            }
        }
    }
}

/// The shared memory of a WAL.
fn index() -> Index {
    let words = [const { AtomicU32::new(0) }; WORDS];
    words[0].store(VERSION, Ordering::SeqCst);
    words[SALTS[1]].store(7, Ordering::SeqCst);
    words[FRAMES].store(1 << 20, Ordering::SeqCst);
    Box::leak(Box::new(words))
}

#[test]
fn pages_stay_from_lock_to_lock_until_another_process_writes() {
    let model = Model::new(false);
    let [mut one, mut two] = model.handles("512");
    one.locked(1);
    let _ = (read(&mut one, 3), read(&mut one, 3));
    assert_eq!((misses(&one), figure(&one, "hits")), (1, 1));
    one.unlocks(0);
    two.locked(1);
    let _ = read(&mut two, 3);
    two.unlocks(0);
    assert_eq!((misses(&two), figure(&two, "hits")), (1, 2), "the cache is shared, and stays");
    // Even if the clock of the kernel stands still, the counter shows it.
    model.other_writes(3, 7, false);
    model.other_counts();
    two.locked(1);
    assert_eq!(read(&mut two, 3), [7; PAGE]);
    assert_eq!((misses(&two), figure(&two, "drops")), (2, 1));
    two.locked(4);
    write(&two, 3, 9);
    two.unlocks(0);
    one.locked(1);
    assert_eq!(read(&mut one, 3), [9; PAGE]);
    assert_eq!((misses(&one), figure(&one, "drops")), (2, 1), "an own write drops nothing");
}

#[test]
fn without_a_lock_or_with_an_unknown_index_nothing_is_kept() {
    let model = Model::new(true);
    let [mut one, _two] = model.handles("512");
    let _ = read(&mut one, 1);
    one.locked(1);
    let _ = read(&mut one, 1);
    assert_eq!(figure(&one, "bypassed_reads"), 2, "no lock; WAL without its index");
    let other = index();
    other[0].store(VERSION + 1, Ordering::SeqCst);
    one.mapped(other);
    let _ = read(&mut one, 1);
    assert_eq!((figure(&one, "bypassed_reads"), figure(&one, "used_pages")), (3, 0));
    one.unmaps();
    one.mapped(index());
    let _ = read(&mut one, 1);
    assert_eq!((figure(&one, "bypassed_reads"), figure(&one, "used_pages")), (3, 1));
}

#[test]
fn what_the_file_below_refuses_is_answered_with_its_code_and_not_kept() {
    let model = Model::new(false);
    let [mut one, _two] = model.handles("4KiB");
    one.locked(4);
    write(&one, 8, 5);
    assert_eq!(read(&mut one, 8), [5; PAGE]);
    model.0.lock().unwrap().fails = true;
    assert_eq!(one.write(&[6; PAGE], 8 * PAGE as u64), Err(Code(13)));
    let mut buffer = [0; PAGE];
    assert_eq!(one.read(&mut buffer, 8 * PAGE as u64), Err(Code(266)));
    model.0.lock().unwrap().fails = false;
    assert_eq!(read(&mut one, 8), [5; PAGE], "as the file has it");
}

#[test]
fn an_empty_wal_looks_like_every_other_one_so_the_times_of_the_file_count() {
    let model = Model::new(true);
    let [mut one, mut two] = model.handles("512");
    let index = index();
    index[SALTS[1]].store(0, Ordering::SeqCst);
    for handle in [&mut one, &mut two] {
        handle.locked(1);
        handle.mapped(index);
    }
    for (value, is_settled, misses_then) in
        [(0, true, 1), (0, true, 1), (3, false, 2), (4, true, 3)]
    {
        // Another process filled a WAL, wrote it back, cut it off and died: all is as it was.
        let ticks = model.0.lock().unwrap().is_settled && value > 0;
        model.other_writes(3, value, ticks);
        model.0.lock().unwrap().is_settled = is_settled;
        one.begins();
        assert_eq!(read(&mut one, 3), [value; PAGE]);
        two.begins();
        if is_settled {
            assert_eq!(read(&mut two, 3), [value; PAGE]);
            assert_eq!(misses(&one), misses_then);
        }
    }
}
