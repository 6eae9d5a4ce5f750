//! A cached file as the standard library reads and writes: at a position.

use std::io::{self, Read, Seek, SeekFrom, Write};

use super::CachedFile;

impl Read for CachedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.read_at(buffer, self.position)?;
        self.position += length as u64;
        Ok(length)
    }
}

impl Write for CachedFile {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let length = self.write_at(buffer, self.position)?;
        self.position += length as u64;
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        Self::flush(self)
    }
}

impl Seek for CachedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        let before = "a seek to before the beginning of the file: seek to a byte from 0 on";
        self.position =
            position.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, before))?;
        Ok(self.position)
    }
}
