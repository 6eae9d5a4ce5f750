//! From the kernel's raw tracepoint records to [`Event`]s.
//!
//! The layout of a record is not an ABI: it is read from the tracepoint's `format` file, which
//! exists to be read by programs (`Documentation/trace/events.rst`). Pure; never panics on
//! whatever the kernel, or a test, hands over.

use super::advice::Advice;
use super::calls::Call;
use super::direct::Direct;
use super::log::{Event, Kind};

/// What a record in the ring comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// Something happened to the page cache.
    Event(Event),
    /// A system call that may have written.
    Call(Call),
    /// A call that goes past the page cache.
    Direct(Direct),
    /// How a file will be read.
    Advice(Advice),
    /// A thread begins, perhaps as the first of its process.
    Thread {
        /// `CLOCK_MONOTONIC`.
        time_ns: u64,
        /// The thread.
        task: u32,
        /// Its process.
        process: u32,
        /// The thread that began it.
        parent: u32,
    },
    /// A thread took the name of a worker of `io_uring`.
    Worker {
        /// `CLOCK_MONOTONIC`.
        time_ns: u64,
        /// The thread.
        task: u32,
    },
    /// A call that moves bytes of files through a pipe begins or ends.
    Pipe {
        /// `CLOCK_MONOTONIC`.
        time_ns: u64,
        /// The thread.
        task: u32,
        /// Whether it begins.
        begins: bool,
    },
    /// Reclaim is done with a batch of pages.
    Reclaim {
        /// `CLOCK_MONOTONIC`.
        time_ns: u64,
        /// Who was short of memory.
        task: u32,
        /// How many.
        pages: u64,
    },
}

impl Sample {
    /// When it happened.
    pub fn time_ns(&self) -> u64 {
        match self {
            Self::Event(event) => event.time_ns,
            Self::Call(call) => call.time_ns,
            Self::Direct(direct) => direct.time_ns,
            Self::Advice(advice) => advice.time_ns,
            Self::Reclaim { time_ns, .. }
            | Self::Thread { time_ns, .. }
            | Self::Worker { time_ns, .. }
            | Self::Pipe { time_ns, .. } => *time_ns,
        }
    }

    /// Reads the body of a `PERF_RECORD_FORK`.
    pub(super) fn thread(body: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(u32::from_ne_bytes(body.get(at..at + 4)?.try_into().ok()?));
        // Process, the parent's, thread, the parent's, time.
        let (process, task, parent) = (word(0)?, word(8)?, word(12)?);
        let time_ns = u64::from_ne_bytes(body.get(16..24)?.try_into().ok()?);
        Some(Self::Thread { time_ns, task, process, parent })
    }

    /// Reads the body of a `PERF_RECORD_COMM`, which ends with its time.
    pub(super) fn worker(body: &[u8]) -> Option<Self> {
        // Process, thread, name.
        let task = u32::from_ne_bytes(body.get(4..8)?.try_into().ok()?);
        let (_, time_ns) = body.split_last_chunk().filter(|(rest, _)| rest.len() > 8)?;
        let is_worker = body.get(8..)?.starts_with(super::workers::NAME);
        is_worker.then(|| Self::Worker { time_ns: u64::from_ne_bytes(*time_ns), task })
    }
}

/// A tracepoint, what it means to us, and the names of the fields we want.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Below `events/` in tracefs.
    pub path: &'static str,
    /// What its records become.
    pub kind: Kind,
    /// Field names: device, inode, index or position, and extent.
    fields: [&'static str; 4],
    /// Whether recording makes no sense without it.
    pub required: bool,
}

const fn filemap(path: &'static str, kind: Kind, extent: &'static str) -> Source {
    Source { path, kind, fields: ["s_dev", "i_ino", "index", extent], required: true }
}

/// Pages put into the page cache: the ground truth of every verification.
pub const ADD: Source = filemap("filemap/mm_filemap_add_to_page_cache", Kind::Add, "order");

/// Every tracepoint that is recorded. A file system's own write tracepoint is the only event of an
/// overwrite of cached pages; those that do not exist here are passed over.
pub const SOURCES: [Source; 8] = [
    filemap("filemap/mm_filemap_get_pages", Kind::GetPages, "last_index"),
    filemap("filemap/mm_filemap_fault", Kind::Fault, ""),
    filemap("filemap/mm_filemap_map_pages", Kind::MapPages, "last_index"),
    ADD,
    filemap("filemap/mm_filemap_delete_from_page_cache", Kind::Delete, "order"),
    write("ext4/ext4_da_write_begin", ["dev", "ino", "pos", "len"]),
    write("ext4/ext4_write_begin", ["dev", "ino", "pos", "len"]),
    write("xfs/xfs_file_buffered_write", ["dev", "ino", "offset", "count"]),
];

const fn write(path: &'static str, fields: [&'static str; 4]) -> Source {
    Source { path, kind: Kind::Write, fields, required: false }
}

/// Where a field is in a raw record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
}

/// How to read the records of one tracepoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The tracepoint's number, the first two bytes of each record.
    pub id: u16,
    pub(super) path: &'static str,
    pub(super) kind: Kind,
    device: Field,
    inode: Field,
    index: Field,
    extent: Option<Field>,
    /// Whether its records say the task where [`TaskIn::Record`] looks for it.
    pub(super) says_task: bool,
}

/// A `format` file without a number or a field that we need.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "tracepoint {path} has no field `{field}` on this kernel; please report the kernel's version"
)]
pub struct FormatError {
    path: String,
    field: String,
}

impl FormatError {
    pub(super) fn missing(path: &str, field: &str) -> Self {
        Self { path: path.into(), field: field.into() }
    }
}

impl Layout {
    /// Reads a `format` file.
    pub fn parse(source: &Source, text: &str) -> Result<Self, FormatError> {
        let missing = |field: &str| FormatError::missing(source.path, field);
        let id = id(text).ok_or_else(|| missing("ID"))?;
        let field = |name: &str| field_named(text, name).ok_or_else(|| missing(name));
        let [device, inode, index, extent] = source.fields;
        Ok(Self {
            id,
            path: source.path,
            kind: source.kind,
            device: field(device)?,
            inode: field(inode)?,
            index: field(index)?,
            // Kernels before 6.10 add single pages and do not say so.
            extent: field_named(text, extent),
            says_task: field_named(text, "common_pid") == Some(COMMON_PID),
        })
    }

    pub(super) fn event(&self, body: &Body<'_>) -> Option<Event> {
        let Body { raw, task, time_ns, .. } = *body;
        Some(Event {
            time_ns,
            task,
            kind: self.kind,
            device: u32::try_from(number(raw, self.device)?).ok()?,
            inode: number(raw, self.inode)?,
            index: number(raw, self.index)?,
            extent: self.extent.map_or(Some(0), |extent| number(raw, extent))?,
        })
    }
}

/// Where a sample has the number of the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskIn {
    /// In front (`PERF_SAMPLE_TID`), with the number of its process. Both are as in the reader's
    /// PID namespace.
    Sample,
    /// In what all records of tracepoints begin with, as the first PID namespace has it: the kernel need not
    /// look it up for each sample.
    Record,
}

/// Where it is in a record.
const COMMON_PID: Field = Field { offset: 4, bytes: 4 };

/// The body of a `PERF_RECORD_SAMPLE` of `PERF_SAMPLE_TIME | RAW`, and `TID` where that is sampled.
#[derive(Clone, Copy, Debug)]
pub struct Body<'a> {
    /// The process, where the sample says it.
    pub process: Option<u32>,
    /// The thread.
    pub task: u32,
    /// `CLOCK_MONOTONIC`.
    pub time_ns: u64,
    /// Number of the tracepoint.
    pub id: u16,
    /// Its record.
    pub raw: &'a [u8],
}

impl<'a> Body<'a> {
    /// Takes it apart.
    pub fn parse(body: &'a [u8], task_in: TaskIn) -> Option<Self> {
        let word = |bytes: &[u8]| bytes.try_into().ok().map(u32::from_ne_bytes);
        let told = if task_in == TaskIn::Sample { 8 } else { 0 };
        let (ids, rest) = body.split_at_checked(told)?;
        let raw = rest.get(12..12 + usize::try_from(word(rest.get(8..12)?)?).ok()?)?;
        let task = match task_in {
            TaskIn::Sample => word(&ids[4..])?,
            TaskIn::Record => u32::try_from(number(raw, COMMON_PID)?).ok()?,
        };
        Some(Self {
            process: ids.get(..4).and_then(word),
            task,
            time_ns: u64::from_ne_bytes(rest.get(..8)?.try_into().ok()?),
            id: u16::from_ne_bytes(raw.get(..2)?.try_into().ok()?),
            raw,
        })
    }
}

/// Reads the body of a sample.
pub fn decode(layouts: &[Layout], body: &[u8], task_in: TaskIn) -> Option<Event> {
    let body = Body::parse(body, task_in)?;
    layouts.iter().find(|layout| layout.id == body.id)?.event(&body)
}

/// The tracepoint's number in a `format` file.
pub(crate) fn id(text: &str) -> Option<u16> {
    text.lines().find_map(|line| line.strip_prefix("ID:")?.trim().parse().ok())
}

/// A field of a `format` file.
pub(crate) fn field_named(text: &str, name: &str) -> Option<Field> {
    text.lines().find_map(|line| {
        let (declaration, rest) = line.trim().strip_prefix("field:")?.split_once(';')?;
        // An array is declared with its length, and may be asked for without.
        let declared = declaration.rsplit(' ').next()?;
        if declared != name && declared.split('[').next()? != name {
            return None;
        }
        let value = |key: &str| -> Option<usize> {
            rest.split(';').find_map(|part| part.trim().strip_prefix(key)?.parse().ok())
        };
        Some(Field { offset: value("offset:")?, bytes: value("size:")? })
    })
}

pub(crate) fn number(raw: &[u8], field: Field) -> Option<u64> {
    let bytes = raw.get(field.offset..field.offset.checked_add(field.bytes)?)?;
    Some(match *bytes {
        [a] => a.into(),
        [a, b] => u16::from_ne_bytes([a, b]).into(),
        [a, b, c, d] => u32::from_ne_bytes([a, b, c, d]).into(),
        _ => u64::from_ne_bytes(bytes.try_into().ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FORMAT: &str = "name: mm_filemap_add_to_page_cache
ID: 600
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:unsigned long pfn;\toffset:8;\tsize:8;\tsigned:0;
\tfield:unsigned long i_ino;\toffset:16;\tsize:8;\tsigned:0;
\tfield:unsigned long index;\toffset:24;\tsize:8;\tsigned:0;
\tfield:dev_t s_dev;\toffset:32;\tsize:4;\tsigned:0;
\tfield:unsigned char order;\toffset:36;\tsize:1;\tsigned:0;

print fmt: \"dev %d:%d\", REC->s_dev";

    fn sample() -> Vec<u8> {
        let mut raw = vec![0u8; 40];
        raw[..2].copy_from_slice(&600u16.to_ne_bytes());
        raw[4..8].copy_from_slice(&12u32.to_ne_bytes());
        raw[16..24].copy_from_slice(&77u64.to_ne_bytes());
        raw[24..32].copy_from_slice(&5u64.to_ne_bytes());
        raw[32..36].copy_from_slice(&(254u32 << 20 | 1).to_ne_bytes());
        raw[36] = 3;
        let mut body = Vec::new();
        body.extend(10u32.to_ne_bytes());
        body.extend(11u32.to_ne_bytes());
        body.extend(99u64.to_ne_bytes());
        body.extend(40u32.to_ne_bytes());
        body.extend(raw);
        body
    }

    #[test]
    fn a_sample_becomes_an_event() {
        let layout = Layout::parse(&ADD, FORMAT).unwrap();
        let event = Event {
            time_ns: 99,
            task: 11,
            kind: Kind::Add,
            device: 254 << 20 | 1,
            inode: 77,
            index: 5,
            extent: 3,
        };
        assert_eq!(decode(&[layout], &sample(), TaskIn::Sample), Some(event));
        let untold = decode(&[layout], &sample()[8..], TaskIn::Record);
        assert_eq!(untold, Some(Event { task: 12, ..event }));
        assert!(layout.says_task);
        let elsewhere = FORMAT.replace("common_pid;\toffset:4", "common_pid;\toffset:6");
        assert!(!Layout::parse(&ADD, &elsewhere).unwrap().says_task);
    }

    #[test]
    fn a_name_tells_a_worker() {
        let body = |name: &[u8]| {
            let mut body = Vec::new();
            body.extend(10_u32.to_ne_bytes());
            body.extend(11_u32.to_ne_bytes());
            body.extend(name);
            // The task, where samples have it, and the time.
            body.extend(7_u64.to_ne_bytes());
            body.extend(99_u64.to_ne_bytes());
            body
        };
        let want = Some(Sample::Worker { time_ns: 99, task: 11 });
        assert_eq!(Sample::worker(&body(b"iou-wrk-11\0\0\0\0\0\0")), want);
        assert_eq!(Sample::worker(&body(b"cat\0\0\0\0\0")), None);
        assert_eq!(Sample::worker(&body(b"iou-wrk-11")[..15]), None);
    }

    #[test]
    fn a_missing_field_is_named() {
        let error = Layout::parse(&ADD, &FORMAT.replace("i_ino", "i_no")).unwrap_err();
        assert!(error.to_string().contains("`i_ino`"), "{error}");
    }

    proptest! {
        #[test]
        fn rubbish_is_no_event_and_no_panic(body: Vec<u8>, text: String, cut in 0usize..60) {
            let layout = Layout::parse(&ADD, FORMAT).unwrap();
            decode(&[layout], &body, TaskIn::Sample);
            decode(&[layout], &body, TaskIn::Record);
            prop_assert_eq!(decode(&[layout], &sample()[..cut], TaskIn::Sample), None);
            prop_assert_eq!(decode(&[layout], &sample()[8..cut.max(8)], TaskIn::Record), None);
            let _ = Layout::parse(&ADD, &text);
        }
    }
}
