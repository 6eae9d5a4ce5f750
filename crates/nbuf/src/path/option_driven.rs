//! The course's programs that take options: one loop for all of its tests, in which every option is
//! looked at for every operation.
//!
//! What a fixed loop does without asking is asked here each time: calls, streams or a mapping; read
//! or write; strides or not. Blocks have a length that nobody knew when it was compiled, so that a byte
//! goes through `fread` or a copy of one byte. That is what such programs cost; the other rows are
//! what the calls cost.

use std::fs::File;
use std::hint::black_box;
use std::io;
use std::ops::Range;

use crate::sys::calls;
use crate::sys::mapping::{Advice, Mapping};
use crate::sys::stdio::Stream;

use super::aligned::Aligned;
use super::call::{ended, rest, rest_of};
use super::data::Data;
use super::pass::Pass;
use super::pattern::{Direction, Order, Pattern, whole};
use super::standard::failed;
use super::{Error, Moved, Path, Request};

/// What is asked for bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// `read`, `write` and `lseek`.
    Calls,
    /// `fread`, `fwrite` and `fseek`.
    Streams,
    /// Copies out of a mapping, which is for reading.
    Mapping,
}

/// What the file is open as.
#[derive(Debug)]
enum Handle {
    File(File),
    Stream(Stream),
    Mapping(File, Mapping),
}

/// The loop, between two operations.
#[derive(Debug)]
pub struct Loop {
    handle: Handle,
    pattern: Pattern,
    /// 0 is in sequence, without seeks.
    stride: u64,
    buffer: Aligned,
    data: Data,
    position: u64,
    /// Where the strides of this round began.
    round_begin: u64,
    moved: u64,
}

impl Loop {
    /// Ready to do a pattern, which is no random one, on a file that is open for it. Nothing is
    /// moved yet, and nothing mapped.
    pub fn new(file: File, pattern: Pattern, means: Means) -> Result<Self, Error> {
        pattern.check()?;
        let writes = pattern.direction == Direction::Write;
        let stride = match pattern.order {
            Order::Sequential => 0,
            Order::Strided { stride_bytes } => stride_bytes,
            Order::Random { .. } => return Err(wrong("it reads in sequence or with strides")),
        };
        let handle = match means {
            Means::Calls => Handle::File(file),
            Means::Streams => Handle::Stream(Stream::of(file, writes)?),
            Means::Mapping if writes => return Err(wrong("its mapping is for reading")),
            Means::Mapping => Handle::Mapping(file, Mapping::empty()),
        };
        let longest = pattern.longest_bytes();
        let (buffer, data) = if writes {
            (Aligned::new(0), Data::new(longest))
        } else {
            (Aligned::new(longest), Data::new(0))
        };
        let (position, round_begin, moved) = (0, 0, 0);
        Ok(Self { handle, pattern, stride, buffer, data, position, round_begin, moved })
    }

    /// Bytes that were moved.
    pub fn moved_bytes(&self) -> u64 {
        self.moved
    }

    /// Maps the file, if it is to be.
    pub fn begin(&mut self) -> io::Result<()> {
        if let Handle::Mapping(file, mapping) = &mut self.handle {
            *mapping = Mapping::empty();
            *mapping = Mapping::new(file, whole(self.pattern.size_bytes), false, Advice::Normal)?;
        }
        Ok(())
    }

    /// Writes out what a stream holds back, and unmaps.
    pub fn end(&mut self) -> io::Result<()> {
        match &mut self.handle {
            Handle::Stream(stream) if self.pattern.direction == Direction::Write => stream.flush(),
            Handle::Mapping(_, mapping) => {
                *mapping = Mapping::empty();
                Ok(())
            }
            Handle::File(_) | Handle::Stream(_) => Ok(()),
        }
    }

    /// One operation; its first byte. Not after the last.
    pub fn step(&mut self) -> io::Result<u8> {
        let (stride, block) = (self.stride, self.pattern.block_bytes);
        let length = if stride > block {
            let left = self.pattern.size_bytes - self.position;
            block.min(stride - self.round_begin).min(left)
        } else {
            block.min(self.pattern.size_bytes - self.moved)
        };
        if stride > 0 {
            self.seek()?;
        }
        let byte = match self.pattern.direction {
            Direction::Read => self.read(whole(length))?,
            Direction::Write => self.write(whole(length))?,
        };
        self.moved += length;
        if stride == 0 {
            self.position += length;
            return Ok(byte);
        }
        self.position += stride;
        if self.position >= self.pattern.size_bytes {
            self.round_begin += block;
            self.position = self.round_begin;
        }
        Ok(byte)
    }

    fn seek(&mut self) -> io::Result<()> {
        match &mut self.handle {
            Handle::File(file) => calls::seek(file, self.position)?,
            Handle::Stream(stream) => stream.seek(self.position)?,
            Handle::Mapping(..) => {}
        }
        Ok(())
    }

    fn read(&mut self, length: usize) -> io::Result<u8> {
        let buffer = &mut self.buffer.bytes_mut()[..length];
        match &mut self.handle {
            Handle::File(file) => {
                let done = calls::read(&*file, &mut *buffer)?;
                if done != length {
                    rest(buffer, done, |part, _| calls::read(&*file, part))?;
                }
            }
            Handle::Stream(stream) => {
                if stream.read(buffer) != length {
                    return Err(failed(stream));
                }
            }
            Handle::Mapping(_, mapping) => {
                mapping.copy_to(whole(self.position), buffer);
                black_box(&mut *buffer);
            }
        }
        Ok(buffer[0])
    }

    fn write(&mut self, length: usize) -> io::Result<u8> {
        let data = self.data.at(self.position, length);
        match &mut self.handle {
            Handle::File(file) => {
                let done = calls::write(&*file, data)?;
                if done != length {
                    rest_of(data, done, |part, _| calls::write(&*file, part))?;
                }
            }
            Handle::Stream(stream) => {
                if stream.write(data) != length {
                    return Err(failed(stream));
                }
            }
            Handle::Mapping(..) => return Err(ended()),
        }
        Ok(data[0])
    }

    /// Goes on at an operation.
    fn place(&mut self, number: u64) -> io::Result<()> {
        let mut position = 0;
        self.pattern.each(number..number + 1, |operation| {
            position = operation.offset_bytes;
            Ok::<(), io::Error>(())
        })?;
        self.position = position;
        self.round_begin = position.checked_rem(self.stride).unwrap_or(0);
        self.moved = number * self.pattern.block_bytes;
        if self.stride == 0 { self.seek() } else { Ok(()) }
    }
}

fn wrong(wants: &'static str) -> Error {
    Error::Order { path: "option-driven", wants }
}

/// The loop as a row of the table.
pub(super) fn open(request: &Request<'_>, means: Means) -> Result<Box<dyn Path>, Error> {
    let file = super::table::open_file(request)?;
    let steps = Loop::new(file, request.pattern, means)?;
    Ok(Box::new(Optioned { pass: Pass::of(request)?, steps }))
}

#[derive(Debug)]
struct Optioned {
    pass: Pass,
    steps: Loop,
}

impl Path for Optioned {
    fn run(&mut self, operations: Range<u64>) -> io::Result<Moved> {
        let operations = self.pass.clip(operations);
        if operations.start == 0 {
            self.rewind()?;
        }
        let begins = self.pass.begins(&operations)?;
        if begins {
            self.steps.begin()?;
        }
        let count = operations.end - operations.start;
        if (begins || !self.pass.continues(&operations)) && count > 0 {
            self.steps.place(operations.start)?;
        }
        let before = self.steps.moved_bytes();
        let mut sum = 0_u64;
        for _ in 0..count {
            sum = sum.wrapping_add(self.steps.step()?.into());
        }
        let bytes = if count > 0 { self.steps.moved_bytes() - before } else { 0 };
        if self.pass.ends(&operations) {
            self.steps.end()?;
        }
        Ok(Moved { operations: count, bytes, sum })
    }

    fn rewind(&mut self) -> io::Result<()> {
        self.steps.end()?;
        self.pass.rewind()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.steps.end()
    }
}
