//! Bytes of any offset and length over whole `O_DIRECT` blocks, with a buffer of one block. A
//! program needs this in front of a device that has only blocks (on VMS it is RMS).
//!
//! Whole blocks inside an operation bypass the buffer: one call moves them to or from the caller's
//! memory. A block that is written in part is read first, and written once another block is needed.
//! If the file's last block is partial, the end of the pass truncates the file to its length.

use std::io;

use rustix::fs::OFlags;

use super::aligned::Aligned;
use super::call::{ended, rest_of};
use super::data::Data;
use super::direct::Direct;
use super::pattern::{Direction, Operation, whole};
use super::steps::{Step, Steps};
use super::{Error, Path, Request};
use crate::sys::calls::{pread, pwrite};

pub(super) fn open(request: &Request<'_>) -> Result<Box<dyn Path>, Error> {
    let direct = Direct::open(request, true, OFlags::empty())?;
    let block = Block::new(direct, request.pattern.end_bytes());
    let longest = request.pattern.longest_bytes();
    match request.pattern.direction {
        // The operation has the same position in this memory as in its first block, so that whole
        // blocks are aligned.
        Direction::Read => {
            let buffer = Aligned::new(longest + block.buffer.bytes().len());
            Steps::open(request, Reads(block, buffer))
        }
        Direction::Write => Steps::open(request, Writes(block, Data::new(longest))),
    }
}

/// The buffered block.
struct Block {
    direct: Direct,
    buffer: Aligned,
    /// The binary logarithm of the block length.
    shift: u32,
    held: Option<u64>,
    /// The bytes of the block that exist in the file.
    filled: usize,
    is_changed: bool,
    /// The length of the file at the end of a pass that wrote.
    end_bytes: u64,
    /// The length of the file at the start of the pass.
    length_bytes: u64,
    is_longer: bool,
}

/// A part of an operation: the block, the position in it, and the length.
struct Part {
    number: u64,
    within: usize,
    length: usize,
}

impl Block {
    fn new(direct: Direct, end_bytes: u64) -> Self {
        let length = direct.unit_bytes.max(4096).next_power_of_two();
        let buffer = Aligned::new(whole(length));
        let shift = length.trailing_zeros();
        let (held, filled, is_changed) = (None, 0, false);
        let (length_bytes, is_longer) = (0, false);
        Self { direct, buffer, shift, held, filled, is_changed, end_bytes, length_bytes, is_longer }
    }

    fn begin(&mut self) -> io::Result<()> {
        self.held = None;
        self.is_changed = false;
        self.is_longer = false;
        self.length_bytes = self.direct.file.metadata()?.len();
        Ok(())
    }

    #[inline]
    fn part(&self, offset_bytes: u64, length: usize) -> Part {
        let block = 1 << self.shift;
        let within = whole(offset_bytes & (block - 1));
        let length = length.min(whole(block) - within);
        Part { number: offset_bytes >> self.shift, within, length }
    }

    /// The bytes of the whole blocks at the start of the rest of an operation.
    #[inline]
    fn whole(&self, within: usize, left: usize) -> usize {
        if within == 0 { left >> self.shift << self.shift } else { 0 }
    }

    /// Reads whole blocks without the buffer.
    fn read_whole(&self, offset_bytes: u64, to: &mut [u8]) -> io::Result<()> {
        let mut done = 0;
        while done < to.len() {
            match pread(&self.direct.file, &mut to[done..], offset_bytes + done as u64)? {
                0 => return Err(ended()),
                more => done += more,
            }
        }
        Ok(())
    }

    /// Writes whole blocks without the buffer, which drops its copy of them.
    fn write_whole(&mut self, offset_bytes: u64, from: &[u8]) -> io::Result<()> {
        let blocks = offset_bytes >> self.shift..(offset_bytes + from.len() as u64) >> self.shift;
        if self.held.is_some_and(|held| blocks.contains(&held)) {
            (self.held, self.is_changed) = (None, false);
        }
        let file = &self.direct.file;
        let done = pwrite(file, from, offset_bytes)?;
        if done != from.len() {
            rest_of(from, done, |part, done| pwrite(file, part, offset_bytes + done))?;
        }
        Ok(())
    }

    /// Loads a block into the buffer, with the contents of the file.
    #[inline]
    fn hold(&mut self, number: u64) -> io::Result<()> {
        if self.held == Some(number) { Ok(()) } else { self.fetch(number) }
    }

    fn fetch(&mut self, number: u64) -> io::Result<()> {
        self.write_back()?;
        self.held = None;
        let buffer = self.buffer.bytes_mut();
        self.filled = pread(&self.direct.file, &mut *buffer, number << self.shift)?;
        buffer[self.filled..].fill(0);
        self.held = Some(number);
        Ok(())
    }

    fn write_back(&mut self) -> io::Result<()> {
        let (true, Some(number)) = (self.is_changed, self.held) else { return Ok(()) };
        self.is_changed = false;
        let (buffer, at) = (self.buffer.bytes(), number << self.shift);
        let file = &self.direct.file;
        let done = pwrite(file, buffer, at)?;
        if done != buffer.len() {
            rest_of(buffer, done, |part, done| pwrite(file, part, at + done))?;
        }
        self.is_longer |= at + buffer.len() as u64 > self.length_bytes;
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        self.write_back()?;
        if std::mem::take(&mut self.is_longer) {
            let end = self.end_bytes.max(self.length_bytes);
            // An abandoned pass may have ended earlier.
            let length = self.direct.file.metadata()?.len();
            self.direct.file.set_len(end.min(length))?;
        }
        Ok(())
    }
}

struct Reads(Block, Aligned);
struct Writes(Block, Data);

impl Step for Reads {
    fn begin(&mut self) -> io::Result<()> {
        self.0.begin()
    }

    #[inline]
    fn step(&mut self, Operation { offset_bytes, length_bytes }: Operation) -> io::Result<u8> {
        let Self(block, buffer) = self;
        let begin = block.part(offset_bytes, length_bytes).within;
        let buffer = &mut buffer.bytes_mut()[begin..begin + length_bytes];
        let mut done = 0;
        while done < length_bytes {
            let (at, left) = (offset_bytes + done as u64, length_bytes - done);
            let Part { number, within, length } = block.part(at, left);
            let whole = block.whole(within, left);
            if whole > 0 {
                block.read_whole(at, &mut buffer[done..done + whole])?;
                done += whole;
                continue;
            }
            block.hold(number)?;
            if within + length > block.filled {
                return Err(ended());
            }
            let from = &block.buffer.bytes()[within..within + length];
            buffer[done..done + length].copy_from_slice(from);
            done += length;
        }
        Ok(buffer[0])
    }
}

impl Step for Writes {
    fn begin(&mut self) -> io::Result<()> {
        self.0.begin()
    }

    #[inline]
    fn step(&mut self, Operation { offset_bytes, length_bytes }: Operation) -> io::Result<u8> {
        let Self(block, data) = self;
        let data = data.at(offset_bytes, length_bytes);
        let mut done = 0;
        while done < length_bytes {
            let (at, left) = (offset_bytes + done as u64, length_bytes - done);
            let Part { number, within, length } = block.part(at, left);
            let whole = block.whole(within, left);
            if whole > 0 {
                block.write_whole(at, &data[done..done + whole])?;
                done += whole;
                continue;
            }
            block.hold(number)?;
            let to = &mut block.buffer.bytes_mut()[within..within + length];
            to.copy_from_slice(&data[done..done + length]);
            block.is_changed = true;
            done += length;
        }
        Ok(data[0])
    }

    fn end(&mut self) -> io::Result<()> {
        self.0.end()
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::super::{Order, Pattern, row};
    use super::*;

    /// The read and write calls of this thread; other threads run other tests.
    fn calls_so_far() -> u64 {
        let text = std::fs::read_to_string("/proc/thread-self/io").unwrap();
        let count = |line: &str| line.strip_prefix("sysc")?[3..].trim().parse::<u64>().ok();
        text.lines().filter_map(count).sum()
    }

    #[test]
    fn the_blocks_in_the_middle_of_an_operation_are_one_call() {
        let file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.set_len(4 << 20).unwrap();
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let calls = |direction, block_bytes: u64| {
            let (order, size_bytes) = (Order::Sequential, 2 << 20);
            let pattern = Pattern { direction, order, block_bytes, size_bytes };
            let file = std::path::Path::new(&path);
            let request = Request { file, pattern, grows: false, depth: 1 };
            let mut path = row("bytes-over-direct").unwrap().open(&request).ok()?;
            let before = calls_so_far();
            let moved = path.run(0..u64::MAX).unwrap();
            let after = calls_so_far();
            path.finish().unwrap();
            assert_eq!(moved.bytes, 2 << 20);
            Some(after - before)
        };
        // Two calls of 256 blocks, or three with odd ends, and the calls of the check itself.
        let Some(whole) = calls(Direction::Read, 1 << 20) else { return };
        assert!(whole < 2 + 5, "{whole} calls");
        for direction in [Direction::Read, Direction::Write] {
            let odd = calls(direction, (1 << 20) - 1000).unwrap();
            assert!(odd < 3 * 5 + 5, "{direction:?}: {odd} calls");
        }
    }
}
