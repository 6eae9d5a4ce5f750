//! Every row of the table against the standard library: what it reads and what it writes.

mod support;

use std::fs;
use std::ops::Range;
use std::path::PathBuf;

use nbuf::path::data::Data;
use nbuf::path::{Direction, Error, Moved, Order, PATHS, Path, Pattern, Request, Row, row};

/// Small blocks, odd ones, pages, and one larger than the file.
const BLOCKS: [u64; 6] = [1, 3, 512, 1000, 4096, 1 << 20];
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

/// Patterns that show whether a path does what it is asked, of at most so many operations.
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
        for row in PATHS.iter().filter(|row| row.directions.contains(&Direction::Read)) {
            let most = if row.name.contains("direct") { 130 } else { 13_000 };
            patterns(Direction::Read, most)
                .filter(|pattern| pattern.size_bytes == size)
                .for_each(|pattern| check_reading(row, pattern, &place, bytes));
        }
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
        for row in PATHS.iter().filter(|row| row.directions.contains(&Direction::Write)) {
            let patterns = patterns(Direction::Write, most);
            for pattern in patterns.filter(|pattern| sizes.contains(&pattern.size_bytes)) {
                check_writing(row, pattern, false, directory);
                check_writing(row, pattern, true, directory);
            }
        }
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
