//! The twenty-six tests of the CS61 course, with the rates of its two machines.
//!
//! Source of names, patterns and rates: the course's table, "CS61 I/O benchmarks", lecture 18 of 2012.

use super::table::{COURSE_BYTES, Layout, STRIDE_BYTES, Test};
use crate::experiment::result::State;

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
                touched_bytes: 0,
                state,
                // The course writes from nothing, synchronously too.
                grows: is_write,
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
}
