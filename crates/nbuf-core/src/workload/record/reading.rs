//! A log that reports how much of it was read.

use std::io::{self, Read, Seek, SeekFrom};

/// Bytes between two reports.
const STEP_BYTES: u64 = 1 << 20;

/// A log, and the bytes of all its readings.
pub(super) struct Reported<'a, R> {
    log: R,
    progress: &'a dyn Fn(u64, u64),
    done_bytes: u64,
    next_bytes: u64,
    total_bytes: u64,
}

impl<'a, R: Seek> Reported<'a, R> {
    /// Begins the first of this number of readings. `progress` gets the bytes that were read, and all.
    pub(super) fn new(
        mut log: R,
        readings: u64,
        progress: &'a dyn Fn(u64, u64),
    ) -> io::Result<Self> {
        let total_bytes = readings.saturating_mul(log.seek(SeekFrom::End(0))?);
        log.rewind()?;
        progress(0, total_bytes);
        Ok(Self { log, progress, done_bytes: 0, next_bytes: STEP_BYTES, total_bytes })
    }
}

impl<R: Read> Read for Reported<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.log.read(buffer)?;
        self.done_bytes += bytes as u64;
        if self.done_bytes >= self.next_bytes {
            (self.progress)(self.done_bytes, self.total_bytes);
            self.next_bytes = (self.done_bytes / STEP_BYTES + 1) * STEP_BYTES;
        }
        Ok(bytes)
    }
}

impl<R: Seek> Seek for Reported<'_, R> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.log.seek(position)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io::Cursor;

    use super::*;

    #[test]
    fn two_readings_reach_the_total() {
        let seen = RefCell::new(Vec::new());
        let progress = |done, total| seen.borrow_mut().push((done, total));
        let bytes = vec![7; 3 << 20];
        let mut log = Cursor::new(&bytes);
        // A log is read from its beginning, wherever it stands.
        log.set_position(5);
        let mut log = Reported::new(log, 2, &progress).unwrap();
        for _ in 0..2 {
            let mut read = Vec::new();
            log.read_to_end(&mut read).unwrap();
            assert_eq!(read, bytes);
            log.rewind().unwrap();
        }
        let seen = seen.borrow();
        assert_eq!((seen[0], *seen.last().unwrap()), ((0, 6 << 20), (6 << 20, 6 << 20)));
        assert!(seen.len() <= 7 && seen.is_sorted(), "{seen:?}");
    }
}
