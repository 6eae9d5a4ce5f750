//! The comparisons that the report answers by name, each in the patterns in which it is asked.
//!
//! The questions of the thread on `OpenVMS`: QIO against `IO_PERFORM` is plain submission against one that
//! is checked once (registered buffers and file); cached against direct; mapping against
//! reading; bytes of any offset and length over aligned blocks. Those of the course: what a program
//! with options loses to a fixed loop. Pairs whose paths this build has not are left out.

use super::table::{COURSE_BYTES, Layout, STRIDE_BYTES, Test, modern};
use crate::experiment::result::State;
use crate::path::{self, Direction};

/// Two tests, and what is asked of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Comparison {
    /// The question.
    pub question: &'static str,
    /// The first; the ratio is of the second to this.
    pub a: Test,
    /// The second.
    pub b: Test,
}

impl Comparison {
    /// The question and the pattern.
    pub(super) fn name(&self) -> String {
        format!("{}, {}", self.question, self.b.shape())
    }

    /// Whether a device takes part, whose noise is another one.
    pub(super) fn needs_device(&self) -> bool {
        is_device(&self.a) || is_device(&self.b)
    }
}

/// Whether a test waits for a device.
pub(super) fn is_device(test: &Test) -> bool {
    waits_for_device(test.state)
}

/// Whether what begins in this state waits for a device.
pub(super) fn waits_for_device(state: State) -> bool {
    matches!(state, Cold | Device | State::Synced)
}

/// A question, two ways (path and state), whether they write, a layout, a block, a depth.
type Line = (&'static str, [(&'static str, State); 2], bool, Layout, u64, u32);

const SEQ: Layout = Layout::Sequential;
const RND: Layout = Layout::Random;
const FAR: Layout = Layout::Strided(STRIDE_BYTES);
use State::{Append, Cold, Device, Hot};

/// Names of the questions.
const QIO: &str = "plain submission : checked once (QIO : IO_PERFORM)";
const DIRECT: &str = "cached : direct";
const MAP: &str = "read : mapping";
const BYTES: &str = "cached bytes : bytes over direct blocks";
const LOOPS: &str = "fixed loop : program with options";
const CALLS: &str = "read : pread";
const LIBRARY: &str = "system call in place : call of the C library";
const LOCKS: &str = "stdio : stdio without locks";

#[rustfmt::skip]
const LINES: &[Line] = &[
    (QIO,    [("io_uring", Hot), ("io_uring-registered", Hot)],           false, RND, 4096, 1),
    (QIO,    [("io_uring", Hot), ("io_uring-registered", Hot)],           false, RND, 4096, 32),
    (QIO,    [("io_uring", Hot), ("io_uring-registered", Hot)],           false, SEQ, 4096, 32),
    (QIO,    [("io_uring", Hot), ("io_uring-registered", Hot)],           false, FAR, 512, 32),
    (QIO,    [("io_uring", Cold), ("io_uring-registered", Cold)],         false, RND, 4096, 32),
    (QIO,    [("io_uring", Cold), ("io_uring-registered", Cold)],         false, FAR, 4096, 32),
    (DIRECT, [("read", Hot), ("direct", Device)],                    false, RND, 4096, 1),
    (DIRECT, [("read", Hot), ("direct", Device)],                    false, FAR, 4096, 1),
    (DIRECT, [("read", Cold), ("direct", Device)],                   false, FAR, 4096, 1),
    (DIRECT, [("read", Cold), ("direct", Device)],                   false, RND, 4096, 1),
    (DIRECT, [("read", Cold), ("direct", Device)],                   false, SEQ, 4096, 1),
    (DIRECT, [("read", Cold), ("direct", Device)],                   false, SEQ, 1 << 20, 1),
    (MAP,    [("read", Hot), ("mmap", Hot)],                         false, SEQ, 1, 1),
    (MAP,    [("read", Hot), ("mmap", Hot)],                         false, SEQ, 4096, 1),
    (MAP,    [("read", Hot), ("mmap", Hot)],                         false, RND, 4096, 1),
    (MAP,    [("read", Hot), ("mmap", Hot)],                         false, FAR, 1, 1),
    (MAP,    [("read", Hot), ("mmap", Hot)],                         false, FAR, 4096, 1),
    (MAP,    [("read", Cold), ("mmap", Cold)],                       false, FAR, 4096, 1),
    (MAP,    [("read", Cold), ("mmap", Cold)],                       false, SEQ, 4096, 1),
    (MAP,    [("read", Cold), ("mmap", Cold)],                       false, RND, 4096, 1),
    (BYTES,  [("read", Hot), ("bytes-over-direct", Device)],              false, SEQ, 1000, 1),
    (BYTES,  [("read", Cold), ("bytes-over-direct", Device)],             false, SEQ, 1000, 1),
    (BYTES,  [("read", Cold), ("bytes-over-direct", Device)],             false, RND, 1000, 1),
    (BYTES,  [("read", Hot), ("bytes-over-direct", Device)],              false, FAR, 1000, 1),
    (BYTES,  [("read", Cold), ("bytes-over-direct", Device)],             false, FAR, 1000, 1),
    (LOOPS,  [("read", Hot), ("option-driven", Hot)],                 false, SEQ, 1, 1),
    (LOOPS,  [("read", Hot), ("option-driven", Hot)],                 false, SEQ, 4096, 1),
    (LOOPS,  [("stdio", Hot), ("option-driven-stdio", Hot)],               false, SEQ, 1, 1),
    (LOOPS,  [("mmap", Hot), ("option-driven-mmap", Hot)],                 false, SEQ, 1, 1),
    (LOOPS,  [("read", Append), ("option-driven", Append)],           true,  SEQ, 1, 1),
    (LOOPS,  [("stdio", Append), ("option-driven-stdio", Append)],         true,  SEQ, 1, 1),
    (CALLS,  [("read", Hot), ("pread", Hot)],                        false, SEQ, 4096, 1),
    (CALLS,  [("read", Hot), ("pread", Hot)],                        false, FAR, 1, 1),
    (LIBRARY, [("read-raw", Hot), ("read", Hot)],                     false, SEQ, 1, 1),
    (LIBRARY, [("pread-raw", Hot), ("pread", Hot)],                   false, SEQ, 4096, 1),
    (LOCKS,  [("stdio", Hot), ("stdio-unlocked", Hot)],              false, SEQ, 1, 1),
];

/// All that this build can make.
pub(super) fn all(size_bytes: Option<u64>) -> Vec<Comparison> {
    let size_bytes = size_bytes.unwrap_or(COURSE_BYTES);
    LINES
        .iter()
        .filter_map(|&(question, sides, is_write, layout, block, depth)| {
            let side = |(path, state): (&'static str, State)| {
                can(path, is_write, depth).then(|| Test {
                    size_bytes,
                    ..modern(path, is_write, (layout, block), state, depth)
                })
            };
            Some(Comparison { question, a: side(sides[0])?, b: side(sides[1])? })
        })
        .collect()
}

fn can(path: &str, is_write: bool, depth: u32) -> bool {
    let way = if is_write { Direction::Write } else { Direction::Read };
    path::row(path).is_some_and(|row| row.directions.contains(&way) && row.depth_max >= depth)
}

/// What the floor is measured on: ways that are quick and steady, so that it is the floor of the
/// machine and not of one of them.
pub(super) fn same(needs_device: bool, size_bytes: Option<u64>) -> Vec<Test> {
    let size_bytes = size_bytes.unwrap_or(COURSE_BYTES);
    let lines: &[(&'static str, Layout, u64, State)] = if needs_device {
        &[("direct", RND, 4096, Device), ("read", RND, 4096, Cold)]
    } else {
        &[
            ("read", SEQ, 4096, Hot),
            ("read", SEQ, 1, Hot),
            ("stdio", SEQ, 1, Hot),
            ("pread", RND, 512, Hot),
        ]
    };
    lines
        .iter()
        .filter(|line| can(line.0, false, 1))
        .map(|&(path, layout, block, state)| {
            let test = modern(path, false, (layout, block), state, 1);
            Test { size_bytes, ..test }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_question_of_the_thread_is_asked_in_each_order() {
        let all = all(None);
        for question in [QIO, DIRECT, MAP, BYTES] {
            for layout in [SEQ, FAR, RND] {
                let is_asked = |v: &Comparison| v.question == question && v.b.layout == layout;
                assert!(all.iter().any(is_asked), "{question}: {layout:?}");
            }
            let is_cold =
                |v: &Comparison| v.question == question && v.b.layout == FAR && v.needs_device();
            assert!(all.iter().any(is_cold), "{question}");
        }
    }
}
