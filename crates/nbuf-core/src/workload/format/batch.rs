//! What a parser fills: requests, names of objects, and what it could not read.

use super::objects::Objects;
use crate::trace::request::{Op, Request};

/// Requests of a batch: enough to make the calls around them cheap, few enough to stay in the
/// second level of a processor's cache.
pub const BATCH_REQUESTS: usize = 4096;

/// Problems that are kept with their words; all are counted.
const PROBLEMS_KEPT: usize = 20;

/// Bytes of a bad record that are shown.
const SHOWN_BYTES: usize = 80;

/// Requests and problems from a parser, which fills it. The caller of the parser takes the requests
/// out. The rest stays for the whole input, so that the numbers of lines and objects continue.
#[derive(Debug, Default)]
pub struct Batch {
    /// In the order of the trace.
    pub requests: Vec<Request>,
    /// The volumes, files or name spaces that they go to.
    pub objects: Objects,
    /// What could not be read.
    pub problems: Problems,
    /// Lines taken so far, of a text.
    pub lines: u64,
    /// Bytes taken so far.
    pub bytes: u64,
    /// Memory in which the parser keeps what a log said of its keys.
    pub held_bytes: u64,
}

impl Batch {
    /// Whether a parser should stop here and let the requests be taken.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.requests.len() >= BATCH_REQUESTS
    }

    /// Adds a request without the number of its task.
    #[inline]
    pub(super) fn push(
        &mut self,
        time_ns: i64,
        object: u32,
        offset: u64,
        length_bytes: u64,
        op: Op,
    ) {
        self.requests.push(Request { time_ns, object, ..Request::new(op, offset, length_bytes) });
    }
}

/// Where in an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line, from 1.
    Line(u64),
    /// A byte, from 0.
    Byte(u64),
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// A record that is not as the format says; it was left out.
    Malformed,
    /// A number that cannot be: past the end of what 64 bits address. Left out.
    OutOfRange,
    /// An operation that the format does not define. Left out.
    UnknownOperation,
    /// The input ends within a record, or what unpacks it gave up; what came before is kept.
    CutOff,
}

/// One thing that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub kind: ProblemKind,
    /// Which input, from 0 in the order they were given.
    pub input: usize,
    /// Where in it.
    pub place: Place,
    /// What was wanted and what stands there.
    pub text: String,
}

/// All that could not be read: counted, and the first of it kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    /// The first ones, and those of inputs that break off.
    pub kept: Vec<Problem>,
    /// How many there were.
    pub count: u64,
    /// Records besides, that are as they should be but cannot be used: they do not say what they
    /// ask, or ask past the page cache. They are left out and not limited.
    pub unused: u64,
    /// Requests for keys of which nothing before them stated a size. They are used, with a size of 0 or with the
    /// bytes of the key alone.
    pub unsized_requests: u64,
    /// Answers that have no body and yet have bytes, so that the sizes of the log count headers too.
    pub headers_counted: u64,
}

impl Problems {
    /// Counts one more, and keeps it while there is room.
    pub fn add(&mut self, kind: ProblemKind, place: Place, text: impl FnOnce() -> String) {
        self.count += 1;
        if self.has_room_for(kind) {
            self.kept.push(Problem { kind, input: 0, place, text: text() });
        }
    }

    /// Takes over what another has counted.
    pub fn append(&mut self, other: &mut Self) {
        self.count += std::mem::take(&mut other.count);
        self.unused += std::mem::take(&mut other.unused);
        self.unsized_requests += std::mem::take(&mut other.unsized_requests);
        self.headers_counted += std::mem::take(&mut other.headers_counted);
        for problem in other.kept.drain(..) {
            if self.has_room_for(problem.kind) {
                self.kept.push(problem);
            }
        }
    }

    /// Returns whether this problem can be kept. There is always room for a cut-off: it occurs once
    /// in an input, and every reader must see it.
    fn has_room_for(&self, kind: ProblemKind) -> bool {
        self.kept.len() < PROBLEMS_KEPT || kind == ProblemKind::CutOff
    }
}

/// Why one record is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) kind: ProblemKind,
    pub(super) wanted: &'static str,
}

impl Fault {
    /// It is not as the format says: `wanted` is what should stand there.
    pub(super) const fn malformed(wanted: &'static str) -> Self {
        Self { kind: ProblemKind::Malformed, wanted }
    }

    /// It names an operation that the format does not define.
    pub(super) const fn operation(wanted: &'static str) -> Self {
        Self { kind: ProblemKind::UnknownOperation, wanted }
    }

    /// A range past the end of what 64 bits address.
    pub(super) const RANGE: Self =
        Self { kind: ProblemKind::OutOfRange, wanted: "a range that 64 bits can address" };

    /// The problem it is.
    #[cold]
    pub(super) fn tell(self, out: &mut Problems, place: Place, record: &[u8]) {
        out.add(self.kind, place, || {
            let shown = &record[..record.len().min(SHOWN_BYTES)];
            let dots = if shown.len() < record.len() { "..." } else { "" };
            let shown = String::from_utf8_lossy(shown);
            format!("expected {}, found `{}{dots}`", self.wanted, shown.escape_debug())
        });
    }
}

/// A range in sectors of 512 bytes, in bytes.
#[inline]
pub(super) fn sectors(start: u64, count: u64) -> Result<(u64, u64), Fault> {
    let offset = start.checked_mul(512).ok_or(Fault::RANGE)?;
    range(offset, count.checked_mul(512).ok_or(Fault::RANGE)?)
}

/// A range in bytes, if 64 bits can address all of it.
#[inline]
pub(super) fn range(offset: u64, length_bytes: u64) -> Result<(u64, u64), Fault> {
    offset.checked_add(length_bytes).ok_or(Fault::RANGE)?;
    Ok((offset, length_bytes))
}
