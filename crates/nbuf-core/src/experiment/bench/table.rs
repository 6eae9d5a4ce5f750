//! The tests by their names: what a test is, and the ways that have come since the course.
//!
//! Adding a path adds its tests. Those of the course are in `cs61`.

use crate::experiment::result::{BenchTask, State};
use crate::path::{self, Direction};

pub use super::cs61::course;

/// The stride of the course.
pub(super) const STRIDE_BYTES: u64 = 1 << 20;
/// The file of the course.
pub(super) const COURSE_BYTES: u64 = 10 << 20;
/// The file of the other tests: more than most caches of processors hold.
pub(super) const MODERN_BYTES: u64 = 64 << 20;

/// Which blocks, in what order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// One behind the other.
    Sequential,
    /// This many bytes apart.
    Strided(u64),
    /// Each once, in random order.
    Random,
}

impl Layout {
    /// As reports have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Strided(_) => "strided",
            Self::Random => "random",
        }
    }
}

/// One test.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// What it does, in words.
    pub about: String,
    /// The row of the table of paths.
    pub path: &'static str,
    /// Whether it writes.
    pub is_write: bool,
    /// Which blocks.
    pub layout: Layout,
    /// Bytes of an operation.
    pub block_bytes: u64,
    /// Bytes of the file.
    pub size_bytes: u64,
    /// Operations under way at a time.
    pub depth: u32,
    /// Bytes of the file that are touched; 0 for all.
    pub touched_bytes: u64,
    /// What the file is like.
    pub state: State,
    /// Whether it writes from nothing.
    pub grows: bool,
    /// The rates of the iMac of 2011 and of the `ThinkPad` of 2007, where it is one of the course's.
    pub rates: Option<[f64; 2]>,
}

impl Test {
    /// What a child is asked; the file, its state and the effort are filled in by others.
    pub fn task(&self) -> BenchTask {
        BenchTask {
            path: self.path.to_owned(),
            is_write: self.is_write,
            grows: self.grows,
            stride_bytes: match self.layout {
                Layout::Strided(bytes) => bytes,
                Layout::Sequential | Layout::Random => 0,
            },
            is_random: self.layout == Layout::Random,
            block_bytes: self.block_bytes,
            size_bytes: self.size_bytes,
            depth: self.depth,
            operations_max: self.touched_bytes.div_ceil(self.block_bytes.max(1)),
            state: self.state,
            ..BenchTask::default()
        }
    }

    /// Whether it is one of the course's.
    pub fn is_course(&self) -> bool {
        self.rates.is_some()
    }

    /// The way and the state, as comparisons have them: `read hot`.
    pub fn label(&self) -> String {
        format!("{} {}", self.path, self.state.name())
    }

    /// The pattern in words, with the state: `read random, 4096 B, hot`.
    pub fn pattern(&self) -> String {
        // The state says so itself where it is one of memory.
        let is_new = self.grows && self.state != State::Append;
        let end = if is_new { ", append" } else { "" };
        format!("{}, {}{end}", self.shape(), self.state.name())
    }

    /// The pattern alone: `read random, 4096 B`.
    pub fn shape(&self) -> String {
        let depth =
            if self.depth > 1 { format!(", {} at a time", self.depth) } else { String::new() };
        let way = if self.is_write { "write" } else { "read" };
        format!("{way} {}, {} B{depth}", self.layout.name(), self.block_bytes)
    }
}

const FAR: Layout = Layout::Strided(STRIDE_BYTES);

/// A test of a path in a pattern, named after what it does.
pub(super) fn modern(
    path: &'static str,
    is_write: bool,
    (layout, block_bytes): (Layout, u64),
    state: State,
    depth: u32,
) -> Test {
    let way = if is_write { "w" } else { "r" };
    let order = match layout {
        Layout::Sequential => "seq",
        Layout::Strided(_) => "stride",
        Layout::Random => "rnd",
    };
    let queue = if depth > 1 { format!("-qd{depth}") } else { String::new() };
    let name = format!("{way}-{path}-{order}-{block_bytes}-{}{queue}", state.name());
    let mut test = Test {
        name,
        about: String::new(),
        path,
        is_write,
        layout,
        block_bytes,
        size_bytes: MODERN_BYTES,
        depth,
        touched_bytes: 0,
        state,
        grows: is_write && state == State::Append,
        rates: None,
    };
    if is_whole(path) {
        // A pass is a sample, and one of the larger file would never be left alone.
        test.size_bytes = COURSE_BYTES;
    }
    test.about = test.pattern();
    test
}

/// The same test from nothing, of a path that does not write into memory.
fn appended(mut test: Test) -> Test {
    test.name.push_str("-append");
    test.grows = true;
    test.about = test.pattern();
    test
}

/// Whether a path fetches all of a file as it begins, so that any part of a pass takes as long as all.
pub(super) fn is_whole(path: &str) -> bool {
    ["populate", "willneed"].iter().any(|word| path.contains(word))
}

/// Newer paths: every path that the course does not have, and those it has in
/// patterns that it has not.
pub(super) fn modern_all() -> Vec<Test> {
    let mut tests = Vec::new();
    for row in path::PATHS.iter().filter(|row| row.name != "stdio-multi") {
        if row.directions.contains(&Direction::Read) {
            reads(&mut tests, row);
        }
        if row.directions.contains(&Direction::Write) && row.name != "null" {
            writes(&mut tests, row);
        }
    }
    tests
}

/// Whether a path goes past memory.
pub(super) fn is_direct(path: &str) -> bool {
    path.contains("direct")
}

/// Whether a path waits for the device at each operation.
pub(super) fn is_synced(path: &str) -> bool {
    path.contains("sync")
}

/// Paths that are measured with strides from the disc, too: those that differ there.
const STRIDED_COLD: [&str; 10] = [
    "read",
    "pread",
    "stdio",
    "buffered",
    "mmap",
    "mmap-sequential",
    "mmap-random",
    "mmap-willneed",
    "pool",
    "io_uring",
];

/// Blocks in the patterns that are measured: a page at random, in sequence, and with strides.
const PAGE_RANDOM: (Layout, u64) = (Layout::Random, 4096);
const PAGE_SEQUENTIAL: (Layout, u64) = (Layout::Sequential, 4096);
const PAGE_STRIDED: (Layout, u64) = (FAR, 4096);

fn reads(tests: &mut Vec<Test>, row: &'static path::Row) {
    let has_order = |layout| layout != Layout::Random || !row.name.starts_with("option");
    let mut add = |blocks: (Layout, u64), state, depth| {
        if has_order(blocks.0) {
            tests.push(modern(row.name, false, blocks, state, depth));
        }
    };
    if row.name.ends_with("-raw") {
        // What the C library costs shows where there is little else.
        add((Layout::Sequential, 1), State::Hot, 1);
        add(PAGE_SEQUENTIAL, State::Hot, 1);
    } else if is_direct(row.name) {
        for blocks in [PAGE_RANDOM, PAGE_STRIDED, PAGE_SEQUENTIAL, (Layout::Sequential, 1 << 20)] {
            add(blocks, State::Device, 1);
        }
    } else {
        add(PAGE_SEQUENTIAL, State::Hot, 1);
        if row.name != "null" {
            add(PAGE_STRIDED, State::Hot, 1);
            add(PAGE_RANDOM, State::Hot, 1);
            if STRIDED_COLD.contains(&row.name) {
                add(PAGE_STRIDED, State::Cold, 1);
            }
            add(PAGE_SEQUENTIAL, State::Cold, 1);
            add(PAGE_RANDOM, State::Cold, 1);
        }
    }
    if row.depth_max >= 32 {
        let state = if is_direct(row.name) { State::Device } else { State::Hot };
        add(PAGE_RANDOM, state, 32);
        if state == State::Hot {
            add(PAGE_RANDOM, State::Cold, 32);
        }
    }
    if row.name.contains("bytes") {
        add((Layout::Sequential, 1), State::Device, 1);
        add((Layout::Sequential, 1000), State::Device, 1);
    } else if row.name.starts_with("stdio-") || row.name.starts_with("buf") {
        add((Layout::Sequential, 1), State::Hot, 1);
    }
}

/// Paths past memory, or that wait, that are measured from nothing too: a file system takes another way
/// where a file becomes longer. `write-sync` is the course's `w02-syncblock4096`.
const APPENDED: [&str; 3] = ["write-dsync", "direct", "direct-dsync"];

fn writes(tests: &mut Vec<Test>, row: &'static path::Row) {
    let test = |state| modern(row.name, true, PAGE_SEQUENTIAL, state, 1);
    let state = if is_synced(row.name) { State::Synced } else { State::Device };
    if APPENDED.contains(&row.name) {
        tests.push(appended(test(state)));
    }
    if is_synced(row.name) || is_direct(row.name) {
        tests.push(test(state));
        return;
    }
    tests.push(test(State::Overwrite));
    if !row.name.starts_with("mmap") {
        tests.push(test(State::Append));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_test_has_a_path_that_can_do_it_and_a_name_of_its_own() {
        let mut names = HashSet::new();
        for test in course().into_iter().chain(modern_all()) {
            let row = path::row(test.path).unwrap_or_else(|| panic!("{}", test.path));
            let way = if test.is_write { Direction::Write } else { Direction::Read };
            assert!(row.directions.contains(&way), "{}", test.name);
            assert!(test.depth <= row.depth_max, "{}", test.name);
            assert!(names.insert(test.name.clone()), "{} twice", test.name);
        }
    }

    #[test]
    fn strides_and_appends_are_measured_where_they_differ() {
        let tests = modern_all();
        let find = |name: &str| {
            let found = tests.iter().find(|test| test.name == name);
            found.unwrap_or_else(|| panic!("no {name}"))
        };
        for path in ["read", "mmap", "io_uring", "stdio"] {
            assert_eq!(find(&format!("r-{path}-stride-4096-hot")).layout, FAR);
            assert_eq!(find(&format!("r-{path}-stride-4096-cold")).state, State::Cold);
        }
        assert_eq!(find("r-direct-stride-4096-device").layout, FAR);
        for name in [
            "w-direct-seq-4096-device-append",
            "w-direct-dsync-seq-4096-synced-append",
            "w-write-dsync-seq-4096-synced-append",
        ] {
            assert!(find(name).grows && find(name).about.ends_with(", append"), "{name}");
        }
        assert!(!find("w-direct-seq-4096-device").grows);
        // A pass of them is a sample, and has to be short.
        assert!(tests.iter().all(|test| !is_whole(test.path) || test.size_bytes == COURSE_BYTES));
    }
}
