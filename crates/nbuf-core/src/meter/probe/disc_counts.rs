//! The kernel's counters of each block device: `/proc/diskstats`.
//!
//! A request counts when it has completed; its time is from its allocation on, so that queueing is in it.
//! Partitions are left out: their disc has the same requests. Cost: some 50 µs.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

/// What `/proc/diskstats` counts in.
const SECTOR_BYTES: u64 = 512;

/// Counters of a device since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DiscCounts {
    /// Reads that completed.
    pub reads: u64,
    /// Their bytes.
    pub read_bytes: u64,
    /// Milliseconds of all reads together.
    pub read_ms: u64,
    /// Writes that completed.
    pub writes: u64,
    /// Their bytes.
    pub written_bytes: u64,
    /// Milliseconds of all writes together.
    pub write_ms: u64,
    /// Requests that are with the device, now.
    pub in_flight: u64,
    /// Milliseconds with any request.
    pub busy_ms: u64,
    /// Milliseconds of all requests together: the area under the queue's length.
    pub queue_ms: u64,
}

/// Reads the counters of all whole devices, by name.
pub(crate) fn read() -> io::Result<HashMap<String, DiscCounts>> {
    let text = fs::read_to_string("/proc/diskstats")?;
    let is_whole = |name: &str| Path::new("/sys/block").join(name.replace('/', "!")).exists();
    Ok(text.lines().filter_map(parse).filter(|(name, _)| is_whole(name)).collect())
}

fn parse(line: &str) -> Option<(String, DiscCounts)> {
    let mut words = line.split_ascii_whitespace().skip(2);
    let name = words.next()?.to_owned();
    let mut numbers = [0; 11];
    for number in &mut numbers {
        *number = words.next()?.parse().ok()?;
    }
    let [reads, _, read, read_ms, writes, _, written, write_ms, in_flight, busy_ms, queue_ms] =
        numbers;
    let counts = DiscCounts {
        reads,
        read_bytes: read * SECTOR_BYTES,
        read_ms,
        writes,
        written_bytes: written * SECTOR_BYTES,
        write_ms,
        in_flight,
        busy_ms,
        queue_ms,
    };
    Some((name, counts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read() {
        let line = " 254 0 vda 77 1 400 34 10 2 80 16 3 98 516 1 1 1 1 1 1";
        let (name, counts) = parse(line).unwrap();
        assert_eq!(name, "vda");
        let want = DiscCounts {
            reads: 77,
            read_bytes: 400 * 512,
            read_ms: 34,
            writes: 10,
            written_bytes: 80 * 512,
            write_ms: 16,
            in_flight: 3,
            busy_ms: 98,
            queue_ms: 516,
        };
        assert_eq!(counts, want);
        assert_eq!(parse("8 0 sda 1 2"), None);
        assert!(read().is_ok());
    }
}
