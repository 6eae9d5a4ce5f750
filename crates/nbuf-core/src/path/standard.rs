//! C's standard I/O. "A byte through stdio" means three calls with very different costs, so each is
//! a row.

use std::io;
use std::marker::PhantomData;

use crate::sys::stdio::Stream;

use super::aligned::Aligned;
use super::call::ended;
use super::data::Data;
use super::pattern::{Direction, Operation, Pattern};
use super::steps::{Step, Steps};
use super::table::open_file;
use super::{Error, Path, Request};

/// `fgetc` and `fputc` for bytes, `fread` and `fwrite` for blocks.
pub(super) fn open_plain(request: &Request<'_>) -> Result<Box<dyn Path>, Error> {
    open::<Plain>(request)
}

/// `getc_unlocked` and `putc_unlocked`, inlined as in C, and the unlocked calls for blocks.
pub(super) fn open_unlocked(request: &Request<'_>) -> Result<Box<dyn Path>, Error> {
    open::<Unlocked>(request)
}

/// `fread` and `fwrite` for blocks of any length.
pub(super) fn open_blocks(request: &Request<'_>) -> Result<Box<dyn Path>, Error> {
    open::<Blocks>(request)
}

/// The calls of one row. Each returns the number of bytes it moved.
trait Calls: 'static {
    #[inline]
    fn read_byte(stream: &mut Stream) -> Option<u8> {
        let mut byte = [0];
        (Self::read(stream, &mut byte) == 1).then_some(byte[0])
    }

    #[inline]
    fn write_byte(stream: &mut Stream, byte: u8) -> bool {
        Self::write(stream, &[byte]) == 1
    }

    #[inline]
    fn read(stream: &mut Stream, buffer: &mut [u8]) -> usize {
        stream.read(buffer)
    }

    #[inline]
    fn write(stream: &mut Stream, data: &[u8]) -> usize {
        stream.write(data)
    }
}

struct Plain;
struct Unlocked;
struct Blocks;

impl Calls for Plain {
    #[inline]
    fn read_byte(stream: &mut Stream) -> Option<u8> {
        stream.read_byte()
    }
    #[inline]
    fn write_byte(stream: &mut Stream, byte: u8) -> bool {
        stream.write_byte(byte)
    }
}

impl Calls for Unlocked {
    #[inline]
    fn read_byte(stream: &mut Stream) -> Option<u8> {
        stream.read_byte_unlocked()
    }
    #[inline]
    fn write_byte(stream: &mut Stream, byte: u8) -> bool {
        stream.write_byte_unlocked(byte)
    }
    #[inline]
    fn read(stream: &mut Stream, buffer: &mut [u8]) -> usize {
        stream.read_unlocked(buffer)
    }
    #[inline]
    fn write(stream: &mut Stream, data: &[u8]) -> usize {
        stream.write_unlocked(data)
    }
}

impl Calls for Blocks {}

fn open<C: Calls>(request: &Request<'_>) -> Result<Box<dyn Path>, Error> {
    if request.pattern.seeks() { open_in::<C, true>(request) } else { open_in::<C, false>(request) }
}

fn open_in<C: Calls, const SEEKS: bool>(request: &Request<'_>) -> Result<Box<dyn Path>, Error> {
    let Pattern { direction, block_bytes, .. } = request.pattern;
    let (file, longest) = (open_file(request)?, request.pattern.longest_bytes());
    let stream = Stream::of(file, direction == Direction::Write)?;
    let calls = PhantomData::<C>;
    match (direction, block_bytes) {
        (Direction::Read, 1) => Steps::open(request, ReadByte::<C, SEEKS> { stream, calls }),
        (Direction::Read, _) => {
            let buffer = Aligned::new(longest);
            Steps::open(request, Read::<C, SEEKS> { stream, buffer, calls })
        }
        (Direction::Write, 1) => {
            Steps::open(request, WriteByte::<C, SEEKS> { stream, data: Data::new(1), calls })
        }
        (Direction::Write, _) => {
            let data = Data::new(longest);
            Steps::open(request, Write::<C, SEEKS> { stream, data, calls })
        }
    }
}

struct ReadByte<C, const SEEKS: bool> {
    stream: Stream,
    calls: PhantomData<C>,
}

struct Read<C, const SEEKS: bool> {
    stream: Stream,
    buffer: Aligned,
    calls: PhantomData<C>,
}

struct WriteByte<C, const SEEKS: bool> {
    stream: Stream,
    data: Data,
    calls: PhantomData<C>,
}

struct Write<C, const SEEKS: bool> {
    stream: Stream,
    data: Data,
    calls: PhantomData<C>,
}

impl<C: Calls, const SEEKS: bool> Step for ReadByte<C, SEEKS> {
    const IS_BYTE: bool = true;

    fn jump(&mut self, offset_bytes: u64) -> io::Result<()> {
        self.stream.seek(offset_bytes)
    }

    #[inline]
    fn step(&mut self, operation: Operation) -> io::Result<u8> {
        if SEEKS {
            self.stream.seek(operation.offset_bytes)?;
        }
        match C::read_byte(&mut self.stream) {
            Some(byte) => Ok(byte),
            None => Err(failed(&self.stream)),
        }
    }
}

impl<C: Calls, const SEEKS: bool> Step for Read<C, SEEKS> {
    fn jump(&mut self, offset_bytes: u64) -> io::Result<()> {
        self.stream.seek(offset_bytes)
    }

    #[inline]
    fn step(&mut self, operation: Operation) -> io::Result<u8> {
        if SEEKS {
            self.stream.seek(operation.offset_bytes)?;
        }
        let buffer = &mut self.buffer.bytes_mut()[..operation.length_bytes];
        if C::read(&mut self.stream, buffer) != buffer.len() {
            return Err(failed(&self.stream));
        }
        Ok(buffer[0])
    }
}

impl<C: Calls, const SEEKS: bool> Step for WriteByte<C, SEEKS> {
    const IS_BYTE: bool = true;

    fn jump(&mut self, offset_bytes: u64) -> io::Result<()> {
        self.stream.seek(offset_bytes)
    }

    #[inline]
    fn step(&mut self, operation: Operation) -> io::Result<u8> {
        if SEEKS {
            self.stream.seek(operation.offset_bytes)?;
        }
        let byte = self.data.at(operation.offset_bytes, 1)[0];
        if !C::write_byte(&mut self.stream, byte) {
            return Err(failed(&self.stream));
        }
        Ok(byte)
    }

    fn end(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

impl<C: Calls, const SEEKS: bool> Step for Write<C, SEEKS> {
    fn jump(&mut self, offset_bytes: u64) -> io::Result<()> {
        self.stream.seek(offset_bytes)
    }

    #[inline]
    fn step(&mut self, operation: Operation) -> io::Result<u8> {
        if SEEKS {
            self.stream.seek(operation.offset_bytes)?;
        }
        let data = self.data.at(operation.offset_bytes, operation.length_bytes);
        if C::write(&mut self.stream, data) != data.len() {
            return Err(failed(&self.stream));
        }
        Ok(data[0])
    }

    fn end(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// The reason for a short call: the end of the file, or the kernel's error.
#[cold]
pub(super) fn failed(stream: &Stream) -> io::Error {
    stream.error().unwrap_or_else(ended)
}
