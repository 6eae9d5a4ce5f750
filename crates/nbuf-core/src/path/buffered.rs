//! Rust's own buffers, `BufReader` and `BufWriter`, at their default size.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use super::aligned::Aligned;
use super::call::ended;
use super::data::Data;
use super::pattern::{Direction, Operation};
use super::steps::{Step, Steps};
use super::table::open_file;
use super::{Error, Path, Request};

/// Uses `bytes` for single bytes, and `read_exact` and `write_all` for blocks. It seeks before each
/// block if the order is not sequential.
pub(super) fn open(request: &Request<'_>) -> Result<Box<dyn Path>, Error> {
    let (file, longest) = (open_file(request)?, request.pattern.longest_bytes());
    let seeks = request.pattern.seeks();
    match (request.pattern.direction, request.pattern.block_bytes) {
        (Direction::Read, 1) => Steps::open(request, Bytes { reader: BufReader::new(file), seeks }),
        (Direction::Read, _) => {
            let buffer = Aligned::new(longest);
            Steps::open(request, Blocks { reader: BufReader::new(file), buffer, seeks })
        }
        (Direction::Write, _) => {
            let data = Data::new(longest);
            Steps::open(request, Writes { writer: BufWriter::new(file), data, seeks })
        }
    }
}

struct Bytes {
    reader: BufReader<File>,
    seeks: bool,
}

struct Blocks {
    reader: BufReader<File>,
    buffer: Aligned,
    seeks: bool,
}

struct Writes {
    writer: BufWriter<File>,
    data: Data,
    seeks: bool,
}

impl Step for Bytes {
    const IS_BYTE: bool = true;

    fn jump(&mut self, offset_bytes: u64) -> io::Result<()> {
        self.reader.seek(SeekFrom::Start(offset_bytes)).map(drop)
    }

    #[inline]
    fn step(&mut self, operation: Operation) -> io::Result<u8> {
        if self.seeks {
            self.reader.seek(SeekFrom::Start(operation.offset_bytes))?;
        }
        self.reader.by_ref().bytes().next().unwrap_or_else(|| Err(ended()))
    }
}

impl Step for Blocks {
    fn jump(&mut self, offset_bytes: u64) -> io::Result<()> {
        self.reader.seek(SeekFrom::Start(offset_bytes)).map(drop)
    }

    #[inline]
    fn step(&mut self, operation: Operation) -> io::Result<u8> {
        if self.seeks {
            self.reader.seek(SeekFrom::Start(operation.offset_bytes))?;
        }
        let buffer = &mut self.buffer.bytes_mut()[..operation.length_bytes];
        self.reader.read_exact(buffer)?;
        Ok(buffer[0])
    }
}

impl Step for Writes {
    fn jump(&mut self, offset_bytes: u64) -> io::Result<()> {
        self.writer.seek(SeekFrom::Start(offset_bytes)).map(drop)
    }

    #[inline]
    fn step(&mut self, operation: Operation) -> io::Result<u8> {
        if self.seeks {
            self.writer.seek(SeekFrom::Start(operation.offset_bytes))?;
        }
        let data = self.data.at(operation.offset_bytes, operation.length_bytes);
        self.writer.write_all(data)?;
        Ok(data[0])
    }

    fn end(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
