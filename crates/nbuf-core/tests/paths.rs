//! Every row of the table against the standard library: what it reads and what it writes.

mod support;

use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use nbuf::internal::path::data::Data;
use nbuf::internal::path::{
    Direction, Error, Moved, Order, PATHS, Path, Pattern, Request, Row, row,
};
use nbuf::internal::sys::seccomp;

/// Small blocks, odd ones, pages, and one larger than the file.
const BLOCKS: [u64; 7] = [1, 3, 512, 1000, 4096, 9000, 1 << 20];
const SIZES: [u64; 4] = [1, 4096, 12_345, 65_536];
const ORDERS: [Order; 5] = [
    Order::Sequential,
    Order::Strided { stride_bytes: 4096 },
    Order::Strided { stride_bytes: 5000 },
    Order::Strided { stride_bytes: 512 },
    Order::Random { seed: 7 },
];

/// Where single bytes go quickly; nothing but a directory where there is no such place.
const MEMORY: &str = "/dev/shm";
/// A disc: `/tmp` may be memory.
const DISC: &str = env!("CARGO_TARGET_TMPDIR");

/// As many rows are tried at a time: most of them wait for the disc.
const LANES: usize = 4;

/// A place, and its file.
struct Place {
    _directory: tempfile::TempDir,
    file: PathBuf,
}

impl Place {
    fn new(directory: &str, bytes: &[u8]) -> Self {
        let directory = tempfile::tempdir_in(directory).unwrap();
        let file = directory.path().join("data");
        fs::write(&file, bytes).unwrap();
        Self { _directory: directory, file }
    }
}

/// What any path has to find: the same operations on the bytes in memory.
fn oracle(bytes: &[u8], pattern: &Pattern, operations: Range<u64>) -> Moved {
    let mut moved = Moved::default();
    let done: Result<(), ()> = pattern.each(operations, |operation| {
        let at = usize::try_from(operation.offset_bytes).unwrap();
        moved.operations += 1;
        moved.bytes += operation.length_bytes as u64;
        moved.sum += u64::from(bytes[at..at + operation.length_bytes][0]);
        Ok(())
    });
    done.unwrap();
    moved
}

/// Two passes in three slices each, of unequal lengths.
fn slices(count: u64) -> [Range<u64>; 6] {
    let (first, second) = (count / 3, count - count / 7);
    let (first, second) = (first.min(second), second.max(first));
    [0..first, first..second, second..count, 0..second, second..count, 0..count]
}

/// Patterns that show whether a path does what it is asked, of at most this many operations.
fn patterns(direction: Direction, most: u64) -> impl Iterator<Item = Pattern> {
    let all = SIZES.into_iter().flat_map(move |size_bytes| {
        BLOCKS.into_iter().flat_map(move |block_bytes| {
            ORDERS.into_iter().map(move |order| Pattern {
                direction,
                order,
                block_bytes,
                size_bytes,
            })
        })
    });
    all.filter(move |pattern| pattern.operations() <= most)
}

/// Tries each row that goes this way.
fn each_row(direction: Direction, check: impl Fn(&Row) + Sync) {
    let rows = PATHS.iter().filter(|row| row.directions.contains(&direction));
    let (rows, next): (Vec<&Row>, _) = (rows.collect(), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    check(row);
                }
            });
        }
    });
}

fn check_reading(row: &Row, pattern: Pattern, place: &Place, bytes: &[u8]) {
    let request = Request { file: &place.file, pattern, grows: false, depth: row.depth_max.min(4) };
    let Some(mut path) = opened(row, &request) else { return };
    for slice in slices(pattern.operations()) {
        let mut want = oracle(bytes, &pattern, slice.clone());
        if row.name == "null" {
            want.sum = 0;
        }
        let got = path.run(slice.clone()).unwrap_or_else(|error| panic!("{}: {error}", row.name));
        assert_eq!(got, want, "{} {pattern:?} {slice:?}", row.name);
    }
    path.finish().unwrap();
}

/// The path; nothing where it says in an orderly way that it does not do this.
fn opened(row: &Row, request: &Request<'_>) -> Option<Box<dyn Path>> {
    match row.open(request) {
        Ok(path) => Some(path),
        Err(Error::Order { .. } | Error::Unaligned { .. }) => None,
        Err(Error::Refused { .. }) if request.file.starts_with(MEMORY) => None,
        Err(error @ Error::Refused { .. }) => {
            support::skip(&format!("{}: {error}", row.name));
            None
        }
        Err(error) => panic!("{} {request:?}: {error}", row.name),
    }
}

fn check_writing(row: &Row, pattern: Pattern, grows: bool, directory: &str) {
    // Over ones, or over a file that is longer than what grows.
    let before = vec![1; usize::try_from(pattern.size_bytes).unwrap()];
    let place = Place::new(directory, &before);
    let request = Request { file: &place.file, pattern, grows, depth: row.depth_max.min(4) };
    let Some(mut path) = opened(row, &request) else { return };
    let mut want = if grows { Vec::new() } else { before };
    let data = Data::new(pattern.longest_bytes());
    for slice in slices(pattern.operations()) {
        path.run(slice).unwrap_or_else(|error| panic!("{}: {error}", row.name));
    }
    path.finish().unwrap();
    drop(path);
    let end = usize::try_from(pattern.end_bytes()).unwrap();
    want.resize(want.len().max(end), 0);
    let done: Result<(), ()> = pattern.each(0..u64::MAX, |operation| {
        let at = usize::try_from(operation.offset_bytes).unwrap();
        let data = data.at(operation.offset_bytes, operation.length_bytes);
        want[at..at + data.len()].copy_from_slice(data);
        Ok(())
    });
    done.unwrap();
    if row.name != "null" {
        let is_same = fs::read(&place.file).unwrap() == want;
        assert!(is_same, "{} {pattern:?}, grows: {grows}", row.name);
    }
}

#[test]
fn every_row_reads_what_the_standard_library_reads() {
    let data = Data::new(1 << 20);
    for size in SIZES {
        let bytes = data.at(12_288, usize::try_from(size).unwrap());
        let place = Place::new(DISC, bytes);
        each_row(Direction::Read, |row| {
            let most = if row.name.contains("direct") { 130 } else { 13_000 };
            patterns(Direction::Read, most)
                .filter(|pattern| pattern.size_bytes == size)
                .for_each(|pattern| check_reading(row, pattern, &place, bytes));
        });
    }
}

#[test]
fn every_row_leaves_the_same_file() {
    // A disc takes its time, and some of the rows wait for it; memory has no O_DIRECT.
    for (directory, sizes, most) in [(DISC, [12_345, 65_536], 26), (MEMORY, [1, 12_345], 13_000)] {
        if !std::path::Path::new(directory).is_dir() {
            support::skip(&format!("there is no {directory}"));
            continue;
        }
        each_row(Direction::Write, |row| {
            let patterns = patterns(Direction::Write, most);
            for pattern in patterns.filter(|pattern| sizes.contains(&pattern.size_bytes)) {
                check_writing(row, pattern, false, directory);
                check_writing(row, pattern, true, directory);
            }
        });
    }
}

#[test]
fn names_are_told_apart() {
    for (number, one) in PATHS.iter().enumerate() {
        assert_eq!(row(one.name).map(|row| row.about), Some(one.about));
        assert!(PATHS[number + 1..].iter().all(|other| other.name != one.name), "{}", one.name);
    }
    assert!(row("no such path").is_none());
}

/// What a row says to a request, where it does not open.
fn refusal(name: &str, file: &std::path::Path, pattern: Pattern, depth: u32) -> String {
    let request = Request { file, pattern, grows: false, depth };
    let error = row(name).unwrap().open(&request).err();
    let error = error.unwrap_or_else(|| panic!("{name} opened {request:?}")).to_string();
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}

#[test]
fn what_makes_no_sense_is_refused_in_a_line() {
    let place = Place::new(DISC, &[7; 5000]);
    let here = place.file.as_path();
    let block = |block_bytes| Pattern {
        direction: Direction::Read,
        order: Order::Sequential,
        block_bytes,
        size_bytes: 5000,
    };
    let writing = Pattern { direction: Direction::Write, ..block(1) };
    let longer = Pattern { size_bytes: 5001, ..block(1) };
    let standing = Pattern { order: Order::Strided { stride_bytes: 0 }, ..block(1) };
    let huge = Pattern { block_bytes: 1 << 40, size_bytes: 1 << 40, ..block(1) };
    let cases = [
        ("read", here, block(0), 1, "a block of 0 bytes"),
        ("read", here, standing, 1, "a stride of 0 bytes"),
        ("read", here, longer, 1, "the file has 5000 bytes, and 5001 are needed"),
        ("read", here, block(1), 0, "1 to 1 operations under way, not 0"),
        ("pool", here, block(1), 1025, "1 to 1024 operations under way, not 1025"),
        ("mmap-sum", here, writing, 1, "`mmap-sum` cannot write"),
        ("write-sync", here, block(1), 1, "`write-sync` cannot read"),
        ("stdio-multi", here, block(1), 1, "a file for each stride"),
        ("read", here, huge, 1, "too large for one call"),
        ("read", std::path::Path::new("/"), block(1), 1, "not a regular file"),
        ("read", std::path::Path::new("/dev/null"), block(1), 1, "not a regular file"),
        ("read", std::path::Path::new("/no such file"), block(1), 1, "No such file"),
    ];
    for (name, file, pattern, depth, want) in cases {
        let said = refusal(name, file, pattern, depth);
        assert!(said.contains(want), "{name}: {said}");
    }
    // Where there is no O_DIRECT, that is said instead.
    let said = refusal("direct", here, block(1000), 1);
    let is_known = said.contains("block size is 1000") || said.starts_with("O_DIRECT is refused");
    assert!(is_known, "{said}");
}

#[test]
fn memory_is_not_passed_by() {
    if !std::path::Path::new(MEMORY).is_dir() {
        return support::skip(&format!("there is no {MEMORY}"));
    }
    let place = Place::new(MEMORY, &[7; 8192]);
    let pattern = Pattern {
        direction: Direction::Read,
        order: Order::Sequential,
        block_bytes: 4096,
        size_bytes: 8192,
    };
    for row in PATHS.iter().filter(|row| row.name.contains("direct")) {
        let pattern = Pattern { direction: row.directions[0], ..pattern };
        let said = refusal(row.name, &place.file, pattern, 1);
        assert!(said.starts_with("O_DIRECT is refused here"), "{said}");
    }
}

#[test]
fn a_kernel_that_refuses_is_told_apart() {
    let place = Place::new(DISC, &[7; 4096]);
    let file = place.file.clone();
    let direction = Direction::Read;
    let order = Order::Sequential;
    let pattern = Pattern { direction, order, block_bytes: 4096, size_bytes: 4096 };
    // The filter holds for this thread alone, and ends with it.
    let thread = std::thread::spawn(move || {
        seccomp::refuse(&[libc::SYS_io_uring_setup, libc::SYS_preadv2]).unwrap();
        for (name, what) in [
            ("io_uring", "io_uring is refused here"),
            ("io_uring-registered", "io_uring is refused here"),
            ("io_uring-sqpoll", "io_uring is refused here"),
            ("preadv2-nowait", "RWF_NOWAIT is refused here"),
            ("preadv2-dontcache", "RWF_DONTCACHE is refused here"),
        ] {
            let said = refusal(name, &file, pattern, 1);
            assert!(said.starts_with(what), "{said}");
        }
        // The rest goes on.
        let request = Request { file: &file, pattern, grows: false, depth: 1 };
        row("pread").unwrap().open(&request).unwrap().run(0..1).unwrap()
    });
    assert_eq!(thread.join().unwrap(), Moved { operations: 1, bytes: 4096, sum: 7 });
}
