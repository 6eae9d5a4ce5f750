//! Calls that go past the page cache (`O_DIRECT`), by the tracepoint at the door of the kernel's one
//! implementation of them, which ext4, xfs, btrfs, f2fs and others share (`fs/iomap/direct-io.c`,
//! since Linux 6.5). Pure.
//!
//! It costs nothing while no process uses `O_DIRECT`. Not seen: NFS, fuse and others with an
//! implementation of their own, and block devices opened as such.

use super::events::{Body, Field, FormatError, field_named, id, number};
use super::names::Key;

/// Directory of the tracepoint.
pub const PATH: &str = "iomap/iomap_dio_rw_begin";

/// Leaves out calls that are resumed after a part was done: they were reported before.
pub const FILTER: &str = "done_before == 0";

/// A call that goes past the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Direct {
    /// `CLOCK_MONOTONIC`.
    pub time_ns: u64,
    /// The file.
    pub key: Key,
    /// The size of the file as the call begins.
    pub file_bytes: u64,
    /// Where it begins in the file.
    pub position: u64,
    /// What it asks for.
    pub count: u64,
}

/// Calls under way to one file that reach beyond its end; more of them are not waited for.
const OPEN_MAX: usize = 256;

/// What the calls to one file come to.
///
/// The tracepoint does not say whether a call reads or writes. One that reaches beyond the end of the
/// file read up to there, unless the file has grown so far the next time it is seen.
#[derive(Clone, Debug, Default)]
pub struct Moved {
    /// Calls.
    pub calls: u64,
    bytes: u64,
    open: Vec<Direct>,
}

impl Moved {
    /// Takes in a call.
    pub fn push(&mut self, call: Direct) {
        self.see(call.file_bytes);
        self.calls += 1;
        if call.end() <= call.file_bytes {
            self.bytes = self.bytes.saturating_add(call.count);
            return;
        }
        if self.open.len() == OPEN_MAX {
            let read = self.open.remove(0);
            self.bytes = self.bytes.saturating_add(read.up_to_end());
        }
        self.open.push(call);
    }

    /// Bytes moved, the file having ended with this size.
    pub fn bytes(&self, file_bytes: u64) -> u64 {
        let mut last = self.clone();
        last.see(file_bytes);
        last.open.iter().map(Direct::up_to_end).fold(last.bytes, u64::saturating_add)
    }

    /// The file has this size now.
    fn see(&mut self, file_bytes: u64) {
        let Self { open, bytes, .. } = self;
        open.retain(|call| {
            let grew = call.end() <= file_bytes;
            if grew {
                *bytes = bytes.saturating_add(call.count);
            }
            !grew
        });
    }
}

impl Direct {
    fn end(&self) -> u64 {
        self.position.saturating_add(self.count)
    }

    fn up_to_end(&self) -> u64 {
        self.count.min(self.file_bytes.saturating_sub(self.position))
    }
}

/// How to read the records.
#[derive(Clone, Copy, Debug)]
pub struct DirectLayout {
    /// The tracepoint's number.
    pub id: u16,
    device: Field,
    inode: Field,
    file_bytes: Field,
    position: Field,
    count: Field,
}

impl DirectLayout {
    /// Reads a `format` file.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        let field =
            |name: &str| field_named(text, name).ok_or_else(|| FormatError::missing(PATH, name));
        field("done_before")?;
        Ok(Self {
            id: id(text).ok_or_else(|| FormatError::missing(PATH, "ID"))?,
            device: field("dev")?,
            inode: field("ino")?,
            file_bytes: field("isize")?,
            position: field("pos")?,
            count: field("count")?,
        })
    }

    /// Reads a record.
    pub fn read(&self, body: &Body<'_>) -> Option<Direct> {
        let field = |field| number(body.raw, field);
        Some(Direct {
            time_ns: body.time_ns,
            key: (u32::try_from(field(self.device)?).ok()?, field(self.inode)?),
            file_bytes: field(self.file_bytes)?,
            position: field(self.position)?,
            count: field(self.count)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FORMAT: &str = "ID: 1135
\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;
\tfield:ino_t ino;\toffset:16;\tsize:8;\tsigned:0;
\tfield:loff_t isize;\toffset:24;\tsize:8;\tsigned:1;
\tfield:loff_t pos;\toffset:32;\tsize:8;\tsigned:1;
\tfield:size_t count;\toffset:40;\tsize:8;\tsigned:0;
\tfield:size_t done_before;\toffset:48;\tsize:8;\tsigned:0;";

    fn call(file_bytes: u64, position: u64, count: u64) -> Direct {
        let mut raw = vec![0; 56];
        raw[8..12].copy_from_slice(&(254u32 << 20).to_ne_bytes());
        for (at, value) in [(16, 7), (24, file_bytes), (32, position), (40, count)] {
            raw[at..at + 8].copy_from_slice(&value.to_ne_bytes());
        }
        let body = Body { process: None, task: 1, time_ns: 9, id: 1135, raw: &raw };
        DirectLayout::parse(FORMAT).unwrap().read(&body).unwrap()
    }

    #[test]
    fn a_record_is_taken_apart() {
        let want = Direct { time_ns: 9, key: (254 << 20, 7), file_bytes: 5, position: 4, count: 3 };
        assert_eq!(call(5, 4, 3), want);
    }

    #[test]
    fn a_read_ends_with_the_file_and_a_write_extends_it() {
        let check = |calls: &[Direct], file_bytes, want: (u64, u64)| {
            let mut moved = Moved::default();
            for &call in calls {
                moved.push(call);
            }
            assert_eq!((moved.calls, moved.bytes(file_bytes)), want, "{calls:?}");
        };
        let reads = [call(100, 0, 64), call(100, 64, 64), call(100, 100, 64)];
        check(&reads, 100, (3, 100));
        let writes = [call(0, 0, 64), call(64, 64, 64), call(128, 128, 64)];
        check(&writes, 192, (3, 192));
        // The second begins before the first has ended.
        check(&[call(0, 0, 64), call(0, 64, 64)], 128, (2, 128));
        let many = vec![call(10, 10, 64); 3 * OPEN_MAX];
        check(&many, 10, (many.len() as u64, 0));
    }

    proptest! {
        #[test]
        fn rubbish_is_no_call_and_no_panic(raw: Vec<u8>, text: String) {
            let layout = DirectLayout::parse(FORMAT).unwrap();
            layout.read(&Body { process: None, task: 1, time_ns: 0, id: 0, raw: &raw });
            let _ = DirectLayout::parse(&text);
        }
    }
}
