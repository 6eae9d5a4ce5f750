//! Bytes of any offset and length over whole blocks that go past the cache, with a buffer of one
//! block: what a program needs between itself and a device that has only blocks (on VMS it is RMS).
//!
//! A block that is written in part is read first, and written when another one is wanted. Where the
//! file's last block is in part, the file is cut to its length as the pass ends.

use std::io;

use rustix::fs::OFlags;
use rustix::io::{pread, pwrite};

use super::aligned::Aligned;
use super::call::{ended, rest_of};
use super::data::Data;
use super::direct::Direct;
use super::pattern::{Direction, Operation, whole};
use super::steps::{Step, Steps};
use super::{Error, Path, Request};

pub(super) fn open(request: &Request<'_>) -> Result<Box<dyn Path>, Error> {
    let direct = Direct::open(request, true, OFlags::empty())?;
    let block = Block::new(direct, request.pattern.end_bytes());
    let longest = request.pattern.longest_bytes();
    match request.pattern.direction {
        Direction::Read => Steps::open(request, Reads(block, Aligned::new(longest))),
        Direction::Write => Steps::open(request, Writes(block, Data::new(longest))),
    }
}

/// The block that is in memory.
struct Block {
    direct: Direct,
    buffer: Aligned,
    /// Of the length of a block, which is a power of two.
    shift: u32,
    held: Option<u64>,
    /// Bytes of it that the file has.
    filled: usize,
    is_changed: bool,
    /// How long the file is when a pass ends, if it was written.
    end_bytes: u64,
    /// How long it was when the pass began.
    length_bytes: u64,
    is_longer: bool,
}

/// A part of an operation: the block, where in it, and how much.
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

    /// Has a block in memory, with what is in the file if it is wanted.
    #[inline]
    fn hold(&mut self, number: u64, is_wanted: bool) -> io::Result<()> {
        if self.held == Some(number) { Ok(()) } else { self.fetch(number, is_wanted) }
    }

    fn fetch(&mut self, number: u64, is_wanted: bool) -> io::Result<()> {
        self.write_back()?;
        self.held = None;
        self.filled = 0;
        let buffer = self.buffer.bytes_mut();
        if is_wanted {
            self.filled = pread(&self.direct.file, &mut *buffer, number << self.shift)?;
            buffer[self.filled..].fill(0);
        }
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
            // A pass that was given up may not have come so far.
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
        let buffer = &mut buffer.bytes_mut()[..length_bytes];
        let mut done = 0;
        while done < length_bytes {
            let Part { number, within, length } =
                block.part(offset_bytes + done as u64, length_bytes - done);
            block.hold(number, true)?;
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
            let Part { number, within, length } =
                block.part(offset_bytes + done as u64, length_bytes - done);
            block.hold(number, length < 1 << block.shift)?;
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
