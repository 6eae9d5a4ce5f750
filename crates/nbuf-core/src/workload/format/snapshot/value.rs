//! Lengths, strings and values of an RDB file.
//!
//! The size of a value is the length of a string; the lengths of all fields and elements, with 8 bytes for a number; or
//! the length of the one block (`listpack`, `ziplist`, `intset`) in which Redis keeps a small value in memory, too. Redis
//! takes more memory around these.
//! Source: Redis 7.0 to 8.0 (`rdb.c`), and files of 7.0.15. Not seen in a file: hashes whose fields expire, modules.

use std::io::BufRead;

use super::bytes::{Bytes, Stop};
use super::lzf;

/// The longest key that is kept as it is. Redis takes longer ones, and programs do not.
const KEY_BYTES_MAX: u64 = 1 << 24;
/// A number of 64 bits, or a time.
const NUMBER_BYTES: u64 = 8;
/// The identity of an entry of a stream.
const ENTRY_BYTES: u64 = 16;

/// How a string is written that LZF has packed.
const PACKED: u8 = 3;
const BY_LZF: &str = "a string packed by LZF";

/// A length, or how a string is written instead.
enum Length {
    Plain(u64),
    Encoded(u8),
}

impl<R: BufRead> Bytes<R> {
    fn length(&mut self) -> Result<Length, Stop> {
        let first = self.byte()?;
        let low = first & 0x3f;
        Ok(match first >> 6 {
            0 => Length::Plain(low.into()),
            1 => Length::Plain(u64::from(low) << 8 | u64::from(self.byte()?)),
            2 if low == 0 => Length::Plain(u32::from_be_bytes(self.array()?).into()),
            2 if low == 1 => Length::Plain(u64::from_be_bytes(self.array()?)),
            2 => return Err(Stop::Wrong("a length")),
            _ => Length::Encoded(low),
        })
    }

    /// A length, or a number.
    pub(super) fn count(&mut self) -> Result<u64, Stop> {
        match self.length()? {
            Length::Plain(count) => Ok(count),
            Length::Encoded(_) => Err(Stop::Wrong("a number of elements")),
        }
    }

    /// A string that is a number.
    fn integer(&mut self, encoding: u8) -> Result<i32, Stop> {
        match encoding {
            0 => Ok(i8::from_le_bytes(self.array()?).into()),
            1 => Ok(i16::from_le_bytes(self.array()?).into()),
            2 => Ok(i32::from_le_bytes(self.array()?)),
            _ => Err(Stop::Wrong("a string")),
        }
    }

    /// Puts a string in place of `out`.
    pub(super) fn text(&mut self, out: &mut Vec<u8>) -> Result<(), Stop> {
        const SHORT: &str = "a key of 16 MiB at the most";
        out.clear();
        match self.length()? {
            Length::Plain(length) if length > KEY_BYTES_MAX => Err(Stop::Wrong(SHORT)),
            Length::Plain(length) => self.append(length, out),
            Length::Encoded(PACKED) => {
                let (packed_bytes, length) = (self.count()?, self.count()?);
                if length.max(packed_bytes) > KEY_BYTES_MAX {
                    return Err(Stop::Wrong(SHORT));
                }
                let mut packed = Vec::new();
                self.append(packed_bytes, &mut packed)?;
                lzf::unpack(&packed, length, out).ok_or(Stop::Wrong(BY_LZF))
            }
            Length::Encoded(encoding) => {
                out.extend_from_slice(self.integer(encoding)?.to_string().as_bytes());
                Ok(())
            }
        }
    }

    /// Leaves out a string. Its length, unpacked.
    pub(super) fn string(&mut self) -> Result<u64, Stop> {
        match self.length()? {
            Length::Plain(length) => self.skip(length).map(|()| length),
            Length::Encoded(PACKED) => {
                let (packed_bytes, length) = (self.count()?, self.count()?);
                // What no packed bytes give is damage, and no size.
                if length > packed_bytes.saturating_mul(lzf::GROWTH_MAX) {
                    return Err(Stop::Wrong(BY_LZF));
                }
                self.skip(packed_bytes).map(|()| length)
            }
            Length::Encoded(encoding) => self.integer(encoding).map(digits),
        }
    }

    /// Leaves out as many things as stand there. The sum of their sizes.
    fn each(&mut self, mut one: impl FnMut(&mut Self) -> Result<u64, Stop>) -> Result<u64, Stop> {
        let mut sum = 0_u64;
        for _ in 0..self.count()? {
            sum = sum.saturating_add(one(self)?);
        }
        Ok(sum)
    }

    fn strings(&mut self, count: u32) -> Result<u64, Stop> {
        let mut sum = 0_u64;
        for _ in 0..count {
            sum = sum.saturating_add(self.string()?);
        }
        Ok(sum)
    }

    fn number(&mut self) -> Result<u64, Stop> {
        self.skip(NUMBER_BYTES).map(|()| NUMBER_BYTES)
    }

    /// A score as a text, as Redis wrote it before version 4. It takes 8 bytes in memory.
    fn score(&mut self) -> Result<u64, Stop> {
        match self.byte()? {
            // Not a number, and both infinities.
            253..=255 => {}
            length => self.skip(length.into())?,
        }
        Ok(NUMBER_BYTES)
    }

    /// Leaves out a value. Its size.
    pub(super) fn value(&mut self, kind: u8, is_valkey: bool) -> Result<u64, Stop> {
        match kind {
            // A string, and small values in one block.
            0 | 9..=13 | 16 | 17 | 20 | 23 => self.string(),
            // Lists and sets.
            1 | 2 | 14 => self.each(Self::string),
            // Sorted sets.
            3 => self.each(|bytes| Ok(bytes.string()?.saturating_add(bytes.score()?))),
            5 => self.each(|bytes| Ok(bytes.string()?.saturating_add(bytes.number()?))),
            // Hashes.
            4 => self.each(|bytes| bytes.strings(2)),
            7 => {
                self.count()?;
                self.module()
            }
            15 | 19 | 21 => self.stream(kind),
            18 => self.each(|bytes| bytes.count().and_then(|_| bytes.string())),
            // Hashes whose fields expire.
            22 if is_valkey => {
                self.each(|bytes| Ok(bytes.strings(2)?.saturating_add(bytes.number()?)))
            }
            22 => self.fields(),
            24 => self.number().and_then(|_| self.fields()),
            25 => self.number().and_then(|_| self.string()),
            _ => Err(Stop::Wrong("a type of value of Redis 8.0 or older")),
        }
    }

    /// Fields with times at which they expire.
    fn fields(&mut self) -> Result<u64, Stop> {
        self.each(|bytes| {
            bytes.count()?;
            Ok(bytes.strings(2)?.saturating_add(NUMBER_BYTES))
        })
    }

    /// What a module has written: each part says what it is.
    pub(super) fn module(&mut self) -> Result<u64, Stop> {
        let mut sum = 0_u64;
        loop {
            let part = match self.count()? {
                0 => return Ok(sum),
                1 | 2 => self.count().map(|_| NUMBER_BYTES)?,
                3 => self.skip(4).map(|()| 4)?,
                4 => self.number()?,
                5 => self.string()?,
                _ => return Err(Stop::Wrong("a part of a module's value")),
            };
            sum = sum.saturating_add(part);
        }
    }

    /// Entries of a stream, and its groups of consumers.
    fn stream(&mut self, kind: u8) -> Result<u64, Stop> {
        // Numbers of a stream, numbers of a group, and times of a consumer.
        let (facts, group_facts) = if kind >= 19 { (8, 3) } else { (3, 2) };
        let times_bytes = if kind >= 21 { 2 * NUMBER_BYTES } else { NUMBER_BYTES };
        let entries = self.each(|bytes| bytes.strings(2))?;
        for _ in 0..facts {
            self.count()?;
        }
        let groups = self.each(|bytes| {
            let name = bytes.string()?;
            for _ in 0..group_facts {
                bytes.count()?;
            }
            let pending = bytes.each(|bytes| {
                bytes.skip(ENTRY_BYTES + NUMBER_BYTES)?;
                bytes.count().map(|_| ENTRY_BYTES + 2 * NUMBER_BYTES)
            })?;
            let consumers = bytes.each(|bytes| {
                let name = bytes.string()?;
                bytes.skip(times_bytes)?;
                let pending = bytes.each(|bytes| bytes.skip(ENTRY_BYTES).map(|()| ENTRY_BYTES))?;
                Ok(name.saturating_add(pending))
            })?;
            Ok(name.saturating_add(pending).saturating_add(consumers))
        })?;
        Ok(entries.saturating_add(groups))
    }
}

/// The length of a number as a text.
fn digits(number: i32) -> u64 {
    let digits = number.unsigned_abs().checked_ilog10().map_or(1, |tens| tens + 1);
    u64::from(digits) + u64::from(number < 0)
}
