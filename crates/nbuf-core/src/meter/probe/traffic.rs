//! What this process has really asked of the kernel and of devices: `/proc/self/io`.
//!
//! `syscr` and `syscw` count calls that read and write (`read`, `pread`, `preadv`, `write`, ...),
//! not seeks, faults or what goes through a ring; `read_bytes` and `write_bytes` count what went to
//! a device for this process, in pages. The look itself is a read, which is taken off. Cost: about
//! 3 us. Not for file systems without a device (tmpfs), whose bytes are not counted.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// The open counters.
#[derive(Debug)]
pub(crate) struct Counters(File);

/// What they show, or what came between two looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traffic {
    /// Calls that read.
    pub reads: u64,
    /// Calls that write.
    pub writes: u64,
    /// Bytes fetched from a device.
    pub device_read_bytes: u64,
    /// Bytes sent to a device, or to be sent: pages made dirty.
    pub device_written_bytes: u64,
}

impl Counters {
    /// Opens those of this process, all of its threads.
    pub(crate) fn open() -> io::Result<Self> {
        File::open("/proc/self/io").map(Self)
    }

    /// Looks. A read of them is counted after they were shown.
    pub(crate) fn read(&self) -> io::Result<Traffic> {
        let mut text = [0; 512];
        let length = self.0.read_at(&mut text, 0)?;
        let text = std::str::from_utf8(&text[..length]).map_err(io::Error::other)?;
        parse(text).ok_or_else(|| io::Error::other("/proc/self/io is not as expected"))
    }
}

impl Traffic {
    /// Returns the traffic since an earlier look, without the `looks` themselves. `looks` is 1
    /// where only the earlier look is in between.
    #[must_use]
    pub(crate) fn since(self, before: Self, looks: u64) -> Self {
        let Self { reads, writes, device_read_bytes, device_written_bytes } = self;
        Self {
            reads: reads.saturating_sub(before.reads + looks),
            writes: writes.saturating_sub(before.writes),
            device_read_bytes: device_read_bytes.saturating_sub(before.device_read_bytes),
            device_written_bytes: device_written_bytes.saturating_sub(before.device_written_bytes),
        }
    }
}

fn parse(text: &str) -> Option<Traffic> {
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        line?.trim().parse().ok()
    };
    Some(Traffic {
        reads: field("syscr")?,
        writes: field("syscw")?,
        device_read_bytes: field("read_bytes")?,
        device_written_bytes: field("write_bytes")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name() {
        let text = "rchar: 9\nwchar: 8\nsyscr: 7\nsyscw: 6\nread_bytes: 5\nwrite_bytes: 4\n\
                    cancelled_write_bytes: 3\n";
        let want = Traffic { reads: 7, writes: 6, device_read_bytes: 5, device_written_bytes: 4 };
        assert_eq!(parse(text), Some(want));
        assert_eq!(parse("rchar: 9\n"), None);
    }

    #[test]
    fn looks_go_up_by_what_was_done() {
        // Other threads of the test process do things too: a lower bound is all that holds.
        let counters = Counters::open().unwrap();
        let file = File::open("/proc/self/exe").unwrap();
        let before = counters.read().unwrap();
        for _ in 0..10 {
            file.read_at(&mut [0; 16], 0).unwrap();
        }
        let since = counters.read().unwrap().since(before, 1);
        assert!(since.reads >= 10, "{since:?}");
    }
}
