//! The tests by their names: the twenty-six of the CS61 course with the rates of its two machines,
//! and the ways that have come since.
//!
//! Adding a test is a line here. Source of names, patterns and rates: the course's table, "CS61 I/O
//! benchmarks", lecture 18 of 2012.

use crate::experiment::result::{BenchTask, State};
use crate::path::{self, Direction};

/// The stride of the course.
pub const STRIDE_BYTES: u64 = 1 << 20;
/// The file of the course.
pub const COURSE_BYTES: u64 = 10 << 20;
/// The file of the other tests: more than most caches of processors hold.
pub const MODERN_BYTES: u64 = 64 << 20;

/// Which blocks, in what order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// One behind the other.
    Sequential,
    /// So many bytes apart.
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
    /// What the file is like.
    pub state: State,
    /// The rates of the iMac of 2011 and of the `ThinkPad` of 2007, where it is one of the course's.
    pub rates: Option<[f64; 2]>,
}

impl Test {
    /// What a child is asked; the file, its state and the effort are filled in by others.
    pub fn task(&self) -> BenchTask {
        BenchTask {
            path: self.path.to_owned(),
            is_write: self.is_write,
            grows: self.grows(),
            stride_bytes: match self.layout {
                Layout::Strided(bytes) => bytes,
                Layout::Sequential | Layout::Random => 0,
            },
            is_random: self.layout == Layout::Random,
            block_bytes: self.block_bytes,
            size_bytes: self.size_bytes,
            depth: self.depth,
            state: self.state,
            ..BenchTask::default()
        }
    }

    /// Whether it is one of the course's.
    pub fn is_course(&self) -> bool {
        self.rates.is_some()
    }

    /// Whether it writes from nothing. The course does, synchronously too.
    pub fn grows(&self) -> bool {
        let is_new = self.state == State::Append || self.state == State::Synced && self.is_course();
        self.is_write && is_new
    }

    /// The pattern in words, with the state: `read random, 4096 B, hot`.
    pub fn pattern(&self) -> String {
        format!("{}, {}", self.shape(), self.state.name())
    }

    /// The pattern alone: `read random, 4096 B`.
    pub fn shape(&self) -> String {
        let depth =
            if self.depth > 1 { format!(", {} at a time", self.depth) } else { String::new() };
        let way = if self.is_write { "write" } else { "read" };
        format!("{way} {}, {} B{depth}", self.layout.name(), self.block_bytes)
    }
}

/// One of the course's: name, path, layout, block, and the two rates.
type Line = (&'static str, &'static str, Layout, u64, [f64; 2]);

const SEQ: Layout = Layout::Sequential;
const FAR: Layout = Layout::Strided(STRIDE_BYTES);

/// The twenty-six, in the order of the course.
#[rustfmt::skip]
const COURSE: [Line; 26] = [
    ("w01-syncbyte",             "write-sync",  SEQ, 1,    [2_600.0, 27.0]),
    ("w02-syncblock",            "write-sync",  SEQ, 512,  [750_000.0, 14_000.0]),
    ("w02-syncblock4096",        "write-sync",  SEQ, 4096, [16_000_000.0, 110_000.0]),
    ("w03-byte",                 "read",        SEQ, 1,    [900_000.0, 480_000.0]),
    ("w04-block",                "read",        SEQ, 512,  [320_000_000.0, 160_000_000.0]),
    ("w04-block4096",            "read",        SEQ, 4096, [980_000_000.0, 450_000_000.0]),
    ("w05-stdiobyte",            "stdio",       SEQ, 1,    [53_000_000.0, 31_000_000.0]),
    ("w06-stdioblock",           "stdio",       SEQ, 512,  [790_000_000.0, 420_000_000.0]),
    ("w06-stdioblock4096",       "stdio",       SEQ, 4096, [970_000_000.0, 450_000_000.0]),
    ("r01-byte",                 "read",        SEQ, 1,    [2_200_000.0, 1_400_000.0]),
    ("r02-block",                "read",        SEQ, 512,  [980_000_000.0, 410_000_000.0]),
    ("r02-block4096",            "read",        SEQ, 4096, [4_000_000_000.0, 640_000_000.0]),
    ("r04-stdiobyte",            "stdio",       SEQ, 1,    [180_000_000.0, 70_000_000.0]),
    ("r05-stdioblock",           "stdio",       SEQ, 512,  [3_100_000_000.0, 940_000_000.0]),
    ("r05-stdioblock4096",       "stdio",       SEQ, 4096, [3_400_000_000.0, 1_400_000_000.0]),
    ("r06-stridebyte",           "read",        FAR, 1,    [1_400_000.0, 940_000.0]),
    ("r07-strideblock",          "read",        FAR, 512,  [640_000_000.0, 330_000_000.0]),
    ("r07-strideblock4096",      "read",        FAR, 4096, [3_100_000_000.0, 560_000_000.0]),
    ("r08-stridestdiobyte",      "stdio",       FAR, 1,    [900_000.0, 610_000.0]),
    ("r09-stridestdioblock",     "stdio",       FAR, 512,  [410_000_000.0, 230_000_000.0]),
    ("r09-stridestdioblock4096", "stdio",       FAR, 4096, [2_600_000_000.0, 800_000_000.0]),
    ("r10-stridestdiomulti",     "stdio-multi", FAR, 1,    [63_000_000.0, 20_000_000.0]),
    ("r11-mmapbyte",             "mmap",        SEQ, 1,    [620_000_000.0, 310_000_000.0]),
    ("r12-mmapblock",            "mmap",        SEQ, 512,  [2_200_000_000.0, 840_000_000.0]),
    ("r12-mmapblock4096",        "mmap",        SEQ, 4096, [2_300_000_000.0, 620_000_000.0]),
    ("r13-mmapstridebyte",       "mmap",        FAR, 1,    [160_000_000.0, 200_000_000.0]),
];

/// The twenty-six.
pub fn course() -> Vec<Test> {
    COURSE
        .iter()
        .map(|&(name, path, layout, block_bytes, rates)| {
            let is_write = name.starts_with('w');
            let state = match (is_write, path) {
                (_, "write-sync") => State::Synced,
                (true, _) => State::Append,
                (false, _) => State::Hot,
            };
            let about = about(path, layout, block_bytes);
            let size_bytes = COURSE_BYTES;
            let name = name.to_owned();
            let rates = Some(rates);
            Test {
                name,
                about,
                path,
                is_write,
                layout,
                block_bytes,
                size_bytes,
                depth: 1,
                state,
                rates,
            }
        })
        .collect()
}

fn about(path: &str, layout: Layout, block_bytes: u64) -> String {
    let how = match path {
        "write-sync" => "system calls, O_SYNC",
        "read" => "system calls",
        "stdio" => "stdio",
        "stdio-multi" => "stdio, 10 files (one per stride)",
        _ => "memory-mapped I/O",
    };
    let order = if layout == FAR { "stride 2^20" } else { "sequential" };
    format!("block size {block_bytes}, {order}, {how}")
}

/// A test of a path in a pattern, named after what it does.
pub fn modern(
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
        state,
        rates: None,
    };
    test.about = test.pattern();
    test
}

/// The ways that have come since: every path that the course does not have, and those it has in
/// patterns that it has not.
pub fn modern_all() -> Vec<Test> {
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
pub fn is_direct(path: &str) -> bool {
    path.contains("direct")
}

/// Whether a path waits for the device at each operation.
pub fn is_synced(path: &str) -> bool {
    path.contains("sync")
}

/// Blocks in the patterns that are measured: a page at random, and in sequence.
const PAGE_RANDOM: (Layout, u64) = (Layout::Random, 4096);
const PAGE_SEQUENTIAL: (Layout, u64) = (Layout::Sequential, 4096);

fn reads(tests: &mut Vec<Test>, row: &'static path::Row) {
    let has_order = |layout| layout != Layout::Random || !row.name.starts_with("option");
    let mut add = |blocks: (Layout, u64), state, depth| {
        if has_order(blocks.0) {
            tests.push(modern(row.name, false, blocks, state, depth));
        }
    };
    if is_direct(row.name) {
        for blocks in [PAGE_RANDOM, PAGE_SEQUENTIAL, (Layout::Sequential, 1 << 20)] {
            add(blocks, State::Device, 1);
        }
    } else {
        add(PAGE_SEQUENTIAL, State::Hot, 1);
        if row.name != "null" {
            add(PAGE_RANDOM, State::Hot, 1);
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

fn writes(tests: &mut Vec<Test>, row: &'static path::Row) {
    let mut add = |blocks, state| tests.push(modern(row.name, true, blocks, state, 1));
    if is_synced(row.name) {
        add(PAGE_SEQUENTIAL, State::Synced);
    } else if is_direct(row.name) {
        add(PAGE_SEQUENTIAL, State::Device);
    } else {
        add(PAGE_SEQUENTIAL, State::Overwrite);
        if !row.name.starts_with("mmap") {
            add(PAGE_SEQUENTIAL, State::Append);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_course_has_twenty_six_tests_in_its_own_words() {
        let tests = course();
        let names: HashSet<&str> = tests.iter().map(|test| test.name.as_str()).collect();
        assert_eq!((tests.len(), names.len()), (26, 26));
        for test in &tests {
            let name = &test.name;
            assert_eq!(
                test.block_bytes == 1,
                name.contains("byte") || name.contains("multi"),
                "{name}"
            );
            assert_eq!(test.block_bytes == 4096, name.ends_with("4096"), "{name}");
            assert_eq!(test.layout == FAR, name.contains("stride"), "{name}");
            assert_eq!(test.path.starts_with("stdio"), name.contains("stdio"), "{name}");
            assert_eq!(test.path == "mmap", name.contains("mmap"), "{name}");
            assert_eq!(test.state == State::Synced, name.contains("sync"), "{name}");
            assert_eq!(test.is_write, name.starts_with('w'), "{name}");
            let [imac, thinkpad] = test.rates.unwrap();
            assert!(imac > thinkpad || name == "r13-mmapstridebyte", "the iMac is newer: {name}");
        }
    }

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
}
